//! The tools that a server lists, cut to what a model can be shown.

use std::collections::BTreeSet;

use hob_config::{Impact, MCP_PREFIX, McpSettings};
use rmcp::model::Tool as Listed;
use serde_json::Value;

use crate::{
    model::Tool,
    native::mcp::answer::inert,
    report::{clip, first_line},
};

/// Tools of one server.
const TOOLS_MAX: usize = 100;
/// Bytes of one tool's description.
const DESCRIPTION_MAX: usize = 2_000;
/// Bytes of one tool's schema.
const SCHEMA_MAX: usize = 16 * 1024;
/// Bytes of all tools of one server: a model pays for them in each turn.
const ALL_MAX: usize = 96 * 1024;
/// Characters of a name, which the models' services allow.
const NAME_MAX: usize = 64;
/// Names that a complaint has.
const NAMED_MAX: usize = 3;

/// A tool that the model is shown.
#[derive(Debug, Clone)]
pub(in crate::native) struct OfferedTool {
    /// The server that has it.
    pub(in crate::native) server: String,
    /// The server's name for it.
    pub(in crate::native) name: String,
    /// Its impact.
    pub(in crate::native) impact: Impact,
    /// Its description for the model.
    pub(in crate::native) shown: Tool,
}

/// The tools that a server offers.
#[derive(Debug, Default)]
pub(super) struct Offer {
    /// Its tools.
    pub(super) tools: Vec<OfferedTool>,
    /// A warning about tools that are cut or left out.
    pub(super) complaint: Option<String>,
}

/// The `listed` tools of `server` that its settings allow and a model can be shown.
pub(super) fn offer(server: &str, settings: &McpSettings, listed: &[Listed]) -> Offer {
    let (mut tools, mut names, mut bytes) = (Vec::new(), BTreeSet::new(), 0);
    let (mut odd, mut cut, mut beyond) = (Vec::new(), Vec::new(), 0_usize);
    for one in listed.iter().filter(|one| settings.allows(&one.name)) {
        if tools.len() >= TOOLS_MAX {
            beyond += 1;
            continue;
        }
        let shown = first_line(&inert(&one.name), 40);
        let (Some(name), Some(schema)) = (name_of(server, &one.name), schema_of(one)) else {
            odd.push(shown);
            continue;
        };
        let given = one.description.as_deref().or(one.title.as_deref()).unwrap_or_default();
        // Anything beyond the limit is not even examined.
        let description = clip(&inert(&clip(given, 4 * DESCRIPTION_MAX)), DESCRIPTION_MAX);
        let size = name.len() + description.len() + schema.to_string().len();
        if bytes + size > ALL_MAX {
            beyond += 1;
            continue;
        }
        if !names.insert(name.clone()) {
            odd.push(shown);
            continue;
        }
        if given.len() > DESCRIPTION_MAX {
            cut.push(shown);
        }
        bytes += size;
        let impact = settings.impact_of(&one.name);
        let shown = Tool { name: name.into(), description: description.into(), schema };
        tools.push(OfferedTool { server: server.to_owned(), name: one.name.clone().into_owned(), impact, shown });
    }
    let missing = |name: &&String| !listed.iter().any(|one| one.name == name.as_str());
    let missing: Vec<String> = settings.allow.iter().filter(missing).cloned().collect();
    let mut complaints = Vec::new();
    if beyond > 0 {
        complaints.push(format!(
            "it lists {} tools, of which {} are used: name those that agents need in `mcp.{server}.allow`",
            listed.len(),
            tools.len()
        ));
    }
    for (names, why) in [
        (odd, "left out, because no model accepts their names or schemas"),
        (cut, "shown with a part of their descriptions, which are too long"),
        (missing, "not there, though `allow` names them"),
    ] {
        if !names.is_empty() {
            complaints.push(format!("{} of its tools are {why}: {}", names.len(), few(&names)));
        }
    }
    Offer { tools, complaint: (!complaints.is_empty()).then(|| complaints.join("; ")) }
}

fn few(names: &[String]) -> String {
    let more = if names.len() > NAMED_MAX { ", …" } else { "" };
    let few: Vec<_> = names.iter().take(NAMED_MAX).map(|name| format!("`{name}`")).collect();
    format!("{}{more}", few.join(", "))
}

/// The name that the model calls it by; `None` if it would be too long or empty.
fn name_of(server: &str, name: &str) -> Option<String> {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let whole = format!("{MCP_PREFIX}{server}_{}", name.chars().take(NAME_MAX + 1).map(allowed).collect::<String>());
    (!name.is_empty() && whole.len() <= NAME_MAX).then_some(whole)
}

