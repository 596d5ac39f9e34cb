//! Bad input, through the real program: one clear sentence and the documented exit code.

use crate::harness::{Ended, World};

/// Exactly one sentence for people, without a backtrace or a dump.
fn says(ended: &Ended, code: i32, words: &[&str]) {
    assert_eq!(ended.code, code, "{ended:?}");
    let lines: Vec<&str> = ended.stderr.trim().lines().collect();
    assert!(lines.len() <= 2, "more than one sentence: {ended:?}");
    for word in words {
        assert!(ended.stderr.contains(word), "`{word}` is missing: {ended:?}");
    }
    assert!(!ended.stderr.contains("token-of-hob"), "{ended:?}");
}

#[tokio::test]
async fn an_unknown_setting_names_the_nearest() {
    let world = World::fixing().start().await;
    let ended = world.hob(&["status", "--set", "limits.josb=2"]).await;
    says(&ended, 2, &["unknown setting `limits.josb`, did you mean `jobs`?"]);
    let ended = world.hob_with(&["status"], &[("HOB__POLL__INTERVALL", "3s")]).await;
    says(&ended, 2, &["did you mean `poll.interval`?"]);
    world.finish().await;
}

#[tokio::test]
async fn an_old_name_of_a_setting_works_with_one_warning_and_not_beside_the_new_name() {
    let world = World::fixing().start().await;
    let old = ["settings", "--set", "limits.issue_time=40m"];
    let ended = world.hob(&old).await;
    says(&ended, 0, &["the setting `limits.issue_time` is now `limits.attempt_time`"]);
    assert!(ended.stdout.contains("attempt_time = \"40m\"") && !ended.stdout.contains("issue_time"), "{ended:?}");
    assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
    let ended = world.hob_with(&["config", "show"], &[("HOB__AGENT__SILENCE_ENDS", "9m")]).await;
    says(&ended, 0, &["`agent.silence_ends` is now `limits.idle_timeout`"]);
    let ended = world.hob_with(&old, &[("HOB__LIMITS__ATTEMPT_TIME", "50m")]).await;
    says(&ended, 2, &["both are set: remove `limits.issue_time`"]);
    world.finish().await;
}

#[tokio::test]
async fn a_malformed_settings_file_is_named() {
    let world = World::fixing().start().await;
    let path = world.dir().join("broken.toml");
    std::fs::write(&path, "[limits\njobs = 2\n").unwrap();
    let ended = world.hob(&["status", "--config", path.to_str().unwrap()]).await;
    says(&ended, 2, &["broken.toml", "cannot be used: line 1: "]);
    let absent = world.dir().join("absent.toml");
    says(&world.hob(&["status", "--config", absent.to_str().unwrap()]).await, 2, &["absent.toml", "cannot be read"]);
    world.finish().await;
}

#[tokio::test]
async fn a_token_that_is_missing_wrong_or_too_weak_is_told() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    says(&world.hob_with(&["status"], &[("GITHUB_TOKEN", "")]).await, 3, &["no token\nhint: set GITHUB_TOKEN"]);
    says(&world.hob_with(&["status"], &[("GITHUB_TOKEN", "wrong")]).await, 3, &["token"]);
    let weak = world.hob_with(&["run", "--once"], &[("GITHUB_TOKEN", "token-of-rob")]).await;
    assert_eq!(weak.code, 3, "{weak:?}");
    let absent = world.dir().join("absent").display().to_string();
    let ended = world.hob_with(&["status"], &[("GITHUB_TOKEN", ""), ("GITHUB_TOKEN_FILE", &absent)]).await;
    says(&ended, 2, &["GITHUB_TOKEN_FILE", &absent, "No such file"]);
    let both = world.hob_with(&["status"], &[("GITHUB_TOKEN_FILE", &absent)]).await;
    says(&both, 2, &["the variables `GITHUB_TOKEN` and `GITHUB_TOKEN_FILE` are both set: remove one of them"]);
    assert!(weak.stderr.contains("write"), "{weak:?}");
    assert_eq!(world.labels(issue).await, ["code"]);

    // The same issue, the right token: nothing prevents the work.
    let ended = world.hob(&["run", "--once"]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(world.labels(issue).await, ["code", "in-review"]);
    world.finish().await;
}

#[tokio::test]
async fn a_forge_that_cannot_be_reached_is_told() {
    let world = World::fixing().start().await;
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let address = format!("http://127.0.0.1:{port}/api/v3");
    let ended = world.hob_with(&["status"], &[("GITHUB_API_URL", &address)]).await;
    says(&ended, 5, &["reach"]);
    world.finish().await;
}

#[tokio::test]
async fn a_repository_that_is_absent_empty_or_not_named_is_told() {
    let world = World::fixing().start().await;
    for command in [vec!["status"], vec!["run", "--once"]] {
        let ended = world.hob(&[&command[..], &["--repo", "acme/nothing"]].concat()).await;
        says(&ended, 4, &["acme/nothing"]);
    }
    says(&world.hob_with(&["status"], &[("GITHUB_REPOSITORY", "")]).await, 2, &["--repo OWNER/NAME"]);
    says(&world.hob(&["status", "--repo", "no-slash"]).await, 2, &["no-slash"]);
    world.makes_empty_repository("void").await;
    says(&world.hob(&["run", "--once", "--repo", "ann/void"]).await, 4, &["ann/void", "empty"]);
    let doctor = world.hob(&["doctor", "--repo", "ann/void"]).await;
    assert!(doctor.code == 6 && doctor.stdout.contains("ann/void is empty"), "{doctor:?}");
    world.finish().await;
}

#[tokio::test]
async fn a_body_of_200_kilobytes_works() {
    let world = World::fixing().start().await;
    // A body has 65,536 characters at most: four bytes each make it as large as it gets.
    let body = "\u{1f3e0}".repeat(51_200);
    assert_eq!(body.len(), 200 << 10);
    let (status, said) = world
        .try_call(
            "ann",
            http::Method::POST,
            "/issues",
            serde_json::json!({"title": "Big", "body": body, "labels": ["code"]}),
        )
        .await;
    assert_eq!(status, 201, "{said}");
    let ended = world.hob(&["run", "--once"]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(world.labels(1).await, ["code", "in-review"]);
    let brief = &world.briefs(1)[0];
    assert!(brief.len() < world.settings.limits.body_bytes + 4_000, "{}", brief.len());
    world.finish().await;
}

#[tokio::test]
async fn a_disk_that_is_full_while_cloning_is_told_and_the_next_run_goes_on() {
    // Text that does not shrink: a pack of it is larger than any file may be.
    let mut seed = 1_u64;
    let noise: String = std::iter::repeat_with(|| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(b'!' + ((seed >> 33) % 90) as u8)
    })
    .take(400_000)
    .collect();
    let world = World::fixing().file("noise.txt", &noise).start().await;
    let issue = world.asks("Make done.txt", "").await;
    let ended = world.hob_on_a_full_disk(200, &["run", "--once"]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stderr.contains("File too large"), "{ended:?}");
    assert_eq!(world.labels(issue).await, ["code"], "{ended:?}");
    let record = world.record(issue).await.unwrap();
    assert!(record.failure.until.is_some() && record.lease.is_none(), "{record:?}");

    world.forge.advance(world.settings.limits.retry_delay * 2);
    let ended = world.hob(&["run", "--once"]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{ended:?}");
    world.finish().await;
}
