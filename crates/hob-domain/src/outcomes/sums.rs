//! Sums of outcomes, over all issues and by group.
//!
//! # Guarantees
//! In every grouping but the one by label, each issue is in exactly one group, so the groups' sums are the whole's. An issue is in the
//! group of each of its labels.

use std::collections::BTreeMap;

use crate::{IssueOutcome, OutcomeKind, Spend, Timestamp, Word};

/// What outcomes are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutcomeGroup {
    /// The agent of the settings.
    Agent,
    /// The model.
    Model,
    /// The profile.
    Profile,
    /// Each label of the issue.
    Label,
    /// The week of the outcome.
    Week,
}

/// Sums of outcomes.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Outcomes {
    /// Issues that were worked on.
    pub issues: usize,
    /// Pull requests that were merged.
    pub merged: usize,
    /// Those that were closed without a merge.
    pub rejected: usize,
    /// Those that are open.
    pub waiting: usize,
    /// Issues without a pull request that need a person.
    pub blocked: usize,
    /// Issues without a pull request that are worked on, or will be.
    pub under_way: usize,
    /// Issues that ended without a pull request.
    pub ended: usize,
    /// Merged pull requests that needed no answer and no round in review.
    pub zero_touch: usize,
    /// Rounds in review.
    pub rounds: u64,
    /// What all issues cost.
    pub spend: Spend,
    /// What each proof says, by its name; of pull requests of all kinds.
    pub words: BTreeMap<&'static str, usize>,
    /// Finished issues that had a quote.
    pub quoted: usize,
    /// Those of them whose bill lies in it.
    pub within_quote: usize,
    /// Since when the oldest open pull request waits.
    pub waiting_since: Option<Timestamp>,
    /// How long each merge took that is known, in seconds.
    merge_seconds: Vec<u64>,
}

impl Outcomes {
    /// The sum of these.
    pub fn of<'a>(all: impl IntoIterator<Item = &'a IssueOutcome>) -> Self {
        let mut sum = Self::default();
        all.into_iter().for_each(|one| sum.add(one));
        sum.merge_seconds.sort_unstable();
        sum
    }

    fn add(&mut self, one: &IssueOutcome) {
        self.issues += 1;
        *match one.kind {
            OutcomeKind::Merged => &mut self.merged,
            OutcomeKind::Rejected => &mut self.rejected,
            OutcomeKind::Waiting => &mut self.waiting,
            OutcomeKind::Blocked => &mut self.blocked,
            OutcomeKind::UnderWay => &mut self.under_way,
            OutcomeKind::Ended => &mut self.ended,
        } += 1;
        if one.kind == OutcomeKind::Waiting {
            self.waiting_since = Some(self.waiting_since.map_or(one.at, |oldest| oldest.min(one.at)));
        }
        self.zero_touch += usize::from(one.is_zero_touch);
        self.rounds += u64::from(one.rounds);
        self.spend = self.spend + one.spend;
        if let Some(word) = &one.word {
            *self.words.entry(word.name()).or_default() += 1;
        }
        if let Some(is_within) = one.is_within_quote() {
            self.quoted += 1;
            self.within_quote += usize::from(is_within);
        }
        self.merge_seconds.extend(one.merge_seconds);
    }

    /// Pull requests that were merged or closed: those with a verdict.
    pub fn closed(&self) -> usize {
        self.merged + self.rejected
    }

    /// All pull requests.
    pub fn pull_requests(&self) -> usize {
        self.closed() + self.waiting
    }

    /// Issues without a pull request.
    pub fn without_pull(&self) -> usize {
        self.blocked + self.under_way + self.ended
    }

    /// Pull requests whose proof says that they are proven.
    pub fn proven(&self) -> usize {
        self.words.get(Word::Proven.name()).copied().unwrap_or_default()
    }

    /// The merged share of the closed pull requests.
    pub fn merged_share(&self) -> Option<f64> {
        ratio(self.merged as f64, self.closed())
    }

    /// US dollars for each merged pull request: what all issues cost, also those that were not merged.
    pub fn usd_per_merged(&self) -> Option<f64> {
        ratio(self.spend.usd(), self.merged)
    }

    /// Rounds in review for each pull request.
    pub fn rounds_each(&self) -> Option<f64> {
        ratio(self.rounds as f64, self.pull_requests())
    }

    /// What half of the merges took at most, in seconds. `None` if the ledgers do not say of any.
    pub fn median_merge_seconds(&self) -> Option<u64> {
        self.merge_seconds.get(self.merge_seconds.len().checked_sub(1)? / 2).copied()
    }
}

