//! The user's Job, and what Hob fills into it.
//!
//! # Guarantees
//! - Name, labels, `backoffLimit: 0`, `restartPolicy: Never` and the arguments of Hob's container are Hob's, and win over the template:
//!   by them a second dispatcher finds the same Job, and one pod works on one issue once.
//! - Where the template is silent, the pod has no token of the cluster's API, a read-only root, no capabilities and no way to more rights.
//! - A template that opens the node or the cluster's API to the pod is refused when it is read, because an agent in that pod runs what a
//!   repository says: privileged containers, the node's namespaces and folders, a service account's token.
//!
//! # Caveats
//! Other rights that the template gives are the operator's decision: a sandbox with a box in a container needs its own profile for
//! system calls. The namespace's admission decides on them, too.

use std::{fs, io, path::Path, time::Duration};

use hob_worker::RemoteTask;
use k8s_openapi::api::{
    batch::v1::Job,
    core::v1::{Container, PodSpec},
};
use serde_json::{Map, Value, json};
use yaml_rust2::{Yaml, YamlLoader};

use crate::{
    name::{ISSUE, REPOSITORY, repository_label},
    passes::{Passes, fill_in, is_forwarded},
};

/// The container that runs Hob, if the template has several.
const CONTAINER: &str = "hob";
/// Seconds for a node to be found and to start the pod, and for what a forge at its limits lets Hob wait. The deadline counts from when the
/// controller first sees the Job, or Kueue lets it begin: where pods wait longer for a node, the template says more.
const BESIDE_THE_ATTEMPT: u64 = 3_600;
/// Seconds that a finished Job is kept, for those who look at its log.
const KEPT: u64 = 86_400;

/// A template that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// The file.
    #[error("`{path}`: {source}")]
    Unreadable {
        /// Its path.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// What is in it.
    #[error("`{path}`: {why}")]
    Refused {
        /// Its path.
        path: String,
        /// Why, a sentence.
        why: String,
    },
}

/// The user's Job.
#[derive(Debug, Clone)]
pub struct Template {
    job: Value,
    namespace: Option<String>,
    /// The place of the container that runs Hob.
    container: usize,
    /// Whether that container asks the forge through a dispatcher, with a pass.
    pub(crate) is_forwarded: bool,
}

impl Template {
    /// Reads the file with the Job.
    ///
    /// # Errors
    /// [`TemplateError`] if it is not a Job, or opens the node or the cluster's API to its pod.
    pub fn read(path: &Path) -> Result<Self, TemplateError> {
        let shown = path.display().to_string();
        match fs::read_to_string(path) {
            Ok(text) => Self::parse(&text).map_err(|Why(why)| TemplateError::Refused { path: shown, why }),
            Err(source) => Err(TemplateError::Unreadable { path: shown, source }),
        }
    }

    pub(crate) fn parse(text: &str) -> Result<Self, Why> {
        let documents = YamlLoader::load_from_str(text).map_err(|error| Why(error.to_string()))?;
        let [document] = documents.as_slice() else { return Err(Why("it must have one document, a Job".to_owned())) };
        let job = json_of(document)?;
        let of = |key: &str| job.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        if (of("apiVersion").as_str(), of("kind").as_str()) != ("batch/v1", "Job") {
            return Err(Why("it must be a Job of `batch/v1`".to_owned()));
        }
        let typed: Job =
            serde_json::from_value(job.clone()).map_err(|error| Why(format!("it is not a Job: {error}")))?;
        let pod = typed.spec.and_then(|spec| spec.template.spec).unwrap_or_default();
        if let Some(opened) = opened(&pod) {
            return Err(Why(format!("{opened}: an agent runs in this pod")));
        }
        let container = match pod.containers.as_slice() {
            [_one] => Some(0),
            several => several.iter().position(|container| container.name == CONTAINER),
        };
        let container =
            container.ok_or_else(|| Why(format!("it must have one container, or one with the name `{CONTAINER}`")))?;
        let is_forwarded = pod.containers.get(container).map(is_forwarded).transpose();
        let is_forwarded = is_forwarded.map_err(|both| Why(both.to_string()))?.unwrap_or_default();
        Ok(Self { job, namespace: typed.metadata.namespace, container, is_forwarded })
    }

