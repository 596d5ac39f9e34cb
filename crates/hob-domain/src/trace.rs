//! What spans for traces have in common, with the names of OpenTelemetry's conventions, and the id on which the workers of one
//! attempt agree. None of it needs OpenTelemetry.

use sha2::{Digest, Sha256};
use tracing::Span;

use crate::{IssueNumber, RepoName, Spend};

/// The target of spans for traces. Logs leave them out, and traces have nothing else.
pub const TRACED: &str = "otel";

/// The conventions' word for what has no name, or none that is told.
pub const OTHER: &str = "_OTHER";

/// Bytes of a trace's id.
const ID_BYTES: usize = 16;
/// Bytes of a name that another program chose.
const NAME_MAX: usize = 64;

/// The id of the trace of an attempt, in hexadecimal. `attempt` is its number over the issue's whole life, so that each
/// worker which goes on with it finds the same id without asking another.
pub fn trace_id(server: &str, repo: &RepoName, issue: IssueNumber, attempt: u32) -> String {
    // Names of repositories are case-insensitive.
    let (server, repo) = (server.trim_end_matches('/'), repo.to_string().to_ascii_lowercase());
    let digest = Sha256::digest(format!("{server}\n{repo}\n{issue}\n{attempt}"));
    digest.iter().take(ID_BYTES).map(|byte| format!("{byte:02x}")).collect()
}

/// Marks the span of something that failed, in a word that says how.
pub fn failed(span: &Span, how: &str) {
    span.record("otel.status_code", "ERROR");
    span.record("error.type", how);
}

/// Notes what a span's work cost.
pub fn billed(span: &Span, spend: &Spend) {
    span.record("gen_ai.usage.input_tokens", count(spend.input_tokens));
    span.record("gen_ai.usage.output_tokens", count(spend.output_tokens));
    span.record("hob.cost.usd", spend.usd());
}

/// A number as an attribute has it.
pub fn count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The name or id that another program chose, if it is one: a text must not be in a trace.
pub fn named(name: &str) -> Option<&str> {
    let is_of_names = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:".contains(&byte);
    ((1..=NAME_MAX).contains(&name.len()) && name.bytes().all(is_of_names)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_in_place_of_a_name_is_none() {
        for name in ["call_3-aB", "toolu_01A09q90qw90lq917835lq9", "mcp__hob__ask", "openai/gpt-x:free"] {
            assert_eq!(named(name), Some(name));
        }
        for text in ["", "a text", "a\nb", "é", &"a".repeat(65)] {
            assert_eq!(named(text), None, "{text}");
        }
    }

    #[test]
    fn an_attempt_has_one_id_everywhere_and_another_attempt_has_another() {
        let id =
            |server, repo: &str, issue, attempt| trace_id(server, &repo.parse().unwrap(), IssueNumber(issue), attempt);
        let one = id("https://github.com", "acme/site", 12, 1);
        assert_eq!(one, "720196f962e749aac0c75a3890c105ed");
        assert_eq!(one, id("https://github.com/", "Acme/Site", 12, 1));
        let others = [
            id("https://ghe.corp", "acme/site", 12, 1),
            id("https://github.com", "acme/sit", 12, 1),
            id("https://github.com", "acme/site", 1, 21),
            id("https://github.com", "acme/site", 12, 2),
        ];
        assert!(!others.contains(&one));
    }
}
