//! The address of notifications. Only Hob's settings have it: no repository chooses a host.

use std::{fmt, time::Duration};

use secrecy::{ExposeSecret, SecretString};
use url::{Host, Url};

use crate::{
    SecretFiles, Settings, SettingsError, WebhookFormat,
    variable_names::{WEBHOOK_SECRET, WEBHOOK_URL},
};

/// The address of notifications and how to post to it.
#[derive(Clone)]
pub struct Webhook {
    /// The address. It may itself grant access, so it is never shown.
    pub url: SecretString,
    /// The key that signs the bodies. `None` if they are not signed.
    pub secret: Option<SecretString>,
    /// The format of the bodies.
    pub format: WebhookFormat,
    /// The time limit of a notification.
    pub timeout: Duration,
}

impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhook").field("format", &self.format).finish_non_exhaustive()
    }
}

impl Webhook {
    /// The webhook of the settings; `HOB_WEBHOOK_URL` and `HOB_WEBHOOK_SECRET` come from the environment or from
    /// `files`. `None` if there is no address.
    ///
    /// # Errors
    /// [`SettingsError`] if the address is not valid, or if nothing signs what is posted to it.
    pub fn read(settings: &Settings, files: &SecretFiles) -> Result<Option<Self>, SettingsError> {
        Self::from_settings(settings, secret(WEBHOOK_URL, files), Self::key(files))
    }

    /// The key that signs what is posted, `HOB_WEBHOOK_SECRET`. `None` if there is none.
    pub fn key(files: &SecretFiles) -> Option<SecretString> {
        secret(WEBHOOK_SECRET, files)
    }

    /// The same with these values of the two variables.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    pub fn from_settings(
        settings: &Settings,
        url: Option<SecretString>,
        secret: Option<SecretString>,
    ) -> Result<Option<Self>, SettingsError> {
        let notify = &settings.notify;
        let (key, given) = match &url {
            Some(url) => (WEBHOOK_URL, url.expose_secret()),
            None => ("notify.webhook", notify.webhook.as_str()),
        };
        if given.is_empty() {
            return Ok(None);
        }
        let url = address(given, key)?;
        let format = notify.webhook_format;
        if secret.is_none() && format == WebhookFormat::Json {
            let allowed = format!("set `{WEBHOOK_SECRET}`: notifications as JSON are signed");
            return Err(SettingsError::senseless(key, shown(&url), allowed));
        }
        Ok(Some(Self { url: String::from(url).into(), secret, format, timeout: notify.timeout }))
    }
}

/// The value of a variable, or of its file.
fn secret(name: &str, files: &SecretFiles) -> Option<SecretString> {
    #[expect(clippy::disallowed_methods, reason = "`config` is the one reader of the environment")]
    let set = std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    set.map(SecretString::from).or_else(|| files.get(name).cloned())
}

/// Reads an address: of HTTPS, or of HTTP on this machine.
///
/// # Errors
/// [`SettingsError::Senseless`] for any other address, without its path.
pub(super) fn address(given: &str, key: &str) -> Result<Url, SettingsError> {
    let refused = |value: String| {
        let allowed =
            "write an address such as `https://example.org/hook`, or `http` for this machine alone".to_owned();
        SettingsError::senseless(key, value, allowed)
    };
    let url = Url::parse(given.trim()).map_err(|_| refused("no address".to_owned()))?;
    let is_here = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    let has_account = !url.username().is_empty() || url.password().is_some();
    let is_good = match url.scheme() {
        "https" => url.host().is_some(),
        "http" => is_here,
        _other => false,
    };
    if is_good && !has_account { Ok(url) } else { Err(refused(shown(&url))) }
}

/// An address without the parts that may be secret.
fn shown(url: &Url) -> String {
    format!("{}://{}", url.scheme(), url.host_str().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn an_address_is_of_https_or_of_this_machine() {
        for good in ["https://hooks.example/x?y", "http://127.0.0.1:8/x", "http://localhost/", "http://[::1]:9/"] {
            assert!(address(good, "k").is_ok(), "{good}");
        }
        for bad in [
            "http://hooks.example/canary",
            "http://10.0.0.1/canary",
            "http://127.0.0.1.example/canary",
            "https://me:canary@hooks.example/",
            "file:///canary",
            "canary",
        ] {
            let error = address(bad, "notify.webhook").unwrap_err().to_string();
            assert!(error.contains("`notify.webhook`") && !error.contains("canary"), "{error}");
        }
    }

    #[test]
    fn plain_json_is_signed_and_the_variable_wins() {
        let set = [("notify.webhook".to_owned(), "https://one.example/x".to_owned())];
        let settings = Settings::load(None, HashMap::new(), &set).unwrap();
        let error = Webhook::from_settings(&settings, None, None).unwrap_err().to_string();
        assert!(error.contains("HOB_WEBHOOK_SECRET"), "{error}");
        let url = Some("https://two.example/y".into());
        let webhook = Webhook::from_settings(&settings, url, Some("s".into())).unwrap().unwrap();
        assert_eq!(webhook.url.expose_secret(), "https://two.example/y");
        let none = Settings::load(None, HashMap::new(), &[]).unwrap();
        assert!(Webhook::from_settings(&none, None, None).unwrap().is_none());
    }
}
