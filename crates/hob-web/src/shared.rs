//! What all requests share.

use std::sync::Arc;

use hob_worker::NewsSender;
use tokio::sync::watch;

use crate::{access::Access, known::Known, relay::Relay, webhooks::Webhooks};

/// Whether this run asks the forge for the pods of Jobs.
#[derive(Clone, Default)]
pub(crate) enum Forwards {
    /// It is starting, and not known yet.
    #[default]
    Unknown,
    /// It does not.
    No,
    /// It does.
    Yes(Arc<Relay>),
}

/// What all requests share.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) known: Arc<Known>,
    pub(crate) access: Arc<Access>,
    /// The receiver of webhooks. `None` without a token: they are signed with it.
    pub(crate) webhooks: Option<Arc<Webhooks>>,
    /// What lets a repository be polled at once.
    pub(crate) news: NewsSender,
    /// What asks the forge for the pods of Jobs.
    pub(crate) forwards: watch::Receiver<Forwards>,
}
