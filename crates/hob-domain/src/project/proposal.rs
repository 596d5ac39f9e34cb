//! The proposal for a repository: the checks and steps of all that it is made of, and the file that says them.

use std::fmt::Write as _;

use crate::project::{
    compiled::{cargo, dotnet, go, java},
    files::ProjectFiles,
    javascript::javascript,
    part::Part,
    python::python,
    runner::runner,
};

/// A language's way to say what it adds; none: the files have nothing of it.
type Language = fn(&ProjectFiles) -> Option<Part>;

/// The languages, in the order of their steps.
const LANGUAGES: [Language; 6] = [javascript, python, cargo, go, java, dotnet];

/// What `.github/hob.toml` may say of a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proposal {
    /// Shell commands that verify the work.
    pub checks: Vec<String>,
    /// Shell commands that fetch what the checks need.
    pub setup: Vec<String>,
    /// Files whose content decides whether these run anew.
    pub setup_key: Vec<String>,
    /// Hosts that the checks themselves fetch from.
    pub check_hosts: Vec<String>,
}

/// What fits a repository with these files.
pub fn proposal(files: &ProjectFiles) -> Proposal {
    let found = LANGUAGES.map(|language| language(files));
    let mut parts: Vec<Part> = Vec::new();
    for folder in files.folders() {
        let inner = files.below(folder);
        // A package of a language that stands at the top, too, is a member of that: its checks run there.
        let others = LANGUAGES.into_iter().zip(&found).filter(|(_, top)| top.is_none());
        let others = others.filter_map(|(language, _)| language(&inner)).filter(|part| !part.checks.is_empty());
        parts.extend(others.map(|part| part.in_folder(folder)));
    }
    let mut parts: Vec<Part> = found.into_iter().flatten().chain(parts).collect();
    if let Some(checks) = runner(files) {
        // The repository's own command knows best what belongs together.
        parts.iter_mut().for_each(|part| part.checks.clear());
        parts.insert(0, Part { checks, ..Part::default() });
    }
    together(parts)
}

fn together(parts: Vec<Part>) -> Proposal {
    let mut all = Proposal::default();
    for part in parts {
        all.checks.extend(part.checks);
        all.check_hosts.extend(part.check_hosts.into_iter().map(str::to_owned));
        for step in part.steps {
            all.setup.push(step.command);
            all.setup_key.extend(step.key);
        }
    }
    all.check_hosts.sort();
    all.check_hosts.dedup();
    all
}

/// The lines `setup` and `setup_key` of `.github/hob.toml` for a repository with these `names` in its top folder; none where
/// nothing there is known.
pub fn proposed_set_up<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let found = proposal(&ProjectFiles::new(names.into_iter().map(str::to_owned), []));
    let (steps, key) = (found.setup, found.setup_key);
    (!steps.is_empty()).then(|| format!("setup = {steps:?}, setup_key = {key:?}"))
}

impl Proposal {
    /// `.github/hob.toml` with this proposal, and a word on each of its keys.
    pub fn to_toml(&self) -> String {
        let mut text =
            "# What Hob may do in this repository, and how its work is verified. Hob reads this file from the default \
                        branch only.\n\n"
                .to_owned();
        if self.checks.is_empty() {
            text.push_str(
                "# No checks were found here. Until there are some, Hob's pull requests say that the work is not verified.\n\
                 # For example: checks = [\"make test\"]\n",
            );
        } else {
            text.push_str(
                "# Each runs with `sh -c` and CI=true, on the default branch and on the work. They have no network.\n",
            );
        }
        list(&mut text, "checks", &self.checks);
        if !self.check_hosts.is_empty() {
            text.push_str(
                "\n# Hosts that the checks fetch from. Whoever runs Hob lists them in `sandbox.check_hosts`, too.\n",
            );
            list(&mut text, "check_hosts", &self.check_hosts);
        }
        if !self.setup.is_empty() {
            text.push_str(
                "\n# These fetch what the checks and the agent need, once for each content of the files of `setup_key`. Whoever\n\
                 # runs Hob lists the hosts that they reach in `sandbox.hosts`.\n",
            );
            list(&mut text, "setup", &self.setup);
            list(&mut text, "setup_key", &self.setup_key);
        }
        text.push_str(
            "\n# Paths that Hob's work may not touch, beside this file, workflows and `.gitmodules`:\n# protected = [\"deploy/**\"]\n",
        );
        text
    }
}

fn list(text: &mut String, key: &str, values: &[String]) {
    // Writing to a string does not fail.
    match values {
        [] => writeln!(text, "{key} = []"),
        [one] => writeln!(text, "{key} = [{one:?}]"),
        several => {
            let lines: String = several.iter().map(|value| format!("    {value:?},\n")).collect();
            writeln!(text, "{key} = [\n{lines}]")
        }
    }
    .ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_fits_each_lock_file_once() {
        assert_eq!(proposed_set_up(["README.md", "src"]), None);
        let one = proposed_set_up(["src", "Cargo.lock", "package-lock.json"]).unwrap();
        let wanted = r#"setup = ["npm ci", "cargo fetch --locked"], setup_key = ["package-lock.json", "Cargo.lock"]"#;
        assert_eq!(one, wanted);
        assert!(!proposed_set_up(["uv.lock", "requirements.txt"]).unwrap().contains("requirements.txt"));
    }

    #[test]
    fn the_file_says_what_was_found_and_what_was_not() {
        let files = ["Cargo.toml", "Cargo.lock"].map(|path| (path.to_owned(), String::new()));
        insta::assert_snapshot!(proposal(&ProjectFiles::new([], files)).to_toml(), @r#"
        # What Hob may do in this repository, and how its work is verified. Hob reads this file from the default branch only.

        # Each runs with `sh -c` and CI=true, on the default branch and on the work. They have no network.
        checks = [
            "cargo clippy --all-targets --locked",
            "cargo test --locked",
        ]

        # These fetch what the checks and the agent need, once for each content of the files of `setup_key`. Whoever
        # runs Hob lists the hosts that they reach in `sandbox.hosts`.
        setup = ["cargo fetch --locked"]
        setup_key = ["Cargo.lock"]

        # Paths that Hob's work may not touch, beside this file, workflows and `.gitmodules`:
        # protected = ["deploy/**"]
        "#);
        insta::assert_snapshot!(Proposal::default().to_toml(), @r#"
        # What Hob may do in this repository, and how its work is verified. Hob reads this file from the default branch only.

        # No checks were found here. Until there are some, Hob's pull requests say that the work is not verified.
        # For example: checks = ["make test"]
        checks = []

        # Paths that Hob's work may not touch, beside this file, workflows and `.gitmodules`:
        # protected = ["deploy/**"]
        "#);
    }
}
