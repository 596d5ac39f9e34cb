//! The statement about a pull request's checks: what the ledger keeps of the evidence, and what is signed.
//! `docs/proof.md` says what it claims; `pull_report` has the text for people about the same evidence.
//!
//! It is made once, by the process that ran the checks, and never again, so that its signature stays valid.

use hob_text::terminal;
use serde::{Deserialize, Serialize};

use crate::{
    CheckExit, CheckResult, CheckRun, CheckTally, Evidence, IssueNumber, PullNumber, RepoName, RunId, Sha, Spend,
    Timestamp,
};

/// The version of the statements that this Hob makes.
pub const STATEMENT_VERSION: u32 = 1;
/// The most checks that are listed; the first ones.
const CHECKS_MAX: usize = 24;
/// The longest command, in characters.
const COMMAND_MAX: usize = 200;

/// A check's run on one commit, without its output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckedOnce {
    /// How it ended.
    #[serde(flatten)]
    pub exit: CheckExit,
    /// How long it took.
    pub seconds: u64,
    /// When it was run.
    pub run: CheckRun,
}

impl From<&CheckResult> for CheckedOnce {
    fn from(result: &CheckResult) -> Self {
        Self { exit: result.exit, seconds: result.seconds, run: result.run }
    }
}

/// A check on the base and on the head.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// The shell command; cut if it is long.
    pub command: String,
    /// On the base. `None` if it was not run there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<CheckedOnce>,
    /// On the head.
    pub head: CheckedOnce,
}

impl Checked {
    /// The checks of the evidence, up to the number that is listed.
    pub fn all(evidence: &Evidence) -> Vec<Self> {
        let one = |head: &CheckResult| {
            let base = evidence.base.iter().find(|base| base.command == head.command);
            Self { command: shown(&head.command), base: base.map(CheckedOnce::from), head: head.into() }
        };
        evidence.head.iter().take(CHECKS_MAX).map(one).collect()
    }
}

/// A command in the statement's form: all of its characters are visible, and every JSON writer writes them in the same
/// way.
fn shown(command: &str) -> String {
    let shown = terminal(command);
    if shown.chars().count() <= COMMAND_MAX {
        return shown;
    }
    shown.chars().take(COMMAND_MAX - 1).chain(['…']).collect()
}

/// The evidence about the head of a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statement {
    /// The statement's version.
    pub version: u32,
    /// The repository.
    pub repository: RepoName,
    /// The issue.
    pub issue: IssueNumber,
    /// Its pull request.
    pub pull_request: PullNumber,
    /// The commit that the checks ran on.
    pub head: Sha,
    /// Its tree.
    pub tree: Sha,
    /// The commit that the work starts from.
    pub base: Sha,
    /// When the head was published, by the forge's clock.
    pub at: Timestamp,
    /// How many checks passed on the head, and how many ran.
    #[serde(flatten)]
    pub tally: CheckTally,
    /// The checks, up to the number that is listed.
    pub checks: Vec<Checked>,
    /// The tier of the sandbox that the checks ran in.
    pub sandbox: String,
    /// The agent or the profile that worked last.
    pub agent: String,
    /// The session of its runs.
    pub session: RunId,
    /// The issue's cost so far.
    pub cost: Spend,
    /// Hob's version.
    pub hob: String,
}

impl Statement {
    /// The text that is signed: JSON on one line with a line end, the keys of each object sorted, as `jq -cS` writes it.
    ///
    /// # Errors
    /// If it has no JSON form.
    pub fn canonical(&self) -> Result<String, serde_json::Error> {
        Ok(format!("{}\n", serde_json::to_value(self)?))
    }
}

/// A statement and its signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// The statement.
    pub statement: Statement,
    /// The signature of its canonical text, by the SSH key that signs commits. `None` if there was no key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

impl Proof {
    /// How many checks passed. `None` if no check ran.
    pub fn tally(&self) -> Option<CheckTally> {
        Some(self.statement.tally).filter(|tally| tally.run > 0)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    fn check(command: &str, exit: CheckExit, run: CheckRun) -> CheckResult {
        let output = "a long text, `@ann` and \u{1b}[31m".to_owned();
        CheckResult {
            command: command.to_owned(),
            exit,
            output,
            seconds: 2,
            run,
            refused: Some("a host".to_owned()),
            tests: crate::TestResults::default(),
        }
    }

    /// A statement about two checks, one of which the work repaired.
    pub(crate) fn proof() -> Proof {
        let (red, green) = (CheckExit::Failed { code: 1 }, CheckExit::Passed);
        let evidence = Evidence {
            base: vec![check("make test", red, CheckRun::Earlier)],
            head: vec![check("make test", green, CheckRun::Now), check("a\u{7f}\"\\\n\u{202e}é", green, CheckRun::Now)],
        };
        Proof { statement: statement(&evidence), signature: None }
    }

    fn statement(evidence: &Evidence) -> Statement {
        Statement {
            version: STATEMENT_VERSION,
            repository: "ann/site".parse().unwrap(),
            issue: IssueNumber(7),
            pull_request: PullNumber(9),
            head: Sha::from("aa"),
            tree: Sha::from("bb"),
            base: Sha::from("cc"),
            at: Timestamp::UNIX_EPOCH,
            tally: evidence.tally(),
            checks: Checked::all(evidence),
            sandbox: "fence".to_owned(),
            agent: "native".to_owned(),
            session: RunId("s".to_owned()),
            cost: Spend { usd_micros: 120_000, input_tokens: 900, output_tokens: 100, wall_seconds: 61 },
            hob: "0.1.0".to_owned(),
        }
    }

    #[test]
    fn a_statement_is_one_line_with_sorted_keys_and_nothing_that_a_check_printed() {
        let canonical = proof().statement.canonical().unwrap();
        assert!(canonical.ends_with("}\n") && canonical.lines().count() == 1);
        insta::assert_snapshot!(canonical, @r#"
        {"agent":"native","at":"1970-01-01T00:00:00Z","base":"cc","checks":[{"base":{"code":1,"exit":"failed","run":"earlier","seconds":2},"command":"make test","head":{"exit":"passed","run":"now","seconds":2}},{"command":"a\\u{7f}\"\\\n\\u{202e}é","head":{"exit":"passed","run":"now","seconds":2}}],"cost":{"input_tokens":900,"output_tokens":100,"usd_micros":120000,"wall_seconds":61},"head":"aa","hob":"0.1.0","issue":7,"passed":2,"pull_request":9,"repository":"ann/site","run":2,"sandbox":"fence","session":"s","tree":"bb","version":1}
        "#);
    }

    #[test]
    fn a_statement_is_written_again_as_it_was_read() {
        let text = proof().statement.canonical().unwrap();
        assert_eq!(serde_json::from_str::<Statement>(&text).unwrap().canonical().unwrap(), text);
    }

    #[test]
    fn many_checks_and_long_commands_are_cut_and_counted() {
        let check = |n: usize| check(&format!("{n} {}", "é".repeat(400)), CheckExit::Passed, CheckRun::Now);
        let many = statement(&Evidence { base: Vec::new(), head: (0..70).map(check).collect() });
        assert_eq!((many.checks.len(), many.tally), (24, CheckTally { passed: 70, run: 70 }));
        assert!(many.checks.iter().all(|check| check.command.chars().count() == 200 && check.command.ends_with('…')));
        assert_eq!(many.checks[0].base, None);
        assert_eq!(Proof { statement: statement(&Evidence::default()), signature: None }.tally(), None);
    }
}
