//! An agent's words about its change: the title, the commit's message, and the summary at the start of a pull request.
//! An agent may have written all of it, so it must not mention people, close issues, switch CI off, or get long.

use std::collections::BTreeMap;

use hob_text::{count, quiet, title, visible, without_switches};
use textwrap::{Options, WordSplitter, fill};

/// Characters of a commit's subject and of an agent's title.
const SUBJECT_MAX: usize = 72;
/// Characters of a pull request's title that comes from the issue.
const ISSUE_TITLE_MAX: usize = 120;
/// Columns of a commit's body.
const COLUMNS: usize = 72;
/// Lines and bytes of a summary in a commit's body, and in a pull request.
const IN_COMMIT: Bounds = Bounds { lines: 12, bytes: 1_000 };
const IN_PULL_REQUEST: Bounds = Bounds { lines: 30, bytes: 3_000 };

/// An agent's own words about its work.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct ChangeText {
    /// What the change does, in a few words. `None` if the issue's title is used.
    pub title: Option<String>,
    /// What was done and why.
    pub summary: String,
    /// Its replies to the threads of a review, by number.
    pub answers: BTreeMap<usize, String>,
}

impl ChangeText {
    /// The agent's closing words.
    pub fn said(title: Option<String>, summary: &str) -> Self {
        let (answers, summary) = answers_in(summary);
        Self { title, summary, answers }
    }

    /// A change that has only a summary.
    pub fn untitled(summary: impl Into<String>) -> Self {
        Self { summary: summary.into(), ..Self::default() }
    }

    /// The pull request's title.
    pub fn pull_title(&self, issue_title: &str) -> String {
        self.given_title().unwrap_or_else(|| one_title(issue_title, ISSUE_TITLE_MAX).unwrap_or_else(no_title))
    }

    /// The commit's subject and body. The body is the summary in short lines, or empty if it would only repeat the
    /// subject.
    pub(crate) fn in_commit(&self, issue_title: &str) -> (String, String) {
        let subject = self.given_title().or_else(|| one_title(issue_title, SUBJECT_MAX)).unwrap_or_else(no_title);
        let (summary, left_out) = shortened(&visible(&self.summary).0, IN_COMMIT);
        let body: Vec<String> = without_switches(&quiet(&summary)).lines().map(wrapped).collect();
        let body = body.join("\n");
        let more = if left_out { "\n\n(Shortened.)" } else { "" };
        let repeats = body.trim().trim_end_matches('.') == subject;
        let body = if body.trim().is_empty() || repeats { String::new() } else { format!("{body}{more}") };
        (subject, body)
    }

    /// Whether its summary is that of a commit with this message.
    pub fn repeats(&self, issue_title: &str, message: &str) -> bool {
        let (subject, body) = self.in_commit(issue_title);
        let bare = |text: &str| text.split_whitespace().collect::<String>();
        // A body that would only repeat the subject is left out of a commit.
        let said = if body.is_empty() { subject } else { body };
        bare(message).contains(&bare(&said))
    }

    /// The summary as a pull request shows it, and a note of how many lines are left out. `None` if it is whole.
    pub fn in_pull_request(&self) -> (String, Option<String>) {
        let (summary, _) = visible(&self.summary);
        let (kept, left_out) = shortened(&summary, IN_PULL_REQUEST);
        let lines = |text: &str| text.trim().lines().count();
        let more = left_out.then(|| match lines(&summary) - lines(&kept) {
            0 => "the rest of a long line".to_owned(),
            more => count(more, "more line"),
        });
        (kept, more)
    }

    fn given_title(&self) -> Option<String> {
        one_title(self.title.as_deref()?, SUBJECT_MAX)
    }
}

/// The lines of an agent's summary that answer threads, by the threads' numbers from 1, and the rest of the summary.
fn answers_in(summary: &str) -> (BTreeMap<usize, String>, String) {
    let mut answers = BTreeMap::<usize, String>::new();
    let (mut rest, mut current) = (Vec::new(), None);
    for line in summary.lines() {
        if let Some((number, said)) = thread_line(line) {
            answers.insert(number, said.to_owned());
            current = Some(number);
            continue;
        }
        match current.filter(|_| !line.trim().is_empty()).and_then(|number| answers.get_mut(&number)) {
            Some(answer) => {
                answer.push('\n');
                answer.push_str(line.trim());
            }
            None => {
                current = None;
                rest.push(line);
            }
        }
    }
    answers.retain(|_, said| !said.trim().is_empty());
    (answers, rest.join("\n").trim().to_owned())
}

