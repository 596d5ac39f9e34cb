//! How the server is started: where it listens, its accounts, Apps and webhook, its limits.

use std::{net::SocketAddr, path::PathBuf};

use super::{apps::App, moods::Moods, seed::Seed, users::User, webhooks::Webhook};

/// How to start the forge.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where it listens; port 0 takes any free one.
    pub listen: SocketAddr,
    /// Where it keeps its data; none: in a temporary folder that goes with it.
    pub data: Option<PathBuf>,
    /// The accounts.
    pub users: Vec<User>,
    /// Requests an hour of an account; GitHub's own 5,000 without it.
    pub rate_limit: Option<u32>,
    /// Apps, which sign in with a JSON web token.
    pub apps: Vec<App>,
    /// What it begins with beside its accounts.
    pub seed: Seed,
    /// Where webhooks go; none: there are none.
    pub webhook: Option<Webhook>,
    /// The moods that are on once it has begun.
    pub moods: Moods,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            data: None,
            users: Vec::new(),
            rate_limit: None,
            apps: Vec::new(),
            seed: Seed::default(),
            webhook: None,
            moods: Moods::default(),
        }
    }
}
