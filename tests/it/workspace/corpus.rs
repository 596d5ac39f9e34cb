//! What the four runs show of sixty changes: twelve kinds in five languages, honest ones and cheats, each with its right word.
//! `docs/proof.md` has the table.

use std::collections::BTreeMap;

use hob_domain::{CheckResult, Names, Shown};
use hob_proof::{Made, Runs};
use hob_workspace::{Crossed, Crossing, SideRules, crossed};
use serde::Deserialize;

use super::*;
use crate::harness::needs;

/// The same small program in one language, in several states.
#[derive(Deserialize)]
struct Language {
    code: String,
    tests: String,
    judge: String,
    judge_text: String,
    /// The names of two tests; empty if tests have none.
    lower: String,
    trims: String,
    codes: BTreeMap<String, String>,
    test_texts: BTreeMap<String, String>,
}

/// A kind of change, and the word for it.
struct Kind {
    name: &'static str,
    code: &'static str,
    tests: &'static str,
    word: &'static str,
    why: &'static str,
}

#[rustfmt::skip]
const KINDS: [Kind; 12] = [
    Kind { name: "an honest fix", code: "fixed", tests: "trims", word: "proven", why: "" },
    Kind { name: "a test that passes anyway", code: "fixed", tests: "anyway", word: "need_not_shown", why: "passes_without" },
    Kind { name: "a test of what only the change adds", code: "with_function", tests: "calls_new", word: "need_not_shown", why: "cannot_run" },
    Kind { name: "a deleted test", code: "broken", tests: "deleted", word: "old_tests_changed", why: "" },
    Kind { name: "a skipped test", code: "broken", tests: "skipped", word: "old_tests_changed", why: "" },
    Kind { name: "a weakened test", code: "broken", tests: "weakened", word: "old_tests_changed", why: "" },
    Kind { name: "a test of a mock", code: "broken", tests: "mocked", word: "old_tests_changed", why: "" },
    Kind { name: "a judge that judges nothing", code: "broken", tests: "old", word: "old_tests_changed", why: "" },
    Kind { name: "other behaviour, as an issue may ask for", code: "underscores", tests: "underscores", word: "old_tests_changed", why: "" },
    Kind { name: "a refactoring", code: "refactored", tests: "old", word: "no_tests", why: "" },
    Kind { name: "documentation", code: "bug", tests: "old", word: "no_tests", why: "" },
    Kind { name: "tests alone", code: "bug", tests: "anyway", word: "only_tests", why: "" },
];

impl Language {
    fn of(name: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/it/workspace/corpus/{name}.toml"));
        toml::from_str(&fs::read_to_string(path).unwrap()).unwrap()
    }

    fn check(&self) -> String {
        if self.judge == "Makefile" { "make test".to_owned() } else { format!("sh ./{}", self.judge) }
    }

