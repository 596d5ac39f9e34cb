//! One child process, from its start to the end of its whole process group.

use std::{
    ffi::{OsStr, OsString},
    io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
    time::Duration,
};

use hob_sandbox::{Launch, Plan, REFUSED, Tier, is_program_in, refusals_by, refused_because};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::{io::AsyncWriteExt, process::Child};
use tokio_util::sync::CancellationToken;

use crate::{
    Captured, Environment,
    capture::{Capture, Watchers},
    process_tag::TaggedProcesses,
    watchdog,
};

/// How long a closed group may hold its output pipes open before they are abandoned.
const DRAIN: Duration = Duration::from_secs(2);

/// A child that could not be run.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// The program was not found or could not be started.
    #[error("start `{program}`: {source}")]
    Start {
        /// The program's name or path.
        program: String,
        /// The system's error.
        source: io::Error,
    },
    /// The pipe to or from the child failed.
    #[error("talk to `{program}`: {source}")]
    Pipe {
        /// The program's name or path.
        program: String,
        /// The system's error.
        source: io::Error,
    },
    /// It could not be held to its plan, and was not started.
    #[error("start `{program}` in a sandbox: {reason}")]
    Sandbox {
        /// The program's name or path.
        program: String,
        /// The cause.
        reason: String,
    },
}

/// The end of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It exited by itself with this code.
    Code(i32),
    /// A signal that Hob did not send ended it.
    Signal(i32),
    /// Hob ended it: its time was over.
    Deadline,
    /// Hob ended it: the run was cancelled.
    Cancelled,
}

impl Exit {
    /// Whether the child exited by itself with code 0.
    pub fn is_success(self) -> bool {
        self == Self::Code(0)
    }
}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::Deadline => f.write_str("timed out"),
            Self::Cancelled => f.write_str("cancelled"),
        }
    }
}

/// A child that ended, with what was kept of its output.
#[derive(Debug, Clone)]
pub struct Finished {
    /// Its end.
    pub exit: Exit,
    /// Standard output.
    pub stdout: Captured,
    /// Standard error.
    pub stderr: Captured,
    /// What the sandbox refused it, each with a count, as a part of a sentence; `None` if nothing was refused, as far
    /// as it can tell.
    pub refused: Option<String>,
}

/// A program to run. It gets nothing of Hob's own environment but what it is given.
pub struct Program {
    name: OsString,
    arguments: Vec<OsString>,
    environment: Environment,
    folder: Option<PathBuf>,
    plan: Option<Plan>,
    own_session: bool,
    stdin: Vec<u8>,
    deadline: Duration,
    output_cap: usize,
    watchers: Watchers,
    tagged: Option<TaggedProcesses>,
    nonce: String,
}

impl Program {
    /// A program that runs the code of a repository, an issue or a model, confined by `plan`. It has exactly this
    /// environment, a deadline of one minute and one MiB of output a stream.
    pub fn inside(plan: &Plan, program: impl AsRef<OsStr>, environment: &Environment) -> Self {
        let plan = Some(plan.clone()).filter(|plan| plan.tier() != Tier::None);
        Self { plan, ..Self::of_hob(program, environment) }
    }

    /// A program that Hob needs for itself, such as git, and that runs only trusted code: it may reach what Hob may.
    pub fn of_hob(program: impl AsRef<OsStr>, environment: &Environment) -> Self {
        Self {
            name: program.as_ref().to_owned(),
            arguments: Vec::new(),
            environment: environment.clone(),
            folder: None,
            plan: None,
            own_session: false,
            stdin: Vec::new(),
            deadline: Duration::from_secs(60),
            output_cap: 1 << 20,
            watchers: Watchers::default(),
            tagged: None,
            nonce: format!("{:016x}", rand::random::<u64>()),
        }
    }

    /// Gives it its own session, so that it has no terminal to read from or to write to. Without a sandbox, the program
    /// `setsid` must be on the path; it makes the session, whose group has the child's id, and becomes the program. In
    /// a sandbox every child has one.
    pub(super) fn in_own_session(self) -> Self {
        Self { own_session: true, ..self }
    }

