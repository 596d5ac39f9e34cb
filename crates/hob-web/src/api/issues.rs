//! Issues: the list, and one with all that is known of it.

use axum::{
    Json,
    extract::{Path, Query, State},
    response::{IntoResponse, Response},
};
use hob_domain::{
    BlockCode, BlockKind, CheckExit, IssueNumber, Proposed, Record, RepoName, RunEnd, State as IssueState, Statement,
    Timestamp,
};
use hob_text::{count, terminal};
use hob_words::{how_to_answer, likely_cost, status_line, word_of};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use crate::{
    api::{deed::Deed, problem::Problem},
    known::{At, Entry, KnownIssue, Log, Repository, Said},
    shared::Shared,
};

/// Issues of one answer.
const PART: usize = 50;
/// The most of one answer.
const PART_MAX: usize = 200;
/// Lines of one answer.
const LINES: usize = 200;

/// An issue, as lists show it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct IssueView {
    /// `OWNER/NAME`.
    pub(crate) repo: String,
    pub(crate) issue: u64,
    /// Empty if it is not known yet.
    pub(crate) title: String,
    /// Its page on the forge.
    pub(crate) url: String,
    /// `ready`, `assigned`, `in-progress`, `in-review`, `blocked` or `done`.
    pub(crate) state: String,
    #[schema(value_type = String, format = DateTime)]
    pub(crate) since: Timestamp,
    /// What would be done about it, or why nothing. `null` if it moved since the last poll.
    pub(crate) why: Option<String>,
    /// Its place among those that the next free job takes, from 1.
    pub(crate) place: Option<usize>,
    /// What it asks of a person: `question`, `approval`, `plan`, `trouble` or `review`. `null` if it waits for nobody.
    pub(crate) needs: Option<&'static str>,
    /// What happened, if it is blocked.
    pub(crate) reason: Option<String>,
    /// The question to a person.
    pub(crate) question: Option<String>,
    /// How the question is answered.
    pub(crate) answer: Option<String>,
    /// Its pull request.
    pub(crate) pull_request: Option<u64>,
    /// What the proof of the pull request says, in a few words.
    pub(crate) proof: Option<&'static str>,
    /// The attempt, from 1. 0 if there was none.
    pub(crate) attempt: u32,
    /// Rounds in review.
    pub(crate) rounds: u32,
    /// What it has cost, in US dollars.
    pub(crate) usd: f64,
    pub(crate) tokens: u64,
    /// The most that it may cost, in US dollars. `null` if there is no limit.
    pub(crate) usd_max: Option<f64>,
    /// The agents' and checks' time so far, in seconds.
    pub(crate) seconds: u64,
    /// The most of that. `null` if there is no limit.
    pub(crate) seconds_max: Option<u64>,
    /// The agent or profile that works on it, or did.
    pub(crate) agent: Option<String>,
    pub(crate) model: Option<String>,
    /// Who paused it.
    pub(crate) paused_by: Option<String>,
    /// How far the attempt of this process is, in percent.
    pub(crate) percent: Option<u64>,
    /// What it does now, of an attempt of this process.
    pub(crate) doing: Option<String>,
    /// What can be asked for. Nothing, where there is no token.
    pub(crate) deeds: Vec<Deed>,
}

/// One issue, with what only its own page shows.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct OneIssue {
    #[serde(flatten)]
    pub(crate) issue: IssueView,
    /// What the proof says, one or two sentences.
    pub(crate) proof_says: Option<String>,
    /// The four runs of the checks.
    pub(crate) runs: Vec<RunView>,
    /// The last output of what failed, if it is blocked by that.
    pub(crate) output: Vec<OutputView>,
    /// What it probably costs, or did, and the most that it may.
    pub(crate) cost: Option<String>,
    /// The action that waits for approval: the tool, and exactly what it would do.
    pub(crate) action: Option<ActionView>,
    /// The plan that waits for approval, as text.
    pub(crate) plan: Option<String>,
    /// The moves that this process saw, the oldest first.
    pub(crate) moves: Vec<MoveView>,
    /// The last events, the newest first.
    pub(crate) lines: Vec<LineView>,
    /// The number to ask for earlier ones with, as `before`.
    pub(crate) earlier: Option<u64>,
    /// The newest record of its ledger, in the form of `docs/json.md`.
    pub(crate) record: Option<Value>,
}

/// One run of the checks.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct RunView {
    /// `base`, `head`, `needed` or `kept`.
    pub(crate) on: &'static str,
    /// How it ended, in a few words.
    pub(crate) says: String,
}