    /// The namespace that the template names.
    pub(crate) fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// The Job for an issue, with a pass if its pod is to have one.
    pub(crate) fn job(&self, task: &RemoteTask, name: &str, passes: Option<&Passes>) -> Value {
        // The template was read as a Job, so that each place below is a map or not there.
        let mut job = self.job.clone();
        let labels = json!({
            "app.kubernetes.io/managed-by": "hob",
            REPOSITORY: repository_label(&task.repo),
            ISSUE: task.issue.to_string(),
        });
        merge(&mut job["metadata"]["labels"], &labels);
        job["metadata"]["name"] = json!(name);
        let spec = &mut job["spec"];
        spec["backoffLimit"] = json!(0);
        default(&mut spec["activeDeadlineSeconds"], json!(task.longest.as_secs().saturating_add(BESIDE_THE_ATTEMPT)));
        default(&mut spec["ttlSecondsAfterFinished"], json!(KEPT));
        let deadline = Duration::from_secs(spec["activeDeadlineSeconds"].as_u64().unwrap_or(BESIDE_THE_ATTEMPT));
        merge(&mut spec["template"]["metadata"]["labels"], &labels);
        let pod = &mut spec["template"]["spec"];
        pod["restartPolicy"] = json!("Never");
        default(&mut pod["automountServiceAccountToken"], json!(false));
        default(&mut pod["enableServiceLinks"], json!(false));
        default(&mut pod["securityContext"]["runAsNonRoot"], json!(true));
        default(&mut pod["securityContext"]["seccompProfile"], json!({ "type": "RuntimeDefault" }));
        for list in ["initContainers", "containers"] {
            for container in pod.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
                let rights = &mut container["securityContext"];
                default(&mut rights["allowPrivilegeEscalation"], json!(false));
                default(&mut rights["readOnlyRootFilesystem"], json!(true));
                default(&mut rights["capabilities"]["drop"], json!(["ALL"]));
            }
        }
        let container = &mut pod["containers"][self.container];
        // The end of its log tells why it failed, without a right to read logs.
        default(&mut container["terminationMessagePolicy"], json!("FallbackToLogsOnError"));
        default(&mut container["args"], json!([]));
        if let Some(arguments) = container["args"].as_array_mut() {
            let own = ["run", &task.issue.to_string(), "--repo", &task.repo.to_string()].map(Value::from);
            arguments.extend(own);
        }
        if let Some(passes) = passes.filter(|_| self.is_forwarded) {
            fill_in(container, task, name, deadline, passes);
        }
        job
    }
}

/// Why a template cannot be used, a sentence.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Why(String);

/// Sets a value where the template says nothing.
fn default(place: &mut Value, value: Value) {
    if place.is_null() {
        *place = value;
    }
}

fn merge(place: &mut Value, more: &Value) {
    default(place, json!({}));
    if let (Some(place), Some(more)) = (place.as_object_mut(), more.as_object()) {
        place.extend(more.clone());
    }
}

/// What the pod opens to what runs in it. `None` if nothing.
fn opened(pod: &PodSpec) -> Option<String> {
    let is = |switch: Option<bool>| switch == Some(true);
    for (switch, name) in [(pod.host_network, "hostNetwork"), (pod.host_pid, "hostPID"), (pod.host_ipc, "hostIPC")] {
        if is(switch) {
            return Some(format!("it must not set `{name}`, which opens the node"));
        }
    }
    if is(pod.automount_service_account_token) {
        return Some("it must not set `automountServiceAccountToken`, which opens the cluster's API".to_owned());
    }
    for volume in pod.volumes.iter().flatten() {
        if volume.host_path.is_some() {
            return Some(format!("its volume `{}` must not be a `hostPath`, which opens the node", volume.name));
        }
        let projected = volume.projected.iter().flat_map(|projected| projected.sources.iter().flatten());
        if projected.into_iter().any(|source| source.service_account_token.is_some()) {
            let name = &volume.name;
            return Some(format!(
                "its volume `{name}` must not have a `serviceAccountToken`, which opens the cluster's API"
            ));
        }
    }
    let privileged =
        |container: &&Container| container.security_context.as_ref().is_some_and(|context| is(context.privileged));
    let containers = pod.init_containers.iter().flatten().chain(&pod.containers);
    let container = containers.into_iter().find(privileged)?;
    Some(format!("its container `{}` must not be `privileged`, which opens the node", container.name))
}

