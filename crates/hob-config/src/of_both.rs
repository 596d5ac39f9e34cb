//! The settings that the operator and the repository both may give: how the repository's people want to be worked with. Money, secrets,
//! programs, hosts and who counts are the operator's alone.

use hob_domain::Trailer;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::{DEFAULTS, DraftRule, ReviewUpdate};

/// Their keys, the same in both files.
pub const OF_BOTH: [&str; 20] = [
    "check_time",
    "dashboard.issue",
    "labels.priority",
    "labels.trigger",
    "limits.open_pulls",
    "notify.mention",
    "on_red_base",
    "plan",
    "proof_time",
    "publish.base",
    "publish.commit_message",
    "publish.draft",
    "publish.labels",
    "publish.reviewers",
    "publish.sign_off",
    "publish.template",
    "publish.trailers",
    "review.reviewer",
    "review.update",
    "routing.enabled",
];

/// `[dashboard]` of the repository's file.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RepositoryDashboard {
    /// As `dashboard.issue` of the operator's file.
    pub issue: Option<String>,
}

/// `[labels]` of the repository's file: keys as in the operator's.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RepositoryLabels {
    /// The label that hands an issue to Hob.
    pub trigger: Option<String>,
    /// Labels of issues that come first.
    pub priority: Option<Vec<String>>,
}

/// `[limits]` of the repository's file.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RepositoryLimits {
    /// As `limits.open_pulls` of the operator's file, whose limit counts if it is the stricter one.
    pub open_pulls: Option<usize>,
}

/// `[notify]` of the repository's file.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RepositoryNotify {
    /// As `notify.mention` of the operator's file.
    pub mention: Option<Vec<String>>,
}

/// `[publish]` of the repository's file: keys as in the operator's.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RepositoryPublish {
    /// When pull requests are drafts.
    pub draft: Option<DraftRule>,
    /// Which template is used.
    pub template: Option<String>,
    /// The branch that work starts from.
    pub base: Option<String>,
    /// The template of a commit's message.
    pub commit_message: Option<String>,
    /// Whether commits are signed off.
    pub sign_off: Option<bool>,
    /// The lines that say who took part.
    pub trailers: Option<Vec<Trailer>>,
    /// Labels of a pull request.
    pub labels: Option<Vec<String>>,
    /// The reviewers to request.
    pub reviewers: Option<Vec<String>>,
}

/// `[review]` of the repository's file: keys as in the operator's.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RepositoryReview {
    /// How a branch in review gets its base's commits.
    pub update: Option<ReviewUpdate>,
    /// The profile that reviews the work.
    pub reviewer: Option<String>,
}

/// `[routing]` of the repository's file.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RepositoryRouting {
    /// As `routing.enabled` of the operator's file.
    pub enabled: Option<bool>,
}

/// The first key in the repository's file that is a setting of the operator's alone.
pub(super) fn of_operator(text: &str) -> Option<String> {
    let file: Table = toml::from_str(text).ok()?;
    // The text is built in, and a test parses it.
    let known: Table = toml::from_str(DEFAULTS).ok()?;
    file.iter().find_map(|(key, value)| below(key, value, known.get(key)?))
}

