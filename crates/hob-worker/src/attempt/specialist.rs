//! Who works on an issue: an agent of the settings, and the profile that it works by, where one fits.
//!
//! # Guarantees
//! What a person chose is done or they are asked. Everything else only helps: a profile that is damaged, a repository whose profiles
//! cannot be read, a model that is not there, each leaves the base agent, with a warning that names the cause.

use std::sync::Arc;

use hob_agent::{AgentBackend, AgentError, NarrowedAgent};
use hob_config::{AdapterName, RepositorySettings};
use hob_domain::{
    Catalog, ChosenBy, Claims, Deliverable, FailureClass, Note, Profile, ProfileLimits, ProfileName, ProfileSource,
    Record, ReviewBrief, RouteChoice, RoutedText, Router, Timestamp, decide_agent, investigation::CaseTemplate,
    rendered, routing_is_off,
};
use hob_workspace::Remote;

use crate::{
    WorkError, Worker,
    agent::{agent_name, agent_names, build_agent, build_narrowed},
    attempt::breaker::{note_failed_load, routing_off_until},
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
    /// What an investigation begins with.
    pub(super) template: CaseTemplate,
    /// Whether the issue is investigated.
    pub(super) investigates: bool,
}

/// Where an attempt's profiles come from.
pub(super) struct Place<'a> {
    pub(super) rules: &'a RepositorySettings,
    pub(super) remote: &'a Remote,
    pub(super) base: &'a hob_domain::Sha,
    pub(super) review: &'a ReviewBrief,
    /// Whether a label asks for an investigation.
    pub(super) investigates: bool,
}

/// Chooses who works on the issue, and notes why in the ledger.
pub(super) async fn choose(worker: &Worker, held: &HeldIssue, place: Place<'_>) -> Result<Specialist, WorkError> {
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
            let choice = RouteChoice::of_agent(by(&record, chosen.as_deref())).overriding(record.route.as_ref());
            held.lease.note(Note::Routed(choice)).await;
        }
        return of_settings(worker, &place, chosen).await;
    }
    let off_until = routing_off_until(worker);
    if let Some(until) = off_until
        && by_person.is_none()
    {
        return while_off(worker, held, &place, until).await;
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
    let choice = route(worker, held, &catalog, claims, &place);
    let is_chosen = choice.profile.is_some();
    let specialist = work_by(worker, held, &catalog, &place, choice).await?;
    let has_failed = catalog.unread_places > 0 || is_chosen && specialist.profile.is_none();
    if has_failed && off_until.is_none() {
        note_failed_load(worker, held).await;
    }
    Ok(specialist)
}

