//! Files that run programs without being asked, or choose which are run: installing, building, committing, deploying, or
//! entering or opening a checkout runs what they name or contain, and agents follow them. They are allowed, but a reviewer
//! should look at them first. What a service runs before anybody can look is in [`run_at_push`](super::run_at_push).
//!
//! # Caveats
//! Files that are run on purpose, such as scripts, tests or Makefiles, are not included: that is all of the work.

use crate::Diff;

/// Names of such files, in lower case, in any folder.
const FILES: [&str; 142] = [
    // What a build, an installation, a test or an interpreter runs before anything else.
    "action.yaml",
    "action.yml",
    "binding.gyp",
    "build.rs",
    "composer.json",
    "deno.json",
    "deno.jsonc",
    "directory.build.props",
    "directory.build.targets",
    "gemfile",
    "package.json",
    "package.swift",
    "podfile",
    "pyproject.toml",
    "rust-toolchain",
    "rust-toolchain.toml",
    "setup.cfg",
    "setup.py",
    "sitecustomize.py",
    // Wrappers, which fetch and run a program.
    "gradlew",
    "gradlew.bat",
    "gradle-wrapper.jar",
    "gradle-wrapper.properties",
    "mvnw",
    "mvnw.cmd",
    // Which programs and packages are fetched, and from where.
    "bun.lock",
    "bun.lockb",
    "bunfig.toml",
    "cargo.lock",
    "composer.lock",
    "deno.lock",
    "flake.lock",
    "gemfile.lock",
    "go.sum",
    "gradle.lockfile",
    "gradle.properties",
    "mix.lock",
    "npm-shrinkwrap.json",
    "nuget.config",
    "package-lock.json",
    "package.resolved",
    "packages.lock.json",
    "pip.conf",
    "pip.ini",
    "pipfile.lock",
    "pnpm-lock.yaml",
    "pnpm-workspace.yaml",
    "podfile.lock",
    "poetry.lock",
    "poetry.toml",
    "pubspec.lock",
    "uv.lock",
    "uv.toml",
    "yarn.lock",
    ".condarc",
    ".gemrc",
    ".npmrc",
    ".pnpmfile.cjs",
    ".pypirc",
    ".yarnrc",
    ".yarnrc.yml",
    // What a shell, git, its hooks, an editor or an agent runs in the folder.
    ".aider.conf.yml",
    ".bazelrc",
    ".captainhook.json",
    ".dir-locals.el",
    ".envrc",
    ".exrc",
    ".gitattributes",
    ".huskyrc",
    ".lefthook.yml",
    ".lefthook.yaml",
    ".lefthook.toml",
    ".lefthook.json",
    ".lintstagedrc",
    ".mcp.json",
    ".mise.toml",
    ".nvim.lua",
    ".nvimrc",
    ".overcommit.yml",
    ".pre-commit-config.yaml",
    ".pre-commit-config.yml",
    ".simple-git-hooks.json",
    ".tool-versions",
    ".vimrc",
    "captainhook.json",
    "default.nix",
    "devbox.json",
    "flake.nix",
    "lefthook.yml",
    "lefthook.yaml",
    "lefthook.toml",
    "lefthook.json",
    "lefthook-local.yml",
    "mise.toml",
    "opencode.json",
    "opencode.jsonc",
    "shell.nix",
    // What tells agents how to work.
    ".clinerules",
    ".cursorrules",
    ".goosehints",
    ".roomodes",
    ".rules",
    ".windsurfrules",
    "agents.md",
    "agents.override.md",
    "claude.local.md",
    "claude.md",
    "copilot-instructions.md",
    "gemini.md",
    // What is built or deployed from it, and a checkout that opens elsewhere.
    ".devcontainer.json",
    ".gitpod.yml",
    ".readthedocs.yaml",
    ".readthedocs.yml",
    ".replit",
    ".terraform.lock.hcl",
    "ansible.cfg",
    "compose.yaml",
    "compose.yml",
    "containerfile",
    "docker-compose.yaml",
    "docker-compose.yml",
    "dockerfile",
    "fly.toml",
    "helmfile.yaml",
    "kustomization.yaml",
    "kustomization.yml",
    "procfile",
    "pulumi.yaml",
    "readthedocs.yaml",
    "readthedocs.yml",
    "serverless.yml",
    "skaffold.yaml",
    "terragrunt.hcl",
    "vagrantfile",
    // Who reviews, and what comes by itself.
    ".mergify.yml",
    ".renovaterc",
    ".renovaterc.json",
    "codeowners",
    "dependabot.yml",
    "dependabot.yaml",
    "renovate.json",
    "renovate.json5",
];

