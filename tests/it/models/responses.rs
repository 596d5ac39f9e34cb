//! The client of the responses interface.

use super::*;

fn happy() -> Vec<Value> {
    vec![
        json!({ "type": "response.created", "response": { "status": "in_progress" } }),
        json!({ "type": "response.output_item.added", "output_index": 0, "item": { "type": "reasoning", "id": "rs_1", "summary": [] } }),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": { "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gA==" } }),
        json!({ "type": "response.output_text.delta", "output_index": 1, "delta": "I lö" }),
        json!({ "type": "response.output_item.done", "output_index": 1, "item": { "type": "message", "id": "msg_1", "role": "assistant",
            "content": [{ "type": "output_text", "text": "I lööк", "annotations": [] }] } }),
        json!({ "type": "response.output_item.done", "output_index": 2, "item": { "type": "function_call", "id": "fc_1", "call_id": "call_a",
            "name": "read", "arguments": "{\"path\":\"a\"}" } }),
        json!({ "type": "an.event.of.tomorrow", "x": 1 }),
        json!({ "type": "response.completed", "response": { "status": "completed", "usage": {
            "input_tokens": 100, "input_tokens_details": { "cached_tokens": 64 }, "output_tokens": 9 } } }),
    ]
}

fn client(server: &Server) -> Arc<dyn ModelClient> {
    server.client_with("openai/m", |settings| settings.openai_interface = Some(OpenAiInterface::Responses))
}

