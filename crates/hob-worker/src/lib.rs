//! The worker: it observes the issues of a repository, decides, and carries the decisions out.
//!
//! Flow: the [`Snapshot`](hob_domain::Snapshot) of the forge → [`plan`](hob_domain::plan()) → an action an issue → for
//! a claim: authorization, lease, attempt. A worker can die at any point; the next worker continues from ledger, labels
//! and branch.
//!
//! | part | owns |
//! |---|---|
//! | `schedule` | who works when: pool, scheduler, queues, polls |
//! | `reconcile` | one issue, one decision |
//! | `attempt` | one lease, one end |
//! | `transition` | a change's way to ledger, comment and labels |
//! | `inbox` | what people say: the one reader of comments and reviews, commands that take effect, and what shows it |
//! | `notify` | the one comment that brings a question to a person, and what is posted to the webhook |
//! | `audit` | what was done, told outside of the repository |
//! | `webhook` | the address that notifications are posted to |
//! | `settlement` | the issue's share of the repository's day, and what merged work showed |
//! | `corrections` | what maintainers correct, and the pull request that proposes it as a line for agents |
//! | `offer` | pull requests that belong to no issue |
//! | `mirror` | the repository's mirror, which processes of Hob share |
//! | `repository_file` | the repository's file, and a worker's settings with it |
//! | `metrics` | what operators count, over all workers of the process |
//! | `traced` | the spans of an attempt for traces |
//! | `memory` | what a worker remembers between polls, so that it asks less |
//! | `profiles` | which profiles an attempt has |
//! | `ledgers` | the newest records of all issues at once |
//! | `routes` | who was chosen for each issue |
//! | `remote_executor`, `command_executor` | what works on issues instead of this process |
//! | `finding` | what one look found |
//! | `preflight` | what the worker needs, looked at before the first write |
//! | `program_starts` | whether the programs of checks start, and what the sandbox refused them |
//! | `rights` | what the token may do, proved by trying |
//! | `onboard` | what a repository lacks before its first issue, and the pull request that brings it |
//! | `observe`, `pull_facts`, `authorize` | what the forge says, and whose label and word count |
//!
//! Each part calls only parts below it.

mod actions_schedule;
mod agent;
mod asked_for;
mod attempt;
mod audit;
mod authorize;
mod auto_merge;
mod command_executor;
mod corrections;
mod decision;
mod earlier_checks;
mod error;
mod event;
pub mod explain;
mod finding;
mod finished_ledgers;
mod held_issue;
mod inbox;
mod introduce;
mod ledgers;
mod memory;
mod metrics;
mod mirror;
mod notify;
mod observe;
mod offer;
mod on_heap;
pub mod onboard;
mod people;
pub mod preflight;
mod profiles;
mod program_starts;
mod proof_status;
mod pull_facts;
mod push_rules;
mod reconcile;
mod remote_executor;
mod repository_file;
mod rights;
mod round_end;
mod routes;
mod sandbox;
mod schedule;
mod settlement;
mod spend_journal;
mod traced;
mod transition;
mod trigger;
mod webhook;
mod who_ended;
mod worker;

pub use actions_schedule::schedule_trouble;
pub use attempt::{Rerun, rerun};
pub use decision::decision_text;
pub use error::{OperatorError, WorkError};
pub use event::{CheckedCommit, EventSink, Waiting, WaitsOn, WorkEvent};
pub use explain::Explained;
pub use ledgers::{Ledgers, ledgers};
pub use memory::Preflight;
pub use metrics::{MetricsFormat, metrics, metrics_for_file, sum_metrics};
pub use profiles::{base_catalog, catalog};
pub use reconcile::{Approved, Requested, approve, forget, kill_switch, pause, resume, terminate, unblock};
pub use remote_executor::{RemoteEnd, RemoteExecutor, RemoteTask, Tell};
pub use rights::{RunsIn, prove_rights, starts_workflows};
pub use routes::{Routed, Routes, routes};
pub use sandbox::{NoSandbox, sandbox, sandbox_of_tier, try_sandbox};
pub use schedule::{
    Concurrency, IssueResult, News, NewsReceiver, NewsSender, ReadyIssue, Repositories, RunLimits, RunSummary,
    WorkedOn, WorkerFactory, WorkerPool, longest_attempt, news_channel, ready, run_forever, run_once, run_sequentially,
    work_on,
};
pub use worker::{Watcher, Worker, WorkerParts, worker_id};
