//! `hob eval run PATH --check`: whether the tests of tasks can tell here what solves them, by each task's own solution and by doing nothing.

use futures_util::{StreamExt, stream};
use hob_eval::{Checked, Unusable, check as check_task};
use hob_text::{clip, terminal};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::cli::{
    args::Shared,
    eval_find::Wanted,
    eval_trial::{Bench, WHY_MAX, bench},
    exit::{Exit, fatal},
    json,
    layout::Table,
    progress::Verbosity,
    screen::Screen,
    setup::Setup,
    signals::on_signal,
};

/// What is told to programs.
#[derive(Debug, Serialize)]
struct Report {
    tasks: usize,
    usable: usize,
    checked: Vec<Checked>,
}

/// How many tasks are checked at once, and how often each.
pub(super) struct Often {
    pub(super) jobs: usize,
    pub(super) attempts: u32,
}

/// Checks all tasks, several at once; those that cannot even be read are a part of the table.
pub(super) async fn check(
    setup: &Setup,
    shared: &Shared,
    wanted: Wanted,
    often: Often,
    screen: Screen,
) -> anyhow::Result<()> {
    let Wanted { found, engine } = wanted;
    let Often { jobs, attempts } = often;
    let Bench { verifier, place } = bench(setup, engine);
    let cancel = CancellationToken::new();
    on_signal(cancel.clone(), screen.clone(), "stopping the check (a second signal exits immediately)");
    let unread = |Unusable { task, why }| Checked { task, solution: None, nothing: None, why: Some(why) };
    let mut checked: Vec<Checked> = found.unusable.into_iter().map(unread).collect();
    let (verifier, place, cancel) = (&verifier, &place, &cancel);
    let one = |task| async move {
        let checked = check_task(verifier, &task, attempts, place, cancel).await;
        checked.unwrap_or_else(|error| unread(Unusable { task: task.name, why: clip(&error.to_string(), WHY_MAX) }))
    };
    let of = found.tasks.len();
    let mut all = std::pin::pin!(stream::iter(found.tasks).map(one).buffer_unordered(jobs).enumerate());
    while let Some((at, task)) = all.next().await {
        if shared.verbosity() != Verbosity::Quiet && !cancel.is_cancelled() {
            let said =
                task.why.as_deref().map_or_else(|| "usable".to_owned(), |why| format!("unusable: {}", terminal(why)));
            screen.line(format!("[{}/{of}] {}: {said}", at + 1, task.task));
        }
        checked.push(task);
    }
    screen.close();
    if cancel.is_cancelled() {
        return Err(fatal(Exit::Failure, "the check was stopped"));
    }
    checked.sort_by(|a, b| a.task.cmp(&b.task));
    let (tasks, usable) = (checked.len(), checked.iter().filter(|task| task.why.is_none()).count());
    match shared.json {
        true => json::result(&Report { tasks, usable, checked })?,
        false => print(&checked)?,
    }
    match usable == tasks {
        true => Ok(()),
        false => Err(fatal(Exit::Unfinished, format!("{} of {tasks} tasks cannot be used here", tasks - usable))),
    }
}

fn print(checked: &[Checked]) -> anyhow::Result<()> {
    let mut table = Table::new(&["task", "solution", "nothing"], &["here"]);
    let reward = |reward: Option<f64>| reward.map_or_else(|| "–".to_owned(), |reward| reward.to_string());
    for Checked { task, solution, nothing, why } in checked {
        let here = why.as_deref().map_or_else(|| "usable".to_owned(), |why| terminal(why).to_string());
        table.row(vec![task.clone(), reward(*solution), reward(*nothing), here]);
    }
    Ok(table.print()?)
}
