//! Slow tiers and hours in the cache: where they are asked for, and what they cost.

use hob_agent::model::{Conversation, Rest, ServiceTier};

use super::*;

/// The bodies of `turns` requests to `name` in the slow tier, and what they cost in millionths of a dollar.
async fn asked(
    name: &str,
    interface: OpenAiInterface,
    rest: Rest,
    answers: Vec<Answer>,
    turns: u32,
) -> (Vec<Value>, Vec<u64>) {
    let server = Server::start(answers).await;
    let models = server.models(|settings| settings.openai_interface = Some(interface));
    let chain = models.fallback_chain(&name.parse().unwrap(), &[], None, ServiceTier::Flex).unwrap();
    let mut conversation = Conversation::begin(&chain, "one");
    let (messages, tools) = super::conversation();
    let strain = hob_domain::Strain::Usual;
    let mut costs = Vec::new();
    for turn in 1..=turns {
        let request = ModelRequest { system: "s", messages: &messages, tools: &tools, turn, funds: None, strain, rest };
        costs.push(conversation.ask(&request).await.unwrap().usd_micros);
    }
    (server.bodies(), costs)
}

/// A reply of the responses interface for 1,000 tokens sent, 400 of them put into the cache, and 100 produced.
fn responded(tier: Value) -> Answer {
    let usage = json!({ "input_tokens": 1_000, "output_tokens": 100, "input_tokens_details": { "cached_tokens": 500, "cache_write_tokens": 400 } });
    let message = json!({ "type": "message", "content": [{ "type": "output_text", "text": "ok" }] });
    Answer::Stream(events(&[
        json!({ "type": "response.output_item.done", "output_index": 0, "item": message }),
        json!({ "type": "response.completed", "response": { "usage": usage, "service_tier": tier } }),
    ]))
}

/// The same of chat completions.
fn completed(tier: Value) -> Answer {
    let usage = json!({ "prompt_tokens": 1_000, "completion_tokens": 100, "prompt_tokens_details": { "cached_tokens": 500, "cache_write_tokens": 400 } });
    Answer::Stream(events(&[
        json!({ "choices": [{ "delta": { "content": "ok" }, "finish_reason": "stop" }], "service_tier": tier }),
        json!({ "choices": [], "usage": usage, "service_tier": tier }),
    ]))
}

/// Of GPT-6 Sol, for those tokens: 100 of 2 dollars for a million, 500 of 0.2, 400 of 2.5, and 100 of 10.
const ORDINARY: u64 = 200 + 100 + 1_000 + 1_000;

#[tokio::test]
async fn the_slow_tier_is_asked_for_where_it_is_known_and_costs_what_answered() {
    use OpenAiInterface::{Chat, Responses};
    let answers =
        |answer: fn(Value) -> Answer| vec![answer(json!("flex")), answer(json!("default")), answer(Value::Null)];
    for (interface, made) in [(Responses, answers(responded)), (Chat, answers(completed))] {
        let (bodies, costs) = asked("openai/gpt-6-sol", interface, Rest::Short, made, 3).await;
        assert!(bodies.iter().all(|body| body["service_tier"] == "flex"), "{bodies:?}");
        assert_eq!(costs, [ORDINARY / 2, ORDINARY, ORDINARY], "{interface:?}");
    }
    let (bodies, _) = asked("openai/gpt-4o", Chat, Rest::Short, vec![completed(Value::Null)], 1).await;
    assert_eq!(bodies[0]["service_tier"], Value::Null);
}

#[tokio::test]
async fn a_service_without_room_or_without_the_slow_tier_answers_in_the_ordinary_one() {
    let no_room = || Answer::Status(429, &[], r#"{"error":{"code":"resource_unavailable","message":"No room."}}"#);
    let unknown = Answer::Status(400, &[], r#"{"error":{"message":"Unknown parameter: 'service_tier'"}}"#);
    for refused in [vec![no_room(), no_room(), no_room()], vec![unknown]] {
        let tries = refused.len();
        let answers = refused.into_iter().chain([responded(Value::Null), responded(Value::Null)]).collect();
        let (bodies, _) = asked("openai/gpt-6-sol", OpenAiInterface::Responses, Rest::Short, answers, 2).await;
        let tiers: Vec<_> = bodies.iter().map(|body| body["service_tier"] == "flex").collect();
        assert_eq!(tiers, [vec![true; tries], vec![false, false]].concat());
    }
}

#[tokio::test]
async fn a_conversation_that_rests_long_is_cached_for_an_hour_at_its_price() {
    let counted = json!({ "input_tokens": 0, "cache_creation_input_tokens": 1_000, "cache_read_input_tokens": 0, "output_tokens": 0,
        "cache_creation": { "ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 1_000 } });
    let events = [
        json!({ "type": "message_start", "message": { "usage": counted } }),
        json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "ok" } }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": { "output_tokens": 0 } }),
        json!({ "type": "message_stop" }),
    ];
    let answer = || events.iter().map(|data| format!("data: {data}\n\n")).collect::<String>();
    for (rest, mark) in
        [(Rest::Long, json!({ "type": "ephemeral", "ttl": "1h" })), (Rest::Short, json!({ "type": "ephemeral" }))]
    {
        let stream = vec![Answer::Stream(answer())];
        let (bodies, costs) = asked("anthropic/claude-opus-5", OpenAiInterface::Chat, rest, stream, 1).await;
        let all = bodies[0].to_string();
        assert_eq!(all.matches(&format!(r#""cache_control":{mark}"#)).count(), 3, "{all}");
        assert_eq!(all.matches("cache_control").count(), 3);
        // Twice the 5 dollars of a token sent, whoever marked it: the service says how long it keeps them.
        assert_eq!(costs, [10_000]);
    }
}
