//! A task in Harbor's format: `task.toml`, `instruction.md`, `environment/` and `tests/`.
//!
//! It is read as version 0.26 of the package `harbor` reads it. What cannot be done here is a reason not to try the task.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    dockerfile::{self, Copied, Image},
    engine::{Source, Wanted},
    harbor_fields::{EnvironmentTable, Refused, TaskFile},
    task::{Files, Solution, Task, Tests, TestsKind},
    text::{NoText, is_plain, text},
};

/// What tests may take where the task says nothing, as in Harbor.
const TESTS_TIME: f64 = 600.0;
/// What a build may take where the task says nothing, as in Harbor.
const BUILD_TIME: f64 = 600.0;
/// Files of a task that mean something to Harbor, and nothing here.
const NOT_DONE: [&str; 5] = [
    "trajectory.json",
    "environment/docker-compose.yaml",
    "environment/docker-compose.yml",
    "tests/.harborignore",
    "solution/.harborignore",
];
/// The folder of tasks whose environment is empty.
const WORKDIR: &str = "/app";

/// Why a task cannot be tried here.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotHere {
    #[error("its name may have letters, digits, `-`, `_`, `.` and `+` only")]
    Name,
    #[error("its `task.toml` cannot be read: {0}")]
    TaskFile(String),
    #[error(transparent)]
    Text(#[from] NoText),
    #[error("its `instruction.md` is empty")]
    NoInstruction,
    #[error("it has no `tests/test.sh`")]
    NoTests,
    #[error("it needs a variable of the caller's environment, which no task gets: `{0}`")]
    Variable(String),
    #[error("its variable `{0}` would change where an agent finds its model or its home")]
    Steers(String),
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error("it has `{0}`, which is not done here")]
    Has(&'static str),
    #[error("its Dockerfile has an `ENTRYPOINT`, which is not started here")]
    Entrypoint,
    #[error("its Dockerfile has `USER {0}`: nothing here runs as another user")]
    User(String),
    #[error("its instruction names `/logs`, which an agent does not see here")]
    Logs,
    #[error("`environment/{}`: {source}", path.display())]
    Copied { path: PathBuf, source: io::Error },
    #[error("`environment/{}` is neither a file nor a folder", .0.display())]
    Special(PathBuf),
    #[error("`{0}` is not a time in seconds")]
    Seconds(f64),
}

/// Reads the task in `folder`.
pub(crate) fn read(folder: &Path, name: &str, assume_built: bool) -> Result<Task, NotHere> {
    if !is_plain(name) {
        return Err(NotHere::Name);
    }
    let written = text(&folder.join("task.toml"))?;
    let file: TaskFile = toml::from_str(&written).map_err(|error| NotHere::TaskFile(sentence(&written, &error)))?;
    file.obeyable()?;
    for name in NOT_DONE {
        if folder.join(name).exists() {
            return Err(NotHere::Has(name));
        }
    }
    let instruction = without_canary(&text(&folder.join("instruction.md"))?);
    if instruction.trim().is_empty() {
        return Err(NotHere::NoInstruction);
    }
    if instruction.contains("/logs/") {
        return Err(NotHere::Logs);
    }
    let context = folder.join("environment");
    let (files, image) = beginning(&context, &file.environment, assume_built)?;
    let tests = folder.join("tests");
    if !tests.join("test.sh").is_file() {
        return Err(NotHere::NoTests);
    }
    let recording = Some(folder.join("recording.json")).filter(|file| file.is_file());
    let limits = file.environment.limits()?;
    let (reach, tests_reach) = (file.agent_reach()?, file.tests_reach()?);
    let environment: BTreeMap<String, String> =
        image.environment.into_iter().chain(resolved(file.environment.env)?).collect();
    if let Some(name) = environment.keys().find(|name| steers(name)) {
        return Err(NotHere::Steers(name.clone()));
    }
    let solution = folder.join("solution");
    let solution = match solution.join("solve.sh").is_file() {
        true => Some(Solution::Folder(solution, resolved(file.solution.env)?)),
        false => None,
    };
    Ok(Task {
        name: name.to_owned(),
        instruction,
        limits,
        workdir: file.environment.workdir.unwrap_or(image.workdir),
        time: file.agent.timeout_sec.map(seconds).transpose()?,
        recording,
        files,
        tests: Tests {
            kind: TestsKind::Folder(tests),
            time: seconds(file.verifier.timeout_sec.unwrap_or(TESTS_TIME))?,
            environment: resolved(file.verifier.env)?,
            reach: tests_reach,
        },
        environment,
        reach,
        solution,
    })
}

