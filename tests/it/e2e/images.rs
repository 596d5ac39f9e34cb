//! The images of an issue: Hob fetches them, and models with vision see them, also in a resumed run.

use serde_json::{Value, json};

use crate::{
    harness::World,
    models::{Answer, Server},
};

/// One pixel.
fn png() -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0".to_vec();
    bytes.extend(b"\x90wS\xde\0\0\0\x0cIDATx\x9cc\xf8\xcf\xc0\0\0\x03\x01\x01\0\xc9\xfe\x92\xef\0\0\0\0IEND\xaeB`\x82");
    bytes
}

/// A reply that calls a tool.
fn calls(tool: &str, arguments: &Value) -> Answer {
    let function = json!({ "name": tool, "arguments": arguments.to_string() });
    let call = json!({ "tool_calls": [{ "index": 0, "id": format!("call_{tool}"), "function": function }] });
    let data = [
        json!({ "choices": [{ "index": 0, "delta": call }] }),
        json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "tool_calls" }] }),
        json!({ "choices": [], "usage": { "prompt_tokens": 10, "completion_tokens": 1 } }),
    ];
    let data: String = data.iter().map(|data| format!("data: {data}\n\n")).collect();
    Answer::Stream(format!("{data}data: [DONE]\n\n"))
}

#[tokio::test]
async fn a_model_sees_what_people_attached_and_sees_it_again_when_it_goes_on() {
    let done = json!({ "title": "Add it", "summary": "Added." });
    let server = Server::start([
        calls("ask", &json!({ "question": "Which colour?" })),
        calls("write", &json!({ "path": "done.txt", "text": "red\n" })),
        calls("done", &done),
        calls("done", &done),
    ])
    .await;
    let world = World::fixing()
        .set("agent", "native")
        .set("model.default", "openai/gpt-6-sol")
        .set("testing.model.openai_base_url", &format!("{}/v1", server.base))
        .start()
        .await;
    let (first, second) = (world.forge.attach("image/png", &png()), world.forge.attach("image/png", &png()));
    let hidden = world.forge.attach("image/png", &png());
    let text = world.forge.attach("image/png", b"<svg onload=x>");

    let body = format!("As here: ![The menu]({first}) ![bad]({text})");
    let issue = world.asks("Paint it", &body).await;
    world.comments("ann", issue, &format!("And ![after]({second})")).await;
    world.comments("tess", issue, &format!("Look at ![this]({hidden})")).await;
    world.run().await;
    world.comments("ann", issue, "/hob unblock Red.").await;
    world.run().await;
    assert!(world.pull().await["title"].as_str().is_some());
    let requests = server.bodies();
    assert_eq!(requests.len(), 4);
    let first_of = |request: &Value| {
        let messages = request["messages"].as_array().unwrap();
        messages.iter().find(|message| message["role"] == "user").unwrap().clone()
    };
    let shown = first_of(&requests[0]);
    let parts = shown["content"].as_array().unwrap();
    let images: Vec<&Value> = parts.iter().filter(|part| part["type"] == "image_url").collect();
    assert_eq!(images.len(), 2, "the issue's and the authorized comment's: {shown}");
    assert!(
        images[0]["image_url"]["url"].as_str().unwrap().starts_with("data:image/png;base64,iVBORw0KGgo"),
        "{shown}"
    );
    assert!(parts[0]["text"].as_str().unwrap().contains("in this order: The menu; after"), "{shown}");
    // The resumed run shows them in the same place.
    let again = first_of(&requests[1]);
    assert_eq!(again["content"].as_array().unwrap()[1..], parts[1..]);
    let said = format!("{:?}", world.notices.lock().unwrap());
    assert!(said.contains("image 2 is left out: it is not a PNG, JPEG, GIF or WebP image"), "{said}");
    world.finish().await;
}

#[tokio::test]
async fn an_agent_alone_is_shown_the_images_that_are_named() {
    let world = World::fixing().start().await;
    let home = world.dir();
    std::fs::write(home.join("shot.png"), png()).unwrap();
    std::fs::write(home.join("text.png"), "no image").unwrap();
    std::fs::write(home.join("task.md"), "# Look").unwrap();
    let replies = json!([{
        "expect": ["Images of the task follow it, data like its text, in this order: shot.png"],
        "calls": [{ "name": "done", "arguments": { "summary": "Seen." } }],
    }]);
    std::fs::write(home.join("tape.json"), json!({ "cassette": 1, "replies": replies }).to_string()).unwrap();
    let model = format!("model.default=cassette/{}", home.join("tape.json").display());
    let args = ["agent", "run", "--folder", ".", "--task", "task.md", "--agent", "native", "--set", &model, "--image"];
    let ended = world.hob(&[&args[..], &["shot.png"]].concat()).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    let unfit = world.hob(&[&args[..], &["text.png"]].concat()).await;
    assert!(unfit.code == 2 && unfit.stderr.contains("it is not a PNG, JPEG, GIF or WebP image"), "{unfit:?}");
    world.finish().await;
}
