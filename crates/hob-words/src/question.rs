//! The comment that brings a question to a person, and what it says once the question is no longer open.

use hob_domain::{
    AskedComment, BlockCode, Blocked, Budgets, Controlled, OWN_MARK, Record, State, approval_words, dollars,
};
use hob_text::{
    authored, clip, inert_line,
    markup::{line, person},
};

use crate::{
    answer_options::{how_to_answer, used_up, used_up_beside},
    own_links::reason_with_links,
};

/// Bytes of a question or an answer that the comment has: the status comment has all of it.
const SHOWN: usize = 300;

/// What the comment begins with, so that it is found again.
pub fn question_mark(blocked: &Blocked) -> String {
    format!("{OWN_MARK}question {} -->", blocked.since.timestamp())
}

/// The comment: the reason in a line, the question, and the one answer that fits. `person` is an account or a team,
/// without the `@`; `status` is the address of the status comment.
pub fn question_body(record: &Record, blocked: &Blocked, budgets: &Budgets, person: &str, status: &str) -> String {
    let reason = match used_up_beside(blocked, record, budgets) {
        Some(exhausted) => used_up(&exhausted, record),
        None => blocked.reason_line(),
    };
    let reason = reason_with_links(inert_line(&reason), blocked, record);
    let asked = asked(record, blocked, budgets, status);
    format!("{}\n@{person}, this issue is blocked. {reason}\n\n{asked}", question_mark(blocked))
}

/// The end of a comment that asks: the question, the answer that fits, and where the rest is.
pub(crate) fn asked(record: &Record, blocked: &Blocked, budgets: &Budgets, status: &str) -> String {
    let question = inert_line(&format!("**Question**: {}", clip(blocked.question.trim(), SHOWN)));
    let answer = how_to_answer(record, budgets).unwrap_or_default();
    format!("{question}\n\n{answer} [Details and other answers]({status})\n")
}

/// The comment once its question was answered, or needs no answer any more. It mentions nobody.
pub fn closed_question_body(record: &Record, asked: AskedComment) -> String {
    let mut text = format!("{OWN_MARK}question closed {} -->\n", asked.id);
    let said = |what: &str, words: &str| inert_line(&format!("**{what}**: {}", clip(words, SHOWN)));
    let answer = record.answer.as_ref().filter(|_| asked.answered);
    let blocked = record.blocked.as_ref().filter(|_| record.state == State::Done);
    let question = match answer {
        Some(answer) => answer.question.as_ref(),
        None => blocked.map(|blocked| &blocked.question),
    };
    let approved = answer.and_then(|answer| approval_words(&answer.text));
    line(
        &mut text,
        &match (answer, approved) {
            (Some(answer), Some(_)) => format!("Approved by {}.", person(&answer.actor)),
            (Some(answer), None) => format!("Answered by {}.", person(&answer.actor)),
            (None, _) => without_words(record),
        },
    );
    if let Some(question) = question {
        line(&mut text, &format!("\n{}", said("Question", question.trim())));
    }
    if let Some(answer) = answer {
        let words = approved.map_or_else(|| authored(&answer.text), str::to_owned);
        match (words.trim(), approved) {
            ("", Some(_)) => {}
            ("", None) => line(&mut text, &format!("\n{}", said("Answer", "try again as it is"))),
            (words, _) => line(&mut text, &format!("\n{}", said("Answer", words))),
        }
    }
    text
}

