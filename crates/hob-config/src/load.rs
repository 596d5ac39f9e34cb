//! Loads the settings: defaults, ready agents, a file, `HOB__SECTION__KEY` variables, flags. For an unknown key, the
//! error names the nearest known one.

use std::{
    collections::{BTreeSet, HashMap},
    path::Path,
};

use config::{Config, Environment, File, FileFormat, Value, ValueKind};

use crate::{
    DEFAULTS, Settings, SettingsError,
    culprit::culprit,
    flag::flag_value,
    origin::{SettingsText, Sources},
    ready,
    renamed::replace_old_names,
    sensible::{check, check_kinds},
    toml_sentence,
    variable_names::{PRIVATE_KEY, WEBHOOK_SECRET, WEBHOOK_URL, variable_of},
};

/// Tables whose keys users choose; their contents are validated by the code that reads them.
const FREE_TABLES: [&str; 5] = ["agents", "mcp", "recipes", "model", "tools"];

impl Settings {
    /// Loads the settings. `flags` are `section.key` pairs that override everything else.
    ///
    /// # Errors
    /// [`SettingsError`], one sentence that says what to change.
    pub fn load(
        file: Option<&Path>,
        variables: HashMap<String, String>,
        flags: &[(String, String)],
    ) -> Result<Self, SettingsError> {
        let read = |path: &Path| {
            std::fs::read_to_string(path).map_err(|source| SettingsError::Unreadable { path: path.to_owned(), source })
        };
        let text = file.map(read).transpose()?;
        let file = file.zip(text.as_deref()).map(|(path, text)| SettingsText { path, text });
        let sources = Sources { file, variables: &variables, flags };
        Self::merged(&sources).map_err(|error| error.with_place(|key| sources.origin(key)))
    }

    fn merged(sources: &Sources<'_>) -> Result<Self, SettingsError> {
        let Sources { file, variables, flags } = *sources;
        refuse_unknown_variables(variables)?;
        let mut builder = Config::builder();
        if let Some(SettingsText { path, text }) = file {
            let table = toml::from_str::<toml::Table>(text).map_err(|error| SettingsError::Malformed {
                path: path.to_owned(),
                reason: toml_sentence(text, &error),
            })?;
            check_kinds(&table)?;
            builder = builder.add_source(File::from_str(text, FileFormat::Toml));
        }
        let lists = [
            "forge.repositories",
            "labels.priority",
            "model.fallback",
            "notify.events",
            "notify.mention",
            "publish.labels",
            "publish.reviewers",
            "sandbox.check_hosts",
            "sandbox.hosts",
            "sandbox.read",
            "sandbox.write",
            "trust.bots",
        ];
        let mut environment = Environment::with_prefix("HOB")
            .prefix_separator("__")
            .separator("__")
            .try_parsing(true)
            // Workflows pass on unset values as empty ones; the standard variables are read in the same way.
            .ignore_empty(true)
            .list_separator(",")
            .source(Some(variables.clone()));
        for key in lists {
            environment = environment.with_list_parse_key(key);
        }
        builder = builder.add_source(environment);
        for (key, value) in flags {
            builder = builder.set_override(key, flag_value(value, lists.contains(&key.as_str())))?;
        }
        let mut given = builder.build()?;
        let renamed = replace_old_names(&mut given.cache).map_err(SettingsError::GivenTwice)?;
        let defaults = File::from_str(DEFAULTS, FileFormat::Toml);
        let untouched = ready::untouched(&given).collect();
        let ready = ready::layer_below(&given);
        let merged = Config::builder().add_source(defaults).add_source(ready).add_source(given.clone()).build()?;
        refuse_unknown(&merged)?;
        let settings: Self = merged.try_deserialize().map_err(|error| culprit(&given.cache, error))?;
        check(&settings, &given)?;
        Ok(Self { renamed, untouched, ..settings })
    }
}

