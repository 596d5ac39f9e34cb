//! Measures what a step of the native agent costs beside the model:
//! `cargo run --release -p hob-bench --example native_steps -- 1000`. With `1000 fence target/release/hob` its commands
//! run in a fence, which that program makes; otherwise without a sandbox.
//!
//! A scripted server on this machine answers each request with one short shell command, so the figures show the whole loop:
//! the request, the stream, the rules, the shell, and the server itself. Prints, asserts nothing.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program for engineers, which prints and stops at the first error"
)]

use std::{
    collections::HashMap,
    fs,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use hob_agent::{AgentParts, Registry, RunContext};
use hob_config::{AgentSettings, ModelAccess, ModelSettings, Settings};
use hob_domain::RunRequest;
use hob_process::Environment;
use hob_sandbox::{Sandbox, Tier};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    sync::mpsc,
};
use tokio_util::sync::CancellationToken;

/// One request as the server saw it.
struct Seen {
    at: Instant,
    bytes: usize,
    cpu: Duration,
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let began = Instant::now();
    let steps: u32 = std::env::args().nth(1).map_or(1_000, |text| text.parse().unwrap());
    let sandbox = sandbox();
    let tier = sandbox.tier();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
    tokio::spawn(serve(listener, steps, Arc::clone(&seen)));

    let folder = tempfile::tempdir().unwrap();
    let settings = AgentSettings { max_iterations: Some(steps + 1), max_tokens: u64::MAX, ..AgentSettings::default() };
    let model = ModelSettings { default: Some("openai/scripted".into()), ..ModelSettings::default() };
    let access = ModelAccess { openai_base_url: Some(base), ..ModelAccess::default() };
    let agents = [("bench".to_owned(), settings)].into();
    let agent =
        Registry::new(AgentParts { agents, model, access, ..AgentParts::default() }).unwrap().get("bench").unwrap();
    let made = began.elapsed();
    let request = RunRequest {
        purpose: hob_domain::RunPurpose::Work,
        run: "bench".into(),
        session: "bench".into(),
        repo: "acme/site".parse().unwrap(),
        issue: 1.into(),
        title: "Measure".into(),
        body: String::new(),
        brief: "Run the commands that come to your mind, one at a time, and then end.".into(),
        folder: folder.path().to_owned(),
        checks: vec!["sh test.sh".into()],
        time: Duration::from_secs(3_600),
        time_setting: "limits.attempt_time",
        usd_micros: None,
        tokens: None,
        approved: Vec::new(),
        investigation: None,
        hand_off_to: Vec::new(),
        images: Vec::new(),
        strain: hob_domain::Strain::Usual,
        checks_took: Default::default(),
        candidate: 0,
    };
    let (progress, mut lines) = mpsc::channel(64);
    tokio::spawn(async move { while lines.recv().await.is_some() {} });
    let environment = Environment::from([("PATH".into(), "/usr/bin:/bin".into())]);
    let context = RunContext::new(CancellationToken::new(), progress, environment, sandbox);
    let report = agent.run(&request, &context).await.unwrap();

    let seen = seen.lock().unwrap();
    println!("tier {tier}: {:?}", report.outcome);
    let first = (seen[0].at - began).as_secs_f64() * 1e3;
    println!("start to first request: {first:.1} ms, of these {:.1} until the agent is made", made.as_secs_f64() * 1e3);
    println!("{:>6} {:>10} {:>10} {:>12} {:>12}", "step", "median ms", "p95 ms", "CPU ms/step", "request bytes");
    for end in [10, 100, 200, 500, 1_000].into_iter().filter(|end| *end < seen.len()) {
        let window = &seen[end.saturating_sub(100).min(end - 10)..=end];
        let mut walls: Vec<f64> = window.windows(2).map(|pair| (pair[1].at - pair[0].at).as_secs_f64() * 1e3).collect();
        walls.sort_by(f64::total_cmp);
        let cpu = (window[window.len() - 1].cpu - window[0].cpu).as_secs_f64() * 1e3 / walls.len() as f64;
        let p95 = walls[walls.len() * 95 / 100];
        println!("{end:>6} {:>10.2} {p95:>10.2} {cpu:>12.2} {:>12}", walls[walls.len() / 2], seen[end - 1].bytes);
    }
    let largest = seen.iter().map(|seen| seen.bytes).max().unwrap();
    println!("first request: {} bytes, largest: {largest} bytes", seen[0].bytes);
    let status = fs::read_to_string("/proc/self/status").unwrap();
    for line in status.lines().filter(|line| line.starts_with("VmHWM") || line.starts_with("VmRSS")) {
        println!("{line}");
    }
}

/// The sandbox that the arguments name.
fn sandbox() -> Sandbox {
    let mut arguments = std::env::args().skip(2);
    let Some(name) = arguments.next() else { return Sandbox::none() };
    let tier = Tier::named(&name).unwrap_or_else(|| panic!("no tier `{name}`"));
    if tier == Tier::None {
        return Sandbox::none();
    }
    let launcher = arguments.next().unwrap_or_else(|| "target/release/hob".to_owned());
    Sandbox::new(
        tier,
        fs::canonicalize(launcher).unwrap(),
        Settings::load(None, HashMap::new(), &[]).unwrap().sandbox.limits(),
    )
}

/// Processor time of all threads that live.
fn cpu() -> Duration {
    let threads = fs::read_dir("/proc/self/task").unwrap();
    let nanos = threads.filter_map(|thread| {
        let text = fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(nanos.sum())
}

async fn serve(listener: TcpListener, steps: u32, seen: Arc<Mutex<Vec<Seen>>>) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(connection(stream, steps, Arc::clone(&seen)));
    }
}

async fn connection(stream: TcpStream, steps: u32, seen: Arc<Mutex<Vec<Seen>>>) {
    stream.set_nodelay(true).unwrap();
    let mut stream = BufReader::new(stream);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).await.unwrap_or(0) == 0 {
                return;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await.unwrap();
        let step = {
            let mut seen = seen.lock().unwrap();
            seen.push(Seen { at: Instant::now(), bytes: length, cpu: cpu() });
            u32::try_from(seen.len()).unwrap()
        };
        let (name, arguments) = match step > steps {
            true => ("done", r#"{\"summary\":\"measured\"}"#.to_owned()),
            false => ("shell", format!(r#"{{\"command\":\"echo step {step}\"}}"#)),
        };
        let events = format!(
            "data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{{\"index\":0,\"id\":\"call_{step:06}\",\"function\":\
             {{\"name\":\"{name}\",\"arguments\":\"{arguments}\"}}}}]}},\"finish_reason\":\"tool_calls\"}}]}}\n\n\
             data: {{\"choices\":[],\"usage\":{{\"prompt_tokens\":{},\"completion_tokens\":12}}}}\n\ndata: [DONE]\n\n",
            length / 4
        );
        let answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n{events}",
            events.len()
        );
        if stream.get_mut().write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}
