//! The program's output if it cannot be written, and its help.

use crate::harness::World;

#[tokio::test]
async fn a_full_disk_is_an_error_and_a_reader_that_has_gone_is_none() {
    let world = World::fixing().start().await;
    world.asks("Make done.txt", "").await;
    for command in
        [&["status"][..], &["explain", "1"], &["status", "--json"], &["doctor"], &["config", "show"], &["--help"]]
    {
        let full = world.hob_in_shell(r#"exec "$@" > /dev/full"#, command).await;
        let said = "hob: standard output cannot be written: No space left on device (os error 28)\n";
        assert_eq!((full.code, full.stderr.as_str()), (1, said), "{command:?}");
        let gone = world.hob_in_shell(r#"{ "$@"; echo "exit $?" >&2; } | true"#, command).await;
        assert_eq!((gone.code, gone.stderr.as_str()), (0, "exit 0\n"), "{command:?}");
    }
    let silent = world.hob_in_shell(r#"exec "$@" 2> /dev/full"#, &["status"]).await;
    assert!(silent.code == 0 && silent.stdout.contains("it would be claimed"), "{silent:?}");
    world.finish().await;
}

/// Requirement A13.
#[tokio::test]
async fn a_run_whose_events_nobody_takes_stops_and_leaves_the_issue_to_the_next() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    let full = world.hob_in_shell(r#"exec "$@" > /dev/full"#, &["run", "--once", "--json"]).await;
    assert!(full.code == 1 && full.stderr.contains("standard output cannot be written"), "{full:?}");
    assert_eq!(world.labels(issue).await, ["code"]);
    let gone = world.hob_in_shell(r#"{ "$@"; echo "exit $?" >&2; } | true"#, &["run", "--once", "--json"]).await;
    assert_eq!(gone.stderr, "exit 0\n");
    assert_eq!(world.hob(&["run", "--once"]).await.code, 0);
    assert_eq!(world.labels(issue).await, ["code", "in-review"]);
    world.finish().await;
}

#[tokio::test]
async fn the_help_of_a_command_is_its_own() {
    let world = World::fixing().start().await;
    let help = |command: &'static str| async { world.hob(&[command, "-h"]).await.stdout };
    insta::assert_snapshot!(help("resume").await, @r"
    Resume an issue, a session, or with `--all` the repository

    Usage: hob resume <ISSUE|SESSION|--all>

    Arguments:
      [ISSUE|SESSION]  The number of the issue, or a session on this machine of `hob agent investigate`
                       or `hob agent run`

    Options:
          --all   Resume the repository: workers claim issues again. Issues that were paused by their
                  number stay paused
      -h, --help  Print help (see more with '--help')

    Global options, such as --repo, --config, --json, -q and -v: see `hob --help`
    ");
    insta::assert_snapshot!(help("history").await, @r"
    The old name of `hob explain ISSUE --history`

    Usage: hob history <ISSUE>

    Arguments:
      <ISSUE>  The number of the issue

    Options:
      -h, --help  Print help

    Global options, such as --repo, --config, --json, -q and -v: see `hob --help`
    ");
    let all = world.hob(&["--help"]).await.stdout;
    assert!(!all.contains("--log-json"), "{all}");
    let issues = "\nIssues:\n  status       List the issues: what runs, what waits for whom, what was spent\n";
    assert!(all.contains(issues) && all.contains("\nAdvanced:\n  session      "), "{all}");
    assert_eq!(world.hob(&["help"]).await.stdout, all);
    let unknown = world.hob(&["lst"]).await;
    assert!(unknown.code == 2 && !unknown.stderr.contains("'list'"), "an old name is not suggested: {unknown:?}");
    for option in ["--config", "--repo", "--json", "--quiet", "--verbose", "--color", "--state-dir", "--set"] {
        assert!(all.contains(option), "{option}: {all}");
    }
    let after = world.hob(&["status", "--color", "always"]).await;
    assert!(after.code == 0, "global options are taken after the command: {after:?}");
    world.finish().await;
}

#[tokio::test]
async fn colour_is_a_choice() {
    let world = World::fixing().start().await;
    world.asks("Make done.txt", "").await;
    let of = |when: &'static str| async { world.hob(&["status", "--color", when]).await.stdout };
    assert!(of("always").await.contains("\u{1b}[1m"));
    assert!(!of("never").await.contains('\u{1b}') && !of("auto").await.contains('\u{1b}'));
    world.finish().await;
}
