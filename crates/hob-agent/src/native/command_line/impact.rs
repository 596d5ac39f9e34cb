//! The impact of a command line: it looks, changes the folder, or more.

use hob_config::Impact;

use crate::native::command_line::{CommandLine, Word, looks};

/// Programs that only look, with any arguments; those with options that write are handled separately.
const LOOKS: &[&str] = &[
    "ls",
    "cat",
    "head",
    "tail",
    "grep",
    "egrep",
    "fgrep",
    "rg",
    "ag",
    "fd",
    "find",
    "wc",
    "pwd",
    "echo",
    "printf",
    "true",
    "false",
    "test",
    "[",
    "[[",
    ":",
    "stat",
    "file",
    "du",
    "df",
    "tree",
    "which",
    "type",
    "date",
    "uname",
    "whoami",
    "id",
    "printenv",
    "sort",
    "uniq",
    "cut",
    "tr",
    "diff",
    "cmp",
    "basename",
    "dirname",
    "realpath",
    "readlink",
    "sleep",
    "seq",
    "cd",
    "jq",
    "nl",
    "column",
    "comm",
    "paste",
    "expr",
    "env",
    "command",
    "time",
    "timeout",
    "nice",
    "nohup",
    "xargs",
    "eval",
    "set",
    "export",
    "read",
    "for",
    "in",
    "exit",
    "return",
    "shift",
    "local",
    "sh",
    "bash",
    "dash",
    "zsh",
    "sed",
    "less",
    "more",
    "od",
    "xxd",
    "hexdump",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "ps",
    "nproc",
    "free",
];
/// Programs that delete, reach beyond the folder, or change the machine.
const REACHES: &[&str] = &[
    "rm",
    "shred",
    "dd",
    "mkfs",
    "kill",
    "pkill",
    "killall",
    "sudo",
    "su",
    "doas",
    "chown",
    "curl",
    "wget",
    "ssh",
    "scp",
    "sftp",
    "rsync",
    "ftp",
    "nc",
    "ncat",
    "telnet",
    "docker",
    "podman",
    "kubectl",
    "helm",
    "terraform",
    "aws",
    "gcloud",
    "az",
    "gh",
    "glab",
    "apt",
    "apt-get",
    "dnf",
    "yum",
    "apk",
    "brew",
    "pacman",
    "snap",
    "systemctl",
    "service",
    "crontab",
    "at",
    "mount",
    "umount",
    "reboot",
    "shutdown",
    "twine",
    "npx",
    "bunx",
];
/// Words of package managers and the like that reach beyond the folder, as a subcommand.
const REACHING_WORDS: &[&str] = &[
    "publish", "push", "pull", "fetch", "clone", "install", "add", "upload", "deploy", "login", "release", "upgrade",
    "update", "remote", "ci", "get",
];
/// Programs whose subcommand determines the impact.
const MANAGERS: &[&str] = &[
    "git", "npm", "pnpm", "yarn", "bun", "pip", "pip3", "uv", "poetry", "gem", "bundle", "cargo", "go", "mvn",
    "gradle", "dotnet", "composer",
];

/// The impact of `line`, as far as its text tells.
pub(in crate::native) fn impact(line: &CommandLine) -> Impact {
    if line.unclear {
        return Impact::High;
    }
    let commands = line.commands.iter().map(|command| impact_of(command));
    let targets = line.targets.iter().map(impact_of_target);
    commands.chain(targets).max().unwrap_or(Impact::Low)
}

/// The least impact of a program with these words, as far as the programs that it runs are known.
pub(in crate::native) fn known_impact_of_words(words: &[String]) -> Impact {
    let line = CommandLine::of_words(words);
    let known = line.commands.iter().filter_map(|command| known_impact_of(command)).max().unwrap_or(Impact::Low);
    if line.unclear { Impact::High } else { known }
}

fn impact_of_target(target: &Word) -> Impact {
    match target.text.as_str() {
        "/dev/null" | "/dev/stdout" | "/dev/stderr" => Impact::Low,
        text if !target.known || (text.starts_with('/') && !text.starts_with("/tmp/")) || text.contains("..") => {
            Impact::High
        }
        _ => Impact::Medium,
    }
}

fn impact_of(command: &[Word]) -> Impact {
    known_impact_of(command).unwrap_or(Impact::Medium)
}

