//! Rounds in review: what happened on an open pull request, which of it starts a round of work, and how many rounds a
//! pull request may take over its whole life.
//!
//! # Flow
//! [`PullFacts`] is what the forge says about the pull request; [`due`] selects what is new, settled and worth a round.
//! The record has the round's events from its first transition on, so that a worker that takes the issue over answers
//! the same ones. The transition that ends the round marks them as handled.

use std::time::Duration;

use hob_text::count;
use serde::{Deserialize, Serialize};

use crate::{CheckNotes, CommentId, Login, Message, ProofStatus, SaidId, SaidIn, Sha, Timestamp};

/// Events that are remembered as handled; the oldest are dropped first.
const HANDLED_MAX: usize = 500;
/// Events in one round; the next round takes the rest. The agent sees each of them.
const ROUND_MAX: usize = 40;
/// The first pause after the rounds for a base that conflicts which are free of pauses, and the longest.
const BASE_PAUSE: Duration = Duration::from_secs(900);
const BASE_PAUSE_MAX: Duration = Duration::from_secs(86_400);

/// Something on a pull request that a round answers. Ids are the forge's.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReviewEvent {
    /// A review that requests changes, or that has words and no verdict.
    Review(u64),
    /// A comment in a thread on a line.
    Line(u64),
    /// A comment in the pull request's conversation that begins with `/hob`.
    Comment(u64),
    /// A check that failed on this head.
    Check {
        /// The head.
        head: Sha,
        /// The check's name.
        name: String,
    },
    /// The head does not merge with this base.
    Conflict {
        /// The head.
        head: Sha,
        /// The base branch's tip.
        base: Sha,
    },
    /// The base has moved on, and the branch must contain all of it.
    Behind {
        /// The head.
        head: Sha,
        /// The base branch's tip.
        base: Sha,
    },
    /// The merge queue removed the pull request at this time: it does not pass when merged with those before it.
    Ejected(Timestamp),
}

/// The cause of a round; each kind has its own limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RoundKind {
    /// People's reviews and comments.
    Review,
    /// Failed checks of the forge.
    Checks,
    /// The base moved.
    Base,
}

impl RoundKind {
    /// Every kind, the most important first.
    pub const ALL: [Self; 3] = [Self::Review, Self::Checks, Self::Base];

    /// The purpose of its rounds.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Self::Review => "reviews",
            Self::Checks => "failed checks",
            Self::Base => "a base that moved",
        }
    }
}

impl ReviewEvent {
    /// The kind of round, whose limit counts it.
    pub fn kind(&self) -> RoundKind {
        match self {
            Self::Review(_) | Self::Line(_) | Self::Comment(_) => RoundKind::Review,
            Self::Check { .. } => RoundKind::Checks,
            Self::Conflict { .. } | Self::Behind { .. } | Self::Ejected(_) => RoundKind::Base,
        }
    }
}

/// Hob's one reply to an event. The ledger has it before it is posted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventAnswer {
    /// The event; for a thread, its newest comment.
    pub to: ReviewEvent,
    /// The thread's first comment, if it answers a thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<u64>,
    /// The reply.
    pub text: String,
    /// Whether it resolves its thread.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub resolves: bool,
}

/// What a round in review has to tell people once its work is pushed. It is in the ledger with the work, so each of it is told once.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Due {
    /// What the commit status of the head says.
    pub status: Option<ProofStatus>,
    /// The replies.
    pub answers: Vec<EventAnswer>,
    /// Who is asked for another review.
    pub asks: Vec<Login>,
}

