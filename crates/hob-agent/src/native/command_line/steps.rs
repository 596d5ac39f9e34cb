//! The steps of a shell text, and those that its exit code vouches for: with 0, both of `a && b` passed, and of `a | b`
//! or `a; b` only `b` is known to have.
//!
//! Caveats: a text with a block, a subshell or a function has no steps here: nothing is known of its parts.

use std::{iter::Peekable, path::Path, str::Chars};

/// First words of a text whose parts are not followed.
const BLOCKS: [&str; 15] =
    ["if", "then", "elif", "else", "fi", "for", "do", "done", "while", "until", "case", "esac", "{", "!", "function"];

/// What joins a step to the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Joint {
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|`
    Pipe,
    /// `;`, or the end of the line.
    Then,
    /// `&`
    Beside,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Step {
    /// As they are written, without redirections.
    words: Vec<String>,
    joint: Joint,
}

/// The steps of a text, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::native) struct Steps(Vec<Step>);

/// What a run of a text says of another text that may be a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::native) enum Vouch {
    /// It did not run.
    Absent,
    /// It ran, or may have: the exit code is that of something else, or it was in another folder.
    Hidden,
    /// The exit code is its own.
    Known,
}

impl Steps {
    /// The steps of `text`; `None` if they are not clear.
    pub(in crate::native) fn parse(text: &str) -> Option<Self> {
        let mut reader =
            Reader { rest: text.chars().peekable(), word: String::new(), steps: Vec::new(), words: Vec::new() };
        reader.read()?;
        (!reader.steps.is_empty()).then_some(Self(reader.steps))
    }

    /// What an exit code of 0 says of `part`, if the shell was in the folder `top` at the start.
    pub(in crate::native) fn vouch_for(&self, part: &Self, top: &Path) -> Vouch {
        let (steps, wanted) = (&self.0, &part.0);
        let is_at = |at: usize| {
            wanted.iter().enumerate().all(|(index, step)| {
                let here = &steps[at + index];
                here.words == step.words && (index + 1 == wanted.len() || here.joint == step.joint)
            })
        };
        let Some(at) =
            (0..=steps.len().saturating_sub(wanted.len())).rev().find(|at| steps.len() >= wanted.len() && is_at(*at))
        else {
            return Vouch::Absent;
        };
        let leaves = |step: &Step| match step.words.first().map(String::as_str) {
            Some("cd") => step.words.get(1).is_none_or(|to| unquoted(to) != "." && Path::new(unquoted(to)) != top),
            Some("pushd" | "popd") => true,
            Some(_) | None => false,
        };
        let is_known = self.vouched()[at + wanted.len() - 1] && !steps[..at].iter().any(leaves);
        if is_known { Vouch::Known } else { Vouch::Hidden }
    }

    /// The steps that an exit code of 0 says passed, each as a text.
    pub(in crate::native) fn passed(&self) -> impl Iterator<Item = String> {
        self.texts().zip(self.vouched()).filter_map(|(text, is_known)| is_known.then_some(text))
    }

    /// Each step as a text.
    pub(in crate::native) fn texts(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|step| step.words.join(" "))
    }

    /// For each step, whether an exit code of 0 says that it passed.
    fn vouched(&self) -> Vec<bool> {
        let steps = &self.0;
        let mut vouched = vec![false; steps.len()];
        let (mut exits, mut fails) = (false, false);
        let mut from = 0;
        while from < steps.len() {
            let ends = |step: &Step| matches!(step.joint, Joint::Then | Joint::Beside);
            let to = steps[from..].iter().position(ends).map_or(steps.len(), |at| from + at + 1);
            let list = &steps[from..to];
            let is_last = to == steps.len();
            let has = |joint: Joint| list.iter().any(|step| step.joint == joint);
            let is_own = !has(Joint::Or) && !has(Joint::Beside) && (is_last || exits && !has(Joint::And));
            for (index, step) in list.iter().enumerate() {
                vouched[from + index] = is_own && (step.joint != Joint::Pipe || fails);
                if step.words.first().is_some_and(|word| word == "set") {
                    exits |= step.words[1..].iter().any(|word| word.starts_with('-') && word.contains('e'));
                    fails |= step.words.iter().any(|word| word == "pipefail");
                }
            }
            from = to;
        }
        vouched
    }
}

/// A word without the quotes around it.
fn unquoted(word: &str) -> &str {
    word.trim_matches(['"', '\''])
}

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    word: String,
    words: Vec<String>,
    steps: Vec<Step>,
}

impl Reader<'_> {
    /// `None` if something in it is not followed.
    fn read(&mut self) -> Option<()> {
        let mut documents: Vec<String> = Vec::new();
        while let Some(c) = self.rest.next() {
            match c {
                '\\' => match self.rest.next()? {
                    '\n' => {}
                    next => self.word.extend([c, next]),
                },
                '\'' | '`' => self.quoted(c)?,
                '"' => self.quoted(c)?,
                '$' if self.rest.peek() == Some(&'(') => self.substitution()?,
                '#' if self.word.is_empty() => while self.rest.next_if(|next| *next != '\n').is_some() {},
                '(' | ')' => return None,
                '\n' => {
                    self.end(Joint::Then)?;
                    for end in documents.drain(..) {
                        self.skip_document(&end);
                    }
                }
                ';' => match self.rest.peek() {
                    Some(';') => return None,
                    Some(_) | None => self.end(Joint::Then)?,
                },
                '&' | '|' if self.word.ends_with(['>', '<']) => self.word.push(c),
                '&' => match self.rest.peek() {
                    Some('&') => self.joined(Joint::And)?,
                    Some('>') => self.word.push(c),
                    Some(_) | None => self.end(Joint::Beside)?,
                },
                '|' => match self.rest.peek() {
                    Some('|') => self.joined(Joint::Or)?,
                    Some('&') => self.joined(Joint::Pipe)?,
                    Some(_) | None => self.end(Joint::Pipe)?,
                },
                '<' if self.rest.peek() == Some(&'<') => {
                    self.rest.next();
                    match self.rest.next_if_eq(&'<') {
                        Some(_) => self.word.push_str("<<<"),
                        None => documents.push(self.delimiter()),
                    }
                }
                c if c.is_whitespace() => self.end_word(),
                c => self.word.push(c),
            }
        }
        self.end(Joint::Then)
    }

    fn joined(&mut self, joint: Joint) -> Option<()> {
        self.rest.next();
        self.end(joint)
    }

    /// Takes what is in quotes, which are kept.
    fn quoted(&mut self, quote: char) -> Option<()> {
        self.word.push(quote);
        loop {
            let c = self.rest.next()?;
            self.word.push(c);
            match c {
                '\\' if quote != '\'' => self.word.push(self.rest.next()?),
                c if c == quote => return Some(()),
                _ => {}
            }
        }
    }

    fn substitution(&mut self) -> Option<()> {
        self.word.push('$');
        let mut depth = 0_usize;
        loop {
            let c = self.rest.next()?;
            self.word.push(c);
            match c {
                '(' => depth += 1,
                ')' if depth == 1 => return Some(()),
                ')' => depth -= 1,
                _ => {}
            }
        }
    }

    /// The word that ends a here-document.
    fn delimiter(&mut self) -> String {
        self.end_word();
        self.rest.next_if_eq(&'-');
        while self.rest.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
        let mut end = String::new();
        while let Some(c) = self.rest.next_if(|c| !c.is_whitespace() && !";&|<>".contains(*c)) {
            end.push(c);
        }
        end.replace(['\'', '"', '\\'], "")
    }

    fn skip_document(&mut self, end: &str) {
        loop {
            let mut line = String::new();
            let mut is_last = true;
            for c in self.rest.by_ref() {
                if c == '\n' {
                    is_last = false;
                    break;
                }
                line.push(c);
            }
            if is_last || line.trim_start_matches('\t') == end {
                return;
            }
        }
    }

    fn end_word(&mut self) {
        if !self.word.is_empty() {
            self.words.push(std::mem::take(&mut self.word));
        }
    }

    fn end(&mut self, joint: Joint) -> Option<()> {
        self.end_word();
        let words = without_wrappers(without_redirections(std::mem::take(&mut self.words)));
        if words.first().is_some_and(|word| BLOCKS.contains(&word.as_str())) {
            return None;
        }
        if !words.is_empty() {
            self.steps.push(Step { words, joint });
        }
        Some(())
    }
}

