//! `hob verify`: a good statement holds, and each thing that was tampered with is named.

use base64::{Engine, prelude::BASE64_STANDARD};
use hob_domain::State;
use serde_json::{Value, json};

use super::house_rules::PUBLIC_KEY;
use crate::harness::{Ended, World};

/// A world whose one pull request has a signed statement; its issue.
async fn signed() -> (World, u64) {
    let mut world = World::fixing().start().await;
    world.signs();
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    std::fs::write(world.dir().join("hob.pub"), format!("{PUBLIC_KEY}\n")).unwrap();
    (world, issue)
}

/// The statement of a pull request, verified with the right key.
pub(super) async fn verifies() -> Ended {
    let (world, _) = signed().await;
    let pull = world.pull().await["number"].to_string();
    let ended = world.hob(&["verify", &pull, "--key", "hob.pub", "--json"]).await;
    world.finish().await;
    ended
}

/// The envelope with a payload in which `from` is `to`.
fn tampered(envelope: &Value, from: &str, to: &str) -> Value {
    let payload = BASE64_STANDARD.decode(envelope["payload"].as_str().unwrap()).unwrap();
    let text = String::from_utf8(payload).unwrap();
    assert!(text.contains(from), "{from}: {text}");
    let mut envelope = envelope.clone();
    envelope["payload"] = BASE64_STANDARD.encode(text.replace(from, to)).into();
    envelope
}

#[tokio::test]
async fn verify_names_each_thing_that_was_tampered_with() {
    let (world, issue) = signed().await;
    let pull = world.pull().await;
    let number = pull["number"].to_string();
    let good = world.hob(&["verify", &number, "--key", "hob.pub", "--json"]).await;
    assert_eq!((good.code, &good.result()["signature"], &good.result()["faults"]), (0, &json!("valid"), &json!([])));
    assert_eq!((&good.result()["head"], &good.result()["shown"]), (&pull["head"]["sha"], &json!("proven")));
    let unchecked = world.hob(&["verify", &number, "--json"]).await;
    assert_eq!((unchecked.code, &unchecked.result()["signature"]), (0, &json!("unchecked")), "{unchecked:?}");
    assert_eq!(unchecked.result()["key"], good.result()["key"]);

    let proof = world.record(issue).await.unwrap().work.proof.unwrap();
    let envelope = serde_json::to_value(&proof).unwrap();
    let statement = proof.statement();
    let mut cut = envelope.clone();
    cut["signatures"] = json!([]);
    let mut other_signature = envelope.clone();
    other_signature["signatures"][0]["sig"] = BASE64_STANDARD.encode("none").into();
    let nowhere = "0".repeat(40);
    let repository = statement.predicate.repository.to_string();
    for (envelope, says) in [
        (tampered(&envelope, "\"passed\":1", "\"passed\":2"), "by none of the given keys"),
        (tampered(&envelope, statement.tree.as_str(), &nowhere), "the head's tree is"),
        (tampered(&envelope, statement.head.as_str(), &nowhere), "the pull request's head is"),
        (tampered(&envelope, &format!("\"{repository}\""), "\"eve/copy\""), "about the repository eve/copy"),
        (tampered(&envelope, "\"issue\":1", "\"issue\":5"), "about issue #5"),
        (tampered(&envelope, "#predicate-v1", "#predicate-v9"), "not a statement"),
        (cut, "it has no signature"),
        (other_signature, "by none of the given keys"),
    ] {
        std::fs::write(world.dir().join("proof.json"), envelope.to_string()).unwrap();
        let ended = world.hob(&["verify", "proof.json", "--key", "hob.pub"]).await;
        assert!(ended.code == 8 && ended.stderr.contains(says), "{says}: {ended:?}");
    }
    // Another key of the same form.
    let other = PUBLIC_KEY.replacen("TTen", "TTem", 1);
    assert_ne!(other, PUBLIC_KEY);
    std::fs::write(world.dir().join("other.pub"), other).unwrap();
    let ended = world.hob(&["verify", &number, "--key", "other.pub"]).await;
    assert!(ended.code == 8 && ended.stderr.contains("by none of the given keys"), "{ended:?}");
    std::fs::write(world.dir().join("other.pub"), "ssh-rsa AAAA").unwrap();
    let ended = world.hob(&["verify", &number, "--key", "other.pub"]).await;
    assert!(ended.code == 2 && ended.stderr.contains("no public Ed25519 key"), "{ended:?}");

    // By the number of the issue, with the digest that the status comment has.
    let by_issue = world.hob(&["verify", &issue.to_string(), "--key", "hob.pub", "--json"]).await;
    assert_eq!((by_issue.code, by_issue.result()), (0, good.result()));
    let says = format!("Statement of #{number}: SHA-256 `{}`", good.result()["digest"].as_str().unwrap());
    assert!(world.status(issue).await.contains(&says), "{}", world.status(issue).await);

    let branch = pull["head"]["ref"].as_str().unwrap();
    world.pushes_onto("ann", branch, "beside.txt", "mine\n").await;
    let ended = world.hob(&["verify", &number, "--key", "hob.pub"]).await;
    assert!(ended.code == 8 && ended.stderr.contains("review what was pushed since"), "{ended:?}");
    let ended = world.hob(&["verify", "999"]).await;
    assert!(ended.code == 4 && ended.stderr.contains("#999 does not exist"), "{ended:?}");
    world.finish().await;
}

