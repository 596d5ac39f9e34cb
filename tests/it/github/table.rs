//! `docs/design/github.md` against the calls that are let pass: each has a row, and each row has a call.

use std::collections::{BTreeMap, BTreeSet};

use hob_forge::{LIVE_IDS, live_calls, permitted_calls};

use super::{recorded::PLAYED, requests::documents};

/// A row of one of the tables.
struct Row {
    id: String,
    call: String,
    assumed: String,
    support: String,
}

fn markdown() -> String {
    std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/design/github.md")).unwrap()
}

/// The rows whose first cell is an id.
fn rows() -> Vec<Row> {
    let cells = |line: &str| {
        let inner = line.strip_prefix("| `")?.strip_suffix(" |")?.to_owned();
        let cells: Vec<String> = inner.split(" | ").map(str::to_owned).collect();
        let [id, call, assumed, support] = <[String; 4]>::try_from(cells).unwrap_or_else(|cells| panic!("{cells:?}"));
        Some(Row { id: id.trim_end_matches('`').to_owned(), call, assumed, support })
    };
    markdown().lines().filter_map(cells).collect()
}

/// The table's names of the REST calls and the GraphQL documents, each with the least number of its rows.
fn calls() -> BTreeMap<String, usize> {
    let rest = permitted_calls()
        .chain(live_calls())
        .map(|call| format!("`{} {}`", call.method, call.path.replace("/repos/*/*", "R")));
    let mut calls: BTreeMap<String, usize> = rest.map(|call| (call, 1)).collect();
    for (file, beginning) in documents() {
        let kind = if beginning.starts_with("mutation(") { "mutation" } else { "query" };
        *calls.entry(format!("{kind} of `{file}`")).or_default() += 1;
    }
    calls
}

#[test]
fn each_call_has_a_row_and_no_row_lacks_a_call() {
    let (calls, mut rows_of) = (calls(), BTreeMap::<String, usize>::new());
    for row in rows() {
        assert!(calls.contains_key(&row.call), "`{}`: nothing of Hob's is {}", row.id, row.call);
        *rows_of.entry(row.call).or_default() += 1;
    }
    let lacking = calls.iter().filter(|(call, least)| rows_of.get(*call).is_none_or(|found| found < *least));
    let lacking: Vec<_> = lacking.map(|(call, _)| call).collect();
    assert!(lacking.is_empty(), "docs/design/github.md has no row, or too few, for {lacking:#?}");
}

#[test]
fn each_row_has_an_id_of_its_own_an_assumption_and_what_supports_it() {
    let mut ids = BTreeSet::new();
    for Row { id, assumed, support, .. } in rows() {
        let parts: Vec<&str> = id.split('.').collect();
        let is_plain = |part: &&str| part.chars().all(|c| c.is_ascii_lowercase() || c == '_') && !part.is_empty();
        assert!(parts.len() == 2 && parts.iter().all(is_plain), "`{id}` is not an id");
        assert!(!assumed.is_empty() && !support.is_empty(), "`{id}` has an empty cell");
        assert!(ids.insert(id.clone()), "`{id}` is there twice");
    }
    assert!(ids.len() > 60, "the table is read: {ids:?}");
}

#[test]
fn each_line_of_the_live_check_is_of_a_row() {
    let ids: BTreeSet<String> = rows().into_iter().map(|row| row.id).collect();
    let lacking: Vec<_> = LIVE_IDS.into_iter().filter(|id| !ids.contains(*id)).collect();
    assert!(lacking.is_empty(), "docs/design/github.md has no row for {lacking:?}");
}

#[test]
fn the_recordings_that_a_test_replays_are_the_ones_that_are_cited() {
    let mut cited = BTreeSet::new();
    for Row { support, .. } in rows() {
        let named = support.split("; ").filter_map(|part| part.strip_prefix("fixtures "));
        cited.extend(named.flat_map(|names| names.split(", ").map(str::to_owned).collect::<Vec<_>>()));
    }
    assert_eq!(cited, PLAYED.map(str::to_owned).into());
}
