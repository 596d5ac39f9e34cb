//! Reads a patch: the envelope `*** Begin Patch`, or a unified diff.

/// The change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    /// The file as it is named now.
    pub(super) path: String,
    /// The kind of change.
    pub(super) kind: ChangeKind,
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

/// Reads either form.
pub(super) fn read(text: &str) -> Result<Vec<Change>, InvalidPatch> {
    let lines: Vec<&str> = text.lines().collect();
    let begin = lines.iter().position(|line| line.trim() == "*** Begin Patch");
    let changes = match begin {
        Some(begin) => envelope(&lines[begin + 1..])?,
        None => unified(&lines)?,
    };
    if changes.is_empty() {
        return Err(InvalidPatch::Empty);
    }
    let empty = changes.iter().find(|change| match &change.kind {
        ChangeKind::Update { hunks, moved } => hunks.is_empty() && moved.is_none(),
        ChangeKind::Add(_) | ChangeKind::Delete => false,
    });
    match empty {
        Some(change) => Err(InvalidPatch::NoChange(change.path.clone())),
        None => Ok(changes),
    }
}

fn envelope(lines: &[&str]) -> Result<Vec<Change>, InvalidPatch> {
    let mut changes: Vec<Change> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let number = index + 2;
        let new = |path: &str, kind| Change { path: path.trim().to_owned(), kind };
        if line.trim() == "*** End Patch" {
            return Ok(changes);
        } else if let Some(path) = line.strip_prefix("*** Add File: ") {
            changes.push(new(path, ChangeKind::Add(String::new())));
        } else if let Some(path) = line.strip_prefix("*** Delete File: ") {
            changes.push(new(path, ChangeKind::Delete));
        } else if let Some(path) = line.strip_prefix("*** Update File: ") {
            changes.push(new(path, ChangeKind::Update { hunks: Vec::new(), moved: None }));
        } else {
            let Some(change) = changes.last_mut() else {
                return Err(InvalidPatch::NoFile(number));
            };
            body(change, line).map_err(|why| InvalidPatch::Line { number, why })?;
        }
    }
    Err(InvalidPatch::NoEnd)
}

/// One line below a file's header.
fn body(change: &mut Change, line: &str) -> Result<(), InvalidLine> {
    match &mut change.kind {
        ChangeKind::Delete if line.trim().is_empty() => Ok(()),
        ChangeKind::Delete => Err(InvalidLine::Deleted),
        ChangeKind::Add(text) => {
            let Some(added) = line.strip_prefix('+') else {
                return Err(InvalidLine::New);
            };
            text.push_str(added);
            text.push('\n');
            Ok(())
        }
        ChangeKind::Update { hunks, moved } => {
            if let Some(path) = line.strip_prefix("*** Move to: ") {
                *moved = Some(path.trim().to_owned());
                return Ok(());
            }
            if let Some(rest) = line.strip_prefix("@@") {
                hunks.push(header(rest));
                return Ok(());
            }
            if hunks.is_empty() {
                hunks.push(Hunk::default());
            }
            let Some(hunk) = hunks.last_mut() else { return Ok(()) };
            if line.trim() == "*** End of File" {
                hunk.at_end = true;
                return Ok(());
            }
            hunk_line(hunk, line)
        }
    }
}

/// The text after `@@`: `-1,3 +1,4 @@ text`, or a line to begin after.
fn header(rest: &str) -> Hunk {
    let rest = rest.trim();
    let numbers = rest.strip_prefix('-').and_then(|rest| rest.split_once("@@"));
    match numbers {
        Some((numbers, _)) => {
            let digits: String = numbers.chars().take_while(char::is_ascii_digit).collect();
            Hunk { line: digits.parse().ok().filter(|line| *line > 0), ..Hunk::default() }
        }
        None => {
            let anchor = rest.trim_end_matches("@@").trim();
            Hunk { anchor: (!anchor.is_empty()).then(|| anchor.to_owned()), ..Hunk::default() }
        }
    }
}

