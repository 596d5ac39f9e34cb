//! The settings that all workers of a repository have to share: those that decide what is written to the repository, who may command Hob
//! there, and what its work may cost. What a machine can do, and how many issues it works on at a time, each operator decides.

use hob_domain::SharedSettings;
use toml::{Table, Value};

use crate::given::at;

/// Their keys; a section means all of its keys.
const SHARED: [&str; 24] = [
    "budget",
    "check_time",
    "dashboard",
    "labels",
    "limits.attempts",
    "limits.issues_per_hour",
    "limits.open_pulls",
    "limits.patience",
    "limits.rounds",
    "notify.mention",
    "on_red_base",
    "plan",
    "proof_time",
    "publish.author",
    "publish.base",
    "publish.commit_message",
    "publish.draft",
    "publish.sign_off",
    "publish.trailers",
    "recovery",
    "review",
    "routing.enabled",
    "trust",
    "workspace",
];

/// Those of `settings`, all of them, that are not the `defaults`.
pub(super) fn shared(settings: Table, defaults: &Value) -> SharedSettings {
    let own = Value::Table(settings);
    let mut values = Vec::new();
    for key in SHARED {
        match (at(&own, key), at(defaults, key)) {
            (Some(Value::Table(own)), Some(Value::Table(defaults))) => values.extend(differing(key, own, defaults)),
            (Some(own), Some(default)) if own.to_string() != default.to_string() => {
                values.push((key.to_owned(), own.to_string()));
            }
            (_, _) => {}
        }
    }
    SharedSettings::new(values)
}

fn differing(section: &str, own: &Table, defaults: &Table) -> Vec<(String, String)> {
    let differs = |(key, value): &(&String, &Value)| {
        defaults.get(*key).map(ToString::to_string).as_ref() != Some(&value.to_string())
    };
    own.iter().filter(differs).map(|(key, value)| (format!("{section}.{key}"), value.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::{DEFAULTS, Settings};

    fn load(flags: &[(&str, &str)]) -> Settings {
        let flags: Vec<_> = flags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Settings::load(None, HashMap::new(), &flags).unwrap()
    }

    #[test]
    fn what_is_written_to_the_repository_is_shared_and_what_a_machine_does_is_not() {
        let defaults = load(&[]).shared;
        assert_eq!(defaults, SharedSettings::default());
        let own = [
            ("jobs", "4"),
            ("sandbox.tier", "none"),
            ("agent", "codex"),
            ("poll.interval", "9s"),
            ("budget.issue", "5"),
        ];
        assert!(load(&own).shared.differing(&defaults).is_empty());
        let set = [("budget.day", "7"), ("labels.trigger", "hob"), ("trust.permission", "admin"), ("plan", "always")];
        assert_eq!(
            load(&set).shared.differing(&defaults),
            ["budget.day", "labels.trigger", "plan", "trust.permission"]
        );
        // However it is written.
        assert_eq!(load(&[("budget.day", "7")]).shared, load(&[("budget.day", "7.0")]).shared);
        assert_eq!(load(&[("budget.time", "60m")]).shared, load(&[("budget.time", "1h")]).shared);
    }

    #[test]
    fn each_shared_setting_is_a_setting() {
        let defaults = Value::Table(toml::from_str(DEFAULTS).unwrap());
        for key in SHARED {
            assert!(at(&defaults, key).is_some(), "{key}");
        }
    }
}
