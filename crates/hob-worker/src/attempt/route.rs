//! The inputs of the choice who works: what people and the repository ask for, the text for the router, and the answer
//! of a small model.

use std::time::Duration;

use hob_config::{REPOSITORY_SETTINGS_PATH, RepositorySettings};
use hob_domain::{
    AUTO_AGENT, AutoChoice, Catalog, ChosenBy, Claims, Named, Note, PersonalChoice, QUESTION_SYSTEM, Quote, Record,
    RoutedText, RouterInput, State, Timestamp, first_record, profile_warning, quote_for, who_works,
};
use hob_forge::Issue;
use hob_text::rendered;

use crate::{
    WorkError, Worker,
    agent::{agent_names, ask_model, default_agent, is_agent},
    attempt::auto::auto,
    authorize::{AgentChoice, chosen_agent},
    held_issue::HeldIssue,
    metrics::{Degraded, METRICS},
    profiles::forge_catalog,
    repository_file::in_repository,
};

/// The time that a model has to say which profile fits.
const MODEL_TIME: Duration = Duration::from_secs(2);

/// The agents and profiles that are asked for on the issue: by a command, a label, the repository's rules or the
/// process. `investigates` is whether a label asks for an investigation.
pub(super) async fn claims(
    worker: &Worker,
    issue: &Issue,
    record: Option<&Record>,
    rules: &RepositorySettings,
    investigates: bool,
) -> Result<Claims, WorkError> {
    let by_command = record.and_then(|record| record.commands.agent.as_ref());
    let chosen = match chosen_agent(worker, issue, by_command).await? {
        AgentChoice::Agent(name) => Some(name),
        AgentChoice::Ignored(why) => {
            worker.progress(issue.number, &why.to_string());
            None
        }
        AgentChoice::None => None,
    };
    let agents = agent_names(worker, rules);
    let named = |name: String| match name.parse() {
        Ok(profile) if !is_agent(&agents, &name) => Named::Profile(profile),
        Ok(_) | Err(_) => Named::Agent(name),
    };
    let is_command = by_command.is_some_and(|agent| Some(&agent.name) == chosen.as_ref());
    let by = if is_command { ChosenBy::Command } else { ChosenBy::Label };
    Ok(Claims {
        worked: record.and_then(|record| worked(record, &agents)),
        process: worker.children.named_agent.clone(),
        person: chosen.map(|name| PersonalChoice { named: named(name), by }),
        repository: rules.agent.clone().filter(|name| name != AUTO_AGENT).map(named),
        default_agent: default_agent(worker, rules),
        investigates,
    })
}

/// The profile or agent whose work is in review. `None` if nothing is, or the agent is gone.
fn worked(record: &Record, agents: &[String]) -> Option<Named> {
    let name = record.worked()?;
    let routed = record.route.as_ref().and_then(|route| route.profile.as_ref());
    let profiles = record.chain.received().map(|received| &received.to).into_iter().chain(routed);
    let profile = profiles.into_iter().find(|profile| profile.as_str() == name).cloned().map(Named::Profile);
    profile.or_else(|| is_agent(agents, name).then(|| Named::Agent(name.to_owned())))
}

/// The text to route: the newest answer, otherwise the issue itself. What is said in review goes to who did the work.
pub(super) struct NewestText {
    is_message: bool,
    body: String,
}

impl NewestText {
    /// `investigates` is whether a label asks for an investigation.
    pub(super) fn new(issue: &Issue, record: Option<&Record>, investigates: bool) -> Self {
        // An investigation stays with the profile that has its record: new evidence does not change its kind.
        let message = record.and_then(newest_answer).filter(|_| !investigates);
        Self { is_message: message.is_some(), body: rendered(message.unwrap_or(&issue.body)).text }
    }

    fn routed<'a>(&'a self, issue: &'a Issue) -> RoutedText<'a> {
        let title = if self.is_message { "" } else { issue.title.as_str() };
        RoutedText { title, body: &self.body, labels: &issue.labels }
    }

