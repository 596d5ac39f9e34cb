//! Finds the processes of a run anywhere, by a variable that only they have, and kills them.
//!
//! - Flow: the variable is in the environment of every child of the run; [`TaggedProcesses`] represents all of them.
//!   When the run ends the caller waits for [`TaggedProcesses::end`]; a run that is dropped leaves the work to its
//!   drop.
//! - Guarantees: `/proc` is read on a thread for blocking work. A drop hands the work to such a thread and returns at
//!   once. If there is none, because the runtime is shutting down or none is running, the drop does the work itself: a
//!   process that exits leaves no child either.
//! - Assumptions: a child keeps the environment it was given.
//! - Caveats: a process that starts with an emptied environment is not found; its group is still killed if it stays in
//!   it. Without `/proc`, only the group is.

use std::{path::Path, time::Duration};

use hob_sandbox::stat_field;

use crate::{Environment, drop_in_background};

/// A variable with a value that no other process has.
#[derive(Debug)]
struct ProcessTag {
    name: String,
    value: String,
}

/// All processes that have a tag. They are killed at the latest when this is dropped.
#[derive(Debug)]
pub struct TaggedProcesses(Option<KillOnDrop>);

impl TaggedProcesses {
    /// Sets the variable `name` to a unique value in `environment`, which has to become that of every child.
    pub fn tag_uniquely(environment: &mut Environment, name: &str) -> Self {
        let value = format!("{:016x}", rand::random::<u64>());
        environment.insert(name.into(), value.clone().into());
        Self::new(name, &value)
    }

    /// The processes that have the variable `name` with `value`.
    pub fn new(name: &str, value: &str) -> Self {
        Self(Some(KillOnDrop(ProcessTag { name: name.to_owned(), value: value.to_owned() })))
    }

    /// Kills those that there are now.
    pub async fn kill(&self) {
        let Some(KillOnDrop(tag)) = &self.0 else { return };
        let (name, value) = (tag.name.clone(), tag.value.clone());
        // The drop kills them again.
        tokio::task::spawn_blocking(move || kill_where(|environment| has_variable(&name, &value, environment)))
            .await
            .ok();
    }

    /// Kills them, and returns when none is left. When the future is dropped, the work continues.
    pub async fn end(mut self) {
        if let Some(work) = self.0.take() {
            // The task cannot fail: if it is not run, it is dropped, and that kills too.
            tokio::task::spawn_blocking(|| drop(work)).await.ok();
        }
    }
}

impl Drop for TaggedProcesses {
    fn drop(&mut self) {
        if let Some(work) = self.0.take() {
            drop_in_background(work);
        }
    }
}

/// Kills the tagged processes when it is dropped. A runtime that is shutting down drops its pending blocking work, and
/// this with it, so the drop still does the work then.
#[derive(Debug)]
struct KillOnDrop(ProcessTag);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        kill_where(|environment| has_variable(&self.0.name, &self.0.value, environment));
    }
}

/// The most scans of `/proc`: a killed process may have started another meanwhile, and on a busy machine it takes a
/// while until a process has executed its program.
const ROUNDS: usize = 200;

/// The pause between two scans: time for a process to die, or to become the program it is about to be.
const BETWEEN: Duration = Duration::from_millis(1);

/// Whether this variable with this value is in an environment as `/proc` shows it.
pub(super) fn has_variable(name: &str, value: &str, environment: &[u8]) -> bool {
    values_of(name, environment).any(|found| found == value.as_bytes())
}

/// The values of a variable in an environment as `/proc` shows it: one, unless a program set it twice.
pub(super) fn values_of<'a>(name: &'a str, environment: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let variables = environment.split(|byte| *byte == 0);
    variables.filter_map(|variable| variable.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
}

/// Kills every process whose environment `is_wanted` accepts.
pub(super) fn kill_where(is_wanted: impl Fn(&[u8]) -> bool) {
    for _ in 0..ROUNDS {
        let mut again = false;
        for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            // A process of another user, or one that is gone, cannot be read and is not ours.
            let Ok(environment) = std::fs::read(entry.path().join("environ")) else { continue };
            if let (true, Some(pid)) = (is_wanted(&environment), rustix::process::Pid::from_raw(pid)) {
                // It may be gone already, which is fine.
                rustix::process::kill_process(pid, rustix::process::Signal::KILL).ok();
                again = true;
            }
            again |= environment.is_empty() && is_changing(&entry.path());
        }
        if !again {
            return;
        }
        std::thread::sleep(BETWEEN);
    }
}

/// Whether a process whose environment reads as empty is about to get one, because it is executing another program.
/// Kernel threads and zombies never do, nor does a program that was started without any.
fn is_changing(process: &Path) -> bool {
    let [memory, start, end] = [23, 50, 51].map(|number| stat_field(process, number).unwrap_or_else(|| "0".to_owned()));
    memory != "0" && (end == "0" || start != end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_variable_is_the_tag() {
        assert!(has_variable("A", "1", b"B=2\0A=1\0"));
        assert!(!has_variable("A", "1", b"A=12\0BA=1\0") && !has_variable("A", "1", b""));
    }
}
