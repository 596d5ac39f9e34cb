//! The state of the process: its repositories, quotas and jobs; and the sessions under way.

use axum::{Json, extract::State};
use hob_domain::{State as IssueState, Timestamp};
use hob_text::terminal;
use serde::Serialize;
use utoipa::ToSchema;

use crate::{api::issues::dollars, known::Repository, shared::Shared};

/// The process.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StateView {
    /// Hob's version.
    pub(crate) version: &'static str,
    /// The time by the forge's clock. `null` before the first good poll.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) now: Option<Timestamp>,
    /// Issues that this process works on at once.
    pub(crate) jobs: usize,
    /// Issues that any process works on now.
    pub(crate) running: usize,
    /// The tier of the sandbox of agents and checks. `null` before the first good poll.
    pub(crate) sandbox: Option<String>,
    /// What is left of the forge's quotas.
    pub(crate) rates: Vec<RateView>,
    pub(crate) repositories: Vec<RepositoryView>,
}

/// A quota.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RateView {
    pub(crate) resource: String,
    pub(crate) limit: u64,
    pub(crate) remaining: u64,
    #[schema(value_type = String, format = DateTime)]
    pub(crate) reset: Timestamp,
}

/// A repository.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RepositoryView {
    /// `OWNER/NAME`.
    pub(crate) repo: String,
    /// When it was last polled well.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) polled_at: Option<Timestamp>,
    /// Why the last poll failed, and what to do.
    pub(crate) failed: Option<String>,
    /// What keeps Hob from working there, a sentence each.
    pub(crate) trouble: Vec<String>,
    /// Issues that cannot be read.
    pub(crate) unreadable: Vec<UnreadableView>,
    /// Who paused it.
    pub(crate) paused_by: Option<String>,
    /// Why.
    pub(crate) paused_why: Option<String>,
    /// Services that failed attempts lately.
    pub(crate) services_down: Vec<String>,
    /// Today's spend, in US dollars, without reservations.
    pub(crate) usd_today: f64,
    /// The most of a day. `null` if there is no limit.
    pub(crate) usd_day_max: Option<f64>,
    /// Issues, by state.
    pub(crate) issues: Vec<StateCount>,
}

/// An issue that cannot be read.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UnreadableView {
    pub(crate) issue: u64,
    pub(crate) title: String,
    pub(crate) why: String,
}

/// Issues in a state.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StateCount {
    pub(crate) state: String,
    pub(crate) issues: usize,
}

/// The process: its repositories with what is wrong there, its jobs, and what is left of the forge's quotas.
#[utoipa::path(get, path = "/api/v1/state", responses((status = 200, body = StateView)))]
pub(super) async fn get(State(shared): State<Shared>) -> Json<StateView> {
    Json(state(&shared))
}

/// The state of the process.
pub(crate) fn state(shared: &Shared) -> StateView {
    let now = shared.known.now();
    let all = shared.known.repositories();
    // They share one connection and one sandbox.
    let worker = all.values().find_map(|known| known.worker.as_ref());
    let rates = worker.map(|worker| worker.forge().connection().rates()).unwrap_or_default();
    let is_running = |state: IssueState| matches!(state, IssueState::Assigned | IssueState::InProgress);
    StateView {
        version: env!("CARGO_PKG_VERSION"),
        now,
        jobs: shared.known.facts.jobs,
        running: all.values().flat_map(|known| known.issues.values()).filter(|issue| is_running(issue.state())).count(),
        sandbox: worker.map(|worker| worker.sandbox_tier().to_string()),
        rates: rates
            .into_iter()
            .map(|rate| RateView {
                resource: rate.resource,
                limit: rate.limit,
                remaining: rate.remaining,
                reset: rate.reset,
            })
            .collect(),
        repositories: all.iter().map(|(repo, known)| repository(repo.to_string(), known, now)).collect(),
    }
}

fn repository(repo: String, known: &Repository, now: Option<Timestamp>) -> RepositoryView {
    let record = known.record.as_ref();
    let paused = record.and_then(|record| record.paused.as_ref());
    let bill = record.zip(now).map(|(record, now)| record.day_bill(now)).unwrap_or_default();
    let day = known.worker.as_ref().map(|worker| worker.budgets().day);
    let states =
        [IssueState::Ready, IssueState::Assigned, IssueState::InProgress, IssueState::InReview, IssueState::Blocked];
    let down =
        record.into_iter().flat_map(|record| record.outages.open()).map(|outage| terminal(&outage.service)).collect();
    RepositoryView {
        repo,
        polled_at: known.polled_at,
        failed: known.failed.as_deref().map(terminal),
        trouble: known.trouble.iter().map(|trouble| terminal(trouble)).collect(),
        unreadable: known
            .unreadable
            .iter()
            .map(|(issue, (title, why))| UnreadableView { issue: issue.0, title: terminal(title), why: terminal(why) })
            .collect(),
        paused_by: paused.map(|pause| pause.by.to_string()),
        paused_why: paused.map(|pause| terminal(&pause.reason)),
        services_down: down,
        usd_today: bill.spent.usd(),
        usd_day_max: day.and_then(|day| day.usd_micros).map(dollars),
        issues: states
            .into_iter()
            .map(|state| StateCount {
                state: state.to_string(),
                issues: known.issues.values().filter(|issue| issue.state() == state).count(),
            })
            .collect(),
    }
}

/// A session of an agent.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SessionView {
    /// What `hob session show` takes.
    pub(crate) session: String,
    pub(crate) repo: String,
    pub(crate) issue: u64,
    /// The agent or profile.
    pub(crate) agent: String,
    /// The attempt's run.
    pub(crate) run: String,
    /// When it began, by the clock of this machine.
    pub(crate) began: String,
}

/// The agents' sessions that this process began lately, the newest first. `hob session` reads them.
#[utoipa::path(get, path = "/api/v1/sessions", responses((status = 200, body = Vec<SessionView>)))]
pub(super) async fn get_sessions(State(shared): State<Shared>) -> Json<Vec<SessionView>> {
    let log = shared.known.log();
    let mut began: Vec<_> = log
        .after(0)
        .filter(|entry| entry.is_start)
        .map(|entry| (entry, entry.read()))
        .map(|(entry, said)| SessionView {
            session: said.text("session").to_owned(),
            repo: entry.repo.to_string(),
            issue: entry.issue.map_or(0, |issue| issue.0),
            agent: terminal(said.text("agent")),
            run: said.text("run_id").to_owned(),
            began: said.text("time").to_owned(),
        })
        .collect();
    began.reverse();
    Json(began)
}
