//! The prisoner of `examples/prisoner`, which tries a hundred names of forbidden things, in each tier: the attempts
//! that get through are those of the table in `docs/design/attacks.md`, and no others.

use std::{
    collections::BTreeMap, ffi::OsString, os::unix::fs::PermissionsExt, path::Path, process::Command, sync::OnceLock,
};

use serde_json::Value;

use super::*;
use crate::harness::{World, executable};

/// A user id that no machine knows.
const STRANGER: u32 = 12_345;
/// Features that a machine may lack, or that a test may not ask for.
const MAY_BE_MISSING: [&str; 7] = [
    "connect to a server on ::1",
    "connect to a server at the machine's own address",
    "listen at the machine's own address",
    "connect to the metadata address of clouds",
    "ask the machine's name server",
    "list the home of the account that started Hob",
    "read a disk",
];

/// What a fence does not prevent, and what needs no right that a child could lack. `docs/design/attacks.md` says why.
const GAPS: [(&str, &[Tier]); 10] = [
    ("list the machine's processes", &[Tier::Fence]),
    ("read the arguments of a process outside", &[Tier::Fence]),
    ("see that a file outside exists, and its size", &[Tier::Fence]),
    ("watch the names in a folder outside change", &[Tier::Fence]),
    ("change the mode of a file outside", &[Tier::Fence]),
    ("change the times of a file outside", &[Tier::Fence]),
    ("set an attribute of a file outside", &[Tier::Fence]),
    ("choose the processors of a process outside", &[Tier::Fence]),
    ("make a program setgid in its folder", &[Tier::Fence, Tier::Box]),
    ("run a program from memory", &[Tier::Fence, Tier::Box]),
];

/// The prisoner's program, and Hob's, in a place that everyone may read.
struct Programs {
    _folder: TempDir,
    prisoner: PathBuf,
    hob: PathBuf,
}

/// Built once. `cargo test` has built it before, as it does all examples; for `cargo test --test it` it is built here.
fn programs() -> &'static Programs {
    static PROGRAMS: OnceLock<Programs> = OnceLock::new();
    PROGRAMS.get_or_init(|| {
        let own = std::env::current_exe().unwrap();
        let profile = own.parent().unwrap().parent().unwrap();
        let folder_name = profile.file_name().unwrap().to_str().unwrap();
        let profile_name = if folder_name == "debug" { "dev" } else { folder_name };
        #[expect(clippy::disallowed_methods, reason = "a test's own tool, with the environment that built the test")]
        let (mut cargo, inherited) = (Command::new(env!("CARGO")), std::env::vars_os());
        // The environment of this test names its own package, and would make other packages stale.
        for (name, _) in inherited.filter(|(name, _)| {
            let name = name.to_string_lossy();
            ["CARGO_MANIFEST", "CARGO_PKG", "CARGO_BIN"].iter().any(|own| name.starts_with(own))
        }) {
            cargo.env_remove(name);
        }
        cargo.args(["build", "--quiet", "--locked", "--offline", "--example", "prisoner", "--profile", profile_name]);
        cargo.arg("--target-dir").arg(profile.parent().unwrap()).current_dir(env!("CARGO_MANIFEST_DIR"));
        assert!(cargo.status().unwrap().success(), "the prisoner is not built");
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let [prisoner, hob] =
            [("prisoner", profile.join("examples/prisoner")), ("hob", launcher())].map(|(name, from)| {
                let to = folder.path().join(name);
                if std::fs::hard_link(&from, &to).is_err() {
                    executable(&to, std::fs::read(&from).unwrap());
                }
                to
            });
        Programs { _folder: folder, prisoner, hob }
    })
}

/// The users that the prisoner can be here: this one, and, if this one is root, a stranger.
fn users() -> Vec<u32> {
    let own = rustix::process::geteuid().as_raw();
    if own == 0 { vec![own, STRANGER] } else { vec![own] }
}