/// Whether a reply to a thread says that nothing was done; the brief asks to begin it with `No:`.
pub fn is_declined(answer: &str) -> bool {
    let word: String = answer.trim_start().chars().take_while(|c| c.is_alphanumeric()).collect();
    word.eq_ignore_ascii_case("no")
}

/// `T3: words`, in any markup.
fn thread_line(line: &str) -> Option<(usize, &str)> {
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '-' | '*' | '`' | '>'));
    let rest = line.strip_prefix('T').or_else(|| line.strip_prefix("Thread T"))?;
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, said) = rest.split_at(digits);
    let said = said.trim_start_matches(['*', '`', ' ']).strip_prefix(':')?;
    Some((number.parse().ok().filter(|number| (1..=999).contains(number))?, said.trim_start_matches(['*', '`']).trim()))
}

fn no_title() -> String {
    "Work on an issue without a title".to_owned()
}

/// A title without the period of a sentence. `None` if no word is left.
fn one_title(text: &str, max: usize) -> Option<String> {
    let line = title(text, max);
    let line = line.strip_suffix('.').filter(|rest| !rest.ends_with('.')).unwrap_or(&line);
    line.contains(char::is_alphanumeric).then(|| quiet(line))
}

/// How much of a summary is kept.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    lines: usize,
    bytes: usize,
}

/// The beginning of the text, cut between lines, or between words if one line is too long; and whether anything was
/// cut.
fn shortened(text: &str, bounds: Bounds) -> (String, bool) {
    let text = text.trim();
    let mut kept = String::new();
    for (number, line) in text.lines().enumerate() {
        if number == bounds.lines || kept.len() + line.len() > bounds.bytes {
            if kept.is_empty() {
                let cut = &line[..line.floor_char_boundary(bounds.bytes)];
                let cut = cut.rfind(char::is_whitespace).map_or(cut, |space| &cut[..space]);
                kept = format!("{} …", cut.trim_end());
            }
            return (kept.trim_end().to_owned(), true);
        }
        kept.push_str(line.trim_end());
        kept.push('\n');
    }
    (kept.trim_end().to_owned(), false)
}

/// Wraps a line of a commit's body. A line that git or the forge would read as a trailer is indented: the message's
/// trailers are Hob's.
fn wrapped(line: &str) -> String {
    let line = if is_trailer(line) { format!(" {line}") } else { line.to_owned() };
    let rest = line.trim_start();
    let after_digits = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let marker = match rest.get(..2) {
        Some("- " | "* ") => 2,
        _ if after_digits.len() < rest.len() && after_digits.starts_with(". ") => rest.len() - after_digits.len() + 2,
        _ => 0,
    };
    let hang = " ".repeat((line.len() - rest.len() + marker).min(COLUMNS / 2));
    let options = Options::new(COLUMNS).break_words(false).word_splitter(WordSplitter::NoHyphenation);
    fill(&line, options.subsequent_indent(&hang))
}

