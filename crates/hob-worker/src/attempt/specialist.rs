//! Who works on an issue: an agent of the settings, and the profile that it works by, where one fits.
//!
//! # Guarantees
//! What a person chose is done or they are asked. Everything else only helps: a profile that is damaged, a repository whose profiles
//! cannot be read, a model that is not there, each leaves the base agent, with a warning that names the cause.

use std::sync::Arc;

use hob_agent::{AgentBackend, AgentError, NarrowedAgent};
use hob_config::{AdapterName, RepositorySettings};
use hob_domain::{
    Catalog, ChosenBy, Claims, Deliverable, FailureClass, HandOverTarget, IssueNumber, Note, Profile, ProfileLimits,
    ProfileName, Record, ReviewBrief, RouteChoice, RoutedText, Router, decide_agent, rendered,
};
use hob_workspace::Remote;

use crate::{
    WorkError, Worker,
    agent::{agent_name, agent_names, build_agent, build_narrowed},
    authorize::chosen_agent,
    profiles::base_catalog,
    transition::HeldIssue,
};

/// Who works.
pub(super) struct Specialist {
    /// The name under which it works: the profile's, or the agent's.
    pub(super) name: String,
    pub(super) agent: Arc<dyn AgentBackend>,
    pub(super) profile: Option<Profile>,
    /// How far a run may go by the profile.
    pub(super) limits: ProfileLimits,
}

/// Who works, and which profiles there are to hand over to.
pub(super) struct Chosen {
    pub(super) specialist: Specialist,
    /// Empty where an agent of the settings is named.
    pub(super) catalog: Catalog,
}

/// Where an attempt's profiles come from.
pub(super) struct Place<'a> {
    pub(super) rules: &'a RepositorySettings,
    pub(super) remote: &'a Remote,
    pub(super) base: &'a hob_domain::Sha,
    pub(super) review: &'a ReviewBrief,
}

/// Chooses who works on the issue, and notes why in the ledger.
pub(super) async fn choose(worker: &Worker, held: &HeldIssue, place: Place<'_>) -> Result<Chosen, WorkError> {
    let record = held.lease.record();
    let chosen = match chosen_agent(worker, &held.issue, &record).await? {
        Some(Ok(name)) => Some(name),
        Some(Err(why)) => {
            worker.progress(held.issue.number, &why);
            None
        }
        None => None,
    };
    let agents = agent_names(worker, place.rules);
    let as_profile = |name: &str| -> Option<ProfileName> {
        let is_agent = agents.iter().any(|agent| agent == name) || name.parse::<AdapterName>().is_ok();
        name.parse().ok().filter(|_| !is_agent)
    };
    let by_person = chosen.as_deref().and_then(as_profile);
    let by_repository = place.rules.agent.as_deref().filter(|_| chosen.is_none()).and_then(as_profile);
    let names_an_agent = worker.agent.is_some()
        || chosen.is_some() && by_person.is_none()
        || chosen.is_none() && place.rules.agent.is_some() && by_repository.is_none();
    let is_asked_for = by_person.is_some() || by_repository.is_some();
    if names_an_agent || !(worker.settings.routing.enabled || is_asked_for) {
        if record.route.is_some() {
            held.lease.note(Note::Routed(RouteChoice::of_agent(by(&record, chosen.as_deref())))).await;
        }
        let specialist = of_settings(worker, place.rules, chosen).await?;
        return Ok(Chosen { specialist, catalog: Catalog::default() });
    }
    let catalog = base_catalog(worker, place.remote, place.base).await;
    for warning in &catalog.warnings {
        tracing::warn!(issue = held.issue.number.0, "{warning}");
    }
    let is_command = by(&record, chosen.as_deref()) == ChosenBy::Command;
    let claims = Claims {
        command: by_person.as_ref().filter(|_| is_command),
        label: by_person.as_ref().filter(|_| !is_command),
        repository: by_repository.as_ref(),
    };
    let choice = route(worker, held, &catalog, claims, place.review);
    let specialist = work_by(worker, held, (&catalog, place.rules), choice).await?;
    Ok(Chosen { specialist, catalog })
}

/// Whether it was a command that named the agent, or else a label.
fn by(record: &Record, chosen: Option<&str>) -> ChosenBy {
    match (chosen, &record.commands.agent) {
        (Some(chosen), Some(agent)) if agent.name == chosen => ChosenBy::Command,
        (Some(_), _) => ChosenBy::Label,
        (None, _) => ChosenBy::Repository,
    }
}

/// What the router says of the newest message, after what people and the repository say.
fn route(
    worker: &Worker,
    held: &HeldIssue,
    catalog: &Catalog,
    claims: Claims<'_>,
    review: &ReviewBrief,
) -> RouteChoice {
    let record = held.lease.record();
    // Only work on files is given away unasked, and to nobody who is just the base agent by another name.
    let candidates: Vec<_> = catalog
        .profiles()
        .filter(|profile| profile.deliverable == Deliverable::Change && profile.name.as_str() != "code")
        .map(Into::into)
        .collect();
    let message = newest_message(&record, review);
    let body = rendered(message.as_deref().unwrap_or(&held.issue.body)).0;
    let title = if message.is_some() { "" } else { held.issue.title.as_str() };
    let routing = if worker.settings.routing.enabled {
        Router::new(&candidates).route(RoutedText { title, body: &body, labels: &held.issue.labels })
    } else {
        Router::new(&[]).route(RoutedText { title, body: &body, labels: &held.issue.labels })
    };
    decide_agent(claims, &routing, record.route.as_ref(), worker.settings.routing.rules())
}

/// What was said since the issue was routed; none: the issue itself is what there is.
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

