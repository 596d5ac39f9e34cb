//! Decides what Hob does about each issue, by what the forge says, or why it does nothing.

use std::{collections::BTreeMap, time::Duration};

use crate::{
    AssigneeFilter, BlockCode, CheckNotes, Ending, Full, IssueNumber, IssueStatus, IssueView, LabelChange, LabelNames,
    Outage, PullFacts, PullNumber, PullStatus, Record, Recovery, RepositoryRecord, RepositoryRules, Request,
    ReviewEvent, ReviewRules, SaidId, ServiceOutage, Sha, Snapshot, State, Timestamp, WaitReason, day_left, due,
    failure_line, has_label, held_by, hour_room,
};

/// Reviews and comments on lines that get a reaction in one round, those that came first.
pub const SEEN_MAX: usize = 50;

/// The settings that decisions depend on.
#[derive(Debug, Clone)]
pub struct PlanRules {
    /// Label names.
    pub labels: LabelNames,
    /// The assignees whose issues Hob begins.
    pub assignee: AssigneeFilter,
    /// What to do with a dead worker's issue.
    pub recovery: Recovery,
    /// Margin for clocks that differ, added to an expiry.
    pub skew: Duration,
    /// What all workers together may use in the repository.
    pub repository: RepositoryRules,
    /// Open pull requests that may wait for people. `None` if there is no limit.
    pub open_pulls: Option<usize>,
    /// When events on a pull request count.
    pub review: ReviewRules,
}

/// What to do about an issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Check who asked for the issue, claim it, and work on it.
    Claim,
    /// Take over from a worker that died.
    Recover(Recovery),
    /// Look for a person's answer, and continue if there is one.
    SeekAnswer,
    /// Something happened on a waiting issue: look for a command.
    SeekCommand,
    /// Its pull request was closed without a merge: ask what to do next.
    AskAboutRejection(PullNumber),
    /// Its pull request is open again, or was never closed although the issue was: the issue is in review.
    ReturnToReview(PullNumber),
    /// Something happened on its pull request: a round of work begins at this head.
    Rework(Vec<ReviewEvent>, Sha),
    /// The proof of its pull request is to be made again.
    Prove(PullNumber),
    /// Somebody else pushed this head of its pull request after the proof: its status says so.
    ShowPush(PullNumber, Sha),
    /// Its pull request is a draft and its checks are green: mark it ready.
    MarkReady(PullNumber),
    /// A worker died while it signed the pull request's commits off: do that.
    SignOff,
    /// The status comment reports checks on the pull request's head that start no round.
    NoteChecks(CheckNotes),
    /// It has a state label but no ledger. If Hob set the label, the ledger was deleted and is rebuilt.
    Rebuild,
    /// Carry out a request to a worker that is gone.
    CarryOut(Request),
    /// Close the ledger and clear the labels.
    Finish(Ending),
    /// Make the labels match the ledger.
    RepairLabels(Vec<LabelChange>),
    /// Others undid these repairs each time: say so, and leave the labels.
    GiveUpLabels(Vec<LabelChange>),
    /// Its worker died after the last transition and before the release: show what the ledger says.
    ShowState,
}

/// The decision about one issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Do this.
    Act(Action),
    /// Do nothing, for this reason.
    Wait(WaitReason),
}

impl Decision {
    /// Whether the decision is to claim the issue.
    pub fn is_a_claim(&self) -> bool {
        *self == Self::Act(Action::Claim)
    }
}

/// One issue and the decision about it.
#[derive(Debug, Clone)]
pub struct Planned<'a> {
    /// The issue.
    pub issue: &'a IssueView,
    /// The decision.
    pub decision: Decision,
}

/// Decides about every issue of the snapshot, ordered as they are to be taken: by priority label, then by age.
pub fn plan<'a>(snapshot: &'a Snapshot, rules: &PlanRules, now: Timestamp) -> Vec<Planned<'a>> {
    let mut issues: Vec<&IssueView> = snapshot.issues.iter().collect();
    issues.sort_by_key(|issue| (rules.labels.priority_rank(&issue.labels), issue.created_at, issue.number));
    in_order(issues, snapshot, rules, now)
}

/// Decides only about the issues `chosen`, in that order; they take the available room before all others. An issue that
/// the snapshot lacks is left out.
pub fn plan_chosen<'a>(
    snapshot: &'a Snapshot,
    chosen: &[IssueNumber],
    rules: &PlanRules,
    now: Timestamp,
) -> Vec<Planned<'a>> {
    let of = |number: &IssueNumber| snapshot.issues.iter().find(|issue| issue.number == *number);
    in_order(chosen.iter().filter_map(of).collect(), snapshot, rules, now)
}

fn in_order<'a>(
    issues: Vec<&'a IssueView>,
    snapshot: &'a Snapshot,
    rules: &PlanRules,
    now: Timestamp,
) -> Vec<Planned<'a>> {
    let mut room = Room::new(snapshot, rules, now);
    let decided: Vec<_> = issues.into_iter().map(|issue| (issue, decide(issue, rules, now))).collect();
    let askers = askers(snapshot, &decided);
    let planned = |(issue, decision): (&'a IssueView, Decision)| {
        let decision = match decision {
            Decision::Act(Action::Claim) if let Some(asked) = asked_by_another(issue, &askers) => Decision::Wait(asked),
            Decision::Act(action) => match room.admit(&action) {
                Ok(()) => Decision::Act(action),
                Err(reason) => Decision::Wait(reason),
            },
            Decision::Wait(reason) => Decision::Wait(room.longest(reason)),
        };
        Planned { issue, decision }
    };
    decided.into_iter().map(planned).collect()
}

/// For each service that is down, the issue that tries it, of those that could continue.
fn askers<'a>(snapshot: &'a Snapshot, decided: &[(&IssueView, Decision)]) -> BTreeMap<&'a str, IssueNumber> {
    let open = snapshot.repository.iter().flat_map(|record| record.outages.open().map(move |down| (record, down)));
    let asker = |(record, down): (&'a RepositoryRecord, &'a ServiceOutage)| {
        let waits = |issue: &IssueView| waits_for(issue).is_some_and(|outage| outage.service == down.service);
        let waiting = decided.iter().filter(|(issue, decision)| decision.is_a_claim() && waits(issue));
        let waiting: Vec<_> = waiting.map(|(issue, _)| issue.number).collect();
        Some((down.service.as_str(), record.outages.asker(&down.service, &waiting)?))
    };
    open.filter_map(asker).collect()
}

/// Why an issue waits although its pause is over: another issue tries the same service first.
fn asked_by_another(issue: &IssueView, askers: &BTreeMap<&str, IssueNumber>) -> Option<WaitReason> {
    let service = &waits_for(issue)?.service;
    let by = *askers.get(service.as_str())?;
    (by != issue.number).then(|| WaitReason::Asked { service: service.clone(), by })
}

