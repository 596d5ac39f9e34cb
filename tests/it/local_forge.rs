//! The embedded forge over real HTTP and with the real `git`: refs as compare-and-set, roles, pages, conditional requests.

use github_emulator::{Fault, Options, RepoName, Running, What, When, serve};
use hob_config::child_environment;
use hob_process::Program;
use http::{HeaderMap, Method};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// One answer.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

/// A forge with a repository `acme/site` and an account a role: `ada` admin, `wil` write, `tom` triage, `rea` read.
pub(crate) struct Fixture {
    pub(crate) forge: Running,
    pub(crate) client: reqwest::Client,
    pub(crate) head: String,
}

pub(crate) fn site() -> RepoName {
    "acme/site".parse().unwrap()
}

impl Fixture {
    pub(crate) async fn start() -> Self {
        Self::start_in(None).await
    }

    pub(crate) async fn start_in(data: Option<std::path::PathBuf>) -> Self {
        let users = ["ada:ta:admin", "wil:tw:write", "tom:tt:triage", "rea:tr:read", "hob[bot]:tb:read:bot"];
        let users = users.iter().map(|user| user.parse().unwrap()).collect();
        let forge = serve(Options { users, data, ..Options::default() }).await.unwrap();
        let files: [(&str, &[u8], bool); 2] = [("README.md", b"# Site\n", false), ("bin/check", b"#!/bin/sh\n", true)];
        let head = forge.create_repository(&site(), &files).unwrap();
        // Another test may have been first; there is one provider a process.
        rustls::crypto::ring::default_provider().install_default().ok();
        Self { forge, client: reqwest::Client::new(), head }
    }

    pub(crate) async fn send(&self, token: &str, method: Method, path: &str, body: Value) -> Answer {
        self.send_with(token, method, path, body, &[]).await
    }

