//! The call of Hob's that a request is.

use hob_forge::{PermittedCall, permitted_calls};
use http::{HeaderMap, HeaderName, Method};
use serde_json::Value;

/// A request as it reached a server.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) method: Method,
    /// Below the API's own path, with its query.
    pub(super) path: String,
    pub(super) accept: String,
    /// The tag of a conditional request.
    pub(super) tag: Option<String>,
    /// `null` if there is none.
    pub(super) body: Value,
}

impl Asked {
    /// The names of its query's parameters.
    pub(super) fn parameters(&self) -> Vec<String> {
        let query = self.path.split_once('?').map_or("", |(_, query)| query);
        query.split('&').filter_map(|one| Some(one.split_once('=')?.0.to_owned())).collect()
    }

    /// The call that it is.
    pub(super) fn call(&self) -> Option<PermittedCall> {
        call(&self.method, &self.path)
    }
}

/// A header's text.
pub(super) fn text(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    headers.get(name).map(|value| value.to_str().unwrap().to_owned())
}

/// The call that a method and a path are. Of several patterns the one with the fewest wild parts is meant.
pub(super) fn call(method: &Method, path: &str) -> Option<PermittedCall> {
    let path = path.split('?').next().unwrap_or_default().trim_end_matches('/');
    // GitHub's address of the next page of a list.
    let path = match path.strip_prefix("/repositories/").map(|rest| rest.split_once('/').map_or("", |(_id, rest)| rest))
    {
        Some(rest) => format!("/repos/owner/name/{rest}").trim_end_matches('/').to_owned(),
        None => path.to_owned(),
    };
    let fitting = permitted_calls().filter(|known| known.method == *method && fits(&path, &known.path));
    fitting.min_by_key(|known| (known.path.contains("**"), known.path.matches('*').count()))
}

fn fits(path: &str, pattern: &str) -> bool {
    let (parts, wanted): (Vec<&str>, Vec<&str>) = (path.split('/').collect(), pattern.split('/').collect());
    let is_open = wanted.last() == Some(&"**");
    let fixed = wanted.len() - usize::from(is_open);
    let length_fits = if is_open { parts.len() > fixed } else { parts.len() == fixed };
    length_fits && parts.iter().zip(&wanted[..fixed]).all(|(part, wanted)| *wanted == "*" || part == wanted)
}

#[test]
fn a_request_is_taken_for_the_call_that_says_most_of_it() {
    for (method, path, pattern) in [
        (Method::GET, "/repos/a/b", Some("/repos/*/*")),
        (Method::GET, "/repositories/7/issues?page=2", Some("/repos/*/*/issues")),
        (Method::GET, "/repositories/7", Some("/repos/*/*")),
        (Method::GET, "/repos/a/b/contents/?ref=1", Some("/repos/*/*/contents")),
        (Method::GET, "/repos/a/b/contents/x/y", Some("/repos/*/*/contents/**")),
        (Method::PATCH, "/repos/a/b/git/refs/hob/issues/7", Some("/repos/*/*/git/refs/**")),
        (Method::POST, "/repos/a/b/issues/7/labels", Some("/repos/*/*/issues/*/labels")),
        (Method::PATCH, "/repos/a/b/issues/comments/7", Some("/repos/*/*/issues/comments/*")),
        (Method::POST, "/graphql", Some("/graphql")),
        (Method::PUT, "/repos/a/b", None),
        (Method::GET, "/repos/a/b/hooks", None),
    ] {
        assert_eq!(call(&method, path).map(|call| call.path).as_deref(), pattern, "{method} {path}");
    }
}
