//! Texts of others in a statement: few, short, and with nothing hidden in them.

use hob_text::terminal;

/// Names of tests and files that a list keeps.
const NAMES_MAX: usize = 10;
/// The longest name, in characters.
const NAME_MAX: usize = 120;

/// The first names of tests.
pub(crate) fn first_names<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    names.take(NAMES_MAX).map(|name| visible(name, NAME_MAX)).collect()
}

/// A text in the statement's form: all of its characters are visible, every JSON writer writes them in the same way, and it has
/// `limit` characters at most.
pub(crate) fn visible(text: &str, limit: usize) -> String {
    let shown = terminal(text);
    if shown.chars().count() <= limit {
        return shown;
    }
    shown.chars().take(limit - 1).chain(['…']).collect()
}