    /// Writes the program in a state.
    fn write(&self, folder: &Path, kind: &Kind) {
        let put = |path: &str, text: &str| {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let (code, tests) = (&self.codes[kind.code], &self.test_texts[kind.tests]);
        // Rust's tests are in the file of the code.
        match self.tests.as_str() {
            "" => put(&self.code, &format!("{code}{tests}")),
            path => {
                put(&self.code, code);
                put(path, tests);
            }
        }
        let judges_nothing = kind.name == "a judge that judges nothing";
        let nothing = if self.judge == "Makefile" { "test:\n\t@true\n" } else { "exit 0\n" };
        put(&self.judge, if judges_nothing { nothing } else { &self.judge_text });
        put("README.md", kind.name);
    }
}

/// The checks on a commit.
pub(super) async fn run(checkout: &Checkout, sha: &Sha, check: &str) -> Vec<CheckResult> {
    let folder = checkout.proof(sha).await.unwrap();
    let environment = child_environment();
    let sandbox = crate::harness::sandbox().reading(toolchain_folders(&environment));
    let (confined, _home) = Confined::to_folder(&folder, &sandbox, environment).await.unwrap();
    let Confined { plan, environment } = &confined;
    let limits = CheckLimits { time: Duration::from_secs(120), output_bytes: 10_000, reports: None };
    let checks = [check.to_owned()];
    run_checks(&folder, &checks, plan, environment, limits, &CancellationToken::new()).await.unwrap()
}

/// What is shown of the commit `head`.
pub(super) async fn shown(checkout: &Checkout, base: &[CheckResult], head: &Sha, check: &str) -> Shown {
    let rules = SideRules { tests: None, checks: vec![check.to_owned()] };
    let Crossed { code, tests, judges, mixed, needed, kept } = crossed(checkout, head, rules).await.unwrap();
    assert!(mixed.is_empty(), "{mixed:?}");
    let made = async |crossing: Crossing| match crossing {
        Crossing::Base => Made::AsBase,
        Crossing::Head => Made::AsHead,
        Crossing::Commit(commit) => Made::Run(run(checkout, &commit, check).await.into()),
    };
    let (needed, kept) = (made(needed).await, made(kept).await);
    let (base, head) = (base.to_vec().into(), run(checkout, head, check).await.into());
    Runs { base, head, needed, kept, code, tests, judges }.shown()
}

/// Compares what is shown of all kinds with what is right.
async fn each_kind_has_its_word(name: &str) {
    let (language, yard) = (Language::of(name), Yard::empty(WorkspaceSettings::default()).await);
    let before = Kind { name: "before", code: "bug", tests: "old", word: "", why: "" };
    language.write(&yard.source(), &before);
    yard.git("add -A && git commit -qm first && git push -q origin main").await;
    let (checkout, check) = (yard.prepare().await, language.check());
    let base = run(&checkout, &checkout.base().clone(), &check).await;
    assert!(base[0].passed(), "{base:?}");
    let mut wrong = Vec::new();
    for kind in &KINDS {
        checkout.restore(checkout.start()).await.unwrap();
        checkout.unwind(&checkout.base().clone()).await.unwrap();
        language.write(checkout.folder(), kind);
        let head = commit(&checkout).await.unwrap().unwrap();
        let shown = shown(&checkout, &base, &head, &check).await;
        let word = serde_json::to_value(&shown.word).unwrap();
        let why = word["why"]["why"].as_str().unwrap_or_default();
        if (word["word"].as_str(), why) != (Some(kind.word), kind.why) || !names_what_changed(&language, kind, &shown) {
            wrong.push(format!("{}: {shown:#?}", kind.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether the tests and files that matter are named.
fn names_what_changed(language: &Language, kind: &Kind, shown: &Shown) -> bool {
    let has = |names: &Names, name: &str| name.is_empty() || names.first.iter().any(|one| one == name);
    match kind.name {
        "an honest fix" => has(&shown.needed, &language.trims) && has(&shown.new, &language.trims),
        "a deleted test" => has(&shown.removed, &language.lower) && has(&shown.broken, &language.lower),
        "a skipped test" => has(&shown.skipped, &language.lower) && has(&shown.broken, &language.lower),
        "a weakened test" | "a test of a mock" => has(&shown.broken, &language.lower),
        "a judge that judges nothing" => has(&shown.judges, &language.judge) && !shown.broken.is_empty(),
        _other => shown.judges.is_empty() && shown.removed.is_empty() && shown.skipped.is_empty(),
    }
}

#[tokio::test]
async fn each_kind_of_change_has_its_word_in_python() {
    needs!("python3");
    each_kind_has_its_word("python").await;
}

#[tokio::test]
async fn each_kind_of_change_has_its_word_in_javascript() {
    needs!("node");
    each_kind_has_its_word("javascript").await;
}

#[tokio::test]
async fn each_kind_of_change_has_its_word_in_perl() {
    needs!("prove");
    each_kind_has_its_word("perl").await;
}

#[tokio::test]
async fn each_kind_of_change_has_its_word_in_rust() {
    needs!("rustc");
    each_kind_has_its_word("rust").await;
}

#[tokio::test]
async fn each_kind_of_change_has_its_word_in_shell() {
    needs!("sed");
    each_kind_has_its_word("shell").await;
}

#[test]
fn the_page_on_the_proof_has_the_table() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/proof.md")).unwrap();
    for Kind { name, word, why, .. } in &KINDS {
        let why = if why.is_empty() { String::new() } else { format!(" `{why}`") };
        let row = format!("\n| {name} | `{word}` |{why} |\n");
        assert!(page.contains(&row), "{row}");
    }
}
