//! What a profile may do: never more than the settings allow its agent.

use std::{collections::BTreeSet, time::Duration};

use serde::Serialize;

use crate::{
    Ask, Impact,
    profile::{
        source::ProfileSource,
        types::{Profile, ProfileLimits},
    },
};

/// What the settings allow an agent, and what a profile may choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounds {
    /// The tools that the agent has, by name.
    pub tools: BTreeSet<String>,
    /// The highest impact of an action that needs no approval.
    pub approve: Impact,
    /// What happens to an action that needs approval.
    pub ask: Ask,
    /// Actions that are refused.
    pub denied: Vec<String>,
    /// The limits of a run.
    pub limits: ProfileLimits,
    /// The models that a repository's profile may choose: `provider/model`, or the program's own name for it.
    pub models: Vec<String>,
    /// The configured agents.
    pub agents: BTreeSet<String>,
}

/// What a run with the profile may do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Narrowed {
    /// The tools.
    pub tools: BTreeSet<String>,
    /// The highest impact of an action that needs no approval.
    pub approve: Impact,
    /// What happens to an action that needs approval.
    pub ask: Ask,
    /// Actions that are refused.
    pub denied: Vec<String>,
    /// The limits of a run.
    pub limits: ProfileLimits,
    /// The model. `None` for the agent's own.
    pub model: Option<String>,
    /// The configured agent. `None` for the usual one.
    pub agent: Option<String>,
    /// What the profile requests but does not get.
    pub notes: Vec<String>,
}

impl Bounds {
    /// What a profile from this place gets within the bounds. The operator's own may choose any model.
    pub fn narrowed(&self, profile: &Profile, source: ProfileSource) -> Narrowed {
        let mut notes = Vec::new();
        let wanted = profile.tools.as_ref();
        let tools = self.tools.iter().filter(|tool| wanted.is_none_or(|wanted| wanted.contains(tool)));
        let missing: Vec<_> = wanted.into_iter().flatten().filter(|tool| !self.tools.contains(*tool)).collect();
        if !missing.is_empty() {
            let names = missing.iter().map(|tool| format!("`{tool}`")).collect::<Vec<_>>().join(", ");
            notes.push(format!("the agent has no tool {names}"));
        }
        let mut denied = self.denied.clone();
        denied.extend(profile.denied.iter().filter(|action| !self.denied.contains(action)).cloned());
        let agent = profile.backend.clone().filter(|name| {
            let is_known = self.agents.contains(name);
            if !is_known {
                notes.push(format!("the settings have no agent `{name}`"));
            }
            is_known
        });
        let model = profile.model.as_ref().and_then(|name| {
            let allowed = allowed_model(name, source, &self.models);
            if allowed.is_none() {
                notes.push(format!("the model `{name}` is not in `profiles.models`"));
            }
            allowed
        });
        Narrowed {
            tools: tools.cloned().collect(),
            approve: lower(Some(self.approve), profile.approve).unwrap_or(self.approve),
            ask: lower(Some(self.ask), profile.ask).unwrap_or(self.ask),
            denied,
            limits: self.limits.within(&profile.limits),
            model,
            agent,
            notes,
        }
    }
}

/// The model that a profile from this place gets if it names one: any model for the operator's own; for a repository's,
/// one of `models`, by its whole name, or by the part after the provider if that is unique.
pub fn allowed_model(wanted: &str, source: ProfileSource, models: &[String]) -> Option<String> {
    if !source.is_repository() || models.iter().any(|model| model == wanted) {
        return Some(wanted.to_owned());
    }
    let is_it = |model: &&String| model.split_once('/').is_some_and(|(_, name)| name == wanted);
    let mut found = models.iter().filter(is_it);
    let first = found.next()?;
    found.next().is_none().then(|| first.clone())
}

