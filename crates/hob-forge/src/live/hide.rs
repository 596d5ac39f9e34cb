//! Removes names, addresses and numbers that could identify the repository from the forge's answers.

/// The names that must not appear in the report, each with its replacement.
#[derive(Debug, Default)]
pub(super) struct Names(Vec<(String, &'static str)>);

impl Names {
    /// Hides this name from now on.
    pub(super) fn add(&mut self, name: &str, shown: &'static str) {
        if !name.is_empty() {
            self.0.push((name.to_ascii_lowercase(), shown));
        }
        // The longest first, so that no part of a name remains.
        self.0.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    }

    /// The text without names, addresses, ids of git and long numbers.
    pub(super) fn hide(&self, text: &str) -> String {
        let mut shown = text.to_owned();
        for (name, with) in &self.0 {
            shown = replaced(&shown, name, with);
        }
        shown.split(' ').map(word).collect::<Vec<_>>().join(" ")
    }
}

/// The text with each whole `name`, in any case, replaced.
fn replaced(text: &str, name: &str, with: &str) -> String {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    // Lower case has the same length in bytes, so that offsets are valid in both.
    let lower = text.to_ascii_lowercase();
    let (mut shown, mut at) = (String::new(), 0);
    for (found, _) in lower.match_indices(name) {
        let (before, after) = (&lower[..found], &lower[found + name.len()..]);
        if found >= at && !before.ends_with(is_of_name) && !after.starts_with(is_of_name) {
            shown.push_str(&text[at..found]);
            shown.push_str(with);
            at = found + name.len();
        }
    }
    shown.push_str(&text[at..]);
    shown
}

/// A word, or its replacement.
fn word(text: &str) -> String {
    if text.contains("://") {
        return "ADDRESS".to_owned();
    }
    let is_long = |part: &str| {
        let is_id = part.len() >= 40 && part.chars().all(|c| c.is_ascii_hexdigit());
        let is_number = part.len() >= 4 && part.chars().all(|c| c.is_ascii_digit());
        let numbers = part.split(['.', ':']).filter(|number| number.parse::<u8>().is_ok()).count();
        is_id || is_number || numbers == 4
    };
    let core = text.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    if is_long(core) { text.replace(core, "ID") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_addresses_and_ids_are_taken_out() {
        let mut names = Names::default();
        for (name, shown) in [("acme", "OWNER"), ("site", "NAME"), ("acme/site", "OWNER/NAME"), ("hob-bot", "LOGIN")] {
            names.add(name, shown);
        }
        names.add("", "NOTHING");
        for (text, shown) in [
            ("A pull request already exists for acme:x.", "A pull request already exists for OWNER:x."),
            ("ACME/Site, website, hob-bot[bot]", "OWNER/NAME, website, LOGIN[bot]"),
            ("hob-bot2 and sites", "hob-bot2 and sites"),
            ("see https://ghe.corp/x (now)", "see ADDRESS (now)"),
            ("exceeded for user ID 123456.", "exceeded for user ID ID."),
            ("exceeded for 203.0.113.7. Wait", "exceeded for ID. Wait"),
            ("422 after 1.25 s", "422 after 1.25 s"),
            ("`0123456789abcdef0123456789abcdef01234567` é", "`ID` é"),
        ] {
            assert_eq!(names.hide(text), shown);
        }
    }
}
