//! References to the issue itself and its pull request in Hob's own sentences: they are links again after the text was made
//! inert. What people and agents wrote stays as it is.

use hob_domain::{BlockCode, Blocked, Record};

/// What `hob_text::inert` puts after the sign of a reference.
const BREAK: char = '\u{200b}';

/// The text with the numbers of the record's issue and pull request as links. Others stay as they are.
pub(super) fn own_links(mut text: String, record: &Record) -> String {
    let pull = record.pull.number.map(|pull| pull.0);
    for number in [Some(record.issue.0), pull].into_iter().flatten() {
        text = linked(&text, number);
    }
    text
}

/// The reason of a block, made inert, with links where no part of it is another's words.
pub(super) fn reason_with_links(text: String, blocked: &Blocked, record: &Record) -> String {
    if blocked.reason == BlockCode::Rejected { own_links(text, record) } else { text }
}

fn linked(text: &str, number: u64) -> String {
    let mut linked = String::with_capacity(text.len());
    let mut rest = text;
    let broken = format!("#{BREAK}{number}");
    while let Some((before, after)) = rest.split_once(&broken) {
        linked.push_str(before);
        let begins = !linked.ends_with(|c: char| c.is_alphanumeric() || "/-_.".contains(c));
        let is_whole = !after.starts_with(|c: char| c.is_alphanumeric());
        linked.push_str(&if begins && is_whole { format!("#{number}") } else { broken.clone() });
        rest = after;
    }
    linked + rest
}

#[cfg(test)]
mod tests {
    use hob_domain::{PullLog, PullNumber, State};
    use hob_text::inert;

    use super::*;
    use crate::fixtures::record_at;

    /// Field note N102.
    #[test]
    fn only_the_issues_own_numbers_are_links() {
        let record = Record { pull: PullLog::of(PullNumber(9)), ..record_at(State::InReview) };
        for (text, shown) in [
            ("pull request #9 waits", "pull request #9 waits"),
            ("(#9, #1)", "(#9, #1)"),
            ("#91, #19, #8", "#_91, #_19, #_8"),
            ("other/site#9 a#9", "other/site#_9 a#_9"),
            ("`#9`", "`#9`"),
        ] {
            assert_eq!(own_links(inert(text), &record).replace(BREAK, "_"), shown);
        }
    }
}
