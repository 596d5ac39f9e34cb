//! Reads findings from a reviewer's closing words: lines of a list, or JSON. It accepts any markup, but only findings
//! about files of the change.

use hob_domain::{Diff, Finding, FindingSeverity};
use hob_text::{clip, shortened, visible};
use serde::Serialize;
use serde_json::Value;

/// The most findings of one review that are kept.
pub const FINDINGS_MAX: usize = 30;
/// Bytes of a reviewer's words that are read.
const WORDS_MAX: usize = 256 * 1024;
/// Characters of a reason.
const REASON_MAX: usize = 500;

/// The result of a review.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct Findings {
    /// The worst first, at most [`FINDINGS_MAX`].
    pub list: Vec<Finding>,
    /// How many were dropped because they name a file that the change does not touch.
    pub outside: usize,
    /// How many were dropped because there were too many.
    pub too_many: usize,
}

/// Closing words that neither name a finding nor say that there are none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("its answer names no finding, and does not say that there is none")]
pub struct UnreadableFindings;

/// One line of the words, read.
struct Named<'a> {
    severity: FindingSeverity,
    /// A path, and what follows it up to the reason.
    place: &'a str,
    line: Option<u32>,
    reason: String,
}

impl Findings {
    /// Reads a reviewer's closing words about the change `diff`.
    ///
    /// # Errors
    /// [`UnreadableFindings`] if the words contain no statement about findings.
    pub fn read(words: &str, diff: &Diff) -> Result<Self, UnreadableFindings> {
        let (words, _) = visible(&clip(words, WORDS_MAX));
        let mut found = Self::default();
        let is_read = found.read_json(&words, diff) || found.read_lines(&words, diff);
        if !is_read && !says_none(&words) {
            return Err(UnreadableFindings);
        }
        found.list.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        found.too_many = found.list.len().saturating_sub(FINDINGS_MAX);
        found.list.truncate(FINDINGS_MAX);
        Ok(found)
    }

    /// Those with severity high, which must not be merged.
    pub fn high(&self) -> impl Iterator<Item = &Finding> {
        self.list.iter().filter(|finding| finding.severity == FindingSeverity::High)
    }

    /// The whole answer as JSON: a list, or an object with one.
    fn read_json(&mut self, words: &str, diff: &Diff) -> bool {
        let bare: Vec<&str> = words.lines().filter(|line| !line.trim_start().starts_with("```")).collect();
        let Ok(value) = serde_json::from_str::<Value>(&bare.join("\n")) else { return false };
        let list = value.get("findings").unwrap_or(&value);
        let Some(list) = list.as_array() else { return self.add_value(&value, diff) };
        // A list of something else is not an answer; an empty list is.
        list.is_empty() | list.iter().fold(false, |is_read, value| self.add_value(value, diff) | is_read)
    }

    fn read_lines(&mut self, words: &str, diff: &Diff) -> bool {
        let (mut is_read, mut goes_on) = (false, false);
        for line in words.lines() {
            let is_json = line.trim_start().starts_with('{');
            if is_json && let Ok(value) = serde_json::from_str::<Value>(line) {
                is_read |= self.add_value(&value, diff);
                goes_on = false;
            } else if let Some(named) = named(line, diff) {
                let (severity, line, reason) = (named.severity, named.line, named.reason);
                goes_on = self.add(severity, line, &reason, named.place, diff);
                is_read = true;
            } else if goes_on && line.starts_with([' ', '\t']) && !line.trim().is_empty() {
                // Findings are separated by their marks; indented lines belong to the one above.
                if let Some(last) = self.list.last_mut() {
                    last.reason = shortened(&format!("{} {}", last.reason, line.trim()), REASON_MAX);
                }
            } else {
                goes_on = false;
            }
        }
        is_read
    }

    fn add_value(&mut self, value: &Value, diff: &Diff) -> bool {
        let text = |names: [&str; 3]| names.into_iter().find_map(|name| value.get(name)?.as_str());
        let severity = text(["severity", "level", "priority"]).and_then(FindingSeverity::named);
        let (Some(severity), Some(place)) = (severity, text(["file", "path", "filename"])) else { return false };
        let reason = text(["reason", "message", "description"]).unwrap_or_default();
        let own = value.get("line").and_then(|line| line.as_u64().or_else(|| line.as_str()?.parse().ok()));
        let (place, in_place) = split_line(place);
        let line = own.and_then(|line| line.try_into().ok()).filter(|line| *line > 0).or(in_place);
        self.add(severity, line, reason, place, diff);
        true
    }

