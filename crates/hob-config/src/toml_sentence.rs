//! A TOML error as one sentence.

/// The line with its key, and what is wrong with it: the library's message spans several lines and repeats the text.
pub(crate) fn toml_sentence(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().trim().replace('\n', ", ");
    let Some(before) = error.span().and_then(|span| text.get(..span.start)) else { return message };
    let line = before.matches('\n').count();
    let key = text.lines().nth(line).and_then(key_of).map(|key| format!(" (`{key}`)")).unwrap_or_default();
    format!("line {}{key}: {message}", line + 1)
}

/// The part of a line before its value, which may be a secret.
fn key_of(line: &str) -> Option<&str> {
    let key = line.split_once('=').map_or_else(|| line.trim().strip_suffix(']').map(|_| line), |(key, _)| Some(key))?;
    let of_a_key = |c: char| c.is_ascii_alphanumeric() || "._-[]".contains(c);
    let key = key.trim();
    (!key.is_empty() && key.len() <= 80 && key.chars().all(of_a_key)).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_is_told_by_its_line_and_key() {
        for (text, told) in [
            ("a = 1\nchecks.commands = ['x']", "line 2 (`checks.commands`): invalid type: map"),
            ("[[checks]]\nname = 'x'", "line 1 (`[[checks]]`): invalid type: map"),
            ("checks = 's3cret'", "line 1 (`checks`): invalid type: string"),
            ("checks = [\n  's3cret', 7]", "line 2: "),
            ("\"a`b\" = 1\nchecks", "line 2: "),
        ] {
            #[derive(serde::Deserialize, Debug)]
            struct Checks {
                #[expect(dead_code, reason = "what is wrong with it is looked at")]
                checks: Vec<String>,
            }
            let said = toml_sentence(text, &toml::from_str::<Checks>(text).unwrap_err());
            assert!(said.starts_with(told), "{text}: {said}");
        }
        // No part of the value is included.
        assert_eq!(key_of("token = 's3cret'"), Some("token"));
        assert_eq!(key_of("  's3cret', 7]"), None);
    }
}
