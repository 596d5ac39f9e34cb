//! Moods: each has its recorded effect, and without it the answers are the usual ones.

use serde_json::{Value, json};

use super::mood_fixture::moody;
use crate::{Mood, Moods, graphql::tests::fixture::Fixture};

const SITE: &str = "/repos/ada/site";
const REFS: &str = "POST /repos/ada/site/git/refs";

async fn create(fixture: &Fixture, name: &str, sha: &str) -> (u16, String) {
    let (status, said) = fixture.answer("tw", REFS, json!({"ref": name, "sha": sha})).await;
    (status, said["message"].as_str().unwrap_or_default().to_owned())
}

/// A commit on top of `parent`.
async fn commit(fixture: &Fixture, parent: &str, message: &str) -> String {
    let tree =
        fixture.rest("tw", &format!("GET {SITE}/git/commits/{parent}"), Value::Null).await["tree"]["sha"].clone();
    let body = json!({"message": message, "tree": tree, "parents": [parent]});
    fixture.rest("tw", &format!("POST {SITE}/git/commits"), body).await["sha"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn permissions_are_false_for_what_is_no_user() {
    let fixture = moody("token-permissions").await;
    let all = |permission: bool| json!({"admin": false, "maintain": false, "push": permission, "triage": permission, "pull": permission});
    let shown =
        async |token: &str| fixture.rest(token, &format!("GET {SITE}"), Value::Null).await["permissions"].clone();
    assert_eq!(shown("tb").await, all(false));
    assert_eq!(shown("tw").await, all(true), "a person's are as they are");
    let list = fixture.rest("tb", "GET /installation/repositories", Value::Null).await;
    assert_eq!(list["repositories"][0]["permissions"], all(false));
    let sha = fixture.tip("main").await;
    assert_eq!(create(&fixture, "refs/hob/a", &sha).await.0, 201, "what it may do stays");
    fixture.forge.set_moods(Moods::default());
    assert_eq!(shown("tb").await, all(true));
}

#[tokio::test]
async fn who_loses_a_race_for_a_ref_is_told_in_one_of_three_wordings() {
    let fixture = moody("ref-races@5").await;
    let main = fixture.tip("main").await;
    let (one, other) = (commit(&fixture, &main, "One").await, commit(&fixture, &main, "Other").await);
    assert_eq!(create(&fixture, "refs/hob/a", &one).await.0, 201);
    let mut wordings = std::collections::BTreeSet::new();
    for _ in 0..20 {
        let (status, said) = create(&fixture, "refs/hob/a", &one).await;
        assert_eq!(status, 422);
        wordings.insert(said);
        let (status, said) = fixture.answer("tw", &format!("PATCH {SITE}/git/refs/hob/a"), json!({"sha": other})).await;
        assert_eq!(status, 422);
        wordings.insert(said["message"].as_str().unwrap().to_owned());
    }
    let known = [
        "Reference already exists",
        "Reference cannot be updated",
        "Reference update failed",
        "Update is not a fast forward",
    ];
    assert_eq!(wordings.into_iter().collect::<Vec<_>>(), known);
    fixture.forge.set_moods(Moods::default());
    assert_eq!(create(&fixture, "refs/hob/a", &one).await.1, "Reference already exists");
}

#[tokio::test]
async fn a_ref_outside_of_branches_is_refused_at_times_and_stays_as_it_is() {
    let fixture = moody("ref-refusals").await;
    let main = fixture.tip("main").await;
    let next = commit(&fixture, &main, "Next").await;
    let refused = ["Reference cannot be updated", "Reference update failed"];
    let (status, said) = create(&fixture, "refs/hob/a", &main).await;
    assert!(status == 422 && refused.contains(&said.as_str()), "{status} {said}");
    let at = format!("GET {SITE}/git/ref/hob/a");
    assert_eq!(fixture.answer("tw", &at, Value::Null).await.0, 404);
    assert_eq!(create(&fixture, "refs/heads/a", &main).await.0, 201, "a branch is not");
    fixture.forge.set_moods(Moods::default());
    assert_eq!(create(&fixture, "refs/hob/a", &main).await.0, 201);
    fixture.forge.set_moods(Moods::new([Mood::RefRefusals], 0).with_percent(100));
    let moved = fixture.answer("tw", &format!("PATCH {SITE}/git/refs/hob/a"), json!({"sha": next})).await;
    assert!(moved.0 == 422 && refused.contains(&moved.1["message"].as_str().unwrap()), "{moved:?}");
    assert_eq!(fixture.rest("tw", &at, Value::Null).await["object"]["sha"], main);
}

#[tokio::test]
async fn the_same_seed_draws_the_same() {
    let run = async |seed: u64| {
        let fixture = Fixture::start().await;
        fixture.forge.set_moods(Moods::new([Mood::RefRefusals], seed).with_percent(50));
        let main = fixture.tip("main").await;
        let mut statuses = Vec::new();
        for round in 0..16 {
            statuses.push(create(&fixture, &format!("refs/hob/{round}"), &main).await);
        }
        statuses
    };
    assert_eq!(run(1).await, run(1).await);
    assert_ne!(run(1).await, run(2).await);
}

#[tokio::test]
async fn what_was_just_made_is_unknown_for_a_second() {
    let fixture = moody("ref-lag").await;
    let main = fixture.tip("main").await;
    let next = commit(&fixture, &main, "Next").await;
    let (status, said) = create(&fixture, "refs/hob/a", &next).await;
    assert!(matches!((status, said.as_str()), (422, "Object does not exist") | (404, "Not Found")), "{status} {said}");
    let later = || fixture.forge.advance(std::time::Duration::from_secs(1));
    later();
    assert_eq!(create(&fixture, "refs/hob/a", &next).await.0, 201);
    let (at, matching) = (format!("GET {SITE}/git/ref/hob/a"), format!("GET {SITE}/git/matching-refs/hob/"));
    assert_eq!(fixture.answer("tw", &at, Value::Null).await.0, 404);
    assert_eq!(fixture.rest("tw", &matching, Value::Null).await, json!([]));
    let patch = format!("PATCH {SITE}/git/refs/hob/a");
    let (status, said) = fixture.answer("tw", &patch, json!({"sha": next})).await;
    let said = said["message"].as_str().unwrap();
    assert!(matches!((status, said), (422, "Reference does not exist") | (404, "Not Found")), "{status} {said}");
    later();
    assert_eq!(fixture.answer("tw", &at, Value::Null).await.0, 200);
    assert_eq!(fixture.rest("tw", &matching, Value::Null).await[0]["ref"], "refs/hob/a");
    assert_eq!(fixture.answer("tw", &patch, json!({"sha": next})).await.0, 200);
}

#[tokio::test]
async fn a_tag_belongs_to_the_token() {
    let fixture = moody("tags").await;
    // The same account with a second token.
    fixture.forge.add_user(&super::mood_fixture::user("wil:second:write"));
    let tag =
        async |token: &str| fixture.send(token, &format!("GET {SITE}"), Value::Null).await.headers()["etag"].clone();
    assert_ne!(tag("tw").await, tag("second").await);
    assert_eq!(tag("tw").await, tag("tw").await);
    fixture.forge.set_moods(Moods::default());
    assert_eq!(tag("tw").await, tag("second").await);
}

/// Runs git in `folder`; returns whether it succeeded, and its output.
fn git(folder: &std::path::Path, args: &[&str]) -> (bool, String) {
    #[expect(clippy::disallowed_methods, reason = "this crate depends on no other crate of the workspace")]
    let mut git = std::process::Command::new("git");
    git.current_dir(folder).args(["-c", "user.name=t", "-c", "user.email=t@example.com"]).args(args);
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_TERMINAL_PROMPT", "0");
    let done = git.output().unwrap();
    (done.status.success(), String::from_utf8_lossy(&done.stderr).into_owned())
}

#[tokio::test]
async fn a_push_of_a_large_file_is_declined_and_a_small_one_is_let_in() {
    let fixture = moody("large-files").await;
    let folder = tempfile::tempdir().unwrap();
    let url = format!("{}/ada/site.git", fixture.forge.server_url()).replace("http://", "http://wil:tw@");
    let push = async |name: &str, length: u64| {
        let (file, branch) = (folder.path().join(name), format!("HEAD:refs/heads/{name}"));
        std::fs::File::create(&file).unwrap().set_len(length).unwrap();
        let (folder, name, url) = (folder.path().to_owned(), name.to_owned(), url.clone());
        let run = move || {
            assert!(git(&folder, &["init", "-q"]).0 && git(&folder, &["add", &name]).0);
            assert!(git(&folder, &["commit", "-q", "-m", "Add"]).0);
            git(&folder, &["push", "-q", &url, &branch])
        };
        tokio::task::spawn_blocking(run).await.unwrap()
    };
    let (pushed, said) = push("small", 100 << 20).await;
    assert!(pushed, "{said}");
    let (pushed, said) = push("large", (100 << 20) + (1 << 19)).await;
    assert!(!pushed && said.contains("(pre-receive hook declined)"), "{said}");
    let sentence = "remote: error: File large is 100.50 MB; this exceeds GitHub's file size limit of 100.00 MB";
    assert!(said.contains(sentence) && said.contains("remote: error: GH001: Large files detected."), "{said}");
    assert_eq!(fixture.answer("tw", &format!("GET {SITE}/git/ref/heads/large"), Value::Null).await.0, 404);
    fixture.forge.set_moods(Moods::default());
    assert!(push("larger", 1).await.0, "the large file is in the history that is pushed");
}
