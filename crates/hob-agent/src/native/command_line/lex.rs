//! Splits a shell text into its commands and their words, as POSIX shells and bash do.

use std::collections::BTreeMap;

use crate::native::command_line::Word;

/// The content of one text.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    /// Its commands, without redirections, assignments and reserved words.
    pub(super) commands: Vec<Simple>,
    /// Texts that run inside others: substitutions.
    pub(super) nested: Vec<String>,
    /// The targets of its output.
    pub(super) targets: Vec<Word>,
    /// Whether something was not closed.
    pub(super) unclear: bool,
}

/// One command.
#[derive(Debug, Default)]
pub(super) struct Simple {
    /// The program and its arguments.
    pub(super) words: Vec<Word>,
    /// Its input, if the text has it.
    pub(super) document: Option<String>,
}

/// Words after which a command begins.
const RESERVED: [&str; 17] = [
    "if", "then", "elif", "else", "fi", "do", "done", "while", "until", "case", "esac", "{", "}", "!", "time",
    "coproc", "function",
];

/// Characters that the variables of one text may become.
const EXPANDED_MAX: usize = 16 * 1024;

/// The role of an unfinished word.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Role {
    #[default]
    Argument,
    /// A file that is written.
    Target,
    /// A file that is read.
    Source,
    /// The end of a here-document; its tabs are taken off.
    Delimiter { tabs: bool },
    /// The text of `<<<`.
    Text,
}

/// A here-document whose lines are still to come.
struct Pending {
    end: String,
    tabs: bool,
    plain: bool,
    command: usize,
}

struct Lexer<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    found: Scanned,
    words: Vec<Word>,
    document: Option<String>,
    word: Option<Word>,
    quoted: bool,
    role: Role,
    pending: Vec<Pending>,
    values: BTreeMap<String, String>,
    /// Characters that variables became: a few lines could make them grow without end.
    expanded: usize,
}

/// Scans `text`.
pub(super) fn scan(text: &str) -> Scanned {
    let mut lexer = Lexer {
        rest: text.chars().peekable(),
        found: Scanned::default(),
        words: Vec::new(),
        document: None,
        word: None,
        quoted: false,
        role: Role::Argument,
        pending: Vec::new(),
        values: BTreeMap::new(),
        expanded: 0,
    };
    lexer.run();
    lexer.found
}

/// Reads `text` as the words of one argument list, for a program that is run without a shell.
pub(in crate::native) fn arguments(text: &str) -> Result<Vec<String>, &'static str> {
    // A first word, so that none of the arguments is taken for a reserved word or an assignment.
    let found = scan(&format!("x {text}"));
    if found.unclear {
        return Err("a quote is not closed");
    }
    if !found.nested.is_empty() || !found.targets.is_empty() || found.commands.len() != 1 {
        return Err("it has a pipe, a redirection, a list or a substitution");
    }
    let words = found.commands.into_iter().next().map(|command| command.words).unwrap_or_default();
    if words.iter().any(|word| !word.known) {
        return Err("it has a variable");
    }
    Ok(words.into_iter().skip(1).map(|word| word.text).collect())
}