    /// Adds one argument.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.arguments.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    pub fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.arguments.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Sets the folder it runs in.
    pub fn dir(mut self, dir: impl AsRef<Path>) -> Self {
        self.folder = Some(dir.as_ref().to_owned());
        self
    }

    /// Sets one more variable.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.environment.insert(name.as_ref().to_owned(), value.as_ref().to_owned());
        self
    }

    /// Sets what it reads on standard input; without this, nothing.
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// Sets the time after which its group is killed.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Sets how many bytes of each output stream are kept.
    pub fn output_cap(mut self, bytes: usize) -> Self {
        self.output_cap = bytes;
        self
    }

    /// Calls `watch` with each line of its output as it comes, on both streams: at most 300 bytes, no control
    /// characters. `watch` must return at once.
    pub fn watch(mut self, watch: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.watchers.shown = Some(Arc::new(watch));
        self
    }

    /// Calls `watch` with each whole line of its output as it comes, on both streams, for a program whose lines are
    /// data. A line of more than 4 MiB is left out. `watch` must return at once.
    pub fn watch_data(mut self, watch: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.watchers.data = Some(Arc::new(watch));
        self
    }

    /// Sets the variable `name` to `value`, and treats every process that has it as one of this program's: at the end
    /// of [`Program::run`] those are killed too, in any group or session. `value` must be used only once.
    pub fn tag(mut self, name: &str, value: &str) -> Self {
        self.environment.insert(name.into(), value.into());
        // A supervisor itself finds all descendants of its child.
        self.tagged = self.plan.is_none().then(|| TaggedProcesses::new(name, value));
        self
    }

    /// Like [`Program::tag`], with a unique value.
    pub fn tag_uniquely(self, name: &str) -> Self {
        self.tag(name, &format!("{:016x}", rand::random::<u64>()))
    }

    /// Starts it with piped standard streams, for a caller that talks to it. The caller enforces a deadline; dropping
    /// the child kills it.
    ///
    /// # Errors
    /// [`ProcessError::Start`] if the program cannot be started, or if it would have to be in a sandbox.
    pub fn spawn(self) -> Result<Child, ProcessError> {
        if self.plan.is_some() {
            return Err(self.cannot_start(io::ErrorKind::Unsupported.into()));
        }
        self.command().spawn().map_err(|source| self.cannot_start(source))
    }

    /// Runs it to its end, its deadline or `cancel`, whichever comes first; then its whole process group is gone.
    ///
    /// # Errors
    /// [`ProcessError::Start`] when the program cannot be started, [`ProcessError::Pipe`] when its output cannot be read.
    pub async fn run(mut self, cancel: &CancellationToken) -> Result<Finished, ProcessError> {
        let Started { mut child, mut group, before } = self.start(Stdio::piped())?;
        // Dropped last of the two: processes killed with its group need not be searched for.
        let tagged = self.tagged.take();
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let input = [before, std::mem::take(&mut self.stdin)].concat();
        let feed = tokio::spawn(async move {
            if let Some(mut pipe) = stdin {
                // A child may exit without reading its input: a broken pipe is its choice, not a failure.
                pipe.write_all(&input).await.ok();
            }
        });
        let cap = self.output_cap;
        let of_supervisor = refusals_by(&self.nonce);
        let (stdout, stderr) = (
            Capture::start(stdout, cap, self.watchers.clone()),
            Capture::start(stderr, cap, self.watchers.but_for(of_supervisor.clone())),
        );
        let name = self.name.to_string_lossy().into_owned();
        let pipe = |source| ProcessError::Pipe { program: name.clone(), source };
        let exit = tokio::select! {
            status = child.wait() => exit_of(status.map_err(pipe)?),
            () = tokio::time::sleep(self.deadline) => Exit::Deadline,
            () = cancel.cancelled() => Exit::Cancelled,
        };
        group.end(exit);
        if let Some(tagged) = tagged {
            tagged.end().await;
        }
        if matches!(exit, Exit::Deadline | Exit::Cancelled) {
            child.wait().await.map_err(pipe)?;
        }
        feed.abort();
        let (stdout, stderr) = tokio::join!(stdout.finish(DRAIN), stderr.finish(DRAIN));
        let (stdout, mut stderr) = (stdout.map_err(pipe)?, stderr.map_err(pipe)?);
        if group.is_supervised()
            && let Some(refused) = refusal(exit, &name, &self.nonce, &stderr.text())
        {
            return Err(refused);
        }
        let refused = if group.is_supervised() { stderr.split_off(&format!("\n{of_supervisor}")) } else { None };
        Ok(Finished { exit, stdout, stderr, refused })
    }

    /// Starts it, with this as its standard error.
    pub(super) fn start(&self, stderr: Stdio) -> Result<Started, ProcessError> {
        let mut command = self.command();
        command.stderr(stderr);
        let before = match &self.plan {
            None => Vec::new(),
            Some(plan) => self.launch(plan).map_err(|source| self.cannot_start(source))?,
        };
        let child = command.spawn().map_err(|source| self.cannot_start(source))?;
        let group = Group::new(&child, self.plan.is_some());
        Ok(Started { child, group, before })
    }

    /// Its name in errors, and the nonce of its supervisor.
    pub(super) fn told_as(&self) -> (String, String) {
        (self.name.to_string_lossy().into_owned(), self.nonce.clone())
    }

    /// The cap in bytes on what is kept of an output stream.
    pub(super) fn kept(&self) -> usize {
        self.output_cap
    }

    /// The bytes that the supervisor reads before the child's own input.
    fn launch(&self, plan: &Plan) -> io::Result<Vec<u8>> {
        let folder = self.folder.clone().map_or_else(std::env::current_dir, Ok)?;
        if plan.root().is_some() {
            // What this machine has says nothing: the program is found where it is started.
            return self.encoded(plan.clone(), PathBuf::from(&self.name), folder);
        }
        let program = match found_in(self.environment.get(OsStr::new("PATH")), &self.name) {
            Some(found) => found,
            None if self.name.as_encoded_bytes().contains(&b'/') => folder.join(&self.name),
            None => return Err(rustix::io::Errno::NOENT.into()),
        };
        std::fs::metadata(&program)?;
        // A caller that names a program by its path wants the child to be able to run it.
        let named = program.canonicalize().unwrap_or_else(|_| program.clone());
        self.encoded(plan.clone().reads(&program).reads(named), program, folder)
    }

    fn encoded(&self, plan: Plan, program: PathBuf, folder: PathBuf) -> io::Result<Vec<u8>> {
        let arguments = std::iter::once(&self.name).chain(&self.arguments).cloned().collect();
        let environment = self.environment.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        let owner = rustix::process::getpid().as_raw_nonzero().get();
        let launch = Launch { nonce: self.nonce.clone(), owner, plan, program, arguments, environment, folder };
        launch.encode().map_err(io::Error::other)
    }

    fn command(&self) -> tokio::process::Command {
        let found = found_in(self.environment.get(OsStr::new("PATH")), &self.name);
        let path = match (&self.plan, self.own_session) {
            (Some(plan), _) => plan.launcher(),
            (None, true) => Path::new("setsid"),
            (None, false) => found.as_deref().unwrap_or(Path::new(&self.name)),
        };
        #[expect(clippy::disallowed_methods, reason = "this is the one place that starts children")]
        let mut command = tokio::process::Command::new(path);
        command.env_clear().stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if self.plan.is_some() {
            command.arg0("hob").arg(Launch::argument()).process_group(0);
            return command;
        }
        match self.own_session {
            true => command.arg(&self.name),
            false => command.arg0(&self.name).process_group(0),
        };
        command.args(&self.arguments).envs(&self.environment).envs(watchdog::variable()).kill_on_drop(true);
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        command
    }

    fn cannot_start(&self, source: io::Error) -> ProcessError {
        ProcessError::Start { program: self.name.to_string_lossy().into_owned(), source }
    }
}

