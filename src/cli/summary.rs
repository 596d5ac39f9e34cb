//! What a run reports to GitHub Actions: the step summary under a job, and annotations. Both say what was done, what held
//! issues back, and what they wait for.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::OpenOptions,
    io::Write,
    path::{Path, PathBuf},
    sync::PoisonError,
};

use anyhow::Context;
use hob_domain::{IssueNumber, RepoName, State, clip, inert, inert_line};
use hob_worker::{CheckedCommit, RunSummary, Waiting, WaitsOn, WorkEvent};

use crate::cli::{
    actions::{self, Annotation, Level},
    output,
    progress::{self, Grouping, Log, Timed, because, count, held_back},
    setup::Setup,
};

/// Maximum bytes of a summary; GitHub accepts 1 MiB per step.
const SUMMARY_MAX: usize = 512 * 1024;
/// Maximum bytes of a text in it.
const TEXT_MAX: usize = 1_000;

/// Where a run reports to.
pub(super) struct Report {
    path: Option<PathBuf>,
    in_actions: bool,
    trigger: String,
}

impl Report {
    /// The reports that this process is asked for.
    pub(super) fn of(setup: &Setup) -> Self {
        let (standard, labels) = (&setup.standard, &setup.settings.labels);
        let (path, in_actions) = (standard.step_summary.clone(), standard.in_actions);
        Self { path, in_actions, trigger: labels.trigger.clone() }
    }

    /// How lines of progress are grouped, where so many issues are worked on at a time.
    pub(super) fn grouping(&self, jobs: usize) -> Grouping {
        Grouping::of(self.in_actions, jobs)
    }

    /// How many events are kept: a daemon without a report keeps none.
    pub(super) fn keeps(&self) -> usize {
        if self.path.is_some() || self.in_actions { progress::SUMMARY } else { 0 }
    }

