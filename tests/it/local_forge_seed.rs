//! The embedded forge for other people's tests: a seed file, reset, and snapshots, in one process and over HTTP.

use std::path::Path;

use github_emulator::{Options, Running, Seed, serve};
use http::Method;
use serde_json::{Value, json};

use crate::local_forge::Fixture;

const SEED: &str = r##"
[[accounts]]
login = "ann"
token = "ta"
role = "admin"

[[accounts]]
login = "rea"
token = "tr"
role = "read"

[[repositories]]
name = "ann/site"
default_branch = "trunk"
protected = ["trunk"]
files = { "README.md" = "# Site\n", "bin/check" = "#!/bin/sh\n" }
branches = { topic = { "a.txt" = "one\n" } }
collaborators = { rea = "triage" }
labels = [{ name = "code", color = "00ff00" }]
settings = { description = "A site", allow_squash_merge = false }

[[repositories.issues]]
title = "Broken"
body = "It is."
author = "rea"
labels = ["code", "bug"]
assignees = ["ann"]
comments = [{ author = "rea", body = "Still." }, { body = "Yes." }]

[[repositories.issues]]
title = "Done"
state = "closed"

[[repositories.pulls]]
title = "Fix"
head = "topic"
base = "trunk"
"##;

/// A fixture whose forge began with the seed.
async fn seeded(data: Option<&Path>) -> Fixture {
    let mut fixture = Fixture::start().await;
    fixture.forge = forge(data).await;
    fixture
}

async fn forge(data: Option<&Path>) -> Running {
    let seed = Seed::parse(SEED, Path::new(".")).unwrap();
    serve(Options { seed, data: data.map(Path::to_owned), ..Options::default() }).await.unwrap()
}

/// The titles, which tell whether the forge is as it was seeded.
async fn titles(fixture: &Fixture) -> Vec<String> {
    let listed =
        fixture.send("ta", Method::GET, "/repos/ann/site/issues?state=all&direction=asc", Value::Null).await.body;
    let titles = listed.as_array().into_iter().flatten().map(|issue| issue["title"].as_str().unwrap().to_owned());
    titles.collect()
}

#[tokio::test]
async fn a_seed_becomes_accounts_and_repositories() {
    let fixture = seeded(None).await;
    let get = async |path: &str| {
        let answer = fixture.send("ta", Method::GET, &format!("/repos/ann/site{path}"), Value::Null).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.body
    };
    let repo = get("").await;
    assert_eq!((&repo["default_branch"], &repo["description"]), (&json!("trunk"), &json!("A site")));
    assert_eq!(get("/git/trees/trunk?recursive=1").await["tree"][2]["mode"], "100755", "a script can be run");
    assert_eq!(get("/branches/trunk").await["protected"], true);
    assert_eq!(get("/collaborators/rea/permission").await["role_name"], "triage");
    let issue = get("/issues/1").await;
    assert_eq!((&issue["user"]["login"], &issue["assignee"]["login"]), (&json!("rea"), &json!("ann")));
    assert_eq!((&issue["labels"][0]["name"], &issue["labels"][0]["color"]), (&json!("code"), &json!("00ff00")));
    let comments = get("/issues/1/comments").await;
    assert_eq!((&comments[0]["user"]["login"], &comments[1]["user"]["login"]), (&json!("rea"), &json!("ann")));
    assert_eq!(get("/issues/2").await["state"], "closed");
    assert_eq!(get("/pulls/3/files").await[0]["filename"], "a.txt");
}

#[tokio::test]
async fn a_seed_that_no_endpoint_obeys_is_refused_by_name() {
    for (wrong, expected) in [
        ("[[account]]", "unknown field `account`"),
        ("[[repositories]]\nname = \"a/b\"\n[[repositories.issues]]\ntitle = \"T\"\nmilestone = 3", "`milestone`"),
        (
            "[[repositories]]\nname = \"a/b\"\n[[repositories.issues]]\ntitle = \"T\"\nauthor = \"nobody\"",
            "no account `nobody`",
        ),
        ("[[repositories]]\nname = \"a/b\"\nsettings = { is_template = true }", "`is_template`"),
    ] {
        let text = match Seed::parse(wrong, Path::new(".")) {
            Err(error) => format!("{:?}", std::error::Error::source(&error).unwrap()),
            Ok(seed) => {
                let refused = serve(Options { seed, ..Options::default() }).await.unwrap_err();
                std::error::Error::source(&refused).unwrap().to_string()
            }
        };
        assert!(text.contains(expected), "{wrong}: {text}");
    }
}

