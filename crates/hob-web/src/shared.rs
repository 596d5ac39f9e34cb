//! What all requests share.

use std::sync::{Arc, OnceLock};

use hob_worker::NewsSender;

use crate::{access::Access, known::Known, relay::Relay, webhooks::Webhooks};

/// What all requests share.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) known: Arc<Known>,
    pub(crate) access: Arc<Access>,
    /// The receiver of webhooks. `None` without a token: they are signed with it.
    pub(crate) webhooks: Option<Arc<Webhooks>>,
    /// What lets a repository be polled at once.
    pub(crate) news: NewsSender,
    /// What asks the forge for the pods of Jobs. Unset while it is not known whether this run does, `None` if it does not.
    pub(crate) relay: Arc<OnceLock<Option<Relay>>>,
}