    pub(crate) async fn send_with(
        &self,
        token: &str,
        method: Method,
        path: &str,
        body: Value,
        headers: &[(&str, &str)],
    ) -> Answer {
        let mut request = self.client.request(method, format!("{}{path}", self.forge.api_url()));
        if !token.is_empty() {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if !body.is_null() {
            request = request.body(body.to_string());
        }
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = response.text().await.unwrap();
        Answer { status, headers, body: serde_json::from_str(&text).unwrap_or(Value::String(text)) }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send("tw", Method::GET, path, Value::Null).await
    }

    pub(crate) async fn post(&self, token: &str, path: &str, body: Value) -> Answer {
        self.send(token, Method::POST, path, body).await
    }

    pub(crate) async fn commit(&self, text: &str, parents: &[&str]) -> String {
        let tree = self.get(&format!("/repos/acme/site/git/commits/{}", self.head)).await.body["tree"]["sha"].clone();
        let body = json!({"message": text, "tree": tree, "parents": parents});
        let made = self.post("tw", "/repos/acme/site/git/commits", body).await;
        assert_eq!(made.status, 201, "{}", made.body);
        made.body["sha"].as_str().unwrap().to_owned()
    }

    /// A branch with one changed file.
    pub(crate) async fn branch(&self, name: &str, path: &str, content: &str) {
        let body = json!({"ref": format!("refs/heads/{name}"), "sha": self.head});
        assert_eq!(self.post("tw", "/repos/acme/site/git/refs", body).await.status, 201);
        let entry = json!([{"path": path, "mode": "100644", "type": "blob", "content": content}]);
        let tree =
            self.post("tw", "/repos/acme/site/git/trees", json!({"base_tree": self.head, "tree": entry})).await.body;
        let body = json!({"message": "Change", "tree": tree["sha"], "parents": [self.head]});
        let commit = self.post("tw", "/repos/acme/site/git/commits", body).await.body;
        let at = format!("/repos/acme/site/git/refs/heads/{name}");
        let moved = self.send("tw", Method::PATCH, &at, json!({"sha": commit["sha"]})).await;
        assert_eq!(moved.status, 200, "{}", moved.body);
    }

    /// Runs git in `dir`; returns whether it succeeded and its output.
    pub(crate) async fn git(&self, dir: &std::path::Path, args: &[&str]) -> (bool, String) {
        let done = Program::of_hob("git", &child_environment())
            .args(args)
            .dir(dir)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_AUTHOR_NAME", "t")
            .env("GIT_AUTHOR_EMAIL", "t@example.com")
            .env("GIT_COMMITTER_NAME", "t")
            .env("GIT_COMMITTER_EMAIL", "t@example.com")
            .run(&CancellationToken::new())
            .await
            .unwrap();
        (done.exit.is_success(), format!("{}{}", done.stdout.text(), done.stderr.text()))
    }

    pub(crate) fn clone_url(&self, token: &str) -> String {
        let server = self.forge.server_url();
        format!("http://x:{token}@{}/acme/site.git", server.trim_start_matches("http://"))
    }
}

const JSON: http::HeaderValue = http::HeaderValue::from_static("application/json; charset=utf-8");
const REFS: &str = "/repos/acme/site/git/refs";

#[tokio::test]
async fn of_twenty_that_create_one_ref_one_succeeds() {
    let fixture = Fixture::start().await;
    let body = json!({"ref": "refs/hob/issues/12", "sha": fixture.head});
    let all = (0..20).map(|_| fixture.post("tw", REFS, body.clone()));
    let answers = futures_util::future::join_all(all).await;
    let won = answers.iter().filter(|answer| answer.status == 201).count();
    assert_eq!(won, 1);
    for lost in answers.iter().filter(|answer| answer.status != 201) {
        assert_eq!((lost.status, &lost.body["message"]), (422, &json!("Reference already exists")));
    }
}

#[tokio::test]
async fn of_ten_that_fast_forward_from_one_tip_one_succeeds() {
    let fixture = Fixture::start().await;
    fixture.post("tw", REFS, json!({"ref": "refs/hob/issues/1", "sha": fixture.head})).await;
    let mut commits = Vec::new();
    for number in 0..10 {
        commits.push(fixture.commit(&format!("claim {number}"), &[&fixture.head]).await);
    }
    let at = format!("{REFS}/hob/issues/1");
    let all = commits.iter().map(|sha| fixture.send("tw", Method::PATCH, &at, json!({"sha": sha, "force": false})));
    let statuses: Vec<u16> = futures_util::future::join_all(all).await.iter().map(|answer| answer.status).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
}

#[tokio::test]
async fn a_ref_update_that_is_no_fast_forward_is_refused() {
    let fixture = Fixture::start().await;
    let (one, two) = (fixture.commit("one", &[&fixture.head]).await, fixture.commit("two", &[&fixture.head]).await);
    fixture.post("tw", REFS, json!({"ref": "refs/hob/issues/1", "sha": one})).await;
    let at = format!("{REFS}/hob/issues/1");
    let refused = fixture.send("tw", Method::PATCH, &at, json!({"sha": two})).await;
    assert_eq!((refused.status, &refused.body["message"]), (422, &json!("Update is not a fast forward")));
    let forced = fixture.send("tw", Method::PATCH, &at, json!({"sha": two, "force": true})).await;
    assert_eq!((forced.status, &forced.body["object"]["sha"]), (200, &json!(two)));
    let listed = fixture.get("/repos/acme/site/git/matching-refs/hob/issues/").await;
    assert_eq!(listed.body[0]["ref"], "refs/hob/issues/1");
}

#[tokio::test]
async fn matching_refs_come_all_at_once() {
    let fixture = Fixture::start().await;
    for n in 0..40 {
        let body = json!({"ref": format!("refs/hob/issues/{n}"), "sha": fixture.head});
        assert_eq!(fixture.post("tw", REFS, body).await.status, 201);
    }
    let listed = fixture.get("/repos/acme/site/git/matching-refs/hob/?per_page=5").await;
    assert_eq!((listed.status, listed.body.as_array().unwrap().len()), (200, 40));
}

#[tokio::test]
async fn a_ref_that_is_not_there_is_named_so() {
    let fixture = Fixture::start().await;
    let body = json!({"sha": fixture.head});
    let moved = fixture.send("tw", Method::PATCH, &format!("{REFS}/heads/none"), body).await;
    assert_eq!((moved.status, &moved.body["message"]), (422, &json!("Reference does not exist")));
    assert_eq!(fixture.get("/repos/acme/site/git/ref/heads/none").await.status, 404);
    let body = json!({"ref": "refs/heads/a", "sha": "1".repeat(40)});
    let made = fixture.post("tw", REFS, body).await;
    assert_eq!((made.status, &made.body["message"]), (422, &json!("Object does not exist")));
    for bad in ["heads/a", "refs/a", "refs/heads/a b", "refs/heads/../x", "refs/heads/a.lock"] {
        let made = fixture.post("tw", REFS, json!({"ref": bad, "sha": fixture.head})).await;
        assert_eq!(made.status, 422, "{bad}: {}", made.body);
    }
}

#[tokio::test]
async fn triage_labels_but_cannot_push() {
    let fixture = Fixture::start().await;
    let issue = fixture.post("tr", "/repos/acme/site/issues", json!({"title": "Fix it", "labels": ["code"]})).await;
    assert_eq!((issue.status, &issue.body["labels"]), (201, &json!([])));
    let labels = "/repos/acme/site/issues/1/labels";
    let refused = fixture.post("tr", labels, json!({"labels": ["code"]})).await;
    assert_eq!((refused.status, &refused.body["message"]), (403, &json!("Must have triage access to Repository.")));
    let bot = fixture.post("tb", labels, json!({"labels": ["code"]})).await;
    assert_eq!(bot.body["message"], "Resource not accessible by integration");
    let labelled = fixture.post("tt", labels, json!(["code"])).await;
    assert_eq!((labelled.status, &labelled.body[0]["name"]), (200, &json!("code")));
    let refused = fixture.post("tt", REFS, json!({"ref": "refs/heads/a", "sha": fixture.head})).await;
    assert_eq!(refused.status, 403);
    let events = fixture.get("/repos/acme/site/issues/1/events").await.body;
    assert_eq!((&events[0]["event"], &events[0]["actor"]["login"]), (&json!("labeled"), &json!("tom")));
    assert_eq!(fixture.post("", "/repos/acme/site/issues", json!({"title": "x"})).await.status, 401);
    assert_eq!(fixture.post("nobody", "/repos/acme/site/issues", json!({"title": "x"})).await.status, 401);
}

#[tokio::test]
async fn an_answer_304_is_not_counted() {
    let fixture = Fixture::start().await;
    let first = fixture.get("/repos/acme/site/issues").await;
    let tag = first.headers["etag"].to_str().unwrap().to_owned();
    let with = [("if-none-match", tag.as_str())];
    let at = "/repos/acme/site/issues";
    let again = fixture.send_with("tw", Method::GET, at, Value::Null, &with).await;
    assert_eq!(again.status, 304);
    assert_eq!(first.headers["x-ratelimit-used"], again.headers["x-ratelimit-used"]);
    let other = fixture.send_with("ta", Method::GET, at, Value::Null, &with).await;
    assert_eq!(other.status, 200, "a tag belongs to the account");
    fixture.post("tw", at, json!({"title": "New"})).await;
    assert_eq!(fixture.send_with("tw", Method::GET, at, Value::Null, &with).await.status, 200);
}

#[tokio::test]
async fn the_rate_limit_ends_in_a_403_that_says_when() {
    let fixture = Fixture::start().await;
    fixture.forge.limit_rate(2);
    assert_eq!(fixture.get("/user").await.status, 200);
    assert_eq!(fixture.get("/user").await.headers["x-ratelimit-remaining"], "0");
    let refused = fixture.get("/user").await;
    assert_eq!(refused.status, 403);
    assert!(refused.headers.contains_key("x-ratelimit-reset"));
    fixture.forge.advance(std::time::Duration::from_secs(3_600));
    assert_eq!(fixture.get("/user").await.status, 200);
}

#[tokio::test]
async fn pages_are_linked() {
    let fixture = Fixture::start().await;
    for number in 0..5 {
        fixture.post("tw", "/repos/acme/site/issues", json!({"title": format!("Issue {number}")})).await;
    }
    let page = fixture.get("/repos/acme/site/issues?per_page=2&page=2&direction=asc").await;
    let numbers: Vec<u64> =
        page.body.as_array().unwrap().iter().map(|issue| issue["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [3, 4]);
    let link = page.headers["link"].to_str().unwrap();
    for rel in ["prev", "next", "last", "first"] {
        assert!(link.contains(&format!("rel=\"{rel}\"")), "{link}");
    }
    assert!(link.contains("/api/v3/repos/acme/site/issues?direction=asc&per_page=2&page=3>; rel=\"next\""), "{link}");
}

#[tokio::test]
async fn a_clone_and_a_push_take_the_token() {
    let fixture = Fixture::start().await;
    let folder = tempfile::tempdir().unwrap();
    let (ok, said) = fixture.git(folder.path(), &["clone", "-q", &fixture.clone_url("tw"), "w"]).await;
    assert!(ok, "{said}");
    let work = folder.path().join("w");
    fixture.git(&work, &["commit", "-q", "--allow-empty", "-m", "Work"]).await;
    let (ok, said) = fixture.git(&work, &["push", "origin", "HEAD:refs/hob/issues/3", "HEAD:refs/heads/b"]).await;
    assert!(ok, "{said}");
    let pushed = fixture.get("/repos/acme/site/git/ref/hob/issues/3").await;
    let branch = fixture.get("/repos/acme/site/branches/b").await;
    assert_eq!(pushed.body["object"]["sha"], branch.body["commit"]["sha"]);
    let (ok, said) = fixture.git(&work, &["push", &fixture.clone_url("tr"), "HEAD:refs/heads/c"]).await;
    assert!(!ok && said.contains("403"), "{said}");
    let (ok, _) =
        fixture.git(folder.path(), &["clone", "-q", "--filter=blob:none", &fixture.clone_url("tr"), "p"]).await;
    assert!(ok);
}

#[tokio::test]
async fn a_push_to_a_protected_branch_is_refused() {
    let fixture = Fixture::start().await;
    fixture.forge.protect(&site(), &["main"]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    fixture.git(folder.path(), &["clone", "-q", &fixture.clone_url("tw"), "w"]).await;
    let work = folder.path().join("w");
    fixture.git(&work, &["commit", "-q", "--allow-empty", "-m", "Work"]).await;
    let (ok, said) = fixture.git(&work, &["push", "origin", "HEAD:main"]).await;
    assert!(!ok && said.contains("GH006") && said.contains("protected branch hook declined"), "{said}");
    let (ok, said) = fixture.git(&work, &["push", "origin", "HEAD:other"]).await;
    assert!(ok, "{said}");
}

#[tokio::test]
async fn a_merge_closes_what_the_pull_request_fixes() {
    let fixture = Fixture::start().await;
    fixture.post("tw", "/repos/acme/site/issues", json!({"title": "Broken"})).await;
    fixture.branch("hob/1", "a.txt", "new\n").await;
    let pulls = "/repos/acme/site/pulls";
    let body = json!({"title": "Fix", "head": "hob/1", "base": "main", "body": "Fixes #1"});
    let made = fixture.post("tw", pulls, body.clone()).await;
    assert_eq!((made.status, &made.body["mergeable"]), (201, &json!(true)), "{}", made.body);
    let second = fixture.post("tw", pulls, body).await;
    assert_eq!(second.status, 422);
    assert_eq!(second.body["errors"][0]["message"], "A pull request already exists for acme:hob/1.");
    let files = fixture.get(&format!("{pulls}/2/files")).await.body;
    assert_eq!((&files[0]["filename"], &files[0]["patch"]), (&json!("a.txt"), &json!("@@ -0,0 +1 @@\n+new")));
    let merged = fixture.send("tw", Method::PUT, &format!("{pulls}/2/merge"), json!({"merge_method": "squash"})).await;
    assert_eq!((merged.status, &merged.body["merged"]), (200, &json!(true)), "{}", merged.body);
    assert_eq!(fixture.get("/repos/acme/site/issues/1").await.body["state"], "closed");
    let again = fixture.send("tw", Method::PUT, &format!("{pulls}/2/merge"), Value::Null).await;
    assert_eq!(again.status, 405);
    assert_eq!(fixture.get(&format!("{pulls}/2")).await.body["merged_by"]["login"], "wil");
    let timeline = fixture.get("/repos/acme/site/issues/1/timeline").await.body;
    let names: Vec<&str> = timeline.as_array().unwrap().iter().filter_map(|event| event["event"].as_str()).collect();
    assert_eq!(names, ["cross-referenced", "closed"]);
}

#[tokio::test]
async fn a_pull_request_needs_a_head_with_commits_of_its_own() {
    let fixture = Fixture::start().await;
    let pulls = "/repos/acme/site/pulls";
    let absent = fixture.post("tw", pulls, json!({"title": "x", "head": "none", "base": "main"})).await;
    assert_eq!((absent.status, &absent.body["errors"][0]["field"]), (422, &json!("head")));
    fixture.post("tw", REFS, json!({"ref": "refs/heads/same", "sha": fixture.head})).await;
    let same = fixture.post("tw", pulls, json!({"title": "x", "head": "same", "base": "main"})).await;
    assert_eq!(same.body["errors"][0]["message"], "No commits between main and same");
    assert_eq!(fixture.post("tt", pulls, json!({"title": "x", "head": "same", "base": "main"})).await.status, 403);
}

#[tokio::test]
async fn a_push_moves_its_pull_request() {
    let fixture = Fixture::start().await;
    fixture.branch("b", "a.txt", "new\n").await;
    fixture.post("tw", "/repos/acme/site/pulls", json!({"title": "P", "head": "b", "base": "main"})).await;
    let folder = tempfile::tempdir().unwrap();
    fixture.git(folder.path(), &["clone", "-q", "-b", "b", &fixture.clone_url("tw"), "w"]).await;
    let work = folder.path().join("w");
    fixture.git(&work, &["commit", "-q", "--amend", "-m", "Again"]).await;
    let (ok, said) = fixture.git(&work, &["push", "--force-with-lease", "origin", "b"]).await;
    assert!(ok, "{said}");
    let (_, tip) = fixture.git(&work, &["rev-parse", "HEAD"]).await;
    assert_eq!(fixture.get("/repos/acme/site/pulls/1").await.body["head"]["sha"], tip.trim());
    assert_eq!(fixture.get("/repos/acme/site/issues/1/events").await.body[0]["event"], "head_ref_force_pushed");
    fixture.git(&work, &["push", "origin", ":b"]).await;
    assert_eq!(fixture.get("/repos/acme/site/pulls/1").await.body["state"], "closed");
}

#[tokio::test]
async fn what_is_not_there_is_answered_404_with_its_name() {
    let fixture = Fixture::start().await;
    let answer = fixture.get("/repos/acme/site/milestones").await;
    // A client that tries a server's failure again is told at once.
    assert_eq!(answer.status, 404);
    assert_eq!(answer.body["message"], "the embedded forge has no GET /repos/acme/site/milestones");
    assert_eq!(fixture.send("tw", Method::DELETE, "/user", Value::Null).await.status, 404);
    // Nor is it a page, although it would match a page's path.
    assert_eq!(fixture.get("/issues").await.body["message"], "the embedded forge has no GET /issues");
    for path in ["/api", "/api/", "/api/v4", "/api/v4/user", "/api/uploads/x"] {
        let asked = fixture.client.get(format!("{}{path}", fixture.forge.server_url())).send().await.unwrap();
        assert_eq!((asked.status().as_u16(), &asked.headers()["content-type"]), (404, &JSON), "{path}");
    }
    let root = fixture.get("/").await;
    assert_eq!(
        (root.status, &root.body["current_user_url"]),
        (200, &json!(format!("{}/user", fixture.forge.api_url())))
    );
    assert_eq!(fixture.send("nobody", Method::GET, "/", Value::Null).await.status, 401);
}

#[tokio::test]
async fn bad_fields_are_refused_in_githubs_form() {
    let fixture = Fixture::start().await;
    let issues = "/repos/acme/site/issues";
    let blank = fixture.post("tw", issues, json!({"title": ""})).await;
    assert_eq!(blank.body["errors"], json!([{"resource": "Issue", "field": "title", "code": "missing_field"}]));
    let broken = fixture.send("tw", Method::POST, issues, json!("x")).await;
    assert_eq!(broken.status, 400);
    fixture.post("tw", issues, json!({"title": "T"})).await;
    let long = json!({"body": "x".repeat(65_537)});
    assert_eq!(fixture.post("tw", "/repos/acme/site/issues/1/comments", long).await.status, 422);
    let labels = "/repos/acme/site/labels";
    assert_eq!(fixture.post("tw", labels, json!({"name": "n".repeat(51)})).await.status, 422);
    assert_eq!(fixture.post("tw", labels, json!({"name": "Code", "color": "00ff00"})).await.status, 201);
    let twice = fixture.post("tw", labels, json!({"name": "code"})).await;
    assert_eq!(twice.body["errors"][0]["code"], "already_exists");
}

#[tokio::test]
async fn a_file_is_put_only_over_the_one_that_was_seen() {
    let fixture = Fixture::start().await;
    let at = "/repos/acme/site/contents/README.md";
    let seen = fixture.get(at).await.body["sha"].clone();
    let body = json!({"message": "Edit", "content": "SGkK", "sha": seen});
    assert_eq!(fixture.send("tw", Method::PUT, at, body.clone()).await.status, 200);
    assert_eq!(fixture.send("tw", Method::PUT, at, body).await.status, 409);
    let raw = [("accept", "application/vnd.github.raw+json")];
    assert_eq!(fixture.send_with("tw", Method::GET, at, Value::Null, &raw).await.body, "Hi\n");
    let out =
        fixture.send("tw", Method::PUT, "/repos/acme/site/contents/a/../../x", json!({"message": "m", "content": ""}));
    assert!(out.await.status >= 400);
}

fn fault(method: &str, path: &str, when: When, what: What) -> Fault {
    Fault { method: Some(method.to_owned()), path: path.to_owned(), login: None, when, what }
}

#[tokio::test]
async fn a_connection_dropped_after_the_effect_leaves_the_effect() {
    let fixture = Fixture::start().await;
    let comments = "/repos/*/*/issues/*/comments";
    fixture.post("tw", "/repos/acme/site/issues", json!({"title": "T"})).await;
    fixture.forge.inject(fault("POST", comments, When::Call(1), What::DropBefore));
    fixture.forge.inject(fault("POST", comments, When::Call(2), What::DropAfter));
    for body in ["before", "after"] {
        let url = format!("{}/repos/acme/site/issues/1/comments", fixture.forge.api_url());
        let sent = fixture.client.post(url).header("authorization", "Bearer tw");
        let error = sent.body(json!({"body": body}).to_string()).send().await.unwrap_err();
        assert!(!error.is_status() && !error.is_timeout(), "{error}");
    }
    let listed = fixture.get("/repos/acme/site/issues/1/comments").await.body;
    assert_eq!((listed.as_array().unwrap().len(), &listed[0]["body"]), (1, &json!("after")));
}

#[tokio::test]
async fn faults_answer_truncate_and_go_stale() {
    let fixture = Fixture::start().await;
    let headers = [("retry-after".to_owned(), "3".to_owned())].into();
    let what = What::Answer { status: 429, headers, message: "slow down".to_owned() };
    fixture.forge.inject(fault("GET", "/user", When::First(1), what));
    let limited = fixture.get("/user").await;
    assert_eq!((limited.status, &limited.headers["retry-after"]), (429, &http::HeaderValue::from_static("3")));
    assert_eq!(fixture.get("/user").await.status, 200);
    fixture.forge.inject(fault("GET", "/meta", When::Always, What::Truncate));
    let cut = fixture.client.get(format!("{}/meta", fixture.forge.api_url())).send().await.unwrap();
    assert!(cut.text().await.is_err());
    fixture.forge.inject(fault("GET", "/repos/*/*/labels", When::Call(2), What::Stale));
    assert_eq!(fixture.get("/repos/acme/site/labels").await.body, json!([]));
    fixture.post("tw", "/repos/acme/site/labels", json!({"name": "code"})).await;
    assert_eq!(fixture.get("/repos/acme/site/labels").await.body, json!([]), "stale");
    assert_eq!(fixture.get("/repos/acme/site/labels").await.body[0]["name"], "code");
}

#[tokio::test]
async fn too_many_writes_a_minute_meet_the_secondary_limit() {
    let fixture = Fixture::start().await;
    fixture.forge.limit_writes(1);
    let labels = "/repos/acme/site/labels";
    assert_eq!(fixture.post("tw", labels, json!({"name": "a"})).await.status, 201);
    let refused = fixture.post("tw", labels, json!({"name": "b"})).await;
    assert_eq!((refused.status, &refused.headers["retry-after"]), (403, &http::HeaderValue::from_static("60")));
    fixture.forge.advance(std::time::Duration::from_secs(60));
    assert_eq!(fixture.post("tw", labels, json!({"name": "b"})).await.status, 201);
}

#[tokio::test]
async fn checks_statuses_reactions_and_blockers_are_kept() {
    let fixture = Fixture::start().await;
    let head = fixture.head.clone();
    let run = json!({"name": "ci", "head_sha": head, "status": "completed", "conclusion": "failure"});
    let person = fixture.post("tw", "/repos/acme/site/check-runs", run.clone()).await;
    assert_eq!((person.status, &person.body["message"]), (403, &json!("You must authenticate via a GitHub App.")));
    fixture.forge.add_user(&"ci[bot]:tc:write:bot".parse().unwrap());
    assert_eq!(fixture.post("tc", "/repos/acme/site/check-runs", run).await.status, 201);
    let runs = fixture.get("/repos/acme/site/commits/main/check-runs").await.body;
    assert_eq!((&runs["total_count"], &runs["check_runs"][0]["conclusion"]), (&json!(1), &json!("failure")));
    fixture.post("tw", &format!("/repos/acme/site/statuses/{head}"), json!({"state": "success"})).await;
    let combined = fixture.get("/repos/acme/site/commits/main/status").await.body;
    assert_eq!(combined["state"], "success");
    fixture.post("tw", REFS, json!({"ref": "refs/heads/hob/1-x", "sha": head})).await;
    let runs = fixture.get("/repos/acme/site/commits/hob/1-x/check-runs").await.body;
    assert_eq!(runs["total_count"], 1, "the name of a branch may have slashes");
    for title in ["one", "two"] {
        fixture.post("tw", "/repos/acme/site/issues", json!({"title": title})).await;
    }
    let reactions = "/repos/acme/site/issues/1/reactions";
    assert_eq!(fixture.post("tr", reactions, json!({"content": "eyes"})).await.status, 201);
    assert_eq!(fixture.post("tr", reactions, json!({"content": "eyes"})).await.status, 200);
    let two = fixture.get("/repos/acme/site/issues/2").await.body["id"].clone();
    let blockers = "/repos/acme/site/issues/1/dependencies/blocked_by";
    assert_eq!(fixture.post("tt", blockers, json!({"issue_id": two})).await.status, 201);
    assert_eq!(fixture.get(blockers).await.body[0]["number"], 2);
    let removed = fixture.send("tt", Method::DELETE, &format!("{blockers}/{two}"), Value::Null).await;
    assert_eq!(removed.status, 200);
    assert_eq!(fixture.get(blockers).await.body, json!([]));
}

#[tokio::test]
async fn a_forge_with_a_folder_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let mut fixture = Fixture::start_in(Some(folder.path().to_owned())).await;
    fixture.branch("b", "a.txt", "new\n").await;
    fixture.post("tw", "/repos/acme/site/issues", json!({"title": "Kept"})).await;
    let made = fixture.post("tw", "/repos/acme/site/pulls", json!({"title": "P", "head": "b", "base": "main"})).await;
    // Dropped, not shut down: nothing may be left for the end.
    fixture.forge = serve(Options::default()).await.unwrap();
    fixture.forge = serve(Options {
        users: vec!["wil:tw".parse().unwrap()],
        data: Some(folder.path().to_owned()),
        ..Options::default()
    })
    .await
    .unwrap();
    assert_eq!(fixture.get("/repos/acme/site/issues/1").await.body["title"], "Kept");
    assert_eq!(fixture.get("/repos/acme/site/pulls/2").await.body["head"]["sha"], made.body["head"]["sha"]);
    let next = fixture.post("tw", "/repos/acme/site/issues", json!({"title": "Next"})).await.body;
    assert!(next["id"].as_u64() > made.body["id"].as_u64() && next["number"] == 3);
}

#[tokio::test]
async fn pages_show_issues_and_pull_requests_and_run_nothing() {
    let fixture = Fixture::start().await;
    let body = "Hello <script>alert(1)</script>\n\n**bold** ![x](http://e.example/x.png)";
    fixture.post("tw", "/repos/acme/site/issues", json!({"title": "A <b>", "body": body, "labels": ["code"]})).await;
    fixture.post("tw", "/repos/acme/site/issues/1/comments", json!({"body": "- one\n- two"})).await;
    fixture.branch("b", "a.txt", "new <i>\n").await;
    fixture.post("tw", "/repos/acme/site/pulls", json!({"title": "P", "head": "b", "base": "main"})).await;
    let mut pages = Vec::new();
    for path in
        ["/", "/acme/site", "/acme/site/issues/1", "/acme/site/pull/2", "/acme/site/issues/2", "/acme/site/tree/b"]
    {
        let page = fixture.client.get(format!("{}{path}", fixture.forge.server_url())).send().await.unwrap();
        assert_eq!(page.status(), 200, "{path}");
        let policy = page.headers()["content-security-policy"].to_str().unwrap().to_owned();
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("script-src"), "{policy}");
        let text = page.text().await.unwrap();
        assert!(!text.contains("<script") && !text.contains("<img") && !text.contains("<i>"), "{path}: {text}");
        pages.push(text);
    }
    assert!(pages[1].contains("A &lt;b&gt;") && pages[1].contains("<h1>Site</h1>"), "{}", pages[1]);
    assert!(pages[2].contains("<strong>bold</strong>") && pages[2].contains("added the label"), "{}", pages[2]);
    assert!(pages[2].contains("<li>one</li>"));
    assert!(pages[3].contains("<span class=\"add\">+new &lt;i&gt;"), "{}", pages[3]);
    let diff =
        fixture.client.get(format!("{}/acme/site/pull/2.diff", fixture.forge.server_url())).send().await.unwrap();
    assert!(diff.text().await.unwrap().contains("+++ b/a.txt"));
    assert!(pages[5].contains("a.txt") && !pages[1].contains("a.txt"), "{}", pages[5]);
    for path in ["issues/9", "tree/none"] {
        let address = format!("{}/acme/site/{path}", fixture.forge.server_url());
        assert_eq!(fixture.client.get(address).send().await.unwrap().status(), 404, "{path}");
    }
}

#[tokio::test]
async fn of_pushes_and_requests_that_create_one_ref_one_succeeds() {
    let fixture = Fixture::start().await;
    let folder = tempfile::tempdir().unwrap();
    fixture.git(folder.path(), &["clone", "-q", &fixture.clone_url("tw"), "w"]).await;
    let work = folder.path().join("w");
    let mut trees = Vec::new();
    for number in 0..3 {
        fixture.git(&work, &["commit", "-q", "--allow-empty", "-m", &format!("push {number}")]).await;
        trees.push(format!("HEAD~{}:refs/hob/issues/1", 2 - number));
    }
    let commits = [fixture.commit("a", &[]).await, fixture.commit("b", &[]).await, fixture.commit("c", &[]).await];
    let pushes = trees.iter().map(|refspec| {
        let args = ["push", "--force-with-lease=refs/hob/issues/1:", "origin", refspec.as_str()];
        let (fixture, work) = (&fixture, &work);
        async move { fixture.git(work, &args).await.0 }
    });
    let requests = commits.iter().map(|sha| {
        let body = json!({"ref": "refs/hob/issues/1", "sha": sha});
        let fixture = &fixture;
        async move { fixture.post("tw", REFS, body).await.status == 201 }
    });
    let (pushed, made) =
        futures_util::join!(futures_util::future::join_all(pushes), futures_util::future::join_all(requests));
    let won = pushed.iter().chain(&made).filter(|won| **won).count();
    assert_eq!(won, 1, "{pushed:?} {made:?}");
}

#[tokio::test]
async fn a_private_repository_is_not_there_for_outsiders() {
    let fixture = Fixture::start().await;
    fixture.forge.add_user(&"out:to:none".parse().unwrap());
    let made = fixture.post("tw", "/user/repos", json!({"name": "secret", "private": true, "auto_init": true})).await;
    assert_eq!((made.status, &made.body["private"]), (201, &json!(true)));
    for token in ["to", ""] {
        assert_eq!(fixture.send(token, Method::GET, "/repos/wil/secret", Value::Null).await.status, 404);
        let issue = fixture.post(token, "/repos/wil/secret/issues", json!({"title": "x"})).await.status;
        assert!(issue == 404 || issue == 401, "{issue}");
        assert_eq!(fixture.send(token, Method::GET, "/repos/acme/site", Value::Null).await.status, 200);
    }
    let permission =
        fixture.send("tw", Method::GET, "/repos/wil/secret/collaborators/out/permission", Value::Null).await;
    assert_eq!(permission.body["role_name"], "none");
    let page = fixture.client.get(format!("{}/wil/secret", fixture.forge.server_url())).send().await.unwrap();
    assert_eq!(page.status(), 404);
    let listed = fixture.client.get(fixture.forge.server_url()).send().await.unwrap().text().await.unwrap();
    assert!(!listed.contains("secret") && listed.contains("site"));
}

#[tokio::test]
async fn a_local_repository_is_copied_and_left_alone() {
    let fixture = Fixture::start().await;
    let folder = tempfile::tempdir().unwrap();
    fixture.git(folder.path(), &["init", "-q", "-b", "trunk"]).await;
    fixture.git(folder.path(), &["commit", "-q", "--allow-empty", "-m", "One"]).await;
    let (_, before) = fixture.git(folder.path(), &["for-each-ref"]).await;
    let name: RepoName = "acme/copy".parse().unwrap();
    let head = fixture.forge.import_repository(&name, folder.path(), "trunk").unwrap();
    let seen = fixture.get("/repos/acme/copy/branches/trunk").await.body;
    assert_eq!(seen["commit"]["sha"], head.as_str());
    assert_eq!(fixture.get("/repos/acme/copy").await.body["default_branch"], "trunk");
    assert_eq!(fixture.git(folder.path(), &["for-each-ref"]).await.1, before);
}

#[tokio::test]
async fn the_forge_answers_in_the_same_process_too() {
    use tower::ServiceExt;
    let fixture = Fixture::start().await;
    let ask = || {
        let request = http::Request::get("/api/v3/user").header("authorization", "Bearer tw");
        fixture.forge.router().oneshot(request.body(axum::body::Body::empty()).unwrap())
    };
    let answer = ask().await.unwrap();
    let body = axum::body::to_bytes(answer.into_body(), 1 << 20).await.unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&body).unwrap()["login"], "wil");
    fixture.forge.inject(fault("GET", "/user", When::Call(1), What::DropBefore));
    let dropped = ask().await.unwrap();
    assert!(axum::body::to_bytes(dropped.into_body(), 1 << 20).await.is_err());
    let log = fixture.forge.requests();
    assert_eq!(log.iter().map(|request| request.status).collect::<Vec<_>>(), [200, 0]);
}
