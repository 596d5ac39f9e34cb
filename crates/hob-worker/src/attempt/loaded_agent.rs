//! The agent for an issue: one of the settings, and the profile that it works by, if one fits.
//!
//! [`who_works`] decides; here its inputs are gathered and its choice is carried out. What cannot be loaded is counted,
//! reported and replaced.

use std::{sync::Arc, time::Duration};

use hob_agent::{AgentBackend, AgentError, NarrowedAgent};
use hob_config::RepositorySettings;
use hob_domain::{
    AutoChoice, Brings, Catalog, CatalogEntry, Cause, Choice, ChosenBy, Deliverable, FailureClass, HandOffTarget,
    IssueNumber, ModelAnswer, Note, Profile, ProfileLimits, ProfileName, Quote, Record, RouterInput, Sha, Unusable,
    Works, investigation::CaseTemplate, model_question, quote_for, routing_is_off, who_works,
};
use hob_forge::fresh_nonce;
use hob_workspace::Remote;
use tokio::time::Instant;

use crate::{
    WorkError, Worker,
    agent::{agent_name, build_agent, build_narrowed, without_profile},
    attempt::{
        auto::auto,
        breaker::{note_failed_load, routing_off_until},
        route::{NewestText, ask_small_model, claims},
        switch::switch,
    },
    held_issue::HeldIssue,
    metrics::{Degraded, LoadFault, METRICS},
    profiles::base_catalog,
};

/// Why no agent works by a profile.
#[derive(Debug)]
struct NotLoaded {
    fault: LoadFault,
    says: String,
}

/// The agent, with the profile that it works by.
#[derive(Clone)]
pub(super) struct LoadedAgent {
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

/// The source of an attempt's profiles, and its inputs.
pub(super) struct Place<'a> {
    pub(super) rules: &'a RepositorySettings,
    pub(super) remote: &'a Remote,
    pub(super) base: &'a Sha,
    /// Whether a label asks for an investigation.
    pub(super) investigates: bool,
}

/// The chosen agent, and the profiles that it may hand off to.
pub(super) struct Chosen {
    pub(super) loaded: LoadedAgent,
    /// Empty if an agent of the settings is named.
    pub(super) catalog: Catalog,
    /// The repository's rules; where outcomes chose the agent, they name it.
    pub(super) rules: RepositorySettings,
}

/// Chooses who works on the issue, and notes why in the ledger.
pub(super) async fn choose(worker: &Worker, held: &HeldIssue, place: Place<'_>) -> Result<Chosen, WorkError> {
    let record = held.lease.record();
    let claims = claims(worker, &held.issue, Some(&record), place.rules, place.investigates).await?;
    let newest = NewestText::new(&held.issue, Some(&record), place.investigates);
    let router = newest.for_router(worker, &held.issue, routing_off_until(worker));
    let began = Instant::now();
    let catalog = match claims.need_profiles(&router) {
        true => base_catalog(worker, place.remote, place.base).await,
        false => Catalog::default(),
    };
    let read_in = began.elapsed();
    for warning in &catalog.warnings {
        tracing::warn!(issue = held.issue.number.0, "{warning}");
    }
    let model = worker.settings.routing.model.as_str();
    let question = match model {
        "" => None,
        _ => model_question(&claims, &record, &catalog, &router, &fresh_nonce()),
    };
    let answer = match question {
        Some(question) => ask_small_model(worker, held, place.rules, &question).await,
        None => None,
    };
    let answer = answer.as_deref().map(|text| ModelAnswer { model, text });
    let choice = who_works(&claims, &record, &catalog, &RouterInput { answer, ..router });
    report_degraded(worker, held.issue.number, &choice);
    let auto = auto(worker, place.rules, &record, &claims, &choice).await;
    let choice = match &auto {
        Some(auto) => choice.by_agent(&auto.agent),
        None => choice,
    };
    let rules = note_auto(worker, held, &record, place.rules, auto).await;
    let loaded = carry_out(worker, held, &rules, &catalog, &choice).await;
    let is_met = match &choice.works {
        Works::Agent(_) => true,
        Works::Profile(_) | Works::Unusable(..) => loaded.as_ref().is_ok_and(|loaded| loaded.profile.is_some()),
    };
    if catalog.unread_places > 0 || choice.missed.is_some() || !is_met {
        note_failed_load(worker, held).await;
    }
    let loaded = loaded?;
    if is_met
        && let (Some(from), Works::Profile(to), Some(route)) = (&choice.switched_from, &choice.works, &choice.route)
    {
        switch(worker, held, from.clone(), to.clone(), route, place.base).await?;
    }
    // Counted as it turned out: if the profile cannot work, nothing was switched.
    match choice.cause {
        Cause::PersonsAgent | Cause::OtherAgent | Cause::Choice | Cause::HandOff => {
            if let Some(met) = &held.lease.record().route {
                METRICS.profiles.decided(met, record.route.as_ref());
            }
        }
        Cause::RoutingOff(_) => {}
    }
    if let Some(quote) = quote(worker, &record, &held.lease.record()) {
        held.lease.note(Note::Quoted(quote)).await;
    }
    let took = read_in + loaded.took;
    Ok(Chosen { loaded: LoadedAgent { took, ..loaded }, catalog, rules })
}

