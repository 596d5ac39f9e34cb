//! Finds the processes of a run wherever they went, by a variable that only they have.
//!
//! Assumptions: a child keeps the environment it was given. Caveats: one that starts with an emptied environment is not
//! found; its group is still killed when it stays in it. Where there is no `/proc`, only the group is.

use std::{path::Path, time::Duration};

/// A variable with a value that no other process has.
#[derive(Debug)]
pub(super) struct Brand(Vec<u8>);

impl Brand {
    /// The brand `name=value`.
    pub(super) fn new(name: &str, value: &str) -> Self {
        Self(format!("{name}={value}").into_bytes())
    }

    fn is_in(&self, environment: &[u8]) -> bool {
        environment.split(|byte| *byte == 0).any(|variable| variable == self.0)
    }
}

/// How often the processes are looked through at most: one that is killed may have started another meanwhile, and on a
/// busy machine it takes a while until a process is the program it is about to be.
const ROUNDS: usize = 200;

/// What lies between two rounds: time for a process to die, or to become the program it is about to be.
const BETWEEN: Duration = Duration::from_millis(1);

/// Kills every process that has the variable `name` with `value`, wherever it is: what a run left whose own process was
/// killed.
pub fn end_processes_with(name: &str, value: &str) {
    end_branded(&Brand::new(name, value));
}

/// Kills every process that has the brand.
pub(super) fn end_branded(brand: &Brand) {
    for _ in 0..ROUNDS {
        let mut again = false;
        for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            // A process of another user, or one that is gone, cannot be read and is none of ours.
            let Ok(environment) = std::fs::read(entry.path().join("environ")) else { continue };
            if let (true, Some(pid)) = (brand.is_in(&environment), rustix::process::Pid::from_raw(pid)) {
                // It may be gone already: nothing is lost then.
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

/// Whether a process whose environment could be read and was empty is about to have one: it is becoming another program.
/// Part of the kernel and what is left of a dead process never will, nor does a program that was started without any.
fn is_changing(process: &Path) -> bool {
    let stat = std::fs::read_to_string(process.join("stat")).unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split_whitespace().collect();
    // Fields 23, 50 and 51 of proc_pid_stat(5), where the state, the first one after the name, is field 3.
    let [memory, start, end] = [23, 50, 51].map(|field| fields.get(field - 3).copied().unwrap_or("0"));
    memory != "0" && (end == "0" || start != end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_variable_is_the_brand() {
        let brand = Brand::new("A", "1");
        assert!(brand.is_in(b"B=2\0A=1\0"));
        assert!(!brand.is_in(b"A=12\0BA=1\0") && !brand.is_in(b""));
    }
}
