//! One git command's way to a remote: the address and the settings it gets, open for as long as it runs.

use hob_domain::FailureClass;

use crate::{
    Remote, TransportError,
    forwarder::{Clients, Forwarder, Right},
};

/// The way of one command. It must outlive the command: dropping it closes it.
pub(super) struct Route {
    remote: Remote,
    forwarder: Option<Forwarder>,
}

impl Route {
    /// Opens the way to `remote`. A folder needs none.
    ///
    /// # Errors
    /// Why it cannot be opened.
    pub(super) fn open(remote: &Remote, right: Right, clients: &Clients) -> Result<Self, TransportError> {
        let opened = remote.server_url().map(|url| Forwarder::open(remote, url, right, clients));
        let forwarder = opened.transpose().map_err(|error| TransportError {
            doing: "open a way to",
            repo: remote.repo().to_string(),
            reason: error.to_string(),
            class: FailureClass::Misconfigured,
        })?;
        Ok(Self { remote: remote.clone(), forwarder })
    }

    pub(super) fn remote(&self) -> &Remote {
        &self.remote
    }

    /// The address as git's argument; it holds no secret.
    pub(super) fn url(&self) -> String {
        self.forwarder.as_ref().map_or_else(|| self.remote.url(), Forwarder::url)
    }

    /// The protocols git may use.
    pub(super) fn protocols(&self) -> &'static str {
        if self.forwarder.is_some() { "http" } else { "file" }
    }

    /// Settings that only this command gets. The most specific setting counts: these name the whole address, and an
    /// empty header discards those before it.
    pub(super) fn settings(&self) -> Vec<(String, String)> {
        let Some(forwarder) = &self.forwarder else { return Vec::new() };
        let url = forwarder.url();
        vec![
            (format!("http.{url}.proxy"), String::new()),
            (format!("http.{url}.extraHeader"), String::new()),
            (format!("http.{url}.extraHeader"), format!("Authorization: Bearer {}", forwarder.nonce())),
        ]
    }

    /// Whether a push took along what was to go with it.
    pub(super) fn took_along(&self) -> bool {
        self.forwarder.as_ref().is_some_and(Forwarder::took_along)
    }

    /// Why the command did not reach its server, if the server itself did not say so.
    pub(super) fn fault(&self) -> Option<String> {
        self.forwarder.as_ref()?.fault().map(|fault| self.scrubbed(&fault))
    }

    /// Git's message, with the server's address in place of ours, and without secrets.
    pub(super) fn scrubbed(&self, text: &str) -> String {
        let Some(forwarder) = &self.forwarder else { return self.remote.scrubbed(text) };
        let text =
            text.replace(&forwarder.url(), &self.remote.url()).replace(forwarder.origin(), self.remote.server_root());
        self.remote.scrubbed(&text.replace(forwarder.nonce(), "[nonce]"))
    }
}
