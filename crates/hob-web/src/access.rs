//! Who may read and who may write.
//!
//! # Guarantees
//! - A write needs the token: in the header `Authorization`, or in the session that a browser gets for it. Without a token nothing is
//!   written.
//! - A write with a browser's session has to come from this page: by `Sec-Fetch-Site`, else by `Origin`. The session's cookie is sent with
//!   no request of another site, and no script reads it.
//! - Without a token only this machine reads, and no page of another origin: there are no CORS headers, and `Host` has to be a name of
//!   the machine itself, so that no name on the internet is pointed here.

use std::time::Duration;

use http::{HeaderMap, HeaderValue, Method, header};
use ring::{hmac, rand::SystemRandom};
use secrecy::{ExposeSecret, SecretString};
use tokio::time::Instant;

/// How long a browser's session counts.
const SESSION_TIME: Duration = Duration::from_secs(12 * 3_600);
/// The cookie of a browser's session.
const COOKIE: &str = "hob_session";

/// Who may read and write.
pub(crate) enum Access {
    /// Everybody who reaches it reads, which is this machine, and nobody writes.
    ThisMachine,
    /// Those who have the token.
    WithToken(Box<Token>),
}

/// A request that may not be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Denied {
    /// It is for another host.
    OtherHost,
    /// It has neither the token nor a session.
    NoToken,
    /// Nothing may be written without a token.
    NoWrites,
    /// A page of another origin sent it.
    OtherOrigin,
}

impl Denied {
    pub(crate) fn says(self) -> &'static str {
        match self {
            Self::OtherHost => "the host must be an address of this machine, or `localhost`",
            Self::NoToken => "a bearer token is required",
            Self::NoWrites => {
                "without a token nothing can be changed here: start Hob with HOB_LISTEN_TOKEN, and sign in with it"
            }
            Self::OtherOrigin => "this was sent by another site: go back to Hob's page and try again",
        }
    }
}

/// A token that can be compared, and not read.
pub(crate) struct Token {
    key: hmac::Key,
    tag: hmac::Tag,
    began: Instant,
}

impl Access {
    /// Whether the request may be answered.
    pub(crate) fn check(&self, method: &Method, headers: &HeaderMap) -> Result<(), Denied> {
        let is_read = matches!(*method, Method::GET | Method::HEAD);
        match self {
            Self::ThisMachine if !names_this_machine(headers) => Err(Denied::OtherHost),
            Self::ThisMachine if !is_read => Err(Denied::NoWrites),
            Self::WithToken(token) if token.is_in(headers) => Ok(()),
            Self::WithToken(token) if !token.has_session(headers) => Err(Denied::NoToken),
            Self::WithToken(_) if !is_read && !is_of_this_page(headers) => Err(Denied::OtherOrigin),
            Self::ThisMachine | Self::WithToken(_) => Ok(()),
        }
    }

    /// Whether anybody may write.
    pub(crate) fn has_token(&self) -> bool {
        match self {
            Self::ThisMachine => false,
            Self::WithToken(_) => true,
        }
    }

    /// The header that begins a browser's session. `None` if the text is not the token.
    pub(crate) fn sign_in(&self, text: &str) -> Option<HeaderValue> {
        match self {
            Self::ThisMachine => None,
            Self::WithToken(token) => token.sign_in(text),
        }
    }
}

impl Token {
    /// `None` if the system gives no random bytes.
    pub(crate) fn new(token: &SecretString) -> Option<Self> {
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new()).ok()?;
        let tag = hmac::sign(&key, token.expose_secret().as_bytes());
        Some(Self { key, tag, began: Instant::now() })
    }

    /// Whether the text is this token, in a time that does not depend on where they differ.
    fn is(&self, text: &str) -> bool {
        hmac::verify(&self.key, text.as_bytes(), self.tag.as_ref()).is_ok()
    }

    /// Whether the header names this token.
    pub(crate) fn is_in(&self, headers: &HeaderMap) -> bool {
        let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let given =
            given.and_then(|value| value.split_once(' ')).filter(|(kind, _)| kind.eq_ignore_ascii_case("bearer"));
        given.is_some_and(|(_, token)| self.is(token.trim()))
    }

    fn sign_in(&self, text: &str) -> Option<HeaderValue> {
        let since = self.began.elapsed().as_secs();
        let session = self.is(text.trim()).then(|| self.session(since))?;
        let max = SESSION_TIME.as_secs();
        format!("{COOKIE}={session}; Path=/; HttpOnly; SameSite=Strict; Max-Age={max}").parse().ok()
    }

    /// A session that began so many seconds after this process. It counts until its time is over or the process ends.
    fn session(&self, since: u64) -> String {
        let signed = hmac::sign(&self.key, format!("session {since}").as_bytes());
        let hex: String = signed.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{since}.{hex}")
    }

    fn has_session(&self, headers: &HeaderMap) -> bool {
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut given = cookies
            .flat_map(|cookies| cookies.split(';'))
            .filter_map(|cookie| cookie.trim().strip_prefix(COOKIE)?.strip_prefix('='));
        given.any(|session| self.counts(session))
    }

    fn counts(&self, session: &str) -> bool {
        let Some(since) = session.split_once('.').and_then(|(since, _)| since.parse::<u64>().ok()) else {
            return false;
        };
        let is_young =
            self.began.elapsed().as_secs().checked_sub(since).is_some_and(|age| age < SESSION_TIME.as_secs());
        // Both are signed once more, so that the time of the comparison tells nothing.
        let wanted = hmac::sign(&self.key, self.session(since).as_bytes());
        is_young && hmac::verify(&self.key, session.as_bytes(), wanted.as_ref()).is_ok()
    }
}

