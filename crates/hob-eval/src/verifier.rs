//! The tests of a task, run in a box: the agent's folder at its place, the tests at `/tests`, what they say at `/logs`.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use hob_process::{Exit, ProcessError, Program, has_program};
use hob_sandbox::{REFUSED, Sandbox};
use tokio_util::sync::CancellationToken;

use crate::{
    EvalError, Scratch, Task,
    named_tests::NamedTests,
    patched_tests, signs,
    task::{Reach, Solution, TestsKind},
    text::text,
};

/// Bytes of each stream of the tests that are kept.
const OUTPUT: usize = 256 * 1024;
/// How deep the folders of tests are looked through.
const FOLDERS_MAX: usize = 4;
/// How long a solution may take whose task names no time for an agent.
const SOLUTION_TIME: Duration = Duration::from_secs(1_800);
/// The exit codes from which on a shell says that a signal ended it.
const SIGNALS: i32 = 128;
/// The variable that tags the tests' processes.
const TAG: &str = "HOB_EVAL";

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
    /// Whether a command that has to name its tests named none.
    names_none: bool,
}

impl Verdict {
    /// Whether the reward is the full one.
    pub fn is_solved(&self) -> bool {
        self.reward.is_some_and(|reward| reward >= 1.0)
    }

    /// Why the tests may not have run: a sign of a missing program or host, or no reward. `None` if they solved it, or ran without such a sign.
    ///
    /// The code under test can print such a sign, too: only [`unusable`](crate::unusable) tells.
    pub fn doubt(&self) -> Option<String> {
        if self.is_solved() {
            return None;
        }
        let unnamed = || self.names_none.then(|| "the command named no test that Hob can read".to_owned());
        signs::missing(&self.output).or_else(unnamed).or_else(|| match (self.reward, self.exit) {
            (_, Exit::Code(code @ (126 | 127))) => Some(format!("the tests ended with exit code {code}")),
            (None, exit) => Some(format!("the tests wrote no reward ({exit})")),
            (Some(_), _) => None,
        })
    }

    /// Of tests that could not be started.
    fn unstarted(why: String) -> Self {
        Self { reward: None, exit: Exit::Code(REFUSED.into()), output: why, complaint: None, names_none: false }
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
        let tests = match &task.tests.kind {
            TestsKind::Folder(tests) => tests.clone(),
            TestsKind::Patch(patch) => {
                let tests = scratch.tests();
                patched_tests::write(patch, &scratch.git, &tests).await?;
                tests
            }
        };
        let verifier = logs.join("verifier");
        fs::create_dir_all(&verifier).map_err(EvalError::at("make", &verifier))?;
        let (variables, reach) = (&task.tests.environment, task.tests.reach);
        let script = Script { shown: ("/tests", &tests), file: "test.sh", variables, reach };
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
        let reward = match (&task.tests.kind, ended.exit) {
            (TestsKind::Patch(_), Exit::Code(code)) => Some(if code == 0 { 1.0 } else { 0.0 }),
            (TestsKind::Folder(_), Exit::Code(code)) if code < SIGNALS => reward(&verifier, &rewards_named_by(&tests)),
            // What ended the script before its end may have written the reward in its place.
            (TestsKind::Folder(_) | TestsKind::Patch(_), _) => None,
        };
        let verdict = Verdict { reward, exit: ended.exit, output, complaint: None, names_none: false };
        Ok(match &task.tests.kind {
            TestsKind::Patch(patch) => {
                let results = NamedTests::read(&logs, &verdict.output);
                let verdict = Verdict { names_none: results.tests.is_empty(), ..verdict };
                if verdict.is_solved() { verdict.unless(patch.named.complaint(&results)) } else { verdict }
            }
            TestsKind::Folder(_) => verdict,
        })
    }

    /// Applies the solution of `task` to a folder that no agent has had. `false` if it has none.
    pub(crate) async fn solve(
        &self,
        task: &Task,
        scratch: &Scratch,
        cancel: &CancellationToken,
    ) -> Result<bool, EvalError> {
        match &task.solution {
            None => Ok(false),
            Some(Solution::Patch(patch)) => scratch.apply(patch).await.map(|()| true),
            Some(Solution::Folder(folder, variables)) => {
                let script = Script { shown: ("/solution", folder), file: "solve.sh", variables, reach: task.reach };
                let program = self.script(&script, scratch).env("DEBIAN_FRONTEND", "noninteractive");
                // As with Harbor, its exit code says nothing: the tests do.
                program.deadline(task.time.unwrap_or(SOLUTION_TIME)).run(cancel).await.map(drop)?;
                Ok(true)
            }
        }
    }

