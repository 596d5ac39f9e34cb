//! Check runs and commit statuses, and their combined state.

use super::{
    super::{
        super::{
            merge_state::is_required,
            moods::Mood,
            refusal::Refusal,
            state::{CheckRun, CommitStatus, Pull, Repository},
            users::{AccountKind, Role, TokenKind},
            wire::{node_id, time},
        },
        object::{Args, At, Object, Out, Resolved, made, unresolved},
        page::connection_with,
        problem::Problem,
    },
    account::actor,
    suite::{annotations, steps, suite, suites},
};

pub(super) const DESCRIPTION: &str = r"
type StatusCheckRollup { commit: Commit contexts: StatusCheckRollupContextConnection! state: StatusState! }
union StatusCheckRollupContext = CheckRun | StatusContext
type StatusCheckRollupContextConnection {
    checkRunCount: Int!
    checkRunCountsByState: [CheckRunStateCount!]
    edges: [StatusCheckRollupContextEdge]
    nodes: [StatusCheckRollupContext]
    pageInfo: PageInfo!
    statusContextCount: Int!
    statusContextCountsByState: [StatusContextStateCount!]
    totalCount: Int!
}
type CheckRunStateCount { count: Int! state: CheckRunState! }
type StatusContextStateCount { count: Int! state: StatusState! }
type CheckRun implements Node & UniformResourceLocatable {
    annotations: CheckAnnotationConnection
    checkSuite: CheckSuite!
    completedAt: DateTime
    conclusion: CheckConclusionState
    databaseId: Int
    detailsUrl: URI
    externalId: String
    id: ID!
    isRequired(pullRequestId: ID, pullRequestNumber: Int): Boolean!
    name: String!
    permalink: URI!
    repository: Repository!
    resourcePath: URI!
    startedAt: DateTime
    status: CheckStatusState!
    steps(number: Int): CheckStepConnection
    summary: String
    text: String
    title: String
    url: URI!
}
type StatusContext implements Node {
    commit: Commit
    context: String!
    createdAt: DateTime!
    creator: Actor
    description: String
    id: ID!
    isRequired(pullRequestId: ID, pullRequestNumber: Int): Boolean!
    state: StatusState!
    targetUrl: URI
}
enum StatusState { ERROR EXPECTED FAILURE PENDING SUCCESS }
enum CheckStatusState { COMPLETED IN_PROGRESS PENDING QUEUED REQUESTED WAITING }
enum CheckConclusionState {
    ACTION_REQUIRED CANCELLED FAILURE NEUTRAL SKIPPED STALE STARTUP_FAILURE SUCCESS TIMED_OUT
}
enum CheckRunState {
    ACTION_REQUIRED CANCELLED COMPLETED FAILURE IN_PROGRESS NEUTRAL PENDING QUEUED SKIPPED STALE STARTUP_FAILURE SUCCESS
    TIMED_OUT WAITING
}
";

/// The newest check run of each name in a suite and the newest status of each context.
struct Rollup<'s> {
    repo: &'s Repository,
    sha: String,
    runs: Vec<&'s CheckRun>,
    statuses: Vec<&'s CommitStatus>,
}

/// The combined state of a commit's checks; `null` if it has none. By the mood `hidden-checks`, all of it is refused
/// for some commits, drawn, and for the others each check run.
pub(super) fn rollup<'s>(at: &At<'s>, repo: &'s Repository, sha: &str) -> Out<'s> {
    let (mut runs, mut statuses) = (repo.latest_checks(sha), repo.latest_statuses(sha));
    runs.reverse();
    statuses.reverse();
    if runs.is_empty() && statuses.is_empty() {
        return Out::Null;
    }
    let whole = || at.call.forge.temper.always_hits(Mood::HiddenChecks, sha);
    if let Some(problem) = hidden(at, repo).filter(|_| whole().is_some()) {
        return Out::Refused(problem);
    }
    Out::object(Rollup { repo, sha: sha.to_owned(), runs, statuses })
}

/// A check run's state in one word: its conclusion, or its status.
fn state_of(run: &CheckRun) -> String {
    run.conclusion.as_ref().unwrap_or(&run.status).to_uppercase()
}

