//! The comment that brings a question to a person.

use hob_domain::{Blocked, OWN_MARK};
use hob_text::{clip, inert_line};

/// Bytes of the question that the comment has: the status comment has all of it.
const SHOWN: usize = 300;

/// What the comment begins with, so that it is found again.
pub fn question_mark(blocked: &Blocked) -> String {
    format!("{OWN_MARK}question {} -->", blocked.since.timestamp())
}

/// The comment. `person` is an account or a team, without the `@`; `status` is the address of the status comment.
pub fn question_body(blocked: &Blocked, person: &str, status: &str) -> String {
    let question = clip(blocked.question.trim(), SHOWN);
    format!(
        "{}\n@{person}, this issue is blocked and needs an answer: {}\n\n[Why, and how to answer]({status})\n",
        question_mark(blocked),
        inert_line(&question),
    )
}

#[cfg(test)]
mod tests {
    use hob_domain::{BlockReason, Timestamp};

    use super::*;

    #[test]
    fn a_question_mentions_one_person_and_nobody_else() {
        let reason = BlockReason::Question { question: "Ask @team?\n/hob approve <!-- x -->".to_owned() };
        let blocked = reason.blocked(Timestamp::from_timestamp(77, 0).unwrap());
        let body = question_body(&blocked, "ann", "https://forge/x");
        assert!(body.starts_with("<!-- hob:question 77 -->\n@ann, this issue is blocked"), "{body}");
        assert!(body.ends_with("\n\n[Why, and how to answer](https://forge/x)\n"), "{body}");
        assert!(!body.contains("@team") && !body.contains("\n/hob") && !body.contains("<!-- x"), "{body}");
    }

    #[test]
    fn a_question_reads_as_one_sentence_and_a_link() {
        let reason = BlockReason::Question { question: "UTC or local?".to_owned() };
        let blocked = reason.blocked(Timestamp::from_timestamp(77, 0).unwrap());
        insta::assert_snapshot!(question_body(&blocked, "ann", "https://forge/x"), @"
        <!-- hob:question 77 -->
        @ann, this issue is blocked and needs an answer: UTC or local?

        [Why, and how to answer](https://forge/x)
        ");
    }
}
