//! The JSON schemas of the settings files, for editors: made from `docs/settings.md`, whose rows tests hold to the code, and from the defaults.

use hob_config::{
    AgentSettings, Candidates, DEFAULTS, McpSettings, ModelSettings, OF_BOTH, OPERATOR_ONLY, RecipeSettings,
    RepositorySettings, ToolSettings, least,
};
use serde_json::{Map, Value, json};

use crate::cli::about_args::SettingsFile;

const DOCUMENT: &str = include_str!("../../docs/settings.md");
/// The heading before the table of the repository's file.
const REPOSITORY: &str = "\n## The repository's file";
/// The dialect of the schema: the newest that the editors' plug-ins for TOML read.
const DRAFT: &str = "http://json-schema.org/draft-07/schema#";

/// A row: path, default, unit, meaning.
struct Row<'a> {
    path: &'a str,
    unit: &'a str,
    meaning: &'a str,
}

/// The schema of a file.
pub(super) fn schema(file: SettingsFile) -> anyhow::Result<Value> {
    let (process, repository) = DOCUMENT.split_once(REPOSITORY).unwrap_or((DOCUMENT, ""));
    let defaults = defaults()?;
    let of_both = rows(process).into_iter().filter(|row| OF_BOTH.contains(&row.path));
    let process = object(rows(process), &defaults);
    let (title, mut properties) = match file {
        SettingsFile::Operator => ("Hob's settings", process),
        SettingsFile::Repository => {
            let mut defaults = defaults;
            if let (Value::Object(all), Value::Object(own)) =
                (&mut defaults, serde_json::to_value(RepositorySettings::default())?)
            {
                all.extend(own);
            }
            let mut own = object(rows(repository).into_iter().chain(of_both).collect(), &defaults);
            for shared in ["agents", "recipes"] {
                own["properties"][shared] = process["properties"][shared].clone();
            }
            let agent = own["properties"]["agents"]["additionalProperties"]["properties"].as_object_mut();
            agent.into_iter().for_each(|keys| keys.retain(|key, _| !OPERATOR_ONLY.contains(&key.as_str())));
            ("Hob's settings of a repository, .github/hob.toml", own)
        }
    };
    properties["$schema"] = DRAFT.into();
    properties["title"] = title.into();
    Ok(properties)
}

/// The default of each setting, with one entry, `NAME` or `MODEL`, in place of names that people choose.
fn defaults() -> anyhow::Result<Value> {
    let mut all: Value = toml::from_str(DEFAULTS)?;
    for (section, value) in [
        ("agents", serde_json::to_value(AgentSettings::default())?),
        ("recipes", serde_json::to_value(RecipeSettings::default())?),
        ("tools", serde_json::to_value(ToolSettings::default())?),
        ("mcp", serde_json::to_value(McpSettings::default())?),
    ] {
        all[section] = json!({ "NAME": value });
    }
    let models = serde_json::to_value(ModelSettings::default())?;
    for (name, value) in models.as_object().into_iter().flatten() {
        if all["model"].get(name).is_none() {
            all["model"][name] = value.clone();
        }
    }
    let price = json!({ "input": 0.5, "output": 0.5, "cached_input": 0.5, "cache_write": 0.5 });
    all["model"]["prices"] = json!({ "MODEL": price });
    Ok(all)
}

/// The rows of all tables of settings.
fn rows(markdown: &str) -> Vec<Row<'_>> {
    markdown.lines().filter_map(row).collect()
}

fn row(line: &str) -> Option<Row<'_>> {
    let cells: Vec<&str> = line.trim().strip_prefix("| `")?.strip_suffix('|')?.splitn(4, " | ").collect();
    let [path, _default, unit, meaning] = cells.as_slice() else { return None };
    Some(Row { path: path.trim_end_matches('`'), unit: unit.trim(), meaning: meaning.trim() })
}

/// An object with a property for each row.
fn object(rows: Vec<Row<'_>>, defaults: &Value) -> Value {
    let mut root = json!({ "type": "object", "additionalProperties": false, "properties": {} });
    for row in rows {
        let (mut place, mut default) = (&mut root, Some(defaults));
        for part in row.path.split('.') {
            default = default.and_then(|default| default.get(part));
            let below = match part {
                "NAME" | "MODEL" => &mut place["additionalProperties"],
                _named => &mut place["properties"][part],
            };
            if !below.is_object() {
                *below = json!({});
            }
            if below.get("properties").is_none() && below.get("type").is_none() {
                below["type"] = "object".into();
            }
            place = below;
        }
        *place = value(&row, default.unwrap_or(&Value::Null));
    }
    close(&mut root);
    root
}

