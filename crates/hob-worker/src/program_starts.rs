//! Checks whether the programs that a repository's commands begin with exist and start where children run, and what the
//! sandbox refuses them.

use hob_domain::{CheckExit, CheckResult, CheckRun};
use hob_process::{Exit, Program, Start, start};
use tokio_util::sync::CancellationToken;

use crate::{Worker, finding::Health, sandbox::what_helps};

/// The problems with the programs of these commands; empty if they start, and nothing was refused. Files of the
/// repository itself, and anything but a plain word, are not looked for.
pub(super) async fn program_starts(worker: &Worker, commands: &[String]) -> Vec<(Health, String)> {
    let plain = |word: &&str| word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+'));
    let first =
        |command: &String| command.split_whitespace().find(|word| !word.contains('=')).filter(plain).map(str::to_owned);
    let mut findings = Vec::new();
    let mut words: Vec<String> = commands.iter().filter_map(first).collect();
    words.sort();
    words.dedup();
    for word in words {
        let look =
            Program::of_hob("sh", &worker.children.environment).args(["-c", "command -v -- \"$1\"", "sh", &word]);
        let found = look.deadline(worker.settings.workspace.local_time).run(&CancellationToken::new()).await;
        if found.is_ok_and(|found| !found.exit.is_success()) {
            let says = format!("`{word}` of `.github/hob.toml` is not installed on this machine");
            findings.push((Health::Bad, says));
        } else if let Some(start) = start(&worker.children.sandbox.plan(), &worker.children.environment, &word).await {
            findings.extend(told(&word, start, &what_helps(&worker.children.sandbox)));
        }
    }
    findings
}

/// The report about a start, with a remedy.
fn told(word: &str, start: Start, helps: &str) -> Option<(Health, String)> {
    let Start { fault, refused, .. } = &start;
    match (fault, refused) {
        (None, None) => None,
        (Some(fault), None) => {
            let says = format!("{fault}: install it for all users, or name its folder in `sandbox.read`");
            Some((Health::Bad, says))
        }
        (Some(fault), Some(refused)) => Some((Health::Bad, format!("{fault}: the sandbox refused {refused}; {helps}"))),
        // It may do its work all the same: `--version` is not what a check runs.
        (None, Some(refused)) => {
            let says = match as_check(word, &start).refusal() {
                Some(refused) => format!("the sandbox kept `{word} --version` from passing: it refused {refused}"),
                None => format!("`{word}` starts; the sandbox refused it {refused}"),
            };
            Some((Health::Note, format!("{says}; {helps}")))
        }
    }
}

/// A start is judged like a check: a refusal is the reason only if the output mentions it, too.
fn as_check(word: &str, start: &Start) -> CheckResult {
    let exit = match start.exit {
        Some(Exit::Code(0)) => CheckExit::Passed,
        Some(Exit::Code(code)) => CheckExit::Failed { code },
        Some(Exit::Signal(signal)) => CheckExit::Signal { signal },
        Some(Exit::Deadline) => CheckExit::OutOfTime,
        Some(Exit::Cancelled) | None => CheckExit::Cancelled,
    };
    CheckResult {
        command: word.to_owned(),
        exit,
        output: start.said.clone(),
        seconds: 0,
        run: CheckRun::Now,
        refused: start.refused.clone(),
        tests: hob_domain::TestResults::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_refused_is_told_as_of_a_check() {
        let say = |code, said: &str, refused: Option<&str>, fault: Option<&str>| {
            let start = Start {
                exit: Some(Exit::Code(code)),
                said: said.to_owned(),
                refused: refused.map(str::to_owned),
                fault: fault.map(str::to_owned),
            };
            told("x", start, "a box lets it")
        };
        let (note, bad) =
            (|says: &str| Some((Health::Note, says.to_owned())), |says: &str| Some((Health::Bad, says.to_owned())));
        let udp = Some("UDP sockets (2×)");
        assert_eq!(say(1, "usage: x", None, None), None);
        assert_eq!(
            say(1, "socket: Permission denied", udp, None),
            note("the sandbox kept `x --version` from passing: it refused UDP sockets (2×); a box lets it")
        );
        let starts = note("`x` starts; the sandbox refused it UDP sockets (2×); a box lets it");
        assert_eq!(say(1, "usage: x", udp, None), starts);
        assert_eq!(say(0, "x 1.0", udp, None), starts);
        assert_eq!(
            say(127, "Permission denied", udp, Some("`x` does not start")),
            bad("`x` does not start: the sandbox refused UDP sockets (2×); a box lets it")
        );
        assert_eq!(
            say(127, "x: no", None, Some("`x` does not start")),
            bad("`x` does not start: install it for all users, or name its folder in `sandbox.read`")
        );
    }
}
