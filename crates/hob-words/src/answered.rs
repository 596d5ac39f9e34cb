//! What a person was asked and said, for the reader of a pull request.

use hob_domain::{Answer, approval_words};
use hob_text::{
    authored, clip, inert_line,
    markup::{capitalized, person},
};

/// Bytes of the question and of the answer that are shown.
const QUESTION: usize = 500;
const ANSWER: usize = 2_000;

/// The question and the answer in one line, which cannot begin a block and pull the following text into it.
pub(crate) fn answered(answer: &Answer) -> String {
    let Answer { actor, text, question, .. } = answer;
    let quoted = |text: &str, max| format!("“{}”", inert_line(&clip(text.trim(), max)));
    let asked =
        question.as_ref().map_or_else(String::new, |question| format!("asked {}, ", quoted(question, QUESTION)));
    let who = person(actor);
    let said = match (approval_words(text), authored(text).trim()) {
        (Some(""), _) => format!("{who} approved it."),
        (Some(words), _) => format!("{who} approved it: {}", quoted(words, ANSWER)),
        (None, "") => format!("{who} said to try again."),
        (None, words) => format!("{who} answered: {}", quoted(words, ANSWER)),
    };
    capitalized(&format!("{asked}{said}"))
}

#[cfg(test)]
mod tests {
    use hob_domain::plan_approval_text;

    use super::*;

    /// Row N83.
    #[test]
    fn a_question_and_its_answer_are_read_together() {
        let said = |question: &str, text: &str| Answer {
            actor: "ann".into(),
            text: text.to_owned(),
            question: Some(question.to_owned()).filter(|question| !question.is_empty()),
            comment: None,
            event: None,
        };
        let lines = [
            answered(&said("Which option, @team?", "use the second option")),
            answered(&said("What should it do?", "> **Question**: What should it do?\n\nfix the test, aaa is right")),
            answered(&said("Should the work begin by this plan?", &plan_approval_text("please"))),
            answered(&said("Should the work begin by this plan?", &plan_approval_text(""))),
            answered(&said(
                "May it do this?",
                "Approved: the tool `shell` may do exactly this, and nothing else:\nmake",
            )),
            answered(&said("What should it do?", "")),
            answered(&said("", "use UTC")),
        ];
        insta::assert_snapshot!(lines.join("\n").replace('\u{200b}', "<zwsp>"), @"
        Asked “Which option, @<zwsp>team?”, `ann` answered: “use the second option”
        Asked “What should it do?”, `ann` answered: “fix the test, aaa is right”
        Asked “Should the work begin by this plan?”, `ann` approved it: “please”
        Asked “Should the work begin by this plan?”, `ann` approved it.
        Asked “May it do this?”, `ann` approved it.
        Asked “What should it do?”, `ann` said to try again.
        `ann` answered: “use UTC”
        ");
    }
}
