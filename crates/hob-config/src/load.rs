//! Loads the settings: defaults, ready agents, a file, `HOB__SECTION__KEY` variables, flags. For an unknown key, the
//! error names the nearest known one.

use std::{
    collections::{BTreeSet, HashMap},
    path::Path,
};

use config::{Config, Environment, File, FileFormat, Value, ValueKind};

use crate::{
    DEFAULTS, REPOSITORY_SETTINGS_PATH, RepositorySettings, Settings, SettingsError,
    constants::{apply_testing, built_in, is_value, take_testing},
    culprit::culprit,
    flag::flag_value,
    given,
    origin::{SettingsText, Sources},
    ready,
    renamed::{OldName, old_names, replace_old_names, signing_of_key},
    sensible::{check, check_kinds},
    shared::shared,
    toml_sentence,
    variable_names::{CONFIG, PRIVATE_KEY, WEBHOOK_SECRET, WEBHOOK_URL, variable_of},
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
        let (mut given, old_names) = one_of_all([of_file(file)?, of_variables(variables)?, of_flags(flags)?])?;
        let testing = take_testing(&mut given.cache);
        let is_tested = testing.is_some();
        refuse_unknown(&given)?;
        // The text is built in, and a test parses it.
        let defaults = toml::Value::Table(toml::from_str(DEFAULTS).unwrap_or_default());
        let shown = given::given(&given.cache, &defaults, |key| sources.origin(key));
        if let Some(testing) = testing {
            apply_testing(&mut given.cache, &testing)?;
        }
        let untouched = ready::untouched(&given).collect();
        let ready = ready::layer_below(&given);
        let merged = built_in().add_source(ready).add_source(given.clone()).build()?;
        let settings: Self = merged.try_deserialize().map_err(|error| culprit(&given.cache, error))?;
        let settings = Self { old_names, is_tested, untouched, ..settings }.derived();
        check(&settings, &given)?;
        let file = file.map(|file| file.path.to_owned());
        let table = settings.to_table().map_err(|error| SettingsError::Unshown(error.to_string()))?;
        let shared = shared(table, &defaults);
        Ok(Self { file, given: shown, shared, ..settings })
    }
}

fn of_file(file: Option<SettingsText<'_>>) -> Result<Config, SettingsError> {
    let Some(SettingsText { path, text }) = file else { return Ok(Config::default()) };
    let table = toml::from_str::<toml::Table>(text)
        .map_err(|error| SettingsError::Malformed { path: path.to_owned(), reason: toml_sentence(text, &error) })?;
    check_kinds(&table)?;
    Ok(Config::builder().add_source(File::from_str(text, FileFormat::Toml)).build()?)
}

fn of_variables(variables: &HashMap<String, String>) -> Result<Config, SettingsError> {
    let mut environment = Environment::with_prefix("HOB")
        .prefix_separator("__")
        .separator("__")
        .try_parsing(true)
        // Workflows pass on unset values as empty ones; the standard variables are read in the same way.
        .ignore_empty(true)
        .list_separator(",")
        .source(Some(variables.clone()));
    for key in lists() {
        environment = environment.with_list_parse_key(&key);
    }
    Ok(Config::builder().add_source(environment).build()?)
}

fn of_flags(flags: &[(String, String)]) -> Result<Config, SettingsError> {
    let (mut builder, lists) = (Config::builder(), lists());
    for (key, value) in flags {
        builder = builder.set_override(key, flag_value(value, lists.contains(key)))?;
    }
    Ok(builder.build()?)
}

/// What all sources give, the strongest last, under the current names. Each is renamed by itself: an old section may have the name of
/// what is a text now, and one source would hide the other one's.
fn one_of_all(mut sources: [Config; 3]) -> Result<(Config, Vec<OldName>), SettingsError> {
    let (mut builder, mut used): (_, Vec<OldName>) = (Config::builder(), Vec::new());
    sources.iter_mut().for_each(|source| signing_of_key(&mut source.cache));
    let by_new_name = sources.clone();
    for mut source in sources {
        for name in replace_old_names(&mut source.cache)? {
            if let OldName::Renamed { old, new } = name
                && by_new_name.iter().any(|source| is_value(&source.cache, new))
            {
                return Err(SettingsError::GivenTwice { old, new });
            }
            if !used.contains(&name) {
                used.push(name);
            }
        }
        builder = builder.add_source(source);
    }
    Ok((builder.build()?, used))
}

