//! Hosts that a set-up step fetches from, according to the repository's own files: lock files, and the installers'
//! settings.
//!
//! The files may be hostile: they are read as lines, up to a number of bytes each, and only plain host names are taken
//! from them.

use std::collections::BTreeSet;

use crate::project::files::{ProjectFiles, is_manifest, is_project};

/// The most bytes of a file that are read.
const TEXT_MAX: usize = 4 << 20;
/// The most bytes before an address that may say what it is for.
const BEFORE_MAX: usize = 64;
/// The most hosts that are proposed; a repository that needs more has to list them.
pub(super) const HOSTS_MAX: usize = 10;
/// The most files that are read for them, in addition to the manifests.
const FILES_MAX: usize = 20;
/// The most hosts of one file that are read.
const SEEN_MAX: usize = 100;
/// The beginning of an address that a step fetches from.
const SCHEME: &str = "https://";
/// The sections of `pyproject.toml` and `uv.toml` whose addresses are those of registries.
const REGISTRIES: [&str; 4] = ["[[tool.poetry.source]]", "[[tool.uv.index]]", "[[index]]", "[tool.uv]"];

/// What the addresses in a file are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Names {
    /// The source of packages.
    Registry,
    /// The source of some packages; the file does not name the registry of the others.
    Some,
}

/// A file, the words before its addresses that count, and what they say.
type Source = (&'static str, &'static [&'static str], Names);

/// The files of one installer.
struct Tool {
    /// Files one of which is a key of its steps.
    keys: &'static [&'static str],
    sources: &'static [Source],
}

const TOOLS: [Tool; 4] = [
    Tool {
        keys: &[
            "package.json",
            "package-lock.json",
            "npm-shrinkwrap.json",
            "yarn.lock",
            "pnpm-lock.yaml",
            "bun.lock",
            "bun.lockb",
        ],
        sources: &[
            ("package-lock.json", &["resolved"], Names::Registry),
            ("npm-shrinkwrap.json", &["resolved"], Names::Registry),
            ("yarn.lock", &["resolved"], Names::Registry),
            ("pnpm-lock.yaml", &["tarball"], Names::Some),
            ("bun.lock", &[","], Names::Some),
            (".npmrc", &["registry"], Names::Registry),
            (".yarnrc", &["registry"], Names::Registry),
            (".yarnrc.yml", &["npmRegistryServer"], Names::Registry),
        ],
    },
    Tool {
        keys: &[
            "uv.lock",
            "poetry.lock",
            "Pipfile.lock",
            "pyproject.toml",
            "setup.py",
            "tox.ini",
            "requirements.txt",
            "requirements-dev.txt",
            "requirements_dev.txt",
            "dev-requirements.txt",
            "requirements-test.txt",
            "test-requirements.txt",
        ],
        sources: &[
            ("uv.lock", &["registry", "url", "git"], Names::Registry),
            ("poetry.lock", &["url"], Names::Some),
            ("Pipfile.lock", &["url"], Names::Registry),
            ("pyproject.toml", &["url", "index-url", "extra-index-url"], Names::Registry),
            ("uv.toml", &["url", "index-url", "extra-index-url"], Names::Registry),
            ("pip.conf", &["index-url", "find-links"], Names::Registry),
            ("requirements.txt", LISTED, Names::Registry),
            ("requirements-dev.txt", LISTED, Names::Registry),
            ("requirements_dev.txt", LISTED, Names::Registry),
            ("dev-requirements.txt", LISTED, Names::Registry),
            ("requirements-test.txt", LISTED, Names::Registry),
            ("test-requirements.txt", LISTED, Names::Registry),
        ],
    },
    Tool {
        keys: &["Cargo.lock", "Cargo.toml"],
        sources: &[
            ("Cargo.lock", &["git+", "source"], Names::Some),
            (".cargo/config.toml", &["index", "registry"], Names::Registry),
            (".cargo/config", &["index", "registry"], Names::Registry),
        ],
    },
    Tool {
        keys: &["Directory.Packages.props", "global.json", "packages.lock.json"],
        sources: &[
            ("nuget.config", &["value"], Names::Registry),
            ("NuGet.config", &["value"], Names::Registry),
            ("NuGet.Config", &["value"], Names::Registry),
        ],
    },
];
const LISTED: &[&str] = &["-i", "--index-url", "--extra-index-url", "--find-links"];

/// The hosts that a step fetches from, as far as files say so.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// The hosts' names.
    pub(super) hosts: BTreeSet<String>,
    /// Whether a file names the source of all packages, not only of some.
    pub(super) is_named: bool,
}

