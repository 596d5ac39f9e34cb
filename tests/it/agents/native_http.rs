//! The native agent against a scripted service: the size of its requests, and bad replies.

use std::sync::Mutex;

use axum::{
    Router,
    body::{Body, Bytes},
    http::{Method, StatusCode},
    response::{IntoResponse, Response},
};
use hob_config::{AgentSettings, ModelAccess, ModelSettings};
use serde_json::{Value, json};

use super::*;

/// A service that answers the n-th request with the result of `answer` for n; it stops when this is dropped.
struct Service {
    base: String,
    seen: Arc<Mutex<Vec<Bytes>>>,
    task: tokio::task::JoinHandle<()>,
    /// How long it may be silent.
    patience: Duration,
}

impl Service {
    async fn start(answer: impl Fn(usize) -> Response + Clone + Send + Sync + 'static) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let seen: Arc<Mutex<Vec<Bytes>>> = Arc::default();
        let shared = Arc::clone(&seen);
        let app = Router::new().fallback(move |method: Method, body: Bytes| {
            let mut seen = shared.lock().unwrap();
            let response = match method {
                // It lists no models.
                Method::GET => StatusCode::NOT_FOUND.into_response(),
                _post => {
                    seen.push(body);
                    answer(seen.len())
                }
            };
            async move { response }
        });
        let app = app.layer(axum::extract::DefaultBodyLimit::max(64 << 20));
        let task = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { base, seen, task, patience: ModelSettings::default().idle_timeout }
    }

    fn agent(&self, settings: AgentSettings) -> Arc<dyn AgentBackend> {
        let model = ModelSettings {
            default: Some("openai/scripted".into()),
            idle_timeout: self.patience,
            retries: 0,
            ..ModelSettings::default()
        };
        let access = ModelAccess { openai_base_url: Some(self.base.clone()), ..ModelAccess::default() };
        let agents = [("a".to_owned(), settings)].into();
        Registry::new(AgentParts { agents, model, access, ..AgentParts::default() }).unwrap().get("a").unwrap()
    }