/// The outage that an issue waits for. `None` if it waits for no service, or if a person wants a retry now.
fn waits_for(issue: &IssueView) -> Option<&Outage> {
    issue.record.as_ref()?.failure.outage.as_ref().filter(|outage| outage.failures > 0)
}

/// What the repository has room for, over all workers.
struct Room {
    day: Result<(), Full>,
    hour: Result<usize, Full>,
    pulls: Result<usize, WaitReason>,
}

impl Room {
    fn new(snapshot: &Snapshot, rules: &PlanRules, now: Timestamp) -> Self {
        let record = snapshot.repository.as_ref();
        let open = snapshot.issues.iter().filter(|issue| has_or_makes_a_pull(issue)).count();
        Self {
            day: day_left(record, &rules.repository, None, now).map(drop),
            hour: hour_room(record, &rules.repository, now),
            pulls: match rules.open_pulls {
                None => Ok(usize::MAX),
                Some(limit) if open < limit => Ok(limit - open),
                Some(limit) => Err(WaitReason::OpenPulls(limit)),
            },
        }
    }

    /// A retry is due before the kill switch is lifted, so the reason that people read is the switch.
    fn longest(&self, reason: WaitReason) -> WaitReason {
        match (reason, &self.day) {
            (WaitReason::RetryAfter { .. }, Err(full @ Full::Paused(_))) => WaitReason::Full(full.clone()),
            (reason, _) => reason,
        }
    }

    /// Takes the room that an action needs.
    fn admit(&mut self, action: &Action) -> Result<(), WaitReason> {
        match action {
            Action::Claim => {}
            // Work under way already has its share of the hour and its pull request.
            Action::Recover(Recovery::Resume) | Action::Rework(..) => {
                return self.day.clone().map_err(WaitReason::Full);
            }
            Action::SeekAnswer | Action::Prove(_) => {
                return match &self.day {
                    Err(full @ Full::Paused(_)) => Err(WaitReason::Full(full.clone())),
                    Ok(()) | Err(_) => Ok(()),
                };
            }
            Action::Recover(Recovery::Block | Recovery::Abandon)
            | Action::SeekCommand
            | Action::AskAboutRejection(_)
            | Action::ReturnToReview(_)
            | Action::MarkReady(_)
            | Action::SignOff
            | Action::ShowPush(..)
            | Action::NoteChecks(_)
            | Action::Rebuild
            | Action::CarryOut(_)
            | Action::Finish(_)
            | Action::RepairLabels(_)
            | Action::GiveUpLabels(_)
            | Action::ShowState => return Ok(()),
        }
        self.day.clone().map_err(WaitReason::Full)?;
        let (hour, pulls) = (self.hour.clone().map_err(WaitReason::Full)?, self.pulls.clone()?);
        match (hour.checked_sub(1), pulls.checked_sub(1)) {
            (Some(hour), Some(pulls)) => (self.hour, self.pulls) = (Ok(hour), Ok(pulls)),
            (None, _) | (_, None) => return Err(WaitReason::Next),
        }
        Ok(())
    }
}

fn has_or_makes_a_pull(issue: &IssueView) -> bool {
    issue.record.as_ref().is_some_and(|record| match record.state {
        State::Assigned | State::InProgress => true,
        State::InReview => issue.pull.is_none_or(|(_, status)| status == PullStatus::Open),
        State::Ready | State::Blocked | State::Done => false,
    })
}

/// Decides about one issue by itself, regardless of the repository's room.
pub fn decide(issue: &IssueView, rules: &PlanRules, now: Timestamp) -> Decision {
    if issue.is_dashboard {
        return Decision::Wait(WaitReason::Dashboard);
    }
    let triggered = issue.status == IssueStatus::Open && has_label(&issue.labels, &rules.labels.trigger);
    let Some(record) = issue.record.as_ref() else {
        return if triggered { unclaimed(issue, rules) } else { Decision::Wait(WaitReason::NotTriggered) };
    };
    if let Some(held) = held_by(record, now, rules.skew) {
        return Decision::Wait(WaitReason::Held(held));
    }
    if !triggered {
        return ended(issue, record);
    }
    if let Some(request) = record.request() {
        return Decision::Act(Action::CarryOut(request.clone()));
    }
    let by_hand = record.state != State::Blocked && has_label(&issue.labels, &rules.labels.blocked);
    match record.state {
        State::Ready | State::InReview | State::Done if by_hand && !left_behind(record) => {
            Decision::Wait(WaitReason::BlockedByHand(rules.labels.blocked.clone()))
        }
        State::Ready => ready(issue, record, rules, now),
        State::Assigned | State::InProgress => match record.pause() {
            Some(pause) => Decision::Wait(WaitReason::Paused(pause.clone())),
            None => Decision::Act(Action::Recover(rules.recovery)),
        },
        State::InReview => in_review(issue, record, rules, now),
        State::Blocked => blocked(issue, record),
        State::Done => asked_again(issue, record, rules, now),
    }
}

/// What has to change before the work begins: the assignee or other issues. The assignee comes first: an issue that Hob
/// may not begin would not be claimed when its blockers are closed, so no comment may promise that.
fn not_before(issue: &IssueView, rules: &PlanRules) -> Option<WaitReason> {
    if !rules.assignee.fits(&issue.assignees) {
        return Some(WaitReason::NotAssigned(rules.assignee.clone()));
    }
    (!issue.blockers.is_empty()).then(|| WaitReason::BlockedBy(issue.blockers.clone()))
}

fn unclaimed(issue: &IssueView, rules: &PlanRules) -> Decision {
    if !rules.labels.states_on(&issue.labels).is_empty() {
        return Decision::Act(Action::Rebuild);
    }
    claimable(issue, rules)
}

fn claimable(issue: &IssueView, rules: &PlanRules) -> Decision {
    not_before(issue, rules).map_or(Decision::Act(Action::Claim), Decision::Wait)
}

/// Decides about an open issue with the trigger label whose ledger is at its end: it was asked for again.
fn asked_again(issue: &IssueView, record: &Record, rules: &PlanRules, now: Timestamp) -> Decision {
    if left_behind(record) {
        return Decision::Act(Action::ShowState);
    }
    if let Some((number, PullStatus::Open)) = issue.pull {
        return Decision::Act(Action::ReturnToReview(number));
    }
    // A state label that others insist on is irrelevant for an issue that has a ledger.
    repaired(issue, record, rules, now).unwrap_or_else(|| claimable(issue, rules))
}

