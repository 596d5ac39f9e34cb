//! `hob list` and `hob run --dry-run`, which are the same: the queue in its order, and why the other issues wait.

use hob_forge::Access;
use hob_text::terminal;
use hob_worker::{Explained, Worker, explain};

use crate::cli::{
    args::Shared,
    explain::next_step,
    json,
    layout::{self, Table, width_of, wrapped},
    output,
    setup::{Listen, Setup},
};

/// The length from which a sentence that several issues share is printed once, below the table.
const SHARED_MIN: usize = 40;

pub(super) async fn list(setup: Setup, shared: Shared) -> anyhow::Result<()> {
    let trigger = setup.settings.labels.trigger.clone();
    let pool = setup.pool(&shared, Access::ReadOnly, None, |_| Listen::nobody()).await?;
    let workers = pool.workers().await?;
    let naming = output::Naming::new(workers.len());
    let (mut values, mut failed) = (Vec::new(), None);
    for worker in &workers {
        let repo = worker.forge().repo();
        match explain::all(worker).await {
            Ok(found) if shared.json => {
                for issue in &found {
                    values.push(json::with_repo(repo, issue)?);
                }
            }
            Ok(found) => {
                output::heading(repo, naming)?;
                print(worker, &found, &trigger)?;
            }
            // The failure of one repository does not hide the others.
            Err(error) => failed = failed.or(Some(anyhow::Error::from(error).context(repo.to_string()))),
        }
    }
    if shared.json && (failed.is_none() || !values.is_empty()) {
        json::result(&values)?;
    }
    failed.map_or(Ok(()), Err)
}

fn print(worker: &Worker, found: &[Explained], trigger: &str) -> anyhow::Result<()> {
    if found.is_empty() {
        let repo = worker.forge().repo();
        return Ok(layout::paragraph(&format!("No open issue of {repo} has the label `{trigger}`."))?);
    }
    let steps: Vec<String> = found.iter().map(next_step).collect();
    let notes = repeated(&steps);
    let mut table = Table::new(&["order", "issue", "state"], &["title", "next step"]);
    for (issue, step) in found.iter().zip(&steps) {
        let place = issue.place.map_or_else(|| "-".to_owned(), |place| place.to_string());
        let state = issue.state.map_or_else(|| "new".to_owned(), |state| state.to_string());
        let step =
            notes.iter().position(|note| note == step).map_or_else(|| step.clone(), |at| format!("({})", at + 1));
        table.row(vec![place, format!("#{}", issue.issue), state, issue.title.clone(), step]);
    }
    table.print()?;
    for (at, note) in notes.iter().enumerate() {
        if at == 0 {
            output::line("")?;
        }
        let text = format!("({}) {}", at + 1, terminal(note).replace('\n', " "));
        output::line(wrapped(&text, width_of(std::io::stdout()), 4))?;
    }
    Ok(())
}

/// The long sentences that several issues have, in the order of the queue.
fn repeated(steps: &[String]) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for step in steps {
        let several = steps.iter().filter(|other| *other == step).count() > 1;
        if several && step.chars().count() >= SHARED_MIN && !notes.contains(step) {
            notes.push(step.clone());
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_sentence_that_several_issues_share_is_a_note() {
        let paused = "ann paused the repository (too dear); `hob resume --all` resumes it";
        let steps = [paused, "it would be claimed", "it would be claimed", paused].map(str::to_owned);
        assert_eq!(repeated(&steps), [paused]);
        assert!(repeated(&steps[..2]).is_empty());
    }
}
