//! Programs that run other programs, and the commands that they would run.

use crate::native::command_line::Word;

/// The commands that a command runs beside itself.
#[derive(Debug, Default)]
pub(super) struct Inner {
    /// Commands, as their words.
    pub(super) commands: Vec<Vec<Word>>,
    /// Shell texts.
    pub(super) scripts: Vec<String>,
}

/// The end of a wrapper's own arguments.
struct Wrapper {
    /// Its names.
    names: &'static [&'static str],
    /// Options that take the next word: single letters, or whole long ones.
    with_value: &'static [&'static str],
    /// Words before the command.
    words: usize,
}

/// Wrappers whose command follows their options.
const WRAPPERS: &[Wrapper] = &[
    Wrapper { names: &["env"], with_value: &["u", "C", "--unset", "--chdir"], words: 0 },
    Wrapper { names: &["command", "builtin", "nohup", "setsid", "busybox", "toybox"], with_value: &[], words: 0 },
    Wrapper { names: &["unbuffer", "catchsegv", "fakeroot", "winpty"], with_value: &[], words: 0 },
    Wrapper { names: &["exec"], with_value: &["a"], words: 0 },
    Wrapper { names: &["time"], with_value: &["f", "o", "--format", "--output"], words: 0 },
    Wrapper { names: &["nice"], with_value: &["n", "--adjustment"], words: 0 },
    Wrapper { names: &["ionice"], with_value: &["c", "n", "p"], words: 0 },
    Wrapper { names: &["chrt", "taskset"], with_value: &["T", "P", "D"], words: 1 },
    Wrapper { names: &["stdbuf"], with_value: &["i", "o", "e"], words: 0 },
    Wrapper { names: &["timeout", "gtimeout"], with_value: &["s", "k", "--signal", "--kill-after"], words: 1 },
    Wrapper { names: &["flock"], with_value: &["w", "E", "--timeout"], words: 1 },
    Wrapper { names: &["chroot"], with_value: &[], words: 1 },
    Wrapper {
        names: &["sudo"],
        with_value: &["u", "g", "h", "p", "C", "D", "R", "T", "U", "--user", "--group"],
        words: 0,
    },
    Wrapper { names: &["doas"], with_value: &["u", "C"], words: 0 },
    Wrapper {
        names: &["xargs", "gxargs"],
        with_value: &["I", "n", "P", "L", "d", "E", "s", "a", "--max-args", "--max-procs", "--replace", "--delimiter"],
        words: 0,
    },
    Wrapper { names: &["parallel"], with_value: &["j", "I", "--jobs"], words: 0 },
    Wrapper { names: &["strace", "ltrace"], with_value: &["e", "o", "p", "s"], words: 0 },
    Wrapper { names: &["watch"], with_value: &["n", "--interval"], words: 0 },
    Wrapper { names: &["npx", "bunx"], with_value: &["p", "--package"], words: 0 },
];

/// Shells that run a text.
const SHELLS: [&str; 8] = ["sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "fish"];

/// The commands that `words` would run beside themselves. `document` is the command's input, if that is known.
pub(super) fn unwrap(words: &[Word], document: Option<&str>) -> Inner {
    let mut inner = Inner::default();
    let Some((program, rest)) = words.split_first() else { return inner };
    let name = program.text.as_str();
    let text = |words: &[Word]| words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
    if !program.known {
        return inner;
    }
    if SHELLS.contains(&name) || name == "su" {
        shell(rest, document, &mut inner);
    } else if let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.names.contains(&name)) {
        wrapped(wrapper, rest, &mut inner);
    }
    match name {
        "eval" => inner.scripts.push(text(rest)),
        "watch" | "parallel" | "flock" => inner.scripts.extend(inner.commands.last().map(|words| text(words))),
        "trap" => inner.scripts.extend(rest.first().map(|word| word.text.clone())),
        "alias" => inner.scripts.extend(rest.iter().filter_map(|word| Some(word.text.split_once('=')?.1.to_owned()))),
        "find" | "gfind" => executed(rest, &["-exec", "-execdir", "-ok", "-okdir"], &mut inner),
        "fd" | "fdfind" => executed(rest, &["-x", "-X", "--exec", "--exec-batch"], &mut inner),
        _ => {}
    }
    inner
}

/// `sh -c TEXT`; or a text on standard input.
fn shell(rest: &[Word], document: Option<&str>, inner: &mut Inner) {
    let mut words = rest.iter().peekable();
    let mut wants_text = false;
    while let Some(word) = words.peek() {
        let option = word.text.as_str();
        if option == "--" {
            words.next();
            break;
        }
        if !option.starts_with(['-', '+']) || option.len() < 2 {
            break;
        }
        let short = !option.starts_with("--");
        wants_text |= short && option.contains('c');
        wants_text |= option == "--command";
        let value = (short && option.ends_with(['o', 'O'])) || matches!(option, "--rcfile" | "--init-file");
        words.next();
        if value {
            words.next();
        }
    }
    match (wants_text, words.next(), document) {
        (true, Some(text), _) => inner.scripts.push(text.text.clone()),
        (false, None, Some(document)) => inner.scripts.push(document.to_owned()),
        (true | false, _, _) => {}
    }
}

fn wrapped(wrapper: &Wrapper, rest: &[Word], inner: &mut Inner) {
    let mut index = 0;
    let mut skip = wrapper.words;
    while let Some(word) = rest.get(index) {
        let text = word.text.as_str();
        if text == "--" {
            index += 1;
            break;
        }
        if let Some(long) = text.strip_prefix("--") {
            if wrapper.names[0] == "env" && long.starts_with("split-string") {
                inner.scripts.extend(long.split_once('=').map(|(_, text)| text.to_owned()));
            }
            index += if wrapper.with_value.contains(&text) { 2 } else { 1 };
        } else if let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            if wrapper.names[0] == "env" && letters.ends_with('S') {
                inner.scripts.extend(rest.get(index + 1).map(|word| word.text.clone()));
            }
            let last = letters.chars().last().map(String::from).unwrap_or_default();
            // `-n1` has its value with it, `-n 1` behind it.
            index += if wrapper.with_value.contains(&last.as_str()) { 2 } else { 1 };
        } else if wrapper.names[0] == "env" || wrapper.names[0] == "sudo" {
            if !text.contains('=') {
                break;
            }
            index += 1;
        } else if skip > 0 {
            skip -= 1;
            index += 1;
        } else {
            break;
        }
    }
    if skip > 0 {
        index += skip;
    }
    if let Some(words) = rest.get(index..).filter(|words| !words.is_empty()) {
        inner.commands.push(words.to_vec());
    }
}

/// The commands behind each of `options`, up to `;` or `+`.
fn executed(rest: &[Word], options: &[&str], inner: &mut Inner) {
    for (index, _) in rest.iter().enumerate().filter(|(_, word)| options.contains(&word.text.as_str())) {
        let words: Vec<Word> =
            rest[index + 1..].iter().take_while(|word| !matches!(word.text.as_str(), ";" | "+")).cloned().collect();
        if !words.is_empty() {
            inner.commands.push(words);
        }
    }
}