fn without_redirections(words: Vec<String>) -> Vec<String> {
    let mut kept = Vec::with_capacity(words.len());
    let mut takes_next = false;
    for word in words {
        if std::mem::take(&mut takes_next) {
            continue;
        }
        let sign = word.trim_start_matches(|c: char| c.is_ascii_digit());
        if sign.starts_with(['<', '>']) || sign.starts_with("&>") {
            takes_next = sign.trim_start_matches(['<', '>', '&', '|']).is_empty();
        } else {
            kept.push(word);
        }
    }
    kept
}

/// Without `time` and `timeout 600`, which pass the exit code on.
fn without_wrappers(mut words: Vec<String>) -> Vec<String> {
    loop {
        let count = match words.first().map(String::as_str) {
            Some("time") => 1,
            Some("timeout") if words.get(1).is_some_and(|time| time.starts_with(|c: char| c.is_ascii_digit())) => 2,
            Some(_) | None => return words,
        };
        words.drain(..count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_code_vouches_for_what_it_is_the_code_of() {
        use Vouch::{Absent, Hidden, Known};
        for (text, check, vouch) in [
            ("sh test.sh", "sh test.sh", Known),
            ("sh   test.sh 2>&1", "sh test.sh", Known),
            ("sh test.sh > out.txt 2>&1", "sh test.sh", Known),
            ("sh test.sh &> out", "sh test.sh", Known),
            ("git diff; sh test.sh", "sh test.sh", Known),
            ("make && sh test.sh && echo good", "sh test.sh", Known),
            ("timeout 60 sh test.sh", "sh test.sh", Known),
            ("time sh test.sh", "sh test.sh", Known),
            ("cd /top && sh test.sh", "sh test.sh", Known),
            ("cat > a <<'E'\nit's; x | y\nE\nsh test.sh", "sh test.sh", Known),
            ("set -e; sh test.sh; echo good", "sh test.sh", Known),
            ("set -o pipefail; sh test.sh | tail", "sh test.sh", Known),
            ("set -euo pipefail\nsh test.sh | tail\nls", "sh test.sh", Known),
            ("sh test.sh && git diff | cat", "sh test.sh", Known),
            ("a && b", "a && b", Known),
            ("a; b", "a; b", Known),
            ("sh test.sh | tail", "sh test.sh", Hidden),
            ("sh test.sh 2>&1 |& tail", "sh test.sh", Hidden),
            ("sh test.sh; echo $?", "sh test.sh", Hidden),
            ("sh test.sh || true", "sh test.sh", Hidden),
            ("true || sh test.sh", "sh test.sh", Hidden),
            ("sh test.sh & wait", "sh test.sh", Hidden),
            ("sh test.sh &", "sh test.sh", Hidden),
            ("cd sub && sh test.sh", "sh test.sh", Hidden),
            ("set -e; sh test.sh && true; ls", "sh test.sh", Hidden),
            ("echo 'sh test.sh … git diff'", "sh test.sh", Absent),
            ("echo sh test.sh", "sh test.sh", Absent),
            ("sh test.sh --fast", "sh test.sh", Absent),
            ("cat <<E\nsh test.sh\nE\n", "sh test.sh", Absent),
            ("# sh test.sh\nls", "sh test.sh", Absent),
            ("SKIP=1 sh test.sh", "sh test.sh", Absent),
        ] {
            let (steps, check) = (Steps::parse(text).unwrap(), Steps::parse(check).unwrap());
            assert_eq!(steps.vouch_for(&check, Path::new("/top")), vouch, "{text}");
        }
        for unclear in ["if sh test.sh; then ls; fi", "(sh test.sh)", "! sh test.sh", "echo 'open", "", "f() { ls; }"] {
            assert_eq!(Steps::parse(unclear), None, "{unclear}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_breaks_the_reader(text in "[a-z$(){}`'\"\\\\;&|<>#= \n-]{0,80}") {
            if let Some(steps) = Steps::parse(&text) {
                steps.vouch_for(&Steps::parse("a && b").unwrap(), Path::new("/"));
            }
        }
    }
}
