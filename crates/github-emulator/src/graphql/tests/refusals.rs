//! Refusals, and their wording.

use serde_json::{Value, json};

use super::fixture::Fixture;
use crate::Options;

#[tokio::test]
async fn rights_are_those_of_the_rest_api() {
    let fixture = Fixture::start().await;
    let id = fixture.issue("One").await;
    let label = fixture.rest("ta", "POST /repos/ada/site/labels", json!({"name": "code"})).await;
    let put = format!(
        "mutation {{ addLabelsToLabelable(input: {{labelableId: \"{id}\", labelIds: [{}]}}) {{ labelable {{ __typename }} }} }}",
        label["node_id"]
    );
    let refused = fixture.ask("tr", &put).await;
    assert_eq!(
        (&refused["data"]["addLabelsToLabelable"], &refused["errors"][0]["type"]),
        (&Value::Null, &json!("FORBIDDEN"))
    );
    assert_eq!(fixture.data("tt", &put).await["addLabelsToLabelable"]["labelable"]["__typename"], "Issue");

    fixture.rest("ta", "POST /user/repos", json!({"name": "vault", "private": true})).await;
    let hidden = fixture.rest("ta", "POST /repos/ada/vault/issues", json!({"title": "Secret"})).await;
    let query = format!(
        "{{ here: repository(owner: \"ada\", name: \"site\") {{ viewerPermission }}
        there: repository(owner: \"ada\", name: \"vault\") {{ id }} node(id: {}) {{ id }} }}",
        hidden["node_id"]
    );
    let partial = fixture.ask("tr", &query).await;
    assert_eq!(partial["data"], json!({"here": {"viewerPermission": "READ"}, "there": null, "node": null}));
    let kinds: Vec<_> = partial["errors"].as_array().unwrap().iter().map(|error| &error["type"]).collect();
    assert_eq!(kinds, [&json!("NOT_FOUND"), &json!("NOT_FOUND")]);
    assert_eq!(partial["errors"][0]["message"], "Could not resolve to a Repository with the name 'ada/vault'.");
    assert_eq!(fixture.ask("ta", &query).await["errors"], Value::Null);
}

#[tokio::test]
async fn nobody_and_a_bad_token_get_no_answer() {
    let fixture = Fixture::start().await;
    let body = json!({"query": "{ viewer { login } }"});
    assert_eq!(fixture.post("", &body).await.status(), 401);
    assert_eq!(fixture.post("nothing", &body).await.status(), 401);
    assert_eq!(fixture.post("ta", &json!([1])).await.status(), 400);
}

#[tokio::test]
async fn what_is_not_in_the_schema_is_refused_by_its_name() {
    let fixture = Fixture::start().await;
    for (query, message) in [
        (
            "{ repository(owner: \"ada\", name: \"site\") { discussions(first: 1) { totalCount } } }",
            "Field 'discussions' doesn't exist on type 'Repository'",
        ),
        ("{ viewer { login(size: 1) } }", "Field 'login' doesn't accept argument 'size'"),
        ("{ repository(owner: \"ada\") { id } }", "Field 'repository' is missing required arguments: name"),
        (
            "{ viewer }",
            "Field must have selections (field 'viewer' returns User but has no selections. Did you mean 'viewer { ... }'?)",
        ),
        ("{ viewer { login { length } } }", "Selections can't be made on scalars (field 'login' returns String)"),
        ("{ viewer { ...a } }", "Fragment a was used, but not defined"),
        (
            "{ viewer { ...a } } fragment a on User { ...b } fragment b on User { ...a }",
            "Fragment a contains an infinite loop",
        ),
        ("{ viewer { ... on Issue { id } } }", "Fragment on Issue can't be spread inside User"),
        ("{ node(id: $id) { id } }", "Variable $id is used but not declared"),
        ("query($id: ID) { node(id: $id) { id } }", "Type mismatch on variable $id and argument id (ID / ID!)"),
        ("query($id: ID!) { viewer { id } }", "Variable $id is declared by anonymous query but not used"),
        ("{ viewer @defer { id } }", "Directive @defer is not defined"),
        ("{ a: viewer { x: id x: login } }", "Field 'x' has a field or argument conflict"),
        (
            "mutation { deleteRepository(input: {}) { clientMutationId } }",
            "Field 'deleteRepository' doesn't exist on type 'Mutation'",
        ),
        ("subscription { viewer { id } }", "Schema is not configured for subscriptions"),
    ] {
        let answer = fixture.ask_with("ta", query, json!({"id": "x"})).await;
        assert_eq!((&answer["errors"][0]["message"], &answer["data"]), (&json!(message), &Value::Null), "{query}");
    }
    let enumeration =
        "{ repository(owner: \"ada\", name: \"site\") { issues(first: 1, states: \"OPEN\") { totalCount } } }";
    assert_eq!(fixture.ask("ta", enumeration).await["errors"][0]["extensions"]["code"], "argumentLiteralsIncompatible");
    let search = "{ search(type: ISSUE, query: \"repo:ada/site milestone:x\", first: 1) { issueCount } }";
    fixture.issue("One").await;
    let refused = fixture.ask("ta", search).await;
    assert_eq!(refused["errors"][0]["message"], "the embedded forge's search has no qualifier `milestone:x`");
}

#[tokio::test]
async fn a_query_that_is_too_deep_or_too_wide_is_refused() {
    let fixture = Fixture::start().await;
    fixture.issue("One").await;
    let step = |name: &str, next: &str| {
        format!(
            "fragment {name} on Issue {{ repository {{ a: issue(number: 1) {{ {next} }} b: issue(number: 1) {{ {next} }} }} }}"
        )
    };
    let chain = |steps: usize| {
        let parts = (0..steps).map(|at| {
            step(&format!("f{at}"), &if at + 1 == steps { "id".to_owned() } else { format!("...f{}", at + 1) })
        });
        format!(
            "{{ repository(owner: \"ada\", name: \"site\") {{ issue(number: 1) {{ ...f0 }} }} }} {}",
            parts.collect::<String>()
        )
    };
    assert_eq!(fixture.ask("ta", &chain(3)).await["errors"], Value::Null);
    let kinds = |answer: Value| -> std::collections::BTreeSet<String> {
        let errors = answer["errors"].as_array().unwrap().clone();
        errors.iter().map(|error| error["type"].as_str().unwrap().to_owned()).collect()
    };
    assert!(kinds(fixture.ask("ta", &chain(40)).await).contains("MAX_NODE_LIMIT_EXCEEDED"));
    let narrow = chain(40).replace("b: issue(number: 1)", "a: issue(number: 1)");
    assert!(kinds(fixture.ask("ta", &narrow).await).contains("MAX_DEPTH_EXCEEDED"));
    assert!(kinds(fixture.ask("ta", &chain(201)).await).contains("ARGUMENT_LIMIT"));
}

#[tokio::test]
async fn variables_are_checked_and_have_defaults() {
    let fixture = Fixture::start().await;
    fixture.issue("One").await;
    let query = "query($states: [IssueState!] = OPEN, $first: Int!) {
        repository(owner: \"ada\", name: \"site\") { issues(states: $states, first: $first) { totalCount } } }";
    let count = |answer: &Value| answer["data"]["repository"]["issues"]["totalCount"].clone();
    assert_eq!(count(&fixture.ask_with("ta", query, json!({"first": 1})).await), 1);
    assert_eq!(count(&fixture.ask_with("ta", query, json!({"first": 1, "states": ["CLOSED"]})).await), 0);
    for bad in [json!({}), json!({"first": "1"}), json!({"first": 1, "states": ["OPENED"]})] {
        let answer = fixture.ask_with("ta", query, bad).await;
        assert_eq!(answer["errors"][0]["extensions"]["code"], "variableInvalid", "{answer}");
    }
}

#[tokio::test]
async fn graphql_has_an_hour_of_its_own() {
    let fixture = Fixture::start_with(Options { rate_limit: Some(3), ..Options::default() }).await;
    let query = json!({"query": "{ rateLimit { limit remaining used } }"});
    let first = fixture.post("tw", &query).await;
    assert_eq!(first.headers()["x-ratelimit-resource"], "graphql");
    assert_eq!(first.headers()["x-ratelimit-remaining"], "2");
    let told = fixture.data("tw", "{ rateLimit { limit remaining used } }").await;
    assert_eq!(told["rateLimit"], json!({"limit": 3, "remaining": 1, "used": 2}));
    let limits = fixture.rest("tw", "GET /rate_limit", Value::Null).await;
    assert_eq!((&limits["resources"]["graphql"]["used"], &limits["resources"]["core"]["used"]), (&json!(2), &json!(0)));
    fixture.post("tw", &query).await;
    let over = fixture.post("tw", &query).await;
    assert_eq!(over.status(), 200);
    let over: Value = serde_json::from_str(&over.text().await.unwrap()).unwrap();
    assert_eq!(over["errors"][0]["type"], "RATE_LIMITED");
}

#[tokio::test]
async fn only_mutations_count_as_writes() {
    let fixture = Fixture::start().await;
    let id = fixture.issue("One").await;
    fixture.forge.limit_writes(1);
    let add = json!({"query": format!("mutation {{ addComment(input: {{subjectId: \"{id}\", body: \"x\"}}) {{ clientMutationId }} }}")});
    for _ in 0..3 {
        assert_eq!(fixture.post("tw", &json!({"query": "{ viewer { login } }"})).await.status(), 200);
    }
    assert_eq!(fixture.post("tw", &add).await.status(), 200);
    assert_eq!(fixture.post("tw", &add).await.status(), 403);
}
