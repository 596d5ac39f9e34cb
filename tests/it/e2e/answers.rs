//! The program's handling of unexpected answers: each ends in one sentence that says what to do, and trouble with one
//! issue does not stop the others.

use std::{collections::BTreeMap, fs::File, sync::Arc};

use github_emulator::{Fault, What, When};
use hob_forge::{Access, Authentication, Connection};
use http::Method;
use serde_json::json;

use crate::harness::{World, in_virtual_time};

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
async fn one_issue_that_cannot_be_read_hides_no_other() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    let mut listed = world.look("/issues?state=open&labels=code").await;
    let whole = listed[0].clone();
    for (number, key) in [(70, "title"), (71, "created_at")] {
        let mut broken = whole.clone();
        broken["number"] = json!(number);
        broken.as_object_mut().unwrap().remove(key);
        listed.as_array_mut().unwrap().insert(0, broken);
    }
    listed.as_array_mut().unwrap().push(json!("nothing that has a number"));
    inject(&world, LIST, raw(200, listed.to_string()));
    let ended = world.hob(&["status"]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    for part in ["it would be claimed", "#70", "#71", "missing field `title`", "missing field `created_at`"] {
        assert!(ended.stdout.contains(part), "{part}: {ended:?}");
    }
    let ended = world.hob(&["explain", "70"]).await;
    assert!(ended.code == 0 && ended.stdout.contains("it is left alone"), "{ended:?}");
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    assert!(world.failures().iter().any(|failure| failure.contains("missing field `title`")));
    world.forge.heal();
    world.finish().await;
}

#[tokio::test]
async fn one_issues_events_that_are_not_there_end_no_list() {
    let world = World::fixing().start().await;
    let (odd, issue) = (world.asks("Odd", "").await, world.asks("Make done.txt", "").await);
    inject(&world, &format!("{LIST}/{odd}/events"), says(404, ("x", "y"), "Not Found"));
    let ended = world.hob(&["status"]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stdout.contains("it would be claimed") && ended.stdout.contains("it is left alone"), "{ended:?}");
    let ended = world.hob(&["explain", &issue.to_string()]).await;
    assert!(ended.code == 0 && ended.stdout.contains("it would be claimed"), "{ended:?}");
    world.forge.heal();
    world.finish().await;
}

#[tokio::test]
async fn an_issue_whose_ledger_cannot_be_read_is_listed_with_the_reason() {
    let world = World::fixing().start().await;
    let bad = world.asks("Spoiled", "").await;
    let main = world.call("ann", Method::GET, "/git/ref/heads/main", json!(null)).await;
    let spoiled = json!({"ref": format!("refs/hob/issues/{bad}"), "sha": main["object"]["sha"]});
    world.call("ann", Method::POST, "/git/refs", spoiled).await;
    let ended = world.hob(&["status"]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stdout.contains("Spoiled") && ended.stdout.contains("no readable record"), "{ended:?}");
    world.call("ann", Method::DELETE, &format!("/git/refs/hob/issues/{bad}"), json!(null)).await;
    world.finish().await;
}

