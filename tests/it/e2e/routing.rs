//! Issues and the profiles that fit them: the choice, its source, and the limits of a profile.

use hob_domain::{ChosenBy, State};
use serde_json::json;

use crate::harness::{Builder, World, in_virtual_time};

const DATABASE: &str = "---\nname: database\ndescription: SQL queries, schema migrations, indexes and slow queries of PostgreSQL\nhob:\n  \
                        match:\n    words: [migration, index, query plan, postgres]\n    paths: ['db/**']\n---\nRead the query plan first. \
                        Write each migration with its way back.\n";
const DOCS: &str = "---\nname: docs\ndescription: Documentation, guides, README and spelling\nhob:\n  paths: ['docs/**']\n---\nWrite short \
                    sentences.\n";
/// Long enough for a profile: several parts, files and code.
const SLOW_QUERY: &str = "The orders page takes 9 seconds since the last migration.\n\n1. `db/queries/orders.sql` does a sequential scan, \
                          the query plan says so.\n2. The index on `orders.customer_id` was dropped by \
                          `db/migrations/0042_orders.sql`.\n3. PostgreSQL 16 in production, 14 here.\n\n```sql\nexplain analyze select * \
                          from orders where customer_id = 7;\n```\n\n- [ ] a migration that makes the index again\n- [ ] a query that uses \
                          it\n- [ ] a test with 10,000 rows\n\nSee also #3 and the slow query log.";
/// The router is half sure that it is the database's.
const HUNCH: &str = "It takes 9 seconds since last week.\n\n1. `orders.rb` selects too many rows.\n2. Customers complain about the list.\n3. The \
                     report for May shows the same.\n\n- [ ] make it fast\n- [ ] a test with 10,000 rows\n\nSee #3 and the slow query \
                     log.";
const WRITES: &str =
    r#"mkdir -p db; echo "$n" > db/fix.sql; echo '{"outcome":"done","summary":"Made the index again."}'"#;

fn world(script: &str) -> Builder {
    World::with_agent(script).file(".github/agents/database.md", DATABASE).file(".claude/agents/docs.md", DOCS)
}

/// Scenario 1, with another domain: the profile is found, its instructions reach the agent, and people see the choice
/// and its reason.
#[tokio::test]
async fn an_issue_is_given_to_the_profile_that_fits_it_and_says_why() {
    let world = world(WRITES).start().await;
    let issue = world.asks("Orders page is slow: missing index after the migration", SLOW_QUERY).await;
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    let record = world.record(issue).await.unwrap();
    let route = record.route.unwrap();
    assert_eq!((route.by, route.profile.as_ref().map(|name| name.as_str())), (ChosenBy::Router, Some("database")));
    assert!(route.percent >= 80 && route.complexity > 3 && !route.reasons.is_empty(), "{route:?}");
    let brief = world.briefs(issue)[0].clone();
    assert!(brief.contains("You work here as `database`") && brief.contains("Read the query plan first."), "{brief}");
    let status = world.status(issue).await;
    assert!(status.contains(&format!("profile `database` ({} % sure: ", route.percent)), "{status}");
    assert!(status.contains("`/hob agent NAME` changes it"), "{status}");
    let history = world.history(issue).await;
    assert!(history.iter().any(|line| line.starts_with("the agent `database` started on ")), "{history:?}");
    world.finish().await;
}