impl Lexer<'_> {
    fn run(&mut self) {
        while let Some(c) = self.rest.next() {
            match c {
                '\\' => match self.rest.next() {
                    Some('\n') => {}
                    Some(next) => self.literal(next),
                    None => self.literal('\\'),
                },
                '\'' => self.single(),
                '"' => self.double(),
                '$' => self.dollar(false),
                '`' => self.backtick(),
                '#' if self.word.is_none() => while self.rest.next_if(|next| *next != '\n').is_some() {},
                '\n' => {
                    self.end_command();
                    self.documents();
                }
                ';' | '|' | '(' | ')' => self.end_command(),
                '&' => match self.rest.next_if_eq(&'>') {
                    Some(_) => self.redirect('>'),
                    None => self.end_command(),
                },
                '<' | '>' => self.redirect(c),
                c if c.is_whitespace() => self.end_word(),
                c => self.push(c),
            }
        }
        self.end_command();
        self.documents();
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_with(|| Word { text: String::new(), known: true }).text.push(c);
    }

    fn literal(&mut self, c: char) {
        self.quoted = true;
        self.push(c);
    }

    fn open(&mut self) -> &mut Word {
        self.quoted = true;
        self.word.get_or_insert_with(|| Word { text: String::new(), known: true })
    }

    fn single(&mut self) {
        self.open();
        loop {
            match self.rest.next() {
                Some('\'') => return,
                Some(c) => self.push(c),
                None => return self.found.unclear = true,
            }
        }
    }

    fn double(&mut self) {
        self.open();
        loop {
            match self.rest.next() {
                Some('"') => return,
                Some('$') => self.dollar(true),
                Some('`') => self.backtick(),
                Some('\\') => match self.rest.next() {
                    Some('\n') | None => {}
                    Some(c @ ('$' | '`' | '"' | '\\')) => self.push(c),
                    Some(c) => {
                        self.push('\\');
                        self.push(c);
                    }
                },
                Some(c) => self.push(c),
                None => return self.found.unclear = true,
            }
        }
    }

    fn unknown(&mut self) {
        self.word.get_or_insert_with(|| Word { text: String::new(), known: true }).known = false;
    }

    fn dollar(&mut self, in_quotes: bool) {
        match self.rest.peek() {
            Some('(') => {
                self.rest.next();
                let inner = self.balanced('(', ')');
                self.unknown();
                self.push('$');
                // `$((…))` is a sum: not a command, but substitutions in it are.
                match inner.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) {
                    Some(sum) => self.substitutions(sum),
                    None => self.found.nested.push(inner),
                }
            }
            Some('{') => {
                self.rest.next();
                let inner = self.balanced('{', '}');
                self.variable(&inner, in_quotes);
                self.substitutions(&inner);
            }
            Some('\'') if !in_quotes => {
                self.rest.next();
                self.ansi();
            }
            Some(c) if c.is_ascii_alphabetic() || *c == '_' => {
                let mut name = String::new();
                while let Some(c) = self.rest.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
                    name.push(c);
                }
                self.variable(&name, in_quotes);
            }
            Some(c) if c.is_ascii_digit() || "@*#?$!-".contains(*c) => {
                self.rest.next();
                self.unknown();
            }
            Some(_) | None => self.push('$'),
        }
    }

    /// Expands a variable to the value that the same text has given it, if any.
    fn variable(&mut self, name: &str, in_quotes: bool) {
        let known = self.values.get(name).filter(|value| self.expanded + value.len() <= EXPANDED_MAX).cloned();
        let Some(value) = known else {
            self.unknown();
            return;
        };
        self.expanded += value.len();
        for c in value.chars() {
            if c.is_whitespace() && !in_quotes { self.end_word() } else { self.push(c) }
        }
    }

    /// `$'…'`: with escapes.
    fn ansi(&mut self) {
        self.open();
        loop {
            let c = match self.rest.next() {
                Some('\'') => return,
                None => return self.found.unclear = true,
                Some('\\') => match self.rest.next() {
                    Some('n') => '\n',
                    Some('t') => '\t',
                    Some('r') => '\r',
                    Some('e' | 'E') => '\u{1b}',
                    Some('x') => self.number(16, 2, 0),
                    Some('u') => self.number(16, 4, 0),
                    Some('U') => self.number(16, 8, 0),
                    Some(c @ '0'..='7') => self.number(8, 2, c.to_digit(8).unwrap_or(0)),
                    Some(c) => c,
                    None => return self.found.unclear = true,
                },
                Some(c) => c,
            };
            self.push(c);
        }
    }

    fn number(&mut self, radix: u32, most: usize, first: u32) -> char {
        let mut value = first;
        for _ in 0..most {
            let Some(digit) = self.rest.peek().and_then(|c| c.to_digit(radix)) else { break };
            self.rest.next();
            value = value.saturating_mul(radix).saturating_add(digit);
        }
        char::from_u32(value).unwrap_or('\u{fffd}')
    }

    fn backtick(&mut self) {
        let mut inner = String::new();
        loop {
            match self.rest.next() {
                Some('`') => break,
                Some('\\') => match self.rest.next() {
                    Some(c @ ('`' | '\\' | '$')) => inner.push(c),
                    Some(c) => inner.extend(['\\', c]),
                    None => {}
                },
                Some(c) => inner.push(c),
                None => {
                    self.found.unclear = true;
                    break;
                }
            }
        }
        self.unknown();
        self.push('`');
        self.found.nested.push(inner);
    }

    /// The text up to the bracket that closes, which is taken too. Quotes hide brackets.
    fn balanced(&mut self, open: char, close: char) -> String {
        let (mut depth, mut inner) = (1, String::new());
        let mut quote = None;
        while let Some(c) = self.rest.next() {
            match (c, quote) {
                ('\\', None | Some('"')) => {
                    inner.push(c);
                    inner.extend(self.rest.next());
                    continue;
                }
                (c, Some(end)) if c == end => quote = None,
                ('\'' | '"', None) => quote = Some(c),
                (c, None) if c == open => depth += 1,
                (c, None) if c == close => {
                    depth -= 1;
                    if depth == 0 {
                        return inner;
                    }
                }
                _ => {}
            }
            inner.push(c);
        }
        self.found.unclear = true;
        inner
    }

    /// Notes the substitutions in a text that is not itself a command.
    fn substitutions(&mut self, text: &str) {
        if !text.contains(['`', '$']) {
            return;
        }
        // Deeper ones are found when these are read.
        let quoted = format!("\"{}\"", text.replace('"', "\\\""));
        let mut inner = scan_shallow(&quoted);
        self.found.nested.append(&mut inner.nested);
    }

    fn redirect(&mut self, sign: char) {
        // `2>`: the number is not a word.
        if self.word.as_ref().is_some_and(|word| word.text.chars().all(|c| c.is_ascii_digit())) && !self.quoted {
            self.word = None;
        }
        self.end_word();
        if self.rest.next_if_eq(&'(').is_some() {
            let inner = self.balanced('(', ')');
            self.found.nested.push(inner);
            self.unknown();
            return;
        }
        self.role = match (sign, self.rest.peek()) {
            ('<', Some('<')) => {
                self.rest.next();
                match self.rest.next_if(|c| matches!(c, '<' | '-')) {
                    Some('<') => Role::Text,
                    Some(_) => Role::Delimiter { tabs: true },
                    None => Role::Delimiter { tabs: false },
                }
            }
            ('<', Some('>')) => Role::Target,
            ('<', _) => Role::Source,
            _ => Role::Target,
        };
        while let Some(c) = self.rest.next_if(|c| matches!(c, '>' | '&' | '|')) {
            // `>&1` goes to a descriptor, not to a file.
            if c == '&' && self.rest.next_if(|c| c.is_ascii_digit() || *c == '-').is_some() {
                self.role = Role::Argument;
            }
        }
    }

    fn end_word(&mut self) {
        let quoted = std::mem::take(&mut self.quoted);
        let Some(word) = self.word.take() else { return };
        match std::mem::take(&mut self.role) {
            Role::Argument => self.argument(word, quoted),
            Role::Target => self.found.targets.push(word),
            Role::Source => {}
            Role::Text => self.document = Some(word.text),
            Role::Delimiter { tabs } => {
                let command = self.found.commands.len();
                self.pending.push(Pending { end: word.text, tabs, plain: quoted, command });
            }
        }
    }

    fn argument(&mut self, word: Word, quoted: bool) {
        if self.words.is_empty() && !quoted && RESERVED.contains(&word.text.as_str()) {
            return;
        }
        if word.text == "{" && !quoted && self.words.len() == 1 {
            // `function f {`: the commands of a function begin.
            self.words.clear();
            return;
        }
        if self.words.is_empty()
            && let Some((name, value)) = word.text.split_once('=')
            && is_name(name)
        {
            if word.known {
                self.values.insert(name.to_owned(), value.to_owned());
            } else {
                self.values.remove(name);
            }
            return;
        }
        self.words.push(word);
    }

    fn end_command(&mut self) {
        self.end_word();
        self.role = Role::Argument;
        let (words, document) = (std::mem::take(&mut self.words), self.document.take());
        let expected = self.pending.iter().any(|pending| pending.command == self.found.commands.len());
        if !words.is_empty() || expected {
            self.found.commands.push(Simple { words, document });
        }
    }

    /// Reads the lines of the here-documents that the line before began.
    fn documents(&mut self) {
        for pending in std::mem::take(&mut self.pending) {
            let mut body = String::new();
            loop {
                let mut line = String::new();
                let mut ended = true;
                for c in self.rest.by_ref() {
                    if c == '\n' {
                        ended = false;
                        break;
                    }
                    line.push(c);
                }
                let shown = if pending.tabs { line.trim_start_matches('\t') } else { &line };
                if shown == pending.end || (ended && line.is_empty()) {
                    break;
                }
                body.push_str(shown);
                body.push('\n');
                if ended {
                    break;
                }
            }
            if !pending.plain {
                self.substitutions(&body);
            }
            if let Some(command) = self.found.commands.get_mut(pending.command) {
                command.document = Some(body);
            }
        }
    }
}

/// Scans a text without sums and variables, so that a scan recurses only once.
fn scan_shallow(quoted: &str) -> Scanned {
    scan(&quoted.replace("${", "$ {").replace("$((", "$ (("))
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
