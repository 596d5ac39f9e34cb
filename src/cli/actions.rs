//! GitHub Actions: annotations, and groups of lines in a job's log.
//!
//! A line of a job that begins with `::` is a command to the runner, so text from issues and agents must never become
//! one: the text in a command is escaped, and within a group, where lines of progress are, commands are stopped until a
//! secret token (GitHub's "Workflow commands for GitHub Actions").

use hob_text::{clip, terminal};

use crate::cli::output;

/// Annotations of a step that GitHub shows, of each level.
const SHOWN: usize = 10;
/// Bytes of an annotation's text.
const TEXT_MAX: usize = 2_000;

/// The severity of an annotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    /// Something failed.
    Error,
    /// A person should look.
    Warning,
}

/// One annotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Annotation {
    pub(super) level: Level,
    pub(super) title: String,
    pub(super) text: String,
}

impl Annotation {
    /// The runner's command.
    fn command(&self) -> String {
        let level = match self.level {
            Level::Error => "error",
            Level::Warning => "warning",
        };
        format!("::{level} title={}::{}", property(&self.title), data(&clip(&terminal(&self.text), TEXT_MAX)))
    }
}

/// Writes annotations, as many as are shown, outside of any group.
pub(super) fn annotate(annotations: &[Annotation]) {
    for level in [Level::Error, Level::Warning] {
        for annotation in annotations.iter().filter(|annotation| annotation.level == level).take(SHOWN) {
            output::note(annotation.command());
        }
    }
}

/// Lines that a job's log folds.
#[derive(Debug)]
pub(super) struct Group {
    title: String,
    token: String,
}

impl Group {
    /// The group, and the lines that begin it.
    pub(super) fn begin(title: &str) -> (Self, String) {
        let group = Self { title: title.to_owned(), token: hob_forge::fresh_nonce().0 };
        let begin = format!("::group::{}\n::stop-commands::{}", data(title), group.token);
        (group, begin)
    }

    /// Whether it is the group of this title.
    pub(super) fn is(&self, title: &str) -> bool {
        self.title == title
    }

    /// The lines that end it.
    pub(super) fn end(self) -> String {
        format!("::{}::\n::endgroup::", self.token)
    }
}

/// The text of a command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a command's property, which ends at a comma or a colon.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_stays_the_text_of_its_command() {
        let annotation = |title: &str, text: &str| {
            Annotation { level: Level::Warning, title: title.to_owned(), text: text.to_owned() }.command()
        };
        for (title, text, command) in [
            ("#7", "blocked", "::warning title=#7::blocked"),
            ("#7", "a\n::add-mask::b\r\n::error::c", "::warning title=#7::a%0A::add-mask::b\\u{d}%0A::error::c"),
            ("a::b,file=c\nd", "50%0A", "::warning title=a%3A%3Ab%2Cfile=c%0Ad::50%250A"),
            ("#7", "##[add-mask]b", "::warning title=#7::##\\u{5b}add-mask]b"),
        ] {
            let made = annotation(title, text);
            assert_eq!(made, command);
            assert_eq!(made.lines().count(), 1);
        }
    }

    #[test]
    fn a_group_takes_no_commands_and_ends_with_its_own_token() {
        let (one, begin) = Group::begin("Issue 1");
        let token = begin.strip_prefix("::group::Issue 1\n::stop-commands::").unwrap().to_owned();
        assert!(token.len() >= 16, "{token}");
        assert_eq!(one.end(), format!("::{token}::\n::endgroup::"));
        assert!(!Group::begin("Issue 1").1.contains(&token));
    }
}
