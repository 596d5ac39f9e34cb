//! The last look before `done` counts: the task, the whole change and the checks, shown to the model once more.
//!
//! - Flow: the first `done` of a run that changed a file is answered with the task's demands, the diff, and the checks
//!   that did not run since the last change. The next one ends the run.
//! - It is skipped if nothing changed, or if the model has just looked at the diff and run all checks itself.

use hob_domain::{RunPurpose, RunRequest};
use hob_process::Finished;
use hob_text::count;

use crate::{
    native::{standing::Standing, tools::Toolbox},
    report::clip,
};

/// Bytes of the text and of the diff.
const TASK_MAX: usize = 8 * 1024;
const DIFF_MAX: usize = 24 * 1024;
/// New files that are named.
const FILES_MAX: usize = 30;

/// The demands on a run.
#[derive(Debug)]
pub(super) struct LastLook {
    is_wanted: bool,
    task: String,
    pub(super) checks: Vec<String>,
}

impl LastLook {
    /// The last look of a run; one that changes nothing has none.
    pub(super) fn new(request: &RunRequest, is_wanted: bool) -> Self {
        Self {
            is_wanted: is_wanted && request.purpose == RunPurpose::Work,
            task: format!("{}\n{}", request.title, clip(request.body.trim(), TASK_MAX)).trim().to_owned(),
            checks: request.checks.clone(),
        }
    }

    /// The text for the model to look at; `None` if its run may end.
    pub(super) async fn before_the_end(&self, standing: &mut Standing, toolbox: &Toolbox) -> Option<String> {
        if !self.is_wanted || standing.looked || standing.seen.is_all(&self.checks) {
            return None;
        }
        let change = change(toolbox).await.or_else(|| of_tools(&standing.files))?;
        standing.looked = true;
        let mut text = "[Hob] Not ended yet: one look first. Hold the whole change against the task. If it does what the task wants, and nothing \
                        else, call `done` again; else mend it before."
            .to_owned();
        if !self.task.is_empty() {
            text.push_str(&format!("\n\n--- The task, as a person wrote it\n{}", self.task));
        }
        text.push_str(&format!("\n\n--- The change\n{change}"));
        let left = standing.seen.left(&self.checks);
        if !left.is_empty() {
            text.push_str(&format!("\n\n--- Not run since the last change, so run them now\n{}", left.join("\n")));
        }
        Some(text)
    }
}

/// The change of the folder, as git sees it; `None` if nothing changed, or without git.
async fn change(toolbox: &Toolbox) -> Option<String> {
    let diff = git(toolbox, &["diff", "--no-ext-diff", "--no-textconv", "HEAD"]).await?;
    let new = git(toolbox, &["ls-files", "--others", "--exclude-standard"]).await?;
    let names: Vec<&str> = new.lines().collect();
    if diff.trim().is_empty() && names.is_empty() {
        return None;
    }
    let mut text = clip(diff.trim_end(), DIFF_MAX);
    if !names.is_empty() {
        let shown = names.iter().take(FILES_MAX).copied().collect::<Vec<_>>().join(", ");
        text.push_str(&format!("\n{}: {shown}", count(names.len(), "new file")));
    }
    Some(text.trim_start().to_owned())
}

fn of_tools(files: &[String]) -> Option<String> {
    (!files.is_empty()).then(|| format!("Files that you changed: {}", files.join(", ")))
}

/// Git's output, in the agent's own box; `None` if it fails.
async fn git(toolbox: &Toolbox, arguments: &[&str]) -> Option<String> {
    let program = toolbox.confined.program("git").args(["--no-optional-locks", "-c", "core.quotePath=false"]);
    let program =
        program.args(arguments).dir(toolbox.folder.path()).output_cap(2 * DIFF_MAX).deadline(toolbox.shell_time);
    let Finished { exit, stdout, .. } = program.run(&toolbox.cancel).await.ok()?;
    exit.is_success().then(|| stdout.text())
}
