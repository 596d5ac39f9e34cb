//! The page and the API of `hob run --listen`: what they show, what can be asked for there, and who may.

use rustix::process::Signal;
use serde_json::json;

use crate::harness::{LISTEN_TOKEN, Listening, World, answer, get, serves};

/// Asks once, and then does the work.
const ASKS: &str = r#"if [ "$n" -gt 0 ]; then echo short > done.txt; echo '{"outcome":"done","summary":"wrote it"}'
else echo '{"outcome":"question","question":"Which <b>name</b>? <script>alert(1)</script> \"x\""}'; fi"#;

fn asking() -> crate::harness::Builder {
    World::with_agent(ASKS).set("poll.interval", "1h")
}

#[tokio::test]
async fn a_question_is_answered_there_and_the_work_goes_on() {
    let world = asking().start().await;
    let issue = world.asks("Make <i>done.txt</i>", "").await;
    let listening = world.listens().await;
    let shown = listening.shows(issue, "blocked").await;
    assert_eq!((shown["needs"].as_str(), shown["title"].as_str()), (Some("question"), Some("Make <i>done.txt</i>")));
    assert!(shown["question"].as_str().unwrap().contains("<script>"), "{shown}");
    assert_eq!(shown["deeds"], json!(["answer", "retry", "pause", "cancel"]));

    let refused = listening.asks(&format!("/issues/acme/site/{issue}/answer"), "  ").await;
    assert_eq!(refused.0, 400, "{refused:?}");
    let refused = listening.asks(&format!("/issues/acme/site/{issue}/approve"), "").await;
    assert_eq!(refused.0, 409, "{refused:?}");
    let answered = listening.asks(&format!("/issues/acme/site/{issue}/answer"), "the short one").await;
    assert_eq!((answered.0, answered.1["done"].as_bool()), (200, Some(true)), "{answered:?}");
    // By the clock, the next poll is in an hour: the answer wakes it.
    let shown = listening.shows(issue, "in-review").await;
    assert_eq!(shown["needs"], "review");
    assert!(shown["pull_request"].is_u64() && shown["usd"] == 0.0, "{shown}");
    let late = listening.asks(&format!("/issues/acme/site/{issue}/answer"), "another").await;
    assert_eq!(late.0, 409, "{late:?}");
    ends(listening).await;
    world.finish().await;
}

/// Attack corpus L162: injected markup in a title and a question is text.
#[tokio::test]
async fn what_others_wrote_is_text_in_each_view() {
    let world = asking().start().await;
    let issue = world.asks("A </title><script>alert(1)</script> \u{202e}title", "").await;
    let listening = world.listens().await;
    listening.shows(issue, "blocked").await;
    let of_issue = format!("/issues/acme/site/{issue}");
    for path in ["/", "/?needs=question", "/now", "/worth-it?by=week", "/health", &of_issue] {
        let (status, text) = listening.reads(path).await;
        assert_eq!(status, 200, "{path}: {text}");
        // The page's own script is the only one.
        assert_eq!(text.matches("<script").count(), 1, "{path}: {text}");
        assert!(!text.contains("<b>name") && !text.contains('\u{202e}'), "{path}: {text}");
    }
    let (_, text) = listening.reads("/").await;
    assert!(text.contains("Which &lt;b&gt;name&lt;&#x2f;b&gt;? &lt;script&gt;"), "{text}");
    for gone in ["/issues/acme/site/99", "/issues/acme/other/1", "/issues/acme/site/x"] {
        assert!(matches!(listening.reads(gone).await.0, 400 | 404), "{gone}");
    }
    ends(listening).await;
    world.finish().await;
}

