//! The plan, the end of the work, questions, and thoughts.

use serde_json::{Map, Value, json};

use crate::native::tools::foreign::given::{Given, Unfit};

/// A list of steps with their states.
pub(super) fn plan(given: &mut Given) -> Result<&'static str, Unfit> {
    given.drop_words(&["explanation", "security_risk"]);
    if let Some(command) = given.text(&["command"])?
        && command != "plan"
    {
        return Err(Unfit::new("command", "the plan is only shown to people: send it whole, with `plan`"));
    }
    let Some((name, steps)) = given.take(&["steps", "plan", "todos", "task_list"]) else { return Ok("plan") };
    let parsed = steps.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    let steps = parsed.unwrap_or(steps);
    let Value::Array(steps) = steps else { return Err(Unfit::new(name, "a list is expected")) };
    given.set("steps", steps.iter().map(|item| step(name, item)).collect::<Result<Vec<_>, _>>()?);
    Ok("plan")
}

fn step(name: &str, item: &Value) -> Result<Value, Unfit> {
    let Value::Object(item) = item else { return Err(Unfit::new(name, "each is an object")) };
    let mut given = Given::new(item.clone());
    given.drop_words(&["activeForm", "id", "priority"]);
    let text = given.text(&["step", "content", "description", "title"])?.unwrap_or_default();
    let notes = given.text(&["notes"])?.filter(|notes| !notes.trim().is_empty());
    let text = notes.map_or_else(|| text.clone(), |notes| format!("{text} ({notes})"));
    let state = given.text(&["state", "status"])?.unwrap_or_default();
    let (state, text) = match state.as_str() {
        "" | "todo" | "pending" => ("todo", text),
        "doing" | "in_progress" => ("doing", text),
        "done" | "completed" => ("done", text),
        "cancelled" => ("done", format!("left out: {text}")),
        "blocked" => ("todo", format!("blocked: {text}")),
        other => return Err(Unfit::new(name, format!("`{other}` is not a state: use todo, doing or done"))),
    };
    given.set("step", text);
    given.set("state", state);
    given.finish().map(Value::Object)
}

/// The end of the work.
pub(super) fn done(given: &mut Given) -> Result<&'static str, Unfit> {
    given.drop_words(&["security_risk"]);
    given.pass("title", &["title"]);
    given.pass("summary", &["summary", "message", "result"]);
    given.pass_flag("nothing_to_do", &["nothing_to_do"])?;
    given.pass_flag("failed", &["failed"])?;
    match given.take(&["task_completed"]) {
        None => {}
        Some((_, Value::Bool(true))) => {}
        Some((_, Value::String(text))) if text == "true" => {}
        Some((name, _)) => {
            return Err(Unfit::new(name, "work that is not complete ends with `ask` or `hand_off`"));
        }
    }
    Ok("done")
}

/// A question.
pub(super) fn ask(given: &mut Given) -> Result<&'static str, Unfit> {
    let Some((name, questions)) = given.take(&["questions"]) else {
        given.pass("question", &["question"]);
        return Ok("ask");
    };
    let Value::Array(questions) = questions else { return Err(Unfit::new(name, "a list is expected")) };
    let asked: Option<Vec<String>> = questions.iter().map(|question| question.as_object().and_then(asked)).collect();
    let asked = asked.ok_or_else(|| Unfit::new(name, "each has a `question`"))?;
    given.set("question", asked.join("\n\n"));
    Ok("ask")
}

/// A question with its options, as people read it.
fn asked(question: &Map<String, Value>) -> Option<String> {
    let mut text = question.get("question")?.as_str()?.to_owned();
    for option in question.get("options").and_then(Value::as_array).into_iter().flatten() {
        let label = option.as_str().or_else(|| option.get("label").and_then(Value::as_str))?;
        let more = option.get("description").and_then(Value::as_str).map(|more| format!(": {more}"));
        text.push_str(&format!("\n- {label}{}", more.unwrap_or_default()));
    }
    Some(text)
}

/// A thought.
pub(super) fn think(given: &mut Given) -> Result<&'static str, Unfit> {
    given.drop_words(&["security_risk"]);
    let thought = given.text(&["thought"])?.unwrap_or_default();
    given.set("thought", json!(thought));
    Ok("think")
}
