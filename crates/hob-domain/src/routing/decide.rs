//! Who works on an issue: what a person said, then what the repository says, then the router, otherwise the base agent.

use serde::{Deserialize, Serialize};

use crate::{ProfileName, routing::score::Routing};

/// Who or what chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChosenBy {
    /// A person, with `/hob agent NAME`.
    Command,
    /// A person, with the label `agent:NAME`.
    Label,
    /// The repository, in `.github/hob.toml`.
    Repository,
    /// The router.
    Router,
    /// Nobody: the base agent works.
    Base,
}

impl ChosenBy {
    /// Whether it was a person.
    pub fn is_person(self) -> bool {
        match self {
            Self::Command | Self::Label => true,
            Self::Repository | Self::Router | Self::Base => false,
        }
    }
}

/// Which profile works on an issue, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteChoice {
    /// Who chose it.
    pub by: ChosenBy,
    /// The profile; `None` for the base agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfileName>,
    /// How sure the router is of this profile, or of the likeliest where the base agent works, in percent; 0 if it knows nothing.
    pub percent: u8,
    /// How much work the issue may be, from 1 to 10.
    pub complexity: u8,
    /// Why, in words, the strongest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// The profile that the router would have chosen, if another one was chosen, to learn from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overridden: Option<ProfileName>,
    /// Why a profile that should work, or might have worked, does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

impl RouteChoice {
    /// An agent of the settings works, because a person or the repository named it.
    pub fn of_agent(by: ChosenBy) -> Self {
        let reasons = vec!["an agent of the settings is named".to_owned()];
        Self { by, profile: None, percent: 0, complexity: 0, reasons, overridden: None, warning: None }
    }

    /// The same, in place of this choice of the router's.
    #[must_use]
    pub fn overriding(self, present: Option<&Self>) -> Self {
        let overridden = present.and_then(|present| match present.by {
            ChosenBy::Router => present.profile.clone(),
            ChosenBy::Command | ChosenBy::Label => present.overridden.clone(),
            ChosenBy::Repository | ChosenBy::Base => None,
        });
        Self { overridden, ..self }
    }

    /// The profile that the router chose, or would have chosen if nothing else had; `None` if it had none or was not asked.
    pub fn routed(&self, rules: RoutingRules) -> Option<&ProfileName> {
        match self.by {
            ChosenBy::Router => self.profile.as_ref(),
            ChosenBy::Command | ChosenBy::Label | ChosenBy::Repository => {
                let is_sure = self.percent > percent(rules.confidence) && self.complexity > rules.complexity;
                self.overridden.as_ref().or_else(|| self.profile.as_ref().filter(|_| is_sure))
            }
            ChosenBy::Base => None,
        }
    }

    /// The base agent works, because the profile cannot be used.
    #[must_use]
    pub fn without_profile(self, why: &str) -> Self {
        Self { by: ChosenBy::Base, profile: None, reasons: vec![why.to_owned()], ..self }
    }
}

/// A profile that a person or the repository asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim<'a> {
    /// The profile.
    pub profile: &'a ProfileName,
    /// Who asks for it: a person or the repository.
    pub by: ChosenBy,
}

/// When the router's answer counts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RoutingRules {
    /// A profile is chosen only above this confidence,
    pub confidence: f32,
    /// and only for issues above this complexity.
    pub complexity: u8,
    /// Another profile is chosen only if its confidence is higher by more than this than that of the present one.
    pub switch: f32,
}

impl Default for RoutingRules {
    fn default() -> Self {
        Self { confidence: 0.70, complexity: 3, switch: 0.20 }
    }
}

/// Decides which profile fits an issue. `present` is the choice so far: a new message changes it only with a clear lead.
pub fn decide_agent(
    claim: Option<Claim<'_>>,
    routing: &Routing,
    present: Option<&RouteChoice>,
    rules: RoutingRules,
) -> RouteChoice {
    let routed = by_router(routing, present, rules);
    let Some(Claim { profile: name, by }) = claim else { return routed };
    let why = match by {
        ChosenBy::Command => "`/hob agent` says so",
        ChosenBy::Label => "a label says so",
        ChosenBy::Repository => "`.github/hob.toml` says so",
        ChosenBy::Router | ChosenBy::Base => return routed,
    };
    RouteChoice {
        by,
        profile: Some(name.clone()),
        percent: percent(confidence_of(routing, name)),
        complexity: routed.complexity,
        reasons: vec![why.to_owned()],
        overridden: routed.profile.filter(|routed| routed != name).or_else(|| before(present, by, name)),
        warning: None,
    }
}

