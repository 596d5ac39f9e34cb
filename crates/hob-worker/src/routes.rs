//! The agents and profiles chosen for each issue, from the ledgers.

use hob_domain::{AutoChoice, IssueNumber, RouteChoice, State};

use crate::{
    WorkError, Worker,
    ledgers::{Ledgers, ledgers},
};

/// The current choice for one issue.
#[derive(Debug, Clone)]
pub struct Routed {
    /// The issue.
    pub issue: IssueNumber,
    /// The issue's state.
    pub state: State,
    /// The choice.
    pub choice: RouteChoice,
    /// The agent that outcomes chose, if the choice was theirs.
    pub auto: Option<AutoChoice>,
}

/// The choices in the ledgers of a repository.
#[derive(Debug, Default)]
pub struct Routes {
    /// The choices, by issue.
    pub routed: Vec<Routed>,
    /// Ledgers that cannot be read, and why.
    pub unreadable: Vec<(IssueNumber, String)>,
}

/// Reads the choices of a repository.
///
/// # Errors
/// [`WorkError`] of a read that is about more than one issue; nothing is written.
pub async fn routes(worker: &Worker) -> Result<Routes, WorkError> {
    let Ledgers { records, unreadable } = ledgers(worker).await?;
    let routed = records.into_iter().filter_map(|record| {
        let (issue, state, auto) = (record.issue, record.state, record.work.auto);
        record.route.map(|choice| Routed { issue, state, choice, auto })
    });
    Ok(Routes { routed: routed.collect(), unreadable })
}
