//! Who works on an issue: an agent of the settings or a profile, and what the work brings.
//!
//! # Flow
//! [`who_works`] decides from what people, the repository and the process say, from the ledger, and from the profiles.
//! The worker gathers these inputs, makes the agent, and asks for [`Choice::without_profile`] if that fails.
//!
//! # Guarantees
//! A person's choice is met, or the person is asked. Everything else is optional: a damaged profile, unreadable profiles
//! of a repository, or a missing model each leave the base agent, with a warning that names the cause.

use crate::{
    Candidate, Catalog, CatalogEntry, ChosenBy, Claim, Deliverable, Missed, ModelAnswer, Nonce, Profile, ProfileName,
    Record, RouteChoice, RoutedText, Router, Routing, RoutingRules, Timestamp, decide_agent, missed, routing_is_off,
};

/// The base agent's own profile: it is chosen by name only.
const BASE_PROFILE: &str = "code";

/// What a person or a repository names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Named {
    /// An agent of the settings, or a name that no profile can have.
    Agent(String),
    /// A profile, whether or not it exists.
    Profile(ProfileName),
}

impl Named {
    fn agent(&self) -> Option<&str> {
        match self {
            Self::Agent(name) => Some(name),
            Self::Profile(_) => None,
        }
    }

    fn profile(&self) -> Option<&ProfileName> {
        match self {
            Self::Agent(_) => None,
            Self::Profile(name) => Some(name),
        }
    }
}

/// A person's choice for one issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonalChoice {
    /// Who is to work.
    pub named: Named,
    /// A command or a label.
    pub by: ChosenBy,
}

/// What is said about who works on an issue, other than by the router.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claims {
    /// The agent that `--agent` names.
    pub process: Option<String>,
    /// The choice of an authorized account.
    pub person: Option<PersonalChoice>,
    /// Who did the work that is in review. `None` if nothing is.
    pub worked: Option<Named>,
    /// The agent or profile that `.github/hob.toml` names.
    pub repository: Option<Named>,
    /// The agent that works if nothing is named.
    pub default_agent: String,
    /// Whether a label asks for an investigation.
    pub investigates: bool,
}

impl Claims {
    /// Whether the profiles decide who works, so that they have to be read.
    pub fn need_profiles(&self, router: &RouterInput<'_>) -> bool {
        !self.name_agent(router) && self.off_until(router).is_none()
    }

    /// The agent of the settings that works unless a profile does.
    fn agent(&self) -> &str {
        self.named_agent().unwrap_or(&self.default_agent)
    }

    /// Whether anything names an agent of the settings, so that the default one does not work.
    pub fn name_an_agent(&self) -> bool {
        self.named_agent().is_some()
    }

    fn named_agent(&self) -> Option<&str> {
        let of_person = || self.person.as_ref().and_then(|choice| choice.named.agent());
        let of_repository = || self.repository.as_ref().and_then(Named::agent);
        let worked = || self.kept().and_then(Named::agent);
        self.process.as_deref().or_else(of_person).or_else(worked).or_else(of_repository)
    }

    /// Who goes on with the work in review. `None` if a person asks for another one.
    fn kept(&self) -> Option<&Named> {
        self.worked.as_ref().filter(|_| self.person.is_none())
    }

    /// Whether a profile goes on with its work in review.
    fn keeps_profile(&self) -> bool {
        self.kept().is_some_and(|kept| kept.profile().is_some())
    }

    /// The profile that is asked for. A person's agent hides the repository's profile.
    fn profile(&self) -> Option<Claim<'_>> {
        let (named, by) = match (&self.person, &self.repository) {
            (Some(choice), _) => (&choice.named, choice.by),
            (None, Some(named)) => (named, ChosenBy::Repository),
            (None, None) => return None,
        };
        Some(Claim { profile: named.profile()?, by })
    }

    /// Whether an agent of the settings works, without a profile.
    fn name_agent(&self, router: &RouterInput<'_>) -> bool {
        if self.process.is_some() {
            return true;
        }
        if let Some(kept) = self.kept() {
            return kept.agent().is_some();
        }
        let names_agent = self.person.is_some() || self.repository.is_some();
        self.profile().is_none() && (names_agent || !router.enabled)
    }

    /// Until when routing is off for the issue. A person's profile is loaded all the same, and one whose work is in review.
    fn off_until(&self, router: &RouterInput<'_>) -> Option<Timestamp> {
        let is_chosen = self.person.as_ref().is_some_and(|choice| choice.named.profile().is_some());
        router.off_until.filter(|_| !is_chosen && !self.keeps_profile())
    }
}