#[tokio::test]
async fn a_stream_becomes_a_reply_and_a_request_is_written_as_the_interface_wants_it() {
    let server = Server::start([Answer::Stream(events(&happy()))]).await;
    let reply = ask(client(&server).as_ref()).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.stop), ("I lööк", Stop::Finished));
    assert_eq!(reply.calls, [tool_call("call_a", "read", r#"{"path":"a"}"#)]);
    assert_eq!(reply.usage, Usage { input: 100, cached_input: 64, cache_write: 0, output: 9 });
    let seen = server.script.seen.lock().unwrap();
    let (path, key) = (seen[0].uri.path(), seen[0].headers["authorization"].to_str().unwrap());
    assert_eq!((path, key), ("/v1/responses", "Bearer secret-o"));
    let call = |id: &str, arguments: &str| json!({ "type": "function_call", "call_id": id, "name": "read", "arguments": arguments });
    let output = |id: &str, text: &str| json!({ "type": "function_call_output", "call_id": id, "output": text });
    assert_eq!(
        seen[0].body,
        json!({
            "model": "m",
            "stream": true,
            "store": false,
            "include": ["reasoning.encrypted_content"],
            "max_output_tokens": 16384,
            "prompt_cache_key": seen[0].body["prompt_cache_key"],
            "instructions": "the rules",
            "tools": [{ "type": "function", "name": "read", "description": "reads", "parameters": { "type": "object" }, "strict": false }],
            "input": [
                { "role": "user", "content": "the task" },
                call("1", r#"{"path":"a"}"#),
                call("2", r#"{"pa"#),
                output("1", "content"),
                output("2", "error: no"),
            ],
        })
    );
}

#[tokio::test]
async fn a_conversation_is_found_in_the_cache_by_one_key_and_another_by_another() {
    let server = Server::start([happy(), happy(), happy()].map(|happy| Answer::Stream(events(&happy)))).await;
    let client = client(&server);
    let said = |text: &str| Memoized::from(Message::Assistant { text: text.into(), calls: Vec::new(), verbatim: None });
    for messages in [vec!["one"], vec!["one", "more"], vec!["two"]] {
        let mut messages = messages.into_iter();
        let mut all = vec![Memoized::from(Message::user(messages.next().unwrap()))];
        all.extend(messages.map(said));
        reply_to(client.as_ref(), &all, 1).await.unwrap();
    }
    let keys: Vec<Value> = server.bodies().iter().map(|body| body["prompt_cache_key"].clone()).collect();
    assert!(keys[0].as_str().is_some_and(|key| key.len() == 32), "{keys:?}");
    assert!(keys[0] == keys[1] && keys[0] != keys[2], "{keys:?}");
}

#[tokio::test]
async fn what_is_transient_is_tried_again() {
    let failed =
        |code: &str| json!({ "type": "response.failed", "response": { "error": { "code": code, "message": "oops" } } });
    for trouble in [
        Answer::Status(500, &[], "oops"),
        Answer::Stream(events(&[failed("server_error")])),
        Answer::Stream(events(&[json!({ "type": "error", "code": "rate_limit_exceeded", "message": "slow down" })])),
        Answer::Stream(events(&[json!({ "type": "response.output_item.done", "item": {} })])),
        Answer::Stream(events(&happy()[..5])),
        Answer::Cut(events(&happy())[..300].into()),
    ] {
        let server = Server::start([trouble, Answer::Stream(events(&happy()))]).await;
        assert_eq!(ask(client(&server).as_ref()).await.unwrap().text, "I lööк");
        assert_eq!(server.requests(), 2);
    }
}

#[tokio::test]
async fn a_reply_cut_at_its_length_and_a_refusal_are_told_apart() {
    let ends = |reason: &str| json!({ "type": "response.incomplete", "response": { "incomplete_details": { "reason": reason } } });
    let refuses = json!({ "type": "response.output_item.done", "output_index": 1, "item": { "type": "message",
        "content": [{ "type": "refusal", "refusal": "I will not." }] } });
    for (index, event, stop) in [
        (7, ends("max_output_tokens"), Stop::Length),
        (7, ends("content_filter"), Stop::Refused),
        (4, refuses, Stop::Refused),
    ] {
        let mut data = happy();
        data[index] = event;
        let server = Server::start([Answer::Stream(events(&data))]).await;
        let reply = ask(client(&server).as_ref()).await.unwrap();
        assert_eq!((reply.stop, reply.verbatim), (stop, None), "what was cut does not go back as it came");
    }
}

/// OpenAI's own models are asked through responses, other servers through chat completions.
#[tokio::test]
async fn the_address_decides_on_the_interface_unless_the_settings_do() {
    let server = Server::start([Answer::Stream(events(&happy())), Answer::Stream(openai::happy())]).await;
    ask(client(&server).as_ref()).await.unwrap();
    ask(server.client("openai/m").as_ref()).await.unwrap();
    let seen = server.script.seen.lock().unwrap();
    assert_eq!((seen[0].uri.path(), seen[1].uri.path()), ("/v1/responses", "/v1/chat/completions"));
}

/// A request with the tool for patches, after what was said.
async fn patching(client: &dyn ModelClient, messages: &[Memoized<Message>]) -> Result<ModelReply, ModelError> {
    let schema = json!({ "type": "object", "properties": { "patch": { "type": "string" } } });
    let tool = |name: &'static str, schema: &Value| Tool {
        name: name.into(),
        description: "d".into(),
        schema: schema.clone(),
    };
    let tools = Memoized::from(vec![tool("read", &json!({})), tool("apply_patch", &schema)]);
    let strain = hob_domain::Strain::Usual;
    client
        .complete(&ModelRequest {
            system: "",
            messages,
            tools: &tools,
            turn: 1,
            funds: None,
            strain,
            rest: Default::default(),
        })
        .await
}

/// A reply that patches two files by OpenAI's own tool, and reads one.
fn patches() -> Vec<Value> {
    let patch = |index: u32, operation: Value| {
        json!({ "type": "response.output_item.done", "output_index": index, "item": { "type": "apply_patch_call", "id": format!("apc_{index}"),
            "call_id": format!("call_{index}"), "status": "completed", "operation": operation } })
    };
    vec![
        json!({ "type": "response.output_item.added", "output_index": 0, "item": { "type": "apply_patch_call", "status": "in_progress" } }),
        json!({ "type": "response.apply_patch_call_operation_diff.delta", "output_index": 0, "delta": "@@" }),
        patch(0, json!({ "type": "update_file", "path": "a", "diff": "@@\n-x\n+y" })),
        patch(1, json!({ "type": "delete_file", "path": "b" })),
        json!({ "type": "response.output_item.done", "output_index": 2, "item": { "type": "function_call", "id": "fc_1", "call_id": "call_2",
            "name": "read", "arguments": "{}" } }),
        json!({ "type": "response.completed", "response": { "status": "completed", "usage": { "input_tokens": 1, "output_tokens": 9 } } }),
    ]
}

#[tokio::test]
async fn a_model_that_knows_it_patches_by_its_interfaces_own_tool() {
    let server = Server::start([patches(), happy(), happy(), happy()].map(|data| Answer::Stream(events(&data)))).await;
    let of = |name: &str, interface| server.client_with(name, |settings| settings.openai_interface = Some(interface));
    let client = of("openai/gpt-6-sol", OpenAiInterface::Responses);
    let task = Memoized::from(Message::user("task"));
    let ModelReply { text, calls, verbatim, .. } =
        patching(client.as_ref(), std::slice::from_ref(&task)).await.unwrap();
    let patch = |body: &str| json!({ "patch": format!("*** Begin Patch\n{body}\n*** End Patch") }).to_string();
    assert_eq!(
        calls,
        [
            tool_call("call_0", "apply_patch", &patch("*** Update File: a\n@@\n-x\n+y")),
            tool_call("call_1", "apply_patch", &patch("*** Delete File: b\n")),
            tool_call("call_2", "read", "{}"),
        ]
    );
    let result = |id: &str, is_error| ToolResult { is_error, ..ToolResult::of_text(id, "t") };
    let results = vec![result("call_0", false), result("call_1", true), result("call_2", false)];
    let answered = |verbatim| {
        let said = Message::Assistant { text: text.clone(), calls: calls.clone(), verbatim };
        [task.clone(), said.into(), Message::Results { results: results.clone() }.into()]
    };
    patching(client.as_ref(), &answered(verbatim.clone())).await.unwrap();
    patching(client.as_ref(), &answered(None)).await.unwrap();
    // Another model's replies are not verbatim here.
    patching(of("openai/codex-mini-latest", OpenAiInterface::Responses).as_ref(), &answered(verbatim)).await.unwrap();
    let bodies = server.bodies();
    let kinds = |body: &Value, of: &str| -> Vec<String> {
        body[of].as_array().unwrap().iter().skip(1).map(|item| item["type"].as_str().unwrap().to_owned()).collect()
    };
    let plain = [
        "function_call",
        "function_call",
        "function_call",
        "function_call_output",
        "function_call_output",
        "function_call_output",
    ];
    assert_eq!(
        bodies.iter().map(|body| kinds(body, "tools")[0].clone()).collect::<Vec<_>>(),
        ["apply_patch", "apply_patch", "apply_patch", "function"]
    );
    assert_eq!(bodies[0]["tools"][1], json!({ "type": "apply_patch" }));
    let items = bodies[1]["input"].as_array().unwrap();
    assert_eq!(items[1..4], [&patches()[2]["item"], &patches()[3]["item"], &patches()[4]["item"]].map(Clone::clone));
    let output = |id: &str, status: &str| json!({ "type": "apply_patch_call_output", "call_id": id, "status": status, "output": "t" });
    assert_eq!(items[4..6], [output("call_0", "completed"), output("call_1", "failed")]);
    assert_eq!(items[6]["type"], "function_call_output");
    assert_eq!(
        (kinds(&bodies[2], "input"), kinds(&bodies[3], "input")),
        (plain.map(str::to_owned).to_vec(), plain.map(str::to_owned).to_vec())
    );
}

#[tokio::test]
async fn a_service_without_the_tool_for_patches_gets_a_custom_one_and_else_hobs_own() {
    let lacks = r#"{"error":{"message":"Invalid value: 'apply_patch'. Supported values are: 'function'.","param":"tools[1].type"}}"#;
    let lacks_custom = r#"{"error":{"message":"tools.1: Input tag 'custom' does not match any of the expected tags"}}"#;
    let refused = |body| Answer::Status(400, &[], body);
    let good = || Answer::Stream(events(&happy()));
    for (model, answers, kinds) in [
        ("gpt-6-sol", vec![refused(lacks), good(), good()], &["apply_patch", "custom", "custom"][..]),
        (
            "gpt-6-sol",
            vec![refused(lacks), refused(lacks_custom), good(), good()],
            &["apply_patch", "custom", "function", "function"],
        ),
        ("gpt-5", vec![good(), good()], &["custom", "custom"]),
        ("gpt-5", vec![refused(lacks_custom), good(), good()], &["custom", "function", "function"]),
        ("codex-mini-latest", vec![good(), good()], &["function", "function"]),
    ] {
        let server = Server::start(answers).await;
        let client = server.client_with(&format!("openai/{model}"), |settings| {
            settings.openai_interface = Some(OpenAiInterface::Responses);
        });
        let task = [Memoized::from(Message::user("task"))];
        patching(client.as_ref(), &task).await.unwrap();
        patching(client.as_ref(), &task).await.unwrap();
        let tools: Vec<_> = server.bodies().iter().map(|body| body["tools"][1].clone()).collect();
        assert_eq!(tools.iter().map(|tool| tool["type"].as_str().unwrap()).collect::<Vec<_>>(), kinds, "{model}");
        let custom = tools.iter().find(|tool| tool["type"] == "custom");
        assert!(custom.is_none_or(|tool| tool["name"] == "apply_patch" && tool["format"]["syntax"] == "lark"));
    }
}

/// A request that was refused for what another one has already learned is sent anew, and not without the next form.
#[tokio::test]
async fn two_conversations_that_are_refused_at_once_learn_it_once() {
    let lacks = r#"{"error":{"message":"Invalid value: 'apply_patch'."}}"#;
    let refused = || Answer::Status(400, &[], lacks);
    let good = || Answer::Stream(events(&happy()));
    let server = Server::start([refused(), refused(), good(), good()]).await;
    let client =
        server.client_with("openai/gpt-6-sol", |settings| settings.openai_interface = Some(OpenAiInterface::Responses));
    let task = [Memoized::from(Message::user("task"))];
    let (one, two) = tokio::join!(patching(client.as_ref(), &task), patching(client.as_ref(), &task));
    assert!(one.is_ok() && two.is_ok(), "{one:?} {two:?}");
    let mut kinds: Vec<_> = server.bodies().iter().map(|body| body["tools"][1]["type"].clone()).collect();
    kinds.sort_by_key(Value::to_string);
    assert_eq!(kinds, ["apply_patch", "apply_patch", "custom", "custom"]);
}

/// A reply with calls of custom tools, as the interface streams them.
fn customs() -> Vec<Value> {
    let call = |index: u32, name: &str, input: &str| {
        json!({ "type": "response.output_item.done", "output_index": index, "item": { "type": "custom_tool_call", "id": format!("ctc_{index}"),
            "call_id": format!("call_{index}"), "name": name, "input": input, "status": "completed" } })
    };
    vec![
        json!({ "type": "response.output_item.added", "output_index": 0, "item": { "type": "custom_tool_call", "id": "ctc_0",
            "call_id": "call_0", "name": "apply_patch", "input": "" } }),
        json!({ "type": "response.custom_tool_call_input.delta", "output_index": 0, "item_id": "ctc_0", "delta": "*** Begin" }),
        json!({ "type": "response.custom_tool_call_input.done", "output_index": 0, "item_id": "ctc_0", "input": "*** Begin" }),
        call(0, "apply_patch", "*** Begin Patch\n*** Delete File: a\n*** End Patch\n"),
        call(1, "shell", "ls \"a b\""),
        call(2, "shell", r#"{"command":"ls"}"#),
        json!({ "type": "response.completed", "response": { "status": "completed", "usage": { "input_tokens": 1, "output_tokens": 9 } } }),
    ]
}

#[tokio::test]
async fn a_call_of_a_custom_tool_is_taken_and_answered_as_one() {
    let server = Server::start([customs(), happy(), happy(), happy()].map(|data| Answer::Stream(events(&data)))).await;
    let of =
        |name: &str| server.client_with(name, |settings| settings.openai_interface = Some(OpenAiInterface::Responses));
    let client = of("openai/gpt-5");
    let task = Memoized::from(Message::user("task"));
    let ModelReply { text, calls, verbatim, .. } =
        patching(client.as_ref(), std::slice::from_ref(&task)).await.unwrap();
    assert_eq!(
        calls,
        [
            tool_call("call_0", "apply_patch", r#"{"input":"*** Begin Patch\n*** Delete File: a\n*** End Patch\n"}"#),
            tool_call("call_1", "shell", r#"{"input":"ls \"a b\""}"#),
            tool_call("call_2", "shell", r#"{"command":"ls"}"#),
        ]
    );
    let results = ["call_0", "call_1", "call_2"]
        .map(|id| ToolResult { is_error: id == "call_1", ..ToolResult::of_text(id, "t") });
    let said = Message::Assistant { text, calls, verbatim };
    // As a session has it on the disk.
    let kept: Message = serde_json::from_str(&serde_json::to_string(&said).unwrap()).unwrap();
    let answered =
        |said: &Message| [task.clone(), said.clone().into(), Message::Results { results: results.to_vec() }.into()];
    patching(client.as_ref(), &answered(&said)).await.unwrap();
    patching(of("openai/gpt-5").as_ref(), &answered(&kept)).await.unwrap();
    patching(of("openai/gpt-6-sol").as_ref(), &answered(&kept)).await.unwrap();
    let bodies = server.bodies();
    let items = |body: &Value| body["input"].as_array().unwrap()[1..].to_vec();
    let output = |kind: &str, id: &str, text: &str| json!({ "type": kind, "call_id": id, "output": text });
    let outputs =
        |kind: &str| [output(kind, "call_0", "t"), output(kind, "call_1", "error: t"), output(kind, "call_2", "t")];
    let custom = [3, 4, 5].map(|index| customs()[index]["item"].clone());
    assert_eq!(items(&bodies[1]), [custom, outputs("custom_tool_call_output")].concat());
    assert_eq!(items(&bodies[2]), items(&bodies[1]));
    // To another model they are calls of functions.
    let function = |call: &ToolCall| json!({ "type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments });
    let Message::Assistant { calls, .. } = &said else { unreachable!() };
    let functions: Vec<Value> = calls.iter().map(function).collect();
    assert_eq!(items(&bodies[3]), [functions, outputs("function_call_output").to_vec()].concat());
}

#[tokio::test]
async fn a_call_of_a_custom_tool_is_one_of_a_function_at_other_vendors() {
    let replies = [Answer::Stream(events(&customs())), Answer::Stream(openai::happy())];
    let server = Server::start(replies.into_iter().chain([Answer::Status(400, &[], "{}")])).await;
    let client =
        server.client_with("openai/gpt-5", |settings| settings.openai_interface = Some(OpenAiInterface::Responses));
    let task = Memoized::from(Message::user("task"));
    let ModelReply { text, calls, verbatim, .. } =
        patching(client.as_ref(), std::slice::from_ref(&task)).await.unwrap();
    let results = ["call_0", "call_1", "call_2"].map(|id| ToolResult::of_text(id, "t")).to_vec();
    let said = [task, Message::Assistant { text, calls, verbatim }.into(), Message::Results { results }.into()];
    patching(server.client("openai/qwen3-coder").as_ref(), &said).await.unwrap();
    patching(server.client("anthropic/claude-opus-5-5").as_ref(), &said).await.unwrap_err();
    let bodies = server.bodies();
    let call = &bodies[1]["messages"][2]["tool_calls"][1];
    let function = json!({ "name": "shell", "arguments": r#"{"input":"ls \"a b\""}"# });
    assert_eq!(call, &json!({ "id": "call_1", "type": "function", "function": function }));
    assert_eq!(bodies[1]["messages"][4]["tool_call_id"], "call_1");
    let call = &bodies[2]["messages"][1]["content"][1];
    assert_eq!(
        call,
        &json!({ "type": "tool_use", "id": "call_1", "name": "shell", "input": { "input": "ls \"a b\"" } })
    );
    assert_eq!(bodies[2]["messages"][2]["content"][1]["tool_use_id"], "call_1");
}
