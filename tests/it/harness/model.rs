//! A model on this machine that makes `done.txt`, and that a test can take down.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use axum::{
    Router,
    body::Bytes,
    response::{IntoResponse, Response},
};
use hob_config::{AgentSettings, BackendKind};
use http::{StatusCode, header};
use serde_json::{Value, json};
use tokio::{sync::watch, task::JoinHandle};

/// An OpenAI-compatible service: first it writes the file, then it says that it is done. Gone with this.
pub(crate) struct Model {
    /// Its address, for `model.openai_base_url`.
    pub(crate) base: String,
    state: Arc<Inner>,
    task: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Inner {
    is_down: AtomicBool,
    refused: AtomicUsize,
    answered: AtomicUsize,
    is_held: watch::Sender<bool>,
    requests: watch::Sender<Vec<String>>,
}

impl Model {
    pub(crate) async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let state: Arc<Inner> = Arc::default();
        let shared = Arc::clone(&state);
        let app = Router::new().fallback(move |body: Bytes| {
            let shared = Arc::clone(&shared);
            async move {
                shared.requests.send_modify(|asked| asked.push(String::from_utf8_lossy(&body).into_owned()));
                shared.is_held.subscribe().wait_for(|is_held| !is_held).await.unwrap();
                shared.answer(&body)
            }
        });
        let task = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { base, state, task }
    }

    /// A native agent with the model of the settings.
    pub(crate) fn agent() -> AgentSettings {
        AgentSettings { backend: BackendKind::Native, last_look: false, ..AgentSettings::default() }
    }

    pub(crate) fn is_down(&self, is_down: bool) {
        self.state.is_down.store(is_down, Ordering::Relaxed);
    }

    /// Lets requests wait for their answers.
    pub(crate) fn holds(&self) {
        self.state.is_held.send_replace(true);
    }

    /// Waits for its first request.
    pub(crate) async fn is_asked(&self) {
        self.state.requests.subscribe().wait_for(|asked| !asked.is_empty()).await.unwrap();
    }

    /// Answers the waiting requests, and all later ones at once.
    pub(crate) fn goes_on(&self) {
        self.state.is_held.send_replace(false);
    }

    /// The bodies of all requests so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.state.requests.borrow().clone()
    }

    /// Requests that it refused so far.
    pub(crate) fn refused(&self) -> usize {
        self.state.refused.load(Ordering::Relaxed)
    }

    /// Requests that it answered so far, which are paid for.
    pub(crate) fn answered(&self) -> usize {
        self.state.answered.load(Ordering::Relaxed)
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Inner {
    fn answer(&self, body: &Bytes) -> Response {
        if self.is_down.load(Ordering::Relaxed) {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return (StatusCode::SERVICE_UNAVAILABLE, "overloaded").into_response();
        }
        self.answered.fetch_add(1, Ordering::Relaxed);
        let request: Value = serde_json::from_slice(body).unwrap();
        let has_written = request["messages"].as_array().unwrap().iter().any(|message| message["role"] == "tool");
        let (name, arguments) = match has_written {
            false => ("write", json!({ "path": "done.txt", "content": "done\n" })),
            true => ("done", json!({ "summary": "Made done.txt.", "title": "Make done.txt" })),
        };
        let function = json!({ "name": name, "arguments": arguments.to_string() });
        let call = json!({ "index": 0, "id": format!("call_{name}"), "function": function });
        let events = [
            json!({ "choices": [{ "delta": { "tool_calls": [call] } }] }),
            json!({ "choices": [], "usage": { "prompt_tokens": 10, "completion_tokens": 1 } }),
            json!({ "choices": [{ "delta": {}, "finish_reason": "tool_calls" }] }),
        ];
        let events: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
        ([(header::CONTENT_TYPE, "text/event-stream")], events + "data: [DONE]\n\n").into_response()
    }
}
