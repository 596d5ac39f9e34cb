//! An issue's pull request as the ledger remembers it, and a repository's rules for pull requests: their base, their
//! reviewers.

use hob_text::title;
use serde::{Deserialize, Serialize};

use crate::{
    CheckNotes, ForgeCheck, ForgeCheckState, Login, ProofAsked, ProofState, ProofStatus, PullFacts, PullNumber,
    ReviewLog, ReviewRules, Sha, Timestamp,
};

/// The most checks of one kind that people are told about.
const NOTED_MAX: usize = 20;

/// The pull request. What was done on one is noted before the ledger names it as the issue's, and a rejected one is
/// followed by another: so each part has the number that it is about.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PullLog {
    /// The only pull request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<PullNumber>,
    /// When it was opened. `None` in records of earlier versions, and if the ledger was lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opened_at: Option<Timestamp>,
    /// When Hob saw that it was merged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merged_at: Option<Timestamp>,
    /// The pull request that has its labels and reviewers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub introduced: Option<Introduced>,
    /// The pull request that is a draft until its checks are green, or was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draft: Option<DraftLog>,
    /// What the commit status `hob/proof` last said of a head.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<Box<ProofStatus>>,
    /// The head that shows meanwhile that a round is under way, or that may not show yet what the status of it is to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proving: Option<Sha>,
    /// The request to make its proof again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prove: Option<Box<ProofAsked>>,
}

impl PullLog {
    /// The log of a pull request of which nothing else is known.
    pub fn of(number: PullNumber) -> Self {
        Self { number: Some(number), ..Self::default() }
    }

    /// The pull request has been opened, or pushed to.
    pub(crate) fn published(&mut self, number: PullNumber, now: Timestamp) {
        if self.number != Some(number) {
            (self.number, self.opened_at, self.merged_at) = (Some(number), Some(now), None);
        }
    }

    /// Whether the pull request is still a draft until its checks are green.
    pub fn waits_for_green(&self) -> bool {
        self.draft.as_ref().is_some_and(|draft| !draft.ready)
    }

    /// Whether the forge shows this status already.
    pub fn shows(&self, status: &ProofStatus) -> bool {
        match status.state {
            ProofState::Pending => self.proving.as_ref() == Some(&status.head),
            ProofState::NotShown | ProofState::Success | ProofState::Failure => {
                self.proving.is_none() && self.proof.as_deref() == Some(status)
            }
        }
    }

    /// Notes a status that the forge shows, or would if the token were allowed to set it.
    pub(crate) fn note_proof(&mut self, status: ProofStatus) {
        match status.state {
            ProofState::Pending => self.proving = Some(status.head),
            ProofState::NotShown | ProofState::Success | ProofState::Failure => {
                (self.proof, self.proving) = (Some(Box::new(status)), None)
            }
        }
    }

    /// Notes what the status of a head is to say once the forge has the head.
    pub(crate) fn owes(&mut self, status: ProofStatus) {
        (self.proving, self.proof) = (Some(status.head.clone()), Some(Box::new(status)));
    }

    /// Notes that the proof is to be made again; returns the sentence.
    pub(crate) fn ask_proof(&mut self, asked: ProofAsked) -> String {
        let sentence = match &asked.by {
            Some(by) => format!("{by} asked for the proof again"),
            None => "the proof is made again after a push".to_owned(),
        };
        self.prove = Some(Box::new(asked));
        sentence
    }

    /// Whether somebody else pushed the head after the last proof. Reads can lag behind Hob's own push, so a head is believed
    /// only once the ledger has been quiet for a while.
    pub(crate) fn is_pushed_after(&self, head: &Sha, settled: bool) -> bool {
        let is_new = self.proof.as_ref().is_some_and(|status| status.head != *head);
        settled && is_new && self.proving.as_ref() != Some(head)
    }

    /// The status that a head is to show instead of that a round is under way: the one that is due, or the one from before a round
    /// that ended without a new head.
    pub fn due_status(&self) -> Option<ProofStatus> {
        let head = self.proving.as_ref()?;
        let before = self.proof.as_deref().cloned().filter(|status| status.head == *head);
        Some(before.unwrap_or_else(|| ProofStatus::pushed_after(head.clone())))
    }

