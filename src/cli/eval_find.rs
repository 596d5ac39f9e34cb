//! The tasks of `hob eval run`, and those that cannot be tried.

use std::{collections::BTreeSet, path::Path, time::Duration};

use hob_config::{child_environment, may_pass, named_environment};
use hob_eval::{Engine, EvalError, Found, SweBenchParts, Task, Unusable, find_tasks};
use hob_text::terminal;

use crate::cli::{
    eval_args::TasksArgs,
    exit::{Exit, fatal},
    output,
    setup::Setup,
};

/// The time of the tests of an instance of SWE-bench, as long as in its own harness.
const TESTS_TIME: Duration = Duration::from_secs(1_800);

/// Variables by which podman and docker find their service and their settings.
const OF_ENGINES: [&str; 9] = [
    "CONTAINERS_CONF",
    "CONTAINERS_STORAGE_CONF",
    "CONTAINER_HOST",
    "DOCKER_CERT_PATH",
    "DOCKER_CONFIG",
    "DOCKER_CONTEXT",
    "DOCKER_HOST",
    "DOCKER_TLS_VERIFY",
    "XDG_RUNTIME_DIR",
];

/// The requested tasks, and what makes the images of those that need one.
pub(super) struct Wanted {
    pub(super) found: Found,
    pub(super) engine: Option<Engine>,
}

/// Finds them; `outsider` is an agent that cannot work in the files of an image.
pub(super) async fn found(
    path: &Path,
    args: &TasksArgs,
    setup: &Setup,
    outsider: Option<&str>,
) -> anyhow::Result<Wanted> {
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
    if wanted.is_empty() {
        let why = format!("no task of `{}` has a name that holds the text of `--only`", path.display());
        return Err(fatal(Exit::Usage, why));
    }
    found.unusable.retain(|task| wanted.contains(&task.task));
    found.tasks.retain(|task| wanted.contains(&task.name));
    found.leave_out(|task| why_not(task, args.recorded));
    if let Some(agent) = outsider {
        found.leave_out(|task| {
            let why = task.needs_image()?;
            Some(format!("{why}: Hob's own agent and recipes can work in that image, `{agent}` cannot"))
        });
    }
    let engine = engine(&mut found, setup).await;
    for Unusable { task, why } in &found.unusable {
        output::note(format!("{}: not tried: {}", terminal(task), terminal(why)));
    }
    match found.tasks.is_empty() {
        true => Err(fatal(Exit::Unfinished, format!("no task of `{}` can be tried", path.display()))),
        false => Ok(Wanted { found, engine }),
    }
}

/// What makes images, if a task needs one; without it, such tasks are not tried.
async fn engine(found: &mut Found, setup: &Setup) -> Option<Engine> {
    found.tasks.iter().find_map(Task::needs_image)?;
    let mut environment = child_environment();
    environment.extend(named_environment(OF_ENGINES, &setup.files));
    let engine = Engine::find(&environment).await;
    if engine.is_none() {
        found.leave_out(|task| {
            let why = task.needs_image()?;
            let hint = "; `--assume-built` takes this machine for that image";
            let hint = if task.can_be_assumed_built() { hint } else { "" };
            Some(format!("{why}, and neither podman nor docker answers here{hint}"))
        });
    }
    engine
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
        EvalError::File { .. } | EvalError::Process(_) | EvalError::Git { .. } | EvalError::Engine { .. } => {
            Exit::Failure
        }
    };
    fatal(exit, error.to_string())
}