/// What is wrong with a file of TOML: the line with its key, and the mistake.
fn sentence(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().trim().replace('\n', ", ");
    let Some(before) = error.span().and_then(|span| text.get(..span.start)) else { return message };
    let number = before.matches('\n').count();
    let key = text.lines().nth(number).and_then(|line| line.split_once('=')).map(|(key, _)| key.trim());
    let key = key.map(|key| format!(" (`{key}`)")).unwrap_or_default();
    format!("line {}{key}: {message}", number + 1)
}

/// The instruction without the lines at its beginning that only mark it for those who gather training data.
fn without_canary(text: &str) -> String {
    let is_canary = |line: &&str| {
        let line = line.trim();
        let is_comment = line.starts_with('#') || (line.starts_with("<!--") && line.ends_with("-->"));
        is_comment && line.to_ascii_lowercase().contains("canary")
    };
    let marks = text.lines().take_while(is_canary).count();
    text.lines().skip(marks).collect::<Vec<_>>().join("\n").trim_start_matches('\n').to_owned()
}

/// Values as Harbor resolves them, but for the caller's environment, which no task gets: `${NAME:-default}` is its default.
fn resolved(given: BTreeMap<String, String>) -> Result<BTreeMap<String, String>, NotHere> {
    let one = |(name, value): (String, String)| {
        let inner = value.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
        let (variable, default) = match inner
            .map(|inner| inner.split_once(":-").map_or((inner, None), |(name, default)| (name, Some(default))))
        {
            // What is not one variable as a whole is not a template to Harbor.
            Some((variable, default)) if !variable.is_empty() && !variable.contains(['}', ':']) => (variable, default),
            Some(_) | None => return Ok((name, value)),
        };
        match default {
            Some(default) => Ok((name, default.to_owned())),
            None => Err(NotHere::Variable(format!("${{{variable}}}"))),
        }
    };
    given.into_iter().map(one).collect()
}

/// Whether a variable changes what an agent's program does with its own key: a task is not to choose where that is sent.
fn steers(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let ends = ["_API_KEY", "_BASE_URL", "_API_BASE", "_PROXY", "_ENDPOINT", "_AUTH_TOKEN"];
    name == "HOME" || name.starts_with("HOB_") || ends.iter().any(|end| name.ends_with(end))
}

/// What the agent begins with, and what is known of the image without building it: its files are copied if that makes all of them, or if
/// this machine is taken for the rest.
fn beginning(context: &Path, table: &EnvironmentTable, assume_built: bool) -> Result<(Files, Image), NotHere> {
    let nothing = || Image { workdir: WORKDIR.into(), ..Image::default() };
    let dockerfile = context.join("Dockerfile");
    let read = match dockerfile.is_file() {
        true => {
            let text = text(&dockerfile)?;
            let last = dockerfile::last_stage(&text);
            if last.has_entrypoint {
                return Err(NotHere::Entrypoint);
            }
            if let Some(user) = last.user {
                return Err(NotHere::User(user));
            }
            dockerfile::read(&text)
        }
        false => Ok(nothing()),
    };
    let is_shown_elsewhere = |image: &Image| table.workdir.as_ref().is_some_and(|workdir| *workdir != image.workdir);
    let (why, is_built) = match (read, &table.docker_image) {
        (Err(why), _) => (why.to_string(), false),
        (Ok(_), Some(name)) if !assume_built => (format!("it wants the image `{name}`"), true),
        (Ok(Image { runs: Some(line), .. }), _) if !assume_built => {
            let line = line.split_whitespace().take(6).collect::<Vec<_>>().join(" ");
            (format!("its image is built with `{line}`"), true)
        }
        (Ok(image), _) if !image.copies.is_empty() && context.join(".dockerignore").exists() => {
            ("its `environment/.dockerignore` says what is not copied".to_owned(), false)
        }
        (Ok(image), _) if dockerfile.is_file() && is_shown_elsewhere(&image) => (
            format!("its `environment.workdir` is not the `WORKDIR` of its Dockerfile, `{}`", image.workdir.display()),
            false,
        ),
        (Ok(image), _) => {
            let copies = image.copies.iter().map(|copied| copy(context, copied)).collect::<Result<_, _>>()?;
            return Ok((Files::Copied(copies), image));
        }
    };
    let source = match &table.docker_image {
        Some(name) => Source::Pulled(name.clone()),
        None => Source::Built(context.to_owned()),
    };
    let time = seconds(table.build_timeout_sec.unwrap_or(BUILD_TIME))?;
    Ok((Files::Image(Wanted { source, time, why, is_built, workdir: table.workdir.clone() }), nothing()))
}

