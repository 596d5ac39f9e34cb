//! All kinds of feedback from a pull request at once, for the real program, which is killed in the middle of it.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use super::{checks::failed_job, merges_when_green};
use crate::harness::{Gate, World, repo_on_forge};

/// The first run writes the work; those of the round resolve the conflict and do the requested change, after the gate.
fn script() -> String {
    let says = r#"printf '%s\n' '{"outcome":"done","summary":"Shouted.\n\nT1: Louder.\nT2: Louder, too.\nT3: No: it is a name."}'"#;
    let round = Gate::before(&format!("printf 'ONE\\nTWO\\nthree\\n' > done.txt; echo both > half.txt; {says}"));
    format!(
        "if grep -q 'Nearly there' {{DIR}}/briefs/$HOB_ISSUE-$n; then {round}\n\
         else printf 'one\\ntwo\\nthree\\n' > done.txt; echo half > half.txt; echo '{{\"outcome\":\"done\",\"summary\":\"Wrote it.\"}}'; fi"
    )
}

#[tokio::test]
async fn all_at_once_ends_well_although_the_program_is_killed_twice() {
    let check = format!("test ! -e {{DIR}}/gated || {{ {}true; }}; test -f done.txt", Gate::before(""));
    let world = World::with_agent(&script()).file("half.txt", "nothing").check(&check).start().await;
    let mut gate = Gate::of(&world);
    let issue = world.asks("Make done.txt", "").await;
    let pull = world.opens_a_pull().await;
    let first = world.head(pull).await;
    world.pushes_onto("ann", "main", "half.txt", "theirs\n").await;
    let lines = [(1, "Louder, please."), (2, "This one as well."), (3, "And this.")];
    world.reviews("ann", pull, ("REQUEST_CHANGES", "Nearly there."), &lines).await;
    world.forge.create_job(&repo_on_forge(), &failed_job(&first)).unwrap();

    let expires = world.settings.lease.duration + world.settings.lease.skew + Duration::from_secs(2);
    let hob = world.starts_hob(&["run", "--once"]).await;
    gate.reached().await;
    hob.ends_by(Signal::KILL).await;
    assert_eq!(world.labels(issue).await, ["code", "in-progress"]);

    // Again while the work is checked.
    world.forge.advance(expires);
    let gated = world.dir().join("gated");
    std::fs::write(&gated, "").unwrap();
    let hob = world.starts_hob(&["run", "--once"]).await;
    gate.reached().await;
    gate.open().await;
    gate.reached().await;
    hob.ends_by(Signal::KILL).await;
    std::fs::remove_file(&gated).unwrap();
    assert_eq!(world.head(pull).await, first, "nothing that was not checked is pushed");

    world.forge.advance(expires);
    let opens = async {
        gate.reached().await;
        gate.open().await;
    };
    let (ended, ()) = tokio::join!(world.hob(&["run", "--once"]), opens);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{ended:?}");
    let found = world.look(&format!("/pulls/{pull}")).await;
    assert_eq!((&found["mergeable"], &found["state"]), (&json!(true), &json!("open")));
    let own = |author: &str| author == "hob";
    assert_eq!(world.remarks(pull).await.iter().filter(|(author, ..)| own(author)).count(), 3);
    assert_eq!(world.said(pull).await.len(), 1);
    let resolved: Vec<bool> = world.threads(pull).await.into_iter().map(|(.., resolved)| resolved).collect();
    assert_eq!(resolved, [true, true, false]);
    let review = world.record(issue).await.unwrap().review;
    assert_eq!((review.rounds, review.ci_rounds, review.base_rounds, review.is_under_way()), (1, 1, 1, false));
    assert_eq!(world.run().await.worked, 0, "{:?}", world.failures());
    merges_when_green(world, issue, pull, "test").await;
}
