//! Sessions without an issue: those of `hob agent investigate` and `hob agent run`.

use hob_agent::session::{SessionRecord, SessionState};
use hob_domain::RunId;
use hob_worker::worker_id;

use crate::cli::exit::{Exit, fatal};

/// The name in place of a repository in sessions of investigations.
pub(super) const INVESTIGATIONS: &str = "local/investigation";
pub(super) const TASKS: &str = "local/task";

/// A unique name: a used one would be another session's.
pub(super) fn fresh(begin: &str) -> RunId {
    RunId(worker_id(&worker_id(begin).0).0)
}

/// Checks that a session can be resumed.
pub(super) fn may_go_on(record: &SessionRecord) -> anyhow::Result<()> {
    let id = &record.id;
    if record.state == SessionState::Running {
        return Err(fatal(Exit::Failure, format!("another process is working on session `{id}`")));
    }
    if record.is_ended_for_good() {
        return Err(fatal(Exit::Failure, format!("session `{id}` was cancelled: start a new one")));
    }
    Ok(())
}

/// The command that resumes it.
pub(super) fn command(record: &SessionRecord) -> String {
    let id = &record.id;
    match record.repo.to_string() == INVESTIGATIONS {
        true => format!("hob agent investigate --resume {id}"),
        false => format!("hob agent run --resume {id}"),
    }
}

/// Whether a session belongs to no issue.
pub(super) fn is_local(record: &SessionRecord) -> bool {
    [INVESTIGATIONS, TASKS].contains(&record.repo.to_string().as_str())
}
