//! Commands in comments: `/hob retry`, `/hob pause`, …, at the start of a line of the author's own words.
//!
//! What a comment quotes, shows as code or hides is not its author's words; a Markdown parser says which lines are.

#![expect(clippy::wildcard_enum_match_arm, reason = "of the parser's many events only text and what hides it matter")]

use hob_text::{Place, own_words};
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

/// What a comment asks of Hob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Try again.
    Retry,
    /// Try again with this information.
    Unblock(String),
    /// Do what was asked about, with this information.
    Approve(String),
    /// End the work for good.
    Cancel,
    /// Leave the issue alone until it is resumed. The reason may be empty.
    Pause(String),
    /// Continue a paused issue.
    Resume,
    /// Use this agent or profile from the next attempt on.
    Agent(String),
    /// Allow the issue this cost over its whole life, as it was written.
    Budget(String),
    /// Make a plan first.
    Plan,
    /// Sign the pull request's commits off as the person who says so.
    SignOff,
    /// Make the proof of the pull request again.
    Prove,
    /// Explain the issue's state.
    Explain,
    /// List the commands.
    Help,
}

/// The request of a comment with a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// A known command.
    Known(Command),
    /// An unknown command: the words of the line.
    Unknown(String),
}

/// The request of a comment in a pull request's conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskedInReview {
    /// A command, or what looks like one.
    Command(Asked),
    /// Work on the pull request, in a round.
    Work,
}

/// One command: its syntax and its effect.
struct Known {
    verb: &'static str,
    /// What follows the verb in the list of commands.
    after: &'static str,
    does: &'static str,
    /// The most words that may follow on its line before the line counts as a request for work. `None` for any number.
    words: Option<usize>,
}

impl Known {
    const fn new(verb: &'static str, after: &'static str, does: &'static str, words: Option<usize>) -> Self {
        Self { verb, after, does, words }
    }
}

const COMMANDS: [Known; 13] = [
    Known::new("retry", "", "try again, without waiting", Some(0)),
    Known::new("unblock", " TEXT", "go on, with TEXT for the agent", None),
    Known::new("approve", " TEXT", "allow the action that the agent asked about", None),
    Known::new("cancel", "", "end the work on this issue for good", Some(0)),
    Known::new("pause", " TEXT", "leave the issue alone until it is resumed", None),
    Known::new("resume", "", "go on with a paused issue", Some(0)),
    Known::new("agent", " NAME", "let this agent or profile work from the next attempt on", Some(1)),
    Known::new("budget", " USD", "let the issue cost so much over its whole life", Some(2)),
    Known::new("plan", "", "make a plan first", Some(0)),
    Known::new("sign-off", "", "sign the pull request's commits off as yours, for a DCO", Some(0)),
    Known::new("prove", "", "make the proof of the pull request again, on its head as it is now", Some(0)),
    Known::new("explain", "", "say what the issue waits for and why", Some(0)),
    Known::new("help", "", "list the commands", Some(0)),
];

/// The longest comment that is read, in bytes: longer than GitHub allows.
const COMMENT_MAX: usize = 4 * 65_536;

/// How much of an unknown command is quoted, in characters.
const SAID_MAX: usize = 80;

/// The list that answers `/hob help`.
pub fn command_list() -> String {
    let line = |known: &Known| format!("- `/hob {}{}`: {}", known.verb, known.after, known.does);
    format!(
        "Commands of accounts with write access count, at the start of a line:\n\n{}",
        COMMANDS.iter().map(line).collect::<Vec<_>>().join("\n")
    )
}

/// The reply to an unknown command, with the nearest known one.
pub fn unknown_command_reply(said: &str) -> String {
    let hint = match nearest(said.split_whitespace().nth(1).unwrap_or_default()) {
        Some(known) => format!("did you mean `/hob {known}`?"),
        None => "`/hob help` lists them.".to_owned(),
    };
    format!("`{}` is not a command of Hob's: {hint}", said.replace('`', "'"))
}

/// The reply to a comment that was edited.
pub const EDITED_REPLY: &str =
    "This comment was edited after it was written, so it does not count: write it again as a new comment.";

