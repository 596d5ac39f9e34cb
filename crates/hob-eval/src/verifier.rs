//! The tests of a task, run in a box: the agent's folder at its place, the tests at `/tests`, what they say at `/logs`.

use std::{fs, path::PathBuf};

use hob_process::{Environment, Exit, Program};
use hob_sandbox::Sandbox;
use tokio_util::sync::CancellationToken;

use crate::{EvalError, Scratch, Task, patched_tests, task::TestsKind};

/// Bytes of each stream of the tests that are kept.
const OUTPUT: usize = 256 * 1024;
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
}

impl Verdict {
    /// Whether the reward is the full one.
    pub fn is_solved(&self) -> bool {
        self.reward.is_some_and(|reward| reward >= 1.0)
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
        let sandbox = sandbox.showing(PathBuf::from("/logs"), logs);
        let plan = sandbox.plan().writes(&folder).writes(scratch.logs()).reads(&tests).shows_instead("/tests", &tests);
        let mut program = Program::inside(&plan, "bash", &self.environment).arg("/tests/test.sh").dir(&task.workdir);
        program = program.env("HOME", "/tmp").env("TMPDIR", "/tmp");
        for (name, value) in task.environment.iter().chain(&task.tests.environment) {
            program = program.env(name, value);
        }
        let ended = program.deadline(task.tests.time).output_cap(OUTPUT).tag_uniquely(TAG).run(cancel).await?;
        let output = format!("{}{}", ended.stdout.text(), ended.stderr.text());
        Ok(Verdict { reward: reward(&verifier), exit: ended.exit, output })
    }
}

/// What the tests wrote, as Harbor reads it: `reward.json` before `reward.txt`.
fn reward(folder: &std::path::Path) -> Option<f64> {
    let read = |name: &str| crate::task::text(&folder.join(name)).ok();
    let found = match read("reward.json") {
        Some(json) => of_json(&serde_json::from_str(&json).ok()?)?,
        None => read("reward.txt")?.trim().parse().ok()?,
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
            assert_eq!(reward(folder.path()), reward_read, "{text}");
        }
        assert_eq!(reward(tempfile::tempdir().unwrap().path()), None);
    }
}