/// What the same choice overrode so far; a message that the router knows nothing about keeps it.
fn before(present: Option<&RouteChoice>, by: ChosenBy, name: &ProfileName) -> Option<ProfileName> {
    present.filter(|present| present.by == by && present.profile.as_ref() == Some(name))?.overridden.clone()
}

/// What the router says, by the thresholds.
fn by_router(routing: &Routing, present: Option<&RouteChoice>, rules: RoutingRules) -> RouteChoice {
    // A short message does not make the issue smaller.
    let complexity = present.map_or(0, |present| present.complexity).max(routing.complexity);
    // A person's choice that is withdrawn leaves nothing to switch from.
    let routed_before = present.filter(|present| present.by == ChosenBy::Router);
    let Some(best) = routing.ranked.first() else {
        return base(0.0, complexity, "there is no profile");
    };
    if let Some(present) = routed_before
        && let Some(name) = &present.profile
        && let Some(kept) = routing.ranked.iter().find(|scored| scored.profile == *name)
    {
        let clear = best.confidence > rules.confidence && best.confidence - kept.confidence > rules.switch;
        if best.profile == *name || !clear {
            let reasons = present.reasons.clone();
            let percent = percent(kept.confidence);
            return RouteChoice { complexity, percent, reasons, warning: None, ..present.clone() };
        }
    }
    if best.confidence <= rules.confidence {
        let why = format!("the likeliest profile, `{}`, is not likely enough", best.profile);
        return base(best.confidence, complexity, &why);
    }
    if complexity <= rules.complexity {
        let why = format!("the issue is simple: the base agent needs no help of `{}`", best.profile);
        return base(best.confidence, complexity, &why);
    }
    RouteChoice {
        by: ChosenBy::Router,
        profile: Some(best.profile.clone()),
        percent: percent(best.confidence),
        complexity,
        reasons: best.reasons.clone(),
        overridden: None,
        warning: None,
    }
}

