//! Go: `go.sum` and `go.mod`.

use super::{Packages, add};

pub(super) fn sum(text: &str) -> Option<Packages> {
    let mut packages = Packages::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        // The sum of a `go.mod` alone is of a version that is not built.
        if let (Some(module), Some(version), Some(_sum)) = (words.next(), words.next(), words.next())
            && !version.ends_with("/go.mod")
        {
            add(&mut packages, module, version);
        }
    }
    Some(packages)
}

pub(super) fn module(text: &str) -> Option<Packages> {
    let mut packages = Packages::new();
    let mut block = String::new();
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [")"] => block.clear(),
            [word, "("] => block = (*word).to_owned(),
            ["require", module, version] => add(&mut packages, module, version),
            ["replace", rest @ ..] => replace(&mut packages, rest),
            [module, version] if block == "require" => add(&mut packages, module, version),
            rest if block == "replace" => replace(&mut packages, rest),
            _other => {}
        }
    }
    Some(packages)
}

/// `old [version] => new [version]`: what is built is another module than the one that is named.
fn replace(packages: &mut Packages, words: &[&str]) {
    let Some(at) = words.iter().position(|word| *word == "=>") else { return };
    if let ([old, ..], [new, version @ ..]) = (&words[..at], &words[at + 1..]) {
        add(packages, &format!("{old} => {new}"), version.first().unwrap_or(&"in this repository"));
    }
}