/// Scenario 1: a review for security is the security profile's, by at least 0.8, and an answer goes on in its session.
#[tokio::test]
async fn a_review_for_security_is_given_to_its_profile_whose_session_goes_on() {
    let security = "---\nname: security\ndescription: Reviews code for security holes such as injections and leaked secrets\n---\n\
                    Look at what input reaches.\n";
    let script = r#"case $n in
        0) echo '{"outcome":"question","question":"May requests fail?"}' ;;
        *) echo safe > app.py; echo '{"outcome":"done","summary":"Parameters are bound now."}' ;;
    esac"#;
    let world = world(script).file(".github/agents/security.md", security).start().await;
    let body = "Look for injection and for secrets in logs.\n\n```python\ndef user(name):\n    \
                return db.execute(\"select * from users where name = '\" + name + \"'\")\n\n\ndef login(form):\n    \
                log.info(\"login %s %s\", form[\"user\"], form[\"password\"])\n```\n\n- [ ] `app.py`\n- [ ] `auth/session.py`\n- [ ] \
                a test for each hole";
    let issue = world.asks("Review this Python code for security issues", body).await;
    world.run().await;
    let record = world.record(issue).await.unwrap();
    let (route, session) = (record.route.unwrap(), record.session.unwrap());
    assert_eq!((route.by, route.profile.as_ref().map(|name| name.as_str())), (ChosenBy::Router, Some("security")));
    assert!(route.percent >= 80, "{route:?}");
    world.comments("ann", issue, "/hob unblock Yes, with 400.").await;
    world.run().await;
    let record = world.record(issue).await.unwrap();
    assert_eq!((record.state, record.session), (State::InReview, Some(session)), "{:?}", world.failures());
    assert!(world.briefs(issue).iter().all(|brief| brief.contains("You work here as `security`")));
    world.finish().await;
}

/// Row M1, scenario 6: simple issues, and those about nothing here, are the base agent's.
#[tokio::test]
async fn what_is_simple_or_about_nothing_here_is_the_base_agents() {
    let world = world(WRITES).start().await;
    for (title, body) in [
        ("Fix a typo", "In a comment of the SQL table orders."),
        ("What's the weather?", "Will it rain in Bremen tomorrow?"),
    ] {
        let issue = world.asks(title, body).await;
        assert_eq!(world.run().await.worked, 1, "{title}: {:?}", world.failures());
        let route = world.record(issue).await.unwrap().route.unwrap();
        assert_eq!((route.by, route.profile), (ChosenBy::Base, None), "{title}");
        assert!(!world.briefs(issue)[0].contains("You work here as"), "{title}");
        assert!(!world.status(issue).await.contains("profile"), "{title}");
    }
    world.finish().await;
}

/// Between 0.40 and 0.70 a small model is asked, if the settings name one; its answer is a choice like any other, and
/// paid for.
#[tokio::test]
async fn a_small_model_is_asked_where_the_router_has_a_hunch() {
    for (answer, profile) in [("database", Some("database")), ("none of them", None), ("root", None)] {
        let cassette = tempfile::NamedTempFile::new().unwrap();
        let expect = ["- database: SQL queries", "- none: none of these", "The orders page is slow"];
        let reply = json!({ "expect": expect, "text": answer, "usage": { "input": 500, "output": 3 } });
        std::fs::write(cassette.path(), json!({ "cassette": 1, "replies": [reply] }).to_string()).unwrap();
        let model = format!("cassette/{}", cassette.path().display());
        let world = world(WRITES).set("routing.model", &model).start().await;
        let issue = world.asks("The orders page is slow", HUNCH).await;
        assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
        let record = world.record(issue).await.unwrap();
        let (route, spend) = (record.route.unwrap(), record.spend);
        assert_eq!(route.profile.as_ref().map(|name| name.as_str()), profile, "{answer}: {route:?}");
        let is_said = route.reasons[0] == format!("the model `{model}` says so");
        assert_eq!(
            (is_said, spend.input_tokens, spend.output_tokens),
            (profile.is_some(), 500, 3),
            "{answer}: {route:?}"
        );
        world.finish().await;
    }
}

/// Row M5: a missing model, or one that does not answer in two seconds, leaves the rules' answer.
#[test]
fn a_small_model_that_gives_no_answer_leaves_the_rules() {
    in_virtual_time(async {
        let deaf = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/v1", deaf.local_addr().unwrap());
        for (model, cause) in [("cassette/none.json", "none.json"), ("openai/deaf", "no answer within 2 s")] {
            let world =
                world(WRITES).set("routing.model", model).set("testing.model.openai_base_url", &address).start().await;
            let issue = world.asks("The orders page is slow", HUNCH).await;
            assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
            let record = world.record(issue).await.unwrap();
            let (by, why) = (record.route.as_ref().unwrap().by, record.route.unwrap().reasons);
            assert_eq!((by, record.spend.tokens()), (ChosenBy::Base, 0));
            assert!(why[0].contains("is not likely enough"), "{why:?}");
            let said =
                world.told().into_iter().find(|line| line.starts_with("`routing.model` gave no answer, so the rules"));
            assert!(said.as_ref().is_some_and(|said| said.contains(cause)), "{said:?}");
            world.finish().await;
        }
    });
}

