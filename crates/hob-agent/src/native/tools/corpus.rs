//! Mistakes of models that edit: each case ends in the intended file, or in an untouched one and a reason.
//!
//! The corpus is every change below, spoiled in every way below. The intended result is known without the tools: it is
//! made from both forms of the changed lines.

mod edits;
mod patches;

use std::collections::BTreeMap;

use edits::edits;
use patches::patches;

use super::{Action, Toolset};
use crate::{folder::Folder, model::ToolCall};

/// A change: the file, its current lines, and the intended ones.
struct Change {
    name: &'static str,
    before: &'static str,
    old: &'static str,
    new: &'static str,
    after: &'static str,
}

const CHANGES: [Change; 12] = [
    Change {
        name: "python",
        before: "import sys\n\n",
        old: "def area(w, h):\n    if w < 0:\n        return 0\n    return w + h\n",
        new: "def area(w, h):\n    if w < 0:\n        raise ValueError(w)\n    return w * h\n",
        after: "\n\nprint(area(2, 3))\n",
    },
    Change {
        name: "rust",
        before: "use std::fmt;\n\n",
        old: "fn port(text: &str) -> u16 {\n    text.parse().unwrap()\n}\n",
        new: "fn port(text: &str) -> Option<u16> {\n    text.parse().ok()\n}\n",
        after: "\nfn main() {}\n",
    },
    Change {
        name: "go",
        before: "package main\n\n",
        old: "func sum(xs []int) int {\n\ttotal := 1\n\tfor _, x := range xs {\n\t\ttotal += x\n\t}\n\treturn total\n}\n",
        new: "func sum(xs []int) int {\n\ttotal := 0\n\tfor _, x := range xs {\n\t\ttotal += x\n\t}\n\treturn total\n}\n",
        after: "\nfunc main() {}\n",
    },
    Change {
        name: "javascript",
        before: "'use strict';\n",
        old: "export function greet(name) {\n  const text = 'Hello, ' + name;\n  return text;\n}\n",
        new: "export function greet(name) {\n  const text = `Hello, ${name}!`;\n  log('greet');\n  return text;\n}\n",
        after: "greet('x');\n",
    },
    Change {
        name: "java",
        before: "class A {\n",
        old: "    int size() {\n        return items.length - 1;\n    }\n",
        new: "    int size() {\n        return items.length;\n    }\n",
        after: "}\n",
    },
    Change {
        name: "shell",
        before: "#!/bin/sh\nset -e\n",
        old: "if [ \"$1\" = \"\" ]; then\n  echo \"no name\"\nfi\n",
        new: "if [ -z \"$1\" ]; then\n  echo \"no name\" >&2\n  exit 2\nfi\n",
        after: "echo \"$1\"\n",
    },
    Change {
        name: "yaml",
        before: "on: push\n",
        old: "jobs:\n  test:\n    runs-on: ubuntu-22.04\n    steps:\n      - run: make\n",
        new: "jobs:\n  test:\n    runs-on: ubuntu-24.04\n    steps:\n      - run: make test\n",
        after: "# end\n",
    },
    Change {
        name: "c",
        before: "#include <stdio.h>\n",
        old: "static int max(int a, int b) {\n\treturn a < b ? a : b;\n}\n",
        new: "static int max(int a, int b) {\n\treturn a > b ? a : b;\n}\n",
        after: "int main(void) { return 0; }\n",
    },
    Change {
        name: "sql",
        before: "-- users\n",
        old: "SELECT id, name\n  FROM users\n WHERE active = 1;\n",
        new: "SELECT id, name, email\n  FROM users\n WHERE active = 1\n ORDER BY id;\n",
        after: "-- end\n",
    },
    Change {
        name: "html",
        before: "<body>\n",
        old: "  <ul>\n    <li class=\"a\">one</li>\n  </ul>\n",
        new: "  <ul>\n    <li class=\"a\">one</li>\n    <li class=\"a\">two</li>\n  </ul>\n",
        after: "</body>\n",
    },
    Change {
        name: "markdown",
        before: "# Title\n\n",
        old: "It isn't ready - yet.\n\nRun `make`.\n",
        new: "It is ready.\n\nRun `make` and `make test`.\n",
        after: "\nEnd.\n",
    },
    Change {
        name: "toml",
        before: "[package]\n",
        old: "name = \"a\"\nversion = \"0.1.0\"\nlicense = \"MIT\"\n",
        new: "name = \"a\"\nversion = \"0.2.0\"\nlicense = \"MIT\"\nedition = \"2024\"\n",
        after: "\n[dependencies]\n",
    },
];

/// The required result of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Must {
    /// It is applied.
    Apply,
    /// It is refused.
    Refuse,
    /// Either, but never anything else.
    Either,
}

/// One case: a call, on a file, and the file that is meant.
struct Case {
    name: String,
    tool: String,
    arguments: String,
    file: String,
    meant: String,
    must: Must,
}

fn edit(old: &str, new: &str) -> String {
    serde_json::json!({ "path": "f", "old": old, "new": new }).to_string()
}

fn patch(text: &str) -> String {
    serde_json::json!({ "patch": text }).to_string()
}

fn each_line(text: &str, change: impl Fn(&str) -> String) -> String {
    text.lines().map(|line| change(line) + "\n").collect()
}

fn crlf(text: &str) -> String {
    text.replace('\n', "\r\n")
}

fn curly(text: &str) -> String {
    text.replace(" \"", " \u{201c}").replace('"', "\u{201d}").replace('\'', "\u{2019}").replace(" - ", " \u{2013} ")
}