/// The last output of a check or a step.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct OutputView {
    pub(crate) of: String,
    pub(crate) text: String,
}

/// An action that waits for approval.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ActionView {
    pub(crate) tool: String,
    pub(crate) text: String,
}

/// A move.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct MoveView {
    pub(crate) state: String,
    #[schema(value_type = String, format = DateTime)]
    pub(crate) at: Timestamp,
    /// Empty if it is not known.
    pub(crate) why: String,
}

/// An event, as a line.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct LineView {
    pub(crate) number: u64,
    /// By the clock of this machine.
    pub(crate) time: String,
    pub(crate) text: String,
}

/// Which issues.
#[derive(Debug, Default, Clone, Deserialize, Serialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub(crate) struct Filter {
    /// Of this repository alone, `OWNER/NAME`.
    pub(crate) repo: Option<String>,
    /// In this state alone.
    pub(crate) state: Option<String>,
    /// That need this of a person alone: `question`, `approval`, `plan`, `trouble`, `review`, or `any` of them.
    pub(crate) needs: Option<String>,
    /// Those after this one: the `next` of the part before.
    pub(crate) after: Option<String>,
    /// Only so many, at most 200.
    pub(crate) limit: Option<usize>,
}

/// A part of a list.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Part {
    /// Those that wait for longest first.
    pub(crate) issues: Vec<IssueView>,
    /// What to ask for the next part with, as `after`. `null` if this is the last one.
    pub(crate) next: Option<String>,
    /// How many there are in all parts.
    pub(crate) all: usize,
}

/// Where a part begins: lists are by time and then by name, and nothing is counted, so that nobody is lost between two parts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    since: Timestamp,
    at: At,
}

/// The issues that this process knows and that are not over, those first that wait for longest.
#[utoipa::path(get, path = "/api/v1/issues", params(Filter), responses((status = 200, body = Part), (status = 400, body = Problem)))]
pub(super) async fn get(State(shared): State<Shared>, Query(filter): Query<Filter>) -> Response {
    match issues(&shared, &filter) {
        Some(part) => Json(part).into_response(),
        None => Problem::answer(StatusCode::BAD_REQUEST, "`after` is not the `next` of a part"),
    }
}

/// One issue: its question, plan or action, what its checks show, its moves and its last lines.
#[utoipa::path(
    get,
    path = "/api/v1/issues/{owner}/{name}/{issue}",
    params(("owner" = String, Path), ("name" = String, Path), ("issue" = u64, Path), Before),
    responses((status = 200, body = OneIssue), (status = 404, body = Problem)),
)]
pub(super) async fn get_one(
    State(shared): State<Shared>,
    Path((owner, name, issue)): Path<(String, String, u64)>,
    Query(before): Query<Before>,
) -> Response {
    let found =
        format!("{owner}/{name}").parse().ok().and_then(|repo| one(&shared, &repo, IssueNumber(issue), before.before));
    match found {
        Some(one) => Json(one).into_response(),
        None => Problem::answer(StatusCode::NOT_FOUND, "no such issue is known here: it is over, or not Hob's"),
    }
}

/// Which lines.
#[derive(Debug, Default, Clone, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub(crate) struct Before {
    /// Lines before this number.
    pub(crate) before: Option<u64>,
}

/// The issues of this filter. `None` if it does not say where to begin.
pub(crate) fn issues(shared: &Shared, filter: &Filter) -> Option<Part> {
    let after = match filter.after.as_deref() {
        Some(text) => Some(Key::read(text)?),
        None => None,
    };
    let all = shared.known.repositories();
    let mut found: Vec<(Key, &Repository, &KnownIssue)> = Vec::new();
    for (repo, known) in all.iter().filter(|(repo, _)| filter.is_of(repo)) {
        for (number, issue) in known.issues.iter().filter(|(_, issue)| filter.takes(issue)) {
            let at = At { repo: repo.clone(), issue: *number };
            found.push((Key { since: issue.since(), at }, known, issue));
        }
    }
    found.sort_unstable_by(|(a, ..), (b, ..)| a.cmp(b));
    let number = found.len();
    let limit = filter.limit.unwrap_or(PART).clamp(1, PART_MAX);
    let begins = found.partition_point(|(key, ..)| after.as_ref().is_some_and(|after| key <= after));
    let shown = &found[begins..number.min(begins + limit)];
    let next = shown.last().filter(|_| begins + limit < number).map(|(key, ..)| key.text());
    let (log, may_write) = (shared.known.log(), shared.access.has_token());
    let issues = shown.iter().map(|(key, known, issue)| view(&key.at, known, issue, &log, may_write)).collect();
    Some(Part { issues, next, all: number })
}

