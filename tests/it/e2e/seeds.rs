//! Seeded random faults: the forge fails at random, workers come and go, and once it is well again each issue has its
//! one pull request, its one comment, its bill, and nothing is held or stuck.
//!
//! `HOB_SEED` says which seed is run first, and is alone unless `HOB_SEEDS` says how many are run.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use hob::{
    domain::{BlockKind, State},
    local_forge::{Fault, What, When},
    worker::{RunLimits, Worker},
};

use crate::harness::{Turnstile, World, in_virtual_time};

/// How many seeds the suite runs.
const SEEDS: u64 = 6;
/// Seeds that run beside each other.
const AT_ONCE: usize = 2;
/// Passes while the forge fails.
const FAULTY_PASSES: u64 = 8;
/// Passes on the healed forge until every issue has to be in review: one to recover, one to be told to try again, and
/// more for a question that was not asked yet.
const HEALED_PASSES: u64 = 6;
/// Tokens that a run of the agent says it took.
const TOKENS_A_RUN: u64 = 10;
/// Longer than a lease and its skew, and than any pause before an attempt.
const LONG: Duration = Duration::from_secs(2 * 3600);
/// Shorter than a lease, longer than a limit of the forge.
const SHORT: Duration = Duration::from_secs(20);

/// What the agent does: the first issue is plain, the second asks first, the third fails its check first.
const SCRIPT: &str = r#"said() { echo "{\"outcome\":\"$1\",\"$2\":\"$3\",\"input_tokens\":10}"; }
    case $HOB_ISSUE-$n in
        2-0) echo half > half.txt; said question question "Which colour?" ;;
        3-0) echo bad > bad.txt; said "done" summary "At first." ;;
        *) rm -f bad.txt; echo $n > done-$HOB_ISSUE.txt; said "done" summary "Made it." ;;
    esac"#;

/// The repository's settings: a check for all, and a recipe for every other world's third issue.
const SETTINGS: &str = r#"checks = ["test ! -f bad.txt"]
[agents.notice]
backend = "recipe"
recipe = "notice"
[recipes.notice]
steps = [{ replace = "2025", with = "2026", in = "NOTICE" }]
"#;

/// A number below `of` that depends on the seed, the pass and the question alone.
fn drawn(seed: u64, pass: u64, question: &str, of: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    (seed, pass, question).hash(&mut hasher);
    hasher.finish() % of
}

/// The faults of one pass: each kind with a chance of its own at each call.
fn faults(seed: u64, pass: u64) -> Vec<Fault> {
    let answer = |status: u16, message: &str, headers: &[(&str, &str)]| What::Answer {
        status,
        headers: headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        message: message.to_owned(),
    };
    let wait = [("retry-after", "1")];
    let everywhere = "/repos/**";
    let kinds = [
        ("500", everywhere, None, answer(500, "Server Error", &[])),
        ("502", everywhere, None, answer(502, "Bad Gateway", &[])),
        ("429", everywhere, None, answer(429, "Too many requests", &wait)),
        ("403", everywhere, None, answer(403, "You have exceeded a secondary rate limit.", &wait)),
        ("drop before", everywhere, None, What::DropBefore),
        ("drop after", everywhere, None, What::DropAfter),
        ("truncate", everywhere, None, What::Truncate),
        ("stale", everywhere, Some("GET"), What::Stale),
        ("git 502", "/acme/site.git/**", None, answer(502, "Bad Gateway", &[])),
        ("git drop before", "/acme/site.git/**", None, What::DropBefore),
        ("git drop after", "/acme/site.git/**", None, What::DropAfter),
    ];
    let fault = |(name, path, method, what): (&str, &str, Option<&str>, What)| {
        let percent = u8::try_from(drawn(seed, pass, &format!("percent of {name}"), 3)).unwrap();
        let when = When::Random { percent, seed: drawn(seed, pass, name, u64::MAX) };
        Fault { method: method.map(str::to_owned), path: path.to_owned(), login: Some("hob".into()), when, what }
    };
    kinds.into_iter().map(fault).collect()
}

async fn world() -> World {
    World::with_agent(SCRIPT)
        .file(".github/hob.toml", SETTINGS)
        .file("NOTICE", "Copyright 2025\n")
        .set("forge.patience", "2s")
        .set("limits.attempts", "100")
        .set("limits.issues_per_hour", "1000")
        .set("limits.retry_delay", "1s")
        .inside(&Arc::new(Turnstile::default()))
        .start()
        .await
}

/// Whether every issue is in one of these states, and free.
async fn is_settled(world: &World, issues: &[u64], states: &[State]) -> bool {
    for issue in issues {
        let record = world.record(*issue).await;
        if !record.is_some_and(|record| record.holder.is_none() && states.contains(&record.state)) {
            return false;
        }
    }
    true
}

