//! Calls of five families: each is the call of Hob's own tool that is meant, or is refused for a reason that names the
//! argument or the tool. The corpus is `calls.txt`; its figures are a table of `docs/agents.md`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{OwnCall, meant, own_call, tool_of};
use crate::{model::ToolCall, native::tools::Toolset};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/agents.md");
/// The families, as the corpus and as the page names them.
const FAMILIES: [(&str, &str); 5] = [
    ("codex", "codex"),
    ("claude", "Claude Code"),
    ("gemini", "Gemini CLI"),
    ("openhands", "OpenHands"),
    ("mini", "mini-swe-agent and others"),
];

/// A line of the corpus.
struct Line<'a> {
    family: &'a str,
    kind: &'a str,
    name: &'a str,
    arguments: &'a str,
    wanted: &'a str,
}

fn lines() -> Vec<Line<'static>> {
    let lines = include_str!("calls.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let line = |line: &'static str| {
        let (call, wanted) = line.split_once(" => ")?;
        let (family, call) = call.split_once(" | ")?;
        let (kind, call) = call.split_once(" | ")?;
        let (name, arguments) = call.split_once(' ')?;
        Some(Line { family, kind, name, arguments, wanted })
    };
    lines.map(|text| line(text).unwrap_or_else(|| panic!("not a line of the corpus: {text}"))).collect()
}

/// The call of Hob's own tool, as the corpus writes it.
fn own(name: &str, arguments: &str) -> Option<OwnCall> {
    let meaning = tool_of(name).or_else(|| tool_of(meant(name)))?;
    own_call(meaning, serde_json::from_str::<Map<String, Value>>(arguments).unwrap()).ok()
}

#[test]
fn each_argument_of_another_agents_call_is_obeyed_or_refused_by_its_name() {
    let toolset = Toolset::new(&[], &BTreeMap::new(), &BTreeMap::new()).unwrap();
    let mut wrong = Vec::new();
    for Line { name, arguments, wanted, .. } in lines() {
        let call = ToolCall { id: "1".into(), name: name.into(), arguments: arguments.into() };
        let answer = toolset.parse(&call).map_err(|error| error.to_string());
        if let Some(why) = wanted.strip_prefix("! ") {
            if !answer.as_ref().is_err_and(|error| error.contains(why)) {
                wrong.push(format!("{name} {arguments}\n  is     {answer:?}\n  wanted {why}"));
            }
            continue;
        }
        let (tool, given) = wanted.split_once(' ').unwrap();
        let found = own(name, arguments);
        let is_meant = found.as_ref().is_some_and(|own| {
            own.name == tool && serde_json::from_str::<Value>(given).unwrap() == Value::Object(own.arguments.clone())
        });
        if !is_meant || answer.is_err() {
            wrong.push(format!("{name} {arguments}\n  is     {found:?} {answer:?}\n  wanted {wanted}"));
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_page_has_the_figures_of_the_corpus() {
    let mut counts: BTreeMap<&str, BTreeMap<&str, [usize; 2]>> = BTreeMap::new();
    for Line { family, kind, wanted, .. } in lines() {
        counts.entry(kind).or_default().entry(family).or_default()[usize::from(wanted.starts_with('!'))] += 1;
    }
    let names: Vec<&str> = FAMILIES.iter().map(|(_, name)| *name).collect();
    let mut table = format!("| kind | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(FAMILIES.len()));
    let mut all = [[0; 2]; 5];
    let cell = |[obeyed, refused]: [usize; 2]| match (obeyed, refused) {
        (0, 0) => " |".to_owned(),
        (obeyed, refused) => format!(" {obeyed} + {refused} |"),
    };
    for (kind, of) in &counts {
        table.push_str(&format!("| {kind} |"));
        for ((family, _), all) in FAMILIES.iter().zip(&mut all) {
            let count = of.get(family).copied().unwrap_or_default();
            *all = [all[0] + count[0], all[1] + count[1]];
            table.push_str(&cell(count));
        }
        table.push('\n');
    }
    table.push_str(&format!("| all |{}\n", all.map(cell).concat()));
    let page = std::fs::read_to_string(PAGE).unwrap();
    assert!(page.contains(&table), "docs/agents.md has another table. Write:\n{table}");
}

/// The arguments of the published tools that Hob's own have under another name, and what is left of a call of theirs.
#[test]
fn no_argument_is_lost_under_any_name() {
    let toolset = Toolset::new(&[], &BTreeMap::new(), &BTreeMap::new()).unwrap();
    for Line { name, arguments, wanted, .. } in lines() {
        if wanted.starts_with('!') {
            continue;
        }
        let mut given = serde_json::from_str::<Map<String, Value>>(arguments).unwrap();
        given.insert("no_such_key".to_owned(), true.into());
        let call = ToolCall { id: "1".into(), name: name.into(), arguments: Value::Object(given).to_string() };
        let error = toolset.parse(&call).map(|action| action.line()).unwrap_err().to_string();
        assert!(error.contains("unknown field `no_such_key`"), "{name} {arguments}: {error}");
    }
}
