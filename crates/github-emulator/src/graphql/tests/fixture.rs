//! A forge with the public repository `ada/site` and an account a role.

use serde_json::{Value, json};

use crate::{Options, RepoName, Running, serve};

pub(crate) struct Fixture {
    pub(crate) forge: Running,
    client: reqwest::Client,
}

impl Fixture {
    pub(crate) async fn start() -> Self {
        Self::start_with(Options::default()).await
    }

    pub(crate) async fn start_with(options: Options) -> Self {
        let users = ["ada:ta:admin", "wil:tw:write", "tom:tt:triage", "rea:tr:none", "hob[bot]:tb:write:bot"];
        let users = users.iter().map(|user| user.parse().unwrap()).collect();
        let forge = serve(Options { users, ..options }).await.unwrap();
        let site: RepoName = "ada/site".parse().unwrap();
        forge.create_repository(&site, &[("README.md", b"# Site\n", false)]).ok();
        // There is one provider a process, and another test may have been first.
        rustls::crypto::ring::default_provider().install_default().ok();
        Self { forge, client: reqwest::Client::new() }
    }

    /// A request to the REST API, as `POST /path`, or to another path of the server; the whole answer.
    pub(crate) async fn send(&self, token: &str, what: &str, body: Value) -> reqwest::Response {
        let (method, path) = what.split_once(' ').unwrap();
        let below = if path.starts_with("/_") { self.forge.server_url() } else { self.forge.api_url() };
        let request = self.client.request(method.parse().unwrap(), format!("{below}{path}"));
        let request = if token.is_empty() { request } else { request.bearer_auth(token) };
        let body = if body.is_null() { String::new() } else { body.to_string() };
        request.body(body).send().await.unwrap()
    }

    /// The status and the JSON of an answer.
    pub(crate) async fn answer(&self, token: &str, what: &str, body: Value) -> (u16, Value) {
        let answer = self.send(token, what, body).await;
        (answer.status().as_u16(), serde_json::from_str(&answer.text().await.unwrap()).unwrap_or_default())
    }

    /// The commit that a branch points to.
    pub(crate) async fn tip(&self, branch: &str) -> String {
        let found = self.rest("ta", &format!("GET /repos/ada/site/git/ref/heads/{branch}"), Value::Null).await;
        found["object"]["sha"].as_str().unwrap().to_owned()
    }

    /// A request to the REST API, as `POST /path`.
    pub(crate) async fn rest(&self, token: &str, what: &str, body: Value) -> Value {
        let (method, path) = what.split_once(' ').unwrap();
        let url = format!("{}{path}", self.forge.api_url());
        let request =
            self.client.request(method.parse().unwrap(), url).header("authorization", format!("Bearer {token}"));
        let answer = request.body(body.to_string()).send().await.unwrap().text().await.unwrap();
        serde_json::from_str(&answer).unwrap_or_default()
    }

    /// The whole answer to a request with this body.
    pub(crate) async fn post(&self, token: &str, body: &Value) -> reqwest::Response {
        let url = format!("{}/api/graphql", self.forge.server_url());
        let mut request = self.client.post(url).body(body.to_string());
        if !token.is_empty() {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        request.send().await.unwrap()
    }

    /// The answer to a query, with its errors.
    pub(crate) async fn ask_with(&self, token: &str, query: &str, variables: Value) -> Value {
        let answer = self.post(token, &json!({"query": query, "variables": variables})).await;
        serde_json::from_str(&answer.text().await.unwrap()).unwrap()
    }

    pub(crate) async fn ask(&self, token: &str, query: &str) -> Value {
        self.ask_with(token, query, Value::Null).await
    }

    /// The data of a query without an error.
    pub(crate) async fn data(&self, token: &str, query: &str) -> Value {
        let answer = self.ask(token, query).await;
        assert_eq!(answer["errors"], Value::Null, "{query}");
        answer["data"].clone()
    }

    /// The global id of an issue that is new.
    pub(crate) async fn issue(&self, title: &str) -> String {
        let made = self.rest("ta", "POST /repos/ada/site/issues", json!({"title": title, "body": "As it was."})).await;
        made["node_id"].as_str().unwrap().to_owned()
    }

    /// The number of a pull request that is new, from a branch of this name with one more file.
    pub(crate) async fn pull(&self, branch: &str) -> u64 {
        let main =
            self.rest("ta", "GET /repos/ada/site/git/ref/heads/main", Value::Null).await["object"]["sha"].clone();
        let file = json!([{"path": branch, "mode": "100644", "type": "blob", "content": "one\ntwo\n"}]);
        let tree = json!({"base_tree": main, "tree": file});
        let tree = self.rest("ta", "POST /repos/ada/site/git/trees", tree).await["sha"].clone();
        let commit = json!({"message": "Add it\n\nWith a reason.", "tree": tree, "parents": [main]});
        let commit = self.rest("ta", "POST /repos/ada/site/git/commits", commit).await["sha"].clone();
        let reference = json!({"ref": format!("refs/heads/{branch}"), "sha": commit});
        self.rest("ta", "POST /repos/ada/site/git/refs", reference).await;
        let pull = json!({"title": "Add it", "head": branch, "base": "main", "body": "Fixes #1"});
        self.rest("ta", "POST /repos/ada/site/pulls", pull).await["number"].as_u64().unwrap()
    }
}
