//! Connections: pages by cursors from either end.

use serde_json::{Value, json};

use super::fixture::Fixture;

async fn numbers(fixture: &Fixture, args: &str) -> (Vec<u64>, Value) {
    let query = format!(
        "{{ repository(owner: \"ada\", name: \"site\") {{ issues({args}) {{
            totalCount nodes {{ number }} edges {{ cursor node {{ number }} }}
            pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }} }} }} }}"
    );
    let issues = fixture.data("ta", &query).await["repository"]["issues"].clone();
    let nodes = issues["nodes"].as_array().unwrap().iter().map(|node| node["number"].as_u64().unwrap()).collect();
    (nodes, issues)
}

#[tokio::test]
async fn pages_by_cursor_are_the_whole_list_from_either_end() {
    let fixture = Fixture::start().await;
    for title in ["a", "b", "c", "d", "e"] {
        fixture.issue(title).await;
    }
    let (first, page) = numbers(&fixture, "first: 2").await;
    assert_eq!((first, &page["totalCount"]), (vec![1, 2], &json!(5)));
    assert_eq!((&page["pageInfo"]["hasNextPage"], &page["pageInfo"]["hasPreviousPage"]), (&json!(true), &json!(false)));
    assert_eq!(page["pageInfo"]["endCursor"], page["edges"][1]["cursor"]);
    let (next, page) = numbers(&fixture, &format!("first: 9, after: {}", page["pageInfo"]["endCursor"])).await;
    assert_eq!((next, &page["pageInfo"]["hasNextPage"]), (vec![3, 4, 5], &json!(false)));
    let (before, page) = numbers(&fixture, &format!("last: 1, before: {}", page["pageInfo"]["startCursor"])).await;
    assert_eq!((before, &page["pageInfo"]["hasPreviousPage"]), (vec![2], &json!(true)));
    let (last, _) = numbers(&fixture, "last: 2").await;
    assert_eq!(last, [4, 5]);
    let (newest, _) = numbers(&fixture, "first: 2, orderBy: {field: CREATED_AT, direction: DESC}").await;
    assert_eq!(newest, [5, 4]);
}

#[tokio::test]
async fn a_cursor_holds_its_place_when_its_item_leaves_the_list() {
    let fixture = Fixture::start().await;
    for title in ["a", "b", "c"] {
        fixture.issue(title).await;
    }
    let (_, page) = numbers(&fixture, "first: 1, states: OPEN").await;
    fixture.rest("ta", "PATCH /repos/ada/site/issues/1", json!({"state": "closed"})).await;
    let (next, _) =
        numbers(&fixture, &format!("first: 1, states: OPEN, after: {}", page["pageInfo"]["endCursor"])).await;
    assert_eq!(next, [2]);
}

#[tokio::test]
async fn a_list_needs_a_size_of_at_most_a_hundred() {
    let fixture = Fixture::start().await;
    let ask = |args: &'static str| {
        let query = format!(
            "{{ repository(owner: \"ada\", name: \"site\") {{ issues{args} {{ totalCount nodes {{ id }} }} }} }}"
        );
        let fixture = &fixture;
        async move { fixture.ask("ta", &query).await["errors"][0]["type"].clone() }
    };
    assert_eq!(ask("").await, "MISSING_PAGINATION_BOUNDARIES");
    assert_eq!(ask("(first: 101)").await, "EXCESSIVE_PAGINATION");
    assert_eq!(ask("(first: 1, after: \"?\")").await, "INVALID_CURSOR_ARGUMENTS");
    let total = "{ repository(owner: \"ada\", name: \"site\") { issues { totalCount } } }";
    assert_eq!(fixture.data("ta", total).await["repository"]["issues"]["totalCount"], 0);
}
