//! Pushes that the forge refuses: the doctor names them before money is spent, and the issue names the setting that
//! helps.

use github_emulator::{BranchRules, Fault, What, When};
use hob_domain::{BlockCode, State};
use http::Method;
use serde_json::{Value, json};

use crate::harness::{Ended, World, repo_on_forge};

/// Asks first, with work on the branch.
const ASKS_FIRST: &str = r#"case $n in
    0) echo half > half.txt; echo '{"outcome":"question","question":"Go on?"}' ;;
    *) echo done > done.txt ;;
esac"#;

fn words(ended: &Ended) -> String {
    format!("{}{}", ended.stdout, ended.stderr).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn raw(method: &str, path: &str, kind: &str, body: String) -> Fault {
    let headers = [("content-type".to_owned(), kind.to_owned())].into();
    let what = What::Raw { status: 200, headers, body };
    Fault {
        method: Some(method.to_owned()),
        path: path.to_owned(),
        login: Some("hob".into()),
        when: When::Always,
        what,
    }
}

/// The answer of GitHub's git server that refuses a push to `branch`, in its words.
pub(super) fn refuses(branch: &str, reason: &str, says: &[&str]) -> Fault {
    let packet = |text: &str| format!("{:04x}{text}", text.len() + 4);
    let report = packet("unpack ok\n") + &packet(&format!("ng refs/heads/{branch} {reason}\n")) + "0000";
    let said: String = says.iter().map(|line| packet(&format!("\u{2}{line}\n"))).collect();
    let body = said + &packet(&format!("\u{1}{report}")) + "0000";
    raw("POST", "/acme/site.git/git-receive-pack", "application/x-git-receive-pack-result", body)
}

async fn makes_branch(world: &World, name: &str) {
    let main = world.look("/git/ref/heads/main").await["object"]["sha"].clone();
    world.call("wil", Method::POST, "/git/refs", json!({"ref": format!("refs/heads/{name}"), "sha": main})).await;
}

#[tokio::test]
async fn the_doctor_names_each_rule_that_would_refuse_a_push_and_the_setting_that_helps() {
    let world = World::fixing().start().await;
    let doctor = world.hob(&["doctor"]).await;
    assert!(words(&doctor).contains("ok branches no rule refuses pushes to branches such as `hob/1-x`"), "{doctor:?}");
    world
        .forge
        .set_ruleset(
            &repo_on_forge(),
            "hob/1-x",
            Some(BranchRules { required_signatures: true, required_linear_history: true, ..BranchRules::default() }),
        )
        .unwrap();
    let doctor = world.hob(&["doctor"]).await;
    for says in [
        "note branches a rule asks for signed commits on branches such as `hob/1-x`: set `publish.signing`",
        "note branches a rule forbids merge commits on branches such as `hob/1-x`",
    ] {
        assert!(doctor.code == 0 && words(&doctor).contains(says), "{says}: {doctor:?}");
    }
    let pattern = |kind: &str, operator: &str, pattern: &str| json!({"type": kind, "ruleset_id": 1, "parameters": {"operator": operator, "pattern": pattern, "negate": false}});
    let rules = json!([
        {"type": "creation"},
        {"type": "update"},
        {"type": "non_fast_forward"},
        {"type": "deletion"},
        pattern("branch_name_pattern", "regex", "^feature/"),
        pattern("commit_author_email_pattern", "ends_with", "@acme.com"),
        pattern("committer_email_pattern", "ends_with", "@acme.com"),
        {"type": "max_file_size", "parameters": {"max_file_size": 5}},
        {"type": "file_path_restriction", "parameters": {"restricted_file_paths": ["deploy/**"]}},
        // The organization's ruleset asks for the same.
        {"type": "creation"},
    ]);
    let path = "/repos/acme/site/rules/branches/**";
    world.forge.inject(raw("GET", path, "application/json; charset=utf-8", rules.to_string()));
    let doctor = world.hob(&["doctor"]).await;
    let told = words(&doctor);
    for says in [
        "who may make branches such as `hob/1-x`: set `workspace.branch_prefix`",
        "who may update branches such as `hob/1-x`: set `workspace.branch_prefix`",
        "forbids force pushes to branches such as `hob/1-x`",
        "must match `^feature/`, and Hob's are like `hob/1-x`: set `workspace.branch_prefix`",
        "addresses of authors must end with `@acme.com`, and Hob's is",
        "addresses of committers must end with `@acme.com`, and Hob's is",
        "set `workspace.max_file` to `5M`",
        "refuses changes of `deploy/**`",
    ] {
        assert_eq!(told.matches(says).count(), 1, "{says}: {doctor:?}");
    }
    assert_eq!(told.matches("note branches").count(), 8, "{doctor:?}");
    // Settings that are already right are not asked for.
    let doctor = world
        .hob(&["--set", "workspace.branch_prefix=feature/", "--set", "publish.author=Hob <hob@acme.com>", "doctor"])
        .await;
    assert!(doctor.code == 0, "{doctor:?}");
    assert!(!words(&doctor).contains("^feature/") && !words(&doctor).contains("@acme.com`"), "{doctor:?}");
    world.forge.heal();
    world.finish().await;
}

#[tokio::test]
async fn a_forge_without_rulesets_refuses_nothing_by_rules() {
    for status in [403, 404] {
        let world = World::fixing().start().await;
        world.forge.inject(Fault {
            method: Some("GET".to_owned()),
            path: "/repos/acme/site/rules/branches/**".to_owned(),
            login: None,
            when: When::Always,
            what: What::Answer { status, headers: Default::default(), message: "Upgrade to GitHub Pro".to_owned() },
        });
        let doctor = world.hob(&["doctor"]).await;
        assert!(doctor.code == 0 && words(&doctor).contains("ok branches no rule"), "{status}: {doctor:?}");
        world.finish().await;
    }
}

#[tokio::test]
async fn a_branch_that_leaves_no_room_for_hobs_is_found_before_the_first_write() {
    let world = World::fixing().start().await;
    makes_branch(&world, "hob").await;
    let issue = world.asks("Make done.txt", "").await;
    let says = "the branch `hob` leaves no room for branches `hob/…`, since git keeps no branch below the name of another: \
                delete or rename it, or set `workspace.branch_prefix`";
    for args in [&["doctor"][..], &["run", "--once"]] {
        let ended = world.hob(args).await;
        assert!(ended.code == 6 && words(&ended).contains(says), "{ended:?}");
    }
    assert_eq!((world.writes(), world.record(issue).await), (vec![], None));
    let run = world.hob(&["--set", "workspace.branch_prefix=robot/", "run", "--once"]).await;
    assert_eq!((run.code, world.labels(issue).await), (0, vec!["code".into(), "in-review".into()]), "{run:?}");
    world.finish().await;
}

/// The branch appears after the worker has looked, as it does when it starts.
#[tokio::test]
async fn a_branch_in_the_way_blocks_the_issue_before_any_agent_runs() {
    let world = World::fixing().start().await;
    makes_branch(&world, "hob").await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    assert_eq!(world.blocked(issue).await, Some(BlockCode::SetUpNeeded), "{:?}", world.failures());
    assert_eq!((world.briefs(issue).len(), world.branches().await), (0, vec!["hob".to_owned()]));
    let status = world.status(issue).await;
    assert!(
        status.contains("The branch `hob` leaves no room") && status.contains("`workspace.branch_prefix`"),
        "{status}"
    );

    world.call("wil", Method::DELETE, "/git/refs/heads/hob", Value::Null).await;
    world.comments("ann", issue, "/hob retry").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    world.finish().await;
}

/// It is made while the agent works: git's own refusal is not taken for a lost race.
#[tokio::test]
async fn a_branch_in_the_way_at_the_push_is_a_refusal_that_names_what_helps() {
    let world = World::fixing().start().await;
    makes_branch(&world, "hob").await;
    world.forge.inject(Fault {
        method: Some("GET".to_owned()),
        path: "/repos/acme/site/git/ref/heads/hob".to_owned(),
        login: None,
        when: When::Always,
        what: What::Answer { status: 404, headers: Default::default(), message: "Not Found".to_owned() },
    });
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    assert_eq!(world.blocked(issue).await, Some(BlockCode::PushRefused), "{:?}", world.failures());
    let status = world.status(issue).await;
    assert!(status.contains("Another branch's name leaves no room for this one"), "{status}");
    assert_eq!(world.briefs(issue).len(), 1);
    world.finish().await;
}

#[tokio::test]
async fn a_push_without_the_signatures_that_a_rule_asks_for_names_the_setting() {
    let world = World::with_agent(ASKS_FIRST).check("test -f done.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    let branch = format!("hob/{issue}-make-done-txt");
    let rules = BranchRules { required_signatures: true, ..BranchRules::default() };
    world.forge.set_ruleset(&repo_on_forge(), &branch, Some(rules)).unwrap();
    world.comments("ann", issue, "/hob retry").await;
    world.run().await;
    let record = world.record(issue).await.unwrap();
    assert_eq!((record.state, record.blocked.unwrap().reason), (State::Blocked, BlockCode::PushRefused));
    let status = world.status(issue).await;
    assert!(status.contains("Commits must have verified signatures."), "{status}");
    assert!(status.contains("\n\nA rule asks for signed commits: set `publish.signing`"), "{status}");
    world.finish().await;
}

#[tokio::test]
async fn a_push_with_a_private_address_names_the_setting() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    let says = [
        "error: GH007: Your push would publish a private email address.",
        "You can make your email public or disable this protection by visiting:",
        "https://github.com/settings/emails",
    ];
    let branch = format!("hob/{issue}-make-done-txt");
    world.forge.inject(refuses(&branch, "push declined due to email privacy restrictions", &says));
    world.run().await;
    assert_eq!(world.blocked(issue).await, Some(BlockCode::PushRefused), "{:?}", world.failures());
    let status = world.status(issue).await;
    assert!(
        status.contains("GH007") && status.contains("write the account's noreply address into `publish.author`"),
        "{status}"
    );
    world.forge.heal();
    world.comments("ann", issue, "/hob retry").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    world.finish().await;
}
