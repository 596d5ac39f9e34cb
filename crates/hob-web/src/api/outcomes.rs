//! Outcomes for programs: what `hob outcomes --json` prints, and what the API answers from memory.

use axum::{
    Json,
    extract::{Query, State},
    response::{IntoResponse, Response},
};
use hob_domain::{IssueOutcome, OutcomeGroup, Outcomes, RepoName, Spend, Timestamp, Word, by_group};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{
    api::{issues::is_wanted, problem::Problem},
    shared::Shared,
};

/// Outcomes, in all and by group.
#[derive(Debug, Serialize, ToSchema)]
pub struct GroupedOutcomes {
    /// The sums of all.
    pub total: OutcomeSums,
    /// What they are grouped by.
    pub by: String,
    /// The sums of each group.
    pub groups: Vec<OutcomeSums>,
    /// Each issue.
    pub issues: Vec<OutcomeView>,
}

/// Sums.
#[derive(Debug, Serialize, ToSchema)]
pub struct OutcomeSums {
    /// The group; absent in the total, `null` where the ledger does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Option<String>>,
    /// Issues that were worked on.
    pub issues: usize,
    pub pull_requests: usize,
    pub merged: usize,
    pub rejected: usize,
    pub waiting: usize,
    pub blocked: usize,
    pub under_way: usize,
    pub ended: usize,
    /// Of the pull requests that were merged or closed, from 0 to 1.
    pub merged_share: Option<f64>,
    pub zero_touch: usize,
    pub rounds: u64,
    /// What proofs say.
    pub words: Vec<WordCount>,
    pub spend: SpendView,
    pub usd_per_merged: Option<f64>,
    pub quoted: usize,
    pub within_quote: usize,
    pub median_merge_seconds: Option<u64>,
    pub oldest_waiting_seconds: Option<i64>,
}

/// How many proofs say this.
#[derive(Debug, Serialize, ToSchema)]
pub struct WordCount {
    pub word: String,
    pub pull_requests: usize,
}

/// What was spent.
#[derive(Debug, Serialize, ToSchema)]
pub struct SpendView {
    /// Millionths of a US dollar.
    pub usd_micros: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub wall_seconds: u64,
}

/// The outcome of one issue.
#[derive(Debug, Serialize, ToSchema)]
pub struct OutcomeView {
    /// `OWNER/NAME`.
    pub repo: String,
    pub issue: u64,
    /// `merged`, `rejected`, `waiting`, `blocked`, `under-way` or `ended`.
    #[schema(value_type = String)]
    pub outcome: hob_domain::OutcomeKind,
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    pub pull_request: Option<u64>,
    pub merge_seconds: Option<u64>,
    pub agent: Option<String>,
    pub model: Option<String>,
    pub profile: Option<String>,
    pub labels: Vec<String>,
    /// Such as `2026-W48`.
    pub week: String,
    /// What the proof says, by its name.
    pub word: Option<String>,
    pub rounds: u32,
    pub zero_touch: bool,
    pub spend: SpendView,
    pub quote: Option<QuoteView>,
    pub within_quote: Option<bool>,
}

/// What it was said to cost before.
#[derive(Debug, Serialize, ToSchema)]
pub struct QuoteView {
    /// Millionths of a US dollar: one in ten costs less.
    pub low: u64,
    /// One in ten costs more.
    pub high: u64,
    /// The like issues that it is from.
    pub of: usize,
}

/// What outcomes are grouped by, in a word.
pub fn group_name(group: OutcomeGroup) -> &'static str {
    match group {
        OutcomeGroup::Agent => "agent",
        OutcomeGroup::Model => "model",
        OutcomeGroup::Profile => "profile",
        OutcomeGroup::Label => "label",
        OutcomeGroup::Week => "week",
    }
}

/// The outcomes of these issues, grouped.
pub fn grouped(all: &[(RepoName, IssueOutcome)], group: OutcomeGroup, now: Timestamp) -> GroupedOutcomes {
    let outcomes: Vec<IssueOutcome> = all.iter().map(|(_, outcome)| outcome.clone()).collect();
    let groups = by_group(&outcomes, group);
    GroupedOutcomes {
        total: OutcomeSums::new(None, &Outcomes::of(&outcomes), now),
        by: group_name(group).to_owned(),
        groups: groups.into_iter().map(|(name, sum)| OutcomeSums::new(Some(name), &sum, now)).collect(),
        issues: all.iter().map(|(repo, outcome)| OutcomeView::new(repo, outcome)).collect(),
    }
}