/// Attack corpus L161: another site, and a request without the token.
#[tokio::test]
async fn nothing_is_shown_or_changed_without_the_token_nor_from_another_site() {
    let world = asking().start().await;
    let issue = world.asks("Make done.txt", "").await;
    let listening = world.listens().await;
    listening.shows(issue, "blocked").await;
    // Its holder would be asked to end the work.
    is_let_go(&world, issue).await;
    let at = listening.at;
    let deed = format!("/issues/acme/site/{issue}/cancel");
    let post = |path: String, headers: String| async move {
        answer(at, &format!("POST {path} HTTP/1.1\nHost: {at}\n{headers}Content-Type: application/x-www-form-urlencoded\nContent-Length: 0\n\n")).await
    };
    assert!(get(at, "/api/v1/issues", "").await.starts_with("HTTP/1.1 401 "));
    assert!(get(at, "/", "").await.contains("\r\nlocation: /sign-in\r\n"));
    assert!(post(deed.clone(), String::new()).await.contains("\r\nlocation: /sign-in\r\n"));
    assert!(
        post(format!("/api/v1{deed}"), "Authorization: Bearer wrong\n".to_owned()).await.starts_with("HTTP/1.1 401 ")
    );

    let typed = |token: &str| {
        let body = format!("token={token}");
        let length = body.len();
        let head = "Content-Type: application/x-www-form-urlencoded";
        format!("POST /sign-in HTTP/1.1\nHost: {at}\n{head}\nContent-Length: {length}\n\n{body}")
    };
    assert!(answer(at, &typed("wrong")).await.starts_with("HTTP/1.1 401 "));
    let signed_in = answer(at, &typed(LISTEN_TOKEN)).await;
    let cookie = signed_in.split("set-cookie: ").nth(1).unwrap().split("\r\n").next().unwrap();
    assert!(cookie.contains("; HttpOnly; SameSite=Strict;"), "{cookie}");
    let cookie = format!("Cookie: {}\n", cookie.split(';').next().unwrap());
    let page = get(at, "/", &cookie).await;
    assert!(
        page.starts_with("HTTP/1.1 200 ") && page.contains("content-security-policy: default-src 'none';"),
        "{page}"
    );
    for origin in ["", "Origin: http://evil.example\n", "Sec-Fetch-Site: cross-site\n"] {
        let refused = post(deed.clone(), format!("{cookie}{origin}")).await;
        assert!(refused.starts_with("HTTP/1.1 403 "), "{origin}: {refused}");
    }
    assert_eq!(world.record(issue).await.unwrap().state, hob_domain::State::Blocked);
    let done = post(deed, format!("{cookie}Sec-Fetch-Site: same-origin\n")).await;
    assert!(done.starts_with("HTTP/1.1 303 "), "{done}");
    assert_eq!(world.record(issue).await.unwrap().state, hob_domain::State::Done);
    ends(listening).await;

    let mut open = world.starts_hob(&["run", "--listen", "0"]).await;
    let at = serves(&mut open).await;
    let page = get(at, "/", "").await;
    assert!(page.contains("HOB_LISTEN_TOKEN") && !page.contains("<button type=\"submit\" class=\"danger\">"), "{page}");
    let refused =
        answer(at, &format!("POST /api/v1/repositories/acme/site/pause HTTP/1.1\nHost: {at}\nContent-Length: 0\n\n"))
            .await;
    assert!(refused.starts_with("HTTP/1.1 403 ") && refused.contains("HOB_LISTEN_TOKEN"), "{refused}");
    assert_eq!(open.ends_by(Signal::TERM).await.code, 0);
    world.finish().await;
}