/// The verb that was probably meant; the shorter it is, the fewer letters may differ.
fn nearest(word: &str) -> Option<&'static str> {
    let word = word.to_lowercase();
    let with_distance = |known: &Known| (strsim::damerau_levenshtein(known.verb, &word), known.verb);
    let is_near = |(distance, verb): &(usize, &str)| *distance <= verb.len() / 3;
    COMMANDS.iter().map(with_distance).filter(is_near).min().map(|(_, verb)| verb)
}

/// The first command in a comment. A command that takes text takes the rest of the comment, over several lines.
pub fn command_in(comment: &str) -> Option<Command> {
    own_lines(comment).into_iter().find_map(|line| line.command())
}

/// What a comment on an issue asks for, if it has a line that begins with `/hob`.
pub fn asked_in(comment: &str) -> Option<Asked> {
    let lines = own_lines(comment);
    let unknown = lines.first()?.said();
    Some(lines.iter().find_map(OwnLine::command).map_or(Asked::Unknown(unknown), Asked::Known))
}

/// What a comment in a pull request's conversation asks for. People also address change requests to Hob there: a line
/// that has more words than its command takes is a request for work, as are other words.
pub fn asked_in_review(comment: &str) -> Option<AskedInReview> {
    let lines = own_lines(comment);
    let first = lines.first()?;
    let asked = match (first.exact(), first.words.as_slice()) {
        (Some(command), _) => Some(Asked::Known(command)),
        (None, []) => Some(Asked::Unknown(first.said())),
        (None, [word]) if nearest(word).is_some() => Some(Asked::Unknown(first.said())),
        (None, _) => None,
    };
    let begins = comment.split_whitespace().next().is_some_and(is_call);
    asked.map(AskedInReview::Command).or_else(|| begins.then_some(AskedInReview::Work))
}

/// The work that a comment in a pull request's conversation asks for, in its own words. `None` if it asks for none.
pub fn asked_work(comment: &str) -> Option<&str> {
    let asks = asked_in_review(comment) == Some(AskedInReview::Work);
    let (_, said) = comment.trim_start().split_at_checked("/hob".len()).filter(|_| asks)?;
    Some(said.trim())
}

fn is_call(word: &str) -> bool {
    word.eq_ignore_ascii_case("/hob")
}

/// A line that begins with `/hob` and is the author's own words.
struct OwnLine<'a> {
    line: &'a str,
    /// Its words after `/hob`.
    words: Vec<&'a str>,
    /// What follows the line.
    after: &'a str,
}

impl OwnLine<'_> {
    fn said(&self) -> String {
        self.line.chars().take(SAID_MAX).collect()
    }

    /// The command, regardless of what follows its verb.
    fn command(&self) -> Option<Command> {
        let (verb, words) = self.words.split_first()?;
        let known = known(verb)?;
        let text = || {
            let rest = self.line.splitn(3, char::is_whitespace).nth(2).unwrap_or_default();
            format!("{rest}\n{}", self.after).trim().to_owned()
        };
        Some(match known.verb {
            "retry" => match text() {
                words if !has_own_words(&words) => Command::Retry,
                // They were written for the agent.
                words => Command::Unblock(words),
            },
            "unblock" => Command::Unblock(text()),
            "approve" => Command::Approve(text()),
            "cancel" => Command::Cancel,
            "pause" => Command::Pause(text()),
            "resume" => Command::Resume,
            "agent" => Command::Agent(words.first().copied().unwrap_or_default().to_owned()),
            "budget" => Command::Budget(words.join(" ")),
            "plan" => Command::Plan,
            "sign-off" => Command::SignOff,
            "prove" => Command::Prove,
            "explain" => Command::Explain,
            "help" => Command::Help,
            _not_in_the_list => return None,
        })
    }

    /// The command, if no more words follow than it takes.
    fn exact(&self) -> Option<Command> {
        let takes = known(self.words.first()?)?.words;
        takes.is_none_or(|most| self.words.len() - 1 <= most).then(|| self.command()).flatten()
    }
}

/// A known command by its exact verb.
fn known(verb: &str) -> Option<&'static Known> {
    COMMANDS.iter().find(|known| known.verb.eq_ignore_ascii_case(verb))
}

