//! The conversation with a program: a session, the brief, and what people say meanwhile.

use std::{io, path::Path, time::Duration};

use hob_process::Environment;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use crate::{
    RunContext,
    acp::{
        lines::Lines,
        messages::{
            AUTH_REQUIRED, Failure, Hello, Message, Opened, Permission, VERSION, answer, cancelled, not_offered,
            notification, request, unreadable,
        },
        turn::Turn,
    },
};

/// How long a program may take to end its turn once it is asked to.
const GRACE: Duration = Duration::from_secs(5);

/// How a conversation ended.
#[derive(Debug)]
pub(super) enum Ended {
    /// The agent ended its turn, for this reason.
    Stopped(String),
    /// The run was cancelled.
    Cancelled,
    /// Its time was over.
    OutOfTime,
    /// It speaks another version of the protocol.
    OtherVersion(u64),
    /// It does not offer the model; it offers these.
    NoSuchModel(Vec<String>),
    /// It wants a login first.
    NoLogin(String),
    /// It answered with an error, or is gone.
    Failed(String),
}

impl From<io::Error> for Ended {
    fn from(error: io::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<Failure> for Ended {
    fn from(Failure { code, message, data }: Failure) -> Self {
        let detail = data.map(|data| format!(": {data}")).unwrap_or_default();
        let said = format!("{message}{detail}");
        if code == AUTH_REQUIRED { Self::NoLogin(said) } else { Self::Failed(said) }
    }
}

/// What a conversation is about.
pub(super) struct Talk<'a> {
    pub(super) folder: &'a Path,
    pub(super) prompt: String,
    pub(super) model: Option<&'a str>,
    pub(super) context: &'a RunContext,
    /// What the program gets.
    pub(super) environment: &'a Environment,
    pub(super) cancel: &'a CancellationToken,
    pub(super) deadline: Instant,
    /// Whether a sandbox holds what the agent does.
    pub(super) is_held: bool,
    /// Whether Hob measures the cost.
    pub(super) is_measured: bool,
}

/// Talks until the agent ended its turn and people said no more.
pub(super) async fn talk(about: &Talk<'_>, lines: Lines, turn: &mut Turn) -> Ended {
    let mut peer = Peer { lines, about, turn, asked: 0 };
    tokio::select! {
        ended = peer.session() => ended.unwrap_or_else(|ended| ended),
        () = async { about.cancel.cancelled().await; sleep(2 * GRACE).await } => Ended::Cancelled,
        () = sleep_until(about.deadline + 2 * GRACE) => Ended::OutOfTime,
    }
}

/// The program at the other end.
struct Peer<'a> {
    lines: Lines,
    about: &'a Talk<'a>,
    turn: &'a mut Turn,
    /// How many requests it got.
    asked: u64,
}

