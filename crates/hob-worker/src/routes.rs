//! The agents and profiles chosen for each issue, from the ledgers: those of closed issues too, as long as their refs
//! exist.

use hob_domain::{IssueNumber, RouteChoice, State};

use crate::{WorkError, Worker};

/// The current choice for one issue.
#[derive(Debug, Clone)]
pub struct Routed {
    /// The issue.
    pub issue: IssueNumber,
    /// The issue's state.
    pub state: State,
    /// The choice.
    pub choice: RouteChoice,
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
    let ledger = worker.forge.ledger();
    let mut tips = ledger.tips().await?.issues;
    tips.sort_by_key(|tip| tip.issue);
    ledger.read_ahead(tips.iter().map(|tip| &tip.commit)).await;
    let mut routes = Routes::default();
    for tip in &tips {
        match ledger.entry(tip).await {
            Ok(entry) => {
                let state = entry.record.state;
                routes.routed.extend(entry.record.route.map(|choice| Routed { issue: tip.issue, state, choice }));
            }
            Err(error) => {
                let error = WorkError::from(error);
                if !error.is_of_one_thing() {
                    return Err(error);
                }
                routes.unreadable.push((tip.issue, error.to_string()));
            }
        }
    }
    Ok(routes)
}
