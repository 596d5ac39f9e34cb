//! An App's private key, and the JSON web tokens that it signs (RS256).
//! <https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app>

use std::{fmt, sync::Arc};

use base64::{Engine, prelude::BASE64_STANDARD, prelude::BASE64_URL_SAFE_NO_PAD};
use chrono::TimeDelta;
use hob_domain::Timestamp;
use ring::{rand::SystemRandom, rsa::KeyPair, signature::RSA_PKCS1_SHA256};
use secrecy::{ExposeSecret, SecretString};

use crate::{ForgeError, PassKey};

/// How far back a token's validity begins, since clocks differ, and how long it lasts from now. GitHub allows ten
/// minutes in total.
const BACK: TimeDelta = TimeDelta::seconds(60);
const LIFE: TimeDelta = TimeDelta::seconds(480);

/// An App's private key.
#[derive(Clone)]
pub struct AppKey {
    pair: Arc<KeyPair>,
    passes: PassKey,
}

impl AppKey {
    /// Reads an RSA key from PEM: PKCS#1, as GitHub provides it, or PKCS#8. Line ends may be written `\n`, for
    /// variables that hold one line.
    ///
    /// # Errors
    /// [`ForgeError::App`] if it is not such a key; the error contains no part of the text.
    pub fn from_pem(pem: &SecretString) -> Result<Self, ForgeError> {
        let unusable = || ForgeError::App("its private key cannot be read: give the PEM file from its page".to_owned());
        let text = pem.expose_secret().replace("\\n", "\n");
        let body = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("-----"));
        let der = BASE64_STANDARD.decode(body.collect::<String>()).map_err(|_invalid| unusable())?;
        let pair = KeyPair::from_der(&der).or_else(|_| KeyPair::from_pkcs8(&der)).map_err(|_rejected| unusable())?;
        Ok(Self { pair: Arc::new(pair), passes: PassKey::of(&der) })
    }

    /// A JSON web token of the App `id`, valid for eight minutes from `now`. `None` if the machine has no randomness.
    pub(super) fn sign(&self, id: u64, now: Timestamp) -> Option<SecretString> {
        let part = |json: serde_json::Value| BASE64_URL_SAFE_NO_PAD.encode(json.to_string());
        let head = part(serde_json::json!({ "alg": "RS256", "typ": "JWT" }));
        let times = ((now - BACK).timestamp(), (now + LIFE).timestamp());
        let claims = part(serde_json::json!({ "iat": times.0, "exp": times.1, "iss": id.to_string() }));
        let mut signature = vec![0; self.pair.public().modulus_len()];
        let signed = format!("{head}.{claims}");
        self.pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), signed.as_bytes(), &mut signature).ok()?;
        Some(format!("{signed}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature)).into())
    }

    /// The key of passes.
    pub(super) fn pass_key(&self) -> PassKey {
        self.passes.clone()
    }
}

impl fmt::Debug for AppKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AppKey")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_key_is_refused_without_showing_it() {
        for pem in ["", "-----BEGIN RSA PRIVATE KEY-----\nc2VjcmV0\n-----END RSA PRIVATE KEY-----", "s3cret!"] {
            let error = AppKey::from_pem(&pem.to_owned().into()).unwrap_err().to_string();
            assert!(error.contains("cannot be read") && !error.contains("c2Vj") && !error.contains("s3c"), "{error}");
        }
    }
}