/// The hosts for the steps that `key` decides about, from the files in its folder and the settings at the top.
pub(super) fn found(key: &[String], files: &ProjectFiles, top: &ProjectFiles) -> Found {
    let mut all = Found::default();
    let tools = TOOLS.iter().filter(|tool| key.iter().any(|file| tool.keys.contains(&file.as_str())));
    for (name, words, names) in tools.flat_map(|tool| tool.sources) {
        let is_setting = !key.iter().any(|file| file == name);
        let text = if is_setting && !files.has(name) { top.text(name) } else { files.text(name) };
        // A lock file of another program, which this step does not read.
        if is_setting && is_lock(name) {
            continue;
        }
        let hosts = hosts(name, text, words);
        all.is_named |= *names == Names::Registry && !hosts.is_empty();
        all.hosts.extend(hosts);
    }
    all
}

fn is_lock(name: &str) -> bool {
    name.contains("lock") || name.contains("shrinkwrap") || name.contains("requirements")
}

/// The paths that say where steps fetch from, without manifests: lock files and installers' settings.
pub fn host_files<'a>(paths: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let names_hosts = |name: &str| TOOLS.iter().flat_map(|tool| tool.sources).any(|(known, ..)| *known == name);
    let matters = |path: &&str| match path.split_once('/') {
        None => names_hosts(path) && !is_manifest(path),
        Some((folder, name)) => names_hosts(path) || is_project(folder) && names_hosts(name) && !is_manifest(name),
    };
    let mut found: Vec<&str> = paths.into_iter().filter(matters).collect();
    found.sort_by_key(|path| (path.contains('/'), *path));
    found.truncate(FILES_MAX);
    found
}

