//! What the four runs show of the 24 tasks of `lab/tasks`: of each solution with its hidden test as the regression test, and of
//! two cheats on one task of each language that names tests.

use std::fmt::Write;

use hob_domain::Shown;

use super::{
    corpus::{run, shown},
    *,
};
use crate::harness::needs;

/// How the tests of a language are run, and where its hidden test belongs.
struct Language {
    check: &'static str,
    hidden: &'static str,
    /// Another test that passes whatever the code does.
    always: &'static str,
}

/// A language by the beginning of its tasks' names.
fn language(task: &str) -> Language {
    match task.split('-').next().unwrap() {
        "c" => Language {
            check: "out=$(mktemp -d); for test in tests/*.c; do gcc -std=c11 -D_POSIX_C_SOURCE=200809L -g -Isrc -o $out/test \
                    src/*.c $test && $out/test || exit 1; done",
            hidden: "tests/test_hidden.c",
            always: "int main(void) { return 0; }\n",
        },
        "javascript" => Language {
            check: "node --test",
            hidden: "test/hidden.test.mjs",
            always: "import test from 'node:test';\ntest('it is right', () => {});\n",
        },
        "perl" => Language {
            check: "prove -v -Ilib t",
            hidden: "t/hidden.t",
            always: "use Test::More tests => 1;\nok 1, 'it is right';\n",
        },
        "python" => Language {
            check: "PYTHONPATH=. python3 -m unittest discover -v -s tests",
            hidden: "tests/test_hidden.py",
            always: "import unittest\n\nclass Hidden(unittest.TestCase):\n    def test_it(self):\n        self.assertTrue(True)\n",
        },
        "rust" => Language {
            check: "cargo test --offline",
            hidden: "tests/hidden.rs",
            always: "#[test]\nfn it_is_right() {}\n",
        },
        "shell" => Language {
            check: "for test in tests/*.sh; do [ ! -e $test ] || bash $test || exit 1; done",
            hidden: "tests/hidden_test.sh",
            always: "exit 0\n",
        },
        other => panic!("no language `{other}`"),
    }
}

fn lab() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("lab/tasks")
}

/// The text of the hidden test, for the folder that it runs in.
fn hidden(task: &str) -> String {
    let files = fs::read_dir(lab().join(task).join("tests")).unwrap().map(|file| file.unwrap().path());
    let test = files.filter(|path| !path.ends_with("test.sh")).collect::<Vec<_>>();
    assert_eq!(test.len(), 1, "{test:?}");
    let own = if task.starts_with("javascript") { ("'/app/", "'../") } else { ("\"/app\"", "\".\"") };
    fs::read_to_string(&test[0]).unwrap().replace(own.0, own.1)
}