/// How names of such files end.
const ENDINGS: [&str; 6] = [".pth", ".code-workspace", ".gemspec", ".tf", ".tf.json", ".dockerfile"];

/// Names of folders in which all files are such files.
const FOLDERS: [&str; 28] = [
    ".agents",
    ".amazonq",
    ".bundle",
    ".cargo",
    ".claude",
    ".clinerules",
    ".codesandbox",
    ".codex",
    ".continue",
    ".cursor",
    ".devcontainer",
    ".fleet",
    ".gemini",
    ".git-hooks",
    ".githooks",
    ".husky",
    ".idea",
    ".junie",
    ".kiro",
    ".mvn",
    ".opencode",
    ".openhands",
    ".pi",
    ".roo",
    ".vscode",
    ".windsurf",
    ".yarn",
    ".zed",
];

/// Folders at the top of the repository in which all files are such files: profiles and instructions of agents.
const AT_TOP: [&str; 5] =
    [".github/agents/", ".github/instructions/", ".github/prompts/", ".github/chatmodes/", ".github/skills/"];

/// Folders that are known by two names.
const WRAPPERS: [&str; 1] = ["/gradle/wrapper/"];

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
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
        || ["dockerfile.", ".lintstagedrc."].iter().any(|start| name.starts_with(start))
        // A link in the place of a folder brings all its files in.
        || folders.split('/').chain([name]).any(|folder| FOLDERS.contains(&folder))
        || AT_TOP.iter().any(|folder| path.starts_with(folder))
        || WRAPPERS.iter().any(|folder| format!("/{path}").contains(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Attack corpus D45, K143.
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
            "sub/action.yml",
            ".github/agents/code.md",
            ".github/copilot-instructions.md",
            ".github/prompts/x.prompt.md",
            "AGENTS.md",
            "sub/CLAUDE.md",
            ".cursorrules",
            ".gitattributes",
            "gradlew",
            "gradle/wrapper/x.jar",
            "Gemfile",
            "composer.json",
            "renovate.json",
            "deploy/Dockerfile.web",
            "infra/main.tf",
            ".codex",
            ".github/CODEOWNERS",
            ".claude/hooks/deep/run.sh",
            "requirements-dev.txt",
            "Build.RS",
        ] {
            assert!(is_unasked(path), "{path}");
        }
        for path in [
            "src/main.rs",
            "Cargo.toml",
            "docs/package.json.md",
            "rebuild.rs",
            "husky/pre-commit",
            ".github/x.md",
            "docs/agents.md.txt",
            "my-agents.md",
            "claude/x.md",
            "gitattributes",
            "src/gradle/wrap.rs",
            "src/actions.yml",
            "dockerfiles.md",
            "test_conftest.py",
            "main.tfvars.md",
        ] {
            assert!(!is_unasked(path), "{path}");
        }
    }

    #[test]
    fn the_page_has_every_name() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/design/run-elsewhere.md");
        let page = std::fs::read_to_string(page).unwrap();
        let folders = FOLDERS.map(|folder| format!("{folder}/"));
        let names = FILES.iter().chain(&ENDINGS).chain(&AT_TOP).copied().chain(folders.iter().map(String::as_str));
        for name in names {
            assert!(page.contains(&format!("`{name}`")), "{name}");
        }
    }
}