fn json_of(yaml: &Yaml) -> Result<Value, Why> {
    Ok(match yaml {
        Yaml::Null => Value::Null,
        Yaml::Boolean(is) => json!(is),
        Yaml::Integer(number) => json!(number),
        Yaml::Real(number) => json!(number.parse::<f64>().map_err(|error| Why(format!("`{number}`: {error}")))?),
        Yaml::String(text) => json!(text),
        Yaml::Array(items) => Value::Array(items.iter().map(json_of).collect::<Result<_, _>>()?),
        Yaml::Hash(entries) => {
            let mut map = Map::new();
            for (key, value) in entries {
                let key = key.as_str().ok_or_else(|| Why(format!("the key {key:?} is not a text")))?;
                map.insert(key.to_owned(), json_of(value)?);
            }
            Value::Object(map)
        }
        Yaml::Alias(_) | Yaml::BadValue => return Err(Why("it has a reference to another place".to_owned())),
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hob_domain::IssueNumber;

    use super::*;

    const LEAST: &str = "apiVersion: batch/v1
kind: Job
spec:
  template:
    spec:
      containers: [{ name: worker, image: registry/hob }]
";

    fn job_of(text: &str) -> Value {
        let template = Template::parse(text).unwrap_or_else(|Why(why)| panic!("{why}"));
        let longest = Duration::from_secs(1_800);
        let task = RemoteTask { repo: "acme/site".parse().unwrap(), issue: IssueNumber(7), ledger: None, longest };
        template.job(&task, "hob-site-7-0", None)
    }

    #[test]
    fn what_the_template_leaves_out_is_filled_in() {
        let labels = json!({ "app.kubernetes.io/managed-by": "hob", "hob/repository": "acme.site", "hob/issue": "7" });
        let pod = json!({
            "restartPolicy": "Never",
            "automountServiceAccountToken": false,
            "enableServiceLinks": false,
            "securityContext": { "runAsNonRoot": true, "seccompProfile": { "type": "RuntimeDefault" } },
            "containers": [{
                "name": "worker",
                "image": "registry/hob",
                "args": ["run", "7", "--repo", "acme/site"],
                "terminationMessagePolicy": "FallbackToLogsOnError",
                "securityContext": {
                    "allowPrivilegeEscalation": false,
                    "readOnlyRootFilesystem": true,
                    "capabilities": { "drop": ["ALL"] },
                },
            }],
        });
        let job = json!({
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": { "name": "hob-site-7-0", "labels": labels },
            "spec": {
                "backoffLimit": 0,
                "activeDeadlineSeconds": 5_400,
                "ttlSecondsAfterFinished": 86_400,
                "template": { "metadata": { "labels": labels }, "spec": pod },
            },
        });
        assert_eq!(job_of(LEAST), job);
    }

    #[test]
    fn what_the_template_says_counts_but_for_what_is_hobs() {
        let job = job_of(
            "apiVersion: batch/v1
kind: Job
metadata:
  name: mine
  namespace: agents
  labels: { team: web, hob/issue: '1' }
spec:
  backoffLimit: 6
  activeDeadlineSeconds: 600
  ttlSecondsAfterFinished: 60
  fieldOfALaterVersion: { a: [1, 0.5, ~] }
  template:
    metadata: { labels: { team: web } }
    spec:
      runtimeClassName: kata
      restartPolicy: OnFailure
      enableServiceLinks: true
      securityContext: { runAsUser: 10001, seccompProfile: { type: Localhost, localhostProfile: box.json } }
      initContainers: [{ name: fetch, image: i, securityContext: { readOnlyRootFilesystem: false } }]
      containers:
        - { name: beside, image: i }
        - { name: hob, image: i, args: [--config, /etc/hob.toml], terminationMessagePolicy: File }
",
        );
        let spec = &job["spec"];
        assert_eq!(job["metadata"]["name"], "hob-site-7-0");
        assert_eq!(
            (&job["metadata"]["labels"]["team"], &job["metadata"]["labels"]["hob/issue"]),
            (&json!("web"), &json!("7"))
        );
        assert_eq!((&spec["backoffLimit"], &spec["activeDeadlineSeconds"]), (&json!(0), &json!(600)));
        assert_eq!(
            (&spec["ttlSecondsAfterFinished"], &spec["fieldOfALaterVersion"]["a"]),
            (&json!(60), &json!([1, 0.5, null]))
        );
        let pod = &spec["template"]["spec"];
        assert_eq!((&pod["runtimeClassName"], &pod["restartPolicy"]), (&json!("kata"), &json!("Never")));
        assert_eq!((&pod["enableServiceLinks"], &pod["securityContext"]["runAsNonRoot"]), (&json!(true), &json!(true)));
        assert_eq!(pod["securityContext"]["seccompProfile"]["localhostProfile"], "box.json");
        assert_eq!(pod["initContainers"][0]["securityContext"]["readOnlyRootFilesystem"], false);
        assert_eq!(pod["initContainers"][0]["securityContext"]["allowPrivilegeEscalation"], false);
        assert!(pod["containers"][0].get("args").is_none(), "{pod}");
        assert_eq!(pod["containers"][0]["securityContext"]["capabilities"]["drop"], json!(["ALL"]));
        let hob = &pod["containers"][1];
        assert_eq!(hob["args"], json!(["--config", "/etc/hob.toml", "run", "7", "--repo", "acme/site"]));
        assert_eq!(hob["terminationMessagePolicy"], "File");
    }

    #[test]
    fn a_template_that_is_no_job_or_opens_node_or_cluster_is_refused() {
        let with = |old: &str, new: &str| LEAST.replace(old, new);
        let in_pod = |line: &str| with("      containers", &format!("      {line}\n      containers"));
        let node = ", which opens the node: an agent runs in this pod";
        let cluster = ", which opens the cluster's API: an agent runs in this pod";
        for (text, says) in [
            ("a: [".to_owned(), String::new()),
            (String::new(), "it must have one document, a Job".to_owned()),
            (format!("{LEAST}---\n{LEAST}"), "it must have one document, a Job".to_owned()),
            (with("kind: Job", "kind: CronJob"), "it must be a Job of `batch/v1`".to_owned()),
            (with("batch/v1", "v1"), "it must be a Job of `batch/v1`".to_owned()),
            (with("image: registry/hob", "image: [1]"), "it is not a Job: invalid type".to_owned()),
            (with("spec:\n  template", "1: 2\nspec:\n  template"), "the key Integer(1) is not a text".to_owned()),
            (
                with("[{ name: worker, image: registry/hob }]", "[]"),
                "it must have one container, or one with the name `hob`".to_owned(),
            ),
            (
                with("}]", "}, { name: b, image: c }]"),
                "it must have one container, or one with the name `hob`".to_owned(),
            ),
            (in_pod("hostNetwork: true"), format!("it must not set `hostNetwork`{node}")),
            (in_pod("hostPID: true"), format!("it must not set `hostPID`{node}")),
            (in_pod("hostIPC: true"), format!("it must not set `hostIPC`{node}")),
            (
                in_pod("automountServiceAccountToken: true"),
                format!("it must not set `automountServiceAccountToken`{cluster}"),
            ),
            (
                in_pod("volumes: [{ name: disk, hostPath: { path: / } }]"),
                format!("its volume `disk` must not be a `hostPath`{node}"),
            ),
            (
                in_pod("volumes: [{ name: api, projected: { sources: [{ serviceAccountToken: { path: t } }] } }]"),
                format!("its volume `api` must not have a `serviceAccountToken`{cluster}"),
            ),
            (
                with("hob }", "hob, securityContext: { privileged: true } }"),
                format!("its container `worker` must not be `privileged`{node}"),
            ),
            (
                in_pod("initContainers: [{ name: first, image: i, securityContext: { privileged: true } }]"),
                format!("its container `first` must not be `privileged`{node}"),
            ),
        ] {
            match Template::parse(&text) {
                Ok(_) => panic!("it is taken: {text}"),
                Err(Why(why)) => assert!(why.starts_with(&says), "{why}\n{says}"),
            }
        }
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("job.yaml");
        let error = Template::read(&path).unwrap_err().to_string();
        assert!(error.contains("job.yaml`: ") && error.contains("No such file"), "{error}");
        fs::write(&path, "kind: Pod").unwrap();
        let error = Template::read(&path).unwrap_err().to_string();
        assert!(error.ends_with("job.yaml`: it must be a Job of `batch/v1`"), "{error}");
        fs::write(&path, LEAST).unwrap();
        assert_eq!(Template::read(&path).unwrap().namespace(), None);
    }

    #[test]
    fn the_job_of_the_manifests_is_taken_and_asks_for_what_a_restricted_namespace_gives() {
        let packaged = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/kubernetes/job.yaml");
        let job = job_of(&fs::read_to_string(packaged).unwrap());
        let pod = &job["spec"]["template"]["spec"];
        assert_eq!((&pod["runtimeClassName"], &pod["automountServiceAccountToken"]), (&json!("kata"), &json!(false)));
        let rights = json!({ "runAsUser": 10001, "runAsGroup": 10001, "fsGroup": 10001, "runAsNonRoot": true,
            "seccompProfile": { "type": "RuntimeDefault" } });
        assert_eq!(pod["securityContext"], rights);
        let rights = json!({ "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": { "drop": ["ALL"] } });
        assert_eq!(pod["containers"][0]["securityContext"], rights);
        let arguments = json!(["--config", "/etc/hob/hob.toml", "run", "7", "--repo", "acme/site"]);
        assert_eq!(pod["containers"][0]["args"], arguments);
    }
}
