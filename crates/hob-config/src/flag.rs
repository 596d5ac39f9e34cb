//! The value that a flag gives to a setting.

use config::{Value, ValueKind};
use toml::Table;

/// A text in quotes, a list or a table is TOML; anything else is literal, and a list may be written with commas.
pub(super) fn flag_value(text: &str, is_list: bool) -> Value {
    let written = text.trim();
    let value = written.starts_with(['"', '\'', '[', '{']).then(|| toml_value(written)).flatten();
    let value = value.unwrap_or_else(|| text.into());
    match value.kind {
        ValueKind::String(items) if is_list => {
            let items = items.split(',').map(str::trim).filter(|item| !item.is_empty());
            items.collect::<Vec<_>>().into()
        }
        kind => Value::new(None, kind),
    }
}

fn toml_value(text: &str) -> Option<Value> {
    let mut table: Table = toml::from_str(&format!("value = {text}")).ok()?;
    let value = table.remove("value").filter(|_| table.is_empty())?;
    value.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_is_toml_where_it_looks_so_and_else_the_text() {
        for (text, is_list, shown) in [
            ("resume", false, "resume"),
            ("\"resume\"", false, "resume"),
            (" 'a b' ", false, "a b"),
            ("1.10", false, "1.10"),
            ("007", false, "007"),
            ("true", false, "true"),
            ("2026-01-01", false, "2026-01-01"),
            ("\"a", false, "\"a"),
            ("\"a\"\nb = 1", false, "\"a\"\nb = 1"),
            ("[x]", false, "[x]"),
            ("a/b, c/d,", true, "[\"a/b\", \"c/d\"]"),
            ("\"a/b\"", true, "[\"a/b\"]"),
            ("[\"a/b\", 'c/d']", true, "[\"a/b\", \"c/d\"]"),
            ("[]", true, "[]"),
            ("a[bot]", true, "[\"a[bot]\"]"),
            ("{ in_row = 3 }", false, "{ in_row = 3 }"),
        ] {
            assert_eq!(crate::culprit::shown(&flag_value(text, is_list)), shown, "{text}");
        }
    }
}
