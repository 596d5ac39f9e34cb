//! The metrics of a run, as a collector reads them: over HTTP and in a file.

use std::{net::SocketAddr, path::Path};

use hob_process::{Exit, Program};
use rustix::process::Signal;
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use crate::harness::{LISTEN_TOKEN, World, answer, get, needs, serves};

#[tokio::test]
async fn a_run_serves_its_metrics_to_this_machine() {
    let world = World::fixing().start().await;
    let mut hob = world.starts_hob(&["run", "--listen", "0"]).await;
    let at = serves(&mut hob).await;
    assert!(at.ip().is_loopback());
    let plain = get(at, "/metrics", "").await;
    assert!(plain.starts_with("HTTP/1.1 200 OK\r\n"), "{plain}");
    assert!(plain.contains("\r\ncontent-type: text/plain; version=0.0.4; charset=utf-8\r\n"), "{plain}");
    assert!(plain.contains("\n# TYPE hob_failures_total counter\nhob_failures_total 0\n"), "{plain}");
    assert!(!plain.to_lowercase().contains("access-control-"), "{plain}");
    let open = get(at, "/metrics", "Accept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5\n").await;
    assert!(
        open.contains("\r\ncontent-type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n"),
        "{open}"
    );
    assert!(open.ends_with("# EOF\n"), "{open}");
    for (request, status) in [
        (format!("GET /healthz HTTP/1.1\nHost: {at}\n\n"), "200"),
        (format!("HEAD /metrics HTTP/1.1\nHost: {at}\n\n"), "200"),
        (format!("GET /nothing HTTP/1.1\nHost: {at}\n\n"), "404"),
        (format!("POST /metrics HTTP/1.1\nHost: {at}\nContent-Length: 3\n\nabc"), "405"),
        (format!("OPTIONS /metrics HTTP/1.1\nHost: {at}\n\n"), "405"),
        ("GET /metrics HTTP/1.1\nHost: evil.example\n\n".to_owned(), "403"),
        (format!("GET /metrics HTTP/1.1\nHost: {at}\n{}\n", "X: y\n".repeat(65)), "431"),
        (format!("GET /{} HTTP/1.1\nHost: {at}\n\n", "x".repeat(17 << 10)), "431"),
        ("nonsense\n\n".to_owned(), "400"),
    ] {
        let answer = answer(at, &request).await;
        let end = answer.split(' ').nth(1).unwrap_or_default();
        assert_eq!(end, status, "{}: {answer}", &request[..request.len().min(80)]);
    }
    let ended = hob.ends_by(Signal::TERM).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(TcpStream::connect(at).await.is_err());
    world.finish().await;
}

#[tokio::test]
async fn a_token_is_asked_for_where_there_is_one() {
    let world = World::fixing().start().await;
    let file = world.dir().join("token");
    std::fs::write(&file, format!("{LISTEN_TOKEN}\n")).unwrap();
    let variable = [("HOB_LISTEN_TOKEN_FILE", file.to_str().unwrap())];
    let mut hob = world.starts_hob_with(&["run", "--listen", "0.0.0.0:0"], &variable).await;
    let mut at = serves(&mut hob).await;
    at.set_ip([127, 0, 0, 1].into());
    let refused = get(at, "/metrics", "").await;
    assert!(refused.starts_with("HTTP/1.1 401 ") && refused.contains("\r\nwww-authenticate: Bearer\r\n"), "{refused}");
    assert!(!refused.contains("hob_"), "{refused}");
    assert!(get(at, "/metrics", "Authorization: Bearer wrong\n").await.starts_with("HTTP/1.1 401 "));
    let given = get(at, "/metrics", &format!("Authorization: Bearer {LISTEN_TOKEN}\n")).await;
    assert!(given.starts_with("HTTP/1.1 200 ") && given.contains("\nhob_failures_total 0\n"), "{given}");
    hob.ends_by(Signal::TERM).await;
    world.finish().await;
}

