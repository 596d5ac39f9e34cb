//! The environment of an agent's children: the run's allow-list, and what its egress adds.

use std::{ffi::OsStr, os::unix::fs::PermissionsExt, path::PathBuf};

use hob_config::may_pass;
use hob_process::Environment;

use crate::{RunContext, egress::RunEgress};

/// The variable that tags a run's processes, so that they are found wherever they go.
pub(super) const RUN_TAG: &str = "HOB_AGENT_RUN";
/// The variable that names a run to its processes, by which those of a run whose worker died are found.
pub(super) const RUN_VARIABLE: &str = "HOB_RUN";
/// Bytes of one argument: the kernel takes 128 KiB, with the ending zero (`MAX_ARG_STRLEN`).
pub(super) const ARGUMENT_MAX: usize = 128 * 1024 - 1;

/// The whole environment of a child. Variables that may not be passed on are left out even if the context has them.
pub(super) fn of_child(context: &RunContext, egress: &RunEgress) -> Environment {
    let mut environment = context.environment.clone();
    environment.retain(|name, _| name.to_str().is_none_or(may_pass));
    egress.environment(environment)
}

/// The path of a program: as it is named if that is a path, otherwise in the `folders` of a `PATH`.
pub(super) fn find_program(program: &str, folders: Option<&OsStr>) -> Option<PathBuf> {
    let runs =
        |path: &PathBuf| path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0);
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(runs);
    }
    std::env::split_paths(folders?).map(|folder| folder.join(program)).find(runs)
}