/// Ann answers a question that waits for her.
async fn answer_question(world: &World, issue: u64) {
    let record = world.record(issue).await;
    let blocked = record.filter(|record| record.state == State::Blocked).and_then(|record| record.blocked);
    if blocked.is_some_and(|blocked| blocked.kind == BlockKind::Question) {
        world.comments("ann", issue, "Green, please.").await;
    }
}

/// The worker of a pass: most often the one before, at times a new process of it, at times another machine's.
async fn worker_of(world: &World, seed: u64, pass: u64, before: Option<(String, Worker)>) -> (String, Worker) {
    match (before, drawn(seed, pass, "worker", 4)) {
        (Some(before), 0 | 1) => before,
        (Some((name, _)), 2) => {
            let worker = world.worker(&name).await;
            (name, worker)
        }
        _ => {
            let name = format!("w{pass}");
            let worker = world.worker(&name).await;
            (name, worker)
        }
    }
}

/// The life of three issues under the faults of one seed.
async fn survives(seed: u64) {
    let world = world().await;
    let mut issues = vec![world.asks("Plain", "").await, world.asks("Asks", "").await];
    issues.push(match seed % 2 {
        0 => world.asks("Fails first", "").await,
        _ => world.opens("ann", "New year", "", &["code", "agent:notice"]).await,
    });
    let mut worker = None;
    for pass in 0..FAULTY_PASSES {
        let (name, chosen) = worker_of(&world, seed, pass, worker.take()).await;
        for fault in faults(seed, pass) {
            world.forge.inject(fault);
        }
        // A pass that fails is what this is about.
        drop(chosen.run_once(RunLimits::default()).await);
        worker = Some((name, chosen));
        world.forge.heal();
        for issue in &issues {
            answer_question(&world, *issue).await;
        }
        if is_settled(&world, &issues, &[State::InReview, State::Blocked, State::Done]).await {
            break;
        }
        world.forge.advance(if drawn(seed, pass, "pause", 3) == 0 { SHORT } else { LONG });
    }
    ends_well(world, seed, &issues).await;
}

/// On the healed forge every issue comes to its one pull request.
async fn ends_well(world: World, seed: u64, issues: &[u64]) {
    for _pass in 0..HEALED_PASSES {
        world.forge.advance(LONG);
        world.run().await;
        for issue in issues {
            let record = world.record(*issue).await;
            if record.as_ref().is_some_and(|record| record.state == State::Blocked) {
                world.comments("ann", *issue, "/hob retry").await;
            }
            // A false 404 about the permission of ann refuses her label: she does what the comment tells her.
            if record.is_some_and(|record| record.refused.is_some()) {
                world.labels_off("ann", *issue, "code").await;
                world.labels_on("ann", *issue, "code").await;
            }
        }
    }
    let pulls = world.pulls().await;
    for issue in issues {
        let record = world.record(*issue).await.unwrap();
        let told = format!("seed {seed}, issue {issue}: {:#?}\n{:#?}", world.history(*issue).await, world.failures());
        assert_eq!(record.state, State::InReview, "{told}");
        let fixes = format!("Fixes #{issue}\n");
        let open = pulls.iter().filter(|pull| pull["state"] == "open");
        let own: Vec<_> = open.filter(|pull| pull["body"].as_str().unwrap_or_default().starts_with(&fixes)).collect();
        assert_eq!(own.len(), 1, "{told}");
        assert_eq!(record.pull_request.map(|pull| pull.0), own[0]["number"].as_u64(), "{told}");
        let said = world.said(*issue).await;
        assert_eq!(said.iter().filter(|said| said.author == "hob").count(), 1, "{told}\n{said:#?}");
        let runs = u64::try_from(world.briefs(*issue).len()).unwrap();
        assert!(record.spend.input_tokens >= runs * TOKENS_A_RUN, "{runs} runs, {:?}: {told}", record.spend);
    }
    world.finish_after_faults().await;
}

/// The number that a variable of the environment has.
#[expect(clippy::disallowed_methods, reason = "a test's own switch, no setting of Hob's")]
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn whatever_fails_each_issue_comes_to_its_one_pull_request() {
    let first = number("HOB_SEED");
    let many = number("HOB_SEEDS").unwrap_or(if first.is_some() { 1 } else { SEEDS });
    let first = first.unwrap_or(0);
    let (next, failed) = (AtomicU64::new(first), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _thread in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + many {
                        return;
                    }
                    let run = || in_virtual_time(Box::pin(survives(seed)));
                    if std::panic::catch_unwind(run).is_err() {
                        failed.lock().unwrap().push(seed);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "set HOB_SEED to run one of the seeds that failed alone: {failed:?}");
}
