//! Finds the programs in the home and the folders that belong to them: a child that may run a program may read these,
//! too.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::{OsStr, OsString},
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// Toolchains in the home, each with the variable that leads to it, so that a child with a home of its own finds them.
const TOOLCHAINS: [(&str, Option<&str>); 27] = [
    (".asdf", Some("ASDF_DATA_DIR")),
    (".bun/bin", None),
    (".cargo/bin", None),
    (".deno/bin", None),
    (".dotnet", Some("DOTNET_ROOT")),
    (".fnm", None),
    (".ghcup", None),
    (".goenv", Some("GOENV_ROOT")),
    (".jenv", Some("JENV_ROOT")),
    (".juliaup", None),
    (".local/bin", None),
    (".local/lib", None),
    (".local/share/fnm", Some("FNM_DIR")),
    (".local/share/mise", Some("MISE_DATA_DIR")),
    (".local/share/pnpm", Some("PNPM_HOME")),
    (".local/share/uv/python", Some("UV_PYTHON_INSTALL_DIR")),
    (".local/share/uv/tools", Some("UV_TOOL_DIR")),
    (".nodenv", Some("NODENV_ROOT")),
    (".nvm", Some("NVM_DIR")),
    (".opam", Some("OPAMROOT")),
    (".phpenv", Some("PHPENV_ROOT")),
    (".pyenv", Some("PYENV_ROOT")),
    (".rbenv", Some("RBENV_ROOT")),
    (".rustup", Some("RUSTUP_HOME")),
    (".rvm", None),
    (".sdkman", Some("SDKMAN_DIR")),
    (".volta", Some("VOLTA_HOME")),
];

/// What only a language's folder contains: conda, a virtual environment, Homebrew, Go, a JDK, and what node, Python,
/// Ruby, Rust and Perl put beside `bin` and `lib`.
const OF_A_LANGUAGE: [&str; 10] = [
    "conda-meta",
    "pyvenv.cfg",
    "Cellar",
    "pkg/tool",
    "lib/modules",
    "lib/jvm.cfg",
    "lib/node_modules",
    "lib/ruby",
    "lib/rustlib",
    "lib/perl5",
];
/// The prefix of its folder in `lib` if that has a version in its name.
const WITH_VERSION: &str = "python3";
/// Folders of the system's own programs, which every child reads.
const OF_THE_SYSTEM: [&str; 5] = ["/usr", "/bin", "/sbin", "/lib", "/nix/store"];
/// The most links in a folder that are followed: Homebrew has one for each program.
const LINKS: usize = 10_000;

/// The folders of programs and toolchains apart from the system's: those that the environment's `PATH` and variables
/// name, and those that the programs there belong to. A child may read them.
pub fn toolchain_folders(environment: &BTreeMap<OsString, OsString>) -> Vec<PathBuf> {
    let home = environment.get(OsStr::new("HOME"));
    let named = toolchain_variables().filter_map(|variable| environment.get(OsStr::new(variable)));
    let path: Vec<_> = environment.get(OsStr::new("PATH")).into_iter().flat_map(std::env::split_paths).collect();
    let found = toolchains(home).map(|(folder, _)| folder).chain(named.map(PathBuf::from));
    let belonging = path.iter().flat_map(|folder| belonging(folder));
    // Never the home or the whole disk, even if a path names it.
    let home = home.map(Path::new);
    let narrow = |folder: &PathBuf| {
        folder.is_absolute() && folder.parent().is_some() && home.is_none_or(|home| !home.starts_with(folder))
    };
    let all: BTreeSet<_> = found.chain(belonging).chain(path.iter().cloned()).filter(narrow).collect();
    all.into_iter().collect()
}

/// The variables that lead to toolchains.
pub(crate) fn toolchain_variables() -> impl Iterator<Item = &'static str> {
    TOOLCHAINS.into_iter().filter_map(|(_, variable)| variable)
}

/// The toolchains that exist in the home.
pub(crate) fn toolchains(home: Option<&OsString>) -> impl Iterator<Item = (PathBuf, Option<&'static str>)> {
    let home = home.map(PathBuf::from);
    let below =
        TOOLCHAINS.into_iter().filter_map(move |(folder, variable)| Some((home.as_ref()?.join(folder), variable)));
    below.filter(|(folder, _)| folder.is_dir())
}

/// What the programs in a folder on the `PATH` belong to: the language whose `bin` it is, with links resolved, and the
/// languages that the programs there are links to.
fn belonging(folder: &Path) -> BTreeSet<PathBuf> {
    let is_of_the_system = |path: &Path| OF_THE_SYSTEM.iter().any(|system| path.starts_with(system));
    let Ok(real) = folder.canonicalize() else { return BTreeSet::new() };
    if is_of_the_system(&real) {
        return BTreeSet::new();
    }
    let entries = fs::read_dir(&real).into_iter().flatten().flatten();
    let links = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink())).take(LINKS);
    let files: BTreeSet<_> = links.filter_map(|link| link.path().canonicalize().ok()).collect();
    let mut found: BTreeSet<_> = language_of(&real).into_iter().collect();
    // Each program there is a script that starts its manager, which is beside.
    if real.ends_with("shims") {
        found.extend(real.parent().map(Path::to_owned));
    }
    let is_program = |file: &Path| fs::metadata(file).is_ok_and(|found| found.is_file() && found.mode() & 0o111 != 0);
    for file in files.iter().filter(|file| is_program(file) && !file.starts_with(&real) && !is_of_the_system(file)) {
        found.insert(file.parent().and_then(language_of).unwrap_or_else(|| file.clone()));
    }
    // The base of each virtual environment.
    found.extend(found.clone().iter().filter_map(|folder| made_of(folder)));
    found.insert(real);
    found.retain(|path| !is_of_the_system(path));
    found
}

