//! Makes what `executor.job` has issues worked on by, in a Hob that was built for it.

use std::sync::Arc;

use hob_config::Settings;
use hob_forge::Connection;
use hob_web::AskAtWork;
use hob_worker::RemoteExecutor;

use crate::cli::exit::{Exit, fatal};

/// What the pods of Jobs may ask the forge by.
#[cfg_attr(not(feature = "kubernetes"), expect(dead_code, reason = "only Jobs have pods"))]
pub(super) struct Asks<'a> {
    pub(super) connection: &'a Arc<Connection>,
    /// The forge's web address.
    pub(super) server_url: &'a str,
}

/// The executor of Jobs, whose pods may ask the forge, if anything listens to them. `None` if the settings name none.
pub(super) fn of_jobs(settings: &Settings, asks: Option<Asks<'_>>) -> anyhow::Result<Option<Arc<dyn RemoteExecutor>>> {
    match settings.executor.job.as_str() {
        "" => Ok(None),
        path => jobs(path, asks).map(Some),
    }
}

#[cfg(feature = "kubernetes")]
fn jobs(path: &str, asks: Option<Asks<'_>>) -> anyhow::Result<Arc<dyn RemoteExecutor>> {
    let passes = asks.map(passes);
    match hob_kubernetes::JobExecutor::open(std::path::Path::new(path), passes) {
        Ok(executor) => Ok(Arc::new(executor)),
        Err(error) => Err(fatal(Exit::Usage, format!("`executor.job` cannot be used: {error}"))),
    }
}

/// Passes in the name of this connection.
#[cfg(feature = "kubernetes")]
fn passes(Asks { connection, server_url }: Asks<'_>) -> hob_kubernetes::Passes {
    let (connection, key) = (Arc::clone(connection), connection.pass_key());
    let sign = move |task: &hob_worker::RemoteTask, job: &str, lasts: std::time::Duration| {
        let (repo, job, ends) = (task.repo.clone(), job.to_owned(), connection.now() + lasts);
        key.sign(&hob_forge::Pass { repo, issue: task.issue, job, ends })
    };
    hob_kubernetes::Passes { server_url: server_url.to_owned(), sign: Arc::new(sign) }
}

/// What asks whether the Job of a pass is at work.
#[cfg(feature = "kubernetes")]
pub(super) fn at_work(path: &str) -> Option<Arc<AskAtWork>> {
    let executor = hob_kubernetes::JobExecutor::open(std::path::Path::new(path), None).map(Arc::new).ok()?;
    Some(Arc::new(move |pass: hob_forge::Pass| {
        let executor = Arc::clone(&executor);
        Box::pin(async move { executor.is_at_work(&pass.repo, pass.issue, &pass.job).await })
    }))
}

#[cfg(not(feature = "kubernetes"))]
pub(super) fn at_work(_path: &str) -> Option<Arc<AskAtWork>> {
    None
}

#[cfg(not(feature = "kubernetes"))]
fn jobs(_path: &str, _asks: Option<Asks<'_>>) -> anyhow::Result<Arc<dyn RemoteExecutor>> {
    let says = "`executor.job` cannot be used: this Hob was built without Kubernetes\n\
                hint: build it with `--features kubernetes`";
    Err(fatal(Exit::Usage, says.to_owned()))
}
