//! All metrics of the process, and their registry.

use std::sync::{Arc, LazyLock};

use hob_domain::RepoName;
use prometheus_client::{metrics::info::Info, registry::Registry};

use crate::{
    WorkEvent,
    metrics::{
        events::Events, forge::ForgeMetrics, named::Named, polls::Polls, process::Process, profiles::Profiles,
        room::Room, runs::Runs, steps::Steps,
    },
};

/// The metrics of this process.
pub(crate) static METRICS: LazyLock<Metrics> = LazyLock::new(Metrics::new);

/// Metrics by where they come from.
pub(crate) struct Metrics {
    pub(super) registry: Registry,
    pub(super) process: Registry,
    pub(super) room: Arc<Room>,
    /// Of polls and of what they find.
    pub(crate) polls: Arc<Polls>,
    /// Of steps of ledgers.
    pub(crate) steps: Steps,
    /// Of runs of agents, and of jobs.
    pub(crate) runs: Runs,
    /// Of the forge's answers.
    pub(crate) forge: Arc<ForgeMetrics>,
    /// Of profiles and routing.
    pub(crate) profiles: Profiles,
    /// Of other events.
    pub(crate) events: Events,
}

impl Metrics {
    /// The order of names is that of the text, but for collectors, which come last.
    pub(super) fn new() -> Self {
        let room = Arc::new(Room::default());
        let (polls, forge) = (Arc::new(Polls::new(&room)), Arc::new(ForgeMetrics::default()));
        let (steps, runs) = (Steps::new(&room), Runs::new(&room));
        let (profiles, events) = (Profiles::new(&room), Events::default());
        let (mut registry, mut process) = (Registry::with_prefix("hob"), Registry::default());
        process.register_collector(Box::new(Process));
        registry.register("build", "The version of Hob", Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]));
        let mut named = Named(&mut registry);
        steps.register(&mut named);
        runs.register(&mut named);
        profiles.register(&mut named);
        events.register(&mut named);
        registry.register_collector(Box::new(Arc::clone(&polls)));
        registry.register_collector(Box::new(Arc::clone(&forge)));
        Self { registry, process, room, polls, steps, runs, forge, profiles, events }
    }

    /// Something happened.
    pub(crate) fn record_event(&self, event: &WorkEvent) {
        match event {
            WorkEvent::Moved { state, .. } => self.events.moved(*state),
            WorkEvent::Refused { .. } => self.events.refused(),
            WorkEvent::Failed { .. } => self.events.failed(),
            WorkEvent::Checked { on, passed, run, .. } => self.runs.checked(*on, *passed, *run),
            WorkEvent::Polled { .. }
            | WorkEvent::CreatesLabels { .. }
            | WorkEvent::Progress { .. }
            | WorkEvent::Activity { .. }
            | WorkEvent::AgentStarted { .. }
            | WorkEvent::Published { .. } => {}
        }
    }

    /// The repository is worked on from now on.
    pub(crate) fn begin(&self, repo: &RepoName) {
        self.polls.begin(repo);
        self.steps.begin(repo);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hob_domain::{AttemptFate, ChosenBy, IssueNumber, RouteChoice, Snapshot, Spend, State, StepFigures, WorkedBy};

    use super::*;
    use crate::{
        CheckedCommit,
        metrics::{Degraded, LoadFault, MetricsFormat, text::text_of},
    };

    /// Everything happens, each time with names that nobody has seen.
    fn fill(metrics: &Metrics, repo: &RepoName, n: usize) {
        let (agent, model) = (format!("agent-{n}\"}}\n{}", "x".repeat(200)), format!("model-{n}\\"));
        let by = Some(WorkedBy { agent: agent.clone(), model: Some(model) });
        let spend = Spend { usd_micros: 1, input_tokens: 1, output_tokens: 1, wall_seconds: 1 };
        let (a_while, fates) = (Some(Duration::from_secs(100)), AttemptFate::ALL);
        metrics.steps.note(
            repo,
            &StepFigures {
                claim_wait: a_while,
                pull_wait: a_while,
                merge_time: a_while,
                attempt: Some(fates[n % fates.len()]),
                review_rounds: 1,
                ci_rounds: 1,
                base_rounds: 1,
                is_merged: true,
                is_rejected: true,
                lost_lease: true,
                spend,
                by,
            },
        );
        for is_failed in [false, true] {
            metrics.runs.ended(&agent, is_failed, Duration::from_secs(1));
        }
        for fault in [LoadFault::Damaged, LoadFault::Missing, LoadFault::Deliverable, LoadFault::Agent] {
            metrics.profiles.load_failed(Some(&agent), fault);
        }
        metrics.profiles.load_failed(None, LoadFault::Place);
        metrics.profiles.loaded(&agent, Duration::from_secs(1));
        metrics.profiles.handed_over(&agent, "b", Duration::from_secs(1));
        let choice = |by, name: &str| RouteChoice { profile: name.parse().ok(), ..RouteChoice::of_agent(by) };
        for by in [ChosenBy::Command, ChosenBy::Label, ChosenBy::Repository, ChosenBy::Router, ChosenBy::Base] {
            metrics.profiles.decided(&choice(by, &format!("p{n}")), Some(&choice(by, &format!("q{n}"))));
        }
        for why in [
            Degraded::Place,
            Degraded::Profile,
            Degraded::RoutingOff,
            Degraded::RoutingModel,
            Degraded::Model,
            Degraded::HandOff,
            Degraded::Review,
        ] {
            metrics.profiles.degraded(why);
        }
        metrics.profiles.read(0);
        metrics.profiles.read(1);
        for on in [CheckedCommit::Base, CheckedCommit::Head, CheckedCommit::Needed, CheckedCommit::Kept] {
            metrics.runs.flaky(on, 1);
            metrics.record_event(&WorkEvent::Checked { issue: IssueNumber(1), on, passed: 1, run: 2 });
        }
        for state in State::ALL {
            metrics.record_event(&WorkEvent::Moved { issue: IssueNumber(1), state, why: agent.clone() });
        }
        metrics.runs.jobs(1, 2);
    }

    fn series(metrics: &Metrics) -> Vec<String> {
        let text = text_of(metrics, MetricsFormat::Prometheus);
        text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
    }

    /// Requirement M9: a collector is not filled by the names that a repository chooses.
    #[test]
    fn one_repository_has_at_most_200_series_whatever_its_agents_are_called() {
        let (metrics, repo) = (Metrics::new(), "o/n".parse().unwrap());
        let settings = hob_config::Settings::load(None, std::collections::HashMap::new(), &[]).unwrap();
        metrics.begin(&repo);
        metrics.polls.found(&repo, &Snapshot::default(), &settings, hob_domain::Timestamp::UNIX_EPOCH);
        for n in 0..300 {
            fill(&metrics, &repo, n);
        }
        let series = series(&metrics);
        // Those of the forge's answers are not counted here: a kind, a code; a resource.
        let of_forge = 3 * 7 + 4;
        let names: Vec<_> = series.iter().map(|line| line.split(['{', ' ']).next().unwrap()).collect();
        assert!(series.len() + of_forge <= 200, "{} {names:?}", series.len() + of_forge);
        assert!(series.iter().any(|line| line.starts_with("hob_cost_usd_total") && line.contains("agent=\"agent-0")));
        assert!(series.iter().any(|line| line.starts_with("hob_cost_usd_total") && line.contains("agent=\"other\"")));
        assert!(series.iter().all(|line| line.len() < 250), "{series:?}");
        let spent = series.iter().filter(|line| line.starts_with("hob_cost_usd_total"));
        let spent: f64 = spent.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum();
        assert!((spent - 300e-6).abs() < 1e-9, "what others cost is not lost: {spent}");
    }

    /// The names of Hob's metrics in a text, each with the labels that it is selected by.
    fn selected(text: &str) -> Vec<(String, Vec<String>)> {
        let mut found = Vec::new();
        for (at, _) in text.match_indices("hob_") {
            let name: String = text[at..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            let rest = &text[at + name.len()..];
            let matchers = rest.strip_prefix('{').and_then(|rest| rest.split('}').next()).unwrap_or_default();
            let labels = matchers.split(", ").filter_map(|one| one.split(['=', '!']).next()).map(str::to_owned);
            found.push((name, labels.filter(|label| !label.is_empty()).collect()));
        }
        found
    }

    /// The labels that a text groups by.
    fn grouped(text: &str) -> Vec<&str> {
        let groups = text.split(" by (").skip(1).filter_map(|rest| rest.split(')').next());
        groups.flat_map(|group| group.split(", ")).collect()
    }

    #[test]
    fn rules_and_board_name_what_is_exported() {
        let (metrics, repo) = (Metrics::new(), "o/n".parse().unwrap());
        let settings = hob_config::Settings::load(None, std::collections::HashMap::new(), &[]).unwrap();
        metrics.begin(&repo);
        metrics.polls.found(&repo, &Snapshot::default(), &settings, hob_domain::Timestamp::UNIX_EPOCH);
        fill(&metrics, &repo, 0);
        let exported = series(&metrics).into_iter();
        let of_forge = ["hob_forge_requests_total{kind=,code=} 0", "hob_forge_quota_remaining{resource=} 0"];
        let exported: Vec<_> = exported.chain(of_forge.map(str::to_owned)).collect();
        let has = |name: &str, label: &str| {
            let of_name = exported.iter().filter(|line| line.split(['{', ' ']).next() == Some(name));
            of_name.clone().any(|line| label.is_empty() || line.contains(&format!("{label}=")))
        };
        let document = include_str!("../../../../docs/design/logging.md");
        let rows = document.lines().filter_map(|line| line.strip_prefix("| `hob_")?.split_once('`'));
        for (name, _) in rows {
            let begin = format!("hob_{name}");
            assert!(exported.iter().any(|line| line.starts_with(&begin)), "{begin} is documented, and not exported");
        }
        let board = include_str!("../../../../config/grafana.json").replace("\\\"", "\"");
        let rules = include_str!("../../../../config/prometheus-rules.yml");
        let rules: Vec<_> = rules.lines().filter(|line| !line.trim_start().starts_with('#')).collect();
        for (text, least) in [(board, 20), (rules.join("\n"), 6)] {
            let names = selected(&text);
            assert!(names.len() >= least, "{names:?}");
            for (name, labels) in names {
                assert!(has(&name, ""), "{name} is not exported");
                labels.iter().for_each(|label| assert!(has(&name, label), "{name} has no label {label}"));
            }
            for label in grouped(&text) {
                let is_known = exported.iter().any(|line| line.contains(&format!("{label}=")));
                assert!(is_known, "no metric has the label {label}");
            }
        }
    }

    #[test]
    fn sums_name_no_repository() {
        let metrics = Metrics::new();
        metrics.room.sum();
        for repo in ["o/a", "o/b"].map(|repo| repo.parse().unwrap()) {
            metrics.begin(&repo);
            metrics.steps.note(&repo, &StepFigures { is_merged: true, ..StepFigures::default() });
        }
        let series = series(&metrics);
        assert!(series.iter().any(|line| line == "hob_pull_requests_total{end=\"merged\"} 2"), "{series:?}");
        assert!(series.iter().all(|line| !line.contains("repository=")), "{series:?}");
    }

    #[test]
    fn moves_refusals_and_failures_are_counted() {
        let metrics = Metrics::new();
        metrics.record_event(&WorkEvent::Failed { issue: None, reason: String::new() });
        metrics.record_event(&WorkEvent::Refused { issue: IssueNumber(1), reason: String::new() });
        metrics.record_event(&WorkEvent::Moved { issue: IssueNumber(1), state: State::InReview, why: String::new() });
        metrics.record_event(&WorkEvent::Checked { issue: IssueNumber(1), on: CheckedCommit::Head, passed: 2, run: 5 });
        let series = series(&metrics);
        for line in [
            "hob_failures_total 1",
            "hob_refusals_total 1",
            r#"hob_issue_moves_total{state="in-review"} 1"#,
            r#"hob_checks_total{when="head",result="passed"} 2"#,
            r#"hob_checks_total{when="head",result="failed"} 3"#,
        ] {
            assert!(series.iter().any(|written| written == line), "{line} {series:?}");
        }
    }
}
