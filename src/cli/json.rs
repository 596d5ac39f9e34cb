//! `--json`: the output for programs on standard output, one object a line. `docs/json.md` describes every field, and a
//! test holds the commands to it.

use hob_domain::RepoName;
use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::{
    exit::Exit,
    output::{self, Unwritable},
};

/// The version of the format. A new field leaves it as it is; a field that goes, is renamed or changes its type raises it.
const VERSION: u32 = 1;

/// Writes an object that names its `event` itself.
pub(super) fn event(mut object: Value) -> Result<(), Unwritable> {
    object["version"] = VERSION.into();
    output::line(object)
}

/// Writes the result of a command.
pub(super) fn result(value: &impl Serialize) -> anyhow::Result<()> {
    Ok(event(json!({ "event": "result", "result": serde_json::to_value(value)? }))?)
}

/// Writes why a command failed. It is the last object, after the result if there is one.
pub(super) fn error(exit: Exit, sentence: &str) -> Result<(), Unwritable> {
    event(json!({ "event": "error", "exit": exit as u8, "message": sentence }))
}

/// A value with the repository it is about.
pub(super) fn with_repo(repo: &RepoName, value: &impl Serialize) -> anyhow::Result<Value> {
    let mut value = serde_json::to_value(value)?;
    value["repo"] = repo.to_string().into();
    Ok(value)
}
