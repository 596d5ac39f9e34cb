//! A run's spending, noted before it happens: in its session, where a worker that takes over on this machine finds it, and in the
//! ledger, for one on another machine.

use hob_domain::Spend;
use hob_egress::{Budget, Metered};
use tokio::sync::{mpsc, oneshot};

use crate::session::{Session, SessionEvent};

/// A wish to spend: the ledger has to allow it first.
#[derive(Debug)]
pub struct Advance {
    /// The bill that the issue can reach.
    pub bill: Spend,
    /// Where the run waits for the word that it may.
    pub allowed: oneshot::Sender<()>,
}

/// Where the spending of a run is noted.
#[derive(Debug, Default, Clone)]
pub(crate) struct Noted {
    pub(crate) session: Session,
    /// The bill when the run began.
    pub(crate) bill: Spend,
    /// `None` if there is no ledger.
    pub(crate) advances: Option<mpsc::Sender<Advance>>,
}

impl Noted {
    /// The budget; what it spends and reserves is noted before a request is sent.
    pub(crate) fn in_budget(self, budget: Budget) -> Budget {
        budget.noting(move |now| {
            let (spend, noted) = (with_reserved(&now), self.clone());
            noted.session.add(SessionEvent::Spending { spend });
            Box::pin(async move {
                noted.session.flush().await;
                noted.in_ledger(spend).await;
            })
        })
    }

    async fn in_ledger(&self, spend: Spend) {
        let Some(advances) = &self.advances else { return };
        let (allowed, word) = oneshot::channel();
        // Nobody answers a run that is being ended.
        if advances.send(Advance { bill: self.bill + spend, allowed }).await.is_ok() {
            word.await.ok();
        }
    }
}

/// What a run can have cost once its requests under way are answered.
fn with_reserved(now: &Metered) -> Spend {
    let mut usage = now.usage();
    usage += now.reserved.usage;
    Spend {
        usd_micros: now.usd_micros.saturating_add(now.reserved.usd_micros),
        input_tokens: usage.input,
        output_tokens: usage.output,
        wall_seconds: 0,
    }
}
