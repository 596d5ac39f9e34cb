//! The OpenAI-compatible client.

use super::*;

pub(super) fn happy() -> String {
    let choice = |delta: Value| json!({ "choices": [{ "index": 0, "delta": delta }] });
    let call = |index: u32, id: Option<&str>, name: Option<&str>, arguments: &str| {
        choice(
            json!({ "tool_calls": [{ "index": index, "id": id, "function": { "name": name, "arguments": arguments } }] }),
        )
    };
    let data = [
        choice(json!({ "role": "assistant", "content": "I " })),
        choice(json!({ "content": "lööк" })),
        call(0, Some("call_a"), Some("read"), ""),
        call(0, None, None, "{\"path\":"),
        call(1, Some("call_b"), Some("list"), "{}"),
        call(0, None, None, "\"a\"}"),
        json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "tool_calls" }] }),
        json!({ "choices": [], "usage": { "prompt_tokens": 100, "completion_tokens": 9, "prompt_tokens_details": { "cached_tokens": 64 } } }),
    ];
    format!(": ping\n\n{}data: [DONE]\n\n", events(&data))
}

#[tokio::test]
async fn a_stream_becomes_a_reply_with_its_calls_and_tokens() {
    let server = Server::start([Answer::Stream(happy())]).await;
    let reply = ask(server.client("openai/m").as_ref()).await.unwrap();
    assert_eq!(
        reply,
        ModelReply {
            text: "I lööк".into(),
            calls: vec![tool_call("call_a", "read", r#"{"path":"a"}"#), tool_call("call_b", "list", "{}")],
            verbatim: None,
            stop: Stop::Finished,
            usage: Usage { input: 100, cached_input: 64, cache_write: 0, output: 9 },
        }
    );
}

#[tokio::test]
async fn a_request_is_written_as_the_interface_wants_it() {
    let server = Server::start([Answer::Stream(happy())]).await;
    ask(server.client("openai/org/m").as_ref()).await.unwrap();
    let seen = server.script.seen.lock().unwrap();
    assert_eq!(
        (seen[0].uri.path(), seen[0].headers["authorization"].to_str().unwrap()),
        ("/v1/chat/completions", "Bearer secret-o")
    );
    let call = |id: &str, arguments: &str| json!({ "id": id, "type": "function", "function": { "name": "read", "arguments": arguments } });
    let tool = json!({ "name": "read", "description": "reads", "parameters": { "type": "object" } });
    assert_eq!(
        seen[0].body,
        json!({
            "model": "org/m",
            "max_tokens": 16384,
            "stream": true,
            "stream_options": { "include_usage": true },
            "tools": [{ "type": "function", "function": tool }],
            "messages": [
                { "role": "system", "content": "the rules" },
                { "role": "user", "content": "the task" },
                { "role": "assistant", "content": null, "tool_calls": [call("1", r#"{"path":"a"}"#), call("2", "{}")] },
                { "role": "tool", "tool_call_id": "1", "content": "content" },
                { "role": "tool", "tool_call_id": "2", "content": "error: no" },
            ],
        })
    );
}

#[tokio::test]
async fn what_is_transient_is_tried_again() {
    let error = events(&[json!({ "error": { "message": "overloaded", "type": "server_error" } })]);
    for trouble in [
        Answer::Status(500, &[], "oops"),
        Answer::Status(429, &[("retry-after", "0")], "slow down"),
        Answer::Stream("<html>not a stream</html>".into()),
        Answer::Stream("data: {broken\n\n".into()),
        Answer::Stream(String::new()),
        Answer::Stream(error),
        Answer::Cut(happy()[..200].into()),
        Answer::Stream(happy()[..200].into()),
    ] {
        let server = Server::start([trouble, Answer::Stream(happy())]).await;
        assert_eq!(ask(server.client("openai/m").as_ref()).await.unwrap().text, "I lööк");
        assert_eq!(server.requests(), 2);
    }
}

#[tokio::test]
async fn a_stream_that_falls_silent_is_tried_again() {
    let server = Server::start([Answer::Silent(happy()[..200].into()), Answer::Stream(happy())]).await;
    let client = server.client_with("openai/m", |settings| settings.idle_timeout = Duration::from_millis(200));
    assert_eq!(ask(client.as_ref()).await.unwrap().usage.input, 100);
}

#[tokio::test]
async fn a_reply_that_is_counted_but_never_closed_is_taken() {
    let open = happy().replace("data: [DONE]\n\n", "");
    let server = Server::start([Answer::Silent(open)]).await;
    let client = server.client_with("openai/m", |settings| settings.idle_timeout = Duration::from_millis(200));
    assert_eq!((ask(client.as_ref()).await.unwrap().usage.input, server.requests()), (100, 1));
}

#[tokio::test]
async fn requests_share_one_connection() {
    let server = Server::start((0..3).map(|_| Answer::Stream(happy()))).await;
    let client = server.client("openai/m");
    for _ in 0..3 {
        ask(client.as_ref()).await.unwrap();
    }
    let seen = server.script.seen.lock().unwrap();
    assert!(seen.iter().all(|request| request.from == seen[0].from));
}

#[tokio::test]
async fn retries_end() {
    let server = Server::start((0..9).map(|_| Answer::Status(503, &[], "down"))).await;
    let error = ask(server.client("openai/m").as_ref()).await.unwrap_err();
    assert_eq!(error.to_string(), "the model's service answered 503: down");
    assert_eq!((error.failure(), server.requests()), (FailureClass::Transient { retry_after: None }, 3));
}

#[tokio::test]
async fn a_limit_that_opens_much_later_is_a_quota_that_is_used_up() {
    let server = Server::start([Answer::Status(429, &[("retry-after", "3600")], "later")]).await;
    let error = ask(server.client("openai/m").as_ref()).await.unwrap_err();
    let wait = Some(std::time::Duration::from_secs(3600));
    assert_eq!((error.failure(), server.requests()), (FailureClass::QuotaExhausted { reset_after: wait }, 1));
}

#[tokio::test]
async fn an_empty_account_or_a_wrong_key_needs_a_person_and_the_key_is_not_repeated() {
    for (status, body) in [
        (429, r#"{"error":{"message":"quota","code":"insufficient_quota"}}"#),
        (401, r#"{"error":{"message":"Incorrect API key provided: secret-o"}}"#),
    ] {
        let server = Server::start([Answer::Status(status, &[], body)]).await;
        let error = ask(server.client("openai/m").as_ref()).await.unwrap_err();
        assert_eq!((error.failure(), server.requests()), (FailureClass::Misconfigured, 1), "{body}");
        assert!(!format!("{error} {error:?}").contains("secret-o"), "{error}");
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let server = Server::start([Answer::Status(307, &[("location", "/v1/elsewhere")], "")]).await;
    assert_eq!(ask(server.client("openai/m").as_ref()).await.unwrap_err().failure(), FailureClass::Misconfigured);
    assert_eq!(server.requests(), 1);
}

#[tokio::test]
async fn a_server_that_counts_nothing_and_gives_no_ids_or_indexes_still_works() {
    let call = |id: Option<&str>, name: Option<&str>, arguments: &str| json!({ "choices": [{ "delta": { "tool_calls": [{ "id": id, "function": { "name": name, "arguments": arguments } }] } }] });
    let data = [
        call(Some("x"), Some("read"), "{"),
        call(None, None, "}"),
        call(Some(""), Some("list"), "{}"),
        json!({ "choices": [{ "delta": { "content": null }, "finish_reason": "stop" }], "usage": null }),
    ];
    let server = Server::start([Answer::Stream(events(&data))]).await;
    let reply = ask(server.client("openai/m").as_ref()).await.unwrap();
    assert_eq!((reply.calls[0].arguments.as_str(), reply.calls[1].name.as_str()), ("{}", "list"));
    assert!(reply.calls[1].id.len() > 8 && reply.usage.input > 10);
}

/// Servers have no common name for reasoning: it goes back to its model under the name that it came with.
#[tokio::test]
async fn reasoning_of_a_chat_goes_back_under_its_name() {
    let choice = |delta: Value| json!({ "choices": [{ "index": 0, "delta": delta }] });
    let detail = |text: &str| json!({ "type": "reasoning.text", "index": 0, "text": text, "signature": null });
    for (deltas, member, sent) in [
        (
            [json!({ "reasoning_content": "I th" }), json!({ "reasoning_content": "ink" })],
            "reasoning_content",
            json!("I think"),
        ),
        ([json!({ "reasoning": "I th" }), json!({ "reasoning": "ink" })], "reasoning", json!("I think")),
        (
            [
                json!({ "reasoning": "I th", "reasoning_details": [detail("I th")] }),
                json!({ "reasoning": "ink", "reasoning_details": [detail("ink")] }),
            ],
            "reasoning_details",
            json!([detail("I think")]),
        ),
    ] {
        let thinks = events(&deltas.map(choice)) + &happy();
        let server = Server::start([thinks, happy(), happy()].map(Answer::Stream)).await;
        let client = server.client("openai/m");
        let reply = ask(client.as_ref()).await.unwrap();
        assert_eq!(reply.text, "I lööк", "reasoning is not an answer");
        let said = Message::Assistant { text: reply.text, calls: reply.calls, verbatim: reply.verbatim };
        let messages = [Memoized::from(Message::user("x")), said.into()];
        reply_to(client.as_ref(), &messages, 2).await.unwrap();
        reply_to(server.client("openai/other").as_ref(), &messages, 2).await.unwrap();
        let seen = server.script.seen.lock().unwrap();
        assert_eq!(seen[1].body["messages"][2][member], sent, "{member}");
        assert_eq!(seen[2].body["messages"][2].get(member), None, "{member}");
    }
}

/// Google's models from Gemini 3 on refuse a call that comes back without the signature of its thought.
#[tokio::test]
async fn the_signature_of_a_call_goes_back_with_it() {
    let call = |index: u64, extra: Value| {
        let function = json!({ "name": "read", "arguments": "{\"path\":\"a\"}" });
        json!({ "index": index, "id": format!("c{index}"), "type": "function", "function": function, "extra_content": extra })
    };
    let signed = json!({ "google": { "thought_signature": "c2lnbmVk" } });
    let delta = json!({ "tool_calls": [call(0, signed.clone()), call(1, Value::Null)] });
    let calls = events(&[
        json!({ "choices": [{ "index": 0, "delta": delta }] }),
        json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "tool_calls" }] }),
    ]) + "data: [DONE]\n\n";
    let server = Server::start([calls, happy(), happy(), happy()].map(Answer::Stream)).await;
    let client = server.client("openai/gemini-3.8-flash");
    let reply = ask(client.as_ref()).await.unwrap();
    let results = reply.calls.iter().map(|call| ToolResult::of_text(&call.id, "x")).collect();
    let said = Message::Assistant { text: reply.text, calls: reply.calls, verbatim: reply.verbatim };
    let messages = [Memoized::from(Message::user("x")), said.into(), Message::Results { results }.into()];
    reply_to(client.as_ref(), &messages, 2).await.unwrap();
    // Another model's call has no signature that this one knows, and one that wants none gets none.
    reply_to(server.client("openai/gemini-4-argon").as_ref(), &messages, 2).await.unwrap();
    reply_to(server.client("openai/gemini-2.5-pro").as_ref(), &messages, 2).await.unwrap();
    let seen = server.script.seen.lock().unwrap();
    let sent = |at: usize| {
        let message = &seen[at].body["messages"][2];
        assert_eq!(message.as_object().unwrap().len(), 3, "{message}");
        [0, 1].map(|call| message["tool_calls"][call]["extra_content"].clone())
    };
    assert_eq!(sent(1), [signed, Value::Null]);
    assert_eq!(
        sent(2),
        [json!({ "google": { "thought_signature": "skip_thought_signature_validator" } }), Value::Null]
    );
    assert_eq!(sent(3), [Value::Null, Value::Null]);
}

#[tokio::test]
async fn the_effort_is_sent_in_the_interfaces_words() {
    let server = Server::start([Answer::Stream(happy())]).await;
    let client = server.client_with("openai/m", |settings| settings.effort = Some(Effort::Max));
    ask(client.as_ref()).await.unwrap();
    let seen = server.script.seen.lock().unwrap();
    assert_eq!(
        (&seen[0].body["reasoning_effort"], &seen[0].body["max_tokens"]),
        (&json!("high"), &json!(16384 + 32768))
    );
}

/// Servers list the window of a model each in their own way; what cannot be read is no answer.
#[tokio::test]
async fn the_window_that_a_server_lists_is_read() {
    let listed = async |list: Value| {
        let server = Server::start([Answer::List(json!({ "object": "list", "data": list }))]).await;
        server.client("openai/small").listed_window().await
    };
    for (model, window) in [
        (json!({ "id": "small", "max_model_len": 4_096 }), Some(4_096)),
        (json!({ "id": "small", "context_length": 8_192 }), Some(8_192)),
        (json!({ "id": "small", "meta": { "n_ctx": 2_048 } }), Some(2_048)),
        (json!({ "id": "small", "context_window": "much" }), None),
        (json!({ "id": "small", "context_window": 0 }), None),
        (json!({ "id": "other", "max_model_len": 4_096 }), None),
    ] {
        assert_eq!(listed(json!([{ "id": "first" }, model.clone()])).await, window, "{model}");
    }
    assert_eq!(listed(json!("none")).await, None);
    assert_eq!(Server::start([]).await.client("openai/small").listed_window().await, None);
}
