//! What the vendors' current interfaces refuse, written from their references, read 2026-11: no request of a client has it.
//!
//! Sources: OpenAI's "Create a model response" and "Create chat completion", Anthropic's "Messages", "Adaptive thinking" and
//! "Extended thinking", Google's "OpenAI compatibility".

use hob_config::known_model;
use hob_domain::Strain;

use super::*;

/// Says what of a model's request a service refuses.
type Refused = fn(&str, &Value) -> Vec<String>;

const RESPONSES: [&str; 10] = [
    "model",
    "stream",
    "store",
    "include",
    "max_output_tokens",
    "reasoning",
    "prompt_cache_key",
    "instructions",
    "tools",
    "input",
];
/// The items of calls at the responses interface, each with the one that answers it.
pub(crate) const PAIRS: [(&str, &str); 3] = [
    ("function_call", "function_call_output"),
    ("custom_tool_call", "custom_tool_call_output"),
    ("apply_patch_call", "apply_patch_call_output"),
];
const CHAT: [&str; 7] = ["model", "stream", "stream_options", "max_tokens", "reasoning_effort", "tools", "messages"];
const MESSAGES: [&str; 8] =
    ["model", "max_tokens", "stream", "thinking", "output_config", "tools", "system", "messages"];

/// The members that a service does not know, which it refuses.
fn strange(body: &Value, known: &[&str]) -> Vec<String> {
    body.as_object().unwrap().keys().filter(|key| !known.contains(&key.as_str())).cloned().collect()
}

/// A word for the effort that the model of the request does not know, or one to a model that does not reason.
fn wrong_effort(model: &str, word: &Value) -> bool {
    let known = &known_model(model).unwrap().efforts;
    word.as_str().is_some_and(|word| !known.iter().any(|one| one == word))
}

fn too_many(model: &str, cap: &Value) -> bool {
    cap.as_u64().unwrap() > known_model(model).unwrap().output
}

pub(crate) fn refused_by_responses(model: &str, body: &Value) -> Vec<String> {
    let mut wrong = strange(body, &RESPONSES);
    wrong.extend(wrong_effort(model, &body["reasoning"]["effort"]).then(|| "reasoning.effort".to_owned()));
    wrong.extend(too_many(model, &body["max_output_tokens"]).then(|| "max_output_tokens".to_owned()));
    let items = body["input"].as_array().unwrap();
    let ids = |kind: &str| -> Vec<&Value> {
        items.iter().filter(|item| item["type"] == kind).map(|item| &item["call_id"]).collect()
    };
    for (call, output) in PAIRS {
        wrong.extend((ids(call) != ids(output)).then(|| format!("a {call} without its output")));
    }
    let kinds = PAIRS.iter().flat_map(|(call, output)| [*call, *output]).chain(["message", "reasoning"]);
    let kinds: Vec<&str> = kinds.collect();
    // A message may go without its type.
    let unknown = items.iter().filter_map(|item| item["type"].as_str()).filter(|kind| !kinds.contains(kind));
    wrong.extend(unknown.map(|kind| format!("an item {kind}")));
    let tools = body["tools"].as_array().unwrap();
    let has_tool = tools.iter().any(|tool| tool["type"] == "apply_patch");
    wrong.extend((!has_tool && !ids("apply_patch_call").is_empty()).then(|| "a call of no tool".to_owned()));
    for call in items.iter().filter(|item| item["type"] == "custom_tool_call") {
        let is_offered = tools.iter().any(|tool| tool["type"] == "custom" && tool["name"] == call["name"]);
        wrong.extend((!is_offered).then(|| format!("a call of no custom tool: {call}")));
        wrong.extend((!call["input"].is_string()).then(|| format!("a call without its text: {call}")));
    }
    for tool in tools {
        let members: &[&str] = match tool["type"].as_str().unwrap() {
            "function" => &["type", "name", "description", "parameters", "strict"],
            "custom" => &["type", "name", "description", "format"],
            "apply_patch" => &["type"],
            kind => panic!("no tool {kind}"),
        };
        wrong.extend(strange(tool, members).into_iter().map(|key| format!("{key} of a tool")));
        let format = &tool["format"];
        let is_grammar = format["type"] == "grammar" && format["syntax"] == "lark" && format["definition"].is_string();
        wrong.extend((tool["type"] == "custom" && !is_grammar).then(|| format!("the format {format}")));
    }
    wrong
}

/// OpenAI's own chat completions, and Google's, which counts thinking within the cap.
pub(crate) fn refused_by_chat(model: &str, body: &Value) -> Vec<String> {
    let mut wrong = strange(body, &CHAT);
    wrong.extend(wrong_effort(model, &body["reasoning_effort"]).then(|| "reasoning_effort".to_owned()));
    wrong.extend(too_many(model, &body["max_tokens"]).then(|| "max_tokens".to_owned()));
    let messages = body["messages"].as_array().unwrap();
    let called = messages.iter().flat_map(|said| said["tool_calls"].as_array().into_iter().flatten());
    let called: Vec<&Value> = called.map(|call| &call["id"]).collect();
    let answered = messages.iter().filter(|said| said["role"] == "tool").map(|said| &said["tool_call_id"]);
    wrong.extend((called != answered.collect::<Vec<_>>()).then(|| "a call without its answer".to_owned()));
    wrong
}

