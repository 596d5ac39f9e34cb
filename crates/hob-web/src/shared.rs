//! What all requests share.

use std::sync::Arc;

use hob_worker::NewsSender;

use crate::{access::Access, known::Known, webhooks::Webhooks};

/// What all requests share.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) known: Arc<Known>,
    pub(crate) access: Arc<Access>,
    /// The receiver of webhooks. `None` without a token: they are signed with it.
    pub(crate) webhooks: Option<Arc<Webhooks>>,
    /// What lets a repository be polled at once.
    pub(crate) news: NewsSender,
}