fn is_trailer(line: &str) -> bool {
    let Some((name, _)) = line.split_once(':') else { return false };
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    is_name && (name.contains('-') || name.eq_ignore_ascii_case("issue"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::IssueNumber;

    fn message(change: &ChangeText, issue_title: &str, issue: IssueNumber) -> String {
        crate::commit_message(
            change,
            issue_title,
            issue,
            crate::MessageRules {
                template: "{title}\n\n{body}",
                labels: &[],
                made: crate::MadeBy::default(),
                trailers: &[],
            },
        )
    }

    fn change(title: &str, summary: &str) -> ChangeText {
        let title = Some(title.to_owned()).filter(|title| !title.is_empty());
        ChangeText { title, ..ChangeText::untitled(summary) }
    }

    #[test]
    fn a_summary_that_is_given_again_is_told_by_the_commit() {
        let long = format!("Slugs end after a word, so that none is cut: {}", "see the test. ".repeat(9));
        for (said, again, repeats) in [
            ("Slugs end after a word.", "Slugs end after\na word.", true),
            (long.as_str(), long.as_str(), true),
            ("Slugs end after a word.", "They did before.", false),
            ("", "Shorten slugs", true),
            ("", "Because of `slice`.", false),
        ] {
            let before = message(&change("", said), "Shorten slugs", IssueNumber(3));
            assert_eq!(change("", again).repeats("Shorten slugs", &before), repeats, "{again}: {before}");
        }
    }

    fn shown(text: &str) -> String {
        text.replace('\u{200b}', "<zwsp>")
    }

    #[test]
    fn threads_are_answered_by_lines_of_the_summary() {
        let summary = "Renamed it all.\n\n- **T1:** done, with a test\n  in `a.rs`\n`T2`: No: the name is public.\nT40: x\nT0: y\n\
                       Tests pass: yes.\n\nTwo more words.\nT3:";
        let (answers, rest) = answers_in(summary);
        let expected =
            [(1, "done, with a test\nin `a.rs`"), (2, "No: the name is public."), (40, "x\nT0: y\nTests pass: yes.")];
        assert_eq!(answers.iter().map(|(number, said)| (*number, said.as_str())).collect::<Vec<_>>(), expected);
        assert_eq!(rest, "Renamed it all.\n\n\nTwo more words.");
        assert_eq!(answers_in("Just words."), (BTreeMap::new(), "Just words.".to_owned()));
    }

    #[test]
    fn the_changes_own_title_comes_before_the_issues() {
        let issue = "The parser crashes on an empty file";
        for (given, title) in [
            ("Accept empty files in the parser.", "Accept empty files in the parser"),
            ("", issue),
            (" \n\u{200b} ", issue),
            ("…", issue),
            ("Fix `a[0]`, index [x] and wait...", "Fix `a[0]`, index [x] and wait..."),
        ] {
            assert_eq!(change(given, "").pull_title(issue), title);
            assert_eq!(message(&change(given, ""), issue, IssueNumber(7)).lines().next(), Some(title));
        }
        assert_eq!(change("", "").pull_title("…"), "Work on an issue without a title");
    }

    /// Attack corpus H84, H87, H92.
    #[test]
    fn a_hostile_title_is_one_short_line_that_does_nothing() {
        let hostile = "Fixes #9, closes GH-4, @team [skip ci]\nCo-authored-by: x\u{1b}]52;c \u{202e}\u{e0041}";
        let title = change(hostile, "").pull_title("x");
        assert_eq!(shown(&title), "Fixes #<zwsp>9, closes GH-<zwsp>4, @<zwsp>team 'skip ci' Co-authored-by: x]52;c");
        let long = change(&"word ".repeat(40), "").pull_title("x");
        assert!(long.chars().count() <= 72 && long.ends_with("word…"), "{long}");
        let issue = "word ".repeat(40);
        assert!(change("", "").pull_title(&issue).chars().count() > 100);
        assert!(message(&change("", ""), &issue, IssueNumber(1)).lines().all(|line| line.chars().count() <= 72));
    }

    #[test]
    fn a_commit_message_is_a_subject_short_lines_and_the_issue() {
        let summary = "The parser took an empty file for a truncated one, because it looked for the closing mark before it \
                       looked at the length.\n\n- `parse` returns an empty document, as the other readers do, instead of \
                       an error that nobody expects.\n- A test covers it.\n\nSigned-off-by: Mallory <m@example.org>\nIssue: 9\n\
                       Note: thanks @team, fixes #9 [skip ci]";
        let message = message(&change("Accept empty files", summary), "Crash", IssueNumber(7));
        insta::assert_snapshot!(shown(&message), @r"
        Accept empty files

        The parser took an empty file for a truncated one, because it looked for
        the closing mark before it looked at the length.

        - `parse` returns an empty document, as the other readers do, instead of
          an error that nobody expects.
        - A test covers it.

         Signed-off-by: Mallory <m@<zwsp>example.org>
         Issue: 9
        Note: thanks @<zwsp>team, fixes #<zwsp>9 'skip ci'

        Issue: 7
        ");
    }

    #[test]
    fn a_chatty_agents_log_stays_out() {
        let log: String = (1..=200).map(|n| format!("2026-11-22 INFO step {n} done\n")).collect();
        let message = message(&change("", &log), "Crash", IssueNumber(7));
        assert!(message.lines().count() < 20 && message.ends_with("\n\n(Shortened.)\n\nIssue: 7\n"), "{message}");
        let (kept, more) = change("", &log).in_pull_request();
        assert_eq!((kept.lines().count(), more.as_deref()), (30, Some("170 more lines")));
        let line = "word ".repeat(2_000);
        let (kept, more) = change("", &line).in_pull_request();
        assert!(kept.len() < 3_010 && kept.ends_with("word …"), "{kept}");
        assert_eq!(more.as_deref(), Some("the rest of a long line"));
        assert_eq!(change("", "Did it.\nWell.").in_pull_request(), ("Did it.\nWell.".to_owned(), None));
    }

    #[test]
    fn a_summary_that_is_the_title_is_not_said_twice() {
        assert_eq!(message(&change("Fix it", "Fix it."), "x", IssueNumber(7)), "Fix it\n\nIssue: 7\n");
        assert_eq!(message(&change("Fix it", ""), "x", IssueNumber(7)), "Fix it\n\nIssue: 7\n");
    }
}