/// A pull request's rounds, as the ledger keeps them.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReviewLog {
    /// Rounds begun so far. One round may be for several kinds of events, and an answer lets the counts of the kinds begin
    /// anew, so this is not their sum.
    #[serde(skip_serializing_if = "is_zero")]
    pub begun: u32,
    /// Rounds for people's reviews and comments.
    #[serde(skip_serializing_if = "is_zero")]
    pub rounds: u32,
    /// Rounds for failed checks.
    #[serde(skip_serializing_if = "is_zero")]
    pub ci_rounds: u32,
    /// Rounds for a base that moved, with a conflict or out of the merge queue. An update without one costs no agent's run.
    #[serde(skip_serializing_if = "is_zero")]
    pub base_rounds: u32,
    /// The events of the current round.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub round: Vec<ReviewEvent>,
    /// The head that the current round began at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Sha>,
    /// The replies of the last round that people may not have yet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<EventAnswer>,
    /// Who is asked for another review with them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<Login>,
    /// Whether the last round changed no file.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unchanged: bool,
    /// The events that are handled.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub handled: Vec<ReviewEvent>,
    /// The failed checks on the head that ran once more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reran: Vec<ReviewEvent>,
    /// What people were told about the checks on the head.
    #[serde(flatten)]
    pub told: CheckNotes,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl ReviewLog {
    /// Whether nothing was ever reviewed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a round is under way.
    pub fn is_under_way(&self) -> bool {
        !self.round.is_empty()
    }

    /// Rounds of one kind so far, including the current one.
    pub fn count(&self, kind: RoundKind) -> u32 {
        match kind {
            RoundKind::Review => self.rounds,
            RoundKind::Checks => self.ci_rounds,
            RoundKind::Base => self.base_rounds,
        }
    }

    /// The rounds so far, such as `2 rounds for reviews, 1 round for failed checks`.
    pub fn rounds_in_words(&self) -> String {
        let had = RoundKind::ALL.into_iter().map(|kind| (self.count(kind), kind)).filter(|(rounds, _)| *rounds > 0);
        let words = had.map(|(rounds, kind)| format!("{} for {}", count(rounds, "round"), kind.noun()));
        words.collect::<Vec<_>>().join(", ")
    }

    fn count_mut(&mut self, kind: RoundKind) -> &mut u32 {
        match kind {
            RoundKind::Review => &mut self.rounds,
            RoundKind::Checks => &mut self.ci_rounds,
            RoundKind::Base => &mut self.base_rounds,
        }
    }

    /// The kinds of the current round.
    pub fn kinds(&self) -> impl Iterator<Item = RoundKind> + '_ {
        RoundKind::ALL.into_iter().filter(|kind| self.round.iter().any(|event| event.kind() == *kind))
    }

    /// Begins a round.
    pub(crate) fn begin(&mut self, events: Vec<ReviewEvent>, from: Sha) {
        (self.round, self.from) = (events, Some(from));
        self.answered();
        self.unchanged = false;
        self.begun += 1;
        for kind in self.kinds().collect::<Vec<_>>() {
            let is_free = |event: &ReviewEvent| matches!(event, ReviewEvent::Behind { .. });
            let mut of_kind = self.round.iter().filter(|event| event.kind() == kind);
            *self.count_mut(kind) += u32::from(!of_kind.all(is_free));
        }
    }

    /// Adds events to the round under way, which is counted already.
    pub(crate) fn join(&mut self, events: impl Iterator<Item = ReviewEvent>) {
        for event in events {
            if !self.round.contains(&event) {
                self.round.push(event);
            }
        }
    }

    /// How long to wait since the last round before the next one for a base that conflicts: nobody can answer why a base
    /// moves, so after `limit` rounds each pause is twice as long as the one before.
    fn base_pause(&self, limit: u32) -> Duration {
        let over = self.base_rounds.checked_sub(limit);
        over.map_or(Duration::ZERO, |over| BASE_PAUSE.saturating_mul(2_u32.saturating_pow(over)).min(BASE_PAUSE_MAX))
    }

    /// Marks the round's events as handled. Events about an earlier head are not remembered.
    pub(crate) fn end(&mut self, head: &Sha) {
        self.unchanged = self.is_unchanged(head);
        self.handled.append(&mut self.round);
        for events in [&mut self.handled, &mut self.reran] {
            events.retain(|event| event.head().is_none_or(|of| of == head));
        }
        let over = self.handled.len().saturating_sub(HANDLED_MAX);
        drop(self.handled.drain(..over));
        self.from = None;
        // Each head needs its own approval.
        self.told.unapproved = false;
    }

    /// Whether the round under way ends at the head that it began at.
    pub fn is_unchanged(&self, head: &Sha) -> bool {
        self.from.as_ref() == Some(head)
    }

    /// Whether people may lack something that the last round has to tell them.
    pub fn is_unanswered(&self) -> bool {
        !self.answers.is_empty() || !self.asks.is_empty()
    }

    /// People have what the last round had to tell them.
    pub(crate) fn answered(&mut self) {
        (self.answers, self.asks) = Default::default();
    }

    /// Allows the current round's kinds as many rounds again.
    pub(crate) fn allow_again(&mut self) {
        for kind in self.kinds().collect::<Vec<_>>() {
            *self.count_mut(kind) = 1;
        }
    }

    /// Whether all of these are failed checks and none of them has run again on this head.
    pub fn may_rerun(&self, events: &[ReviewEvent]) -> bool {
        let fresh = |event: &ReviewEvent| event.kind() == RoundKind::Checks && !self.reran.contains(event);
        !events.is_empty() && events.iter().all(fresh)
    }

    /// Whether the round under way, or an earlier one, is about these words.
    pub(crate) fn is_about(&self, message: &Message) -> bool {
        let event = ReviewEvent::of(message.id());
        self.round.contains(&event) || !self.is_new(&event)
    }

    pub(crate) fn is_new(&self, event: &ReviewEvent) -> bool {
        !self.handled.contains(event)
    }
}

