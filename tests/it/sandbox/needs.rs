//! The needs of ordinary test suites, tried by `examples/needs` in each tier: the table in `docs/design/attacks.md` says what
//! works.

use std::collections::BTreeMap;

use serde_json::Value;

use super::*;

/// Each kind, and its column.
const COLUMNS: [(Kind, usize); 4] = [
    (Kind(Tier::None, Maker::Hob), 0),
    (Kind(Tier::Fence, Maker::Hob), 1),
    (Kind(Tier::Box, Maker::Bubblewrap), 2),
    (Kind(Tier::Box, Maker::Hob), 2),
];
/// Features that a test machine may lack: such rows may be empty.
const MAY_BE_MISSING: [&str; 5] = [
    "Java",
    "Go: a program, built and run",
    "a browser without a window",
    "PostgreSQL, started by a test",
    "Redis, started by a test",
];

/// The program's output, in the order of its attempts.
async fn tried(tier: Kind) -> Vec<(String, String, String)> {
    let prison = Prison::new(tier);
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/needs");
    std::fs::create_dir(prison.work().join("tmp")).unwrap();
    let mut environment = child_environment();
    environment.insert("HOME".into(), prison.work().into());
    environment.insert("TMPDIR".into(), prison.work().join("tmp").into());
    let child = Program::inside(&prison.plan().reads(&program), PYTHON, &environment);
    let child = child.arg(program.join("needs.py")).dir(prison.work()).deadline(std::time::Duration::from_secs(600));
    let finished = child.run(&CancellationToken::new()).await.unwrap();
    assert!(finished.exit.is_success(), "{tier}: {} {}", finished.exit, finished.stderr.text());
    let said = finished.stdout.text();
    let lines = said.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    lines.map(|one| (text(&one["name"]), text(&one["result"]), text(&one["why"]))).collect()
}

#[tokio::test]
async fn the_table_of_the_documents_says_what_works_in_each_tier() {
    needs!(PYTHON);
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/design/attacks.md")).unwrap();
    let (_, rest) = text.split_once("<!-- needs:begin -->").unwrap();
    let (table, _) = rest.split_once("<!-- needs:end -->").unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let mut told: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for row in rows {
        let (name, cells) = row.split_once(" | ").unwrap();
        told.insert(name, cells.split(" | ").collect());
    }
    let mut wanted: Vec<(String, Vec<String>)> = Vec::new();
    let mut wrong = Vec::new();
    for (tier, column) in COLUMNS {
        for (at, (name, result, why)) in tried(tier).await.into_iter().enumerate() {
            let cell = if result == "missing" { "–" } else { &result };
            assert!(cell != "–" || MAY_BE_MISSING.contains(&name.as_str()), "{name}: {why}");
            let says = told.get(name.as_str()).and_then(|cells| cells.get(column)).copied();
            // Another machine may have features that the table's machine lacked, and the other way round.
            if says != Some(cell) && !(MAY_BE_MISSING.contains(&name.as_str()) && says.is_some()) {
                wrong.push(format!("{tier}: {name}: {result} {why}"));
            }
            if column == 0 {
                wanted.push((name, Vec::new()));
            }
            if tier.1 == Maker::Hob {
                wanted[at].1.push(cell.to_owned());
            }
        }
    }
    let table: String = wanted.iter().map(|(name, cells)| format!("| {name} | {} |\n", cells.join(" | "))).collect();
    assert!(wrong.is_empty(), "{wrong:#?}\n{table}");
}
