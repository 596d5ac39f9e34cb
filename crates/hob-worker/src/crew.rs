//! The workers of several repositories: those that were named, or all that an App's installation has.

use std::{collections::BTreeSet, future::Future, pin::Pin, rc::Rc, sync::Arc};

use hob_config::Settings;
use hob_domain::RepoName;
use hob_forge::{Connection, Rate};
use tokio_util::sync::CancellationToken;

use crate::{
    RunLimits, RunSummary, WorkError, Worker, WorkerParts,
    dispatch::{Dispatch, Mode},
};

/// Which repositories are worked on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repositories {
    /// These.
    Named(Vec<RepoName>),
    /// All of the App's installation, as they come and go.
    OfInstallation,
}

/// What an installation has now.
pub(super) struct News<W> {
    pub(super) all: BTreeSet<RepoName>,
    /// Workers of those that were not known.
    pub(super) new: Vec<W>,
}

/// Asks for an installation's repositories; it is told which are known.
pub(super) type Recruit<W> =
    Box<dyn Fn(BTreeSet<RepoName>) -> Pin<Box<dyn Future<Output = Result<News<W>, WorkError>>>>>;

/// The parts of a repository's worker.
pub type Outfit = dyn Fn(RepoName) -> WorkerParts;

/// The workers of one process, on one connection.
pub struct Crew {
    connection: Arc<Connection>,
    settings: Settings,
    cancel: CancellationToken,
    repositories: Repositories,
    outfit: Rc<Outfit>,
}

impl Crew {
    /// The workers of `repositories`, each made of what `outfit` gives it.
    pub fn new(
        connection: Arc<Connection>,
        settings: Settings,
        cancel: CancellationToken,
        repositories: Repositories,
        outfit: Rc<Outfit>,
    ) -> Self {
        Self { connection, settings, cancel, repositories, outfit }
    }

    /// Asks each repository once and works on all that is there.
    ///
    /// # Errors
    /// [`WorkError`] when no repository could be asked; one repository's trouble is not the run's.
    pub async fn run_once(&self, limits: RunLimits) -> Result<RunSummary, WorkError> {
        self.run(limits, Mode::Once).await
    }

    /// Asks again and again until the process is stopped or its limits are reached.
    ///
    /// # Errors
    /// [`WorkError`] when it could not begin.
    pub async fn run_forever(&self, limits: RunLimits) -> Result<RunSummary, WorkError> {
        self.run(limits, Mode::Forever).await
    }

    /// A worker for each repository that there is now.
    ///
    /// # Errors
    /// [`WorkError`] when an installation could not be asked.
    pub async fn workers(&self) -> Result<Vec<Worker>, WorkError> {
        let names = match &self.repositories {
            Repositories::Named(names) => names.clone(),
            Repositories::OfInstallation => self.connection.installation_repositories().await?,
        };
        let mut workers = Vec::new();
        for name in names {
            workers.push(Worker::new((self.outfit)(name)).await?);
        }
        Ok(workers)
    }

    /// What is left of the forge's quotas.
    pub fn rates(&self) -> Vec<Rate> {
        self.connection.rates()
    }

    async fn run(&self, limits: RunLimits, mode: Mode) -> Result<RunSummary, WorkError> {
        let recruit = match &self.repositories {
            Repositories::Named(_) => None,
            Repositories::OfInstallation => Some(self.recruit()),
        };
        let cancel = self.cancel.clone();
        let mut dispatch = Dispatch::new(&self.connection, &self.settings, cancel, (limits, mode), recruit);
        if let Repositories::Named(names) = &self.repositories {
            for name in names {
                dispatch.seat(Arc::new(Worker::new((self.outfit)(name.clone())).await?));
            }
        }
        dispatch.run().await
    }

    fn recruit(&self) -> Recruit<Arc<Worker>> {
        let (connection, outfit) = (Arc::clone(&self.connection), Rc::clone(&self.outfit));
        Box::new(move |known| {
            let (connection, outfit) = (Arc::clone(&connection), Rc::clone(&outfit));
            Box::pin(async move {
                let all: BTreeSet<_> = connection.installation_repositories().await?.into_iter().collect();
                let mut new = Vec::new();
                for repo in all.difference(&known) {
                    new.push(Arc::new(Worker::new(outfit(repo.clone())).await?));
                }
                Ok(News { all, new })
            })
        })
    }
}