impl ReviewEvent {
    /// That this was said.
    pub(crate) fn of(said: SaidId) -> Self {
        match said.said_in {
            SaidIn::Comment => Self::Comment(said.id.0),
            SaidIn::Review => Self::Review(said.id.0),
            SaidIn::Line => Self::Line(said.id.0),
        }
    }

    /// The words in a review or on a line that it is about.
    pub fn said_in_review(&self) -> Option<SaidId> {
        match self {
            Self::Review(id) => Some(SaidId { said_in: SaidIn::Review, id: CommentId(*id) }),
            Self::Line(id) => Some(SaidId { said_in: SaidIn::Line, id: CommentId(*id) }),
            Self::Comment(_) | Self::Check { .. } | Self::Conflict { .. } | Self::Behind { .. } | Self::Ejected(_) => {
                None
            }
        }
    }

    fn head(&self) -> Option<&Sha> {
        match self {
            Self::Check { head, .. } | Self::Conflict { head, .. } | Self::Behind { head, .. } => Some(head),
            Self::Review(_) | Self::Line(_) | Self::Comment(_) | Self::Ejected(_) => None,
        }
    }
}

/// Whether a pull request can be merged, as far as its commits go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeState {
    /// The forge does not know yet.
    Unknown,
    /// It can be merged.
    Fits,
    /// The two sides conflict.
    Conflicts,
    /// The branch must contain all of its base, but does not.
    Behind,
}

/// The state of one of the forge's checks on the head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForgeCheckState {
    /// It has not ended.
    Pending,
    /// It starts when a maintainer approves it.
    Unapproved,
    /// It succeeded, was skipped, or is neutral.
    Passed,
    /// It failed.
    Failed,
    /// It neither passed nor failed: it was cancelled, or two results contradict each other.
    Unknown,
    /// Some checks may be invisible to the token; the name is that of the missing permission.
    Hidden,
}

/// A check of the forge on the head: a check run, a job or a commit status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgeCheck {
    /// Its name.
    pub name: String,
    /// Its state.
    pub state: ForgeCheckState,
    /// Whether it fails on the base, too.
    pub red_on_base: bool,
}

/// What an authorized account said, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// What it is.
    pub event: ReviewEvent,
    /// When it was said.
    pub at: Timestamp,
}

/// An open pull request at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullFacts {
    /// The branch's tip.
    pub head: Sha,
    /// The base branch's tip.
    pub base: Sha,
    /// Whether the two can be merged.
    pub merge: MergeState,
    /// Requests for work by authorized accounts.
    pub said: Vec<Said>,
    /// The forge's checks on the head.
    pub checks: Vec<ForgeCheck>,
    /// When the merge queue last removed it for a reason that more work can fix.
    pub ejected: Option<Timestamp>,
    /// Whether its conversation has an unhandled command from an authorized account.
    pub has_command: bool,
}

