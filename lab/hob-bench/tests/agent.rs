//! `hob-bench agent` as it is called.

#![expect(clippy::unwrap_used, reason = "a failed unwrap in a test is a failed test")]

use std::process::Command;

#[expect(clippy::disallowed_methods, reason = "the program itself is what is tested")]
fn bench(arguments: &[&str]) -> std::process::Output {
    let state = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_hob-bench"));
    command.arg("--state-dir").arg(state.path()).args(["agent", "--rounds", "1", "--no-faults"]);
    command.args(arguments).output().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn each_agent_is_a_row_of_what_it_costs() {
    let output = bench(&["--json", "--steps", "3", "--agents", "bare-loop,native"]);
    let rows: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for (row, name) in rows.as_array().unwrap().iter().zip(["bare loop", "hob native"]) {
        assert_eq!(row["agent"], name);
        for figure in ["start_ms", "step_p50_ms", "pss_mb", "request_first_kb", "request_last_kb"] {
            assert!(row[figure].as_f64().is_some_and(|value| value > 0.0), "{name} {figure}: {row}");
        }
    }
    assert_eq!(rows.as_array().unwrap().len(), 2);
}

#[test]
fn an_agent_that_is_not_installed_is_named() {
    let output = bench(&["--agents", "no-such-agent"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("`no-such-agent` is not a backend"));
}
