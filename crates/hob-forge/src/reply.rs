//! One complete answer of the forge: the meaning of its headers and status.

use std::time::Duration;

use bytes::Bytes;
use hob_domain::Timestamp;
use http::{HeaderMap, StatusCode, header};
use serde::de::DeserializeOwned;

use crate::{
    ForgeError, Rate,
    forbidden::advice,
    purpose::Purpose,
    wrong_server::{NotJson, is_page},
};

/// The wait after a limit without a time. Source: GitHub, "Rate limits for the REST API".
const LIMIT_PAUSE: Duration = Duration::from_secs(60);
/// The longest wait that an answer can ask for: GitHub's longest window. Then the call is tried again in any case.
const LIMIT_MAX: Duration = Duration::from_secs(3_600);

/// One answer.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// The path and query of a list's other pages, from its `Link` header.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Links {
    pub(super) first: Option<String>,
    pub(super) previous: Option<String>,
    pub(super) next: Option<String>,
    pub(super) last: Option<String>,
}

impl Links {
    /// Their size in bytes.
    pub(super) fn bytes(&self) -> usize {
        [&self.first, &self.previous, &self.next, &self.last].into_iter().flatten().map(String::len).sum()
    }
}

/// The calls that a limit stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// Calls to the same resource: a primary limit.
    Resource,
    /// All calls: a secondary limit.
    All,
}

/// A limit that an answer reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limit {
    pub(super) scope: Scope,
    pub(super) wait: Duration,
}

impl Reply {
    /// A header's text.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.text(name)?.trim().parse().ok()
    }

    /// What the answer says about its quota.
    pub(super) fn rate(&self, resource: &str) -> Option<Rate> {
        let reset = i64::try_from(self.number("x-ratelimit-reset")?).ok()?;
        Some(Rate {
            resource: self.text("x-ratelimit-resource").unwrap_or(resource).chars().take(40).collect(),
            limit: self.number("x-ratelimit-limit")?,
            remaining: self.number("x-ratelimit-remaining")?,
            reset: Timestamp::from_timestamp(reset, 0)?,
        })
    }

    /// How long the answer asks to wait: in seconds, or until a date.
    fn retry_after(&self, now: Timestamp) -> Option<Duration> {
        let asked = self.text("retry-after")?.trim();
        let seconds = asked.parse().ok().or_else(|| {
            let date = chrono::DateTime::parse_from_rfc2822(asked).ok()?;
            Some((date.to_utc() - now).num_seconds().max(1).unsigned_abs())
        })?;
        Some(Duration::from_secs(seconds).min(LIMIT_MAX))
    }

    /// The limit that refused the call, if one did, after `in_a_row` secondary limits that named no time.
    pub(super) fn limit(&self, now: Timestamp, in_a_row: u32) -> Option<Limit> {
        if !matches!(self.status.as_u16(), 403 | 429) {
            return None;
        }
        let words = self.message().to_ascii_lowercase();
        let secondary = words.contains("secondary") || words.contains("abuse");
        let exhausted = exhausted(self, now).filter(|_| !secondary);
        let asked = self.retry_after(now);
        let scope = if exhausted.is_some() { Scope::Resource } else { Scope::All };
        let is_limit = self.status.as_u16() == 429 || secondary || words.contains("rate limit");
        let pause = || LIMIT_PAUSE.saturating_mul(1 << in_a_row.min(6)).min(LIMIT_MAX);
        let wait = asked.or(exhausted).or_else(|| is_limit.then(pause))?;
        Some(Limit { scope, wait })
    }

    /// Why the call failed, unless a limit refused it.
    pub(super) fn refusal(&self, purpose: Purpose<'_>, now: Timestamp) -> ForgeError {
        let what = purpose.what.to_owned();
        let message = self.message();
        match self.status.as_u16() {
            401 => ForgeError::Unauthorized,
            // A limit on visible content, which closes the gate for nothing else (`docs/design/github.md`, `pull.quick`).
            403 | 422 if message.contains("submitted too quickly") => {
                ForgeError::Limited { what, retry_after: LIMIT_PAUSE }
            }
            403 if message.contains("is locked") => ForgeError::Locked { what },
            403 | 451 => {
                ForgeError::Forbidden { advice: advice(&self.headers, &message, purpose.needs), what, message }
            }
            // A server that answers with a page is not the API, so its 404 says nothing about the object.
            300..=399 | 404 | 410 if is_page(&self.body) => {
                ForgeError::Unreadable { what, source: NotJson::Page.into() }
            }
            // A deleted issue is gone in the same way, with other words.
            410 if message.to_ascii_lowercase().contains("disabled") => ForgeError::NoIssues { what },
            404 | 410 => ForgeError::NotFound { what },
            301 | 302 | 307 | 308 => ForgeError::Moved { what, to: None },
            status @ 500.. => ForgeError::Server { what, status, retry_after: self.retry_after(now) },
            status => ForgeError::Refused { what, status, message },
        }
    }

    /// The text of an error body: its message and the messages below it.
    pub(super) fn message(&self) -> String {
        let value: serde_json::Value = serde_json::from_slice(&self.body).unwrap_or_default();
        let mut message = value["message"].as_str().unwrap_or("no reason given").to_owned();
        for error in value["errors"].as_array().into_iter().flatten() {
            let coded = || Some(format!("{} {}", error["field"].as_str()?, error["code"].as_str()?));
            let said = error.as_str().or_else(|| error["message"].as_str()).map(str::to_owned);
            if let Some(part) = said.or_else(coded).or_else(|| error["code"].as_str().map(str::to_owned)) {
                message = format!("{message}; {part}");
            }
        }
        hob_text::clip(&message, 500)
    }

    /// The addresses of the list's other pages.
    pub(super) fn links(&self, base_path: &str) -> Links {
        let to = |page: &str| self.link(&format!("rel=\"{page}\""), base_path);
        Links { first: to("first"), previous: to("prev"), next: to("next"), last: to("last") }
    }

    /// The path and query of a link, below the API's own path.
    fn link(&self, relation: &str, base_path: &str) -> Option<String> {
        let links = self.text(header::LINK.as_str())?;
        let link = links.split(',').find(|link| link.contains(relation))?;
        below(link.split_once('<')?.1.split_once('>')?.0, base_path)
    }

    /// The path `/repositories/ID` of a repository that a redirect leads to, for a request about any part of it.
    pub(super) fn moved_repository(&self, base_path: &str) -> Option<String> {
        let path = below(self.text(header::LOCATION.as_str())?, base_path)?;
        let id = path.strip_prefix("/repositories/")?.split(['/', '?']).next()?;
        id.chars().all(|c| c.is_ascii_digit()).then(|| format!("/repositories/{id}"))
    }
}

