//! A list of models: the one that is asked, and the consequences if one cannot answer.

use std::fs;

use hob_agent::model::{Answer, Cassette, Conversation, FallbackChain};
use hob_config::PriceSettings;
use hob_text::KnownSecrets;

use super::{Answer as Reaction, *};

const FIRST: &str = "openai/first";
const SECOND: &str = "anthropic/second";

fn chain(server: &Server) -> FallbackChain {
    let price = |input| PriceSettings { input, ..PriceSettings::default() };
    let models = server.models(|settings| {
        settings.prices.insert(FIRST.into(), price(1.0));
        settings.prices.insert(SECOND.into(), price(2.0));
    });
    models.fallback_chain(&FIRST.parse().unwrap(), &[SECOND.parse().unwrap()], None, Default::default()).unwrap()
}

async fn say(conversation: &mut Conversation<'_>, turn: u32) -> Result<Answer, ModelError> {
    let (messages, tools) = super::conversation();
    conversation
        .ask(&ModelRequest {
            system: "",
            messages: &messages,
            tools: &tools,
            turn,
            funds: None,
            strain: hob_domain::Strain::Usual,
            rest: Default::default(),
        })
        .await
}

fn first() -> Reaction {
    Reaction::Stream(openai::happy())
}

fn second() -> Reaction {
    Reaction::Stream(anthropic::happy())
}

/// The answer of a service whose quota opens after this many seconds, given as text.
fn quota(headers: &'static [(&'static str, &'static str)]) -> Reaction {
    Reaction::Status(429, headers, "later")
}