/// The router's settings, its state, and the text that it reads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RouterInput<'a> {
    /// Whether the settings let it choose.
    pub enabled: bool,
    /// When the circuit breaker turns routing on again; `None` if it is on.
    pub off_until: Option<Timestamp>,
    /// The thresholds.
    pub rules: RoutingRules,
    /// The newest message, otherwise the issue.
    pub text: RoutedText<'a>,
    /// The answer to [`model_question`]; `None` if no model was asked, or it did not answer.
    pub answer: Option<ModelAnswer<'a>>,
}

/// The deliverable of work on an issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Brings {
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
    Any,
    Change,
    Conclusion,
}

/// Who works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Works {
    /// An agent of the settings, without a profile.
    Agent(String),
    /// A profile of the catalog.
    Profile(ProfileName),
    /// A chosen profile that cannot be used.
    Unusable(ProfileName, Unusable),
}

/// Why a chosen profile cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unusable {
    /// Its file is damaged, and how.
    Damaged(String),
    /// There is no profile of that name.
    Missing,
    /// It brings no change, and a change is wanted.
    Deliverable,
}

/// What decided who works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// A person named this agent of the settings for the issue.
    PersonsAgent,
    /// The process or the repository names an agent of the settings, or nothing is named and routing is disabled.
    OtherAgent,
    /// The circuit breaker is open until this time.
    RoutingOff(Timestamp),
    /// A person, the repository or the router chose, or nobody did.
    Choice,
    /// The profile that was chosen has handed off the work since.
    HandOff,
}

/// Who works on an issue, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// Who works.
    pub works: Works,
    /// The deliverable of the work.
    pub brings: Brings,
    /// What decided it.
    pub cause: Cause,
    /// By whom and why, for the ledger. `None` if the ledger stays as it is.
    pub route: Option<RouteChoice>,
    /// The damaged profiles in whose place it works.
    pub missed: Option<Missed>,
    /// The damaged profiles that it cannot hand off to.
    pub lost_targets: Option<String>,
    /// The profile whose work it continues, because the choice is another one now.
    pub switched_from: Option<ProfileName>,
}

impl Choice {
    fn agent(name: &str, brings: Brings, cause: Cause, route: Option<RouteChoice>) -> Self {
        let works = Works::Agent(name.to_owned());
        Self { works, brings, cause, route, missed: None, lost_targets: None, switched_from: None }
    }

    /// The profile `name` works because it was handed the work; `route` is the choice so far.
    pub fn handed_over(catalog: &Catalog, name: &ProfileName, route: Option<RouteChoice>) -> Self {
        Self { cause: Cause::HandOff, ..Self::profile(catalog, name, Wanted::Change, route) }
    }

    fn profile(catalog: &Catalog, name: &ProfileName, wanted: Wanted, route: Option<RouteChoice>) -> Self {
        let cause = Cause::Choice;
        let (works, brings) = match brings(catalog, name, wanted) {
            Ok(brings) => (Works::Profile(name.clone()), brings),
            Err(why) => (Works::Unusable(name.clone(), why), instead(wanted)),
        };
        Self { works, brings, cause, route, missed: None, lost_targets: None, switched_from: None }
    }

    /// The same by this agent, in place of the default one.
    #[must_use]
    pub fn by_agent(self, agent: &str) -> Self {
        let works = match self.works {
            Works::Agent(_) => Works::Agent(agent.to_owned()),
            works @ (Works::Profile(_) | Works::Unusable(..)) => works,
        };
        Self { works, ..self }
    }

    /// The base agent works, because the profile cannot: `reason` says why. `None` if a person chose the profile, who
    /// is asked then.
    pub fn without_profile(self, agent: &str, reason: &str) -> Option<Self> {
        let warning = Some(format!("the base agent works: {reason}"));
        let route = match self.cause {
            Cause::HandOff => self.route.map(|route| RouteChoice { warning, ..route }),
            Cause::PersonsAgent | Cause::OtherAgent | Cause::RoutingOff(_) | Cause::Choice => {
                if self.route.as_ref().is_some_and(|route| route.by.is_person()) {
                    return None;
                }
                self.route.map(|route| RouteChoice { warning, ..route.without_profile(reason) })
            }
        };
        let brings = match self.brings {
            Brings::Conclusion => Brings::Conclusion,
            Brings::Change | Brings::Comment | Brings::Issues => Brings::Change,
        };
        Some(Self { missed: self.missed, ..Self::agent(agent, brings, self.cause, route) })
    }
}

/// The deliverable of the base agent in the place of a profile.
fn instead(wanted: Wanted) -> Brings {
    match wanted {
        Wanted::Conclusion => Brings::Conclusion,
        Wanted::Any | Wanted::Change => Brings::Change,
    }
}

