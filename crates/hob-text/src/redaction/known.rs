//! The secrets that a process knows, shared by everything that lets text out.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use secrecy::{ExposeSecret, SecretString};

use crate::redaction::Redaction;

/// Earlier tokens that are kept. A token lives an hour and is replaced earlier, so these include all that are still
/// valid.
const ROTATED_MAX: usize = 16;

/// The secrets of a process, and the gate for them. Clones share them.
#[derive(Clone, Default)]
pub struct KnownSecrets(Arc<RwLock<Known>>);

#[derive(Default)]
struct Known {
    lasting: Vec<SecretString>,
    rotated: VecDeque<SecretString>,
    redaction: Arc<Redaction>,
}

impl fmt::Debug for KnownSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KnownSecrets").finish_non_exhaustive()
    }
}

impl KnownSecrets {
    /// Adds secrets that are redacted for as long as the process lives.
    pub fn add(&self, secrets: impl IntoIterator<Item = SecretString>) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let before = known.lasting.len();
        for secret in secrets {
            if !is_among(&known.lasting, &secret) {
                known.lasting.push(secret);
            }
        }
        if known.lasting.len() > before {
            known.rebuild();
        }
    }

    /// Adds a token that will be replaced; earlier tokens are still redacted while they may be valid.
    pub fn rotate(&self, token: &SecretString) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if is_among(&known.rotated, token) {
            return;
        }
        known.rotated.push_back(token.clone());
        if known.rotated.len() > ROTATED_MAX {
            known.rotated.pop_front();
        }
        known.rebuild();
    }

    /// The gate for the secrets known now.
    pub fn redaction(&self) -> Arc<Redaction> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner).redaction)
    }
}

impl Known {
    fn rebuild(&mut self) {
        let all = self.lasting.iter().chain(&self.rotated);
        self.redaction = Arc::new(Redaction::new(all.map(|secret| secret.expose_secret())));
    }
}

fn is_among<'a>(known: impl IntoIterator<Item = &'a SecretString>, secret: &SecretString) -> bool {
    known.into_iter().any(|one| one.expose_secret() == secret.expose_secret())
}
