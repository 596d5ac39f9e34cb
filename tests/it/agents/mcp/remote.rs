//! Servers over HTTP: Hob's requests, and its handling of their answers.

use std::sync::Mutex;

use axum::{
    Router,
    body::{Body, Bytes},
    response::{IntoResponse, Response},
};
use futures_util::stream;
use http::{HeaderMap, Method, StatusCode, header};

use super::*;

/// A server on its own port; it stops when this is dropped.
struct Remote {
    address: String,
    seen: Arc<Mutex<Vec<Request>>>,
    task: tokio::task::JoinHandle<()>,
}

/// The contents of one request.
#[derive(Debug, Clone)]
struct Request {
    method: Method,
    headers: HeaderMap,
    body: Value,
}

impl Request {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

impl Remote {
    /// One that answers each call with the result of `answer`.
    async fn start(answer: impl Fn(&Value) -> Response + Clone + Send + Sync + 'static) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/mcp", listener.local_addr().unwrap());
        let seen: Arc<Mutex<Vec<Request>>> = Arc::default();
        let shared = Arc::clone(&seen);
        let app = Router::new().fallback(move |method: Method, headers: HeaderMap, body: Bytes| {
            let body: Value = serde_json::from_slice(&body).unwrap_or_default();
            let response = answer(&body);
            shared.lock().unwrap().push(Request { method, headers, body });
            async move { response }
        });
        let task = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { address, seen, task }
    }

    fn settings(&self) -> McpSettings {
        let tools = [("echo".to_owned(), Impact::Low)].into();
        McpSettings {
            url: Some(self.address.clone()),
            tools,
            timeout: Duration::from_secs(20),
            ..McpSettings::default()
        }
    }

    fn requests(&self) -> Vec<Request> {
        self.seen.lock().unwrap().clone()
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A good server's answer to a message.
fn result(message: &Value) -> Value {
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": "2025-06-18", "capabilities": { "tools": {} }, "serverInfo": { "name": "far", "version": "1" },
        }),
        "tools/list" => json!({ "tools": [{ "name": "echo", "inputSchema": { "type": "object" } }] }),
        _ => {
            let text = format!("said {}", message["params"]["arguments"]["text"].as_str().unwrap_or_default());
            json!({ "content": [{ "type": "text", "text": text }] })
        }
    };
    json!({ "jsonrpc": "2.0", "id": message["id"], "result": result })
}

fn as_json(message: &Value) -> Response {
    if message["id"].is_null() {
        return StatusCode::ACCEPTED.into_response();
    }
    let headers = [(header::CONTENT_TYPE, "application/json; charset=utf-8"), (SESSION, "session-7")];
    (headers, result(message).to_string()).into_response()
}

const SESSION: header::HeaderName = header::HeaderName::from_static("mcp-session-id");

/// As events, with an event of the server's own first, on a stream that stays open after the answer.
fn as_events(message: &Value) -> Response {
    if message["id"].is_null() {
        return StatusCode::ACCEPTED.into_response();
    }
    let own =
        json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "info", "data": "x" } });
    let text = format!("event: message\ndata: {own}\n\nid: 1\ndata: {}\n\n", result(message));
    let open = stream::pending::<Result<Bytes, std::io::Error>>();
    let body = futures_util::StreamExt::chain(stream::iter([Ok(Bytes::from(text))]), open);
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(body)).into_response()
}

fn echo() -> Value {
    call("mcp_far_echo", json!({ "text": "hello" }))
}

#[tokio::test]
async fn a_server_over_http_is_asked_by_hob_itself() {
    let served = Served::new();
    let remote = Remote::start(as_json).await;
    let settings = McpSettings { token: Some("TEST_SERVER".into()), ..remote.settings() };
    let replies = json!([
        echo(),
        { "expect": ["said hello"], "calls": [{ "name": "shell", "arguments": { "command": "env | grep -c word-of-a-test" } }] },
        done(&["[exit code 1]\n0"]),
    ]);
    let told = served.run(replies, &[("far", settings)]).await;
    is_done(&told);
    assert!(told.warnings.is_empty(), "{:?}", told.warnings);
    let requests = remote.requests();
    let methods: Vec<_> = requests.iter().map(|one| one.body["method"].as_str().unwrap_or("-")).collect();
    assert_eq!(methods, ["initialize", "notifications/initialized", "tools/list", "tools/call", "-"]);
    assert!(requests.iter().all(|one| one.header("authorization") == "Bearer word-of-a-test"));
    assert_eq!((requests[0].header("mcp-session-id"), requests[0].header("mcp-protocol-version")), ("", ""));
    for later in &requests[1..] {
        assert_eq!(later.header("mcp-session-id"), "session-7");
        assert_eq!(later.header("mcp-protocol-version"), "2025-06-18");
    }
    assert_eq!(requests[4].method, Method::DELETE);
}