/// The lines that begin with `/hob` and are the author's own words.
fn own_lines<'a>(comment: &'a str) -> Vec<OwnLine<'a>> {
    let begins = |line: &str| line.split_whitespace().next().is_some_and(is_call);
    let own =
        |(line, after): (&'a str, &'a str)| OwnLine { line, words: line.split_whitespace().skip(1).collect(), after };
    author_lines(comment, begins).into_iter().map(own).collect()
}

/// The lines that match and are the author's own words, each with what follows it.
pub(crate) fn author_lines(comment: &str, is_wanted: impl Fn(&str) -> bool) -> Vec<(&str, &str)> {
    // Most comments have no such line and need not be parsed as Markdown.
    if comment.len() > COMMENT_MAX || !comment.lines().any(&is_wanted) {
        return Vec::new();
    }
    let own = own_words(comment, Place::Outside);
    let is_own = |at: usize| {
        let before = own.partition_point(|range| range.start <= at);
        before.checked_sub(1).and_then(|last| own.get(last)).is_some_and(|range| range.contains(&at))
    };
    let mut start = 0;
    let mut lines = Vec::new();
    for line in comment.split_inclusive('\n') {
        let first = start + (line.len() - line.trim_start().len());
        start += line.len();
        if is_wanted(line) && is_own(first) {
            lines.push((line.trim(), comment.get(start..).unwrap_or_default()));
        }
    }
    lines
}

/// A comment's own words, without what it quotes. `None` if it shows something else beside them, such as code.
pub(crate) fn own_text(comment: &str) -> Option<String> {
    if comment.len() > COMMENT_MAX {
        return None;
    }
    let (mut own, mut quoted) = (Vec::new(), 0_usize);
    for (event, range) in Parser::new(comment).into_offset_iter() {
        match event {
            Event::Start(Tag::BlockQuote(_)) => quoted += 1,
            Event::End(TagEnd::BlockQuote(_)) => quoted = quoted.saturating_sub(1),
            _ if quoted > 0 => {}
            Event::Start(Tag::CodeBlock(_) | Tag::Image { .. }) | Event::Code(_) => return None,
            Event::Text(_) => own.extend(comment.get(range)),
            _ => {}
        }
    }
    Some(own.join(" "))
}

/// Whether a comment has words of its author's own, and does not only quote or show something.
pub(crate) fn has_own_words(comment: &str) -> bool {
    let own = own_words(comment, Place::Anywhere);
    own.into_iter().any(|range| comment.get(range).is_some_and(|words| !words.trim().is_empty()))
}

/// Whether a word is the verb of a command.
pub(crate) fn is_verb(word: &str) -> bool {
    known(word).is_some()
}

#[cfg(test)]
mod tests {
    use hob_text::authored;

    use super::*;

    #[test]
    fn what_is_quoted_or_shown_is_not_its_authors_words() {
        for (comment, expected) in [
            ("Fine.", true),
            ("> Fine?\n\nFine.", true),
            ("> Fine.", false),
            ("```\nFine.\n```", false),
            ("~~~\nFine.", false),
            ("<!--\nFine.\n-->", false),
            ("    Fine.", false),
            (" \n", false),
        ] {
            assert_eq!(has_own_words(comment), expected, "{comment:?}");
        }
    }

