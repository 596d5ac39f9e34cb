//! The repository's own command: recipes of `just`, then targets of `make`.

use std::collections::{BTreeMap, BTreeSet};

use crate::project::{
    files::ProjectFiles,
    part::{fetches, only_looks},
};

/// A recipe or a target.
#[derive(Debug, Default)]
struct Target {
    /// What runs before it.
    needs: Vec<String>,
    recipe: String,
    /// Whether it cannot be called by its name alone.
    wants_argument: bool,
}

type Targets = BTreeMap<String, Target>;

/// The commands of the first program that has a test command. `None` if there is no such program.
pub(super) fn runner(files: &ProjectFiles) -> Option<Vec<String>> {
    let just = files.those(&["justfile", "Justfile", ".justfile"]);
    let make = files.those(&["GNUmakefile", "makefile", "Makefile"]);
    let just = just.first().and_then(|file| commands("just", &recipes(files.text(file))));
    just.or_else(|| make.first().and_then(|file| commands("make", &targets(files.text(file)))))
}

/// Only `check` if it runs tests, too; else `test`, with `lint` if there is one.
fn commands(program: &str, targets: &Targets) -> Option<Vec<String>> {
    let looks = |name: &str| targets.get(name).is_some_and(|one| !one.wants_argument) && looks(name, targets);
    let call = |name: &str| format!("{program} {name}");
    let covers = |name: &str| {
        let target = targets.get(name);
        target.is_some_and(|target| target.needs.iter().any(|need| need == "test") || target.recipe.contains("test"))
    };
    match (looks("check"), looks("test")) {
        (true, true) if covers("check") => Some(vec![call("check")]),
        (check, true) => {
            let other = if check { Some("check") } else { looks("lint").then_some("lint") };
            Some(other.into_iter().chain(["test"]).map(call).collect())
        }
        (true, false) => Some(vec![call("check")]),
        (false, false) => None,
    }
}

/// Whether a target has commands, and neither it nor its prerequisites change or fetch anything.
fn looks(name: &str, targets: &Targets) -> bool {
    let (mut seen, mut next) = (BTreeSet::new(), vec![name]);
    let mut does = false;
    while let Some(name) = next.pop() {
        let Some(target) = targets.get(name).filter(|_| seen.insert(name)) else { continue };
        let recipe = target.recipe.trim();
        if !recipe.is_empty() && (!only_looks(recipe) || fetches(recipe)) {
            return false;
        }
        does |= !recipe.is_empty() || !target.needs.is_empty();
        next.extend(target.needs.iter().map(String::as_str));
    }
    does
}

/// The targets of a makefile. Included files and conditions are not followed.
fn targets(text: &str) -> Targets {
    let mut found = Targets::new();
    let mut names: Vec<String> = Vec::new();
    for line in text.lines() {
        if let Some(recipe) = line.strip_prefix('\t') {
            for name in &names {
                found.entry(name.clone()).or_default().recipe.push_str(&format!("{}\n", without_comment(recipe)));
            }
            continue;
        }
        let Some((left, right)) = line.split_once(':').filter(|_| !line.starts_with([' ', '#', '.'])) else {
            if !line.trim().is_empty() && !line.starts_with('#') {
                names.clear();
            }
            continue;
        };
        let right = right.strip_prefix(':').unwrap_or(right);
        // `NAME := value`, `NAME = http://…`, and variables of a target.
        if left.contains('=') || right.starts_with('=') || right.contains('=') {
            names.clear();
            continue;
        }
        let (needs, recipe) = right.split_once(';').unwrap_or((right, ""));
        names = left.split_whitespace().map(str::to_owned).collect();
        for name in &names {
            let target = found.entry(name.clone()).or_default();
            target.needs.extend(words(needs));
            target.recipe.push_str(recipe);
        }
    }
    found
}

