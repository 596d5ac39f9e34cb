//! Makes what `executor.job` has issues worked on by, in a Hob that was built for it.

use std::sync::Arc;

use hob_config::Settings;
use hob_worker::RemoteExecutor;

use crate::cli::exit::{Exit, fatal};

/// The executor of Jobs. `None` if the settings name none.
pub(super) fn of_jobs(settings: &Settings) -> anyhow::Result<Option<Arc<dyn RemoteExecutor>>> {
    match settings.executor.job.as_str() {
        "" => Ok(None),
        path => jobs(path).map(Some),
    }
}

#[cfg(feature = "kubernetes")]
fn jobs(path: &str) -> anyhow::Result<Arc<dyn RemoteExecutor>> {
    match hob_kubernetes::JobExecutor::open(std::path::Path::new(path)) {
        Ok(executor) => Ok(Arc::new(executor)),
        Err(error) => Err(fatal(Exit::Usage, format!("`executor.job` cannot be used: {error}"))),
    }
}

#[cfg(not(feature = "kubernetes"))]
fn jobs(_path: &str) -> anyhow::Result<Arc<dyn RemoteExecutor>> {
    let says = "`executor.job` cannot be used: this Hob was built without Kubernetes\n\
                hint: build it with `--features kubernetes`";
    Err(fatal(Exit::Usage, says.to_owned()))
}