fn ended(issue: &IssueView, record: &Record) -> Decision {
    let ending = match (issue.pull, issue.status) {
        (_, IssueStatus::Gone) => Ending::Gone,
        (Some((_, PullStatus::Merged)), _) => Ending::Merged,
        (_, IssueStatus::Closed) => Ending::Closed,
        (_, IssueStatus::Open) => Ending::Unlabeled,
    };
    match record.state {
        State::Done if left_behind(record) && ending != Ending::Gone => Decision::Act(Action::ShowState),
        State::Done => Decision::Wait(WaitReason::Finished),
        State::Ready | State::Assigned | State::InProgress | State::InReview | State::Blocked => {
            Decision::Act(Action::Finish(ending))
        }
    }
}

fn ready(issue: &IssueView, record: &Record, rules: &PlanRules, now: Timestamp) -> Decision {
    if let Some(pause) = record.pause() {
        if has_news(issue, record) && !left_behind(record) {
            return Decision::Act(Action::SeekCommand);
        }
        let paused = Decision::Wait(WaitReason::Paused(pause.clone()));
        return repaired(issue, record, rules, now).unwrap_or(paused);
    }
    let pause = record.failure.until.map(|own| issue.goes_on.unwrap_or(own));
    let waits = match (&record.refused, pause) {
        (Some(refusal), _) if issue.updated_at <= refusal.at => WaitReason::Refused(refusal.reason.clone()),
        (_, Some(until)) if until > now => {
            if has_news(issue, record) && !left_behind(record) {
                return Decision::Act(Action::SeekCommand);
            }
            WaitReason::RetryAfter { until, why: failure_line(record.failure.text.as_deref().unwrap_or_default()) }
        }
        _ => match not_before(issue, rules) {
            Some(_) if has_news(issue, record) && !left_behind(record) => return Decision::Act(Action::SeekCommand),
            Some(waits) => waits,
            // A claim looks for commands too, if what people have begun has changed but is not over.
            None if issue.begun.is_empty() || issue.begun != record.work.waits_for() => {
                return Decision::Act(Action::Claim);
            }
            None if has_news(issue, record) && !left_behind(record) => return Decision::Act(Action::SeekCommand),
            None => WaitReason::ForPeople(issue.begun.clone()),
        },
    };
    repaired(issue, record, rules, now).unwrap_or(Decision::Wait(waits))
}

fn in_review(issue: &IssueView, record: &Record, rules: &PlanRules, now: Timestamp) -> Decision {
    match (issue.pull, record.pull.number) {
        (Some((_, PullStatus::Merged)), _) => Decision::Act(Action::Finish(Ending::Merged)),
        (Some((number, PullStatus::Closed)), _) => Decision::Act(Action::AskAboutRejection(number)),
        (Some((number, PullStatus::Open)), _) | (None, Some(number)) => {
            let work = || {
                issue.review.as_ref().filter(|_| record.pause().is_none()).and_then(|facts| {
                    let events = due(&record.review, facts, &rules.review, record.renewed_at, now);
                    (!events.is_empty()).then(|| Action::Rework(events, facts.head.clone()))
                })
            };
            let ready = || {
                let facts = issue.review.as_ref().filter(|_| record.pause().is_none())?;
                record.pull.to_mark_ready(facts, &rules.review, record.renewed_at, now)
            };
            let is_asked = || record.pull.prove.is_some() && record.pause().is_none() && issue.review.is_some();
            let pushed = || {
                let facts = issue.review.as_ref().filter(|_| record.pause().is_none())?;
                let is_settled = record.renewed_at + rules.review.settle <= now;
                record.pull.is_pushed_after(&facts.head, is_settled).then(|| facts.head.clone())
            };
            let notes = || {
                let facts = issue.review.as_ref().filter(|_| record.pause().is_none())?;
                record.pull.checks_to_tell(&record.review, facts, &rules.review, record.renewed_at, now)
            };
            match repaired(issue, record, rules, now) {
                Some(repair) => repair,
                None if record.pause().is_none() && record.commands.sign_off.is_some() => {
                    Decision::Act(Action::SignOff)
                }
                // Each of these actions looks for a command first.
                None => match work() {
                    _ if is_asked() => Decision::Act(Action::Prove(number)),
                    Some(rework) => Decision::Act(rework),
                    None if let Some(pull) = ready() => Decision::Act(Action::MarkReady(pull)),
                    None if has_news(issue, record) => Decision::Act(Action::SeekCommand),
                    None if let Some(head) = pushed() => Decision::Act(Action::ShowPush(number, head)),
                    None if let Some(notes) = notes() => Decision::Act(Action::NoteChecks(notes)),
                    None => Decision::Wait(match record.pause() {
                        Some(pause) => WaitReason::Paused(pause.clone()),
                        None if issue.review.as_ref().is_some_and(PullFacts::is_unapproved) => {
                            WaitReason::Unapproved(number)
                        }
                        None => WaitReason::InReview(number),
                    }),
                },
            }
        }
        // The ledger says that a pull request is open but does not name it: start over rather than wait forever.
        (None, None) => Decision::Act(Action::Recover(Recovery::Resume)),
    }
}

fn blocked(issue: &IssueView, record: &Record) -> Decision {
    let rejected = record.blocked.as_ref().is_some_and(|blocked| blocked.reason == BlockCode::Rejected);
    Decision::Act(match issue.pull {
        Some((_, PullStatus::Merged)) => Action::Finish(Ending::Merged),
        Some((number, PullStatus::Open)) if rejected => Action::ReturnToReview(number),
        Some((_, PullStatus::Open | PullStatus::Closed)) | None => Action::SeekAnswer,
    })
}

/// Whether anything happened on the issue since Hob last wrote to its ledger or looked at it in vain, or its pull request has a new
/// command.
fn has_news(issue: &IssueView, record: &Record) -> bool {
    let has_new_comment = record.commands.comments.is_some_and(|known| known != issue.comments);
    !issue.is_quiet && (has_new_comment || issue.updated_at > record.renewed_at) || issue.has_command_on_pull
}

/// Whether people may have said something on an issue that waits for its turn.
pub fn may_have_words(issue: &IssueView) -> bool {
    issue.record.as_ref().map_or(!issue.is_quiet && issue.comments > 0, |record| has_news(issue, record))
}

/// What was said in reviews and on lines of an open pull request since its last round, and has no receipt yet.
pub fn unseen_in_review(issue: &IssueView) -> Vec<SaidId> {
    let (Some(record), Some(facts)) = (&issue.record, &issue.review) else { return Vec::new() };
    if record.state != State::InReview || record.pause().is_some() || left_behind(record) {
        return Vec::new();
    }
    let new = facts.said.iter().map(|said| &said.event).filter(|event| record.review.is_new(event));
    let said = new.filter_map(ReviewEvent::said_in_review).take(SEEN_MAX);
    said.filter(|said| !record.commands.has_taken(*said)).collect()
}

