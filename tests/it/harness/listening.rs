//! What `hob run --listen` serves, as its readers reach it.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{Started, World};

/// The token that readers have.
pub(crate) const LISTEN_TOKEN: &str = "canary-5fK2pQ9x";

/// The whole answer to a request's lines.
pub(crate) async fn answer(at: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(at).await.unwrap();
    stream.write_all(request.replace('\n', "\r\n").as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    // A connection that is refused with bytes unread may be reset.
    stream.read_to_end(&mut answer).await.ok();
    String::from_utf8(answer).unwrap()
}

/// The whole answer to a request without a body.
pub(crate) async fn get(at: SocketAddr, path: &str, headers: &str) -> String {
    answer(at, &format!("GET {path} HTTP/1.1\nHost: {at}\n{headers}\n")).await
}

/// The address that the program says it serves.
pub(crate) async fn serves(hob: &mut Started) -> SocketAddr {
    let line = hob.says("serving the page at ").await;
    line.split("http://").nth(1).unwrap().trim_end_matches('/').parse().unwrap()
}

/// A run that listens, and a reader who has its token.
pub(crate) struct Listening {
    pub(crate) hob: Started,
    pub(crate) at: SocketAddr,
    client: reqwest::Client,
}

impl World {
    /// Starts `hob run --listen` with a token.
    pub(crate) async fn listens(&self) -> Listening {
        let mut hob = self.starts_hob_with(&["run", "--listen", "0"], &[("HOB_LISTEN_TOKEN", LISTEN_TOKEN)]).await;
        let at = serves(&mut hob).await;
        hob_agent::model::use_ring();
        let redirect = reqwest::redirect::Policy::none();
        let client = reqwest::Client::builder().no_proxy().tls_certs_only([]).redirect(redirect).build().unwrap();
        Listening { hob, at, client }
    }
}

impl Listening {
    /// The status and the text of an answer.
    pub(crate) async fn reads(&self, path: &str) -> (u16, String) {
        let asked =
            self.client.get(format!("http://{}{path}", self.at)).bearer_auth(LISTEN_TOKEN).send().await.unwrap();
        (asked.status().as_u16(), asked.text().await.unwrap())
    }

    /// An answer of the API.
    pub(crate) async fn api(&self, path: &str) -> Value {
        let (status, text) = self.reads(&format!("/api/v1{path}")).await;
        assert_eq!(status, 200, "{text}");
        serde_json::from_str(&text).unwrap()
    }

    /// Asks the API for a deed; the status and the answer.
    pub(crate) async fn asks(&self, path: &str, message: &str) -> (u16, Value) {
        self.asks_with(path, &json!({ "message": message })).await
    }

    /// The same with all of the body.
    pub(crate) async fn asks_with(&self, path: &str, body: &Value) -> (u16, Value) {
        let asked = self.client.post(format!("http://{}/api/v1{path}", self.at)).bearer_auth(LISTEN_TOKEN);
        let asked = asked.header("content-type", "application/json").body(body.to_string()).send().await.unwrap();
        let status = asked.status().as_u16();
        (status, serde_json::from_str(&asked.text().await.unwrap()).unwrap())
    }

    /// Waits until the issue is in this state, as the API shows it; the issue.
    pub(crate) async fn shows(&self, issue: u64, state: &str) -> Value {
        loop {
            let (status, text) = self.reads(&format!("/api/v1/issues/acme/site/{issue}")).await;
            if status == 200 {
                let issue: Value = serde_json::from_str(&text).unwrap();
                if issue["state"] == state {
                    return issue;
                }
            }
            tokio::task::yield_now().await;
        }
    }
}

/// A server-sent event.
#[derive(Debug)]
pub(crate) struct Streamed {
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) data: Value,
}

/// A stream of events.
pub(crate) struct Events {
    answer: reqwest::Response,
    text: String,
}

impl Listening {
    /// The events at this path of the API.
    pub(crate) async fn streams(&self, path: &str) -> Events {
        let asked = self.client.get(format!("http://{}/api/v1{path}", self.at)).bearer_auth(LISTEN_TOKEN);
        let answer = asked.send().await.unwrap();
        assert_eq!(answer.headers()["content-type"], "text/event-stream");
        Events { answer, text: String::new() }
    }
}

impl Events {
    /// The next event that is one.
    pub(crate) async fn next_event(&mut self) -> Streamed {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| {
                    event
                        .lines()
                        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
                        .map(|value| value.trim().to_owned())
                };
                let data = field("data").filter(|data| !data.is_empty());
                let streamed = Streamed {
                    id: field("id"),
                    name: field("event"),
                    data: data.map(|data| serde_json::from_str(&data).unwrap()).unwrap_or_default(),
                };
                self.text = rest.to_owned();
                if streamed.id.is_some() {
                    return streamed;
                }
                continue;
            }
            let Some(more) = self.answer.chunk().await.unwrap() else { panic!("the stream ended") };
            self.text.push_str(std::str::from_utf8(&more).unwrap());
        }
    }
}
