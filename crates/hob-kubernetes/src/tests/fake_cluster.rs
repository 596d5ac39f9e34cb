//! A fake of the Kubernetes API: Jobs with watches, and lists of pods, events and Kueue's workloads.
//!
//! It answers as documented: <https://kubernetes.io/docs/reference/using-api/api-concepts/> (lists, watches, 410 Gone) and the API's
//! conventions for `Status`. It has no controllers: a test writes what the controllers would.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    sync::Arc,
    time::Duration,
};

use axum::{
    Json, Router,
    body::{Body, Bytes},
    extract::{Path, Query, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::get,
};
use futures_util::{StreamExt, stream};
use kube::Client;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tower::{BoxError, ServiceExt, service_fn};
use yaml_rust2::{Yaml, YamlLoader};

/// What happens to the next requests whose method and path have these parts.
#[derive(Debug, Clone)]
pub(super) enum Fault {
    /// They do not reach the API.
    Away,
    /// They are served, and their answers are lost.
    Lost,
    /// They are refused with a code and a message.
    Refused(u16, &'static str),
    /// Somebody else made the same object just before.
    Faster,
}

#[derive(Default)]
struct Objects {
    version: u64,
    jobs: BTreeMap<String, Value>,
    /// Pods, events and workloads, by the name of their resource.
    others: BTreeMap<String, Vec<Value>>,
    /// What happened to Jobs, from the oldest version that is known.
    history: Vec<(u64, Value)>,
    watchers: Vec<UnboundedSender<Value>>,
    silent: Vec<UnboundedSender<Value>>,
    /// Faults, by method, and how often each happens.
    faults: Vec<(&'static str, Fault, usize)>,
    /// The methods and resources of requests, with `watch` for a watch.
    requests: Vec<String>,
    /// What the client may do, and what it did.
    role: BTreeSet<Right>,
    used: BTreeSet<Right>,
}

/// A verb, a group of the API and a resource.
type Right = (String, String, String);

#[derive(Clone)]
pub(super) struct FakeCluster(Arc<Mutex<Objects>>);

impl Default for FakeCluster {
    /// A cluster in which the client has the role of the manifests.
    fn default() -> Self {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/kubernetes/rbac.yaml");
        let manifests = YamlLoader::load_from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let role = manifests.iter().find(|one| one["kind"].as_str() == Some("Role")).unwrap();
        let texts = |list: &Yaml| -> Vec<String> {
            list.as_vec().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
        };
        let mut rights = BTreeSet::new();
        for rule in role["rules"].as_vec().unwrap() {
            for group in texts(&rule["apiGroups"]) {
                for resource in texts(&rule["resources"]) {
                    let verbs = texts(&rule["verbs"]).into_iter();
                    rights.extend(verbs.map(|verb| (verb, group.clone(), resource.clone())));
                }
            }
        }
        Self(Arc::new(Mutex::new(Objects { role: rights, ..Objects::default() })))
    }
}

/// The right that a request needs.
fn right<B>(request: &axum::http::Request<B>) -> Right {
    let path: Vec<&str> = request.uri().path().split('/').collect();
    let group = if path[1] == "apis" { path[2] } else { "" };
    let verb = match request.uri().query() {
        _ if request.method() == "POST" => "create",
        Some(query) if query.contains("watch=true") => "watch",
        Some(_) | None => "list",
    };
    (verb.to_owned(), group.to_owned(), path[path.len() - 1].to_owned())
}

type Parameters = Query<BTreeMap<String, String>>;

impl FakeCluster {
    /// A client that is connected to it without a network.
    pub(super) fn client(&self) -> Client {
        let routes = Router::new()
            .route("/apis/batch/v1/namespaces/hob/jobs", get(list_jobs).post(create_job))
            .route("/api/v1/namespaces/hob/{resource}", get(list_others))
            .route("/apis/kueue.x-k8s.io/{version}/namespaces/hob/{resource}", get(list_workloads))
            .with_state(self.clone());
        let cluster = self.clone();
        let served = service_fn(move |request: axum::http::Request<kube::client::Body>| {
            let (routes, cluster) = (routes.clone(), cluster.clone());
            async move {
                let method = request.method().to_string();
                let needed = right(&request);
                if !cluster.0.lock().role.contains(&needed) {
                    return Ok(refusal(403, &format!("the role does not let {needed:?}")));
                }
                cluster.0.lock().used.insert(needed);
                let lost = || BoxError::from(io::Error::from(io::ErrorKind::ConnectionReset));
                match cluster.fault(&method) {
                    Some(Fault::Away) => Err(lost()),
                    Some(Fault::Lost) => {
                        drop(routes.oneshot(request).await?);
                        Err(lost())
                    }
                    Some(Fault::Refused(code, message)) => Ok(refusal(code, message)),
                    Some(Fault::Faster) => {
                        let (parts, body) = request.into_parts();
                        let body = axum::body::to_bytes(Body::new(body), usize::MAX).await?;
                        let again = |body: Bytes| axum::http::Request::from_parts(parts.clone(), Body::from(body));
                        drop(routes.clone().oneshot(again(body.clone())).await?);
                        Ok(routes.oneshot(again(body)).await?)
                    }
                    None => Ok(routes.oneshot(request).await?),
                }
            }
        });
        Client::new(served, "hob")
    }

    fn fault(&self, method: &str) -> Option<Fault> {
        let mut objects = self.0.lock();
        let (_, fault, left) = objects.faults.iter_mut().find(|(of, _, left)| *of == method && *left > 0)?;
        *left -= 1;
        Some(fault.clone())
    }

    /// Plans a fault of the next requests with this method.
    pub(super) fn plan(&self, method: &'static str, fault: Fault, times: usize) {
        self.0.lock().faults.push((method, fault, times));
    }

    /// The rights of the role that no request needed.
    pub(super) fn unused_rights(&self) -> Vec<Right> {
        let objects = self.0.lock();
        objects.role.difference(&objects.used).cloned().collect()
    }

    /// The names of the Jobs.
    pub(super) fn names(&self) -> Vec<String> {
        self.0.lock().jobs.keys().cloned().collect()
    }

    pub(super) fn job(&self, name: &str) -> Value {
        self.0.lock().jobs[name].clone()
    }

    /// How many requests there were.
    pub(super) fn requests(&self, what: &str) -> usize {
        self.0.lock().requests.iter().filter(|request| *request == what).count()
    }

    /// The name of the one Job, as soon as it is watched.
    pub(super) async fn watched(&self) -> String {
        self.until(|objects| !objects.watchers.is_empty()).await;
        let names = self.names();
        assert_eq!(names.len(), 1, "{names:?}");
        names.into_iter().next().unwrap()
    }

    /// Waits for as many watches as there were in all.
    pub(super) async fn watched_times(&self, times: usize) {
        self.until(|objects| objects.requests.iter().filter(|request| *request == "watch jobs").count() >= times).await;
    }

    async fn until(&self, is_so: impl Fn(&Objects) -> bool) {
        for _ in 0..10_000 {
            if is_so(&self.0.lock()) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("it did not come to that: {:?}", self.0.lock().requests);
    }

    /// What a controller writes of a Job: `spec.suspend` and the status.
    pub(super) fn write(&self, name: &str, suspend: bool, status: Value) {
        let mut objects = self.0.lock();
        let mut job = objects.jobs[name].clone();
        job["spec"]["suspend"] = json!(suspend);
        job["status"] = status;
        objects.store(job, "MODIFIED");
    }

    pub(super) fn delete(&self, name: &str) {
        let mut objects = self.0.lock();
        let job = objects.jobs[name].clone();
        objects.store(job, "DELETED");
    }

    /// Sets the pods, events or workloads.
    pub(super) fn set(&self, resource: &str, all: Value) {
        self.0.lock().others.insert(resource.to_owned(), all.as_array().unwrap().clone());
    }

    /// Ends the watches, and forgets what happened before: one from then is refused.
    pub(super) fn forget_history(&self) {
        let mut objects = self.0.lock();
        objects.version += 1;
        objects.history.clear();
        objects.watchers.clear();
    }

    /// Keeps the watches open, and tells them nothing more, as a connection does that was lost without a word.
    pub(super) fn silence_watches(&self) {
        let mut objects = self.0.lock();
        let silent = std::mem::take(&mut objects.watchers);
        objects.silent.extend(silent);
    }

    /// Ends a watch as the API does that finds its version too old while it goes on.
    pub(super) fn expire_watches(&self) {
        let mut objects = self.0.lock();
        let gone = json!({ "type": "ERROR", "object": status(410, "too old resource version") });
        for watcher in std::mem::take(&mut objects.watchers) {
            watcher.send(gone.clone()).unwrap();
        }
    }
}

impl Objects {
    fn store(&mut self, mut job: Value, kind: &str) {
        self.version += 1;
        job["metadata"]["resourceVersion"] = json!(self.version.to_string());
        let name = job["metadata"]["name"].as_str().unwrap().to_owned();
        let event = json!({ "type": kind, "object": job });
        match kind {
            "DELETED" => drop(self.jobs.remove(&name)),
            _ => drop(self.jobs.insert(name, job)),
        }
        self.history.push((self.version, event.clone()));
        self.watchers.retain(|watcher| watcher.send(event.clone()).is_ok());
    }
}

fn status(code: u16, message: &str) -> Value {
    json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "message": message, "reason": "" })
}

fn refusal(code: u16, message: &str) -> Response {
    (StatusCode::from_u16(code).unwrap(), Json(status(code, message))).into_response()
}

fn list(kind: &str, version: u64, items: Vec<Value>) -> Response {
    let metadata = json!({ "resourceVersion": version.to_string() });
    Json(json!({ "kind": format!("{kind}List"), "apiVersion": "v1", "metadata": metadata, "items": items }))
        .into_response()
}

/// Whether the object has the labels that the request asks for.
fn is_selected(object: &Value, parameters: &BTreeMap<String, String>) -> bool {
    let asked = parameters.get("labelSelector").map_or("", String::as_str);
    asked
        .split(',')
        .filter_map(|pair| pair.split_once('='))
        .all(|(key, value)| object["metadata"]["labels"][key] == *value)
}

async fn list_jobs(State(cluster): State<FakeCluster>, Query(parameters): Parameters) -> Response {
    let mut objects = cluster.0.lock();
    if parameters.get("watch").map(String::as_str) != Some("true") {
        objects.requests.push("GET jobs".to_owned());
        let items = objects.jobs.values().filter(|job| is_selected(job, &parameters)).cloned().collect();
        return list("Job", objects.version, items);
    }
    objects.requests.push("watch jobs".to_owned());
    let from: u64 = parameters["resourceVersion"].parse().unwrap();
    if objects.history.first().is_none_or(|(oldest, _)| from + 1 < *oldest) && from < objects.version {
        return refusal(410, "too old resource version");
    }
    let (sender, mut events) = unbounded_channel();
    for (_, event) in objects.history.iter().filter(|(version, _)| *version > from) {
        sender.send(event.clone()).unwrap();
    }
    objects.watchers.push(sender);
    let lines = stream::poll_fn(move |context| events.poll_recv(context)).filter(move |event: &Value| {
        std::future::ready(event["type"] == "ERROR" || is_selected(&event["object"], &parameters))
    });
    Body::from_stream(lines.map(|event| Ok::<_, io::Error>(format!("{event}\n")))).into_response()
}

async fn create_job(State(cluster): State<FakeCluster>, Json(mut job): Json<Value>) -> Response {
    let mut objects = cluster.0.lock();
    objects.requests.push("POST jobs".to_owned());
    let name = job["metadata"]["name"].as_str().unwrap().to_owned();
    if objects.jobs.contains_key(&name) {
        return refusal(409, &format!("jobs.batch \"{name}\" already exists"));
    }
    job["metadata"]["namespace"] = json!("hob");
    job["metadata"]["uid"] = json!(format!("uid-of-{name}"));
    objects.store(job, "ADDED");
    (StatusCode::CREATED, Json(objects.jobs[&name].clone())).into_response()
}

async fn list_others(
    State(cluster): State<FakeCluster>,
    Path(resource): Path<String>,
    Query(parameters): Parameters,
) -> Response {
    let objects = cluster.0.lock();
    let kind = if resource == "pods" { "Pod" } else { "Event" };
    let all = objects.others.get(&resource).into_iter().flatten();
    list(kind, objects.version, all.filter(|object| is_selected(object, &parameters)).cloned().collect())
}

/// A cluster whose Kueue is older than the newest version.
async fn list_workloads(
    State(cluster): State<FakeCluster>,
    Path((version, resource)): Path<(String, String)>,
    Query(parameters): Parameters,
) -> Response {
    if version != "v1beta1" {
        return (StatusCode::NOT_FOUND, "404 page not found\n").into_response();
    }
    list_others(State(cluster), Path(resource), Query(parameters)).await
}
