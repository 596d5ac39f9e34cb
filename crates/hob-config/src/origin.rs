//! Where a setting was given: a flag, a variable, or a line of the file.

use std::{collections::HashMap, path::Path};

use toml::de::{DeTable, DeValue};

use crate::{renamed::old_names, variable_names::variable_of};

/// The sources of one load, the strongest last.
pub(super) struct Sources<'a> {
    /// The file with its text.
    pub(super) file: Option<SettingsText<'a>>,
    /// The variables.
    pub(super) variables: &'a HashMap<String, String>,
    /// The flags, as `section.key` pairs.
    pub(super) flags: &'a [(String, String)],
}

/// A settings file that was read.
#[derive(Debug, Clone, Copy)]
pub(super) struct SettingsText<'a> {
    /// Its path.
    pub(super) path: &'a Path,
    /// Its text.
    pub(super) text: &'a str,
}

impl Sources<'_> {
    /// Where the value of `key` is from, as it follows an error. `None` for a default.
    pub(super) fn origin(&self, key: &str) -> Option<String> {
        self.place(key).or_else(|| old_names(key).find_map(|name| self.place(name)))
    }

    fn place(&self, key: &str) -> Option<String> {
        if self.flags.iter().any(|(flag, _)| flag == key) {
            return Some("given as a flag".to_owned());
        }
        let variable = variable_of(key);
        if self.variables.get(&variable).is_some_and(|value| !value.is_empty()) {
            return Some(format!("from the variable `{variable}`"));
        }
        let file = self.file?;
        let line = line_of(file.text, key)?;
        Some(format!("in `{}`, line {line}", file.path.display()))
    }
}

/// The line of a key, counted from 1. A key that has a dot in one of its names is not found.
fn line_of(text: &str, key: &str) -> Option<usize> {
    let document = DeTable::parse(text).ok()?;
    let (mut table, mut parts) = (document.get_ref(), key.split('.').peekable());
    loop {
        let part = parts.next()?;
        let (name, value) = table.iter().find(|(name, _)| name.get_ref() == part)?;
        match value.get_ref() {
            DeValue::Table(inner) if parts.peek().is_some() => table = inner,
            _value if parts.peek().is_some() => return None,
            _value => return Some(text.get(..name.span().start)?.matches('\n').count() + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_key_is_found_however_it_is_written() {
        let text =
            "plan = 'never'\n\n[limits]\n# Jobs.\njobs = 0\n[agents]\nx = { model = 'm' }\n[poll]\ninterval = '1s'\n";
        for (key, line) in [
            ("plan", Some(1)),
            ("limits.jobs", Some(5)),
            ("agents.x.model", Some(7)),
            ("poll.interval", Some(9)),
            ("poll", Some(8)),
            ("poll.other", None),
            ("plan.more", None),
        ] {
            assert_eq!(line_of(text, key), line, "{key}");
        }
        assert_eq!(line_of("a.b = 1", "a.b"), Some(1));
        assert_eq!(line_of("[", "a"), None);
    }

    #[test]
    fn the_strongest_source_is_the_one_that_is_named() {
        let variables = HashMap::from([("HOB__LIMITS__JOBS".to_owned(), "0".to_owned())]);
        let file = Some(SettingsText { path: Path::new("hob.toml"), text: "[limits]\njobs = 0\nattempts = 0" });
        let flags = [("limits.attempts".to_owned(), "0".to_owned())];
        let sources = Sources { file, variables: &variables, flags: &flags };
        assert_eq!(sources.origin("limits.attempts").unwrap(), "given as a flag");
        assert_eq!(sources.origin("jobs").unwrap(), "from the variable `HOB__LIMITS__JOBS`");
        assert_eq!(Sources { flags: &[], ..sources }.origin("limits.attempts").unwrap(), "in `hob.toml`, line 3");
        assert_eq!(Sources { file, variables: &HashMap::new(), flags: &[] }.origin("limits.soft"), None);
    }
}
