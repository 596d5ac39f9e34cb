//! The effects of moods on finished answers of the REST API: they change the view, never the state.

use serde_json::{Map, Value, json};

use super::{call::Call, moods::Mood, touched::updated, users::AccountKind, wire::time};
use crate::names::{Login, Timestamp};

/// Shows an answer as the moods have it.
pub(super) fn in_mood(call: &Call, body: &mut Value) {
    if call.forge.temper.is(Mood::TokenPermissions) && is_integration(call) {
        each_object(body, &mut |fields| {
            let is_repository = fields.contains_key("full_name");
            if let Some(Value::Object(permissions)) = fields.get_mut("permissions").filter(|_| is_repository) {
                permissions.values_mut().for_each(|permission| *permission = json!(false));
            }
        });
    }
    if call.forge.temper.is(Mood::Touched) {
        each_object(body, &mut |fields| touch(call, fields));
    }
}

/// Shows a comment as updated later than it was. A review has no such field here.
fn touch(call: &Call, fields: &mut Map<String, Value>) {
    let is_comment = fields.contains_key("issue_url") || fields.contains_key("pull_request_review_id");
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    let moment = |name: &str| text(name).and_then(|text| text.parse::<Timestamp>().ok());
    let (Some(id), Some(created), Some(before)) = (text("node_id"), moment("created_at"), moment("updated_at")) else {
        return;
    };
    // A pull request has the address of its issue, too, and a title.
    if !is_comment || fields.contains_key("title") {
        return;
    }
    let shown = updated(&call.forge.temper, id, created, before, call.now);
    fields.insert("updated_at".to_owned(), time(shown));
}

/// Whether `permissions` does not apply to the caller: an App, its installation, or a job.
fn is_integration(call: &Call) -> bool {
    let kind = |login: &Login| call.state().accounts.get(login.as_str()).map(|account| account.kind);
    call.app.is_some() || call.grant.is_some() || call.caller.as_ref().and_then(kind) == Some(AccountKind::Bot)
}

/// Does something to each object, the outer ones first.
fn each_object(value: &mut Value, change: &mut impl FnMut(&mut Map<String, Value>)) {
    match value {
        Value::Object(fields) => {
            change(fields);
            fields.values_mut().for_each(|value| each_object(value, change));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| each_object(item, change)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
