//! Bun: `bun.lock`, which is JSON with commas before a closing bracket.

use serde_json::Value;

use super::{Packages, add};

/// Entries of the map `packages`: a list that begins with `name@version`.
pub(super) fn lock(text: &str) -> Option<Packages> {
    let value: Value = serde_json::from_str(&strict(text)).ok()?;
    let mut packages = Packages::new();
    for entry in value.get("packages").and_then(Value::as_object).into_iter().flat_map(|all| all.values()) {
        let first = entry.get(0).and_then(Value::as_str)?;
        // A scope begins with the same character.
        let at = first.get(1..).and_then(|rest| rest.find('@')).map(|at| at + 1)?;
        let (name, version) = (&first[..at], &first[at + 1..]);
        if !["workspace:", "file:", "link:", "root:"].iter().any(|own| version.starts_with(own)) {
            add(&mut packages, name, version);
        }
    }
    Some(packages)
}

/// The same without commas before a closing bracket.
fn strict(text: &str) -> String {
    let (mut strict, mut in_text, mut escaped) = (String::with_capacity(text.len()), false, false);
    for (at, c) in text.char_indices() {
        if in_text {
            (in_text, escaped) = (c != '"' || escaped, c == '\\' && !escaped);
        } else if c == '"' {
            in_text = true;
        } else if c == ',' && text[at + 1..].trim_start().starts_with(['}', ']']) {
            continue;
        }
        strict.push(c);
    }
    strict
}