fn ratio(amount: f64, count: usize) -> Option<f64> {
    (count > 0).then(|| amount / count as f64)
}

/// The sums of each group, by name; `None` for the issues of which the ledger does not say.
pub fn by_group(all: &[IssueOutcome], group: OutcomeGroup) -> BTreeMap<Option<String>, Outcomes> {
    let mut members: BTreeMap<Option<String>, Vec<&IssueOutcome>> = BTreeMap::new();
    for one in all {
        for name in names(one, group) {
            members.entry(name).or_default().push(one);
        }
    }
    members.into_iter().map(|(name, members)| (name, Outcomes::of(members))).collect()
}

fn names(one: &IssueOutcome, group: OutcomeGroup) -> Vec<Option<String>> {
    match group {
        OutcomeGroup::Agent => vec![one.agent.clone()],
        OutcomeGroup::Model => vec![one.model.clone()],
        OutcomeGroup::Profile => vec![one.profile.clone()],
        OutcomeGroup::Label if one.labels.is_empty() => vec![None],
        OutcomeGroup::Label => one.labels.iter().cloned().map(Some).collect(),
        OutcomeGroup::Week => vec![Some(one.week())],
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{IssueNumber, PullNumber, Quote};

    const KINDS: [OutcomeKind; 6] = [
        OutcomeKind::Merged,
        OutcomeKind::Rejected,
        OutcomeKind::Waiting,
        OutcomeKind::Blocked,
        OutcomeKind::UnderWay,
        OutcomeKind::Ended,
    ];

    fn outcome(kind: OutcomeKind, hours: i64, usd_micros: u64) -> IssueOutcome {
        let has_pull = matches!(kind, OutcomeKind::Merged | OutcomeKind::Rejected | OutcomeKind::Waiting);
        IssueOutcome {
            issue: IssueNumber(1),
            kind,
            at: Timestamp::UNIX_EPOCH + chrono::TimeDelta::hours(hours),
            pull: has_pull.then_some(PullNumber(9)),
            merge_seconds: None,
            agent: None,
            model: None,
            profile: None,
            labels: Vec::new(),
            word: None,
            rounds: 0,
            is_zero_touch: false,
            spend: Spend { usd_micros, ..Spend::default() },
            quote: None,
        }
    }

    #[test]
    fn a_merged_one_costs_what_was_spent_on_all_and_waiting_is_no_verdict() {
        let merged = |seconds| IssueOutcome {
            merge_seconds: Some(seconds),
            is_zero_touch: seconds < 10,
            rounds: 1,
            word: Some(Word::Proven),
            ..outcome(OutcomeKind::Merged, 1, 1_000_000)
        };
        let all = [
            merged(5),
            merged(20),
            merged(900),
            outcome(OutcomeKind::Rejected, 2, 2_000_000),
            outcome(OutcomeKind::Waiting, 7, 500_000),
            outcome(OutcomeKind::Waiting, 3, 0),
            outcome(OutcomeKind::Blocked, 2, 500_000),
        ];
        let sum = Outcomes::of(&all);
        assert_eq!((sum.issues, sum.closed(), sum.pull_requests(), sum.waiting, sum.zero_touch), (7, 4, 6, 2, 1));
        assert_eq!((sum.merged_share(), sum.usd_per_merged(), sum.rounds_each()), (Some(0.75), Some(2.0), Some(0.5)));
        assert_eq!((sum.median_merge_seconds(), sum.waiting_since), (Some(20), Some(all[5].at)));
        assert_eq!(sum.words, BTreeMap::from([("proven", 3)]));
        let none = Outcomes::of(&all[4..]);
        assert_eq!((none.merged_share(), none.usd_per_merged(), none.median_merge_seconds()), (None, None, None));
    }

    #[test]
    fn a_quote_is_judged_by_a_bill_that_is_final() {
        let quote = Some(Quote { low: 10, high: 20, of: 5 });
        let of = |kind, bill| IssueOutcome { quote, ..outcome(kind, 1, bill) };
        let all = [
            of(OutcomeKind::Merged, 10),
            of(OutcomeKind::Rejected, 21),
            of(OutcomeKind::Ended, 20),
            of(OutcomeKind::Waiting, 15),
            of(OutcomeKind::Blocked, 15),
            outcome(OutcomeKind::Merged, 1, 15),
        ];
        let sum = Outcomes::of(&all);
        assert_eq!((sum.quoted, sum.within_quote), (3, 2));
    }

    #[test]
    fn an_issue_is_in_the_group_of_each_label() {
        let labelled = |labels: &[&str]| IssueOutcome {
            labels: labels.iter().map(|label| (*label).to_owned()).collect(),
            ..outcome(OutcomeKind::Merged, 1, 1)
        };
        let groups = by_group(&[labelled(&["bug", "ui"]), labelled(&["bug"]), labelled(&[])], OutcomeGroup::Label);
        let counts: Vec<_> = groups.iter().map(|(name, sum)| (name.as_deref(), sum.issues)).collect();
        assert_eq!(counts, [(None, 1), (Some("bug"), 2), (Some("ui"), 1)]);
    }

    fn some() -> impl Strategy<Value = IssueOutcome> {
        let name = || prop::option::of("[a-c]");
        let counts = (0..KINDS.len(), 0..2_000_i64, 0..5_000_000_u64, 0..4_u32, prop::option::of(0..90_000_u64));
        (counts, name(), name(), name(), any::<bool>()).prop_map(|(counts, agent, model, profile, is_zero_touch)| {
            let (kind, hours, usd_micros, rounds, merge_seconds) = counts;
            let word = is_zero_touch.then_some(Word::NoTests);
            let one = outcome(KINDS[kind], hours, usd_micros);
            let quote = (rounds > 0).then_some(Quote { low: 1_000_000, high: 4_000_000, of: 5 });
            IssueOutcome { agent, model, profile, rounds, merge_seconds, is_zero_touch, word, quote, ..one }
        })
    }

    /// The sum of the sums.
    fn together(groups: &BTreeMap<Option<String>, Outcomes>) -> Outcomes {
        let mut all = Outcomes::default();
        for sum in groups.values() {
            all.issues += sum.issues;
            all.merged += sum.merged;
            all.rejected += sum.rejected;
            all.waiting += sum.waiting;
            all.blocked += sum.blocked;
            all.under_way += sum.under_way;
            all.ended += sum.ended;
            all.zero_touch += sum.zero_touch;
            all.rounds += sum.rounds;
            all.quoted += sum.quoted;
            all.within_quote += sum.within_quote;
            all.spend = all.spend + sum.spend;
            for (word, count) in &sum.words {
                *all.words.entry(word).or_default() += count;
            }
            all.waiting_since = [all.waiting_since, sum.waiting_since].into_iter().flatten().min();
            all.merge_seconds.extend(&sum.merge_seconds);
        }
        all.merge_seconds.sort_unstable();
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn the_groups_sums_are_the_whole(all in prop::collection::vec(some(), 0..40)) {
            let whole = Outcomes::of(&all);
            for group in [OutcomeGroup::Agent, OutcomeGroup::Model, OutcomeGroup::Profile, OutcomeGroup::Week] {
                prop_assert_eq!(&together(&by_group(&all, group)), &whole, "{:?}", group);
            }
            let kinds = [whole.merged, whole.rejected, whole.waiting, whole.blocked, whole.under_way, whole.ended];
            prop_assert_eq!(kinds.iter().sum::<usize>(), whole.issues);
        }
    }
}