    /// A script in a box: the folder of the trial at its place, the script's folder at its own, and `/logs`.
    fn script(&self, script: &Script<'_>, scratch: &Scratch) -> Program {
        let (folder, logs) = (scratch.folder(), scratch.logs());
        let Script { shown: (at, from), file, variables, reach } = script;
        let sandbox = scratch.sandbox(self.sandbox.clone(), *reach).showing(PathBuf::from("/logs"), logs.clone());
        let plan = sandbox.plan().writes(&folder).writes(logs).reads(*from).shows_instead(*at, *from);
        let mut environment = scratch.environment().clone();
        environment.extend(variables.iter().map(|(name, value)| (name.into(), value.into())));
        let (home, shell) = match scratch.has_image() {
            true if !has_program(&plan, &environment, "bash") => ("/root", "sh"),
            true => ("/root", "bash"),
            false => ("/tmp", "bash"),
        };
        let program = Program::inside(&plan, shell, &environment).arg(format!("{at}/{file}")).dir(scratch.workdir());
        program.env("HOME", home).env("TMPDIR", "/tmp").output_cap(OUTPUT).tag_uniquely(TAG)
    }
}

/// A script of a task.
struct Script<'a> {
    /// Where its folder is shown, and where that is.
    shown: (&'static str, &'a Path),
    file: &'static str,
    variables: &'a BTreeMap<String, String>,
    reach: Reach,
}

/// The files that a reward may be in, the one that Harbor prefers first.
const REWARDS: [&str; 2] = ["reward.json", "reward.txt"];

/// The files that the tests themselves name as their reward; both if they name neither, as those that compute a path do.
///
/// What the tests try runs in their box, and may write any file there. A reward that they do not name is not theirs.
fn rewards_named_by(tests: &Path) -> Vec<&'static str> {
    let named: Vec<_> = REWARDS.into_iter().filter(|name| is_named(tests, name, FOLDERS_MAX)).collect();
    if named.is_empty() { REWARDS.to_vec() } else { named }
}

fn is_named(folder: &Path, name: &str, deep: usize) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => deep > 0 && is_named(&entry.path(), name, deep - 1),
        // What cannot be read as a text names nothing.
        Ok(_) | Err(_) => text(&entry.path()).is_ok_and(|text| text.contains(name)),
    })
}

/// What the tests wrote to the first of these files that is there.
fn reward(folder: &Path, named: &[&str]) -> Option<f64> {
    let mut written = named.iter().filter_map(|name| Some((*name, text(&folder.join(name)).ok()?)));
    let found = match written.next()? {
        ("reward.json", json) => of_json(&serde_json::from_str(&json).ok()?)?,
        (_, text) => text.trim().parse().ok()?,
    };
    Some(found).filter(|reward: &f64| reward.is_finite())
}

/// A number, the number named `reward`, or the least of all.
fn of_json(value: &serde_json::Value) -> Option<f64> {
    let serde_json::Value::Object(rewards) = value else { return value.as_f64() };
    if let Some(reward) = rewards.get("reward") {
        return reward.as_f64();
    }
    let all: Option<Vec<f64>> = rewards.values().map(serde_json::Value::as_f64).collect();
    all?.into_iter().reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rewards_are_read_as_harbor_reads_them() {
        for (name, text, reward_read) in [
            ("reward.txt", "1\n", Some(1.0)),
            ("reward.txt", "0.5", Some(0.5)),
            ("reward.txt", "", None),
            ("reward.txt", "inf", None),
            ("reward.json", r#"{"reward": 0.25, "other": 0}"#, Some(0.25)),
            ("reward.json", r#"{"a": 1, "b": 0.5}"#, Some(0.5)),
            ("reward.json", r#"{"a": true}"#, None),
            ("reward.json", "1", Some(1.0)),
        ] {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join(name), text).unwrap();
            assert_eq!(reward(folder.path(), &REWARDS), reward_read, "{text}");
        }
        assert_eq!(reward(tempfile::tempdir().unwrap().path(), &REWARDS), None);
    }

    /// Attack corpus K148.
    #[test]
    fn a_reward_that_the_tests_do_not_name_is_not_theirs() {
        let (tests, logs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir(tests.path().join("inner")).unwrap();
        fs::write(tests.path().join("inner/judge.py"), "open('/logs/verifier/reward.txt', 'w')").unwrap();
        fs::write(logs.path().join("reward.json"), "{\"reward\": 1}").unwrap();
        let named = rewards_named_by(tests.path());
        assert_eq!((named.as_slice(), reward(logs.path(), &named)), (&["reward.txt"][..], None));
        fs::write(logs.path().join("reward.txt"), "0").unwrap();
        assert_eq!(reward(logs.path(), &named), Some(0.0));
        fs::write(tests.path().join("inner/judge.py"), "write(reward_path)").unwrap();
        assert_eq!(rewards_named_by(tests.path()), REWARDS);
    }
}
