//! A route to one model service: its address, and Hob's credentials there.

use std::fmt;

use http::{HeaderName, HeaderValue, header};
use secrecy::{ExposeSecret, SecretString};
use url::Url;

use crate::vendor::Api;

/// A way to one model service.
#[derive(Debug, Clone)]
pub struct Route {
    /// The name in the path, and before the model's name in the meter: `anthropic`. Lower-case letters, digits and `-`.
    pub name: String,
    /// The service's interface.
    pub api: Api,
    /// The service's address, without the part that clients add: `https://api.anthropic.com`,
    /// `https://api.openai.com/v1`.
    pub upstream: Url,
    /// Hob's credentials at the service.
    pub auth: Auth,
}

/// The way in which Hob signs in at a service.
#[derive(Clone)]
pub enum Auth {
    /// `x-api-key: KEY`.
    XApiKey(SecretString),
    /// `Authorization: Bearer KEY`.
    Bearer(SecretString),
    /// `x-goog-api-key: KEY`.
    XGoogApiKey(SecretString),
    /// Not at all: a server of one's own.
    None,
}

impl fmt::Debug for Auth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::XApiKey(_) => "XApiKey",
            Self::Bearer(_) => "Bearer",
            Self::XGoogApiKey(_) => "XGoogApiKey",
            Self::None => "None",
        })
    }
}

/// A route that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadRoute {
    #[error("the route's name `{0}` is not made of small letters, digits and `-`")]
    Name(String),
    #[error("the key of the route `{0}` has invalid characters")]
    Key(String),
    #[error("the address of the route `{0}` must be an `http` address without a query")]
    Upstream(String),
}

impl Route {
    /// Checks that it can be used.
    pub(crate) fn check(&self) -> Result<(), BadRoute> {
        let known = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if self.name.is_empty() || !self.name.bytes().all(known) {
            return Err(BadRoute::Name(self.name.clone()));
        }
        let upstream = &self.upstream;
        let plain = matches!(upstream.scheme(), "http" | "https") && upstream.query().is_none();
        if !plain || upstream.host().is_none() || upstream.fragment().is_some() {
            return Err(BadRoute::Upstream(self.name.clone()));
        }
        match self.auth.header() {
            Some(Err(_)) => Err(BadRoute::Key(self.name.clone())),
            Some(Ok(_)) | None => Ok(()),
        }
    }

    /// The address at the service of a client's `path` and `query`. A version that both have is not doubled.
    pub(crate) fn address(&self, path: &str, query: &str) -> Url {
        let base = self.upstream.path().trim_end_matches('/');
        let path = if base.ends_with("/v1") && path.starts_with("/v1/") { &path[3..] } else { path };
        let mut url = self.upstream.clone();
        url.set_path(&format!("{base}{path}"));
        url.set_query((!query.is_empty()).then_some(query));
        url
    }
}

impl Auth {
    /// The key, trimmed, as it is sent; `None` if it is empty.
    pub(crate) fn key(&self) -> Option<&str> {
        let key = match self {
            Self::XApiKey(key) | Self::Bearer(key) | Self::XGoogApiKey(key) => key.expose_secret().trim(),
            Self::None => "",
        };
        (!key.is_empty()).then_some(key)
    }

    /// The header that signs in, marked as sensitive.
    pub(crate) fn header(&self) -> Option<Result<(HeaderName, HeaderValue), header::InvalidHeaderValue>> {
        let key = self.key()?;
        let (name, value) = match self {
            Self::XApiKey(_) => (HeaderName::from_static("x-api-key"), HeaderValue::try_from(key)),
            Self::Bearer(_) => (header::AUTHORIZATION, HeaderValue::try_from(format!("Bearer {key}"))),
            Self::XGoogApiKey(_) => (HeaderName::from_static("x-goog-api-key"), HeaderValue::try_from(key)),
            Self::None => return None,
        };
        Some(value.map(|mut value| {
            value.set_sensitive(true);
            (name, value)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(upstream: &str) -> Route {
        let auth = Auth::Bearer("secret-1".into());
        Route { name: "openai".into(), api: Api::OpenAi, upstream: upstream.parse().unwrap(), auth }
    }

    #[test]
    fn a_version_stands_in_the_address_once() {
        for (upstream, path, shown) in [
            ("https://a.example/v1", "/v1/models", "https://a.example/v1/models"),
            ("https://a.example/v1/", "/models", "https://a.example/v1/models"),
            ("https://a.example", "/v1/models", "https://a.example/v1/models"),
            ("https://a.example/x/", "/v1/models", "https://a.example/x/v1/models"),
        ] {
            assert_eq!(route(upstream).address(path, "").as_str(), shown);
        }
        assert_eq!(route("http://a.example").address("/models", "a=1").query(), Some("a=1"));
    }

    #[test]
    fn a_key_is_not_printed() {
        assert!(!format!("{:?}", route("http://a.example")).contains("secret-1"));
    }

    #[test]
    fn a_route_that_cannot_be_used_is_refused() {
        assert!(route("http://a.example").check().is_ok());
        assert!(route("ftp://a.example").check().is_err());
        assert!(Route { name: "A/b".into(), ..route("http://a.example") }.check().is_err());
        assert!(Route { auth: Auth::Bearer("a\nb".into()), ..route("http://a.example") }.check().is_err());
    }
}
