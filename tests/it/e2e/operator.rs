//! An operator of fifty repositories: what goes wrong in one of them shows on the page one poll later at the latest.

use std::{collections::BTreeMap, future::Future, pin::Pin, sync::Arc, time::Duration};

use axum::body::{Body, to_bytes};
use github_emulator::{Fault, What, When};
use hob_domain::RepoName;
use hob_web::{Facts, Known, Server};
use hob_worker::{Repositories, RunLimits};
use http::{Method, Request};
use serde_json::json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::harness::{Turnstile, World, in_virtual_time};

const REPOSITORIES: usize = 50;
/// By the words of the issue.
const AGENT: &str = r#"case "$(cat)" in
*'Ask me'*) echo '{"outcome":"question","question":"Which one?"}' ;;
*'Break'*) echo 'no such model' >&2; exit 7 ;;
*'Costly'*) echo x > done.txt; echo '{"outcome":"done","summary":"x","usd":4.6}' ;;
esac"#;

struct Operator<'a> {
    world: &'a World,
    known: Arc<Known>,
}

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

    /// How long after the trouble the page shows it.
    async fn sees(
        &self,
        trouble: &str,
        path: &str,
        says: &str,
        begins: Pin<Box<dyn Future<Output = ()> + '_>>,
    ) -> Duration {
        assert!(!self.reads(path).await.contains(says), "{trouble} shows before it is there");
        begins.await;
        let began = Instant::now();
        // Longer than any poll is apart, an attempt included.
        while began.elapsed() < Duration::from_secs(1_200) {
            if self.reads(path).await.contains(says) {
                return began.elapsed();
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        panic!("{trouble} does not show: {}\n{:?}", self.reads(path).await, self.world.failures());
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
        let known = Arc::new(Known::new(Facts { jobs: 4, state_dir: world.dir().to_owned() }));
        let repositories = Repositories::Named(names.iter().map(|name| name.parse::<RepoName>().unwrap()).collect());
        let (cancel, connection) = (CancellationToken::new(), world.as_bot(&world.settings));
        let pool = world.pool_seen(&connection, repositories, cancel.clone(), &known);
        let operator = Operator { world: &world, known };
        let interval = world.settings.poll.max_interval();
        let day = Box::pin(async {
            tokio::time::sleep(interval * 2).await;
            let well = operator.reads("/health").await;
            assert!(well.contains("Nothing is wrong that this process knows of."), "{well}");
            let health = "/health";
            let mut took = Vec::new();
            let of = |repo: &'static str, title: &'static str| Box::pin(operator.asks(repo, title));
            took.push(operator.sees("a person who waits", "/", "Which one?", of("acme/r3", "Ask me")).await);
            took.push(
                operator
                    .sees(
                        "spend that runs away",
                        health,
                        "$4.60 of the day&#x27;s $5.00 are spent",
                        of("acme/r7", "Costly work"),
                    )
                    .await,
            );
            let three = Box::pin(async {
                for n in 0..3 {
                    operator.asks("acme/r11", &format!("Break it {n}")).await;
                }
            });
            took.push(
                operator
                    .sees("an agent that fails", health, "3 issues are blocked because the agent failed on them", three)
                    .await,
            );
            let broken = Box::pin(async {
                let (message, content) = ("Break the settings", "Y2hlY2tzID0gNwo=");
                let put = json!({ "message": message, "content": content });
                world.call_in("acme/r19", "ann", Method::PUT, "/contents/.github/hob.toml", put).await;
                operator.asks("acme/r19", "Make a file").await;
            });
            took.push(
                operator
                    .sees(
                        "broken settings",
                        health,
                        "hob.toml</code> on the base branch cannot be used: line 1",
                        broken,
                    )
                    .await,
            );
            let gone = Box::pin(async {
                operator.fails("/repos/acme/r23/issues", 500, "it is down");
                operator.asks("acme/r23", "Make a file").await;
            });
            took.push(operator.sees("a forge that fails", health, "acme&#x2f;r23: the last poll failed", gone).await);
            world.forge.heal();
            let revoked = Box::pin(async { operator.fails("/**", 401, "Bad credentials") });
            took.push(
                operator
                    .sees(
                        "a revoked token",
                        health,
                        "repositories failed, such as that of acme&#x2f;r0: the forge does not accept the token",
                        revoked,
                    )
                    .await,
            );
            world.forge.heal();
            let spent = Box::pin(async { world.forge.limit_rate(30) });
            took.push(
                operator
                    .sees("a quota that is used up", health, "of the quota <code>core</code> are left", spent)
                    .await,
            );
            world.forge.limit_rate(1_000_000);
            assert!(took.iter().all(|took| *took <= interval + Duration::from_secs(60)), "{took:?}");
            cancel.cancel();
        });
        tokio::join!(pool.run_forever(RunLimits::default()), day).0.unwrap();
        world.finish_after_faults().await;
    }));
}
