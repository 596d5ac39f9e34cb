//! A day of Hob in simulated time:
//! `cargo build --release --features jemalloc --bin hob && cargo run --release -p hob-bench --example soak`.
//!
//! Issues arrive over many repositories, people merge the pull requests, and one real `hob run` process works on all of
//! them. The embedded forge runs in this process, so that the worker's memory can be measured alone. At the end every
//! issue must be closed by its one pull request, with at most 25 counted reads per issue, and the worker's memory must
//! be as it was after a quarter of the day, when its cache is full. Over one repository it must also poll at least
//! every 10 s of real time, keep no more checkouts on the disk than the settings allow, and use no more disk space than
//! after that quarter.
//! Arguments: the program, the number of issues (5000), the number of repositories (50), of files in each (2), and the
//! minutes after which it gives up (60). Exits with 1 on a failure.
//!
//! One repository of a typical project's size: `… --example soak target/release/hob 500 1 1500 40`.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program for engineers, which prints and stops at the first error"
)]

use std::{
    collections::{BTreeMap, BTreeSet},
    os::unix::fs::MetadataExt,
    process::{ExitCode, Stdio},
    time::{Duration, Instant},
};

use futures_util::{StreamExt, stream};
use github_emulator::{Options, RepoName, Running, serve};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, ChildStdout},
};

/// The simulated day.
const DAY: Duration = Duration::from_secs(86_400);
/// The step of the clock: less than a lease, so that no lease expires.
const STEP: Duration = Duration::from_secs(120);
/// The interval of looks at the forge while the worker works.
const LOOK: Duration = Duration::from_millis(100);
/// The longest real time that one step's issues may take.
const PATIENCE: Duration = Duration::from_secs(300);
/// Real time without a merge after which the clock is advanced: an attempt that failed in a way that may pass waits for it.
const STALLED: Duration = Duration::from_secs(15);
/// Requests of people at one time.
const PEOPLE: usize = 4;
/// Reads that count, for each issue: its merge and its end included, and its part of all polls.
const READS: f64 = 25.0;
/// The hour after which memory may hardly grow any more: the cache of answers is full.
const SETTLED: usize = 6;
/// Memory may grow by this much from then to the end.
const GROWTH_PERCENT: u64 = 10;
/// The allowed growth of the disk space since that quarter, as a factor: the number of checkouts depends on the hour,
/// and a mirror grows between two times of packing it.
const DISK_TIMES: u64 = 2;
/// The longest real time between two polls of one repository.
const POLL_GAP: Duration = Duration::from_secs(10);
/// Issues worked on at a time.
const JOBS: usize = 2;
/// Checkouts that may lie on the disk for each repository: `workspace.checkouts`, and those in use.
const CHECKOUTS: usize = 20 + JOBS;

/// The forge and the people on it.
struct Site {
    forge: Running,
    client: reqwest::Client,
    repos: Vec<RepoName>,
}

impl Site {
    async fn start(repos: usize, files: usize) -> Self {
        let users = ["hob:token-of-hob:write", "ann:token-of-ann:admin"].map(|user| user.parse().unwrap()).into();
        let options = Options { users, rate_limit: Some(u32::MAX), ..Options::default() };
        let forge = serve(options).await.unwrap();
        let repos: Vec<RepoName> = (0..repos).map(|n| format!("acme/site{n}").parse().unwrap()).collect();
        let checks = b"checks = [\"test -f README.md\"]\n";
        let more: Vec<String> = (2..files).map(|n| format!("src/{}/{n}.txt", n / 100)).collect();
        let mut content: Vec<(&str, &[u8], bool)> =
            vec![("README.md", b"# Site\n", false), (".github/hob.toml", checks, false)];
        content.extend(more.iter().map(|path| (path.as_str(), path.as_bytes(), false)));
        for repo in &repos {
            forge.create_repository(repo, &content).unwrap();
        }
        let site = Self { forge, client: reqwest::Client::new(), repos };
        for repo in &site.repos {
            site.call(reqwest::Method::POST, repo, "/labels", json!({"name": "code", "color": "5319e7"})).await;
        }
        site
    }