    /// The router's input, before a model is asked.
    pub(super) fn for_router<'a>(
        &'a self,
        worker: &Worker,
        issue: &'a Issue,
        off_until: Option<Timestamp>,
    ) -> RouterInput<'a> {
        let routing = &worker.settings.routing;
        let (enabled, rules) = (routing.enabled, routing.rules());
        RouterInput { enabled, off_until, rules, text: self.routed(issue), answer: None }
    }
}

/// What is known of the work on an issue before it begins.
#[derive(Debug, Default)]
pub(crate) struct Prospect {
    /// Why a profile that would work on it now, or might, cannot be used.
    pub(crate) warning: Option<String>,
    /// What it will probably cost.
    pub(crate) quote: Option<Quote>,
    /// The agent that outcomes speak for, if the choice is theirs.
    pub(crate) auto: Option<AutoChoice>,
}

/// Looks at who would work on the issue now. It only reads, and asks no model.
pub(crate) async fn prospect(worker: &Worker, issue: &Issue, record: Option<&Record>) -> Result<Prospect, WorkError> {
    if record.is_some_and(|record| record.state == State::Done) {
        return Ok(Prospect::default());
    }
    let base = worker.forge.repository().base_branch().await?;
    let worker = &in_repository(worker, &base).await?;
    let text = worker.forge.repository().file(REPOSITORY_SETTINGS_PATH, &base.sha).await?.unwrap_or_default();
    // Problems in the file are reported elsewhere.
    let rules = RepositorySettings::parse(&text).unwrap_or_default();
    let is_over = record.is_some_and(|record| record.pull.number.is_some() || record.is_handed_on());
    let investigates = !is_over && worker.settings.labels.asks_for_investigation(&issue.labels).is_some();
    let claims = claims(worker, issue, record, &rules, investigates).await?;
    let newest = NewestText::new(issue, record, investigates);
    let router = newest.for_router(worker, issue, None);
    let (catalog, warning) = if claims.need_profiles(&router) {
        let catalog = forge_catalog(worker, &base.sha).await?;
        let warning = profile_warning(&claims, record, &catalog, &router);
        (catalog, warning)
    } else {
        (Catalog::default(), None)
    };
    let known = record.cloned().unwrap_or_else(|| first_record(issue.number, worker.forge.now()));
    let choice = who_works(&claims, &known, &catalog, &router);
    let auto = auto(worker, &rules, &known, &claims, &choice).await;
    let quote = match record {
        Some(record) => record.work.quote,
        None => {
            let bills = worker.forge.repository_ledger().known().map(|known| known.bills);
            bills.and_then(|bills| quote_for(&Record { route: choice.route, ..known }, &bills))
        }
    };
    Ok(Prospect { warning, quote, auto })
}

/// The answer of the model `routing.model`, at the issue's cost. `None` if it did not answer in time, so that the rules
/// decide.
pub(super) async fn ask_small_model(
    worker: &Worker,
    held: &HeldIssue,
    rules: &RepositorySettings,
    question: &str,
) -> Option<String> {
    let (issue, model) = (held.issue.number, worker.settings.routing.model.as_str());
    let asked = ask_model(worker, rules, model, QUESTION_SYSTEM, question);
    let why = match tokio::time::timeout(MODEL_TIME, asked).await {
        Ok(Ok((answer, spend))) => {
            held.lease.note(Note::Spend(spend)).await;
            return Some(answer);
        }
        Ok(Err(error)) => error.reason,
        Err(_elapsed) => format!("no answer within {} s", MODEL_TIME.as_secs()),
    };
    METRICS.profiles.degraded(Degraded::RoutingModel);
    tracing::warn!(issue = issue.0, model, "`routing.model` gave no answer, so the rules decide: {why}");
    worker.progress(issue, &format!("`routing.model` gave no answer, so the rules decide: {why}"));
    None
}

/// The answer since the issue was routed; `None` if there is only the issue itself.
fn newest_answer(record: &Record) -> Option<&str> {
    record.route.as_ref()?;
    record.answer.as_ref().map(|answer| answer.text.as_str()).filter(|text| !text.trim().is_empty())
}