/// Whether the request is for a loopback address or `localhost`, as a browser that was led here by another name is not.
fn names_this_machine(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(header::HOST).and_then(|value| value.to_str().ok()) else { return true };
    let Ok(host) = host.parse::<http::uri::Authority>() else { return false };
    let name = host.host().trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

/// Whether a browser sent the request for a page of this origin.
fn is_of_this_page(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(site) = text("sec-fetch-site") {
        return site == "same-origin";
    }
    let origin = text("origin").and_then(|origin| origin.split_once("://")).map(|(_, host)| host);
    origin.is_some() && origin == text("host")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(all: &[(&'static str, &str)]) -> HeaderMap {
        all.iter().map(|(name, value)| (http::HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    fn with_token() -> Access {
        Access::WithToken(Box::new(Token::new(&"canary-5fK2pQ9x".into()).unwrap()))
    }

    #[test]
    fn a_token_is_compared_as_a_whole() {
        let access = with_token();
        for (given, is_it) in [
            ("Bearer canary-5fK2pQ9x", true),
            ("bearer  canary-5fK2pQ9x", true),
            ("Bearer canary-5fK2pQ9", false),
            ("Bearer canary-5fK2pQ9xx", false),
            ("Bearer ", false),
            ("Basic canary-5fK2pQ9x", false),
            ("canary-5fK2pQ9x", false),
        ] {
            let checked = access.check(&Method::POST, &headers(&[("authorization", given)]));
            assert_eq!(checked.is_ok(), is_it, "{given}");
        }
        assert_eq!(access.check(&Method::GET, &HeaderMap::new()), Err(Denied::NoToken));
    }

    /// A page whose name was pointed at 127.0.0.1 is of the same origin as what it asks there.
    #[test]
    fn a_name_of_another_machine_is_not_answered() {
        for (host, is_here) in [
            ("localhost:4620", true),
            ("LOCALHOST", true),
            ("127.0.0.1:4620", true),
            ("[::1]:4620", true),
            ("evil.example:4620", false),
            ("127.0.0.1.evil.example", false),
            ("localhost.evil.example:4620", false),
            ("10.0.0.1:4620", false),
            ("", false),
        ] {
            let checked = Access::ThisMachine.check(&Method::GET, &headers(&[("host", host)]));
            assert_eq!(checked.is_ok(), is_here, "{host}");
        }
        let written = Access::ThisMachine.check(&Method::POST, &headers(&[("host", "localhost")]));
        assert_eq!(written, Err(Denied::NoWrites));
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_is_of_this_process_and_ends() {
        let (access, other) = (with_token(), with_token());
        assert!(access.sign_in("canary-5fK2pQ9").is_none() && Access::ThisMachine.sign_in("").is_none());
        tokio::time::advance(Duration::from_secs(5)).await;
        let header = access.sign_in(" canary-5fK2pQ9x\n").unwrap();
        let cookie = header.to_str().unwrap().split(';').next().unwrap().to_owned();
        let read = |access: &Access, cookie: &str| access.check(&Method::GET, &headers(&[("cookie", cookie)]));
        assert_eq!(read(&access, &format!("a=b; {cookie}; c=d")), Ok(()));
        assert_eq!(read(&other, &cookie), Err(Denied::NoToken));
        for wrong in [cookie.replace("=5.", "=6."), cookie[..cookie.len() - 1].to_owned(), "hob_session=".to_owned()] {
            assert_eq!(read(&access, &wrong), Err(Denied::NoToken), "{wrong}");
        }
        tokio::time::advance(SESSION_TIME).await;
        assert_eq!(read(&access, &cookie), Err(Denied::NoToken));
    }

    #[test]
    fn a_browser_writes_from_this_page_alone() {
        let access = with_token();
        let header = access.sign_in("canary-5fK2pQ9x").unwrap();
        let cookie = header.to_str().unwrap().split(';').next().unwrap().to_owned();
        let write = |more: &[(&'static str, &str)]| {
            let all: Vec<_> =
                [("cookie", cookie.as_str()), ("host", "h:1")].into_iter().chain(more.iter().copied()).collect();
            access.check(&Method::POST, &headers(&all))
        };
        for (more, is_here) in [
            (&[("sec-fetch-site", "same-origin")][..], true),
            (&[("sec-fetch-site", "cross-site"), ("origin", "http://h:1")][..], false),
            (&[("sec-fetch-site", "same-site")][..], false),
            (&[("origin", "http://h:1")][..], true),
            (&[("origin", "http://h:2")][..], false),
            (&[("origin", "null")][..], false),
            (&[][..], false),
        ] {
            assert_eq!(write(more), if is_here { Ok(()) } else { Err(Denied::OtherOrigin) }, "{more:?}");
        }
    }
}
