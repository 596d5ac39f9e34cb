//! Command lines that neither use nor change the state of their shell: another shell in the same folder does as well.

use crate::native::command_line::CommandLine;

/// Words of a shell that change its state, or depend on it.
const OF_THE_SHELL: &[&str] = &[
    "cd", "export", "set", "read", "shift", "local", "exit", "return", "eval", "exec", "for", "in", "type", "command",
    "nohup",
];

/// Whether `text`, which `line` was parsed from, could as well run in another shell: it uses no variable, sets none,
/// changes no folder, and leaves nothing running. In doubt it could not.
pub(in crate::native) fn is_traceless(text: &str, line: &CommandLine) -> bool {
    let is_own = |command: &Vec<super::Word>| {
        command.first().is_none_or(|program| !OF_THE_SHELL.contains(&program.text.as_str()))
    };
    let mut tokens = text.split(|c: char| c.is_whitespace() || ";|&(){}".contains(c));
    let runs_on = text.replace("&&", "").replace("2>&1", "").contains('&');
    !text.contains(['$', '`'])
        && !runs_on
        && !line.is_unclear()
        && line.commands.iter().all(is_own)
        && !tokens.any(assigns)
}

/// Whether a word before a command sets a variable.
fn assigns(word: &str) -> bool {
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    word.split_once('=').is_some_and(|(name, _)| is_name(name.strip_suffix('+').unwrap_or(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_uses_or_changes_its_shell_is_told_from_what_does_not() {
        for (text, expected) in [
            ("ls -la src", true),
            ("grep -rn --include=*.rs 'fn main' . | head -3", true),
            ("git log --oneline && git status 2>&1", true),
            ("cat pipe", true),
            ("cd src", false),
            ("ls; cd src && ls", false),
            ("X=1", false),
            ("ls; X=1", false),
            ("if X=1; then ls; fi", false),
            ("export X=1", false),
            ("cat $HOME/a", false),
            ("cat `pwd`/a", false),
            ("sleep 9 & ls", false),
            ("set -e", false),
            ("ls 'open", false),
        ] {
            assert_eq!(is_traceless(text, &CommandLine::parse(text)), expected, "{text}");
        }
    }
}
