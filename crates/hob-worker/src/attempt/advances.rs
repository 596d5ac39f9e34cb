//! Money that an attempt may spend before its ledger is written again.
//!
//! # Guarantees
//! No request of a metered agent is sent that could take the issue's bill beyond what its ledger allows the holder to reach. So a worker
//! that takes over on another machine, which has no session of the dead one, counts at least what these cost.
//!
//! # Caveats
//! It counts more than that: up to a part of the attempt's budget, and what was reserved. Where an agent's requests are not metered,
//! nothing is allowed ahead, and what it spent since the last heartbeat is lost with its machine; so is the router's question to
//! `routing.model`.

use hob_agent::Advance;
use hob_domain::{Allowance, Note, Spend};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{Worker, attempt::job::Job};

/// The parts of an attempt's budget: each one is allowed ahead. More parts lose less to a dead machine, and write more often.
const PARTS: u64 = 5;
/// The most wishes to spend that wait.
pub(super) const QUEUE: usize = 16;

/// Lets the next write of the ledger allow the attempt's first part, so that its first request needs no write of its own.
pub(super) async fn allow_the_first(job: &Job<'_>) {
    // Only what goes to a service that Hob meters asks for more.
    if job.active.now().loaded.agent.service().is_some() {
        allow(job, job.held.lease.record().spend).await;
    }
}

/// Writes to the ledger what an agent is about to spend, until `ended`.
pub(super) async fn advances(
    worker: &Worker,
    job: &Job<'_>,
    mut asked: mpsc::Receiver<Advance>,
    ended: &CancellationToken,
) {
    let lease = &job.held.lease;
    let until_it_ends = async {
        while let Some(Advance { bill, allowed }) = asked.recv().await {
            while !covers(lease.may_reach(), bill, job.limits.allowance) {
                allow(job, bill).await;
                if let Err(error) = worker.forge.ledger().renew(lease).await {
                    tracing::warn!(issue = job.number().0, %error, "a request to the model waits for the ledger: {error}");
                    tokio::time::sleep(worker.settings.poll.interval).await;
                }
            }
            // The run may have ended meanwhile.
            allowed.send(()).ok();
        }
    };
    tokio::select! {
        () = until_it_ends => {}
        () = ended.cancelled() => {}
    }
}

/// Lets the next write of the ledger allow a part beyond `bill`.
async fn allow(job: &Job<'_>, bill: Spend) {
    if let Some(bill) = with_a_part(bill, job.limits.began, job.limits.allowance) {
        job.held.lease.note(Note::MayReach(bill)).await;
    }
}

/// The bill with a part of the attempt's `allowance`, but no more than all of it beyond `began`. `None` where nothing is limited.
fn with_a_part(bill: Spend, began: Spend, allowance: Allowance) -> Option<Spend> {
    let more = |bill: u64, began: u64, limit: Option<u64>| match limit {
        Some(limit) => bill.saturating_add(limit / PARTS).min(began.saturating_add(limit)).max(bill),
        None => bill,
    };
    let Allowance { usd_micros, tokens, .. } = allowance;
    let has_limit = usd_micros.is_some() || tokens.is_some();
    let all = more(bill.tokens(), began.tokens(), tokens);
    has_limit.then(|| Spend {
        usd_micros: more(bill.usd_micros, began.usd_micros, usd_micros),
        input_tokens: all - bill.output_tokens,
        ..bill
    })
}

/// Whether the ledger allows to reach `bill`.
fn covers(may_reach: Option<Spend>, bill: Spend, Allowance { usd_micros, tokens, .. }: Allowance) -> bool {
    let allowed = may_reach.unwrap_or_default();
    (usd_micros.is_none() || bill.usd_micros <= allowed.usd_micros)
        && (tokens.is_none() || bill.tokens() <= allowed.tokens())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_what_is_limited_is_allowed_ahead() {
        let spend = |usd_micros, input_tokens, output_tokens| Spend {
            usd_micros,
            input_tokens,
            output_tokens,
            ..Spend::default()
        };
        let limits = |usd_micros, tokens| Allowance { usd_micros, tokens, time: None };
        let began = spend(100, 10, 10);
        for (bill, limits, allowed) in [
            (began, limits(Some(500), None), Some(spend(200, 10, 10))),
            (spend(570, 30, 10), limits(Some(500), None), Some(spend(600, 30, 10))),
            // A request that a service bills beyond its most is believed.
            (spend(700, 30, 10), limits(Some(500), None), Some(spend(700, 30, 10))),
            (began, limits(None, Some(50)), Some(spend(100, 20, 10))),
            (began, limits(None, None), None),
        ] {
            assert_eq!(with_a_part(bill, began, limits), allowed, "{bill:?}");
            assert!(covers(allowed, bill, limits), "{bill:?}");
        }
        for (allowed, is_covered) in [(None, false), (Some(spend(200, 0, 0)), false), (Some(spend(200, 40, 0)), true)] {
            assert_eq!(covers(allowed, spend(200, 30, 10), limits(Some(500), Some(50))), is_covered);
        }
        assert!(!covers(Some(spend(199, 90, 0)), spend(200, 30, 10), limits(Some(500), None)));
    }
}