    /// Whether there is nothing to remember.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The branch that the work starts from and is merged into.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BaseChoice {
    /// Its name.
    pub branch: String,
    /// The source of the choice.
    pub by: BaseSource,
}

/// What chose a base branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BaseSource {
    /// A label on the issue, by an authorized account.
    Label,
    /// The settings, or the repository's default.
    Settings,
}

impl BaseChoice {
    /// The base of an attempt: that of an authorized label, else that of earlier attempts, else that of the settings. A
    /// removed label no longer counts.
    pub fn choose(label: Option<&str>, earlier: Option<&Self>, settings: &str) -> Self {
        match (label, earlier) {
            (Some(branch), _) => Self { branch: branch.to_owned(), by: BaseSource::Label },
            (None, Some(earlier)) if earlier.by == BaseSource::Settings => earlier.clone(),
            (None, _) => Self::of_settings(settings),
        }
    }

    /// The base branch of the settings.
    pub fn of_settings(branch: &str) -> Self {
        Self { branch: branch.to_owned(), by: BaseSource::Settings }
    }
}

/// A pull request that opened as a draft until its checks are green.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DraftLog {
    /// Its number.
    pub pull: PullNumber,
    /// Whether it was marked as ready.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ready: bool,
}

impl PullLog {
    /// Records that a pull request is a draft until its checks are green, unless that is over.
    pub fn opened_draft(&mut self, pull: PullNumber) {
        if self.draft.as_ref().is_none_or(|draft| draft.pull != pull) {
            self.draft = Some(DraftLog { pull, ready: false });
        }
    }

    /// The pull request to mark as ready, if the checks are green: all have passed, and `settle` is over, in which
    /// others might still begin; or there are none after `ci_wait`. `since` is when the head was published.
    pub fn to_mark_ready(
        &self,
        facts: &PullFacts,
        rules: &ReviewRules,
        since: Timestamp,
        now: Timestamp,
    ) -> Option<PullNumber> {
        let wait = if facts.checks.is_empty() { rules.ci_wait } else { rules.settle };
        let all_passed = facts.checks.iter().all(|check| check.state == ForgeCheckState::Passed);
        let draft = self.draft.as_ref().filter(|draft| !draft.ready)?;
        (all_passed && since + wait <= now).then_some(draft.pull)
    }

    /// The checks that start no round, unless people were told of exactly these. `None` if there is nothing to report.
    /// Workflows that wait for an approval are reported at once, the rest when all checks have ended. `since` is when
    /// the head was published.
    pub fn checks_to_tell(
        &self,
        log: &ReviewLog,
        facts: &PullFacts,
        rules: &ReviewRules,
        since: Timestamp,
        now: Timestamp,
    ) -> Option<CheckNotes> {
        let named = |wanted: fn(&ForgeCheck) -> bool| {
            let wanted = facts.checks.iter().filter(|check| wanted(check));
            let mut names: Vec<String> = wanted.map(|check| title(&check.name, 100)).collect();
            names.sort();
            names.dedup();
            names.truncate(NOTED_MAX);
            names
        };
        let mut notes = CheckNotes { unapproved: facts.is_unapproved(), ..log.told.clone() };
        if !facts.has_pending() || since + rules.ci_wait <= now {
            notes.red_on_base = named(|check| check.state == ForgeCheckState::Failed && check.red_on_base);
            // Only a draft waits for a verdict.
            (notes.undecided, notes.hidden) = match self.waits_for_green() {
                true => (
                    named(|check| check.state == ForgeCheckState::Unknown),
                    named(|check| check.state == ForgeCheckState::Hidden),
                ),
                false => (Vec::new(), Vec::new()),
            };
        }
        (notes != log.told).then_some(notes)
    }
}

/// A pull request that has its labels and reviewers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Introduced {
    /// Its number.
    pub pull: PullNumber,
    /// What the forge refused, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<String>,
}

/// The name for the person who put the label on.
pub const ACTOR: &str = "actor";

/// The reviewers to request.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Reviewers {
    /// Accounts.
    pub users: Vec<Login>,
    /// Teams of the repository's organization, by their slugs.
    pub teams: Vec<String>,
}

