//! Commands in comments: `/hob retry`, `/hob pause`, …, at the start of a line that is neither quoted nor code.

use std::ops::Range;

use pulldown_cmark::{Event, Parser, Tag};

/// What a comment asks of Hob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Try again.
    Retry,
    /// Try again, knowing this.
    Unblock(String),
    /// Do what was asked about, knowing this.
    Approve(String),
    /// Stop for good.
    Cancel,
    /// Leave the issue alone until it is resumed; why, may be empty.
    Pause(String),
    /// Go on with a paused issue.
    Resume,
    /// Say which commands there are.
    Help,
}

/// Every command: its verb, what follows it, and what it does.
const COMMANDS: [(&str, &str, &str); 7] = [
    ("retry", "", "try again, without waiting"),
    ("unblock", " TEXT", "go on, with TEXT for the agent"),
    ("approve", " TEXT", "allow the action that the agent asked about"),
    ("cancel", "", "end the work on this issue for good"),
    ("pause", " TEXT", "leave the issue alone until it is resumed"),
    ("resume", "", "go on with a paused issue"),
    ("help", "", "list the commands"),
];

/// How unlike a known verb a misspelt one may be, as a number of letters.
const FAR: usize = 2;

/// The list that answers `/hob help`.
pub fn command_list() -> String {
    let line = |(verb, after, does): &(&str, &str, &str)| format!("- `/hob {verb}{after}`: {does}");
    format!(
        "Commands of accounts with write access count, at the start of a line:\n\n{}",
        COMMANDS.iter().map(line).collect::<Vec<_>>().join("\n")
    )
}

/// What is said to a command that is not known, with the nearest one that is.
pub fn unknown_command_reply(said: &str) -> String {
    let verb = said.split_whitespace().nth(1).unwrap_or_default().to_lowercase();
    let distance = |known: &str| strsim::damerau_levenshtein(known, &verb);
    let nearest = COMMANDS.iter().map(|(known, ..)| *known).min_by_key(|known| distance(known));
    let hint = match nearest.filter(|known| distance(known) <= FAR) {
        Some(known) => format!("did you mean `/hob {known}`?"),
        None => "`/hob help` lists them.".to_owned(),
    };
    format!("`{}` is no command of Hob's: {hint}", said.replace('`', "'"))
}

/// The first command in a comment. What follows a command that takes words goes on to the end of the comment, over several lines.
pub fn command_in(comment: &str) -> Option<Command> {
    asked(comment).find_map(|(line, after)| known(line, after))
}

/// The words of the first line that begins like a command, where the comment has none that is known.
pub fn unknown_command(comment: &str) -> Option<String> {
    if command_in(comment).is_some() {
        return None;
    }
    asked(comment).next().map(|(line, _)| line.chars().take(80).collect())
}

fn known(line: &str, after: &str) -> Option<Command> {
    let mut words = line.splitn(3, char::is_whitespace).skip(1);
    let verb = words.next().unwrap_or_default().to_ascii_lowercase();
    let said = format!("{}\n{after}", words.next().unwrap_or_default()).trim().to_owned();
    match verb.as_str() {
        "retry" => Some(Command::Retry),
        "unblock" => Some(Command::Unblock(said)),
        "approve" => Some(Command::Approve(said)),
        "cancel" => Some(Command::Cancel),
        "pause" => Some(Command::Pause(said)),
        "resume" => Some(Command::Resume),
        "help" => Some(Command::Help),
        // An unknown verb is not taken for one that is known.
        _unknown => None,
    }
}

/// The lines that begin with `/hob` and are the author's own words, each with what follows it.
fn asked(comment: &str) -> impl Iterator<Item = (&str, &str)> {
    let is_like = |line: &str| line.split_whitespace().next().is_some_and(|word| word.eq_ignore_ascii_case("/hob"));
    // Most comments have no command, and need not be read as Markdown.
    let code = if comment.lines().any(is_like) { code_in(comment) } else { Vec::new() };
    let mut start = 0;
    let lines = comment.split_inclusive('\n').map(move |line| {
        let at = start;
        start += line.len();
        (at, line)
    });
    lines.filter_map(move |(at, line)| {
        let first = at + (line.len() - line.trim_start().len());
        let is_code = code.iter().any(|range| range.contains(&first));
        (is_like(line) && !is_code).then(|| (line.trim(), comment.get(at + line.len()..).unwrap_or_default()))
    })
}

