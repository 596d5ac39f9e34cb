//! Who works on an issue: an agent of the settings, and the profile that it works by, where one fits.
//!
//! # Guarantees
//! What a person chose is done or they are asked. Everything else only helps: a profile that is damaged, a repository whose profiles
//! cannot be read, a model that is not there, each leaves the base agent, with a warning that names the cause.

use std::{sync::Arc, time::Duration};

use hob_agent::{AgentBackend, AgentError, NarrowedAgent};
use hob_config::RepositorySettings;
use hob_domain::{
    Catalog, ChosenBy, Claims, Deliverable, FailureClass, HandOverTarget, IssueNumber, Note, Profile, ProfileLimits,
    ProfileName, QUESTION_SYSTEM, Record, ReviewBrief, RouteChoice, RoutedText, Router, Sha, Timestamp, decide_agent,
    investigation::CaseTemplate, rendered, routing_is_off,
};
use hob_forge::fresh_nonce;
use hob_workspace::Remote;

use crate::{
    WorkError, Worker,
    agent::{agent_name, agent_names, ask_model, build_agent, build_narrowed, is_agent, without_profile},
    attempt::breaker::{note_failed_load, routing_off_until},
    authorize::chosen_agent,
    counters::{Degraded, decided, degraded},
    profiles::base_catalog,
    transition::HeldIssue,
};

/// The time that a model has to say which profile fits.
const MODEL_TIME: Duration = Duration::from_secs(2);

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
    /// What the work is to bring.
    pub(super) brings: Brings,
}

/// What work on an issue brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Brings {
    /// A pull request.
    Change,
    /// A comment.
    Comment,
    /// Issues, after approval.
    Issues,
    /// The conclusion of an investigation, as a comment.
    Conclusion,
}

/// What is wanted of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// What it brings, whatever that is.
    Its,
    Change,
    Conclusion,
}

/// Who works, and which profiles there are to hand over to.
pub(super) struct Chosen {
    pub(super) specialist: Specialist,
    /// Empty where an agent of the settings is named.
    pub(super) catalog: Catalog,
}

impl Chosen {
    fn without_profiles(specialist: Specialist, place: &Place<'_>) -> Self {
        let specialist = Specialist { brings: place.brings(), ..specialist };
        Self { specialist, catalog: Catalog::default() }
    }
}

/// Where an attempt's profiles come from.
pub(super) struct Place<'a> {
    pub(super) rules: &'a RepositorySettings,
    pub(super) remote: &'a Remote,
    pub(super) base: &'a Sha,
    pub(super) review: &'a ReviewBrief,
    /// Whether a label asks for an investigation.
    pub(super) investigates: bool,
}

impl Place<'_> {
    /// What whoever works brings, unless it is a profile that brings something else.
    fn brings(&self) -> Brings {
        if self.investigates { Brings::Conclusion } else { Brings::Change }
    }
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
    let as_profile = |name: &str| -> Option<ProfileName> { name.parse().ok().filter(|_| !is_agent(&agents, name)) };
    let by_person = chosen.as_deref().and_then(as_profile);
    let by_repository = place.rules.agent.as_deref().filter(|_| chosen.is_none()).and_then(as_profile);
    let names_an_agent = worker.agent.is_some()
        || chosen.is_some() && by_person.is_none()
        || chosen.is_none() && place.rules.agent.is_some() && by_repository.is_none();
    let is_asked_for = by_person.is_some() || by_repository.is_some();
    if names_an_agent || !(worker.settings.routing.enabled || is_asked_for) {
        if record.route.is_some() {
            let choice = RouteChoice::of_agent(by(&record, chosen.as_deref())).overriding(record.route.as_ref());
            decided(&choice, record.route.as_ref());
            held.lease.note(Note::Routed(choice)).await;
        }
        let specialist = of_settings(worker, place.rules, chosen).await?;
        return Ok(Chosen::without_profiles(specialist, &place));
    }
    let off_until = routing_off_until(worker);
    if let Some(until) = off_until
        && by_person.is_none()
    {
        let specialist = while_off(worker, held, place.rules, until).await?;
        return Ok(Chosen::without_profiles(specialist, &place));
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
    let is_settled = |present: &RouteChoice| record.is_handed_on() && !is_asked_for && present.profile.is_some();
    let choice = match record.route.clone().filter(is_settled) {
        // Who investigated has handed it over: the choice stands as long as no person makes another.
        Some(present) => present,
        None => Box::pin(route(worker, held, &catalog, claims, &place)).await,
    };
    let is_chosen = choice.profile.is_some();
    let specialist = work_by(worker, held, (&catalog, &place), choice).await?;
    // As it was met: where the profile cannot work, nobody took over.
    if let Some(met) = &held.lease.record().route {
        decided(met, record.route.as_ref());
    }
    let has_failed = catalog.unread_places > 0 || is_chosen && specialist.profile.is_none();
    if has_failed && off_until.is_none() {
        note_failed_load(worker, held).await;
    }
    Ok(Chosen { specialist, catalog })
}