/// Notes which agent outcomes chose; returns the rules that name it.
async fn note_auto(
    worker: &Worker,
    held: &HeldIssue,
    before: &Record,
    rules: &RepositorySettings,
    auto: Option<AutoChoice>,
) -> RepositorySettings {
    let Some(auto) = auto else { return rules.clone() };
    let rules = RepositorySettings { agent: Some(auto.agent.clone()), ..rules.clone() };
    if before.work.auto.as_ref() != Some(&auto) {
        worker.progress(held.issue.number, &format!("outcomes choose the agent `{}`: {}", auto.agent, auto.why));
        held.lease.note(Note::AgentChosen(auto)).await;
    }
    rules
}

/// What the work will probably cost, by the repository's record as it is known, if none of it was done `before` it was routed.
fn quote(worker: &Worker, before: &Record, routed: &Record) -> Option<Quote> {
    let bills = worker.forge.repository_ledger().known()?.bills;
    // The router's model may have been asked meanwhile.
    let untouched = Record { spend: before.spend, ..routed.clone() };
    quote_for(&untouched, &bills).filter(|_| before.work.quote.is_none())
}

/// Reports that routing is off, or that damaged profiles were replaced.
fn report_degraded(worker: &Worker, issue: IssueNumber, choice: &Choice) {
    let says = match (choice.cause, &choice.missed) {
        (Cause::RoutingOff(until), _) => {
            METRICS.profiles.degraded(Degraded::RoutingOff);
            routing_is_off(until)
        }
        (Cause::PersonsAgent | Cause::OtherAgent | Cause::Choice | Cause::HandOff, Some(missed)) => {
            for name in &missed.names {
                METRICS.profiles.load_failed(name.as_ref().map(ProfileName::as_str), LoadFault::Damaged);
            }
            METRICS.profiles.degraded(Degraded::Profile);
            missed.warning.clone()
        }
        (Cause::PersonsAgent | Cause::OtherAgent | Cause::Choice | Cause::HandOff, None) => return,
    };
    tracing::warn!(issue = issue.0, "{says}");
    worker.progress(issue, &says);
}

/// Makes the chosen agent, and notes the choice in the ledger. If its profile cannot work, the base agent does, unless a
/// person chose the profile.
pub(super) async fn carry_out(
    worker: &Worker,
    held: &HeldIssue,
    rules: &RepositorySettings,
    catalog: &Catalog,
    choice: &Choice,
) -> Result<LoadedAgent, WorkError> {
    let issue = held.issue.number;
    let (name, loaded) = match &choice.works {
        Works::Agent(name) => {
            note(held, choice).await;
            return of_settings(worker, rules, name, choice).await;
        }
        Works::Profile(name) => (name, by_profile(worker, issue, rules, catalog, name, choice.brings).await),
        Works::Unusable(name, why) => (name, Err(not_usable(worker, rules, catalog, name, why).await)),
    };
    let NotLoaded { fault, says } = match loaded {
        Ok(loaded) => {
            if choice.cause == Cause::Choice {
                report_choice(worker, issue, &held.lease.record(), choice);
            }
            note(held, choice).await;
            return Ok(loaded);
        }
        Err(not_loaded) => not_loaded,
    };
    METRICS.profiles.load_failed(Some(name.as_str()), fault);
    let base = agent_name(worker, None, &without_profile(worker, rules));
    let Some(instead) = choice.clone().without_profile(&base, &says) else {
        tracing::warn!(issue = issue.0, "who chose the profile is asked: {says}");
        return Err(AgentError::new(FailureClass::NeedsHuman, says).into());
    };
    note(held, &instead).await;
    tracing::warn!(issue = issue.0, "the base agent works: {says}");
    METRICS.profiles.degraded(Degraded::Profile);
    worker.progress(issue, &format!("the base agent works: {says}"));
    of_settings(worker, rules, &base, &instead).await
}

/// Notes by whom and why in the ledger.
async fn note(held: &HeldIssue, choice: &Choice) {
    if let Some(route) = &choice.route {
        held.lease.note(Note::Routed(route.clone())).await;
    }
}