/// Why a supervised child was not started, from its standard error `said`; `None` if it was started.
pub(super) fn refusal(exit: Exit, name: &str, nonce: &str, said: &str) -> Option<ProcessError> {
    let (before, reason) =
        said.split_once(&refused_because(nonce)).filter(|_| exit == Exit::Code(i32::from(REFUSED)))?;
    // The program was not started, so the text before the reason is bubblewrap's.
    let told = [reason.trim(), before.trim()].into_iter().filter(|told| !told.is_empty());
    let reason = told.collect::<Vec<_>>().join(": ");
    Some(ProcessError::Sandbox { program: name.to_owned(), reason })
}

/// A child that runs.
pub(super) struct Started {
    pub(super) child: Child,
    pub(super) group: Group,
    /// Bytes to write to its standard input first.
    pub(super) before: Vec<u8>,
}

/// The program's file, by the `PATH` that the child gets. A child whose file is known is started without a copy of this
/// process's memory map: half of the cost of a short one. Relative folders are left to the system's own search.
pub(super) fn found_in(path: Option<&OsString>, name: &OsStr) -> Option<PathBuf> {
    if name.as_encoded_bytes().contains(&b'/') {
        return None;
    }
    std::env::split_paths(path?).take_while(|folder| folder.is_absolute()).map(|folder| folder.join(name)).find(
        |file| {
            let executable = |found: std::fs::Metadata| found.is_file() && found.permissions().mode() & 0o111 != 0;
            std::fs::metadata(file).is_ok_and(executable)
        },
    )
}

