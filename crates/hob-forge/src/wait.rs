//! Waits, and who is told of them: a program that says nothing for a minute looks as if it hung.

use std::time::Duration;

use crate::ForgeError;

/// A wait that people notice, and want explained.
const NOTICEABLE: Duration = Duration::from_secs(5);

/// Waits before another try, and tells of a wait that people would notice.
pub(super) async fn wait(error: &ForgeError, pause: Duration) {
    if pause < NOTICEABLE {
        tracing::debug!(%error, wait_ms = pause.as_millis(), "another try follows: {error}");
    } else {
        tracing::warn!(%error, wait_seconds = pause.as_secs(), "waiting {} s: {error}", pause.as_secs());
    }
    tokio::time::sleep(pause).await;
}

/// Waits for the turn to write, and tells of a wait that people would notice.
pub(super) async fn wait_for_turn(pause: Duration) {
    if pause >= NOTICEABLE {
        tracing::warn!(
            wait_seconds = pause.as_secs(),
            "waiting {} s: the writes of this minute or hour are used up (`forge.writes_per_minute`, `forge.writes_per_hour`)",
            pause.as_secs()
        );
    }
    tokio::time::sleep(pause).await;
}