async fn work_by(
    worker: &Worker,
    held: &HeldIssue,
    (catalog, rules): (&Catalog, &RepositorySettings),
    choice: RouteChoice,
) -> Result<Specialist, WorkError> {
    let issue = held.issue.number;
    let Some(name) = &choice.profile else {
        held.lease.note(Note::Routed(choice)).await;
        return of_settings(worker, rules, None).await;
    };
    let record = held.lease.record();
    let is_chosen_again = record.route.as_ref().is_some_and(|before| before.profile == choice.profile);
    if let Some(received) = record.chain.received().filter(|_| is_chosen_again) {
        // Who was chosen has handed it over since.
        held.lease.note(Note::Routed(choice)).await;
        return handed_to(worker, issue, (catalog, rules), &received.to).await;
    }
    match by_profile(worker, issue, (catalog, rules), name).await {
        Ok(specialist) => {
            let (percent, complexity, by) = (choice.percent, choice.complexity, choice.by);
            tracing::info!(issue = issue.0, profile = %name, percent, complexity, ?by, "`{name}` is chosen");
            held.lease.note(Note::Routed(choice)).await;
            Ok(specialist)
        }
        Err(reason) => unmet(worker, held, rules, choice, reason).await,
    }
}

/// The specialist for a profile that was handed the work; the base agent, where it cannot be one.
pub(super) async fn handed_to(
    worker: &Worker,
    issue: IssueNumber,
    (catalog, rules): (&Catalog, &RepositorySettings),
    name: &ProfileName,
) -> Result<Specialist, WorkError> {
    match by_profile(worker, issue, (catalog, rules), name).await {
        Ok(specialist) => Ok(specialist),
        Err(reason) => base_instead(worker, issue, rules, &reason).await,
    }
}

/// The specialist that works by the profile `name`; why there is none.
async fn by_profile(
    worker: &Worker,
    issue: IssueNumber,
    (catalog, rules): (&Catalog, &RepositorySettings),
    name: &ProfileName,
) -> Result<Specialist, String> {
    let Some((profile, origin)) = catalog.get(name) else {
        return Err(format!("there is no agent and no profile `{name}` here: `hob agents` lists them"));
    };
    if profile.deliverable != Deliverable::Change {
        return Err(format!("the profile `{name}` brings no change, and an issue is worked on by one"));
    }
    let base = agent_name(worker, None, &without_profile(worker, rules)).to_owned();
    let built = build_narrowed(worker, rules, base, (profile.clone(), origin.source)).await;
    let NarrowedAgent { name: agent, agent: backend, limits, notes } = built.map_err(|error| error.reason)?;
    tracing::info!(issue = issue.0, profile = %name, agent, source = %origin.source, "the profile `{name}` works on issue {issue}");
    worker.progress(issue, &format!("the profile `{name}` works, by the agent `{agent}`"));
    for note in &notes {
        worker.progress(issue, &format!("the profile `{name}`: {note}"));
    }
    Ok(Specialist { name: name.to_string(), agent: backend, profile: Some(profile.clone()), limits })
}

/// The profiles that `profile` can hand over to as things are.
pub(super) fn targets(catalog: &Catalog, profile: &Profile) -> Vec<HandOverTarget> {
    let there = profile.hand_off_to.iter().filter(|name| **name != profile.name).filter_map(|name| catalog.get(name));
    there
        .filter(|(target, _)| target.deliverable == Deliverable::Change)
        .map(|(target, _)| HandOverTarget { name: target.name.clone(), description: target.description.clone() })
        .collect()
}

/// A choice that cannot be met: whoever made it is asked; where nobody did, the base agent works.
async fn unmet(
    worker: &Worker,
    held: &HeldIssue,
    rules: &RepositorySettings,
    choice: RouteChoice,
    reason: String,
) -> Result<Specialist, WorkError> {
    if choice.by.is_person() {
        return Err(AgentError { reason, failure: FailureClass::NeedsHuman }.into());
    }
    held.lease.note(Note::Routed(choice.without_profile(&reason))).await;
    base_instead(worker, held.issue.number, rules, &reason).await
}

/// The base agent, because a profile cannot work.
async fn base_instead(
    worker: &Worker,
    issue: IssueNumber,
    rules: &RepositorySettings,
    reason: &str,
) -> Result<Specialist, WorkError> {
    tracing::warn!(issue = issue.0, "the base agent works: {reason}");
    worker.progress(issue, &format!("the base agent works: {reason}"));
    of_settings(worker, &without_profile(worker, rules), None).await
}

/// The repository's rules without an agent that is none of the settings but a profile.
fn without_profile(worker: &Worker, rules: &RepositorySettings) -> RepositorySettings {
    let is_agent = |name: &String| agent_names(worker, rules).contains(name) || name.parse::<AdapterName>().is_ok();
    RepositorySettings { agent: rules.agent.clone().filter(is_agent), ..rules.clone() }
}

/// An agent of the settings, without a profile. One that a person named for this issue and that cannot be made is theirs to mend.
async fn of_settings(
    worker: &Worker,
    rules: &RepositorySettings,
    chosen: Option<String>,
) -> Result<Specialist, WorkError> {
    let name = agent_name(worker, chosen.as_deref(), rules).to_owned();
    let built = build_agent(worker, rules, name.clone()).await;
    let agent = built.map_err(|error| match (chosen, error.failure) {
        (Some(chosen), FailureClass::Misconfigured) if chosen == name => {
            AgentError { reason: error.reason, failure: FailureClass::NeedsHuman }
        }
        (_, failure) => AgentError { reason: error.reason, failure },
    })?;
    Ok(Specialist { name, agent, profile: None, limits: ProfileLimits::default() })
}
