//! The specialist for an issue: an agent of the settings, and the profile that it works by, if one fits.
//!
//! # Guarantees
//! A person's choice is met, or the person is asked. Everything else is optional: a damaged profile, unreadable
//! profiles of a repository, or a missing model each leave the base agent, with a warning that names the cause.

use std::{sync::Arc, time::Duration};

use hob_agent::{AgentBackend, AgentError, NarrowedAgent};
use hob_config::RepositorySettings;
use hob_domain::{
    Catalog, CatalogEntry, ChosenBy, Deliverable, FailureClass, HandOverTarget, IssueNumber, Missed, Note, Profile,
    ProfileLimits, ProfileName, RouteChoice, Timestamp, investigation::CaseTemplate, routing_is_off,
};
use tokio::time::Instant;

use crate::{
    WorkError, Worker,
    agent::{agent_name, build_agent, build_narrowed, without_profile},
    attempt::{
        breaker::{note_failed_load, routing_off_until},
        route::{Asked, Place, route},
        switch::{former, switch},
    },
    counters::{Degraded, LoadFault, decided, degraded, load_failed},
    held_issue::HeldIssue,
    profiles::base_catalog,
};

/// Why no specialist works by a profile.
#[derive(Debug)]
struct NotLoaded {
    fault: LoadFault,
    says: String,
}

/// The agent, with the profile that it works by.
pub(super) struct Specialist {
    /// The name under which it works: the profile's, or the agent's.
    pub(super) name: String,
    pub(super) agent: Arc<dyn AgentBackend>,
    /// The agent of the settings that this is.
    pub(super) backend: String,
    pub(super) profile: Option<Profile>,
    /// The profile's limits on a run.
    pub(super) limits: ProfileLimits,
    /// The profile's template for an investigation's case.
    pub(super) template: CaseTemplate,
    /// The deliverable of the work.
    pub(super) brings: Brings,
    /// The time that loading it took.
    pub(super) took: Duration,
}

/// The deliverable of work on an issue.
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

/// The deliverable that is wanted of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// Its own, of any kind.
    Its,
    Change,
    Conclusion,
}

/// The chosen specialist, and the profiles that it may hand off to.
pub(super) struct Chosen {
    pub(super) specialist: Specialist,
    /// Empty if an agent of the settings is named.
    pub(super) catalog: Catalog,
}

impl Chosen {
    fn without_profiles(specialist: Specialist, place: &Place<'_>) -> Self {
        let specialist = Specialist { brings: brings(place), ..specialist };
        Self { specialist, catalog: Catalog::default() }
    }
}

/// The deliverable of the work, unless a profile has another one.
fn brings(place: &Place<'_>) -> Brings {
    if place.investigates { Brings::Conclusion } else { Brings::Change }
}

/// Chooses who works on the issue, and notes why in the ledger.
pub(super) async fn choose(worker: &Worker, held: &HeldIssue, place: Place<'_>) -> Result<Chosen, WorkError> {
    let record = held.lease.record();
    let asked = Asked::of(worker, &held.issue, (Some(&record), place.rules)).await?;
    if asked.names_an_agent(worker) {
        if record.route.is_some() {
            let choice = RouteChoice::of_agent(asked.by()).overriding(record.route.as_ref());
            decided(&choice, record.route.as_ref());
            held.lease.note(Note::Routed(choice)).await;
        }
        let specialist = of_settings(worker, place.rules, asked.chosen).await?;
        return Ok(Chosen::without_profiles(specialist, &place));
    }
    let off_until = routing_off_until(worker);
    if let Some(until) = off_until
        && asked.by_person.is_none()
    {
        let specialist = while_off(worker, held, place.rules, until).await?;
        return Ok(Chosen::without_profiles(specialist, &place));
    }
    let began = Instant::now();
    let catalog = base_catalog(worker, place.remote, place.base).await;
    let read_in = began.elapsed();
    for warning in &catalog.warnings {
        tracing::warn!(issue = held.issue.number.0, "{warning}");
    }
    let is_settled =
        |present: &RouteChoice| record.is_handed_on() && !asked.is_asked_for() && present.profile.is_some();
    let (choice, missed) = match record.route.clone().filter(is_settled) {
        // The investigating profile has handed it off: that choice lasts until a person makes another.
        Some(present) => (present, None),
        None => Box::pin(route(worker, held, &catalog, asked.claims(), &place)).await,
    };
    let is_chosen = choice.profile.is_some();
    let choice = match &missed {
        Some(missed) => told(worker, held, missed, choice),
        None => choice,
    };
    let specialist = work_by(worker, held, (&catalog, &place), choice).await;
    let is_met = specialist.as_ref().is_ok_and(|specialist| specialist.profile.is_some());
    if catalog.unread_places > 0 || missed.is_some() || is_chosen && !is_met {
        note_failed_load(worker, held).await;
    }
    let specialist = specialist?;
    // Noted as it turned out: if the profile cannot work, nothing was switched.
    if let Some(met) = &held.lease.record().route {
        decided(met, record.route.as_ref());
    }
    let took = read_in + specialist.took;
    Ok(Chosen { specialist: Specialist { took, ..specialist }, catalog })
}

