//! Files that run programs without being asked, or choose which are run: installing, building, committing, or entering
//! or opening a checkout runs what they name or contain. They are allowed, but a reviewer should look at them first.
//!
//! # Caveats
//! Files that are run on purpose, such as scripts, tests or Makefiles, are not included: that is all of the work.

use crate::Diff;

/// Names of such files, in lower case, in any folder.
const FILES: [&str; 48] = [
    // What a build, an installation or an interpreter runs before anything else.
    "binding.gyp",
    "build.rs",
    "package.json",
    "pyproject.toml",
    "rust-toolchain",
    "rust-toolchain.toml",
    "setup.cfg",
    "setup.py",
    "sitecustomize.py",
    // Which programs and packages are fetched, and from where.
    "bun.lock",
    "bun.lockb",
    "cargo.lock",
    "composer.lock",
    "flake.lock",
    "gemfile.lock",
    "go.sum",
    "gradle.lockfile",
    "gradle-wrapper.properties",
    "mix.lock",
    "npm-shrinkwrap.json",
    "package-lock.json",
    "package.resolved",
    "packages.lock.json",
    "pip.conf",
    "pipfile.lock",
    "pnpm-lock.yaml",
    "podfile.lock",
    "poetry.lock",
    "pubspec.lock",
    "uv.lock",
    "yarn.lock",
    ".npmrc",
    ".pnpmfile.cjs",
    ".yarnrc",
    ".yarnrc.yml",
    // What a shell, git, an editor or an agent runs in the folder.
    ".aider.conf.yml",
    ".bazelrc",
    ".envrc",
    ".lefthook.yml",
    ".mcp.json",
    ".mise.toml",
    ".pre-commit-config.yaml",
    ".tool-versions",
    "lefthook.yml",
    "opencode.json",
    "opencode.jsonc",
    // Who reviews, and what comes by itself.
    "codeowners",
    "dependabot.yml",
];

/// Names of folders in which all files are such files.
const FOLDERS: [&str; 13] = [
    ".cargo",
    ".claude",
    ".cursor",
    ".devcontainer",
    ".gemini",
    ".githooks",
    ".husky",
    ".idea",
    ".mvn",
    ".opencode",
    ".pi",
    ".vscode",
    ".yarn",
];

/// The paths of a diff that run programs unasked, in its order.
pub fn run_unasked(diff: &Diff) -> Vec<&str> {
    diff.files.iter().map(|file| file.path.as_str()).filter(|path| is_unasked(path)).collect()
}

fn is_unasked(path: &str) -> bool {
    let path = path.to_lowercase();
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", &path));
    let is_list = name.starts_with("requirements") && name.ends_with(".txt");
    is_list
        || FILES.contains(&name)
        || name.ends_with(".pth")
        || folders.split('/').any(|folder| FOLDERS.contains(&folder))
        || path.starts_with(".github/actions/")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Attack corpus D45.
    #[test]
    fn what_runs_by_itself_is_found_in_any_folder_and_any_case() {
        for path in [
            "package.json",
            "web/package-lock.json",
            "crates/a/build.rs",
            "Cargo.lock",
            ".husky/pre-commit",
            "sub/.ENVRC",
            ".vscode/tasks.json",
            ".github/actions/build/action.yml",
            ".github/CODEOWNERS",
            ".claude/hooks/deep/run.sh",
            "requirements-dev.txt",
            "Build.RS",
        ] {
            assert!(is_unasked(path), "{path}");
        }
        for path in
            ["src/main.rs", "Cargo.toml", "docs/package.json.md", "rebuild.rs", "husky/pre-commit", ".github/x.md"]
        {
            assert!(!is_unasked(path), "{path}");
        }
    }
}