impl ProfileLimits {
    /// The lower of each limit.
    fn within(&self, other: &Self) -> Self {
        Self {
            max_iterations: lower(self.max_iterations, other.max_iterations),
            max_time: lower::<Duration>(self.max_time, other.max_time),
            max_tokens: lower(self.max_tokens, other.max_tokens),
            max_output: lower(self.max_output, other.max_output),
            consecutive_errors: lower(self.consecutive_errors, other.consecutive_errors),
            recent_errors: lower(self.recent_errors, other.recent_errors),
            failed_commands_in_row: lower(self.failed_commands_in_row, other.failed_commands_in_row),
            failed_commands_total: lower(self.failed_commands_total, other.failed_commands_total),
            usd_micros: lower(self.usd_micros, other.usd_micros),
        }
    }
}

/// The lower of two; `None` means no limit.
fn lower<T: Ord>(one: Option<T>, two: Option<T>) -> Option<T> {
    match (one, two) {
        (Some(one), Some(two)) => Some(one.min(two)),
        (one, two) => one.or(two),
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection, option, prelude::*, sample::select};

    use super::*;
    use crate::profile::parse::parse;

    fn bounds() -> Bounds {
        Bounds {
            tools: ["read", "list", "search", "shell"].map(str::to_owned).into(),
            approve: Impact::Medium,
            ask: Ask::Nobody,
            denied: vec!["shell(git push)".to_owned()],
            limits: ProfileLimits { max_iterations: Some(50), usd_micros: Some(1_000_000), ..ProfileLimits::default() },
            models: ["anthropic/claude-sonnet-5-5", "openai/gpt-5", "azure/gpt-5", "sonnet"].map(str::to_owned).into(),
            agents: ["native".to_owned()].into(),
        }
    }

    fn profile(front: &str) -> Profile {
        parse("a.md", format!("---\nname: a\ndescription: b\n{front}\n---\nDo it.").as_bytes()).profile.unwrap()
    }

    #[test]
    fn each_key_narrows_and_none_widens() {
        let (bounds, base) = (bounds(), bounds().narrowed(&profile(""), ProfileSource::GithubAgents));
        assert_eq!((&base.tools, base.approve, &base.denied), (&bounds.tools, bounds.approve, &bounds.denied));
        assert!(base.limits == bounds.limits && base.notes.is_empty() && base.model.is_none());
        let narrowed = |front: &str| bounds.narrowed(&profile(front), ProfileSource::ClaudeAgents);
        let tools = |front: &str| narrowed(front).tools.into_iter().collect::<Vec<_>>().join(" ");
        assert_eq!(tools("tools: Read, Edit"), "list read");
        assert_eq!(tools("tools: []"), "");
        assert_eq!(narrowed("tools: [edit]").notes, ["the agent has no tool `edit`, `write`, `apply_patch`"]);
        for (wanted, got) in [("low", Impact::Low), ("medium", Impact::Medium), ("high", Impact::Medium)] {
            assert_eq!(narrowed(&format!("hob: {{approve: {wanted}}}")).approve, got, "{wanted}");
        }
        assert_eq!(narrowed("hob: {ask: issue}").ask, Ask::Nobody);
        let denied = narrowed("hob: {denied: [write, 'shell(git push)']}").denied;
        assert_eq!(denied, ["shell(git push)", "write"]);
        for (wanted, got) in [("10", 10), ("50", 50), ("999", 50)] {
            let limits = narrowed(&format!("hob: {{limits: {{max_iterations: {wanted}}}}}")).limits;
            assert_eq!(limits.max_iterations, Some(got));
        }
        assert_eq!(narrowed("hob: {limits: {max_tokens: 7}}").limits.max_tokens, Some(7));
        assert_eq!(narrowed("hob: {backend: native}").agent.as_deref(), Some("native"));
        let other = narrowed("hob: {backend: sh}");
        assert_eq!((other.agent, other.notes), (None, vec!["the settings have no agent `sh`".to_owned()]));
    }

    /// Attack corpus J130: a model that the settings do not list never gets the key of one that they do.
    #[test]
    fn a_repository_chooses_models_of_the_list() {
        let bounds = bounds();
        for (wanted, from_repository) in [
            ("claude-sonnet-5-5", Some("anthropic/claude-sonnet-5-5")),
            ("anthropic/claude-sonnet-5-5", Some("anthropic/claude-sonnet-5-5")),
            ("sonnet", Some("sonnet")),
            ("gpt-5", None),
            ("opus", None),
            ("cassette//etc/passwd", None),
            ("openai/http://evil.example/gpt-5", None),
            ("evil.example/gpt-5", None),
        ] {
            let profile = profile(&format!("model: {wanted}"));
            let narrowed = bounds.narrowed(&profile, ProfileSource::GithubAgents);
            assert_eq!(narrowed.model.as_deref(), from_repository, "{wanted}");
            assert_eq!(narrowed.notes.is_empty(), from_repository.is_some());
            let own = bounds.narrowed(&profile, ProfileSource::Settings);
            assert_eq!(own.model.as_deref(), Some(wanted));
        }
    }

    fn impacts() -> impl Strategy<Value = Impact> {
        select(vec![Impact::Low, Impact::Medium, Impact::High])
    }

    fn names() -> impl Strategy<Value = Vec<String>> {
        collection::vec(select(vec!["read", "edit", "shell", "x/y", "y"]).prop_map(str::to_owned), 0..5)
    }

    fn limits() -> impl Strategy<Value = ProfileLimits> {
        let number = || option::of(1_u64..100);
        let all = (number(), number(), number(), number(), number(), number(), number(), number(), number());
        all.prop_map(|all| ProfileLimits {
            max_iterations: all.0,
            max_time: all.1.map(Duration::from_secs),
            max_tokens: all.2,
            max_output: all.3,
            consecutive_errors: all.4,
            recent_errors: all.5,
            usd_micros: all.6,
            failed_commands_in_row: all.7,
            failed_commands_total: all.8,
        })
    }

    fn is_within(one: &ProfileLimits, other: &ProfileLimits) -> bool {
        fn below<T: Ord>(one: &Option<T>, other: &Option<T>) -> bool {
            other.as_ref().is_none_or(|limit| one.as_ref().is_some_and(|one| one <= limit))
        }
        below(&one.max_iterations, &other.max_iterations)
            && below(&one.max_time, &other.max_time)
            && below(&one.max_tokens, &other.max_tokens)
            && below(&one.max_output, &other.max_output)
            && below(&one.consecutive_errors, &other.consecutive_errors)
            && below(&one.recent_errors, &other.recent_errors)
            && below(&one.failed_commands_in_row, &other.failed_commands_in_row)
            && below(&one.failed_commands_total, &other.failed_commands_total)
            && below(&one.usd_micros, &other.usd_micros)
    }

    fn any_bounds() -> impl Strategy<Value = Bounds> {
        let asks = select(vec![Ask::Nobody, Ask::Issue]);
        (names(), impacts(), asks, names(), limits(), names(), names()).prop_map(
            |(tools, approve, ask, denied, limits, models, agents)| Bounds {
                tools: tools.into_iter().collect(),
                approve,
                ask,
                denied,
                limits,
                models,
                agents: agents.into_iter().collect(),
            },
        )
    }

    fn any_profile() -> impl Strategy<Value = Profile> {
        let asks = option::of(select(vec![Ask::Nobody, Ask::Issue]));
        let first = |names: Vec<String>| names.into_iter().next();
        let all = (option::of(names()), option::of(impacts()), asks, names(), limits(), names(), names());
        all.prop_map(move |(tools, approve, ask, denied, limits, model, backend)| Profile {
            tools,
            approve,
            ask,
            denied,
            limits,
            model: first(model),
            backend: first(backend),
            ..profile("")
        })
    }

    proptest! {
        #[test]
        fn narrowing_never_widens(bounds in any_bounds(), profile in any_profile()) {
            let narrowed = bounds.narrowed(&profile, ProfileSource::GithubAgents);
            prop_assert!(narrowed.tools.is_subset(&bounds.tools));
            prop_assert!(narrowed.approve <= bounds.approve && narrowed.ask <= bounds.ask);
            prop_assert!(bounds.denied.iter().chain(&profile.denied).all(|action| narrowed.denied.contains(action)));
            prop_assert!(is_within(&narrowed.limits, &bounds.limits) && is_within(&narrowed.limits, &profile.limits));
            prop_assert!(narrowed.model.is_none_or(|model| bounds.models.contains(&model)));
            prop_assert!(narrowed.agent.is_none_or(|agent| bounds.agents.contains(&agent)));
        }
    }
}
