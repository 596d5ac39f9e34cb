//! A test's view: labels, comments, pull requests, commits, the ledger, briefs, and the requests to the forge.

use github_emulator::LoggedRequest;
use hob_domain::{BlockCode, IssueNumber, Record, RepositoryRecord, Timestamp};
use hob_forge::{Access, Forge};
use hob_words::STATUS_MARK;
use http::Method;
use serde_json::Value;

use super::{World, inside, world::repo};

/// A comment.
#[derive(Debug, Clone)]
pub(crate) struct Said {
    pub(crate) author: String,
    pub(crate) text: String,
}

/// A commit.
#[derive(Debug, Clone)]
pub(crate) struct Commit {
    pub(crate) author: String,
    pub(crate) email: String,
    pub(crate) message: String,
}

/// The answer as a list.
fn list(value: Value) -> Vec<Value> {
    value.as_array().unwrap().clone()
}

/// A text in an answer.
fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

impl World {
    /// A client that only looks.
    fn watch(&self) -> Forge {
        inside::client(self.forge.router(), None, "watch", &self.settings, Access::ReadOnly)
    }

    pub(crate) async fn look(&self, path: &str) -> Value {
        self.call("watch", Method::GET, path, Value::Null).await
    }

    /// The forge's time.
    pub(crate) async fn now(&self) -> Timestamp {
        let forge = self.watch();
        forge.ledger().tips().await.unwrap();
        forge.now()
    }

    /// The repository's page.
    pub(crate) fn page(&self) -> String {
        format!("{}/{}", self.forge.server_url(), repo())
    }

    /// The issue's labels, sorted.
    pub(crate) async fn labels(&self, issue: u64) -> Vec<String> {
        let labels = list(self.look(&format!("/issues/{issue}/labels")).await);
        let mut names: Vec<String> = labels.iter().map(|label| text(&label["name"])).collect();
        names.sort();
        names
    }

    /// The issue's comments, the oldest first.
    pub(crate) async fn said(&self, issue: u64) -> Vec<Said> {
        let comments = list(self.look(&format!("/issues/{issue}/comments?per_page=100")).await);
        let said = comments.iter().map(|one| Said { author: text(&one["user"]["login"]), text: text(&one["body"]) });
        said.collect()
    }

    /// The reports on an issue.
    pub(crate) async fn reports(&self, issue: u64) -> Vec<String> {
        let said = self.said(issue).await.into_iter().filter(|said| said.text.starts_with("<!-- hob:report "));
        said.map(|said| said.text).collect()
    }

    /// Why the issue is blocked; `None` if it is not.
    pub(crate) async fn blocked(&self, issue: u64) -> Option<BlockCode> {
        self.record(issue).await.unwrap().blocked.map(|blocked| blocked.reason)
    }

    /// The text of the status comment.
    pub(crate) async fn status(&self, issue: u64) -> String {
        let said = self.said(issue).await;
        let own = said.into_iter().find(|said| said.author.starts_with("hob") && said.text.starts_with(STATUS_MARK));
        own.map(|said| said.text).unwrap_or_default()
    }

    /// Every pull request, the oldest first.
    pub(crate) async fn pulls(&self) -> Vec<Value> {
        list(self.look("/pulls?state=all&per_page=100&sort=created&direction=asc").await)
    }

    /// The one pull request there is.
    pub(crate) async fn pull(&self) -> Value {
        let mut pulls = self.pulls().await;
        assert_eq!(pulls.len(), 1, "{pulls:?}");
        pulls.remove(0)
    }

    /// Every branch but `main`.
    pub(crate) async fn branches(&self) -> Vec<String> {
        let branches = list(self.look("/branches?per_page=100").await);
        branches.iter().map(|branch| text(&branch["name"])).filter(|name| name != "main").collect()
    }

    /// The commits of a pull request.
    pub(crate) async fn commits(&self, pull: u64) -> Vec<Commit> {
        let commits = list(self.look(&format!("/pulls/{pull}/commits")).await);
        let of = |one: &Value| Commit {
            author: text(&one["commit"]["author"]["name"]),
            email: text(&one["commit"]["author"]["email"]),
            message: text(&one["commit"]["message"]),
        };
        commits.iter().map(of).collect()
    }

    /// A file of a branch.
    pub(crate) async fn content(&self, path: &str, branch: &str) -> String {
        use base64::Engine;
        let found = self.look(&format!("/contents/{path}?ref={branch}")).await;
        let joined: String = found["content"].as_str().unwrap().split_whitespace().collect();
        String::from_utf8(base64::engine::general_purpose::STANDARD.decode(joined).unwrap()).unwrap()
    }

    /// The paths a pull request changes.
    pub(crate) async fn changed(&self, pull: u64) -> Vec<String> {
        let files = list(self.look(&format!("/pulls/{pull}/files")).await);
        files.iter().map(|file| text(&file["filename"])).collect()
    }

    /// The sentences of the issue's ledger, the first first; renewals left out.
    pub(crate) async fn history(&self, issue: u64) -> Vec<String> {
        let forge = self.watch();
        let entries = forge.ledger().history(IssueNumber(issue)).await.unwrap();
        entries.into_iter().map(|entry| entry.sentence).filter(|sentence| sentence != "renewed the lease").collect()
    }

    /// The issue's current record; `None` if it has no ledger.
    pub(crate) async fn record(&self, issue: u64) -> Option<Record> {
        let forge = self.watch();
        let tip = forge.ledger().tip(IssueNumber(issue)).await.unwrap()?;
        Some(forge.ledger().entry(&tip).await.unwrap().record)
    }

    /// The repository's own record; `None` if nothing was claimed yet.
    pub(crate) async fn repository_record(&self) -> Option<RepositoryRecord> {
        let forge = self.watch();
        let tip = forge.ledger().tips().await.unwrap().repository;
        forge.repository_ledger().entry(tip.as_ref()).await.unwrap().map(|entry| entry.record)
    }

    /// The briefs of an issue's runs, the first first.
    pub(crate) fn briefs(&self, issue: u64) -> Vec<String> {
        let path = |n: usize| self.dir().join(format!("briefs/{issue}-{n}"));
        (0..).map_while(|n| std::fs::read_to_string(path(n)).ok()).collect()
    }

    /// The bot's changes so far: every write to the API and every push.
    pub(crate) fn writes(&self) -> Vec<LoggedRequest> {
        let write = |request: &LoggedRequest| {
            request.login.as_ref().is_some_and(|login| login.as_str() == "hob")
                && request.method != "GET"
                && !request.path.ends_with("/git-upload-pack")
                && !request.path.ends_with("/graphql")
        };
        self.forge.requests().into_iter().filter(write).collect()
    }
}
