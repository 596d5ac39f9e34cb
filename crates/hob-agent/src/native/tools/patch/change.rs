//! What a patch changes, and why a text is none.

/// The change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    /// The file as it is named now.
    pub(super) path: String,
    /// The kind of change.
    pub(super) kind: ChangeKind,
    /// Whether it can be run afterwards, if the patch says so.
    pub(super) is_executable: Option<bool>,
}

impl Change {
    pub(super) fn new(path: &str, kind: ChangeKind) -> Self {
        Self { path: path.to_owned(), kind, is_executable: None }
    }
}

/// The kind of change of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ChangeKind {
    /// It is made with this content.
    Add(String),
    /// It is removed.
    Delete,
    /// Pieces of it are replaced, and it may get another name.
    Update {
        /// The pieces, from the top downwards.
        hunks: Vec<Hunk>,
        /// Its new name.
        moved: Option<String>,
    },
}

/// One piece that is replaced.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Hunk {
    /// A line before it, if the patch names one.
    pub(super) anchor: Option<String>,
    /// The number of its first line, from 1, if the patch has it.
    pub(super) line: Option<usize>,
    /// The current lines.
    pub(super) old: Vec<String>,
    /// The lines after the change.
    pub(super) new: Vec<String>,
    /// Whether it ends with the file.
    pub(super) at_end: bool,
    /// Whether its last line has a line end afterwards, if the patch says so.
    pub(super) ends_with_line_end: Option<bool>,
    /// The first character of its last line.
    pub(super) last_sign: Option<char>,
}

/// The required form of a patch.
const FORM: &str = "a patch is `*** Begin Patch`, then for each file `*** Update File: PATH` with `@@` and lines that \
                    begin with a blank, `-` or `+`; or `*** Add File: PATH` with `+` lines; or `*** Delete File: PATH`; \
                    then `*** End Patch`. A unified diff will do too";

/// A patch that is in neither form.
#[derive(Debug, thiserror::Error)]
pub(super) enum InvalidPatch {
    /// It has no change.
    #[error("there is no change in it: {FORM}")]
    Empty,
    /// A file is named, and nothing in it changes.
    #[error("the patch changes nothing in `{0}`")]
    NoChange(String),
    /// A line comes before the first file.
    #[error("line {0} comes before any file: {FORM}")]
    NoFile(usize),
    /// A line is not one of its file's change.
    #[error("line {number}: {why}")]
    Line {
        /// Its number, from 1.
        number: usize,
        /// The problem.
        #[source]
        why: InvalidLine,
    },
    /// It has no end.
    #[error("it has no `*** End Patch`: it may have been cut")]
    NoEnd,
    /// A line begins like a hunk's header, and is none.
    #[error("line {0}: no hunk header")]
    Header(usize),
    /// A hunk has fewer lines than its header says.
    #[error("the hunk at line {header} is cut: by its header, {old} old and {new} new lines are missing")]
    Cut {
        /// The header's line, from 1.
        header: usize,
        /// The missing old lines.
        old: usize,
        /// The missing new lines.
        new: usize,
    },
    /// A file that is not text.
    #[error("`{0}` is not a text, and a patch cannot change it: nothing was changed")]
    Binary(String),
    /// A copy of a file.
    #[error("a copy of `{0}` is not a change that is known here: `write` the new file")]
    Copy(String),
    /// A change has no file on either side.
    #[error("both names are /dev/null")]
    NoName,
}

/// A line that its file's change cannot have.
#[derive(Debug, thiserror::Error)]
pub(super) enum InvalidLine {
    /// Its file is deleted.
    #[error("a file that is deleted has no lines")]
    Deleted,
    /// Its file is new.
    #[error("each line of a new file begins with `+`")]
    New,
    /// Its file is changed.
    #[error("a line begins with a blank, `-` or `+`")]
    Changed,
}

/// The hunk that begins with the text after `@@`: `-1,3 +1,4 @@ text`, or a line to begin after.
pub(super) fn header(rest: &str) -> Hunk {
    let rest = rest.trim();
    let numbers = rest.strip_prefix('-').and_then(|rest| rest.split_once("@@"));
    match numbers {
        Some((numbers, _)) => {
            let digits: String = numbers.chars().take_while(char::is_ascii_digit).collect();
            Hunk { line: digits.parse().ok().filter(|line| *line > 0), ..Hunk::default() }
        }
        None => {
            let anchor = rest.trim_end_matches("@@").trim();
            // Some diffs have dots for the numbers.
            let has_anchor = !anchor.is_empty() && !anchor.chars().all(|c| c == '.');
            Hunk { anchor: has_anchor.then(|| anchor.to_owned()), ..Hunk::default() }
        }
    }
}

pub(super) fn hunk_line(hunk: &mut Hunk, line: &str) -> Result<(), InvalidLine> {
    let mut chars = line.chars();
    let sign = chars.next();
    match sign {
        Some('+') => hunk.new.push(chars.as_str().to_owned()),
        Some('-') => hunk.old.push(chars.as_str().to_owned()),
        // An empty line of context is often written without its blank.
        Some(' ') | None => {
            hunk.old.push(chars.as_str().to_owned());
            hunk.new.push(chars.as_str().to_owned());
        }
        // No newline at the end: of the new side, or only of the old one, as the line before says.
        Some('\\') => hunk.ends_with_line_end = Some(hunk.last_sign == Some('-')),
        Some(_) => return Err(InvalidLine::Changed),
    }
    if sign != Some('\\') {
        hunk.last_sign = sign;
    }
    Ok(())
}
