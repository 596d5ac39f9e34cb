//! What the program makes of answers that it did not ask for: each ends in one sentence that says what to do.

use std::collections::BTreeMap;

use github_emulator::{Fault, What, When};
use hob_forge::{Access, Authentication, Connection};
use serde_json::json;

use crate::harness::World;

const LIST: &str = "/repos/acme/site/issues";

fn raw(status: u16, body: impl Into<String>) -> What {
    What::Raw { status, headers: BTreeMap::new(), body: body.into() }
}

fn says(status: u16, header: (&str, &str), message: &str) -> What {
    let headers = [(header.0.to_owned(), header.1.to_owned())].into();
    What::Answer { status, headers, message: message.to_owned() }
}

fn inject(world: &World, path: &str, what: What) {
    world.forge.inject(Fault {
        method: None,
        path: path.to_owned(),
        login: Some("hob".into()),
        when: When::Always,
        what,
    });
}

#[tokio::test]
async fn a_repository_that_cannot_be_worked_on_says_why() {
    let world = World::fixing().start().await;
    for (faults, code, part) in [
        (
            vec![(LIST, says(410, ("x", "y"), "Issues has been disabled in this repository."))],
            4,
            "the repository has its issues disabled: enable them in its settings",
        ),
        (
            vec![
                (LIST, says(301, ("location", "http://127.0.0.1:1/api/v3/repositories/7/issues"), "Moved Permanently")),
                ("/repos/acme/site", says(301, ("location", "http://127.0.0.1:1/api/v3/repositories/7"), "Moved")),
                ("/repositories/7", raw(200, json!({"full_name": "acme/place"}).to_string())),
            ],
            4,
            "it is `acme/place` now, so name it so",
        ),
        (vec![(LIST, raw(200, "<!DOCTYPE html>\n<html></html>"))], 1, "it is a web page: check GITHUB_API_URL"),
        (vec![(LIST, raw(404, "<html></html>"))], 1, "it is a web page: check GITHUB_API_URL"),
    ] {
        for (path, what) in faults {
            inject(&world, path, what);
        }
        let ended = world.hob(&["list"]).await;
        world.forge.heal();
        assert!(ended.code == code && ended.stderr.contains(part), "{part}: {ended:?}");
    }
    world.finish().await;
}

#[tokio::test]
async fn an_address_that_leads_elsewhere_is_told_in_plain_words() {
    let world = World::fixing().start().await;
    let secure = world.forge.api_url().replace("http://", "https://");
    for (address, code, part) in [
        ("localhost:3000", 2, "GITHUB_API_URL is `localhost:3000`, and that is no address of an API"),
        ("https://hob:secret@localhost/api/v3", 2, "GITHUB_API_URL is `…@localhost/api/v3`"),
        (secure.as_str(), 5, "there is no TLS on that port: write `http://` for `https://`"),
    ] {
        let ended = world.hob_with(&["--set", "forge.retries=0", "list"], &[("GITHUB_API_URL", address)]).await;
        assert!(ended.code == code && ended.stderr.contains(part), "{address}: {ended:?}");
        assert!(!ended.stderr.contains("secret") && !ended.stderr.contains("panicked"), "{ended:?}");
    }
    world.finish().await;
}

#[tokio::test]
async fn a_pause_that_the_forge_asks_for_with_a_failure_is_obeyed() {
    let world = World::fixing().set("forge.patience", "0s").set("forge.retries", "3").start().await;
    let identity = || Authentication::Token("token-of-hob".to_owned().into());
    let connection =
        |settings| Connection::new(&world.forge.api_url(), identity(), settings, Access::ReadOnly).unwrap();
    // A pause beyond the patience ends the call at once: it was asked for, and none of our own was taken for it.
    inject(&world, "/user", says(503, ("retry-after", "30"), "busy"));
    let error = connection(&world.settings.forge).login().await.unwrap_err();
    let wanted = hob_domain::FailureClass::Transient { retry_after: Some(std::time::Duration::from_secs(30)) };
    assert_eq!(error.class(), wanted, "{error}");
    let asked = world.forge.requests().iter().filter(|request| request.path.ends_with("/user")).count();
    assert_eq!(asked, 1, "it was asked again although it said when");
    world.forge.heal();
    world.finish_after_faults().await;
}

#[tokio::test]
async fn a_folder_that_is_no_repository_is_told_without_the_librarys_numbers() {
    let world = World::fixing().start().await;
    let issue = world.dir().join("issue.md");
    std::fs::write(&issue, "Make done.txt\n").unwrap();
    let folder = world.dir().display().to_string();
    let environment = [("GITHUB_REPOSITORY", "")];
    let ended =
        world.hob_with(&["rehearse", "--repo", &folder, "--issue", issue.to_str().unwrap()], &environment).await;
    assert!(ended.code != 0 && ended.stderr.contains("is not a git repository with a commit"), "{ended:?}");
    assert!(!ended.stderr.contains("class="), "{ended:?}");
    world.finish().await;
}
