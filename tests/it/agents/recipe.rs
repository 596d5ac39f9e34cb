//! The recipe backend: fixed steps, no model.

use std::os::unix::fs::{PermissionsExt, symlink};

use hob_domain::{FailureClass, Spend};

use super::*;

async fn cook(bench: &Bench, steps: &str) -> Outcome {
    let text = format!("[agents.cook]\nbackend = 'recipe'\nrecipe = 'r'\n[recipes.r]\nsteps = [{steps}]");
    let report = bench.run(&registry(&text).get("cook").unwrap()).await;
    assert_eq!(Spend { wall_seconds: 0, ..report.spend }, Spend::default());
    report.outcome
}

fn summary(outcome: Outcome) -> String {
    match outcome {
        Outcome::Done { summary, .. } => summary,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_steps_run_in_order() {
    let mut bench = Bench::new(&[("a.md", "Hello $1\nHello\n"), ("docs/b.md", "Hello\n"), ("c.txt", "Hello\n")]);
    let steps = "{ replace = 'Hello', with = '$0 Welcome', in = '**/*.md' }, { run = 'cat a.md docs/b.md > all' }";
    let said = summary(cook(&bench, steps).await);
    assert_eq!(bench.read("all"), "$0 Welcome $1\n$0 Welcome\n$0 Welcome\n");
    assert_eq!(bench.read("c.txt"), "Hello\n");
    assert!(said.contains("replaced `Hello` at 3 places in 2 files\n- ran `cat a.md"), "{said}");
    assert_eq!(bench.said()[1], "step 2 of 2 (run `cat a.md docs/b.md > all`)");
}

#[tokio::test]
async fn a_regular_expression_knows_its_groups() {
    let bench = Bench::new(&[("v.txt", "version = 1.2\nversion = 9.9\n")]);
    cook(&bench, r#"{ replace = '^version = (\d+)\.\d+$', with = "version = ${1}.0", in = 'v.txt', regex = true }"#)
        .await;
    assert_eq!(bench.read("v.txt"), "version = 1.0\nversion = 9.0\n");
}

#[tokio::test]
async fn a_recipe_goes_on_from_its_own_work() {
    let bench = Bench::new(&[("a", "x\n"), ("b", "y\n")]);
    cook(&bench, "{ replace = 'x', with = 'z', in = 'a' }").await;
    let steps = "{ replace = 'x', with = 'z', in = 'a' }, { replace = 'y', with = 'z', in = 'b' }";
    let said = summary(cook(&bench, steps).await);
    assert!(said.contains("`x` is replaced already\n- replaced `y`"), "{said}");
}

#[tokio::test]
async fn a_step_that_fails_or_changes_nothing_says_which_and_why() {
    let bench = Bench::new(&[("a", "x\n")]);
    for (steps, why) in [
        (
            "{ run = 'true' }, { run = 'echo broken >&2; exit 2' }",
            "step 2 of 2 (run `echo broken >&2; exit 2`) of recipe `r` failed: exit code 2: broken",
        ),
        ("{ replace = 'y', with = 'z', in = 'a' }", "the text is in no file that matches (1 file looked at)"),
        ("{ replace = 'x', with = 'x', in = 'a' }", "replaced by itself"),
        ("{ replace = 'x', with = 'z', in = '*.rs' }", "no file matches `*.rs`"),
        ("{ replace = '(', with = 'z', in = 'a', regex = true }", "not valid"),
        ("{ replace = 'x', with = 'z', in = '../a' }", "outside the folder"),
        ("{ replace = 'x', with = 'z', in = '.git/config' }", "belongs to git"),
        ("{ apply = 'issue-diff' }", "no block fenced"),
    ] {
        let outcome = cook(&bench, steps).await;
        let (reason, class) = failure(&outcome);
        assert!(reason.contains(why) && class == &FailureClass::Permanent, "{reason}");
    }
}

#[tokio::test]
async fn the_issues_diff_changes_creates_deletes_and_renames() {
    let mut bench = Bench::new(&[("a.txt", "one\ntwo\nthree\n"), ("old.txt", "gone\n"), ("from.txt", "same\n")]);
    bench.request.body = "Please apply:\n\n```diff\n\
        diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n\
        diff --git a/old.txt b/old.txt\ndeleted file mode 100644\n--- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n\
        diff --git a/new/run.sh b/new/run.sh\nnew file mode 100755\n--- /dev/null\n+++ b/new/run.sh\n@@ -0,0 +1 @@\n+echo hi\n\
        diff --git a/from.txt b/to.txt\nsimilarity index 100%\nrename from from.txt\nrename to to.txt\n```\n"
        .into();
    let said = summary(cook(&bench, "{ apply = 'issue-diff' }").await);
    assert!(said.contains("`a.txt`, `old.txt` (removed), `new/run.sh`"), "{said}");
    assert_eq!(
        (bench.read("a.txt"), bench.read("new/run.sh"), bench.read("to.txt")),
        ("one\n2\nthree\n".into(), "echo hi\n".into(), "same\n".into())
    );
    assert!(!bench.path().join("old.txt").exists() && !bench.path().join("from.txt").exists());
    assert_eq!(fs::metadata(bench.path().join("new/run.sh")).unwrap().permissions().mode() & 0o777, 0o755);
}

#[tokio::test]
async fn a_plain_unified_diff_is_taken_too() {
    let mut bench = Bench::new(&[("greet.sh", "echo Hello\n")]);
    bench.request.body = "```diff\n--- a/greet.sh\n+++ b/greet.sh\n@@ -1 +1 @@\n-echo Hello\n+echo Welcome\n```".into();
    summary(cook(&bench, "{ apply = 'issue-diff' }").await);
    assert_eq!(bench.read("greet.sh"), "echo Welcome\n");
}

#[tokio::test]
async fn a_hostile_diff_changes_nothing_at_all() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("x"), "canary\n").unwrap();
    let good = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n";
    for (bad, why) in [
        ("--- /dev/null\n+++ b/../evil\n@@ -0,0 +1 @@\n+x\n", "outside the folder"),
        ("--- /dev/null\n+++ /etc/evil\n@@ -0,0 +1 @@\n+x\n", "outside the folder"),
        ("--- /dev/null\n+++ b/.git/hooks/post-commit\n@@ -0,0 +1 @@\n+x\n", "belongs to git"),
        ("--- a/out/x\n+++ b/out/x\n@@ -1 +1 @@\n-canary\n+x\n", "symbolic link"),
        ("--- a/none.txt\n+++ b/none.txt\n@@ -1 +1 @@\n-one\n+x\n", "does not exist"),
        ("--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-other\n+x\n", "does not fit `b.txt`"),
        ("--- a/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-be\n", "more than the diff deletes"),
        ("--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+three\n", "`a.txt` twice"),
        ("--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1 @@\n+x\n", "exists already"),
    ] {
        let mut bench = Bench::new(&[("a.txt", "one\n"), ("b.txt", "be\nsea\n")]);
        symlink(outside.path(), bench.path().join("out")).unwrap();
        bench.request.body = format!("```diff\n{good}{bad}```\n");
        let outcome = cook(&bench, "{ apply = 'issue-diff' }").await;
        let (reason, _) = failure(&outcome);
        assert!(reason.contains(why), "{why}: {reason}");
        assert_eq!(bench.read("a.txt"), "one\n", "{why}");
        assert_eq!(fs::read_to_string(outside.path().join("x")).unwrap(), "canary\n");
    }
    let mut bench = Bench::new(&[]);
    bench.request.body = "```diff\ndiff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc\n\\ No newline at end of file\n```".into();
    let outcome = cook(&bench, "{ apply = 'issue-diff' }").await;
    assert!(failure(&outcome).0.contains("a symbolic link, which is refused"), "{outcome:?}");
}

#[tokio::test]
async fn a_diff_whose_last_file_cannot_be_written_leaves_the_others_as_they_were() {
    let mut bench = Bench::new(&[("a", "a\n"), ("b", "b\n")]);
    // `d` is a file by the time `d/c` needs a folder of that name.
    bench.request.body = "```diff\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+A\n--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n\
        --- /dev/null\n+++ b/d\n@@ -0,0 +1 @@\n+d\n--- /dev/null\n+++ b/d/c\n@@ -0,0 +1 @@\n+c\n```"
        .into();
    let outcome = cook(&bench, "{ apply = 'issue-diff' }").await;
    let Outcome::Failed { reason, .. } = &outcome else { panic!("{outcome:?}") };
    assert!(reason.contains("nothing was changed. `d`"), "{reason}");
    assert_eq!((bench.read("a").as_str(), bench.read("b").as_str()), ("a\n", "b\n"));
    assert_eq!(fs::read_dir(bench.path()).unwrap().count(), 2);
}

#[tokio::test]
async fn a_command_that_never_ends_is_ended_by_the_runs_time() {
    let mut bench = Bench::new(&[]);
    bench.request.time = Duration::from_millis(100);
    let outcome = cook(&bench, "{ run = 'sleep 600' }").await;
    assert_eq!(failure(&outcome).1, &FailureClass::Unfinished);
}

#[test]
fn a_recipe_that_is_missing_is_named_with_those_there_are() {
    let text = "[agents.cook]\nbackend = 'recipe'\nrecipe = 'x'\n[recipes.format]\nsteps = [{ run = 'true' }]";
    let error = registry(text).get("cook").err().unwrap().to_string();
    assert!(error.contains("no recipe `x`: there are format"), "{error}");
}
