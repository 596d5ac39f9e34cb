//! Owners of code, according to a repository's `CODEOWNERS`. Only owners that can be mentioned count: accounts and
//! teams.
//! <https://docs.github.com/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners>

use globset::{GlobBuilder, GlobMatcher};

/// The most lines that are read, so that the file's author cannot keep a worker busy.
const LINES_MAX: usize = 5_000;
/// The most owners that are returned; the first who may answer is enough.
const OWNERS_MAX: usize = 10;

struct Rule<'t> {
    matcher: Vec<GlobMatcher>,
    is_of_all: bool,
    owners: Vec<&'t str>,
}

/// The owners of these files, ordered by how many they own; for each file, the last line that matches it counts.
/// Without files, or if none of them has an owner, the owners of everything. No owner is repeated.
pub fn code_owners(text: &str, paths: &[String]) -> Vec<String> {
    let rules: Vec<Rule<'_>> = text.lines().take(LINES_MAX).filter_map(rule).collect();
    let mut found: Vec<(usize, &str)> = Vec::new();
    for path in paths {
        let of_path = rules.iter().rev().find(|rule| rule.matcher.iter().any(|matcher| matcher.is_match(path)));
        for owner in of_path.into_iter().flat_map(|rule| &rule.owners) {
            match found.iter_mut().find(|(_, known)| known == owner) {
                Some((files, _)) => *files += 1,
                None => found.push((1, owner)),
            }
        }
    }
    if found.is_empty() {
        let of_all = rules.iter().rev().find(|rule| rule.is_of_all);
        found.extend(of_all.into_iter().flat_map(|rule| &rule.owners).map(|owner| (1, *owner)));
    }
    found.sort_by_key(|(files, _)| std::cmp::Reverse(*files));
    found.into_iter().take(OWNERS_MAX).map(|(_, owner)| owner.to_owned()).collect()
}

/// A line's rule. `None` if it has no readable pattern.
fn rule(line: &str) -> Option<Rule<'_>> {
    let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
    let pattern = words.next()?;
    let owners = words.filter_map(|word| word.strip_prefix('@')).filter(|owner| is_name(owner)).collect();
    let is_of_all = matches!(pattern, "*" | "/**" | "**");
    Some(Rule { matcher: matchers(pattern)?, is_of_all, owners })
}

/// A pattern means the same as in a `.gitignore`: one with a slash before its end begins at the root, and a folder
/// includes everything below it.
fn matchers(pattern: &str) -> Option<Vec<GlobMatcher>> {
    let plain = pattern.trim_start_matches('/').trim_end_matches('/');
    let is_rooted = pattern.trim_end_matches('/').contains('/');
    let rooted = if is_rooted { plain.to_owned() } else { format!("**/{plain}") };
    // `docs/*` matches the files of that folder but not those of its subfolders.
    let itself = (!pattern.ends_with('/')).then(|| rooted.clone());
    let inside = (!pattern.ends_with("/*")).then(|| format!("{rooted}/**"));
    let glob = |glob: String| GlobBuilder::new(&glob).literal_separator(true).build().ok();
    let globs: Vec<_> = itself.into_iter().chain(inside).filter_map(glob).map(|glob| glob.compile_matcher()).collect();
    (!globs.is_empty()).then_some(globs)
}

/// Whether it is the name of an account or a team, which can follow an `@`.
fn is_name(name: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
    };
    name.len() <= 100 && name.split('/').count() <= 2 && name.split('/').all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owners(text: &str, paths: &[&str]) -> Vec<String> {
        code_owners(text, &paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn the_owners_of_everything_are_found() {
        for (text, expected) in [
            ("* @ann @bob\n/docs/ @tess", vec!["ann", "bob"]),
            ("* @ann\n* @acme/web # all\n*.rs @bob", vec!["acme/web"]),
            ("# * @ann\n/src/ a@example.org @bob\n", vec![]),
            ("* @ann/b/c\n", vec![]),
            ("*", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(owners(text, &[]), expected, "{text:?}");
        }
    }

    #[test]
    fn the_last_line_that_matches_a_file_names_its_owners() {
        let text =
            "* @all\n*.js @js\n/build/logs/ @doctor\ndocs/* @docs\napps/ @octo\n/apps/github\n**/logs @logs @more";
        for (path, expected) in [
            ("README.md", vec!["all"]),
            ("a/b.js", vec!["js"]),
            ("build/logs/x/y.txt", vec!["logs", "more"]),
            ("docs/a.md", vec!["docs"]),
            ("docs/deep/a.md", vec!["all"]),
            ("x/apps/y", vec!["octo"]),
            // A line without an owner: the owners of everything are asked.
            ("apps/github/x", vec!["all"]),
            ("deeply/logs/x", vec!["logs", "more"]),
        ] {
            assert_eq!(owners(text, &[path]), expected, "{path}");
        }
        assert_eq!(owners(text, &["a.md", "x.js", "y.js"]), ["js", "all"], "who owns the most comes first");
    }
}