/// Reports a chosen profile.
fn report_choice(worker: &Worker, issue: IssueNumber, before: &Record, choice: &Choice) {
    let Some(route) = &choice.route else { return };
    let Some(name) = &route.profile else { return };
    let (percent, complexity, by) = (route.percent, route.complexity, route.by);
    let overridden = route.overridden.as_ref().map(ProfileName::as_str);
    tracing::info!(issue = issue.0, profile = %name, percent, complexity, ?by, overridden, "`{name}` is chosen");
    let is_same = before.route.as_ref().is_some_and(|before| before.profile == route.profile);
    if is_same && before.worked() == Some(name.as_str()) {
        worker.progress(issue, &format!("returning to `{name}`, which did the work"));
    } else if by == ChosenBy::Router && is_same {
        worker.progress(issue, &format!("`{name}` stays: nothing speaks clearly for another profile"));
    } else if by == ChosenBy::Router {
        worker.progress(issue, &format!("routed to `{name}`: {percent}% sure, complexity {complexity} of 10"));
    }
    if let Some(lost) = &choice.lost_targets {
        tracing::warn!(issue = issue.0, "{lost}");
        worker.progress(issue, lost);
    }
}

/// The agent that works by the profile `name`, or why there is none.
async fn by_profile(
    worker: &Worker,
    issue: IssueNumber,
    rules: &RepositorySettings,
    catalog: &Catalog,
    name: &ProfileName,
    brings: Brings,
) -> Result<LoadedAgent, NotLoaded> {
    let began = Instant::now();
    let Some((profile, origin)) = catalog.get(name) else {
        return Err(not_usable(worker, rules, catalog, name, &Unusable::Missing).await);
    };
    let base = agent_name(worker, None, &without_profile(worker, rules));
    let built = build_narrowed(worker, rules, base, profile.clone(), origin.source).await;
    let built = built.map_err(|error| NotLoaded { fault: LoadFault::Agent, says: error.reason })?;
    let NarrowedAgent { name: agent, agent: backend, limits, notes, approve } = built;
    let source = origin.source;
    tracing::info!(issue = issue.0, profile = %name, agent, %source, "the profile `{name}` works on issue {issue}");
    worker.progress(issue, &format!("the profile `{name}` works, by the agent `{agent}`"));
    for note in &notes {
        worker.progress(issue, &format!("the profile `{name}`: {note}"));
    }
    let template = CaseTemplate::of_profile(profile, approve);
    let (name, profile, took) = (name.to_string(), Some(profile.clone()), began.elapsed());
    Ok(LoadedAgent { name, agent: backend, backend: agent, profile, limits, template, brings, took })
}

/// What is said of a profile that cannot be used.
async fn not_usable(
    worker: &Worker,
    rules: &RepositorySettings,
    catalog: &Catalog,
    name: &ProfileName,
    why: &Unusable,
) -> NotLoaded {
    match why {
        Unusable::Damaged(fault) => NotLoaded { fault: LoadFault::Damaged, says: fault.clone() },
        Unusable::Missing => NotLoaded { fault: LoadFault::Missing, says: missing(worker, rules, catalog, name).await },
        Unusable::Deliverable => {
            let says = format!("the profile `{name}` brings no change, and a change is what is worked on here");
            NotLoaded { fault: LoadFault::Deliverable, says }
        }
    }
}

/// The agents that exist instead of the named one, and the files that may be its profile.
async fn missing(worker: &Worker, rules: &RepositorySettings, catalog: &Catalog, name: &ProfileName) -> String {
    let agents = build_agent(worker, rules, name.to_string()).await.err().map(|error| error.reason);
    let agents = agents.unwrap_or_else(|| format!("no agent `{name}`"));
    let unreadable = catalog.entries.iter().filter(|entry| entry.is_unreadable()).filter_map(CatalogEntry::fault);
    let faults: String = unreadable.map(|fault| format!("; {fault}")).collect();
    format!("{agents}; and there is no profile of that name: `hob agent list` lists them{faults}")
}

/// The profiles that `profile` can currently hand off to.
pub(super) fn targets(catalog: &Catalog, profile: &Profile) -> Vec<HandOffTarget> {
    let there = profile.hand_off_to.iter().filter(|name| **name != profile.name).filter_map(|name| catalog.get(name));
    there
        .filter(|(target, _)| target.deliverable == Deliverable::Change)
        .map(|(target, _)| HandOffTarget { name: target.name.clone(), description: target.description.clone() })
        .collect()
}

/// The agent `name` of the settings, without a profile. If a person named it for this issue and it cannot be built, they
/// have to fix it.
async fn of_settings(
    worker: &Worker,
    rules: &RepositorySettings,
    name: &str,
    choice: &Choice,
) -> Result<LoadedAgent, WorkError> {
    let began = Instant::now();
    let built = build_agent(worker, rules, name.to_owned()).await;
    let is_personal = choice.cause == Cause::PersonsAgent;
    let agent = built.map_err(|error| match is_personal && error.failure == FailureClass::Misconfigured {
        true => AgentError { failure: FailureClass::NeedsHuman, ..error },
        false => error,
    })?;
    let (limits, template) = Default::default();
    let (name, backend) = (name.to_owned(), name.to_owned());
    let (brings, took) = (choice.brings, began.elapsed());
    Ok(LoadedAgent { name, agent, backend, profile: None, limits, template, brings, took })
}
