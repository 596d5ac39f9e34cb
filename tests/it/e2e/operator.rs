//! An operator of fifty repositories: what goes wrong in one of them shows on the page one poll later at the latest, and then
//! in the list and the metrics.

use std::{collections::BTreeMap, future::Future, os::unix::fs::symlink, pin::Pin, sync::Arc, time::Duration};

use axum::body::{Body, to_bytes};
use base64::{Engine, engine::general_purpose::STANDARD};
use github_emulator::{Fault, What, When};
use hob_domain::{Claimant, IssueNumber, RepoName};
use hob_forge::{Connection, Forge};
use hob_web::{Facts, Known, Server};
use hob_worker::{Repositories, RunLimits, explain};
use http::{Method, Request};
use serde_json::json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::harness::{Turnstile, World, claim, in_virtual_time};

const REPOSITORIES: usize = 50;
/// By the words of the issue.
const AGENT: &str = r#"case "$(cat)" in
*'Ask me'*) echo '{"outcome":"question","question":"Which one?"}' ;;
*'Break'*) echo 'no such model' >&2; exit 7 ;;
*'Mend'*) echo x > done.txt; echo '{"outcome":"done","summary":"x"}' ;;
*'Costly'*) echo x > done.txt; echo '{"outcome":"done","summary":"x","usd":4.6}' ;;
esac"#;

struct Operator<'a> {
    world: &'a World,
    connection: Arc<Connection>,
    known: Arc<Known>,
}

/// A trouble, and where it shows.
struct Trouble {
    name: &'static str,
    /// The repository that it is in.
    repo: &'static str,
    /// The view of the page, and what it says.
    page: &'static str,
    says: &'static str,
    /// What the list of issues says.
    list: &'static str,
    /// The line of the metrics. Empty where only the time of the last good poll tells it, which is by a clock that does not stop.
    metrics: &'static str,
}

const WAITS: Trouble = Trouble {
    name: "a person who waits",
    repo: "acme/r3",
    page: "/",
    says: "Which one?",
    list: "it waits for a person's answer",
    metrics: "hob_issues{repository=\"acme/r3\",state=\"blocked\"} 1.0",
};
const SPENDS: Trouble = Trouble {
    name: "spend that runs away",
    repo: "acme/r7",
    page: "/health",
    says: "$4.60 of the day&#x27;s $5.00 are spent",
    list: "$4.60",
    metrics: "hob_budget_usd{repository=\"acme/r7\",scope=\"day\",kind=\"spent\"} 4.6",
};
const FAILS: Trouble = Trouble {
    name: "an agent that fails",
    repo: "acme/r11",
    page: "/health",
    says: "3 issues are blocked because the agent failed on them",
    list: "exit code 7",
    metrics: "hob_issues{repository=\"acme/r11\",state=\"blocked\"} 3.0",
};
const SETTINGS: Trouble = Trouble {
    name: "broken settings",
    repo: "acme/r19",
    page: "/health",
    says: "hob.toml</code> on the base branch cannot be used: line 1",
    list: "hob.toml",
    metrics: "hob_issues{repository=\"acme/r19\",state=\"ready\"} 1.0",
};
const DOWN: Trouble = Trouble {
    name: "a forge that fails",
    repo: "acme/r23",
    page: "/health",
    says: "acme&#x2f;r23: the last poll failed",
    list: "the forge failed with status 500",
    metrics: "",
};
const TOKEN: Trouble = Trouble {
    name: "a revoked token",
    repo: "acme/r29",
    page: "/health",
    says: "repositories failed, such as that of acme&#x2f;r0: the forge does not accept the token",
    list: "the forge does not accept the token",
    metrics: "",
};
const FLAKY: Trouble = Trouble {
    name: "a flaky check",
    repo: "acme/r37",
    page: "/health",
    says: "on unchanged code",
    list: "",
    metrics: "",
};
const STUCK: Trouble = Trouble {
    name: "a lease that nobody renews",
    repo: "acme/r41",
    page: "/health",
    says: "was not renewed for",
    list: "w-gone",
    metrics: "hob_lease_age_seconds_max{repository=\"acme/r41\"} 1",
};
const DISK: Trouble = Trouble {
    name: "a full disk",
    repo: "acme/r0",
    page: "/health",
    says: "MiB are free where Hob keeps its mirrors and checkouts",
    list: "",
    metrics: "",
};
const QUOTA: Trouble = Trouble {
    name: "a quota that is used up",
    repo: "acme/r31",
    page: "/health",
    says: "of the quota <code>core</code> are left",
    list: "the forge's rate limit is used up",
    metrics: "",
};

