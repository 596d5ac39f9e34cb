//! The reward that the tests of a task wrote.

use std::{fs, path::Path, time::Duration};

use hob_process::Exit;

use crate::text::text;

/// How deep the folders of tests are looked through.
const FOLDERS_MAX: usize = 4;
/// Where tests write it.
const SHOWN: &str = "/logs/verifier";

/// The files that a reward may be in, the one that Harbor prefers first.
const REWARDS: [&str; 2] = ["reward.json", "reward.txt"];

/// The files that the tests themselves name as their reward; both if they name neither, as those that compute a path do.
///
/// What the tests try runs in their box, and may write any file there. A reward that they do not name is not theirs.
pub(crate) fn rewards_named_by(tests: &Path) -> Vec<&'static str> {
    let named: Vec<_> = REWARDS.into_iter().filter(|name| is_named(tests, name, FOLDERS_MAX)).collect();
    if named.is_empty() { REWARDS.to_vec() } else { named }
}

fn is_named(folder: &Path, name: &str, deep: usize) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => deep > 0 && is_named(&entry.path(), name, deep - 1),
        // What cannot be read as a text names nothing.
        Ok(_) | Err(_) => text(&entry.path()).is_ok_and(|text| text.contains(name)),
    })
}

/// Why tests gave no reward.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum NoReward {
    #[error("the tests were ended ({0})")]
    Ended(Exit),
    #[error("the tests timed out after {} s", .0.as_secs_f64())]
    TimedOut(Duration),
    #[error("the tests wrote no {} ({exit})", files.join(" and no "))]
    Missing { files: Vec<String>, exit: Exit },
    #[error("what the tests wrote to `{file}` is not a reward ({exit})")]
    Unreadable { file: String, exit: Exit },
}

/// What the tests wrote to the first of these files that is there; `exit` says how they ended.
pub(crate) fn read(folder: &Path, named: &[&str], exit: Exit) -> Result<f64, NoReward> {
    let file = |name: &str| format!("{SHOWN}/{name}");
    let mut written = named.iter().filter_map(|name| Some((*name, text(&folder.join(name)).ok()?)));
    let Some((name, text)) = written.next() else {
        let files = named.iter().map(|name| format!("`{}`", file(name))).collect();
        return Err(NoReward::Missing { files, exit });
    };
    let found = match name {
        "reward.json" => serde_json::from_str(&text).ok().as_ref().and_then(of_json),
        _text => text.trim().parse().ok(),
    };
    let found = found.filter(|reward: &f64| reward.is_finite());
    found.ok_or_else(|| NoReward::Unreadable { file: file(name), exit })
}

/// A number, the number named `reward`, or the least of all.
fn of_json(value: &serde_json::Value) -> Option<f64> {
    // To Harbor's Python a truth value is a number.
    let number = |value: &serde_json::Value| value.as_f64().or_else(|| value.as_bool().map(|is| u8::from(is).into()));
    let serde_json::Value::Object(rewards) = value else { return number(value) };
    if let Some(reward) = rewards.get("reward") {
        return number(reward);
    }
    let all: Option<Vec<f64>> = rewards.values().map(number).collect();
    all?.into_iter().reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OK: Exit = Exit::Code(0);

    #[test]
    fn rewards_are_read_as_harbor_reads_them() {
        for (name, text, reward_read) in [
            ("reward.txt", "1\n", Some(1.0)),
            ("reward.txt", "0.5", Some(0.5)),
            ("reward.txt", "", None),
            ("reward.txt", "inf", None),
            ("reward.json", r#"{"reward": 0.25, "other": 0}"#, Some(0.25)),
            ("reward.json", r#"{"a": 1, "b": 0.5}"#, Some(0.5)),
            ("reward.json", r#"{"a": true}"#, Some(1.0)),
            ("reward.json", r#"{"reward": false}"#, Some(0.0)),
            ("reward.json", r#"{"reward": "1"}"#, None),
            ("reward.json", "1", Some(1.0)),
        ] {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join(name), text).unwrap();
            assert_eq!(read(folder.path(), &REWARDS, OK).ok(), reward_read, "{text}");
        }
        let said = read(tempfile::tempdir().unwrap().path(), &REWARDS, OK).unwrap_err().to_string();
        assert_eq!(
            said,
            "the tests wrote no `/logs/verifier/reward.json` and no `/logs/verifier/reward.txt` (exit code 0)"
        );
    }

    /// Attack corpus K148.
    #[test]
    fn a_reward_that_the_tests_do_not_name_is_not_theirs() {
        let (tests, logs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir(tests.path().join("inner")).unwrap();
        fs::write(tests.path().join("inner/judge.py"), "open('/logs/verifier/reward.txt', 'w')").unwrap();
        fs::write(logs.path().join("reward.json"), "{\"reward\": 1}").unwrap();
        let named = rewards_named_by(tests.path());
        assert_eq!((named.as_slice(), read(logs.path(), &named, OK).ok()), (&["reward.txt"][..], None));
        fs::write(logs.path().join("reward.txt"), "0").unwrap();
        assert_eq!(read(logs.path(), &named, OK), Ok(0.0));
        fs::write(tests.path().join("inner/judge.py"), "write(reward_path)").unwrap();
        assert_eq!(rewards_named_by(tests.path()), REWARDS);
    }
}
