//! A repository's life on the embedded forge: changed, renamed, archived, deleted, listed.

use http::Method;
use serde_json::{Value, json};

use crate::local_forge::{Fixture, site};

const SITE: &str = "/repos/acme/site";

#[tokio::test]
async fn a_repository_is_changed_and_merges_as_it_says() {
    let fixture = Fixture::start().await;
    fixture.branch("next", "a.txt", "one\n").await;
    let body = json!({
        "description": "A site", "default_branch": "next", "allow_squash_merge": false, "delete_branch_on_merge": true,
        "private": true,
    });
    assert_eq!(fixture.send("tw", Method::PATCH, SITE, body.clone()).await.status, 403, "it takes an admin");
    let changed = fixture.send("ta", Method::PATCH, SITE, body).await;
    assert_eq!(changed.status, 200, "{}", changed.body);
    for (field, value) in
        [("description", json!("A site")), ("default_branch", json!("next")), ("private", json!(true))]
    {
        assert_eq!(fixture.get(SITE).await.body[field], value, "{field}");
    }
    assert_eq!(fixture.send("ta", Method::PATCH, SITE, json!({"default_branch": "none"})).await.status, 422);
    fixture.post("tw", "/repos/acme/site/pulls", json!({"title": "P", "head": "next", "base": "main"})).await;
    fixture.send("ta", Method::PATCH, SITE, json!({"default_branch": "main"})).await;
    let merge = "/repos/acme/site/pulls/1/merge";
    assert_eq!(fixture.send("tw", Method::PUT, merge, json!({"merge_method": "squash"})).await.status, 405);
    assert_eq!(fixture.send("tw", Method::PUT, merge, json!({"merge_method": "merge"})).await.status, 200);
    assert_eq!(fixture.get("/repos/acme/site/branches/next").await.status, 404, "deleted on merge");
}

#[tokio::test]
async fn a_renamed_repository_is_found_by_its_old_name() {
    let fixture = Fixture::start().await;
    let renamed = fixture.send("ta", Method::PATCH, SITE, json!({"name": "web"})).await;
    assert_eq!((renamed.status, &renamed.body["full_name"]), (200, &json!("acme/web")));
    let id = &renamed.body["id"];
    let quiet = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let url = format!("{}{SITE}/issues?state=all", fixture.forge.api_url());
    let moved = quiet.get(&url).header("authorization", "Bearer tw").send().await.unwrap();
    let expected = format!("{}/repositories/{id}/issues?state=all", fixture.forge.api_url());
    assert_eq!((moved.status().as_u16(), moved.headers()["location"].to_str().unwrap()), (301, expected.as_str()));
    let body = moved.bytes().await.unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&body).unwrap()["url"], expected);
    // A client that follows writes and reads as before, and so does git.
    let made = fixture.post("tw", "/repos/acme/site/issues", json!({"title": "T"})).await;
    assert_eq!(made.status, 201, "{}", made.body);
    assert_eq!(fixture.get("/repos/acme/web/issues/1").await.body["title"], "T");
    let folder = tempfile::tempdir().unwrap();
    let (ok, said) = fixture.git(folder.path(), &["clone", "-q", &fixture.clone_url("tw"), "w"]).await;
    assert!(ok, "{said}");
    // Another repository may take the name.
    fixture.forge.create_repository(&site(), &[("x", b"x", false)]).unwrap();
    assert_eq!(fixture.get(SITE).await.body["full_name"], "acme/site");
    assert_eq!(fixture.send("ta", Method::PATCH, SITE, json!({"name": "web"})).await.status, 422);
}

#[tokio::test]
async fn an_archived_repository_is_read_only() {
    let fixture = Fixture::start().await;
    assert_eq!(fixture.send("ta", Method::PATCH, SITE, json!({"archived": true})).await.body["archived"], true);
    let refused = fixture.post("tw", "/repos/acme/site/issues", json!({"title": "T"})).await;
    assert_eq!((refused.status, &refused.body["message"]), (403, &json!("Repository was archived so is read-only.")));
    assert_eq!(fixture.get("/repos/acme/site/issues").await.status, 200);
    assert_eq!(fixture.send("ta", Method::PATCH, SITE, json!({"description": "x"})).await.status, 403);
    let folder = tempfile::tempdir().unwrap();
    fixture.git(folder.path(), &["clone", "-q", &fixture.clone_url("tw"), "w"]).await;
    let (ok, said) = fixture.git(&folder.path().join("w"), &["push", "origin", "HEAD:b"]).await;
    assert!(!ok && said.contains("403"), "{said}");
    assert_eq!(fixture.send("ta", Method::PATCH, SITE, json!({"archived": false})).await.status, 200);
    assert_eq!(fixture.post("tw", "/repos/acme/site/issues", json!({"title": "T"})).await.status, 201);
}