/// Whether a child with this plan and environment finds the program `name` by its `PATH`.
pub fn has_program(plan: &Plan, environment: &Environment, name: &str) -> bool {
    let Some(path) = environment.get(OsStr::new("PATH")) else { return false };
    std::env::split_paths(path).map(|folder| folder.join(name)).any(|file| match plan.root() {
        Some(root) => is_program_in(root, &file),
        None => file.is_file(),
    })
}

/// Ends a child and its process group when dropped, so that a dropped future leaves no child either. Until it is ended,
/// the watchdog knows of it. A supervised child is ended by its supervisor, which finds more than a group, and needs no
/// watchdog.
#[derive(Debug)]
pub(super) struct Group {
    leader: Option<Pid>,
    supervised: bool,
}

impl Group {
    /// The group that `child` leads.
    fn new(child: &Child, supervised: bool) -> Self {
        let leader = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        if let Some(group) = leader.filter(|_| !supervised) {
            watchdog::announce(group);
        }
        Self { leader, supervised }
    }

    /// Whether a supervisor ends it.
    pub(super) fn is_supervised(&self) -> bool {
        self.supervised
    }

    /// Ends the rest of the group of a child that ended. Call it only once: later its id may be another's.
    pub(super) fn end(&mut self, exit: Exit) {
        match exit {
            // A supervisor leaves nothing behind, and its id may be another's by now.
            Exit::Code(_) | Exit::Signal(_) if self.supervised => self.leader = None,
            Exit::Code(_) | Exit::Signal(_) | Exit::Deadline | Exit::Cancelled => self.kill(),
        }
    }