impl PullFacts {
    /// Whether a check has not ended.
    pub(crate) fn has_pending(&self) -> bool {
        self.checks.iter().any(|check| matches!(check.state, ForgeCheckState::Pending | ForgeCheckState::Unapproved))
    }

    /// Whether workflows wait until a maintainer approves them.
    pub(crate) fn is_unapproved(&self) -> bool {
        self.checks.iter().any(|check| check.state == ForgeCheckState::Unapproved)
    }
}

/// The settings that rounds depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReviewRules {
    /// How long comments on lines must be quiet before they count.
    pub settle: Duration,
    /// How long to wait for checks that have not ended.
    pub ci_wait: Duration,
    /// Rounds for a base that conflicts, before each waits longer than the one before.
    pub base_rounds: u32,
}

/// The events that a round has to answer now; empty if no round is due. `since` is when the head was published.
pub fn due(
    log: &ReviewLog,
    facts: &PullFacts,
    rules: &ReviewRules,
    since: Timestamp,
    now: Timestamp,
) -> Vec<ReviewEvent> {
    let new: Vec<&Said> = facts.said.iter().filter(|said| log.is_new(&said.event)).collect();
    let newest = new.iter().map(|said| said.at).max();
    let asks_now = new.iter().any(|said| !matches!(said.event, ReviewEvent::Line(_)));
    let is_quiet = newest.is_some_and(|newest| newest + rules.settle <= now);
    let mut events: Vec<ReviewEvent> = Vec::new();
    if asks_now || is_quiet {
        events.extend(new.iter().map(|said| said.event.clone()));
    }
    if !facts.has_pending() || since + rules.ci_wait <= now {
        let red = facts.checks.iter().filter(|check| check.state == ForgeCheckState::Failed && !check.red_on_base);
        let red = red.map(|check| ReviewEvent::Check { head: facts.head.clone(), name: check.name.clone() });
        events.extend(red.filter(|event| log.is_new(event)));
    }
    let (head, base) = (facts.head.clone(), facts.base.clone());
    let moved = match facts.merge {
        MergeState::Conflicts => Some(ReviewEvent::Conflict { head, base }),
        MergeState::Behind => Some(ReviewEvent::Behind { head, base }),
        MergeState::Unknown | MergeState::Fits => None,
    };
    let ejected = facts.ejected.map(ReviewEvent::Ejected);
    let may_cost = since + log.base_pause(rules.base_rounds) <= now;
    let is_due = |event: &ReviewEvent| log.is_new(event) && (may_cost || matches!(event, ReviewEvent::Behind { .. }));
    events.extend(moved.into_iter().chain(ejected).filter(is_due));
    events.truncate(ROUND_MAX);
    events
}