    #[test]
    fn replies_to_a_call_for_help_and_to_a_slip_of_the_pen() {
        let slips = ["/hob cancl", "/hob frobnicate `x`"].map(unknown_command_reply);
        insta::assert_snapshot!(format!("{}\n\n{}", command_list(), slips.join("\n")), @"
        Commands of accounts with write access count, at the start of a line:

        - `/hob retry`: try again, without waiting
        - `/hob unblock TEXT`: go on, with TEXT for the agent
        - `/hob approve TEXT`: allow the action that the agent asked about
        - `/hob cancel`: end the work on this issue for good
        - `/hob pause TEXT`: leave the issue alone until it is resumed
        - `/hob resume`: go on with a paused issue
        - `/hob agent NAME`: let this agent or profile work from the next attempt on
        - `/hob budget USD`: let the issue cost so much over its whole life
        - `/hob plan`: make a plan first
        - `/hob sign-off`: sign the pull request's commits off as yours, for a DCO
        - `/hob prove`: make the proof of the pull request again, on its head as it is now
        - `/hob explain`: say what the issue waits for and why
        - `/hob help`: list the commands

        `/hob cancl` is not a command of Hob's: did you mean `/hob cancel`?
        `/hob frobnicate 'x'` is not a command of Hob's: `/hob help` lists them.
        ");
    }

    #[test]
    fn a_line_that_only_looks_like_a_command_is_told_apart() {
        for (comment, words) in [
            ("/hob unblokc use UTC", Some("/hob unblokc use UTC")),
            ("please\n /hob", Some("/hob")),
            ("/hob typo\n/hob retry", None),
            ("> /hob typo", None),
            ("```\n/hob typo\n```", None),
            ("try /hob typo", None),
        ] {
            let unknown = asked_in(comment).filter(|asked| matches!(asked, Asked::Unknown(_)));
            assert_eq!(unknown, words.map(|said| Asked::Unknown(said.to_owned())), "{comment:?}");
        }
    }

    #[test]
    fn a_misspelt_command_is_answered_with_the_nearest() {
        for (said, hint) in [
            ("/hob retyr", "did you mean `/hob retry`?"),
            ("/hob CANCLE", "did you mean `/hob cancel`?"),
            ("/hob resum it", "did you mean `/hob resume`?"),
            ("/hob bugdet 5", "did you mean `/hob budget`?"),
            ("/hob \u{441}ancel", "did you mean `/hob cancel`?"),
            ("/hob frobnicate", "`/hob help` lists them."),
            ("/hob", "`/hob help` lists them."),
        ] {
            assert_eq!(unknown_command_reply(said), format!("`{said}` is not a command of Hob's: {hint}"));
        }
        assert!(unknown_command_reply("/hob `x`").starts_with("`/hob 'x'` is not a command"));
    }

    #[test]
    fn every_command_of_the_list_is_known() {
        for Known { verb, .. } in COMMANDS {
            assert!(command_in(&format!("/hob {verb}")).is_some(), "{verb}");
            assert!(command_in(&format!("/HOB {}", verb.to_uppercase())).is_some(), "{verb}");
            assert!(command_list().contains(&format!("`/hob {verb}")), "{verb}");
        }
    }

    #[test]
    fn what_is_quoted_or_code_asks_nothing() {
        for comment in [
            "> /hob retry",
            "> > /hob retry",
            "> quoted\n/hob retry",
            "```\n/hob retry\n```",
            "```rust\r\n/hob retry\r\n```",
            "~~~ sh\n/hob retry",
            "````\n```\n/hob retry\n```\n````",
            "- a list\n\n  ```\n  /hob retry\n  ```",
            "    /hob retry",
            "words\n\n\t/hob retry",
            "`span\n/hob retry`",
            "`/hob retry`",
            "<!--\n/hob retry\n-->",
            "<!--\n\n/hob retry\n\n-->",
            "words <!-- a\n/hob retry -->",
            "<pre>\n/hob retry\n</pre>",
            "![a\n/hob retry](b.png)",
            "[a]: b '\n/hob retry\n'",
            "try /hob retry",
            "/hobby retry",
            "\u{ff0f}hob retry",
            "/h\u{43e}b retry",
            "/hob\u{200b} retry",
            "\\/hob retry",
        ] {
            assert_eq!((asked_in(comment), asked_in_review(comment)), (None, None), "{comment:?}");
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
            ("thanks!\n\n  /hob retry ", Some(Command::Retry)),
            ("/hob retry\n\n> as I said", Some(Command::Retry)),
            ("/hob retry three times is enough", Some(Command::Unblock(text("three times is enough")))),
            (
                "/hob unblock use UTC\nand keep the old name",
                Some(Command::Unblock(text("use UTC\nand keep the old name"))),
            ),
            ("/hob approve", Some(Command::Approve(String::new()))),
            ("Fine.\r\n/hob approve but be quick", Some(Command::Approve(text("but be quick")))),
            ("/HOB Cancel", Some(Command::Cancel)),
            ("/hob\u{a0}cancel", Some(Command::Cancel)),
            ("**All of it:\n/hob cancel**", None),
            ("/hob unblock", Some(Command::Unblock(String::new()))),
            ("/hob pause until Monday", Some(Command::Pause(text("until Monday")))),
            ("/hob resume", Some(Command::Resume)),
            ("/hob agent  fast ", Some(Command::Agent(text("fast")))),
            ("/hob budget $5\nnot more", Some(Command::Budget(text("$5")))),
            ("/hob budget 5 USD", Some(Command::Budget(text("5 USD")))),
            ("/hob plan", Some(Command::Plan)),
            ("/hob sign-off", Some(Command::SignOff)),
            ("/hob explain", Some(Command::Explain)),
            ("/hob help", Some(Command::Help)),
            ("/hob dance", None),
            ("/hob", None),
            ("", None),
        ] {
            assert_eq!(command_in(comment), command, "{comment:?}");
        }
    }

    #[test]
    fn on_a_pull_request_other_words_ask_for_work() {
        let known = |command| Some(AskedInReview::Command(Asked::Known(command)));
        let unknown = |said: &str| Some(AskedInReview::Command(Asked::Unknown(said.to_owned())));
        for (comment, asked) in [
            ("/hob cancel", known(Command::Cancel)),
            ("I see.\n/hob cancel", known(Command::Cancel)),
            ("/hob cancel\nThis leads nowhere.", known(Command::Cancel)),
            ("/hob cancel the second rename", Some(AskedInReview::Work)),
            ("/hob help me to understand", Some(AskedInReview::Work)),
            ("/hob pause until Monday", known(Command::Pause("until Monday".to_owned()))),
            ("/hob agent fast", known(Command::Agent("fast".to_owned()))),
            ("/hob agent names should be sorted", Some(AskedInReview::Work)),
            ("/hob budget 5 USD", known(Command::Budget("5 USD".to_owned()))),
            ("/hob budget of the test is too small", Some(AskedInReview::Work)),
            ("/hob please rename x", Some(AskedInReview::Work)),
            ("/hob please rename x\n/hob cancel", Some(AskedInReview::Work)),
            ("/hob simplify", Some(AskedInReview::Work)),
            ("/hob cancl", unknown("/hob cancl")),
            ("/hob cancl it", Some(AskedInReview::Work)),
            ("/hob", unknown("/hob")),
            ("I see.\n/hob please rename x", None),
            ("    /hob please rename x", None),
            ("> /hob please rename x", None),
            ("Fine.", None),
        ] {
            assert_eq!(asked_in_review(comment), asked, "{comment:?}");
        }
    }

    #[test]
    fn a_comment_of_a_megabyte_asks_nothing_and_a_long_one_takes_no_time() {
        assert_eq!(asked_in(&format!("/hob retry\n{}", "x".repeat(1 << 20))), None);
        for filler in ["`a`\n", "/hob x\n", "> ", "<!-- ", "[", "```\n", "*a", "![", "- ", "\r"] {
            let long = format!("/hob retry\n\n{}", filler.repeat((COMMENT_MAX - 20) / filler.len()));
            assert!(command_in(&long).is_some(), "{filler:?}");
        }
    }

    /// The shapes of comments in which somebody else's words follow or precede the author's: a heading with the command
    /// that counts, and the comment.
    const SHAPES: &str = include_str!("shapes.txt");

    /// Attack corpus K142: a maintainer's reply by mail, or a quotation, obeys the stranger whom it repeats.
    #[test]
    fn a_comment_speaks_for_its_author_alone() {
        let shapes: Vec<&str> = SHAPES.split("#### ").filter(|shape| !shape.is_empty()).collect();
        assert!(shapes.len() > 50);
        for shape in shapes {
            let (heading, comment) = shape.split_once('\n').unwrap();
            let wanted = if heading.ends_with("| retry") { Some(Command::Retry) } else { None };
            for comment in [comment.to_owned(), comment.replace('\n', "\r\n"), format!("Thanks.\n\n{comment}")] {
                let own = authored(&comment);
                assert!(!own.contains("STRANGER"), "{heading}: {own}");
                assert_eq!(command_in(&own), wanted, "{heading}: {own}");
                let on_pull = wanted.clone().map(|command| AskedInReview::Command(Asked::Known(command)));
                assert_eq!(asked_in_review(&own), on_pull, "{heading}: {own}");
            }
        }
    }

    #[test]
    fn words_that_only_resemble_a_mail_are_the_authors() {
        for comment in [
            "On the surface, this is easy.\nOn average, it works:\n/hob retry",
            "As @bob wrote:\n\n/hob retry",
            "I wrote:\n\n/hob retry",
            "It is in the docs of 2023-01-05:\n\n/hob retry",
            "Rename it:\n\nFrom: a\nTo: b\n\n/hob retry",
            "--- a/x\n+++ b/x\n\n/hob retry",
            "---\n\n/hob retry",
            "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----\n\n/hob retry",
            "------- Captured stdout call -------\n\n/hob retry",
            "Sent from the server, it is empty.\n\n/hob retry",
            "Use `Vec<T>` and Vec<T>.\n\n/hob retry",
            "Line<br>\n\n/hob retry",
            "<details>\nlog\n</details>\n\n/hob retry",
            "| a |\n|---|\n| b |\n\n/hob retry",
            "- a\n\n/hob retry",
            "Schreibt bitte um 10:00:\n\n/hob retry",
        ] {
            let own = authored(comment);
            assert_eq!((own.as_str(), command_in(&own)), (comment, Some(Command::Retry)));
        }
    }

    /// The line above a mail, in many forms; `{}` is the stranger's name.
    const ABOVE: [&str; 14] = [
        "On Mon, Jan 1, 2024 at 10:00 AM {} ***@***.***> wrote:",
        "On Mon, Jan 1, 2024 at 10:00 AM {} <\neve@example.com> wrote:",
        "On Mon, Jan 1, 2024 at 10:00 AM\n{}\n<eve@example.com>\nwrote:",
        "Am 01.01.24 um 10:00 schrieb {}:",
        "Am Mo., 1. Jan. 2024 um 10:00 Uhr schrieb {}\n<eve@example.com>:",
        "Le lun. 1 janv. 2024 à 10:00, {} <eve@example.com> a écrit :",
        "El lun, 1 ene 2024 a las 10:00, {} (<eve@example.com>)\nescribió:",
        "{} <eve@example.com> 于2024年1月1日周一 10:00写道：",
        "-----Original Message-----",
        "________________________________\nFrom: {} <eve@example.com>\nSent: Monday, January 1, 2024 10:00 AM",
        "From: {} <eve@example.com>\nSent: Monday, January 1, 2024 10:00 AM",
        "Begin forwarded message:",
        "-- ",
        "<div class=\"gmail_quote\">",
    ];

    proptest::proptest! {
        #[test]
        fn nothing_below_the_mark_of_a_mail_counts_and_all_above_it_does(
            own in proptest::collection::vec("[a-z ]{0,30}", 0..4),
            command in proptest::sample::select(vec!["", "/hob retry", "/hob pause", "/hob agent fast"]),
            is_apart in proptest::bool::ANY,
            above in proptest::sample::select(ABOVE.to_vec()),
            name in proptest::sample::select(vec!["Eve", "/hob cancel", "> Eve", "`Eve", "Eve [x]"]),
            below in "(/hob (cancel|budget 9)|STRANGER|[-a-z<>`~|#:!\\[\\]_*=. \n])*",
        ) {
            // Words alone cannot have the form of a mark.
            let own = format!("{}\n{command}\n", own.join("\n").replace("wrote", "").replace("writes", ""));
            let gap = if is_apart { "\n" } else { "" };
            let comment = format!("{own}{gap}{}\n/hob cancel\n{below}STRANGER\n/hob cancel", above.replace("{}", name));
            let kept = authored(&comment);
            proptest::prop_assert!(!kept.contains("STRANGER"), "{:?}: {:?}", comment, kept);
            proptest::prop_assert_eq!(asked_in(&kept), asked_in(own.trim_end()), "{:?}", comment);
            proptest::prop_assert_eq!(authored(&kept), kept.clone(), "{:?}", comment);
        }
    }
}
