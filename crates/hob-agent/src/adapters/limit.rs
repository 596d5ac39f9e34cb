//! The meaning of a program's complaint: a used-up quota and its reset, a rejected key, or a failure of the network.

use std::{sync::LazyLock, time::Duration};

use regex::Regex;

/// The subject of a complaint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Complaint {
    /// A quota or a rate limit, with its remaining time if that is known.
    Limit(Option<Duration>),
    /// The account has no money or no plan: waiting does not help.
    Unpaid,
    /// The key or login is missing or was rejected.
    Key,
    /// The service or the way to it failed, perhaps transiently.
    Service,
    /// Something else.
    Other,
}

const UNPAID: [&str; 6] = [
    "insufficient_quota",
    "billing_hard_limit",
    "credit balance is too low",
    "check your plan and billing",
    "out of credits",
    "payment required",
];
const LIMIT: [&str; 11] = [
    "usage limit",
    "rate limit",
    "rate_limit",
    "ratelimit",
    "limit reached",
    "session limit",
    "weekly limit",
    "quota",
    "resource_exhausted",
    "too many requests",
    "429",
];
const KEY: [&str; 12] = [
    "401",
    "unauthorized",
    "unauthenticated",
    "authentication",
    "authenticate",
    "api key",
    "api_key",
    "apikey",
    "not logged in",
    "/login",
    "auth method",
    "permission_error",
];
const SERVICE: [&str; 16] = [
    "overloaded",
    "500",
    "502",
    "503",
    "504",
    "529",
    "server error",
    "server_error",
    "internal server",
    "econnre",
    "connection",
    "stream disconnected",
    "timed out",
    "timeout",
    "network",
    "fetch failed",
];

/// Reads a complaint; `now` is the time in seconds since 1970, for a service that names the moment.
pub(super) fn read(text: &str, now: u64) -> Complaint {
    let lower = text.to_lowercase();
    let has = |signs: &[&str]| signs.iter().any(|sign| lower.contains(sign));
    let reset = reset(&lower, now);
    match () {
        () if has(&UNPAID) && reset.is_none() => Complaint::Unpaid,
        () if has(&LIMIT) || has(&UNPAID) => Complaint::Limit(reset),
        () if has(&KEY) => Complaint::Key,
        () if has(&SERVICE) => Complaint::Service,
        () => Complaint::Other,
    }
}

/// Whether a text says that the account has no money or no plan: trying again does not help.
pub(super) fn is_unpaid(text: &str) -> bool {
    let lower = text.to_lowercase();
    UNPAID.iter().any(|sign| lower.contains(sign))
}

/// The longest credible wait: a month.
const LONGEST: u64 = 31 * 86_400;

/// The wait that a text in lower case asks for.
fn reset(lower: &str, now: u64) -> Option<Duration> {
    // `usage limit reached|1763800000`, `"resetsat":1763800000`
    static MOMENT: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"(?:reached\||resets?_?at"?\s*[:=]\s*"?)(1\d{9})"#).ok());
    // `try again in 5h 3m`, `will reset after 15h26m4s`, `retry-after: 20`, `"retrydelay": "57s"`, `resets in 3 days`
    static WAIT: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r#"(?:again|resets?|retry[-_ ]?(?:after|delay|in)?|wait)(?:[":= ]|\b(?:in|after|at least|for|about)\b)*((?:\d+(?:\.\d+)?\s*(?:days?|d|hours?|hrs?|h|minutes?|mins?|milliseconds?|ms|m|seconds?|secs?|s)?\b?[,\s]*(?:and\s+)?)+)"#,
        )
        .ok()
    });
    let moment = MOMENT
        .as_ref()
        .and_then(|moment| moment.captures(lower))
        .and_then(|found| found.get(1)?.as_str().parse::<u64>().ok());
    if let Some(moment) = moment {
        return Some(Duration::from_secs(moment.saturating_sub(now))).filter(|wait| wait.as_secs() <= LONGEST);
    }
    let wait = WAIT.as_ref()?.captures(lower)?;
    span(wait.get(1)?.as_str()).filter(|wait| (1..=LONGEST).contains(&wait.as_secs()))
}

/// A span of time such as `1 day, 5 hours` or `15h26m4s`; a number without a unit is seconds.
fn span(text: &str) -> Option<Duration> {
    static PART: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(\d+(?:\.\d+)?)\s*([a-z]*)").ok());
    let mut seconds = 0.0;
    for part in PART.as_ref()?.captures_iter(text) {
        let number: f64 = part.get(1)?.as_str().parse().ok()?;
        let unit = part.get(2).map_or("", |unit| unit.as_str());
        seconds += number
            * match unit {
                unit if unit.starts_with('d') => 86_400.0,
                unit if unit.starts_with('h') => 3_600.0,
                unit if unit.starts_with("ms") || unit.starts_with("milli") => 0.001,
                unit if unit.starts_with('m') => 60.0,
                _ => 1.0,
            };
    }
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_763_800_000;

    #[test]
    fn a_complaint_is_read_by_its_words() {
        let limit = |seconds: u64| Complaint::Limit(Some(Duration::from_secs(seconds)));
        for (text, complaint) in [
            ("Claude AI usage limit reached|1763803600", limit(3_600)),
            (
                "You've hit your usage limit. Try again in 3 days 4 hours 2 minutes.",
                limit(3 * 86_400 + 4 * 3_600 + 120),
            ),
            ("You exceeded your current quota. Your quota will reset after 15h26m4s.", limit(15 * 3_600 + 26 * 60 + 4)),
            (r#"{"status":"RESOURCE_EXHAUSTED","details":[{"retryDelay": "57s"}]}"#, limit(57)),
            ("429 Too Many Requests, retry-after: 20", limit(20)),
            ("rate_limit_error: please try again later", Complaint::Limit(None)),
            ("You exceeded your current quota, please check your plan and billing details.", Complaint::Unpaid),
            ("Your credit balance is too low to access the API", Complaint::Unpaid),
            ("unexpected status 401 Unauthorized", Complaint::Key),
            ("Invalid API key · Please run /login", Complaint::Key),
            ("stream disconnected before completion", Complaint::Service),
            ("panicked at src/main.rs", Complaint::Other),
        ] {
            assert_eq!(read(text, NOW), complaint, "{text}");
        }
    }

    #[test]
    fn a_wait_beyond_a_month_is_not_believed() {
        assert_eq!(read("rate limit: try again in 4000 hours", NOW), Complaint::Limit(None));
        assert_eq!(read("usage limit reached|1999999999", NOW), Complaint::Limit(None));
    }
}