/// Scenario 10: a person's choice is taken, and the router's own is kept beside it.
#[tokio::test]
async fn a_label_by_an_authorized_account_comes_before_the_router() {
    let world = world("mkdir -p docs; echo $n > docs/orders.md").start().await;
    let issue = world.opens("ann", "Orders page is slow: missing index", SLOW_QUERY, &["agent:docs", "code"]).await;
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    let route = world.record(issue).await.unwrap().route.unwrap();
    assert_eq!((route.by, route.profile.unwrap().as_str().to_owned()), (ChosenBy::Label, "docs".to_owned()));
    assert_eq!(route.overridden.map(|name| name.to_string()).as_deref(), Some("database"));
    assert!(world.status(issue).await.contains("profile `docs`: a label says so"), "{}", world.status(issue).await);
    world.finish().await;
}

#[tokio::test]
async fn what_a_profile_may_not_change_is_not_published() {
    let world = world("mkdir -p docs; echo $n > docs/a.md; echo $n > code.rs").start().await;
    let issue = world.opens("ann", "Explain the orders page", SLOW_QUERY, &["agent:docs", "code"]).await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["agent:docs", "blocked", "code"]);
    let status = world.status(issue).await;
    assert!(status.contains("`code.rs` is not among the paths that the profile may change"), "{status}");
    assert!(world.pulls().await.is_empty());
    world.finish().await;
}

/// Rows M5, M6, scenario 4: a damaged or missing profile that would have been chosen is reported everywhere, counts as
/// a failed load, and leaves the base agent; only a person who named it is asked.
#[tokio::test]
async fn a_damaged_profile_leaves_the_base_agent_and_asks_only_who_named_it() {
    let broken = DATABASE.replace("  match:\n", "  limits: {max_iterations: many}\n  match:\n");
    let world = World::with_agent(WRITES).file(".github/agents/database.md", &broken).start().await;
    let issue = world.asks("Orders page is slow: missing index after the migration", SLOW_QUERY).await;
    let fault = ".github/agents/database.md cannot be used: line 5: `max_iterations` is `many`; write a whole number";
    let explained = world.hob(&["explain", &issue.to_string()]).await;
    let told = explained.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains(&format!("profile the base agent works: {fault}")), "{explained:?}");
    let doctor = world.hob(&["doctor"]).await;
    let told = doctor.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(doctor.code == 0 && told.contains(&format!("note profile {fault}")), "{doctor:?}");
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    assert_eq!(world.record(issue).await.unwrap().route.unwrap().by, ChosenBy::Base);
    let said = format!("the base agent works: {fault}");
    assert_eq!(world.told().iter().filter(|line| line.starts_with(&said)).count(), 1, "{:?}", world.told());
    let status = world.status(issue).await;
    assert_eq!(status.matches("**Warning**: the base agent works: .github/agents/database.md").count(), 1, "{status}");
    let loads = serde_json::to_value(world.repository_record().await.unwrap().failed_loads).unwrap();
    assert_eq!(loads.as_array().unwrap().len(), 1, "the circuit breaker counts it");
    let simple = world.asks("Make done.txt", "").await;
    world.run().await;
    assert!(!world.status(simple).await.contains("Warning"), "it is nobody's that is damaged");
    let named = world.opens("ann", "Make the index", SLOW_QUERY, &["agent:database", "code"]).await;
    world.run().await;
    assert!(world.labels(named).await.contains(&"blocked".to_owned()));
    let status = world.status(named).await;
    assert!(
        status.contains("database.md cannot be used: line 5: ") && !status.contains("there is no profile of that name"),
        "{status}"
    );
    let loads = serde_json::to_value(world.repository_record().await.unwrap().failed_loads).unwrap();
    assert_eq!(loads.as_array().unwrap().len(), 2, "{loads}");
    world.finish().await;
}