    /// A call of ann's.
    async fn call(&self, method: reqwest::Method, repo: &RepoName, path: &str, body: Value) -> Value {
        let request = self.client.request(method, format!("{}/repos/{repo}{path}", self.forge.api_url()));
        let request = request.header("authorization", "Bearer token-of-ann").body(body.to_string());
        let answer = request.send().await.unwrap();
        let (status, text) = (answer.status(), answer.text().await.unwrap());
        assert!(status.is_success(), "{repo}{path}: {status} {text}");
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Opens the issues of one step, in the repositories by turns.
    async fn opens(&self, numbers: std::ops::Range<usize>) {
        let opened = stream::iter(numbers).map(async |n| {
            let issue = json!({"title": format!("Piece of work {n}"), "body": "Do it.", "labels": ["code"]});
            self.call(reqwest::Method::POST, &self.repos[n % self.repos.len()], "/issues", issue).await
        });
        opened.buffer_unordered(PEOPLE).for_each(async |_| {}).await;
    }

    /// Merges what is open; how many.
    async fn merges(&self) -> usize {
        let mut merged = 0;
        for repo in &self.repos {
            let open = self.call(reqwest::Method::GET, repo, "/pulls?per_page=100", Value::Null).await;
            for pull in open.as_array().into_iter().flatten() {
                let path = format!("/pulls/{}/merge", pull["number"]);
                self.call(reqwest::Method::PUT, repo, &path, json!({})).await;
                merged += 1;
            }
        }
        merged
    }

    /// The failures at the end: issues that are open or have a state label, and issues without exactly one pull
    /// request.
    async fn wrong(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        for repo in &self.repos {
            let mut pulls: BTreeMap<String, usize> = BTreeMap::new();
            let mut issues = BTreeSet::new();
            for page in 1.. {
                let path = format!("/issues?state=all&per_page=100&page={page}");
                let listed = self.call(reqwest::Method::GET, repo, &path, Value::Null).await;
                let listed = listed.as_array().unwrap().clone();
                for issue in &listed {
                    let body = issue["body"].as_str().unwrap_or_default();
                    if issue.get("pull_request").is_some() {
                        *pulls.entry(body.lines().next().unwrap_or_default().to_owned()).or_default() += 1;
                        continue;
                    }
                    issues.insert(format!("Fixes #{}", issue["number"]));
                    let labels = issue["labels"].as_array().map_or(0, Vec::len);
                    if issue["state"] != "closed" || labels != 1 || issue["comments"] != 1 {
                        wrong.push(format!("{repo}#{}: {} {labels} labels", issue["number"], issue["state"]));
                    }
                }
                if listed.len() < 100 {
                    break;
                }
            }
            let once = pulls.values().all(|count| *count == 1) && pulls.keys().eq(issues.iter());
            if !once {
                wrong.push(format!(
                    "{repo}: {} issues and {} pull requests",
                    issues.len(),
                    pulls.values().sum::<usize>()
                ));
            }
        }
        wrong
    }
}

/// Starts the worker; its last line on standard output is its summary.
#[expect(clippy::disallowed_methods, reason = "a program for engineers starts the program it measures")]
fn worker(program: &str, site: &Site, folder: &std::path::Path) -> Child {
    let settings = folder.join("settings.toml");
    let agent =
        "[agents.worker]\nbackend = \"command\"\ncommand = [\"sh\", \"-c\", \"echo work > work-$HOB_ISSUE.txt\"]\n";
    std::fs::write(&settings, agent).unwrap();
    let mut command = tokio::process::Command::new(program);
    command.arg("run").arg("--json").arg("--config").arg(settings).arg("--state-dir").arg(folder.join("state"));
    for repo in &site.repos {
        command.args(["--repo", &repo.to_string()]);
    }
    for setting in [
        "agent=worker",
        "testing.forge.write_interval_ms=0",
        "limits.issues_per_hour=1000000",
        "limits.open_pulls=0",
        "poll.interval=200ms",
        "poll.max_interval=1s",
        "testing.workspace.keep=1h",
    ] {
        command.args(["--set", setting]);
    }
    command.arg("--set").arg(format!("jobs={JOBS}"));
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", folder);
    command.env("GITHUB_TOKEN", "token-of-hob").env("GITHUB_API_URL", site.forge.api_url());
    command.env("GITHUB_SERVER_URL", site.forge.server_url());
    command.stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true).spawn().unwrap()
}