/// One issue, with its lines before a number. `None` if it is not known.
pub(crate) fn one(shared: &Shared, repo: &RepoName, number: IssueNumber, before: Option<u64>) -> Option<OneIssue> {
    let all = shared.known.repositories();
    let (repo, known) = all.iter().find(|(known, _)| known.is(repo))?;
    let issue = known.issues.get(&number)?;
    let log = shared.known.log();
    let issue_view = view(&At { repo: repo.clone(), issue: number }, known, issue, &log, shared.access.has_token());
    let is_before = |number: u64| before.is_none_or(|before| number < before);
    let mut lines: Vec<LineView> = log
        .of(repo, number)
        .filter(|entry| is_before(entry.number))
        .take(LINES + 1)
        .map(|entry| (entry.number, entry.read()))
        .map(|(number, said)| LineView {
            number,
            time: said.text("time").to_owned(),
            text: terminal(said.text("message")),
        })
        .collect();
    let has_more = lines.len() > LINES;
    lines.truncate(LINES);
    let record = issue.record.as_ref();
    let proof = record.and_then(|record| record.work.proof.as_ref()).map(|proof| proof.statement());
    let budgets = known.worker.as_ref().map(|worker| worker.budgets());
    let blocked = record.and_then(|record| record.blocked.as_ref());
    let output = blocked.into_iter().flat_map(|blocked| &blocked.last);
    Some(OneIssue {
        issue: issue_view,
        proof_says: proof.map(|said| status_line(&said.predicate.shown)),
        runs: proof.map(runs).unwrap_or_default(),
        output: output.map(|last| OutputView { of: terminal(&last.command), text: terminal(&last.lines) }).collect(),
        cost: record.zip(budgets.as_ref()).and_then(|(record, budgets)| likely_cost(record, budgets)),
        action: record
            .and_then(Record::waiting_action)
            .map(|Proposed { tool, text, .. }| ActionView { tool: terminal(tool), text: terminal(text) }),
        plan: record.and_then(Record::waiting_plan).map(|plan| terminal(&plan.plain())),
        moves: issue
            .moves
            .iter()
            .map(|step| MoveView { state: step.state.to_string(), at: step.at, why: terminal(&step.why) })
            .collect(),
        earlier: lines.last().filter(|_| has_more).map(|line| line.number),
        lines,
        record: record.and_then(|record| serde_json::to_value(record).ok()),
    })
}

fn view(at: &At, known: &Repository, issue: &KnownIssue, log: &Log, may_write: bool) -> IssueView {
    let record = issue.record.as_ref();
    let worker = known.worker.as_ref();
    let budgets = worker.map(|worker| worker.budgets());
    let proof = record.and_then(|record| record.work.proof.as_ref()).map(|proof| &proof.statement().predicate);
    let by = record.and_then(|record| record.work.by.as_ref());
    let of_issue = budgets.as_ref().zip(record).map(|(budgets, record)| budgets.of_issue(&record.commands));
    let blocked =
        record.filter(|record| record.state == IssueState::Blocked).and_then(|record| record.blocked.as_ref());
    let state = issue.state();
    let now = matches!(state, IssueState::Assigned | IssueState::InProgress)
        .then(|| log.of(&at.repo, at.issue).next())
        .flatten()
        .map(Entry::read);
    let spend = record.map(|record| record.spend).unwrap_or_default();
    IssueView {
        repo: at.repo.to_string(),
        issue: at.issue.0,
        title: terminal(&issue.title),
        url: worker.map(|worker| format!("{}/issues/{}", worker.repo_url(), at.issue)).unwrap_or_default(),
        state: state.to_string(),
        since: issue.since(),
        why: issue.why.as_deref().map(terminal),
        place: issue.place,
        needs: needs(issue),
        reason: blocked.map(|blocked| terminal(&blocked.text)),
        question: blocked.map(|blocked| terminal(&blocked.question)),
        answer: record.zip(budgets.as_ref()).and_then(|(record, budgets)| how_to_answer(record, budgets)),
        pull_request: record.and_then(|record| record.pull.number).map(|pull| pull.0),
        proof: proof.and_then(|said| word_of(&said.shown)),
        attempt: record.map_or(0, |record| record.attempts.now),
        rounds: record.map_or(0, |record| record.review.begun),
        usd: spend.usd(),
        tokens: spend.tokens(),
        usd_max: of_issue.as_ref().and_then(|budget| budget.usd_micros).map(dollars),
        seconds: spend.wall_seconds,
        seconds_max: of_issue.as_ref().and_then(|budget| budget.wall_seconds),
        agent: by.map(|by| by.agent.clone()),
        model: by.and_then(|by| by.model.clone()),
        paused_by: record.and_then(Record::pause).map(|pause| pause.by.to_string()),
        percent: now.as_ref().and_then(Said::percent),
        doing: now.map(|said| terminal(said.text("message"))),
        deeds: record.filter(|_| may_write).map(deeds).unwrap_or_default(),
    }
}

