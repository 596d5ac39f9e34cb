//! What became of the router's choices, from the ledgers: how often people chose otherwise, and what.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::routing::decide::{RouteChoice, RoutingRules};

/// The entry of a table if there is no profile.
const NO_PROFILE: &str = "(none)";

/// How choices compare with what the router said.
#[derive(Debug, Default, Clone, PartialEq, Serialize)]
pub struct RoutingOverview {
    /// How often the router chose a profile.
    pub routed: usize,
    /// How often a person chose another one, or an agent of the settings, in its place.
    pub overridden: usize,
    /// How often a person chose a profile where the router had none.
    pub missed: usize,
    /// The part of the router's choices that were not overridden; `None` if it made none.
    pub accuracy: Option<f64>,
    /// By what the router said, how often each profile was chosen.
    pub confusion: BTreeMap<String, BTreeMap<String, usize>>,
}

/// Compares choices. `rules` are those that the router went by.
pub fn routing_overview<'a>(
    choices: impl IntoIterator<Item = &'a RouteChoice>,
    rules: RoutingRules,
) -> RoutingOverview {
    let mut overview = RoutingOverview::default();
    for choice in choices {
        let (routed, chosen) = (choice.routed(rules), choice.profile.as_ref());
        let is_other = routed != chosen && choice.by.is_person();
        overview.routed += usize::from(routed.is_some());
        overview.overridden += usize::from(routed.is_some() && is_other);
        overview.missed += usize::from(routed.is_none() && is_other);
        let name = |profile: Option<&_>| profile.map_or_else(|| NO_PROFILE.to_owned(), ToString::to_string);
        *overview.confusion.entry(name(routed)).or_default().entry(name(chosen)).or_default() += 1;
    }
    #[expect(clippy::cast_precision_loss, reason = "there are far fewer issues than an f64 can count")]
    let part = |part: usize| part as f64 / overview.routed as f64;
    overview.accuracy = (overview.routed > 0).then(|| part(overview.routed - overview.overridden));
    overview
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ChosenBy;

    fn choice(by: ChosenBy, profile: &str, percent: u8, overridden: &str) -> RouteChoice {
        let (profile, overridden) = (profile.parse().ok(), overridden.parse().ok());
        RouteChoice { by, profile, percent, complexity: 5, reasons: Vec::new(), overridden, warning: None }
    }

    /// Row M4.
    #[test]
    fn what_people_override_lowers_the_accuracy() {
        use ChosenBy::{Base, Command, Label, Repository, Router};
        let choices = [
            choice(Router, "dns", 90, ""),
            choice(Router, "docs", 80, ""),
            // A person names another one, an agent of the settings, the same one, and one where the router had none.
            choice(Command, "docs", 10, "dns"),
            choice(Label, "", 0, "dns"),
            choice(Command, "dns", 90, ""),
            choice(Command, "cloud", 20, ""),
            // The repository is not a person.
            choice(Repository, "docs", 10, "dns"),
            choice(Base, "", 30, ""),
        ];
        let overview = routing_overview(&choices, RoutingRules::default());
        assert_eq!((overview.routed, overview.overridden, overview.missed), (6, 2, 1));
        assert_eq!(overview.accuracy.map(|part| format!("{part:.2}")).as_deref(), Some("0.67"));
        let lines = overview.confusion.iter().map(|(routed, chosen)| format!("{routed}: {chosen:?}"));
        insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @r#"
        (none): {"(none)": 1, "cloud": 1}
        dns: {"(none)": 1, "dns": 2, "docs": 2}
        docs: {"docs": 1}
        "#);
        assert_eq!(routing_overview(&[], RoutingRules::default()), RoutingOverview::default());
    }
}