impl Operator<'_> {
    async fn reads(&self, path: &str) -> String {
        let asked = Request::get(path).header("host", "localhost").body(Body::empty()).unwrap();
        let answer = Server::routes(Arc::clone(&self.known)).oneshot(asked).await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        String::from_utf8(to_bytes(answer.into_body(), 10 << 20).await.unwrap().to_vec()).unwrap()
    }

    async fn asks(&self, repo: &str, title: &str) {
        let issue = json!({ "title": title, "labels": ["code"] });
        self.world.call_in(repo, "ann", Method::POST, "/issues", issue).await;
    }

    fn fails(&self, path: &str, status: u16, message: &str) {
        self.world.forge.inject(Fault {
            method: None,
            path: path.to_owned(),
            login: Some("hob".into()),
            when: When::Always,
            what: What::Answer { status, headers: BTreeMap::new(), message: message.to_owned() },
        });
    }

    /// What `hob status` is made from: what would be done about each issue and the day's bill, or why it cannot be told.
    async fn lists(&self, repo: &str) -> String {
        let worker = self.world.onlooker(&self.connection, repo.parse().unwrap()).await;
        let listed = explain::all(&worker).await;
        let record = worker.forge().repository_ledger().latest().await.ok().flatten();
        let bill = record.map(|record| record.day_bill(worker.forge().now()).to_string());
        match listed {
            Ok(issues) => format!("{issues:?} {bill:?}"),
            Err(error) => error.to_string(),
        }
    }

    /// How long it takes until this is read there.
    async fn until(&self, name: &str, path: &str, says: &str) -> Duration {
        let began = Instant::now();
        while !self.reads(path).await.contains(says) {
            // Longer than any poll is apart, an attempt included.
            let is_patient = began.elapsed() < Duration::from_secs(1_200);
            assert!(is_patient, "{name} does not show: {}\n{:?}", self.reads(path).await, self.world.failures());
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        began.elapsed()
    }

    /// How long after the trouble the page shows it; the list and the metrics then do, too.
    async fn sees(&self, trouble: Trouble, begins: Pin<Box<dyn Future<Output = ()> + '_>>) -> Duration {
        let Trouble { name, repo, page, says, list, metrics } = trouble;
        assert!(!self.reads(page).await.contains(says), "{name} shows before it is there");
        begins.await;
        let took = self.until(name, page, says).await;
        // Its gauges are of polls alone.
        self.until(name, "/metrics", metrics).await;
        let listed = self.lists(repo).await;
        assert!(listed.contains(list), "{name} is not in the list: {listed}");
        took
    }
}

