//! The order of work: polls, queues and free jobs, over all repositories of a process.

mod dashboard;
mod executor;
mod news;
mod poll;
mod pool;
mod ready;
mod repositories;
mod repository_queue;
mod run;
mod scheduler;
mod seen;
mod selected;
mod source;
mod summary;
mod tasks;
mod turns;
mod wake;

pub use pool::{Repositories, WorkerPool};
pub use ready::{ReadyIssue, longest_attempt, ready};
pub use run::{run_forever, run_once, run_sequentially};
pub use selected::{Concurrency, IssueResult, WorkedOn, work_on};
pub use source::WorkerFactory;
pub use summary::{RunLimits, RunSummary};
pub use wake::{News, NewsReceiver, NewsSender, news_channel};