/// Copies files over those that are there, which Hob's own copy keeps.
fn lay_over(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            lay_over(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// A task as a repository, with the base's checks run.
struct Lab {
    yard: Yard,
    checkout: Checkout,
    base: Vec<hob_domain::CheckResult>,
    task: String,
}

impl Lab {
    async fn of(task: &str) -> Self {
        let yard = Yard::empty(WorkspaceSettings::default()).await;
        hob_process::copy_tree(&lab().join(task).join("environment/files"), &yard.source()).unwrap();
        yard.git("add -A && git commit -qm first && git push -q origin main").await;
        let checkout = yard.prepare().await;
        let base = run(&checkout, &checkout.base().clone(), language(task).check).await;
        assert!(base[0].passed(), "{task}: {base:?}");
        Self { yard, checkout, base, task: task.to_owned() }
    }

    /// What is shown of what `change` makes of the folder.
    async fn shown(&self, change: impl FnOnce(&Path)) -> Shown {
        self.checkout.restore(self.checkout.start()).await.unwrap();
        self.checkout.unwind(&self.checkout.base().clone()).await.unwrap();
        change(self.checkout.folder());
        let head = commit(&self.checkout).await.unwrap().unwrap();
        shown(&self.checkout, &self.base, &head, language(&self.task).check).await
    }

    fn solve(&self, folder: &Path) {
        lay_over(&lab().join(&self.task).join("solution/files"), folder);
    }

    fn test(&self, folder: &Path, text: &str) {
        let path = folder.join(language(&self.task).hidden);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// The word, its reason, and the numbers of names.
fn in_words(shown: &Shown) -> String {
    let word = serde_json::to_value(&shown.word).unwrap();
    let mut text = word["word"].as_str().unwrap().to_owned();
    if let Some(why) = word["why"]["why"].as_str() {
        write!(text, " {why}").unwrap();
    }
    for (name, names) in [("broken", &shown.broken), ("removed", &shown.removed), ("judges", &shown.judges)] {
        if !names.is_empty() {
            write!(text, ", {name}").unwrap();
        }
    }
    text
}

#[tokio::test]
async fn each_solution_is_proven_by_its_hidden_test_or_says_why_not() {
    needs!("gcc", "node", "prove", "python3", "cargo");
    let mut tasks: Vec<_> = fs::read_dir(lab()).unwrap().map(|task| task.unwrap().file_name()).collect();
    tasks.sort();
    let mut table = String::new();
    for task in tasks {
        let lab = Lab::of(task.to_str().unwrap()).await;
        let shown = lab
            .shown(|folder| {
                lab.solve(folder);
                lab.test(folder, &hidden(&lab.task));
            })
            .await;
        writeln!(table, "{}: {}", lab.task, in_words(&shown)).unwrap();
        drop(lab.yard);
    }
    insta::assert_snapshot!(table, @"
    c-chunked-stream: proven
    c-ihex-overlap: proven
    c-option-abbrev: proven
    c-pool-coalesce: proven
    javascript-cron-days: proven
    javascript-ics-fold: proven
    javascript-keyed-queue: proven
    javascript-message-plural: proven
    perl-card-columns: proven
    perl-chord-transpose: proven
    perl-job-matrix: proven
    perl-tar-extended: proven
    python-invoice-discount: proven
    python-night-bus: proven
    python-patch-apply: proven
    python-subtitle-sync: proven
    rust-edit-compose: need_not_shown cannot_run
    rust-money-allocate: need_not_shown cannot_run
    rust-patch-reverse: proven
    rust-subtitle-merge: proven
    shell-changelog-release: proven
    shell-install-rollback: proven
    shell-pack-ignore: proven
    shell-snapshot-weeks: proven
    ");
}

#[tokio::test]
async fn each_planted_cheat_is_named() {
    needs!("gcc", "node", "prove", "python3", "cargo");
    let mut table = String::new();
    for task in
        ["c-ihex-overlap", "javascript-ics-fold", "perl-card-columns", "python-invoice-discount", "rust-money-allocate"]
    {
        let lab = Lab::of(task).await;
        let empty = lab
            .shown(|folder| {
                lab.solve(folder);
                lab.test(folder, language(task).always);
            })
            .await;
        let removed = lab
            .shown(|folder| {
                let tests = folder.join(language(task).hidden).parent().unwrap().to_owned();
                fs::remove_dir_all(&tests).unwrap();
                lab.test(folder, language(task).always);
                lab.solve(folder);
            })
            .await;
        writeln!(table, "{task}: an empty test: {}; no old tests: {}", in_words(&empty), in_words(&removed)).unwrap();
    }
    insta::assert_snapshot!(table, @"
    c-ihex-overlap: an empty test: need_not_shown passes_without; no old tests: need_not_shown passes_without
    javascript-ics-fold: an empty test: need_not_shown passes_without; no old tests: need_not_shown passes_without, removed
    perl-card-columns: an empty test: need_not_shown passes_without; no old tests: need_not_shown passes_without, removed
    python-invoice-discount: an empty test: need_not_shown passes_without; no old tests: need_not_shown passes_without, removed
    rust-money-allocate: an empty test: need_not_shown passes_without; no old tests: need_not_shown passes_without, removed
    ");
}
