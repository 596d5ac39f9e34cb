//! A run's spending in its session, where the worker that takes over finds it.

use hob_domain::Spend;
use hob_egress::{Budget, Metered};

use crate::session::{Session, SessionEvent};

/// The budget, whose spend and reservations `session` has before a request is sent.
pub(crate) fn noting(budget: Budget, session: &Session) -> Budget {
    let session = session.clone();
    budget.noting(move |now| {
        session.add(SessionEvent::Spending { spend: with_reserved(&now) });
        let session = session.clone();
        Box::pin(async move { session.flush().await })
    })
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
