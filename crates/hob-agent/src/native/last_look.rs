//! The gate before `done`: what ran and passed, and what was shown, in the state that the folder is in at the end.
//!
//! - Flow: after each command that runs a check, or shows the diff, its result is noted with the state of the folder. A
//!   `done` counts if in the present state all checks passed, the whole diff was shown, and the task was read once more:
//!   it follows the answer with which the other two are complete. The first `done` without that is answered with what is
//!   missing; the next one ends the run, and its summary says what is not verified.
//! - Guarantees: only results count. A check passed if the exit code is its own: [`Steps::vouch_for`] says when. The diff
//!   was shown if the output has it. Each change of a file undoes both, however it was made.
//! - Without checks, a command that ran something has to pass, and none may have failed since. A change of texts for
//!   people only needs none.
//! - Caveats: files that git ignores may change unseen. It guides a model: Hob runs the checks itself afterwards.

use hob_config::AgentSettings;
use hob_domain::{Impact, RunPurpose, RunRequest};
use tokio::sync::OnceCell;

use crate::{
    native::{
        change::{Change, Tree, commit},
        command_line::{CommandLine, Steps, Vouch, impact},
        quick_check::quick,
        seen::{Run, Seen, Shown},
        standing::Standing,
        tools::{CommandResult, Toolbox},
    },
    report::{clip, first_line},
};

/// Bytes of the text.
const TASK_MAX: usize = 8 * 1024;
/// Own commands whose last result is kept.
const RUNS_MAX: usize = 50;
/// Bytes of a command that is named.
const NAME_MAX: usize = 120;
/// Programs that show nothing about a change by running, though they may change files.
const TAME: [&str; 30] = [
    "cd",
    "pushd",
    "popd",
    "export",
    "set",
    "source",
    ".",
    "true",
    ":",
    "echo",
    "printf",
    "cat",
    "tee",
    "sed",
    "cp",
    "mv",
    "rm",
    "mkdir",
    "touch",
    "ln",
    "chmod",
    "chown",
    "git",
    "patch",
    "apply_patch",
    "pip",
    "pip3",
    "curl",
    "kill",
    "sleep",
];

/// The demands on a run.
#[derive(Debug)]
pub(super) struct LastLook {
    is_wanted: bool,
    /// Whether the agent can run commands.
    can_run: bool,
    task: String,
    checks: Vec<String>,
    /// The check that runs by itself after edits.
    pub(super) quick: Option<String>,
    /// The commit that the run began at.
    base: OnceCell<Option<String>>,
}

/// A command that ended.
pub(super) struct Ended<'a> {
    pub(super) command: &'a str,
    pub(super) result: &'a CommandResult,
    pub(super) output: &'a str,
    /// Whether the shell was at the top of the folder.
    pub(super) is_at_top: bool,
    /// The state before it, of [`LastLook::before`].
    pub(super) before: Option<Tree>,
    /// Whether the model ran it.
    pub(super) is_models: bool,
}

/// The answer to `done`.
pub(super) enum Gate {
    /// The run ends; with what is not verified.
    Ends(Option<String>),
    /// One look first: the text for the model.
    Look(String),
}

impl LastLook {
    /// The last look of a run; one that changes nothing has none.
    pub(super) fn new(request: &RunRequest, settings: &AgentSettings, can_run: bool) -> Self {
        Self {
            is_wanted: settings.last_look && request.purpose == RunPurpose::Work,
            can_run,
            task: format!("{}\n{}", request.title, clip(request.body.trim(), TASK_MAX)).trim().to_owned(),
            checks: request.checks.clone(),
            quick: quick(request, settings.quick_check).filter(|_| can_run),
            base: OnceCell::new(),
        }
    }

    /// Notes the commit, before the first action that may change something: commits of the agent are part of its change.
    pub(super) async fn begins(&self, toolbox: &Toolbox) {
        if self.is_wanted {
            self.base.get_or_init(|| commit(toolbox)).await;
        }
    }

