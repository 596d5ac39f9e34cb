//! Patterns of actions that are refused: `shell(git push)`, `write`, `shell(rm -r)`.

use std::str::FromStr;

use crate::native::command_line::{CommandLine, Word};

/// A pattern of refused actions.
#[derive(Debug, Clone)]
pub(in crate::native) struct Pattern {
    text: String,
    tool: String,
    command: Option<Vec<Part>>,
}

/// One word of a pattern.
#[derive(Debug, Clone)]
enum Part {
    /// A word at its place; `*` in it is any text.
    Word(String),
    /// An option at any place: `-r` also in `-rf`, `--force` also in `--force=x`.
    Option(String),
    /// Anything, or nothing.
    Rest,
}

/// A text that is not a pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a pattern of actions: expected a tool's name, or `shell(WORDS)` as in `shell(git push)`")]
pub(in crate::native) struct InvalidPattern(String);

impl Pattern {
    /// Whether `text` matches it.
    pub(in crate::native) fn is(&self, text: &str) -> bool {
        self.text == text
    }
}

impl FromStr for Pattern {
    type Err = InvalidPattern;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || InvalidPattern(text.to_owned());
        let text = text.trim();
        let (tool, command) = match text.split_once('(') {
            Some((tool, rest)) => (tool.trim(), Some(rest.strip_suffix(')').ok_or_else(invalid)?)),
            None => (text, None),
        };
        if tool.is_empty() || tool.contains(char::is_whitespace) || command.is_some_and(|words| words.trim().is_empty())
        {
            return Err(invalid());
        }
        let part = |word: &str| match word {
            "*" | "**" => Part::Rest,
            option if option.starts_with('-') && option.len() > 1 => Part::Option(option.to_owned()),
            word => Part::Word(word.to_owned()),
        };
        let command = command.map(|words| words.split_whitespace().map(part).collect());
        Ok(Self { text: text.to_owned(), tool: tool.to_owned(), command })
    }
}

impl std::fmt::Display for Pattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl Pattern {
    /// Whether it names the tool `name` with any arguments, or, for a tool that runs `line`, one of its commands.
    pub(in crate::native) fn matches(&self, name: &str, line: Option<&CommandLine>) -> bool {
        match (&self.command, line) {
            (None, _) => is_like(&self.tool, name),
            (Some(_), None) => false,
            // A configured program is run without the shell, and is one of its commands all the same.
            (Some(parts), Some(line)) => {
                (is_like(&self.tool, name) || is_like(&self.tool, "shell"))
                    && line.commands.iter().any(|command| fits(parts, command))
            }
        }
    }
}

/// Whether `text` matches `wanted`, in which a `*` is any text.
fn is_like(wanted: &str, text: &str) -> bool {
    let Some((start, rest)) = wanted.split_once('*') else { return wanted == text };
    let Some(mut text) = text.strip_prefix(start) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let end = parts.pop().unwrap_or_default();
    for part in parts {
        // The first match is as good as any: it leaves the most text after it.
        let Some(at) = text.find(part) else { return false };
        text = &text[at + part.len()..];
    }
    text.ends_with(end)
}

fn fits(parts: &[Part], command: &[Word]) -> bool {
    let (Some((first, parts)), Some((program, words))) = (parts.split_first(), command.split_first()) else {
        return false;
    };
    let named = match first {
        Part::Word(wanted) => program.known && is_like(wanted, &program.text),
        Part::Rest => true,
        Part::Option(_) => false,
    };
    let mut at = 0;
    named
        && parts.iter().all(|part| match part {
            Part::Rest => true,
            Part::Option(option) => has_option(&program.text, words, option),
            Part::Word(wanted) => match occurs(wanted, &words[at..]) {
                Some(found) => {
                    at += found + 1;
                    true
                }
                None => false,
            },
        })
}

/// The index of the word, if only options and their possible values precede it (`git -C folder push`).
fn occurs(wanted: &str, words: &[Word]) -> Option<usize> {
    let mut after_option = false;
    for (index, word) in words.iter().enumerate() {
        let is_option = word.text.starts_with(['-', '+']) && word.text.len() > 1;
        if !is_option && word.known && is_like(wanted, &word.text) {
            return Some(index);
        }
        if !is_option && !after_option && word.known {
            return None;
        }
        after_option = is_option;
    }
    None
}

