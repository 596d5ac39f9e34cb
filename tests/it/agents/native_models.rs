//! The native agent with several models, and with a recording: progress, and bills.

use hob_bench::{Fault, INPUT_TOKENS, Running, Script, Times, serve};
use hob_config::{ModelAccess, ModelSettings, PriceSettings};

use super::*;

/// Settings with a first model at `first`, and another at `second`.
fn parts(first: &Running, second: &Running) -> AgentParts {
    let price = |input| PriceSettings { input, ..PriceSettings::default() };
    let model = ModelSettings {
        default: Some("openai/first".into()),
        fallback: vec!["anthropic/second".into()],
        retries: 1,
        backoff: Duration::ZERO,
        prices: [("openai/first".into(), price(1.0)), ("anthropic/second".into(), price(3.0))].into(),
        ..ModelSettings::default()
    };
    let access = ModelAccess {
        openai_base_url: Some(format!("{}/v1", first.address())),
        anthropic_base_url: Some(second.address().to_owned()),
        ..ModelAccess::default()
    };
    AgentParts { model, access, ..AgentParts::default() }
}

fn native(parts: AgentParts) -> Arc<dyn AgentBackend> {
    Registry::new(parts).unwrap().get("native").unwrap()
}

#[tokio::test]
async fn a_run_whose_model_goes_away_ends_with_the_next_one_and_says_so() {
    let mut bench = Bench::new(&[]);
    let first = Script::new(["echo one > one"]).fault(1, Fault::ServerError, Times::Always);
    let first = serve(first, |_| {}).await.unwrap();
    let second = serve(Script::new(["echo two > two"]), |_| {}).await.unwrap();
    let (report, replies) = bench.run_heard(&native(parts(&first, &second))).await;
    assert!(matches!(report.outcome, Outcome::Done { .. }), "{report:?}");
    assert_eq!((bench.read("one").trim(), bench.read("two").trim()), ("one", "two"));
    // One reply of the first model, two of the second.
    assert_eq!(report.spend.usd_micros, INPUT_TOKENS + 2 * 3 * INPUT_TOKENS);
    let said = bench.said();
    let switches: Vec<_> = said.iter().filter(|line| line.contains("answers now")).collect();
    let says =
        "turn 2/250: `anthropic/second` answers now: `openai/first` cannot answer: the model's service answered 500";
    assert!(switches.len() == 1 && switches[0].starts_with(says), "{said:?}");
    let models: Vec<_> = replies.iter().map(|(model, _)| model.as_str()).collect();
    assert_eq!(models, ["openai/first", "anthropic/second", "anthropic/second"]);
}

/// Row M5: a profile whose model does not answer continues with the agent's own.
#[tokio::test]
async fn a_profile_whose_model_is_unreachable_goes_on_with_the_agents_own() {
    let mut bench = Bench::new(&[]);
    let first = Script::new([""; 0]).fault(0, Fault::ServerError, Times::Always);
    let (first, second) =
        (serve(first, |_| {}).await.unwrap(), serve(Script::new(["echo two > two"]), |_| {}).await.unwrap());
    let mut parts = parts(&first, &second);
    (parts.model.default, parts.model.fallback) = (Some("anthropic/second".into()), Vec::new());
    let text = "---\nname: docs\ndescription: Documentation\nmodel: openai/first\n---\nWrite.\n";
    let profile = hob_domain::parse_profile("docs.md", text.as_bytes()).profile.unwrap();
    let source = hob_domain::ProfileSource::Settings;
    let narrowed = Registry::new(parts).unwrap().narrowed("native", &profile, source, &[]).unwrap();
    let report = bench.run(&narrowed.agent).await;
    assert!(matches!(report.outcome, Outcome::Done { .. }), "{report:?}");
    assert_eq!(bench.read("two").trim(), "two");
    let says = "`anthropic/second` answers now: `openai/first` cannot answer";
    assert!(bench.said().iter().any(|line| line.contains(says)));
}

