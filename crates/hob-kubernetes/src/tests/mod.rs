//! Jobs from their creation to their end, against a fake of the API, in virtual time.

mod fake_cluster;
mod following;
mod trouble;
mod waiting;

use std::time::Duration;

use hob_domain::{IssueNumber, Sha};
use hob_worker::{RemoteEnd, RemoteExecutor, RemoteTask};
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::{JobExecutor, Template, tests::fake_cluster::FakeCluster};

const TEMPLATE: &str = "
apiVersion: batch/v1
kind: Job
metadata:
  labels: { kueue.x-k8s.io/queue-name: agents }
spec:
  template:
    spec:
      containers:
        - name: hob
          image: registry/hob
          args: [--config, /etc/hob/hob.toml]
";

fn executor(cluster: &FakeCluster) -> JobExecutor {
    let template = Template::parse(TEMPLATE).unwrap_or_else(|_| panic!("it is a template"));
    JobExecutor::with_client(template, None, cluster.client())
}

fn task() -> RemoteTask {
    RemoteTask {
        repo: "acme/site".parse().unwrap(),
        issue: IssueNumber(7),
        ledger: Some(Sha("a1".to_owned())),
        longest: Duration::from_secs(1_800),
    }
}

/// Follows the issue's Job to its end while `meanwhile` happens; returns the end and what was told.
async fn followed(cluster: &FakeCluster, meanwhile: impl Future<Output = ()>) -> (RemoteEnd, Vec<String>) {
    let (told, executor) = (Mutex::new(Vec::new()), executor(cluster));
    let tell = |text: &str| told.lock().push(text.to_owned());
    let (task, cancel) = (task(), CancellationToken::new());
    let (end, ()) = tokio::join!(executor.work_on(&task, &tell, &cancel), meanwhile);
    (end.unwrap(), told.into_inner())
}

fn failed(what: &str, said: &str) -> RemoteEnd {
    RemoteEnd::Failed { what: what.to_owned(), said: said.to_owned() }
}
