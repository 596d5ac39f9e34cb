//! The tests of a task, run in a box: the agent's folder at its place, the tests at `/tests`, what they say at `/logs`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use hob_process::{Environment, Exit, Program};
use hob_sandbox::Sandbox;
use tokio_util::sync::CancellationToken;

use crate::{EvalError, Scratch, Task, patched_tests, task::TestsKind, text::text};

/// Bytes of each stream of the tests that are kept.
const OUTPUT: usize = 256 * 1024;
/// How deep the folders of tests are looked through.
const FOLDERS_MAX: usize = 4;
/// The variable that tags the tests' processes.
const TAG: &str = "HOB_EVAL";

/// Runs tests.
#[derive(Debug, Clone)]
pub struct Verifier {
    sandbox: Sandbox,
    environment: Environment,
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
}

impl Verdict {
    /// Whether the reward is the full one.
    pub fn is_solved(&self) -> bool {
        self.reward.is_some_and(|reward| reward >= 1.0)
    }

    /// Without a reward, if there is something wrong.
    fn unless(self, complaint: Option<String>) -> Self {
        let reward = if complaint.is_some() { Some(0.0) } else { self.reward };
        Self { reward, complaint, ..self }
    }
}

impl Verifier {
    /// Tests run in `sandbox`, whose children are in boxes.
    pub fn new(sandbox: Sandbox, environment: Environment) -> Self {
        Self { sandbox, environment }
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
        let (folder, logs) = (scratch.folder(), scratch.logs());
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
        let sandbox = self.sandbox.clone().showing(task.workdir.clone(), folder.clone());
        let sandbox = sandbox.showing(PathBuf::from("/logs"), logs.clone());
        let plan = sandbox.plan().writes(&folder).writes(scratch.logs()).reads(&tests).shows_instead("/tests", &tests);
        let mut program = Program::inside(&plan, "bash", &self.environment).arg("/tests/test.sh").dir(&task.workdir);
        program = program.env("HOME", "/tmp").env("TMPDIR", "/tmp");
        for (name, value) in task.environment.iter().chain(&task.tests.environment) {
            program = program.env(name, value);
        }
        let ended = program.deadline(task.tests.time).output_cap(OUTPUT).tag_uniquely(TAG).run(cancel).await?;
        let output = format!("{}{}", ended.stdout.text(), ended.stderr.text());
        let named = rewards_named_by(&task.tests.kind, &tests);
        let verdict = Verdict { reward: reward(&verifier, &named), exit: ended.exit, output, complaint: None };
        Ok(match &task.tests.kind {
            TestsKind::Patch(patch) if verdict.is_solved() => {
                let complaint = patch.named.complaint(&logs, &verdict.output);
                verdict.unless(complaint)
            }
            TestsKind::Patch(_) | TestsKind::Folder(_) => verdict,
        })
    }
}

/// The files that a reward may be in, the one that Harbor prefers first.
const REWARDS: [&str; 2] = ["reward.json", "reward.txt"];

/// The files that the tests themselves name as their reward; both if they name neither, as those that compute a path do.
///
/// What the tests try runs in their box, and may write any file there. A reward that they do not name is not theirs.
fn rewards_named_by(kind: &TestsKind, tests: &Path) -> Vec<&'static str> {
    let named: Vec<_> = match kind {
        TestsKind::Patch(_) => vec![REWARDS[1]],
        TestsKind::Folder(_) => REWARDS.into_iter().filter(|name| is_named(tests, name, FOLDERS_MAX)).collect(),
    };
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
        let named = rewards_named_by(&TestsKind::Folder(tests.path().to_owned()), tests.path());
        assert_eq!((named.as_slice(), reward(logs.path(), &named)), (&["reward.txt"][..], None));
        fs::write(logs.path().join("reward.txt"), "0").unwrap();
        assert_eq!(reward(logs.path(), &named), Some(0.0));
        fs::write(tests.path().join("inner/judge.py"), "write(reward_path)").unwrap();
        assert_eq!(rewards_named_by(&TestsKind::Folder(tests.path().to_owned()), tests.path()), REWARDS);
    }
}
