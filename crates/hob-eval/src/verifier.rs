//! The tests of a task, run in a box: the agent's folder at its place, the tests at `/tests`, what they say at `/logs`.

use std::{
    collections::BTreeMap,
    fs,
    ops::RangeInclusive,
    path::{Path, PathBuf},
    time::Duration,
};

use hob_process::{Exit, ProcessError, Program, has_program};
use hob_sandbox::{REFUSED, Sandbox};
use tokio_util::sync::CancellationToken;

use crate::{
    EvalError, Scratch, Task,
    named_tests::NamedTests,
    patched_tests,
    reward::{NoReward, read, rewards_named_by},
    scripts::{SOLVE, TEST, copy_scripts, last_line},
    signs,
    task::{Reach, Solution, TestsKind},
};

/// Bytes of each stream of the tests that are kept.
const OUTPUT: usize = 256 * 1024;
/// How long a solution may take whose task names no time for an agent.
const SOLUTION_TIME: Duration = Duration::from_secs(1_800);
/// The exit codes by which a shell says that a signal ended it: 128 and its number. `exit -1` is 255.
const SIGNALS: RangeInclusive<i32> = 129..=192;
/// The variable that tags the tests' processes.
const TAG: &str = "HOB_EVAL";
/// The folders of `/logs`, as Harbor makes them.
const LOGS: [&str; 3] = ["verifier", "agent", "artifacts"];
/// Why an instance is not judged.
const UNNAMED: &str = "the command named no test that Hob can read";

/// Runs tests.
#[derive(Debug, Clone)]
pub struct Verifier {
    sandbox: Sandbox,
}

/// What the tests say.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The reward; none: they wrote none that can be read.
    pub reward: Option<f64>,
    /// How they ended.
    pub exit: Exit,
    /// What they printed.
    pub output: String,
    /// Why the reward is not what the tests wrote.
    pub complaint: Option<String>,
    /// Why they say nothing that can be read; `None` if they do.
    silence: Option<String>,
}

impl Verdict {
    /// Whether the reward is the full one.
    pub fn is_solved(&self) -> bool {
        self.reward.is_some_and(|reward| reward >= 1.0)
    }

    /// Why they gave no reward; `None` if they did.
    pub fn silence(&self) -> Option<&str> {
        self.silence.as_deref()
    }

    /// Why the tests may not have run: a sign of a missing program or host, or no reward. `None` if they solved it, or ran without such a sign.
    ///
    /// The code under test can print such a sign, too: only [`unusable`](crate::unusable) tells.
    pub fn doubt(&self) -> Option<String> {
        if self.is_solved() {
            return None;
        }
        let ended =
            || matches!(self.exit, Exit::Code(126 | 127)).then(|| format!("the tests ended with {}", self.exit));
        let with_end = |why: String| last_line(&self.output).map_or(why.clone(), |end| format!("{why}: {end}"));
        signs::missing(&self.output).or_else(|| self.silence.clone().or_else(ended).map(with_end))
    }

    /// Of tests that could not be started.
    fn unstarted(why: String) -> Self {
        let silence = Some(format!("they could not be started: {why}"));
        Self { reward: None, exit: Exit::Code(REFUSED.into()), output: why, complaint: None, silence }
    }

    /// Without a reward, if there is something wrong.
    fn unless(self, complaint: Option<String>) -> Self {
        let reward = if complaint.is_some() { Some(0.0) } else { self.reward };
        Self { reward, complaint, ..self }
    }
}

impl Verifier {
    /// Tests run in `sandbox`, whose children are in boxes.
    pub fn new(sandbox: Sandbox) -> Self {
        Self { sandbox }
    }

    /// Runs the tests of `task` on what the agent left in `scratch`.
    ///
    /// # Errors
    /// [`EvalError`] when they cannot be started.
    pub async fn verify(
        &self,
        task: &Task,
        scratch: &Scratch,
        cancel: &CancellationToken,
    ) -> Result<Verdict, EvalError> {
        let logs = scratch.logs();
        let tests = scratch.tests();
        let is_own = match &task.tests.kind {
            TestsKind::Folder(given) => {
                copy_scripts(given, &tests, TEST)?;
                true
            }
            TestsKind::Patch(patch) => {
                patched_tests::write(patch, &scratch.git, &tests).await?;
                false
            }
        };
        for name in LOGS {
            let folder = logs.join(name);
            fs::create_dir_all(&folder).map_err(EvalError::at("make", folder))?;
        }
        let (variables, reach) = (&task.tests.environment, task.tests.reach);
        let script = Script { shown: ("/tests", &tests), file: TEST, is_own, variables, reach };
        let ended = self.script(&script, scratch).deadline(task.tests.time).run(cancel).await;
        let ended = match ended {
            // An agent that was root of its files can leave them so that no box is made of them. That is not an error of this machine, or the
            // task's own solution meets it, too.
            Err(ProcessError::Sandbox { reason, .. }) if scratch.has_image() => {
                return Ok(Verdict::unstarted(reason));
            }
            ended => ended?,
        };
        let output = format!("{}{}", ended.stdout.text(), ended.stderr.text());
        let read = match (&task.tests.kind, ended.exit) {
            (_, Exit::Deadline) => Err(NoReward::TimedOut(task.tests.time)),
            // What ended the script before its end may have written the reward in its place.
            (_, exit) if !came_to_its_end(exit) => Err(NoReward::Ended(exit)),
            (TestsKind::Patch(_), exit) => Ok(if exit.is_success() { 1.0 } else { 0.0 }),
            (TestsKind::Folder(given), exit) => read(&logs.join("verifier"), &rewards_named_by(given), exit),
        };
        let (reward, silence) = match read {
            Ok(reward) => (Some(reward), None),
            Err(why) => (None, Some(why.to_string())),
        };
        let verdict = Verdict { reward, exit: ended.exit, output, complaint: None, silence };
        Ok(match &task.tests.kind {
            TestsKind::Patch(patch) => {
                let results = NamedTests::read(&logs, &verdict.output);
                let unnamed = || results.tests.is_empty().then(|| UNNAMED.to_owned());
                let silence = verdict.silence.clone().or_else(unnamed);
                let verdict = Verdict { silence, ..verdict };
                if verdict.is_solved() { verdict.unless(patch.named.complaint(&results)) } else { verdict }
            }
            TestsKind::Folder(_) => verdict,
        })
    }