/// The path and query of an address of the API. The client adds the base's own path again.
fn below(address: &str, base_path: &str) -> Option<String> {
    let url = url::Url::parse(address).ok()?;
    let path = url.path();
    let path = path.strip_prefix(base_path).unwrap_or(path);
    Some(url.query().map_or_else(|| path.to_owned(), |query| format!("{path}?{query}")))
}

/// How long the primary limit is used up, if an answer says that it is.
pub(super) fn exhausted(reply: &Reply, now: Timestamp) -> Option<Duration> {
    if reply.number("x-ratelimit-remaining")? > 0 {
        return None;
    }
    let reset = i64::try_from(reply.number("x-ratelimit-reset")?).ok()?;
    let left = reset.saturating_sub(now.timestamp()).max(1).unsigned_abs();
    Some(Duration::from_secs(left).min(LIMIT_MAX))
}

/// The body as the requested type.
pub(super) fn decode<T: DeserializeOwned>(body: &[u8], what: &str) -> Result<T, ForgeError> {
    serde_json::from_slice(body).map_err(|error| {
        let cause = match body {
            body if is_page(body) => NotJson::Page,
            [] => NotJson::Empty,
            _ => error.into(),
        };
        ForgeError::Unreadable { what: what.to_owned(), source: cause.into() }
    })
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn reply(status: u16, headers: &[(&'static str, &'static str)], message: &str) -> Reply {
        Reply {
            status: StatusCode::from_u16(status).unwrap(),
            headers: headers.iter().map(|(k, v)| (k.parse().unwrap(), HeaderValue::from_static(v))).collect(),
            body: serde_json::json!({ "message": message }).to_string().into(),
        }
    }

    #[test]
    fn the_other_pages_are_found_whatever_the_base() {
        let link = r#"<https://ghe/api/v3/repos/a/b/issues?page=1>; rel="prev", <https://ghe/api/v3/repositories/7/issues?page=3&per_page=100>; rel="next""#;
        let links = reply(200, &[("link", link)], "").links("/api/v3");
        assert_eq!(links.next.as_deref(), Some("/repositories/7/issues?page=3&per_page=100"));
        assert_eq!((links.previous.as_deref(), links.last), (Some("/repos/a/b/issues?page=1"), None));
    }

    #[test]
    fn an_answer_that_cannot_be_read_keeps_its_cause() {
        for (body, says) in [
            (&b"x"[..], "expected value at line 1 column 1"),
            (b"", "it is empty"),
            (b"\n<!DOCTYPE html><html>", "it is a web page: check GITHUB_API_URL"),
        ] {
            let error = decode::<u64>(body, "count").unwrap_err();
            let text = error.to_string();
            assert!(text.starts_with("the forge's answer cannot be read (asked to count): "), "{text}");
            assert!(text.contains(says) && std::error::Error::source(&error).is_some(), "{text}");
        }
    }

    #[test]
    fn a_page_says_nothing_of_what_was_asked_for() {
        for status in [302, 404, 410] {
            let status = StatusCode::from_u16(status).unwrap();
            let page = Reply { status, headers: HeaderMap::new(), body: Bytes::from_static(b"<html>") };
            let error = page.refusal(Purpose::without_permission("ask"), Timestamp::UNIX_EPOCH);
            assert!(matches!(error, ForgeError::Unreadable { .. }), "{error:?}");
        }
    }

    #[test]
    fn a_limit_is_told_from_a_refusal_and_a_primary_one_from_a_secondary_one() {
        let now = Timestamp::from_timestamp(1_000, 0).unwrap();
        let spent = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1030")];
        let far = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "9999999999999")];
        let (resource, all) = (Scope::Resource, Scope::All);
        for (reply, in_a_row, limit) in [
            (reply(403, &[], "Resource not accessible by integration"), 0, None),
            (reply(403, &spent, "API rate limit exceeded"), 0, Some((resource, 30))),
            (reply(403, &far, "API rate limit exceeded"), 0, Some((resource, 3_600))),
            (reply(429, &[("retry-after", "7")], ""), 0, Some((all, 7))),
            (reply(429, &[("retry-after", "18446744073709551615")], ""), 0, Some((all, 3_600))),
            (reply(403, &spent, "You have exceeded a secondary rate limit"), 0, Some((all, 60))),
            (reply(403, &[], "You have exceeded a secondary rate limit"), 1, Some((all, 120))),
            (reply(429, &[], ""), u32::MAX, Some((all, 3_600))),
            (reply(429, &[("retry-after", "Thu, 01 Jan 1970 00:17:10 GMT")], ""), 0, Some((all, 30))),
            (reply(429, &[("retry-after", "Thu, 01 Jan 1970 00:00:01 GMT")], ""), 0, Some((all, 1))),
            (reply(500, &spent, ""), 0, None),
        ] {
            let found = reply.limit(now, in_a_row).map(|limit| (limit.scope, limit.wait.as_secs()));
            assert_eq!(found, limit, "{reply:?}");
        }
    }

    #[test]
    fn a_failure_of_the_forge_asks_for_its_own_pause() {
        let now = Timestamp::from_timestamp(1_000, 0).unwrap();
        for (headers, pause) in [
            (&[("retry-after", "7")][..], Some(7)),
            (&[("retry-after", "Thu, 01 Jan 1970 00:17:10 GMT")], Some(30)),
            (&[("retry-after", "soon")], None),
            (&[], None),
        ] {
            let error = reply(503, headers, "").refusal(Purpose::without_permission("ask"), now);
            let retry_after = pause.map(Duration::from_secs);
            assert_eq!(error.class(), hob_domain::FailureClass::Transient { retry_after }, "{headers:?}");
        }
    }

    #[test]
    fn what_is_gone_is_told_from_what_is_switched_off() {
        let now = Timestamp::UNIX_EPOCH;
        let refused = |words| reply(410, &[], words).refusal(Purpose::without_permission("ask"), now);
        assert!(refused("This issue was deleted").is_not_found());
        for words in ["Issues has been disabled in this repository.", "Issues are disabled for this repo"] {
            assert!(matches!(refused(words), ForgeError::NoIssues { .. }), "{words}");
        }
    }

    #[test]
    fn a_redirect_is_followed_to_a_repository_alone() {
        for (to, path) in [
            ("https://api.github.com/repositories/7/issues?state=open", Some("/repositories/7")),
            ("https://ghe/api/v3/repositories/7", Some("/repositories/7")),
            ("https://api.github.com/repos/a/b", None),
            ("https://evil.example/repositories/../user", None),
            ("/repositories/7", None),
        ] {
            assert_eq!(reply(301, &[("location", to)], "").moved_repository("/api/v3").as_deref(), path, "{to}");
        }
    }

    #[test]
    fn a_quota_is_read_from_its_headers() {
        let headers = [
            ("x-ratelimit-limit", "30"),
            ("x-ratelimit-remaining", "29"),
            ("x-ratelimit-reset", "1030"),
            ("x-ratelimit-resource", "search"),
        ];
        let rate = reply(200, &headers, "").rate("core").unwrap();
        assert_eq!((rate.resource.as_str(), rate.limit, rate.remaining), ("search", 30, 29));
        assert_eq!(reply(200, &headers[..3], "").rate("core").unwrap().resource, "core");
        assert_eq!(reply(200, &headers[..2], "").rate("core"), None);
    }
}