/// Routing is off: the base agent works. An issue that was not routed yet is routed when its next attempt begins.
async fn while_off(
    worker: &Worker,
    held: &HeldIssue,
    place: &Place<'_>,
    until: Timestamp,
) -> Result<Specialist, WorkError> {
    let says = routing_is_off(until);
    tracing::warn!(issue = held.issue.number.0, "{says}");
    worker.progress(held.issue.number, &says);
    if let Some(present) = held.lease.record().route {
        held.lease.note(Note::Routed(present.without_profile(&says))).await;
    }
    base_agent(worker, place).await
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
fn route(worker: &Worker, held: &HeldIssue, catalog: &Catalog, claims: Claims<'_>, place: &Place<'_>) -> RouteChoice {
    let record = held.lease.record();
    let is_candidate = |profile: &&Profile| match place.investigates {
        true => !profile.case.questions.is_empty(),
        // Only work on files is given away unasked, and to nobody who is just the base agent by another name.
        false => profile.deliverable == Deliverable::Change && profile.name.as_str() != "code",
    };
    let candidates: Vec<_> = catalog.profiles().filter(is_candidate).map(Into::into).collect();
    // An investigation stays with whoever has its record: new evidence makes no other case of it.
    let message = newest_message(&record, place.review).filter(|_| !place.investigates);
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
    catalog: &Catalog,
    place: &Place<'_>,
    choice: RouteChoice,
) -> Result<Specialist, WorkError> {
    let found = choice.profile.as_ref().map(|name| catalog.get(name).ok_or(name));
    let (profile, source) = match found {
        None => {
            held.lease.note(Note::Routed(choice)).await;
            return of_settings(worker, place, None).await;
        }
        Some(Ok((profile, origin))) => (profile.clone(), origin.source),
        Some(Err(name)) => {
            // It says which agents there are.
            let missing = build_agent(worker, place.rules, name.to_string()).await.err().map(|error| error.reason);
            let reason = missing.unwrap_or_else(|| format!("no agent `{name}`"));
            let profiles = "and there is no profile of that name: `hob agents` lists them";
            return unmet(worker, held, place, choice, format!("{reason}; {profiles}")).await;
        }
    };
    let is_asked_to = choice.by.is_person() && !profile.case.questions.is_empty();
    let investigates = place.investigates || is_asked_to && held.lease.record().pull_request.is_none();
    if profile.deliverable != Deliverable::Change && !investigates {
        let reason = format!("the profile `{}` brings no change, and an issue is worked on by one", profile.name);
        return unmet(worker, held, place, choice, reason).await;
    }
    let base = agent_name(worker, None, place.rules).to_owned();
    match build_narrowed(worker, place.rules, base, (profile.clone(), source)).await {
        Ok(narrowed) => {
            let specialist = specialist(worker, held, (profile, source), narrowed, choice).await;
            Ok(Specialist { investigates, ..specialist })
        }
        Err(error) => unmet(worker, held, place, choice, error.reason).await,
    }
}

async fn specialist(
    worker: &Worker,
    held: &HeldIssue,
    (profile, source): (Profile, ProfileSource),
    narrowed: NarrowedAgent,
    choice: RouteChoice,
) -> Specialist {
    let (issue, name, agent) = (held.issue.number, profile.name.to_string(), &narrowed.name);
    tracing::info!(
        issue = issue.0,
        profile = name,
        agent,
        source = %source,
        percent = choice.percent,
        complexity = choice.complexity,
        by = ?choice.by,
        overridden = choice.overridden.as_ref().map(ProfileName::as_str),
        "the profile `{name}` works on issue {issue}"
    );
    worker.progress(issue, &format!("the profile `{name}` works, by the agent `{agent}`"));
    for note in &narrowed.notes {
        worker.progress(issue, &format!("the profile `{name}`: {note}"));
    }
    held.lease.note(Note::Routed(choice)).await;
    let template = CaseTemplate::of_profile(&profile, narrowed.approve);
    let NarrowedAgent { agent, limits, .. } = narrowed;
    Specialist { name, agent, profile: Some(profile), limits, template, investigates: false }
}

/// A choice that cannot be met: whoever made it is asked; where nobody did, the base agent works.
async fn unmet(
    worker: &Worker,
    held: &HeldIssue,
    place: &Place<'_>,
    choice: RouteChoice,
    reason: String,
) -> Result<Specialist, WorkError> {
    if choice.by.is_person() {
        return Err(AgentError { reason, failure: FailureClass::NeedsHuman }.into());
    }
    tracing::warn!(issue = held.issue.number.0, "the base agent works: {reason}");
    worker.progress(held.issue.number, &format!("the base agent works: {reason}"));
    held.lease.note(Note::Routed(choice.without_profile(&reason))).await;
    base_agent(worker, place).await
}

/// The base agent, where the repository may name nothing but a profile that does not work.
async fn base_agent(worker: &Worker, place: &Place<'_>) -> Result<Specialist, WorkError> {
    let rules = RepositorySettings { agent: None, ..place.rules.clone() };
    of_settings(worker, &Place { rules: &rules, ..*place }, None).await
}

/// An agent of the settings, without a profile. One that a person named for this issue and that cannot be made is theirs to mend.
async fn of_settings(worker: &Worker, place: &Place<'_>, chosen: Option<String>) -> Result<Specialist, WorkError> {
    let name = agent_name(worker, chosen.as_deref(), place.rules).to_owned();
    let built = build_agent(worker, place.rules, name.clone()).await;
    let agent = built.map_err(|error| match (chosen, error.failure) {
        (Some(chosen), FailureClass::Misconfigured) if chosen == name => {
            AgentError { reason: error.reason, failure: FailureClass::NeedsHuman }
        }
        (_, failure) => AgentError { reason: error.reason, failure },
    })?;
    let (limits, template) = Default::default();
    Ok(Specialist { name, agent, profile: None, limits, template, investigates: place.investigates })
}
