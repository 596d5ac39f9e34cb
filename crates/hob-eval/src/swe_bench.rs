//! SWE-bench's instances: a line of JSON each, with the commit of a repository that is on this machine.
//!
//! The fields are those of the dataset: `instance_id`, `repo`, `base_commit`, `problem_statement`, `patch`, `test_patch`, `FAIL_TO_PASS`,
//! `PASS_TO_PASS`; the last two are lists, or texts that hold one. An instance becomes a task whose tests put the files of `test_patch` over the
//! agent's, and then run a command with the names of the tests, each of which has to pass.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    time::Duration,
};

use hob_sandbox::Limits;
use serde::{Deserialize, Deserializer, de::Error};

use crate::{
    EvalError, Found, Task, Unusable,
    named_tests::NamedTests,
    task::{Files, Reach, Solution, TestPatch, Tests, TestsKind},
    text::{is_plain, quoted},
};

/// The path of a repository for its tests, as in the dataset's own images.
const WORKDIR: &str = "/testbed";
/// Bytes of a line.
const LINE_MAX: usize = 16 << 20;
/// The placeholder of the tests' names in a command.
const NAMES: &str = "{tests}";

/// What instances need beside their file.
#[derive(Debug, Clone, Default)]
pub struct SweBenchParts {
    /// The folder with the repositories, each as `OWNER__NAME`, `OWNER/NAME` or `NAME`.
    pub repositories: Option<PathBuf>,
    /// The command that runs tests; `{tests}` is replaced by their names.
    pub test_command: Option<String>,
    /// How long the tests of one instance may take.
    pub tests_time: Duration,
}

#[derive(Debug, Deserialize)]
struct Instance {
    instance_id: String,
    repo: String,
    base_commit: String,
    problem_statement: String,
    #[serde(default)]
    patch: String,
    #[serde(default)]
    test_patch: String,
    #[serde(rename = "FAIL_TO_PASS", deserialize_with = "names")]
    fail_to_pass: Vec<String>,
    #[serde(rename = "PASS_TO_PASS", deserialize_with = "names")]
    pass_to_pass: Vec<String>,
}

/// A list, or a text that holds one.
fn names<'a, D: Deserializer<'a>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        List(Vec<String>),
        Text(String),
    }
    match Either::deserialize(deserializer)? {
        Either::List(names) => Ok(names),
        Either::Text(text) => serde_json::from_str(&text).map_err(D::Error::custom),
    }
}

/// Reads a file of instances.
pub(crate) fn read(path: &Path, parts: &SweBenchParts, found: &mut Found) -> Result<(), EvalError> {
    let (Some(repositories), Some(command)) = (&parts.repositories, &parts.test_command) else {
        let why = "instances of SWE-bench need `--repositories DIR` and `--test-command COMMAND`, such as `python -m pytest {tests}`";
        return Err(EvalError::Unfit(why.to_owned()));
    };
    if !command.contains(NAMES) {
        return Err(EvalError::Unfit(format!(
            "the test command must contain `{NAMES}`, the place of the tests' names"
        )));
    }
    let file = fs::File::open(path).map_err(EvalError::at("read", path))?;
    for (at, line) in BufReader::new(file).split(b'\n').enumerate() {
        let line = line.map_err(EvalError::at("read", path))?;
        if line.trim_ascii().is_empty() {
            continue;
        }
        let unusable = |task: String, why: NotHere| Unusable { task, why: why.to_string() };
        let number = format!("line {}", at + 1);
        if line.len() > LINE_MAX {
            found.unusable.push(unusable(number, NotHere::TooLong));
            continue;
        }
        match serde_json::from_slice::<Instance>(&line) {
            Err(error) => {
                // Its column is within the line, whose number in the file is told.
                let why = error.to_string().replace(" at line 1 column", ", column");
                found.unusable.push(unusable(number, NotHere::NoInstance(why)));
            }
            Ok(instance) => {
                let name = instance.instance_id.clone();
                match task(instance, repositories, command, parts.tests_time) {
                    Ok(task) => found.tasks.push(task),
                    Err(why) => found.unusable.push(unusable(name, why)),
                }
            }
        }
    }
    Ok(())
}

/// Why an instance cannot be tried here.
#[derive(Debug, thiserror::Error)]
enum NotHere {
    #[error("it has more than {LINE_MAX} bytes")]
    TooLong,
    #[error("it is not an instance: {0}")]
    NoInstance(String),
    #[error("its `instance_id` may have letters, digits, `-`, `_`, `.` and `+` only")]
    Id,
    #[error("its `base_commit` is not a commit id")]
    Commit,
    #[error("its `FAIL_TO_PASS` names no test")]
    NoTest,
    #[error("the repository {repo} is not in `{}`", folder.display())]
    NoRepository { repo: String, folder: PathBuf },
}

fn task(instance: Instance, repositories: &Path, command: &str, time: Duration) -> Result<Task, NotHere> {
    let Instance { instance_id, repo, base_commit, problem_statement, patch: solution, test_patch, .. } = instance;
    let (fail_to_pass, pass_to_pass) = (instance.fail_to_pass, instance.pass_to_pass);
    if !is_plain(&instance_id) {
        return Err(NotHere::Id);
    }
    if base_commit.len() < 40 || !base_commit.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(NotHere::Commit);
    }
    if fail_to_pass.is_empty() {
        return Err(NotHere::NoTest);
    }
    let Some(repository) = local(repositories, &repo) else {
        return Err(NotHere::NoRepository { repo, folder: repositories.to_owned() });
    };
    let line = |names: &[String]| {
        let quoted: Vec<String> = names.iter().map(|name| quoted(name)).collect();
        command.replace(NAMES, &quoted.join(" "))
    };
    let wanted = [fail_to_pass, pass_to_pass];
    let runs: Vec<String> = wanted
        .iter()
        .filter(|names| !names.is_empty())
        .zip(1..)
        .map(|(names, number)| NamedTests::run(number, &line(names)))
        .collect();
    let script = runs.join(" &&\n");
    let named = NamedTests::new(wanted.concat());
    let (repository_of, commit) = (repository.clone(), base_commit.clone());
    let patch = TestPatch { repository: repository_of, commit, patch: test_patch, script, named };
    Ok(Task {
        name: instance_id,
        instruction: problem_statement,
        limits: Limits::default(),
        workdir: WORKDIR.into(),
        time: None,
        recording: None,
        files: Files::Commit { repository, commit: base_commit },
        tests: Tests { kind: TestsKind::Patch(patch), time, environment: BTreeMap::new(), reach: Reach::OfSettings },
        environment: BTreeMap::new(),
        reach: Reach::OfSettings,
        solution: Some(solution).filter(|patch| !patch.trim().is_empty()).map(Solution::Patch),
    })
}

/// The folder of `OWNER/NAME`.
fn local(repositories: &Path, repo: &str) -> Option<PathBuf> {
    let (owner, name) = repo.split_once('/')?;
    if !is_plain(owner) || !is_plain(name) {
        return None;
    }
    let places = [format!("{owner}__{name}"), format!("{owner}/{name}"), name.to_owned()];
    let bare = places.iter().map(|place| format!("{place}.git"));
    let mut all = places.iter().cloned().chain(bare).map(|place| repositories.join(place));
    all.find(|path| path.join(".git").exists() || path.join("HEAD").is_file())?.canonicalize().ok()
}