/// Lets an object take only its own keys, if it has any.
fn close(schema: &mut Value) {
    let Some(schema) = schema.as_object_mut() else { return };
    if schema.contains_key("properties") && !schema.contains_key("additionalProperties") {
        schema.insert("additionalProperties".into(), false.into());
    }
    for key in ["properties", "additionalProperties"] {
        match schema.get_mut(key) {
            Some(Value::Object(inner)) if key == "properties" => inner.values_mut().for_each(close),
            Some(inner) => close(inner),
            None => {}
        }
    }
}

/// One setting.
fn value(row: &Row<'_>, default: &Value) -> Value {
    let mut schema = Map::new();
    let words: Vec<&str> = row.unit.split(", ").collect();
    let is_word = |word: &&str| word.len() > 2 && word.starts_with('`') && word.ends_with('`');
    let kind = match default {
        _ if row.path == "publish.draft" => json!(["string", "boolean"]),
        _ if row.path == "limits.candidates" => json!(["integer", "string"]),
        Value::Bool(_) => json!("boolean"),
        Value::Number(number) if number.is_f64() => json!("number"),
        Value::Number(_) => json!("integer"),
        Value::Array(_) => json!("array"),
        Value::Object(_) => json!("object"),
        Value::Null if matches!(row.unit, "tokens" | "turns") => json!("integer"),
        Value::String(_) | Value::Null => json!("string"),
    };
    let of_objects = row.path.ends_with("recipes.NAME.steps");
    let mut choices: Vec<Value> = Vec::new();
    if row.path == "limits.candidates" {
        schema
            .insert("enum".into(), (1..=Candidates::MOST).map(|number| json!(number)).chain([json!("auto")]).collect());
    }
    if words.iter().all(is_word) {
        choices.extend(words.iter().map(|word| json!(word.trim_matches('`'))));
    }
    if kind == "array" {
        let mut items = json!({ "type": if of_objects { "object" } else { "string" } });
        if !choices.is_empty() {
            items["enum"] = choices.into();
        }
        schema.insert("items".into(), items);
    } else if !choices.is_empty() {
        // The older spelling of `publish.draft`.
        choices.extend([true, false].into_iter().filter(|_| kind.is_array()).map(Value::Bool));
        schema.insert("enum".into(), choices.into());
    }
    if kind == "integer" || kind == "number" {
        schema.insert("minimum".into(), least(row.path).into());
    }
    let pattern = match row.unit {
        "size" => Some("^[0-9]+[KMGT]?$"),
        "duration" => Some("^ *([0-9]+ *[a-zA-Z]+ *)+$"),
        _other => None,
    };
    schema.extend(pattern.map(|pattern| ("pattern".to_owned(), pattern.into())));
    schema.insert("type".into(), kind);
    schema.insert("description".into(), row.meaning.into());
    let is_given = !default.is_null() && !row.path.contains(".MODEL.");
    if is_given {
        schema.insert("default".into(), default.clone());
    }
    Value::Object(schema)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The violations of a schema by a value, as far as these schemas go.
    fn wrong(value: &Value, schema: &Value, at: &str) -> Vec<String> {
        let kinds = match &schema["type"] {
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
            kind => kind.as_str().into_iter().collect::<Vec<_>>(),
        };
        let kind = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        if !(kinds.contains(&kind) || kind == "integer" && kinds.contains(&"number")) {
            return vec![format!("{at} is a {kind}, not {kinds:?}")];
        }
        if let Some(words) = schema["enum"].as_array()
            && !words.contains(value)
        {
            return vec![format!("{at} is {value}, not one of {words:?}")];
        }
        if let (Some(number), Some(least)) = (value.as_f64(), schema["minimum"].as_f64())
            && number < least
        {
            return vec![format!("{at} is {value}, less than {least}")];
        }
        if let Some(pattern) = schema["pattern"].as_str()
            && !regex::Regex::new(pattern).unwrap().is_match(value.as_str().unwrap())
        {
            return vec![format!("{at} is {value}, not like {pattern}")];
        }
        if let Some(items) = schema.get("items").filter(|_| value.is_array()) {
            return value.as_array().unwrap().iter().flat_map(|item| wrong(item, items, at)).collect();
        }
        let below = |(key, value): (&String, &Value)| {
            let path = format!("{at}.{key}");
            match (&schema["properties"][key], &schema["additionalProperties"]) {
                (Value::Object(known), _) => wrong(value, &Value::Object(known.clone()), &path),
                (_, Value::Object(any)) => wrong(value, &Value::Object(any.clone()), &path),
                (_, Value::Bool(false)) => vec![format!("{path} is not known")],
                (_, _) => Vec::new(),
            }
        };
        value.as_object().into_iter().flatten().flat_map(below).collect()
    }

    #[test]
    fn the_defaults_and_the_examples_fit_the_schema_and_mistakes_do_not() {
        let process = schema(SettingsFile::Operator).unwrap();
        let read = |text: &str| toml::from_str::<Value>(text).unwrap();
        assert_eq!(wrong(&read(DEFAULTS), &process, ""), [""; 0]);
        let own = "plan = 'large'\npublish.draft = true\nagents.mine = { backend = 'codex', max_time = '5m', max_iterations = 9 }\n\
                   repositories = ['acme/site']\nlimits.candidates = 'auto'\nforge.pace = 'github/4'\n\
                   model.prices.'openai/x' = { input = 1, output = 2.5 }\nmcp.s.tools = { find = 'low' }";
        assert_eq!(wrong(&read(own), &process, ""), [""; 0]);
        for (mistake, says) in [
            ("limits.round = 1", ".limits.round is not known"),
            ("jobs = 'two'", ".jobs is a string"),
            ("jobs = 0", ".jobs is 0, less than 1"),
            ("budget.day = -1.5", ".budget.day is -1.5, less than 0"),
            ("recovery = 'hope'", "not one of"),
            ("trust.permission = 'read'", "not one of"),
            ("publish.draft = 'yes'", "not one of"),
            ("notify.events = ['blcoked']", "not one of"),
            ("agents.mine.approve = 'some'", "not one of"),
            ("sandbox.memory = '8GB'", "not like"),
            ("limits.attempt_time = 'soon'", "not like"),
            ("limits.candidates = 9", "not one of"),
            ("lease.duration = '1m'", ".lease is not known"),
            ("plan = 'often'", "not one of"),
            ("agents.mine.modle = 'x'", ".agents.mine.modle is not known"),
            ("model.prices.x.inpt = 1", "inpt is not known"),
        ] {
            let said = wrong(&read(mistake), &process, "");
            assert!(said.iter().any(|one| one.contains(says)), "{mistake}: {said:?}");
        }
        let repository = schema(SettingsFile::Repository).unwrap();
        let example = DOCUMENT.rsplit("```toml\n").next().unwrap().split("```").next().unwrap();
        assert_eq!(wrong(&read(example), &repository, ""), [""; 0]);
        let of_both = "plan = 'large'\ncheck_time = '20m'\n[publish]\ndraft = true\nlabels = ['bot']\n[review]\nupdate = 'rebase'";
        assert_eq!(wrong(&read(of_both), &repository, ""), [""; 0]);
        let draft = |schema: &Value| schema["properties"]["publish"]["properties"]["draft"].clone();
        assert_eq!(draft(&repository), draft(&process));
        for mistake in [
            "check = ['x']",
            "agents.a.env = ['KEY']",
            "agents.a.hosts = ['h']",
            "agents.a.mcp = ['s']",
            "publish.draft = 'perhaps'",
            "publish.signing = 'api'",
            "budget.issue = 5.0",
        ] {
            assert!(!wrong(&read(mistake), &repository, "").is_empty(), "{mistake}");
        }
    }

    #[test]
    fn each_setting_says_what_it_means() {
        let process = schema(SettingsFile::Operator).unwrap();
        let jobs = &process["properties"]["jobs"];
        assert_eq!((&jobs["type"], &jobs["default"]), (&json!("integer"), &json!(1)));
        assert!(jobs["description"].as_str().unwrap().starts_with("Issues that this process works on"));
        let network = &process["properties"]["sandbox"]["properties"]["network"];
        assert_eq!(network["enum"], json!(["none", "open"]));
    }
}
