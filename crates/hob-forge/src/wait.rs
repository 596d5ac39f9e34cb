//! Waits, and the log lines about them: a program that is silent for a minute looks hung.

use std::time::Duration;

use crate::ForgeError;

/// The shortest wait that people notice and want explained.
const NOTICEABLE: Duration = Duration::from_secs(5);

/// Waits before another try, and logs a wait that people would notice.
pub(super) async fn wait(error: &ForgeError, pause: Duration) {
    if pause < NOTICEABLE {
        tracing::debug!(%error, wait_ms = pause.as_millis(), "trying again: {error}");
    } else {
        tracing::warn!(%error, wait_seconds = pause.as_secs(), "waiting {} s: {error}", pause.as_secs());
    }
    tokio::time::sleep(pause).await;
}

/// Waits for a turn to write, and logs a wait that people would notice.
pub(super) async fn wait_for_turn(pause: Duration) {
    wait_because(pause, "the writes of this minute or hour are used up (`forge.pace`)").await;
}

/// Waits until a read fits into the forge's secondary limit, and logs a wait that people would notice.
pub(super) async fn wait_for_points(pause: Duration) {
    wait_because(pause, "the reads that the forge's secondary limit allows in a minute are used up").await;
}

async fn wait_because(pause: Duration, why: &str) {
    if pause >= NOTICEABLE {
        tracing::warn!(wait_seconds = pause.as_secs(), "waiting {} s: {why}", pause.as_secs());
    }
    tokio::time::sleep(pause).await;
}