#[test]
fn what_goes_wrong_in_one_of_fifty_repositories_shows_one_poll_later() {
    in_virtual_time(Box::pin(async {
        let turnstile = Arc::new(Turnstile::default());
        let world = World::with_bare_agent(AGENT)
            .set("limits.attempts", "1")
            .set("limits.jobs", "4")
            .set("budget.day", "5")
            .inside(&turnstile)
            .start()
            .await;
        let names: Vec<String> = (0..REPOSITORIES).map(|n| format!("acme/r{n}")).collect();
        for name in &names {
            world.another(name, 0).await;
        }
        // News of the last minute may have been missed.
        world.forge.advance(Duration::from_secs(120));
        let disk = world.dir().join("disk");
        symlink(world.dir(), &disk).unwrap();
        let known = Arc::new(Known::new(Facts { jobs: 4, state_dir: disk.clone() }));
        let repositories = Repositories::Named(names.iter().map(|name| name.parse::<RepoName>().unwrap()).collect());
        let (cancel, connection) = (CancellationToken::new(), world.as_bot(&world.settings));
        let pool = world.pool_seen(&connection, repositories, cancel.clone(), &known);
        let operator = Operator { world: &world, connection: Arc::clone(&connection), known };
        let interval = world.settings.poll.max_interval();
        let day = Box::pin(async {
            tokio::time::sleep(interval * 2).await;
            let well = operator.reads("/health").await;
            assert!(well.contains("Nothing is wrong that this process knows of."), "{well}");
            let mut took = Vec::new();
            let of = |repo: &'static str, title: &'static str| Box::pin(operator.asks(repo, title));
            took.push(operator.sees(WAITS, of("acme/r3", "Ask me")).await);
            took.push(operator.sees(SPENDS, of("acme/r7", "Costly work")).await);
            let three = Box::pin(async {
                for n in 0..3 {
                    operator.asks("acme/r11", &format!("Break it {n}")).await;
                }
            });
            took.push(operator.sees(FAILS, three).await);
            let broken = Box::pin(async {
                let (message, content) = ("Break the settings", "Y2hlY2tzID0gNwo=");
                let put = json!({ "message": message, "content": content });
                world.call_in("acme/r19", "ann", Method::PUT, "/contents/.github/hob.toml", put).await;
                operator.asks("acme/r19", "Make a file").await;
            });
            took.push(operator.sees(SETTINGS, broken).await);
            // Fails in every third run.
            let runs = world.dir().join("runs").display().to_string();
            let check = format!("n=$(cat {runs} || echo 0); echo $((n + 1)) > {runs}; test $((n % 3)) -ne 1");
            let flaky = Box::pin(async {
                let content = STANDARD.encode(format!("checks = ['{check}']\n"));
                let put = json!({ "message": "Add a check", "content": content });
                world.call_in("acme/r37", "ann", Method::PUT, "/contents/.github/hob.toml", put).await;
                operator.asks("acme/r37", "Mend it").await;
            });
            took.push(operator.sees(FLAKY, flaky).await);
            let held = Box::pin(async {
                operator.asks("acme/r41", "Make a file").await;
                let forge = Forge::new(Arc::clone(&connection), "acme/r41".parse().unwrap());
                let base = forge.repository().base_branch().await.unwrap();
                let claimant = Claimant { duration: Duration::from_secs(36_000), ..world.claimant("w-gone") };
                let ledger = forge.ledger();
                ledger.acquire(IssueNumber(1), None, &claimant, &base.tree, claim("Make a file")).await.unwrap();
                tokio::time::sleep(Duration::from_secs(1_800)).await;
            });
            took.push(operator.sees(STUCK, held).await);
            let full = Box::pin(async {
                // Nothing is free there.
                std::fs::remove_file(&disk).unwrap();
                symlink("/proc", &disk).unwrap();
            });
            took.push(operator.sees(DISK, full).await);
            let gone = Box::pin(async {
                operator.fails("/repos/acme/r23/issues", 500, "it is down");
                operator.asks("acme/r23", "Make a file").await;
            });
            took.push(operator.sees(DOWN, gone).await);
            world.forge.heal();
            let revoked = Box::pin(async { operator.fails("/**", 401, "Bad credentials") });
            took.push(operator.sees(TOKEN, revoked).await);
            world.forge.heal();
            let spent = Box::pin(async { world.forge.limit_rate(30) });
            took.push(operator.sees(QUOTA, spent).await);
            world.forge.limit_rate(1_000_000);
            assert!(took.iter().all(|took| *took <= interval + Duration::from_secs(60)), "{took:?}");
            cancel.cancel();
        });
        tokio::join!(pool.run_forever(RunLimits::default()), day).0.unwrap();
        world.finish_after_faults().await;
    }));
}