impl Rollup<'_> {
    fn state(&self) -> &'static str {
        let words = self.runs.iter().map(|run| state_of(run));
        let words: Vec<String> = words.chain(self.statuses.iter().map(|status| status.state.to_uppercase())).collect();
        let any = |of: &[&str]| words.iter().any(|word| of.contains(&word.as_str()));
        if any(&["ERROR"]) {
            "ERROR"
        } else if any(&["FAILURE", "TIMED_OUT", "CANCELLED", "ACTION_REQUIRED", "STARTUP_FAILURE"]) {
            "FAILURE"
        } else if any(&["PENDING", "QUEUED", "IN_PROGRESS", "REQUESTED", "WAITING", "STALE"]) {
            "PENDING"
        } else {
            "SUCCESS"
        }
    }
}

impl<'s> Object<'s> for Rollup<'s> {
    fn kind(&self) -> &str {
        "StatusCheckRollup"
    }

    fn field(&self, at: &At<'s>, name: &str, args: &Args) -> Resolved<'s> {
        Ok(match name {
            "commit" => Out::Node(node_id("Commit", &self.sha)),
            "contexts" => {
                let runs = self.runs.iter().map(|run| (run.id, run_of(at, self.repo, run)));
                let statuses = self.statuses.iter().map(|status| (status.id, status_of(self.repo, status)));
                let more = vec![
                    ("checkRunCount", Out::leaf(self.runs.len())),
                    ("statusContextCount", Out::leaf(self.statuses.len())),
                    ("checkRunCountsByState", counts("CheckRunStateCount", self.runs.iter().map(|run| state_of(run)))),
                    (
                        "statusContextCountsByState",
                        counts("StatusContextStateCount", self.statuses.iter().map(|s| s.state.to_uppercase())),
                    ),
                ];
                connection_with("StatusCheckRollupContextConnection", args, runs.chain(statuses), more)
            }
            "state" => Out::leaf(self.state()),
            _ => return unresolved("StatusCheckRollup", name),
        })
    }
}

fn counts<'s>(kind: &'static str, states: impl Iterator<Item = String>) -> Out<'s> {
    let mut found = std::collections::BTreeMap::<String, usize>::new();
    for state in states {
        *found.entry(state).or_default() += 1;
    }
    let count =
        |(state, count): (String, usize)| made(kind, [("count", Out::leaf(count)), ("state", Out::leaf(state))]);
    Out::List(found.into_iter().map(count).collect())
}

/// A check run, if the caller's token can have the permission to see it. GitHub refuses only the check run, and not the
/// counts and the combined state: <https://github.com/kirodotdev/KiroCrew/pull/4830>.
pub(super) fn run_of<'s>(at: &At<'s>, repo: &'s Repository, run: &'s CheckRun) -> Out<'s> {
    match hidden(at, repo) {
        Some(problem) => Out::Refused(problem),
        None => Out::object(RunNode { repo, run }),
    }
}

/// The check suites of a commit, if the caller's token can have the permission to see them.
pub(super) fn suites_of<'s>(at: &At<'s>, args: &Args, repo: &'s Repository, sha: &str) -> Out<'s> {
    hidden(at, repo).map_or_else(|| suites(at, args, repo, sha), Out::Refused)
}

/// Why check runs are hidden from the caller, if they are.
fn hidden(at: &At<'_>, repo: &Repository) -> Option<Problem> {
    let call = at.call;
    let by_mood = call.forge.temper.is(Mood::HiddenChecks) && at.role(repo) < Role::Admin;
    let is_person = call.caller.as_ref().and_then(|login| at.state.accounts.get(login.as_str()));
    let is_person = call.grant.is_none() && is_person.is_some_and(|account| account.kind == AccountKind::User);
    match call.token {
        TokenKind::FineGrained => Some(Refusal::personal().into()),
        TokenKind::Classic | TokenKind::Job if by_mood && is_person => Some(Refusal::personal().into()),
        TokenKind::Classic | TokenKind::Job if by_mood => Some(Refusal::integration().into()),
        TokenKind::Classic | TokenKind::Job => None,
    }
}

