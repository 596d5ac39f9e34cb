//! Files in the agent's folder that are in no commit: tools made them, or git would lose them. People and the agent are
//! told.

use crate::harness::{World, redacted};

async fn files(world: &World) -> Vec<String> {
    let number = world.pull().await["number"].as_u64().unwrap();
    let files = world.look(&format!("/pulls/{number}/files")).await;
    files.as_array().unwrap().iter().map(|file| file["filename"].as_str().unwrap().to_owned()).collect()
}

/// The state in which an agent leaves a folder after running the tests, in a repository that ignores nothing.
const MAKES: &str = "mkdir -p pkg/__pycache__ node_modules/a .venv/lib target/debug && echo x > pkg/__pycache__/m.pyc \
                     && echo x > pkg/n.pyc && for n in $(seq 300); do echo x > node_modules/a/$n; done \
                     && touch .venv/pyvenv.cfg && echo x > .venv/lib/x.py && cp /bin/true a.out \
                     && echo 'Signature: 8a477f597d28d172789f06886806bc55' > target/CACHEDIR.TAG && echo x > target/debug/x \
                     && mkdir src && echo x > src/a.py && echo done > done.txt";

/// Case c08.
#[tokio::test]
async fn what_tools_make_is_left_out_and_named() {
    let world = World::with_agent(MAKES).start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    assert_eq!(files(&world).await, ["done.txt", "src/a.py"]);
    let _redacted = redacted();
    insta::assert_snapshot!(world.pull().await["body"].as_str().unwrap(), @r#"
    Fixes #1

    ## What changed

    2 files changed, 2 lines added, 0 removed:

    - `done.txt` (+1 −0)
    - `src/a.py` (+1 −0)

    Not committed:

    - `.venv/` (2 files): made by tools
    - `a.out`: made by tools
    - `node_modules/` (300 files): made by tools
    - `pkg/__pycache__/`: made by tools
    - `pkg/n.pyc`: made by tools
    - `target/` (2 files): made by tools

    Files that tools make are committed only if the issue names them or the repository already tracks a part of them.


    ## Evidence

    **Not verified**: `.github/hob.toml` on the base branch names no checks. Add `checks = ["…"]` there, and Hob runs them on the base and on the head.

    ## Open

    No check has run this change: try it before you merge it.

    To ask Hob for a change, submit a review, comment on a line, or begin a comment with `/hob`. `/hob cancel` ends the work.

    <details><summary>Why, cost and limits</summary>

    `ann` asked Hob to work on the issue “Make done.txt”.

    Cost: [duration] over 1 attempt, by the agent `fixer`. An attempt may take 30m, an issue $5.00 and 3 attempts between two answers. Agent and checks ran in a sandbox of the tier `fence`.

    `hob explain 1 --history` prints each step.

    </details>
    "#);
    world.finish().await;
}

#[tokio::test]
async fn what_the_issue_names_or_the_repository_tracks_is_committed() {
    let script = "mkdir -p node_modules/b tools && echo x > node_modules/b/x && cp /bin/true tools/run \
                  && cp /bin/true other && echo done > done.txt";
    let world = World::with_agent(script).file("node_modules/a/x", "x\n").start().await;
    world.asks("Make done.txt", "Put the program into `tools/run`.").await;
    world.run().await;
    assert_eq!(files(&world).await, ["done.txt", "node_modules/b/x", "tools/run"], "{:?}", world.failures());
    world.finish().await;
}

/// Case c04.
#[tokio::test]
async fn a_file_that_git_would_convert_by_a_program_is_named_and_not_committed_raw() {
    let world = World::with_agent("echo raw > logo.bin; echo done > done.txt")
        .file(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
        .start()
        .await;
    world.asks("Make done.txt", "").await;
    world.run().await;
    assert_eq!(files(&world).await, ["done.txt"], "{:?}", world.failures());
    let body = world.pull().await["body"].as_str().unwrap().to_owned();
    assert!(body.contains("- `logo.bin`: kept by the filter `lfs`, which Hob does not run\n"), "{body}");
    world.finish().await;
}

/// Case c10.
#[tokio::test]
async fn work_that_git_ignores_is_named_where_nothing_else_changed() {
    let world = World::with_agent("echo x > dist/new.js")
        .file(".gitignore", "dist/\n")
        .file("dist/old.js", "x\n")
        .start()
        .await;
    let issue = world.asks("Make dist/new.js", "").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["blocked", "code"], "{:?}", world.failures());
    let status = world.status(issue).await;
    assert!(status.contains("`dist/new.js`: ignored by git, beside files that are not"), "{status}");
    world.finish().await;
}

/// If a check misses a file that was left out, the agent is told.
#[tokio::test]
async fn an_agent_whose_check_misses_what_was_left_out_is_told_so() {
    let world = World::with_agent("case $n in 0) cp /bin/true fixture; echo x > y;; *) echo x > fixture;; esac")
        .check("test ! -f y || test -f fixture")
        .start()
        .await;
    let issue = world.asks("Add what the check wants", "").await;
    world.run().await;
    let briefs = world.briefs(issue);
    assert_eq!(briefs.len(), 2, "{:?}", world.failures());
    assert!(briefs[1].contains("- `fixture`: made by tools"), "{}", briefs[1]);
    world.finish().await;
}

const WORKTREE: &str = "mkdir -p .claude/worktrees/agent-1 && echo x > .claude/worktrees/agent-1/a \
                        && echo 'gitdir: /x' > .claude/worktrees/agent-1/.git";

/// Case c32: a problem that an agent can fix in a minute goes to it first.
#[tokio::test]
async fn an_agent_is_told_first_what_git_would_lose() {
    let script = format!("case $n in 0) {WORKTREE}; echo done > done.txt;; *) rm -r .claude;; esac");
    let world = World::with_agent(&script).start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    let briefs = world.briefs(issue);
    assert!(briefs[1].contains("- `.claude/worktrees/agent-1/`: a separate git repository"), "{}", briefs[1]);
    assert!(briefs[1].contains("Nobody gets what is in no commit."), "{}", briefs[1]);
    assert_eq!((briefs.len(), files(&world).await), (2, vec!["done.txt".to_owned()]), "{:?}", world.failures());
    let body = world.pull().await["body"].as_str().unwrap().to_owned();
    assert!(!body.contains("Not committed"), "{body}");
    world.finish().await;
}

/// Case c32: people learn which files the agent still leaves, after it was asked about them.
#[tokio::test]
async fn what_an_agent_leaves_as_it_is_is_told_to_people() {
    let world = World::with_agent(&format!("{WORKTREE}; echo done > done.txt")).start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    assert_eq!((world.briefs(issue).len(), files(&world).await), (2, vec!["done.txt".to_owned()]));
    let body = world.pull().await["body"].as_str().unwrap().to_owned();
    assert!(body.contains("- `.claude/worktrees/agent-1/`: a separate git repository\n"), "{body}");
    world.finish().await;
}

#[tokio::test]
async fn an_agent_mends_what_cannot_be_committed_or_a_person_is_asked() {
    for (mend, labels) in [("rm -r git~1", ["code", "in-review"]), ("true", ["blocked", "code"])] {
        let script = format!("case $n in 0) mkdir git~1; echo x > git~1/x; echo done > done.txt;; *) {mend};; esac");
        let world = World::with_agent(&script).start().await;
        let issue = world.asks("Make done.txt", "").await;
        world.run().await;
        let briefs = world.briefs(issue);
        assert_eq!(world.labels(issue).await, labels, "{:?}", world.failures());
        assert_eq!(briefs.len(), 2);
        let told = "Your work so far cannot be committed: `git~1/x` has a name that git could take for its own folder. Mend that.";
        assert!(briefs[1].contains(told), "{}", briefs[1]);
        world.finish().await;
    }
}
