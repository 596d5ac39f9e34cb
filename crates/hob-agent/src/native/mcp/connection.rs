//! One server: opening, calling and closing it.

use std::{ffi::OsStr, sync::Arc, time::Duration};

use hob_config::McpSettings;
use hob_process::Environment;
use rmcp::{
    RoleClient,
    model::{
        CallToolRequestParams, ClientCapabilities, ClientConfig, Implementation, JsonObject, PaginatedRequestParams,
        Tool,
    },
    service::{ClientInitializeError, RunningService, ServiceError, serve_client},
};
use secrecy::SecretString;
use tokio::{sync::Mutex, time::timeout};

use crate::{
    native::mcp::{
        answer::{inert, text_of},
        bound::Bound,
        error::{CallError, ServerFault, Trouble, Unreachable},
        http::Http,
        local::{Local, Place},
    },
    report::first_line,
};

/// Bytes of an error that are told.
const REASON_MAX: usize = 300;
/// How long to wait for a program that breaks off to report how it ended.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// How long a server may take to hear that the run is over.
const GOODBYE: Duration = Duration::from_secs(3);

/// A server that is open.
pub(super) struct Connection {
    name: String,
    timeout: Duration,
    service: RunningService<RoleClient, ClientConfig>,
    bound: Arc<Bound>,
    local: Mutex<Option<Local>>,
}

impl Connection {
    /// Opens the server `name` and has it list its tools.
    ///
    /// # Errors
    /// [`ServerFault`] says why that was not possible.
    pub(super) async fn open(
        name: &str,
        settings: &McpSettings,
        variables: &Environment,
        place: Place<'_>,
    ) -> Result<(Self, Vec<Tool>), ServerFault> {
        let (bound, mut local) = (Arc::new(Bound::default()), None);
        let opened = timeout(settings.timeout, async {
            let own =
                ClientConfig::new(ClientCapabilities::default(), Implementation::new("hob", env!("CARGO_PKG_VERSION")));
            let service = match &settings.url {
                Some(url) => {
                    let token = token(settings, variables)?;
                    let http = Http::new(url, token.as_ref(), settings.timeout, Arc::clone(&bound));
                    serve_client(own, http?).await
                }
                None => {
                    let (started, pipes) = Local::start(settings, variables, place, Arc::clone(&bound)).await?;
                    local = Some(started);
                    serve_client(own, pipes).await
                }
            };
            let service = service.map_err(not_opened)?;
            let tools = list(&service).await.map_err(not_answered)?;
            Ok::<_, Trouble>((service, tools))
        });
        let trouble = match opened.await {
            Ok(Ok((service, tools))) => {
                let (name, timeout, local) = (name.to_owned(), settings.timeout, Mutex::new(local));
                return Ok((Self { name, timeout, service, bound, local }, tools));
            }
            Ok(Err(trouble)) => trouble,
            Err(_elapsed) => Trouble::Late(settings.timeout.as_secs_f64()),
        };
        Err(told(&bound, local, trouble).await)
    }

    /// Calls a tool. The error is the message to the model.
    pub(super) async fn call(&self, tool: &str, arguments: JsonObject) -> Result<String, CallError> {
        self.bound.asked();
        let call = self.service.call_tool(CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments));
        let trouble = match timeout(self.timeout, call).await {
            Ok(Ok(result)) => return text_of(&self.name, &result),
            Ok(Err(error)) => not_answered(error),
            Err(_elapsed) => Trouble::Late(self.timeout.as_secs_f64()),
        };
        let is_gone = self.bound.fault().is_some() || matches!(trouble, Trouble::Gone);
        // A server that answers wrongly, or late, may still answer the next call.
        let local = if is_gone { self.local.lock().await.take() } else { None };
        let (name, fault) = (self.name.clone(), told(&self.bound, local, trouble).await);
        Err(if is_gone { CallError::Gone(name, fault) } else { CallError::Server(name, fault) })
    }

    /// Closes it; afterwards its program is gone.
    pub(super) async fn close(mut self) {
        // The rest of a server that does not hear it ends with its program, or with its deadlines.
        self.service.close_with_timeout(GOODBYE).await.ok();
        if let Some(local) = self.local.into_inner() {
            local.end(Duration::ZERO).await;
        }
    }
}

/// The token that opens a server over HTTP.
fn token(settings: &McpSettings, variables: &Environment) -> Result<Option<SecretString>, Unreachable> {
    let Some(name) = &settings.token else { return Ok(None) };
    let value = variables.get(OsStr::new(name)).and_then(|value| value.to_str());
    let value = value.filter(|value| !value.trim().is_empty());
    value.map(|value| Some(value.to_owned().into())).ok_or_else(|| Unreachable::NoToken(name.clone()))
}

/// All tools, page by page. The whole listing is bounded.
async fn list(service: &RunningService<RoleClient, ClientConfig>) -> Result<Vec<Tool>, ServiceError> {
    let (mut tools, mut cursor) = (Vec::new(), None);
    loop {
        let page = service.list_tools(Some(PaginatedRequestParams::default().with_cursor(cursor))).await?;
        tools.extend(page.tools);
        match page.next_cursor {
            Some(next) => cursor = Some(next),
            None => return Ok(tools),
        }
    }
}

/// The report about a failing server; its program is ended.
async fn told(bound: &Bound, local: Option<Local>, trouble: Trouble) -> ServerFault {
    let is_unheard = match &trouble {
        Trouble::Gone | Trouble::Unsent(_) => true,
        Trouble::Unreachable(_) | Trouble::Late(_) | Trouble::Refused(_) | Trouble::Answer(_) => false,
    };
    // The last words of a server that breaks off are worth a short wait.
    let patience = if is_unheard && bound.fault().is_none() { LAST_WORDS } else { Duration::ZERO };
    let ended = match local {
        Some(local) => local.end(patience).await,
        None => None,
    };
    let why = match bound.fault() {
        Some(fault) => fault.to_owned(),
        None => ended.filter(|_| is_unheard).unwrap_or_else(|| trouble.to_string()),
    };
    ServerFault(first_line(&inert(&why), REASON_MAX))
}

fn not_opened(error: ClientInitializeError) -> Trouble {
    match error {
        ClientInitializeError::TransportError { error, .. } => Trouble::Unsent(error.error),
        ClientInitializeError::JsonRpcError(error) => Trouble::Refused(error.message.into_owned()),
        ClientInitializeError::ConnectionClosed(_) => Trouble::Gone,
        other => Trouble::Answer(other.to_string()),
    }
}

fn not_answered(error: ServiceError) -> Trouble {
    match error {
        ServiceError::McpError(error) => Trouble::Refused(error.message.into_owned()),
        ServiceError::TransportSend(error) => Trouble::Unsent(error.error),
        ServiceError::TransportClosed | ServiceError::Cancelled { .. } => Trouble::Gone,
        ServiceError::UnexpectedResponse => {
            Trouble::Answer("it answers with something else than what it was asked for".to_owned())
        }
        other => Trouble::Answer(other.to_string()),
    }
}
