//! The values of a profile's keys, each read as its type.

use hob_text::yaml::{Node, Value};

use crate::{
    profile::{
        fields::{Problems, TEXT_MAX, Wrong, entries, items, named, number, one_of, shown, text, texts, time},
        patterns::{ErrorPattern, InvalidPattern, PathGlobs},
        problem::Severity,
        tool_names::own_tools,
        types::{Gate, Matches, ProfileLimits, ProfileQuestion, ProfileState},
    },
    usd_micros,
};

/// Reports unknown keys: a misspelt key may be a restriction.
pub(super) fn note_unknown(of: &str, given: &[(String, Node)], known: &[&str], problems: &mut Problems) {
    for (name, node) in given.iter().filter(|(name, _)| !known.contains(&name.as_str())) {
        let nearest = known.iter().min_by_key(|key| strsim::damerau_levenshtein(key, name));
        let near = nearest.filter(|key| strsim::damerau_levenshtein(key, name) <= 2);
        let hint = near.map_or_else(|| format!("the keys are {}", known.join(", ")), |key| format!("is it `{key}`?"));
        problems.note(Severity::Error, node.line, format!("`{of}` has no key `{}`: {hint}", shown(name)));
    }
}

/// A restricting value: if it is invalid, the profile cannot be used.
pub(super) fn strict<T>(
    node: Option<&Node>,
    problems: &mut Problems,
    read: impl Fn(&Node) -> Result<T, Wrong>,
) -> Option<T> {
    node.and_then(|node| problems.keep(Severity::Error, read(node)))
}

/// The values of a list, without invalid ones.
pub(super) fn each<T>(
    node: Option<&Node>,
    problems: &mut Problems,
    read: impl Fn(&Node) -> Result<T, Wrong>,
) -> Vec<T> {
    let items = node.and_then(|node| problems.keep(Severity::Warning, items("this", node))).unwrap_or_default();
    items.into_iter().filter_map(|item| problems.keep(Severity::Warning, read(item))).collect()
}

/// A list, or a text with commas. `None` for all tools.
pub(super) fn tools(node: &Node) -> Result<Option<Vec<String>>, Wrong> {
    if node.value == Value::Nothing {
        return Ok(None);
    }
    let given = texts("tools", node)?;
    let given = match &node.value {
        Value::Text(line) => line.split(',').map(|name| name.trim().to_owned()).collect(),
        Value::Nothing | Value::List(_) | Value::Map(_) | Value::Other => given,
    };
    if given.iter().any(|name| name == "*") {
        return Ok(None);
    }
    let mut own: Vec<String> = Vec::new();
    for tool in given.iter().filter(|name| !name.is_empty()).flat_map(|name| own_tools(name)) {
        if !own.contains(&tool) {
            own.push(tool);
        }
    }
    Ok(Some(own))
}

/// A model's name; the first of a list. `inherit` is the agent's own.
pub(super) fn model(node: &Node) -> Result<Option<String>, Wrong> {
    let first = items("model", node)?.into_iter().next();
    let name = first.map(|node| text("model", node, TEXT_MAX)).transpose()?;
    Ok(name.filter(|name| name != "inherit"))
}

pub(super) fn globs(key: &str, node: &Node) -> Result<PathGlobs, Wrong> {
    let texts = texts(key, node)?;
    if texts.is_empty() && node.value != Value::Nothing {
        return Err(Wrong::new(node, format!("`{key}` is empty: write a glob, or leave the key out")));
    }
    PathGlobs::new(texts).map_err(|error| Wrong::new(node, format!("`{key}`: {}", shown(&error.to_string()))))
}

pub(super) fn matches(node: &Node, problems: &mut Problems) -> Matches {
    let given = problems.keep(Severity::Warning, entries("match", node)).unwrap_or_default();
    note_unknown("match", given, &["labels", "words", "errors", "paths"], problems);
    let key = |key: &str| given.iter().find(|(name, _)| name == key).map(|(_, node)| node);
    let pattern = |node: &Node| {
        let expression = text("errors", node, TEXT_MAX)?;
        let why = |error: InvalidPattern| {
            let reason = shown(&error.to_string());
            Wrong::new(node, format!("`{}` is not a valid pattern: {reason}", shown(&expression)))
        };
        ErrorPattern::new(&expression).map_err(why)
    };
    Matches {
        labels: each(key("labels"), problems, |node| text("labels", node, TEXT_MAX)),
        words: each(key("words"), problems, |node| text("words", node, TEXT_MAX)),
        errors: each(key("errors"), problems, pattern),
        paths: key("paths").and_then(|node| problems.keep(Severity::Warning, globs("paths", node))).unwrap_or_default(),
    }
}

