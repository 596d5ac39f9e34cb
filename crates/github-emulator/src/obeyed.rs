//! The supported parts of a request. A query parameter or a field of the body that an endpoint does not declare is
//! refused by name: if GitHub supports it, an answer that ignores it would be a false success.

use serde_json::Value;

use super::{call::Call, refusal::Refusal};

/// Parameters that every endpoint accepts: a list supports them, and GitHub ignores them elsewhere.
const EVERYWHERE: [&str; 2] = ["page", "per_page"];

/// Refuses a call of `endpoint` that asks for more than these parameters and fields.
///
/// # Errors
/// 422 with the first name that is not declared.
pub(super) fn refuse_the_rest(endpoint: &str, query: &[&str], body: &[&str], call: &Call) -> Result<(), Refusal> {
    let declared = |name: &str| EVERYWHERE.contains(&name) || query.contains(&name);
    if let Some(name) = call.query.keys().find(|name| !declared(name)) {
        return Err(Refusal::unobeyed("parameter", name, endpoint));
    }
    // A body that is not an object is the handler's to refuse.
    if let Ok(sent @ Value::Object(_)) = serde_json::from_slice(&call.body)
        && let Some(name) = undeclared(&sent, "", body)
    {
        return Err(Refusal::unobeyed("field", &name, endpoint));
    }
    Ok(())
}

/// The first field that is not among `declared`. A declared `a.b` says which fields the objects in `a` may have; without one,
/// `a` is taken as it is. `null`, an empty text and an empty list ask for nothing.
fn undeclared(value: &Value, prefix: &str, declared: &[&str]) -> Option<String> {
    match value {
        Value::Array(items) => items.iter().find_map(|item| undeclared(item, prefix, declared)),
        Value::Object(fields) => fields.iter().filter(|(_, value)| asks(value)).find_map(|(name, value)| {
            let name = format!("{prefix}{name}");
            if !declared.contains(&name.as_str()) {
                return Some(name);
            }
            let inside = format!("{name}.");
            let is_open = !declared.iter().any(|other| other.starts_with(&inside));
            if is_open { None } else { undeclared(value, &inside, declared) }
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn asks(value: &Value) -> bool {
    let is_empty = value.as_str().map(str::is_empty).or(value.as_array().map(Vec::is_empty));
    !value.is_null() && is_empty != Some(true)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_undeclared_field_is_named() {
        let declared = ["title", "labels", "output", "output.title", "tree", "tree.path"];
        let first = |body: Value| undeclared(&body, "", &declared);
        assert_eq!(
            first(
                json!({"title": "x", "labels": [{"name": "a", "x": 1}], "milestone": null, "teams": [], "template": ""})
            ),
            None
        );
        assert_eq!(first(json!({"milestone": 3})).as_deref(), Some("milestone"));
        assert_eq!(first(json!({"output": {"title": "x", "images": [1]}})).as_deref(), Some("output.images"));
        assert_eq!(first(json!({"tree": [{"path": "a"}, {"mode": "b"}]})).as_deref(), Some("tree.mode"));
        assert_eq!(first(json!({"output": "a text"})), None);
    }
}
