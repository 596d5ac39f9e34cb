//! The proposal for a repository: the checks and steps of all its parts, and the file with them.

use std::{collections::BTreeSet, fmt::Write as _};

use crate::project::{
    compiled::{cargo, dotnet, go, java},
    files::ProjectFiles,
    hosts::{Found, HOSTS_MAX},
    javascript::javascript,
    part::Part,
    python::python,
    runner::runner,
};

/// What a language adds. `None` if the files do not use it.
type Language = fn(&ProjectFiles) -> Option<Part>;

/// The languages, in the order of their steps.
const LANGUAGES: [Language; 6] = [javascript, python, cargo, go, java, dotnet];

/// The proposed contents of `.github/hob.toml`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proposal {
    /// Shell commands that verify the work.
    pub checks: Vec<String>,
    /// Shell commands that fetch what the checks need.
    pub setup: Vec<String>,
    /// Files whose content decides whether these run again.
    pub setup_key: Vec<String>,
    /// The hosts that they fetch from.
    pub hosts: SetUpHosts,
    /// The hosts that the checks themselves fetch from. `None` if they fetch nothing.
    pub check_hosts: Option<SetUpHosts>,
}

/// Hosts that the repository's files name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SetUpHosts {
    /// The hosts' names; empty if there are too many for a proposal.
    pub names: Vec<String>,
    /// Whether some may be missing because no file names the source of some packages.
    pub is_open: bool,
}

impl SetUpHosts {
    fn new(found: impl IntoIterator<Item = Found>) -> Self {
        let (mut names, mut is_open) = (BTreeSet::new(), false);
        for Found { hosts, is_named } in found {
            names.extend(hosts);
            is_open |= !is_named;
        }
        if names.len() > HOSTS_MAX {
            return Self { names: Vec::new(), is_open: true };
        }
        Self { names: names.into_iter().collect(), is_open }
    }

    /// The lines that list them under `key`, each after `lead`: the known hosts, and where to fill in missing ones.
    pub fn listed(&self, key: &str, lead: &str) -> String {
        let Self { names, is_open } = self;
        let open = match (is_open, names.as_slice()) {
            (true, []) => {
                "# No file here says which hosts those are, or too many: fill in those of the package registries.\n"
            }
            (true, _) => "# The files here may not name all of them: add those of the package registries.\n",
            (false, _) => "",
        };
        let lead_of_key = if names.is_empty() { "# " } else { lead };
        let names: Vec<_> = if names.is_empty() { vec!["HOST".to_owned()] } else { names.clone() };
        format!("{open}{lead_of_key}{key} = {names:?}\n")
    }
}

/// The proposal for a repository with these files.
pub fn proposal(files: &ProjectFiles) -> Proposal {
    let found = LANGUAGES.map(|language| language(files).map(|part| part.with_hosts(files, files)));
    let mut parts: Vec<Part> = Vec::new();
    for folder in files.folders() {
        let inner = files.below(folder);
        // A package is a member of a package of the same language at the top, whose checks cover it.
        let others = LANGUAGES.into_iter().zip(&found).filter(|(_, top)| top.is_none());
        let others = others.filter_map(|(language, _)| language(&inner)).filter(|part| !part.checks.is_empty());
        parts.extend(others.map(|part| part.with_hosts(&inner, files).in_folder(folder)));
    }
    let mut parts: Vec<Part> = found.into_iter().flatten().chain(parts).collect();
    if let Some(checks) = runner(files) {
        // The repository's own command knows best how the parts belong together.
        parts.iter_mut().for_each(|part| part.checks.clear());
        parts.insert(0, Part { checks, ..Part::default() });
    }
    together(parts)
}

fn together(parts: Vec<Part>) -> Proposal {
    let (mut all, mut of_steps, mut of_checks) = (Proposal::default(), Vec::new(), Vec::new());
    for part in parts {
        all.checks.extend(part.checks);
        of_checks.extend(part.checks_from);
        for step in part.steps {
            all.setup.push(step.command);
            all.setup_key.extend(step.key);
            of_steps.push(step.from);
        }
    }
    all.hosts = SetUpHosts::new(of_steps);
    all.check_hosts = (!of_checks.is_empty()).then(|| SetUpHosts::new(of_checks));
    all
}

/// The lines `setup` and `setup_key` of `.github/hob.toml` for a repository with these `names` in its top folder.
/// `None` if none of them is known.
pub fn proposed_set_up<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let found = proposal(&ProjectFiles::new(names.into_iter().map(str::to_owned), []));
    let (steps, key) = (found.setup, found.setup_key);
    (!steps.is_empty()).then(|| format!("setup = {steps:?}, setup_key = {key:?}"))
}

impl Proposal {
    /// `.github/hob.toml` with this proposal, and a comment on each of its keys.
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
        if let Some(hosts) = &self.check_hosts {
            text.push_str(
                "\n# Hosts that the checks fetch from. The operator of Hob lists them in `sandbox.check_hosts`, too.\n",
            );
            text.push_str(&hosts.listed("check_hosts", ""));
        }
        if !self.setup.is_empty() {
            text.push_str(
                "\n# These fetch what the checks and the agent need, once for each content of the files of `setup_key`. They reach the\n\
                 # hosts that the operator of Hob lists, and without them no issue is worked on. In Hob's own settings, not here:\n",
            );
            text.push_str(&self.hosts.listed("sandbox.setup_hosts", "# "));
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
    fn hosts_stand_with_the_steps_as_a_comment_and_as_a_setting() {
        let of = |lock: &str| {
            let files = [("package.json", "{}"), ("package-lock.json", lock)];
            proposal(&ProjectFiles::new([], files.map(|(path, text)| (path.to_owned(), text.to_owned()))))
        };
        let known = of(r#""resolved": "https://npm.example.org/a.tgz""#);
        assert!(
            known
                .to_toml()
                .contains("not here:\n# sandbox.setup_hosts = [\"npm.example.org\"]\nsetup = [\"npm ci\"]\n"),
            "{known:?}"
        );
        assert_eq!(known.hosts.listed("sandbox.setup_hosts", ""), "sandbox.setup_hosts = [\"npm.example.org\"]\n");
        let many: String = (0..1_000).map(|n| format!("\"resolved\": \"https://h{n}.example.org/a\"\n")).collect();
        let open = "# No file here says which hosts those are, or too many: fill in those of the package registries.\n\
                    # sandbox.setup_hosts = [\"HOST\"]\n";
        assert_eq!(of(&many).hosts.listed("sandbox.setup_hosts", ""), open);
        let tox = proposal(&ProjectFiles::new(["tox.ini".to_owned()], [("tox.ini".to_owned(), "[tox]\n".to_owned())]));
        assert!(tox.to_toml().contains("\n# check_hosts = [\"HOST\"]\n"), "{}", tox.to_toml());
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

        # These fetch what the checks and the agent need, once for each content of the files of `setup_key`. They reach the
        # hosts that the operator of Hob lists, and without them no issue is worked on. In Hob's own settings, not here:
        # No file here says which hosts those are, or too many: fill in those of the package registries.
        # sandbox.setup_hosts = ["HOST"]
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
