//! Images of a task, in the words of each interface; a model that takes none is told so.

use hob_agent::model::Picture;
use hob_config::ImageUse;

use super::*;

fn picture() -> Picture {
    Picture { media_type: "image/png".to_owned(), data: "QUJD".to_owned() }
}

async fn first_message(name: &str, images: ImageUse, interface: OpenAiInterface) -> Value {
    let message = Message::User { text: "Look.".to_owned(), images: vec![picture()] };
    messages(name, images, interface, vec![message]).await.pop().unwrap()["content"].clone()
}

/// The messages of a request in the form of an interface.
async fn messages(name: &str, images: ImageUse, interface: OpenAiInterface, messages: Vec<Message>) -> Vec<Value> {
    let server = Server::start([Answer::Status(400, &[], "{}")]).await;
    let client = server.client_with(name, |settings| {
        (settings.images, settings.openai_interface) = (images, Some(interface));
    });
    let messages: Vec<_> = messages.into_iter().map(Memoized::from).collect();
    reply_to(client.as_ref(), &messages, 1).await.unwrap_err();
    let seen = server.script.seen.lock().unwrap();
    let list = seen[0].body.get("input").unwrap_or(&seen[0].body["messages"]);
    list.as_array().unwrap().clone()
}

#[tokio::test]
async fn a_model_that_sees_is_sent_the_image() {
    use OpenAiInterface::{Chat, Responses};
    let url = "data:image/png;base64,QUJD";
    let source = json!({ "type": "base64", "media_type": "image/png", "data": "QUJD" });
    for (name, interface, content) in [
        (
            "openai/gpt-5",
            Chat,
            json!([{ "type": "text", "text": "Look." }, { "type": "image_url", "image_url": { "url": url } }]),
        ),
        (
            "openai/gpt-5",
            Responses,
            json!([{ "type": "input_text", "text": "Look." }, { "type": "input_image", "image_url": url }]),
        ),
        (
            "anthropic/claude-sonnet-4-5",
            Chat,
            json!([{ "type": "text", "text": "Look." },
                   { "type": "image", "source": source, "cache_control": { "type": "ephemeral" } }]),
        ),
    ] {
        assert_eq!(first_message(name, ImageUse::Auto, interface).await, content, "{name}");
    }
}

#[tokio::test]
async fn a_model_that_does_not_see_is_told_that_there_is_one() {
    for (name, images, interface) in [
        ("openai/qwen3-coder", ImageUse::Auto, OpenAiInterface::Chat),
        ("openai/gpt-5", ImageUse::Never, OpenAiInterface::Responses),
        ("anthropic/claude-2.1", ImageUse::Auto, OpenAiInterface::Chat),
    ] {
        let content = first_message(name, images, interface).await.to_string();
        assert!(content.contains("[a picture, which this model cannot see]") && !content.contains("QUJD"), "{content}");
    }
}

/// What follows two calls, of which the first showed a picture.
async fn answers(name: &str, images: ImageUse, interface: OpenAiInterface) -> Value {
    let calls = vec![tool_call("c1", "read", "{}"), tool_call("c2", "read", "{}")];
    let said = Message::Assistant { text: String::new(), calls, verbatim: None };
    let seen = ToolResult { images: vec![picture()], ..ToolResult::of_text("c1", "[a picture]") };
    let results = Message::Results { results: vec![seen, ToolResult::of_text("c2", "text")] };
    let all = messages(name, images, interface, vec![Message::user("task"), said, results]).await;
    let is_call = |message: &Value| message["type"] == "function_call" || message["role"] == "assistant";
    all.iter().rev().take_while(|message| !is_call(message)).cloned().collect::<Vec<_>>().into_iter().rev().collect()
}

#[tokio::test]
async fn a_picture_that_a_tool_showed_is_sent_as_each_interface_has_it() {
    use OpenAiInterface::{Chat, Responses};
    let url = "data:image/png;base64,QUJD";
    let chat = |id: &str, text: &str| json!({ "role": "tool", "tool_call_id": id, "content": text });
    let output = |id: &str, output: Value| json!({ "type": "function_call_output", "call_id": id, "output": output });
    for (name, interface, sent) in [
        (
            "openai/gpt-5",
            Chat,
            json!([chat("c1", "[a picture]"), chat("c2", "text"), { "role": "user", "content": [
                { "type": "text", "text": "[Hob] The pictures of the answers above, in their order" },
                { "type": "image_url", "image_url": { "url": url } },
            ] }]),
        ),
        (
            "openai/gpt-5",
            Responses,
            json!([
                output(
                    "c1",
                    json!([{ "type": "input_text", "text": "[a picture]" }, { "type": "input_image", "image_url": url }])
                ),
                output("c2", json!("text")),
            ]),
        ),
        (
            "anthropic/claude-sonnet-4-5",
            Chat,
            json!([{ "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": "c1", "is_error": false, "content": [
                    { "type": "text", "text": "[a picture]" },
                    { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "QUJD" } },
                ] },
                { "type": "tool_result", "tool_use_id": "c2", "is_error": false, "content": "text", "cache_control": { "type": "ephemeral" } },
            ] }]),
        ),
    ] {
        assert_eq!(answers(name, ImageUse::Auto, interface).await, sent, "{name} {interface:?}");
        let unseen = answers(name, ImageUse::Never, interface).await.to_string();
        assert!(
            unseen.contains("[a picture]\\n[a picture, which this model cannot see]") && !unseen.contains("QUJD"),
            "{unseen}"
        );
    }
}