/// Runs the guard as this user, below these filters.
async fn guard(tier: impl Into<Kind>, user: u32, below: &[&str]) -> Value {
    let tier = tier.into();
    let name = if tier == Tier::Box && tier.1 == Maker::Hob { "own-box" } else { tier.0.name() };
    let programs = tokio::task::spawn_blocking(programs).await.unwrap();
    let mut words: Vec<OsString> = Vec::new();
    if user != rustix::process::geteuid().as_raw() {
        let user = user.to_string();
        words.extend(["setpriv", "--reuid", &user, "--regid", &user, "--clear-groups", "--"].map(OsString::from));
    }
    for filter in below {
        words.extend(
            [programs.prisoner.as_os_str(), "below".as_ref(), filter.as_ref(), "--".as_ref()].map(OsString::from),
        );
    }
    words.extend([programs.prisoner.clone().into(), "guard".into(), name.into(), programs.hob.clone().into()]);
    words.push("loopback-only".into());
    let guard = Program::of_hob(&words[0], &child_environment()).args(&words[1..]).dir("/");
    let ended = guard.run(&CancellationToken::new()).await.unwrap();
    assert!(ended.exit.is_success(), "{tier} {user} {below:?}: {} {}", ended.exit, ended.stderr.text());
    serde_json::from_str(&ended.stdout.text()).unwrap()
}

/// The name of each attempt with its result and the reason.
fn results(said: &Value) -> Vec<(&str, &str, &str)> {
    let attempts = said["attempts"].as_array().unwrap();
    attempts
        .iter()
        .map(|attempt| {
            (attempt["name"].as_str().unwrap(), attempt["result"].as_str().unwrap(), attempt["why"].as_str().unwrap())
        })
        .collect()
}

/// Fails if an attempt got through that is not a gap of the tier.
fn holds(said: &Value, tier: Tier, about: &str) {
    let results = results(said);
    assert!(results.len() >= 100, "{about}: only {} attempts", results.len());
    for (name, result, why) in results {
        let gap = GAPS.iter().any(|(gap, tiers)| *gap == name && tiers.contains(&tier));
        match result {
            "held" => {}
            "got through" => assert!(gap, "{about}: the prisoner could {name}: {why}"),
            // Calls by their number are written for one kind of processor.
            _missing if cfg!(not(target_arch = "x86_64")) => {}
            _missing => assert!(MAY_BE_MISSING.contains(&name), "{about}: {name}: {why}"),
        }
    }
}

/// Attack corpus E52
/// Attack corpus E53
/// Attack corpus E60
/// Attack corpus E61
/// Attack corpus E62
#[tokio::test]
async fn what_the_prisoner_tries_is_held_for_every_user() {
    for tier in TIERS {
        for user in users() {
            holds(&guard(tier, user, &[]).await, tier.0, &format!("{tier} as {user}"));
        }
    }
}

/// As in a container that may not make namespaces.
#[tokio::test]
async fn a_fence_holds_the_prisoner_where_no_namespace_can_be_made() {
    for user in users() {
        let said = guard(Tier::Fence, user, &["no-namespaces"]).await;
        holds(&said, Tier::Fence, &format!("no namespaces, as {user}"));
    }
}

/// Shows that the attempts work without a sandbox.
#[tokio::test]
async fn without_a_sandbox_most_attempts_get_through() {
    for user in users() {
        let said = guard(Tier::None, user, &[]).await;
        let results = results(&said);
        let through = results.iter().filter(|(_, result, _)| *result == "got through").count();
        assert!(through * 2 > results.len(), "{user}: {through} of {}", results.len());
    }
}

