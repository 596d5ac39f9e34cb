//! One answer of the forge, read to its end: what its headers and its status mean.

use std::time::Duration;

use bytes::Bytes;
use hob_domain::Timestamp;
use http::{HeaderMap, StatusCode, header};
use serde::de::DeserializeOwned;

use crate::{ForgeError, Rate, forbidden::advice, purpose::Purpose};

/// The wait after a limit that names none. Source: GitHub, "Rate limits for the REST API".
const LIMIT_PAUSE: Duration = Duration::from_secs(60);
/// The longest wait that an answer can ask for: GitHub's longest window. What is said to last longer is tried anew then.
const LIMIT_MAX: Duration = Duration::from_secs(3_600);

/// One answer.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// The path and query of the other pages of a list, as its `Link` header has them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Links {
    pub(super) first: Option<String>,
    pub(super) previous: Option<String>,
    pub(super) next: Option<String>,
    pub(super) last: Option<String>,
}

impl Links {
    /// How many bytes they are.
    pub(super) fn bytes(&self) -> usize {
        [&self.first, &self.previous, &self.next, &self.last].into_iter().flatten().map(String::len).sum()
    }
}

/// Which calls a limit stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// Those to the same resource: a primary limit.
    Resource,
    /// All of them: a secondary limit.
    All,
}

/// A limit that an answer tells of.
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

    /// What the answer says of the quota that it counts against.
    pub(super) fn rate(&self, resource: &str) -> Option<Rate> {
        let reset = i64::try_from(self.number("x-ratelimit-reset")?).ok()?;
        Some(Rate {
            resource: self.text("x-ratelimit-resource").unwrap_or(resource).chars().take(40).collect(),
            limit: self.number("x-ratelimit-limit")?,
            remaining: self.number("x-ratelimit-remaining")?,
            reset: Timestamp::from_timestamp(reset, 0)?,
        })
    }

    /// The limit that refused the call, where one did; `in_a_row` secondary limits that named no time came before it.
    pub(super) fn limit(&self, now: Timestamp, in_a_row: u32) -> Option<Limit> {
        if !matches!(self.status.as_u16(), 403 | 429) {
            return None;
        }
        let words = self.message().to_ascii_lowercase();
        let secondary = words.contains("secondary") || words.contains("abuse");
        let exhausted = exhausted(self, now).filter(|_| !secondary);
        let asked = self.number("retry-after").map(|seconds| Duration::from_secs(seconds).min(LIMIT_MAX));
        let scope = if exhausted.is_some() { Scope::Resource } else { Scope::All };
        let is_limit = self.status.as_u16() == 429 || secondary || words.contains("rate limit");
        let pause = || LIMIT_PAUSE.saturating_mul(1 << in_a_row.min(6)).min(LIMIT_MAX);
        let wait = asked.or(exhausted).or_else(|| is_limit.then(pause))?;
        Some(Limit { scope, wait })
    }

    /// Why the call failed, where no limit refused it.
    pub(super) fn refusal(&self, purpose: Purpose<'_>) -> ForgeError {
        let what = purpose.what.to_owned();
        let message = self.message();
        match self.status.as_u16() {
            401 => ForgeError::Unauthorized,
            403 | 451 => ForgeError::Forbidden { advice: advice(self, &message, purpose.needs), what, message },
            404 | 410 => ForgeError::NotFound { what },
            301 | 302 | 307 | 308 => ForgeError::Moved { what },
            status @ 500.. => ForgeError::Server { what, status },
            status => ForgeError::Refused { what, status, message },
        }
    }

    /// What an error body says: its message and the messages below it.
    fn message(&self) -> String {
        let value: serde_json::Value = serde_json::from_slice(&self.body).unwrap_or_default();
        let mut message = value["message"].as_str().unwrap_or("no reason given").to_owned();
        for error in value["errors"].as_array().into_iter().flatten() {
            let part = error.as_str().or_else(|| error["message"].as_str()).or_else(|| error["code"].as_str());
            if let Some(part) = part {
                message = format!("{message}; {part}");
            }
        }
        hob_domain::clip(&message, 500)
    }

    /// Where the list's other pages are.
    pub(super) fn links(&self, base_path: &str) -> Links {
        let to = |page: &str| self.link(&format!("rel=\"{page}\""), base_path);
        Links { first: to("first"), previous: to("prev"), next: to("next"), last: to("last") }
    }

    /// The path and query of a link, below the API's own path.
    fn link(&self, relation: &str, base_path: &str) -> Option<String> {
        let links = self.text(header::LINK.as_str())?;
        let link = links.split(',').find(|link| link.contains(relation))?;
        let address = link.split_once('<')?.1.split_once('>')?.0;
        let url = url::Url::parse(address).ok()?;
        // The client adds the base's own path again.
        let path = url.path();
        let path = path.strip_prefix(base_path).unwrap_or(path);
        Some(url.query().map_or_else(|| path.to_owned(), |query| format!("{path}?{query}")))
    }
}

/// How long the primary limit is used up, where an answer says that it is.
pub(super) fn exhausted(reply: &Reply, now: Timestamp) -> Option<Duration> {
    if reply.number("x-ratelimit-remaining")? > 0 {
        return None;
    }
    let reset = i64::try_from(reply.number("x-ratelimit-reset")?).ok()?;
    let left = reset.saturating_sub(now.timestamp()).max(1).unsigned_abs();
    Some(Duration::from_secs(left).min(LIMIT_MAX))
}

/// The body as what was asked for.
pub(super) fn decode<T: DeserializeOwned>(body: &[u8], what: &str) -> Result<T, ForgeError> {
    serde_json::from_slice(body).map_err(|error| ForgeError::Unreadable { what: what.to_owned(), source: error.into() })
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
        let error = decode::<u64>(b"x", "count").unwrap_err();
        let says = "the forge's answer cannot be read (asked to count): expected value at line 1 column 1";
        assert_eq!(error.to_string(), says);
        let source = std::error::Error::source(&error);
        assert!(source.is_some_and(|source| source.is::<serde_json::Error>()), "{error:?}");
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
            (reply(500, &spent, ""), 0, None),
        ] {
            let found = reply.limit(now, in_a_row).map(|limit| (limit.scope, limit.wait.as_secs()));
            assert_eq!(found, limit, "{reply:?}");
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