/// The language whose programs are in `folder`.
fn language_of(folder: &Path) -> Option<PathBuf> {
    let outer = folder.parent()?;
    let has_library = || {
        let names = fs::read_dir(outer.join("lib")).into_iter().flatten().flatten();
        names
            .map(|entry| entry.file_name())
            .any(|name| name.to_str().is_some_and(|name| name.starts_with(WITH_VERSION)))
    };
    // `.local` has the keys of programs beside its `lib`.
    let is_one = outer.file_name() != Some(OsStr::new(".local"))
        && (OF_A_LANGUAGE.iter().any(|name| outer.join(name).exists()) || has_library());
    is_one.then(|| outer.to_owned())
}

/// The language that a virtual environment is based on, according to its `pyvenv.cfg`.
fn made_of(folder: &Path) -> Option<PathBuf> {
    let said = fs::read_to_string(folder.join("pyvenv.cfg")).ok()?;
    let home = said.lines().find_map(|line| line.split_once('=').filter(|(key, _)| key.trim() == "home"))?.1.trim();
    let programs = Path::new(home).canonicalize().ok()?;
    language_of(&programs).or(Some(programs))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// A home with these files and links, `name -> target`; its toolchain folders with this `PATH`, below the home.
    fn folders(entries: &[&str], path: &[&str]) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap().join("ann");
        for entry in entries {
            let (name, target) = entry.split_once(" -> ").map_or((*entry, None), |(name, target)| (name, Some(target)));
            let file = home.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            match target {
                Some(target) => symlink(home.join(target), file).unwrap(),
                None => {
                    fs::write(&file, format!("home = {}/python/bin\n", home.display())).unwrap();
                    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
                }
            }
        }
        let path = std::env::join_paths(path.iter().map(|folder| home.join(folder))).unwrap();
        let environment = BTreeMap::from([("HOME".into(), home.clone().into()), ("PATH".into(), path)]);
        let shown = |folder: PathBuf| folder.strip_prefix(&home).unwrap().display().to_string();
        toolchain_folders(&environment).into_iter().map(shown).collect()
    }

    #[test]
    fn what_a_program_on_the_path_belongs_to_can_be_read() {
        for (manager, entries, path, all) in [
            (
                "uv",
                &[
                    ".local/bin/python3.12 -> .local/share/uv/python/c312/bin/python3.12",
                    ".local/share/uv/python/c312/bin/python3.12",
                    ".local/share/uv/python/c312/lib/python3.12/os.py",
                ][..],
                &[".local/bin"][..],
                &[".local/bin", ".local/share/uv/python", ".local/share/uv/python/c312"][..],
            ),
            (
                "fnm",
                &[
                    "run/fnm/1 -> fnm/v20/installation",
                    "fnm/v20/installation/bin/node",
                    "fnm/v20/installation/lib/node_modules/npm/x",
                ],
                &["run/fnm/1/bin"],
                &["fnm/v20/installation", "fnm/v20/installation/bin", "run/fnm/1/bin"],
            ),
            (
                "nvm",
                &[".nvm/versions/node/v20/bin/node"],
                &[".nvm/versions/node/v20/bin"],
                &[".nvm", ".nvm/versions/node/v20/bin"],
            ),
            (
                "pyenv of the machine",
                &["opt/pyenv/shims/python3", "opt/pyenv/libexec/pyenv"],
                &["opt/pyenv/shims"],
                &["opt/pyenv", "opt/pyenv/shims"],
            ),
            (
                "conda",
                &["miniforge3/bin/python", "miniforge3/conda-meta/history"],
                &["miniforge3/bin"],
                &["miniforge3", "miniforge3/bin"],
            ),
            (
                "Homebrew",
                &["brew/bin/jq -> brew/Cellar/jq/1.7/bin/jq", "brew/Cellar/jq/1.7/bin/jq"],
                &["brew/bin"],
                &["brew", "brew/Cellar/jq/1.7/bin/jq", "brew/bin"],
            ),
            (
                "Go's SDK",
                &["sdk/go1.24/bin/go", "sdk/go1.24/pkg/tool/vet", "go/bin/gopls", "sdk/key"],
                &["sdk/go1.24/bin", "go/bin"],
                &["go/bin", "sdk/go1.24", "sdk/go1.24/bin"],
            ),
            ("a JDK", &["jdk/bin/java", "jdk/lib/modules"], &["jdk/bin"], &["jdk", "jdk/bin"]),
            (
                "a virtual environment",
                &["venv/bin/pytest", "venv/pyvenv.cfg", "python/bin/python3", "python/lib/python3.12/os.py"],
                &["venv/bin"],
                &["python", "venv", "venv/bin"],
            ),
            ("volta", &[".volta/bin/node"], &[".volta/bin"], &[".volta", ".volta/bin"]),
            (
                "a link to a program alone",
                &["bin/tool -> apps/tool/run", "apps/tool/run", "apps/tool/key"],
                &["bin"],
                &["apps/tool/run", "bin"],
            ),
            // Files beside a folder of programs may be secrets.
            ("cargo", &[".cargo/bin/cargo", ".cargo/credentials.toml"], &[".cargo/bin"], &[".cargo/bin"]),
            ("docker", &[".docker/bin/docker", ".docker/config.json"], &[".docker/bin"], &[".docker/bin"]),
            (
                "pip",
                &[".local/bin/pytest", ".local/lib/python3.12/x", ".local/share/keyrings/key"],
                &[".local/bin"],
                &[".local/bin", ".local/lib"],
            ),
            ("the home", &["lib/python3.12/x", ".ssh/id"], &["", "bin"], &["bin"]),
        ] {
            assert_eq!(folders(entries, path), all, "{manager}");
        }
    }
}
