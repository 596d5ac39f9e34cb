//! The clients of models against a scripted server: requests, answers, and retries.

use std::{
    collections::VecDeque,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{ConnectInfo, Request, State},
    http::{HeaderMap, Method, StatusCode, Uri},
    response::{IntoResponse, Response},
};
use hob_agent::model::{
    Memoized, Message, ModelClient, ModelError, ModelReply, ModelRequest, Models, Stop, Tool, ToolCall, ToolResult,
    Usage,
};
use hob_config::{Effort, ModelAccess, ModelSettings, OpenAiInterface};
use hob_domain::FailureClass;
use serde_json::{Value, json};

mod anthropic;
mod cheaper;
mod fallback;
mod images;
mod openai;
mod responses;
pub(crate) mod strict;

/// The server's answer to one request.
pub(crate) enum Answer {
    Stream(String),
    Status(u16, &'static [(&'static str, &'static str)], &'static str),
    /// To a request for the list of models.
    List(Value),
    /// These bytes, then the connection breaks.
    Cut(String),
    /// These bytes, then silence.
    Silent(String),
}

/// One request as the server saw it.
struct Seen {
    from: SocketAddr,
    uri: Uri,
    headers: HeaderMap,
    body: Value,
}

#[derive(Clone)]
struct Script {
    answers: Arc<Mutex<VecDeque<Answer>>>,
    seen: Arc<Mutex<Vec<Seen>>>,
}

/// A server that answers from a script, in order; it is gone with this.
pub(crate) struct Server {
    script: Script,
    pub(crate) base: String,
    task: tokio::task::JoinHandle<()>,
}

impl Server {
    pub(crate) async fn start(answers: impl IntoIterator<Item = Answer>) -> Self {
        let script = Script { answers: Arc::new(Mutex::new(answers.into_iter().collect())), seen: Arc::default() };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let app = Router::new().fallback(answer).with_state(script.clone());
        let task = tokio::spawn(async move {
            axum::serve(listener, app.into_make_service_with_connect_info::<SocketAddr>()).await.unwrap()
        });
        Self { script, base, task }
    }

    fn client(&self, name: &str) -> Arc<dyn ModelClient> {
        self.client_with(name, |_| {})
    }

    /// A client that waits for nothing between its attempts.
    fn client_with(&self, name: &str, change: impl FnOnce(&mut ModelSettings)) -> Arc<dyn ModelClient> {
        self.models(change).client(&name.parse().unwrap()).unwrap()
    }

    fn models(&self, change: impl FnOnce(&mut ModelSettings)) -> Models {
        let mut settings = ModelSettings {
            backoff: Duration::ZERO,
            backoff_max: Duration::from_millis(10),
            retries: 2,
            ..ModelSettings::default()
        };
        change(&mut settings);
        let access = ModelAccess {
            anthropic_key: Some("secret-a".into()),
            anthropic_base_url: Some(self.base.clone()),
            openai_key: Some("secret-o".into()),
            openai_base_url: Some(format!("{}/v1", self.base)),
        };
        Models::new(settings, access)
    }

    /// The bodies of the requests.
    pub(crate) fn bodies(&self) -> Vec<Value> {
        self.script.seen.lock().unwrap().iter().map(|seen| seen.body.clone()).collect()
    }

    fn requests(&self) -> usize {
        self.script.seen.lock().unwrap().len()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn tool_call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: id.into(), name: name.into(), arguments: arguments.into() }
}

async fn answer(
    State(script): State<Script>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    if parts.method == Method::GET {
        let mut answers = script.answers.lock().unwrap();
        return match answers.front() {
            Some(Answer::List(list)) => {
                let answer = axum::Json(list.clone()).into_response();
                answers.pop_front();
                answer
            }
            // It lists no models.
            _none => StatusCode::NOT_FOUND.into_response(),
        };
    }
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let body = serde_json::from_slice(&body).unwrap();
    script.seen.lock().unwrap().push(Seen { from, uri: parts.uri, headers: parts.headers, body });
    let next = script.answers.lock().unwrap().pop_front();
    let stream = |text: String, end: Vec<Result<Bytes, std::io::Error>>, last: bool| {
        // Small pieces, so that events are cut anywhere.
        let pieces: Vec<_> =
            text.as_bytes().chunks(7).map(|piece| Ok(Bytes::copy_from_slice(piece))).chain(end).collect();
        let pieces = futures_util::stream::iter(pieces);
        let rest = futures_util::stream::iter((!last).then_some(())).then(|()| std::future::pending());
        Body::from_stream(pieces.chain(rest))
    };
    use futures_util::StreamExt;
    match next {
        Some(Answer::Stream(text)) => stream(text, Vec::new(), true).into_response(),
        Some(Answer::Cut(text)) => stream(text, vec![Err(std::io::Error::other("cut"))], true).into_response(),
        Some(Answer::Silent(text)) => stream(text, Vec::new(), false).into_response(),
        Some(Answer::Status(status, headers, body)) => {
            let mut response = (StatusCode::from_u16(status).unwrap(), body).into_response();
            for (name, value) in headers {
                response.headers_mut().insert(*name, value.parse().unwrap());
            }
            response
        }
        Some(Answer::List(_)) | None => (StatusCode::IM_A_TEAPOT, "no more answers").into_response(),
    }
}

/// A conversation with each kind of message in it.
async fn ask(client: &dyn ModelClient) -> Result<ModelReply, ModelError> {
    let (messages, tools) = conversation();
    client
        .complete(&ModelRequest {
            system: "the rules",
            messages: &messages,
            tools: &tools,
            turn: 2,
            funds: None,
            strain: hob_domain::Strain::Usual,
            rest: Default::default(),
        })
        .await
}

/// The reply to these messages, without rules and tools.
async fn reply_to(
    client: &dyn ModelClient,
    messages: &[Memoized<Message>],
    turn: u32,
) -> Result<ModelReply, ModelError> {
    let (tools, strain) = (Memoized::default(), hob_domain::Strain::Usual);
    let request =
        ModelRequest { system: "", messages, tools: &tools, turn, funds: None, strain, rest: Default::default() };
    client.complete(&request).await
}

fn conversation() -> ([Memoized<Message>; 3], Memoized<Vec<Tool>>) {
    let call = |id: &str, arguments: &str| ToolCall { id: id.into(), name: "read".into(), arguments: arguments.into() };
    let messages = [
        Message::user("the task"),
        Message::Assistant {
            text: String::new(),
            calls: vec![call("1", r#"{"path":"a"}"#), call("2", r#"{"pa"#)],
            verbatim: None,
        },
        Message::Results { results: vec![ToolResult::of_text("1", "content"), ToolResult::of_error("2", "no")] },
    ];
    let tools = vec![Tool { name: "read".into(), description: "reads".into(), schema: json!({ "type": "object" }) }];
    (messages.map(Memoized::from), tools.into())
}

fn events(data: &[Value]) -> String {
    data.iter().map(|data| format!("data: {data}\n\n")).collect()
}