    /// Adds a finding if it is about the change and new; returns whether it did.
    fn add(&mut self, severity: FindingSeverity, line: Option<u32>, reason: &str, place: &str, diff: &Diff) -> bool {
        let Some(file) = file_of(place, diff) else {
            self.outside += 1;
            return false;
        };
        let reason = match shortened(reason, REASON_MAX) {
            empty if empty.is_empty() => "(no reason is given)".to_owned(),
            reason => reason,
        };
        let finding = Finding { severity, file, line, reason };
        let is_new = !self.list.contains(&finding);
        if is_new {
            self.list.push(finding);
        }
        is_new
    }
}

/// Whether the words say that there are no findings.
fn says_none(words: &str) -> bool {
    let words = words.to_lowercase();
    words.lines().map(|line| line.trim().trim_matches(['*', '_', '`', '#', '-', '.', ' '])).any(|line| {
        ["no findings", "no finding", "findings: none", "none found", "nothing found"]
            .iter()
            .any(|none| line.starts_with(none) || line.ends_with(none))
    })
}

/// Reads a line `- high path:line: reason`, in either order of severity and place.
fn named<'a>(line: &'a str, diff: &Diff) -> Option<Named<'a>> {
    let line = without_mark(line);
    let (severity, place, line, rest) = match severity_at(line) {
        Some((severity, rest)) => {
            let (place, line, rest) = place_at(rest, diff)?;
            (severity, place, line, rest)
        }
        None => {
            let (place, line, rest) = place_at(line, diff)?;
            let (severity, rest) = severity_at(rest)?;
            (severity, place, line, rest)
        }
    };
    let reason = rest.trim_start_matches(is_joint).trim().to_owned();
    Some(Named { severity, place, line, reason })
}

/// Whether a character separates the parts of a finding.
fn is_joint(c: char) -> bool {
    c.is_whitespace() || matches!(c, ':' | '-' | '–' | '—' | '*' | '_' | '(' | ')' | '[' | ']' | ',' | '|')
}

/// The line without the mark of an item.
fn without_mark(line: &str) -> &str {
    let line = line.trim();
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = digits.strip_prefix(['.', ')']).filter(|_| digits.len() < line.len());
    numbered.unwrap_or(line).trim_start_matches(['-', '*', '+', '•', '[', '_', '|', '#', ' '])
}

/// The severity that the text begins with, and what follows it.
fn severity_at(text: &str) -> Option<(FindingSeverity, &str)> {
    let text = text.trim_start_matches(is_joint);
    let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    let severity = FindingSeverity::named(&text[..end])?;
    Some((severity, &text[end..]))
}

/// The place that the text begins with: a path, within back-ticks or up to a blank, with its line.
fn place_at<'a>(text: &'a str, diff: &Diff) -> Option<(&'a str, Option<u32>, &'a str)> {
    let text = text.trim_start_matches(|c| is_joint(c) && c != '_');
    if let Some(quoted) = text.strip_prefix('`') {
        let (inner, rest) = quoted.split_once('`')?;
        let (path, line) = split_line(inner);
        let (line, rest) = match line {
            Some(_) => (line, rest),
            None => line_at(rest),
        };
        return (is_path(path) || file_of(path, diff).is_some()).then_some((path, line, rest));
    }
    // A path of the change may have blanks.
    let known = diff.files.iter().map(|file| file.path.as_str()).filter(|path| starts_with_path(text, path));
    let end = known.map(str::len).max().unwrap_or_else(|| {
        let word = text.find(char::is_whitespace).unwrap_or(text.len());
        let word = &text[..word];
        word.find([':', '#']).unwrap_or(word.trim_end_matches([',', ')', ']', '*']).len())
    });
    let (path, rest) = text.split_at(end);
    let (line, rest) = line_at(rest);
    let is_meant = line.is_some() || is_path(path) || file_of(path, diff).is_some();
    (is_meant && !path.is_empty()).then_some((path, line, rest))
}

