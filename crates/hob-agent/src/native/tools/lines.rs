//! Locates a model's lines in a file, and computes their replacement.
//!
//! - Guarantees: first the exact lines are searched for. Only if there are none, common mistakes of models are ignored:
//!   trailing blanks, typographic quotes and dashes, and an indentation that differs by the same amount in all lines. A
//!   match counts only if it is the only one of its kind, which the caller decides. Unchanged lines stay the file's
//!   own, byte for byte; new ones get its indentation and its line ends.

/// The byte-order mark: a file keeps it, and a model does not see it.
const MARK: char = '\u{feff}';

/// Lines of a file that match, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Places {
    /// The index of each place's first line.
    pub(super) at: Vec<usize>,
    indent: Indent,
    is_exact: bool,
}

/// The difference between the file's indentation and the given one.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Indent {
    Same,
    /// The file has this before each line.
    More(String),
    /// The given lines have this before each line.
    Less(String),
    /// The file has a tab for each of this many blanks.
    Tabs(usize),
}

/// Why the replacement of a model's lines cannot be determined.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unclear {
    /// The change is in what is ignored.
    #[error("a line differs from its new form in blanks or quotes only, and from the file's too")]
    Ignored,
    /// The file is typographic, and the model is not.
    #[error("the file has typographic quotes or dashes there: write them as it does")]
    Typographic,
    /// A new line lacks the indentation that the others have too much.
    #[error("the file has less indentation, and a new line has none to take away")]
    Indentation,
    /// A new line's blanks do not add up to tabs.
    #[error("the file is indented with tabs, and a new line is not a whole number of them")]
    Tabs,
}

impl Places {
    /// Reviews for `wanted` among `lines`, at and after `from`.
    pub(super) fn find(lines: &[&str], from: usize, wanted: &[&str]) -> Self {
        let Some(last) = lines.len().checked_sub(wanted.len()).filter(|_| !wanted.is_empty()) else {
            return Self { at: Vec::new(), indent: Indent::Same, is_exact: true };
        };
        let places = |fits: &dyn Fn(&[&str]) -> bool| -> Vec<usize> {
            (from..=last).filter(|at| fits(&lines[*at..*at + wanted.len()])).collect()
        };
        let exact = places(&|window| window == wanted);
        if !exact.is_empty() {
            return Self { at: exact, indent: Indent::Same, is_exact: true };
        }
        let loose: Vec<String> = wanted.iter().map(|line| plain(line)).collect();
        let near = places(&|window| window.iter().zip(&loose).all(|(line, wanted)| plain(line) == *wanted));
        if !near.is_empty() {
            return Self { at: near, indent: Indent::Same, is_exact: false };
        }
        let shifted = places(&|window| indent_of(window, &loose).is_some());
        let indent = shifted.first().and_then(|at| indent_of(&lines[*at..*at + wanted.len()], &loose));
        Self { at: shifted, indent: indent.unwrap_or(Indent::Same), is_exact: false }
    }

    /// The lines at the one place after `new` replaces `old`, or why that cannot be determined.
    pub(super) fn replaced(&self, there: &[&str], old: &[&str], new: &[&str]) -> Result<Vec<String>, Unclear> {
        if self.is_exact {
            return Ok(new.iter().map(|line| (*line).to_owned()).collect());
        }
        let typographic = |lines: &[&str]| lines.iter().any(|line| line.chars().any(|c| ascii(c) != c));
        let (of_file, of_model) = (typographic(there), typographic(old));
        let blank_ends = |lines: &[&str]| lines.iter().any(|line| line.ends_with([' ', '\t']));
        let drops_blanks = blank_ends(old) && !blank_ends(there);
        let (mut next, mut lines) = (0, Vec::with_capacity(new.len()));
        for line in new {
            // An unchanged line is the file's own.
            if let Some(kept) = (next..old.len()).find(|index| old[*index] == *line) {
                next = kept + 1;
                lines.push(there[kept].to_owned());
                continue;
            }
            if old.iter().any(|old| plain(old) == plain(line)) {
                return Err(Unclear::Ignored);
            }
            if of_file && !of_model && line.contains(['"', '\'', '-']) {
                return Err(Unclear::Typographic);
            }
            let mut line = self.indented(line)?;
            if drops_blanks {
                line.truncate(line.trim_end().len());
            }
            // A model that writes typographic quotes where the file has plain ones does so in new lines, too.
            lines.push(if of_model && !of_file { line.chars().map(ascii).collect() } else { line });
        }
        // A file with CRLF line ends, some of whose lines lack them.
        if there.iter().all(|line| line.ends_with('\r')) {
            lines.iter_mut().filter(|line| !line.ends_with('\r')).for_each(|line| line.push('\r'));
        }
        Ok(lines)
    }

