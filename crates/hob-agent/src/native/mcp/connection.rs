//! One server: how it is opened, asked and closed.

use std::{ffi::OsStr, sync::Arc, time::Duration};

use hob_config::McpSettings;
use hob_process::Environment;
use rmcp::{
    RoleClient,
    model::{
        CallToolRequestParams, ClientCapabilities, ClientConfig, Implementation, JsonObject, PaginatedRequestParams, Tool,
    },
    service::{ClientInitializeError, RunningService, ServiceError, serve_client},
};
use secrecy::SecretString;
use tokio::{sync::Mutex, time::timeout};

use crate::{
    native::mcp::{
        answer::{inert, text_of},
        bound::Bound,
        http::Http,
        local::{Local, Place},
    },
    report::first_line,
};

/// Bytes of an error that are told.
const REASON_MAX: usize = 300;
/// How long a program that breaks off is waited for, to say how it ended.
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
    /// Why that was not possible, in a few words.
    pub(super) async fn open(
        name: &str,
        settings: &McpSettings,
        variables: &Environment,
        place: Place<'_>,
    ) -> Result<(Self, Vec<Tool>), String> {
        let (bound, mut local) = (Arc::new(Bound::default()), None);
        let opened = timeout(settings.timeout, async {
            let own = ClientConfig::new(ClientCapabilities::default(), Implementation::new("hob", env!("CARGO_PKG_VERSION")));
            let service = match &settings.url {
                Some(url) => {
                    let token = token(settings, variables)?;
                    serve_client(own, Http::new(url, token.as_ref(), settings.timeout, Arc::clone(&bound))?).await
                }
                None => {
                    let (started, pipes) = Local::start(settings, variables, place, Arc::clone(&bound)).await?;
                    local = Some(started);
                    serve_client(own, pipes).await
                }
            };
            let service = service.map_err(|error| why_not_opened(&error))?;
            let tools = list(&service).await.map_err(|error| why_not_answered(&error))?;
            Ok::<_, String>((service, tools))
        });
        let (patience, error) = match opened.await {
            Ok(Ok((service, tools))) => {
                let (name, timeout, local) = (name.to_owned(), settings.timeout, Mutex::new(local));
                return Ok((Self { name, timeout, service, bound, local }, tools));
            }
            Ok(Err(error)) => (LAST_WORDS, error),
            Err(_elapsed) => (Duration::ZERO, late(settings.timeout)),
        };
        Err(told(&bound, local, patience, error).await)
    }

    /// Calls a tool. The error is what the model is told.
    pub(super) async fn call(&self, tool: &str, arguments: JsonObject) -> Result<String, String> {
        self.bound.asked();
        let call = self.service.call_tool(CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments));
        let (patience, error) = match timeout(self.timeout, call).await {
            Ok(Ok(result)) => return text_of(&self.name, &result),
            Ok(Err(error)) if !self.service.is_closed() && !is_gone(&error) => {
                return Err(format!("the MCP server `{}`: {}", self.name, why_not_answered(&error)));
            }
            Ok(Err(error)) => (LAST_WORDS, why_not_answered(&error)),
            // It may answer the next call.
            Err(_elapsed) => return Err(format!("the MCP server `{}`: {}", self.name, late(self.timeout))),
        };
        let local = self.local.lock().await.take();
        let why = told(&self.bound, local, patience, error).await;
        Err(format!("the MCP server `{}` does not answer any more: {why}", self.name))
    }

    /// Closes it; a program is gone then.
    pub(super) async fn close(mut self) {
        // What is left of a server that does not hear it ends with its program, or with its deadlines.
        self.service.close_with_timeout(GOODBYE).await.ok();
        if let Some(local) = self.local.into_inner() {
            local.end(Duration::ZERO).await;
        }
    }
}

/// The word that opens a server over HTTP.
fn token(settings: &McpSettings, variables: &Environment) -> Result<Option<SecretString>, String> {
    let Some(name) = &settings.token else { return Ok(None) };
    let value = variables.get(OsStr::new(name)).and_then(|value| value.to_str());
    let value = value.filter(|value| !value.trim().is_empty());
    let missing = || format!("its token is not there: set the variable `{name}`");
    value.map(|value| Some(value.to_owned().into())).ok_or_else(missing)
}

/// All tools, page by page. What one listing may send is bounded as a whole.
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

/// What is known of a server that does not do, whose program is ended.
async fn told(bound: &Bound, local: Option<Local>, patience: Duration, error: String) -> String {
    let ended = match local {
        Some(local) => local.end(if bound.fault().is_some() { Duration::ZERO } else { patience }).await,
        None => None,
    };
    let why = bound.fault().map(str::to_owned).or(ended).unwrap_or(error);
    first_line(&inert(&why), REASON_MAX)
}

fn late(time: Duration) -> String {
    format!("it did not answer within {} s", time.as_secs_f64())
}

/// Whether nothing can be asked any more.
fn is_gone(error: &ServiceError) -> bool {
    matches!(error, ServiceError::TransportClosed | ServiceError::Cancelled { .. })
}

fn why_not_opened(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::TransportError { error, .. } => error.error.to_string(),
        ClientInitializeError::JsonRpcError(error) => format!("it answers with an error: {}", error.message),
        ClientInitializeError::ConnectionClosed(_) => "it ended before it answered".to_owned(),
        other => first_line(&inert(&other.to_string()), REASON_MAX),
    }
}

fn why_not_answered(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(error) => {
            format!("it answers with an error: {}", first_line(&inert(&error.message), REASON_MAX))
        }
        ServiceError::TransportSend(error) => error.error.to_string(),
        ServiceError::TransportClosed => "it ended before it answered".to_owned(),
        ServiceError::UnexpectedResponse => "it answers with something else than what it was asked for".to_owned(),
        other => first_line(&inert(&other.to_string()), REASON_MAX),
    }
}
