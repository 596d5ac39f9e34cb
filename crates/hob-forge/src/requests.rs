//! How many requests got which answer, for operators.

use std::{collections::BTreeMap, sync::Mutex, sync::PoisonError};

use http::{Method, StatusCode};

/// Requests of one kind that got the same answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestCount {
    /// `read`, `write` or `graphql`. A push is a write.
    pub kind: &'static str,
    /// The status of the answer, or its class: `2xx`, `304`, `403`, `429`, `4xx`, `5xx`; `none` if there was no answer.
    pub code: &'static str,
    /// How many.
    pub requests: u64,
}

/// The counts of one connection.
#[derive(Debug, Default)]
pub(super) struct Requests(Mutex<BTreeMap<(&'static str, &'static str), u64>>);

impl Requests {
    /// Counts a request and the status of its answer; `None` if there was none.
    pub(super) fn count(&self, kind: &'static str, status: Option<StatusCode>) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry((kind, code(status))).or_default() += 1;
    }

    /// All of them, in order.
    pub(super) fn all(&self) -> Vec<RequestCount> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.iter().map(|(&(kind, code), &requests)| RequestCount { kind, code, requests }).collect()
    }
}

/// The kind of a request.
pub(super) fn kind_of(method: &Method, path: &str) -> &'static str {
    match method {
        &Method::GET | &Method::HEAD => "read",
        _other if path.ends_with("/graphql") => "graphql",
        _other => "write",
    }
}

/// The few statuses that say something alone, and the classes of the others. An answer that redirects is what was asked for.
fn code(status: Option<StatusCode>) -> &'static str {
    match status {
        None => "none",
        Some(StatusCode::NOT_MODIFIED) => "304",
        Some(StatusCode::FORBIDDEN) => "403",
        Some(StatusCode::TOO_MANY_REQUESTS) => "429",
        Some(status) if status.is_server_error() => "5xx",
        Some(status) if status.is_client_error() => "4xx",
        Some(_success) => "2xx",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_kind_and_answer() {
        let requests = Requests::default();
        let get = kind_of(&Method::GET, "/repos/a/graphql");
        for (kind, status) in [
            (get, Some(200)),
            (get, Some(304)),
            (get, Some(302)),
            (kind_of(&Method::POST, "/api/graphql"), Some(429)),
            (kind_of(&Method::PATCH, "/repos/a/b/issues/1"), Some(404)),
            (kind_of(&Method::POST, "/a/b.git/git-receive-pack"), Some(502)),
            (kind_of(&Method::DELETE, "/repos/a/b"), Some(403)),
            (get, None),
        ] {
            requests.count(kind, status.map(|status| StatusCode::from_u16(status).unwrap()));
        }
        let counted: Vec<_> = requests.all().iter().map(|one| (one.kind, one.code, one.requests)).collect();
        assert_eq!(
            counted,
            [
                ("graphql", "429", 1),
                ("read", "2xx", 2),
                ("read", "304", 1),
                ("read", "none", 1),
                ("write", "403", 1),
                ("write", "4xx", 1),
                ("write", "5xx", 1),
            ]
        );
    }
}
