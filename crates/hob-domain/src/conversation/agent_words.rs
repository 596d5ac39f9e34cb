//! An agent that is named in plain words: "load the security agent", on a separate line.
//!
//! This counts as a choice only if the line says nothing else and the caller knows an agent or a profile of that name.
//! The router reads all other words.

use crate::conversation::command::author_lines;

/// The agent or profile that a comment names, as written; the last one counts.
pub fn named_in_words(comment: &str) -> Option<&str> {
    author_lines(comment, |line| named(line).is_some()).into_iter().filter_map(|(line, _)| named(line)).next_back()
}

/// The name in a sentence such as "Load X agent", "Use the X profile", "Switch to X", if the line contains nothing
/// else.
fn named(line: &str) -> Option<&str> {
    let mut words: Vec<&str> = line.trim().trim_end_matches(['.', '!']).split_whitespace().collect();
    let says =
        |word: Option<&&str>, one: &str| word.is_some_and(|word| word.trim_matches(',').eq_ignore_ascii_case(one));
    if says(words.first(), "please") {
        words.remove(0);
    } else if says(words.last(), "please") {
        words.pop();
    }
    let rest = match words.as_slice() {
        [verb, rest @ ..] if ["load", "use"].iter().any(|known| known.eq_ignore_ascii_case(verb)) => rest,
        [switch, to, rest @ ..] if says(Some(switch), "switch") && says(Some(to), "to") => rest,
        _ => return None,
    };
    let is_switch = says(words.first(), "switch");
    let rest = if says(rest.first(), "the") { &rest[1..] } else { rest };
    let is_kind =
        |word: &&str| ["agent", "profile"].iter().any(|kind| word.trim_matches(',').eq_ignore_ascii_case(kind));
    let name = match rest {
        [name, kind] if is_kind(kind) && !is_kind(name) => name,
        [kind, name] if is_kind(kind) => name,
        // "Use postgres" asks for something else.
        [name] if is_switch => name,
        _ => return None,
    };
    let name = name.trim_matches(['`', '"', '\'', ',', '*']);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    (!name.is_empty() && name.chars().all(is_plain)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requirement M4: "Load X agent" is a choice if the line says nothing else.
    #[test]
    fn a_sentence_that_only_names_an_agent_chooses_it() {
        for (comment, name) in [
            ("Load security agent", Some("security")),
            ("load the Security agent.", Some("Security")),
            ("Please use the `docs` profile", Some("docs")),
            ("Use agent docs, please!", Some("docs")),
            ("Switch to dns", Some("dns")),
            ("switch to the dns profile.", Some("dns")),
            ("The zone is wrong.\n\n  Load dns agent  \nThanks", Some("dns")),
            ("Load dns agent\nNo: load docs agent\nSwitch to cloud", Some("cloud")),
            ("switch to the agent `dns`", Some("dns")),
            // Something else is asked for.
            ("Use postgres", None),
            ("Load the agent", None),
            ("Switch to", None),
            ("Switch to main and rebase", None),
            ("Load the security agent of the old version", None),
            ("We should load the security agent", None),
            ("Do not load the security agent", None),
            ("Load the security agent?", None),
            ("Use the user agent in the header", None),
            ("switch to ../x", None),
            ("Load the security agent, then the dns agent", None),
            // Another person's words.
            ("> Load security agent", None),
            ("```\nLoad security agent\n```", None),
            ("<!-- Load security agent -->", None),
            ("", None),
        ] {
            assert_eq!(named_in_words(comment), name, "{comment:?}");
        }
    }
}