#[tokio::test]
async fn a_server_may_answer_with_events() {
    let served = Served::new();
    let remote = Remote::start(as_events).await;
    is_done(&served.run(json!([echo(), done(&["said hello"])]), &[("far", remote.settings())]).await);
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let served = Served::new();
    let other = Remote::start(as_json).await;
    let to = other.address.clone();
    let remote =
        Remote::start(move |_| (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, to.clone())]).into_response());
    let remote = remote.await;
    let settings = McpSettings { token: Some("TEST_SERVER".into()), ..remote.settings() };
    let told = served.run(json!([done(&[])]), &[("far", settings)]).await;
    is_done(&told);
    let says =
        "the MCP server `far` is not used: it answers with a redirect (307 Temporary Redirect), which is not followed";
    assert_eq!(told.warnings, [says]);
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn a_bad_server_over_http_is_one_warning() {
    type Answer = fn(&Value) -> Response;
    let cases: [(Answer, &str); 6] = [
        (|_| StatusCode::UNAUTHORIZED.into_response(), "it answers with 401 Unauthorized"),
        (|_| "<html>".into_response(), "it answers with `text/plain` instead of JSON or events"),
        (
            |_| ([(header::CONTENT_TYPE, "application/json")], "<html>").into_response(),
            "it sent something that is not JSON-RPC: `<html>`",
        ),
        (
            |_| {
                let endless = stream::repeat_with(|| Ok::<_, std::io::Error>(Bytes::from_static(&[b' '; 65536])));
                ([(header::CONTENT_TYPE, "application/json")], Body::from_stream(endless)).into_response()
            },
            "it sent a message of more than 4194304 bytes",
        ),
        (
            |_| {
                let ping = Bytes::from_static(b"data: {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n\n");
                let endless = stream::repeat_with(move || Ok::<_, std::io::Error>(ping.clone()));
                ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(endless)).into_response()
            },
            "it sent more than 2000 messages for one request",
        ),
        (
            |_| ([(header::CONTENT_TYPE, "text/event-stream")], "data: \n\n").into_response(),
            "its stream ended before the answer",
        ),
    ];
    for (answer, says) in cases {
        let served = Served::new();
        let remote = Remote::start(answer).await;
        let told = served.run(json!([done(&[])]), &[("far", remote.settings())]).await;
        is_done(&told);
        assert_eq!(told.warnings, [format!("the MCP server `far` is not used: {says}")]);
    }
    let served = Served::new();
    let gone = McpSettings { url: Some("http://127.0.0.1:9/mcp".into()), ..McpSettings::default() };
    let told = served.run(json!([done(&[])]), &[("far", gone)]).await;
    is_done(&told);
    assert!(told.warnings[0].starts_with("the MCP server `far` is not used: "), "{:?}", told.warnings);
    let hangs = Remote::start(|_| {
        let silent = stream::pending::<Result<Bytes, std::io::Error>>();
        ([(header::CONTENT_TYPE, "application/json")], Body::from_stream(silent)).into_response()
    });
    let settings = McpSettings { timeout: Duration::from_millis(300), ..hangs.await.settings() };
    let told = served.run(json!([done(&[])]), &[("far", settings)]).await;
    is_done(&told);
    assert_eq!(told.warnings.len(), 1, "{:?}", told.warnings);
    let missing = McpSettings { token: Some("TEST_MISSING".into()), ..Remote::start(as_json).await.settings() };
    let told = served.run(json!([done(&[])]), &[("far", missing)]).await;
    is_done(&told);
    let says = "the MCP server `far` is not used: its token is not there: set the variable `TEST_MISSING`";
    assert_eq!(told.warnings, [says]);
}