    /// Ends it now.
    pub(super) fn kill(&mut self) {
        let Some(leader) = self.leader.take() else { return };
        // It may be gone already, which is fine.
        if self.supervised {
            kill_process(leader, Signal::TERM).ok();
        } else {
            kill_process_group(leader, Signal::KILL).ok();
            watchdog::withdraw(leader);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The end of a child, from its exit status.
pub(super) fn exit_of(status: std::process::ExitStatus) -> Exit {
    use std::os::unix::process::ExitStatusExt;
    status.code().map_or_else(|| Exit::Signal(status.signal().unwrap_or(0)), Exit::Code)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn sh(script: &str) -> Program {
        let environment = Environment::from([("PATH".into(), "/usr/bin:/bin".into())]);
        Program::of_hob("sh", &environment).args(["-c", script])
    }

    #[tokio::test]
    async fn a_child_sees_only_the_environment_it_is_given() {
        let finished = sh("env | grep -vE '^(PWD|SHLVL|_)='").run(&CancellationToken::new()).await.unwrap();
        assert_eq!(finished.stdout.text(), "PATH=/usr/bin:/bin\n");
    }

    #[tokio::test]
    async fn the_deadline_ends_the_whole_group() {
        let script = sh("sleep 600 & sleep 600").deadline(Duration::from_millis(50));
        assert_eq!(script.run(&CancellationToken::new()).await.unwrap().exit, Exit::Deadline);
    }

    #[tokio::test]
    async fn output_is_kept_when_a_descendant_outside_the_group_holds_the_pipe() {
        let script = sh("echo kept; setsid sleep 3 & exit 0");
        assert_eq!(script.run(&CancellationToken::new()).await.unwrap().stdout.text(), "kept\n");
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_tagged_descendant_outside_the_group_is_gone_when_the_program_has_ended() {
        let value = format!("ends-{}", std::process::id());
        let script = sh("setsid sleep 600 & echo $!").tag("HOB_TEST_TAG", &value);
        let finished = script.run(&CancellationToken::new()).await.unwrap();
        assert!(!lives(finished.stdout.text().trim()));
    }

    /// Whether the process runs: a zombie, which is not reaped yet, does not. Its command line cannot tell, since it is
    /// empty during an `exec` too.
    #[cfg(target_os = "linux")]
    fn lives(pid: &str) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_dropped_run_leaves_its_descendants_to_a_blocking_thread() {
        let runtime =
            tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).enable_all().build().unwrap();
        runtime.block_on(async {
            let (seen, mut pids) = tokio::sync::mpsc::unbounded_channel();
            let value = format!("dropped-{}", std::process::id());
            let script = sh("setsid sh -c 'echo $$; exec sleep 600' & wait").tag("HOB_TEST_TAG", &value);
            let script = script.watch(move |line| seen.send(line.to_owned()).unwrap());
            let cancel = CancellationToken::new();
            let mut run = Box::pin(script.run(&cancel));
            let pid = tokio::select! {
                pid = pids.recv() => pid.unwrap(),
                finished = &mut run => panic!("{finished:?}"),
            };
            // While the only blocking thread is held, nothing but the drop itself can look for the descendant.
            let (release, held) = std::sync::mpsc::channel::<()>();
            let holds = tokio::task::spawn_blocking(move || held.recv());
            drop(run);
            assert!(lives(&pid), "the drop itself looked through the processes");
            drop(release);
            holds.await.unwrap().unwrap_err();
            // The blocking thread takes its work in order.
            tokio::task::spawn_blocking(|| ()).await.unwrap();
            assert!(!lives(&pid));
        });
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_runtime_that_is_dropped_leaves_no_tagged_descendant() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (seen, pids) = std::sync::mpsc::channel();
        let value = format!("shutdown-{}", std::process::id());
        let script = sh("setsid sh -c 'echo $$; exec sleep 600' & wait").tag("HOB_TEST_TAG", &value);
        let script = script.watch(move |line| seen.send(line.to_owned()).unwrap());
        let pid = runtime.block_on(async {
            tokio::spawn(async move { script.run(&CancellationToken::new()).await });
            tokio::task::spawn_blocking(move || pids.recv().unwrap()).await.unwrap()
        });
        drop(runtime);
        assert!(!lives(&pid));
    }

    #[tokio::test]
    async fn cancellation_ends_the_child() {
        let cancel = CancellationToken::new();
        cancel.cancel();
        assert_eq!(sh("sleep 600").run(&cancel).await.unwrap().exit, Exit::Cancelled);
    }

    #[tokio::test]
    async fn input_reaches_the_child_and_its_exit_code_comes_back() {
        let finished = sh("cat; exit 3").stdin("hello").run(&CancellationToken::new()).await.unwrap();
        assert_eq!((finished.exit, finished.stdout.text()), (Exit::Code(3), "hello".to_owned()));
    }

    #[tokio::test]
    async fn a_program_is_found_by_the_path_that_it_gets_and_keeps_its_name() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("sh"), "not executable").unwrap();
        let environment = Environment::from([("PATH".into(), format!("{}:/bin", folder.path().display()).into())]);
        let finished = Program::of_hob("sh", &environment).args(["-c", "echo $0"]).run(&CancellationToken::new()).await;
        assert_eq!(finished.unwrap().stdout.text(), "sh\n");
    }

    #[tokio::test]
    async fn a_program_that_is_missing_is_named() {
        let error = Program::of_hob("no-such-program", &Environment::new()).run(&CancellationToken::new()).await;
        assert_eq!(error.unwrap_err().to_string(), "start `no-such-program`: No such file or directory (os error 2)");
    }
}
