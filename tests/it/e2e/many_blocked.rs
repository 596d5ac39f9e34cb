//! Many blocked issues: what a process that knows none of them pays to see that nobody answered, and that it misses no answer.

use std::{collections::BTreeMap, time::Duration};

use github_emulator::{Fault, LoggedRequest, What, When};
use hob_domain::State;
use hob_forge::{Access, FirstQuestion, first_look};
use http::Method;
use serde_json::json;

use crate::harness::{World, run};

/// Blocked issues, and long enough since that no list lags behind them.
async fn with_blocked(issues: usize) -> (World, Vec<u64>) {
    let script = r#"[ "$n" = 0 ] && echo '{"outcome":"question","question":"Which colour?"}' || echo done > done.txt"#;
    let world = World::with_agent(script).start().await;
    let mut all = Vec::new();
    for _ in 0..issues {
        all.push(world.asks("Paint it", "The door.").await);
    }
    assert_eq!(world.run().await.worked, issues, "{:?}", world.failures());
    world.forge.advance(Duration::from_secs(120));
    (world, all)
}

/// The requests of the API by Hob's account since `before` of them.
fn since(world: &World, before: usize) -> Vec<LoggedRequest> {
    let own = |request: &LoggedRequest| request.login.as_ref().is_some_and(|login| login.as_str() == "hob");
    world.forge.requests().into_iter().skip(before).filter(|call| own(call) && call.path.starts_with("/api/")).collect()
}

#[tokio::test]
async fn a_process_that_knows_none_of_them_sees_in_three_calls_that_nobody_answered() {
    let (world, all) = with_blocked(4).await;
    // Words of an outsider, and of a maintainer to somebody else, are no answers either.
    world.comments("tess", all[0], "/hob cancel").await;
    world.forge.advance(Duration::from_secs(120));
    let counted = async |name: &str| {
        let (before, worker) = (world.forge.requests().len(), world.worker(name).await);
        let summary = run(&worker).await;
        assert_eq!((summary.worked, summary.reconciled, summary.failed), (0, 0, 0));
        since(&world, before)
    };
    let made = counted("w2").await;
    assert!(!made.iter().any(|call| call.path.ends_with("/comments")), "{made:?}");
    let of_four = made.iter().filter(|call| call.counted).count();
    let (more, _) = with_blocked(2).await;
    let before = more.forge.requests().len();
    run(&more.worker("w2").await).await;
    let of_two = since(&more, before).iter().filter(|call| call.counted).count();
    // The refs, the first look and the token's own account; beside them the permission of the outsider's, and nothing for each issue.
    assert_eq!((of_two, of_four), (3, 3 + 1), "{made:?}");
    for args in [&["status"][..], &["status", "--ready", "--json"]] {
        let before = world.forge.requests().len();
        let ended = world.hob(args).await;
        assert_eq!(ended.code, 0, "{ended:?}");
        let made = since(&world, before);
        assert!(!made.iter().any(|call| call.path.ends_with("/comments")), "{args:?}: {made:?}");
        assert_eq!(made.iter().filter(|call| call.counted).count(), 3 + 1, "{args:?}: {made:?}");
    }
    more.finish().await;
    world.finish().await;
}

#[tokio::test]
async fn the_first_look_has_the_issues_as_the_list_has_them() {
    let (world, all) = with_blocked(2).await;
    world.comments("ann", all[1], "Wait for the painter.").await;
    world.call("ann", Method::POST, &format!("/issues/{}/assignees", all[0]), json!({ "assignees": ["wil"] })).await;
    let forge = world.bot(Access::ReadOnly);
    let question = FirstQuestion { path: ".github/hob.toml", label: "code", blocked: "blocked", ledgers: &[] };
    let told = first_look(&forge, question).await.unwrap();
    let listed = forge.issues().open_with("code").await.unwrap().issues;
    assert_eq!(format!("{:#?}", told.issues.unwrap()), format!("{listed:#?}"));
    assert_eq!((listed.len(), told.comments[&listed[1].number].len() as u64), (2, listed[1].comments));
    world.finish().await;
}

#[tokio::test]
async fn an_answer_among_many_blocked_issues_is_found_with_the_query_and_without_it() {
    for graphql in ["answers", "is missing", "is forbidden"] {
        let (world, all) = with_blocked(3).await;
        world.comments("ann", all[1], "Blue, please.").await;
        world.comments("ann", all[2], "/hob explain").await;
        world.forge.advance(Duration::from_secs(120));
        if graphql == "is missing" {
            let what = What::Answer { status: 404, headers: BTreeMap::new(), message: "Not Found".to_owned() };
            let path = "/api/graphql".to_owned();
            world.forge.inject(Fault { method: None, path, login: None, when: When::Always, what });
        }
        if graphql == "is forbidden" {
            let body = json!({ "data": { "repository": null }, "errors": [{ "type": "FORBIDDEN", "message": "no" }] });
            let what = What::Raw { status: 200, headers: BTreeMap::new(), body: body.to_string() };
            let path = "/api/graphql".to_owned();
            world.forge.inject(Fault { method: None, path, login: None, when: When::Always, what });
        }
        let summary = run(&world.worker("w2").await).await;
        // Without GraphQL nobody knows who edited the issue, so no attempt begins.
        let (worked, state) = if graphql == "answers" { (1, State::InReview) } else { (0, State::Blocked) };
        assert_eq!(summary.worked, worked, "GraphQL {graphql}: {:?}", world.failures());
        let states = async |issue| world.record(issue).await.unwrap().state;
        assert_eq!(states(all[0]).await, State::Blocked, "GraphQL {graphql}");
        assert_eq!(states(all[1]).await, state, "GraphQL {graphql}");
        let comments = world.call("ann", Method::GET, &format!("/issues/{}/comments", all[2]), json!(null)).await;
        let bodies = comments.as_array().unwrap().iter().filter_map(|one| one["body"].as_str());
        let replies = bodies.filter(|body| body.starts_with("<!-- hob:reply")).count();
        assert_eq!(replies, 1, "GraphQL {graphql}");
        world.leave();
    }
}
