//! The choice of a profile: by the requests of people and the repository, and by the router from the newest message.

use std::time::Duration;

use hob_config::{REPOSITORY_SETTINGS_PATH, RepositorySettings};
use hob_domain::{
    Candidate, Catalog, CatalogEntry, ChosenBy, Claims, Deliverable, Missed, Note, Profile, ProfileName,
    QUESTION_SYSTEM, Record, RouteChoice, RoutedText, Router, Routing, Sha, State, decide_agent, missed,
};
use hob_forge::{Issue, fresh_nonce};
use hob_text::rendered;
use hob_words::ReviewBrief;
use hob_workspace::Remote;

use crate::{
    WorkError, Worker,
    agent::{agent_names, ask_model, is_agent},
    authorize::chosen_agent,
    counters::{Degraded, degraded},
    held_issue::HeldIssue,
    profiles::forge_catalog,
};

/// The time that a model has to say which profile fits.
const MODEL_TIME: Duration = Duration::from_secs(2);

/// The source of an attempt's profiles, and its inputs.
pub(super) struct Place<'a> {
    pub(super) rules: &'a RepositorySettings,
    pub(super) remote: &'a Remote,
    pub(super) base: &'a Sha,
    pub(super) review: &'a ReviewBrief,
    /// Whether a label asks for an investigation.
    pub(super) investigates: bool,
}

/// The requested agent or profile.
pub(super) struct Asked {
    /// The agent or profile that a person chose.
    pub(super) chosen: Option<String>,
    /// The one that a person requested, if it is a profile.
    pub(super) by_person: Option<ProfileName>,
    by_repository: Option<ProfileName>,
    /// Whether `.github/hob.toml` names an agent, and no person does.
    repository_names_an_agent: bool,
    is_command: bool,
}

impl Asked {
    /// The agent or profile requested on the issue, by a command, a label or the repository's rules.
    pub(super) async fn of(
        worker: &Worker,
        issue: &Issue,
        (record, rules): (Option<&Record>, &RepositorySettings),
    ) -> Result<Self, WorkError> {
        let by_command = record.and_then(|record| record.commands.agent.as_ref());
        let chosen = match chosen_agent(worker, issue, by_command).await? {
            Some(Ok(name)) => Some(name),
            Some(Err(why)) => {
                worker.progress(issue.number, &why);
                None
            }
            None => None,
        };
        let agents = agent_names(worker, rules);
        let as_profile = |name: &str| -> Option<ProfileName> { name.parse().ok().filter(|_| !is_agent(&agents, name)) };
        let of_rules = rules.agent.as_deref().filter(|_| chosen.is_none());
        let (by_person, by_repository) = (chosen.as_deref().and_then(as_profile), of_rules.and_then(as_profile));
        Ok(Self {
            repository_names_an_agent: of_rules.is_some() && by_repository.is_none(),
            is_command: by_command.is_some_and(|agent| Some(&agent.name) == chosen.as_ref()),
            chosen,
            by_person,
            by_repository,
        })
    }

    /// Whether an agent of the settings works, without a profile.
    pub(super) fn names_an_agent(&self, worker: &Worker) -> bool {
        worker.agent.is_some()
            || self.chosen.is_some() && self.by_person.is_none()
            || self.repository_names_an_agent
            || !(worker.settings.routing.enabled || self.is_asked_for())
    }

    /// Whether a profile is requested.
    pub(super) fn is_asked_for(&self) -> bool {
        self.by_person.is_some() || self.by_repository.is_some()
    }

    /// The source of the request, if an agent is named.
    pub(super) fn by(&self) -> ChosenBy {
        match (&self.chosen, self.is_command) {
            (Some(_), true) => ChosenBy::Command,
            (Some(_), false) => ChosenBy::Label,
            (None, _) => ChosenBy::Repository,
        }
    }

    pub(super) fn claims(&self) -> Claims<'_> {
        Claims {
            command: self.by_person.as_ref().filter(|_| self.is_command),
            label: self.by_person.as_ref().filter(|_| !self.is_command),
            repository: self.by_repository.as_ref(),
        }
    }
}

/// The text to route: the newest message, otherwise the issue itself.
struct Said {
    is_message: bool,
    body: String,
}

impl Said {
    fn of(issue: &Issue, record: Option<&Record>, review: &ReviewBrief, investigates: bool) -> Self {
        // An investigation stays with the profile that has its record: new evidence does not change its kind.
        let message = record.and_then(|record| newest_message(record, review)).filter(|_| !investigates);
        Self { is_message: message.is_some(), body: rendered(message.as_deref().unwrap_or(&issue.body)).0 }
    }

    fn text<'a>(&'a self, issue: &'a Issue) -> RoutedText<'a> {
        let title = if self.is_message { "" } else { issue.title.as_str() };
        RoutedText { title, body: &self.body, labels: &issue.labels }
    }
}

/// Whether the router may choose the profile.
fn is_candidate(worker: &Worker, profile: &Profile, investigates: bool) -> bool {
    let fits = match investigates {
        true => !profile.case.questions.is_empty(),
        // Only work on files is routed without a request, and never to a profile that is just the base agent by another
        // name.
        false => profile.deliverable == Deliverable::Change && profile.name.as_str() != "code",
    };
    fits && worker.settings.routing.enabled
}

fn candidates(worker: &Worker, catalog: &Catalog, investigates: bool) -> Vec<Candidate> {
    let candidates = catalog.profiles().filter(|profile| is_candidate(worker, profile, investigates));
    candidates.map(|profile| Candidate::of(catalog, profile)).collect()
}

