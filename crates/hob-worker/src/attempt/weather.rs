//! Weather: a forge that fails for seconds in ways that otherwise only its operator or Hob's can fix, and a quota that
//! ends during an attempt.
//!
//! # Assumptions
//! The lease was acquired with the same token, so a later refusal is doubtful: GitHub's incidents, the renewal of a
//! token and a restart of a server all answer 401, 403 or 404 for seconds.

use std::time::Duration;

use futures_util::future::BoxFuture;
use hob_domain::FailureClass;
use hob_forge::{ForgeError, HeldLease};
use tokio::time::Instant;

use crate::{WorkError, Worker};

/// The pauses before each retry of a step: 15 s in all.
const PAUSES: [Duration; 4] =
    [Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4), Duration::from_secs(8)];
/// The interval of checks whether writes are possible again.
const LOOK: Duration = Duration::from_secs(10);
/// The longest wait for a quota: its longest window, an hour, and five minutes afterwards in which the heartbeat renews
/// the lease.
const QUOTA_MAX: Duration = Duration::from_secs(3_900);

/// What a step waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Patience {
    /// The end of an incident of seconds.
    Incident,
    /// The next window of a quota, too: otherwise the agent's work would be lost.
    Quota,
}

/// Makes an idempotent step, and repeats it if the forge's refusal is doubtful, or, with enough patience, if its quota
/// is used up.
///
/// # Errors
/// [`WorkError`] of the last try.
pub(super) async fn through<'a, T>(
    lease: &HeldLease,
    patience: Patience,
    mut step: impl FnMut() -> BoxFuture<'a, Result<T, WorkError>>,
) -> Result<T, WorkError> {
    let (mut pauses, ends) = (PAUSES.into_iter(), Instant::now() + QUOTA_MAX);
    loop {
        let error = match step().await {
            Ok(done) => return Ok(done),
            Err(error) if lease.lost().is_cancelled() => return Err(error),
            Err(error) => error,
        };
        let pause = match doubt(&error) {
            Doubt::None => None,
            Doubt::Refusal => pauses.next(),
            Doubt::Quota => Some(LOOK).filter(|_| patience == Patience::Quota && Instant::now() < ends),
        };
        let Some(pause) = pause else { return Err(error) };
        tracing::warn!(issue = lease.issue().0, %error, wait_seconds = pause.as_secs(), "trying again: {error}");
        tokio::time::sleep(pause).await;
    }
}

/// Why an error may be gone a little later.
enum Doubt {
    None,
    /// The forge or git's server refuses what it allowed before.
    Refusal,
    /// A limit.
    Quota,
}

fn doubt(error: &WorkError) -> Doubt {
    if matches!(error, WorkError::Forge(ForgeError::Limited { .. })) {
        return Doubt::Quota;
    }
    let is_of_a_server = matches!(error, WorkError::Forge(_) | WorkError::Workspace(_));
    let lasts = matches!(error, WorkError::Forge(error) if error.is_known_denial());
    match is_of_a_server && !lasts && error.class() == FailureClass::Misconfigured {
        true => Doubt::Refusal,
        false => Doubt::None,
    }
}

/// Whether the lease survives a failed renewal: until it ends there is time to reach the forge again, and beyond its
/// end while only a quota prevents the renewal. Then no visible write is made before it is renewed, which only succeeds
/// if no other worker has taken the issue over.
pub(super) fn survives(worker: &Worker, lease: &HeldLease, error: &ForgeError) -> bool {
    let expired = worker.forge.permit(lease, Duration::ZERO, "renew the lease").is_err();
    match error.class() {
        _ if lease.lost().is_cancelled() => false,
        FailureClass::Transient { .. } if matches!(error, ForgeError::Limited { .. }) => true,
        FailureClass::Transient { .. } | FailureClass::Misconfigured => !expired,
        FailureClass::QuotaExhausted { .. }
        | FailureClass::Unfinished
        | FailureClass::Permanent
        | FailureClass::NeedsHuman
        | FailureClass::Cancelled => false,
    }
}
