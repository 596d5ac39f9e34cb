//! The embedded forge never pretends success: it refuses unsupported requests by name, and obeys the others.

use github_emulator::{BranchRules, RequiredChecks};
use http::Method;
use serde_json::{Value, json};

use crate::local_forge::{Fixture, site};

const ISSUES: &str = "/repos/acme/site/issues";

#[tokio::test]
async fn what_is_not_obeyed_is_refused_by_its_name() {
    let fixture = Fixture::start().await;
    let issue = json!({"title": "T", "milestone": 3});
    for (method, path, body, name) in [
        (Method::GET, "/repos/acme/site/issues?type=bug", Value::Null, "type"),
        (Method::GET, "/repos/acme/site/issues?per_page=3&issue_field_values=x", Value::Null, "issue_field_values"),
        (Method::POST, ISSUES, issue, "milestone"),
        (Method::POST, ISSUES, json!({"title": "T", "type": "bug"}), "type"),
        (Method::POST, "/repos/acme/site/pulls", json!({"title": "T", "head_repo": "x"}), "head_repo"),
        (Method::POST, "/user/repos", json!({"name": "x", "license_template": "mit"}), "license_template"),
        (Method::POST, "/user/repos", json!({"name": "x", "has_discussions": true}), "has_discussions"),
        (Method::GET, "/repos/acme/site/commits/main?status=x", Value::Null, "status"),
    ] {
        let refused = fixture.send("tw", method.clone(), path, body).await;
        assert_eq!(refused.status, 422, "{method} {path}: {}", refused.body);
        let message = refused.body["message"].as_str().unwrap();
        assert!(message.contains("does not obey") && message.contains(&format!("`{name}`")), "{message}");
    }
    assert_eq!(fixture.get(ISSUES).await.body, json!([]), "a refused request has no effect");
    let nothing = json!({"title": "T", "milestone": null, "type": "", "issue_field_values": []});
    assert_eq!(fixture.post("tw", ISSUES, nothing).await.status, 201, "null and what is empty ask for nothing");
    for value in ["since=yesterday", "state=shut", "sort=age", "direction=up", "milestone=3"] {
        let refused = fixture.get(&format!("{ISSUES}?{value}")).await;
        assert_eq!((refused.status, &refused.body["errors"][0]["code"]), (422, &json!("invalid")), "{value}");
    }
}

#[tokio::test]
async fn issues_are_listed_by_milestone_and_mention() {
    let fixture = Fixture::start().await;
    fixture.post("tw", ISSUES, json!({"title": "one", "body": "cc @ADA."})).await;
    fixture.post("tw", ISSUES, json!({"title": "two", "body": "x@ada, @ada-b and @adam"})).await;
    let count = async |query: &str| fixture.get(&format!("{ISSUES}?{query}")).await.body.as_array().unwrap().len();
    assert_eq!(count("mentioned=ada").await, 1);
    assert_eq!((count("milestone=none").await, count("milestone=*").await), (2, 0));
}

#[tokio::test]
async fn commits_are_listed_by_path_author_and_time() {
    let fixture = Fixture::start().await;
    for (path, name, date) in [("a.txt", "ann", "2026-01-02T00:00:00Z"), ("d/b.txt", "bob", "2026-01-04T00:00:00Z")] {
        let who = json!({"name": name, "email": format!("{name}@example.com"), "date": date});
        let body = json!({"message": path, "content": "eA==", "author": who, "committer": who});
        let put = fixture.send("tw", Method::PUT, &format!("/repos/acme/site/contents/{path}"), body).await;
        assert_eq!(put.status, 201, "{}", put.body);
    }
    let messages = async |query: &str| {
        let listed = fixture.get(&format!("/repos/acme/site/commits?{query}")).await.body;
        let texts =
            listed.as_array().unwrap().iter().map(|commit| commit["commit"]["message"].as_str().unwrap().to_owned());
        texts.collect::<Vec<_>>()
    };
    assert_eq!(messages("path=a.txt").await, ["a.txt"]);
    assert_eq!(messages("path=d").await, ["d/b.txt"]);
    assert_eq!(messages("author=bob@example.com").await, ["d/b.txt"]);
    assert_eq!(messages("since=2026-01-03T00:00:00Z").await, ["d/b.txt"]);
    assert_eq!(messages("since=2026-01-02T00:00:00Z&until=2026-01-03T00:00:00Z").await, ["a.txt"]);
    assert_eq!(messages("path=none").await, Vec::<String>::new());
}

