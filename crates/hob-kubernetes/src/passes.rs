//! What a pod gets instead of a token of the forge, if its template names a dispatcher of Hob as the API.
//!
//! # Guarantees
//! - A pod gets either a token, which the template names, or a pass, never both: a template that names a dispatcher and a token is
//!   refused, because that token would be sent to the dispatcher, unencrypted.
//! - The dispatcher's own token is in nothing that is filled into a Job.

use std::{sync::Arc, time::Duration};

use hob_worker::RemoteTask;
use k8s_openapi::api::core::v1::Container;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

/// The address of the API, for the pod's Hob.
const API: &str = "GITHUB_API_URL";
/// That of the forge's pages.
const SERVER: &str = "GITHUB_SERVER_URL";
/// How the address of a dispatcher ends, at which it forwards requests.
const FORWARDED: &str = "/forge";
/// What signs in at the forge. The first is where the pass goes.
const CREDENTIALS: [&str; 6] = [
    "GITHUB_TOKEN",
    "GITHUB_TOKEN_FILE",
    "GH_TOKEN",
    "GH_TOKEN_FILE",
    "HOB_APP_PRIVATE_KEY",
    "HOB_APP_PRIVATE_KEY_FILE",
];
/// How long a Job may wait before its deadline begins, for a node or in a queue. The pass of one that waits longer has ended: its pod
/// fails, and another Job is made.
const QUEUE: Duration = Duration::from_secs(86_400);

/// Signs a pass for the Job of this name that counts for as long.
pub type Sign = dyn Fn(&RemoteTask, &str, Duration) -> SecretString + Send + Sync;

/// What pods get instead of tokens.
#[derive(Clone)]
pub struct Passes {
    /// The forge's web address.
    pub server_url: String,
    /// What signs them.
    pub sign: Arc<Sign>,
}

/// A template that names a dispatcher and a credential, which would be sent to it.
#[derive(Debug, thiserror::Error)]
#[error("it must not set `{credential}` beside a `{API}` that ends with `{FORWARDED}`")]
pub(crate) struct BothNamed {
    credential: String,
}

/// Whether this container's requests go through a dispatcher.
///
/// # Errors
/// [`BothNamed`] if they may not.
pub(crate) fn is_forwarded(container: &Container) -> Result<bool, BothNamed> {
    let variables = || container.env.iter().flatten();
    let address = variables().filter(|variable| variable.name == API).filter_map(|variable| variable.value.as_deref());
    if !address.into_iter().any(|address| address.trim_end_matches('/').ends_with(FORWARDED)) {
        return Ok(false);
    }
    match variables().find(|variable| CREDENTIALS.contains(&variable.name.as_str())) {
        Some(named) => Err(BothNamed { credential: named.name.clone() }),
        None => Ok(true),
    }
}

/// Puts a pass into the container of a Job with this name and deadline.
pub(crate) fn fill_in(container: &mut Value, task: &RemoteTask, job: &str, deadline: Duration, passes: &Passes) {
    let Some(variables) = container["env"].as_array_mut() else { return };
    if !variables.iter().any(|variable| variable["name"] == SERVER) {
        variables.push(json!({ "name": SERVER, "value": passes.server_url }));
    }
    let pass = (passes.sign)(task, job, deadline.saturating_add(QUEUE));
    let [token, ..] = CREDENTIALS;
    variables.push(json!({ "name": token, "value": pass.expose_secret() }));
}

#[cfg(test)]
mod tests {
    use hob_domain::IssueNumber;

    use super::*;
    use crate::template::{Template, Why};

    /// A template whose container has these variables.
    fn template(variables: &str) -> Result<Template, Why> {
        let text = format!(
            "{{ apiVersion: batch/v1, kind: Job, spec: {{ template: {{ spec: {{ containers: [{{ name: hob, image: i, env: [{variables}] }}] }} }} }} }}"
        );
        Template::parse(&text)
    }

    fn passes() -> Passes {
        let sign = |task: &RemoteTask, job: &str, lasts: Duration| {
            format!("pass of {job} for {}#{}, {} s", task.repo, task.issue, lasts.as_secs()).into()
        };
        Passes { server_url: "https://github.com".to_owned(), sign: Arc::new(sign) }
    }

    fn variables(template: &Template, passes: Option<&Passes>) -> Value {
        let longest = Duration::from_secs(1_800);
        let task = RemoteTask { repo: "acme/site".parse().unwrap(), issue: IssueNumber(7), ledger: None, longest };
        template.job(&task, "hob-site-7-0", passes)["spec"]["template"]["spec"]["containers"][0]["env"].take()
    }

    const DISPATCHER: &str = "{ name: GITHUB_API_URL, value: 'http://dispatcher:4620/forge' }";

    #[test]
    fn a_pod_whose_api_is_a_dispatcher_gets_a_pass() {
        let made = template(DISPATCHER).unwrap();
        let api = json!({ "name": "GITHUB_API_URL", "value": "http://dispatcher:4620/forge" });
        // The deadline of the Job and the day that it may wait.
        let pass = json!({ "name": "GITHUB_TOKEN", "value": "pass of hob-site-7-0 for acme/site#7, 91800 s" });
        let server = |url: &str| json!({ "name": "GITHUB_SERVER_URL", "value": url });
        assert_eq!(variables(&made, Some(&passes())), json!([api, server("https://github.com"), pass]));
        let named = template(&format!("{DISPATCHER}, {{ name: GITHUB_SERVER_URL, value: 'https://ghe' }}")).unwrap();
        assert_eq!(variables(&named, Some(&passes())), json!([api, server("https://ghe"), pass]));
    }

    #[test]
    fn a_pod_with_another_api_gets_none() {
        for api in
            ["", "{ name: GITHUB_API_URL, value: 'https://ghe/api/v3' }", "{ name: GITHUB_API_URL, valueFrom: {} }"]
        {
            let token = "{ name: GITHUB_TOKEN, valueFrom: { secretKeyRef: { name: hob, key: token } } }";
            let given = if api.is_empty() { token.to_owned() } else { format!("{api}, {token}") };
            let made = template(&given).unwrap();
            assert_eq!(variables(&made, Some(&passes())), variables(&made, None), "{api}");
        }
    }

    #[test]
    fn a_credential_beside_a_dispatcher_is_refused() {
        for name in CREDENTIALS {
            let why = template(&format!("{DISPATCHER}, {{ name: {name}, value: x }}")).unwrap_err().to_string();
            let says = format!("it must not set `{name}` beside a `GITHUB_API_URL` that ends with `/forge`");
            assert_eq!(why, says);
        }
    }
}