    /// The state before a command that only looks and tests: what these leave behind, such as caches, does not undo earlier
    /// results. `None` for other commands.
    pub(super) async fn before(&self, seen: &Seen, command: &str, toolbox: &Toolbox) -> Option<Tree> {
        let steps = Steps::parse(command).filter(|_| self.is_wanted)?;
        let checks: Vec<String> = self
            .checks
            .iter()
            .filter_map(|check| Steps::parse(check))
            .flat_map(|check| check.texts().collect::<Vec<_>>())
            .collect();
        let is_test = |step: &String| if self.checks.is_empty() { runs(step) } else { checks.contains(step) };
        let (mut has_test, mut is_pure) = (false, true);
        for step in steps.texts() {
            has_test |= is_test(&step);
            is_pure &= is_test(&step) || impact(&CommandLine::parse(&step)) == Impact::Low;
        }
        let is_needed = has_test && is_pure && (self.checks.is_empty() || !seen.runs.is_empty() || seen.diff.is_some());
        if is_needed { Some(self.change(toolbox).await.tree) } else { None }
    }

    /// Notes the result of a command. The text follows its answer: the task, once nothing else is missing.
    pub(super) async fn after(&self, standing: &mut Standing, ended: &Ended<'_>, toolbox: &Toolbox) -> Option<String> {
        let results = self.results(ended, toolbox);
        let has_failed = ended.is_models && results.iter().any(|(_, result)| *result == Shown::Failed);
        // Before the first change a test may have to fail.
        standing.seen.has_failed |= has_failed && !standing.files.is_empty();
        if !self.is_wanted {
            return None;
        }
        if results.is_empty() && !ended.output.contains("diff --git ") {
            return None;
        }
        let change = self.change(toolbox).await;
        let (seen, tree) = (&mut standing.seen, change.tree);
        seen.has_failed |= has_failed && !change.is_empty();
        if let Some(before) = ended.before.filter(|before| before.known == tree.known) {
            seen.runs
                .values_mut()
                .map(|run| &mut run.tree)
                .chain(&mut seen.diff)
                .filter(|of| **of == before)
                .for_each(|of| *of = tree);
        }
        // A command of the model's own that changed files did not test them.
        let changed = self.checks.is_empty() && ended.before.is_none_or(|before| before.known != tree.known);
        for (name, result) in results.into_iter().filter(|(_, result)| !(changed && *result == Shown::Passed)) {
            seen.runs.insert(name, Run { result, tree });
        }
        while seen.runs.len() > RUNS_MAX {
            seen.runs.pop_first();
        }
        if change.is_in(ended.output, &standing.files) {
            seen.diff = Some(tree);
        }
        let is_complete = !change.is_empty() && self.missing(seen, &change).is_empty() && seen.diff == Some(tree);
        if !is_complete || self.task.is_empty() || std::mem::replace(&mut seen.is_task_reread, true) {
            return None;
        }
        Some(format!(
            "[Hob] All of it was seen and passed. Before `done`, hold it against the task once more, with the cases that it names:\n\n{}",
            self.task
        ))
    }

    /// The answer to `done`.
    pub(super) async fn before_the_end(&self, standing: &mut Standing, toolbox: &Toolbox) -> Gate {
        if !self.is_wanted {
            return Gate::Ends(None);
        }
        let change = self.change(toolbox).await;
        let shown = if change.is_empty() { of_tools(&standing.files) } else { Some(change.shown()) };
        let Some(shown) = shown else { return Gate::Ends(None) };
        let (missing, seen) = (self.missing(&standing.seen, &change), &mut standing.seen);
        let is_diff_seen = seen.diff == Some(change.tree);
        let is_reread = seen.is_task_reread || self.task.is_empty();
        if missing.is_empty() && is_diff_seen && is_reread {
            return Gate::Ends(None);
        }
        if standing.looked {
            return Gate::Ends((!missing.is_empty()).then(|| missing.join("; ")));
        }
        (standing.looked, seen.is_task_reread, seen.diff) = (true, true, Some(change.tree));
        let mut text = "[Hob] Not ended yet: one look first. Hold the whole change against the task. If it does what the task wants, and nothing \
                        else, call `done` again; else mend it before."
            .to_owned();
        if !is_reread {
            text.push_str(&format!("\n\n--- The task, as a person wrote it\n{}", self.task));
        }
        if !is_diff_seen {
            text.push_str(&format!("\n\n--- The change\n{shown}"));
        }
        if !missing.is_empty() {
            text.push_str(&format!(
                "\n\n--- Not verified. Run it now, each by itself, or the summary will say so\n{}",
                missing.join("\n")
            ));
        }
        Gate::Look(text)
    }

