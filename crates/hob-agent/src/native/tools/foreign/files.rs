//! Files: reading, replacing, writing, patches, and the editors that do all of it.

use serde_json::{Value, json};

use crate::native::tools::foreign::given::{Given, Unfit, whole};

/// Names of the path of a file.
const PATH: [&str; 6] = ["path", "file_path", "file", "absolute_path", "filename", "filePath"];

/// `read`: a range by its ends, or by its first line and a number of lines.
pub(super) fn read(given: &mut Given) -> Result<&'static str, Unfit> {
    given.pass("path", &PATH);
    given.pass("files", &["files"]);
    given.drop_words(&["description", "security_risk"]);
    let mut from = given.number(&["from", "start_line", "startLine", "offset"])?;
    let mut to = given.number(&["to", "end_line", "endLine"])?;
    if let Some((name, range)) = given.take(&["view_range"]) {
        if from.is_some() || to.is_some() {
            return Err(Unfit::new(name, "there is another range, too"));
        }
        (from, to) = ends(name, &range)?;
    }
    if let Some(limit) = given.number(&["limit"])? {
        if limit == 0 {
            return Err(Unfit::new("limit", "at least 1 is expected"));
        }
        let last = from.unwrap_or(1).max(1).saturating_add(limit - 1);
        to = Some(to.map_or(last, |to| to.min(last)));
    }
    for (name, line) in [("from", from), ("to", to)] {
        if let Some(line) = line {
            given.set(name, line);
        }
    }
    if let Some((name, mode)) = given.take(&["mode"])
        && mode != "slice"
    {
        return Err(Unfit::new(name, "only `slice` is known here"));
    }
    Ok("read")
}

/// The ends of a range, `[first, last]`; `-1` is the end of the file.
fn ends(name: &str, range: &Value) -> Result<(Option<u64>, Option<u64>), Unfit> {
    let parsed = range.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    let ends = parsed.as_ref().unwrap_or(range).as_array();
    match ends.map(Vec::as_slice) {
        Some([first, last]) if whole(first).is_some() && last.as_i64() == Some(-1) => Ok((whole(first), None)),
        Some([first, last]) if whole(first).is_some() && whole(last).is_some() => Ok((whole(first), whole(last))),
        _ => Err(Unfit::new(name, "two line numbers are expected, such as `[11, 20]` or `[11, -1]`")),
    }
}

/// Several files, by patterns of their names.
pub(super) fn read_many(given: &mut Given) -> Result<&'static str, Unfit> {
    let Some(include) = given.texts(&["include", "paths"])? else {
        return Err(Unfit::new("include", "it is missing"));
    };
    given.set("path", ".");
    given.set("files", include);
    if let Some(exclude) = given.texts(&["exclude"])? {
        given.set("exclude", exclude);
    }
    given.must_be("recursive", true, "a pattern without `**` does not go down by itself")?;
    given.must_be("useDefaultExcludes", true, "what git ignores is not searched here: `read` the file by its path")?;
    filtering(given)?;
    Ok("read")
}

/// The choice of what git ignores: it is left out in any case.
pub(super) fn filtering(given: &mut Given) -> Result<(), Unfit> {
    let why = "what git ignores is left out here: look with `shell`";
    if let Some((_, Value::Object(options))) = given.take(&["file_filtering_options"]) {
        options
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .for_each(|(name, value)| given.put_back(&name, value));
    }
    given.must_be("respect_git_ignore", true, why)?;
    given.must_be("no_ignore", false, why)?;
    // There are no rules of Gemini's own here, so that both answers are the same.
    given.flag(&["respect_gemini_ignore"])?;
    Ok(())
}

/// `edit`, one replacement or several.
pub(super) fn edit(given: &mut Given) -> Result<&'static str, Unfit> {
    given.pass("path", &PATH);
    given.drop_words(&["description", "instruction", "explanation", "security_risk"]);
    if let Some((name, edits)) = given.take(&["edits"]) {
        let parsed = edits.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
        let edits = match parsed.unwrap_or(edits) {
            one @ Value::Object(_) => Value::Array(vec![one]),
            edits => edits,
        };
        let pieces = edits.as_array().filter(|edits| !edits.is_empty());
        let Some(pieces) = pieces else { return Err(Unfit::new(name, "a list of replacements is expected")) };
        let pieces: Vec<Value> = pieces.iter().map(|edit| piece(name, edit)).collect::<Result<_, _>>()?;
        let (first, then) = (&pieces[0], &pieces[1..]);
        for key in ["old", "new", "replace_all"] {
            if let Some(value) = first.get(key) {
                given.set(key, value.clone());
            }
        }
        given.set("then", then.to_vec());
        return Ok("edit");
    }
    replacement(given)?;
    Ok("edit")
}

/// One replacement of several.
fn piece(name: &str, edit: &Value) -> Result<Value, Unfit> {
    let Value::Object(edit) = edit else { return Err(Unfit::new(name, "each is an object")) };
    let mut given = Given::new(edit.clone());
    replacement(&mut given)?;
    given.finish().map(Value::Object)
}

fn replacement(given: &mut Given) -> Result<(), Unfit> {
    given.pass("old", &["old", "old_string", "old_str", "old_text", "oldText", "oldString"]);
    given.pass("new", &["new", "new_string", "new_str", "new_text", "newText", "newString"]);
    given.pass_flag("replace_all", &["replace_all", "allow_multiple", "replaceAll"])?;
    if let Some(times) = given.number(&["expected_replacements"])? {
        given.set("times", times);
    }
    Ok(())
}

/// `write`.
pub(super) fn write(given: &mut Given) -> Result<&'static str, Unfit> {
    given.pass("path", &PATH);
    given.pass("text", &["text", "content", "contents", "file_text"]);
    given.drop_words(&["description", "explanation", "security_risk", "line_count"]);
    Ok("write")
}

/// `apply_patch`.
pub(super) fn patch(given: &mut Given) -> Result<&'static str, Unfit> {
    given.pass("patch", &["patch", "input", "patch_text", "patchText"]);
    given.drop_words(&["description", "explanation"]);
    Ok("apply_patch")
}

/// An editor with commands: `view`, `create`, `str_replace`, `insert`.
pub(super) fn editor(given: &mut Given) -> Result<&'static str, Unfit> {
    given.drop_words(&["security_risk"]);
    let command = given.text(&["command"])?.unwrap_or_default();
    match command.as_str() {
        "view" => read(given),
        "create" => {
            given.set("only_new", true);
            write(given)
        }
        "str_replace" => {
            if !given.has("new_str") {
                given.put_back("new_str", json!(""));
            }
            edit(given)
        }
        "insert" => {
            given.pass("path", &PATH);
            let Some(line) = given.number(&["insert_line"])? else {
                return Err(Unfit::new("insert_line", "it is missing"));
            };
            given.set("after_line", line);
            given.pass("new", &["new_str", "insert_text"]);
            given.set("old", "");
            Ok("edit")
        }
        other => {
            let why = format!("`{other}` is not known here: there are view, create, str_replace and insert");
            Err(Unfit::new("command", why))
        }
    }
}