pub(crate) fn refused_by_messages(model: &str, body: &Value) -> Vec<String> {
    let mut wrong = strange(body, &MESSAGES);
    let known = known_model(model).unwrap();
    wrong.extend(too_many(model, &body["max_tokens"]).then(|| "max_tokens".to_owned()));
    let kind = body["thinking"]["type"].as_str();
    let is_budget = known.efforts.is_empty();
    let fits = match kind {
        None => true,
        Some("enabled") => is_budget && body["thinking"]["budget_tokens"].as_u64() < body["max_tokens"].as_u64(),
        Some("adaptive") => !is_budget,
        Some("disabled") => known.thinking != Some(hob_config::ThinkingForm::Always),
        Some(_) => false,
    };
    wrong.extend((!fits).then(|| format!("thinking {kind:?}")));
    wrong.extend(wrong_effort(model, &body["output_config"]["effort"]).then(|| "output_config.effort".to_owned()));
    let messages = body["messages"].as_array().unwrap();
    for (said, next) in messages.iter().zip(messages.iter().skip(1).map(Some).chain([None])) {
        let ids = |said: &Value, kind: &str, id: &str| -> Vec<String> {
            let blocks = said["content"].as_array().into_iter().flatten().filter(|block| block["type"] == kind);
            blocks.map(|block| block[id].as_str().unwrap().to_owned()).collect()
        };
        let results = next.map(|next| ids(next, "tool_result", "tool_use_id")).unwrap_or_default();
        wrong.extend((ids(said, "tool_use", "id") != results).then(|| "tool_use without tool_result".to_owned()));
    }
    wrong
}

#[tokio::test]
async fn no_request_has_what_its_service_refuses() {
    use OpenAiInterface::{Chat, Responses};
    let efforts =
        [None, Some(Effort::None), Some(Effort::Auto), Some(Effort::Low), Some(Effort::High), Some(Effort::Max)];
    let services: [(&str, OpenAiInterface, &[&str], Refused); 4] = [
        (
            "openai",
            Responses,
            &["gpt-6-sol", "gpt-6.1-sol", "gpt-5.4", "gpt-5.1", "gpt-5-pro", "o3", "gpt-4o"],
            refused_by_responses,
        ),
        ("openai", Chat, &["gpt-6-sol", "gpt-5.1", "gpt-5", "gpt-4o", "gpt-4o-2024-05-13"], refused_by_chat),
        ("openai", Chat, &["gemini-4-argon", "gemini-3.8-flash", "gemini-2.5-pro"], refused_by_chat),
        (
            "anthropic",
            Chat,
            &["claude-opus-5-5", "claude-sonnet-5", "claude-opus-4-8", "claude-opus-4-6", "claude-haiku-4-5"],
            refused_by_messages,
        ),
    ];
    for (service, interface, models, refused) in services {
        for model in models {
            for effort in efforts {
                for strain in [Strain::Usual, Strain::Hard] {
                    let server = Server::start([]).await;
                    let client = server.client_with(&format!("{service}/{model}"), |settings| {
                        settings.effort = effort;
                        settings.openai_interface = Some(interface);
                    });
                    let (messages, tools) = conversation();
                    let request = ModelRequest {
                        system: "the rules",
                        messages: &messages,
                        tools: &tools,
                        turn: 2,
                        funds: None,
                        strain,
                        rest: Default::default(),
                    };
                    client.complete(&request).await.unwrap_err();
                    let body = server.bodies().remove(0);
                    assert_eq!(
                        refused(model, &body),
                        [""; 0],
                        "{service} {interface:?} {model} {effort:?} {strain:?}: {body}"
                    );
                }
            }
        }
    }
}

const NOT_HERE: &str = r#"{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","code":"unsupported_parameter"}}"#;
const TOO_MANY: &str = r#"{"error":{"message":"max_tokens is too large: 24576. This model supports at most 20000 completion tokens, whereas you provided 24576."}}"#;
const NO_EFFORT: &str = r#"{"error":{"message":"Unrecognized request argument supplied: reasoning_effort"}}"#;

#[tokio::test]
async fn what_a_server_refuses_is_sent_otherwise_from_then_on() {
    let refused = |body| Answer::Status(400, &[], body);
    let good = || Answer::Stream(super::openai::happy());
    let server = Server::start([refused(NOT_HERE), refused(TOO_MANY), refused(NO_EFFORT), good(), good()]).await;
    let client = server.client("openai/gpt-5.1");
    ask(client.as_ref()).await.unwrap();
    ask(client.as_ref()).await.unwrap();
    let bodies = server.bodies();
    let sent: Vec<_> = bodies
        .iter()
        .map(|body| (&body["max_tokens"], &body["max_completion_tokens"], &body["reasoning_effort"]))
        .collect();
    let (none, medium) = (Value::Null, json!("medium"));
    let (cap, less) = (json!(24_576), json!(20_000));
    assert_eq!(
        sent,
        [
            (&cap, &none, &medium),
            (&none, &cap, &medium),
            (&none, &less, &medium),
            (&none, &less, &none),
            (&none, &less, &none),
        ]
    );
}

#[tokio::test]
async fn a_refusal_that_cannot_be_mended_is_told_at_once() {
    let server = Server::start([Answer::Status(400, &[], r#"{"error":{"message":"Unknown field: tools"}}"#)]).await;
    ask(server.client("openai/m").as_ref()).await.unwrap_err();
    assert_eq!(server.requests(), 1);
    for interface in ["openai/m", "anthropic/m"] {
        let server = Server::start([Answer::Status(413, &[], "<h1>Too much</h1>")]).await;
        let error = ask(server.client(interface).as_ref()).await.unwrap_err();
        assert!(error.is_too_long() && server.requests() == 1, "{interface}: a shorter one is asked for");
    }
}