/// Actions as the settings write them: `tool`, or `shell(git push)`.
pub(super) fn denied(node: &Node) -> Result<Vec<String>, Wrong> {
    let given = texts("denied", node)?;
    let is_action = |action: &String| {
        let name = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
        match action.split_once('(') {
            Some((tool, rest)) => name(tool) && rest.strip_suffix(')').is_some_and(|line| !line.trim().is_empty()),
            None => name(action),
        }
    };
    match given.iter().find(|action| !is_action(action)) {
        Some(wrong) => {
            Err(Wrong::new(node, format!("`denied`: `{}` is not an action such as `shell(git push)`", shown(wrong))))
        }
        None => Ok(given),
    }
}

pub(super) fn limits(node: &Node) -> Result<ProfileLimits, Wrong> {
    let mut limits = ProfileLimits::default();
    for (name, node) in entries("limits", node)? {
        let count = || number(name, node).map(Some);
        match name.as_str() {
            "max_iterations" => limits.max_iterations = count()?,
            "max_time" => limits.max_time = Some(time(name, node)?),
            "max_tokens" => limits.max_tokens = count()?,
            "max_output" => limits.max_output = count()?,
            "consecutive_errors" => limits.consecutive_errors = count()?,
            "recent_errors" => limits.recent_errors = count()?,
            "failed_commands" => failed_commands(node, &mut limits)?,
            "usd" => {
                let given = text(name, node, TEXT_MAX)?;
                let amount = usd_micros(&given).map_err(|error| Wrong::new(node, format!("`usd`: {error}")))?;
                limits.usd_micros = Some(amount);
            }
            other => {
                let keys = "max_iterations, max_time, max_tokens, max_output, consecutive_errors, recent_errors, \
                            failed_commands, usd";
                return Err(Wrong::new(node, format!("`limits` has no key `{}`: the keys are {keys}", shown(other))));
            }
        }
    }
    Ok(limits)
}

fn failed_commands(node: &Node, limits: &mut ProfileLimits) -> Result<(), Wrong> {
    for (name, node) in entries("failed_commands", node)? {
        match name.as_str() {
            "in_row" => limits.failed_commands_in_row = Some(number(name, node)?),
            "total" => limits.failed_commands_total = Some(number(name, node)?),
            other => {
                return Err(Wrong::new(
                    node,
                    format!("`failed_commands` has `in_row` and `total`, not `{}`", shown(other)),
                ));
            }
        }
    }
    Ok(())
}

/// A text, or `text` and `required`.
pub(super) fn question(node: &Node) -> Result<ProfileQuestion, Wrong> {
    let Value::Map(_) = node.value else {
        return Ok(ProfileQuestion { text: text("questions", node, TEXT_MAX)?, required: false });
    };
    let (mut asked, mut required) = (None, false);
    for (name, node) in entries("questions", node)? {
        match name.as_str() {
            "text" => asked = Some(text("text", node, TEXT_MAX)?),
            "required" => required = one_of("required", node, &[("true", true), ("false", false)])?,
            other => {
                return Err(Wrong::new(node, format!("a question has `text` and `required`, not `{}`", shown(other))));
            }
        }
    }
    let text = asked.ok_or_else(|| Wrong::new(node, "a question needs its `text`"))?;
    Ok(ProfileQuestion { text, required })
}

pub(super) fn states(node: &Node) -> Result<Vec<ProfileState>, Wrong> {
    let states: Vec<ProfileState> = items("states", node)?.into_iter().map(state).collect::<Result<_, _>>()?;
    match states.iter().enumerate().find(|(at, state)| states[..*at].iter().any(|other| other.name == state.name)) {
        Some((_, twice)) => Err(Wrong::new(node, format!("the state `{}` appears twice", twice.name))),
        None => Ok(states),
    }
}

/// A name, or `name` and what it `needs`.
fn state(node: &Node) -> Result<ProfileState, Wrong> {
    let Value::Map(_) = node.value else {
        return Ok(ProfileState { name: named("states", node)?, needs: Vec::new() });
    };
    let gates = [("evidence", Gate::Evidence), ("answers", Gate::Answers), ("hypothesis", Gate::Hypothesis)];
    let (mut state_name, mut needs) = (None, Vec::new());
    for (name, node) in entries("states", node)? {
        match name.as_str() {
            "name" => state_name = Some(named("name", node)?),
            "needs" => {
                let given = items("needs", node)?;
                needs = given.into_iter().map(|gate| one_of("needs", gate, &gates)).collect::<Result<_, _>>()?;
            }
            other => return Err(Wrong::new(node, format!("a state has `name` and `needs`, not `{}`", shown(other)))),
        }
    }
    let name = state_name.ok_or_else(|| Wrong::new(node, "a state needs its `name`"))?;
    Ok(ProfileState { name, needs })
}