fn hosts(name: &str, text: &str, words: &[&str]) -> BTreeSet<String> {
    let mut end = text.len().min(TEXT_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let by_section = matches!(name, "pyproject.toml" | "uv.toml");
    let (mut is_registry, mut found) = (!by_section || name == "uv.toml", BTreeSet::new());
    for line in text[..end].lines().filter(|line| !line.trim_start().starts_with(['#', ';'])) {
        if by_section && line.trim_start().starts_with('[') {
            is_registry = REGISTRIES.contains(&line.trim());
        }
        if !is_registry {
            continue;
        }
        for (at, _) in line.match_indices(SCHEME) {
            if found.len() >= SEEN_MAX {
                return found;
            }
            if words.iter().any(|word| before(&line[..at]).ends_with(word)) {
                found.extend(host(&line[at + SCHEME.len()..]));
            }
        }
    }
    found
}

/// The text before an address, without what joins the two.
fn before(text: &str) -> &str {
    let mut from = text.len().saturating_sub(BEFORE_MAX);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let text = &text[from..];
    if text.ends_with('+') && !text.ends_with("\"sparse+") {
        return text;
    }
    let text = text.strip_suffix("sparse+").unwrap_or(text);
    text.trim_end_matches([' ', '\t', '"', '\'', '=', ':', '{', '['])
}

/// The host after the scheme. `None` if it has a user or another port, or is an IP address or a name without a dot.
fn host(text: &str) -> Option<String> {
    let ends = |c: char| {
        !(c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | ':' | '@' | '[' | ']' | '%' | '_' | '*' | '$'))
    };
    let authority = &text[..text.find(ends).unwrap_or(text.len())];
    let name = authority.strip_suffix(":443").unwrap_or(authority).to_ascii_lowercase();
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let labels: Vec<&str> = name.split('.').take(128).collect();
    // The last label of a name never begins with a digit, and that of an IP address always does.
    let is_name = labels.len() > 1 && labels.last()?.starts_with(|c: char| c.is_ascii_lowercase());
    (is_name && name.len() <= 253 && labels.into_iter().all(is_label)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(key: &[&str], files: &[(&str, &str)]) -> (Vec<String>, bool) {
        let files = ProjectFiles::new([], files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())));
        let key: Vec<String> = key.iter().map(|file| (*file).to_owned()).collect();
        let found = found(&key, &files, &files);
        (found.hosts.into_iter().collect(), found.is_named)
    }

    #[test]
    fn lock_files_and_settings_are_read_at_the_top_and_one_folder_down() {
        let paths =
            ["web/uv.lock", "uv.lock", ".cargo/config.toml", "docs/uv.lock", "a/b/uv.lock", "setup.py", ".npmrc"];
        assert_eq!(host_files(paths), [".npmrc", "uv.lock", ".cargo/config.toml", "web/uv.lock"]);
        let many: Vec<String> = (0..100).map(|n| format!("p{n}/uv.lock")).collect();
        assert_eq!(host_files(many.iter().map(String::as_str)).len(), FILES_MAX);
    }

    #[test]
    fn each_file_names_its_hosts() {
        for (file, text, hosts, is_named) in [
            (
                "package-lock.json",
                r#"{"funding": {"url": "https://fund.example.org"}, "resolved": "https://npm.example.org/a.tgz"}"#,
                "npm.example.org",
                true,
            ),
            (
                "package-lock.json",
                r#""a": {"resolved": "https://a.example.org/a.tgz"}, "b": {"resolved":"https://b.example.org/b"}"#,
                "a.example.org b.example.org",
                true,
            ),
            ("package-lock.json", r#"{"resolved": "git+ssh://git@git.example.org/a.git#1"}"#, "", false),
            ("yarn.lock", "  resolved \"https://yarn.example.org/a/-/a.tgz#1\"\n", "yarn.example.org", true),
            (
                "pnpm-lock.yaml",
                "    resolution: {tarball: https://code.example.org/a/tar.gz/1}\n",
                "code.example.org",
                false,
            ),
            (
                "bun.lock",
                r#"    "a": ["a@1.0.0", "https://npm.example.org/a.tgz", {}, "sha512-x"],"#,
                "npm.example.org",
                false,
            ),
            (
                "uv.lock",
                "source = { registry = \"https://index.example.org/simple\" }\nsdist = { url = \"https://files.example.org/a.tar.gz\" }\n",
                "files.example.org index.example.org",
                true,
            ),
            (
                "poetry.lock",
                "[package.source]\ntype = \"legacy\"\nurl = \"https://own.example.org/simple\"\n",
                "own.example.org",
                false,
            ),
            (
                "Cargo.lock",
                "source = \"registry+https://code.example.org/index\"\nsource = \"git+https://git.example.org/a?rev=1#1\"\n",
                "git.example.org",
                false,
            ),
            (
                "requirements.txt",
                "--index-url https://index.example.org/simple\n# -i https://old.example.org\nflask # see https://flask.example.org\n",
                "index.example.org",
                true,
            ),
        ] {
            let want: Vec<String> = hosts.split_whitespace().map(str::to_owned).collect();
            assert_eq!(of(&[file], &[(file, text)]), (want, is_named), "{file}");
        }
    }

    #[test]
    fn settings_beside_a_lock_file_name_the_registry() {
        let pyproject = "[project.urls]\nurl = \"https://home.example.org\"\n[[tool.poetry.source]]\nurl = \"https://index.example.org/simple/\"\n";
        for (key, file, text, host) in [
            (
                "pnpm-lock.yaml",
                ".npmrc",
                "@own:registry=https://npm.example.org/\n//npm.example.org/:_authToken=x\n",
                "npm.example.org",
            ),
            ("yarn.lock", ".yarnrc.yml", "npmRegistryServer: \"https://yarn.example.org\"\n", "yarn.example.org"),
            ("poetry.lock", "pyproject.toml", pyproject, "index.example.org"),
            (
                "uv.lock",
                "uv.toml",
                "[[index]]\nname = \"own\"\nurl = \"https://index.example.org/simple\"\n",
                "index.example.org",
            ),
            (
                "requirements.txt",
                "pip.conf",
                "[global]\nindex-url = https://index.example.org/simple\n",
                "index.example.org",
            ),
            (
                "Cargo.lock",
                ".cargo/config.toml",
                "[registries.own]\nindex = \"sparse+https://crates.example.org/index/\"\n",
                "crates.example.org",
            ),
            (
                "packages.lock.json",
                "nuget.config",
                "<add key=\"own\" value=\"https://nuget.example.org/v3/index.json\" />",
                "nuget.example.org",
            ),
        ] {
            assert_eq!(of(&[key], &[(key, ""), (file, text)]), (vec![host.to_owned()], true), "{file}");
        }
        let other =
            of(&["uv.lock"], &[("uv.lock", ""), ("package-lock.json", "\"resolved\": \"https://npm.example.org/\"")]);
        assert_eq!(other, (Vec::new(), false), "another program's file");
    }

    /// Attack corpus J130: a lock file that names something other than a public host, or writes into the proposal.
    #[test]
    fn what_is_no_plain_name_is_no_host() {
        for address in [
            "user@npm.example.org/",
            "user:key@npm.example.org/",
            "npm.example.org:22/",
            "127.0.0.1/",
            "0x7f.1/",
            "127.0x1/",
            "[::1]/",
            "localhost/",
            "2130706433/",
            "*.example.org/",
            "$(touch pwned).example.org/",
            "'$(id)'",
            "npm.example.org./",
            "-a.example.org/",
            "a..example.org/",
            "a_b.example.org/",
            "na\u{ef}ve.example.org/",
            "%6eame.example.org/",
            "",
            "/",
            ".",
        ] {
            let text = format!("\"resolved\": \"https://{address}\"\n");
            assert_eq!(
                of(&["package-lock.json"], &[("package-lock.json", &text)]).0,
                Vec::<String>::new(),
                "{address}"
            );
        }
        let (hosts, _) =
            of(&["package-lock.json"], &[("package-lock.json", "\"resolved\": \"https://NPM.Example.org:443/a\"")]);
        assert_eq!(hosts, ["npm.example.org"]);
    }

    /// Attack corpus I100: files that are made to take long, or to fill a proposal.
    #[test]
    fn hostile_files_are_cheap_and_name_little() {
        let many: String = (0..100_000).map(|n| format!("\"resolved\": \"https://h{n}.example.org/a\"\n")).collect();
        assert!(of(&["package-lock.json"], &[("package-lock.json", &many)]).0.len() <= SEEN_MAX);
        let one_line = "https://".repeat(2_000_000);
        assert_eq!(of(&["package-lock.json"], &[("package-lock.json", &one_line)]).0, Vec::<String>::new());
        let late = format!("{}\n\"resolved\": \"https://late.example.org/\"", "\u{e4}".repeat(TEXT_MAX));
        assert_eq!(of(&["package-lock.json"], &[("package-lock.json", &late)]).0, Vec::<String>::new());
        let labels = format!("\"resolved\": \"https://{}\"", "a.".repeat(1_000_000));
        assert_eq!(of(&["package-lock.json"], &[("package-lock.json", &labels)]).0, Vec::<String>::new());
    }
}