fn has_option(program: &str, words: &[Word], option: &str) -> bool {
    // `-r`, `-R` and `--recursive` are the same to rm, and so is each unambiguous prefix of the long one.
    if program == "rm" && matches!(option, "-r" | "-R" | "--recursive") {
        let recursive = |word: &Word| {
            let long = word.text.strip_prefix("--").filter(|long| !long.is_empty());
            long.map_or_else(
                || cluster(&word.text, 'r') || cluster(&word.text, 'R'),
                |long| "recursive".starts_with(long),
            )
        };
        return options(words).any(recursive);
    }
    let letters: Vec<char> = option.chars().skip(1).collect();
    match letters.as_slice() {
        [letter] if *letter != '-' => options(words).any(|word| cluster(&word.text, *letter)),
        _ => options(words).any(|word| {
            let rest = word.text.strip_prefix(option);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        }),
    }
}

/// The options among `words`: those before `--`.
fn options(words: &[Word]) -> impl Iterator<Item = &Word> {
    words.iter().take_while(|word| word.text != "--").filter(|word| word.text.starts_with('-'))
}

/// Whether a group of single letters such as `-rf` has this one.
fn cluster(text: &str, letter: char) -> bool {
    !text.starts_with("--") && text.chars().skip(1).any(|c| c == letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn denied(pattern: &str, line: &str) -> bool {
        pattern.parse::<Pattern>().unwrap().matches("shell", Some(&CommandLine::parse(line)))
    }

    /// Requirement P5.
    #[test]
    fn a_pattern_is_held_against_the_commands_of_a_line() {
        for (pattern, line, expected) in [
            ("shell(rm *)", "rm x", true),
            ("shell(rm *)", "ls; /bin/rm x", true),
            ("shell(rm *)", "sh -c \"env A=1 \\\\rm x\"", true),
            ("shell(rm *)", "rmdir x", false),
            ("shell(rm *)", "echo rm x", false),
            ("shell(rm -r)", "rm -rf x", true),
            ("shell(rm -r)", "rm -fR x", true),
            ("shell(rm -r)", "rm x --recursive", true),
            ("shell(rm -r)", "rm --rec x", true),
            ("shell(rm -r)", "rm -f x", false),
            ("shell(rm -r)", "rm -- -r", false),
            ("shell(rm -r)", "find . -exec rm -r {} +", true),
            ("shell(rm -r)", "ls | xargs rm -rf", true),
            ("shell(rm -r)", "x=\"$(rm -r y)\"", true),
            ("shell(find -delete)", "find . -name x -delete", true),
            ("shell(find -delete)", "find . -name x", false),
            ("shell(git push)", "git push origin main", true),
            ("shell(git push)", "git -C . -c a.b=c push --force", true),
            ("shell(git push)", "git --no-pager push", true),
            ("shell(git push)", "cd x && GIT_DIR=y git push", true),
            ("shell(git push)", "git commit -m push", false),
            ("shell(git push)", "git stash push", false),
            ("shell(git push)", "git log --grep push", false),
            ("shell(npm publish)", "npm --prefix x publish", true),
            ("shell(npm publish)", "npm run publish", false),
            ("shell(npm publish)", "yes | sudo npm publish", true),
            ("shell(cargo publish)", "cargo +nightly publish", true),
            ("shell(git pu*)", "git pull", true),
            ("shell(git *u*h)", "git push", true),
            ("shell(git *u*h)", "git pushed", false),
            ("shell(*)", "anything", true),
            ("shell(git push --force)", "git push -f", false),
            ("shell(git push --force)", "git push --force", true),
        ] {
            assert_eq!(denied(pattern, line), expected, "{pattern} {line}");
        }
    }

    #[test]
    fn a_tools_name_is_a_pattern_and_nonsense_is_none() {
        let write: Pattern = "write".parse().unwrap();
        assert!(write.matches("write", None) && !write.matches("edit", None));
        let line = CommandLine::of_words(&["find".into(), ".".into(), "-delete".into()]);
        assert!("shell(find -delete)".parse::<Pattern>().unwrap().matches("find", Some(&line)));
        for bad in ["", "shell(", "shell()", "a b", "(rm)"] {
            assert!(bad.parse::<Pattern>().is_err(), "{bad}");
        }
    }
}