/// What became of a question that nobody answered in words.
fn without_words(record: &Record) -> String {
    let ended_by = record.control.as_ref().and_then(Controlled::ended_by);
    let was_spent = record.failure.stopped.as_ref().is_some_and(|stopped| stopped.reason == BlockCode::IssueBudget);
    let is_over = record.state == State::Done;
    match (ended_by, &record.commands.budget) {
        (Some(by), _) if is_over => format!("Not answered: {} ended the work.", person(by)),
        (None, _) if is_over => "Not answered: the work on this issue ended.".to_owned(),
        (_, Some(set)) if was_spent => {
            format!("Answered by {}: the budget is now {}.", person(&set.by), dollars(set.usd_micros))
        }
        (_, _) => "Not answered: the work continued without an answer.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use hob_domain::{
        AfterBudget, Answer, BlockReason, Budget, CommandLog, CommentId, Ending, Exhausted, PullLog, SetBudget, Spend,
        Timestamp, Transition, apply, plan_approval_text,
    };

    use super::*;
    use crate::fixtures::{every_reason, record_at};

    /// The comment without its mark.
    fn body(reason: &BlockReason, spend: Spend) -> String {
        let blocked = reason.blocked(Timestamp::from_timestamp(77, 0).unwrap());
        let mut record = Record { spend, blocked: Some(blocked.clone()), ..record_at(State::Blocked) };
        if let BlockReason::ApprovalNeeded(proposed) = reason {
            record.approval.waits = Some(proposed.clone());
        }
        if let BlockReason::Rejected(pull) = reason {
            record.pull = PullLog::of(*pull);
        }
        let issue = Budget { usd_micros: Some(5_000_000), ..Budget::default() };
        let budgets = Budgets { issue, issue_usd_max: Some(5_000_000), ..Budgets::default() };
        let body = question_body(&record, &blocked, &budgets, "ann", "https://forge/x");
        body.strip_prefix("<!-- hob:question 77 -->\n").unwrap().to_owned()
    }

    #[test]
    fn a_question_mentions_one_person_and_nobody_else() {
        let reason = BlockReason::Question { question: "Ask @team?\n/hob approve <!-- x -->".to_owned() };
        let body = body(&reason, Spend::default());
        assert!(body.starts_with("@ann, this issue is blocked. "), "{body}");
        assert!(!body.contains("@team") && !body.contains("\n/hob") && !body.contains("<!-- x"), "{body}");
    }

    /// Field note N73: a notification on a phone has the reason, the question and the one answer that fits.
    #[test]
    fn a_question_says_why_what_is_asked_and_how_to_answer() {
        let told: Vec<String> = every_reason().iter().map(|reason| body(reason, Spend::default())).collect();
        insta::assert_snapshot!(told.join("\n").replace(" [Details and other answers](https://forge/x)", ""), @"
        @ann, this issue is blocked. The agent needs an answer before it can continue.

        **Question**: UTC or local?

        Reply, and the agent continues with your answer.

        @ann, this issue is blocked. The agent wants to run an action of high impact, which needs approval here.

        **Question**: Do you approve this: `` shell rm `x` y ``?

        Comment `/hob approve` to allow exactly this for this issue, now and later. Or reply with what to do instead.

        @ann, this issue is blocked. The agent has a plan. Nothing is changed before it is approved. The work costs $4.88 at most, what is left of `budget.issue`.

        **Question**: Should the agent follow this plan?

        Comment `/hob approve`, or just yes, to have exactly this plan carried out. Or reply with what should be different: the agent makes a new plan.

        @ann, this issue is blocked. The checks still fail after 2 rounds of work. `make test`: failed (exit code 1).

        **Question**: How should the agent fix the failed checks?

        Reply with a hint, and the agent continues from its work so far.

        @ann, this issue is blocked. The base branch fails its own checks, so no agent was started. `make test`: failed (exit code 1).

        **Question**: Can you fix the base branch?

        Once it is fixed, comment `/hob retry`: Hob starts from the fixed branch.

        @ann, this issue is blocked. The branch conflicts with `main` in these files, and the agent did not resolve that: `src/a.rs`: both changed the same lines; both versions are in it, between markers.

        **Question**: Which side should be kept, and in which files?

        Reply with the answer. Or merge the base into the branch yourself, then comment `/hob retry`.

        @ann, this issue is blocked. The agent changed no file. It said: It is fine.

        **Question**: What should the agent change, if anything?

        Reply with what should change, or close the issue.

        @ann, this issue is blocked. The agent changed nothing in a round in review (the check `test` failed), so the same would fail again. It said: It is flaky.

        **Question**: What is the cause, or should this pull request not fix it?

        Reply with what should be different, and the agent works on it once more.

        @ann, this issue is blocked. The agent failed: no route to host.

        **Question**: What should the agent do differently, or what does it need?

        Reply with what the agent needs, and it tries again.

        @ann, this issue is blocked. 3 attempts are used up, the most that `limits.attempts` allows.

        **Question**: Should Hob try again? An answer resets the count.

        Comment `/hob retry` for another attempt, or reply with a hint for it.

        @ann, this issue is blocked. 3 attempts failed, the most that `limits.attempts` allows. The last failure: no route to host.

        **Question**: Should Hob try again? An answer resets the count.

        Comment `/hob retry` for another attempt, or reply with a hint for it.

        @ann, this issue is blocked. The attempt's budget of $5.00 (`budget.attempt`) is used up: 1 s. The issue has spent 2 s so far.

        **Question**: Should Hob make another attempt? Only the operator of Hob can give attempts more (`budget.attempt`).

        Comment `/hob retry` for another attempt, or reply with a hint for it.

        @ann, this issue is blocked. The issue's budget of $5.00 (`budget.issue`) is used up. It has spent 2 s so far.

        **Question**: Is the issue worth more, or will you do the rest by hand?

        Comment `/hob retry`: the limit was raised.

        @ann, this issue is blocked. The change breaks rules and was not pushed: `Makefile` is protected, and many more.

        **Question**: Can the issue be solved in another way? If the rule is wrong here, a person has to make this change.

        Reply with a way that does without these changes, or make them yourself.

        @ann, this issue is blocked. No route to host.

        **Question**: Can you fix this and then let Hob try again?

        Comment `/hob retry` when Hob should try again.

        @ann, this issue is blocked. No route to host.

        **Question**: Can you fix this and then let Hob try again?

        Comment `/hob retry` when Hob should try again.

        @ann, this issue is blocked. The ledger of this issue was deleted, and with it the reason why it is blocked and what it has cost so far.

        **Question**: Should Hob continue?

        Comment `/hob retry` when Hob should try again.

        @ann, this issue is blocked. The issue's title or body was edited after the work on it was authorized.

        **Question**: Should Hob work on the current text?

        Comment `/hob retry`, or reply with more: Hob continues with the current text.

        @ann, this issue is blocked. Pull request #9 was closed without a merge.

        **Question**: What should be done differently?

        Reply with what should be different, and the agent works on it once more.

        @ann, this issue is blocked. Two attempts in a row failed in the same way on the same work: no route to host.

        **Question**: What should be done differently?

        Reply with what should be different, and the agent works on it once more.

        @ann, this issue is blocked. `anthropic/x` has failed 30 times in a row since 1970-01-01 00:00 UTC, for longer than `limits.patience` allows. The last failure: no route to host.

        **Question**: Should Hob try again now, or with another agent (`/hob agent NAME`)? No attempt was counted.

        Comment `/hob retry` for another attempt, or reply with a hint for it.

        @ann, this issue is blocked. Ada 'skip ci' pushed the commit 0123456789 to `hob/1-x`, so Hob stopped.

        **Question**: Should Hob continue from the branch as it is now?

        Any answer means yes: comment `/hob retry`, or reply with a hint.

        @ann, this issue is blocked. The worker that held this issue died.

        **Question**: Should Hob continue?

        Comment `/hob retry`, or reply with a hint.
        ");
        assert!(told.iter().all(|body| body.ends_with(" [Details and other answers](https://forge/x)\n")));
    }

    /// Field note N80: a question that is no longer open is in the past tense, and mentions nobody.
    #[test]
    fn a_question_that_is_over_says_what_became_of_it() {
        let asked = |answered| AskedComment { id: CommentId(5), answered };
        let said = |text: &str| Answer {
            actor: "ben".into(),
            text: text.to_owned(),
            question: Some("UTC or @here?".to_owned()),
            comment: None,
            event: None,
        };
        let answered = |text: &str| Record { answer: Some(said(text)), ..record_at(State::InProgress) };
        let blocked = BlockReason::Question { question: "UTC?".to_owned() }.blocked(Timestamp::UNIX_EPOCH);
        let open = Record { blocked: Some(blocked), ..record_at(State::Blocked) };
        let budget_set = || {
            let advice = Budgets::default().advice(&Exhausted::Money(5_000_000), &CommandLog::default());
            let reason =
                BlockReason::IssueBudget { exhausted: Exhausted::Money(5_000_000), bill: Spend::default(), advice };
            let spent =
                apply(&record_at(State::InProgress), Transition::Block(reason), Timestamp::UNIX_EPOCH).unwrap().0;
            let budget = SetBudget { usd_micros: 8_000_000, by: "ann".into() };
            let set = Transition::SetBudget { budget, then: AfterBudget::Requeue };
            apply(&spent, set, Timestamp::UNIX_EPOCH).unwrap().0
        };
        let ended = |by: Ending| apply(&open, Transition::Finish(by), Timestamp::UNIX_EPOCH).unwrap().0;
        let told = [
            (answered("> UTC or here?\n\nUTC, @all.\n/hob approve"), true),
            (answered(""), true),
            (ended(Ending::Terminated("ann".into())), false),
            (ended(Ending::Closed), false),
            (answered("An answer to an earlier question."), false),
            (answered(&plan_approval_text("")), true),
            (answered(&plan_approval_text("In UTC, please.")), true),
            (budget_set(), false),
        ];
        let told = told.map(|(record, is_answered)| closed_question_body(&record, asked(is_answered)));
        insta::assert_snapshot!(told.join("\n").replace('\u{200b}', "<zwsp>"), @"
        <!-- hob:question closed 5 -->
        Answered by `ben`.

        **Question**: UTC or @<zwsp>here?

        **Answer**: UTC, @<zwsp>all. /hob approve

        <!-- hob:question closed 5 -->
        Answered by `ben`.

        **Question**: UTC or @<zwsp>here?

        **Answer**: try again as it is

        <!-- hob:question closed 5 -->
        Not answered: `ann` ended the work.

        **Question**: UTC?

        <!-- hob:question closed 5 -->
        Not answered: the work on this issue ended.

        **Question**: UTC?

        <!-- hob:question closed 5 -->
        Not answered: the work continued without an answer.

        <!-- hob:question closed 5 -->
        Approved by `ben`.

        **Question**: UTC or @<zwsp>here?

        <!-- hob:question closed 5 -->
        Approved by `ben`.

        **Question**: UTC or @<zwsp>here?

        **Answer**: In UTC, please.

        <!-- hob:question closed 5 -->
        Answered by `ann`: the budget is now $8.00.
        ");
    }

    /// Field note N78: a used-up budget comes before the agent's own question, and names who can raise it.
    #[test]
    fn a_used_up_budget_is_what_the_question_begins_with() {
        let reason = BlockReason::Question { question: "It costs a lot. Shall I go on?".to_owned() };
        let spent = Spend { usd_micros: 6_000_000, ..Spend::default() };
        insta::assert_snapshot!(body(&reason, spent), @"
        @ann, this issue is blocked. The issue's budget of $5.00 is used up: it has spent $6.00.

        **Question**: It costs a lot. Shall I go on?

        Ask the operator of Hob to raise `budget.issue`, then answer. [Details and other answers](https://forge/x)
        ");
    }
}
