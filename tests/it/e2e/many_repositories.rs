//! Many repositories with issues in review: what nobody did, and no check, costs a query for all of them.

use std::time::Duration;

use github_emulator::{Job, JobConclusion};
use hob_worker::{Repositories, RunLimits};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::harness::{Turnstile, World, in_virtual_time, repo, repo_on_forge};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn what_is_in_review_in_many_repositories_is_polled_when_a_check_ends() {
    in_virtual_time(Box::pin(async {
        let turnstile = std::sync::Arc::new(Turnstile::default());
        let script = "echo $n > done.txt";
        let world = World::with_agent(script).inside(&turnstile).set("poll.interval", "3s").start().await;
        let issue = world.asks("Chore", "").await;
        let mut all = vec![repo()];
        for n in 0..5 {
            let name = format!("acme/other{n}");
            world.another(&name, 1).await;
            all.push(name.parse().unwrap());
        }
        let cancel = CancellationToken::new();
        let connection = world.as_bot(&world.settings);
        let pool = world.pool_until(&connection, Repositories::Named(all), &world.settings, (cancel.clone(), None));
        let meanwhile = async {
            let labels = async || world.labels(issue).await;
            while labels().await != ["code", "in-review"] {
                tokio::time::sleep(SECOND).await;
            }
            // Longer than lists may lag, and polls have become rare.
            tokio::time::sleep(SECOND * 300).await;
            let before = world.forge.requests().len();
            tokio::time::sleep(SECOND * 300).await;
            let made: Vec<String> =
                world.forge.requests().split_off(before).into_iter().map(|call| call.path).collect();
            // Two queries a round.
            let rounds = 300 / world.settings.poll.max_interval().as_secs() as usize;
            assert!((rounds..=2 * rounds + 2).contains(&made.len()), "{rounds} rounds: {} requests", made.len());
            assert!(made.iter().all(|path| path == "/api/graphql"), "{made:?}");
            let (pull, asked) = (world.pull().await["number"].as_u64().unwrap(), Instant::now());
            let (head_sha, name) = (world.head(pull).await, "test".to_owned());
            let job = Job { head_sha, name, conclusion: Some(JobConclusion::Failure), ..Job::default() };
            world.forge.create_job(&repo_on_forge(), &job).unwrap();
            while world.briefs(issue).len() < 2 {
                assert!(asked.elapsed() < world.settings.poll.max_interval() * 2, "{:?}", world.failures());
                tokio::time::sleep(SECOND).await;
            }
            while labels().await != ["code", "in-review"] {
                tokio::time::sleep(SECOND).await;
            }
            cancel.cancel();
        };
        tokio::join!(pool.run_forever(RunLimits::default()), meanwhile).0.unwrap();
        world.finish().await;
    }));
}