fn asked(server: &Server) -> Vec<String> {
    server.script.seen.lock().unwrap().iter().map(|seen| seen.body["model"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_conversation_falls_over_stays_there_and_the_next_one_begins_with_the_first() {
    let down = || Reaction::Status(503, &[], "down");
    let server = Server::start([down(), down(), down(), second(), second(), first()]).await;
    let chain = chain(&server);
    let mut conversation = Conversation::begin(&chain, "one");
    let answer = say(&mut conversation, 1).await.unwrap();
    assert_eq!((answer.model.as_str(), answer.usd_micros), (SECOND, 120));
    let why = "`openai/first` cannot answer: the model's service answered 503: down";
    assert_eq!(answer.instead.as_deref(), Some(why));
    let answer = say(&mut conversation, 2).await.unwrap();
    assert_eq!((answer.model.as_str(), answer.instead), (SECOND, None));
    let answer = say(&mut Conversation::begin(&chain, "two"), 1).await.unwrap();
    assert_eq!((answer.model.as_str(), answer.usd_micros), (FIRST, 100));
    assert_eq!(asked(&server), ["first", "first", "first", "second", "second", "first"]);
}

#[tokio::test]
async fn what_is_about_the_model_or_its_service_falls_over() {
    for trouble in [
        quota(&[("retry-after", "3600")]),
        Reaction::Status(401, &[], "the key is not valid"),
        Reaction::Status(404, &[], "no such model"),
        Reaction::Status(429, &[], r#"{"error":{"code":"insufficient_quota"}}"#),
    ] {
        let server = Server::start([trouble, second()]).await;
        let answer = say(&mut Conversation::begin(&chain(&server), "one"), 1).await.unwrap();
        assert_eq!(answer.model, SECOND);
        assert!(answer.instead.unwrap().starts_with("`openai/first` cannot answer: the model's service answered 4"));
        assert_eq!(asked(&server), ["first", "second"]);
    }
}

#[tokio::test]
async fn a_request_that_is_wrong_is_sent_to_no_other_model() {
    for body in ["no such field", "prompt is too long"] {
        let server = Server::start([Reaction::Status(400, &[], body)]).await;
        let error = say(&mut Conversation::begin(&chain(&server), "one"), 1).await.unwrap_err();
        assert_eq!((error.failure(), error.is_too_long()), (FailureClass::Permanent, body.contains("too long")));
        assert_eq!(asked(&server), ["first"]);
    }
}

#[tokio::test]
async fn a_request_too_long_for_the_other_model_is_sent_to_that_one_again() {
    let too_long = Reaction::Status(400, &[], "prompt is too long");
    let server = Server::start([quota(&[("retry-after", "3600")]), too_long, second()]).await;
    let chain = chain(&server);
    let mut conversation = Conversation::begin(&chain, "one");
    assert!(say(&mut conversation, 1).await.unwrap_err().is_too_long());
    assert_eq!(say(&mut conversation, 1).await.unwrap().model, SECOND);
    assert_eq!(asked(&server), ["first", "second", "second"]);
}

#[tokio::test]
async fn behind_the_last_model_the_first_is_asked_again() {
    let server =
        Server::start([quota(&[("retry-after", "60")]), second(), quota(&[("retry-after", "60")]), first()]).await;
    let chain = chain(&server);
    let mut conversation = Conversation::begin(&chain, "one");
    say(&mut conversation, 1).await.unwrap();
    let answer = say(&mut conversation, 2).await.unwrap();
    assert_eq!(answer.model, FIRST);
    assert!(answer.instead.unwrap().starts_with("`anthropic/second` cannot answer"));
}

#[tokio::test]
async fn when_all_quotas_are_used_up_the_run_waits_for_the_first_to_come_back() {
    let server = Server::start([quota(&[("retry-after", "7200")]), quota(&[("retry-after", "3600")])]).await;
    let error = say(&mut Conversation::begin(&chain(&server), "one"), 1).await.unwrap_err();
    let reset_after = Some(Duration::from_secs(3600));
    assert_eq!(error.failure(), FailureClass::QuotaExhausted { reset_after });
    let text = "`openai/first`: the model's service answered 429: later; \
                `anthropic/second`: the model's service answered 429: later";
    assert_eq!(error.to_string(), text);
    let down = || Reaction::Status(503, &[], "down");
    let server = Server::start([quota(&[("retry-after", "7200")]), down(), down(), down()]).await;
    let error = say(&mut Conversation::begin(&chain(&server), "one"), 1).await.unwrap_err();
    assert_eq!(error.failure(), FailureClass::Transient { retry_after: None });
}

#[tokio::test]
async fn a_list_that_cannot_work_is_told_when_it_is_made() {
    let access = ModelAccess { openai_key: Some("k".into()), ..ModelAccess::default() };
    let models = Models::new(ModelSettings::default(), access);
    let name = |name: &str| name.parse().unwrap();
    for (others, says) in [
        (vec![name("openai/b"), name("anthropic/c")], "ANTHROPIC_API_KEY"),
        (vec![name("openai/b"), name("openai/b")], "`openai/b` appears twice"),
        (vec![name("openai/a")], "`openai/a` appears twice"),
        (vec![name("cassette/nowhere.json")], "nowhere.json"),
    ] {
        let error = models.fallback_chain(&name("openai/a"), &others, None, Default::default()).err().unwrap();
        assert!(error.to_string().contains(says), "{error}");
    }
    let unpriced = models.fallback_chain(&name("openai/a"), &[], None, Default::default()).unwrap();
    assert_eq!(unpriced.unpriced(), Some("openai/a"));
}

#[tokio::test]
async fn a_conversation_is_recorded_as_a_cassette_that_only_its_owner_can_read() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("new");
    let server = Server::start([first(), first(), first()]).await;
    let models = server.models(|_| {}).recording(Some(place.clone()), KnownSecrets::default());
    let chain = models.fallback_chain(&FIRST.parse().unwrap(), &[], None, Default::default()).unwrap();
    let mut conversation = Conversation::begin(&chain, "a-1");
    let mut replies = Vec::new();
    for turn in 1..=2 {
        replies.push(say(&mut conversation, turn).await.unwrap().reply);
        let file = place.join("a-1.json");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        Cassette::load(&file).unwrap();
    }
    // Another try of the same session goes on from the turn it begins with.
    replies.push(say(&mut Conversation::begin(&chain, "a-1"), 3).await.unwrap().reply);
    let cassette: Arc<dyn ModelClient> = Arc::new(Cassette::load(&place.join("a-1.json")).unwrap());
    let player = FallbackChain::one("cassette", cassette, PriceSettings::default());
    let mut player = Conversation::begin(&player, "b");
    for (turn, reply) in (1..).zip(&replies) {
        let mut played = say(&mut player, turn).await.unwrap().reply;
        for (call, recorded) in played.calls.iter_mut().zip(&reply.calls) {
            assert_eq!(call.id.split('-').next(), Some("call"));
            call.id.clone_from(&recorded.id);
        }
        assert_eq!(played, *reply);
    }
    let names = fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(names.collect::<Vec<_>>(), ["a-1.json"]);
}

#[tokio::test]
async fn nothing_is_recorded_over_what_is_there_nor_from_the_middle_and_the_work_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start((0..5).map(|_| first())).await;
    let models = server.models(|_| {}).recording(Some(folder.path().to_owned()), KnownSecrets::default());
    let chain = models.fallback_chain(&FIRST.parse().unwrap(), &[], None, Default::default()).unwrap();
    let others = [("text", "mine"), ("foreign", r#"{"cassette":1,"note":"mine","replies":[]}"#)];
    for (name, text) in others {
        fs::write(folder.path().join(format!("{name}.json")), text).unwrap();
        say(&mut Conversation::begin(&chain, name), 1).await.unwrap();
    }
    for name in ["middle", "../up", ""] {
        say(&mut Conversation::begin(&chain, name), if name == "middle" { 2 } else { 1 }).await.unwrap();
    }
    for (name, text) in others {
        assert_eq!(fs::read_to_string(folder.path().join(format!("{name}.json"))).unwrap(), text);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

/// Attack corpus G77: a model's words about a key do not appear in a recording.
#[tokio::test]
async fn no_secret_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start([first(), first()]).await;
    let text = {
        let models = server.models(|_| {});
        let chain = models.fallback_chain(&FIRST.parse().unwrap(), &[], None, Default::default()).unwrap();
        say(&mut Conversation::begin(&chain, "a"), 1).await.unwrap().reply.text
    };
    let secrets = KnownSecrets::default();
    secrets.add([text.clone().into()]);
    let models = server.models(|_| {}).recording(Some(folder.path().to_owned()), secrets);
    let chain = models.fallback_chain(&FIRST.parse().unwrap(), &[], None, Default::default()).unwrap();
    say(&mut Conversation::begin(&chain, "b"), 1).await.unwrap();
    let recorded = fs::read_to_string(folder.path().join("b.json")).unwrap();
    assert!(!recorded.contains(&text) && recorded.contains("(redacted: a secret of Hob)"), "{recorded}");
    Cassette::load(&folder.path().join("b.json")).unwrap();
}