/// Reports the damaged profiles that were replaced.
fn told(worker: &Worker, held: &HeldIssue, missed: &Missed, choice: RouteChoice) -> RouteChoice {
    let issue = held.issue.number;
    for name in &missed.names {
        load_failed(name.as_ref().map(ProfileName::as_str), LoadFault::Damaged);
    }
    degraded(Degraded::Profile);
    tracing::warn!(issue = issue.0, "{}", missed.warning);
    worker.progress(issue, &missed.warning);
    RouteChoice { warning: Some(missed.warning.clone()), ..choice }
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
        return Ok(Specialist { brings: brings(place), ..specialist });
    };
    let record = held.lease.record();
    let is_chosen_again = record.route.as_ref().is_some_and(|before| before.profile == choice.profile);
    if let Some(received) = record.chain.received().filter(|of| is_chosen_again && !of.switched && !place.investigates)
    {
        // The chosen profile has handed off the work since.
        held.lease.note(Note::Routed(choice)).await;
        return handed_to(worker, held, (catalog, rules), &received.to).await;
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
            if by == ChosenBy::Router && is_chosen_again {
                worker.progress(issue, &format!("`{name}` stays: nothing speaks clearly for another profile"));
            } else if by == ChosenBy::Router {
                worker.progress(issue, &format!("routed to `{name}`: {percent}% sure, complexity {complexity} of 10"));
            }
            let from = former(&record, name).filter(|_| specialist.brings == Brings::Change);
            let lost = specialist.profile.as_ref().and_then(|profile| catalog.damaged_targets(profile));
            if let Some(lost) = &lost {
                tracing::warn!(issue = issue.0, "{lost}");
                worker.progress(issue, lost);
            }
            let name = name.clone();
            let choice = RouteChoice { warning: choice.warning.clone().or(lost), ..choice };
            let chosen = choice.clone();
            held.lease.note(Note::Routed(choice)).await;
            if let Some(from) = from {
                switch(worker, held, (from, name), (&chosen, place.base)).await?;
            }
            Ok(specialist)
        }
        Err(NotLoaded { says, .. }) => unmet(worker, held, place, choice, says).await,
    }
}

/// The specialist for a profile that was handed the work; the base agent if the profile cannot work.
pub(super) async fn handed_to(
    worker: &Worker,
    held: &HeldIssue,
    (catalog, rules): (&Catalog, &RepositorySettings),
    name: &ProfileName,
) -> Result<Specialist, WorkError> {
    let issue = held.issue.number;
    let says = match by_profile(worker, issue, (catalog, rules), (name, Wanted::Change)).await {
        Ok(specialist) => return Ok(specialist),
        Err(NotLoaded { says, .. }) => says,
    };
    if let Some(route) = held.lease.record().route {
        let warning = Some(format!("the base agent works: {says}"));
        held.lease.note(Note::Routed(RouteChoice { warning, ..route })).await;
    }
    base_instead(worker, issue, rules, &says).await
}

/// The specialist that works by the profile `name`, or why there is none.
async fn by_profile(
    worker: &Worker,
    issue: IssueNumber,
    (catalog, rules): (&Catalog, &RepositorySettings),
    (name, wanted): (&ProfileName, Wanted),
) -> Result<Specialist, NotLoaded> {
    let began = Instant::now();
    let loaded = build(worker, issue, (catalog, rules), (name, wanted)).await;
    if let Err(NotLoaded { fault, .. }) = &loaded {
        load_failed(Some(name.as_str()), *fault);
    }
    loaded.map(|specialist| Specialist { took: began.elapsed(), ..specialist })
}

