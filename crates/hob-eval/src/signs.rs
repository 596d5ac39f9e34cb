//! Signs that tests could not run on this machine: programs that they fetch, and what is printed where a program or a host is missing.
//!
//! A sign alone decides nothing, because the code under test can print it, too: it is a reason to try the task without an agent.

use std::path::Path;

use crate::text::text;

/// Characters of a line that is quoted.
const LINE_MAX: usize = 200;
/// What the shell, package managers and resolvers print where something is missing.
const MISSING: [&str; 21] = [
    ": command not found",
    "Could not resolve host",
    "Could not resolve proxy",
    "Couldn't connect to server",
    "Temporary failure in name resolution",
    "Temporary failure resolving",
    "Name or service not known",
    "Network is unreachable",
    "Failed to establish a new connection",
    "No matching distribution found",
    "Unable to locate package",
    "unable to resolve host address",
    "could not resolve address",
    "getaddrinfo EAI_AGAIN",
    "getaddrinfo ENOTFOUND",
    "dns error",
    "failed to lookup address",
    "are you root?",
    "No module named pytest",
    "No module named nose",
    "No module named tox",
];
/// Commands that fetch what tests need.
const FETCHING: [&str; 22] = [
    "apk add",
    "apt install",
    "apt update",
    "apt-get",
    "cargo install",
    "conda install",
    "curl",
    "dnf install",
    "gem install",
    "git clone",
    "go get",
    "go install",
    "npm ci",
    "npm install",
    "npx",
    "pip install",
    "pip3 install",
    "uv",
    "uvx",
    "wget",
    "yum install",
    "zypper install",
];

/// The first line of an output that says that a program or a host is missing.
pub(crate) fn missing(output: &str) -> Option<String> {
    // `test.sh: 3: uvx: not found` is what the smaller shells print.
    let of_shell = |line: &str| line.contains("sh: ") && line.ends_with(": not found");
    let line = output.lines().find(|line| of_shell(line.trim()) || MISSING.iter().any(|sign| line.contains(sign)))?;
    Some(line.trim().chars().take(LINE_MAX).collect())
}

/// The first command of a folder's `test.sh` that fetches something.
pub(crate) fn fetches(tests: &Path) -> Option<&'static str> {
    let script = text(&tests.join("test.sh")).ok()?;
    let lines = script.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    lines.into_iter().find_map(|line| FETCHING.into_iter().find(|command| has(line, command)))
}

/// Whether a line has these words, apart from others: `uv` is not in `uvicorn`, nor in `.local/uv.toml`.
fn has(line: &str, command: &str) -> bool {
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    line.match_indices(command).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + command.len()..].chars().next();
        before.is_none_or(|c| c.is_whitespace() || ";&|(`/".contains(c))
            && after.is_none_or(|c| c.is_whitespace() || ";&|)".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_that_fetches_its_tools_is_known_by_its_commands() {
        let folder = tempfile::tempdir().unwrap();
        for (script, command) in [
            ("apt-get update\n", Some("apt-get")),
            ("set -e\ncurl -LsSf https://example.test/install.sh | sh\n", Some("curl")),
            ("cd /app && python3  -m pip   install pytest\n", Some("pip install")),
            ("~/.local/bin/uvx pytest /tests\n", Some("uvx")),
            ("# curl is not used\npython3 -m unittest\n", None),
            ("uvicorn app:app & sleep 1\n", None),
        ] {
            std::fs::write(folder.path().join("test.sh"), script).unwrap();
            assert_eq!(fetches(folder.path()), command, "{script}");
        }
    }

    #[test]
    fn a_missing_program_or_host_is_quoted() {
        let output = "Collecting\n/tests/test.sh: line 3: uvx: command not found\nfailed\n";
        assert_eq!(missing(output).as_deref(), Some("/tests/test.sh: line 3: uvx: command not found"));
        assert_eq!(
            missing("/tests/test.sh: 3: uvx: not found\n").as_deref(),
            Some("/tests/test.sh: 3: uvx: not found")
        );
        assert_eq!(missing("AssertionError: 1 != 2\nkey: not found\n"), None);
    }
}