/// A copy as it is made: a folder's contents, or a file to its own place.
fn copy(context: &Path, copied: &Copied) -> Result<(PathBuf, PathBuf), NotHere> {
    let Copied { from, to, into } = copied;
    let source = context.join(from);
    let kind = source.symlink_metadata().map_err(|source| NotHere::Copied { path: from.clone(), source })?;
    if !kind.is_dir() && !kind.is_file() {
        return Err(NotHere::Special(from.clone()));
    }
    let by_name = *into && kind.is_file();
    let to = if by_name { to.join(from.file_name().unwrap_or_default()) } else { to.clone() };
    Ok((source, to))
}

fn seconds(given: f64) -> Result<Duration, NotHere> {
    let time = Duration::try_from_secs_f64(given).ok().filter(|time| !time.is_zero());
    time.ok_or(NotHere::Seconds(given))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_of_the_caller_is_its_default_or_a_reason() {
        let given = |value: &str| resolved([("A".to_owned(), value.to_owned())].into()).map(|all| all["A"].clone());
        for (value, is) in [("1", "1"), ("${X:-two}", "two"), ("${X:-}", ""), ("a${X}b", "a${X}b")] {
            assert_eq!(given(value).unwrap(), is);
        }
        assert!(given("${HOME}").unwrap_err().to_string().contains("`${HOME}`"));
        assert_eq!(given("${A}-${B}").unwrap(), "${A}-${B}");
        let steering: Vec<_> = ["OPENAI_BASE_URL", "http_proxy", "HOME", "HOB_X", "BASE", "PYTHONPATH"]
            .into_iter()
            .filter(|name| steers(name))
            .collect();
        assert_eq!(steering, ["OPENAI_BASE_URL", "http_proxy", "HOME", "HOB_X"]);
    }

    /// What a task says beside `task.toml` is obeyed or a reason, too.
    #[test]
    fn what_the_files_of_a_task_say_is_obeyed_or_named() {
        let plain = "FROM x\nWORKDIR /app\nCOPY files/ .\n";
        for (dockerfile, file, text, why) in [
            (plain, "environment/.dockerignore", "files/x", "its `environment/.dockerignore` says what is not copied"),
            (plain, "task.toml", "[environment]\ndocker_image = \"x:1\"", "it wants the image `x:1`"),
            (
                plain,
                "task.toml",
                "[environment]\nworkdir = \"/app/files\"",
                "its `environment.workdir` is not the `WORKDIR`",
            ),
            (plain, "task.toml", "[environment]\nworkdir = \"/app\"", "usable"),
            (plain, "task.toml", "[environment.env]\nPORT = 8080", "line 2 (`PORT`): invalid type: integer `8080`"),
            (plain, "tests/.harborignore", "x", "it has `tests/.harborignore`, which is not done here"),
            (plain, "instruction.md", "Write /logs/artifacts/x.", "its instruction names `/logs`"),
            ("FROM x\nWORKDIR /app\nUSER me\n", "x", "", "its Dockerfile has `USER me`"),
            ("FROM x\nWORKDIR /app\nENTRYPOINT x\n", "x", "", "an `ENTRYPOINT`, which is not started here"),
        ] {
            let task = tempfile::tempdir().unwrap();
            let put = |path: &str, text: &str| {
                let path = task.path().join(path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            };
            for (path, text) in
                [("task.toml", ""), ("instruction.md", "Do it."), ("tests/test.sh", ""), ("environment/files/x", "")]
            {
                put(path, text);
            }
            put("environment/Dockerfile", dockerfile);
            put(file, text);
            let said = match read(task.path(), "a", false) {
                Ok(task) => task.needs_image().unwrap_or("usable").to_owned(),
                Err(why) => why.to_string(),
            };
            assert!(said.contains(why), "{file}: {said}");
        }
    }

    #[test]
    fn marks_for_training_data_are_left_out() {
        assert_eq!(without_canary("<!-- a canary GUID 1 -->\n# canary 2\n\nDo it.\n# canary"), "Do it.\n# canary");
    }
}