#[tokio::test]
async fn where_issues_are_off_they_are_gone_and_pull_requests_are_not() {
    let fixture = Fixture::start().await;
    fixture.branch("b", "a.txt", "one\n").await;
    fixture.post("tw", "/repos/acme/site/pulls", json!({"title": "P", "head": "b", "base": "main"})).await;
    fixture.send("ta", Method::PATCH, SITE, json!({"has_issues": false})).await;
    assert_eq!(fixture.get("/repos/acme/site/issues").await.status, 410);
    assert_eq!(fixture.post("tw", "/repos/acme/site/issues", json!({"title": "T"})).await.status, 410);
    assert_eq!(fixture.get("/repos/acme/site/issues/1").await.status, 200);
}

#[tokio::test]
async fn a_deleted_repository_is_gone_with_its_git_data() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = Fixture::start_in(Some(folder.path().to_owned())).await;
    let count = || folder.path().join("repositories").read_dir().unwrap().count();
    assert_eq!(fixture.send("tw", Method::DELETE, SITE, Value::Null).await.status, 403);
    assert_eq!((fixture.send("ta", Method::DELETE, SITE, Value::Null).await.status, count()), (204, 0));
    assert_eq!(fixture.get(SITE).await.status, 404);
    fixture.forge.create_repository(&site(), &[("x", b"x", false)]).unwrap();
    assert_eq!(fixture.get("/repos/acme/site/issues").await.body, json!([]));
}

#[tokio::test]
async fn repositories_are_listed_for_who_has_a_part_in_them() {
    let fixture = Fixture::start().await;
    fixture.forge.add_user(&"out:to:none".parse().unwrap());
    fixture.post("tw", "/user/repos", json!({"name": "own", "private": true})).await;
    let names = async |token: &str, path: &str| {
        let listed = fixture.send(token, Method::GET, path, Value::Null).await;
        assert_eq!(listed.status, 200, "{}", listed.body);
        listed.body.as_array().unwrap().iter().map(|r| r["full_name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names("tw", "/user/repos").await, ["acme/site", "wil/own"]);
    assert_eq!(names("tw", "/user/repos?affiliation=owner").await, ["wil/own"]);
    assert_eq!(names("tw", "/user/repos?visibility=public&direction=desc").await, ["acme/site"]);
    assert_eq!(names("to", "/user/repos").await, Vec::<String>::new());
    assert_eq!(names("to", "/users/wil/repos").await, Vec::<String>::new());
    assert_eq!(names("to", "/users/acme/repos").await, ["acme/site"]);
    assert_eq!(fixture.send("", Method::GET, "/user/repos", Value::Null).await.status, 401);
}

#[tokio::test]
async fn the_first_branch_that_is_pushed_is_the_default_one() {
    let fixture = Fixture::start().await;
    fixture.post("tw", "/user/repos", json!({"name": "new"})).await;
    let folder = tempfile::tempdir().unwrap();
    fixture.git(folder.path(), &["init", "-q", "-b", "trunk"]).await;
    fixture.git(folder.path(), &["commit", "-q", "--allow-empty", "-m", "One"]).await;
    let url = fixture.clone_url("tw").replace("acme/site", "wil/new");
    let (ok, said) = fixture.git(folder.path(), &["push", &url, "HEAD:trunk"]).await;
    assert!(ok, "{said}");
    assert_eq!(fixture.get("/repos/wil/new").await.body["default_branch"], "trunk");
    fixture.git(folder.path(), &["push", &url, "HEAD:main"]).await;
    assert_eq!(fixture.get("/repos/wil/new").await.body["default_branch"], "trunk");
    let (ok, said) = fixture.git(folder.path(), &["clone", "-q", &url, "w"]).await;
    assert!(ok && !said.contains("nonexistent"), "{said}");
}
