//! What the workers of one attempt have to agree on so that their spans make one trace: the target of these spans, and the
//! trace's id. Neither needs OpenTelemetry.

use sha2::{Digest, Sha256};

use crate::{IssueNumber, RepoName};

/// The target of spans for traces. Logs leave them out, and traces have nothing else.
pub const TRACED: &str = "otel";

/// Bytes of a trace's id.
const ID_BYTES: usize = 16;

/// The id of the trace of an attempt, in hexadecimal. `attempt` is its number over the issue's whole life, so that each
/// worker which goes on with it finds the same id without asking another.
pub fn trace_id(server: &str, repo: &RepoName, issue: IssueNumber, attempt: u32) -> String {
    // Names of repositories are case-insensitive.
    let (server, repo) = (server.trim_end_matches('/'), repo.to_string().to_ascii_lowercase());
    let digest = Sha256::digest(format!("{server}\n{repo}\n{issue}\n{attempt}"));
    digest.iter().take(ID_BYTES).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