fn starts_with_path(text: &str, path: &str) -> bool {
    text.strip_prefix(path).is_some_and(|rest| rest.chars().next().is_none_or(|next| next == ':' || is_joint(next)))
}

/// The line that a text begins with, as `:12`, `:12-14`, `:12:5` or `#L12`, and what follows it.
fn line_at(text: &str) -> (Option<u32>, &str) {
    let Some(after) = text.strip_prefix(':').or_else(|| text.strip_prefix("#")) else { return (None, text) };
    let after = after.trim_start_matches('L');
    let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
    let Some(line) = after[..end].parse().ok().filter(|line| *line > 0) else { return (None, text) };
    // The end of a range, or the column.
    let rest = &after[end..];
    let further = rest.strip_prefix(['-', '–', ':']).map(|more| more.trim_start_matches('L'));
    let further = further.map(|more| more.trim_start_matches(|c: char| c.is_ascii_digit()));
    (Some(line), further.filter(|more| more.len() + 1 < rest.len()).unwrap_or(rest))
}

/// A path and the line behind it.
fn split_line(place: &str) -> (&str, Option<u32>) {
    let place = place.trim();
    for at in place.match_indices([':', '#']).map(|(at, _)| at) {
        if let (Some(line), "") = line_at(&place[at..]) {
            return (&place[..at], Some(line));
        }
    }
    (place, None)
}

/// Whether this can be a path; not every word before a colon is one.
fn is_path(text: &str) -> bool {
    !text.contains(char::is_whitespace) && text.contains(['/', '.']) && !text.ends_with('.')
}

