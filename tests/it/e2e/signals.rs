//! The real program, stopped and killed in the middle of its work.

use std::{fs, time::Duration};

use hob_domain::State;
use hob_worker::RunLimits;
use rustix::process::Signal;

use crate::harness::{Gate, World, script, skipped};

/// Requirement A9.
#[tokio::test]
async fn a_program_that_is_asked_to_end_puts_its_issue_back() {
    for signal in [Signal::TERM, Signal::HUP] {
        if is_ignored(signal) {
            skipped(&format!("{signal:?} is ignored here, as below `nohup`"));
            continue;
        }
        is_put_back_by(signal).await;
    }
}

/// Whether this process ignores a signal, as its children then do, too.
fn is_ignored(signal: Signal) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    ignored & (1 << (signal.as_raw() - 1)) != 0
}

async fn is_put_back_by(signal: Signal) {
    let world = World::fixing().script("fixer", &Gate::before("echo done > done.txt")).start().await;
    let mut gate = Gate::of(&world);
    let issue = world.asks("Make done.txt", "").await;
    let hob = world.starts_hob(&["run"]).await;
    gate.reached().await;
    let ended = hob.ends_by(signal).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stderr.contains("saving work in progress"), "{ended:?}");
    let record = world.record(issue).await.unwrap();
    assert_eq!((record.state, record.attempts.now, record.lease), (State::Ready, 0, None));
    assert_eq!(world.labels(issue).await, ["code"]);
    world.finish().await;
}

/// Work that cannot be saved in time is not waited for: here git hangs.
#[tokio::test]
async fn a_second_signal_ends_the_program_at_once() {
    let world = World::fixing().script("fixer", &format!("echo half > half.txt; {}", Gate::before(""))).start().await;
    let mut gate = Gate::of(&world);
    world.asks("Make done.txt", "").await;
    let git = world.dir().join("hanging-git");
    let waits = Gate::before("").replace("{DIR}", &world.dir().display().to_string());
    script(&git, &format!("case \"$*\" in *push*) {waits};; esac\nexec git \"$@\""));
    let hob = world.starts_hob(&["run", "--set", &format!("testing.workspace.git={}", git.display())]).await;
    gate.reached().await;
    hob.gets(Signal::TERM);
    gate.reached().await;
    let ended = hob.ends_by(Signal::INT).await;
    assert_eq!(ended.code, 130, "{ended:?}");
    world.nothing_runs().await;
    world.leave();
}

#[tokio::test]
async fn a_run_whose_time_is_over_puts_its_issue_back() {
    let world = World::fixing().script("fixer", &Gate::before("echo done > done.txt")).start().await;
    let mut gate = Gate::of(&world);
    let issue = world.asks("Make done.txt", "").await;
    let worker = world.worker("w1").await;
    let limits = RunLimits { max_issues: None, max_runtime: Some(Duration::from_secs(6)) };
    let (done, ()) = tokio::join!(hob_worker::run_forever(&worker, limits), gate.reached());
    assert_eq!((done.worked, done.failed), (1, 0), "{:?}", world.failures());
    let record = world.record(issue).await.unwrap();
    assert_eq!((record.state, record.attempts.now, record.lease), (State::Ready, 0, None));
    assert_eq!(world.labels(issue).await, ["code"]);
    world.finish().await;
}

/// Attack corpus I101.
#[tokio::test]
async fn after_a_program_was_killed_another_goes_on() {
    let script = format!("[ $n -gt 0 ] || echo half > half.txt; {}", Gate::before("echo done > done.txt"));
    let world = World::fixing().script("fixer", &script).start().await;
    let mut gate = Gate::of(&world);
    let issue = world.asks("Make done.txt", "").await;
    let hob = world.starts_hob(&["run", "--once"]).await;
    gate.reached().await;
    hob.ends_by(Signal::KILL).await;
    assert_eq!(world.labels(issue).await, ["code", "in-progress"]);

    world.forge.advance(world.settings.lease.duration + world.settings.lease.skew + Duration::from_secs(2));
    // The same state folder: the agent's work is continued.
    let opens = async {
        gate.reached().await;
        gate.open().await;
    };
    let (ended, ()) = tokio::join!(world.hob(&["run", "--once"]), opens);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{ended:?}");
    assert_eq!(world.changed(world.pull().await["number"].as_u64().unwrap()).await, ["done.txt", "half.txt"]);
    world.finish().await;
}

/// Passes the gate once: by then Hob has surely told its watchdog of the process group, which it does when the group is there.
async fn is_known_to_the_watchdog(gate: &mut Gate) {
    gate.reached().await;
    gate.open().await;
    gate.reached().await;
}

/// Leaves two processes behind: one is in another session, and one, in the group, has no environment.
const STRAYS: &str = "setsid sleep 600 & env -i sleep 600 &\n";

/// Attack corpus I101.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_program_that_is_killed_leaves_no_agent_behind() {
    let world = World::fixing().script("fixer", &format!("{STRAYS}{}", Gate::before(&Gate::before("")))).start().await;
    let mut gate = Gate::of(&world);
    world.asks("Make done.txt", "").await;
    let hob = world.starts_hob(&["run", "--once"]).await;
    is_known_to_the_watchdog(&mut gate).await;
    hob.ends_by(Signal::KILL).await;
    world.nothing_runs().await;
    world.leave();
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_program_that_is_killed_leaves_no_check_behind() {
    let check = format!(
        "test -f done.txt || exit 1\n{STRAYS}echo > {{DIR}}/arrived; read line < {{DIR}}/go; echo > {{DIR}}/arrived; exec env -i sleep 600"
    );
    let world = World::fixing().check(&check).start().await;
    let mut gate = Gate::of(&world);
    world.asks("Make done.txt", "").await;
    let hob = world.starts_hob(&["run", "--once"]).await;
    is_known_to_the_watchdog(&mut gate).await;
    hob.ends_by(Signal::KILL).await;
    world.nothing_runs().await;
    world.leave();
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_a_program_left_that_was_killed_with_its_watchdog_is_ended_by_the_next_one() {
    let check = "test -f done.txt || exit 1; setsid sleep 600 & echo > $HOME/arrived; sleep 600";
    // In a sandbox a supervisor ends them, which needs no watchdog.
    let world = World::fixing().check(check).set("sandbox.tier", "none").start().await;
    let mut gate = Gate::of(&world);
    world.asks("Make done.txt", "").await;
    let hob = world.starts_hob(&["run", "--once"]).await;
    gate.reached().await;
    hob.lose_the_watchdog();
    hob.ends_by(Signal::KILL).await;
    assert!(world.running() >= 2);
    // Its lease is still good, and another machine could hold it: there is nothing to work on.
    let ended = world.hob(&["run", "--once", "--state-dir", world.state_dir("other").to_str().unwrap()]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    world.nothing_runs().await;
    world.leave();
}