#[tokio::test]
async fn the_statement_of_a_done_issue_is_found_by_either_number() {
    let (world, issue) = signed().await;
    let pull = world.pull().await["number"].as_u64().unwrap();
    world.merges(pull).await;
    world.run().await;
    assert_eq!(world.record(issue).await.unwrap().state, State::Done);
    for number in [issue, pull] {
        let ended = world.hob(&["verify", &number.to_string(), "--key", "hob.pub", "--json"]).await;
        assert_eq!((ended.code, &ended.result()["faults"]), (0, &json!([])), "{ended:?}");
        assert_eq!(ended.result()["pull_request"], json!(pull));
    }
    world.finish().await;
}

#[tokio::test]
async fn the_runs_are_made_again_and_what_differs_is_named_by_test() {
    let check = "if grep -q right value.py; then echo 'test new ... ok'; else echo 'test new ... FAILED'; exit 1; fi";
    let world = World::with_agent("echo right > value.py").file("value.py", "wrong\n").check(check).start().await;
    let issue = world.asks("Mend the value", "").await;
    // The same program, so that the tier is the same.
    assert_eq!(world.hob(&["run", "--once"]).await.code, 0, "{:?}", world.failures());
    let pull = world.pull().await["number"].to_string();
    let again = world.hob(&["verify", &pull, "--rerun"]).await;
    assert!(again.code == 0 && again.stdout.contains("ended the same when they were made again"), "{again:?}");
    let proof = world.record(issue).await.unwrap().work.proof.unwrap();
    let envelope = serde_json::to_value(&proof).unwrap();
    let tier = proof.statement().predicate.sandbox.clone();
    let other = "\"sandbox\":\"hut\"";
    for (from, to, says, code) in [
        ("\"failedTests\":[\"new\"]", "\"failedTests\":[\"x\"]", "base: `new` fails now, and did not then", 8),
        ("\"failedTests\":[\"new\"]", "\"failedTests\":[\"x\"]", "base: `x` failed then, and does not now", 8),
        ("\"word\":\"proven\"", "\"word\":\"no_tests\"", "says no_tests, and the runs show proven", 8),
        (&format!("\"sandbox\":\"{tier}\""), other, "the runs were made in the tier `hut`, and this machine has", 6),
    ] {
        std::fs::write(world.dir().join("proof.json"), tampered(&envelope, from, to).to_string()).unwrap();
        let ended = world.hob(&["verify", "proof.json", "--rerun"]).await;
        assert!(ended.code == code && ended.stderr.contains(says), "{says}: {ended:?}");
        let believed = world.hob(&["verify", "proof.json"]).await;
        assert_eq!(believed.code, 0, "without a run and a key it is believed: {believed:?}");
    }
    world.finish().await;
}