impl Peer<'_> {
    async fn session(&mut self) -> Result<Ended, Ended> {
        let client = json!({ "name": "hob", "version": env!("CARGO_PKG_VERSION") });
        let hello = json!({ "protocolVersion": VERSION, "clientCapabilities": {}, "clientInfo": client });
        let hello: Hello = self.ask("initialize", &hello).await?;
        if hello.protocol_version != VERSION {
            return Err(Ended::OtherVersion(hello.protocol_version));
        }
        if let Some(agent) = &hello.agent_info {
            let named = format!("{} {}", agent.name, agent.version).replace(char::is_control, " ");
            self.about.context.say(named.trim_end());
        }
        let opened = self.opened(&hello).await?;
        if let Some(model) = self.about.model {
            self.choose(&opened, model).await?;
        }
        if let Some(mode) = opened.asking_mode() {
            let set = json!({ "sessionId": opened.session_id, "modeId": mode });
            self.ask::<Value>("session/set_mode", &set).await?;
        }
        let mut prompt = self.about.prompt.clone();
        loop {
            self.turn.words.clear();
            let ended = self.prompted(&opened.session_id, &prompt).await?;
            let steering = &self.about.context.steering;
            steering.replied();
            let more = steering.take();
            if more.is_empty() || !matches!(&ended, Ended::Stopped(why) if why == "end_turn") {
                return Ok(ended);
            }
            prompt = more.join("\n\n");
        }
    }

    /// A new session, after a sign-in with a key where the agent wants one.
    async fn opened(&mut self, hello: &Hello) -> Result<Opened, Ended> {
        let folder = json!({ "cwd": self.about.folder, "mcpServers": [] });
        let said = match self.ask("session/new", &folder).await {
            Err(Ended::NoLogin(said)) => said,
            opened => return opened,
        };
        let method = hello.sign_in_by_key(self.about.environment).ok_or(Ended::NoLogin(said))?;
        self.ask::<Value>("authenticate", &json!({ "methodId": method })).await?;
        self.ask("session/new", &folder).await
    }

    /// Chooses the model.
    async fn choose(&mut self, opened: &Opened, model: &str) -> Result<(), Ended> {
        let is_model = |category: &Option<String>| category.as_deref() == Some("model");
        let choices: Vec<_> = opened.config_options.iter().filter(|choice| is_model(&choice.category)).collect();
        let session = &opened.session_id;
        if let Some(choice) = choices.iter().find(|choice| choice.values().contains(&model)) {
            let set = json!({ "sessionId": session, "configId": choice.id, "value": model });
            return self.ask::<Value>("session/set_config_option", &set).await.map(drop);
        }
        let models = opened.models();
        if choices.is_empty() && models.contains(&model) {
            let set = json!({ "sessionId": session, "modelId": model });
            return self.ask::<Value>("session/set_model", &set).await.map(drop);
        }
        let offered = choices.iter().flat_map(|choice| choice.values()).chain(models).map(str::to_owned);
        Err(Ended::NoSuchModel(offered.collect()))
    }

    /// Sends one prompt, and waits for the end of its turn.
    async fn prompted(&mut self, session: &str, prompt: &str) -> Result<Ended, Ended> {
        let params = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": prompt }] });
        let id = self.send("session/prompt", &params).await?;
        let (cancel, deadline) = (self.about.cancel, self.about.deadline);
        let ended = tokio::select! {
            answer = self.answer(id) => {
                let why = answer?["stopReason"].as_str().unwrap_or("end_turn").to_owned();
                return Ok(Ended::Stopped(why));
            }
            () = cancel.cancelled() => Ended::Cancelled,
            () = sleep_until(deadline) => Ended::OutOfTime,
        };
        self.lines.send(&notification("session/cancel", &json!({ "sessionId": session }))).await?;
        // Its last updates say what it cost.
        timeout(GRACE, self.answer(id)).await.ok();
        Ok(ended)
    }

    /// Sends a request, and reads its answer.
    async fn ask<T: DeserializeOwned>(&mut self, method: &str, params: &Value) -> Result<T, Ended> {
        let id = self.send(method, params).await?;
        let answer = self.answer(id).await?;
        serde_json::from_value(answer).map_err(|error| Ended::Failed(format!("its answer to `{method}`: {error}")))
    }

    async fn send(&mut self, method: &str, params: &Value) -> Result<u64, Ended> {
        self.asked += 1;
        self.lines.send(&request(self.asked, method, params)).await?;
        Ok(self.asked)
    }

    /// The answer to request `id`; what comes before it is seen to.
    async fn answer(&mut self, id: u64) -> Result<Value, Ended> {
        loop {
            let message = self.lines.next().await?;
            self.about.context.alive();
            match message {
                Message { id: Some(asked), method: Some(method), params, .. } => {
                    self.lines.send(&self.reply(&asked, &method, params)).await?;
                }
                Message { method: Some(method), mut params, .. } => {
                    if method == "session/update"
                        && let Ok(update) = serde_json::from_value(params["update"].take())
                    {
                        self.turn.takes(update, self.about.context, self.about.is_measured);
                    }
                }
                Message { id: Some(answered), error, result, .. } if is_number(&answered, id) => {
                    return error.map_or(Ok(result), |failure| Err(failure.into()));
                }
                // It could not tell which request it could not read; there is one at a time.
                Message { id: None, error: Some(failure), .. } => return Err(failure.into()),
                _another => {}
            }
        }
    }

    fn reply(&self, id: &Value, method: &str, params: Value) -> Value {
        if method != "session/request_permission" {
            return not_offered(id, method);
        }
        let outcome = match serde_json::from_value::<Permission>(params) {
            _ if self.about.cancel.is_cancelled() => cancelled(),
            Ok(asked) => asked.outcome(self.about.is_held),
            Err(error) => return unreadable(id, &error),
        };
        answer(id, &json!({ "outcome": outcome }))
    }
}

/// Whether an answer is to this request: some agents make a text of its number.
fn is_number(answered: &Value, id: u64) -> bool {
    *answered == id || answered.as_str().is_some_and(|text| text.parse() == Ok(id))
}