/// What starts a round, briefly: `a review, 2 comments on lines, the check "test" failed`.
pub fn events_in_words(events: &[ReviewEvent]) -> String {
    let mut words = Vec::new();
    let number = |of: fn(&ReviewEvent) -> bool| events.iter().filter(|event| of(event)).count();
    match number(|event| matches!(event, ReviewEvent::Review(_))) {
        0 => {}
        1 => words.push("a review".to_owned()),
        more => words.push(count(more, "review")),
    }
    match number(|event| matches!(event, ReviewEvent::Line(_))) {
        0 => {}
        lines => words.push(format!("{} on lines", count(lines, "comment"))),
    }
    match number(|event| matches!(event, ReviewEvent::Comment(_))) {
        0 => {}
        commands => words.push(count(commands, "request")),
    }
    for event in events {
        match event {
            ReviewEvent::Check { name, .. } => words.push(format!("the check `{name}` failed")),
            ReviewEvent::Conflict { .. } => words.push("a conflict with the base".to_owned()),
            ReviewEvent::Behind { .. } => words.push("the base moved on".to_owned()),
            ReviewEvent::Ejected(_) => words.push("the merge queue removed it".to_owned()),
            ReviewEvent::Review(_) | ReviewEvent::Line(_) | ReviewEvent::Comment(_) => {}
        }
    }
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: ReviewRules =
        ReviewRules { settle: Duration::from_secs(60), ci_wait: Duration::from_secs(3_600), base_rounds: 2 };

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(seconds, 0).unwrap()
    }

    fn facts() -> PullFacts {
        let (head, base) = (Sha::from("h"), Sha::from("b"));
        PullFacts {
            head,
            base,
            merge: MergeState::Fits,
            said: Vec::new(),
            checks: Vec::new(),
            ejected: None,
            has_command: false,
        }
    }

    fn said(events: &[(ReviewEvent, i64)]) -> PullFacts {
        let said = events.iter().map(|(event, seconds)| Said { event: event.clone(), at: at(*seconds) }).collect();
        PullFacts { said, ..facts() }
    }

    fn check(name: &str, state: ForgeCheckState, red_on_base: bool) -> ForgeCheck {
        ForgeCheck { name: name.to_owned(), state, red_on_base }
    }

    fn due_at(log: &ReviewLog, facts: &PullFacts, seconds: i64) -> Vec<ReviewEvent> {
        due(log, facts, &RULES, at(0), at(seconds))
    }

    #[test]
    fn comments_on_lines_count_when_they_have_been_quiet() {
        let lines = said(&[(ReviewEvent::Line(1), 100), (ReviewEvent::Line(2), 130)]);
        let log = ReviewLog::default();
        assert_eq!(due_at(&log, &lines, 189), []);
        assert_eq!(due_at(&log, &lines, 190), [ReviewEvent::Line(1), ReviewEvent::Line(2)]);
        let handled = ReviewLog { handled: vec![ReviewEvent::Line(1), ReviewEvent::Line(2)], ..log };
        assert_eq!(due_at(&handled, &lines, 190), []);
    }

    #[test]
    fn a_review_and_a_request_count_at_once_and_take_the_comments_along() {
        for now in [ReviewEvent::Review(7), ReviewEvent::Comment(7)] {
            let both = said(&[(ReviewEvent::Line(1), 100), (now.clone(), 100)]);
            assert_eq!(due_at(&ReviewLog::default(), &both, 100), [ReviewEvent::Line(1), now]);
        }
    }

    #[test]
    fn checks_count_when_all_have_ended_or_the_wait_is_over() {
        use ForgeCheckState::{Failed, Passed, Pending, Unapproved};
        let log = ReviewLog::default();
        let red = |name: &str| ReviewEvent::Check { head: "h".into(), name: name.to_owned() };
        let running = vec![check("a", Failed, false), check("b", Pending, false)];
        let running = PullFacts { checks: running, ..facts() };
        assert_eq!(due_at(&log, &running, 3_599), []);
        assert_eq!(due_at(&log, &running, 3_600), [red("a")]);
        let unapproved = vec![check("a", Failed, false), check("b", Unapproved, false)];
        let unapproved = PullFacts { checks: unapproved, ..facts() };
        assert_eq!(due_at(&log, &unapproved, 3_599), []);
        let ended = vec![check("a", Failed, false), check("b", Passed, false), check("c", Failed, true)];
        let ended = PullFacts { checks: ended, ..facts() };
        assert_eq!(due_at(&log, &ended, 10), [red("a")], "what is red on the base starts nothing");
        let handled = ReviewLog { handled: vec![red("a")], ..log };
        assert_eq!(due_at(&handled, &ended, 10), []);
        let next = PullFacts { head: "h2".into(), ..ended };
        assert_eq!(due_at(&handled, &next, 10).len(), 1, "it failed on other work");
    }

    #[test]
    fn an_ejection_from_the_merge_queue_counts_once() {
        let out = PullFacts { ejected: Some(at(50)), ..facts() };
        let mut log = ReviewLog::default();
        let events = due_at(&log, &out, 60);
        assert_eq!(events, [ReviewEvent::Ejected(at(50))]);
        log.begin(events, "h".into());
        assert_eq!(log.count(RoundKind::Base), 1);
        log.end(&"h2".into());
        assert_eq!(due_at(&log, &out, 70), [], "also not with the next head");
        assert_eq!(due_at(&log, &PullFacts { ejected: Some(at(80)), ..facts() }, 90).len(), 1);
    }

    #[test]
    fn failed_checks_run_again_once_for_a_head_and_only_where_they_are_all() {
        let red = |name: &str| ReviewEvent::Check { head: "h".into(), name: name.to_owned() };
        let mut log = ReviewLog::default();
        assert!(!log.may_rerun(&[]) && !log.may_rerun(&[red("a"), ReviewEvent::Line(1)]));
        assert!(log.may_rerun(&[red("a")]));
        log.reran.push(red("a"));
        assert!(!log.may_rerun(&[red("a")]) && !log.may_rerun(&[red("a"), red("b")]));
        log.end(&"h2".into());
        assert!(log.may_rerun(&[red("a")]), "of a head that is gone nothing is remembered");
    }

    /// Case c55.
    #[test]
    fn a_base_that_conflicts_waits_longer_each_time_and_one_that_does_not_never_waits() {
        for (rounds, pause) in [(0, 0), (1, 0), (2, 900), (3, 1_800), (4, 3_600), (40, 86_400)] {
            let log = ReviewLog { base_rounds: rounds, ..ReviewLog::default() };
            let moved = |merge| PullFacts { merge, ..facts() };
            assert_eq!(due_at(&log, &moved(MergeState::Conflicts), pause).len(), 1, "{rounds}");
            assert_eq!(due_at(&log, &moved(MergeState::Behind), 0).len(), 1, "{rounds}");
            if pause > 0 {
                assert!(due_at(&log, &moved(MergeState::Conflicts), pause - 1).is_empty(), "{rounds}");
            }
        }
        let mut log = ReviewLog::default();
        log.begin(vec![ReviewEvent::Behind { head: "h".into(), base: "b".into() }], "h".into());
        assert_eq!((log.begun, log.count(RoundKind::Base)), (1, 0));
    }

    #[test]
    fn a_base_that_moved_counts_once_for_each_head_and_tip() {
        for (merge, event) in [
            (MergeState::Conflicts, Some(ReviewEvent::Conflict { head: "h".into(), base: "b".into() })),
            (MergeState::Behind, Some(ReviewEvent::Behind { head: "h".into(), base: "b".into() })),
            (MergeState::Fits, None),
            (MergeState::Unknown, None),
        ] {
            let moved = PullFacts { merge, ..facts() };
            assert_eq!(due_at(&ReviewLog::default(), &moved, 10), event.clone().into_iter().collect::<Vec<_>>());
            let mut log = ReviewLog::default();
            log.begin(event.into_iter().collect(), "h".into());
            log.end(&"h".into());
            assert_eq!(due_at(&log, &moved, 10), []);
        }
    }

    #[test]
    fn a_round_counts_once_for_each_of_its_kinds() {
        let mut log = ReviewLog::default();
        let check = ReviewEvent::Check { head: "h".into(), name: "test".to_owned() };
        log.begin(vec![ReviewEvent::Line(1), ReviewEvent::Line(2), check.clone()], "h".into());
        assert_eq!(RoundKind::ALL.map(|kind| log.count(kind)), [1, 1, 0]);
        log.end(&"h2".into());
        assert_eq!(log.handled, [ReviewEvent::Line(1), ReviewEvent::Line(2)], "the failure was of the head before");
        assert!(!log.is_under_way() && !log.is_empty());
        log.begin(vec![check.clone()], "h2".into());
        log.end(&"h".into());
        assert!(log.handled.contains(&check), "the same head has the same failure");
        log.begin(vec![check], "h".into());
        log.allow_again();
        assert_eq!(RoundKind::ALL.map(|kind| log.count(kind)), [1, 1, 0]);
    }

    #[test]
    fn events_are_told_in_a_few_words() {
        let (head, base) = (Sha::from("h"), Sha::from("b"));
        let events = [
            ReviewEvent::Review(1),
            ReviewEvent::Line(2),
            ReviewEvent::Line(3),
            ReviewEvent::Check { head: head.clone(), name: "test".to_owned() },
            ReviewEvent::Conflict { head, base },
        ];
        let words = "a review, 2 comments on lines, the check `test` failed, a conflict with the base";
        assert_eq!(events_in_words(&events), words);
    }
}
