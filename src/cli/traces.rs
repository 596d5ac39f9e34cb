//! From the standard variables of OpenTelemetry, and a file, to the traces of this process.

use std::{path::Path, time::Duration};

use hob_agent::model::use_ring;
use hob_config::TraceVariables;
use hob_text::KnownSecrets;
use hob_traces::{TraceLayer, Traces, TracesError, TracesTo};
use secrecy::ExposeSecret;

use crate::cli::exit::{Exit, fatal};

/// How long the connection to a collector may take.
const CONNECT: Duration = Duration::from_secs(5);

/// The traces that were begun.
#[derive(Default)]
pub(super) struct Begun {
    /// `None` if none are wanted, or an endpoint cannot be used.
    pub(super) traces: Option<(Traces, TraceLayer)>,
    /// Why there are none although an endpoint is set.
    pub(super) why_not: Option<String>,
}

/// Begins the traces that the variables and `file` ask for. Work goes on if the endpoint cannot be used: its variables
/// may be meant for other programs.
pub(super) fn begin(secrets: &KnownSecrets, file: Option<&Path>) -> anyhow::Result<Begun> {
    let variables = TraceVariables::read();
    if variables.are_off || variables.endpoint.is_none() && file.is_none() {
        return Ok(Begun::default());
    }
    let client = variables.endpoint.map(|endpoint| client(endpoint.expose_secret())).transpose();
    let begun = client.map_err(TracesError::from).and_then(|client| {
        Traces::begin(TracesTo { client, file, has_queue: variables.has_queue }, secrets, env!("CARGO_PKG_VERSION"))
    });
    match (begun, file) {
        (Ok(traces), _) => Ok(Begun { traces: Some(traces), why_not: None }),
        (Err(TracesError::File(error)), Some(file)) => {
            Err(fatal(Exit::Usage, format!("the traces cannot be written to `{}`: {error}", file.display())))
        }
        (Err(error), _) => Ok(Begun { traces: None, why_not: Some(error.to_string()) }),
    }
}

/// Hob's HTTP client, for a collector at this address.
fn client(endpoint: &str) -> Result<reqwest::Client, reqwest::Error> {
    use_ring();
    let client = reqwest::Client::builder()
        .connect_timeout(CONNECT)
        // A header may be a key, which goes to no other host.
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("hob/", env!("CARGO_PKG_VERSION")));
    // Plain HTTP is for this machine or its network, and a bare container may lack certificates.
    if endpoint.starts_with("http:") { client.no_proxy().tls_certs_only([]).build() } else { client.build() }
}
