//! The worker pool: a worker for each repository, either the named ones or all of an App's installation.

use std::{collections::BTreeSet, sync::Arc};

use hob_config::Settings;
use hob_domain::RepoName;
use hob_forge::{Connection, Rate};
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::{
    NewsReceiver, RunLimits, RunSummary, WorkError, Worker, WorkerFactory,
    schedule::{
        scheduler::{Mode, Scheduler},
        source::{RepositoryChanges, RepositorySource},
    },
};

/// The repositories to work on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repositories {
    /// These.
    Named(Vec<RepoName>),
    /// All of the App's installation, as they come and go.
    OfInstallation,
}

/// The workers of one process, on one connection.
pub struct WorkerPool {
    connection: Arc<Connection>,
    settings: Arc<Settings>,
    cancel: CancellationToken,
    repositories: Repositories,
    factory: Arc<WorkerFactory>,
    news: Mutex<Option<NewsReceiver>>,
}

impl WorkerPool {
    /// The workers of `repositories`, each made from the parts that `factory` returns.
    pub fn new(
        connection: Arc<Connection>,
        settings: Arc<Settings>,
        cancel: CancellationToken,
        repositories: Repositories,
        factory: Arc<WorkerFactory>,
    ) -> Self {
        Self { connection, settings, cancel, repositories, factory, news: Mutex::default() }
    }

    /// The connection of all of them.
    pub fn connection(&self) -> Arc<Connection> {
        Arc::clone(&self.connection)
    }

    /// Polls a repository at once when there are news of it.
    #[must_use]
    pub fn hearing(self, news: NewsReceiver) -> Self {
        Self { news: Mutex::new(Some(news)), ..self }
    }

    /// Polls each repository once and works on everything that is ready.
    ///
    /// # Errors
    /// [`WorkError`] if no repository could be asked; the trouble of one repository does not fail the run.
    pub async fn run_once(&self, limits: RunLimits) -> Result<RunSummary, WorkError> {
        self.run(limits, Mode::Once).await
    }

    /// Polls again and again until the process is stopped or its limits are reached.
    ///
    /// # Errors
    /// [`WorkError`] if it could not begin.
    pub async fn run_forever(&self, limits: RunLimits) -> Result<RunSummary, WorkError> {
        self.run(limits, Mode::Forever).await
    }

    /// A worker for each repository that there is now.
    ///
    /// # Errors
    /// [`WorkError`] if an installation could not be asked.
    pub async fn workers(&self) -> Result<Vec<Worker>, WorkError> {
        let names = match &self.repositories {
            Repositories::Named(names) => names.clone(),
            Repositories::OfInstallation => self.connection.installation_repositories().await?,
        };
        let mut workers = Vec::new();
        for name in names {
            workers.push(Worker::new((self.factory)(name)).await?);
        }
        Ok(workers)
    }

    /// The rest of the forge's quotas.
    pub fn rates(&self) -> Vec<Rate> {
        self.connection.rates()
    }

    async fn run(&self, limits: RunLimits, mode: Mode) -> Result<RunSummary, WorkError> {
        let source = match &self.repositories {
            Repositories::Named(_) => None,
            Repositories::OfInstallation => Some(self.source()),
        };
        let cancel = self.cancel.clone();
        let mut scheduler = Scheduler::new(&self.connection, &self.settings, cancel, limits, mode, source);
        scheduler.hears(self.news.lock().take());
        if let Repositories::Named(names) = &self.repositories {
            scheduler.follows(&self.factory);
            for name in names {
                scheduler.add(Arc::new(Worker::new((self.factory)(name.clone())).await?));
            }
        }
        scheduler.run().await
    }

    fn source(&self) -> RepositorySource {
        let (connection, factory) = (Arc::clone(&self.connection), Arc::clone(&self.factory));
        Box::new(move |known| {
            let (connection, factory) = (Arc::clone(&connection), Arc::clone(&factory));
            Box::pin(async move {
                let all: BTreeSet<_> = connection.installation_repositories().await?.into_iter().collect();
                let mut new = Vec::new();
                for repo in all.difference(&known) {
                    new.push(Arc::new(Worker::new(factory(repo.clone())).await?));
                }
                Ok(RepositoryChanges { all, new })
            })
        })
    }
}