/// The known impact of a command; `None` if its program is unknown.
fn known_impact_of(command: &[Word]) -> Option<Impact> {
    let Some((program, rest)) = command.split_first() else { return Some(Impact::Low) };
    if !program.known {
        return Some(Impact::High);
    }
    let name = program.text.as_str();
    let has = |options: &[&str]| rest.iter().any(|word| options.iter().any(|option| word.text.starts_with(option)));
    match name {
        "find" if has(&["-delete"]) => Some(Impact::High),
        "find" if has(&["-fprint", "-fls"]) => Some(Impact::Medium),
        "sed" if has(&["-i", "--in-place", "-s"]) => Some(Impact::Medium),
        "sort" if has(&["-o", "--output"]) => Some(Impact::Medium),
        "git" if looks::starts_or_writes(rest) => Some(Impact::High),
        "git" if looks::is_look_of_git(rest) => Some(Impact::Low),
        "npm" if looks::is_look_of_npm(rest) => Some(Impact::Low),
        "docker" if looks::is_look_of_docker(rest) => Some(Impact::Low),
        _ if MANAGERS.contains(&name) => match rest.iter().any(|word| REACHING_WORDS.contains(&word.text.as_str())) {
            true => Some(Impact::High),
            false if matches!(name, "git" | "npm") => Some(Impact::Medium),
            false => None,
        },
        _ if REACHES.contains(&name) => Some(Impact::High),
        _ if LOOKS.contains(&name) => Some(Impact::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_program_that_is_not_known_nothing_is_said() {
        for (words, expected) in [
            ("tickets show 17", Impact::Low),
            ("cargo metadata", Impact::Low),
            ("find . -fprint x", Impact::Medium),
            ("git commit -m x", Impact::Medium),
            ("find . -exec rm {} +", Impact::High),
        ] {
            let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
            assert_eq!(known_impact_of_words(&words), expected, "{words:?}");
        }
    }

    #[test]
    fn a_line_is_as_dangerous_as_its_worst_command() {
        for (line, expected) in [
            ("ls -la | head -3", Impact::Low),
            ("git status && git diff HEAD~1", Impact::Low),
            ("grep -rn x . 2>/dev/null", Impact::Low),
            ("sh -c 'cat a'", Impact::Low),
            ("git --no-optional-locks status", Impact::Low),
            ("git branch --list -a -v --sort=-committerdate 'x*'", Impact::Low),
            ("git diff --text -- --output", Impact::Low),
            ("git grep -nO 'x y'", Impact::High),
            ("npm ls --all --depth 2", Impact::Low),
            ("npm view @acme/a@^1.2 versions --json", Impact::Low),
            ("docker logs --tail 9 web", Impact::Low),
            ("cargo test", Impact::Medium),
            ("echo x > a", Impact::Medium),
            ("sed -i s/a/b/ x", Impact::Medium),
            ("mkdir x", Impact::Medium),
            ("git commit -m x", Impact::Medium),
            ("./build.sh", Impact::Medium),
            ("git branch x", Impact::Medium),
            ("git branch --list -f x", Impact::Medium),
            ("git log --output=x", Impact::High),
            ("git blame --output=.git/hooks/x a", Impact::High),
            ("git show --output x", Impact::High),
            ("git rev-list --output=x HEAD", Impact::High),
            ("git diff --ext-diff", Impact::High),
            ("git log --ext -p", Impact::High),
            ("git show --textconv", Impact::High),
            ("git grep --open-files-in-pager=./x y", Impact::High),
            ("git grep --op=./x y", Impact::High),
            ("git grep -O./x y", Impact::High),
            ("git grep -inO./x y", Impact::High),
            ("git cat-file --filters HEAD:a", Impact::High),
            ("git -p log", Impact::High),
            ("git --exec-path=. log", Impact::High),
            ("git -c core.pager=./x log", Impact::Medium),
            ("npm ls --script-shell=./x", Impact::Medium),
            ("npm view --git=./x git+https://example.org/a", Impact::Medium),
            ("npm view user/repository", Impact::Medium),
            ("npm view ./folder", Impact::Medium),
            ("docker run x", Impact::High),
            ("docker --host x ps", Impact::High),
            ("rm x", Impact::High),
            ("find . -delete", Impact::High),
            ("find . -exec rm {} +", Impact::High),
            ("curl https://example.org", Impact::High),
            ("npm install", Impact::High),
            ("git push", Impact::High),
            ("$X y", Impact::High),
            ("echo x > /etc/passwd", Impact::High),
            ("echo x > $Y", Impact::High),
            ("echo 'open", Impact::High),
            ("sudo ls", Impact::High),
        ] {
            assert_eq!(impact(&CommandLine::parse(line)), expected, "{line}");
        }
    }
}
