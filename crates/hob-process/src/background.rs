//! Work that a drop on a runtime's thread leaves to another thread.

use tokio::runtime::Handle;

/// Drops `value`, whose drop blocks, on a thread for blocking work, and returns at once. If no runtime is running, or
/// it is shutting down, the value is dropped here, so that a process that exits leaves nothing undone.
pub fn drop_in_background<T: Send + 'static>(value: T) {
    if let Ok(runtime) = Handle::try_current() {
        // The handle is not awaited. A runtime that is shutting down drops the work, and `value` with it.
        drop(runtime.spawn_blocking(|| drop(value)));
    }
}
