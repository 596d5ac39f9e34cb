//! The files that the checks run: the `Makefile` of `make test`, the script of `sh ci/test.sh`, and what these run in turn.
//!
//! A script that is run for its output, as in `test "$(sh greet.sh)" = hello`, is looked at: it is the product.
//!
//! # Caveats
//! Commands are read as words, not as a shell reads them. A script that is found through a variable is not found here.

use std::collections::BTreeSet;

/// How deep scripts may call scripts.
const DEEP: usize = 3;
/// Files that are found.
const FILES_MAX: usize = 64;

/// Programs and the files by which they know what to run.
const TOOLS: [(&str, &[&str]); 12] = [
    ("gmake", &["GNUmakefile", "makefile", "Makefile"]),
    ("invoke", &["tasks.py"]),
    ("just", &["justfile", "Justfile", ".justfile"]),
    ("make", &["GNUmakefile", "makefile", "Makefile"]),
    ("mage", &["magefile.go"]),
    ("nox", &["noxfile.py"]),
    ("npx", &[]),
    ("pre-commit", &[".pre-commit-config.yaml"]),
    ("rake", &["Rakefile", "rakefile"]),
    ("task", &["Taskfile.yml", "Taskfile.yaml"]),
    ("tox", &["tox.ini"]),
    ("xtask", &["xtask/src/main.rs"]),
];

/// Programs that run a file as a script. That of the last ones may be the product, so its place decides.
const SHELLS: [&str; 6] = ["bash", "dash", "ksh", "sh", "source", "zsh"];

/// Folders of scripts.
const PLACES: [&str; 12] =
    [".ci", ".github", "bin", "build", "check", "checks", "ci", "dev", "hack", "script", "scripts", "tools"];

/// The files of the repository that these commands run. `read` reads one, `None` where there is none.
pub fn judges(checks: &[String], read: impl Fn(&str) -> Option<String>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut texts: Vec<String> = checks.to_vec();
    for _step in 0..DEEP {
        let mut next = Vec::new();
        for text in &texts {
            for path in named_in(text) {
                if found.len() >= FILES_MAX || found.contains(&path) {
                    continue;
                }
                if let Some(text) = read(&path) {
                    next.push(text);
                    found.insert(path);
                }
            }
        }
        texts = next;
    }
    found
}

/// The paths that a script may run.
fn named_in(text: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for line in text.lines() {
        let is_separator = |c: char| c.is_whitespace() || ";&|()<>'\"`=,{}[]".contains(c);
        let line = without_substitutions(line);
        let words: Vec<&str> = line.split(is_separator).filter(|word| !word.is_empty()).collect();
        for (at, word) in words.iter().enumerate() {
            let program = word.rsplit('/').next().unwrap_or(word).trim_start_matches(['@', '-']);
            if let Some((_, files)) = TOOLS.iter().find(|(tool, _)| *tool == program) {
                // The folder of `make -C sub` and `cd sub && make` is another word of the line.
                let folders = words.iter().filter_map(|word| plain(word)).filter(|word| !word.is_empty());
                let here = files.iter().map(|file| (*file).to_owned());
                paths.extend(
                    here.chain(folders.flat_map(|folder| files.iter().map(move |file| format!("{folder}/{file}")))),
                );
            }
            let Some(path) = plain(word) else { continue };
            let before = at
                .checked_sub(1)
                .and_then(|at| words.get(at))
                .map_or("", |word| word.rsplit('/').next().unwrap_or(word));
            let is_script = path.rsplit('.').next().is_some_and(|ending| matches!(ending, "sh" | "bash" | "bats"));
            let is_in_place = path.split('/').rev().skip(1).any(|folder| PLACES.contains(&folder));
            if is_script || SHELLS.contains(&before) || word.starts_with("./") || is_in_place {
                paths.push(path.to_owned());
            }
        }
    }
    paths
}

/// A line without what the shell replaces by a command's output.
fn without_substitutions(line: &str) -> String {
    let mut kept = String::with_capacity(line.len());
    let (mut depth, mut is_quoted, mut rest) = (0_usize, false, line.chars().peekable());
    while let Some(c) = rest.next() {
        match c {
            '`' if depth == 0 => is_quoted = !is_quoted,
            '$' if depth == 0 && rest.peek() == Some(&'(') => {
                rest.next();
                depth = 1;
                kept.push(' ');
            }
            '(' if depth > 0 => depth += 1,
            ')' if depth > 0 => depth -= 1,
            c if depth == 0 && !is_quoted => kept.push(c),
            _inside => {}
        }
    }
    kept
}

/// A word as a path in the repository.
fn plain(word: &str) -> Option<&str> {
    let word = word.trim_start_matches('@').trim_start_matches("./").trim_end_matches('/');
    let is_plain =
        |part: &str| !part.is_empty() && part != ".." && part != "." && !part.starts_with(['-', '$', '~', '%']);
    (!word.starts_with('/') && word.split('/').all(is_plain)).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(check: &str, files: &[(&str, &str)]) -> Vec<String> {
        let read = |path: &str| files.iter().find(|(name, _)| *name == path).map(|(_, text)| (*text).to_owned());
        judges(&[check.to_owned()], read).into_iter().collect()
    }

    #[test]
    fn the_files_that_a_check_runs_are_found_through_what_they_run() {
        let files = [
            ("Makefile", "test:\n\t@./scripts/test.sh --all\n\tcc -o app src/main.c\n"),
            ("scripts/test.sh", "#!/bin/sh\n. scripts/lib\npython3 tests/run.py\n"),
            ("scripts/lib", ""),
            ("src/main.c", ""),
            ("sub/Makefile", ""),
            ("tests/run.py", ""),
        ];
        assert_eq!(of("make test", &files), ["Makefile", "scripts/lib", "scripts/test.sh"]);
        assert_eq!(of("make -C sub check", &files), ["Makefile", "scripts/lib", "scripts/test.sh", "sub/Makefile"]);
        assert_eq!(of("cd sub && make", &files).last().map(String::as_str), Some("sub/Makefile"));
    }

    #[test]
    fn the_product_is_no_judge() {
        let files = [("app.py", ""), ("src/a.rs", ""), ("test.sh", "make\n"), ("run", "#!/bin/sh")];
        assert_eq!(of("python3 app.py --self-test", &files), [""; 0]);
        assert_eq!(of("sh test.sh", &files), ["test.sh"]);
        assert_eq!(of("./run", &files), ["run"]);
        assert_eq!(of("sh ../test.sh /test.sh $X/test.sh", &files), [""; 0]);
        assert_eq!(of("test \"$(sh test.sh $(./run))\" = x && [ `./run` ] && true", &files), [""; 0]);
        assert_eq!(of("x=$((1 + 1)) ./run $(", &files), ["run"]);
    }
}
