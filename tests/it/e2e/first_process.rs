//! Hob as the first process of a container, without an init beside it.

use std::fs;

use hob_domain::State;

use crate::harness::{World, executable};

/// Makes a new process namespace, whose process 1 is the following command.
const AS_FIRST: &str = "exec bwrap --dev-bind / / --unshare-pid --proc /proc --as-pid-1 --die-with-parent -- \"$@\"";

/// A git that ends only when a process that it left behind is reaped.
const LEAVING: &str = r#"#!/bin/sh
orphan=$(sh -c 'true > /dev/null & echo $!')
while test -e /proc/$orphan; do :; done
exec git "$@"
"#;

#[tokio::test]
async fn what_loses_its_parent_is_reaped_and_the_work_is_done() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    let git = world.dir().join("leaving-git");
    executable(&git, LEAVING);
    let git = format!("testing.workspace.git={}", git.display());
    let flags = [
        "--set",
        git.as_str(),
        "--set",
        "testing.workspace.local_time=20s",
        "--set",
        "testing.workspace.transfer_time=20s",
    ];
    let ended = world.hob_in_shell(AS_FIRST, &[&["run", "--once"], &flags[..]].concat()).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{ended:?}");
    world.finish().await;
}

#[tokio::test]
async fn hobs_exit_code_is_that_of_the_first_process() {
    let world = World::fixing().start().await;
    let ended = world.hob_in_shell(AS_FIRST, &["status", "--repo", "acme/nowhere"]).await;
    assert_eq!(ended.code, 4, "{ended:?}");
    let ended = world.hob_in_shell(AS_FIRST, &["no-such-command"]).await;
    assert_eq!(ended.code, 2, "{ended:?}");
    world.finish().await;
}

/// Attack corpus J121: the first process has Hob's environment, and no child of the same user can read it.
#[tokio::test]
async fn a_signal_to_the_first_process_reaches_hob_and_its_environment_reaches_nobody() {
    let script = "cat /proc/1/environ > {DIR}/environment; kill -TERM 1; mkfifo {DIR}/never; cat {DIR}/never";
    let world = World::fixing().script("fixer", script).start().await;
    let issue = world.asks("Make done.txt", "").await;
    // Root without its capabilities is like any other user here; with the tier `none` a child may signal process 1.
    let as_first = AS_FIRST.replace(" -- ", " --cap-drop ALL -- ");
    let ended = world.hob_in_shell(&as_first, &["run", "--once", "--set", "sandbox.tier=none"]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stderr.contains("saving work in progress"), "{ended:?}");
    assert_eq!(fs::read_to_string(world.dir().join("environment")).unwrap(), "");
    let record = world.record(issue).await.unwrap();
    assert_eq!((record.state, record.attempts.now, record.lease), (State::Ready, 0, None));
    world.finish().await;
}