    /// Whether files of the commit changed since `check` ran last, or since the start of the run, beside texts for people.
    pub(super) async fn is_unchecked(&self, check: &str, seen: &Seen, toolbox: &Toolbox) -> bool {
        if !self.is_wanted {
            return false;
        }
        let change = self.change(toolbox).await;
        let ran = seen.runs.get(check).map(|run| run.tree.known);
        change.has_known() && !change.is_prose() && ran != Some(change.tree.known)
    }

    async fn change(&self, toolbox: &Toolbox) -> Change {
        let base = self.base.get_or_init(|| commit(toolbox)).await;
        Change::since(base.as_deref(), toolbox).await
    }

    /// What the end of a command says, by what it ran.
    fn results(&self, ended: &Ended<'_>, toolbox: &Toolbox) -> Vec<(String, Shown)> {
        let steps = Steps::parse(ended.command);
        let has_passed = *ended.result == CommandResult::Succeeded;
        if self.checks.is_empty() {
            let Some(steps) = steps else { return Vec::new() };
            let is_run = steps.texts().any(|step| runs(&step));
            let passes = || steps.passed().any(|step| runs(&step));
            let result = match (is_run, has_passed) {
                (false, _) => None,
                (true, false) => Some(Shown::Failed),
                (true, true) => Some(if passes() { Shown::Passed } else { Shown::Hidden }),
            };
            return result.map(|result| (first_line(ended.command, NAME_MAX), result)).into_iter().collect();
        }
        let result = |check: &String| {
            let vouch = match (&steps, Steps::parse(check)) {
                // A text whose parts are not followed counts as a whole.
                _ if ended.command.trim() == check.trim() => Vouch::Known,
                (Some(steps), Some(part)) => steps.vouch_for(&part, toolbox.folder.path()),
                (_, _) => Vouch::Absent,
            };
            match (vouch, has_passed, ended.is_at_top) {
                (Vouch::Absent, _, _) => None,
                (_, false, _) => Some(Shown::Failed),
                (Vouch::Known, true, true) => Some(Shown::Passed),
                (Vouch::Hidden | Vouch::Known, true, _) => Some(Shown::Hidden),
            }
        };
        self.checks.iter().filter_map(|check| Some((check.clone(), result(check)?))).collect()
    }

    /// What is not verified of `change`, each in words.
    fn missing(&self, seen: &Seen, change: &Change) -> Vec<String> {
        if !self.can_run {
            return Vec::new();
        }
        let now = |run: &&Run| run.tree == change.tree;
        if self.checks.is_empty() {
            let failed = seen.runs.iter().filter(|(_, run)| now(run) && run.result == Shown::Failed);
            let failed: Vec<String> =
                failed.map(|(command, _)| format!("`{command}` failed after the last change")).collect();
            let has_passed = seen.runs.values().filter(now).any(|run| run.result == Shown::Passed);
            if failed.is_empty() && !has_passed && !change.is_prose() {
                return vec![
                    "no test, and nothing that shows the new behaviour, is known to have passed after the last change"
                        .to_owned(),
                ];
            }
            return failed;
        }
        let why = |check: &String| match seen.runs.get(check).filter(now).map(|run| &run.result) {
            Some(Shown::Passed) => None,
            Some(Shown::Failed) => Some(format!("`{check}` failed after the last change")),
            Some(Shown::Hidden) => Some(format!(
                "`{check}` is not known to have passed: the exit code was not its own, at the top of the folder"
            )),
            None => Some(format!("`{check}` did not run after the last change")),
        };
        self.checks.iter().filter_map(why).collect()
    }
}

/// Whether a step runs something of the project's, so that its end says something.
fn runs(step: &str) -> bool {
    let mut words = step.split_whitespace();
    let program = words.next().unwrap_or_default();
    let runs_script = ["sh", "bash", "dash", "zsh"].contains(&program) && words.next().is_some_and(|word| word != "-c");
    runs_script || !TAME.contains(&program) && impact(&CommandLine::parse(step)) > Impact::Low
}

fn of_tools(files: &[String]) -> Option<String> {
    (!files.is_empty()).then(|| format!("Files that you changed: {}", files.join(", ")))
}
