//! What the repository has for agents beside its notes: instructions for some files (`.github/instructions`, `.cursor/rules`), and
//! skills (`.agents/skills`, `.claude/skills`), which a model reads when one fits.
//!
//! - Guarantees: bounded by [`FILES_MAX`]. All of it is data, like the notes, and nothing outside of the folder is read.
//! - Caveats: of the front matter only plain keys, lists and folded texts are understood.

use globset::{Glob, GlobSetBuilder};
use hob_text::rendered;

use crate::{folder::Folder, report::first_line};

/// Files of each kind that are looked at.
const FILES_MAX: usize = 40;
/// Bytes of such a file.
const FILE_MAX: u64 = 256 * 1024;
/// Bytes of a description, and of a scope.
const LINE_MAX: usize = 200;

/// Instructions for some files.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) name: String,
    /// Whether it is for all files, or for one that the task names.
    pub(super) applies: bool,
    /// The files that it is for, in words.
    pub(super) scope: String,
}

/// The instructions, by the files that they are for. `named` are those that the task names.
pub(super) fn rules(folder: &Folder, names: &[&str], named: &[&str]) -> Vec<Rule> {
    let is_rule = |name: &&&str| {
        name.starts_with(".github/instructions/") && name.ends_with(".instructions.md")
            || name.starts_with(".cursor/rules/") && name.ends_with(".mdc")
    };
    let rules = names.iter().filter(is_rule).take(FILES_MAX);
    rules.filter_map(|name| Some(rule(name, &front_matter(folder, name)?, named))).collect()
}

fn rule(name: &str, matter: &[(String, String)], named: &[&str]) -> Rule {
    let globs: Vec<String> = ["applyTo", "globs"]
        .iter()
        .filter_map(|key| value(matter, key))
        .flat_map(|globs| globs.split(','))
        .map(|glob| glob.trim().trim_matches(['"', '\'']).to_owned())
        .filter(|glob| !glob.is_empty())
        .collect();
    let is_for_all =
        value(matter, "alwaysApply") == Some("true") || globs.iter().any(|glob| glob == "**" || glob == "**/*");
    let mut set = GlobSetBuilder::new();
    // `*.py` is for such files in each folder; a pattern that cannot be read is for none.
    for glob in &globs {
        let anywhere = if glob.contains('/') { glob.clone() } else { format!("**/{glob}") };
        if let Ok(glob) = Glob::new(&anywhere) {
            set.add(glob);
        }
    }
    let applies = is_for_all || set.build().is_ok_and(|set| named.iter().any(|file| set.is_match(file)));
    let scope =
        if globs.is_empty() { value(matter, "description").unwrap_or_default().to_owned() } else { globs.join(", ") };
    Rule { name: name.to_owned(), applies, scope: first_line(&scope, LINE_MAX) }
}

/// A line about each skill: its file, and when it fits.
pub(super) fn skills(folder: &Folder, names: &[&str]) -> Vec<String> {
    let is_skill = |name: &&&str| {
        let below = name.strip_prefix(".agents/skills/").or_else(|| name.strip_prefix(".claude/skills/"));
        below.and_then(|below| below.strip_suffix("/SKILL.md")).is_some_and(|skill| !skill.contains('/'))
    };
    let skill = |name: &&str| {
        let matter = front_matter(folder, name)?;
        let description = value(&matter, "description").filter(|text| !text.is_empty())?;
        let called = value(&matter, "name").unwrap_or_default();
        Some(format!("{name}: {} ({})", first_line(description, LINE_MAX), first_line(called, 60)))
    };
    names.iter().filter(is_skill).take(FILES_MAX).filter_map(skill).collect()
}

fn value<'m>(matter: &'m [(String, String)], key: &str) -> Option<&'m str> {
    matter.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
}

/// The keys between the lines `---` at the beginning of a file, without text that is invisible to people; `None` if the file
/// cannot be read.
fn front_matter(folder: &Folder, name: &str) -> Option<Vec<(String, String)>> {
    let text = folder.inside(name).and_then(|path| folder.read(&path, FILE_MAX)).ok()?;
    let mut lines = text.lines();
    let mut matter: Vec<(String, String)> = Vec::new();
    if lines.next().map(str::trim_end) != Some("---") {
        return Some(matter);
    }
    for line in lines.take_while(|line| line.trim_end() != "---").take(100) {
        let unquoted = |text: &str| text.trim().trim_matches(['[', ']', '"', '\'']).to_owned();
        match (line.starts_with([' ', '\t', '-']), line.split_once(':'), matter.last_mut()) {
            // An item of a list, or the next line of a folded text.
            (true, _, Some((_, value))) => {
                let (sign, item) = line.trim().strip_prefix("- ").map_or((" ", line.trim()), |item| (",", item));
                if !value.is_empty() {
                    value.push_str(sign);
                }
                value.push_str(&unquoted(item));
            }
            (false, Some((key, value)), _) => {
                let value = unquoted(value);
                let is_folded = matches!(value.as_str(), ">" | "|" | ">-" | "|-");
                matter.push((key.trim().to_owned(), if is_folded { String::new() } else { value }));
            }
            (_, _, _) => {}
        }
    }
    for (_, value) in &mut matter {
        *value = rendered(value).text.trim().to_owned();
    }
    Some(matter)
}