/// The repair that shows the ledger's state again. `None` if all is shown, apart from what was given up.
fn repaired(issue: &IssueView, record: &Record, rules: &PlanRules, now: Timestamp) -> Option<Decision> {
    // A dead worker never set these labels, so their absence does not count as a label fight.
    if left_behind(record) {
        return Some(Decision::Act(Action::ShowState));
    }
    let fights = &record.label_fights;
    let changes = rules.labels.changes(&issue.labels, record.state);
    let open = changes.into_iter().filter(|change| !fights.is_given_up(change, now));
    let (lost, to_make): (Vec<_>, Vec<_>) = open.partition(|change| fights.is_lost(change, now));
    match (to_make.is_empty(), lost.is_empty()) {
        (false, _) => Some(Decision::Act(Action::RepairLabels(to_make))),
        (true, false) => Some(Decision::Act(Action::GiveUpLabels(lost))),
        (true, true) => None,
    }
}

/// Whether the last holder never released its lease, or did without telling people how their round ended: what it had to show may be
/// missing.
fn left_behind(record: &Record) -> bool {
    record.lease.is_some() || record.review.is_unanswered()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Allowance, Blocked, Budget, Claimant, CommandVerdict, CommentId, Control, Failure, Generation, Lease,
        MergeState, Nonce, Pause, PersonsWork, PullLog, Receipt, Refusal, RepositoryRecord, Reservation, Said, SaidIn,
        SharedSettings, Spend, Transition, WithPeople, WorkerId, acquire, apply, labels::tests::names, released,
        reserve,
    };

    const NOW: i64 = 10_000;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(seconds, 0).unwrap()
    }

    fn rules() -> PlanRules {
        PlanRules {
            assignee: AssigneeFilter::Anybody,
            labels: names(),
            recovery: Recovery::Resume,
            skew: Duration::from_secs(5),
            repository: RepositoryRules {
                issues_per_hour: 10,
                day: Budget::default(),
                shared: SharedSettings::default(),
            },
            open_pulls: None,
            review: ReviewRules {
                settle: Duration::from_secs(60),
                ci_wait: Duration::from_secs(3_600),
                base_rounds: 5,
            },
        }
    }

    /// A record in `state`, released long ago.
    fn record(state: State) -> Record {
        let claimant = Claimant {
            worker: WorkerId::from("w"),
            nonce: Nonce::from("n"),
            duration: Duration::from_secs(60),
            skew: Duration::from_secs(5),
            bill: None,
        };
        let held = acquire(None, IssueNumber(1), &claimant, at(0)).unwrap();
        Record { state, ..released(&held, Nonce::from("m"), at(0)) }
    }

    fn view(labels: &[&str], record: Option<Record>) -> IssueView {
        IssueView {
            is_dashboard: false,
            number: IssueNumber(1),
            title: "t".to_owned(),
            labels: labels.iter().map(|label| (*label).to_owned()).collect(),
            status: IssueStatus::Open,
            created_at: at(0),
            updated_at: at(0),
            comments: 0,
            record,
            assignees: Vec::new(),
            blockers: Vec::new(),
            begun: Vec::new(),
            pull: None,
            review: None,
            goes_on: None,
            has_command_on_pull: false,
            is_quiet: false,
            pull_updated_at: None,
        }
    }

    fn decided(view: IssueView) -> Decision {
        let snapshot = Snapshot { issues: vec![view], repository: None };
        plan(&snapshot, &rules(), at(NOW)).remove(0).decision
    }

    #[test]
    fn every_state_leads_to_its_action() {
        let pull = PullNumber(9);
        let review = |status| IssueView {
            pull: Some((pull, status)),
            ..view(&["code", "in-review"], Some(Record { pull: PullLog::of(pull), ..record(State::InReview) }))
        };
        let act = Decision::Act;
        for (name, view, decision) in [
            ("new", view(&["code"], None), act(Action::Claim)),
            ("ready", view(&["code"], Some(record(State::Ready))), act(Action::Claim)),
            (
                "assigned",
                view(&["code", "assigned"], Some(record(State::Assigned))),
                act(Action::Recover(Recovery::Resume)),
            ),
            (
                "working",
                view(&["code", "in-progress"], Some(record(State::InProgress))),
                act(Action::Recover(Recovery::Resume)),
            ),
            ("blocked", view(&["code", "blocked"], Some(record(State::Blocked))), act(Action::SeekAnswer)),
            ("review", review(PullStatus::Open), Decision::Wait(WaitReason::InReview(pull))),
            ("merged", review(PullStatus::Merged), act(Action::Finish(Ending::Merged))),
            ("rejected", review(PullStatus::Closed), act(Action::AskAboutRejection(pull))),
            ("done, asked anew", view(&["code"], Some(record(State::Done))), act(Action::Claim)),
            ("label gone", view(&[], Some(record(State::InReview))), act(Action::Finish(Ending::Unlabeled))),
            ("no label, no ledger", view(&["bug"], None), Decision::Wait(WaitReason::NotTriggered)),
            ("done and gone", view(&[], Some(record(State::Done))), Decision::Wait(WaitReason::Finished)),
        ] {
            assert_eq!(decided(view), decision, "{name}");
        }
    }

    #[test]
    fn every_state_of_a_closed_issue_is_finished() {
        for state in State::ALL {
            let closed = IssueView { status: IssueStatus::Closed, ..view(&["code"], Some(record(state))) };
            let expected = match state {
                State::Done => Decision::Wait(WaitReason::Finished),
                State::Ready | State::Assigned | State::InProgress | State::InReview | State::Blocked => {
                    Decision::Act(Action::Finish(Ending::Closed))
                }
            };
            assert_eq!(decided(closed), expected, "{state}");
        }
    }

    #[test]
    fn a_live_lease_keeps_every_action_away() {
        for state in State::ALL {
            let mut held = record(state);
            held.lease =
                Some(crate::Lease { worker: "w".into(), nonce: "n".into(), until: at(NOW + 30), may_reach: None });
            let decision = decided(view(&["code"], Some(held)));
            assert!(matches!(decision, Decision::Wait(WaitReason::Held(_))), "{state}: {decision:?}");
        }
    }

    #[test]
    fn a_persons_label_wins_over_the_ledger() {
        let by_hand = Decision::Wait(WaitReason::BlockedByHand("blocked".to_owned()));
        assert_eq!(decided(view(&["code", "blocked"], Some(record(State::Ready)))), by_hand);
        assert_eq!(decided(view(&["code", "blocked"], Some(record(State::InReview)))), by_hand);
        assert_eq!(decided(view(&["code", "blocked"], Some(record(State::Done)))), by_hand);
    }

    #[test]
    fn a_wait_ends_by_time_or_by_news() {
        let waiting = |until| Record {
            failure: Failure { until: Some(at(until)), ..Failure::default() },
            ..record(State::Ready)
        };
        assert!(matches!(
            decided(view(&["code"], Some(waiting(NOW + 1)))),
            Decision::Wait(WaitReason::RetryAfter { .. })
        ));
        assert_eq!(decided(view(&["code"], Some(waiting(NOW)))), Decision::Act(Action::Claim));
        let refused = |since| {
            let refusal = Refusal { event: None, actor: None, reason: "no".to_owned(), at: at(since) };
            Record { refused: Some(refusal), ..record(State::Ready) }
        };
        assert!(matches!(decided(view(&["code"], Some(refused(0)))), Decision::Wait(WaitReason::Refused(_))));
        assert_eq!(decided(view(&["code"], Some(refused(-1)))), Decision::Act(Action::Claim));
    }

    #[test]
    fn what_a_dead_worker_had_not_shown_is_shown() {
        let left = |state| {
            let lease =
                Lease { worker: WorkerId::from("dead"), nonce: Nonce::from("n"), until: at(0), may_reach: None };
            Record { lease: Some(lease), pull: PullLog::of(PullNumber(9)), ..record(state) }
        };
        let show = Decision::Act(Action::ShowState);
        assert_eq!(decided(view(&["code", "in-review"], Some(left(State::InReview)))), show);
        assert_eq!(decided(view(&["code", "in-review"], Some(left(State::Done)))), show);
        assert_eq!(decided(view(&["in-review"], Some(left(State::Done)))), show);
        let waiting =
            Record { failure: Failure { until: Some(at(NOW + 1)), ..Failure::default() }, ..left(State::Ready) };
        assert_eq!(decided(view(&["code"], Some(waiting))), show);
        let lease = left(State::Done).lease.map(|lease| Lease { until: at(NOW), ..lease });
        let live = Record { lease, ..left(State::Done) };
        assert!(matches!(decided(view(&["code"], Some(live))), Decision::Wait(WaitReason::Held(_))));
    }

    #[test]
    fn a_stale_label_of_a_waiting_issue_is_repaired() {
        let waiting =
            Record { failure: Failure { until: Some(at(NOW + 1)), ..Failure::default() }, ..record(State::Ready) };
        let repair = Action::RepairLabels(vec![LabelChange::Remove("assigned".to_owned())]);
        assert_eq!(decided(view(&["code", "assigned"], Some(waiting))), Decision::Act(repair));
    }

    /// An issue in review with this many label repairs within the last hour, after which Hob gave up or did not.
    fn fought(repairs: u32, gives_up: bool) -> Record {
        let add = vec![LabelChange::Add("in-review".to_owned())];
        let mut record = Record { pull: PullLog::of(PullNumber(9)), ..record(State::InReview) };
        for n in 0..repairs {
            let at = at(NOW - 3_600 + i64::from(n));
            record =
                released(&apply(&record, Transition::RepairLabels(add.clone()), at).unwrap().0, Nonce::from("m"), at);
        }
        if gives_up {
            record = apply(&record, Transition::GiveUpLabels(add), at(NOW - 60)).unwrap().0;
        }
        Record { renewed_at: at(NOW - 60), ..record }
    }

    #[test]
    fn a_label_that_others_take_off_each_time_is_given_up_and_left_alone_for_a_day() {
        let add = || vec![LabelChange::Add("in-review".to_owned())];
        let waits = Decision::Wait(WaitReason::InReview(PullNumber(9)));
        let repair = Decision::Act(Action::RepairLabels(add()));
        let both = vec![LabelChange::Add("in-review".to_owned()), LabelChange::Remove("assigned".to_owned())];
        let stale = Decision::Act(Action::RepairLabels(vec![LabelChange::Remove("assigned".to_owned())]));
        let day = 24 * 3_600;
        for (name, labels, record, now, decision) in [
            ("first", &["code"][..], fought(0, false), NOW, repair.clone()),
            ("third", &["code"], fought(2, false), NOW, repair.clone()),
            ("fourth", &["code"], fought(3, false), NOW, Decision::Act(Action::GiveUpLabels(add()))),
            ("it stays on", &["code", "in-review"], fought(3, false), NOW, waits.clone()),
            ("given up", &["code"], fought(3, true), NOW, waits.clone()),
            ("given up, and on again", &["code", "in-review"], fought(3, true), NOW, waits),
            ("given up, and another label is wrong", &["code", "assigned"], fought(3, true), NOW, stale.clone()),
            ("two are wrong", &["code", "assigned"], fought(0, false), NOW, Decision::Act(Action::RepairLabels(both))),
            ("one is lost, and one is wrong", &["code", "assigned"], fought(3, false), NOW, stale),
            ("a day later", &["code"], fought(3, true), NOW - 60 + day, repair.clone()),
            ("three times, but a day ago", &["code"], fought(3, false), NOW - 3_600 + day, repair),
        ] {
            assert_eq!(decide(&view(labels, Some(record)), &rules(), at(now)), decision, "{name}");
        }
    }

    /// Only the removal of `blocked` unblocks; another state's label means nothing on an issue that is asked for again.
    #[test]
    fn a_label_that_was_given_up_is_not_mistaken_for_something_that_a_person_meant() {
        let blocked = Record { label_fights: fought(3, true).label_fights, ..record(State::Blocked) };
        assert_eq!(decided(view(&["code"], Some(blocked))), Decision::Act(Action::SeekAnswer));
        let remove = vec![LabelChange::Remove("in-review".to_owned())];
        let mut done = record(State::Done);
        for _ in 0..3 {
            done = apply(&done, Transition::RepairLabels(remove.clone()), at(NOW - 9)).unwrap().0;
        }
        let told = apply(&done, Transition::GiveUpLabels(remove.clone()), at(NOW - 8)).unwrap().0;
        assert_eq!(decided(view(&["code", "in-review"], Some(done))), Decision::Act(Action::GiveUpLabels(remove)));
        assert_eq!(decided(view(&["code", "in-review"], Some(told))), Decision::Act(Action::Claim));
    }

    #[test]
    fn a_new_state_and_a_persons_word_let_labels_be_repaired_again() {
        let given_up = fought(3, true);
        let receipt = Receipt {
            comment: CommentId(3),
            said_in: SaidIn::Comment,
            pull: None,
            verdict: CommandVerdict::Followed,
            says: None,
        };
        for (name, then) in [
            ("state", Transition::Reject(PullNumber(9))),
            (
                "command",
                Transition::Follow { receipt, then: Box::new(Transition::Reconcile { what: "replied".to_owned() }) },
            ),
        ] {
            assert!(apply(&given_up, then, at(NOW)).unwrap().0.label_fights.is_empty(), "{name}");
        }
        let kept = apply(&given_up, Transition::Reconcile { what: "shown".to_owned() }, at(NOW)).unwrap().0;
        assert!(!kept.label_fights.is_empty());
    }

    fn numbered(number: u64, labels: &[&str], created: i64) -> IssueView {
        IssueView { number: IssueNumber(number), created_at: at(created), ..view(labels, None) }
    }

    fn claimed(snapshot: &Snapshot, rules: &PlanRules) -> Vec<u64> {
        let planned = plan(snapshot, rules, at(NOW));
        let claims = planned.iter().filter(|planned| planned.decision == Decision::Act(Action::Claim));
        claims.map(|planned| planned.issue.number.0).collect()
    }

    /// The repository's ledger after a claim of each of these issues at these times.
    fn after_claims(claims: &[(u64, i64)]) -> RepositoryRecord {
        let mut record = None;
        let rules = RepositoryRules { issues_per_hour: 100, day: Budget::default(), shared: SharedSettings::default() };
        for (issue, seconds) in claims {
            let (issue, until) = (IssueNumber(*issue), at(*seconds));
            let worker = WorkerId::from("w");
            let (generation, allowance) = (Generation(1), Allowance::default());
            let ask = Reservation { worker, issue, generation, bill: Spend::default(), allowance, until };
            let reserved = reserve(record.as_ref(), &ask, &rules, Nonce::from("n"), at(*seconds));
            record = Some(reserved.unwrap().0);
        }
        record.unwrap()
    }

    #[test]
    fn priority_then_age_orders_and_the_hour_has_a_limit() {
        let issues = vec![numbered(1, &["code"], 50), numbered(2, &["code"], 10), numbered(3, &["code", "urgent"], 90)];
        let repository = Some(after_claims(&[(8, NOW - 3_600), (9, NOW - 600)]));
        let mut rules = rules();
        rules.repository.issues_per_hour = 3;
        let snapshot = Snapshot { issues, repository };
        assert_eq!(claimed(&snapshot, &rules), [3, 2]);
        let last = plan(&snapshot, &rules, at(NOW)).pop().unwrap();
        assert_eq!((last.issue.number.0, last.decision), (1, Decision::Wait(WaitReason::Next)));
        rules.repository.issues_per_hour = 1;
        let limit = Full::Hour { limit: 1, until: at(NOW - 600 + 3_600) };
        for planned in plan(&snapshot, &rules, at(NOW)) {
            assert_eq!(planned.decision, Decision::Wait(WaitReason::Full(limit.clone())));
        }
    }

    #[test]
    fn chosen_issues_take_the_room_before_all_others() {
        let mut rules = rules();
        rules.repository.issues_per_hour = 1;
        let issues = vec![numbered(1, &["code"], 10), numbered(2, &["code"], 50), numbered(3, &["bug"], 60)];
        let snapshot = Snapshot { issues, repository: None };
        let decided = |chosen: &[u64]| -> Vec<(u64, Decision)> {
            let chosen: Vec<_> = chosen.iter().copied().map(IssueNumber).collect();
            let planned = plan_chosen(&snapshot, &chosen, &rules, at(NOW));
            planned.into_iter().map(|planned| (planned.issue.number.0, planned.decision)).collect()
        };
        let (claim, next) = (Decision::Act(Action::Claim), Decision::Wait(WaitReason::Next));
        assert_eq!(decided(&[2]), [(2, claim.clone())], "the older one is not asked for");
        assert_eq!(decided(&[2, 1, 9]), [(2, claim), (1, next)]);
        assert_eq!(decided(&[3]), [(3, Decision::Wait(WaitReason::NotTriggered))]);
    }

    /// Requirement A6: of the issues that wait for a service that is down, one tries it.
    #[test]
    fn of_the_issues_that_wait_for_a_service_one_asks_and_all_go_on_when_it_is_back() {
        let outage = Outage { service: "m".to_owned(), since: at(0), failures: 1 };
        let waits = |number, until, goes_on| IssueView {
            goes_on,
            record: Some(Record {
                failure: Failure { outage: Some(outage.clone()), until: Some(at(until)), ..Failure::default() },
                ..record(State::Ready)
            }),
            ..numbered(number, &["code"], 0)
        };
        let mut repository = RepositoryRecord::next(None, Nonce::from("n"), at(NOW));
        for issue in [1, 2].map(IssueNumber) {
            let (until, patience) = (at(NOW - 1), Duration::from_secs(86_400));
            repository.outages = repository.outages.failed(issue, &outage, until, patience, at(0)).0;
        }
        let of = |issues, repository: &RepositoryRecord| Snapshot { issues, repository: Some(repository.clone()) };
        let down = of(vec![waits(1, 0, None), waits(2, 0, None), numbered(3, &["code"], 0)], &repository);
        assert_eq!(claimed(&down, &rules()), [1, 3], "a new one does not know yet");
        let waiting = plan(&down, &rules(), at(NOW)).remove(1).decision;
        let asked = WaitReason::Asked { service: "m".to_owned(), by: IssueNumber(1) };
        assert_eq!(waiting, Decision::Wait(asked));
        let later = of(vec![waits(1, 0, Some(at(NOW + 5))), waits(2, 0, Some(at(NOW + 5)))], &repository);
        assert_eq!(claimed(&later, &rules()), Vec::<u64>::new(), "another one asked since");
        repository.outages = repository.outages.answered("m", at(NOW)).unwrap();
        let back = of(vec![waits(1, NOW + 99, Some(at(NOW))), waits(2, NOW + 99, None)], &repository);
        assert_eq!(claimed(&back, &rules()), [1], "the second one failed after the answer");
    }

    #[test]
    fn open_pull_requests_have_a_cap_and_work_under_way_counts() {
        let in_review = |number, status| IssueView {
            pull: Some((PullNumber(90 + number), status)),
            record: Some(Record { pull: PullLog::of(PullNumber(90 + number)), ..record(State::InReview) }),
            ..numbered(number, &["code", "in-review"], 0)
        };
        let working = IssueView { record: Some(record(State::InProgress)), ..numbered(3, &["code"], 0) };
        let mut issues = vec![in_review(1, PullStatus::Open), in_review(2, PullStatus::Closed), working];
        issues.extend([numbered(4, &["code"], 1), numbered(5, &["code"], 2)]);
        let snapshot = Snapshot { issues, repository: None };
        for (limit, wanted) in [(None, vec![4, 5]), (Some(4), vec![4, 5]), (Some(3), vec![4]), (Some(2), vec![])] {
            assert_eq!(claimed(&snapshot, &PlanRules { open_pulls: limit, ..rules() }), wanted, "{limit:?}");
        }
    }

    #[test]
    fn the_kill_switch_keeps_every_claim_away() {
        let pause = Pause { by: "ann".into(), since: at(1), reason: String::new() };
        let repository = RepositoryRecord { paused: Some(pause.clone()), ..after_claims(&[(9, NOW)]) };
        let paused = Decision::Wait(WaitReason::Full(Full::Paused(pause)));
        let working = IssueView { record: Some(record(State::InProgress)), ..numbered(2, &["code"], 0) };
        let blocked = IssueView { record: Some(record(State::Blocked)), ..numbered(3, &["code", "blocked"], 0) };
        let done = IssueView { status: IssueStatus::Closed, record: Some(record(State::Ready)), ..numbered(4, &[], 9) };
        let later =
            Record { failure: Failure { until: Some(at(NOW + 60)), ..Failure::default() }, ..record(State::Ready) };
        let later = IssueView { record: Some(later), ..numbered(5, &["code"], 0) };
        let issues = vec![numbered(1, &["code"], 0), working, blocked, later, done];
        let snapshot = Snapshot { issues, repository: Some(repository) };
        let decisions: Vec<_> =
            plan(&snapshot, &rules(), at(NOW)).into_iter().map(|planned| planned.decision).collect();
        assert_eq!(decisions[..4], [paused.clone(), paused.clone(), paused.clone(), paused]);
        assert_eq!(decisions[4], Decision::Act(Action::Finish(Ending::Closed)), "what is at its end is still ended");
    }

    #[test]
    fn a_review_is_unseen_until_it_has_a_receipt() {
        let said = |events: &[ReviewEvent]| {
            let said = events.iter().map(|event| Said { event: event.clone(), at: at(NOW) }).collect();
            let (head, base, merge) = (Sha::from("h"), Sha::from("b"), MergeState::Fits);
            PullFacts { head, base, merge, said, checks: Vec::new(), ejected: None, has_command: false }
        };
        let facts = said(&[ReviewEvent::Comment(6), ReviewEvent::Review(7), ReviewEvent::Line(7)]);
        let view_of = |record| IssueView { review: Some(facts.clone()), ..view(&["code", "in-review"], Some(record)) };
        let [review, line] = [SaidIn::Review, SaidIn::Line].map(|said_in| SaidId { said_in, id: CommentId(7) });
        let mut record = record(State::InReview);
        assert_eq!(unseen_in_review(&view_of(record.clone())), [review, line]);
        let held = Record {
            lease: Some(Lease { worker: "w".into(), nonce: "n".into(), until: at(NOW + 30), may_reach: None }),
            ..record.clone()
        };
        assert_eq!(unseen_in_review(&view_of(held)), [], "its holder sees it");
        record.commands.in_reviews =
            vec![crate::conversation::command_log::TakenInReview { said: line, verdict: CommandVerdict::Followed }];
        assert_eq!(unseen_in_review(&view_of(record.clone())), [review]);
        record.review.handled = vec![ReviewEvent::Review(7)];
        assert_eq!(unseen_in_review(&view_of(record)), [], "a round has answered it");
    }

    #[test]
    fn an_issue_waits_for_its_open_blockers() {
        let waits = Decision::Wait(WaitReason::BlockedBy(vec![IssueNumber(7)]));
        let blockers = vec![IssueNumber(7)];
        assert_eq!(decided(IssueView { blockers: blockers.clone(), ..view(&["code"], None) }), waits);
        let known = IssueView { blockers, ..view(&["code"], Some(record(State::Ready))) };
        assert_eq!(decided(known), waits);
    }

    #[test]
    fn an_issue_waits_for_what_people_have_begun_until_that_changes() {
        let begun = || vec![PersonsWork::Pull { pull: "#9".to_owned(), by: "wil".into() }];
        let other = || vec![PersonsWork::Assignee("wil".into())];
        let mut waiting = record(State::Ready);
        waiting.work.with_people = Some(WithPeople::Waits(begun()));
        let seen = |begun, updated_at| IssueView { begun, updated_at, ..view(&["code"], Some(waiting.clone())) };
        let claim = Decision::Act(Action::Claim);
        assert_eq!(decided(seen(begun(), at(0))), Decision::Wait(WaitReason::ForPeople(begun())));
        assert_eq!(decided(seen(begun(), at(1))), Decision::Act(Action::SeekCommand));
        assert_eq!(decided(seen(Vec::new(), at(0))), claim, "it is over");
        assert_eq!(decided(seen(other(), at(1))), claim, "the comment names the wrong thing");
        let (goes_on, _) = apply(&waiting, Transition::RetryNow { by: "ann".into() }, at(1)).unwrap();
        assert_eq!(goes_on.work.with_people, Some(WithPeople::GoesOn("ann".into())));
        assert_eq!(decided(view(&["code"], Some(goes_on))), claim);
    }

    fn wants(assignee: AssigneeFilter) -> PlanRules {
        PlanRules { assignee, ..rules() }
    }

    /// Row A1.
    #[test]
    fn an_issue_of_somebody_else_is_not_begun() {
        let ann = || AssigneeFilter::Account("ann".into());
        let waits = |wanted| Decision::Wait(WaitReason::NotAssigned(wanted));
        let claim = Decision::Act(Action::Claim);
        for (wanted, assignees, decision) in [
            (ann(), vec!["Ann"], claim.clone()),
            (ann(), vec!["wil"], waits(ann())),
            (ann(), vec![], waits(ann())),
            (AssigneeFilter::Nobody, vec![], claim),
            (AssigneeFilter::Nobody, vec!["ann"], waits(AssigneeFilter::Nobody)),
        ] {
            let assignees: Vec<_> = assignees.into_iter().map(crate::Login::from).collect();
            for (labels, record) in
                [(["code"], None), (["code"], Some(record(State::Ready))), (["code"], Some(record(State::Done)))]
            {
                let view = IssueView { assignees: assignees.clone(), ..view(&labels, record) };
                assert_eq!(decide(&view, &wants(wanted.clone()), at(NOW)), decision, "{wanted:?}: {view:?}");
            }
        }
        let blocked = IssueView { blockers: vec![IssueNumber(7)], ..view(&["code"], None) };
        assert_eq!(decide(&blocked, &wants(ann()), at(NOW)), waits(ann()), "it is not begun when #7 is closed, either");
    }

    /// Row A1.
    #[test]
    fn whoever_is_assigned_work_that_has_begun_goes_on() {
        let rules = wants(AssigneeFilter::Account("ann".into()));
        let pull = Some((PullNumber(9), PullStatus::Open));
        let act = Decision::Act;
        for (state, label, decision) in [
            (State::Assigned, "assigned", act(Action::Recover(Recovery::Resume))),
            (State::InProgress, "in-progress", act(Action::Recover(Recovery::Resume))),
            (State::InReview, "in-review", Decision::Wait(WaitReason::InReview(PullNumber(9)))),
            (State::Blocked, "blocked", act(Action::SeekAnswer)),
        ] {
            let view = IssueView { pull, ..view(&["code", label], Some(record(state))) };
            assert_eq!(decide(&view, &rules, at(NOW)), decision, "{state}");
            let closed = IssueView { status: IssueStatus::Closed, pull: None, ..view };
            assert_eq!(decide(&closed, &rules, at(NOW)), act(Action::Finish(Ending::Closed)), "{state}");
        }
    }

    /// Row A1.
    #[test]
    fn an_issue_that_waits_for_its_assignee_is_looked_at_and_repaired() {
        let rules = wants(AssigneeFilter::Account("ann".into()));
        let ready = |labels: &[&str]| view(labels, Some(record(State::Ready)));
        let news = IssueView { updated_at: at(1), ..ready(&["code"]) };
        assert_eq!(decide(&news, &rules, at(NOW)), Decision::Act(Action::SeekCommand));
        let repair = Action::RepairLabels(vec![LabelChange::Remove("assigned".to_owned())]);
        assert_eq!(decide(&ready(&["code", "assigned"]), &rules, at(NOW)), Decision::Act(repair));
        assert_eq!(decide(&view(&["code", "in-review"], None), &rules, at(NOW)), Decision::Act(Action::Rebuild));
    }

    #[test]
    fn what_was_asked_of_a_worker_that_died_is_done_by_the_next() {
        let request = Request { control: Control::Pause, by: "ann".into(), at: at(1), reason: String::new() };
        let asked = Record { control: Some(request.clone().into()), ..record(State::InProgress) };
        assert_eq!(decided(view(&["code"], Some(asked.clone()))), Decision::Act(Action::CarryOut(request)));
        assert_eq!(decided(view(&[], Some(asked))), Decision::Act(Action::Finish(Ending::Unlabeled)));
    }

    #[test]
    fn a_paused_issue_waits_until_it_is_resumed() {
        let pause = Pause { by: "ann".into(), since: at(1), reason: "later".to_owned() };
        for state in [State::Ready, State::InProgress] {
            let paused = Record { control: Some(pause.clone().into()), ..record(state) };
            assert_eq!(decided(view(&["code"], Some(paused))), Decision::Wait(WaitReason::Paused(pause.clone())));
        }
    }

    #[test]
    fn a_pull_request_that_people_move_is_followed() {
        let pull = PullNumber(9);
        let with = |state, status| IssueView { pull: Some((pull, status)), ..view(&["code"], Some(record(state))) };
        let rejected = |status| {
            let blocked = Blocked {
                reason: BlockCode::Rejected,
                text: String::new(),
                question: String::new(),
                last: Vec::new(),
                since: at(1),
                told: false,
                after: None,
            };
            let record = Record { blocked: Some(blocked), ..record(State::Blocked) };
            IssueView { pull: Some((pull, status)), ..view(&["code", "blocked"], Some(record)) }
        };
        for (name, view, action) in [
            ("reopened", rejected(PullStatus::Open), Action::ReturnToReview(pull)),
            ("merged after all", rejected(PullStatus::Merged), Action::Finish(Ending::Merged)),
            ("still closed", rejected(PullStatus::Closed), Action::SeekAnswer),
            ("issue reopened", with(State::Done, PullStatus::Open), Action::ReturnToReview(pull)),
            ("issue reopened after a merge", with(State::Done, PullStatus::Merged), Action::Claim),
        ] {
            assert_eq!(decided(view), Decision::Act(action), "{name}");
        }
    }

    #[test]
    fn an_issue_that_is_gone_is_finished_and_a_stray_label_sought_out() {
        let gone = IssueView { status: IssueStatus::Gone, ..view(&[], Some(record(State::InReview))) };
        assert_eq!(decided(gone), Decision::Act(Action::Finish(Ending::Gone)));
        for label in ["in-review", "blocked"] {
            assert_eq!(decided(view(&["code", label], None)), Decision::Act(Action::Rebuild));
        }
        let stale = Action::RepairLabels(vec![LabelChange::Remove("in-review".to_owned())]);
        assert_eq!(decided(view(&["code", "in-review"], Some(record(State::Done)))), Decision::Act(stale));
    }

    #[test]
    fn news_on_a_waiting_issue_are_looked_at() {
        let news = |state| IssueView {
            updated_at: at(1),
            pull: Some((PullNumber(9), PullStatus::Open)),
            ..view(&["code", "in-review"], Some(record(state)))
        };
        assert_eq!(decided(news(State::InReview)), Decision::Act(Action::SeekCommand));
        let waiting =
            Record { failure: Failure { until: Some(at(NOW + 1)), ..Failure::default() }, ..record(State::Ready) };
        let waiting = IssueView { labels: vec!["code".to_owned()], record: Some(waiting), ..news(State::Ready) };
        assert_eq!(decided(waiting), Decision::Act(Action::SeekCommand));
        // A comment that came while the ledger moved on is noticed only by the number of comments.
        for (known, comments, looks) in [(None, 3, false), (Some(3), 3, false), (Some(2), 3, true)] {
            let mut record = record(State::InReview);
            record.commands.comments = known;
            let view = IssueView { updated_at: at(0), comments, record: Some(record), ..news(State::InReview) };
            assert_eq!(decided(view) == Decision::Act(Action::SeekCommand), looks, "{known:?} of {comments}");
        }
        let on_pull = IssueView { updated_at: at(0), has_command_on_pull: true, ..news(State::InReview) };
        assert_eq!(decided(on_pull.clone()), Decision::Act(Action::SeekCommand));
        let quiet = IssueView { is_quiet: true, ..news(State::InReview) };
        assert_eq!(decided(quiet), Decision::Wait(WaitReason::InReview(PullNumber(9))), "they were looked at");
        assert_eq!(decided(IssueView { is_quiet: true, ..on_pull }), Decision::Act(Action::SeekCommand));
    }

    #[test]
    fn a_blocked_record_without_a_label_still_looks_for_an_answer() {
        let blocked = Blocked {
            reason: crate::BlockCode::Question,
            text: String::new(),
            question: String::new(),
            last: Vec::new(),
            since: at(1),
            told: false,
            after: None,
        };
        let record = Record { blocked: Some(blocked), ..record(State::Blocked) };
        assert_eq!(decided(view(&["code"], Some(record))), Decision::Act(Action::SeekAnswer));
    }
}