/// Why a profile that would work on the issue now, or might, cannot be used. It only reads, and asks no model.
pub(crate) async fn profile_warning(
    worker: &Worker,
    issue: &Issue,
    record: Option<&Record>,
) -> Result<Option<String>, WorkError> {
    if record.is_some_and(|record| record.state == State::Done) {
        return Ok(None);
    }
    let base = worker.forge.repository().base_branch().await?.sha;
    let text = worker.forge.repository().file(REPOSITORY_SETTINGS_PATH, &base).await?.unwrap_or_default();
    // Problems in the file are reported elsewhere.
    let repository_rules = RepositorySettings::parse(&text).unwrap_or_default();
    let asked = Asked::of(worker, issue, (record, &repository_rules)).await?;
    if asked.names_an_agent(worker) {
        return Ok(None);
    }
    let catalog = forge_catalog(worker, &base).await?;
    let claims = asked.claims();
    // A profile that was handed the work keeps it.
    let handed_to = record.and_then(|record| record.chain.received()).map(|received| &received.to);
    if let Some(name) = handed_to.or(claims.command).or(claims.label).or(claims.repository)
        && catalog.get(name).is_none()
    {
        return Ok(catalog.damaged(name).and_then(CatalogEntry::fault));
    }
    let is_over = record.is_some_and(|record| record.pull_request.is_some() || record.is_handed_on());
    let investigates = !is_over && worker.settings.labels.asks_for_investigation(&issue.labels).is_some();
    let said = Said::of(issue, record, &ReviewBrief::default(), investigates);
    let (text, present) = (said.text(issue), record.and_then(|record| record.route.as_ref()));
    let candidates = candidates(worker, &catalog, investigates);
    let rules = worker.settings.routing.rules();
    let choice = decide_agent(claims, &Router::new(&candidates).route(text), present, rules);
    let is_candidate = |profile: &Profile| is_candidate(worker, profile, investigates);
    let missed = missed(&catalog, is_candidate, text, (&choice, present, rules));
    let chosen = choice.profile.as_ref().and_then(|name| catalog.get(name));
    let lost = || catalog.damaged_targets(chosen?.0);
    Ok(missed.map(|missed| missed.warning).or_else(lost))
}

/// The router's choice for the newest message, after the requests of people and the repository.
pub(super) async fn route(
    worker: &Worker,
    held: &HeldIssue,
    catalog: &Catalog,
    claims: Claims<'_>,
    place: &Place<'_>,
) -> (RouteChoice, Option<Missed>) {
    let record = held.lease.record();
    let said = Said::of(&held.issue, Some(&record), place.review, place.investigates);
    let text = said.text(&held.issue);
    let candidates = candidates(worker, catalog, place.investigates);
    let (routing, rules) = (Router::new(&candidates).route(text), worker.settings.routing.rules());
    let choice = decide_agent(claims, &routing, record.route.as_ref(), rules);
    let choice = Box::pin(with_model(worker, held, place, (&routing, &candidates, text), choice)).await;
    let is_candidate = |profile: &Profile| is_candidate(worker, profile, place.investigates);
    let missed = missed(catalog, is_candidate, text, (&choice, record.route.as_ref(), rules));
    (choice, missed)
}

/// The choice after a small model was asked, if the settings use one.
async fn with_model(
    worker: &Worker,
    held: &HeldIssue,
    place: &Place<'_>,
    (routing, candidates, text): (&Routing, &[Candidate], RoutedText<'_>),
    choice: RouteChoice,
) -> RouteChoice {
    let rules = worker.settings.routing.rules();
    if choice.by != ChosenBy::Base || worker.settings.routing.model.is_empty() || !routing.has_a_hunch(rules) {
        return choice;
    }
    let question = routing.question(candidates, text, &fresh_nonce());
    let Some(answer) = ask_small_model(worker, held, place, &question).await else { return choice };
    routing.answered(candidates, (&worker.settings.routing.model, &answer), &choice).unwrap_or(choice)
}

/// The answer of the model `routing.model`, at the issue's cost. `None` if it did not answer in time, so that the rules
/// decide.
async fn ask_small_model(worker: &Worker, held: &HeldIssue, place: &Place<'_>, question: &str) -> Option<String> {
    let (issue, model) = (held.issue.number, worker.settings.routing.model.as_str());
    let asked = ask_model(worker, place.rules, model, (QUESTION_SYSTEM, question));
    let why = match tokio::time::timeout(MODEL_TIME, asked).await {
        Ok(Ok((answer, spend))) => {
            held.lease.note(Note::Spend(spend)).await;
            return Some(answer);
        }
        Ok(Err(error)) => error.reason,
        Err(_elapsed) => format!("no answer within {} s", MODEL_TIME.as_secs()),
    };
    degraded(Degraded::RoutingModel);
    tracing::warn!(issue = issue.0, model, "`routing.model` gave no answer, so the rules decide: {why}");
    worker.progress(issue, &format!("`routing.model` gave no answer, so the rules decide: {why}"));
    None
}

/// The messages since the issue was routed; `None` if there is only the issue itself.
fn newest_message(record: &Record, review: &ReviewBrief) -> Option<String> {
    record.route.as_ref()?;
    if !review.is_empty() {
        let said = review.reviews.iter().chain(&review.comments).map(|(.., body)| body.as_str());
        let lines =
            review.threads.iter().flat_map(|thread| thread.comments.last().map(|comment| comment.body.as_str()));
        let logs = review.checks.iter().map(|check| check.log.as_str());
        return Some(said.chain(lines).chain(logs).collect::<Vec<_>>().join("\n"));
    }
    record.answer.as_ref().map(|answer| answer.text.clone()).filter(|text| !text.trim().is_empty())
}
