//! The description of its folder that a model gets at the start: a short tree, the languages, the programs that build
//! them, and the repository's notes for agents.
//!
//! Guarantees: it is made from at most [`FILES_MAX`] names.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    path::Path,
};

use futures_util::future::join_all;
use hob_process::{fault_at_start, has_program};
use hob_sandbox::{Sandbox, Tier};
use hob_text::count;

use crate::{
    confined::Confined,
    egress::is_closed,
    folder::{Folder, Found, Kind, walk},
    native::notes::notes,
};

/// Files that are counted; of a larger folder the first of them.
const FILES_MAX: usize = 20_000;
/// Lines of the tree, and names in one of them.
const LINES_MAX: usize = 40;
const NAMES_MAX: usize = 8;
/// Files by which a way to build is known, and the programs that it may need.
const BUILDS: [(&str, &[&str]); 14] = [
    ("Cargo.toml", &["cargo"]),
    ("package.json", &["node", "npm", "pnpm", "yarn", "bun"]),
    ("pyproject.toml", &["python3", "uv", "pytest"]),
    ("setup.py", &["python3", "pytest"]),
    ("requirements.txt", &["python3", "pytest"]),
    ("go.mod", &["go"]),
    ("Makefile", &["make"]),
    ("CMakeLists.txt", &["cmake", "c++"]),
    ("pom.xml", &["mvn", "java"]),
    ("build.gradle", &["gradle", "java"]),
    ("Gemfile", &["ruby", "bundle"]),
    ("composer.json", &["php", "composer"]),
    ("mix.exs", &["mix"]),
    ("deno.json", &["deno"]),
];

/// The description of the folder that follows the task.
pub(super) async fn surroundings(folder: &Folder, confined: &Confined, task: &str) -> String {
    let (folder, task) = (folder.clone(), task.to_owned());
    // On another thread, because it reads a disk; what fails is left out.
    let told = tokio::task::spawn_blocking(move || told(&folder, &task)).await.unwrap_or_default();
    let programs = programs(told.programs, confined).await;
    [told.tree, programs, told.notes].concat()
}

/// What the sandbox lets commands do.
pub(super) fn sandbox_note(sandbox: &Sandbox, hosts: &[String]) -> String {
    let servers = match (is_closed(sandbox), hosts) {
        (false, _) => "servers can be reached".to_owned(),
        (true, []) => "no server can be reached, so what is missing cannot be installed from one".to_owned(),
        (true, hosts) => format!("only these servers can be reached: {}", hosts.join(", ")),
    };
    let files = match (sandbox.root(), sandbox.tier()) {
        (Some(_), _) => "; the files are those of the task's image, which they may change",
        (None, Tier::None) => "",
        (None, Tier::Box | Tier::Fence) => {
            "; write only to the folder, to `$HOME` and to `$TMPDIR`; programs outside, and their sockets, are out of reach"
        }
    };
    format!("[Hob] In commands {servers}{files}.")
}

/// The parts of a folder's description.
#[derive(Default)]
struct Told {
    tree: String,
    /// The programs that it may need.
    programs: BTreeSet<&'static str>,
    notes: String,
}

fn told(folder: &Folder, task: &str) -> Told {
    let names = names(folder);
    let files: Vec<&str> = names.iter().filter(|name| name.kind == Kind::File).map(|name| name.path.as_str()).collect();
    if files.is_empty() {
        return Told { tree: "[Hob] The folder is empty.".to_owned(), ..Told::default() };
    }
    let mut text = format!("[Hob] The folder has {}", count(files.len(), "file"));
    if files.len() == FILES_MAX {
        text.push_str(" or more");
    }
    text.push_str(&format!(": {}.\n{}", languages(&files), tree(&files)));
    let all: Vec<&str> = names.iter().map(|name| name.path.as_str()).collect();
    Told { tree: text, programs: wanted(&files), notes: notes(folder, &all, task) }
}

/// The names of files and links.
fn names(folder: &Folder) -> Vec<Found> {
    let Ok(start) = folder.inside(".") else { return Vec::new() };
    let Ok(found) = walk(folder, &start, None) else { return Vec::new() };
    found.filter(|found| found.kind != Kind::Folder).take(FILES_MAX).collect()
}

/// The kinds of files that there are most of, by their endings.
fn languages(files: &[&str]) -> String {
    let mut endings: BTreeMap<&str, usize> = BTreeMap::new();
    for file in files {
        let ending = Path::new(file).extension().and_then(OsStr::to_str).unwrap_or("no ending");
        *endings.entry(ending).or_default() += 1;
    }
    let mut most: Vec<(&str, usize)> = endings.into_iter().collect();
    most.sort_by_key(|(ending, number)| (std::cmp::Reverse(*number), *ending));
    most.iter().take(6).map(|(ending, number)| format!("{number} {ending}")).collect::<Vec<_>>().join(", ")
}

