//! `hob rehearse` through the real binary, with only the paths of programs in its environment.

use std::path::{Path, PathBuf};

use hob_bench::{Script, serve};
use hob_process::{Environment, Finished, Program};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::harness::skipped;

fn environment(home: &Path) -> Environment {
    let mut environment = hob_config::child_environment();
    environment.retain(|name, _| name == "PATH");
    environment.insert("HOME".into(), home.into());
    environment
}

async fn hob(home: &Path, args: &[&str]) -> Finished {
    let program = Program::of_hob(env!("CARGO_BIN_EXE_hob"), &environment(home)).dir(home).args(args);
    program.run(&CancellationToken::new()).await.unwrap()
}

async fn git(folder: &Path, args: &[&str]) -> String {
    let identity = ["-c", "user.name=ann", "-c", "user.email=ann@example.org"];
    let git = Program::of_hob("git", &environment(folder)).dir(folder).args(identity).args(args);
    let finished = git.run(&CancellationToken::new()).await.unwrap();
    assert!(finished.exit.is_success(), "{args:?}: {}", finished.stderr.text());
    finished.stdout.text()
}

/// The states an account names, without their times.
fn states(account: &Value) -> Vec<&str> {
    account["states"].as_array().unwrap().iter().map(|state| state[1].as_str().unwrap()).collect()
}

/// The account follows the events: the last object on standard output.
fn account(finished: &Finished) -> Vec<Value> {
    let text = finished.stdout.text();
    let last = text.lines().last().unwrap_or_else(|| panic!("{}", finished.stderr.text()));
    let mut object: Value = serde_json::from_str(last).unwrap();
    assert_eq!((&object["version"], &object["event"]), (&1.into(), &"result".into()), "{object}");
    serde_json::from_value(object["result"].take()).unwrap()
}

#[tokio::test]
async fn the_bundled_rehearsal_ends_with_a_merge_a_recipe_an_answer_a_hand_off_and_a_refusal() {
    let home = tempfile::tempdir().unwrap();
    // It brings its own agents, regardless of the settings.
    let finished = hob(home.path(), &["rehearse", "--json", "--set", "agent=mine"]).await;
    assert!(finished.exit.is_success(), "{}", finished.stderr.text());
    let accounts = account(&finished);
    assert_eq!(states(&accounts[0]), ["assigned", "in-progress", "in-review", "done"]);
    assert!(
        accounts[0]["evidence"]
            .as_str()
            .unwrap()
            .starts_with("**Proven**: `60 is 1 h 0 min` fails without this change")
    );
    assert!(accounts[0]["diff"].as_str().unwrap().contains("-ge 60"));
    assert_eq!(states(&accounts[1]), ["assigned", "in-progress", "in-review"]);
    // Its first test showed nothing and went back.
    assert!(accounts[2]["evidence"].as_str().unwrap().starts_with("**Proven**: `90.5 is 1 h 30 min` fails"));
    assert!(accounts[3]["evidence"].as_str().unwrap().starts_with("**No tests**"));
    let answered = ["assigned", "in-progress", "blocked", "assigned", "in-progress", "in-review"];
    assert_eq!(states(&accounts[2]), answered);
    assert!(accounts[2]["question"].as_str().unwrap().contains("rounded down or up?"));
    assert_eq!(accounts[2]["answer"], "ann: Round down: a minute counts when it is over.");
    assert_eq!(states(&accounts[3]), ["assigned", "in-progress", "in-review"]);
    assert!(accounts[3]["routed"].as_str().unwrap().starts_with("security ("), "{}", accounts[3]["routed"]);
    assert_eq!(
        accounts[3]["handed_over"],
        serde_json::json!(["security → docs: The README should say which input is refused"])
    );
    assert!(states(&accounts[4])[0].starts_with("refused (`otto` has triage permission"));
    assert!(!home.path().join(".local").exists(), "a rehearsal leaves nothing behind");
}

