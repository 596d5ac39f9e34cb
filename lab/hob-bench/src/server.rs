//! The server: it listens on this machine, separates steps from side questions, and records the requests.

use std::{
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::{
    Router,
    extract::{ConnectInfo, Request, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use github_emulator::{Hangup, HangupListener};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle, time::Instant};

use crate::{
    Fault, Script, Times,
    answer::{Form, answer},
    tool::{Offer, Turn, call, edit_as_text, ending, filler, shell},
    wire::{Protocol, Reply},
};

/// Bytes a request may have.
const REQUEST_MAX: usize = 64 << 20;
/// The answer to a side question.
const ASIDE: &str = "A small change";

/// The purpose of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The script's command of this number, counted from 0.
    Step(usize),
    /// The closing text.
    Ending,
    /// A reply that is not part of the work: a title, a summary.
    Aside,
    /// Not a request for a reply.
    Other,
}

/// One request as it came.
#[derive(Debug, Clone, Serialize)]
pub struct Seen {
    /// Since the server's start.
    pub at: Duration,
    /// Method and path.
    pub path: String,
    /// Bytes of its body.
    pub bytes: usize,
    /// The purpose.
    pub kind: Kind,
    /// The fault that was played.
    pub fault: Option<Fault>,
}

/// The callback for each request before it is answered; the client waits meanwhile.
type Watch = Box<dyn Fn(&Seen) + Send + Sync>;

struct Play {
    script: Script,
    began: Instant,
    watch: Watch,
    stage: Mutex<Stage>,
}

#[derive(Default)]
struct Stage {
    /// Commands that were handed out.
    step: usize,
    /// Faults that were played and are over, by their place in the script.
    over: Vec<usize>,
    replies: usize,
    seen: Vec<Seen>,
}

/// A server that plays. Dropping it stops it.
pub struct Running {
    play: Arc<Play>,
    address: String,
    server: JoinHandle<()>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Running {
    /// Its address, without a slash at the end: `http://127.0.0.1:PORT`. OpenAI's interfaces are below `/v1`.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// All requests so far, in the order in which they came.
    pub fn seen(&self) -> Vec<Seen> {
        self.play.stage().seen.clone()
    }

    /// Replies that the client got whole: the base of the token counts.
    pub fn replies(&self) -> usize {
        let seen = self.play.stage();
        seen.seen.iter().filter(|seen| seen.kind != Kind::Other && seen.fault.is_none()).count()
    }
}

/// Serves `script` on a free port of this machine; `watch` sees each request before it is answered.
///
/// # Errors
/// The system's error if it cannot listen on any port.
pub async fn serve(script: Script, watch: impl Fn(&Seen) + Send + Sync + 'static) -> io::Result<Running> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = format!("http://{}", listener.local_addr()?);
    let play =
        Arc::new(Play { script, began: Instant::now(), watch: Box::new(watch), stage: Mutex::new(Stage::default()) });
    let router = Router::new().fallback(respond).with_state(Arc::clone(&play));
    let server = tokio::spawn(async move {
        let service = router.into_make_service_with_connect_info::<Hangup>();
        if let Err(error) = axum::serve(HangupListener(listener), service).await {
            tracing::error!(%error, "the scripted model stopped: {error}");
        }
    });
    Ok(Running { play, address, server })
}

impl Play {
    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next turn for a client with this body, and the fault that spoils it.
    fn next(&self, protocol: Protocol, body: &Value, text: &str) -> (Turn, Kind, Option<Fault>) {
        let offers = protocol.offers(body);
        if !self.script.calls.is_empty() {
            return self.next_call(&offers);
        }
        let shell = shell(&offers);
        let edit = self.script.edit.as_ref().and_then(|edit| edit_as_text(text, edit));
        if shell.is_none() && edit.is_none() {
            let said = protocol.schema(body).map_or_else(|| ASIDE.to_owned(), |schema| filler(schema).to_string());
            return (Turn::Text(said), Kind::Aside, None);
        }
        let mut stage = self.stage();
        let step = stage.step;
        let fault = self.fault(&mut stage, step);
        if fault.is_none() {
            stage.step += 1;
        }
        let ending = || ending(&offers, text, &self.script.ending);
        match (shell, self.script.commands.get(step), edit) {
            (Some(offer), Some(command), _) => (call(offer, command), Kind::Step(step), fault),
            (None, _, Some(edit)) if step == 0 => (edit, Kind::Step(0), fault),
            (Some(_) | None, _, _) => (ending(), Kind::Ending, fault),
        }
    }

    /// The next call of a script that calls tools by their names.
    fn next_call(&self, offers: &[Offer]) -> (Turn, Kind, Option<Fault>) {
        let offered = |tool: &str| offers.iter().find(|offer| offer.name.ends_with(tool));
        if !self.script.calls.iter().any(|(tool, _)| offered(tool).is_some()) {
            return (Turn::Text(ASIDE.to_owned()), Kind::Aside, None);
        }
        let mut stage = self.stage();
        let step = stage.step;
        stage.step += 1;
        match self.script.calls.get(step) {
            Some((tool, arguments)) => {
                let name = offered(tool).map_or(tool, |offer| &offer.name).clone();
                (Turn::Call { name, arguments: arguments.to_string() }, Kind::Step(step), None)
            }
            None => (Turn::Text(self.script.ending.clone()), Kind::Ending, None),
        }
    }

    fn fault(&self, stage: &mut Stage, step: usize) -> Option<Fault> {
        let due = |(at, fault): &(usize, &crate::FaultAt)| fault.step == step && !stage.over.contains(at);
        let (at, found) = self.script.faults.iter().enumerate().find(due)?;
        if found.times == Times::Once {
            stage.over.push(at);
        }
        Some(found.fault)
    }
}

async fn respond(
    State(play): State<Arc<Play>>,
    ConnectInfo(hangup): ConnectInfo<Hangup>,
    request: Request,
) -> Response {
    let at = play.began.elapsed();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let Ok(bytes) = axum::body::to_bytes(request.into_body(), REQUEST_MAX).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let protocol = Protocol::of_path(&path).filter(|_| method == axum::http::Method::POST && body.is_object());
    let next = protocol.map(|protocol| {
        let (turn, kind, fault) = play.next(protocol, &body, &String::from_utf8_lossy(&bytes));
        (protocol, turn, kind, fault)
    });
    let (kind, fault) = next.as_ref().map_or((Kind::Other, None), |(_, _, kind, fault)| (*kind, *fault));
    let seen = Seen { at, path: format!("{method} {path}"), bytes: bytes.len(), kind, fault };
    (play.watch)(&seen);
    let number = {
        let mut stage = play.stage();
        stage.seen.push(seen);
        stage.replies += 1;
        stage.replies
    };
    let Some((protocol, turn, _, fault)) = next else { return other(&path) };
    let model = body["model"].as_str().unwrap_or("scripted").to_owned();
    let form = if protocol.streams(&path, &body) { Form::Stream } else { Form::Whole };
    answer(protocol, form, Reply { turn, number, model }, fault, &hangup)
}

/// The answers to requests other than for replies.
fn other(path: &str) -> Response {
    if path.ends_with("/count_tokens") {
        return axum::Json(json!({ "input_tokens": super::INPUT_TOKENS })).into_response();
    }
    if path.ends_with(":countTokens") {
        return axum::Json(json!({ "totalTokens": super::INPUT_TOKENS })).into_response();
    }
    if path.ends_with("/models") {
        let model = json!({ "id": "scripted", "object": "model", "created": 0, "owned_by": "hob" });
        return axum::Json(json!({ "object": "list", "data": [model] })).into_response();
    }
    if path == "/" {
        return StatusCode::OK.into_response();
    }
    (StatusCode::NOT_FOUND, axum::Json(json!({ "error": { "message": "not found" } }))).into_response()
}
