//! Agents that take all they can get: their processes end with Hob, and a run that takes too much ends with the reason
//! while Hob continues with other issues.

use std::time::{Duration, Instant};

use github_emulator::{Mood, Moods};
use rustix::process::Signal;

use crate::harness::{Gate, PYTHON, World, needs};

/// Processes of one agent, each in its own session and without an environment; half of them with a name that is not
/// UTF-8.
const CHILDREN: usize = 1_000;
/// No machine takes longer to end them. It is a bound for a hang, not a figure.
const PATIENCE: Duration = Duration::from_secs(60);

/// Attack corpus E64
/// Attack corpus I101
#[tokio::test]
async fn a_thousand_independent_children_end_with_a_program_that_is_killed() {
    for tier in ["fence", "box"] {
        ends_with_the_program(tier).await;
    }
}

#[expect(clippy::print_stdout, reason = "how long it took is worth a look")]
async fn ends_with_the_program(tier: &str) {
    let start = format!(
        "n=$(printf 's\\377'); cp /bin/sleep \"./$n\"; i=0; while [ $i -lt {CHILDREN} ]; do \
         env -i setsid sleep 600 & env -i setsid \"./$n\" 600 & i=$((i+2)); done\n"
    );
    let script = format!("{start}{}", Gate::before("wait"));
    let world = World::fixing().script("fixer", &script).set("sandbox.tier", tier).start().await;
    let mut gate = Gate::of(&world);
    world.asks("Make done.txt", "").await;
    let hob = world.starts_hob(&["run", "--once"]).await;
    gate.reached().await;
    let running = world.running();
    assert!(running > CHILDREN, "{tier}: {running}");
    let killed = Instant::now();
    hob.ends_by(Signal::KILL).await;
    let gone = async {
        while world.running() > 0 {
            world.nothing_runs().await;
        }
    };
    tokio::time::timeout(PATIENCE, gone).await.unwrap();
    println!("{tier}: {running} processes were gone {} ms after Hob was killed", killed.elapsed().as_millis());
    world.leave();
}

/// An agent that takes too much, the setting that bounds it, and the report.
struct Greedy {
    name: &'static str,
    script: &'static str,
    says: &'static str,
}

/// No single kind of memory, and no single kind of file, exceeds the limit by itself.
const GREEDY: [Greedy; 4] = [
    Greedy {
        name: "memory",
        script: "python() { /usr/bin/python3 -c \"import mmap, os, time\nb = b'x' * (1 << 20)\n$1\ntime.sleep(600)\" & }\n\
                 python 'x = b * 100'; python 'm = mmap.mmap(-1, 100 << 20)\nfor _ in range(100): m.write(b)'; \
                 python 'f = os.memfd_create(\"f\")\nfor _ in range(100): os.write(f, b)'; wait",
        says: "it used more than 256 MiB of memory (`sandbox.memory`)",
    },
    // It has an end, so that a machine on which this test fails has one, too.
    Greedy {
        name: "processes",
        script: "bomb() { [ $1 = 0 ] && exec sleep 600; bomb $(($1 - 1)) & bomb $(($1 - 1)) & wait; }; bomb 9",
        says: "it ran more than 200 processes (`sandbox.processes`)",
    },
    Greedy {
        name: "hidden",
        script: "n=$(printf 's\\377'); cp /bin/sleep \"./$n\"; i=0; while [ $i -lt 300 ]; do \"./$n\" 600 & i=$((i+1)); done; wait",
        says: "it ran more than 200 processes (`sandbox.processes`)",
    },
    Greedy {
        name: "disk",
        script: "for i in 1 2 3; do head -c 1000000 /dev/zero > big$i; done; exec 3>gone; rm gone; \
                 head -c 3000000 /dev/zero >&3; read x < {DIR}/never",
        says: "it wrote more than 4 MiB (`sandbox.disk`)",
    },
];

/// Attack corpus I99
#[tokio::test]
async fn runs_that_take_too_much_end_with_the_reason_and_another_issue_goes_on() {
    needs!(PYTHON);
    for tier in ["fence", "box"] {
        let limits = [("memory", "256M"), ("processes", "200"), ("disk", "4M")];
        let mut builder = World::fixing().set("sandbox.tier", tier).set("limits.attempts", "1");
        for (limit, value) in limits {
            builder = builder.set(&format!("sandbox.{limit}"), value);
        }
        for Greedy { name, script, .. } in GREEDY {
            builder = builder.script(name, script);
        }
        let world = builder.start().await;
        // It has no writer: a reader is ended, or waits.
        rustix::fs::mknodat(
            rustix::fs::CWD,
            world.dir().join("never"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        let mut issues = Vec::new();
        for Greedy { name, .. } in GREEDY {
            issues.push(world.opens("ann", &format!("Take {name}"), "", &["code", &format!("agent:{name}")]).await);
        }
        let good = world.asks("Make done.txt", "").await;
        world.forge.set_moods(Moods::new(Mood::ALL, 28).with_percent(5));
        let ended = world.hob(&["run", "--once"]).await;
        world.forge.set_moods(Moods::default());
        for (issue, Greedy { says, .. }) in issues.iter().zip(GREEDY) {
            let status = world.status(*issue).await;
            assert!(status.contains(says), "{tier}: {status}\n{ended:?}");
        }
        assert_eq!(world.labels(good).await, ["code", "in-review"], "{tier}: {ended:?}");
        world.finish_after_faults().await;
    }
}

/// Attack corpus J116: without an end, and with nothing else.
#[tokio::test]
async fn a_run_that_only_floods_its_output_ends_with_the_reason_and_another_issue_goes_on() {
    let world =
        World::fixing().script("flood", "exec yes").set("limits.attempts", "1").set("limits.attempt_time", "8s");
    let world = world.start().await;
    let issue = world.opens("ann", "Flood", "", &["code", "agent:flood"]).await;
    let good = world.asks("Make done.txt", "").await;
    let ended = world.hob(&["run", "--once"]).await;
    assert!(world.status(issue).await.contains("ran out of time after"), "{}\n{ended:?}", world.status(issue).await);
    assert_eq!(world.labels(good).await, ["code", "in-review"], "{ended:?}");
    world.finish().await;
}