/// What the profile `name` brings.
fn brings(catalog: &Catalog, name: &ProfileName, wanted: Wanted) -> Result<Brings, Unusable> {
    let Some((profile, _)) = catalog.get(name) else {
        let fault = catalog.damaged(name).and_then(CatalogEntry::fault);
        return Err(fault.map_or(Unusable::Missing, Unusable::Damaged));
    };
    match (wanted, profile.deliverable) {
        (Wanted::Conclusion, _) => Ok(Brings::Conclusion),
        (Wanted::Change | Wanted::Any, Deliverable::Change) => Ok(Brings::Change),
        (Wanted::Any, Deliverable::Comment) => Ok(Brings::Comment),
        (Wanted::Any, Deliverable::Issues) => Ok(Brings::Issues),
        (Wanted::Change, Deliverable::Comment | Deliverable::Issues) => Err(Unusable::Deliverable),
    }
}

/// Decides who works on the issue of `record`.
///
/// The catalog may be empty unless [`Claims::need_profiles`].
pub fn who_works(claims: &Claims, record: &Record, catalog: &Catalog, router: &RouterInput<'_>) -> Choice {
    let present = record.route.as_ref();
    let base = instead(if claims.investigates { Wanted::Conclusion } else { Wanted::Change });
    if claims.name_agent(router) {
        // An issue that was never routed has nothing to override, and an agent that goes on overrides nothing.
        let by = claims.person.as_ref().map_or(ChosenBy::Repository, |choice| choice.by);
        let goes_on = claims.process.is_none() && claims.kept().is_some();
        let route = present.filter(|_| !goes_on).map(|_| RouteChoice::of_agent(by).overriding(present));
        let of_person = claims.person.as_ref().and_then(|choice| choice.named.agent());
        let cause = if of_person == Some(claims.agent()) { Cause::PersonsAgent } else { Cause::OtherAgent };
        return Choice::agent(claims.agent(), base, cause, route);
    }
    if let Some(until) = claims.off_until(router) {
        // An issue that is not routed yet is routed at its next attempt.
        let routed = present.filter(|_| !record.is_handed_on()).cloned();
        let route = routed.map(|present| present.without_profile(&routing_is_off(until)));
        return Choice::agent(claims.agent(), base, Cause::RoutingOff(until), route);
    }
    let (route, missed) = match settled(claims, record) {
        Some(settled) => (settled.clone(), None),
        None => routed(claims, present, catalog, router),
    };
    let choice = match route.profile.clone() {
        None => Choice::agent(claims.agent(), base, Cause::Choice, Some(route)),
        Some(name) => chosen(claims, record, catalog, &name, route),
    };
    Choice { missed, ..choice }
}

/// The choice of a profile, unless that profile has handed off the work.
fn chosen(claims: &Claims, record: &Record, catalog: &Catalog, name: &ProfileName, route: RouteChoice) -> Choice {
    let is_chosen_again = record.route.as_ref().is_some_and(|before| before.profile.as_ref() == Some(name));
    let received = record.chain.received().filter(|received| is_chosen_again && !received.switched);
    if let Some(received) = received.filter(|_| !claims.investigates) {
        return Choice::handed_over(catalog, &received.to, Some(route));
    }
    let profile = catalog.get(name).map(|(profile, _)| profile);
    let asks = profile.is_some_and(|profile| !profile.case.questions.is_empty());
    let wanted = match record.pull.number {
        _ if claims.investigates => Wanted::Conclusion,
        Some(_) => Wanted::Change,
        None if route.by.is_person() && asks => Wanted::Conclusion,
        None => Wanted::Any,
    };
    let lost_targets = profile.and_then(|profile| catalog.damaged_targets(profile));
    let route = RouteChoice { warning: route.warning.clone().or_else(|| lost_targets.clone()), ..route };
    let choice = Choice::profile(catalog, name, wanted, Some(route));
    // Only a change is continued: a comment or a conclusion is begun anew.
    let switched_from = former(record, name).filter(|_| choice.brings == Brings::Change);
    Choice { lost_targets, switched_from, ..choice }
}

/// The profile whose work `to` gets; `None` if there is none, or it is its own.
fn former(record: &Record, to: &ProfileName) -> Option<ProfileName> {
    record.session.as_ref()?;
    let routed = || record.route.as_ref().and_then(|route| route.profile.as_ref());
    let worked = record.chain.received().map(|received| &received.to).or_else(routed)?;
    (worked != to).then(|| worked.clone())
}

/// The choice that holds until a person asks for another profile: that of work in review, and of an investigation that was
/// handed off.
fn settled<'a>(claims: &Claims, record: &'a Record) -> Option<&'a RouteChoice> {
    let is_settled = claims.keeps_profile() || record.is_handed_on() && claims.profile().is_none();
    record.route.as_ref().filter(|present| is_settled && present.profile.is_some())
}