/// The schema of its arguments, with its texts made inert; `None` if it is not an object's, or too large.
fn schema_of(tool: &Listed) -> Option<Value> {
    let mut schema = tool.input_schema.as_ref().clone();
    let kind = schema.entry("type").or_insert_with(|| "object".into());
    if kind != "object" {
        return None;
    }
    let mut schema = Value::Object(schema);
    if schema.to_string().len() > SCHEMA_MAX {
        return None;
    }
    make_inert(&mut schema);
    Some(schema)
}

fn make_inert(value: &mut Value) {
    match value {
        Value::String(text) => *text = inert(text),
        Value::Array(list) => list.iter_mut().for_each(make_inert),
        Value::Object(table) => table.values_mut().for_each(make_inert),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn listed(name: &str, description: &str, schema: Value) -> Listed {
        serde_json::from_value(json!({ "name": name, "description": description, "inputSchema": schema })).unwrap()
    }

    fn names(offer: &Offer) -> Vec<&str> {
        offer.tools.iter().map(|tool| &*tool.shown.name).collect()
    }

    #[test]
    fn a_tool_has_a_name_that_services_take_and_texts_without_what_nobody_sees() {
        let settings = McpSettings { tools: [("a.b/c".to_owned(), Impact::Low)].into(), ..McpSettings::default() };
        let schema =
            json!({ "properties": { "q": { "type": "string", "description": "what\u{202e}\u{1b}[1m to find" } } });
        let offer = offer("docs", &settings, &[listed("a.b/c", "Finds.\u{200b}<!-- Push. -->", schema)]);
        assert_eq!((names(&offer), &offer.complaint), (vec!["mcp_docs_a_b_c"], &None));
        let tool = &offer.tools[0];
        assert_eq!((tool.name.as_str(), tool.impact, &*tool.shown.description), ("a.b/c", Impact::Low, "Finds."));
        assert_eq!(tool.shown.schema["properties"]["q"]["description"], "what to find");
        assert_eq!(tool.shown.schema["type"], "object");
    }

    #[test]
    fn what_no_model_takes_is_left_out_and_said() {
        let (settings, object) = (McpSettings::default(), json!({ "type": "object" }));
        let odd = [
            listed("", "x", object.clone()),
            listed(&"n".repeat(80), "x", object.clone()),
            listed("list", "x", json!({ "type": "array" })),
            listed("large", "x", json!({ "type": "object", "description": "x".repeat(20_000) })),
            listed("a b", "x", object.clone()),
            listed("a_b", "x", object.clone()),
        ];
        let offer = offer("docs", &settings, &odd);
        assert_eq!(names(&offer), ["mcp_docs_a_b"]);
        let complaint = offer.complaint.unwrap();
        assert!(complaint.starts_with("5 of its tools are left out, because no model accepts"), "{complaint}");
        assert!(complaint.ends_with("`list`, …"), "{complaint}");
    }

    #[test]
    fn a_flood_of_tools_and_a_description_of_a_megabyte_are_cut() {
        let object = json!({ "type": "object" });
        let many: Vec<_> = (0..10_000).map(|n| listed(&format!("t{n}"), "x", object.clone())).collect();
        let offered = offer("docs", &McpSettings::default(), &many);
        assert_eq!(offered.tools.len(), TOOLS_MAX);
        assert_eq!(
            offered.complaint.unwrap(),
            "it lists 10000 tools, of which 100 are used: name those that agents need in `mcp.docs.allow`"
        );
        let named = McpSettings { allow: vec!["t9999".into(), "gone".into()], ..McpSettings::default() };
        let offered = offer("docs", &named, &many);
        assert_eq!(names(&offered), ["mcp_docs_t9999"]);
        assert_eq!(offered.complaint.unwrap(), "1 of its tools are not there, though `allow` names them: `gone`");
        let long = offer("docs", &McpSettings::default(), &[listed("t", &"x".repeat(1 << 20), object.clone())]);
        assert!(long.tools[0].shown.description.len() < DESCRIPTION_MAX + 50);
        assert!(long.complaint.unwrap().contains("with a part of their descriptions"));
        let wide: Vec<_> = (0..100).map(|n| listed(&format!("t{n}"), &"x".repeat(1_900), object.clone())).collect();
        let offered = offer("docs", &McpSettings::default(), &wide);
        assert!(offered.tools.len() < 60 && offered.complaint.unwrap().contains("it lists 100 tools"));
    }
}
