//! A run's report to GitHub Actions: the step summary below a job, and annotations. Both say what was done, what held
//! issues back, and what they wait for.

use std::{
    collections::BTreeMap,
    fs::OpenOptions,
    io::Write,
    path::{Path, PathBuf},
    sync::PoisonError,
};

use anyhow::Context;
use hob_domain::{IssueNumber, RepoName, State};
use hob_text::{clip, count, inert, inert_line};
use hob_worker::{CheckedCommit, RunSummary, Waiting, WaitsOn, WorkEvent};

use crate::cli::{
    actions::{self, Annotation, Level},
    exit::Exit,
    output,
    progress::{self, Grouping, Log, Timed},
    setup::Setup,
    words::{because, held_back, lacked_labels},
};

/// Maximum bytes of a summary; GitHub accepts 1 MiB per step.
const SUMMARY_MAX: usize = 512 * 1024;
/// Maximum bytes of a text in it.
const TEXT_MAX: usize = 1_000;

/// The destination of a run's report.
pub(super) struct Report {
    path: Option<PathBuf>,
    /// The address of the forge's pages.
    site: String,
    in_actions: bool,
}

impl Report {
    /// The reports that this process has to write.
    pub(super) fn new(setup: &Setup) -> Self {
        let standard = &setup.standard;
        Self { path: standard.step_summary.clone(), site: standard.server_url.clone(), in_actions: standard.in_actions }
    }

    /// The grouping of progress lines with `jobs` issues at a time.
    pub(super) fn grouping(&self, jobs: usize) -> Grouping {
        Grouping::new(self.in_actions, jobs)
    }

    /// The number of events to keep: a daemon without a report keeps none.
    pub(super) fn keeps(&self) -> usize {
        if self.path.is_some() || self.in_actions { progress::SUMMARY } else { 0 }
    }

    /// Reports the events of a run that has ended.
    pub(super) fn write(&self, log: &Log, done: Option<&RunSummary>) -> anyhow::Result<()> {
        let events = log.lock().unwrap_or_else(PoisonError::into_inner);
        let told = Told::new(&self.site, &events);
        if self.in_actions {
            actions::annotate(&told.annotations());
        }
        match &self.path {
            // If nothing was even polled, the failure that follows tells everything.
            Some(path) if done.is_some() || !events.is_empty() => append(path, &told.summary(&events, done)),
            Some(_) | None => Ok(()),
        }
    }
}

/// Appends to the job's step summary why a command failed. What is only unfinished has been reported there by its command.
pub(super) fn append_failure(path: &Path, exit: Exit, sentence: &str) -> anyhow::Result<()> {
    let heading = if exit == Exit::Unfinished { "" } else { "## Hob failed\n\n" };
    append(path, &format!("\n{heading}{}\n", text(sentence)))
}

fn append(path: &Path, text: &str) -> anyhow::Result<()> {
    let file = OpenOptions::new().append(true).create(true).open(path);
    let mut file = file.with_context(|| format!("the step summary `{}` cannot be opened", path.display()))?;
    file.write_all(clip(&output::redacted(text), SUMMARY_MAX).as_bytes()).context("the step summary cannot be written")
}

