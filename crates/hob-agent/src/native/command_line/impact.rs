//! What a command line may do: look, change the folder, or more.

use hob_config::Impact;

use crate::native::command_line::{CommandLine, Word};

/// Programs that only look, whatever they are told; those that may write by an option are handled by it.
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
/// Subcommands of git that only look.
const GIT_LOOKS: &[&str] = &[
    "status",
    "diff",
    "log",
    "show",
    "blame",
    "grep",
    "ls-files",
    "ls-tree",
    "rev-parse",
    "describe",
    "shortlog",
    "cat-file",
    "rev-list",
    "name-rev",
    "help",
    "version",
];
/// Words of package managers and the like that reach beyond the folder, as a subcommand.
const REACHING_WORDS: &[&str] = &[
    "publish", "push", "pull", "fetch", "clone", "install", "add", "upload", "deploy", "login", "release", "upgrade",
    "update", "remote", "ci", "get",
];
/// Programs whose subcommand says whether they reach.
const MANAGERS: &[&str] = &[
    "git", "npm", "pnpm", "yarn", "bun", "pip", "pip3", "uv", "poetry", "gem", "bundle", "cargo", "go", "mvn",
    "gradle", "dotnet", "composer",
];

/// What `line` may do, as far as its text tells.
pub(in crate::native) fn impact(line: &CommandLine) -> Impact {
    if line.unclear {
        return Impact::High;
    }
    let commands = line.commands.iter().map(|command| impact_of(command));
    let targets = line.targets.iter().map(impact_of_target);
    commands.chain(targets).max().unwrap_or(Impact::Low)
}

/// What a program that is run with these words may do.
pub(in crate::native) fn impact_of_words(words: &[String]) -> Impact {
    impact(&CommandLine::of_words(words))
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
    let Some((program, rest)) = command.split_first() else { return Impact::Low };
    if !program.known {
        return Impact::High;
    }
    let name = program.text.as_str();
    let has = |options: &[&str]| rest.iter().any(|word| options.iter().any(|option| word.text.starts_with(option)));
    let subcommand = rest.iter().find(|word| !word.text.starts_with(['-', '+'])).map(|word| word.text.as_str());
    match name {
        "find" if has(&["-delete"]) => Impact::High,
        "find" if has(&["-fprint", "-fls"]) => Impact::Medium,
        "sed" if has(&["-i", "--in-place", "-s"]) => Impact::Medium,
        "sort" if has(&["-o", "--output"]) => Impact::Medium,
        "git" if subcommand.is_none_or(|word| GIT_LOOKS.contains(&word)) => Impact::Low,
        _ if MANAGERS.contains(&name) => match rest.iter().any(|word| REACHING_WORDS.contains(&word.text.as_str())) {
            true => Impact::High,
            false => Impact::Medium,
        },
        _ if REACHES.contains(&name) => Impact::High,
        _ if LOOKS.contains(&name) => Impact::Low,
        _ => Impact::Medium,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_as_dangerous_as_its_worst_command() {
        for (line, expected) in [
            ("ls -la | head -3", Impact::Low),
            ("git status && git diff HEAD~1", Impact::Low),
            ("grep -rn x . 2>/dev/null", Impact::Low),
            ("sh -c 'cat a'", Impact::Low),
            ("cargo test", Impact::Medium),
            ("echo x > a", Impact::Medium),
            ("sed -i s/a/b/ x", Impact::Medium),
            ("mkdir x", Impact::Medium),
            ("git commit -m x", Impact::Medium),
            ("./build.sh", Impact::Medium),
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