/// The private memory of a process in kilobytes, without that of files: its program's text is not counted.
fn memory(pid: u32) -> u64 {
    let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap();
    let line = rollup.lines().find(|line| line.starts_with("Pss_Anon:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Reads the worker's events to the end: the last one, and the longest time between two polls.
async fn listen(events: ChildStdout) -> (String, Duration) {
    let mut lines = BufReader::new(events).lines();
    let (mut last, mut polled, mut gap) = (String::new(), Instant::now(), Duration::ZERO);
    while let Ok(Some(line)) = lines.next_line().await {
        if line.contains("\"event\":\"polled\"") {
            gap = gap.max(polled.elapsed());
            polled = Instant::now();
        }
        if line.contains("\"event\":\"failed\"") {
            println!("{line}");
        }
        last = line;
    }
    (last, gap)
}

/// The disk use: the number of issues' checkouts, and kilobytes in all.
fn on_disk(site: &Site, state: &std::path::Path) -> (usize, u64) {
    let count = |repo: &RepoName| {
        std::fs::read_dir(state.join(repo.to_string()).join("issues")).map_or(0, |issues| issues.count())
    };
    (site.repos.iter().map(count).max().unwrap_or_default(), kilobytes(state))
}

/// The room that a folder takes. What goes meanwhile takes none.
fn kilobytes(folder: &std::path::Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |entry: std::fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => kilobytes(&entry.path()),
        _other => entry.metadata().map_or(0, |found| found.blocks() / 2),
    };
    entries.map(size).sum()
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> ExitCode {
    rustls::crypto::ring::default_provider().install_default().ok();
    let arguments: Vec<String> = std::env::args().collect();
    let number = |at: usize, usual: usize| arguments.get(at).map_or(usual, |text| text.parse().unwrap());
    let program = arguments.get(1).map_or("target/release/hob", String::as_str);
    let (issues, repos, files) = (number(2, 5_000), number(3, 50), number(4, 2));
    let limit = Duration::from_secs(60 * number(5, 60) as u64);
    let folder = tempfile::tempdir().unwrap();
    let site = Site::start(repos, files).await;
    let mut child = worker(program, &site, folder.path());
    let pid = child.id().unwrap();
    let told = tokio::spawn(listen(child.stdout.take().unwrap()));
    let begun = Instant::now();
    let steps = usize::try_from(DAY.as_secs() / STEP.as_secs()).unwrap();
    let an_hour = steps / 24;
    let (mut opened, mut merged, mut first, mut settled, mut most) = (0, 0, 0, 0, 0);
    let (mut settled_disk, mut most_disk) = (0, 0);
    for step in 1..=steps {
        let upto = issues * step / steps;
        site.opens(opened..upto).await;
        opened = upto;
        let (since, mut moved) = (Instant::now(), Instant::now());
        while merged < opened {
            let more = site.merges().await;
            merged += more;
            if more > 0 {
                moved = Instant::now();
            } else if moved.elapsed() > STALLED {
                println!("{} issues wait for the clock", opened - merged);
                site.forge.advance(STEP);
                moved = Instant::now();
            }
            assert!(since.elapsed() < PATIENCE, "{} issues do not come to a pull request", opened - merged);
            assert!(begun.elapsed() < limit, "{merged} of {issues} issues in {} minutes", limit.as_secs() / 60);
            tokio::time::sleep(LOOK).await;
        }
        site.forge.advance(STEP);
        if step % an_hour == 0 {
            let now = memory(pid);
            first = if first == 0 { now } else { first };
            settled = if step / an_hour == SETTLED { now } else { settled };
            let (checkouts, disk) = on_disk(&site, &folder.path().join("state"));
            (most, most_disk) = (most.max(checkouts), most_disk.max(disk));
            settled_disk = if step / an_hour <= SETTLED { most_disk } else { settled_disk };
            let (hour, seconds) = (step / an_hour, begun.elapsed().as_secs());
            println!("hour {hour:2}: {merged} issues, {now} kB, {checkouts} checkouts, disk {disk} kB, {seconds} s");
        }
    }
    // Waits until the last merged issues are closed.
    let since = Instant::now();
    let mut wrong = site.wrong().await;
    while !wrong.is_empty() && since.elapsed() < PATIENCE {
        tokio::time::sleep(LOOK).await;
        wrong = site.wrong().await;
    }
    let end = memory(pid);
    let process = rustix::process::Pid::from_raw(pid.try_into().unwrap()).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
    child.wait().await.unwrap();
    let (last, gap) = told.await.unwrap();
    let summary: Value = serde_json::from_str(&last).unwrap();
    let calls = &summary["summary"]["calls"];
    let each = |name: &str| calls[name].as_f64().unwrap_or_default() / issues as f64;
    println!("{issues} issues over {repos} repositories in {} s; wrong: {}", begun.elapsed().as_secs(), wrong.len());
    println!(
        "calls per issue: {:.1} reads, {:.1} not modified (free), {:.1} writes",
        each("reads"),
        each("unchanged"),
        each("writes")
    );
    println!("own memory after the first hour {first} kB, after {SETTLED} hours {settled} kB, at the end {end} kB");
    println!("longest time without a poll {:.1} s; checkouts at most {most}", gap.as_secs_f64());
    println!("disk at most {settled_disk} kB in the first {SETTLED} hours, {most_disk} kB in all");
    wrong.iter().take(20).for_each(|line| println!("wrong: {line}"));
    let flat = end <= settled + settled * GROWTH_PERCENT / 100;
    let polled = repos > 1 || gap <= POLL_GAP;
    let bounded = most <= CHECKOUTS && most_disk <= settled_disk * DISK_TIMES;
    if wrong.is_empty() && flat && polled && bounded && each("reads") <= READS {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