#[tokio::test]
async fn a_forge_that_is_started_again_keeps_what_became_of_its_seed() {
    let folder = tempfile::tempdir().unwrap();
    let mut fixture = seeded(Some(folder.path())).await;
    fixture.post("ta", "/repos/ann/site/issues", json!({"title": "New"})).await;
    fixture.forge = serve(Options::default()).await.unwrap();
    fixture.forge = forge(Some(folder.path())).await;
    assert_eq!(titles(&fixture).await, ["Broken", "Done", "Fix", "New"]);
}

#[tokio::test]
async fn a_reset_leads_back_to_the_seed() {
    let fixture = seeded(None).await;
    fixture.post("ta", "/repos/ann/site/issues", json!({"title": "New"})).await;
    fixture.post("ta", "/user/repos", json!({"name": "other"})).await;
    fixture.forge.reset().await.unwrap();
    assert_eq!(titles(&fixture).await, ["Broken", "Done", "Fix"]);
    assert_eq!(fixture.send("ta", Method::GET, "/repos/ann/other", Value::Null).await.status, 404);
}

#[tokio::test]
async fn a_snapshot_is_brought_back_over_http_with_its_git_data() {
    let folder = tempfile::tempdir().unwrap();
    let mut fixture = seeded(Some(folder.path())).await;
    let control = async |fixture: &Fixture, token: &str, method: Method, path: &str| {
        let url = format!("{}/_forge/{path}", fixture.forge.server_url());
        let sent = fixture.client.request(method, url).header("authorization", format!("Bearer {token}"));
        sent.send().await.unwrap().status().as_u16()
    };
    let put = json!({"message": "m", "content": "eA=="});
    fixture.post("ta", "/repos/ann/site/issues", json!({"title": "Kept"})).await;
    assert_eq!(control(&fixture, "ta", Method::PUT, "snapshots/one").await, 204);
    let file = "/repos/ann/site/contents/new.txt";
    assert_eq!(fixture.send("ta", Method::PUT, file, put.clone()).await.status, 201);
    fixture.post("ta", "/repos/ann/site/issues", json!({"title": "Lost"})).await;
    assert_eq!(control(&fixture, "tr", Method::POST, "snapshots/one/restore").await, 403);
    assert_eq!(control(&fixture, "ta", Method::POST, "snapshots/two/restore").await, 404);
    assert_eq!(control(&fixture, "ta", Method::PUT, "snapshots/a.b").await, 422);
    assert_eq!(control(&fixture, "ta", Method::POST, "snapshots/one/restore").await, 204);
    let kept = ["Broken", "Done", "Fix", "Kept"];
    assert_eq!(titles(&fixture).await, kept);
    assert_eq!(fixture.send("ta", Method::GET, file, Value::Null).await.status, 404);
    // Later changes are stored over the snapshot, which stays as it is.
    assert_eq!(fixture.send("ta", Method::PUT, file, put).await.status, 201);
    fixture.post("ta", "/repos/ann/site/issues", json!({"title": "After"})).await;
    fixture.forge = serve(Options::default()).await.unwrap();
    fixture.forge = forge(Some(folder.path())).await;
    assert_eq!(titles(&fixture).await.last().unwrap(), "After");
    // A process that was killed in the midst of bringing it back does so at its next start.
    fixture.forge = serve(Options::default()).await.unwrap();
    std::fs::write(folder.path().join("restoring"), "one").unwrap();
    std::fs::remove_dir_all(folder.path().join("repositories")).unwrap();
    fixture.forge = forge(Some(folder.path())).await;
    assert_eq!(titles(&fixture).await, kept);
    assert_eq!(control(&fixture, "ta", Method::POST, "reset").await, 204);
    assert_eq!(titles(&fixture).await, ["Broken", "Done", "Fix"]);
}