/// The events of a run, by their subjects.
#[derive(Default)]
struct Told<'a> {
    site: &'a str,
    several: bool,
    titles: BTreeMap<(&'a RepoName, IssueNumber), &'a str>,
    polled: bool,
    /// The last event of each issue.
    ends: BTreeMap<(&'a RepoName, IssueNumber), &'a WorkEvent>,
    opened: usize,
    waiting: Vec<(&'a RepoName, &'a [Waiting])>,
    red_bases: Vec<(&'a RepoName, IssueNumber, usize, usize)>,
    failed_polls: Vec<(&'a RepoName, &'a str)>,
}

impl<'a> Told<'a> {
    fn new(site: &'a str, events: &'a [Timed]) -> Self {
        let several = events.windows(2).any(|two| two[0].repo != two[1].repo);
        let mut told = Self { site, several, ..Self::default() };
        // Whether all checks passed on an issue's work, the last time that they ran on it.
        let mut heads = BTreeMap::new();
        for Timed { repo, event, .. } in events {
            let end = match event {
                WorkEvent::Polled { waiting, titles, .. } => {
                    told.polled = true;
                    told.waiting.push((repo, waiting));
                    told.titles.extend(titles.iter().map(|(issue, title)| ((repo, *issue), title.as_str())));
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
                WorkEvent::Checked { issue, on: CheckedCommit::Head, passed, run } => {
                    heads.insert((repo, *issue), passed == run);
                    continue;
                }
                WorkEvent::CreatesLabels { .. }
                | WorkEvent::Checked { .. }
                | WorkEvent::Progress { .. }
                | WorkEvent::Activity { .. }
                | WorkEvent::AgentStarted { .. } => continue,
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
        told.red_bases.retain(|(repo, issue, ..)| heads.get(&(*repo, *issue)) != Some(&true));
        told
    }

    fn name(&self, repo: &RepoName, issue: IssueNumber) -> String {
        if self.several { format!("{repo}#{issue}") } else { format!("#{issue}") }
    }

    /// The names of issues; `of` makes one.
    fn names(issues: &[IssueNumber], of: impl Fn(IssueNumber) -> String) -> String {
        let names: Vec<_> = issues.iter().map(|issue| of(*issue)).collect();
        names.join(", ")
    }

    /// A name as a link: summaries make none of their own.
    fn link(&self, repo: &RepoName, issue: IssueNumber) -> String {
        format!("[{}]({}/{repo}/issues/{issue})", self.name(repo, issue), self.site)
    }

    fn title(&self, repo: &RepoName, issue: IssueNumber) -> String {
        self.titles.get(&(repo, issue)).map(|title| text(title)).unwrap_or_default()
    }

    /// An issue in a list.
    fn item(&self, repo: &RepoName, issue: IssueNumber) -> String {
        let title = self.title(repo, issue);
        if title.is_empty() { self.link(repo, issue) } else { format!("{} {title}", self.link(repo, issue)) }
    }

    /// The issues that wait for something of their own, among those without events.
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
                    all.push(annotation(Level::Warning, format!("Hob: {name} was refused"), reason));
                }
                WorkEvent::Moved { state: State::Blocked, why, .. } => {
                    let why = because(State::Blocked, why);
                    all.push(annotation(Level::Warning, format!("Hob: {name} is blocked"), &why));
                }
                WorkEvent::Moved { .. }
                | WorkEvent::Published { .. }
                | WorkEvent::Polled { .. }
                | WorkEvent::CreatesLabels { .. }
                | WorkEvent::Progress { .. }
                | WorkEvent::Activity { .. }
                | WorkEvent::AgentStarted { .. }
                | WorkEvent::Checked { .. } => {}
            }
        }
        for (repo, waiting) in &self.waiting {
            for (why, issues) in held_back(waiting) {
                let names = Self::names(&issues, |issue| self.name(repo, issue));
                let text = format!("{names}: {why}");
                all.push(annotation(Level::Warning, "Hob: issues are held back".to_owned(), &text));
            }
        }
        for (repo, issue, passed, run) in &self.red_bases {
            let text = format!("{}: {passed} of {run} checks pass before any change", self.name(repo, *issue));
            all.push(annotation(Level::Warning, "Hob: the checks fail on the base".to_owned(), &text));
        }
        all
    }

    fn summary(&self, events: &[Timed], done: Option<&RunSummary>) -> String {
        let headline = match done.and_then(|done| done.lacks.as_ref()) {
            Some(lacks) => format!("Hob stopped: {}", text(&lacks.to_string())),
            None => self.headline(),
        };
        let mut summary = format!("## Hob\n\n{headline}\n");
        if !self.ends.is_empty() {
            summary.push_str("\n| issue | title | result |\n|---|---|---|\n");
            for ((repo, issue), event) in &self.ends {
                let (link, title) = (self.link(repo, *issue), self.title(repo, *issue));
                summary.push_str(&format!("| {link} | {title} | {} |\n", what(event)));
            }
        }
        let held = self.waiting.iter().flat_map(|(repo, waiting)| {
            let of = |(why, issues): (&str, Vec<_>)| {
                format!("- {}: {}\n", Self::names(&issues, |issue| self.link(repo, issue)), text(why))
            };
            held_back(waiting).into_iter().map(of).collect::<Vec<_>>()
        });
        section(&mut summary, "Held back", held);
        let red = self.red_bases.iter().map(|(repo, issue, passed, run)| {
            format!("- {}: {passed} of {run} checks pass on the base, before any change\n", self.item(repo, *issue))
        });
        section(&mut summary, "The base is red", red);
        let waits = self.waits().map(|(repo, one)| {
            let asks = if one.on == WaitsOn::Person { "waiting for an answer: " } else { "" };
            format!("- {}: {asks}{}\n", self.item(repo, one.issue), text(&one.why))
        });
        section(&mut summary, "Waiting", waits);
        let failed = self.failed_polls.iter().map(|(repo, reason)| format!("- {repo}: {}\n", text(reason)));
        section(&mut summary, "Polls that failed", failed);
        summary.push_str(&every_event(self, events));
        summary.push_str(&done.map(counts).unwrap_or_default());
        summary
    }

    /// The work that was done, in one sentence.
    fn headline(&self) -> String {
        let of = |is: fn(&WorkEvent) -> bool| self.ends.values().filter(|event| is(event)).count();
        let blocked = of(|event| matches!(event, WorkEvent::Moved { state: State::Blocked, .. }));
        let requeued = of(|event| matches!(event, WorkEvent::Moved { state: State::Ready, .. }));
        let finished = of(|event| matches!(event, WorkEvent::Moved { state: State::Done, .. }));
        let refused = of(|event| matches!(event, WorkEvent::Refused { .. }));
        let failed = of(|event| matches!(event, WorkEvent::Failed { .. }));
        let parts = [
            (self.opened, format!("opened or updated {}", count(self.opened, "pull request"))),
            (finished, format!("finished {}", count(finished, "issue"))),
            (blocked, format!("blocked {}", count(blocked, "issue"))),
            (requeued, format!("requeued {}", count(requeued, "issue"))),
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
            (true, true) if idle => "Nothing to do: no open issue has the trigger label.".to_owned(),
            (true, true) => "Nothing was done: the issues below are waiting.".to_owned(),
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
            WorkEvent::Polled { .. } | WorkEvent::CreatesLabels { .. } | WorkEvent::Failed { issue: None, .. } => None,
            WorkEvent::Moved { issue, .. }
            | WorkEvent::Refused { issue, .. }
            | WorkEvent::Progress { issue, .. }
            | WorkEvent::Activity { issue, .. }
            | WorkEvent::AgentStarted { issue, .. }
            | WorkEvent::Checked { issue, .. }
            | WorkEvent::Published { issue, .. }
            | WorkEvent::Failed { issue: Some(issue), .. } => Some(*issue),
        };
        let about = match issue {
            Some(issue) => told.link(repo, issue),
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
        "\nAPI calls: {}, {} not modified (free), {}.\n",
        count(calls.reads, "read"),
        calls.unchanged,
        count(calls.writes, "write")
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
        WorkEvent::Published { pull, url, spend, .. } => {
            format!("**in-review**: [pull request #{pull}]({url}) ({spend})")
        }
        WorkEvent::Failed { reason, .. } => format!("**failed**: {}", text(reason)),
        WorkEvent::Checked { on, passed, run, .. } => format!("checks on the {on}: {passed} of {run} passed"),
        WorkEvent::Progress { text: what, .. } | WorkEvent::Activity { text: what, .. } => text(what),
        WorkEvent::AgentStarted { agent, .. } => text(&format!("starting agent `{agent}`")),
        WorkEvent::CreatesLabels { labels } => lacked_labels(labels),
        WorkEvent::Polled { issues, ready, .. } => format!("polled: {}, {ready} ready", count(*issues, "issue")),
    }
}

/// Untrusted text on one line, safe in a table.
fn text(text: &str) -> String {
    inert_line(&clip(text, TEXT_MAX)).replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use hob_domain::{PullNumber, Spend};

    use super::*;

    fn timed(seconds: f64, event: WorkEvent) -> Timed {
        Timed { seconds, repo: "acme/site".parse().unwrap(), event }
    }

    const SITE: &str = "https://example.org";

    fn waiting(issue: u64, on: WaitsOn, why: &str) -> Waiting {
        Waiting { issue: IssueNumber(issue), on, why: why.to_owned() }
    }

    #[test]
    fn a_red_base_is_told_unless_the_work_turned_it_green() {
        let issue = IssueNumber(1);
        let checked = |on, passed| timed(0.1, WorkEvent::Checked { issue, on, passed, run: 1 });
        let moved = |state| timed(0.2, WorkEvent::Moved { issue, state, why: "the base fails".to_owned() });
        let summary = |events: &[Timed]| Told::new(SITE, events).summary(events, None);
        let waits = summary(&[checked(CheckedCommit::Base, 0), moved(State::Ready)]);
        assert!(waits.contains("Hob requeued 1 issue.") && waits.contains("### The base is red"), "{waits}");
        let mended =
            [checked(CheckedCommit::Base, 0), checked(CheckedCommit::Head, 0), checked(CheckedCommit::Head, 1)];
        assert!(!summary(&mended).contains("### The base is red"));
        let finished = summary(&[moved(State::Done)]);
        assert!(finished.contains("Hob finished 1 issue."), "{finished}");
    }

    #[test]
    fn a_summary_says_what_was_done_what_held_it_back_and_what_waits() {
        let [one, two, three, four] = [1, 2, 3, 4].map(IssueNumber);
        let moved = |issue, state, why: &str| WorkEvent::Moved { issue, state, why: why.to_owned() };
        let waits = vec![
            waiting(5, WaitsOn::Repository, "ann paused the repository"),
            waiting(6, WaitsOn::Person, "UTC or local?"),
            waiting(7, WaitsOn::Issue, "its pull request #9 waits for a review"),
        ];
        let titles = [(one, "Make it | so".to_owned()), (IssueNumber(6), "Zone".to_owned())].into();
        let url = "https://example.org/acme/site/pull/9".to_owned();
        let spend = Spend { usd_micros: 120_000, input_tokens: 900, output_tokens: 100, wall_seconds: 61 };
        let events = [
            timed(0.1, moved(one, State::Assigned, "claimed by w, generation 1")),
            timed(0.2, WorkEvent::Checked { issue: one, on: CheckedCommit::Base, passed: 1, run: 2 }),
            timed(9.0, WorkEvent::Checked { issue: one, on: CheckedCommit::Head, passed: 1, run: 2 }),
            timed(9.5, WorkEvent::Published { issue: one, pull: PullNumber(9), url, spend }),
            timed(9.6, moved(one, State::InReview, "opened the pull request 9")),
            timed(
                9.7,
                moved(two, State::Blocked, "blocked: The agent needs an answer before it can continue. UTC | local?"),
            ),
            timed(9.8, WorkEvent::Refused { issue: three, reason: "`out` has read permission".to_owned() }),
            timed(9.9, WorkEvent::Failed { issue: Some(four), reason: "no route to <host>".to_owned() }),
            timed(10.0, WorkEvent::Polled { issues: 7, ready: 1, waiting: waits, titles }),
        ];
        let told = Told::new(SITE, &events);
        // The character that keeps a number from becoming a link is invisible.
        let summary = told.summary(&events, Some(&RunSummary::default())).replace('\u{200b}', "");
        insta::assert_snapshot!(summary, @r"
        ## Hob

        Hob opened or updated 1 pull request, blocked 1 issue, refused 1 issue, failed at 1 issue.

        | issue | title | result |
        |---|---|---|
        | [#1](https://example.org/acme/site/issues/1) | Make it \| so | **in-review**: [pull request #9](https://example.org/acme/site/pull/9) ($0.12, 1000 tokens, 1 min 1 s) |
        | [#2](https://example.org/acme/site/issues/2) |  | **blocked**: The agent needs an answer before it can continue. UTC \| local? |
        | [#3](https://example.org/acme/site/issues/3) |  | **refused**: `out` has read permission |
        | [#4](https://example.org/acme/site/issues/4) |  | **failed**: no route to &lt;host> |

        ### Held back

        - [#5](https://example.org/acme/site/issues/5): ann paused the repository

        ### The base is red

        - [#1](https://example.org/acme/site/issues/1) Make it \| so: 1 of 2 checks pass on the base, before any change

        ### Waiting

        - [#6](https://example.org/acme/site/issues/6) Zone: waiting for an answer: UTC or local?
        - [#7](https://example.org/acme/site/issues/7): its pull request #9 waits for a review

        <details><summary>Every event</summary>

        | time | issue | event |
        |---|---|---|
        | 0.1 s | [#1](https://example.org/acme/site/issues/1) | **assigned**: claimed by w, generation 1 |
        | 0.2 s | [#1](https://example.org/acme/site/issues/1) | checks on the base: 1 of 2 passed |
        | 9.0 s | [#1](https://example.org/acme/site/issues/1) | checks on the head: 1 of 2 passed |
        | 9.5 s | [#1](https://example.org/acme/site/issues/1) | **in-review**: [pull request #9](https://example.org/acme/site/pull/9) ($0.12, 1000 tokens, 1 min 1 s) |
        | 9.6 s | [#1](https://example.org/acme/site/issues/1) | **in-review**: opened the pull request 9 |
        | 9.7 s | [#2](https://example.org/acme/site/issues/2) | **blocked**: The agent needs an answer before it can continue. UTC \| local? |
        | 9.8 s | [#3](https://example.org/acme/site/issues/3) | **refused**: `out` has read permission |
        | 9.9 s | [#4](https://example.org/acme/site/issues/4) | **failed**: no route to &lt;host> |
        | 10.0 s |  | polled: 7 issues, 1 ready |

        </details>

        API calls: 0 reads, 0 not modified (free), 0 writes.
        ");
        let annotations: Vec<_> =
            told.annotations().into_iter().map(|one| format!("{:?} {}: {}", one.level, one.title, one.text)).collect();
        insta::assert_snapshot!(annotations.join("\n"), @r"
        Warning Hob: #2 is blocked: The agent needs an answer before it can continue. UTC | local?
        Warning Hob: #3 was refused: `out` has read permission
        Error Hob: #4 failed: no route to <host>
        Warning Hob: issues are held back: #5: ann paused the repository
        Warning Hob: the checks fail on the base: #1: 1 of 2 checks pass before any change
        ");
    }

    #[test]
    fn a_summary_of_nothing_says_so() {
        let idle =
            [timed(0.1, WorkEvent::Polled { issues: 0, ready: 0, waiting: Vec::new(), titles: BTreeMap::new() })];
        let said = Told::new(SITE, &idle).summary(&[], None);
        assert_eq!(said, "## Hob\n\nNothing to do: no open issue has the trigger label.\n");
    }
}
