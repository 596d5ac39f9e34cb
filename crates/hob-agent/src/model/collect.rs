//! What builds a reply from an answer: one for each interface.

use hob_egress::Bill;

use crate::model::{ModelError, ModelReply};

/// Builds a reply from the data of a stream's events.
pub(super) trait Collect: Default + Send {
    /// Takes one event.
    fn event(&mut self, data: &str) -> Result<(), ModelError>;
    /// Takes the end of the stream, `[DONE]`.
    fn done(&mut self);
    /// Whether the service reported that the reply is complete.
    fn is_complete(&self) -> bool;
    /// Whether the service reported the tokens.
    fn is_counted(&self) -> bool;
    /// What the service bills otherwise than ordinary tokens: its tier, and the tokens that it caches for an hour.
    fn bill(&self) -> Bill {
        Bill::default()
    }
    /// The reply of the model `of`, for a request of `sent` bytes.
    fn finish(self, of: &str, sent: usize) -> Result<ModelReply, ModelError>;
}