/// One line for each folder at the top, with its content, and one for the files there.
fn tree(files: &[&str]) -> String {
    let mut folders: BTreeMap<&str, BTreeMap<String, usize>> = BTreeMap::new();
    for file in files {
        let (top, rest) = file.split_once('/').unwrap_or(("", file));
        let name = rest.split_once('/').map_or_else(|| rest.to_owned(), |(name, _)| format!("{name}/"));
        *folders.entry(top).or_default().entry(name).or_default() += 1;
    }
    let left_out = folders.len().saturating_sub(LINES_MAX);
    let mut text = String::new();
    for (top, names) in folders.into_iter().take(LINES_MAX) {
        let mut most: Vec<(String, usize)> = names.into_iter().collect();
        let (all, kinds): (usize, usize) = (most.iter().map(|(_, number)| number).sum(), most.len());
        most.sort_by(|(a, one), (b, other)| other.cmp(one).then_with(|| a.cmp(b)));
        let shown =
            |(name, number): &(String, usize)| if *number > 1 { format!("{name} {number}") } else { name.clone() };
        let names: Vec<String> = most.iter().take(NAMES_MAX).map(shown).collect();
        let more = if kinds > NAMES_MAX { ", …" } else { "" };
        let place = if top.is_empty() { "./".to_owned() } else { format!("{top}/ ({all})") };
        text.push_str(&format!("{place}: {}{more}\n", names.join(", ")));
    }
    if left_out > 0 {
        text.push_str(&format!("and {}\n", count(left_out, "more folder")));
    }
    text
}

/// The programs for the ways to build that are known.
fn wanted(files: &[&str]) -> BTreeSet<&'static str> {
    let is_there = |name: &str| files.iter().any(|file| *file == name || file.ends_with(&format!("/{name}")));
    BUILDS.iter().filter(|(file, _)| is_there(file)).flat_map(|(_, programs)| programs.iter().copied()).collect()
}

/// The installed ones that start.
async fn programs(wanted: BTreeSet<&'static str>, confined: &Confined) -> String {
    let Confined { plan, environment } = confined;
    let is_there = |program: &&str| has_program(plan, environment, program);
    let (there, mut missing): (Vec<_>, Vec<_>) = wanted.into_iter().partition(is_there);
    let faults = join_all(there.iter().map(|program| fault_at_start(plan, environment, program))).await;
    let mut found = Vec::new();
    for (program, fault) in there.into_iter().zip(faults) {
        if fault.is_none() { found.push(program) } else { missing.push(program) }
    }
    let mut text = String::new();
    for (says, names) in [("Programs for it that are there", found), ("that are not", missing)] {
        if !names.is_empty() {
            text.push_str(&format!("{says}: {}. ", names.join(", ")));
        }
    }
    if text.is_empty() { text } else { format!("{}\n", text.trim_end()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn told_of(files: &[(&str, &str)], task: &str) -> String {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let folder = Folder::open(dir.path()).unwrap();
        let environment = [("PATH".into(), "/usr/bin:/bin".into())].into();
        let confined = Confined { plan: hob_sandbox::Sandbox::none().plan(), environment };
        surroundings(&folder, &confined, task).await
    }

    #[tokio::test]
    async fn a_program_that_does_not_start_is_not_there() {
        let dir = tempfile::tempdir().unwrap();
        let go = dir.path().join("go");
        std::fs::write(&go, "#!/bin/sh\necho no SDK >&2; exit 127\n").unwrap();
        std::fs::set_permissions(go, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        // A script that was written just now may be "busy", and not start, for as long as another test's child has it open.
        std::os::unix::fs::symlink("/bin/true", dir.path().join("make")).unwrap();
        let environment = [("PATH".into(), dir.path().into())].into();
        let confined = Confined { plan: hob_sandbox::Sandbox::none().plan(), environment };
        let said = programs(BTreeSet::from(["go", "make", "npm"]), &confined).await;
        assert_eq!(said, "Programs for it that are there: make. that are not: npm, go.\n");
    }

    #[tokio::test]
    async fn the_folder_is_told_in_a_few_lines() {
        let files = [
            ("Makefile", ""),
            ("go.mod", ""),
            ("src/a.go", ""),
            ("src/b.go", ""),
            ("src/deep/er/c.go", ""),
            ("docs/x.md", ""),
        ];
        let text = told_of(&files, "").await;
        assert!(
            text.starts_with(
                "[Hob] The folder has 6 files: 3 go, 1 md, 1 mod, 1 no ending.\n./: Makefile, go.mod\ndocs/ (1): x.md\nsrc/ (3): a.go, \
                 b.go, deep/\n"
            ),
            "{text}"
        );
        assert!(text.contains("make") && text.contains("go"), "{text}");
        assert_eq!(told_of(&[], "").await, "[Hob] The folder is empty.");
    }
}
