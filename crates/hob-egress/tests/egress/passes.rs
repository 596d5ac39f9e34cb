//! What passes to a model's service: the requests of known command lines, as they were recorded, and no more.

use std::sync::{Arc, Mutex};

use axum::{Router, body::to_bytes, extract::Request};
use hob_egress::{Api, Auth, Egress, EgressConfig, Route};
use serde_json::{Value, json};

use crate::support::{Lines, client, serve, start};

const KEY: &str = "sk-the-real-key";

/// A request that a service got.
#[derive(Debug, Clone)]
struct Got {
    headers: Vec<String>,
    body: Value,
}

/// A route with what its service got.
async fn route(api: Api, allow: &[&str]) -> (Egress, Lines, Arc<Mutex<Vec<Got>>>) {
    let got: Arc<Mutex<Vec<Got>>> = Arc::default();
    let kept = Arc::clone(&got);
    let router = Router::new().fallback(move |request: Request| {
        let kept = Arc::clone(&kept);
        async move {
            let headers = request.headers().keys().map(ToString::to_string).collect();
            let body = to_bytes(request.into_body(), 1 << 20).await.unwrap();
            kept.lock().unwrap().push(Got { headers, body: serde_json::from_slice(&body).unwrap_or_default() });
            r#"{"usage":{"input_tokens":1,"output_tokens":1}}"#
        }
    });
    let upstream = format!("http://127.0.0.1:{}", serve(router).await).parse().unwrap();
    let routes = vec![Route { name: "model".into(), api, upstream, auth: Auth::Bearer(KEY.into()) }];
    let allow = allow.iter().map(|name| (*name).to_owned()).collect();
    let (egress, lines) = start(EgressConfig { routes, allow, ..EgressConfig::default() }).await;
    (egress, lines, got)
}

async fn send(egress: &Egress, path: &str, headers: &Value, body: &Value) -> reqwest::Response {
    let url = format!("{}{path}", egress.route_url("model").unwrap());
    let mut request = client(None).post(url).body(body.to_string());
    for (name, value) in headers.as_object().unwrap() {
        request = request.header(name, value.as_str().unwrap());
    }
    request.send().await.unwrap()
}

/// Recorded with `scripts/agents.sh`'s versions and Hob's arguments; long texts and schemas are cut.
#[tokio::test]
async fn what_the_known_command_lines_send_passes() {
    for (api, recorded) in [
        (Api::Anthropic, include_str!("recorded/claude-1.json")),
        (Api::Anthropic, include_str!("recorded/claude-2.json")),
        (Api::Anthropic, include_str!("recorded/claude-acp.json")),
        (Api::OpenAi, include_str!("recorded/codex-1.json")),
        (Api::OpenAi, include_str!("recorded/codex-2.json")),
        (Api::OpenAi, include_str!("recorded/copilot.json")),
        (Api::Gemini, include_str!("recorded/gemini.json")),
        (Api::OpenAi, include_str!("recorded/opencode.json")),
        (Api::OpenAi, include_str!("recorded/aider.json")),
        (Api::OpenAi, include_str!("recorded/pi.json")),
        (Api::OpenAi, include_str!("recorded/mini-swe-agent.json")),
    ] {
        let recorded: Value = serde_json::from_str(recorded).unwrap();
        let (egress, _, got) = route(api, &[]).await;
        let path = recorded["path"].as_str().unwrap();
        let path = if api == Api::OpenAi { path.trim_start_matches("/v1") } else { path };
        let answer = send(&egress, path, &recorded["headers"], &recorded["body"]).await;
        assert_eq!(answer.status(), 200, "{}", answer.text().await.unwrap());
        assert_eq!(got.lock().unwrap()[0].body, recorded["body"]);
    }
}

/// Attack corpus K135. Codex has the service search, unless Hob tells it not to.
#[tokio::test]
async fn a_search_by_the_service_is_refused_once_with_the_setting_that_allows_it() {
    let recorded: Value = serde_json::from_str(include_str!("recorded/codex-searches.json")).unwrap();
    let (egress, lines, got) = route(Api::OpenAi, &[]).await;
    for _ in 0..2 {
        let answer = send(&egress, "/responses", &recorded["headers"], &recorded["body"]).await;
        assert_eq!(answer.status(), 403);
        let error: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
        assert_eq!(error["error"]["type"], "not_allowed");
        let said = error["error"]["message"].as_str().unwrap();
        let says = "Hob refuses this request: `web_search` at `tools[8].type` is not among what passes to a model's service; \
            the agent's setting `allow = [\"web_search\"]` lets it pass.";
        assert_eq!(said, says);
    }
    assert!(got.lock().unwrap().is_empty());
    egress.end().await;
    assert!(lines.lock().unwrap().iter().all(|line| line.reason.contains("allow = [\"web_search\"]")));
    let (egress, _, got) = route(Api::OpenAi, &["web_search"]).await;
    assert_eq!(send(&egress, "/responses", &recorded["headers"], &recorded["body"]).await.status(), 200);
    assert_eq!(got.lock().unwrap().len(), 1);
}

/// Attack corpus K152.
#[tokio::test]
async fn only_listed_headers_reach_the_service() {
    let (egress, _, got) = route(Api::Anthropic, &["x-mine"]).await;
    let headers = json!({
        "x-http-method-override": "DELETE", "x-original-url": "/v1/files", "x-forwarded-host": "evil.example",
        "openai-organization": "org-1", "openai-project": "p", "forwarded": "for=1", "cookie": "a=b", "x-mine": "1",
        "authorization": "placeholder", "anthropic-version": "2023-06-01", "content-type": "text/plain",
    });
    let body = json!({ "model": "claude", "max_tokens": 1 });
    assert_eq!(send(&egress, "/v1/messages", &headers, &body).await.status(), 200);
    let mut names = got.lock().unwrap()[0].headers.clone();
    names.sort();
    let listed = [
        "accept",
        "accept-encoding",
        "anthropic-version",
        "authorization",
        "content-length",
        "content-type",
        "host",
        "x-mine",
    ];
    assert_eq!(names, listed);
    let beta = json!({ "anthropic-beta": "mcp-client-2025-04-04" });
    let answer = send(&egress, "/v1/messages", &beta, &body).await;
    assert_eq!(answer.status(), 403);
    assert!(answer.text().await.unwrap().contains("`mcp-client-2025-04-04` at `anthropic-beta`"));
}