impl Reviewers {
    /// Reads logins, `team:SLUG` and `ORG/TEAM`. The forge itself requests the owners in CODEOWNERS, and [`ACTOR`] is left
    /// out, since only the ledger names them.
    pub fn new(names: &[String]) -> Self {
        let mut all = Self::default();
        for name in names.iter().map(|name| name.trim().trim_start_matches('@')) {
            match name.strip_prefix("team:").or_else(|| name.split_once('/').map(|(_org, team)| team)) {
                Some(team) => all.teams.push(team.to_owned()),
                None if name == ACTOR || name.eq_ignore_ascii_case("codeowners") => {}
                None => all.users.push(name.into()),
            }
        }
        all
    }

    /// These and the others, each once.
    #[must_use]
    pub fn with(mut self, others: Self) -> Self {
        self.users.extend(
            others.users.into_iter().filter(|other| !self.users.iter().any(|user| user.is(other))).collect::<Vec<_>>(),
        );
        self.teams.extend(others.teams);
        self
    }

    /// Whether there are no reviewers.
    pub fn is_empty(&self) -> bool {
        self.users.is_empty() && self.teams.is_empty()
    }

    /// Each of them as a separate request.
    pub fn each(&self) -> Vec<Self> {
        let users = self.users.iter().map(|user| Self { users: vec![user.clone()], ..Self::default() });
        let teams = self.teams.iter().map(|team| Self { teams: vec![team.clone()], ..Self::default() });
        users.chain(teams).collect()
    }