    /// Applies the solution of `task` to a folder that no agent has had. `None` if it has none, else why it failed, if it did.
    pub(crate) async fn solve(
        &self,
        task: &Task,
        scratch: &Scratch,
        cancel: &CancellationToken,
    ) -> Result<Option<Option<String>>, EvalError> {
        match &task.solution {
            None => Ok(None),
            Some(Solution::Patch(patch)) => {
                let applied = scratch.apply(patch).await;
                applied.map_err(|error| EvalError::Unfit(format!("its `patch` does not apply: {error}")))?;
                Ok(Some(None))
            }
            Some(Solution::Folder(given, variables)) => {
                let folder = scratch.solution();
                copy_scripts(given, &folder, SOLVE)?;
                let shown = ("/solution", folder.as_path());
                let script = Script { shown, file: SOLVE, is_own: true, variables, reach: task.reach };
                let program = self.script(&script, scratch).env("DEBIAN_FRONTEND", "noninteractive");
                // As with Harbor, its exit code decides nothing: the tests do.
                let ended = program.deadline(task.time.unwrap_or(SOLUTION_TIME)).run(cancel).await?;
                let end = last_line(&format!("{}{}", ended.stdout.text(), ended.stderr.text()));
                let end = end.map(|end| format!(": {end}")).unwrap_or_default();
                Ok(Some((!ended.exit.is_success()).then(|| format!("`{SOLVE}` failed ({}){end}", ended.exit))))
            }
        }
    }

    /// A script in a box: the folder of the trial at its place, the script's folder at its own, and `/logs`.
    fn script(&self, script: &Script<'_>, scratch: &Scratch) -> Program {
        let (folder, logs) = (scratch.folder(), scratch.logs());
        let Script { shown: (at, from), file, is_own, variables, reach } = script;
        let path = format!("{at}/{file}");
        let sandbox = scratch.sandbox(self.sandbox.clone(), *reach).showing(PathBuf::from("/logs"), logs.clone());
        let plan = match is_own {
            true => {
                let plan = sandbox.showing(PathBuf::from(at), from.to_path_buf()).plan().writes(*from);
                // A shell reads it line by line, and what it runs must not write the lines that are still to come.
                let is_file = from.join(file).symlink_metadata().is_ok_and(|file| file.is_file());
                if is_file { plan.shows_instead(&path, from.join(file)) } else { plan }
            }
            false => sandbox.plan().reads(*from).shows_instead(*at, *from),
        };
        let plan = plan.writes(&folder).writes(logs);
        let mut environment = scratch.environment().clone();
        environment.extend(variables.iter().map(|(name, value)| (name.into(), value.into())));
        let (home, shell) = match scratch.has_image() {
            true if !has_program(&plan, &environment, "bash") => ("/root", "sh"),
            true => ("/root", "bash"),
            false => ("/tmp", "bash"),
        };
        // Its first line says what runs it; without one, this shell does.
        let program = Program::inside(&plan, shell, &environment).args(["-c", path.as_str()]).dir(scratch.workdir());
        program.env("HOME", home).env("TMPDIR", "/tmp").output_cap(OUTPUT).tag_uniquely(TAG)
    }
}

/// Whether a script ended by itself, as its shell says.
fn came_to_its_end(exit: Exit) -> bool {
    matches!(exit, Exit::Code(code) if !SIGNALS.contains(&code))
}

/// A script of a task.
struct Script<'a> {
    /// Where its folder is shown, and where that is.
    shown: (&'static str, &'a Path),
    file: &'static str,
    /// Whether the folder is a copy, which the script may write in.
    is_own: bool,
    variables: &'a BTreeMap<String, String>,
    reach: Reach,
}
