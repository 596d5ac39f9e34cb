//! The folder of one evaluation: what was tried, and a line for each trial that came to its end.
//!
//! - Flow: `run.json` says what is evaluated; `trials.jsonl` grows by a line a trial; `patches/` and `tests/` keep each change and what the
//!   tests printed; `predictions.jsonl` holds the changes as SWE-bench's own harness reads them. Files of a later attempt
//!   have `@N` behind the name.
//! - Guarantees: a line is on the disk before the next trial of the same slot begins; a last line that was cut off is taken away. One process at
//!   a time has a folder. A folder of another agent, model or set of tasks is refused.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions, TryLockError},
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::json;

use crate::{EvalError, Task, Trial, task::Files};

/// Bytes of the trials of one evaluation.
const TRIALS_MAX: u64 = 256 << 20;

/// What an evaluation evaluates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heading {
    /// The agent's name.
    pub agent: String,
    /// Its model; none: its program's own choice, or it has none.
    pub model: Option<String>,
    /// Where the tasks are, as it was given.
    pub tasks: String,
    /// Hob's version.
    pub hob: String,
}

/// The folder of one evaluation.
#[derive(Debug)]
pub struct Results {
    folder: PathBuf,
    heading: Heading,
    file: File,
    trials: Vec<Trial>,
}

impl Results {
    /// Opens the folder, or makes it.
    ///
    /// # Errors
    /// [`EvalError::Unfit`] when it holds another evaluation or another process has it; [`EvalError::File`].
    pub fn open(folder: &Path, heading: Heading) -> Result<Self, EvalError> {
        fs::create_dir_all(folder).map_err(EvalError::at("make", folder))?;
        let path = folder.join("trials.jsonl");
        let mut options = OpenOptions::new();
        let file = options.read(true).append(true).create(true).open(&path).map_err(EvalError::at("open", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let why = "is in use by another process: wait for it, or choose another folder with `--results`";
                return Err(EvalError::Unfit(format!("`{}` {why}", folder.display())));
            }
            Err(TryLockError::Error(error)) => return Err(EvalError::at("lock", &path)(error)),
        }
        let head = folder.join("run.json");
        if let Some(known) = read_json::<Heading>(&head)? {
            // The same run goes on with a newer Hob.
            if (&known.agent, &known.model, &known.tasks) != (&heading.agent, &heading.model, &heading.tasks) {
                return Err(EvalError::Unfit(format!(
                    "`{}` holds the results of another evaluation ({}), not of ({}): choose another folder with `--results`",
                    folder.display(),
                    described(&known),
                    described(&heading)
                )));
            }
        } else {
            let text = serde_json::to_vec_pretty(&heading).map_err(|error| EvalError::Unfit(error.to_string()))?;
            fs::write(&head, text).map_err(EvalError::at("write", &head))?;
        }
        for folder in ["patches", "tests"].map(|name| folder.join(name)) {
            fs::create_dir_all(&folder).map_err(EvalError::at("make", &folder))?;
        }
        let (trials, whole) = trials_of(&file, &path)?;
        file.set_len(whole).map_err(EvalError::at("write", &path))?;
        Ok(Self { folder: folder.to_owned(), heading, file, trials })
    }

    /// Reads a folder that stays as it is.
    ///
    /// # Errors
    /// [`EvalError::Unfit`] when it holds no evaluation; [`EvalError::File`].
    pub fn read(folder: &Path) -> Result<(Heading, Vec<Trial>), EvalError> {
        let heading = read_json(&folder.join("run.json"))?;
        let heading = heading.ok_or_else(|| EvalError::Unfit(format!("`{}` holds no evaluation", folder.display())))?;
        let path = folder.join("trials.jsonl");
        let file = File::open(&path).map_err(EvalError::at("open", &path))?;
        Ok((heading, trials_of(&file, &path)?.0))
    }

    /// The trials so far.
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// Whether this attempt at the task came to its end.
    pub fn has(&self, task: &str, attempt: u32) -> bool {
        self.trials.iter().any(|trial| trial.task == task && trial.attempt == attempt)
    }

    /// Keeps a trial with its patch and what its tests printed.
    ///
    /// # Errors
    /// [`EvalError::File`].
    pub fn add(&mut self, task: &Task, trial: Trial, patch: &str, output: &str) -> Result<(), EvalError> {
        // `@` is not in a task's name.
        let again = if trial.attempt == 1 { String::new() } else { format!("@{}", trial.attempt) };
        for (kind, ending, text) in [("patches", "patch", patch), ("tests", "log", output)] {
            let path = self.folder.join(kind).join(format!("{}{again}.{ending}", task.name));
            fs::write(&path, text).map_err(EvalError::at("write", path))?;
        }
        if let Files::Commit { .. } = task.files {
            self.predict(&task.name, &again, patch)?;
        }
        append(&mut self.file, &json!(trial)).map_err(EvalError::at("write", self.folder.join("trials.jsonl")))?;
        self.trials.push(trial);
        Ok(())
    }

    /// The change in the form of SWE-bench's own harness, which takes one of an instance from a file.
    fn predict(&self, instance: &str, again: &str, patch: &str) -> Result<(), EvalError> {
        let path = self.folder.join(format!("predictions{again}.jsonl"));
        let name = self.heading.model.as_deref().unwrap_or(&self.heading.agent);
        let line = json!({ "instance_id": instance, "model_name_or_path": name, "model_patch": patch });
        let file = OpenOptions::new().append(true).create(true).open(&path);
        file.and_then(|mut file| append(&mut file, &line)).map_err(EvalError::at("write", path))
    }
}

fn described(heading: &Heading) -> String {
    let model = heading.model.as_deref().map(|model| format!(", {model}")).unwrap_or_default();
    format!("{}{model}, {}", heading.agent, heading.tasks)
}

/// Writes a line and waits until it is on the disk.
fn append(file: &mut File, line: &serde_json::Value) -> std::io::Result<()> {
    file.write_all(format!("{line}\n").as_bytes())?;
    file.sync_data()
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, EvalError> {
    match fs::read(path) {
        Ok(bytes) => {
            let bad = |error| EvalError::Unfit(format!("`{}` cannot be read: {error}", path.display()));
            serde_json::from_slice(&bytes).map(Some).map_err(bad)
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(EvalError::at("read", path)(error)),
    }
}

/// The trials of a file, the last line of an attempt, and where its last whole line ends.
fn trials_of(mut file: &File, path: &Path) -> Result<(Vec<Trial>, u64), EvalError> {
    let mut text = String::new();
    file.seek(SeekFrom::Start(0)).map_err(EvalError::at("read", path))?;
    file.take(TRIALS_MAX).read_to_string(&mut text).map_err(EvalError::at("read", path))?;
    let whole = text.rfind('\n').map_or(0, |at| at + 1);
    let mut trials = BTreeMap::new();
    for (at, line) in text[..whole].lines().enumerate() {
        let trial: Trial = serde_json::from_str(line)
            .map_err(|error| EvalError::Unfit(format!("line {} of `{}`: {error}", at + 1, path.display())))?;
        trials.insert((trial.task.clone(), trial.attempt), trial);
    }
    Ok((trials.into_values().collect(), whole as u64))
}