/// The router's choice, after the requests of people and the repository, and the damaged profiles that it misses.
fn routed(
    claims: &Claims,
    present: Option<&RouteChoice>,
    catalog: &Catalog,
    router: &RouterInput<'_>,
) -> (RouteChoice, Option<Missed>) {
    let RouterInput { rules, text, .. } = *router;
    let is_candidate = |profile: &Profile| is_candidate(claims, router, profile);
    let (candidates, routing) = ranked(claims, catalog, router);
    let mut choice = decide_agent(claims.profile(), &routing, present, rules);
    if let Some(answer) = router.answer.filter(|_| may_ask_model(&choice, &routing, rules)) {
        choice = routing.answered(&candidates, answer, &choice).unwrap_or(choice);
    }
    let missed = missed(catalog, is_candidate, text, &choice, present, rules);
    let warning = missed.as_ref().map(|missed| missed.warning.clone());
    (RouteChoice { warning: warning.or(choice.warning), ..choice }, missed)
}

/// The profiles that the router may choose, and how likely each is.
fn ranked(claims: &Claims, catalog: &Catalog, router: &RouterInput<'_>) -> (Vec<Candidate>, Routing) {
    let candidates = catalog.profiles().filter(|profile| is_candidate(claims, router, profile));
    let candidates: Vec<Candidate> = candidates.map(|profile| Candidate::new(catalog, profile)).collect();
    let routing = Router::new(&candidates).route(router.text);
    (candidates, routing)
}

/// Whether the router may choose the profile.
fn is_candidate(claims: &Claims, router: &RouterInput<'_>, profile: &Profile) -> bool {
    let fits = match claims.investigates {
        true => !profile.case.questions.is_empty(),
        // Only work on files is routed without a request.
        false => profile.deliverable == Deliverable::Change && profile.name.as_str() != BASE_PROFILE,
    };
    fits && router.enabled
}

fn may_ask_model(choice: &RouteChoice, routing: &Routing, rules: RoutingRules) -> bool {
    choice.by == ChosenBy::Base && routing.has_a_hunch(rules)
}

/// The question for a small model: which profile fits. `None` if its answer would decide nothing.
pub fn model_question(
    claims: &Claims,
    record: &Record,
    catalog: &Catalog,
    router: &RouterInput<'_>,
    fence: &Nonce,
) -> Option<String> {
    if !claims.need_profiles(router) || settled(claims, record).is_some() {
        return None;
    }
    let (candidates, routing) = ranked(claims, catalog, router);
    let choice = decide_agent(claims.profile(), &routing, record.route.as_ref(), router.rules);
    let asks = may_ask_model(&choice, &routing, router.rules);
    asks.then(|| routing.question(&candidates, router.text, fence))
}