impl OutcomeSums {
    fn new(name: Option<Option<String>>, sum: &Outcomes, now: Timestamp) -> Self {
        let words = sum.words.iter();
        Self {
            name,
            issues: sum.issues,
            pull_requests: sum.pull_requests(),
            merged: sum.merged,
            rejected: sum.rejected,
            waiting: sum.waiting,
            blocked: sum.blocked,
            under_way: sum.under_way,
            ended: sum.ended,
            merged_share: sum.merged_share(),
            zero_touch: sum.zero_touch,
            rounds: sum.rounds,
            words: words.map(|(word, count)| WordCount { word: (*word).to_owned(), pull_requests: *count }).collect(),
            spend: SpendView::from(sum.spend),
            usd_per_merged: sum.usd_per_merged(),
            quoted: sum.quoted,
            within_quote: sum.within_quote,
            median_merge_seconds: sum.median_merge_seconds(),
            oldest_waiting_seconds: sum.waiting_since.map(|since| (now - since).num_seconds().max(0)),
        }
    }
}

impl OutcomeView {
    fn new(repo: &RepoName, outcome: &IssueOutcome) -> Self {
        Self {
            repo: repo.to_string(),
            issue: outcome.issue.0,
            outcome: outcome.kind,
            at: outcome.at,
            pull_request: outcome.pull.map(|pull| pull.0),
            merge_seconds: outcome.merge_seconds,
            agent: outcome.agent.clone(),
            model: outcome.model.clone(),
            profile: outcome.profile.clone(),
            labels: outcome.labels.clone(),
            week: outcome.week(),
            word: outcome.word.as_ref().map(Word::name).map(str::to_owned),
            rounds: outcome.rounds,
            zero_touch: outcome.is_zero_touch,
            spend: SpendView::from(outcome.spend),
            quote: outcome.quote.map(|quote| QuoteView { low: quote.low, high: quote.high, of: quote.of }),
            within_quote: outcome.is_within_quote(),
        }
    }
}

impl From<Spend> for SpendView {
    fn from(Spend { usd_micros, input_tokens, output_tokens, wall_seconds }: Spend) -> Self {
        Self { usd_micros, input_tokens, output_tokens, wall_seconds }
    }
}

/// Which outcomes.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub(super) struct Wanted {
    /// Of this repository alone, `OWNER/NAME`.
    repo: Option<String>,
    /// What they are grouped by: `agent`, `model`, `profile`, `label` or `week`.
    by: Option<String>,
}

/// What came of the work on each issue, by the ledgers that this process has read: all of them after the first poll.
#[utoipa::path(
    get,
    path = "/api/v1/outcomes",
    params(Wanted),
    responses((status = 200, body = GroupedOutcomes), (status = 400, body = Problem)),
)]
pub(super) async fn get(State(shared): State<Shared>, Query(wanted): Query<Wanted>) -> Response {
    let group = match wanted.by.as_deref() {
        None | Some("agent") => OutcomeGroup::Agent,
        Some("model") => OutcomeGroup::Model,
        Some("profile") => OutcomeGroup::Profile,
        Some("label") => OutcomeGroup::Label,
        Some("week") => OutcomeGroup::Week,
        Some(_) => {
            let message = "`by` is `agent`, `model`, `profile`, `label` or `week`";
            return Problem::answer(StatusCode::BAD_REQUEST, message);
        }
    };
    let all = outcomes_of(&shared, wanted.repo.as_deref());
    Json(grouped(&all, group, shared.known.now().unwrap_or_default())).into_response()
}

/// The outcomes of a repository, or of all.
pub(crate) fn outcomes_of(shared: &Shared, repo: Option<&str>) -> Vec<(RepoName, IssueOutcome)> {
    let all = shared.known.repositories();
    all.iter()
        .filter(|(name, _)| is_wanted(name, repo))
        .flat_map(|(name, known)| known.outcomes.values().map(|outcome| (name.clone(), outcome.clone())))
        .collect()
}
