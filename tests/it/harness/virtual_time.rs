//! Virtual time: a runtime of one thread whose clock stops while anything happens, and jumps when all wait.
//!
//! Paused time would also jump while a child process works, because to the runtime nothing happens then. So a task
//! beside the test checks every few virtual milliseconds whether this thread has children, and holds the time until one
//! of them has ended.

use std::{fs, future::Future, time::Duration};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

/// How far time may run before the next check for children: shorter than any pause of Hob's.
const LOOK: Duration = Duration::from_millis(50);

/// Runs `test` to its end in virtual time.
pub(crate) fn in_virtual_time<T>(test: impl Future<Output = T>) -> T {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().start_paused(true).max_blocking_threads(8).build().unwrap();
    runtime.block_on(async {
        let hold = tokio::spawn(hold_for_children());
        let outcome = test.await;
        hold.abort();
        outcome
    })
}

async fn hold_for_children() {
    loop {
        let alive = fs::read_to_string("/proc/thread-self/children").unwrap();
        // A zombie, which its owner reaps later or never, says nothing of the others.
        let works = |pid: &&str| {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
        };
        let first = alive.split_whitespace().find(works).and_then(|pid| Pid::from_raw(pid.parse().ok()?));
        if let Some(child) = first {
            // Time does not pass while blocking work goes on. The owner of the child reaps it.
            let ended = move || waitid(WaitId::Pid(child), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).is_ok();
            tokio::task::spawn_blocking(ended).await.unwrap();
        }
        tokio::time::sleep(LOOK).await;
    }
}