#[tokio::test]
async fn a_rehearsal_is_few_lines_and_ends_with_what_to_do_next() {
    let home = tempfile::tempdir().unwrap();
    let finished = hob(home.path(), &["rehearse"]).await;
    let (told, said) = (finished.stdout.text(), finished.stderr.text());
    for text in [&told, &said] {
        assert!(!text.contains("http://"), "the forge is gone: {text}");
    }
    let progress = said.lines().filter(|line| line.contains("s #") || line.contains("polled:"));
    assert!(progress.count() <= 48, "{said}");
    assert!(
        !said.contains("turn 1/250") && !said.contains("{\"outcome\"") && !said.contains("blocked     blocked"),
        "{said}"
    );
    insta::assert_snapshot!(told[told.find("It worked").unwrap()..], @r"
    It worked: 4 pull requests, 1 merged, 1 after an answer, 1 handed off; 1 issue refused.

    Next:
      hob rehearse --folder PATH --task FILE --agent NAME
          the same with a copy of your repository and your agent
      hob doctor
          in a clone: what is missing for a real run, and how to fix it; needs GITHUB_TOKEN
      hob run --once --dry-run
          what Hob would do there; writes nothing
      hob verify PULL
          later: whether a pull request is the one that was proven, and who says so
    ");
    let verbose = hob(home.path(), &["rehearse", "-v"]).await.stderr.text();
    assert!(verbose.contains("turn 1/250: asking the model") && !verbose.contains("{\"outcome\""), "{verbose}");
    let quiet = hob(home.path(), &["rehearse", "-q"]).await.stderr.text();
    assert_eq!(quiet, "");
}

#[tokio::test]
async fn a_rehearsal_with_a_repository_of_ones_own_only_reads_it() {
    let home = tempfile::tempdir().unwrap();
    let repo = own_repository(home.path()).await;
    std::fs::write(repo.join("draft.txt"), "not committed").unwrap();
    let before = (git(&repo, &["status", "--porcelain"]).await, git(&repo, &["for-each-ref"]).await);
    let settings = "[agents.maker]\nbackend = 'command'\ncommand = ['sh', '-c', 'cat > /dev/null; echo x > new.txt']";
    std::fs::write(home.path().join("hob.toml"), settings).unwrap();
    let args =
        ["rehearse", "--json", "--config", "hob.toml", "--folder", "mine", "--task", "issue.md", "--agent", "maker"];
    let finished = hob(home.path(), &args).await;
    assert!(finished.exit.is_success(), "{}", finished.stderr.text());
    let accounts = account(&finished);
    assert_eq!(accounts[0]["title"], "Add new.txt");
    assert_eq!(states(&accounts[0]), ["assigned", "in-progress", "in-review"]);
    assert!(!accounts[0]["diff"].as_str().unwrap().contains("draft.txt"));
    assert_eq!(before, (git(&repo, &["status", "--porcelain"]).await, git(&repo, &["for-each-ref"]).await));
}

/// Runs a rehearsal with the agent `native`, and `more` arguments.
async fn native(home: &Path, more: &[&str]) -> Finished {
    let args = ["rehearse", "--json", "--folder", "mine", "--task", "issue.md", "--agent", "native"];
    hob(home, &args.into_iter().chain(more.iter().copied()).collect::<Vec<_>>()).await
}

#[tokio::test]
async fn a_rehearsal_is_recorded_and_played_back_without_a_server_to_the_same_pull_request() {
    let home = tempfile::tempdir().unwrap();
    own_repository(home.path()).await;
    let server = serve(Script::new(["echo one > new.txt", "echo two >> new.txt"]), |_| {}).await.unwrap();
    let base = format!("testing.model.openai_base_url={}/v1", server.address());
    let first = native(home.path(), &["--set", "model.default=openai/x", "--set", &base, "--record", "tapes"]).await;
    assert!(first.exit.is_success(), "{}", first.stderr.text());
    // Two commands, `done`, and `done` again after the look at the change.
    assert_eq!(server.replies(), 4);
    drop(server);
    let tapes: Vec<_> =
        std::fs::read_dir(home.path().join("tapes")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let [tape] = tapes.as_slice() else { panic!("{tapes:?}") };
    let model = format!("model.default=cassette/{}", tape.display());
    let again = native(home.path(), &["--set", &model]).await;
    assert!(again.exit.is_success(), "{}", again.stderr.text());
    let (first, again) = (&account(&first)[0], &account(&again)[0]);
    assert!(first["diff"].as_str().unwrap().contains("+one\n+two"), "{first}");
    for field in ["title", "diff", "evidence"] {
        assert_eq!(first[field], again[field], "{field}");
    }
    assert_eq!(states(first), states(again));
}

#[tokio::test]
async fn a_folder_that_takes_no_recording_is_told_before_any_work() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("file"), "").unwrap();
    let finished = hob(home.path(), &["rehearse", "--record", "file"]).await;
    let said = finished.stderr.text();
    assert!(said.contains("cannot record into `file`") && said.lines().count() == 1, "{said}");
}

/// A person's own repository, `mine`, with an issue beside it.
async fn own_repository(home: &Path) -> PathBuf {
    let repo = home.join("mine");
    std::fs::create_dir_all(repo.join(".github")).unwrap();
    std::fs::write(repo.join(".github/hob.toml"), "checks = ['test -f new.txt']\n").unwrap();
    git(&repo, &["init", "-q", "-b", "trunk"]).await;
    git(&repo, &["add", "-A"]).await;
    git(&repo, &["commit", "-qm", "first"]).await;
    std::fs::write(home.join("issue.md"), "# Add new.txt\n\nPlease.").unwrap();
    repo
}

