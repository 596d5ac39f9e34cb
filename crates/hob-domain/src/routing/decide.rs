//! Who works on an issue: what a person said, then what the repository says, then the router, and else the base agent.

use serde::{Deserialize, Serialize};

use super::score::Routing;

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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RouteChoice {
    /// Who chose it.
    pub by: ChosenBy,
    /// The profile; none: the base agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// How sure the router is of this profile, or of the likeliest where the base agent works; 0 if it knows nothing.
    pub confidence: f32,
    /// How much work the issue may be, from 1 to 10.
    pub complexity: u8,
    /// Why, in words, the strongest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// The profile that the router would have chosen, where another one was: what there is to learn from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overridden: Option<String>,
}

/// What was said about the profile other than by the router.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Claims<'a> {
    /// By the last command.
    pub command: Option<&'a str>,
    /// By a label.
    pub label: Option<&'a str>,
    /// By `.github/hob.toml`.
    pub repository: Option<&'a str>,
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

/// Decides who works on an issue. `present` is the choice so far: a new message changes it only with a clear lead.
pub fn decide_agent(
    claims: Claims<'_>,
    routing: &Routing,
    present: Option<&RouteChoice>,
    rules: RoutingRules,
) -> RouteChoice {
    let routed = by_router(routing, present, rules);
    let claimed = [
        (claims.command, ChosenBy::Command, "`/hob agent` says so"),
        (claims.label, ChosenBy::Label, "a label says so"),
        (claims.repository, ChosenBy::Repository, "`.github/hob.toml` says so"),
    ];
    let Some((name, by, why)) = claimed.into_iter().find_map(|(name, by, why)| Some((name?, by, why))) else {
        return routed;
    };
    RouteChoice {
        by,
        profile: Some(name.to_owned()),
        confidence: confidence_of(routing, name),
        complexity: routed.complexity,
        reasons: vec![why.to_owned()],
        overridden: routed.profile.filter(|routed| routed != name),
    }
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
            return RouteChoice { complexity, confidence: kept.confidence, reasons, ..present.clone() };
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
        confidence: best.confidence,
        complexity,
        reasons: best.reasons.clone(),
        overridden: None,
    }
}

fn base(confidence: f32, complexity: u8, why: &str) -> RouteChoice {
    let reasons = vec![why.to_owned()];
    RouteChoice { by: ChosenBy::Base, profile: None, confidence, complexity, reasons, overridden: None }
}

fn confidence_of(routing: &Routing, name: &str) -> f32 {
    routing.ranked.iter().find(|scored| scored.profile == name).map_or(0.0, |scored| scored.confidence)
}