#[tokio::test]
async fn an_address_that_cannot_be_served_is_told_before_any_work() {
    let world = World::fixing().start().await;
    let holder = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (taken, before) = (holder.local_addr().unwrap().to_string(), world.forge.requests().len());
    for (address, says) in [
        (
            "0.0.0.0:0",
            "`--listen 0.0.0.0:0` is open to other machines and needs a token: set HOB_LISTEN_TOKEN or HOB_LISTEN_TOKEN_FILE",
        ),
        (&taken, "cannot listen on `127.0.0.1:"),
        ("example.org:80", "write a port, or an IP address and a port such as `127.0.0.1:4620`"),
    ] {
        let ended = world.hob(&["run", "--once", "--listen", address]).await;
        assert_eq!(ended.code, 2, "{ended:?}");
        assert!(ended.stderr.contains(says), "{ended:?}");
    }
    assert_eq!(world.forge.requests().len(), before);
    world.finish().await;
}

/// The text that a run over what is ready writes to its file.
async fn metrics_of_a_run(world: &World) -> String {
    let ended = world.hob(&["run", "--once", "--metrics", "hob.prom"]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    std::fs::read_to_string(world.dir().join("hob.prom")).unwrap()
}

/// The value of the series that begins so.
fn value(text: &str, series: &str) -> Option<f64> {
    text.lines().find_map(|line| line.strip_prefix(series)?.trim().parse().ok())
}

/// Each process counts the steps that it writes: one opened the pull request, another one saw its merge.
#[tokio::test]
async fn what_became_of_an_issue_is_counted_by_the_process_that_wrote_it() {
    let world = World::fixing().start().await;
    world.asks("Make done.txt", "").await;
    let worked = metrics_of_a_run(&world).await;
    for (series, number) in [
        (r#"hob_attempts_total{repository="acme/site",end="published"}"#, 1.0),
        (r#"hob_attempts_total{repository="acme/site",end="blocked"}"#, 0.0),
        (r#"hob_claim_wait_seconds_count{repository="acme/site"}"#, 1.0),
        (r#"hob_pull_request_wait_seconds_count{repository="acme/site"}"#, 1.0),
        (r#"hob_pull_requests_total{repository="acme/site",end="merged"}"#, 0.0),
        (r#"hob_agent_run_seconds_count{agent="fixer",end="done"}"#, 1.0),
        (r#"hob_issues{repository="acme/site",state="ready"}"#, 1.0),
        (r#"hob_jobs{kind="limit"}"#, 1.0),
        (r#"hob_build_info{version="0.1.0"}"#, 1.0),
    ] {
        assert_eq!(value(&worked, series), Some(number), "{series}\n{worked}");
    }
    for (series, least) in [
        (r#"hob_forge_requests_total{kind="read",code="2xx"}"#, 5.0),
        (r#"hob_forge_requests_total{kind="write",code="2xx"}"#, 3.0),
        (r#"hob_forge_quota_remaining{resource="core"}"#, 1.0),
        (r#"hob_last_poll_timestamp_seconds{repository="acme/site"}"#, 1.7e9),
        (r#"hob_budget_usd{repository="acme/site",scope="day",kind="limit"}"#, 1.0),
    ] {
        assert!(value(&worked, series).is_some_and(|value| value >= least), "{series}\n{worked}");
    }
    assert!(!worked.contains("\nprocess_"), "a node exporter has these of its own");
    world.merges(world.pull().await["number"].as_u64().unwrap()).await;
    let merged = metrics_of_a_run(&world).await;
    assert_eq!(
        value(&merged, r#"hob_pull_requests_total{repository="acme/site",end="merged"}"#),
        Some(1.0),
        "{merged}"
    );
    assert_eq!(value(&merged, r#"hob_pull_request_merge_seconds_count{repository="acme/site"}"#), Some(1.0));
    assert_eq!(value(&merged, r#"hob_attempts_total{repository="acme/site",end="published"}"#), Some(0.0));
    world.finish().await;
}

/// Runs `promtool` with this input, and fails with what it says if it does.
async fn promtool(args: &[&str], input: &str) {
    let program = Program::of_hob("promtool", &hob_config::child_environment()).args(args).stdin(input);
    let finished = program.run(&CancellationToken::new()).await.unwrap();
    let (said, complained) = (finished.stdout.text(), finished.stderr.text());
    assert_eq!((finished.exit, complained.as_str()), (Exit::Code(0), ""), "{said}");
}

fn rules() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("config/prometheus-rules.yml").display().to_string()
}

#[tokio::test]
async fn prometheus_own_linter_has_nothing_to_say() {
    needs!("promtool");
    let world = World::fixing().start().await;
    world.asks("Make done.txt", "").await;
    let mut hob = world.starts_hob(&["run", "--listen", "0"]).await;
    let answer = get(serves(&mut hob).await, "/metrics", "").await;
    hob.ends_by(Signal::TERM).await;
    promtool(&["check", "metrics"], answer.split("\r\n\r\n").nth(1).unwrap()).await;
    promtool(&["check", "rules", &rules()], "").await;
    world.finish_after_faults().await;
}

/// Series that change at a minute, and the alert that has to fire then, and not before.
const ALERTS: &str = r#"
rule_files: ["RULES"]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - {series: 'hob_last_poll_timestamp_seconds{repository="o/n"}', values: '0+60x4 240x20'}
    alert_rule_test:
      - {eval_time: 14m, alertname: HobNoGoodPoll}
      - eval_time: 15m
        alertname: HobNoGoodPoll
        exp_alerts:
          - exp_labels: {repository: o/n, severity: critical}
            exp_annotations:
              summary: "o/n: no good poll for 11m 0s"
              description: Is the process alive? Its log says why polls fail; `hob doctor` says what to fix.
  - interval: 1m
    input_series:
      - {series: 'hob_last_poll_timestamp_seconds{repository="o/n"}', values: '0 60 _x30'}
    alert_rule_test:
      - eval_time: 20m
        alertname: HobNoGoodPoll
        exp_alerts:
          - exp_labels: {repository: o/n, severity: critical}
            exp_annotations:
              summary: "o/n: no good poll for 19m 0s"
              description: Is the process alive? Its log says why polls fail; `hob doctor` says what to fix.
  - interval: 1m
    input_series:
      - {series: 'hob_oldest_issue_age_seconds{repository="o/n", state="blocked"}', values: '172740+60x5'}
      - {series: 'hob_oldest_issue_age_seconds{repository="o/n", state="in-review"}', values: '999999x5'}
    alert_rule_test:
      - {eval_time: 1m, alertname: HobIssueBlocked}
      - eval_time: 2m
        alertname: HobIssueBlocked
        exp_alerts:
          - exp_labels: {repository: o/n, severity: warning}
            exp_annotations:
              summary: "o/n: an issue has waited for a person for 2d 0h 1m 0s"
              description: "`hob status --state blocked` lists the questions."
  - interval: 1m
    input_series:
      - {series: 'hob_lease_age_seconds_max{repository="o/n"}', values: '0 840 900 960'}
    alert_rule_test:
      - {eval_time: 2m, alertname: HobLeaseNotRenewed}
      - eval_time: 3m
        alertname: HobLeaseNotRenewed
        exp_alerts:
          - exp_labels: {repository: o/n, severity: warning}
            exp_annotations:
              summary: "o/n: a lease was not renewed for 16m 0s, and no worker took it over"
              description: "`hob status` says which worker holds it; `hob explain ISSUE` says why it is not taken over."
  - interval: 1m
    input_series:
      - {series: 'hob_forge_quota_remaining{resource="core"}', values: '5000 199x10'}
      - {series: 'hob_forge_quota_remaining{resource="search"}', values: '3x11'}
    alert_rule_test:
      - {eval_time: 5m, alertname: HobQuotaLow}
      - eval_time: 6m
        alertname: HobQuotaLow
        exp_alerts:
          - exp_labels: {resource: core, severity: warning}
            exp_annotations:
              summary: "199 calls are left of the forge's quota `core`"
              description: At 0 Hob waits until the quota resets. Other programs may use the same account.
  - interval: 1m
    input_series:
      - {series: 'hob_budget_usd{repository="o/n", scope="day", kind="limit"}', values: '50x5'}
      - {series: 'hob_budget_usd{repository="o/n", scope="day", kind="spent"}', values: '41x5'}
      - {series: 'hob_budget_usd{repository="o/n", scope="day", kind="reserved"}', values: '4 4 5 5 5'}
      - {series: 'hob_budget_usd{repository="o/n", scope="issue", kind="spent"}', values: '99x5'}
    alert_rule_test:
      - {eval_time: 1m, alertname: HobDayBudgetLow}
      - eval_time: 2m
        alertname: HobDayBudgetLow
        exp_alerts:
          - exp_labels: {repository: o/n, severity: warning}
            exp_annotations:
              summary: "o/n: $46 of the day's budget are spent or reserved"
              description: "At the limit no attempt begins until the next day: raise `budget.day`, or find out what costs so much: `hob outcomes`."
"#;

#[tokio::test]
async fn each_alert_fires_on_its_trouble_and_not_before() {
    needs!("promtool");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("alerts.yml");
    std::fs::write(&file, ALERTS.replace("RULES", &rules())).unwrap();
    promtool(&["test", "rules", file.to_str().unwrap()], "").await;
}

/// A delivery to the listener, with this signature or the right one; the status of the answer.
async fn delivered(at: SocketAddr, id: &str, body: &str, signature: Option<&str>) -> String {
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, LISTEN_TOKEN.as_bytes());
    let tag = ring::hmac::sign(&key, body.as_bytes());
    let right: String = tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let signature = signature.unwrap_or(&right);
    let request = format!(
        "POST /webhook HTTP/1.1\nHost: hob.example\nContent-Type: application/json\nX-GitHub-Event: issues\n\
         X-GitHub-Delivery: {id}\nX-Hub-Signature-256: sha256={signature}\nContent-Length: {}\n\n{body}",
        body.len()
    );
    answer(at, &request).await.split(' ').nth(1).unwrap_or_default().to_owned()
}

#[tokio::test]
async fn a_webhook_lets_a_run_poll_at_once() {
    let world = World::fixing().set("poll.interval", "1h").start().await;
    let first = world.asks("Make done.txt", "").await;
    let token = [("HOB_LISTEN_TOKEN", LISTEN_TOKEN)];
    let mut hob = world.starts_hob_with(&["run", "--listen", "0"], &token).await;
    let at = serves(&mut hob).await;
    let reviewed = |issue: u64| {
        let world = &world;
        let look = async move {
            while world.labels(issue).await != ["code", "in-review"] {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(60), look)
    };
    // The first poll is made; by the clock, the next one is in an hour.
    reviewed(first).await.unwrap();
    let second = world.asks("Make done.txt", "").await;
    let body = r#"{"action":"labeled","repository":{"full_name":"Acme/site"},"sender":{"login":"ann"}}"#;
    assert_eq!(delivered(at, "1", body, Some(&"0".repeat(64))).await, "401");
    assert_eq!(delivered(at, "1", &format!("{body}{}", " ".repeat(2 << 20)), None).await, "413");
    assert_eq!(delivered(at, "1", body, None).await, "202");
    reviewed(second).await.unwrap();
    assert_eq!(delivered(at, "1", body, None).await, "200", "once");
    assert!(get(at, "/webhook", "").await.starts_with("HTTP/1.1 405 "));
    assert_eq!(hob.ends_by(Signal::TERM).await.code, 0);

    let mut unsigned = world.starts_hob(&["run", "--listen", "0"]).await;
    let at = serves(&mut unsigned).await;
    assert_eq!(delivered(at, "2", body, None).await, "403");
    assert_eq!(unsigned.ends_by(Signal::TERM).await.code, 0);
    world.finish().await;
}