#[tokio::test]
async fn a_rehearsal_that_leads_to_no_pull_request_is_a_failure() {
    let home = tempfile::tempdir().unwrap();
    own_repository(home.path()).await;
    let idle = "[agents.idle]\nbackend = 'command'\ncommand = ['true']";
    std::fs::write(home.path().join("hob.toml"), idle).unwrap();
    let args = ["rehearse", "--config", "hob.toml", "--folder", "mine", "--task", "issue.md", "--agent"];
    for (agent, code, says) in [
        ("nope", 6, "`nope`"),
        (
            "idle",
            7,
            "hob: the rehearsal ended without a pull request: blocked: The agent changed no file, and did not say why.",
        ),
    ] {
        let finished = hob(home.path(), &[&args[..], &[agent]].concat()).await;
        let said = finished.stderr.text();
        assert!(said.lines().last().unwrap().contains(says), "{agent}: {said}");
        assert_eq!(finished.exit, hob_process::Exit::Code(code), "{agent}: {said}");
    }
}

#[tokio::test]
async fn a_rehearsal_that_lacks_a_part_says_which() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("issue.md"), "# Title").unwrap();
    for (args, says) in [
        (vec!["rehearse", "--folder", "."], "give both"),
        (vec!["rehearse", "--agent", "native"], "give both"),
        (vec!["rehearse", "--folder", ".", "--task", "none.md"], "`none.md` cannot be read"),
        (vec!["rehearse", "--folder", ".", "--task", "issue.md"], "is not a git repository: fatal: "),
    ] {
        let finished = hob(home.path(), &args).await;
        let said = finished.stderr.text();
        assert!(said.contains(says) && said.lines().count() == 1, "{args:?}: {said}");
    }
}

/// Less ordinary repositories: a clone without its history, other kinds of repositories, and folders within.
#[tokio::test]
async fn a_rehearsal_takes_every_kind_of_repository_that_git_reads() {
    let home = tempfile::tempdir().unwrap();
    let mine = own_repository(home.path()).await;
    let settings = "[agents.maker]\nbackend = 'command'\ncommand = ['sh', '-c', 'cat > /dev/null; echo x > new.txt']";
    std::fs::write(home.path().join("hob.toml"), settings).unwrap();
    std::fs::create_dir(mine.join("below")).unwrap();
    git(&mine, &["commit", "-q", "--allow-empty", "-m", "second"]).await;
    let from = format!("file://{}", mine.display());
    git(home.path(), &["clone", "-q", "--depth", "1", &from, "shallow"]).await;
    git(home.path(), &["clone", "-q", "--bare", &from, "bare.git"]).await;
    git(&mine, &["worktree", "add", "-q", "../tree", "-b", "tree"]).await;
    git(home.path(), &["clone", "-q", &from, "detached"]).await;
    git(&home.path().join("detached"), &["checkout", "-q", "--detach"]).await;
    let mut kinds = vec!["mine/below", "shallow", "bare.git", "tree", "detached"];
    for (kind, flag) in [("sha256", "--object-format=sha256"), ("reftable", "--ref-format=reftable")] {
        let repo = home.path().join(kind);
        std::fs::create_dir_all(repo.join(".github")).unwrap();
        std::fs::copy(mine.join(".github/hob.toml"), repo.join(".github/hob.toml")).unwrap();
        let made = Program::of_hob("git", &environment(home.path())).args(["init", "-q", flag]).dir(&repo);
        if !made.run(&CancellationToken::new()).await.unwrap().exit.is_success() {
            skipped(&format!("{kind}: this git does not make one"));
            continue;
        }
        git(&repo, &["add", "-A"]).await;
        git(&repo, &["commit", "-qm", "first"]).await;
        kinds.push(kind);
    }
    if rustix::process::geteuid().is_root() {
        git(home.path(), &["clone", "-q", &from, "theirs"]).await;
        for folder in ["theirs", "theirs/.git"] {
            std::os::unix::fs::chown(home.path().join(folder), Some(12345), Some(12345)).unwrap();
        }
        kinds.push("theirs");
    }
    for kind in kinds {
        let args =
            ["rehearse", "--json", "--config", "hob.toml", "--folder", kind, "--task", "issue.md", "--agent", "maker"];
        let finished = hob(home.path(), &args).await;
        assert!(finished.exit.is_success(), "{kind}: {}", finished.stderr.text());
        assert_eq!(states(&account(&finished)[0]), ["assigned", "in-progress", "in-review"], "{kind}");
    }
    std::fs::create_dir(home.path().join("empty")).unwrap();
    git(&home.path().join("empty"), &["init", "-q"]).await;
    let none = hob(home.path(), &["rehearse", "--folder", "empty", "--task", "issue.md"]).await;
    assert_eq!(
        none.stderr.text(),
        "hob: `empty` is a git repository with no commit yet: commit what Hob is to work on\n"
    );
}
