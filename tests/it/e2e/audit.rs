//! The audit trail: what the ledgers say of each deed, and the same outside of the repository, where no writer of it can change
//! what was told.

use std::{collections::BTreeSet, fs, os::unix::net::UnixDatagram, path::PathBuf};

use http::Method;
use serde_json::{Value, json};

use crate::harness::{Receiver, World, repo};

/// A world that tells its deeds to a file; the file.
async fn told_to_a_file() -> (World, PathBuf, tempfile::TempDir) {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("audit.jsonl");
    let world = World::fixing().set("audit", &format!("file:{}", file.display())).start().await;
    (world, file, place)
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The deeds of this kind.
fn of<'a>(deeds: &'a [Value], deed: &str) -> Vec<&'a Value> {
    deeds.iter().filter(|one| one["deed"] == deed).collect()
}

#[tokio::test]
async fn each_deed_is_told_to_a_file_and_by_the_command() {
    let (world, file, _place) = told_to_a_file().await;
    let issue = world.asks("Make done.txt", "Please.").await;
    world.run().await;
    let told = lines(&fs::read_to_string(&file).unwrap());
    let approved = world.record(issue).await.unwrap().trigger.unwrap().approved;
    let [authorized] = of(&told, "authorized")[..] else { panic!("{told:#?}") };
    assert_eq!((&authorized["by"], &authorized["text"]), (&json!("ann"), &json!(approved)));
    let [pushed] = of(&told, "pushed")[..] else { panic!("{told:#?}") };
    assert_eq!((&pushed["branch"], &pushed["files"]), (&json!("hob/1-make-done-txt"), &json!(["done.txt"])));
    let [published] = of(&told, "published")[..] else { panic!("{told:#?}") };
    assert_eq!((&published["agent"], &published["head"]), (&json!("fixer"), &pushed["head"]));
    let states: Vec<_> = of(&told, "moved").into_iter().map(|moved| moved["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["assigned", "in-progress", "in-review"]);
    assert!(told.iter().all(|one| one["repo"] == repo().to_string() && one["issue"] == issue && one["version"] == 1));

    // The ledger says the same, under the same ids.
    let said = world.hob(&["audit", &issue.to_string(), "--json"]).await;
    let said: Vec<Value> = said.objects().into_iter().filter(|one| one["event"] == "deed").collect();
    let in_ledger = |one: &&Value| one["in_ledger"] == true;
    assert_eq!(said.iter().filter(in_ledger).count(), said.len() - of(&said, "pushed").len(), "{said:#?}");
    assert_eq!(of(&said, "pushed")[0]["files"], json!(["done.txt"]), "by the trail's file");
    let ids = |deeds: &[Value]| -> Vec<String> {
        let of_ledger = deeds.iter().filter(|one| one["deed"] != "pushed" && one["deed"] != "reached");
        of_ledger.map(|one| format!("{} {}", one["id"], one["deed"])).collect()
    };
    assert_eq!(ids(&said), ids(&told));
    let shown = world.hob(&["audit"]).await;
    assert!(shown.stdout.contains(&format!("#1        ann authorized the text {approved}")), "{}", shown.stdout);
    let none = world.hob(&["audit", "99"]).await;
    assert!(none.code != 0 && none.stderr.contains("issue 99 has no ledger"), "{none:?}");
    world.finish().await;
}

/// Attack corpus K149: a writer of the repository deletes an issue's ledger, or writes another one.
#[tokio::test]
async fn a_ledger_that_is_deleted_changes_nothing_that_was_told() {
    let (world, file, _place) = told_to_a_file().await;
    let issue = world.asks("Make done.txt", "Please.").await;
    world.run().await;
    let before = fs::read_to_string(&file).unwrap();
    world.call("wil", Method::DELETE, &format!("/git/refs/hob/issues/{issue}"), Value::Null).await;
    assert_eq!(world.record(issue).await, None);
    let said = world.hob(&["audit"]).await.stdout.replace(char::is_whitespace, " ");
    let gone = format!("{}. The ledger does not say so", "agent `fixer` started on `hob/1-make-done-txt`");
    assert!(said.split_whitespace().collect::<Vec<_>>().join(" ").contains(&gone), "{said}");
    world.forge.advance(world.settings.limits.retry_delay * 2);
    world.run().await;
    let after = fs::read_to_string(&file).unwrap();
    assert!(after.starts_with(&before) && !before.is_empty(), "{before}\n\n{after}");
    world.leave();
}

/// Attack corpus K149: what a rewritten ledger says is contradicted by what was told.
#[tokio::test]
async fn a_ledger_that_is_rewritten_changes_nothing_that_was_told() {
    let (world, file, _place) = told_to_a_file().await;
    let issue = world.asks("Make done.txt", "Please.").await;
    world.run().await;
    let before = fs::read_to_string(&file).unwrap();
    let tip = world.look(&format!("/git/ref/hob/issues/{issue}")).await["object"]["sha"].clone();
    let commit = world.look(&format!("/git/commits/{}", tip.as_str().unwrap())).await;
    let message = commit["message"].as_str().unwrap();
    let forged = message.replace("\"actor\":\"ann\"", "\"actor\":\"mallory\"");
    assert_ne!(forged, message);
    let forged = json!({"message": forged, "tree": commit["tree"]["sha"], "parents": [tip]});
    let forged = world.call("wil", Method::POST, "/git/commits", forged).await["sha"].clone();
    world.call("wil", Method::PATCH, &format!("/git/refs/hob/issues/{issue}"), json!({"sha": forged})).await;
    let said = world.hob(&["audit", &issue.to_string()]).await;
    assert!(said.stdout.contains("mallory authorized"), "{}", said.stdout);
    let (words, _) = said.stdout.split_once("mallory").unwrap();
    assert!(words.contains("ann authorized") && !words.contains("does not say so"), "{}", said.stdout);
    world.run().await;
    let after = fs::read_to_string(&file).unwrap();
    assert!(after.starts_with(&before) && !before.contains("mallory"), "{before}\n\n{after}");
    world.leave();
}

#[tokio::test]
async fn what_cannot_be_told_is_kept_and_told_later_in_order() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("log");
    let file = folder.join("audit.jsonl");
    let world = World::fixing().set("audit", &format!("file:{}", file.display())).start().await;
    let issue = world.asks("Make done.txt", "Please.").await;
    // The folder of the file is not there: the attempt does not care.
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    fs::create_dir(&folder).unwrap();
    world.asks("Make another", "").await;
    world.run().await;
    let told = lines(&fs::read_to_string(&file).unwrap());
    let authorized: Vec<_> = of(&told, "authorized").into_iter().map(|one| one["issue"].as_u64().unwrap()).collect();
    assert_eq!(authorized, [issue, issue + 2]);
    assert_eq!(of(&told, "published").len(), 2);
    world.finish().await;
}

#[tokio::test]
async fn the_machines_log_gets_each_deed_as_one_message() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("log");
    let log = UnixDatagram::bind(&path).unwrap();
    let world = World::fixing().set("audit", &format!("syslog:{}", path.display())).start().await;
    world.asks("Make done.txt", "Please.").await;
    world.run().await;
    log.set_nonblocking(true).unwrap();
    let mut messages = Vec::new();
    let mut room = vec![0; 1 << 16];
    while let Ok(size) = log.recv(&mut room) {
        messages.push(String::from_utf8(room[..size].to_vec()).unwrap());
    }
    let authorized = messages.iter().find(|message| message.contains("\"authorized\"")).unwrap();
    assert!(authorized.starts_with("<110>1 2") && authorized.contains(" deed - {"), "{authorized}");
    assert!(messages.iter().any(|message| message.contains("\"published\"")), "{messages:#?}");
    world.finish().await;
}

#[tokio::test]
async fn an_address_gets_each_deed_once_also_after_it_was_down() {
    let receiver = Receiver::default();
    let address = receiver.start().await;
    // What the first worker tells is refused.
    receiver.answers(&[400]);
    let world = World::fixing().set("audit", &address).start().await;
    let issue = world.asks("Make done.txt", "Please.").await;
    world.run().await;
    world.asks("Make another", "").await;
    world.run().await;
    let mut ids = BTreeSet::new();
    let new = receiver.received().into_iter().filter(|one| ids.insert(one.id.clone()));
    let heard: Vec<Value> = new.map(|one| one.body).collect();
    let authorized: Vec<_> = of(&heard, "authorized").into_iter().map(|one| one["issue"].as_u64().unwrap()).collect();
    assert_eq!(authorized, [issue, issue + 2]);
    assert_eq!(receiver.received().len(), heard.len() + 1, "the one that was refused came again, and no other");
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    world.leave();
}
