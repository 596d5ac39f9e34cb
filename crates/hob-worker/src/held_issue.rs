//! An issue whose lease is held: what a change of it needs, with its labels as they are known and what its attempt measured.

use std::sync::{Arc, atomic::AtomicBool};

use hob_agent::Steering;
use hob_domain::{Allowance, CheckResult, Durations, LabelChange, LabelNames, State};
use hob_forge::{BaseBranch, HeldLease, Issue};
use parking_lot::{Mutex, MutexGuard};

/// An issue whose lease is held: what a change of it needs.
pub(super) struct HeldIssue {
    pub(super) lease: HeldLease,
    pub(super) issue: Issue,
    /// The branch that work starts from and goes to.
    pub(super) base: Arc<BaseBranch>,
    pub(super) labels: Labels,
    /// The attempt's share of the day, if it was reserved with the lease.
    pub(super) reserved: Option<Allowance>,
    /// Held while receipts are given.
    pub(super) receipts: tokio::sync::Mutex<()>,
    /// Held while commands are read and followed.
    pub(super) commands: tokio::sync::Mutex<()>,
    /// What people said on the issue since the attempt began, for its agents.
    pub(super) steering: Steering,
    /// What people said in reviews of the round under way and have no reaction to yet, by the forge's ids for GraphQL.
    pub(super) unseen: Mutex<Vec<String>>,
    /// Whether what the last round has to tell was written by this holder, and nobody has begun to tell it.
    pub(super) is_untold: AtomicBool,
    /// How long the attempt's steps took, until that is settled.
    durations: Mutex<Durations>,
    /// Each run of a check on the attempt's base, until that is settled.
    base_runs: Mutex<Vec<CheckResult>>,
}

impl HeldIssue {
    /// With the labels as the issue was read.
    pub(super) fn new(lease: HeldLease, issue: Issue, base: Arc<BaseBranch>, reserved: Option<Allowance>) -> Self {
        let labels = Labels::new(issue.labels.clone());
        Self {
            lease,
            issue,
            base,
            labels,
            reserved,
            receipts: Default::default(),
            commands: Default::default(),
            steering: Steering::default(),
            unseen: Mutex::default(),
            is_untold: AtomicBool::new(false),
            durations: Mutex::default(),
            base_runs: Mutex::default(),
        }
    }

    pub(super) fn durations(&self) -> MutexGuard<'_, Durations> {
        self.durations.lock()
    }

    pub(super) fn base_runs(&self) -> &Mutex<Vec<CheckResult>> {
        &self.base_runs
    }
}

/// The issue's labels as they were read or written last.
pub(super) struct Labels(Mutex<Known>);

#[derive(Default)]
struct Known {
    read: Vec<String>,
    /// States whose labels may be on, though no read shows them: they have to be taken off, and cannot be relied on.
    presumed: Vec<State>,
}

impl Labels {
    fn new(read: Vec<String>) -> Self {
        Self(Mutex::new(Known { read, presumed: Vec::new() }))
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock()
    }

    /// Takes in what was read anew.
    pub(super) fn set(&self, labels: Vec<String>) {
        *self.known() = Known { read: labels, presumed: Vec::new() };
    }

    /// Whether the label is on, or may be.
    pub(super) fn has(&self, names: &LabelNames, name: &str) -> bool {
        hob_domain::has_label(&self.known().all(names), name)
    }

    /// Counts the label of `state` as one to take off: it was being written, or a read that lags does not show it.
    pub(super) fn presume(&self, state: State) {
        self.known().presumed.push(state);
    }

    /// Whether they are right for `state`.
    pub(super) fn are_right_for(&self, names: &LabelNames, state: State) -> bool {
        self.changes(names, state).is_empty()
    }

    /// Whether the label of a state is on, or may be.
    pub(super) fn shows_a_state(&self, names: &LabelNames) -> bool {
        !names.states_on(&self.known().all(names)).is_empty()
    }

    pub(super) fn changes(&self, names: &LabelNames, state: State) -> Vec<LabelChange> {
        let known = self.known();
        let is_add = |change: &LabelChange| matches!(change, LabelChange::Add(_));
        let add = names.changes(&known.read, state).into_iter().filter(is_add);
        add.chain(names.changes(&known.all(names), state).into_iter().filter(|change| !is_add(change))).collect()
    }

    pub(super) fn apply(&self, change: LabelChange, names: &LabelNames) {
        let mut known = self.known();
        match change {
            LabelChange::Add(name) => known.read.push(name),
            LabelChange::Remove(name) => {
                known.read.retain(|label| !label.eq_ignore_ascii_case(&name));
                known.presumed.retain(|state| !names.of(*state).is_some_and(|label| label.eq_ignore_ascii_case(&name)));
            }
        }
    }
}

impl Known {
    fn all(&self, names: &LabelNames) -> Vec<String> {
        let mut all = self.read.clone();
        self.presumed.iter().for_each(|state| names.presume(&mut all, *state));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(names: &[&str]) -> Labels {
        Labels::new(names.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn labels_follow_what_was_written_and_what_may_have_been() {
        let names = hob_config::Settings::load(None, std::collections::HashMap::new(), &[]).unwrap().labels;
        let issue = labels(&["bug", "code", "assigned"]);
        for change in issue.changes(&names, State::InProgress) {
            issue.apply(change, &names);
        }
        assert!(issue.has(&names, "IN-PROGRESS") && !issue.has(&names, "assigned") && issue.has(&names, "bug"));
        // A label that was on its way when the work was cut short is removed too.
        issue.presume(State::Blocked);
        let removed = issue.changes(&names, State::Ready);
        assert_eq!(removed, ["in-progress", "blocked"].map(|name| LabelChange::Remove(name.to_owned())));
        issue.set(vec!["code".to_owned()]);
        assert_eq!(issue.changes(&names, State::Ready), []);
        // It may be off just as well: where it has to be on, it is put on.
        issue.presume(State::Blocked);
        assert_eq!(issue.changes(&names, State::Blocked), [LabelChange::Add("blocked".to_owned())]);
    }
}