    /// Their names.
    pub fn names(&self) -> String {
        let users = self.users.iter().map(|user| format!("`{user}`"));
        users.chain(self.teams.iter().map(|team| format!("the team `{team}`"))).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{ForgeCheck, MergeState};

    #[test]
    fn the_base_is_the_labels_then_the_earlier_one_then_the_settings() {
        let by = |branch: &str, by| BaseChoice { branch: branch.to_owned(), by };
        let (labelled, set) = (by("next", BaseSource::Label), by("v1", BaseSource::Settings));
        for (label, earlier, chosen) in [
            (None, None, by("main", BaseSource::Settings)),
            (Some("next"), None, labelled.clone()),
            (Some("next"), Some(&set), labelled.clone()),
            (None, Some(&set), set.clone()),
            (None, Some(&labelled), by("main", BaseSource::Settings)),
            (Some("v2"), Some(&labelled), by("v2", BaseSource::Label)),
        ] {
            assert_eq!(BaseChoice::choose(label, earlier, "main"), chosen, "{label:?} {earlier:?}");
        }
    }

    #[test]
    fn a_draft_is_ready_when_all_checks_have_passed_and_once() {
        use ForgeCheckState::{Failed, Hidden, Passed, Pending, Unapproved, Unknown};
        let at = |seconds| Timestamp::from_timestamp(seconds, 0).unwrap();
        let rules = ReviewRules { settle: Duration::from_secs(60), ci_wait: Duration::from_secs(600), base_rounds: 5 };
        let mut house = PullLog::default();
        let ready = |house: &PullLog, states: &[ForgeCheckState], now| {
            let check =
                |state: &ForgeCheckState| ForgeCheck { name: "x".to_owned(), state: *state, red_on_base: false };
            let (said, checks) = (Vec::new(), states.iter().map(check).collect());
            let (head, base, merge) = ("h".into(), "b".into(), MergeState::Fits);
            let facts = PullFacts { head, base, merge, said, checks, ejected: None, has_command: false };
            house.to_mark_ready(&facts, &rules, at(0), at(now))
        };
        let pull = PullNumber(9);
        assert_eq!(ready(&house, &[Passed], 60), None, "it is not a draft of Hob's");
        house.opened_draft(pull);
        for (states, now, is_ready) in [
            (&[Passed, Passed][..], 60, true),
            (&[Passed], 59, false),
            (&[Passed, Pending], 9_999, false),
            (&[Passed, Failed], 9_999, false),
            (&[Passed, Unknown], 9_999, false),
            (&[Unapproved], 9_999, false),
            (&[Passed, Unapproved], 9_999, false),
            (&[Hidden], 9_999, false),
            (&[Passed, Hidden], 9_999, false),
            (&[], 60, false),
            (&[], 600, true),
        ] {
            assert_eq!(ready(&house, states, now), is_ready.then_some(pull), "{states:?} {now}");
        }
        house.draft = Some(DraftLog { pull, ready: true });
        house.opened_draft(pull);
        assert_eq!(ready(&house, &[Passed], 60), None);
        house.opened_draft(PullNumber(10));
        assert_eq!(ready(&house, &[Passed], 60), Some(PullNumber(10)));
    }

    #[test]
    fn checks_that_no_round_is_for_are_told_once_and_when_all_have_ended() {
        use ForgeCheckState::{Failed, Hidden, Passed, Pending, Unapproved, Unknown};
        let at = |seconds| Timestamp::from_timestamp(seconds, 0).unwrap();
        let rules =
            ReviewRules { settle: Duration::from_secs(60), ci_wait: Duration::from_secs(3_600), base_rounds: 5 };
        let check = |&(name, state, red_on_base): &(&str, ForgeCheckState, bool)| ForgeCheck {
            name: name.to_owned(),
            state,
            red_on_base,
        };
        let tell = |house: &PullLog, log: &ReviewLog, checks: &[(&str, ForgeCheckState, bool)], now: i64| {
            let (head, base, merge, said) = ("h".into(), "b".into(), MergeState::Fits, Vec::new());
            let checks = checks.iter().map(check).collect();
            let facts = PullFacts { head, base, merge, said, checks, ejected: None, has_command: false };
            house.checks_to_tell(log, &facts, &rules, at(0), at(now))
        };
        let list = |names: &str| names.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let notes = |red: &str, undecided: &str| {
            Some(CheckNotes { red_on_base: list(red), undecided: list(undecided), ..CheckNotes::default() })
        };
        let (house, none) = (PullLog::default(), ReviewLog::default());
        let told = |told: CheckNotes| ReviewLog { told, ..ReviewLog::default() };
        let told_red = told(CheckNotes { red_on_base: list("a"), ..CheckNotes::default() });
        let red = [("b", Failed, false), ("a", Failed, true), ("c", Passed, false)];
        assert_eq!(tell(&house, &none, &red, 1), notes("a", ""), "not `b`, which is the work's own");
        assert_eq!(tell(&house, &told_red, &red, 1), None);
        assert_eq!(tell(&house, &told_red, &[("a", Passed, false)], 1), notes("", ""), "it passes again");
        assert_eq!(tell(&house, &none, &[("a", Passed, false)], 1), None);
        let pending = [("a", Failed, true), ("b", Pending, false)];
        let told_at = |now| tell(&house, &none, &pending, now);
        assert_eq!((told_at(1), told_at(3_600)), (None, notes("a", "")));
        let unclear = [("a", Passed, false), ("b", Unknown, false)];
        let hidden = [("a", Passed, false), ("checks:read", Hidden, false)];
        for checks in [&unclear, &hidden] {
            assert_eq!(tell(&house, &none, checks, 1), None, "nothing waits for its verdict");
        }
        let mut draft = PullLog::default();
        draft.opened_draft(PullNumber(9));
        assert_eq!(tell(&draft, &none, &unclear, 1), notes("", "b"));
        let lacks = CheckNotes { hidden: list("checks:read"), ..CheckNotes::default() };
        assert_eq!(tell(&draft, &none, &hidden, 1), Some(lacks));
        // The approval is reported without waiting for the other checks.
        let held = [("a", Failed, true), ("w", Unapproved, false)];
        let waits = CheckNotes { unapproved: true, ..CheckNotes::default() };
        assert_eq!(tell(&house, &none, &held, 1), Some(waits.clone()));
        assert_eq!(tell(&house, &told(waits.clone()), &held, 1), None);
        let approved = [("a", Passed, false), ("w", Pending, false)];
        assert_eq!(tell(&house, &told(waits), &approved, 1), notes("", ""));
    }

    #[test]
    fn reviewers_are_accounts_and_teams() {
        let names = ["ann", "@wil", "team:core", "acme/docs", "codeowners"].map(str::to_owned);
        let all = Reviewers::new(&names);
        assert_eq!(
            (all.users.as_slice(), all.teams.join(" ")),
            (&["ann".into(), "wil".into()][..], "core docs".into())
        );
        assert_eq!(all.each().len(), 4);
        assert_eq!(all.names(), "`ann`, `wil`, the team `core`, the team `docs`");
        assert!(Reviewers::new(&["codeowners".to_owned()]).is_empty());
    }
}