#[tokio::test]
async fn a_run_without_any_quota_left_is_a_pause_until_the_first_comes_back() {
    let bench = Bench::new(&[]);
    let quota = Fault::Quota(Duration::from_secs(3_600));
    let server = serve(Script::new([""; 0]).fault(0, quota, Times::Always), |_| {}).await.unwrap();
    let mut parts = parts(&server, &server);
    (parts.model.default, parts.model.fallback) = (Some("anthropic/a".into()), vec!["anthropic/b".into()]);
    let report = bench.run(&native(parts)).await;
    let (reason, class) = failure(&report.outcome);
    let reset_after = Some(Duration::from_secs(3_600));
    assert_eq!(class, &hob_domain::FailureClass::QuotaExhausted { reset_after }, "{reason}");
}

#[tokio::test]
async fn a_budget_needs_the_price_of_each_model_of_the_list() {
    let mut bench = Bench::new(&[]);
    bench.request.usd_micros = Some(1_000_000);
    let server = serve(Script::new([""; 0]), |_| {}).await.unwrap();
    let mut parts = parts(&server, &server);
    parts.access.anthropic_base_url = Some("http://service.example".into());
    parts.access.anthropic_key = Some("key".into());
    parts.model.fallback.push("anthropic/third".into());
    let error = native(parts).run(&bench.request, &bench.context).await.unwrap_err();
    assert!(error.reason.contains("the price of `anthropic/third` is not known"), "{error}");
    assert_eq!(server.seen().len(), 0);
}

#[test]
fn an_agent_with_a_model_of_its_own_has_a_list_of_its_own() {
    let said = |agent: &str| {
        let settings = format!("[model]\ndefault = 'openai/a'\nfallback = ['cassette/shared']\n[agents.x]\n{agent}");
        let access = ModelAccess { openai_key: Some("key".into()), ..ModelAccess::default() };
        let mut parts = AgentParts { access, ..AgentParts::default() };
        let toml: toml::Table = toml::from_str(&settings).unwrap();
        parts.model = toml["model"].clone().try_into().unwrap();
        parts.agents = toml["agents"].clone().try_into().unwrap();
        Registry::new(parts).unwrap().get("x").err().map(|error| error.reason)
    };
    assert!(said("").unwrap().contains("cassette `shared`"));
    assert!(said("fallback = ['cassette/own']").unwrap().contains("cassette `own`"));
    assert_eq!(said("model = 'openai/b'"), None);
    assert!(said("model = 'openai/b'\nfallback = ['gpt']").unwrap().contains("`gpt` does not name a model"));
}

#[test]
fn what_a_native_agent_is_allowed_is_known_and_has_an_effect() {
    let agent = |agent: &str| {
        let access = ModelAccess { openai_key: Some("key".into()), ..ModelAccess::default() };
        let mut parts = AgentParts { access, ..AgentParts::default() };
        parts.agents = toml::from_str::<toml::Table>(&format!("[x]\n{agent}")).unwrap().try_into().unwrap();
        let price = hob_config::PriceSettings { input: 1.0, output: 2.0, ..Default::default() };
        parts.model.prices.insert("openai/mine".into(), price);
        Registry::new(parts).unwrap().get("x")
    };
    // A price says nothing of the window.
    for (agent_of, told) in [("model = 'openai/mine'", 1), ("model = 'openai/mine'\ncontext_tokens = 9000", 0)] {
        let notices = agent(agent_of).unwrap().notices();
        assert_eq!(
            notices.iter().filter(|notice| notice.contains("counts as 128,000 tokens")).count(),
            told,
            "{notices:?}"
        );
    }
    let error = agent("model = 'openai/gpt-6-sol'\nallow = ['turbo']").err().unwrap().reason;
    assert_eq!(error, "agent `x`: `allow = [\"turbo\"]` has no meaning for a native agent; `flex` has");
    for (model, told) in [("gpt-6-sol", 0), ("gpt-4o", 1)] {
        let notices = agent(&format!("model = 'openai/{model}'\nallow = ['flex']")).unwrap().notices();
        assert_eq!(notices.iter().filter(|notice| notice.contains("has no slow tier")).count(), told, "{notices:?}");
    }
}
