//! The two parts of a profile's file: front matter between two lines `---`, and the text after it.

/// A file's parts.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parts<'a> {
    /// The front matter, which begins at line 2 of the file.
    pub(super) yaml: &'a str,
    /// What follows it.
    pub(super) body: &'a str,
}

/// The line of the file at which the front matter begins.
pub(super) const FIRST_LINE: usize = 2;

/// Splits a file. `None` if it has no front matter, or if that has no end. Line ends are `\n`.
pub(super) fn parts(text: &str) -> Option<Parts<'_>> {
    let (first, rest) = text.split_once('\n')?;
    if first.trim_end() != "---" {
        return None;
    }
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Some(Parts { yaml: &rest[..at], body: &rest[at + line.len()..] });
        }
        at += line.len();
    }
    None
}

/// The same front matter with the one-line texts of `name` and `description` in quotes: programs that write profiles
/// put texts there that are not YAML, such as `Examples: <example>`, and read them back.
pub(super) fn quoted(yaml: &str) -> String {
    let lines: Vec<&str> = yaml.lines().collect();
    let mut quoted = String::with_capacity(yaml.len() + 16);
    for (at, line) in lines.iter().enumerate() {
        let goes_on = lines.get(at + 1).is_some_and(|next| next.starts_with([' ', '\t']));
        let plain = ["name: ", "description: "].iter().find_map(|key| Some((*key, line.strip_prefix(key)?.trim())));
        match plain {
            Some((key, value)) if !goes_on && !value.starts_with(['"', '\'', '|', '>', '&', '*', '[', '{']) => {
                quoted.extend([key, "'", &value.replace('\'', "''"), "'"]);
            }
            Some(_) | None => quoted.push_str(line),
        }
        quoted.push('\n');
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_matter_stands_between_two_lines() {
        for (text, expected) in [
            ("---\na: b\n---\nDo it.\n", Some(("a: b\n", "Do it.\n"))),
            ("---\n---", Some(("", ""))),
            ("--- \na\n---\t\n\nx\n---\ny", Some(("a\n", "\nx\n---\ny"))),
            ("", None),
            ("---", None),
            ("---\na: b\n", None),
            ("# Title\n---\na\n---\n", None),
            ("---\na\n----\n", None),
        ] {
            assert_eq!(parts(text).map(|found| (found.yaml, found.body)), expected, "{text:?}");
        }
    }

    #[test]
    fn a_text_that_is_no_yaml_is_put_in_quotes() {
        let quoted = quoted("name: x\ndescription: It's this: <a>\ntools: a: b\n");
        assert_eq!(quoted, "name: 'x'\ndescription: 'It''s this: <a>'\ntools: a: b\n");
        for kept in ["description: \"a\"\n", "description: a\n  b\n", "description: |\n  a\n"] {
            assert_eq!(super::quoted(kept), kept);
        }
    }
}