/// A commit status.
pub(super) fn status_of<'s>(repo: &'s Repository, status: &'s CommitStatus) -> Out<'s> {
    Out::object(StatusNode { repo, status })
}

/// The base branch of the pull request that the arguments name.
fn asked_about<'s>(repo: &'s Repository, args: &Args) -> Option<&'s str> {
    let number = args.int("pullRequestNumber").and_then(|number| u64::try_from(number).ok());
    let id = args.text("pullRequestId");
    let mut pulls = repo.issues.values().filter_map(|issue| Some((issue.number, issue.pull.as_ref()?)));
    let asked = |pull: &Pull| id.is_some_and(|id| id == node_id("PullRequest", pull.id));
    pulls.find(|(known, pull)| Some(*known) == number || asked(pull)).map(|(_, pull)| pull.base_ref.as_str())
}

struct RunNode<'s> {
    repo: &'s Repository,
    run: &'s CheckRun,
}

impl<'s> Object<'s> for RunNode<'s> {
    fn kind(&self) -> &str {
        "CheckRun"
    }

    fn field(&self, at: &At<'s>, name: &str, args: &Args) -> Resolved<'s> {
        let run = self.run;
        let below = match &run.job {
            Some(job) => format!("/actions/runs/{}/job/{}", job.run, run.id),
            None => format!("/runs/{}", run.id),
        };
        let repository = || Out::Node(node_id("Repository", self.repo.id));
        Ok(match name {
            "annotations" => annotations(at, args, self.repo, run),
            "checkSuite" => {
                let of = self.repo.suites(&run.sha).into_iter().find(|suite| suite.id == run.suite);
                of.map_or(Out::Null, |of| suite(at, self.repo, &of))
            }
            "completedAt" => Out::leaf(run.completed_at.as_deref()),
            "conclusion" => Out::leaf(run.conclusion.as_ref().map(|conclusion| conclusion.to_uppercase())),
            "databaseId" => Out::leaf(run.id),
            "detailsUrl" => Out::leaf(run.details_url.clone().unwrap_or_else(|| at.page(self.repo, &below))),
            "externalId" => Out::leaf(run.external_id.as_deref()),
            "id" => Out::leaf(node_id("CheckRun", run.id)),
            "isRequired" => {
                let app = run.app.as_ref().map(|app| app.id);
                Out::leaf(asked_about(self.repo, args).is_some_and(|base| is_required(self.repo, base, &run.name, app)))
            }
            "name" => Out::leaf(run.name.as_str()),
            "permalink" | "url" => Out::leaf(at.page(self.repo, &below)),
            "repository" => repository(),
            "resourcePath" => Out::leaf(format!("/{}{below}", self.repo.name)),
            "startedAt" => Out::leaf(run.started_at.as_deref()),
            "status" => Out::leaf(run.status.to_uppercase()),
            "steps" => steps(args, run),
            "summary" => Out::leaf(run.summary.as_deref()),
            "text" => Out::leaf(run.text.as_deref()),
            "title" => Out::leaf(run.title.as_deref()),
            _ => return unresolved("CheckRun", name),
        })
    }
}

struct StatusNode<'s> {
    repo: &'s Repository,
    status: &'s CommitStatus,
}

impl<'s> Object<'s> for StatusNode<'s> {
    fn kind(&self) -> &str {
        "StatusContext"
    }

    fn field(&self, at: &At<'s>, name: &str, args: &Args) -> Resolved<'s> {
        let status = self.status;
        Ok(match name {
            "commit" => Out::Node(node_id("Commit", &status.sha)),
            "context" => Out::leaf(status.context.as_str()),
            "createdAt" => Out::leaf(time(status.at)),
            "creator" => actor(at, &status.creator),
            "description" => Out::leaf(status.description.as_deref()),
            "id" => Out::leaf(node_id("StatusContext", status.id)),
            "isRequired" => {
                let base = asked_about(self.repo, args);
                Out::leaf(base.is_some_and(|base| is_required(self.repo, base, &status.context, status.app)))
            }
            "state" => Out::leaf(status.state.to_uppercase()),
            "targetUrl" => Out::leaf(status.target_url.as_deref()),
            _ => return unresolved("StatusContext", name),
        })
    }
}
