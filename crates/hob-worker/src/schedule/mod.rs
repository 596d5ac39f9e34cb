//! Who works when: polls, queues and free jobs, over all repositories of a process.

mod poll;
mod pool;
mod repository_queue;
mod run;
mod scheduler;
mod selected;

pub use pool::{Repositories, WorkerFactory, WorkerPool};
pub use run::{RunLimits, RunSummary, run_forever, run_once, run_sequentially};
pub use selected::{Concurrency, IssueResult, WorkedOn, work_on};
