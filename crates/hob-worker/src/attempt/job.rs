//! The data of one attempt's work.

use std::{collections::BTreeMap, sync::OnceLock, time::Duration};

use hob_config::RepositorySettings;
use hob_domain::{
    Allowance, BaseChoice, Catalog, ChangeText, CheckResult, CommentId, Finding, Image, IssueNumber, LeftOut, Lessons,
    Login, Notable, PersonsCommit, RunId, RunPurpose, Sha, Shown, Spend, investigation::Case,
};
use hob_words::{NamedIssue, ReviewBrief, for_the_agent};
use hob_workspace::{Checkout, UnfitWork};
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::{
    attempt::{
        active_profile::ActiveProfiles, candidate_notes::CandidateNotes, check_job::CheckJob, hearings::Hearings,
        reviews::Reviews, runs_made::FourRuns,
    },
    held_issue::HeldIssue,
};

/// The inputs and the state of one attempt's work.
pub(super) struct Job<'a> {
    pub(super) held: &'a HeldIssue,
    /// The purpose of its runs.
    pub(super) purpose: RunPurpose,
    pub(super) rules: RepositorySettings,
    /// The investigated case; `None` if the work is a change.
    pub(super) case: Option<Case>,
    /// The available profiles; empty if no profile works.
    pub(super) catalog: Catalog,
    /// The profile or agent that works now.
    pub(super) active: ActiveProfiles,
    pub(super) checkout: Checkout,
    /// The text about work that passed its checks in an earlier attempt and could not be published then; `None` if
    /// there is none.
    pub(super) proven: Option<ChangeText>,
    /// The work that could not go to the branch before, as the forge had it at the start of the attempt.
    pub(super) kept: Option<Sha>,
    /// The branch that the work starts from and goes to.
    pub(super) base: BaseChoice,
    /// The tip of the base branch when the attempt began.
    pub(super) base_tip: Sha,
    pub(super) comments: Vec<(Login, String)>,
    /// The newest comment on the issue when these were read.
    pub(super) briefed: CommentId,
    /// The words that sent finished work back.
    pub(super) hearings: Mutex<Hearings>,
    /// The issues and pull requests that people named in an answer or in review.
    pub(super) named: Vec<NamedIssue>,
    /// The images of the issue and of those comments; empty if no model would see them.
    pub(super) images: Vec<Image>,
    /// The feedback from the pull request, if this is a round in review.
    pub(super) review: ReviewBrief,
    /// The commits of people on the branch since the last round.
    pub(super) pushed_by_people: Vec<PersonsCommit>,
    pub(super) run: RunId,
    pub(super) limits: AttemptLimits,
    /// The checks on the commit that the work starts from; set when they have run.
    pub(super) base_checks: OnceLock<Vec<CheckResult>>,
    /// What the runs between base and head showed of a commit; `None` if they were not made yet.
    pub(super) shown: Mutex<Option<(Sha, FourRuns)>>,
    /// What else a person should see first of the work so far.
    pub(super) notable: Mutex<Notable>,
    /// Facts about the repository from earlier work, one a line.
    pub(super) memory: Vec<String>,
    /// Facts about the repository from this attempt.
    pub(super) lessons: Mutex<Lessons>,
    /// The reviewer's findings on its work so far.
    pub(super) reviews: Mutex<Reviews>,
    /// What it notes of its candidates.
    pub(super) candidates: Mutex<CandidateNotes>,
    /// Why the agent's work could not be committed, in the words of the report.
    pub(super) unfit: Mutex<Option<UnfitWork>>,
    /// The branch's tip on the server, as far as this attempt knows.
    pub(super) pushed: Mutex<Option<Sha>>,
}

/// The limits of an attempt.
#[derive(Debug, Clone, Copy)]
pub(super) struct AttemptLimits {
    pub(super) allowance: Allowance,
    /// When its time is over.
    pub(super) ends: Instant,
    /// The issue's bill when the attempt began.
    pub(super) began: Spend,
}

impl Job<'_> {
    pub(super) fn number(&self) -> IssueNumber {
        self.held.issue.number
    }

    /// Whether its runs only read.
    pub(super) fn only_reads(&self) -> bool {
        self.purpose.only_reads()
    }

    /// The checks that fail on the commit that the work starts from.
    pub(super) fn red_base(&self) -> Vec<CheckResult> {
        self.base_checks.get().into_iter().flatten().filter(|check| check.failed()).cloned().collect()
    }

    /// How long each check took that passed there.
    pub(super) fn checks_took(&self) -> BTreeMap<String, Duration> {
        let passed = self.base_checks.get().into_iter().flatten().filter(|check| check.passed());
        passed.map(|check| (check.command.clone(), Duration::from_secs(check.seconds))).collect()
    }

    /// All comments by authorized accounts, also those that came meanwhile.
    pub(super) fn comments_so_far(&self) -> Vec<(Login, String)> {
        let said = self.held.steering.said().into_iter().filter(|said| said.comment > self.briefed);
        self.comments.iter().cloned().chain(said.map(|said| (said.author, said.body))).collect()
    }

    /// What the runs between base and head showed of the work so far.
    pub(super) fn shown(&self) -> Option<Shown> {
        self.shown.lock().as_ref().map(|(_, runs)| runs.shown.clone())
    }

    /// What the agent is told once about the work so far.
    pub(super) fn for_the_agent(&self) -> Option<String> {
        for_the_agent(&self.shown()?, &self.notable.lock())
    }

    /// The reviewer's findings that the author has to address, also those of an earlier attempt.
    pub(super) fn findings(&self) -> Vec<Finding> {
        self.held.lease.record().work.findings
    }

    pub(super) fn with_reviews<T>(&self, of: impl FnOnce(&mut Reviews) -> T) -> T {
        of(&mut self.reviews.lock())
    }

    /// Whether work in the folder is in no commit and was not made by tools.
    pub(super) fn has_lost_work(&self) -> bool {
        self.checkout.left_out().iter().any(LeftOut::is_lost)
    }

    /// Why its work could not be committed, at the last try.
    pub(super) fn unfit(&self) -> Option<UnfitWork> {
        self.unfit.lock().clone()
    }

    /// Notes why its work could not be committed, or that it was; returns what was noted before.
    pub(super) fn note_unfit(&self, unfit: Option<UnfitWork>) -> Option<UnfitWork> {
        std::mem::replace(&mut *self.unfit.lock(), unfit)
    }

    /// What its checks are run for.
    pub(super) fn checks(&self) -> CheckJob<'_> {
        CheckJob {
            issue: self.number(),
            rules: &self.rules,
            checkout: &self.checkout,
            lessons: &self.lessons,
            base_runs: self.held.base_runs(),
        }
    }

    /// The facts about the repository that the attempt found so far.
    pub(super) fn learned(&self) -> Lessons {
        self.lessons.lock().clone()
    }

    /// The branch's tip on the server.
    pub(super) fn pushed(&self) -> Option<Sha> {
        self.pushed.lock().clone()
    }

    pub(super) fn note_pushed(&self, head: Sha) {
        *self.pushed.lock() = Some(head);
    }
}