    /// Reports the events of a run that has ended.
    pub(super) fn write(&self, log: &Log, done: Option<&RunSummary>) -> anyhow::Result<()> {
        let events = log.lock().unwrap_or_else(PoisonError::into_inner);
        let told = Told::of(&events);
        if self.in_actions {
            actions::annotate(&told.annotations());
        }
        match &self.path {
            // Where nothing was even polled, the failure that follows is all there is to tell.
            Some(path) if done.is_some() || !events.is_empty() => {
                append(path, &told.summary(&events, &self.trigger, done))
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// Appends to the job's step summary why a command failed.
pub(super) fn append_failure(path: &Path, sentence: &str) -> anyhow::Result<()> {
    append(path, &format!("## Hob failed\n\n{}\n", text(sentence)))
}

fn append(path: &Path, text: &str) -> anyhow::Result<()> {
    let file = OpenOptions::new().append(true).create(true).open(path);
    let mut file = file.with_context(|| format!("the step summary `{}` cannot be opened", path.display()))?;
    file.write_all(clip(text, SUMMARY_MAX).as_bytes()).context("the step summary cannot be written")
}

/// The events of a run, by what they are about.
#[derive(Default)]
struct Told<'a> {
    several: bool,
    polled: bool,
    /// The last thing that happened to each issue.
    ends: BTreeMap<(&'a RepoName, IssueNumber), &'a WorkEvent>,
    opened: usize,
    waiting: Vec<(&'a RepoName, &'a [Waiting])>,
    red_bases: Vec<(&'a RepoName, IssueNumber, usize, usize)>,
    failed_polls: Vec<(&'a RepoName, &'a str)>,
}

impl<'a> Told<'a> {
    fn of(events: &'a [Timed]) -> Self {
        let mut told = Self { several: events.windows(2).any(|two| two[0].repo != two[1].repo), ..Self::default() };
        let mut red_heads = BTreeSet::new();
        for Timed { repo, event, .. } in events {
            let end = match event {
                WorkEvent::Polled { waiting, .. } => {
                    told.polled = true;
                    told.waiting.push((repo, waiting));
                    continue;
                }
                WorkEvent::Failed { issue: None, reason } => {
                    told.failed_polls.push((repo, reason));
                    continue;
                }
                WorkEvent::Checked { issue, on: CheckedCommit::Base, passed, run } if passed < run => {
                    told.red_bases.push((repo, *issue, *passed, *run));
                    continue;
                }
                WorkEvent::Checked { issue, on: CheckedCommit::Head, passed, run } if passed < run => {
                    red_heads.insert((repo, *issue));
                    continue;
                }
                WorkEvent::Checked { .. } | WorkEvent::Progress { .. } | WorkEvent::Activity { .. } => continue,
                WorkEvent::Published { issue, .. } => {
                    told.opened += 1;
                    *issue
                }
                // The line that names the pull request says more.
                WorkEvent::Moved { issue, state: State::InReview, .. }
                    if matches!(told.ends.get(&(repo, *issue)), Some(WorkEvent::Published { .. })) =>
                {
                    continue;
                }
                WorkEvent::Moved { issue, .. }
                | WorkEvent::Refused { issue, .. }
                | WorkEvent::Failed { issue: Some(issue), .. } => *issue,
            };
            told.ends.insert((repo, end), event);
        }
        // Red on the base and green on the work is what a fix is.
        told.red_bases.retain(|(repo, issue, ..)| red_heads.contains(&(*repo, *issue)));
        told
    }

    fn name(&self, repo: &RepoName, issue: IssueNumber) -> String {
        if self.several { format!("{repo}#{issue}") } else { format!("#{issue}") }
    }

    fn names(&self, repo: &RepoName, issues: &[IssueNumber]) -> String {
        let names: Vec<_> = issues.iter().map(|issue| self.name(repo, *issue)).collect();
        names.join(", ")
    }

    /// The issues that wait for something of their own, of those that nothing happened to.
    fn waits(&self) -> impl Iterator<Item = (&'a RepoName, &'a Waiting)> {
        let of = |(repo, waiting): &(&'a RepoName, &'a [Waiting])| {
            let repo = *repo;
            waiting.iter().map(move |one| (repo, one))
        };
        let all: Vec<_> = self.waiting.iter().flat_map(of).collect();
        all.into_iter()
            .filter(|(repo, one)| one.on != WaitsOn::Repository && !self.ends.contains_key(&(*repo, one.issue)))
    }

    fn annotations(&self) -> Vec<Annotation> {
        let annotation = |level, title: String, text: &str| Annotation { level, title, text: text.to_owned() };
        let mut all = Vec::new();
        for (repo, reason) in &self.failed_polls {
            all.push(annotation(Level::Error, format!("Hob: {repo}"), reason));
        }
        for ((repo, issue), event) in &self.ends {
            let name = self.name(repo, *issue);
            match event {
                WorkEvent::Failed { reason, .. } => {
                    all.push(annotation(Level::Error, format!("Hob: {name} failed"), reason));
                }
                WorkEvent::Refused { reason, .. } => {
                    all.push(annotation(Level::Warning, format!("Hob: {name} is refused"), reason));
                }
                WorkEvent::Moved { state: State::Blocked, why, .. } => {
                    let why = because(State::Blocked, why);
                    all.push(annotation(Level::Warning, format!("Hob: {name} is blocked"), &why));
                }
                WorkEvent::Moved { .. }
                | WorkEvent::Published { .. }
                | WorkEvent::Polled { .. }
                | WorkEvent::Progress { .. }
                | WorkEvent::Activity { .. }
                | WorkEvent::Checked { .. } => {}
            }
        }
        for (repo, waiting) in &self.waiting {
            for (why, issues) in held_back(waiting) {
                let text = format!("{}: {why}", self.names(repo, &issues));
                all.push(annotation(Level::Warning, "Hob: issues are held back".to_owned(), &text));
            }
        }
        for (repo, issue, passed, run) in &self.red_bases {
            let text = format!("{}: {passed} of {run} checks pass before any change", self.name(repo, *issue));
            all.push(annotation(Level::Warning, "Hob: the checks fail on the base".to_owned(), &text));
        }
        all
    }

    fn summary(&self, events: &[Timed], trigger: &str, done: Option<&RunSummary>) -> String {
        let headline = match done.and_then(|done| done.lacks.as_ref()) {
            Some(lacks) => format!("Hob stopped: {}", text(&lacks.to_string())),
            None => self.headline(trigger),
        };
        let mut summary = format!("## Hob\n\n{headline}\n");
        if !self.ends.is_empty() {
            summary.push_str("\n| issue | result |\n|---|---|\n");
            for ((repo, issue), event) in &self.ends {
                summary.push_str(&format!("| {} | {} |\n", self.name(repo, *issue), what(event)));
            }
        }
        let held = self.waiting.iter().flat_map(|(repo, waiting)| {
            let of = |(why, issues): (&str, Vec<_>)| format!("- {}: {}\n", self.names(repo, &issues), text(why));
            held_back(waiting).into_iter().map(of).collect::<Vec<_>>()
        });
        section(&mut summary, "Held back", held);
        let red = self.red_bases.iter().map(|(repo, issue, passed, run)| {
            format!("- {}: {passed} of {run} checks pass on the base, before any change\n", self.name(repo, *issue))
        });
        section(&mut summary, "The base is red", red);
        let waits = self.waits().map(|(repo, one)| {
            let on = if one.on == WaitsOn::Person { ", a person's answer" } else { "" };
            format!("- {}{on}: {}\n", self.name(repo, one.issue), text(&one.why))
        });
        section(&mut summary, "Waiting", waits);
        let failed = self.failed_polls.iter().map(|(repo, reason)| format!("- {repo}: {}\n", text(reason)));
        section(&mut summary, "Polls that failed", failed);
        summary.push_str(&every_event(self, events));
        summary.push_str(&done.map(counts).unwrap_or_default());
        summary
    }

    /// What was done, in one sentence.
    fn headline(&self, trigger: &str) -> String {
        let of = |is: fn(&WorkEvent) -> bool| self.ends.values().filter(|event| is(event)).count();
        let blocked = of(|event| matches!(event, WorkEvent::Moved { state: State::Blocked, .. }));
        let refused = of(|event| matches!(event, WorkEvent::Refused { .. }));
        let failed = of(|event| matches!(event, WorkEvent::Failed { .. }));
        let parts = [
            (self.opened, format!("opened or updated {}", count(self.opened, "pull request"))),
            (blocked, format!("blocked {}", count(blocked, "issue"))),
            (refused, format!("refused {}", count(refused, "issue"))),
            (failed, format!("failed at {}", count(failed, "issue"))),
        ];
        let parts: Vec<_> = parts.into_iter().filter(|(number, _)| *number > 0).map(|(_, part)| part).collect();
        if !parts.is_empty() {
            return format!("Hob {}.", parts.join(", "));
        }
        let idle = self.waiting.iter().all(|(_, waiting)| waiting.is_empty());
        match (self.polled, self.ends.is_empty()) {
            (_, false) => "Hob brought issues up to date.".to_owned(),
            (true, true) if idle => format!("Nothing to do: no open issue has the label `{}`.", text(trigger)),
            (true, true) => "Nothing was done: the issues below wait.".to_owned(),
            (false, true) => "Nothing was done: no repository was polled.".to_owned(),
        }
    }
}

fn section(summary: &mut String, heading: &str, lines: impl Iterator<Item = String>) {
    let lines: String = lines.collect();
    if !lines.is_empty() {
        summary.push_str(&format!("\n### {heading}\n\n{lines}"));
    }
}

/// Each event with its time, folded.
fn every_event(told: &Told<'_>, events: &[Timed]) -> String {
    let row = |Timed { seconds, repo, event }: &Timed| {
        let issue = match event {
            WorkEvent::Polled { .. } | WorkEvent::Failed { issue: None, .. } => None,
            WorkEvent::Moved { issue, .. }
            | WorkEvent::Refused { issue, .. }
            | WorkEvent::Progress { issue, .. }
            | WorkEvent::Activity { issue, .. }
            | WorkEvent::Checked { issue, .. }
            | WorkEvent::Published { issue, .. }
            | WorkEvent::Failed { issue: Some(issue), .. } => Some(*issue),
        };
        let about = match issue {
            Some(issue) => told.name(repo, issue),
            None if told.several => repo.to_string(),
            None => String::new(),
        };
        format!("| {seconds:.1} s | {about} | {} |\n", what(event))
    };
    let rows: String = events.iter().map(row).collect();
    if rows.is_empty() {
        return rows;
    }
    format!(
        "\n<details><summary>Every event</summary>\n\n| time | issue | event |\n|---|---|---|\n{rows}\n</details>\n"
    )
}

/// Calls and rate limits.
fn counts(done: &RunSummary) -> String {
    let calls = done.calls;
    let mut text = format!(
        "\nAPI calls: {} reads, {} not modified (free), {} writes.\n",
        calls.reads, calls.unchanged, calls.writes
    );
    for rate in &done.rates {
        text.push_str(&format!("\n{}\n", inert(&output::rate(rate))));
    }
    text
}

/// An event as a cell.
fn what(event: &WorkEvent) -> String {
    match event {
        WorkEvent::Moved { state, why, .. } => format!("**{state}**: {}", text(&because(*state, why))),
        WorkEvent::Refused { reason, .. } => format!("**refused**: {}", text(reason)),
        WorkEvent::Published { pull, spend, .. } => format!("**in-review**: pull request #{pull} ({spend})"),
        WorkEvent::Failed { reason, .. } => format!("**failed**: {}", text(reason)),
        WorkEvent::Checked { on, passed, run, .. } => format!("checks on the {on}: {passed} of {run} pass"),
        WorkEvent::Progress { text: what, .. } | WorkEvent::Activity { text: what, .. } => text(what),
        WorkEvent::Polled { issues, ready, .. } => format!("polled: {}, {ready} ready", count(*issues, "issue")),
    }
}

/// Untrusted text on one line, which may stand in a table.
fn text(text: &str) -> String {
    inert_line(&clip(text, TEXT_MAX)).replace('|', "\\|")
}
