//! The tasks of `hob eval run`, and those that cannot be tried.

use std::{collections::BTreeSet, path::Path, time::Duration};

use hob_config::may_pass;
use hob_eval::{EvalError, Found, SweBenchParts, Task, Unusable, find_tasks};
use hob_text::terminal;

use crate::cli::{
    eval_args::TasksArgs,
    exit::{Exit, fatal},
    output,
};

/// The time of the tests of an instance of SWE-bench, as long as in its own harness.
const TESTS_TIME: Duration = Duration::from_secs(1_800);

/// The requested tasks.
pub(super) fn found(path: &Path, args: &TasksArgs) -> anyhow::Result<Found> {
    let parts = SweBenchParts {
        repositories: args.repositories.clone(),
        test_command: args.test_command.clone(),
        tests_time: TESTS_TIME,
    };
    let mut found = find_tasks(path, args.assume_built, &parts).map_err(usage)?;
    let is_wanted = |name: &str| args.only.is_empty() || args.only.iter().any(|part| name.contains(part.as_str()));
    let names = found.tasks.iter().map(|task| &task.name).chain(found.unusable.iter().map(|task| &task.task));
    let names: BTreeSet<String> = names.filter(|name| is_wanted(name)).cloned().collect();
    let wanted: BTreeSet<String> = names.into_iter().take(args.limit.unwrap_or(usize::MAX)).collect();
    found.unusable.retain(|task| wanted.contains(&task.task));
    let (tasks, unfit) = (std::mem::take(&mut found.tasks), &mut found.unusable);
    for task in tasks.into_iter().filter(|task| wanted.contains(&task.name)) {
        match why_not(&task, args.recorded) {
            None => found.tasks.push(task),
            Some(why) => unfit.push(Unusable { task: task.name, why }),
        }
    }
    for Unusable { task, why } in &found.unusable {
        output::note(format!("{}: not tried: {}", terminal(task), terminal(why)));
    }
    match found.tasks.is_empty() {
        true => Err(fatal(Exit::Unfinished, format!("no task of `{}` can be tried", path.display()))),
        false => Ok(found),
    }
}

/// Why a task that can be read is not tried.
fn why_not(task: &Task, recorded: bool) -> Option<String> {
    if recorded && task.recording.is_none() {
        return Some("it has no `recording.json`".to_owned());
    }
    let withheld = task.variable_names().find(|name| !may_pass(name))?;
    Some(format!("its variable `{withheld}` is never passed to an agent"))
}

/// The exit code of a failed evaluation.
pub(super) fn usage(error: EvalError) -> anyhow::Error {
    let exit = match &error {
        EvalError::Unfit(_) => Exit::Usage,
        EvalError::File { source, .. } if source.kind() == std::io::ErrorKind::NotFound => Exit::NotFound,
        EvalError::File { .. } | EvalError::Process(_) | EvalError::Git { .. } => Exit::Failure,
    };
    fatal(exit, error.to_string())
}