#[tokio::test]
async fn collaborators_are_listed_by_permission_and_none_is_no_collaborator() {
    let fixture = Fixture::start().await;
    fixture.forge.add_user(&"out:to:none".parse().unwrap());
    let logins = async |query: &str| {
        let listed = fixture.get(&format!("/repos/acme/site/collaborators{query}")).await.body;
        listed.as_array().unwrap().iter().map(|who| who["login"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert!(!logins("").await.contains(&"out".to_owned()));
    assert_eq!(logins("?permission=push").await, ["acme", "ada", "wil"]);
    assert_eq!(logins("?affiliation=outside").await, Vec::<String>::new());
    let refused = fixture.get("/repos/acme/site/collaborators?permission=king").await;
    assert_eq!(refused.status, 422);
}

#[tokio::test]
async fn media_types_are_obeyed_or_refused() {
    let fixture = Fixture::start().await;
    fixture.post("tw", ISSUES, json!({"title": "T", "body": "**b** #1"})).await;
    let as_media = async |path: &str, media: &str| {
        let accept = format!("application/vnd.github.v3.{media}");
        fixture.send_with("tw", Method::GET, path, Value::Null, &[("accept", &accept)]).await
    };
    let full = as_media("/repos/acme/site/issues", "full+json").await;
    assert_eq!((&full.body[0]["body"], &full.body[0]["body_text"]), (&json!("**b** #1"), &json!("b #1")));
    assert!(full.body[0]["body_html"].as_str().unwrap().contains("<strong>b</strong> <a href="), "{}", full.body);
    assert_eq!(full.headers["x-github-media-type"], "github.v3; param=full; format=json");
    let text = as_media("/repos/acme/site/issues/1", "text+json").await.body;
    assert_eq!((text.get("body"), &text["body_text"]), (None, &json!("b #1")));
    fixture.branch("b", "a.txt", "new\n").await;
    fixture.post("tw", "/repos/acme/site/pulls", json!({"title": "P", "head": "b", "base": "main"})).await;
    for path in ["/repos/acme/site/pulls/2", "/repos/acme/site/commits/b", "/repos/acme/site/compare/main...b"] {
        let (diff, patch) = (as_media(path, "diff").await.body, as_media(path, "patch").await.body);
        let (diff, patch) = (diff.as_str().unwrap().to_owned(), patch.as_str().unwrap().to_owned());
        assert!(diff.starts_with("diff --git a/a.txt b/a.txt") && diff.contains("+new"), "{path}: {diff}");
        assert!(patch.starts_with("From ") && patch.contains("Subject: [PATCH] Change"), "{path}: {patch}");
    }
    assert_eq!(as_media("/repos/acme/site/commits/main", "sha").await.body, json!(fixture.head));
    let refused = as_media(ISSUES, "diff").await;
    assert_eq!(refused.status, 415);
    assert!(refused.body["message"].as_str().unwrap().contains("`diff` of GET /repos/{owner}/{repo}/issues"));
    let readme = "/repos/acme/site/contents/README.md";
    assert_eq!(as_media(readme, "html+json").await.status, 415);
    assert_eq!(as_media(readme, "full+json").await.body["encoding"], "base64");
}

#[tokio::test]
async fn links_submodules_and_folders_are_what_they_are() {
    let fixture = Fixture::start().await;
    let sub = "1".repeat(40);
    let modules = "[submodule \"x\"]\n\tpath = mod\n\turl = https://example.com/x.git\n";
    let entries = json!([
        {"path": "d/link", "mode": "120000", "type": "blob", "content": "../README.md"},
        {"path": "d/out", "mode": "120000", "type": "blob", "content": "/etc/passwd"},
        {"path": ".gitmodules", "mode": "100644", "type": "blob", "content": modules},
        {"path": "mod", "mode": "160000", "type": "commit", "sha": sub},
    ]);
    let tree =
        fixture.post("tw", "/repos/acme/site/git/trees", json!({"base_tree": fixture.head, "tree": entries})).await;
    let commit = json!({"message": "Links", "tree": tree.body["sha"], "parents": [fixture.head]});
    let commit = fixture.post("tw", "/repos/acme/site/git/commits", commit).await.body;
    let moved = json!({"sha": commit["sha"]});
    assert_eq!(fixture.send("tw", Method::PATCH, "/repos/acme/site/git/refs/heads/main", moved).await.status, 200);
    let at = |path: &str| format!("/repos/acme/site/contents/{path}");
    let link = fixture.get(&at("d/link")).await.body;
    assert_eq!(
        (&link["type"], &link["path"], &link["content"]),
        (&json!("file"), &json!("d/link"), &json!("IyBTaXRlCg==\n"))
    );
    let out = fixture.get(&at("d/out")).await.body;
    assert_eq!((&out["type"], &out["target"], out.get("content")), (&json!("symlink"), &json!("/etc/passwd"), None));
    let module = fixture.get(&at("mod")).await.body;
    let expected = (json!("submodule"), json!("https://example.com/x.git"), json!(sub));
    assert_eq!(
        (&module["type"], &module["submodule_git_url"], &module["sha"]),
        (&expected.0, &expected.1, &expected.2)
    );
    let object = [("accept", "application/vnd.github.object+json")];
    let folder = fixture.send_with("tw", Method::GET, &at("d"), Value::Null, &object).await.body;
    assert_eq!((&folder["type"], folder["entries"].as_array().unwrap().len()), (&json!("dir"), 2));
    assert_eq!(folder["entries"][0]["type"], "symlink");
}

#[tokio::test]
async fn a_comment_stands_on_a_line_of_the_diff() {
    let fixture = Fixture::start().await;
    fixture.branch("b", "a.txt", "one\ntwo\nthree\n").await;
    let pulls = "/repos/acme/site/pulls";
    fixture.post("tw", pulls, json!({"title": "P", "head": "b", "base": "main"})).await;
    let at = "/repos/acme/site/pulls/1/comments";
    let made = fixture.post("tt", at, json!({"body": "x", "path": "a.txt", "line": 2, "start_line": 1})).await;
    assert_eq!(made.status, 201, "{}", made.body);
    assert_eq!((&made.body["line"], &made.body["start_line"]), (&json!(2), &json!(1)));
    assert_eq!(made.body["diff_hunk"], "@@ -0,0 +1,3 @@\n+one\n+two");
    for wrong in [
        json!({"body": "x", "path": "a.txt", "line": 999}),
        json!({"body": "x", "path": "a.txt", "line": 1, "side": "LEFT"}),
        json!({"body": "x", "path": "a.txt", "line": 2, "start_line": 3}),
        json!({"body": "x", "path": "a.txt", "position": 4}),
        json!({"body": "x", "path": "a.txt"}),
        json!({"body": "x", "path": "a.txt", "line": 1, "commit_id": "1".repeat(40)}),
    ] {
        let refused = fixture.post("tt", at, wrong.clone()).await;
        assert_eq!(refused.status, 422, "{wrong}");
        let review = json!({"event": "COMMENT", "comments": [wrong]});
        if wrong.get("commit_id").is_none() {
            assert_eq!(fixture.post("tt", "/repos/acme/site/pulls/1/reviews", review).await.status, 422, "{wrong}");
        }
    }
    let all = fixture.get("/repos/acme/site/pulls/comments").await;
    assert_eq!((all.status, all.body.as_array().unwrap().len()), (200, 1));
}

#[tokio::test]
async fn a_pending_review_is_its_authors_until_it_is_submitted() {
    let fixture = Fixture::start().await;
    fixture.branch("b", "a.txt", "one\n").await;
    fixture.post("tw", "/repos/acme/site/pulls", json!({"title": "P", "head": "b", "base": "main"})).await;
    let reviews = "/repos/acme/site/pulls/1/reviews";
    let body = json!({"comments": [{"path": "a.txt", "line": 1, "body": "Why?"}]});
    let made = fixture.post("tt", reviews, body).await;
    assert_eq!((made.status, &made.body["state"]), (200, &json!("PENDING")), "{}", made.body);
    let own = format!("{reviews}/{}", made.body["id"]);
    assert_eq!(fixture.post("tt", reviews, json!({})).await.status, 422, "one pending review a person");
    let seen = async |token: &str, path: &str| fixture.send(token, Method::GET, path, Value::Null).await;
    assert_eq!(seen("tw", reviews).await.body, json!([]));
    assert_eq!(seen("tw", "/repos/acme/site/pulls/1/comments").await.body, json!([]));
    assert_eq!((seen("tw", &own).await.status, seen("tt", &own).await.status), (404, 200));
    let submitted =
        fixture.post("tt", &format!("{own}/events"), json!({"event": "REQUEST_CHANGES", "body": "No."})).await;
    assert_eq!((submitted.status, &submitted.body["state"]), (200, &json!("CHANGES_REQUESTED")), "{}", submitted.body);
    assert_eq!(seen("tw", reviews).await.body[0]["body"], "No.");
    assert_eq!(seen("tw", &format!("{own}/comments")).await.body[0]["position"], 1);
    assert_eq!(fixture.send("tt", Method::DELETE, &own, Value::Null).await.status, 422, "it is submitted");
    let second = fixture.post("tt", reviews, json!({"body": "Hm."})).await.body;
    let second = format!("{reviews}/{}", second["id"]);
    assert_eq!(fixture.send("tt", Method::PUT, &second, json!({"body": "Oh."})).await.body["body"], "Oh.");
    assert_eq!(fixture.send("tt", Method::DELETE, &second, Value::Null).await.status, 200);
    assert_eq!(seen("tt", &second).await.status, 404);
}

#[tokio::test]
async fn the_test_merge_is_a_ref() {
    let fixture = Fixture::start().await;
    fixture.branch("b", "a.txt", "one\n").await;
    let made =
        fixture.post("tw", "/repos/acme/site/pulls", json!({"title": "P", "head": "b", "base": "main"})).await.body;
    let at = "/repos/acme/site/git/ref/pull/1/merge";
    let merge = fixture.get(at).await.body["object"]["sha"].clone();
    assert_eq!(made["merge_commit_sha"], merge);
    let commit = fixture.get(&format!("/repos/acme/site/git/commits/{}", merge.as_str().unwrap())).await.body;
    let parents: Vec<&str> = commit["parents"].as_array().unwrap().iter().map(|p| p["sha"].as_str().unwrap()).collect();
    assert_eq!(parents, [fixture.head.as_str(), made["head"]["sha"].as_str().unwrap()]);
    // The base moves in a way that conflicts.
    let body = json!({"message": "Base", "content": "dHdvCg=="});
    assert_eq!(fixture.send("tw", Method::PUT, "/repos/acme/site/contents/a.txt", body).await.status, 201);
    assert_eq!(fixture.get("/repos/acme/site/pulls/1").await.body["mergeable"], false);
    assert_eq!(fixture.get(at).await.status, 404);
}

#[tokio::test]
async fn a_blob_has_githubs_limit() {
    let fixture = Fixture::start().await;
    let large = "x".repeat((100 << 20) + 1);
    let refused = fixture.post("tw", "/repos/acme/site/git/blobs", json!({"content": large})).await;
    assert_eq!((refused.status, &refused.body["errors"][0]["field"]), (422, &json!("content")));
}

#[tokio::test]
async fn a_push_obeys_the_rules_of_its_branch() {
    let fixture = Fixture::start().await;
    let folder = tempfile::tempdir().unwrap();
    fixture.git(folder.path(), &["clone", "-q", &fixture.clone_url("tw"), "w"]).await;
    let work = folder.path().join("w");
    fixture.git(&work, &["commit", "-q", "--allow-empty", "-m", "One"]).await;
    let rules = BranchRules { required_linear_history: true, ..BranchRules::default() };
    fixture.forge.protect_branch(&site(), "main", rules.clone()).unwrap();
    let (ok, said) = fixture.git(&work, &["push", "origin", "HEAD:main"]).await;
    assert!(ok, "nothing forbids it: {said}");
    fixture.git(&work, &["commit", "-q", "--amend", "--allow-empty", "-m", "Other"]).await;
    let (ok, said) = fixture.git(&work, &["push", "--force", "origin", "HEAD:main"]).await;
    assert!(!ok && said.contains("non-fast-forward"), "{said}");
    let (ok, said) = fixture.git(&work, &["push", "origin", ":main"]).await;
    assert!(!ok && said.contains("Cannot delete this branch"), "{said}");
    fixture.git(&work, &["reset", "-q", "--hard", "origin/main"]).await;
    fixture.git(&work, &["commit", "-q", "--allow-empty", "-m", "Two"]).await;
    let required_status_checks = Some(RequiredChecks::named(&["test"]));
    let rules = BranchRules { required_status_checks, ..rules };
    fixture.forge.set_ruleset(&site(), "main", Some(rules)).unwrap();
    let (ok, said) = fixture.git(&work, &["push", &fixture.clone_url("ta"), "HEAD:main"]).await;
    assert!(!ok && said.contains("GH013") && said.contains("Required status check \"test\" is expected."), "{said}");
    let (ok, said) = fixture.git(&work, &["push", "origin", "HEAD:other"]).await;
    assert!(ok, "{said}");
}