/// Why a profile that would work on the issue now, or might, cannot be used.
pub fn profile_warning(
    claims: &Claims,
    record: Option<&Record>,
    catalog: &Catalog,
    router: &RouterInput<'_>,
) -> Option<String> {
    // A profile that was handed the work keeps it.
    let handed_to = record.and_then(|record| record.chain.received()).map(|received| &received.to);
    let settled = record.and_then(|record| settled(claims, record));
    let kept = settled.and_then(|settled| settled.profile.as_ref());
    let named = handed_to.or(kept).or_else(|| claims.profile().map(|claim| claim.profile));
    if let Some(name) = named.filter(|name| catalog.get(name).is_none()) {
        return catalog.damaged(name).and_then(CatalogEntry::fault);
    }
    let (choice, missed) = match settled {
        Some(settled) => (settled.clone(), None),
        None => routed(claims, record.and_then(|record| record.route.as_ref()), catalog, router),
    };
    let chosen = choice.profile.as_ref().and_then(|name| catalog.get(name));
    let lost = || catalog.damaged_targets(chosen?.0);
    missed.map(|missed| missed.warning).or_else(lost)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Claimant, HandOff, HandOffLog, IssueNumber, PassedOn, ProfileFile, ProfileFiles, ProfileSource, PullLog,
        PullNumber, Received, RunId, Sha, Spend, WorkerId, acquire,
    };

    /// The router is sure that this is the `dns` profile's.
    const ISSUE: RoutedText<'static> = RoutedText {
        title: "DNS: the resolver does not find our CNAME and MX record",
        body: "The zone file has stale records:\n\n- `www` has a CNAME that no resolver finds\n- the MX record is gone\n- the \
               nameserver has the old zone\n\n```\nSERVFAIL\n```\n\nReview `zones/a.zone` and `zones/b.zone`, and write down how the \
               nameserver is migrated.",
        labels: &[],
    };
    const SIMPLE: RoutedText<'static> = RoutedText { title: "Fix a typo", body: "", labels: &[] };

    fn name(text: &str) -> ProfileName {
        text.parse().unwrap()
    }

    fn catalog() -> Catalog {
        let file = |(name, hob): (&str, &str)| {
            let description =
                if name == "dns" { "DNS zones, records, resolvers and nameservers" } else { "Reviews after it" };
            let content = format!("---\nname: {name}\ndescription: {description}\nhob:\n  {hob}\n---\nDo it.");
            let name = format!("{name}.md");
            ProfileFile { source: ProfileSource::GithubAgents, name, content: Ok(content.into_bytes()) }
        };
        let files = [
            ("dns", "match: {words: [nameserver, resolver, CNAME]}"),
            ("cloud", "hand_off_to: [broken]"),
            ("research", "deliverable: comment"),
            ("triage", "questions: [{text: Since when?, required: true}]"),
            ("broken", "limits: {turns: 3}"),
        ];
        Catalog::new([ProfileFiles { files: files.map(file).into(), left_out: 0 }], 100)
    }

    fn record() -> Record {
        let (worker, nonce) = (WorkerId::from("w"), Nonce::from("n"));
        let (duration, skew) = (std::time::Duration::from_secs(60), std::time::Duration::ZERO);
        acquire(None, IssueNumber(7), &Claimant { worker, nonce, duration, skew, bill: None }, Timestamp::UNIX_EPOCH)
            .unwrap()
    }

    /// A record in which `profile` has worked by the choice `by`.
    fn routed_to(profile: &str, by: ChosenBy) -> Record {
        let reasons = vec!["it was chosen before".to_owned()];
        let profile = Some(name(profile));
        let route = RouteChoice { by, profile, percent: 90, complexity: 5, reasons, overridden: None, warning: None };
        Record { route: Some(route), session: Some(RunId("s".to_owned())), ..record() }
    }

    /// The same after `from` handed off the work to `to`.
    fn handed(record: Record, from: &str, to: &str) -> Record {
        let received = Received { from: name(from), to: name(to), hand_off: HandOff::default(), switched: false };
        let (head, session) = (Sha::from("h"), RunId("s".to_owned()));
        let mut chain = record.chain.clone();
        chain.take(PassedOn { received, percent: None, spend: Spend::default(), head, session }, Spend::default());
        Record { chain, ..record }
    }

    fn claims() -> Claims {
        let default_agent = "native".to_owned();
        Claims { process: None, person: None, worked: None, repository: None, default_agent, investigates: false }
    }

    fn person(named: Named, by: ChosenBy) -> Claims {
        Claims { person: Some(PersonalChoice { named, by }), ..claims() }
    }

    fn profile(text: &str) -> Named {
        Named::Profile(name(text))
    }

    fn agent(text: &str) -> Named {
        Named::Agent(text.to_owned())
    }

    fn router(text: RoutedText<'static>) -> RouterInput<'static> {
        RouterInput { enabled: true, off_until: None, rules: RoutingRules::default(), text, answer: None }
    }

    fn told(choice: &Choice) -> String {
        let works = match &choice.works {
            Works::Agent(name) => format!("agent {name}"),
            Works::Profile(name) => format!("profile {name}"),
            Works::Unusable(name, Unusable::Damaged(_)) => format!("damaged {name}"),
            Works::Unusable(name, why) => format!("no {name} ({why:?})"),
        };
        let cause = match choice.cause {
            Cause::RoutingOff(_) => "RoutingOff".to_owned(),
            cause @ (Cause::PersonsAgent | Cause::OtherAgent | Cause::Choice | Cause::HandOff) => format!("{cause:?}"),
        };
        let mut told = format!("{works}, {:?}, {cause}", choice.brings);
        if let Some(RouteChoice { by, reasons, overridden, .. }) = &choice.route {
            told.push_str(&format!(", by {by:?}: {}", reasons[0]));
            if let Some(overridden) = overridden {
                told.push_str(&format!(", instead of {overridden}"));
            }
        }
        if let Some(former) = &choice.switched_from {
            told.push_str(&format!(", continues {former}"));
        }
        if choice.lost_targets.is_some() {
            told.push_str(", lost targets");
        }
        told
    }

    /// What one row of a table says, and its inputs.
    type Row<'a> = (&'a str, Claims, Record, RouterInput<'a>);

    /// The choices of the rows.
    fn table(rows: impl IntoIterator<Item = Row<'static>>) -> String {
        let catalog = catalog();
        let lines = rows.into_iter().map(|(row, claims, record, router)| {
            let choice = who_works(&claims, &record, &catalog, &router);
            let is_of_profiles = matches!(choice.cause, Cause::Choice | Cause::HandOff);
            assert_eq!(claims.need_profiles(&router), is_of_profiles, "{row}");
            format!("{row}: {}", told(&choice))
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Rows M1, M4, M6: a person comes before the router and its circuit breaker, and the process before all.
    #[test]
    fn a_person_and_the_process_come_before_the_router() {
        use ChosenBy::{Command, Label, Router};
        let (sure, simple) = (router(ISSUE), router(SIMPLE));
        let off = RouterInput { off_until: Some(Timestamp::UNIX_EPOCH), ..sure };
        let disabled = RouterInput { enabled: false, ..sure };
        let of_process = |claims| Claims { process: Some("own".to_owned()), ..claims };
        let in_review = |record| Record { pull: PullLog::of(PullNumber(8)), ..record };
        let (fresh, dns) = (record(), routed_to("dns", Router));
        let both = Claims { repository: Some(agent("repo")), ..person(profile("cloud"), Label) };
        let rows = [
            ("nothing said", claims(), fresh.clone(), sure),
            ("nothing said, a simple issue", claims(), fresh.clone(), simple),
            ("nothing said, routing disabled", claims(), fresh.clone(), disabled),
            ("nothing said, routing broken", claims(), fresh.clone(), off),
            ("nothing said, routing broken later", claims(), dns.clone(), off),
            ("--agent", of_process(claims()), fresh.clone(), sure),
            ("--agent, a label for a profile", of_process(person(profile("cloud"), Label)), dns.clone(), sure),
            ("a label for an agent", person(agent("claude"), Label), fresh.clone(), sure),
            ("a label for an agent, routed before", person(agent("claude"), Label), dns.clone(), sure),
            ("a command for a profile", person(profile("cloud"), Command), fresh.clone(), sure),
            ("a command for a profile, routed before", person(profile("cloud"), Command), dns.clone(), sure),
            ("a command for a profile, routing disabled", person(profile("cloud"), Command), fresh.clone(), disabled),
            ("a command for a profile, routing broken", person(profile("cloud"), Command), fresh.clone(), off),
            ("a label for a profile, the repository's agent", both, fresh.clone(), sure),
            ("a label for a profile that is gone", person(profile("gone"), Label), fresh.clone(), sure),
            ("a label for a damaged profile", person(profile("broken"), Label), fresh.clone(), sure),
            ("a label for a profile that asks", person(profile("triage"), Label), fresh.clone(), sure),
            (
                "a label for a profile that asks, in review",
                person(profile("triage"), Label),
                in_review(fresh.clone()),
                sure,
            ),
            ("a label for a comment", person(profile("research"), Label), fresh.clone(), sure),
            ("a label for a comment, routed before", person(profile("research"), Label), dns.clone(), sure),
            ("a label for a comment, in review", person(profile("research"), Label), in_review(fresh.clone()), sure),
        ];
        insta::assert_snapshot!(table(rows), @"
        nothing said: profile dns, Change, Choice, by Router: the title's kind `DNS`
        nothing said, a simple issue: agent native, Change, Choice, by Base: the likeliest profile, `cloud`, is not likely enough
        nothing said, routing disabled: agent native, Change, OtherAgent
        nothing said, routing broken: agent native, Change, RoutingOff
        nothing said, routing broken later: agent native, Change, RoutingOff, by Base: routing is off until 1970-01-01 00:00:00 UTC: 3 loads of profiles failed within 5 minutes; the base agent works
        --agent: agent own, Change, OtherAgent
        --agent, a label for a profile: agent own, Change, OtherAgent, by Label: an agent of the settings is named, instead of dns
        a label for an agent: agent claude, Change, PersonsAgent
        a label for an agent, routed before: agent claude, Change, PersonsAgent, by Label: an agent of the settings is named, instead of dns
        a command for a profile: profile cloud, Change, Choice, by Command: `/hob agent` says so, instead of dns, lost targets
        a command for a profile, routed before: profile cloud, Change, Choice, by Command: `/hob agent` says so, instead of dns, continues dns, lost targets
        a command for a profile, routing disabled: profile cloud, Change, Choice, by Command: `/hob agent` says so, lost targets
        a command for a profile, routing broken: profile cloud, Change, Choice, by Command: `/hob agent` says so, instead of dns, lost targets
        a label for a profile, the repository's agent: profile cloud, Change, Choice, by Label: a label says so, instead of dns, lost targets
        a label for a profile that is gone: no gone (Missing), Change, Choice, by Label: a label says so, instead of dns
        a label for a damaged profile: damaged broken, Change, Choice, by Label: a label says so, instead of dns
        a label for a profile that asks: profile triage, Conclusion, Choice, by Label: a label says so, instead of dns
        a label for a profile that asks, in review: profile triage, Change, Choice, by Label: a label says so, instead of dns
        a label for a comment: profile research, Comment, Choice, by Label: a label says so, instead of dns
        a label for a comment, routed before: profile research, Comment, Choice, by Label: a label says so, instead of dns
        a label for a comment, in review: no research (Deliverable), Change, Choice, by Label: a label says so, instead of dns
        ");
    }

    /// Rows M2, M3, M4, M6: the repository comes before the router, and what was handed off stays where it is.
    #[test]
    fn the_repository_and_what_was_handed_off_come_before_the_router() {
        use ChosenBy::{Command, Label, Router};
        let (sure, simple) = (router(ISSUE), router(SIMPLE));
        let off = RouterInput { off_until: Some(Timestamp::UNIX_EPOCH), ..sure };
        let of_repository = |named| Claims { repository: Some(named), ..claims() };
        let investigates = |claims| Claims { investigates: true, ..claims };
        let (fresh, dns) = (record(), routed_to("dns", Router));
        let handed_on = |record| Record { chain: HandOffLog::default().after_report(), ..record };
        let rows = [
            ("the repository's agent", of_repository(agent("repo")), fresh.clone(), sure),
            ("the repository's profile", of_repository(profile("cloud")), fresh.clone(), sure),
            ("the repository's profile, routing broken", of_repository(profile("cloud")), fresh.clone(), off),
            ("the repository's profile that is gone", of_repository(profile("gone")), fresh.clone(), sure),
            ("an investigation", investigates(claims()), fresh.clone(), sure),
            (
                "an investigation, a label for an agent",
                investigates(person(agent("claude"), Label)),
                fresh.clone(),
                sure,
            ),
            ("an investigation, a label for a profile", investigates(person(profile("cloud"), Label)), fresh, sure),
            ("chosen again", claims(), dns.clone(), simple),
            ("chosen again, handed off since", claims(), handed(dns.clone(), "dns", "cloud"), simple),
            ("chosen again, handed off to one that is gone", claims(), handed(dns.clone(), "dns", "gone"), simple),
            ("handed off since, a command", person(profile("dns"), Command), handed(dns, "dns", "cloud"), simple),
            ("an investigation that was handed off", claims(), handed_on(routed_to("triage", Router)), sure),
            (
                "an investigation that was handed off, to a profile",
                claims(),
                handed(handed_on(routed_to("triage", Router)), "triage", "cloud"),
                sure,
            ),
            (
                "an investigation that was handed off, routing broken",
                claims(),
                handed_on(routed_to("triage", Router)),
                off,
            ),
            (
                "an investigation that was handed off, a command",
                person(profile("dns"), Command),
                handed_on(routed_to("triage", Router)),
                sure,
            ),
        ];
        insta::assert_snapshot!(table(rows), @"
        the repository's agent: agent repo, Change, OtherAgent
        the repository's profile: profile cloud, Change, Choice, by Repository: `.github/hob.toml` says so, instead of dns, lost targets
        the repository's profile, routing broken: agent native, Change, RoutingOff
        the repository's profile that is gone: no gone (Missing), Change, Choice, by Repository: `.github/hob.toml` says so, instead of dns
        an investigation: agent native, Conclusion, Choice, by Base: the likeliest profile, `triage`, is not likely enough
        an investigation, a label for an agent: agent claude, Conclusion, PersonsAgent
        an investigation, a label for a profile: profile cloud, Conclusion, Choice, by Label: a label says so, lost targets
        chosen again: profile dns, Change, Choice, by Router: it was chosen before
        chosen again, handed off since: profile cloud, Change, HandOff, by Router: it was chosen before
        chosen again, handed off to one that is gone: no gone (Missing), Change, HandOff, by Router: it was chosen before
        handed off since, a command: profile cloud, Change, HandOff, by Command: `/hob agent` says so
        an investigation that was handed off: profile triage, Change, Choice, by Router: it was chosen before
        an investigation that was handed off, to a profile: profile cloud, Change, HandOff, by Router: it was chosen before
        an investigation that was handed off, routing broken: agent native, Change, RoutingOff
        an investigation that was handed off, a command: profile dns, Change, Choice, by Command: `/hob agent` says so, continues triage
        ");
    }

    /// Row N63.
    #[test]
    fn work_in_review_goes_back_to_who_did_it_unless_a_person_asks_for_another() {
        use ChosenBy::{Base, Command, Label, Router};
        let words =
            "Fix the README and the changelog: spelling, the wording of the guide, and the DNS nameserver's docs.";
        let of_review = router(RoutedText { title: "", body: words, labels: &[] });
        let off = RouterInput { off_until: Some(Timestamp::UNIX_EPOCH), ..of_review };
        let disabled = RouterInput { enabled: false, ..of_review };
        let worked = |named| Claims { worked: Some(named), ..claims() };
        let asks = |named, by| Claims { worked: Some(profile("dns")), ..person(named, by) };
        let of_repository = |named| Claims { repository: Some(profile("cloud")), ..worked(named) };
        let in_review = |record| Record { pull: PullLog::of(PullNumber(8)), ..record };
        let dns = in_review(routed_to("dns", Router));
        let base = Record { route: Some(RouteChoice::of_agent(Base)), ..in_review(record()) };
        let rows = [
            ("a profile", worked(profile("dns")), dns.clone(), of_review),
            ("a profile, routing broken", worked(profile("dns")), dns.clone(), off),
            ("a profile, routing disabled since", worked(profile("dns")), dns.clone(), disabled),
            ("a profile, the repository names another since", of_repository(profile("dns")), dns.clone(), of_review),
            ("a profile whose label is gone", worked(profile("dns")), in_review(routed_to("dns", Label)), of_review),
            (
                "a profile that was handed the work",
                worked(profile("cloud")),
                handed(dns.clone(), "dns", "cloud"),
                of_review,
            ),
            ("the base agent", worked(agent("native")), base.clone(), router(ISSUE)),
            ("another agent, never routed", worked(agent("claude")), in_review(record()), router(ISSUE)),
            ("the repository names a profile since", of_repository(agent("native")), base, router(ISSUE)),
            ("a person asks for a profile", asks(profile("cloud"), Command), dns.clone(), of_review),
            ("a person asks for an agent", asks(agent("claude"), Command), dns, of_review),
        ];
        insta::assert_snapshot!(table(rows), @"
        a profile: profile dns, Change, Choice, by Router: it was chosen before
        a profile, routing broken: profile dns, Change, Choice, by Router: it was chosen before
        a profile, routing disabled since: profile dns, Change, Choice, by Router: it was chosen before
        a profile, the repository names another since: profile dns, Change, Choice, by Router: it was chosen before
        a profile whose label is gone: profile dns, Change, Choice, by Label: it was chosen before
        a profile that was handed the work: profile cloud, Change, HandOff, by Router: it was chosen before
        the base agent: agent native, Change, OtherAgent
        another agent, never routed: agent claude, Change, OtherAgent
        the repository names a profile since: agent native, Change, OtherAgent
        a person asks for a profile: profile cloud, Change, Choice, by Command: `/hob agent` says so, instead of dns, continues dns, lost targets
        a person asks for an agent: agent claude, Change, PersonsAgent, by Command: an agent of the settings is named, instead of dns
        ");
    }

    /// Row M5: who chose a profile is asked if it cannot work; otherwise the base agent works, and says why.
    #[test]
    fn without_its_profile_the_base_agent_works_unless_a_person_chose() {
        let (catalog, router, fresh) = (catalog(), router(ISSUE), record());
        let without = |claims: Claims, record: &Record| {
            let choice = who_works(&claims, record, &catalog, &router).without_profile("native", "no model")?;
            let warning = choice.route.as_ref().and_then(|route| route.warning.clone());
            Some(format!("{}; {}", told(&choice), warning.unwrap_or_default()))
        };
        for by in [ChosenBy::Command, ChosenBy::Label] {
            assert_eq!(without(person(profile("cloud"), by), &fresh), None, "{by:?}");
        }
        let investigates = Claims { repository: Some(profile("triage")), investigates: true, ..claims() };
        let handed = handed(routed_to("dns", ChosenBy::Router), "dns", "cloud");
        let lines = [(claims(), &fresh), (investigates, &fresh), (claims(), &handed)]
            .map(|(claims, record)| without(claims, record).unwrap());
        insta::assert_snapshot!(lines.join("\n"), @"
        agent native, Change, Choice, by Base: no model; the base agent works: no model
        agent native, Conclusion, Choice, by Base: no model; the base agent works: no model
        agent native, Change, HandOff, by Router: it was chosen before; the base agent works: no model
        ");
    }

    /// Row M1: a model is asked only if its answer can decide.
    #[test]
    fn a_model_is_asked_about_what_nobody_decided() {
        let (catalog, fresh) = (catalog(), record());
        let hunch =
            RouterInput { rules: RoutingRules { confidence: 0.999, ..RoutingRules::default() }, ..router(ISSUE) };
        let asks = |claims: &Claims, record: &Record, router: &RouterInput<'_>| {
            model_question(claims, record, &catalog, router, &Nonce::from("f")).is_some()
        };
        assert!(asks(&claims(), &fresh, &hunch));
        assert!(!asks(&claims(), &fresh, &router(ISSUE)), "the router is sure");
        assert!(!asks(&person(profile("cloud"), ChosenBy::Label), &fresh, &hunch));
        assert!(!asks(&person(agent("claude"), ChosenBy::Label), &fresh, &hunch));
        let handed_on = Record { chain: HandOffLog::default().after_report(), ..routed_to("triage", ChosenBy::Router) };
        assert!(!asks(&claims(), &handed_on, &hunch));
        let answered = RouterInput { answer: Some(ModelAnswer { model: "small/one", text: "dns" }), ..hunch };
        let choice = who_works(&claims(), &fresh, &catalog, &answered);
        assert_eq!(told(&choice), "profile dns, Change, Choice, by Router: the model `small/one` says so");
        let by_label = who_works(&person(profile("cloud"), ChosenBy::Label), &fresh, &catalog, &answered);
        assert_eq!(by_label.works, Works::Profile(name("cloud")), "an answer overrides nobody");
    }
}