/// The file of the change that a reviewer means.
fn file_of(place: &str, diff: &Diff) -> Option<String> {
    let is_there = |path: &str| diff.files.iter().any(|file| file.path == path);
    let place = place.trim();
    let bare = [Some(place), place.strip_prefix("./"), place.strip_prefix("a/"), place.strip_prefix("b/")];
    bare.into_iter().flatten().find(|path| is_there(path)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use hob_domain::{ChangeKind, FileChange, FileMode};
    use proptest::prelude::*;

    use super::*;

    fn diff() -> Diff {
        let file = |path: &str| FileChange {
            path: path.to_owned(),
            kind: ChangeKind::Modified,
            mode: FileMode::File,
            additions: 1,
            deletions: 0,
            size: 1,
        };
        Diff { files: ["src/a.rs", "Makefile", "docs/my notes.md", "a/x.py"].map(file).to_vec(), ..Diff::default() }
    }

    fn read(words: &str) -> Vec<String> {
        let found = Findings::read(words, &diff()).unwrap();
        found.list.iter().map(|one| format!("{} {}: {}", one.severity, one.place(), one.reason)).collect()
    }

    #[test]
    fn a_finding_is_read_however_it_is_marked_up() {
        for line in [
            "- high src/a.rs:12: it fails",
            "* **High** `src/a.rs:12`: it fails",
            "1. [HIGH] src/a.rs:12 - it fails",
            "2) high: `src/a.rs`:12 — it fails",
            "- `src/a.rs:12` (high): it fails",
            "src/a.rs:12 high it fails",
            "- **high** — ./src/a.rs:12-14: it fails",
            "- critical b/src/a.rs:12:7: it fails",
            "- high src/a.rs#L12: it fails",
            "### high src/a.rs#L12-L14: it fails",
            r#"{"severity":"high","file":"src/a.rs","line":12,"reason":"it fails"}"#,
            r#"{"severity":"High","path":"src/a.rs","line":"12","message":"it fails"}"#,
            r#"[{"level":"high","file":"src/a.rs:12","reason":"it fails"}]"#,
            "```json\n{\"findings\": [{\"severity\":\"high\",\n\"file\":\"src/a.rs\",\"line\":12,\"reason\":\"it fails\"}]}\n```",
            "- high src/a.rs:12: it\n  fails\n\nThat is all: 3 files were read.",
        ] {
            assert_eq!(read(line), ["high src/a.rs:12: it fails"], "{line}");
        }
        for (line, expected) in [
            ("- low Makefile:3: slow", "low Makefile:3: slow"),
            ("- medium docs/my notes.md:9: wrong", "medium docs/my notes.md:9: wrong"),
            ("- minor `docs/my notes.md`: wrong", "low docs/my notes.md: wrong"),
            ("- low a/x.py:0: no such line", "low a/x.py: 0: no such line"),
            ("- low src/a.rs: ", "low src/a.rs: (no reason is given)"),
            ("- high src/a.rs:99999999999: far", "high src/a.rs: 99999999999: far"),
        ] {
            assert_eq!(read(line), [expected], "{line}");
        }
    }

    #[test]
    fn the_worst_stand_first_and_each_once() {
        let words =
            "I read it all.\n- low src/a.rs:1: x\n- high src/a.rs:2: y\n- medium Makefile:1: z\n- high src/a.rs:2: y";
        assert_eq!(read(words), ["high src/a.rs:2: y", "medium Makefile:1: z", "low src/a.rs:1: x"]);
    }

    #[test]
    fn what_the_change_does_not_touch_is_counted() {
        let words = "- high /etc/passwd:1: x\n- high ../src/a.rs:1: x\n- low src/b.rs:4: y\n- low src/a.rs:4: z";
        let found = Findings::read(words, &diff()).unwrap();
        assert_eq!((found.list.len(), found.outside, found.too_many), (1, 3, 0));
        let many: String = (0..50).map(|n| format!("- low src/a.rs:{}: x\n", n + 1)).collect();
        let found = Findings::read(&format!("{many}- high Makefile:1: bad"), &diff()).unwrap();
        assert_eq!((found.list.len(), found.too_many, found.high().count()), (30, 21, 1));
    }

    #[test]
    fn words_without_findings_say_so_or_are_no_answer() {
        for none in ["No findings", "I read src/a.rs and its tests.\n\n**No findings.**", "[]", "{\"findings\":[]}"] {
            assert_eq!(Findings::read(none, &diff()), Ok(Findings::default()), "{none}");
        }
        for garbage in [
            "",
            "Reviews good to me!",
            "high",
            "- high",
            "- high hopes: none",
            "{\"severity\":\"high\"}",
            "[1, 2]",
            "{",
        ] {
            assert_eq!(Findings::read(garbage, &diff()), Err(UnreadableFindings), "{garbage}");
        }
    }

    #[test]
    fn a_reason_is_one_short_line() {
        let words = format!("- high src/a.rs:1: {}\n  {}", "x".repeat(900), "y\u{202e}".repeat(90_000));
        let found = Findings::read(&words, &diff()).unwrap();
        assert_eq!(found.list[0].reason.chars().count(), REASON_MAX);
        let json = r#"{"severity":"low","file":"src/a.rs","reason":"one\ntwo\u202e"}"#;
        assert_eq!(read(json), ["low src/a.rs: one two\u{202e}"]);
    }

    /// Pieces of findings, and characters that could break them.
    const PIECES: [&str; 28] = [
        "high",
        "low",
        "medium",
        " ",
        "\n",
        "- ",
        "* ",
        "`",
        "src/a.rs",
        ":",
        "12",
        "#L",
        "4294967296",
        "{",
        "}",
        "\"severity\"",
        "\"file\":\"src/a.rs\"",
        ",",
        "[",
        "]",
        "../",
        "é",
        "\u{202e}",
        "<!--",
        "-->",
        "**",
        "No findings",
        "\t",
    ];

    proptest! {
        #[test]
        fn whatever_it_is_given_it_names_files_of_the_change(
            pieces in proptest::collection::vec(proptest::sample::select(PIECES.to_vec()), 0..60),
        ) {
            if let Ok(found) = Findings::read(&pieces.concat(), &diff()) {
                prop_assert!(found.list.len() <= FINDINGS_MAX);
                for finding in found.list {
                    prop_assert!(diff().files.iter().any(|file| file.path == finding.file));
                    prop_assert!(finding.line != Some(0));
                    prop_assert!(!finding.reason.contains('\n') && finding.reason.chars().count() <= REASON_MAX);
                }
            }
        }

        #[test]
        fn any_text_is_read_without_harm(words in "(.|\n){0,400}") {
            Findings::read(&words, &diff()).ok();
        }
    }
}
