//! The calls of git, npm and docker that only look: by their subcommand, and by the options that make them do more.

use crate::native::command_line::Word;

/// Subcommands of git that only look.
const OF_GIT: &[&str] = &[
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
/// Options of `git branch` that list; with `--list` and only these it changes nothing.
const LIST_BRANCHES: &[&str] = &[
    "--list",
    "-a",
    "--all",
    "-r",
    "--remotes",
    "-v",
    "-vv",
    "--verbose",
    "--contains",
    "--no-contains",
    "--merged",
    "--no-merged",
    "--sort",
    "--points-at",
    "--format",
    "-i",
    "--ignore-case",
    "--color",
    "--no-color",
    "--column",
    "--no-column",
    "--abbrev",
    "--no-abbrev",
];
/// Options with which a looking subcommand writes a file, or starts a program that the repository's settings name.
const ACT: &[&str] = &["--output", "--ext-diff", "--textconv"];
/// Options of git itself that start another program.
const START: &[&str] = &["-p", "--paginate", "--exec-path"];
/// Options of `git grep` that take the rest of their word.
const GREP_VALUES: &str = "ABCefm";

/// Subcommands of npm that only look.
const OF_NPM: &[&str] = &["ls", "list", "explain", "why", "view", "info", "show", "outdated"];
/// Options of these that change nothing and name no program.
const PLAIN_OF_NPM: &[&str] = &[
    "--json",
    "--depth",
    "-a",
    "--all",
    "-l",
    "--long",
    "-p",
    "--parseable",
    "-g",
    "--global",
    "--omit",
    "--include",
    "-w",
    "--workspace",
    "--workspaces",
    "--link",
    "--package-lock-only",
    "--no-unicode",
];
/// Subcommands of docker that only look.
const OF_DOCKER: &[&str] = &["ps", "images", "inspect", "logs", "version"];

/// Whether git with these words starts a program or writes a file, though its subcommand looks.
pub(super) fn starts_or_writes(rest: &[Word]) -> bool {
    let Some(at) = rest.iter().position(|word| !is_option(word)) else { return false };
    let options = rest[at + 1..].iter().map(|word| word.text.as_str()).take_while(|word| *word != "--");
    let mut options = options.filter(|word| word.starts_with('-'));
    let starts = rest[..at].iter().any(|word| START.contains(&name_of(&word.text)));
    let acts = |option: &str| ACT.iter().any(|act| is_short_for(option, act));
    starts
        || match rest[at].text.as_str() {
            "grep" => {
                options.any(|option| is_short_for(option, "--open-files-in-pager") || opens(option) || acts(option))
            }
            "cat-file" => options.any(|option| option == "--filters" || acts(option)),
            name => OF_GIT.contains(&name) && options.any(acts),
        }
}

/// Whether git with these words only looks.
pub(super) fn is_look_of_git(rest: &[Word]) -> bool {
    let Some(at) = rest.iter().position(|word| !is_option(word)) else { return true };
    let (name, words) = (rest[at].text.as_str(), &rest[at + 1..]);
    let lists = || words.iter().any(|word| word.text == "--list") && has_only(words, LIST_BRANCHES);
    // The word after `-c` or `-C` is not a subcommand, and its setting may start a program.
    OF_GIT.contains(&name) || (name == "branch" && lists())
}

/// Whether npm with these words only looks. A package that is not a registry name would be fetched by another program.
pub(super) fn is_look_of_npm(rest: &[Word]) -> bool {
    let Some((name, words)) = rest.split_first() else { return false };
    let is_of_registry = |word: &Word| {
        let path = word
            .text
            .strip_prefix('@')
            .map_or(word.text.as_str(), |rest| rest.split_once('/').map_or(rest, |(_, name)| name));
        is_option(word) || !(path.contains(['/', ':']) || path.starts_with('.'))
    };
    OF_NPM.contains(&name.text.as_str()) && has_only(words, PLAIN_OF_NPM) && words.iter().all(is_of_registry)
}

/// Whether docker with these words only looks.
pub(super) fn is_look_of_docker(rest: &[Word]) -> bool {
    rest.first().is_some_and(|name| OF_DOCKER.contains(&name.text.as_str()))
}

fn is_option(word: &Word) -> bool {
    word.text.starts_with(['-', '+'])
}

fn name_of(option: &str) -> &str {
    option.split_once('=').map_or(option, |(name, _)| name)
}

fn has_only(words: &[Word], options: &[&str]) -> bool {
    words.iter().all(|word| word.known && (!is_option(word) || options.contains(&name_of(&word.text))))
}

/// Whether git may read `option` as an abbreviation of `whole`.
fn is_short_for(option: &str, whole: &str) -> bool {
    let name = name_of(option);
    // A separate option, not short for `--textconv`.
    name.len() > 2 && name != "--text" && whole.starts_with(name)
}

/// Whether a word of short options of `git grep` has the one that opens matches: `-nO./program`.
fn opens(option: &str) -> bool {
    let Some(letters) = option.strip_prefix('-').filter(|letters| !letters.starts_with('-')) else { return false };
    letters.chars().take_while(|letter| !GREP_VALUES.contains(*letter)).any(|letter| letter == 'O')
}
