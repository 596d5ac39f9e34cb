//! `hob pause`, `hob resume` and `hob cancel` of a session without a forge: those of `hob agent investigate` and `hob agent run`.

use std::time::Duration;

use hob_agent::session::{Header, SessionError, SessionEvent, SessionRecord, SessionState, Sessions, VERSION};
use hob_domain::Spend;
use serde_json::{Value, json};

use crate::cli::{
    exit::{Exit, fatal},
    local::{command, is_local, may_go_on},
    sessions,
    setup::Setup,
};

/// How long to wait for a run that was asked to stop, and how often to check.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOKS: Duration = Duration::from_millis(100);

/// The result.
pub(super) struct Answer {
    /// For programs.
    pub(super) json: Value,
    /// For people.
    pub(super) text: String,
}

/// Ends its run in order. It can be resumed.
pub(super) async fn pause(setup: &Setup, text: &str) -> anyhow::Result<Answer> {
    let (store, record) = find(setup, text, "pause")?;
    let (id, command) = (&record.id, command(&record));
    let stopped = stop(&store, &record).await?;
    let text = match stopped {
        true => format!("The session {id} is paused. `{command}` resumes it."),
        false => format!("The session {id} was asked to stop. Once it has stopped, `{command}` resumes it."),
    };
    Ok(Answer { json: answer(&record, "paused", stopped), text })
}

/// Names the command that resumes it.
pub(super) fn resume(setup: &Setup, text: &str) -> anyhow::Result<Answer> {
    let (_, record) = find(setup, text, "resume")?;
    may_go_on(&record)?;
    let text = format!("`{}` resumes the session.", command(&record));
    Ok(Answer { json: answer(&record, "resumed", false), text })
}

/// Ends it for good.
pub(super) async fn cancel(setup: &Setup, text: &str) -> anyhow::Result<Answer> {
    let (store, record) = find(setup, text, "cancel")?;
    let id = &record.id;
    if !stop(&store, &record).await? {
        let why = format!("session `{id}` has not stopped yet\nhint: try again in a minute");
        return Err(fatal(Exit::Failure, why));
    }
    if !record.is_ended_for_good() {
        let header = Header {
            transcript: VERSION,
            session: id.clone(),
            repo: record.repo.clone(),
            issue: record.issue,
            agent: record.agent.clone(),
        };
        let session = store.open(&header)?;
        session.add(SessionEvent::Ended { outcome: SessionRecord::end_for_good(), spend: Spend::default() });
        session.flush().await;
    }
    Ok(Answer { json: answer(&record, "terminated", true), text: format!("The session {id} is cancelled.") })
}

fn find(setup: &Setup, text: &str, verb: &str) -> anyhow::Result<(Sessions, SessionRecord)> {
    let store = sessions::open(setup);
    let record = store.find(text, None).map_err(|error| match error {
        SessionError::NotFound(why) => fatal(Exit::NotFound, why),
        other => other.into(),
    })?;
    if !is_local(&record) {
        let (id, repo, issue) = (&record.id, &record.repo, record.issue);
        let why = format!("session `{id}` belongs to issue {issue}\nhint: use `hob --repo {repo} {verb} {issue}`");
        return Err(fatal(Exit::Usage, why));
    }
    Ok((store, record))
}

/// Stops its run, if there is one; `false` if that takes longer.
async fn stop(store: &Sessions, record: &SessionRecord) -> anyhow::Result<bool> {
    let runs = || store.record(&record.id).is_some_and(|record| record.state == SessionState::Running);
    if !runs() {
        return Ok(true);
    }
    store.ask_to_stop(&record.id)?;
    let stopped = async {
        while runs() {
            tokio::time::sleep(LOOKS).await;
        }
    };
    Ok(tokio::time::timeout(PATIENCE, stopped).await.is_ok())
}

fn answer(record: &SessionRecord, what: &str, is_done: bool) -> Value {
    let command = (what != "terminated").then(|| command(record));
    json!({ "issue": null, "session": record.id, "asked": what, "done": is_done, "command": command })
}