/// Attack corpus E65: as under gVisor, or on an old kernel.
#[tokio::test]
async fn without_landlock_a_fence_starts_nothing_and_hob_says_so() {
    for user in users() {
        let said = guard(Tier::Fence, user, &["no-landlock"]).await;
        let refused = said["refused"].as_str().unwrap();
        assert!(refused.contains("restrict files with Landlock"), "{user}: {refused}");
        assert!(said.get("attempts").is_none());
    }
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    let below = format!("exec {} below no-landlock -- \"$@\"", programs().prisoner.display());
    let ended = world.hob_in_shell(&below, &["run", "--once"]).await;
    assert_eq!(ended.code, 6, "{ended:?}");
    let says = "this machine has no sandbox of the tier `fence`: the kernel has no Landlock of version 4 or later";
    assert!(ended.stderr.contains(says), "{ended:?}");
    assert_eq!(world.labels(issue).await, ["code"]);
    assert!(world.briefs(issue).is_empty());
    world.finish().await;
}

/// The default is a box, and a fence if no namespace can be made: `doctor` says why, and what would help.
#[tokio::test]
async fn the_best_tier_that_the_machine_has_is_the_default() {
    let world = World::fixing().set("sandbox.tier", "auto").start().await;
    let told = |ended: crate::harness::Ended| ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let best = told(world.hob(&["doctor"]).await);
    assert!(best.contains("box: tried, and it holds"), "{best}");
    let below = format!("exec {} below no-namespaces -- \"$@\"", programs().prisoner.display());
    let less = told(world.hob_in_shell(&below, &["doctor"]).await);
    assert!(less.contains("fence: tried, and it holds; no network (`sandbox.network`); this machine has no"), "{less}");
    assert!(less.contains("no sandbox of the tier `box`: ") && less.contains("bwrap: "), "{less}");
    let issue = world.asks("Make done.txt", "").await;
    let ended = world.hob_in_shell(&below, &["run", "--once"]).await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{ended:?}");
    world.finish().await;
}

/// If bubblewrap is missing, or too old, Hob makes the box itself.
#[tokio::test]
async fn a_box_is_had_without_bubblewrap() {
    let world = World::fixing().set("sandbox.tier", "auto").start().await;
    // Mounts there are invisible to others.
    let root = rustix::process::geteuid().is_root();
    let alone = if root { "unshare --mount" } else { "unshare --user --map-current-user --mount --keep-caps" };
    for instead in ["/dev/null", "/bin/false"] {
        let mounts = format!("mount --bind {instead} /usr/bin/bwrap && exec \"$@\"");
        let ended = world.hob_in_shell(&format!("exec {alone} sh -c '{mounts}' sh \"$@\""), &["doctor"]).await;
        let told = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("box: tried, and it holds"), "{instead}: {ended:?}");
    }
    world.finish().await;
}

/// The cells of the table that `lab/measure/prisoner.py` writes, by attempt and column.
fn table() -> BTreeMap<String, Vec<String>> {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/design/attacks.md")).unwrap();
    let (_, rest) = text.split_once("<!-- prisoner:begin -->").unwrap();
    let (table, _) = rest.split_once("<!-- prisoner:end -->").unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let rows = rows.map(|row| row.split(" | ").map(str::to_owned).collect::<Vec<_>>()).skip(1);
    rows.map(|mut cells| (cells.remove(0), cells)).collect()
}

#[test]
fn the_table_of_the_documents_promises_what_the_tests_ask_for() {
    let table = table();
    assert!(table.len() >= 100, "only {} rows", table.len());
    for (name, cells) in &table {
        let [_none, fence, without_namespaces, boxed] = cells.as_slice() else { panic!("{name}: {cells:?}") };
        for (tier, cell) in [(Tier::Fence, fence), (Tier::Fence, without_namespaces), (Tier::Box, boxed)] {
            let gap = GAPS.iter().any(|(gap, tiers)| gap == name && tiers.contains(&tier));
            assert!(!cell.contains("through") || gap, "{name}: {tier} {cell}");
        }
    }
    for (gap, _) in GAPS {
        assert!(table.contains_key(gap), "{gap}");
    }
}