/// It reads what the process knows.
#[tokio::test]
async fn looking_asks_the_forge_for_nothing() {
    let world = asking().start().await;
    let issue = world.asks("Make done.txt", "").await;
    let listening = world.listens().await;
    listening.shows(issue, "blocked").await;
    is_let_go(&world, issue).await;
    let of_hob = || {
        world
            .forge
            .requests()
            .iter()
            .filter(|request| request.login.as_ref().is_some_and(|login| login.0 == "hob"))
            .count()
    };
    let before = of_hob();
    let of_issue = format!("/issues/acme/site/{issue}");
    for path in ["/", "/now", "/worth-it", "/health", &of_issue] {
        assert_eq!(listening.reads(path).await.0, 200);
    }
    for path in ["/state", "/issues", "/outcomes?by=week", "/sessions", "/openapi.json", &of_issue] {
        listening.api(path).await;
    }
    assert_eq!(of_hob(), before);
    let state = listening.api("/state").await;
    assert_eq!(state["repositories"][0]["repo"], "acme/site");
    assert_eq!(state["repositories"][0]["failed"], json!(null));
    let outcomes = listening.api("/outcomes").await;
    assert_eq!((outcomes["total"]["blocked"].as_u64(), outcomes["by"].as_str()), (Some(1), Some("agent")));
    assert_eq!(listening.api("/sessions").await[0]["issue"], issue);
    ends(listening).await;
    world.finish().await;
}

/// Pages go by key: nobody is lost or shown twice.
#[tokio::test]
async fn a_list_comes_in_parts() {
    let world = asking().set("limits.jobs", "1").start().await;
    for number in 0..5 {
        world.asks(&format!("Issue {number}"), "").await;
    }
    let listening = world.listens().await;
    let mut all = 0;
    while all < 5 {
        all = listening.api("/issues").await["all"].as_u64().unwrap();
    }
    let (mut seen, mut after) = (Vec::new(), String::new());
    loop {
        let part = listening.api(&format!("/issues?limit=2{after}")).await;
        let issues = part["issues"].as_array().unwrap();
        assert!(issues.len() <= 2);
        seen.extend(issues.iter().map(|issue| issue["issue"].as_u64().unwrap()));
        let Some(next) = part["next"].as_str() else { break };
        after = format!("&after={next}");
    }
    seen.sort_unstable();
    // A state may change while they are read, which puts an issue at the end: it is never left out.
    seen.dedup();
    assert_eq!(seen, [1, 2, 3, 4, 5]);
    assert_eq!(listening.reads("/api/v1/issues?after=nonsense").await.0, 400);
    assert_eq!(listening.reads("/api/v1/outcomes?by=colour").await.0, 400);
    ends(listening).await;
    world.finish().await;
}

#[tokio::test]
async fn what_happens_is_streamed_and_a_reader_goes_on_where_it_was() {
    let world = asking().start().await;
    let issue = world.asks("Make done.txt", "").await;
    let listening = world.listens().await;
    listening.shows(issue, "blocked").await;
    let mut lines = listening.streams("/events?after=0").await;
    let first = lines.next_event().await;
    assert_eq!((first.id.as_deref(), first.data["event"].as_str()), (Some("1"), Some("polled")));
    let mut last = first;
    while last.data["event"] != "moved" || last.data["state"] != "blocked" {
        last = lines.next_event().await;
    }
    assert_eq!((last.data["repo"].as_str(), last.data["issue"].as_u64()), (Some("acme/site"), Some(issue)));
    // Another reader goes on after it.
    let mut others = listening.streams(&format!("/events?after={}", last.id.unwrap())).await;
    listening.asks(&format!("/issues/acme/site/{issue}/answer"), "the short one").await;
    let mut next = others.next_event().await;
    while next.data["state"] != "in-review" {
        assert_ne!(next.data["state"], "blocked", "it was told before");
        next = others.next_event().await;
    }
    let mut changes = listening.streams("/events?only=changes").await;
    listening.asks("/repositories/acme/site/pause", "lunch").await;
    assert_eq!(changes.next_event().await.name.as_deref(), Some("changed"));
    assert_eq!(listening.hob.ends_by(Signal::TERM).await.code, 0);
    world.finish().await;
}

/// Its lease is released, and what was written to the forge about it is over.
async fn is_let_go(world: &World, issue: u64) {
    while world.record(issue).await.unwrap().lease.is_some() {
        tokio::task::yield_now().await;
    }
}

async fn ends(listening: Listening) {
    assert_eq!(listening.hob.ends_by(Signal::TERM).await.code, 0);
}