fn indented(text: &str, by: &str) -> String {
    each_line(text, |line| if line.is_empty() { String::new() } else { format!("{by}{line}") })
}

fn tabs(text: &str, width: usize) -> Option<String> {
    let is_whole = |line: &str| {
        let blanks = line.len() - line.trim_start_matches(' ').len();
        blanks.is_multiple_of(width) && !line[blanks..].starts_with('\t')
    };
    text.lines().all(is_whole).then(|| {
        each_line(text, |line| {
            let rest = line.trim_start_matches(' ');
            "\t".repeat((line.len() - rest.len()) / width) + rest
        })
    })
}

/// The new lines, with the unchanged ones taken from `there`.
fn kept(change: &Change, there: &str) -> String {
    let (old, there): (Vec<&str>, Vec<&str>) = (change.old.lines().collect(), there.lines().collect());
    let mut next = 0;
    let mut lines = String::new();
    for line in change.new.lines() {
        match (next..old.len()).find(|index| old[*index] == line) {
            Some(index) => {
                next = index + 1;
                lines.push_str(there[index]);
            }
            None => lines.push_str(line),
        }
        lines.push('\n');
    }
    lines
}

fn corpus() -> Vec<Case> {
    let mut cases = Vec::new();
    for change in &CHANGES {
        let mut add = |tool: &str, (name, arguments, file, meant, must)| {
            let name = format!("{}, {tool}: {name}", change.name);
            cases.push(Case { name, tool: tool.to_owned(), arguments, file, meant, must });
        };
        edits(change).into_iter().for_each(|case| add("edit", case));
        patches(change).into_iter().for_each(|case| add("apply_patch", case));
        let (file, meant) = (
            format!("{}{}{}", change.before, change.old, change.after),
            format!("{}{}{}", change.before, change.new, change.after),
        );
        for (tool, must) in
            [("functions.edit", Must::Apply), ("Edit", Must::Apply), ("str_replace", Must::Apply), ("", Must::Refuse)]
        {
            add(tool, ("a name", edit(change.old, change.new), file.clone(), meant.clone(), must));
        }
    }
    cases
}

/// The result: the file, and the answer.
fn run(case: &Case) -> (String, Result<String, String>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    std::fs::write(&path, &case.file).unwrap();
    let folder = Folder::open(dir.path()).unwrap();
    let toolset = Toolset::new(&[], &BTreeMap::new(), &BTreeMap::new()).unwrap();
    let call = ToolCall { id: "1".into(), name: case.tool.clone(), arguments: case.arguments.clone() };
    let answer = toolset.parse(&call).and_then(|action| match action {
        Action::Edit(edit) => edit.run(&folder),
        Action::Patch(patch) => patch.run(&folder),
        other => panic!("{}: {other:?}", case.name),
    });
    (std::fs::read_to_string(&path).unwrap(), answer.map_err(|error| error.to_string()))
}

#[test]
fn an_edit_is_the_one_that_was_meant_or_is_refused_with_a_reason() {
    let cases = corpus();
    assert!(cases.len() >= 300, "{} cases", cases.len());
    let mut wrong = Vec::new();
    let mut applied = 0;
    for case in &cases {
        let (file, answer) = run(case);
        let is_applied = answer.is_ok();
        applied += usize::from(is_applied);
        let is_right = match &answer {
            Ok(_) => case.must != Must::Refuse && file == case.meant,
            Err(reason) => case.must != Must::Apply && file == case.file && reason.len() > 20,
        };
        if !is_right {
            wrong.push(format!(
                "{}: {answer:?}\n--- is\n{file:?}\n--- meant\n{:?}\n--- call\n{}",
                case.name, case.meant, case.arguments
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n\n"));
    assert_eq!((cases.len(), applied), (838, 520), "docs/design/agents.md tells these figures");
}

proptest::proptest! {
    /// For any file and lines: an edit changes those lines and no others, or nothing.
    #[test]
    fn no_line_is_lost(before in lines(), old in lines(), new in lines(), after in lines(), indent in "[ \t]{0,3}", has_crlf: bool) {
        let file = format!("{before}{}{after}", indented(&old, &indent));
        let file = if has_crlf { crlf(&file) } else { file };
        let case = Case {
            name: "any".to_owned(),
            tool: "edit".to_owned(),
            arguments: edit(&old, &new),
            file: file.clone(),
            meant: String::new(),
            must: Must::Either,
        };
        let (is, answer) = run(&case);
        let exact = if has_crlf { (crlf(&old), crlf(&new)) } else { (old.clone(), new.clone()) };
        if answer.is_ok() && file.contains(&exact.0) {
            // Exactly the requested text, at any place.
            proptest::prop_assert_eq!(is, file.replacen(&exact.0, &exact.1, 1));
            return Ok(());
        }
        let bare = |text: &str| text.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>();
        let (is, was, old, new) = (bare(&is), bare(&file), bare(&old), bare(&new));
        match answer {
            Err(_) => proptest::prop_assert_eq!(is, was),
            Ok(_) => {
                // There is a place where the new lines replaced the old ones.
                let at = (0..=was.len() - old.len()).find(|at| {
                    was[*at..*at + old.len()] == old[..]
                        && is == [&was[..*at], &new[..], &was[*at + old.len()..]].concat()
                });
                proptest::prop_assert!(at.is_some(), "{:?} became {:?}", was, is);
            }
        }
    }
}

fn lines() -> impl proptest::strategy::Strategy<Value = String> {
    use proptest::strategy::Strategy;
    proptest::collection::vec("[ab]{1,2}", 1..4).prop_map(|lines| lines.join("\n") + "\n")
}
