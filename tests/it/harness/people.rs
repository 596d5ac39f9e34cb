//! The actions of people, each with their own token. Time passes before each action: people are slower than a second.

use std::time::Duration;

use http::Method;
use serde_json::{Value, json};

use super::{
    World,
    inside::{ask, ask_at},
};

impl World {
    /// Calls the repository's API as `login`; the answer has to be a success.
    pub(crate) async fn call(&self, login: &str, method: Method, path: &str, body: Value) -> Value {
        let (status, value) = self.try_call(login, method.clone(), path, body).await;
        assert!((200..300).contains(&status), "{login}: {method} {path}: {status} {value}");
        value
    }

    /// Calls another repository's API as `login`; the answer has to be a success.
    pub(crate) async fn call_in(&self, repo: &str, login: &str, method: Method, path: &str, body: Value) -> Value {
        let (status, value) = self.send(repo, login, method.clone(), path, body).await;
        assert!((200..300).contains(&status), "{login}: {method} {path}: {status} {value}");
        value
    }

    /// Calls the repository's API as `login`.
    pub(crate) async fn try_call(&self, login: &str, method: Method, path: &str, body: Value) -> (u16, Value) {
        self.send("acme/site", login, method, path, body).await
    }

    /// Asks GraphQL as `login`; fails if there is a problem.
    pub(crate) async fn ask_graphql(&self, login: &str, query: Value) -> Value {
        let (status, answer) = ask_at(self.forge.router(), login, Method::POST, "/api/graphql", &query).await;
        assert!(status == 200 && answer["errors"].is_null(), "{login}: {status} {answer}");
        answer
    }

    async fn send(&self, repo: &str, login: &str, method: Method, path: &str, body: Value) -> (u16, Value) {
        ask(self.forge.router(), login, method, &format!("/repos/{repo}{path}"), &body).await
    }

    fn later(&self) {
        self.forge.advance(Duration::from_secs(2));
    }

    /// Ann opens an issue with the trigger label.
    pub(crate) async fn asks(&self, title: &str, body: &str) -> u64 {
        self.opens("ann", title, body, &["code"]).await
    }

    /// Opens an issue.
    pub(crate) async fn opens(&self, login: &str, title: &str, body: &str, labels: &[&str]) -> u64 {
        self.later();
        let issue = json!({"title": title, "body": body, "labels": labels});
        self.call(login, Method::POST, "/issues", issue).await["number"].as_u64().unwrap()
    }

    /// Adds a label.
    pub(crate) async fn labels_on(&self, login: &str, issue: u64, label: &str) {
        self.later();
        self.call(login, Method::POST, &format!("/issues/{issue}/labels"), json!({"labels": [label]})).await;
    }

    /// Removes a label.
    pub(crate) async fn labels_off(&self, login: &str, issue: u64, label: &str) {
        self.later();
        self.call(login, Method::DELETE, &format!("/issues/{issue}/labels/{label}"), Value::Null).await;
    }

    /// Comments.
    pub(crate) async fn comments(&self, login: &str, issue: u64, text: &str) {
        self.later();
        self.comments_at_once(login, issue, text).await;
    }

    /// Comments within the second of the last event.
    pub(crate) async fn comments_at_once(&self, login: &str, issue: u64, text: &str) {
        self.call(login, Method::POST, &format!("/issues/{issue}/comments"), json!({"body": text})).await;
    }

    /// Edits an issue: its title, body or state.
    pub(crate) async fn edits(&self, login: &str, issue: u64, change: Value) {
        self.later();
        self.call(login, Method::PATCH, &format!("/issues/{issue}"), change).await;
    }

    /// Makes a branch with one new file on top of `main`.
    pub(crate) async fn pushes(&self, login: &str, branch: &str, path: &str, content: &str) -> String {
        self.later();
        let main = self.call(login, Method::GET, "/git/ref/heads/main", Value::Null).await;
        let commit = self.commits_file(login, &main["object"]["sha"], path, content).await;
        let reference = json!({"ref": format!("refs/heads/{branch}"), "sha": commit});
        self.call(login, Method::POST, "/git/refs", reference).await;
        commit
    }

    /// Puts a commit with one file onto a branch that is there.
    pub(crate) async fn pushes_onto(&self, login: &str, branch: &str, path: &str, content: &str) {
        self.later();
        let tip = self.call(login, Method::GET, &format!("/git/ref/heads/{branch}"), Value::Null).await;
        let commit = self.commits_file(login, &tip["object"]["sha"], path, content).await;
        self.call(login, Method::PATCH, &format!("/git/refs/heads/{branch}"), json!({"sha": commit})).await;
    }

    /// Ann merges a pull request.
    pub(crate) async fn merges(&self, pull: u64) {
        self.later();
        self.call("ann", Method::PUT, &format!("/pulls/{pull}/merge"), json!({})).await;
    }

    /// Somebody who may push to Hob's refs writes this field of the repository's record, which is there.
    pub(crate) async fn writes_record(&self, login: &str, field: &str, value: &Value) {
        let tip = self.call(login, Method::GET, "/git/ref/hob/repository", Value::Null).await["object"]["sha"].clone();
        let path = format!("/git/commits/{}", tip.as_str().unwrap());
        let commit = self.call(login, Method::GET, &path, Value::Null).await;
        let (sentence, record) = commit["message"].as_str().unwrap().split_once("\n\n").unwrap();
        let mut record: Value = serde_json::from_str(record).unwrap();
        record[field] = value.clone();
        let commit = json!({
            "message": format!("{sentence}\n\n{record}\n"), "tree": commit["tree"]["sha"], "parents": [tip],
        });
        let made = self.call(login, Method::POST, "/git/commits", commit).await;
        self.call(login, Method::PATCH, "/git/refs/hob/repository", json!({ "sha": made["sha"] })).await;
    }

    async fn commits_file(&self, login: &str, parent: &Value, path: &str, content: &str) -> String {
        let entry = json!([{"path": path, "mode": "100644", "type": "blob", "content": content}]);
        let tree = self.call(login, Method::POST, "/git/trees", json!({"base_tree": parent, "tree": entry})).await;
        // An address that every Hob used once: such a commit is its own for good.
        let email =
            if login == "hob" { "hob@users.noreply.github.com".to_owned() } else { format!("{login}@example.org") };
        let by = json!({"name": login, "email": email, "date": "2026-01-01T00:00:00Z"});
        let commit = json!({"message": "By hand", "tree": tree["sha"], "parents": [parent], "author": by});
        self.call(login, Method::POST, "/git/commits", commit).await["sha"].as_str().unwrap().to_owned()
    }

    /// Ann makes a repository without a commit, and an issue with the label in it.
    pub(crate) async fn makes_empty_repository(&self, name: &str) {
        let post = async |path: &str, body: Value| {
            let (status, answer) = ask(self.forge.router(), "ann", Method::POST, path, &body).await;
            assert_eq!(status, 201, "{path}: {answer}");
        };
        post("/user/repos", json!({"name": name, "auto_init": false})).await;
        post(&format!("/repos/ann/{name}/labels"), json!({"name": "code", "color": "5319e7"})).await;
        post(&format!("/repos/ann/{name}/issues"), json!({"title": "Begin", "labels": ["code"]})).await;
    }
}
