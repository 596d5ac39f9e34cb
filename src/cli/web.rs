//! `hob run --listen`: the server of a run, and what it is shown.

use std::sync::Arc;

use hob_config::listen_token;
use hob_web::{Facts, Known, Server};
use hob_worker::{EventSink, Watcher};
use parking_lot::Mutex;

use crate::cli::{
    exit::{Exit, fatal},
    listen_address::ListenAddress,
    setup::Setup,
    stream::Stream,
};

/// The server of a run, and what it knows.
pub(super) struct Web {
    pub(super) server: Server,
    known: Arc<Known>,
}

impl Web {
    /// Listens at the address. `None` if none is given.
    pub(super) fn open(address: Option<ListenAddress>, setup: &Setup) -> anyhow::Result<Option<Self>> {
        let Some(address) = address else { return Ok(None) };
        let facts = Facts { jobs: setup.settings.jobs, state_dir: setup.state_dir.clone() };
        let known = Arc::new(Known::new(facts));
        let server = Server::open(address.0, listen_token(&setup.files), Arc::clone(&known))
            .map_err(|error| fatal(Exit::Usage, error.to_string()))?;
        Ok(Some(Self { server, known }))
    }

    /// Who is told what polls find.
    pub(super) fn watcher(&self) -> Arc<dyn Watcher> {
        Arc::clone(&self.known) as Arc<dyn Watcher>
    }

    /// The sink, which shows events here, too.
    pub(super) fn seeing(&self, events: EventSink) -> EventSink {
        let (known, stream) = (Arc::clone(&self.known), Mutex::new(Stream::default()));
        Arc::new(move |repo, event| {
            match stream.lock().value(repo, event) {
                Ok(value) => known.event(repo, event, value),
                Err(error) => tracing::warn!(%error, "an event cannot be written as JSON: {error}"),
            }
            events(repo, event);
        })
    }
}
