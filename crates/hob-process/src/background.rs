//! Work that a drop on a runtime's thread leaves to another thread.

use tokio::runtime::Handle;

/// Drops `value`, whose drop blocks, on a thread for blocking work, and returns at once. Where no runtime runs, or it is
/// shutting down, nothing else is held up, and it is dropped here: a process that exits leaves nothing undone.
pub fn drop_in_background<T: Send + 'static>(value: T) {
    if let Ok(runtime) = Handle::try_current() {
        // Nobody waits for it. A runtime that is shutting down drops the work, and `value` with it.
        drop(runtime.spawn_blocking(|| drop(value)));
    }
}
