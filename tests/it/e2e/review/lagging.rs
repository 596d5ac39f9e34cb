//! Lists that lag: what began a round is not in them yet.

use std::collections::BTreeMap;

use github_emulator::{Fault, What, When};
use serde_json::json;

use super::WRITES_LINES;
use crate::harness::World;

/// The reactions to the reviews of a pull request and to the comments on its lines.
async fn reactions(world: &World, pull: u64) -> Vec<u64> {
    let of = "reactions(content: EYES) { totalCount }";
    let query = format!(
        "{{ repository(owner: \"acme\", name: \"site\") {{ pullRequest(number: {pull}) {{ reviews(first: 9) {{ nodes {{ {of} \
         comments(first: 9) {{ nodes {{ {of} }} }} }} }} }} }} }}"
    );
    let found = world.ask_graphql("ann", json!({ "query": query })).await;
    let review = &found["data"]["repository"]["pullRequest"]["reviews"]["nodes"][0];
    [review, &review["comments"]["nodes"][0]]
        .iter()
        .map(|one| one["reactions"]["totalCount"].as_u64().unwrap())
        .collect()
}

#[tokio::test]
async fn what_began_a_round_is_read_although_a_list_lacks_it_at_first() {
    for list in ["/pulls/2/reviews", "/pulls/2/comments"] {
        for (status, body) in [(404, r#"{"message":"Not Found"}"#), (200, "[]")] {
            let world = World::with_agent(WRITES_LINES).check("test -f done.txt").start().await;
            let issue = world.asks("Make done.txt", "").await;
            let pull = world.opens_a_pull().await;
            assert_eq!(pull, 2);
            world.reviews("ann", pull, ("REQUEST_CHANGES", "Nearly there."), &[(1, "Louder, please.")]).await;
            let what = What::Raw { status, headers: BTreeMap::new(), body: body.to_owned() };
            let path = format!("/repos/acme/site{list}");
            world.forge.inject(Fault { method: None, path, login: Some("hob".into()), when: When::First(1), what });
            let summary = world.run().await;
            assert_eq!((summary.worked, summary.failed), (1, 0), "{list}, {status}: {:?}", world.failures());
            let brief = world.briefs(issue)[1].clone();
            assert!(brief.contains("Nearly there.") && brief.contains("Louder, please."), "{list}, {status}: {brief}");
            assert_eq!(reactions(&world, pull).await, [1, 1], "{list}, {status}");
            world.forge.heal();
            world.finish().await;
        }
    }
}
