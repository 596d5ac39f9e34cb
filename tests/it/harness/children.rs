//! Live children of a world: processes that run in its folder or name it. Without `/proc` none are seen.

use std::{fs, path::Path, time::Duration};

use rustix::process::{Pid, PidfdFlags, pidfd_open};
use tokio::io::unix::AsyncFd;

/// How long a killed child may take to be gone.
const PATIENCE: Duration = Duration::from_secs(5);

/// Waits for the end of children that were killed just now; fails if one lives on.
pub(super) async fn all_gone(folder: &Path) {
    for (pid, words) in alive(folder) {
        let Some(Ok(handle)) = Pid::from_raw(pid).map(|pid| pidfd_open(pid, PidfdFlags::NONBLOCK)) else { continue };
        #[expect(deprecated, reason = "the owned handle lives as long as its registration")]
        let ended = AsyncFd::new(handle).unwrap();
        let gone = tokio::time::timeout(PATIENCE, ended.readable()).await;
        assert!(gone.is_ok(), "the child {pid} is alive: {words}");
    }
}

/// Each child with its words.
pub(super) fn alive(folder: &Path) -> Vec<(i32, String)> {
    let name = folder.display().to_string();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|pid| pid.parse::<i32>().ok()) else { continue };
        let words = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let words = String::from_utf8_lossy(&words).replace('\0', " ");
        let stands_in = fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder));
        // A zombie has neither folder nor arguments.
        if stands_in || words.contains(&name) {
            found.push((pid, words));
        }
    }
    found
}
