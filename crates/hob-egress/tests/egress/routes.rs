//! Model routes: the key stays here, the stream passes unchanged, and its tokens are counted.

use std::{
    io::Write,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::Request,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use futures_util::{StreamExt, future::join_all};
use hob_config::PriceSettings;
use hob_egress::{Api, Auth, Budget, Egress, EgressConfig, Route, Usage};
use tokio::sync::{Semaphore, mpsc};

use crate::support::{Lines, address, ask, client, sends, serve, start};

const KEY: &str = "sk-the-real-key";
const PATH: &str = "/v1/messages";

const ANTHROPIC: &str = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":10,\
    \"cache_creation_input_tokens\":3,\"cache_read_input_tokens\":20,\"output_tokens\":1}}}\n\nevent: ping\ndata: {}\n\n\
    event: message_delta\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":42}}\n\n";
const OPENAI: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"h\u{fc}\"}}]}\r\n\r\ndata: {\"choices\":[],\"usage\":\
    {\"prompt_tokens\":7,\"completion_tokens\":5,\"prompt_tokens_details\":{\"cached_tokens\":4}}}\r\n\r\ndata: [DONE]\r\n\r\n";
const GEMINI: &str = "data: {\"usageMetadata\":{\"promptTokenCount\":9}}\n\ndata: {\"usageMetadata\":{\"promptTokenCount\":9,\
    \"candidatesTokenCount\":2,\"thoughtsTokenCount\":3,\"cachedContentTokenCount\":1}}\n\n";

/// A service that keeps what it was asked and answers `answer`.
async fn service(answer: impl Fn() -> Response + Clone + Send + Sync + 'static) -> (u16, Arc<Mutex<Vec<String>>>) {
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let kept = Arc::clone(&asked);
    let router = Router::new().fallback(move |request: Request| {
        let sensitive = request.headers().iter().map(|(name, value)| format!("{name}={}", value.to_str().unwrap()));
        let headers = sensitive.collect::<Vec<_>>().join("\n");
        kept.lock().unwrap().push(format!("{} {}\n{headers}", request.method(), request.uri()));
        let answer = answer.clone();
        async move { answer() }
    });
    (serve(router).await, asked)
}

fn events(text: &'static str) -> Response {
    // Cut within lines and characters.
    let pieces = text.as_bytes().chunks(7).map(|piece| Ok::<_, std::io::Error>(Bytes::from_static(piece)));
    let body = Body::from_stream(futures_util::stream::iter(pieces.collect::<Vec<_>>()));
    ([(header::CONTENT_TYPE, "text/event-stream; charset=utf-8")], body).into_response()
}

fn route(api: Api, name: &str, port: u16, auth: Auth) -> Route {
    Route { name: name.into(), api, upstream: format!("http://127.0.0.1:{port}").parse().unwrap(), auth }
}

async fn to(port: u16, budget: Option<Budget>) -> (Egress, Lines) {
    let routes = vec![route(Api::Anthropic, "anthropic", port, Auth::XApiKey(KEY.into()))];
    start(EgressConfig { routes, budget, ..EgressConfig::default() }).await
}