/// US dollars.
#[expect(clippy::cast_precision_loss, reason = "what agents cost is far below 2^53 millionths")]
pub(crate) fn dollars(micros: u64) -> f64 {
    micros as f64 / 1e6
}

/// What the issue asks of a person.
fn needs(issue: &KnownIssue) -> Option<&'static str> {
    let record = issue.record.as_ref()?;
    match (record.state, &record.blocked) {
        (IssueState::InReview, _) => Some("review"),
        (IssueState::Blocked, Some(blocked)) if blocked.reason == BlockCode::PlanProposed => Some("plan"),
        (IssueState::Blocked, Some(blocked)) if blocked.reason.kind() == BlockKind::Approval => Some("approval"),
        (IssueState::Blocked, Some(blocked)) if blocked.reason == BlockCode::Question => Some("question"),
        (IssueState::Blocked, _) => Some("trouble"),
        (IssueState::Ready | IssueState::Assigned | IssueState::InProgress | IssueState::Done, _) => None,
    }
}

/// What can be asked for.
fn deeds(record: &Record) -> Vec<Deed> {
    let is_blocked = record.state == IssueState::Blocked;
    let waits = record.waiting_action().is_some() || record.waiting_plan().is_some();
    let is_paused = record.pause().is_some() || record.asks_for_a_pause();
    let may_pause = !is_paused && record.state != IssueState::Done;
    [
        (Deed::Approve, is_blocked && waits),
        (Deed::Answer, is_blocked),
        (Deed::Retry, is_blocked),
        (Deed::Pause, may_pause),
        (Deed::Resume, is_paused),
        (Deed::Cancel, record.state != IssueState::Done),
    ]
    .into_iter()
    .filter_map(|(deed, is_possible)| is_possible.then_some(deed))
    .collect()
}

fn runs(said: &Statement) -> Vec<RunView> {
    let runs = &said.predicate.runs;
    [("base", &runs.base), ("head", &runs.head), ("needed", &runs.needed), ("kept", &runs.kept)]
        .into_iter()
        .map(|(on, run)| RunView { on, says: run_says(&run.end) })
        .collect()
}

fn run_says(end: &RunEnd) -> String {
    match end {
        RunEnd::SameAsBase => "its tree is the base's".to_owned(),
        RunEnd::SameAsHead => "its tree is the head's".to_owned(),
        RunEnd::NotMade(_) => "not made".to_owned(),
        RunEnd::Made(made) => {
            let passed = made.checks.iter().filter(|check| check.exit == CheckExit::Passed).count();
            let mut says = format!("{passed} of {} passed", count(made.checks.len(), "check"));
            if let Some(first) = made.failed_tests.first() {
                says.push_str(&format!(
                    "; {} failed, such as {}",
                    count(made.failed_tests.len(), "test"),
                    terminal(first)
                ));
            }
            says
        }
    }
}

/// Whether a query's `repo`, if it has one, is this repository.
pub(crate) fn is_wanted(repo: &RepoName, wanted: Option<&str>) -> bool {
    let wanted = wanted.filter(|name| !name.is_empty());
    wanted.is_none_or(|name| name.parse().is_ok_and(|name| repo.is(&name)))
}

impl Filter {
    fn is_of(&self, repo: &RepoName) -> bool {
        is_wanted(repo, self.repo.as_deref())
    }

    fn takes(&self, issue: &KnownIssue) -> bool {
        let state = self.state.as_deref().filter(|state| !state.is_empty());
        let is_state = state.is_none_or(|state| issue.state().to_string() == state);
        is_state
            && match self.needs.as_deref() {
                None | Some("") => true,
                Some("any") => needs(issue).is_some(),
                Some(wanted) => needs(issue) == Some(wanted),
            }
    }
}

impl Key {
    fn text(&self) -> String {
        let At { repo, issue } = &self.at;
        format!("{},{repo},{issue}", self.since.timestamp_micros())
    }

    fn read(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, ',');
        let since = Timestamp::from_timestamp_micros(parts.next()?.parse().ok()?)?;
        let at = At { repo: parts.next()?.parse().ok()?, issue: IssueNumber(parts.next()?.parse().ok()?) };
        Some(Self { since, at })
    }
}
