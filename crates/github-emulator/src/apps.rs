//! GitHub Apps: a JSON web token signed with the App's key gives hourly tokens of its installation.
//!
//! # Caveats
//! An App has one installation, on all repositories; its account is `SLUG[bot]`, and its permissions follow from that
//! account's role.

use base64::{Engine, prelude::BASE64_STANDARD, prelude::BASE64_URL_SAFE_NO_PAD};
use chrono::TimeDelta;
use ring::{rsa::KeyPair, signature};
use serde_json::Value;

use super::{refusal::Refusal, users::Role};
use crate::names::{Login, Timestamp};

/// The longest validity of a JSON web token, and the tolerance for differing clocks.
/// <https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app>
const LIFE_MAX_SECONDS: i64 = 600;
const SKEW_SECONDS: i64 = 60;
/// The lifetime of an installation's token.
pub(super) const TOKEN_LIFE: TimeDelta = TimeDelta::hours(1);
/// The object identifier of RSA keys with its empty parameters, as a public key encodes it.
const RSA: [u8; 13] = [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00];

/// A key that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("read an RSA key of 2048 bits or more: PEM, the App's private key or its public half")]
pub struct InvalidKey;

/// The public half of an App's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppKey(Vec<u8>);

/// An App and its installation.
#[derive(Debug, Clone)]
pub struct App {
    /// The App's id, the `iss` of its JSON web tokens.
    pub id: u64,
    /// Its name in addresses; its account is `SLUG[bot]`.
    pub slug: String,
    /// The key that verifies its JSON web tokens.
    pub key: AppKey,
    /// The id of its installation.
    pub installation: u64,
    /// The role of its account.
    pub role: Role,
}

impl App {
    /// Its account.
    pub fn login(&self) -> Login {
        Login::of_bot(&self.slug)
    }
}

impl AppKey {
    /// Reads a key from PEM: PKCS#1 or PKCS#8 private, or public; of a private key only the public half is kept.
    ///
    /// # Errors
    /// [`InvalidKey`] if it is not such a key.
    pub fn from_pem(pem: &str) -> Result<Self, InvalidKey> {
        let lines = pem.lines().map(str::trim).filter(|line| !line.is_empty());
        let body: String = lines.filter(|line| !line.starts_with("-----")).collect();
        let der = BASE64_STANDARD.decode(body).map_err(|_| InvalidKey)?;
        if let Ok(pair) = KeyPair::from_der(&der).or_else(|_| KeyPair::from_pkcs8(&der)) {
            return Ok(Self(pair.public().as_ref().to_vec()));
        }
        // In a public key the RSA key is a bit string (tag, length, no unused bits) after the identifier.
        let at = der.windows(RSA.len()).position(|window| window == RSA).ok_or(InvalidKey)? + RSA.len();
        match der.get(at..) {
            Some([0x03, 0x82, _, _, 0x00, key @ ..]) if !key.is_empty() => Ok(Self(key.to_vec())),
            Some(_) | None => Err(InvalidKey),
        }
    }
}

/// The App that signed this JSON web token.
///
/// # Errors
/// 401 if no App did, or its times are wrong.
pub(super) fn verify<'a>(apps: &'a [App], token: &str, now: Timestamp) -> Result<&'a App, Refusal> {
    let refused = |message: &str| Refusal::new(http::StatusCode::UNAUTHORIZED, message);
    let undecoded = || refused("A JSON web token could not be decoded");
    let (signed, sent) = token.rsplit_once('.').ok_or_else(undecoded)?;
    let (head, claims) = signed.split_once('.').ok_or_else(undecoded)?;
    let part = |text: &str| BASE64_URL_SAFE_NO_PAD.decode(text).map_err(|_| undecoded());
    let json = |text: &str| serde_json::from_slice::<Value>(&part(text)?).map_err(|_| undecoded());
    let (head, claims) = (json(head)?, json(claims)?);
    if head["alg"] != "RS256" {
        return Err(undecoded());
    }
    let issuer = claims["iss"].as_u64().or_else(|| claims["iss"].as_str()?.parse().ok());
    let app = apps.iter().find(|app| Some(app.id) == issuer).ok_or_else(|| refused("Integration not found"))?;
    let key = signature::UnparsedPublicKey::new(&signature::RSA_PKCS1_2048_8192_SHA256, &app.key.0);
    key.verify(signed.as_bytes(), &part(sent)?).map_err(|_| undecoded())?;
    let now = now.timestamp();
    let (Some(issued), Some(expires)) = (claims["iat"].as_i64(), claims["exp"].as_i64()) else {
        return Err(undecoded());
    };
    if issued > now + SKEW_SECONDS {
        return Err(refused(
            "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
        ));
    }
    if expires <= now {
        return Err(refused(
            "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
        ));
    }
    if expires > now + LIFE_MAX_SECONDS + SKEW_SECONDS {
        return Err(refused("'Expiration time' claim ('exp') is too far in the future"));
    }
    Ok(app)
}
