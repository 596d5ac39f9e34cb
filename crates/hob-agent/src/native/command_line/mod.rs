//! The programs that a shell command line would run, as far as its text tells: for rules about commands, and for their
//! impact.
//!
//! - Guarantees: quoting, lists, pipes, substitutions, here-documents and the usual wrappers (`sh -c`, `env`, `sudo`,
//!   `xargs`, `find -exec`, …) are seen through, to a depth; unclear parts are marked as unknown, never skipped.
//! - Caveats: a program may do anything under any name, so these rules are advice for a model, not a boundary.

mod impact;
mod lex;
mod looks;
mod pattern;
mod steps;
mod traceless;
mod wrap;

pub(super) use impact::{impact, known_impact_of_words};
pub(super) use lex::arguments;
pub(super) use pattern::{InvalidPattern, Pattern};
pub(super) use steps::{Steps, Vouch};
pub(super) use traceless::is_traceless;

use crate::native::command_line::{lex::scan, wrap::unwrap};

/// The depth to which substitutions and wrappers are followed.
const DEPTH_MAX: usize = 12;
/// The most commands of one line that are examined.
const COMMANDS_MAX: usize = 2_000;

/// Editors and the like, which take over a terminal and never end without one.
const SCREENS: [&str; 8] = ["vim", "vi", "nvim", "nano", "pico", "emacs", "micro", "watch"];
/// Options with which they do their work alone.
const ALONE: [&str; 12] =
    ["-e", "-E", "-s", "-es", "-Es", "-c", "-batch", "--batch", "--headless", "--version", "--help", "-h"];

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// The text, without its quotes.
    text: String,
    /// Whether that is all: a word with an expansion in it can become anything.
    known: bool,
}

/// The commands that a command line would run.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct CommandLine {
    /// Each command, also those inside others; the program's name without its folder.
    commands: Vec<Vec<Word>>,
    /// Files that output goes to.
    targets: Vec<Word>,
    /// Whether something in it could not be followed.
    unclear: bool,
}

impl CommandLine {
    /// Reads `text`.
    pub(super) fn parse(text: &str) -> Self {
        let mut line = Self::default();
        line.read(text, 0);
        line
    }

    /// The command of `words`, and those inside it.
    pub(super) fn of_words(words: &[String]) -> Self {
        let mut line = Self::default();
        let words = words.iter().map(|text| Word { text: text.clone(), known: true }).collect();
        line.add(words, None, 0);
        line
    }

    /// Whether everything that it deletes with `rm` is named and lies below the folder that it runs in, which it does
    /// not leave.
    pub(super) fn deletes_below(&self) -> bool {
        let is_below = |word: &Word| {
            let text = word.text.trim_end_matches('/');
            let is_part = |part: &str| !matches!(part, "" | "." | ".." | ".git");
            word.known && !text.contains(['*', '?', '[', '~']) && text.split('/').all(is_part)
        };
        let is_one = |command: &Vec<Word>| match command.first().map(|word| word.text.as_str()) {
            Some("cd" | "pushd" | "popd" | "find" | "xargs" | "sudo") => false,
            Some("rm") => command.iter().skip(1).filter(|word| !word.text.starts_with('-')).all(is_below),
            Some(_) | None => true,
        };
        !self.unclear && self.commands.iter().all(is_one)
    }

    /// Whether one of its commands is a program of one of these names.
    pub(super) fn runs_one_of(&self, names: &[&str]) -> bool {
        self.commands.iter().any(|command| command.first().is_some_and(|word| names.contains(&word.text.as_str())))
    }

    /// The first program that waits for keys of a terminal, unless its words say that it does without.
    pub(super) fn needs_terminal(&self) -> Option<&str> {
        let waits = |command: &&Vec<Word>| {
            let is_screen = command.first().is_some_and(|word| SCREENS.contains(&word.text.as_str()));
            is_screen
                && command[1..].iter().any(|word| !word.text.starts_with(['-', '+']))
                && !command.iter().any(|word| ALONE.contains(&word.text.as_str()))
        };
        self.commands.iter().find(waits).and_then(|command| command.first()).map(|word| word.text.as_str())
    }

    /// Whether something in it could not be followed, such as a quote that is not closed.
    pub(super) fn is_unclear(&self) -> bool {
        self.unclear
    }

    fn read(&mut self, text: &str, depth: usize) {
        if depth > DEPTH_MAX {
            self.unclear = true;
            return;
        }
        let scanned = scan(text);
        self.unclear |= scanned.unclear;
        self.targets.extend(scanned.targets);
        for nested in scanned.nested {
            self.read(&nested, depth + 1);
        }
        let mut printed: Option<String> = None;
        for command in scanned.commands {
            // Printed text may go through a pipe into a shell: `echo TEXT | sh`.
            let document = command.document.or(printed.take());
            let program = command.words.first().map(|word| word.text.as_str());
            if matches!(program, Some("echo" | "printf")) {
                let words: Vec<&str> = command.words[1..].iter().map(|word| word.text.as_str()).collect();
                printed = Some(words.join(" "));
            }
            self.add(command.words, document.as_deref(), depth);
        }
    }