fn hunk_line(hunk: &mut Hunk, line: &str) -> Result<(), InvalidLine> {
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

fn unified(lines: &[&str]) -> Result<Vec<Change>, InvalidPatch> {
    let mut changes: Vec<Change> = Vec::new();
    let mut index = 0;
    while index < lines.len() {
        let pair = lines[index].strip_prefix("--- ").zip(lines.get(index + 1).and_then(|l| l.strip_prefix("+++ ")));
        let Some((from, to)) = pair else {
            // Text before the first file, and git's lines between files: modes, hashes.
            index += 1;
            continue;
        };
        let (from, to) = (name(from), name(to));
        index += 2;
        let mut hunks = Vec::new();
        while let Some(rest) = lines.get(index).and_then(|line| line.strip_prefix("@@")) {
            let (mut left, mut right) = sizes(rest).ok_or(InvalidPatch::Header(index + 1))?;
            let mut hunk = header(rest);
            let header = index + 1;
            index += 1;
            // Models count badly: a hunk continues as long as its lines do.
            while let Some(line) = lines.get(index).filter(|_| goes_on(lines, index, left, right)) {
                hunk_line(&mut hunk, line).map_err(|why| InvalidPatch::Line { number: index + 1, why })?;
                match line.chars().next() {
                    Some('+') => right = right.saturating_sub(1),
                    Some('-') => left = left.saturating_sub(1),
                    Some('\\') => {}
                    Some(_) | None => (left, right) = (left.saturating_sub(1), right.saturating_sub(1)),
                }
                index += 1;
            }
            if left + right > 0 && index >= lines.len() {
                return Err(InvalidPatch::Cut { header, old: left, new: right });
            }
            hunks.push(hunk);
        }
        changes.push(match (from, to) {
            (None, Some(path)) => {
                let text: String = hunks.iter().flat_map(|hunk| &hunk.new).map(|line| format!("{line}\n")).collect();
                Change { path, kind: ChangeKind::Add(text) }
            }
            (Some(path), None) => Change { path, kind: ChangeKind::Delete },
            (Some(path), Some(to)) => {
                let moved = (to != path).then_some(to);
                Change { path, kind: ChangeKind::Update { hunks, moved } }
            }
            (None, None) => return Err(InvalidPatch::NoName),
        });
    }
    Ok(changes)
}

/// Whether the line belongs to the hunk, whose header leaves this many old and new lines to come.
fn goes_on(lines: &[&str], index: usize, left: usize, right: usize) -> bool {
    let at = |index: usize| lines.get(index).copied().unwrap_or_default();
    let line = at(index);
    // A header is three lines together, or git's own: a removed line may begin as one of them does.
    let is_file = line.starts_with("--- ") && at(index + 1).starts_with("+++ ") && at(index + 2).starts_with("@@");
    if is_file || line.starts_with("@@ ") || line.starts_with("diff --git ") {
        return false;
    }
    if left + right > 0 {
        return true;
    }
    match line.chars().next() {
        // The end of a mail with a patch.
        Some('-') => line != "-- ",
        Some('+' | ' ' | '\\') => true,
        // An empty line of context, if more of the hunk follows it.
        None => lines[index..].iter().find(|line| !line.is_empty()).is_some_and(|next| {
            next.starts_with(['+', ' '])
                || next.starts_with('-') && !next.starts_with("-- ") && !next.starts_with("--- ")
        }),
        Some(_) => false,
    }
}

/// A file's name in a diff's header; `None` for `/dev/null`.
fn name(text: &str) -> Option<String> {
    let name = text.split('\t').next().unwrap_or_default().trim();
    let plain = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).unwrap_or(name);
    (name != "/dev/null").then(|| plain.to_owned())
}

/// The numbers of lines on both sides, from ` -1,3 +1,4 @@`.
fn sizes(rest: &str) -> Option<(usize, usize)> {
    let mut sides = rest.split("@@").next()?.split_whitespace();
    let mut size = |sign: char| {
        let side = sides.next()?.strip_prefix(sign)?;
        side.split_once(',').map_or(Some(1), |(_, size)| size.parse().ok())
    };
    Some((size('-')?, size('+')?))
}
