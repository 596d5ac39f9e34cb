//! The sandbox of tests that run agents and checks without a worker.

use std::path::{Path, PathBuf};

use hob_sandbox::{Limits, Network, Sandbox, Tier};

/// Hob's program, which becomes the children of tests.
pub(crate) fn launcher() -> PathBuf {
    env!("CARGO_BIN_EXE_hob").into()
}

/// A fence whose children share only what their plans name.
pub(crate) fn strict_fence() -> Sandbox {
    Sandbox::new(Tier::Fence, launcher(), Limits::default())
}

/// A fence whose children share temporary files, where tests have theirs.
pub(crate) fn sandbox() -> Sandbox {
    strict_fence().sharing(Vec::new(), vec![std::env::temp_dir()]).with_network(Network::None)
}

/// The processes whose folder is this one, or one below it. A zombie has none.
pub(crate) fn processes_in(folder: &Path) -> Vec<PathBuf> {
    let all = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    all.filter(|process| std::fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder))).collect()
}