    fn add(&mut self, mut words: Vec<Word>, document: Option<&str>, depth: usize) {
        if depth > DEPTH_MAX || self.commands.len() >= COMMANDS_MAX {
            self.unclear = true;
            return;
        }
        let Some(program) = words.first_mut() else { return };
        if let Some((_, name)) = program.text.rsplit_once('/').filter(|(_, name)| !name.is_empty()) {
            program.text = name.to_owned();
        }
        let inner = unwrap(&words, document);
        self.commands.push(words);
        for words in inner.commands {
            self.add(words, document, depth + 1);
        }
        for script in inner.scripts {
            self.read(&script, depth + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The programs of a line with their arguments, each as one text.
    fn programs(text: &str) -> Vec<String> {
        let line = CommandLine::parse(text);
        let join = |words: &Vec<Word>| words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
        line.commands.iter().map(join).collect()
    }

    #[test]
    fn each_command_of_a_line_is_seen() {
        for (text, wanted) in [
            ("rm -rf x", "rm -rf x"),
            ("a && rm x", "rm x"),
            ("a || rm x; b", "rm x"),
            ("a | rm x & b", "rm x"),
            ("a\nrm x\n", "rm x"),
            ("(rm x)", "rm x"),
            ("{ rm x; }", "rm x"),
            ("if a; then rm x; else b; fi", "rm x"),
            ("! rm x", "rm x"),
            ("echo $(rm x)", "rm x"),
            ("echo \"a $(rm x) b\"", "rm x"),
            ("echo `rm x`", "rm x"),
            ("echo \"`rm x`\"", "rm x"),
            ("echo ${y:-$(rm x)}", "rm x"),
            ("diff <(rm x) y", "rm x"),
            ("y=$(rm x)", "rm x"),
            ("Y=1 rm x", "rm x"),
            ("/bin/rm x", "rm x"),
            ("\\rm x", "rm x"),
            ("r\"m\" x", "rm x"),
            ("'rm' 'x'", "rm x"),
            ("r\\m x", "rm x"),
            ("$'\\x72m' x", "rm x"),
            ("$'\\162m' x", "rm x"),
            ("rm\\\n x", "rm x"),
            ("p=rm; $p x", "rm x"),
            ("p='rm x'; ${p}", "rm x"),
            (">y rm x", "rm x"),
            ("2>&1 rm x", "rm x"),
            ("sh -c 'rm x'", "rm x"),
            ("bash -lc \"rm x\"", "rm x"),
            ("bash -e -o pipefail -c 'a; rm x' z", "rm x"),
            ("sh <<E\nrm x\nE\n", "rm x"),
            ("sh <<< 'rm x'", "rm x"),
            ("echo 'rm x' | sh", "rm x"),
            ("cat <<E\n$(rm x)\nE", "rm x"),
            ("env Y=1 rm x", "rm x"),
            ("env -i -u A rm x", "rm x"),
            ("env -S 'rm x'", "rm x"),
            ("command rm x", "rm x"),
            ("exec rm x", "rm x"),
            ("builtin command -p rm x", "rm x"),
            ("sudo -u root -- rm x", "rm x"),
            ("nohup nice -n 5 rm x", "rm x"),
            ("timeout -s KILL 5 rm x", "rm x"),
            ("time rm x", "rm x"),
            ("ls | xargs -0 -n 1 rm x", "rm x"),
            ("ls | xargs -I{} sh -c 'rm x'", "rm x"),
            ("find . -name y -exec rm x \\;", "rm x"),
            ("find . -execdir rm x +", "rm x"),
            ("eval 'rm' x", "rm x"),
            ("trap 'rm x' EXIT", "rm x"),
            ("busybox rm x", "rm x"),
            ("while read l; do rm x; done < y", "rm x"),
            ("f() { rm x; }; f", "rm x"),
            ("case a in a) rm x;; esac", "rm x"),
            ("sudo env A=1 bash -c \"timeout 5 sh -c 'rm x'\"", "rm x"),
            ("echo a #; b\nrm x", "rm x"),
            ("coproc rm x", "rm x"),
        ] {
            assert!(programs(text).iter().any(|command| command == wanted), "{text:?}: {:?}", programs(text));
        }
    }

    #[test]
    fn text_that_is_no_command_is_not_one() {
        for text in [
            "echo rm x",
            "echo 'a; rm x'",
            "echo \"a; rm x\"",
            "a # rm x",
            "cat > y <<'E'\nrm x\n$(rm x)\nE\nb",
            "cat <<-E\n\trm x\n\tE\nb",
            "git commit -m 'rm x'",
            "grep -n 'rm x' y",
            "echo a\\;rm x",
            "echo $((rm))",
        ] {
            assert!(!programs(text).iter().any(|command| command.starts_with("rm")), "{text:?}: {:?}", programs(text));
        }
    }

    #[test]
    fn hostile_nesting_is_bounded_and_marked() {
        let deep = "$(".repeat(50_000);
        assert!(CommandLine::parse(&deep).unclear);
        let wide = "a;".repeat(50_000);
        assert!(CommandLine::parse(&wide).unclear);
        let sudo = "sudo ".repeat(10_000);
        assert!(CommandLine::parse(&sudo).unclear);
        let doubling = format!("a=xxxxxxxx;{}$a", "a=$a$a;".repeat(200));
        assert!(CommandLine::parse(&doubling).commands.iter().any(|words| !words[0].known));
        assert!(CommandLine::parse("echo 'open").unclear);
        assert!(!CommandLine::parse("ls -l").unclear);
    }

    proptest::proptest! {
        #[test]
        fn no_text_breaks_the_reader(text in "[a-z$(){}`'\"\\\\;&|<>#= \n]{0,80}") {
            CommandLine::parse(&text);
        }
    }
}