/// The parts of a comment that are code, or that nobody sees as words: blocks, spans, raw HTML.
fn code_in(comment: &str) -> Vec<Range<usize>> {
    let is_code = |event: &Event<'_>| {
        matches!(event, Event::Start(Tag::CodeBlock(_) | Tag::HtmlBlock) | Event::Code(_) | Event::InlineHtml(_))
    };
    Parser::new(comment).into_offset_iter().filter(|(event, _)| is_code(event)).map(|(_, range)| range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_is_not_known_is_told_from_plain_words() {
        for (comment, words) in [
            ("/hob typo here", Some("/hob typo here")),
            ("please\n /hob", Some("/hob")),
            ("/hob typo\n/hob retry", None),
            ("> /hob typo", None),
            ("```\n/hob typo\n```", None),
            ("try /hob typo", None),
        ] {
            assert_eq!(unknown_command(comment).as_deref(), words, "{comment:?}");
        }
    }

    #[test]
    fn a_misspelt_command_is_answered_with_the_nearest() {
        for (said, hint) in [
            ("/hob retyr", "did you mean `/hob retry`?"),
            ("/hob CANCLE", "did you mean `/hob cancel`?"),
            ("/hob resum it", "did you mean `/hob resume`?"),
            ("/hob plan", "`/hob help` lists them."),
            ("/hob", "`/hob help` lists them."),
        ] {
            assert_eq!(unknown_command_reply(said), format!("`{said}` is no command of Hob's: {hint}"));
        }
        assert!(unknown_command_reply("/hob `x`").starts_with("`/hob 'x'` is no command"));
    }

    #[test]
    fn every_command_of_the_list_is_known() {
        for (verb, ..) in COMMANDS {
            assert!(command_in(&format!("/hob {verb}")).is_some(), "{verb}");
            assert!(command_list().contains(&format!("`/hob {verb}")), "{verb}");
        }
    }

    #[test]
    fn what_is_quoted_or_code_asks_nothing() {
        for comment in [
            "> /hob retry",
            "> > /hob retry",
            "```\n/hob retry\n```",
            "~~~ sh\n/hob retry",
            "- a list\n\n  ```\n  /hob retry\n  ```",
            "    /hob retry",
            "words\n\n\t/hob retry",
            "`span\n/hob retry`",
            "<!--\n/hob retry\n-->",
        ] {
            assert_eq!(command_in(comment), None, "{comment:?}");
        }
        for comment in ["```\n/hob cancel\n```\n/hob retry", "> quoted\n\n/hob retry", "`a` and `b`\n/hob retry"] {
            assert_eq!(command_in(comment), Some(Command::Retry), "{comment:?}");
        }
    }

    #[test]
    fn a_command_stands_at_the_start_of_a_line() {
        let text = str::to_owned;
        for (comment, command) in [
            ("/hob retry", Some(Command::Retry)),
            ("thanks!\n\n  /hob retry please", Some(Command::Retry)),
            (
                "/hob unblock use UTC\nand keep the old name",
                Some(Command::Unblock(text("use UTC\nand keep the old name"))),
            ),
            ("/hob approve", Some(Command::Approve(String::new()))),
            ("Fine.\r\n/hob approve but be quick", Some(Command::Approve(text("but be quick")))),
            ("/HOB Cancel", Some(Command::Cancel)),
            ("/hob unblock", Some(Command::Unblock(String::new()))),
            ("/hob pause until Monday", Some(Command::Pause(text("until Monday")))),
            ("/hob resume", Some(Command::Resume)),
            ("/hob help", Some(Command::Help)),
            ("try /hob retry", None),
            ("/hobby retry", None),
            ("/hob dance", None),
            ("", None),
        ] {
            assert_eq!(command_in(comment), command, "{comment:?}");
        }
    }
}