#[tokio::test]
async fn an_archived_repository_is_said_to_be_and_nothing_is_written_to_it() {
    let world = World::fixing().start().await;
    world.asks("Make done.txt", "").await;
    let archived =
        async |is: bool| world.call("ann", Method::PATCH, "", json!({"archived": is})).await["archived"].clone();
    assert_eq!(archived(true).await, true);
    let before = world.writes().len();
    for graphql in ["answers", "is missing"] {
        if graphql == "is missing" {
            inject(&world, "/api/graphql", raw(404, "Not Found".to_owned()));
        }
        for command in [&["status"][..], &["explain", "1"], &["run", "--once"], &["run", "1"], &["status", "--ready"]] {
            let ended = world.hob(command).await;
            let says_so = ended.code != 0 && ended.stderr.contains("acme/site is archived");
            assert!(says_so, "{command:?}, GraphQL {graphql}: {ended:?}");
        }
    }
    assert_eq!(world.writes().len(), before);
    world.forge.heal();
    archived(false).await;
    world.finish().await;
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
            "use its new name, `acme/place`",
        ),
        (vec![(LIST, raw(200, "<!DOCTYPE html>\n<html></html>"))], 1, "it is a web page: check GITHUB_API_URL"),
        (vec![(LIST, raw(404, "<html></html>"))], 1, "it is a web page: check GITHUB_API_URL"),
    ] {
        // Where there is GraphQL, it lists the issues.
        inject(&world, "/api/graphql", raw(404, "{}"));
        for (path, what) in faults {
            inject(&world, path, what);
        }
        let ended = world.hob(&["status"]).await;
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
        ("localhost:3000", 2, "GITHUB_API_URL is `localhost:3000`, which is not the address of an API"),
        ("https://hob:secret@localhost/api/v3", 2, "GITHUB_API_URL is `…@localhost/api/v3`"),
        (secure.as_str(), 5, "there is no TLS on that port: write `http://` for `https://`"),
    ] {
        let ended =
            world.hob_with(&["--set", "testing.forge.retries=0", "status"], &[("GITHUB_API_URL", address)]).await;
        assert!(ended.code == code && ended.stderr.contains(part), "{address}: {ended:?}");
        assert!(!ended.stderr.contains("secret") && !ended.stderr.contains("panicked"), "{ended:?}");
    }
    world.finish().await;
}

#[tokio::test]
async fn a_pause_that_the_forge_asks_for_with_a_failure_is_obeyed() {
    let world = World::fixing().set("testing.forge.patience", "0s").set("testing.forge.retries", "3").start().await;
    let identity = || Authentication::Token("token-of-hob".to_owned().into());
    let connection = |settings| {
        Connection::new(
            &world.forge.api_url(),
            identity(),
            settings,
            Access::ReadOnly,
            hob_text::KnownSecrets::default(),
        )
        .unwrap()
    };
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

/// A program that is silent for a minute looks as if it hung: the log names what it waits for, for reads, writes, and
/// the limit of writes.
#[test]
fn a_wait_that_people_would_notice_is_told() {
    in_virtual_time(Box::pin(async {
        let world =
            World::fixing().set("testing.forge.write_interval_ms", "1").set("testing.forge.writes_per_minute", "3");
        let world = world.inside(&Arc::default()).start().await;
        let log = world.dir().join("log");
        let to_the_log = tracing_subscriber::fmt().with_writer(Arc::new(File::create(&log).unwrap())).finish();
        let _logs = tracing::subscriber::set_default(to_the_log);
        let issue = world.asks("Make done.txt", "").await;
        for (method, path, seconds) in
            [("GET", format!("{LIST}/{issue}/events"), "20"), ("POST", format!("{LIST}/{issue}/comments"), "40")]
        {
            world.forge.inject(Fault {
                method: Some(method.to_owned()),
                path,
                login: Some("hob".into()),
                when: When::Call(1),
                what: says(429, ("retry-after", seconds), "You have exceeded a secondary rate limit."),
            });
        }
        world.run().await;
        assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
        let log = std::fs::read_to_string(log).unwrap();
        for part in ["waiting 20 s: ", "waiting 40 s: ", "s: the writes of this minute or hour are used up"] {
            assert!(log.contains(part), "{part}: {log}");
        }
        world.finish().await;
    }));
}

#[tokio::test]
async fn a_folder_that_is_no_repository_is_told_without_the_librarys_numbers() {
    let world = World::fixing().start().await;
    let issue = world.dir().join("issue.md");
    std::fs::write(&issue, "Make done.txt\n").unwrap();
    let folder = world.dir().display().to_string();
    let environment = [("GITHUB_REPOSITORY", "")];
    let ended =
        world.hob_with(&["rehearse", "--folder", &folder, "--task", issue.to_str().unwrap()], &environment).await;
    assert!(ended.code != 0 && ended.stderr.contains("is not a git repository"), "{ended:?}");
    assert!(!ended.stderr.contains("class="), "{ended:?}");
    world.finish().await;
}