    fn requests(&self) -> Vec<Bytes> {
        self.seen.lock().unwrap().clone()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}

fn words(text: &str) -> String {
    event(&json!({ "choices": [{ "delta": { "content": text } }] }))
}

fn end(reason: &str) -> String {
    event(&json!({ "choices": [{ "delta": {}, "finish_reason": reason }] })) + "data: [DONE]\n\n"
}

fn call(number: usize, name: &str, arguments: &Value) -> Response {
    let function = json!({ "name": name, "arguments": arguments.to_string() });
    let call = json!({ "index": 0, "id": format!("call_{number:024}"), "function": function });
    let usage = json!({ "choices": [], "usage": { "prompt_tokens": 10, "completion_tokens": 1 } });
    (event(&json!({ "choices": [{ "delta": { "tool_calls": [call] } }] })) + &event(&usage) + &end("tool_calls"))
        .into_response()
}

fn done(number: usize) -> Response {
    call(number, "done", &json!({ "summary": "ok" }))
}

/// A stream of `piece` again and again, with nothing after it.
fn endless(piece: String) -> Response {
    use futures_util::{StreamExt, stream};
    let pieces = stream::repeat(Bytes::from(piece)).map(Ok::<_, std::io::Error>);
    // In turns with the reader, so that it can end the stream.
    Body::from_stream(pieces.then(|piece| async move {
        tokio::task::yield_now().await;
        piece
    }))
    .into_response()
}

#[tokio::test]
async fn what_fits_the_window_stays_and_each_request_begins_with_the_one_before() {
    let bench = Bench::new(&[]);
    let steps = 130;
    let service = Service::start(move |number| match number {
        number if number > steps => done(number),
        number => call(number, "shell", &json!({ "command": format!("echo fact {}; yes | head -500", number * 7) })),
    })
    .await;
    let report = bench.run(&service.agent(AgentSettings::default())).await;
    assert_eq!(report.outcome, Outcome::done("ok"));
    let requests = service.requests();
    assert_eq!(requests.len(), steps + 1);
    assert!(requests[0].len() <= 9_000, "{}", requests[0].len());
    let grows = |pair: &&[Bytes]| pair[1].starts_with(pair[0].strip_suffix(b"]}").unwrap());
    assert!(requests.windows(2).all(|pair| grows(&pair)), "a request does not begin with the one before");
    let last = String::from_utf8(requests[steps].to_vec()).unwrap();
    for kept in ["Change the greeting.", "fact 21\\ny\\ny", "fact 490\\ny\\ny", "[turn 131 of 250; left:"] {
        assert!(last.contains(kept), "{kept}: {last}");
    }
}

#[tokio::test]
async fn a_reply_of_ten_megabytes_is_kept_short() {
    let bench = Bench::new(&[]);
    let flood = words(&"x".repeat(1_000)).repeat(10_000);
    let service = Service::start(move |number| match number {
        1 => (flood.clone() + &end("stop")).into_response(),
        number => done(number),
    })
    .await;
    let report = bench.run(&service.agent(AgentSettings::default())).await;
    assert_eq!(report.outcome, Outcome::done("ok"));
    assert!(service.requests()[1].len() < 100_000);
}

#[tokio::test]
async fn an_endless_reply_a_silent_one_and_one_that_trickles_end_the_run() {
    for (case, said) in [(0, "more than 16777216 bytes"), (1, "was silent"), (2, "ran out of time")] {
        let mut bench = Bench::new(&[]);
        let mut service = Service::start(move |_| match case {
            0 => endless(words(&"x".repeat(60_000))),
            1 => {
                use futures_util::{StreamExt, stream};
                let first = stream::iter([Ok::<_, std::io::Error>(Bytes::from(words("x")))]);
                Body::from_stream(first.chain(stream::pending())).into_response()
            }
            _ => endless(": ping\n\n".into()),
        })
        .await;
        match case {
            1 => service.patience = Duration::from_millis(300),
            2 => bench.request.time = Duration::from_millis(300),
            _ => {}
        }
        let report = bench.run(&service.agent(AgentSettings::default())).await;
        let reason = failure(&report.outcome).0;
        assert!(reason.contains(said), "{case}: {reason}");
    }
}

#[tokio::test]
async fn a_request_that_is_too_long_for_the_model_is_sent_again_with_less() {
    let bench = Bench::new(&[("a", &"line of text\n".repeat(2_000))]);
    let too_long = r#"{"error":{"message":"This model's maximum context length is 8192 tokens"}}"#;
    let service = Service::start(move |number| match number {
        number @ 1..=6 => call(number, "read", &json!({ "path": "a", "from": number })),
        7 => (http::StatusCode::BAD_REQUEST, too_long).into_response(),
        number => done(number),
    })
    .await;
    let report = bench.run(&service.agent(AgentSettings::default())).await;
    assert_eq!(report.outcome, Outcome::done("ok"));
    let sizes: Vec<_> = service.requests().iter().map(Bytes::len).collect();
    assert!(sizes[7] < sizes[6], "{sizes:?}");
}

#[tokio::test]
async fn old_answers_are_left_out_before_the_models_window_is_full() {
    let bench = Bench::new(&[("a", &"line of text\n".repeat(1_000))]);
    let service = Service::start(move |number| match number {
        number @ 1..=8 => {
            let read = json!({ "name": "read", "arguments": json!({ "path": "a", "from": number }).to_string() });
            let call = json!({ "index": 0, "id": format!("c{number}"), "function": read });
            let usage = json!({ "choices": [], "usage": { "prompt_tokens": 3_000 * number, "completion_tokens": 1 } });
            (event(&json!({ "choices": [{ "delta": { "tool_calls": [call] } }] }))
                + &event(&usage)
                + &end("tool_calls"))
                .into_response()
        }
        number => done(number),
    })
    .await;
    let settings = AgentSettings { context_tokens: Some(24_000), ..AgentSettings::default() };
    bench.run(&service.agent(settings)).await;
    let requests = service.requests();
    assert!(!String::from_utf8_lossy(&requests[4]).contains("Hob left out "));
    let sizes: Vec<_> = requests.iter().map(Bytes::len).collect();
    let shortened = String::from_utf8_lossy(&requests[5]);
    assert!(shortened.contains("Hob left out ") && requests[5].len() < requests[4].len() + 1_000, "{sizes:?}");
}
