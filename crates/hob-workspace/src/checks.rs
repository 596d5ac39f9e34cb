//! The repository's checks: shell commands, run one after the other in the proof's folder.
//!
//! They run the agent's code, so they get no token: only the given environment. The home is the caller's, because
//! compilers and package managers keep their caches there; a caller that does not want that sets `HOME`.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    time::Duration,
};

use hob_config::child_environment;
use hob_domain::{CheckExit, CheckResult, CheckRun, TestResults};
use hob_process::{Environment, Exit, ProcessError, Program};
use hob_proof::formats::printed;
use hob_sandbox::Plan;
use hob_text::clip_middle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{PublicPaths, reports::reported};

/// The variable that tags a check's processes: otherwise its background processes would outlive every limit.
const CHECK_TAG: &str = "HOB_CHECK";

/// The bytes of each output stream from which the results of single tests are read.
const READ_BYTES: usize = 4 << 20;

/// Time and output the checks may use.
#[derive(Debug, Clone)]
pub struct CheckLimits {
    /// Wall time of all commands together; commands without any left are not run.
    pub time: Duration,
    /// Bytes of each output stream that are kept of one command.
    pub output_bytes: usize,
    /// Where test runners leave reports by [`crate::report_variables`]. `None` if they are not asked for any.
    pub reports: Option<PathBuf>,
}

/// Runs each command to its end, even after a failure; returns one result a command, in order.
///
/// # Errors
/// [`ProcessError`] when the shell cannot be run at all.
pub async fn run_checks(
    folder: &Path,
    commands: &[String],
    plan: &Plan,
    environment: &Environment,
    limits: CheckLimits,
    cancel: &CancellationToken,
) -> Result<Vec<CheckResult>, ProcessError> {
    let end = Instant::now() + limits.time;
    let home = |environment: &Environment| environment.get(OsStr::new("HOME")).map(PathBuf::from);
    let public = PublicPaths::new(folder, [home(environment), home(&child_environment())].into_iter().flatten());
    let mut results = Vec::with_capacity(commands.len());
    for command in commands {
        let started = Instant::now();
        let left = end.saturating_duration_since(started);
        if left.is_zero() || cancel.is_cancelled() {
            let exit = if left.is_zero() { CheckExit::OutOfTime } else { CheckExit::Cancelled };
            results.push(CheckResult {
                command: command.clone(),
                exit,
                output: String::new(),
                seconds: 0,
                run: CheckRun::Now,
                refused: None,
                tests: hob_domain::TestResults::default(),
            });
            continue;
        }
        let program = Program::inside(plan, "sh", environment)
            .args(["-c", command])
            .env("CI", "true")
            .dir(folder)
            .deadline(left)
            .tag_uniquely(CHECK_TAG)
            .output_cap(limits.output_bytes.max(READ_BYTES));
        let finished = program.run(cancel).await?;
        let exit = match finished.exit {
            Exit::Code(0) => CheckExit::Passed,
            Exit::Code(code) => CheckExit::Failed { code },
            Exit::Signal(signal) => CheckExit::Signal { signal },
            Exit::Deadline => CheckExit::OutOfTime,
            Exit::Cancelled => CheckExit::Cancelled,
        };
        let (out, err) = (finished.stdout.text(), finished.stderr.text());
        let tests = limits.reports.as_deref().map(|place| reported(folder, place)).unwrap_or_default();
        let tests = [&out, &err].into_iter().map(|text| printed(text)).fold(tests, TestResults::and);
        let output = format!("{}{}", clip_middle(&out, limits.output_bytes), clip_middle(&err, limits.output_bytes));
        let output = public.text(&output);
        let seconds = started.elapsed().as_secs();
        let refused = finished.refused.map(|refused| public.text(&refused));
        results.push(CheckResult {
            command: command.clone(),
            exit,
            output,
            seconds,
            run: CheckRun::Now,
            refused,
            tests,
        });
    }
    Ok(results)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        hob_sandbox::Sandbox::none().plan()
    }

    async fn results(commands: &[&str], limits: CheckLimits, cancel: &CancellationToken) -> Vec<CheckExit> {
        let environment = Environment::from([("PATH".into(), "/usr/bin:/bin".into())]);
        let commands: Vec<_> = commands.iter().map(|command| (*command).to_owned()).collect();
        let results = run_checks(Path::new("/"), &commands, &plan(), &environment, limits, cancel).await.unwrap();
        results.into_iter().map(|result| result.exit).collect()
    }

    fn limits() -> CheckLimits {
        CheckLimits { time: Duration::from_secs(60), output_bytes: 1024, reports: None }
    }

    #[tokio::test]
    async fn every_check_is_run_and_answers_for_itself() {
        let exits = results(&["exit 3", "true", "kill -9 $$"], limits(), &CancellationToken::new()).await;
        assert_eq!(exits, [CheckExit::Failed { code: 3 }, CheckExit::Passed, CheckExit::Signal { signal: 9 }]);
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn what_a_check_leaves_in_a_session_of_its_own_ends_with_it() {
        let environment = Environment::from([("PATH".into(), "/usr/bin:/bin".into())]);
        // The substitution ends when the process, which is in its own session by then, has closed its output.
        let command = ["echo $(setsid sh -c 'echo $$; exec >&- 2>&-; exec sleep 600' &)".to_owned()];
        let cancel = CancellationToken::new();
        let results = run_checks(Path::new("/"), &command, &plan(), &environment, limits(), &cancel).await.unwrap();
        let pid: u32 = results[0].output.trim().parse().unwrap();
        let words = std::fs::read(format!("/proc/{pid}/cmdline"));
        assert!(words.unwrap_or_default().is_empty(), "{results:?}");
    }

    #[tokio::test]
    async fn no_check_starts_without_time_or_after_cancellation() {
        let none = CheckLimits { time: Duration::ZERO, ..limits() };
        assert_eq!(results(&["true"], none, &CancellationToken::new()).await, [CheckExit::OutOfTime]);
        let cancel = CancellationToken::new();
        cancel.cancel();
        assert_eq!(results(&["true"], limits(), &cancel).await, [CheckExit::Cancelled]);
    }

    #[tokio::test]
    async fn a_check_does_not_tell_where_it_ran() {
        let environment = Environment::from([
            ("PATH".into(), "/usr/bin:/bin".into()),
            ("HOME".into(), "/var/lib/hob/homes/1".into()),
        ]);
        let folder = Path::new("/tmp").canonicalize().unwrap();
        let command = ["echo $PWD/src/a.rs:3 $HOME/x >&2; pwd".to_owned()];
        let cancel = CancellationToken::new();
        let results = run_checks(&folder, &command, &plan(), &environment, limits(), &cancel).await.unwrap();
        assert_eq!(results[0].output, ".\nsrc/a.rs:3 ~/x\n");
    }

    #[tokio::test]
    async fn both_streams_are_kept_and_bounded() {
        let environment = Environment::from([("PATH".into(), "/usr/bin:/bin".into())]);
        let command = ["echo out; echo err >&2; head -c 100000 /dev/zero".to_owned()];
        let cancel = CancellationToken::new();
        let mut results = run_checks(Path::new("/"), &command, &plan(), &environment, limits(), &cancel).await.unwrap();
        let output = results.remove(0).output;
        assert!(output.starts_with("out\n") && output.ends_with("err\n") && output.len() < 1200);
    }
}