async fn post(egress: &Egress, path: &str) -> reqwest::Response {
    let url = format!("{}{path}", egress.route_url("anthropic").unwrap());
    client(None).post(url).body(r#"{"model":"claude","max_tokens":9}"#).send().await.unwrap()
}

fn price() -> PriceSettings {
    PriceSettings { input: 1.0, output: 10.0, ..PriceSettings::default() }
}

#[tokio::test]
async fn each_services_stream_passes_unchanged_and_is_counted() {
    let anthropic = Usage { input: 33, cached_input: 20, cache_write: 3, output: 42 };
    let openai = Usage { input: 7, cached_input: 4, cache_write: 0, output: 5 };
    let gemini = Usage { input: 9, cached_input: 1, cache_write: 0, output: 5 };
    let generate = "/v1beta/models/m:streamGenerateContent?alt=sse";
    for (api, name, path, auth, text, usage) in [
        (Api::Anthropic, "anthropic", PATH, Auth::XApiKey(KEY.into()), ANTHROPIC, anthropic),
        (Api::OpenAi, "openai", "/v1/chat/completions", Auth::Bearer(KEY.into()), OPENAI, openai),
        (Api::Gemini, "gemini", generate, Auth::XGoogApiKey(KEY.into()), GEMINI, gemini),
    ] {
        let (port, _) = service(move || events(text)).await;
        let routes = vec![route(api, name, port, auth)];
        let (egress, _) = start(EgressConfig { routes, ..EgressConfig::default() }).await;
        let mut changes = egress.meter().watch();
        let url = format!("{}{path}", egress.route_url(name).unwrap());
        let answer = client(None).post(url).body(r#"{"model":"m"}"#).send().await.unwrap();
        assert_eq!(answer.bytes().await.unwrap(), text);
        changes.changed().await.unwrap();
        let counted = egress.meter().read().models[&format!("{name}/m")];
        assert_eq!((counted.usage, counted.requests, counted.at_most), (usage, 1, 0), "{name}");
    }
}

#[tokio::test]
async fn an_event_arrives_before_the_next_is_made() {
    let (send, receive) = mpsc::unbounded_channel::<Result<Bytes, std::io::Error>>();
    let receive = Arc::new(Mutex::new(Some(receive)));
    let (port, _) = service(move || {
        let mut receive = receive.lock().unwrap().take().unwrap();
        let stream = futures_util::stream::poll_fn(move |context| receive.poll_recv(context));
        ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(stream)).into_response()
    })
    .await;
    let (egress, _) = to(port, None).await;
    send.send(Ok("data: one\n\n".into())).unwrap();
    let mut answer = post(&egress, PATH).await.bytes_stream();
    assert_eq!(answer.next().await.unwrap().unwrap(), "data: one\n\n");
    send.send(Ok("data: two\n\n".into())).unwrap();
    assert_eq!(answer.next().await.unwrap().unwrap(), "data: two\n\n");
    drop(send);
    assert!(answer.next().await.is_none());
    let counted = egress.meter().read().models["anthropic/claude"];
    assert_eq!((counted.requests, counted.at_most), (1, 1));
}

#[tokio::test]
async fn the_agents_sign_in_is_replaced_and_no_key_comes_back() {
    let (port, asked) = service(|| {
        let headers = [("location", "http://evil.test/"), ("set-cookie", "a=b"), ("x-echo", KEY)];
        (StatusCode::UNAUTHORIZED, headers, format!("no such key: {KEY}")).into_response()
    })
    .await;
    let (egress, lines) = to(port, None).await;
    let url = format!("{}{PATH}?beta=true&key=placeholder", egress.route_url("anthropic").unwrap());
    let mut request = client(None).post(url).header("anthropic-version", "2023-06-01");
    for name in ["authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie", "proxy-authorization"] {
        request = request.header(name, "placeholder");
    }
    let answer = request.body(r#"{"model":"claude"}"#).send().await.unwrap();
    assert_eq!(answer.status(), 401);
    let headers = format!("{:?}", answer.headers());
    assert!(!headers.contains(KEY) && !headers.contains("evil.test") && !headers.contains("set-cookie"), "{headers}");
    assert_eq!(answer.text().await.unwrap(), "no such key: ***************");
    let asked = asked.lock().unwrap().join("\n");
    assert!(asked.starts_with("POST /v1/messages?beta=true\n"), "{asked}");
    assert!(!asked.contains("placeholder") && asked.contains("2023-06-01"), "{asked}");
    assert!(asked.contains(&format!("x-api-key={KEY}")), "{asked}");
    assert!(egress.meter().read().models.is_empty(), "what is refused is not billed");
    egress.end().await;
    let told = format!("{:?}", lines.lock().unwrap());
    assert!(told.contains("route anthropic") && !told.contains(KEY) && !told.contains("messages"), "{told}");
}

#[tokio::test]
async fn a_redirect_of_the_service_is_not_followed() {
    let (port, asked) = service(|| (StatusCode::FOUND, [("location", "/v1/files")]).into_response()).await;
    let (egress, _) = to(port, None).await;
    let answer = post(&egress, PATH).await;
    assert_eq!((answer.status().as_u16(), answer.headers().get("location")), (302, None));
    assert_eq!(asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_request_that_the_budget_does_not_carry_ends_the_run() {
    let (port, asked) = service(|| events(ANTHROPIC)).await;
    // An answer costs 33 + 420, and can cost 1,024 + 9 more for what is sent and 490 for what comes back.
    let budget = Budget::new(Some(2_100), |model| (model == "anthropic/claude").then(price));
    let (egress, _) = to(port, Some(budget)).await;
    let exhausted = egress.meter().exhausted();
    for spent in [453, 906] {
        post_of(&egress, 49).await.bytes().await.unwrap();
        assert_eq!((egress.meter().read().usd_micros, exhausted.is_cancelled()), (spent, false));
    }
    let refused = post_of(&egress, 49).await;
    exhausted.cancelled().await;
    assert_eq!(refused.status(), 402);
    let refused: serde_json::Value = serde_json::from_slice(&refused.bytes().await.unwrap()).unwrap();
    assert_eq!(refused["error"]["type"], "budget_exhausted");
    let said = "Hob refuses this request: the request can cost up to $0.001547, and the run has $0.001194 left.";
    assert_eq!(refused["error"]["message"], said);
    assert_eq!(asked.lock().unwrap().len(), 2, "the third request did not reach the service");
}

const DOLLAR: u64 = 1_000_000;
/// What [`post_of`] can cost for what is sent, at most.
const SENT: u64 = 1_100;

/// Asks for at most `tokens`.
async fn post_of(egress: &Egress, tokens: u64) -> reqwest::Response {
    let url = format!("{}{PATH}", egress.route_url("anthropic").unwrap());
    client(None).post(url).body(format!(r#"{{"model":"claude","max_tokens":{tokens}}}"#)).send().await.unwrap()
}

fn a_dollar() -> Option<Budget> {
    Some(Budget::new(Some(DOLLAR), |_| Some(price())))
}

/// Attack corpus K139.
#[tokio::test]
async fn sixty_four_streams_at_once_stay_within_the_budget() {
    const ANSWER: &str = "data: {\"usage\":{\"input_tokens\":20,\"output_tokens\":5000}}\n\n";
    // The agent reads half of them, and drops the others as soon as they begin.
    for hangs_up in [false, true] {
        let (port, asked) = service(|| events(ANSWER)).await;
        let (egress, _) = to(port, a_dollar()).await;
        let answers = join_all((0..64).map(|number| {
            let egress = &egress;
            async move {
                let answer = post_of(egress, 5_000).await;
                let status = answer.status().as_u16();
                if hangs_up && number % 2 == 0 {
                    return status;
                }
                answer.bytes().await.unwrap();
                status
            }
        }))
        .await;
        let mut counts = egress.meter().watch();
        let counts = counts.wait_for(|counts| counts.reserved.requests == 0).await.unwrap().clone();
        let sent = asked.lock().unwrap().len();
        assert!(counts.usd_micros <= DOLLAR, "{counts:?}");
        assert_eq!(counts.models["anthropic/claude"].requests, sent as u64);
        assert_eq!(answers.iter().filter(|status| **status == 200).count(), sent);
        assert!(answers.iter().all(|status| [200, 402].contains(status)), "{answers:?}");
        // What is left carries no further one.
        assert!(counts.usd_micros > DOLLAR - 50_000 - SENT, "{counts:?}");
    }
}

/// A request by a client that hangs up once the service was asked; then the service answers `answer`.
async fn hung_up(answer: &'static str) -> Egress {
    let (gate, came) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let (waits, says) = (Arc::clone(&gate), Arc::clone(&came));
    let router = Router::new().fallback(move || {
        let (waits, says) = (Arc::clone(&waits), Arc::clone(&says));
        async move {
            says.add_permits(1);
            let _opened = waits.acquire().await.unwrap();
            events(answer)
        }
    });
    let port = serve(router).await;
    let (egress, _) = to(port, a_dollar()).await;
    let body = r#"{"model":"claude","max_tokens":9000}"#;
    let path = egress.route_path("anthropic").unwrap() + PATH;
    let head = format!("POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let agent = sends(&egress, &head).await;
    came.acquire().await.unwrap().forget();
    assert!(egress.meter().read().reserved.usd_micros > 90_000, "it is reserved before it is sent");
    drop(agent);
    gate.add_permits(1);
    let mut counts = egress.meter().watch();
    counts.wait_for(|counts| counts.reserved.requests == 0).await.unwrap();
    egress
}

/// Attack corpus K138.
#[tokio::test]
async fn an_answer_is_read_to_its_end_without_an_agent_that_hung_up() {
    let counted = hung_up(ANTHROPIC).await.meter().read().models["anthropic/claude"];
    assert_eq!((counted.usage.output, counted.usd_micros, counted.at_most), (42, 453, 0));
}

/// Attack corpus K136, K137, K138.
#[tokio::test]
async fn an_answer_without_usage_counts_as_the_most_of_its_request() {
    for answer in ["data: {\"usage\":null}\n\n", "data: {\"status\":\"queued\",\"usage\":null}\n\n", ""] {
        let counted = hung_up(answer).await.meter().read().models["anthropic/claude"];
        assert_eq!((counted.usage.output, counted.at_most), (9_000, 1), "{answer}");
        assert!(counted.usd_micros > 90_000);
    }
}

#[tokio::test]
async fn a_model_without_a_price_is_refused_where_there_is_a_budget() {
    let (port, asked) = service(|| events(ANTHROPIC)).await;
    let (egress, _) = to(port, Some(Budget::new(Some(500), |_| None))).await;
    let refused = post(&egress, PATH).await;
    assert_eq!(refused.status(), 403);
    assert!(refused.text().await.unwrap().contains("no price"));
    let url = format!("{}{PATH}", egress.route_url("anthropic").unwrap());
    let twice = client(None).post(url).body(r#"{"model":"a","model":"b"}"#).send().await.unwrap();
    assert_eq!(twice.status(), 400);
    assert!(asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn only_the_nonce_and_known_paths_lead_to_the_service() {
    let (port, asked) = service(|| "".into_response()).await;
    let (egress, _) = to(port, None).await;
    let host = address(&egress);
    let nonce = egress.route_path("anthropic").unwrap();
    for (path, status) in [
        ("/00000000000000000000000000000000/anthropic/v1/messages".to_owned(), 404),
        ("/anthropic/v1/messages".to_owned(), 404),
        (nonce.replace("anthropic", "openai") + "/v1/messages", 404),
        ("/".to_owned(), 404),
        (format!("{nonce}/v1/files"), 403),
        (format!("{nonce}/v1/messages/../files"), 403),
        (format!("{nonce}/v1/messages/batches"), 403),
    ] {
        let request =
            format!("POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{{}}");
        let answer = ask(&egress, &request).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{path}: {answer}");
    }
    assert!(asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_body_past_its_limit_is_refused() {
    let (port, asked) = service(|| "".into_response()).await;
    let (egress, _) = to(port, None).await;
    let url = format!("{}{PATH}", egress.route_url("anthropic").unwrap());
    let sent = client(None).post(url).body(vec![b' '; (64 << 20) + 1]).send().await;
    // Some clients see the answer, some that the server stopped reading.
    assert!(sent.is_err() || sent.is_ok_and(|answer| answer.status() == 413));
    assert!(asked.lock().unwrap().is_empty());
}

#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn no_log_has_a_key_a_path_or_a_query() {
    let kept = Kept::default();
    let writer = kept.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let guard = tracing::subscriber::set_default(subscriber);
    let (port, _) = service(|| format!("{KEY}{KEY}").into_response()).await;
    let (egress, _) = to(port, None).await;
    post(&egress, "/v1/messages?who=me").await.bytes().await.unwrap();
    ask(&egress, "GET http://evil.test/a/path?who=me HTTP/1.1\r\nhost: evil.test\r\nconnection: close\r\n\r\n").await;
    egress.end().await;
    drop(guard);
    let log = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
    let ours: String = log.lines().filter(|line| line.contains("hob_egress")).collect();
    assert!(ours.contains("evil.test") && !ours.contains("who=me") && !ours.contains("a/path"), "{ours}");
    assert!(!log.contains(KEY));
}
