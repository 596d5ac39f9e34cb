//! Images of a task, in the words of each interface; a model that takes none is told so.

use hob_agent::model::Picture;
use hob_config::ImageUse;

use super::*;

async fn first_message(name: &str, images: ImageUse, interface: OpenAiInterface) -> Value {
    let server = Server::start([Answer::Status(400, &[], "{}")]).await;
    let client = server.client_with(name, |settings| {
        (settings.images, settings.openai_interface) = (images, Some(interface));
    });
    let picture = Picture { media_type: "image/png".to_owned(), data: "QUJD".to_owned() };
    let messages = [Memoized::from(Message::User { text: "Look.".to_owned(), images: vec![picture] })];
    let request = ModelRequest {
        system: "",
        messages: &messages,
        tools: &Memoized::default(),
        turn: 1,
        funds: None,
        strain: hob_domain::Strain::Usual,
    };
    client.complete(&request).await.unwrap_err();
    let seen = server.script.seen.lock().unwrap();
    let list = seen[0].body.get("input").unwrap_or(&seen[0].body["messages"]);
    list.as_array().unwrap().last().unwrap()["content"].clone()
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
