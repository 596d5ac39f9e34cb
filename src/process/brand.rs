//! Finds the processes of a run wherever they went, by a variable that only they have.
//!
//! Assumptions: a child keeps the environment it was given. Caveats: one that starts with an emptied environment is not
//! found; its group is still killed when it stays in it. Where there is no `/proc`, only the group is.

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

/// How often the processes are looked through: one that is killed may have started another meanwhile.
const ROUNDS: usize = 5;

/// Kills every process that has the brand.
pub(super) fn end_branded(brand: &Brand) {
    for _ in 0..ROUNDS {
        let mut found = false;
        for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            // A process of another user, or one that is gone, cannot be read and is none of ours.
            let Ok(environment) = std::fs::read(entry.path().join("environ")) else { continue };
            if let (true, Some(pid)) = (brand.is_in(&environment), rustix::process::Pid::from_raw(pid)) {
                // It may be gone already: nothing is lost then.
                rustix::process::kill_process(pid, rustix::process::Signal::KILL).ok();
                found = true;
            }
        }
        if !found {
            return;
        }
    }
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