/// The settings that are lists, under all of their names.
fn lists() -> Vec<String> {
    let now = lists_now();
    let before: Vec<String> = now.iter().flat_map(|key| old_names(key)).map(str::to_owned).collect();
    now.into_iter().chain(before).collect()
}

fn lists_now() -> Vec<String> {
    // The text is built in, and a test parses it.
    let mut found = Vec::new();
    let defaults: toml::Table = toml::from_str(DEFAULTS).unwrap_or_default();
    for (section, value) in &defaults {
        match value {
            toml::Value::Array(_) => found.push(section.clone()),
            toml::Value::Table(keys) => {
                let lists = keys.iter().filter(|(_, value)| value.is_array());
                found.extend(lists.map(|(key, _)| format!("{section}.{key}")));
            }
            _other => {}
        }
    }
    found
}

fn refuse_unknown(settings: &Config) -> Result<(), SettingsError> {
    let known = Config::builder().add_source(File::from_str(DEFAULTS, FileFormat::Toml)).build()?;
    let (mut given, mut allowed) = (BTreeSet::new(), BTreeSet::new());
    key_paths("", &settings.cache, &mut given);
    key_paths("", &known.cache, &mut allowed);
    let free = |key: &str| FREE_TABLES.iter().any(|table| key == *table || key.starts_with(&format!("{table}.")));
    // A section without keys.
    let has_keys = |key: &str| allowed.iter().any(|known| known.starts_with(&format!("{key}.")));
    match given.into_iter().find(|key| !allowed.contains(key) && !free(key) && !has_keys(key)) {
        None => Ok(()),
        Some(key) if RepositorySettings::has(&key) => {
            Err(SettingsError::OfTheRepository { key, origin: None, file: REPOSITORY_SETTINGS_PATH })
        }
        Some(key) => {
            // The name may be right, and its section another one.
            let name = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
            let distance = |known: &&String| {
                let of_name = strsim::damerau_levenshtein(&name(known), &name(&key)) + 1;
                strsim::damerau_levenshtein(known, &key).min(of_name)
            };
            // Of equally near ones the one with as many letters: two of them were swapped.
            let order = |known: &&String| (distance(known), name(known).len().abs_diff(name(&key).len()));
            let nearest = allowed.iter().min_by_key(order).filter(|known| distance(known) <= name(&key).len() / 2);
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
    let mut own: Vec<String> = own.iter().flat_map(|name| [(*name).to_owned(), format!("{name}_FILE")]).collect();
    own.push(CONFIG.to_owned());
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
        ValueKind::Table(table) if prefix.is_empty() || !table.is_empty() => {
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
        assert_eq!((settings.jobs, settings.limits.issues_per_hour), (1, 10));
        assert_eq!(settings.limits.attempt_time, Duration::from_secs(1800));
        assert_eq!((settings.poll.interval.as_secs(), settings.poll.max_interval().as_secs()), (30, 300));
        assert_eq!(settings.budgets().issue.usd_micros, Some(5_000_000));
    }

    #[test]
    fn a_flag_wins_over_a_variable_and_a_variable_over_the_file() {
        let file = "jobs = 2\n[limits]\nattempts = 7\n[poll]\ninterval = '10s'";
        let variables = [("HOB__JOBS", "3"), ("HOB__POLL__INTERVAL", "20s"), ("HOB__TRUST__BOTS", "a[bot],b[bot]")];
        let settings = load(file, &variables, &[("jobs", "4")]).unwrap();
        assert_eq!((settings.jobs, settings.limits.attempts, settings.poll.interval.as_secs()), (4, 7, 20));
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
            ("repositories", "[\"a/b\", \"c/d\"]"),
            ("agents.x.tools", "['shell']"),
            ("agents.x.failed_commands", "{ in_row = 3 }"),
            ("publish.base", "1.10"),
        ];
        let settings = load("", &[], &flags).unwrap();
        assert_eq!((settings.recovery, settings.publish.base.as_str()), (hob_domain::Recovery::Block, "1.10"));
        assert_eq!(settings.repositories, ["a/b", "c/d"]);
        assert_eq!(
            (&settings.agents["x"].tools[..], settings.agents["x"].failed_commands.in_row),
            (&["shell".to_owned()][..], 3)
        );
        for (flag, says) in [
            (
                ("recovery", "hope"),
                "`recovery` cannot be used: it is `hope`; write one of `resume`, `block`, `abandon`",
            ),
            (("jobs", "many"), "`jobs` cannot be used: it is `many`; write a whole number"),
            (("budget.day", "[1]"), "`budget.day` cannot be used: it is `[1]`; write a number"),
            (("review.rerun", "perhaps"), "`review.rerun` cannot be used: it is `perhaps`; write `true` or `false`"),
        ] {
            let error = load("", &[], &[flag]).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }

    /// Row A10.
    #[test]
    fn repositories_are_a_list_wherever_they_are_written() {
        for settings in [
            load("repositories = ['acme/site', 'acme/docs']", &[], &[]),
            load("", &[("HOB__REPOSITORIES", "acme/site,acme/docs")], &[]),
            load("", &[], &[("repositories", "acme/site, acme/docs")]),
        ] {
            assert_eq!(settings.unwrap().repositories, ["acme/site", "acme/docs"]);
        }
    }

    #[test]
    fn an_unknown_key_names_the_nearest_known_one() {
        for (file, variables) in [("[limits]\nroudns = 2", vec![]), ("", vec![("HOB__LIMITS__ROUDNS", "2")])] {
            let error = load(file, &variables, &[]).unwrap_err().to_string();
            let place = if variables.is_empty() { "hob.toml`, line 2;" } else { "the variable `HOB__LIMITS__ROUDNS`;" };
            assert!(
                error.starts_with("unknown setting `limits.roudns`, did you mean `limits.rounds`? It is "),
                "{error}"
            );
            assert!(error.contains(place) && error.ends_with("`hob config show --all` prints all settings"), "{error}");
        }
    }

    /// Field notes N87, N88.
    #[test]
    fn a_mistake_names_the_file_the_line_and_what_to_write() {
        for (file, said) in [
            (
                "checks = ['npm test']",
                "`checks` is a setting of the repository (in `hob.toml`, line 1): write it in its `.github/hob.toml`",
            ),
            (
                "[agents.x]\ncommand = 'ls'",
                "the setting `agents.x.command` cannot be used: it is `ls`; write a list: `[\"ls\"]` (in `hob.toml`, line 2)",
            ),
            (
                "[agents.x]\nenv = 7",
                "the setting `agents.x.env` cannot be used: it is `7`; write a list (in `hob.toml`, line 2)",
            ),
        ] {
            let error = load(file, &[], &[]).unwrap_err().to_string();
            let name = error.split('`').find(|part| part.ends_with("/hob.toml") && *part != ".github/hob.toml");
            assert_eq!(error.replace(name.unwrap_or("-"), "hob.toml"), said);
        }
    }

    #[test]
    fn a_section_that_is_unknown_is_told_though_it_is_empty() {
        load("[limits]\n[agents.x]\n[model]\n", &[], &[]).unwrap();
        let error = load("[limts]\n", &[], &[]).unwrap_err().to_string();
        assert!(error.starts_with("unknown setting `limts`") && error.contains("hob.toml`, line 1"), "{error}");
    }

    #[test]
    fn a_variable_that_is_nearly_a_setting_is_refused_and_anothers_is_not() {
        for (name, nearest) in [
            ("HOB_LIMITS__ROUNDS", "HOB__LIMITS__ROUNDS"),
            ("HOB_LIMITS_ROUNDS", "HOB__LIMITS__ROUNDS"),
            ("HOB_CONFG", "HOB_CONFIG"),
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
        let names = ["HOB__APP__ID", "HOB__LABELS__TRIGGER", "HOB__JOBS", "HOB__NOTIFY__EVENTS"];
        let file = "jobs = 3";
        let (empty, none) = (load(file, &names.map(|name| (name, "")), &[]), load(file, &[], &[]));
        assert_eq!(empty.unwrap().to_table(), none.unwrap().to_table());
    }

    #[test]
    fn a_number_of_candidates_may_be_a_word_wherever_it_is_written() {
        let variable = |value| vec![("HOB__LIMITS__CANDIDATES", value)];
        for (file, variables, flags, is) in [
            ("[limits]\ncandidates = 3", vec![], vec![], "candidates = 3"),
            ("[limits]\ncandidates = 'auto'", vec![], vec![], "candidates = \"auto\""),
            ("", variable("2"), vec![], "candidates = 2"),
            ("", variable("auto"), vec![("limits.candidates", "4")], "candidates = 4"),
        ] {
            let settings = load(file, &variables, &flags).unwrap();
            let shown = settings.to_table().unwrap()["limits"].to_string();
            assert!(shown.contains(is), "{shown}");
        }
    }

    #[test]
    fn a_text_that_a_variable_or_a_flag_gives_may_look_like_another_kind() {
        let settings = load("", &[("HOB__LABELS__TRIGGER", "true")], &[("labels.prefix", "7")]).unwrap();
        assert_eq!((settings.labels.trigger.as_str(), settings.labels.prefix.as_str()), ("true", "7"));
    }

    #[test]
    fn an_old_name_works_wherever_it_is_written_and_is_noted() {
        for (old, new) in [
            ("limits.issue_time", "limits.attempt_time"),
            ("agent.idle_timeout", "limits.idle_timeout"),
            ("checks.time", "check_time"),
            ("limits.time_per_issue", "budget.time"),
        ] {
            let (section, name) = old.split_once('.').unwrap();
            let file = format!("[{section}]\n{name} = '47m'");
            let variable = format!("HOB__{}", old.to_uppercase().replace('.', "__"));
            for (file, variables, flags) in [
                (file.as_str(), vec![], vec![]),
                ("", vec![(variable.as_str(), "47m")], vec![]),
                ("", vec![], vec![(old, "47m")]),
                (file.as_str(), vec![(variable.as_str(), "48m")], vec![(old, "47m")]),
            ] {
                let settings = load(file, &variables, &flags).unwrap();
                let values = serde_json::to_value(&settings).unwrap();
                assert_eq!(new.split('.').fold(&values, |value, part| &value[part]), "47m", "{old}");
                let notes: Vec<_> = settings.old_names.iter().map(ToString::to_string).collect();
                assert_eq!(notes, [format!("the setting `{old}` is now `{new}`; the old name still works")]);
            }
        }
        assert!(load("[limits]\nattempt_time = '7s'", &[], &[]).unwrap().old_names.is_empty());
    }

    #[test]
    fn an_old_section_of_one_source_is_not_hidden_by_a_text_of_another() {
        let file = "[agent]\nsilence_ends = '9m'\n[sandbox]\nhosts = ['a.example']";
        let variables = [("HOB__AGENT", "fixer"), ("HOB__SANDBOX__HOSTS", "b.example,c.example")];
        let settings = load(file, &variables, &[("forge.repositories", "a/b, c/d")]).unwrap();
        assert_eq!((settings.agent.as_str(), settings.limits.idle_timeout.as_secs()), ("fixer", 540));
        assert_eq!(settings.sandbox.setup_hosts, ["b.example", "c.example"]);
        assert_eq!(settings.repositories, ["a/b", "c/d"]);
        let error = load("[agent]\ndefault = 'mine'", &variables, &[]).unwrap_err().to_string();
        assert_eq!(error, "`agent.default` is the old name of `agent`, and both are set: remove `agent.default`");
    }

    #[test]
    fn an_old_form_is_read_into_the_new_one() {
        let file = "[agent]\ndefault = 'fixer'\nretries = 3\nsilence_ends = '9m'\n[forge]\nrepositories = ['a/b']\n\
                    [sandbox]\nmemory_mib = 512\nhosts = ['x.example']\n[identity]\nname = 'Bob'\n\
                    [publish]\nsigning = 'ssh'\nsigning_key_file = '/k/hob'\n[workspace]\nmax_file_mib = 5";
        let settings = load(file, &[("HOB__LIMITS__JOBS", "3")], &[("sandbox.disk_mib", "4096")]).unwrap();
        assert_eq!((settings.agent.as_str(), settings.jobs, settings.runs.retries), ("fixer", 3, 1));
        assert_eq!(
            (settings.limits.idle_timeout.as_secs(), &settings.repositories[..]),
            (540, &["a/b".to_owned()][..])
        );
        assert_eq!((settings.sandbox.memory, settings.sandbox.disk), (512 << 20, 4 << 30));
        assert_eq!((settings.workspace.max_file, settings.publish.author.name.as_str()), (5 << 20, "Bob"));
        assert_eq!(settings.publish.signing, crate::Signing::Ssh("/k/hob".into()));
        assert_eq!(settings.sandbox.setup_hosts, ["x.example"]);
        let notes: Vec<_> = settings.old_names.iter().map(ToString::to_string).collect();
        assert!(notes.contains(&"`agent.retries` is not a setting any more: Hob uses 1".to_owned()), "{notes:?}");
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
    fn what_is_constant_or_follows_from_others_is_passed_over_and_a_limit_that_is_gone_is_refused() {
        for (file, note) in [
            ("[lease]\nduration = '1m'", "`lease.duration` is not a setting any more: Hob uses \"5m\""),
            (
                "[poll]\nmax_interval = '1m'",
                "`poll.max_interval` is not a setting any more: it is ten times `poll.interval`",
            ),
            ("[agents.x]\noutput_cap = 7", "`agents.x.output_cap` is not a setting any more: it is constant"),
            ("[model]\nretries = 0", "`model.retries` is not a setting any more: Hob uses 4"),
        ] {
            let settings = load(file, &[], &[]).unwrap();
            let notes: Vec<_> = settings.old_names.iter().map(ToString::to_string).collect();
            assert_eq!(notes, [note]);
            assert_eq!((settings.lease.duration.as_secs(), settings.model.retries), (300, 4));
        }
        for (file, says) in [
            (
                "[limits]\ntokens_per_day = 7",
                "`limits.tokens_per_day` is not a setting any more: `budget.day` bounds a day",
            ),
            ("[labels]\nblocked = 'stuck'", "`labels.blocked` is not a setting any more: set `labels.prefix`"),
            ("[model]\nopenai_base_url = 'http://h/v1'", "set the variable OPENAI_BASE_URL"),
        ] {
            let error = load(file, &[], &[]).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn tests_change_what_is_constant_but_not_at_github() {
        let file =
            "[testing.lease]\nduration = '40s'\n[testing.agents.x]\nlast_look = false\n[agents.x]\nmodel = 'openai/m'";
        let settings = load(file, &[("HOB__TESTING__FORGE__RETRIES", "0")], &[("testing.model.retries", "1")]).unwrap();
        assert_eq!((settings.lease.duration.as_secs(), settings.forge.retries, settings.model.retries), (40, 0, 1));
        assert!(!settings.agents["x"].last_look && settings.given.iter().all(|given| given.key == "agents.x.model"));
        settings.refuse_testing_at("http://127.0.0.1:7/api").unwrap();
        for address in ["https://api.github.com", "https://api.acme.ghe.com"] {
            let error = settings.refuse_testing_at(address).unwrap_err().to_string();
            assert!(error.starts_with("`[testing]` changes what is constant, so it is refused at api."), "{error}");
        }
        let error = load("[testing.limits]\nattempts = 4", &[], &[]).unwrap_err().to_string();
        assert!(error.starts_with("unknown setting `testing.limits.attempts`"), "{error}");
    }

    #[test]
    fn the_labels_of_all_states_have_one_prefix() {
        let labels = load("[labels]\nprefix = 'hob:'", &[], &[]).unwrap().labels;
        assert_eq!((labels.blocked.as_str(), labels.in_review.as_str()), ("hob:blocked", "hob:in-review"));
        assert_eq!((labels.trigger.as_str(), labels.plan.as_str()), ("code", "plan"));
    }

    #[test]
    fn what_is_given_is_told_with_its_source_and_its_default() {
        let file = "agent = 'fixer'\n[budget]\nissue = 3\n[forge]\nlogin = 'me'";
        let settings = load(file, &[("HOB__JOBS", "2")], &[("forge.login", "you")]).unwrap();
        let told: Vec<_> = settings
            .given
            .iter()
            .map(|given| {
                let origin = given.origin.as_deref().unwrap();
                let origin = origin.rsplit_once("`, ").map_or(origin, |(_, line)| line);
                let default = given.default.as_ref().map(ToString::to_string);
                format!("{} = {} ({origin}; {})", given.key, given.value, default.unwrap_or_default())
            })
            .collect();
        assert_eq!(
            told,
            [
                "agent = \"fixer\" (line 1; \"native\")",
                "budget.issue = 3 (line 3; 5.0)",
                "forge.login = \"you\" (given as a flag; \"\")",
                "jobs = 2 (from the variable `HOB__JOBS`; 1)",
            ]
        );
        let all = settings.to_table().unwrap();
        assert!(all["forge"].get("timeout").is_none() && all.get("lease").is_none() && all["forge"]["login"].is_str());
    }

    #[test]
    fn a_misspelt_key_never_leads_to_an_old_name() {
        let error = load("[limits]\nissue_tim = '7s'", &[], &[]).unwrap_err().to_string();
        assert!(!error.contains("issue_time"), "{error}");
        let error = load("[limits]\nidle_timeuot = '7s'", &[], &[]).unwrap_err().to_string();
        assert!(error.contains("did you mean `limits.idle_timeout`?"), "{error}");
    }

    #[test]
    fn a_value_is_within_the_limit_that_it_is_part_of() {
        for (file, inner, outer) in [
            ("[budget]\nattempt = 10", "budget.attempt` cannot be used: it is `10`", "budget.issue`, which is 5"),
            ("[budget]\nattempt = 60\nissue = 0", "budget.attempt", "budget.day`, which is 50"),
            ("[budget]\nissue = 100", "budget.issue", "budget.day`, which is 50"),
            ("[budget]\nissue = 5\ncomment_max = 2", "budget.issue", "budget.comment_max`, which is 2"),
            ("[limits]\nusd_per_issue_max = 60", "budget.comment_max", "budget.day`, which is 50"),
            (
                "[limits]\nattempt_time = '5h'",
                "limits.attempt_time` cannot be used: it is `5h`",
                "budget.time`, which is 4h",
            ),
            ("[testing.lease]\nskew = '10m'", "lease.skew", "duration`, which is 5m"),
        ] {
            let error = load(file, &[], &[]).unwrap_err().to_string();
            assert!(error.contains(inner) && error.contains(outer), "{error}");
        }
        // Where there is no limit, there is nothing to be within; a limit below a default counts as it is.
        for file in ["[budget]\nissue = 100\nday = 0", "[budget]\nday = 3", "[limits]\nidle_timeout = '7s'"] {
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
    fn an_issue_is_handed_to_one_executor() {
        let both = "[executor]\njob = 'job.yaml'\ncommand = ['srun', '{issue}']";
        let error = load(both, &[], &[]).unwrap_err().to_string();
        assert!(error.contains("`executor.job` is set, too: set one of them"), "{error}");
    }

    #[test]
    fn a_value_that_cannot_be_used_says_why() {
        for (file, says) in [
            ("jobs = 0", "`jobs` cannot be used: it is `0`; write at least 1 (in `"),
            ("[executor]\ncommand = 'sbatch'", "`executor.command` cannot be used: it is `\"sbatch\"`; write a list"),
            ("[executor]\ncommand = ['sbatch', 'job']", "it names no issue: write `{issue}` where its number belongs"),
            ("[executor]\ncommand = ['', '{issue}']", "its first word is the program"),
            ("plan = 'never'\n[limits]\nusd_per_day = -1", "hob.toml`, line 3)"),
            ("[budget]\nissue = -1", "`budget.issue` cannot be used: it is `-1`; write a number from 0 up"),
            ("[budget]\nday = nan", "it is `NaN`; write a number from 0 up"),
            ("[budget]\nattempt = inf", "it is `inf`; write a number from 0 up"),
            ("[testing.limits]\nsoft = nan", "a share between 0 and 1"),
            ("[limits]\nattempts = 1.5", "`limits.attempts` cannot be used: it is `1.5`; write a whole number"),
            (
                "[limits]\ncandidates = 9",
                "`limits.candidates` cannot be used: it is `9`; write a number from 1 to 8, or `auto`",
            ),
            ("[limits]\ncandidates = 'many'", "it is `many`; write a number from 1 to 8, or `auto`"),
            ("[labels]\ntrigger = true", "`labels.trigger` cannot be used: it is `true`; write a text in quotes"),
            ("[publish]\ndraft = 'yes'", "`publish.draft` cannot be used: it is `yes`; write `never`"),
            ("[publish]\ndraft = 1", "`publish.draft` cannot be used: it is `1`; write a text in quotes"),
            ("[publish]\ncommit_message = '{scope}: {title}'", "unknown placeholder `{scope}`"),
            ("[publish]\nsigning = 'ssh'", "write `none`, `api`, or the path of a private SSH key"),
            ("[publish]\nsigning = 'api'", "GitHub signs the commits of Apps only"),
            ("[publish]\nlabels = ['']", "a label has 1 to 50 characters"),
            ("[trust]\nbots = 'a[bot]'", "write a list"),
            ("check_time = '0s'", "`check_time` cannot be used: it is `0s`; write more than 0s"),
            (
                "[agents.auto]\nbackend = 'native'",
                "`agents` cannot be used: it is `auto`; give the agent another name: `auto` chooses one by outcomes",
            ),
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
            ("[testing.lease]\nduration = '30s'", "more than `forge.timeout`"),
            (
                "[ledger]\nprefix = 'refs/other/'",
                "`ledger.prefix` is not a setting any more: ledgers are below `refs/hob/`",
            ),
            ("[trust]\npermission = 'read'", "`trust.permission` cannot be used: it is `read`; write `triage`"),
            ("[trust]\npermission = 'none'", "every account can read a public repository"),
            ("[workspace]\nbranch_prefix = 'refs/hob/'", "such as `hob/`"),
            (
                "[testing.labels]\nplan = 'Blocked'",
                "`labels.plan` cannot be used: it is `Blocked`; another label of Hob's",
            ),
            ("[testing.labels]\ninvestigate = 'plan'", "another label of Hob's"),
            (
                "[publish]\nauthor = 'Hob <'",
                "`publish.author` cannot be used: it is `Hob <`; write `NAME` or `NAME <ADDRESS>`",
            ),
            ("[sandbox]\nmemory = '8GB'", "`8GB` is not a size: write for example `512M` or `8G`"),
            ("[sandbox]\nmemory = 8192", "`sandbox.memory` cannot be used: it is `8192`; write a text in quotes"),
            ("[forge]\npace = 'fast'", "write `github`, `github/N`"),
            (
                "[testing.routing]\nconfidence = 7",
                "`routing.confidence` cannot be used: it is `7`; write a number from 0 to 1",
            ),
            ("[testing.routing]\nswitch = 2.0", "a number from 0 to 1"),
            ("[testing.routing]\ncomplexity = 100", "a number from 1 to 10"),
            ("[testing.labels]\nblocked = 'code'", "a label of its own"),
            ("assignee = '@ann'", "`assignee` cannot be used: it is `@ann`; write the name of an account"),
            (
                "repositories = ['acme']",
                "`repositories` cannot be used: it is `acme`; write repositories as `OWNER/NAME`",
            ),
            ("\nlimits = [", "cannot be used: line 2 (`limits`): "),
        ] {
            let error = load(file, &[], &[]).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
