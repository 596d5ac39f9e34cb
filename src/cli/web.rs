//! The server of a run, `hob run --listen` and `hob rehearse --keep`, and what it is shown.

use std::{net::SocketAddr, sync::Arc};

use hob_config::child_environment;
use hob_forge::Connection;
use hob_web::{Facts, Known, Relay, Server};
use hob_worker::{EventSink, Watcher};
use hob_workspace::GitRelay;
use parking_lot::Mutex;
use secrecy::SecretString;

use crate::cli::{
    executor::at_work,
    exit::{Exit, fatal},
    setup::Setup,
    stream::Stream,
};

/// The server of a run, and what it knows.
pub(super) struct Web {
    pub(super) server: Server,
    known: Arc<Known>,
}

/// What asks the forge for the pods of Jobs, once there is a connection. `None` if no Job is made.
pub(super) fn relay(setup: &Setup) -> impl FnOnce(Arc<Connection>) -> Option<Relay> + use<> {
    let (job, workspace) = (setup.settings.executor.job.clone(), setup.settings.workspace.clone());
    let server_url = setup.standard.server_url.clone();
    move |connection| {
        // A template that cannot be read ends the run when its worker is made.
        let at_work = at_work(&job).filter(|_| !job.is_empty())?;
        let relay = Relay::new(connection, GitRelay::new(&child_environment()), server_url);
        Some(relay.pushing(&workspace.branch_prefix, workspace.transfer_time).of_jobs(at_work))
    }
}

impl Web {
    /// Listens at the address.
    pub(super) fn open(address: SocketAddr, token: Option<SecretString>, setup: &Setup) -> anyhow::Result<Self> {
        let facts = Facts { jobs: setup.settings.jobs, state_dir: setup.state_dir.clone() };
        let known = Arc::new(Known::new(facts));
        let server =
            Server::open(address, token, Arc::clone(&known)).map_err(|error| fatal(Exit::Usage, error.to_string()))?;
        Ok(Self { server, known })
    }

    /// The sink, which shows events here, too, and who is told what polls find; of a run without a server, the sink alone.
    pub(super) fn around(web: Option<&Self>, events: EventSink) -> (EventSink, Option<Arc<dyn Watcher>>) {
        let Some(Self { known, .. }) = web else { return (events, None) };
        let watcher = Arc::clone(known) as Arc<dyn Watcher>;
        let (known, stream) = (Arc::clone(known), Mutex::new(Stream::default()));
        let sink: EventSink = Arc::new(move |repo, event| {
            match stream.lock().value(repo, event) {
                Ok(value) => known.event(repo, event, &value),
                Err(error) => tracing::warn!(%error, "an event cannot be written as JSON: {error}"),
            }
            events(repo, event);
        });
        (sink, Some(watcher))
    }
}
