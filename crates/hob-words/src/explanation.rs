//! An issue's state and the reason for it, as a reply to `/hob explain`.

use hob_domain::{Budgets, Record, Spend, State};
use hob_text::{clip, title};

use crate::{answer_options::how_to_answer, report::likely_cost};

/// How much of one text is quoted, in characters.
const TEXT_MAX: usize = 800;

/// The reply. `why` says what would be done now, or why nothing would.
pub fn explanation(record: &Record, budgets: &Budgets, why: &str) -> String {
    let state = match record.state {
        State::Ready => "ready",
        State::Assigned => "claimed",
        State::InProgress => "in progress",
        State::InReview => "in review",
        State::Blocked => "blocked",
        State::Done => "done",
    };
    let mut lines = vec![format!("Issue {} is {state}.\n", record.issue)];
    let mut add = |name: &str, text: &str| lines.push(format!("- {name}: {}", title(text, TEXT_MAX)));
    if let Some(blocked) = record.blocked.as_ref().filter(|_| record.state == State::Blocked) {
        add("blocked", &blocked.text);
        add("question", &blocked.question);
    }
    if let Some(answer) = how_to_answer(record, budgets) {
        add("answer", &answer);
    }
    if !why.is_empty() {
        add("now", why);
    }
    if let Some(agent) = &record.commands.agent {
        add("agent", &format!("`{}`, chosen by {}", agent.name, agent.by));
    }
    if let Some(likely) = likely_cost(record, budgets).filter(|_| record.work.quote.is_some()) {
        add("cost", &likely);
    }
    if record.spend != Spend::default() {
        add("spent", &record.spend.to_string());
    }
    clip(&lines.join("\n"), 4 * TEXT_MAX)
}

#[cfg(test)]
mod tests {
    use hob_domain::{BlockReason, Timestamp};

    use super::*;
    use crate::fixtures::record_at;

    #[test]
    fn an_explanation_is_short_and_says_the_question() {
        let reason = BlockReason::Question { question: format!("Which\ncolour?{}", " x".repeat(9_000)) };
        let blocked = Some(reason.blocked(Timestamp::UNIX_EPOCH));
        let record = Record { blocked, ..record_at(State::Blocked) };
        let text = explanation(&record, &Budgets::default(), "it waits for a person's answer");
        assert!(text.starts_with("Issue 1 is blocked.\n\n- blocked: "), "{text}");
        assert!(text.contains("\n- question: Which colour? x") && text.len() < 2_500, "{text}");
        assert!(text.ends_with("\n- now: it waits for a person's answer"), "{text}");
        let waits =
            explanation(&record_at(State::InReview), &Budgets::default(), "its pull request #9 waits for a review");
        assert_eq!(waits, "Issue 1 is in review.\n\n- now: its pull request #9 waits for a review");
    }
}
