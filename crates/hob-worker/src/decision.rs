//! The decision about an issue, as a sentence.

use hob_domain::{Action, Decision, IssueView, PlanRules, Record, Recovery, Timestamp, decide};

/// What a decision means, one sentence.
pub fn decision_text(decision: &Decision) -> String {
    match decision {
        Decision::Act(action) => sentence(action).to_owned(),
        Decision::Wait(reason) => reason.to_string(),
    }
}

/// The effect of an action.
pub(super) fn sentence(action: &Action) -> &'static str {
    match action {
        Action::Claim => "it would be claimed",
        Action::Recover(Recovery::Resume) => "its worker died: another would resume it",
        Action::Recover(Recovery::Block) => "its worker died: a person would be asked",
        Action::Recover(Recovery::Abandon) => "its worker died: it would be requeued",
        Action::SeekAnswer => "it waits for a person's answer",
        Action::Rework(..) => "something happened on its pull request: a round of work would begin",
        Action::SeekCommand => "something happened on it: Hob would look for a command, and keep waiting",
        Action::ReturnToReview(_) => "its pull request is open again: it would be in review again",
        Action::NoteChecks(_) => {
            "its comment would say which checks fail on the base too, wait for an approval, or have no verdict"
        }
        Action::SignOff => "its worker died while it signed the commits off: another would do that",
        Action::Prove(_) => "its proof was asked for again: it would be made",
        Action::ShowPush(..) => "somebody pushed after its proof: its status would say so",
        Action::MarkReady(_) => "its pull request's checks have passed: it would be marked as ready for review",
        Action::Rebuild => "its ledger was deleted: it would be rebuilt",
        Action::CarryOut(_) => "a pause or an end was requested: the next worker would carry it out",
        Action::AskAboutRejection(_) => "its pull request was closed: a person would be asked what is next",
        Action::Finish(_) => "its work has ended: the ledger would be closed",
        Action::RepairLabels(_) => "its labels contradict its ledger: they would be repaired",
        Action::GiveUpLabels(_) => {
            "others change its labels back each time: its comment would say so, and the labels stay"
        }
        Action::ShowState => "its worker died before it updated labels and comment: they would be updated",
    }
}

/// The decision about an issue without anything new on it: what it waits for beside a look for commands.
pub(super) fn but_for_news(view: IssueView, record: &Record, rules: &PlanRules, now: Timestamp) -> Decision {
    let comments = record.commands.comments.unwrap_or(view.comments);
    let quiet = IssueView { updated_at: record.renewed_at, comments, has_command_on_pull: false, ..view };
    decide(&quiet, rules, now)
}

#[cfg(test)]
mod tests {
    use std::{collections::HashMap, time::Duration};

    use hob_domain::{Claimant, Ending, Failure, IssueNumber, IssueStatus, State, acquire, released};

    use super::*;

    #[test]
    fn an_action_is_told_as_what_would_happen() {
        for (action, told) in [
            (Action::Claim, "it would be claimed"),
            (Action::Recover(Recovery::Resume), "its worker died: another would resume it"),
            (Action::Recover(Recovery::Block), "its worker died: a person would be asked"),
            (Action::Recover(Recovery::Abandon), "its worker died: it would be requeued"),
            (Action::Finish(Ending::Merged), "its work has ended: the ledger would be closed"),
            (Action::RepairLabels(Vec::new()), "its labels contradict its ledger: they would be repaired"),
        ] {
            assert_eq!(sentence(&action), told);
        }
    }

    /// An issue that waits for its next attempt, with a comment that nobody has looked at.
    #[test]
    fn without_the_news_a_waiting_issue_waits() {
        let at = |seconds| Timestamp::UNIX_EPOCH + Duration::from_secs(seconds);
        let settings = hob_config::Settings::load(None, HashMap::new(), &[]).unwrap();
        let (rules, lease) = (settings.plan_rules(), settings.lease.duration);
        let claimant =
            Claimant { worker: "w".into(), nonce: "n".into(), duration: lease, skew: settings.lease.skew, bill: None };
        let held = acquire(None, IssueNumber(7), &claimant, at(0)).unwrap();
        let record = Record {
            state: State::Ready,
            failure: Failure { until: Some(at(9_000)), ..Failure::default() },
            ..released(&held, "m".into(), at(10))
        };
        let record =
            Record { commands: hob_domain::CommandLog { comments: Some(1), ..record.commands.clone() }, ..record };
        for (comments, updated_at, has_command_on_pull) in [(2, at(20), false), (1, at(10), true)] {
            let view = IssueView {
                number: IssueNumber(7),
                title: String::new(),
                labels: vec!["code".to_owned()],
                status: IssueStatus::Open,
                created_at: at(0),
                updated_at,
                comments,
                record: Some(record.clone()),
                assignees: Vec::new(),
                blockers: Vec::new(),
                begun: Vec::new(),
                pull: None,
                is_dashboard: false,
                review: None,
                goes_on: None,
                has_command_on_pull,
                is_quiet: false,
                pull_updated_at: None,
            };
            assert_eq!(decide(&view, &rules, at(30)), Decision::Act(Action::SeekCommand));
            let Decision::Wait(why) = but_for_news(view, &record, &rules, at(30)) else { panic!("it only waits") };
            assert!(why.to_string().contains("1970-01-01 02:30:00 UTC"), "{why}");
        }
    }
}
