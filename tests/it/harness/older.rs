//! Ledgers as workers of another version wrote them.

use http::Method;
use serde_json::{Map, Value, json};

use super::World;

#[path = "../../../crates/hob-domain/src/issue/as_version_1.rs"]
mod as_version_1;

impl World {
    /// The newest transition of an issue is one that a worker of version 1 wrote.
    pub(crate) async fn is_of_version_1(&self, issue: u64) {
        self.rewrites(issue, as_version_1::as_version_1).await;
    }

    /// The newest transition of an issue has another record.
    pub(crate) async fn rewrites(&self, issue: u64, change: impl FnOnce(Map<String, Value>) -> Map<String, Value>) {
        let tip = self.look(&format!("/git/ref/hob/issues/{issue}")).await["object"]["sha"].clone();
        let commit = self.look(&format!("/git/commits/{}", tip.as_str().unwrap())).await;
        let (sentence, body) = commit["message"].as_str().unwrap().split_once("\n\n").unwrap();
        let record = change(serde_json::from_str(body).unwrap());
        let parents: Vec<&Value> = commit["parents"].as_array().unwrap().iter().map(|parent| &parent["sha"]).collect();
        let message = format!("{sentence}\n\n{}\n", Value::Object(record));
        let made = json!({ "message": message, "tree": commit["tree"]["sha"], "parents": parents });
        let made = self.call("ann", Method::POST, "/git/commits", made).await;
        let moved = json!({ "sha": made["sha"], "force": true });
        self.call("ann", Method::PATCH, &format!("/git/refs/hob/issues/{issue}"), moved).await;
    }
}