fn below(key: &str, value: &Value, known: &Value) -> Option<String> {
    match (value, known) {
        (Value::Table(value), Value::Table(known)) => {
            value.iter().find_map(|(name, value)| below(&format!("{key}.{name}"), value, known.get(name)?))
        }
        (_, Value::Table(_)) => None,
        (_, _) => (!OF_BOTH.contains(&key)).then(|| key.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use hob_domain::PlanFirst;

    use super::*;
    use crate::{RepositorySettings, Settings};

    fn operator(flags: &[(&str, &str)]) -> Settings {
        let flags: Vec<_> = flags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Settings::load(None, HashMap::new(), &flags).unwrap()
    }

    fn file(text: &str) -> RepositorySettings {
        RepositorySettings::parse(text).unwrap()
    }

    /// A value of each key that is not the default.
    const ALL: &str = "dashboard.issue = 'auto'\nlabels = { trigger = 'hob', priority = ['p0'] }\nlimits.open_pulls = 2\n\
                       check_time = '7m'\nproof_time = '5m'\non_red_base = 'wait'\nplan = 'large'\nnotify.mention = ['ann']\nrouting.enabled = false\n\
                       review = { update = 'rebase', reviewer = 'critic' }\n\
                       [publish]\nbase = 'next'\ncommit_message = '{title} (#{issue})'\ndraft = true\nlabels = ['bot']\n\
                       reviewers = ['ann']\nsign_off = true\ntemplate = 'fix.md'\ntrailers = ['assisted-by']";

    /// The values of a file, by key.
    fn leaves(text: &str) -> Vec<(String, String)> {
        fn add(key: &str, value: &Value, found: &mut Vec<(String, String)>) {
            match value {
                Value::Table(table) => {
                    let path = |name: &str| if key.is_empty() { name.to_owned() } else { format!("{key}.{name}") };
                    table.iter().for_each(|(name, value)| add(&path(name), value, found));
                }
                value => found.push((key.to_owned(), value.to_string())),
            }
        }
        let mut found = Vec::new();
        add("", &Value::Table(toml::from_str(text).unwrap()), &mut found);
        found.sort();
        found
    }

    #[test]
    fn each_key_of_both_has_one_name_one_shape_and_one_effect_in_both_files() {
        let values = leaves(ALL);
        assert_eq!(values.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>(), OF_BOTH);
        let defaults = operator(&[]).to_table().unwrap();
        for (key, value) in &values {
            let by_file = file(&format!("{key} = {value}")).over(&operator(&[]));
            let by_flag = operator(&[(key, value)]);
            assert_eq!(by_file.to_table().unwrap(), by_flag.to_table().unwrap(), "{key}");
            assert_ne!(by_file.to_table().unwrap(), defaults, "{key}");
        }
        assert_eq!(file("").over(&operator(&[])).to_table().unwrap(), defaults);
    }

    #[test]
    fn the_repository_has_the_last_word_and_the_rest_is_the_operators() {
        let own = operator(&[("publish.draft", "always"), ("publish.labels", "mine"), ("plan", "always")]);
        let here = file("plan = 'never'\npublish.labels = []").over(&own);
        assert_eq!((here.plan, here.publish.draft), (PlanFirst::Never, DraftRule::Always));
        assert!(here.publish.labels.is_empty());
    }

    #[test]
    fn of_a_limit_the_stricter_counts() {
        for (of_operator, of_file, counts) in
            [("5", "3", 3), ("3", "5", 3), ("0", "3", 3), ("3", "0", 3), ("0", "0", 0), ("4", "4", 4)]
        {
            let own = operator(&[("limits.open_pulls", of_operator)]);
            let here = file(&format!("limits.open_pulls = {of_file}")).over(&own);
            assert_eq!(here.limits.open_pulls, counts, "{of_operator} {of_file}");
            assert_eq!(file(&format!("limits.open_pulls = {of_file}")).over(&here).limits.open_pulls, counts);
        }
        let differ = |first: &str, second: &str| {
            let of =
                |limit: &str| file("limits.open_pulls = 5").over(&operator(&[("limits.open_pulls", limit)])).shared;
            of(first).differing(&of(second)).len()
        };
        assert_eq!((differ("20", "0"), differ("3", "20"), differ("3", "4")), (0, 1, 1));
    }

    #[test]
    fn what_the_file_decides_makes_no_difference_between_workers() {
        let (first, second) = (operator(&[("publish.draft", "always"), ("plan", "always")]), operator(&[]));
        let differ = |text: &str| file(text).over(&first).shared.differing(&file(text).over(&second).shared);
        assert_eq!(differ(""), ["plan", "publish.draft"]);
        assert_eq!(differ("publish.draft = 'never'"), ["plan"]);
        assert!(differ(ALL).is_empty());
        // Nor does a change of the file stop what is under way.
        assert_eq!(file(ALL).over(&second).shared, second.shared);
    }
}