/// The recipes of a justfile.
fn recipes(text: &str) -> Targets {
    let mut found = Targets::new();
    let mut current: Option<String> = None;
    for line in text.lines() {
        if line.starts_with([' ', '\t']) {
            if let Some(target) = current.as_ref().and_then(|name| found.get_mut(name)) {
                target.recipe.push_str(&format!("{}\n", without_comment(line.trim())));
            }
            continue;
        }
        if line.trim().is_empty() || line.starts_with(['#', '[']) {
            continue;
        }
        current = None;
        let Some((head, needs)) = line.split_once(':').filter(|(_, needs)| !needs.starts_with('=')) else { continue };
        let mut head = head.trim_start_matches('@').split_whitespace();
        let Some(name) = head.next() else { continue };
        // `+args` needs at least one argument; `*args` and `arg="value"` need none.
        let wants_argument = !head.all(|argument| argument.starts_with('*') || argument.contains('='));
        found.insert(name.to_owned(), Target { needs: words(needs).collect(), recipe: String::new(), wants_argument });
        current = Some(name.to_owned());
    }
    found
}

fn words(needs: &str) -> impl Iterator<Item = String> {
    let plain = |word: &&str| !matches!(*word, "|" | "&&");
    let needs = without_comment(needs).split_whitespace().filter(plain);
    needs.map(|word| word.trim_matches(['(', ')']).to_owned()).collect::<Vec<_>>().into_iter()
}

fn without_comment(text: &str) -> &str {
    text.split_once(" #").map_or(text, |(before, _)| before)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, text: &str) -> Option<Vec<String>> {
        runner(&ProjectFiles::new([], [(name.to_owned(), text.to_owned())]))
    }

    #[test]
    fn a_makefile_is_called_by_what_tests_and_changes_nothing() {
        for (text, wanted) in [
            ("all: build\n\nbuild:\n\tcc x.c\n", None),
            ("test:\n\tpytest\n", Some(vec!["make test"])),
            (
                ".PHONY: test lint\ntest: build\n\tgo test ./...\nlint:\n\tgolangci-lint run\n",
                Some(vec!["make lint", "make test"]),
            ),
            ("check: lint test\nlint:\n\tx\ntest:\n\ty\n", Some(vec!["make check"])),
            ("check:\n\tshellcheck *.sh\n\ntest:\n\t./t\n", Some(vec!["make check", "make test"])),
            ("check:\n\t./configure && prove\n", Some(vec!["make check"])),
            ("lint:\n\teslint --fix .\ntest:\n\tjest\n", Some(vec!["make test"])),
            ("test:\n\tdocker compose run app\n", None),
            ("test: publish\n\nx:\n\ty\npublish:\n\ttwine upload\n", None),
            ("test: unit\nunit: deps\n\tgo test ./...\ndeps:\n\tgo get ./...\n", None),
            ("test: test\n\tcargo test --release\n", Some(vec!["make test"])),
            ("lint:\n\tcargo fmt\ntest:\n\tx\n", Some(vec!["make test"])),
            ("test := 3\nurl = http://x\n", None),
            ("test: DEBUG=1\n", None),
            ("test:: unit # all\nunit:\n\tx\n", Some(vec!["make test"])),
            ("test:\n", None),
        ] {
            assert_eq!(of("Makefile", text), wanted.map(|all| all.into_iter().map(str::to_owned).collect()), "{text}");
        }
    }

    #[test]
    fn a_recipe_of_just_is_called_where_it_needs_no_argument() {
        for (text, wanted) in [
            ("test *args:\n    cargo test {{args}}\n", Some(vec!["just test"])),
            ("test target:\n    cargo test {{target}}\n", None),
            ("test kind=\"unit\":\n    x\n", Some(vec!["just test"])),
            ("# all\n[group('x')]\ncheck: lint test\n\n@lint:\n    x\ntest:\n    y\n", Some(vec!["just check"])),
            ("watch +args:\n    cargo watch --exec '{{args}}'\ntest: (watch 'test --all')\n", None),
            ("test := \"x\"\n\nbuild:\n    x\n", None),
            ("set shell := [\"sh\"]\ncheck:\n    cargo publish\n", None),
        ] {
            assert_eq!(of("justfile", text), wanted.map(|all| all.into_iter().map(str::to_owned).collect()), "{text}");
        }
    }
}
