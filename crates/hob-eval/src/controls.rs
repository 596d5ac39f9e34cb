//! Controls: what the tests of a task say of its own solution, and of nothing.
//!
//! A task whose solution is not solved by its tests, or whose tests are content with nothing, measures no agent. No agent takes part, so no
//! code under test decides what they say.

use std::path::Path;

use hob_process::Environment;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::{
    Engine, EvalError, Scratch, Task, Verdict, Verifier,
    image_root::ImageRoot,
    place::{OwnPlace, remove_left},
    scripts::last_line,
    signs,
    task::{Files, TestsKind},
};

/// What tries a task in the place of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Baseline {
    /// Nothing is done.
    Nothing,
    /// The task's own solution.
    Solution,
}

/// What the controls say of a task on this machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Checked {
    /// Its name.
    pub task: String,
    /// The reward of its own solution; `None` if it has none, or its tests wrote none.
    pub solution: Option<f64>,
    /// The reward of doing nothing; `None` if its tests wrote none, or the solution was enough to tell.
    pub nothing: Option<f64>,
    /// Why it is unusable here; `None` if it is usable.
    pub why: Option<String>,
}

/// Where folders of trials are made, with which variables, and by what images are.
#[derive(Debug, Clone)]
pub struct Place {
    state: std::path::PathBuf,
    environment: Environment,
    engine: Option<Engine>,
}

impl Place {
    /// Below the folder `state`, from which what a killed Hob left is removed.
    pub fn new(state: &Path, environment: Environment, engine: Option<Engine>) -> Self {
        remove_left(state);
        Self { state: state.to_owned(), environment, engine }
    }

    /// Makes what the agent of `task` begins with.
    ///
    /// # Errors
    /// [`EvalError`] when a file cannot be copied, a commit is not there, or an image cannot be made.
    pub async fn make(&self, task: &Task, cancel: &CancellationToken) -> Result<Scratch, EvalError> {
        let place = OwnPlace::make(&self.state)?;
        let image = match (&task.files, &self.engine) {
            (Files::Image(wanted), Some(engine)) => {
                Some(ImageRoot::make(engine, &task.name, wanted, &place, cancel).await?)
            }
            (Files::Image(wanted), None) => return Err(EvalError::Unfit(wanted.why.clone())),
            (Files::Copied(_) | Files::Commit { .. }, _) => None,
        };
        Scratch::make(task, place, image, &self.environment).await
    }
}

/// Tries a task without an agent. `None` if it has no solution.
///
/// # Errors
/// [`EvalError`] when the folder cannot be made or the tests cannot be started.
pub async fn try_baseline(
    verifier: &Verifier,
    task: &Task,
    baseline: Baseline,
    place: &Place,
    cancel: &CancellationToken,
) -> Result<Option<(Scratch, Verdict)>, EvalError> {
    let scratch = place.make(task, cancel).await?;
    let failed = match baseline {
        Baseline::Nothing => None,
        Baseline::Solution => match verifier.solve(task, &scratch, cancel).await? {
            Some(failed) => failed,
            None => return Ok(None),
        },
    };
    let mut verdict = verifier.verify(task, &scratch, cancel).await?;
    if failed.is_some() && !verdict.is_solved() {
        verdict.complaint = failed;
    }
    Ok(Some((scratch, verdict)))
}

/// Whether the tests of `task` fetch something, so that they may not run here.
pub fn fetches(task: &Task) -> bool {
    match &task.tests.kind {
        TestsKind::Folder(tests) => signs::fetches(tests).is_some(),
        TestsKind::Patch(_) => false,
    }
}

/// Why the tests of `task` cannot tell here whether it is solved; `None` if they can, as far as its own solution shows. Of a task without a
/// solution, they have to run to their end on what the agent begins with.
///
/// # Errors
/// As [`try_baseline`].
pub async fn unusable(
    verifier: &Verifier,
    task: &Task,
    place: &Place,
    cancel: &CancellationToken,
) -> Result<Option<String>, EvalError> {
    if let Some((_, verdict)) = try_baseline(verifier, task, Baseline::Solution, place, cancel).await? {
        return Ok(unsolved(&verdict));
    }
    let tried = try_baseline(verifier, task, Baseline::Nothing, place, cancel).await?;
    let doubt = tried.and_then(|(_, verdict)| verdict.doubt());
    Ok(doubt.map(|doubt| format!("its tests could not run here: {doubt}")))
}

/// Tries a task so many times with its own solution, which has to give 1, and with nothing, which has to give 0.
///
/// # Errors
/// As [`try_baseline`].
pub async fn check(
    verifier: &Verifier,
    task: &Task,
    attempts: u32,
    place: &Place,
    cancel: &CancellationToken,
) -> Result<Checked, EvalError> {
    let mut checked = Checked { task: task.name.clone(), solution: None, nothing: None, why: None };
    for attempt in 1..=attempts {
        checked = checked_once(verifier, task, place, cancel).await?;
        if let Some(why) = checked.why.take_if(|_| attempts > 1) {
            checked.why = Some(format!("{why} (attempt {attempt} of {attempts})"));
        }
        if checked.why.is_some() {
            break;
        }
    }
    Ok(checked)
}

async fn checked_once(
    verifier: &Verifier,
    task: &Task,
    place: &Place,
    cancel: &CancellationToken,
) -> Result<Checked, EvalError> {
    let name = task.name.clone();
    let Some((_, solved)) = try_baseline(verifier, task, Baseline::Solution, place, cancel).await? else {
        let why = Some("it has no solution, by which to tell whether its tests work here".to_owned());
        return Ok(Checked { task: name, solution: None, nothing: None, why });
    };
    if let Some(why) = unsolved(&solved) {
        return Ok(Checked { task: name, solution: solved.reward, nothing: None, why: Some(why) });
    }
    let tried = try_baseline(verifier, task, Baseline::Nothing, place, cancel).await?;
    let nothing = tried.and_then(|(_, verdict)| verdict.reward);
    let why = match nothing {
        Some(0.0) => None,
        Some(reward) => Some(format!("doing nothing gets the reward {reward}, not 0")),
        None => Some("its tests write no reward where nothing was done".to_owned()),
    };
    Ok(Checked { task: name, solution: solved.reward, nothing, why })
}

/// Why the tests do not take the task's own solution for one.
fn unsolved(verdict: &Verdict) -> Option<String> {
    if verdict.is_solved() {
        return None;
    }
    if let Some(doubt) = verdict.doubt() {
        return Some(format!("its tests could not run here: {doubt}"));
    }
    let said = verdict.complaint.clone().or_else(|| last_line(&verdict.output));
    let said = said.unwrap_or_else(|| "its tests printed nothing".to_owned());
    let reward = verdict.reward.unwrap_or_default();
    Some(format!("its own solution does not solve it here (reward {reward}): {said}"))
}