/// Routing is off: the base agent works. An issue that was not routed yet is routed when its next attempt begins.
async fn while_off(
    worker: &Worker,
    held: &HeldIssue,
    rules: &RepositorySettings,
    until: Timestamp,
) -> Result<Specialist, WorkError> {
    let says = routing_is_off(until);
    degraded(Degraded::RoutingOff);
    tracing::warn!(issue = held.issue.number.0, "{says}");
    worker.progress(held.issue.number, &says);
    if let Some(present) = held.lease.record().route.filter(|_| !held.lease.record().is_handed_on()) {
        held.lease.note(Note::Routed(present.without_profile(&says))).await;
    }
    of_settings(worker, &without_profile(worker, rules), None).await
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
async fn route(
    worker: &Worker,
    held: &HeldIssue,
    catalog: &Catalog,
    claims: Claims<'_>,
    place: &Place<'_>,
) -> RouteChoice {
    let record = held.lease.record();
    let is_candidate = |profile: &&Profile| match place.investigates {
        true => !profile.case.questions.is_empty(),
        // Only work on files is given away unasked, and to nobody who is just the base agent by another name.
        false => profile.deliverable == Deliverable::Change && profile.name.as_str() != "code",
    };
    let is_enabled = |_: &&Profile| worker.settings.routing.enabled;
    let candidates: Vec<_> = catalog.profiles().filter(is_enabled).filter(is_candidate).map(Into::into).collect();
    // An investigation stays with whoever has its record: new evidence makes no other case of it.
    let message = newest_message(&record, place.review).filter(|_| !place.investigates);
    let body = rendered(message.as_deref().unwrap_or(&held.issue.body)).0;
    let title = if message.is_some() { "" } else { held.issue.title.as_str() };
    let text = RoutedText { title, body: &body, labels: &held.issue.labels };
    let (routing, rules) = (Router::new(&candidates).route(text), worker.settings.routing.rules());
    let choice = decide_agent(claims, &routing, record.route.as_ref(), rules);
    if choice.by != ChosenBy::Base || worker.settings.routing.model.is_empty() || !routing.has_a_hunch(rules) {
        return choice;
    }
    let question = routing.question(&candidates, text, &fresh_nonce());
    let Some(answer) = ask_small_model(worker, held, place, &question).await else { return choice };
    routing.answered(&candidates, (&worker.settings.routing.model, &answer), &choice).unwrap_or(choice)
}

/// What the model of `routing.model` answers, at the issue's cost. None: it did not in time, and the rules' answer counts.
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
    (catalog, place): (&Catalog, &Place<'_>),
    choice: RouteChoice,
) -> Result<Specialist, WorkError> {
    let (issue, rules) = (held.issue.number, place.rules);
    let Some(name) = &choice.profile else {
        held.lease.note(Note::Routed(choice)).await;
        let specialist = of_settings(worker, rules, None).await?;
        return Ok(Specialist { brings: place.brings(), ..specialist });
    };
    let record = held.lease.record();
    let is_chosen_again = record.route.as_ref().is_some_and(|before| before.profile == choice.profile);
    if let Some(received) = record.chain.received().filter(|_| is_chosen_again && !place.investigates) {
        // Who was chosen has handed it over since.
        held.lease.note(Note::Routed(choice)).await;
        return handed_to(worker, issue, (catalog, rules), &received.to).await;
    }
    let asks = catalog.get(name).is_some_and(|(profile, _)| !profile.case.questions.is_empty());
    let wanted = match record.pull_request {
        _ if place.investigates => Wanted::Conclusion,
        Some(_) => Wanted::Change,
        None if choice.by.is_person() && asks => Wanted::Conclusion,
        None => Wanted::Its,
    };
    match by_profile(worker, issue, (catalog, rules), (name, wanted)).await {
        Ok(specialist) => {
            let (percent, complexity, by) = (choice.percent, choice.complexity, choice.by);
            let overridden = choice.overridden.as_ref().map(ProfileName::as_str);
            tracing::info!(issue = issue.0, profile = %name, percent, complexity, ?by, overridden, "`{name}` is chosen");
            if by == ChosenBy::Router {
                worker.progress(issue, &format!("routed to `{name}`: {percent}% sure, complexity {complexity} of 10"));
            }
            held.lease.note(Note::Routed(choice)).await;
            Ok(specialist)
        }
        Err(reason) => unmet(worker, held, place, choice, reason).await,
    }
}

/// The specialist for a profile that was handed the work; the base agent, where it cannot be one.
pub(super) async fn handed_to(
    worker: &Worker,
    issue: IssueNumber,
    (catalog, rules): (&Catalog, &RepositorySettings),
    name: &ProfileName,
) -> Result<Specialist, WorkError> {
    match by_profile(worker, issue, (catalog, rules), (name, Wanted::Change)).await {
        Ok(specialist) => Ok(specialist),
        Err(reason) => base_instead(worker, issue, rules, &reason).await,
    }
}

/// The specialist that works by the profile `name`; why there is none.
async fn by_profile(
    worker: &Worker,
    issue: IssueNumber,
    (catalog, rules): (&Catalog, &RepositorySettings),
    (name, wanted): (&ProfileName, Wanted),
) -> Result<Specialist, String> {
    let Some((profile, origin)) = catalog.get(name) else {
        // It says which agents there are.
        let missing = build_agent(worker, rules, name.to_string()).await.err().map(|error| error.reason);
        let reason = missing.unwrap_or_else(|| format!("no agent `{name}`"));
        return Err(format!("{reason}; and there is no profile of that name: `hob agents` lists them"));
    };
    let brings = match (wanted, profile.deliverable) {
        (Wanted::Conclusion, _) => Brings::Conclusion,
        (Wanted::Change | Wanted::Its, Deliverable::Change) => Brings::Change,
        (Wanted::Its, Deliverable::Comment) => Brings::Comment,
        (Wanted::Its, Deliverable::Issues) => Brings::Issues,
        (Wanted::Change, Deliverable::Comment | Deliverable::Issues) => {
            return Err(format!("the profile `{name}` brings no change, and a change is what is worked on here"));
        }
    };
    let base = agent_name(worker, None, &without_profile(worker, rules)).to_owned();
    let built = build_narrowed(worker, rules, base, (profile.clone(), origin.source)).await;
    let NarrowedAgent { name: agent, agent: backend, limits, notes, approve } = built.map_err(|error| error.reason)?;
    let source = origin.source;
    tracing::info!(issue = issue.0, profile = %name, agent, %source, "the profile `{name}` works on issue {issue}");
    worker.progress(issue, &format!("the profile `{name}` works, by the agent `{agent}`"));
    for note in &notes {
        worker.progress(issue, &format!("the profile `{name}`: {note}"));
    }
    let template = CaseTemplate::of_profile(profile, approve);
    Ok(Specialist { name: name.to_string(), agent: backend, profile: Some(profile.clone()), limits, template, brings })
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
    place: &Place<'_>,
    choice: RouteChoice,
    reason: String,
) -> Result<Specialist, WorkError> {
    if choice.by.is_person() {
        return Err(AgentError { reason, failure: FailureClass::NeedsHuman }.into());
    }
    held.lease.note(Note::Routed(choice.without_profile(&reason))).await;
    let specialist = base_instead(worker, held.issue.number, place.rules, &reason).await?;
    Ok(Specialist { brings: place.brings(), ..specialist })
}

/// The base agent, because a profile cannot work.
async fn base_instead(
    worker: &Worker,
    issue: IssueNumber,
    rules: &RepositorySettings,
    reason: &str,
) -> Result<Specialist, WorkError> {
    tracing::warn!(issue = issue.0, "the base agent works: {reason}");
    degraded(Degraded::Profile);
    worker.progress(issue, &format!("the base agent works: {reason}"));
    of_settings(worker, &without_profile(worker, rules), None).await
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
    let (limits, template) = Default::default();
    Ok(Specialist { name, agent, profile: None, limits, template, brings: Brings::Change })
}
