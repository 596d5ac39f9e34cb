//! Anthropic's client.

use super::*;

pub(super) fn happy() -> String {
    let delta = |index: u32, delta: Value| json!({ "type": "content_block_delta", "index": index, "delta": delta });
    let data = [
        json!({ "type": "message_start", "message": { "id": "m", "usage": {
            "input_tokens": 10, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 30, "output_tokens": 1 } } }),
        json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
        json!({ "type": "ping" }),
        delta(0, json!({ "type": "text_delta", "text": "I look" })),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "content_block_start", "index": 1, "content_block": { "type": "tool_use", "id": "toolu_1", "name": "read", "input": {} } }),
        delta(1, json!({ "type": "input_json_delta", "partial_json": "" })),
        delta(1, json!({ "type": "input_json_delta", "partial_json": "{\"path\": " })),
        delta(1, json!({ "type": "input_json_delta", "partial_json": "\"a\"}" })),
        json!({ "type": "content_block_start", "index": 2, "content_block": { "type": "tool_use", "id": "toolu_2", "name": "list", "input": {} } }),
        json!({ "type": "an_event_of_tomorrow", "x": 1 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use", "stop_sequence": null }, "usage": { "output_tokens": 15 } }),
        json!({ "type": "message_stop" }),
    ];
    data.iter().map(|data| format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap())).collect()
}

#[tokio::test]
async fn a_stream_becomes_a_reply_with_its_calls_and_tokens() {
    let server = Server::start([Answer::Stream(happy())]).await;
    let reply = ask(server.client("anthropic/m").as_ref()).await.unwrap();
    assert_eq!(
        reply,
        ModelReply {
            text: "I look".into(),
            calls: vec![tool_call("toolu_1", "read", r#"{"path": "a"}"#), tool_call("toolu_2", "list", "{}")],
            verbatim: None,
            stop: Stop::Finished,
            usage: Usage { input: 60, cached_input: 30, cache_write: 20, output: 15 },
        }
    );
}

#[tokio::test]
async fn a_request_is_written_as_the_interface_wants_it() {
    let server = Server::start([Answer::Stream(happy())]).await;
    ask(server.client("anthropic/m").as_ref()).await.unwrap();
    let seen = server.script.seen.lock().unwrap();
    assert_eq!((seen[0].uri.path(), seen[0].headers["x-api-key"].to_str().unwrap()), ("/v1/messages", "secret-a"));
    assert_eq!(seen[0].headers["anthropic-version"], "2023-06-01");
    let cached = json!({ "type": "ephemeral" });
    assert_eq!(
        seen[0].body,
        json!({
            "model": "m",
            "max_tokens": 16384,
            "stream": true,
            "system": [{ "type": "text", "text": "the rules", "cache_control": cached }],
            "tools": [{ "name": "read", "description": "reads", "input_schema": { "type": "object" } }],
            "messages": [
                { "role": "user", "content": [{ "type": "text", "text": "the task", "cache_control": cached }] },
                { "role": "assistant", "content": [
                    { "type": "tool_use", "id": "1", "name": "read", "input": { "path": "a" } },
                    { "type": "tool_use", "id": "2", "name": "read", "input": {} },
                ] },
                { "role": "user", "content": [
                    { "type": "tool_result", "tool_use_id": "1", "content": "content", "is_error": false },
                    { "type": "tool_result", "tool_use_id": "2", "content": "no", "is_error": true, "cache_control": cached },
                ] },
            ],
        })
    );
}

#[tokio::test]
async fn what_another_model_called_is_sent_in_characters_that_the_service_takes() {
    let server = Server::start([Answer::Stream(happy())]).await;
    let client = server.client("anthropic/m");
    let said = tool_call("functions.read:0", "re ad!", "{}");
    let result = ToolResult::of_error(&said.id, "x");
    let messages = [
        Message::user("the task"),
        Message::Assistant { text: String::new(), calls: vec![said], verbatim: None },
        Message::Results { results: vec![result] },
    ];
    let messages = messages.map(Memoized::from);
    reply_to(client.as_ref(), &messages, 2).await.unwrap();
    let seen = server.script.seen.lock().unwrap();
    let call = &seen[0].body["messages"][1]["content"][0];
    assert_eq!(
        (call["id"].as_str().unwrap(), call["name"].as_str().unwrap()),
        ("call_c216cab2de2e56d547b4e6340edfc11a", "re_20ad_21")
    );
    assert_eq!(seen[0].body["messages"][2]["content"][0]["tool_use_id"], call["id"]);
}

#[tokio::test]
async fn what_is_transient_is_tried_again() {
    let overloaded = json!({ "type": "error", "error": { "type": "overloaded_error", "message": "Overloaded" } });
    let stray = json!({ "type": "content_block_delta", "index": 7, "delta": { "type": "text_delta", "text": "x" } });
    for trouble in [
        Answer::Status(529, &[], r#"{"type":"error","error":{"type":"overloaded_error"}}"#),
        Answer::Stream(events(&[overloaded])),
        Answer::Stream(events(&[stray])),
        Answer::Cut(happy()[..500].into()),
    ] {
        let server = Server::start([trouble, Answer::Stream(happy())]).await;
        assert_eq!(ask(server.client("anthropic/m").as_ref()).await.unwrap().text, "I look");
        assert_eq!(server.requests(), 2);
    }
}

#[tokio::test]
async fn what_no_retry_can_help_is_told_at_once() {
    for (status, body, failure) in [
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}}"#,
            FailureClass::Misconfigured,
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long"}}"#,
            FailureClass::Permanent,
        ),
        (
            401,
            r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#,
            FailureClass::Misconfigured,
        ),
    ] {
        let server = Server::start([Answer::Status(status, &[], body)]).await;
        let error = ask(server.client("anthropic/m").as_ref()).await.unwrap_err();
        assert_eq!((error.failure(), server.requests()), (failure, 1), "{body}");
    }
}

#[tokio::test]
async fn a_reply_cut_at_its_length_and_a_refusal_are_told_apart() {
    for (reason, stop) in [("max_tokens", Stop::Length), ("refusal", Stop::Refused), ("end_turn", Stop::Finished)] {
        let text = happy().replace("\"tool_use\",\"stop_sequence\"", &format!("\"{reason}\",\"stop_sequence\""));
        let text = text.replace("\"stop_reason\":\"tool_use\"", &format!("\"stop_reason\":\"{reason}\""));
        let server = Server::start([Answer::Stream(text)]).await;
        assert_eq!(ask(server.client("anthropic/m").as_ref()).await.unwrap().stop, stop, "{reason}");
    }
}