async fn build(
    worker: &Worker,
    issue: IssueNumber,
    (catalog, rules): (&Catalog, &RepositorySettings),
    (name, wanted): (&ProfileName, Wanted),
) -> Result<Specialist, NotLoaded> {
    let Some((profile, origin)) = catalog.get(name) else {
        return Err(match catalog.damaged(name).and_then(CatalogEntry::fault) {
            Some(says) => NotLoaded { fault: LoadFault::Damaged, says },
            None => NotLoaded { fault: LoadFault::Missing, says: missing(worker, (catalog, rules), name).await },
        });
    };
    let brings = match (wanted, profile.deliverable) {
        (Wanted::Conclusion, _) => Brings::Conclusion,
        (Wanted::Change | Wanted::Its, Deliverable::Change) => Brings::Change,
        (Wanted::Its, Deliverable::Comment) => Brings::Comment,
        (Wanted::Its, Deliverable::Issues) => Brings::Issues,
        (Wanted::Change, Deliverable::Comment | Deliverable::Issues) => {
            let says = format!("the profile `{name}` brings no change, and a change is what is worked on here");
            return Err(NotLoaded { fault: LoadFault::Deliverable, says });
        }
    };
    let base = agent_name(worker, None, &without_profile(worker, rules)).to_owned();
    let built = build_narrowed(worker, rules, base, (profile.clone(), origin.source)).await;
    let built = built.map_err(|error| NotLoaded { fault: LoadFault::Agent, says: error.reason })?;
    let NarrowedAgent { name: agent, agent: backend, limits, notes, approve } = built;
    let source = origin.source;
    tracing::info!(issue = issue.0, profile = %name, agent, %source, "the profile `{name}` works on issue {issue}");
    worker.progress(issue, &format!("the profile `{name}` works, by the agent `{agent}`"));
    for note in &notes {
        worker.progress(issue, &format!("the profile `{name}`: {note}"));
    }
    let (template, took) = (CaseTemplate::of_profile(profile, approve), Duration::ZERO);
    let (name, profile) = (name.to_string(), Some(profile.clone()));
    Ok(Specialist { name, agent: backend, backend: agent, profile, limits, template, brings, took })
}

/// The agents that exist instead of the named one, and the files that may be its profile.
async fn missing(worker: &Worker, (catalog, rules): (&Catalog, &RepositorySettings), name: &ProfileName) -> String {
    let agents = build_agent(worker, rules, name.to_string()).await.err().map(|error| error.reason);
    let agents = agents.unwrap_or_else(|| format!("no agent `{name}`"));
    let unreadable = catalog.entries.iter().filter(|entry| entry.is_unreadable()).filter_map(CatalogEntry::fault);
    let faults: String = unreadable.map(|fault| format!("; {fault}")).collect();
    format!("{agents}; and there is no profile of that name: `hob agents` lists them{faults}")
}

/// The profiles that `profile` can currently hand off to.
pub(super) fn targets(catalog: &Catalog, profile: &Profile) -> Vec<HandOverTarget> {
    let there = profile.hand_off_to.iter().filter(|name| **name != profile.name).filter_map(|name| catalog.get(name));
    there
        .filter(|(target, _)| target.deliverable == Deliverable::Change)
        .map(|(target, _)| HandOverTarget { name: target.name.clone(), description: target.description.clone() })
        .collect()
}

/// A choice that cannot be met: the person who made it is asked; without one, the base agent works.
async fn unmet(
    worker: &Worker,
    held: &HeldIssue,
    place: &Place<'_>,
    choice: RouteChoice,
    reason: String,
) -> Result<Specialist, WorkError> {
    if choice.by.is_person() {
        tracing::warn!(issue = held.issue.number.0, "who chose the profile is asked: {reason}");
        return Err(AgentError { reason, failure: FailureClass::NeedsHuman }.into());
    }
    let warning = Some(format!("the base agent works: {reason}"));
    held.lease.note(Note::Routed(RouteChoice { warning, ..choice.without_profile(&reason) })).await;
    let specialist = base_instead(worker, held.issue.number, place.rules, &reason).await?;
    Ok(Specialist { brings: brings(place), ..specialist })
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

/// An agent of the settings, without a profile. If a person named it for this issue and it cannot be built, they have
/// to fix it.
async fn of_settings(
    worker: &Worker,
    rules: &RepositorySettings,
    chosen: Option<String>,
) -> Result<Specialist, WorkError> {
    let began = Instant::now();
    let name = agent_name(worker, chosen.as_deref(), rules).to_owned();
    let built = build_agent(worker, rules, name.clone()).await;
    let agent = built.map_err(|error| match (chosen, error.failure) {
        (Some(chosen), FailureClass::Misconfigured) if chosen == name => {
            AgentError { reason: error.reason, failure: FailureClass::NeedsHuman }
        }
        (_, failure) => AgentError { reason: error.reason, failure },
    })?;
    let (limits, template) = Default::default();
    let backend = name.clone();
    Ok(Specialist {
        name,
        agent,
        backend,
        profile: None,
        limits,
        template,
        brings: Brings::Change,
        took: began.elapsed(),
    })
}