    fn indented(&self, line: &str) -> Result<String, Unclear> {
        if line.trim().is_empty() {
            return Ok(String::new());
        }
        match &self.indent {
            Indent::Same => Ok(line.to_owned()),
            Indent::More(more) => Ok(format!("{more}{line}")),
            Indent::Less(less) => {
                let rest = line.strip_prefix(less.as_str()).map(str::to_owned);
                rest.ok_or(Unclear::Indentation)
            }
            Indent::Tabs(width) => {
                let blanks = line.len() - line.trim_start_matches(' ').len();
                match blanks % width {
                    0 => Ok(format!("{}{}", "\t".repeat(blanks / width), &line[blanks..])),
                    _ => Err(Unclear::Tabs),
                }
            }
        }
    }
}

/// A line without the common mistakes of models: trailing blanks, typographic quotes and dashes.
fn plain(line: &str) -> String {
    line.trim_end().chars().map(ascii).collect()
}

fn ascii(c: char) -> char {
    match c {
        '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}' => '\'',
        '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{201f}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{a0}' | '\u{202f}' => ' ',
        other => other,
    }
}

/// The difference between the indentation of the file's lines and the given one, if it is the only difference and the
/// same everywhere.
fn indent_of(there: &[&str], wanted: &[String]) -> Option<Indent> {
    let mut indent = None;
    for (line, wanted) in there.iter().zip(wanted) {
        let line = plain(line);
        let (blank, given) = (blank_of(&line), blank_of(wanted));
        if line[blank.len()..] != wanted[given.len()..] {
            return None;
        }
        if line.is_empty() {
            continue;
        }
        let one = match (blank.strip_suffix(given), given.strip_suffix(blank)) {
            (Some(""), _) => Indent::Same,
            (Some(more), _) => Indent::More(more.to_owned()),
            (_, Some(less)) => Indent::Less(less.to_owned()),
            (None, None) => {
                let tabs = blank.len();
                let is_tabs = blank.chars().all(|c| c == '\t') && given.chars().all(|c| c == ' ');
                Indent::Tabs(Some(given.len() / tabs).filter(|width| is_tabs && width * tabs == given.len())?)
            }
        };
        // A line without indentation tells nothing of tabs.
        match (&indent, &one) {
            (Some(Indent::Tabs(_)), Indent::Same) if given.is_empty() => continue,
            (Some(Indent::Same), Indent::Tabs(_)) => indent = Some(one),
            (None, _) => indent = Some(one),
            (Some(before), one) if before == one => {}
            (Some(_), _) => return None,
        }
    }
    indent.filter(|indent| *indent != Indent::Same)
}

fn blank_of(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// The line end of a text, if all its lines have the same.
pub(super) fn line_end(text: &str) -> &'static str {
    if text.contains('\n') && text.matches('\n').count() == text.matches("\r\n").count() { "\r\n" } else { "\n" }
}

/// The byte-order mark at the beginning of a text, if there is one, and the rest.
pub(super) fn without_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with(MARK) { MARK.len_utf8() } else { 0 })
}

/// The text with the byte-order mark that the file has.
pub(super) fn with_mark(text: &str) -> String {
    format!("{MARK}{}", without_mark(text).1)
}

/// The text with CRLF line ends.
pub(super) fn with_crlf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(file: &str, old: &str, new: &str) -> Result<String, String> {
        let [lines, old, new] = [file, old, new].map(|text| text.lines().collect::<Vec<_>>());
        let places = Places::find(&lines, 0, &old);
        let [at] = places.at.as_slice() else { return Err(format!("{} places", places.at.len())) };
        let there = &lines[*at..*at + old.len()];
        Ok(places.replaced(there, &old, &new).map_err(|error| error.to_string())?.join("\n"))
    }

    #[test]
    fn what_models_get_wrong_is_passed_over_and_the_files_own_lines_stay() {
        for (file, old, new, after) in [
            ("a  \nb", "a\nb", "a\nc", "a  \nc"),
            ("say “hi”\nx", "say \"hi\"\nx", "say \"hi\"\ny", "say “hi”\ny"),
            ("    if a:\n        b\n", "if a:\n    b", "if a:\n    c\n    d", "    if a:\n        c\n        d"),
            ("if a:\n  b", "  if a:\n    b", "  if a:\n    c", "if a:\n  c"),
            ("\tx {\n\t\ty\n\t}", "    x {\n        y\n    }", "    x {\n        z\n    }", "\tx {\n\t\tz\n\t}"),
            ("x {\n\ty\n}", "x {\n    y\n}", "x {\n    z\n}", "x {\n\tz\n}"),
        ] {
            assert_eq!(replaced(file, old, new).as_deref(), Ok(after), "{file:?} {old:?}");
        }
    }

    #[test]
    fn what_is_not_sure_is_no_place_or_says_why() {
        for (file, old, new) in [
            // Indentation that does not differ uniformly.
            ("  a\n   b", "a\n  b", "c"),
            // Two matches of the same kind.
            ("a \na ", "a", "b"),
            // The change is in the ignored part.
            ("say “hi” ", "say \"hi\"", "say 'hi'  \nsay \"hi\" "),
            ("  a\n  b", "    a\n    b", "c"),
            ("\ta\n\t\tb", "    a\n        b", "     c"),
        ] {
            assert!(replaced(file, old, new).is_err(), "{file:?} {old:?}");
        }
    }
}