/// Requirement M2, scenario 3: an answer in the middle changes the domain, and the next profile gets the former's
/// findings.
#[tokio::test]
async fn an_answer_about_something_else_changes_the_profile() {
    let script = r#"[ "$n" != 0 ] || { echo '{"outcome":"question","question":"What is left?"}'; exit; }
mkdir -p docs; echo "$n" > docs/orders.md; echo '{"outcome":"done","summary":"Did it."}'"#;
    let world = world(script).start().await;
    let issue = world.asks("Orders page is slow: missing index after the migration", SLOW_QUERY).await;
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    let words = "The README and the guide in docs/orders.md have spelling mistakes: please correct the documentation, its headings \
                 and the wording of the guide.";
    world.comments("ann", issue, words).await;
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    let record = world.record(issue).await.unwrap();
    let links: Vec<_> = record.chain.links().iter().map(|link| (link.from.to_string(), link.switched)).collect();
    assert_eq!(links, [("database".to_owned(), true)]);
    let (profile, state) = (record.route.unwrap().profile.unwrap(), record.state);
    // The ready profile for texts and the repository's own both fit.
    assert!(["docs", "writer"].contains(&profile.as_str()) && state == State::InReview, "{profile} {state:?}");
    let brief = world.briefs(issue)[1].clone();
    for part in [
        &format!("You work here as `{profile}`"),
        "The profile `database` worked on this before you, and Hob switched to you.",
        "Why: the newest message fits it, ",
        "Done: It asked: What is left?",
    ] {
        assert!(brief.contains(part), "{part}: {brief}");
    }
    assert!(!brief.contains("Read the query plan first"), "instructions are its own: {brief}");
    let told = format!("switched from `database` to `{profile}`: the newest message fits it, ");
    let history = world.history(issue).await;
    assert!(history.iter().any(|line| line.starts_with(&told)), "{history:?}");
    world.finish().await;
}

/// Row N63: a review that mentions the changelog is worked on by who did the work, until a person asks for another.
#[tokio::test]
async fn a_review_goes_back_to_who_did_the_work() {
    let words = "Use a helper function for the two digits instead of repeating the format, add a test for 100 hours, and mention it in \
                 the changelog. The README and the guide in docs/orders.md have spelling mistakes, too: correct the documentation and \
                 its wording.";
    let script =
        r#"mkdir -p db docs; echo "$n" > docs/a.md; [ "$n" = 2 ] || { rm docs/a.md; echo "$n" > db/fix.sql; }"#;
    let world = world(script).start().await;
    let issue = world.asks("Orders page is slow: missing index after the migration", SLOW_QUERY).await;
    let pull = world.opens_a_pull().await;
    let profile = async || world.record(issue).await.unwrap().route.unwrap().profile.unwrap().to_string();
    for (body, expected, told) in [
        (words, "database", "returning to `database`, which did the work"),
        ("Load the docs agent.", "docs", "switched from `database` to `docs`"),
    ] {
        world.reviews("ann", pull, ("REQUEST_CHANGES", body), &[]).await;
        assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
        assert_eq!(profile().await, expected, "{:?}", world.told());
        let brief = world.briefs(issue).pop().unwrap();
        assert!(brief.contains(&format!("You work here as `{expected}`")) && brief.contains(body), "{brief}");
        assert!(world.told().iter().any(|line| line == told), "{told}: {:?}", world.told());
    }
    world.finish().await;
}

#[tokio::test]
async fn routing_can_be_turned_off() {
    let world = world(WRITES).set("routing.enabled", "false").start().await;
    let issue = world.asks("Orders page is slow: missing index after the migration", SLOW_QUERY).await;
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    assert_eq!(world.record(issue).await.unwrap().route, None);
    world.finish().await;
}
