//! People on the rehearsal's forge: they do over its API what they would do in a browser.

use anyhow::{Context, bail};
use serde_json::{Value, json};

/// A person with a token.
pub(in crate::cli) struct Person {
    client: reqwest::Client,
    /// The repository's address on the API.
    repo: String,
    token: &'static str,
}

impl Person {
    /// A person who acts on the repository at `repo`, an address of the API.
    pub(super) fn new(client: &reqwest::Client, repo: &str, token: &'static str) -> Self {
        Self { client: client.clone(), repo: repo.to_owned(), token }
    }

    /// Opens an issue; its number.
    pub(super) async fn open_issue(&self, title: &str, body: &str) -> anyhow::Result<u64> {
        let made = self.send(reqwest::Method::POST, "/issues", &json!({ "title": title, "body": body })).await?;
        made["number"].as_u64().context("the forge made an issue without a number")
    }

    /// Makes a label.
    pub(super) async fn make_label(&self, name: &str) -> anyhow::Result<()> {
        self.send(reqwest::Method::POST, "/labels", &json!({ "name": name, "color": "5319e7" })).await.map(drop)
    }

    /// Puts labels on an issue.
    pub(super) async fn label(&self, issue: u64, names: &[&str]) -> anyhow::Result<()> {
        let path = format!("/issues/{issue}/labels");
        self.send(reqwest::Method::POST, &path, &json!({ "labels": names })).await.map(drop)
    }

    /// Comments on an issue.
    pub(super) async fn comment(&self, issue: u64, body: &str) -> anyhow::Result<()> {
        let path = format!("/issues/{issue}/comments");
        self.send(reqwest::Method::POST, &path, &json!({ "body": body })).await.map(drop)
    }

    /// Merges a pull request.
    pub(super) async fn merge(&self, pull: u64) -> anyhow::Result<()> {
        self.send(reqwest::Method::PUT, &format!("/pulls/{pull}/merge"), &json!({})).await.map(drop)
    }

    /// Reads something of the repository.
    pub(super) async fn read(&self, path: &str) -> anyhow::Result<Value> {
        self.send(reqwest::Method::GET, path, &Value::Null).await
    }

    async fn send(&self, method: reqwest::Method, path: &str, body: &Value) -> anyhow::Result<Value> {
        let mut request = self.client.request(method, format!("{}{path}", self.repo)).bearer_auth(self.token);
        if !body.is_null() {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        let answer = request.send().await.with_context(|| format!("the rehearsal's forge did not answer on {path}"))?;
        let status = answer.status();
        let value: Value = serde_json::from_slice(&answer.bytes().await?).unwrap_or_default();
        if !status.is_success() {
            bail!("the rehearsal's forge answered {status} on {path}: {}", value["message"]);
        }
        Ok(value)
    }
}
