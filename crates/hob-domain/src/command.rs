//! Commands in comments: `/hob retry`, `/hob unblock …`, `/hob approve`, `/hob cancel`, at the start of a line.

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
}

/// The first command in a comment. What follows `/hob unblock` or `/hob approve` goes on to the end of the comment, over several lines.
pub fn command_in(comment: &str) -> Option<Command> {
    let mut rest = comment;
    loop {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        let mut words = line.trim().splitn(3, char::is_whitespace);
        if words.next().is_some_and(|word| word.eq_ignore_ascii_case("/hob")) {
            let verb = words.next().unwrap_or_default().to_ascii_lowercase();
            let said = format!("{}\n{after}", words.next().unwrap_or_default()).trim().to_owned();
            match verb.as_str() {
                "retry" => return Some(Command::Retry),
                "unblock" => return Some(Command::Unblock(said)),
                "approve" => return Some(Command::Approve(said)),
                "cancel" => return Some(Command::Cancel),
                // An unknown verb is not taken for one that is known.
                _unknown => {}
            }
        }
        if after.is_empty() {
            return None;
        }
        rest = after;
    }
}

/// The words of the first line that begins like a command, where the comment has none that is known.
pub fn unknown_command(comment: &str) -> Option<String> {
    if command_in(comment).is_some() {
        return None;
    }
    let is_like = |line: &&str| line.split_whitespace().next().is_some_and(|word| word.eq_ignore_ascii_case("/hob"));
    comment.lines().map(str::trim).find(is_like).map(|line| line.chars().take(80).collect())
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
            ("try /hob typo", None),
        ] {
            assert_eq!(unknown_command(comment).as_deref(), words, "{comment:?}");
        }
    }

    #[test]
    fn a_command_stands_at_the_start_of_a_line() {
        for (comment, command) in [
            ("/hob retry", Some(Command::Retry)),
            ("thanks!\n\n  /hob retry please", Some(Command::Retry)),
            (
                "/hob unblock use UTC\nand keep the old name",
                Some(Command::Unblock("use UTC\nand keep the old name".to_owned())),
            ),
            ("/hob approve", Some(Command::Approve(String::new()))),
            ("Fine.\n/hob approve but be quick", Some(Command::Approve("but be quick".to_owned()))),
            ("/HOB Cancel", Some(Command::Cancel)),
            ("/hob unblock", Some(Command::Unblock(String::new()))),
            ("> /hob retry", None),
            ("try /hob retry", None),
            ("/hobby retry", None),
            ("/hob dance", None),
            ("", None),
        ] {
            assert_eq!(command_in(comment), command, "{comment:?}");
        }
    }
}
