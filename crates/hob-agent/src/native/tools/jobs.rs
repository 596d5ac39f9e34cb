//! Jobs: commands in the background of the run's shell. Hob knows when each ends, waits for it, writes to it and ends it.
//!
//! - Flow: the shell starts a job with its output in a FIFO, from which a bounded part goes to a file. Its exit code goes to a file
//!   beside it. A notice follows the answers of the turn in which it ends.
//! - Guarantees: at most [`JOBS_MAX`] jobs a run, 16 MiB of output each; one that writes more is ended by that. No link is
//!   followed in the folder of these files, which the job can write. All end with the run.
//! - Caveats: a job that replaces its shell (`exec`) leaves no exit code.

use std::{
    fs::File,
    io::{Read as _, Seek as _, SeekFrom},
    path::PathBuf,
    time::Duration,
};

use hob_process::{TaggedProcesses, quoted};
use tokio::{sync::Mutex, time::Instant};

use crate::{
    folder::Folder,
    native::{
        plain::plain,
        tools::{
            ToolError,
            scratch::{ANSWER_MAX, Scratch, missing},
        },
    },
    report::first_line,
};

/// Jobs of a run.
pub(super) const JOBS_MAX: usize = 30;
/// The size of a job's output, in the units of the shell's `ulimit -f`: 16 MiB for bash, where a unit is 1,024 bytes, 8 MiB for sh.
const LOG_MAX: u64 = 16 << 10;

/// How long the other one of a job's exit code and the end of its output may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// The jobs of a run.
#[derive(Debug, Default)]
pub(in crate::native) struct Jobs(pub(super) Mutex<Vec<Job>>);

/// A job.
#[derive(Debug)]
pub(super) struct Job {
    line: String,
    pub(super) process: String,
    pub(super) files: Files,
    pub(super) tagged: TaggedProcesses,
    /// Bytes of its output that were shown.
    pub(super) shown: u64,
    pub(super) is_told: bool,
    end: Option<String>,
    /// When its exit code or the end of its output was seen.
    seen: Option<Instant>,
    pub(super) is_killed: bool,
}

/// The names of a job's files.
#[derive(Debug, Clone)]
pub(super) struct Files {
    folder: Folder,
    name: String,
}

impl Files {
    /// The path of the file with this ending.
    pub(super) fn path(&self, ending: &str) -> PathBuf {
        self.folder.path().join(format!("{}.{ending}", self.name))
    }

    fn open(&self, ending: &str) -> Option<File> {
        let path = self.folder.inside(&format!("{}.{ending}", self.name)).ok()?;
        self.folder.open_file(&path, u64::MAX).ok()
    }

    fn exit_code(&self) -> Option<String> {
        let mut code = String::new();
        self.open("exit")?.take(16).read_to_string(&mut code).ok()?;
        code.trim().parse::<i32>().ok().map(|code| format!("exit code {code}"))
    }

    /// The end of the output after `from`, and its length.
    pub(super) fn output(&self, from: u64) -> Option<(String, u64)> {
        let mut file = self.open("log")?;
        let length = file.metadata().ok()?.len();
        let start = from.max(length.saturating_sub(ANSWER_MAX as u64)).min(length);
        file.seek(SeekFrom::Start(start)).ok()?;
        let mut bytes = Vec::new();
        file.take(ANSWER_MAX as u64).read_to_end(&mut bytes).ok()?;
        let left_out = if start > from { format!("[… {} bytes before …]\n", start - from) } else { String::new() };
        Some((format!("{left_out}{}", plain(&String::from_utf8_lossy(&bytes))), start + bytes.len() as u64))
    }
}

/// A job to begin: its number and its files.
pub(super) struct Begun {
    id: usize,
    files: Files,
}

impl Jobs {
    /// A place for another job.
    pub(super) async fn begin(&self, scratch: &Scratch) -> Result<Begun, ToolError> {
        let id = self.0.lock().await.len() + 1;
        if id > JOBS_MAX {
            return Err(ToolError::Refused(format!("a run has {JOBS_MAX} commands in the background at most")));
        }
        let folder = scratch.folder().await.ok_or_else(missing)?.clone();
        Ok(Begun { id, files: Files { folder, name: format!("job-{id}") } })
    }

    /// Notes that a job runs as `process`; what the model is told.
    pub(super) async fn add(&self, begun: Begun, command: &str, process: &str, tagged: TaggedProcesses) -> String {
        let Begun { id, files } = begun;
        let log = files.path("log").display().to_string();
        let (line, process) = (first_line(command, 60), process.to_owned());
        let job = Job {
            line,
            process: process.clone(),
            files,
            tagged,
            shown: 0,
            is_told: false,
            end: None,
            seen: None,
            is_killed: false,
        };
        self.0.lock().await.push(job);
        format!(
            "job {id} runs as process {process}; its output is in {log}. `job` waits for it, and a note tells when it ends\n"
        )
    }

    /// A line about each job that ended since the last call.
    pub(in crate::native) async fn news(&self) -> String {
        let mut news = String::new();
        for (index, job) in self.0.lock().await.iter_mut().enumerate().filter(|(_, job)| !job.is_told) {
            if let Some(end) = job.end() {
                job.is_told = true;
                news.push_str(&format!(
                    "\n[job {} `{}` ended: {end}; its output is in {}]",
                    index + 1,
                    job.line,
                    job.files.path("log").display()
                ));
            }
        }
        news
    }

    /// Ends all.
    pub(in crate::native) async fn close(self) {
        for job in self.0.into_inner() {
            job.tagged.end().await;
        }
    }
}

impl Job {
    /// How it ended; `None` while it runs. It has ended once its exit code and all of its output are there. One of them alone is
    /// waited for: what it left behind may write on, and a killed job leaves no exit code.
    pub(super) fn end(&mut self) -> Option<String> {
        if self.end.is_none() {
            let (code, is_whole) = (self.files.exit_code(), self.files.open("done").is_some());
            if code.is_none() && !is_whole {
                return None;
            }
            let since = self.seen.get_or_insert_with(Instant::now).elapsed();
            let is_sure = is_whole && (code.is_some() || self.is_killed);
            if is_sure || since >= PATIENCE {
                self.end = Some(code.unwrap_or_else(|| "without an exit code".to_owned()));
            }
        }
        self.end.clone()
    }
}

impl Begun {
    /// The text that starts `command`, for the run's shell. It prints the number of the process.
    pub(super) fn script(&self, command: &str, takes_input: bool) -> String {
        let path = |ending: &str| quoted(&self.files.path(ending).display().to_string());
        let (log, out, exit, input, done) = (path("log"), path("out"), path("exit"), path("in"), path("done"));
        let (made, from) = if takes_input {
            (format!("{out} {input}"), format!("<>{input}"))
        } else {
            (out.clone(), "</dev/null".to_owned())
        };
        let leaves = quoted(&format!("echo $? >{exit}"));
        let command = quoted(command);
        format!(
            "_hob_log={log}; mkfifo {made} && : >{log} && {{ ( ulimit -c 0; ulimit -f {LOG_MAX}; cat <{out} >{log}; : >{done} ) 2>/dev/null & \
             ( trap {leaves} EXIT; eval {command} ) {from} >{out} 2>&1 & echo $!; }}"
        )
    }
}
