//! Futures that begin on the heap.

use std::pin::Pin;

/// The future that `make` returns. `Box::pin(future)` has it on its caller's stack first, and where nothing is optimized a function's
/// frame has room for each such place in it, taken or not.
pub(crate) fn on_heap<F: Future>(make: impl FnOnce() -> F) -> Pin<Box<F>> {
    Box::pin(make())
}
