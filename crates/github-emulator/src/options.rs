//! The options of the server: its address, its accounts, Apps and webhook, its limits.

use std::{net::SocketAddr, path::PathBuf};

use super::{apps::App, moods::Moods, seed::Seed, users::User, webhooks::Webhook};

/// The options of the forge.
#[derive(Debug, Clone)]
pub struct Options {
    /// The address to listen at; port 0 takes any free one.
    pub listen: SocketAddr,
    /// The folder of its data; `None` means a temporary folder that is removed with it.
    pub data: Option<PathBuf>,
    /// The accounts.
    pub users: Vec<User>,
    /// Requests an hour of an account; GitHub's own 5,000 without it.
    pub rate_limit: Option<u32>,
    /// Apps, which sign in with a JSON web token.
    pub apps: Vec<App>,
    /// Its initial contents beside its accounts.
    pub seed: Seed,
    /// The receiver of webhooks; `None` if there is none.
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