fn refuse_unknown(merged: &Config) -> Result<(), SettingsError> {
    let known = Config::builder().add_source(File::from_str(DEFAULTS, FileFormat::Toml)).build()?;
    let (mut given, mut allowed) = (BTreeSet::new(), BTreeSet::new());
    key_paths("", &merged.cache, &mut given);
    key_paths("", &known.cache, &mut allowed);
    let free = |key: &str| FREE_TABLES.iter().any(|table| key == *table || key.starts_with(&format!("{table}.")));
    match given.into_iter().find(|key| !allowed.contains(key) && !free(key)) {
        None => Ok(()),
        Some(key) => {
            let distance = |known: &&String| strsim::damerau_levenshtein(known, &key);
            let nearest = allowed.iter().min_by_key(distance).filter(|known| distance(known) <= key.len() / 2);
            Err(SettingsError::UnknownKey { nearest: nearest.cloned(), key, origin: None })
        }
    }
}

/// Refuses variables that begin like Hob's and are misspelt names of its own, which would otherwise be ignored
/// silently. Other variables belong to other programs.
fn refuse_unknown_variables(variables: &HashMap<String, String>) -> Result<(), SettingsError> {
    let known = Config::builder().add_source(File::from_str(DEFAULTS, FileFormat::Toml)).build()?;
    let mut keys = BTreeSet::new();
    key_paths("", &known.cache, &mut keys);
    let own = [PRIVATE_KEY, WEBHOOK_SECRET, WEBHOOK_URL];
    let own: Vec<String> = own.iter().flat_map(|name| [(*name).to_owned(), format!("{name}_FILE")]).collect();
    let strange = variables.keys().filter(|name| !name.starts_with("HOB__") && !own.contains(name));
    let names: BTreeSet<String> = keys.iter().map(|key| variable_of(key)).chain(own.iter().cloned()).collect();
    let near = strange.filter_map(|name| {
        let distance = |known: &&String| strsim::damerau_levenshtein(known, name);
        let nearest = names.iter().min_by_key(distance)?;
        (name.contains("__") || distance(&nearest) <= 2).then(|| (name.clone(), nearest.clone()))
    });
    // The same one each time, in any order of the variables.
    match near.min() {
        Some((name, nearest)) => Err(SettingsError::UnknownVariable { name, nearest }),
        None => Ok(()),
    }
}