fn base(confidence: f32, complexity: u8, why: &str) -> RouteChoice {
    let reasons = vec![why.to_owned()];
    RouteChoice {
        by: ChosenBy::Base,
        profile: None,
        percent: percent(confidence),
        complexity,
        reasons,
        overridden: None,
        warning: None,
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a confidence is in [0, 1]")]
fn percent(confidence: f32) -> u8 {
    (confidence * 100.0).round() as u8
}

impl Routing {
    /// How sure it is of the profile `name`, in percent; `None` if it is not a candidate.
    pub fn percent_of(&self, name: &ProfileName) -> Option<u8> {
        let scored = self.ranked.iter().find(|scored| scored.profile == *name)?;
        Some(percent(scored.confidence))
    }
}

fn confidence_of(routing: &Routing, name: &ProfileName) -> f32 {
    routing.ranked.iter().find(|scored| scored.profile == *name).map_or(0.0, |scored| scored.confidence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::{Likeness, Scored};

    fn name(text: &str) -> ProfileName {
        text.parse().unwrap()
    }

    fn routing(scores: &[(&str, f32)], complexity: u8) -> Routing {
        let scored = |(profile, confidence): &(&str, f32)| Scored {
            profile: name(profile),
            confidence: *confidence,
            likeness: Likeness::default(),
            reasons: vec![format!("because of {profile}")],
        };
        Routing { ranked: scores.iter().map(scored).collect(), complexity }
    }

    fn choose(
        claim: Option<Claim<'_>>,
        routing: &Routing,
        present: Option<&RouteChoice>,
    ) -> (ChosenBy, Option<String>) {
        let choice = decide_agent(claim, routing, present, RoutingRules::default());
        assert!(!choice.reasons.is_empty());
        (choice.by, choice.profile.map(String::from))
    }

    /// Row M1.
    #[test]
    fn a_profile_needs_confidence_and_complexity() {
        for (confidence, complexity, by) in [
            (0.71, 4, ChosenBy::Router),
            (0.70, 10, ChosenBy::Base),
            (0.99, 3, ChosenBy::Base),
            (0.10, 1, ChosenBy::Base),
        ] {
            let found = choose(None, &routing(&[("dns", confidence)], complexity), None);
            let profile = (by == ChosenBy::Router).then(|| "dns".to_owned());
            assert_eq!(found, (by, profile), "{confidence} {complexity}");
        }
        assert_eq!(choose(None, &routing(&[], 10), None), (ChosenBy::Base, None));
    }

    /// Row M4.
    #[test]
    fn what_is_asked_for_comes_before_the_router() {
        let routing = routing(&[("dns", 0.9), ("docs", 0.1)], 5);
        let (docs, dns) = (name("docs"), name("dns"));
        for (claim, by, profile) in [
            (Some(Claim { profile: &docs, by: ChosenBy::Command }), ChosenBy::Command, "docs"),
            (Some(Claim { profile: &docs, by: ChosenBy::Label }), ChosenBy::Label, "docs"),
            (Some(Claim { profile: &docs, by: ChosenBy::Repository }), ChosenBy::Repository, "docs"),
            (None, ChosenBy::Router, "dns"),
        ] {
            assert_eq!(choose(claim, &routing, None), (by, Some(profile.to_owned())));
        }
        let asked = |profile| {
            decide_agent(Some(Claim { profile, by: ChosenBy::Command }), &routing, None, RoutingRules::default())
        };
        assert_eq!((asked(&docs).percent, asked(&docs).overridden), (10, Some(name("dns"))), "the router's own choice");
        assert_eq!(asked(&dns).overridden, None);
    }

    /// Row M2.
    #[test]
    fn a_message_switches_the_profile_only_with_a_clear_lead() {
        let present = decide_agent(None, &routing(&[("dns", 0.9)], 6), None, RoutingRules::default());
        for (scores, kept) in [
            (&[("cloud", 0.71), ("dns", 0.50)][..], false),
            (&[("cloud", 0.71), ("dns", 0.52)][..], true),
            (&[("cloud", 0.70), ("dns", 0.10)][..], true),
            (&[("cloud", 0.10), ("dns", 0.05)][..], true),
            (&[("dns", 0.10)][..], true),
            (&[("cloud", 0.90)][..], false),
        ] {
            // The message is short, the issue is not.
            let now = decide_agent(None, &routing(scores, 1), Some(&present), RoutingRules::default());
            let expected = if kept { "dns" } else { "cloud" };
            assert_eq!(now.profile, Some(name(expected)), "{scores:?}");
            assert_eq!((now.by, now.complexity), (ChosenBy::Router, 6));
        }
    }

    #[test]
    fn a_profile_that_is_gone_leaves_the_base_agent() {
        let present = decide_agent(None, &routing(&[("dns", 0.9)], 6), None, RoutingRules::default());
        assert_eq!(choose(None, &routing(&[("docs", 0.3)], 2), Some(&present)), (ChosenBy::Base, None));
    }

    /// Row M4.
    #[test]
    fn an_override_is_remembered() {
        let rules = RoutingRules::default();
        let routed = decide_agent(None, &routing(&[("dns", 0.9)], 6), None, rules);
        let docs = name("docs");
        let claims = Some(Claim { profile: &docs, by: ChosenBy::Command });
        // The first message and the next have no words of any profile.
        let first = decide_agent(claims, &routing(&[("dns", 0.1), ("docs", 0.1)], 1), Some(&routed), rules);
        assert_eq!(first.overridden, Some(name("dns")), "it had worked");
        let next = decide_agent(claims, &routing(&[("docs", 0.1)], 1), Some(&first), rules);
        assert_eq!((&next.overridden, next.routed(rules)), (&Some(name("dns")), Some(&name("dns"))));
        let cloud = name("cloud");
        let other = Some(Claim { profile: &cloud, by: ChosenBy::Label });
        assert_eq!(decide_agent(other, &routing(&[], 1), Some(&next), rules).overridden, None);
        let of_agent = |present| RouteChoice::of_agent(ChosenBy::Label).overriding(present).overridden;
        assert_eq!((of_agent(Some(&routed)), of_agent(Some(&next))), (Some(name("dns")), Some(name("dns"))));
        assert_eq!((of_agent(None), routed.routed(rules)), (None, Some(&name("dns"))));
    }

    #[test]
    fn a_choice_reads_as_it_was_written() {
        let choice = decide_agent(None, &routing(&[("dns", 0.9)], 6), None, RoutingRules::default());
        let text = serde_json::to_string(&choice).unwrap();
        assert!(text.starts_with(r#"{"by":"router","profile":"dns","percent":90,"complexity":6"#), "{text}");
        assert_eq!(serde_json::from_str::<RouteChoice>(&text).unwrap(), choice);
    }
}
