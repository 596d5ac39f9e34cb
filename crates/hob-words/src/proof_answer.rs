//! The answers to a request to make the proof of a pull request again.

use hob_domain::{Evidence, Notable, ReviewEvent, Sha, Shown};
use hob_text::inert_line;

use crate::{
    notable_words::{all_first, first_section},
    pull_report::evidence_table,
    review_text::answer_body,
};

/// What was found about a head.
pub fn proof_answer(to: &ReviewEvent, head: &Sha, evidence: &Evidence, shown: &Shown, notable: &Notable) -> String {
    let first = first_section(&all_first(shown, notable));
    let said = format!("The proof of {} was made again.\n\n{first}{}", head.as_str(), evidence_table(evidence, shown));
    answer_body(std::slice::from_ref(to), &said, None)
}

/// Why it could not be made.
pub fn no_proof_answer(to: &ReviewEvent, why: &str) -> String {
    answer_body(std::slice::from_ref(to), &format!("The proof could not be made again: {}", inert_line(why)), None)
}

#[cfg(test)]
mod tests {
    use hob_domain::{CheckExit, CheckResult, CheckRun, TestResults, Word};

    use super::*;
    use crate::{answered_by, shown_words::tests::shown};

    #[test]
    fn the_answer_says_what_was_found_and_of_which_head() {
        let check = |exit| CheckResult {
            command: "make test".to_owned(),
            exit,
            output: String::new(),
            seconds: 1,
            run: CheckRun::Now,
            refused: None,
            tests: TestResults::default(),
        };
        let (to, head) = (ReviewEvent::Comment(7), Sha::from("abc"));
        let (red, green) = (vec![check(CheckExit::Failed { code: 1 })], vec![check(CheckExit::Passed)]);
        let judged = Shown { judges: ["Makefile".to_owned()].into_iter().collect(), ..shown(Word::NoTests) };
        let good = proof_answer(
            &to,
            &head,
            &Evidence { base: green.clone(), head: green.clone() },
            &judged,
            &Notable::default(),
        );
        let bad =
            proof_answer(&to, &head, &Evidence { base: green, head: red }, &shown(Word::Unshown), &Notable::default());
        let none = no_proof_answer(&to, "the branch is gone");
        assert!([&good, &bad, &none].iter().all(|answer| answered_by(answer, &to)));
        insta::assert_snapshot!([good, bad, none].join("---\n"), @"
        <!-- hob:answer comment-7 -->
        The proof of abc was made again.

        **Look here first**

        - What the checks run is decided in `Makefile`, which changed: read that before you trust their result.

        **No tests**: the checks pass, and no test changed or was repaired.

        | check | base | head |
        |---|---|---|
        | `make test` | passed (1 s) | passed (1 s) |
        ---
        <!-- hob:answer comment-7 -->
        The proof of abc was made again.

        **The work breaks** `make test`.

        | check | base | head |
        |---|---|---|
        | `make test` | passed (1 s) | failed (exit code 1) |
        ---
        <!-- hob:answer comment-7 -->
        The proof could not be made again: the branch is gone
        ");
    }
}