fn key_paths(prefix: &str, value: &Value, found: &mut BTreeSet<String>) {
    match &value.kind {
        ValueKind::Table(table) => {
            for (key, value) in table {
                let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
                key_paths(&path, value, found);
            }
        }
        _leaf => {
            found.insert(prefix.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::AgentSettings;

    fn load(file: &str, variables: &[(&str, &str)], flags: &[(&str, &str)]) -> Result<Settings, SettingsError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hob.toml");
        std::fs::write(&path, file).unwrap();
        let pairs = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect::<Vec<_>>()
        };
        Settings::load(Some(&path), pairs(variables).into_iter().collect(), &pairs(flags))
    }

    #[test]
    fn the_defaults_are_settings() {
        let settings = Settings::load(None, HashMap::new(), &[]).unwrap();
        assert_eq!((settings.limits.jobs, settings.limits.issues_per_hour), (1, 10));
        assert_eq!(settings.limits.attempt_time, Duration::from_secs(1800));
        assert_eq!((settings.poll.interval.as_secs(), settings.poll.max_interval.as_secs()), (30, 300));
        assert_eq!(settings.limits.budgets().issue.usd_micros, Some(5_000_000));
    }

    #[test]
    fn a_flag_wins_over_a_variable_and_a_variable_over_the_file() {
        let file = "[limits]\njobs = 2\nattempts = 7\n[poll]\ninterval = '10s'";
        let variables =
            [("HOB__LIMITS__JOBS", "3"), ("HOB__POLL__INTERVAL", "20s"), ("HOB__TRUST__BOTS", "a[bot],b[bot]")];
        let settings = load(file, &variables, &[("limits.jobs", "4")]).unwrap();
        assert_eq!((settings.limits.jobs, settings.limits.attempts, settings.poll.interval.as_secs()), (4, 7, 20));
        assert_eq!(settings.trust.bots.len(), 2);
        let settings = load(file, &variables, &[("trust.bots", "c[bot], d[bot],e[bot]")]).unwrap();
        assert_eq!(settings.trust.bots.len(), 3);
        let settings = load(file, &[], &[("model.fallback", "openai/x, anthropic/y")]).unwrap();
        assert_eq!(settings.model.fallback, ["openai/x", "anthropic/y"]);
    }

    #[test]
    fn a_draft_may_still_be_a_switch() {
        use crate::DraftRule::{Always, Never, UntilGreen};
        for (value, rule) in [("true", Always), ("false", Never), ("'until-green'", UntilGreen), ("'always'", Always)] {
            assert_eq!(load(&format!("[publish]\ndraft = {value}"), &[], &[]).unwrap().publish.draft, rule);
            let plain = value.trim_matches('\'');
            assert_eq!(load("", &[("HOB__PUBLISH__DRAFT", plain)], &[]).unwrap().publish.draft, rule);
            assert_eq!(load("", &[], &[("publish.draft", plain)]).unwrap().publish.draft, rule);
        }
    }

    #[test]
    fn a_flag_may_be_written_as_in_the_file() {
        let flags = [
            ("recovery", "\"block\""),
            ("forge.repositories", "[\"a/b\", \"c/d\"]"),
            ("agents.x.tools", "['shell']"),
            ("agents.x.failed_commands", "{ in_row = 3 }"),
            ("publish.base", "1.10"),
        ];
        let settings = load("", &[], &flags).unwrap();
        assert_eq!((settings.recovery, settings.publish.base.as_str()), (hob_domain::Recovery::Block, "1.10"));
        assert_eq!(settings.forge.repositories, ["a/b", "c/d"]);
        assert_eq!(
            (&settings.agents["x"].tools[..], settings.agents["x"].failed_commands.in_row),
            (&["shell".to_owned()][..], 3)
        );
        for (flag, says) in [
            (
                ("recovery", "hope"),
                "`recovery` cannot be used: it is `hope`; write one of `resume`, `block`, `abandon`",
            ),
            (("limits.jobs", "many"), "`limits.jobs` cannot be used: it is `many`; write a whole number"),
            (("limits.soft", "[1]"), "`limits.soft` cannot be used: it is `[1]`; write a number"),
            (
                ("review.resolve", "perhaps"),
                "`review.resolve` cannot be used: it is `perhaps`; write `true` or `false`",
            ),
        ] {
            let error = load("", &[], &[flag]).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }

    /// Row A10.
    #[test]
    fn repositories_are_a_list_wherever_they_are_written() {
        for settings in [
            load("[forge]\nrepositories = ['acme/site', 'acme/docs']", &[], &[]),
            load("", &[("HOB__FORGE__REPOSITORIES", "acme/site,acme/docs")], &[]),
            load("", &[], &[("forge.repositories", "acme/site, acme/docs")]),
        ] {
            assert_eq!(settings.unwrap().forge.repositories, ["acme/site", "acme/docs"]);
        }
    }

    #[test]
    fn an_unknown_key_names_the_nearest_known_one() {
        for (file, variables) in [("[limits]\njosb = 2", vec![]), ("", vec![("HOB__LIMITS__JOSB", "2")])] {
            let error = load(file, &variables, &[]).unwrap_err().to_string();
            let place = if variables.is_empty() { "hob.toml`, line 2;" } else { "the variable `HOB__LIMITS__JOSB`;" };
            assert!(error.starts_with("unknown setting `limits.josb`, did you mean `limits.jobs`? It is "), "{error}");
            assert!(error.contains(place) && error.ends_with("`hob config show` prints all settings"), "{error}");
        }
    }

    #[test]
    fn a_variable_that_is_nearly_a_setting_is_refused_and_anothers_is_not() {
        for (name, nearest) in [
            ("HOB_LIMITS__JOBS", "HOB__LIMITS__JOBS"),
            ("HOB_LIMITS_JOBS", "HOB__LIMITS__JOBS"),
            ("HOB_APP_PRIVATEKEY", "HOB_APP_PRIVATE_KEY"),
            ("HOB_APP_PRIVATEKEY_FILE", "HOB_APP_PRIVATE_KEY_FILE"),
        ] {
            let error = load("", &[(name, "2")], &[]).unwrap_err().to_string();
            assert_eq!(error, format!("unknown variable `{name}`, did you mean `{nearest}`?"));
        }
        let others =
            ["HOB_APP_PRIVATE_KEY_FILE", "HOB_RUN", "HOB_ISSUE", "HOB_PROCESS", "HOB_TOKEN", "HOB_SOURCE", "HOB_SEEDS"];
        load("", &others.map(|name| (name, "x")), &[]).unwrap();
    }

    #[test]
    fn a_variable_that_is_empty_counts_as_not_set() {
        let names = ["HOB__APP__ID", "HOB__LABELS__TRIGGER", "HOB__LIMITS__JOBS", "HOB__NOTIFY__EVENTS"];
        let file = "[limits]\njobs = 3";
        let (empty, none) = (load(file, &names.map(|name| (name, "")), &[]), load(file, &[], &[]));
        assert_eq!(format!("{:?}", empty.unwrap()), format!("{:?}", none.unwrap()));
    }

    #[test]
    fn a_text_that_a_variable_or_a_flag_gives_may_look_like_another_kind() {
        let settings = load("", &[("HOB__LABELS__TRIGGER", "true")], &[("labels.blocked", "7")]).unwrap();
        assert_eq!((settings.labels.trigger.as_str(), settings.labels.blocked.as_str()), ("true", "7"));
    }

    #[test]
    fn an_old_name_works_wherever_it_is_written_and_is_noted() {
        for (section, old, new) in [
            ("limits", "issue_time", "attempt_time"),
            ("agent", "silence_warns", "idle_warning"),
            ("agent", "silence_ends", "idle_timeout"),
        ] {
            let file = format!("[{section}]\n{old} = '7s'");
            let variable = format!("HOB__{}__{}", section.to_uppercase(), old.to_uppercase());
            let flag = format!("{section}.{old}");
            for (file, variables, flags) in [
                (file.as_str(), vec![], vec![]),
                ("", vec![(variable.as_str(), "7s")], vec![]),
                ("", vec![], vec![(flag.as_str(), "7s")]),
                (file.as_str(), vec![(variable.as_str(), "8s")], vec![(flag.as_str(), "7s")]),
            ] {
                let settings = load(file, &variables, &flags).unwrap();
                let values = serde_json::to_value(&settings).unwrap();
                assert_eq!(values[section][new], "7s", "{flag}");
                let notes: Vec<_> = settings.renamed.iter().map(ToString::to_string).collect();
                let note = format!("the setting `{flag}` is now `{section}.{new}`;");
                assert!(matches!(notes.as_slice(), [one] if one.starts_with(&note)), "{notes:?}");
            }
        }
        assert!(load("[limits]\nattempt_time = '7s'", &[], &[]).unwrap().renamed.is_empty());
    }

    #[test]
    fn an_old_name_and_the_new_one_together_are_refused() {
        let old = "[limits]\nissue_time = '7s'";
        let both = "[limits]\nissue_time = '7s'\nattempt_time = '7s'";
        let variable = ("HOB__LIMITS__ATTEMPT_TIME", "8s");
        let flag = ("limits.attempt_time", "9s");
        for (file, variables, flags) in
            [(both, vec![], vec![]), (old, vec![variable], vec![]), (old, vec![], vec![flag])]
        {
            let error = load(file, &variables, &flags).unwrap_err().to_string();
            let text = "`limits.issue_time` is the old name of `limits.attempt_time`, and both are set: remove \
                        `limits.issue_time`";
            assert_eq!(error, text);
        }
        let error = load("[agent]\nsilence_ends = '1s'\nidle_timeout = '1s'", &[], &[]).unwrap_err().to_string();
        assert!(error.ends_with("remove `agent.silence_ends`"), "{error}");
    }

    #[test]
    fn a_misspelt_key_never_leads_to_an_old_name() {
        let error = load("[limits]\nissue_tim = '7s'", &[], &[]).unwrap_err().to_string();
        assert!(!error.contains("issue_time"), "{error}");
        let error = load("[agent]\nidle_timeuot = '7s'", &[], &[]).unwrap_err().to_string();
        assert!(error.contains("did you mean `agent.idle_timeout`?"), "{error}");
    }

    #[test]
    fn a_value_is_within_the_limit_that_it_is_part_of() {
        for (file, inner, outer) in [
            (
                "[limits]\nusd_per_attempt = 10",
                "limits.usd_per_attempt` cannot be used: it is `10`",
                "usd_per_issue`, which is 5",
            ),
            (
                "[limits]\nusd_per_attempt = 60\nusd_per_issue = 0",
                "limits.usd_per_attempt",
                "usd_per_day`, which is 50",
            ),
            ("[limits]\nusd_per_issue = 100", "limits.usd_per_issue", "usd_per_day`, which is 50"),
            (
                "[limits]\nusd_per_issue = 5\nusd_per_issue_max = 2",
                "limits.usd_per_issue",
                "usd_per_issue_max`, which is 2",
            ),
            ("[limits]\nusd_per_issue_max = 60", "limits.usd_per_issue_max", "usd_per_day`, which is 50"),
            ("[limits]\ntokens_per_attempt = 9\ntokens_per_issue = 8", "limits.tokens_per_attempt", "which is 8"),
            ("[limits]\ntokens_per_issue = 9\ntokens_per_day = 8", "limits.tokens_per_issue", "which is 8"),
            ("[limits]\nattempts = 20", "limits.attempts` cannot", "attempts_per_issue`, which is 12"),
            ("[limits]\nattempts_per_issue = 5\nattempts_per_day = 4", "limits.attempts_per_issue", "which is 4"),
            (
                "[limits]\nattempt_time = '5h'",
                "limits.attempt_time` cannot be used: it is `5h`",
                "time_per_issue`, which is 4h",
            ),
            ("[limits]\ntime_per_issue = '5h'\ntime_per_day = '1h'", "limits.time_per_issue", "which is 1h"),
            ("[poll]\ninterval = '10m'", "poll.interval", "max_interval`, which is 5m"),
            ("[agent]\nidle_warning = '10m'", "agent.idle_warning", "idle_timeout`, which is 5m"),
            ("[agent]\nretry_delay = '1m'", "agent.retry_delay", "retry_delay_max`, which is 5s"),
            ("[model]\nbackoff = '5m'", "model.backoff", "backoff_max`, which is 1m"),
            ("[lease]\nskew = '10m'", "lease.skew", "duration`, which is 5m"),
        ] {
            let error = load(file, &[], &[]).unwrap_err().to_string();
            assert!(error.contains(inner) && error.contains(outer), "{error}");
        }
        // Where there is no limit, there is nothing to be within; a limit below a default counts as it is.
        for file in [
            "[limits]\nusd_per_issue = 100\nusd_per_day = 0",
            "[limits]\nusd_per_day = 3",
            "[agent]\nidle_timeout = '7s'",
            "[agent]\nidle_warning = '10m'\nidle_timeout = '0s'",
        ] {
            load(file, &[], &[]).unwrap();
        }
    }

    #[test]
    fn a_list_of_refusals_adds_to_hobs_own() {
        let settings = load("[agents.x]\ndenied = ['write', 'shell(git push)']", &[], &[]).unwrap();
        let (own, added) = (AgentSettings::default().denied, &settings.agents["x"].denied);
        assert_eq!((&added[..own.len()], &added[own.len()..]), (&own[..], &["write".to_owned()][..]));
    }

    #[test]
    fn a_value_that_cannot_be_used_says_why() {
        for (file, says) in [
            ("[limits]\njobs = 0", "`limits.jobs` cannot be used: it is `0`; write at least 1 (in `"),
            ("plan = 'never'\n[limits]\njobs = 0", "hob.toml`, line 3)"),
            (
                "[limits]\nusd_per_issue = -1",
                "`limits.usd_per_issue` cannot be used: it is `-1`; write a number from 0 up",
            ),
            ("[limits]\nusd_per_day = nan", "it is `NaN`; write a number from 0 up"),
            ("[limits]\nusd_per_attempt = inf", "it is `inf`; write a number from 0 up"),
            ("[limits]\nsoft = nan", "a share between 0 and 1"),
            ("[limits]\nattempts = 1.5", "`limits.attempts` cannot be used: it is `1.5`; write a whole number"),
            ("[labels]\ntrigger = true", "`labels.trigger` cannot be used: it is `true`; write a text in quotes"),
            ("[publish]\ndraft = 'yes'", "`publish.draft` cannot be used: it is `yes`; write `never`"),
            ("[publish]\ndraft = 1", "`publish.draft` cannot be used: it is `1`; write a text in quotes"),
            ("[publish]\ncommit_message = '{scope}: {title}'", "unknown placeholder `{scope}`"),
            ("[publish]\nsigning = 'ssh'", "write the path of the key"),
            ("[publish]\nsigning = 'api'", "GitHub signs the commits of Apps only"),
            ("[publish]\nlabels = ['']", "a label has 1 to 50 characters"),
            ("[trust]\nbots = 'a[bot]'", "write a list"),
            ("[checks]\ntime = '0s'", "`checks.time` cannot be used: it is `0s`; write more than 0s"),
            ("[poll]\ninterval = 'soon'", "write for example `30s`"),
            ("recovery = 'hope'", "`recovery` cannot be used: it is `hope`; write one of `resume`, `block`, `abandon`"),
            (
                "[notify]\nevents = ['blcoked']",
                "`notify.events` cannot be used: it is `[\"blcoked\"]`; write one of `blocked`, ",
            ),
            ("[agents.x]\nspeech = 'yaml'", "`agents.x.speech` cannot be used: it is `yaml`; write `calls` or `json`"),
            (
                "[agents.x]\nmax_iterations = 'many'",
                "`agents.x.max_iterations` cannot be used: it is `many`; write an integer",
            ),
            ("[lease]\nduration = '30s'", "more than `forge.timeout`"),
            ("[ledger]\nprefix = 'refs/other/'", "unknown setting `ledger.prefix` (in `"),
            ("[trust]\npermission = 'read'", "`trust.permission` cannot be used: it is `read`; write `triage`"),
            ("[trust]\npermission = 'none'", "every account can read a public repository"),
            ("[workspace]\nbranch_prefix = 'refs/hob/'", "such as `hob/`"),
            ("[labels]\nplan = 'Blocked'", "`labels.plan` cannot be used: it is `Blocked`; another label of Hob's"),
            ("[labels]\ninvestigate = 'plan'", "another label of Hob's"),
            ("[publish]\nsigning_key_file = '/k'", "`publish.signing` is not `ssh`"),
            ("[routing]\nconfidence = 7", "`routing.confidence` cannot be used: it is `7`; write a number from 0 to 1"),
            ("[routing]\nswitch = 2.0", "a number from 0 to 1"),
            ("[routing]\ncomplexity = 100", "a number from 1 to 10"),
            ("[labels]\nblocked = 'code'", "a label of its own"),
            (
                "[issues]\nassignee = '@ann'",
                "`issues.assignee` cannot be used: it is `@ann`; write the name of an account",
            ),
            (
                "[forge]\nrepositories = ['acme']",
                "`forge.repositories` cannot be used: it is `acme`; write repositories as `OWNER/NAME`",
            ),
            ("\nlimits = [", "cannot be used: line 2 (`limits`): "),
        ] {
            let error = load(file, &[], &[]).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
