//! A long-lived shell that runs one command after the other, so that a command costs no start-up.
//!
//! - Flow: a command goes in over a pipe, quoted for `eval`. Its output and its errors come back over one pipe, in the
//!   order they were written, and behind them a marker with a secret of this shell, the exit code and the folder.
//! - Guarantees: a command reads nothing (`/dev/null`), has a deadline, and only the head and the tail of its output
//!   are kept. If `setsid` is installed, it has no terminal either. Variables that it sets and its folder carry over to
//!   the next one. It cannot close or take the pipe of the marker, whose descriptor no command inherits. When the shell
//!   dies or a command has to be ended, the whole process group is killed, and the next command gets a new shell in the
//!   same folder.
//! - Caveats: background processes may write into the output of later commands. A process that left the group is not
//!   found here: a caller that needs its end tags the environment, see [`TaggedProcesses`].

use std::{
    ffi::OsString,
    io,
    os::{fd::OwnedFd, unix::ffi::OsStringExt},
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use hob_sandbox::{Plan, REFUSED_NOW};
use rustix::fs::{OFlags, fcntl_setfl};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::{Child, ChildStdin, ChildStdout},
    time::{Instant, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    Captured, Environment, Exit, ProcessError, Program, TaggedProcesses,
    end_marker::{EndMarker, MarkedOutput},
    process_tag::{has_variable, kill_where},
    program::{Group, Started, exit_of, has_program},
};

/// How long the output of a dead shell is still read: a process that left the group may hold the pipe open.
const DRAIN: Duration = Duration::from_millis(200);
/// The variable that only the programs of one command have.
const COMMAND_TAG: &str = "_HOB_COMMAND";
/// How long a shell may take to continue after its command was killed.
const GOES_ON: Duration = Duration::from_secs(1);
/// The most bytes of a shell's exported variables; with more, a second shell gets none of them.
const EXPORTED_MAX: usize = 1 << 20;
/// Bytes read at once: the capacity of a pipe.
const PIECE: usize = 64 * 1024;

/// The limits of one command.
#[derive(Debug, Clone, Copy)]
pub struct CommandLimits {
    /// The time after which it is ended.
    pub time: Duration,
    /// Bytes of its output that are kept: the first half and the last half.
    pub kept: usize,
    /// Bytes it may write at all; then it is ended.
    pub written: u64,
}

/// A command that ended.
#[derive(Debug)]
pub struct Ran {
    /// The end of the command.
    pub end: CommandEnd,
    /// Its standard output and standard error.
    pub output: Captured,
    /// Bytes it wrote, kept or not.
    pub written: u64,
    /// What the sandbox refused in this shell for the first time.
    pub refused: Vec<String>,
}

/// The end of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandEnd {
    /// It exited with this code; the shell lives on.
    Code(i32),
    /// It ended the shell too, for example with `exit`.
    WithShell(Exit),
    /// Hob ended both: its time was over.
    Deadline,
    /// Hob ended it, because its time was over; the shell lives on.
    DeadlineOfCommand,
    /// Hob ended both: it wrote more than it may.
    Flood,
    /// Hob ended both: the run was cancelled.
    Cancelled,
}

/// A shell. It is started with the first command; dropping it kills its process group.
#[derive(Debug)]
pub struct Shell {
    plan: Plan,
    environment: Environment,
    home: PathBuf,
    folder: PathBuf,
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    // Before the child, so that the group is killed while its leader still has its id.
    group: Group,
    child: Child,
    stdin: ChildStdin,
    output: ChildStdout,
    /// Its supervisor's own messages: the output of its commands goes elsewhere.
    errors: OwnedFd,
    marker: EndMarker,
    buffer: Vec<u8>,
    /// Bytes to write to it before any command.
    before: Vec<u8>,
    /// Distinguishes its commands from those of other shells.
    id: String,
    /// The number of commands so far.
    commands: u64,
}

impl Shell {
    /// A shell that starts in `home` with exactly this environment: bash if it is on the path, otherwise sh. It and all
    /// its commands are held to `plan`.
    pub fn new(plan: Plan, environment: Environment, home: &Path) -> Self {
        Self { plan, environment, home: home.to_owned(), folder: home.to_owned(), running: None }
    }

    /// The folder the next command runs in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Runs `command` to its end.
    ///
    /// # Errors
    /// [`ProcessError`] when the shell cannot be started or its pipe fails. The next command gets a new one.
    pub async fn run(
        &mut self,
        command: &str,
        limits: CommandLimits,
        cancel: &CancellationToken,
    ) -> Result<Ran, ProcessError> {
        let ends = Instant::now() + limits.time;
        let mut running = match self.running.take() {
            Some(running) => running,
            None => self.start()?,
        };
        let mut said = MarkedOutput::new(limits.kept);
        running.commands += 1;
        let script = format!("export {COMMAND_TAG}={}\n{}", running.tag(), running.marker.script(command));
        let end = tokio::select! {
            end = running.command(&script, &mut said, limits.written) => end.map_err(pipe)?,
            () = tokio::time::sleep_until(ends) => CommandEnd::Deadline,
            () = cancel.cancelled() => CommandEnd::Cancelled,
        };
        let end = match end {
            CommandEnd::Deadline if running.end_command(&mut said, limits.written).await => {
                CommandEnd::DeadlineOfCommand
            }
            end => end,
        };
        let refused = running.refused();
        match end {
            CommandEnd::Code(_) | CommandEnd::DeadlineOfCommand => {
                if let Some(folder) = said.folder() {
                    self.folder = folder;
                }
                self.running = Some(running);
            }
            CommandEnd::WithShell(_) => running.end(Some(&mut said)).await,
            CommandEnd::Deadline | CommandEnd::Flood | CommandEnd::Cancelled => running.end(None).await,
        }
        let (output, written) = said.finish();
        Ok(Ran { end, output, written, refused })
    }

    /// The processes of the last command, also those that go on in the background; `None` if the shell is not running. They are
    /// killed when this is dropped.
    pub fn last_processes(&self) -> Option<TaggedProcesses> {
        self.running.as_ref().map(|running| TaggedProcesses::new(COMMAND_TAG, &running.tag()))
    }

    /// Kills a process that the shell started, by the number that the shell knows.
    pub async fn kill(&mut self, process: &str, cancel: &CancellationToken) {
        if !process.is_empty() && process.bytes().all(|byte| byte.is_ascii_digit()) {
            let limits = CommandLimits { time: GOES_ON, kept: 0, written: u64::MAX };
            // It may be gone, and so may the shell.
            self.run(&format!("kill -KILL {process} 2>/dev/null"), limits, cancel).await.ok();
        }
    }

    /// Another shell that starts in this one's current folder, with the variables that it exports. Later changes in one
    /// do not affect the other.
    ///
    /// # Errors
    /// [`ProcessError`] if the pipe of this shell fails.
    pub async fn beside(&mut self, cancel: &CancellationToken) -> Result<Self, ProcessError> {
        let mut environment = self.environment.clone();
        if self.running.is_some() {
            let limits = CommandLimits { time: GOES_ON, kept: EXPORTED_MAX, written: EXPORTED_MAX as u64 };
            let said = self.run("command env -0", limits, cancel).await?;
            if let (CommandEnd::Code(0), Some(bytes)) = (said.end, said.output.whole()) {
                environment = exported(&bytes);
            }
        }
        let Self { plan, home, folder, .. } = &*self;
        Ok(Self { plan: plan.clone(), environment, home: home.clone(), folder: folder.clone(), running: None })
    }

    /// Ends the shell and everything that it started and that stayed in its group.
    pub async fn end(&mut self) {
        if let Some(running) = self.running.take() {
            running.end(None).await;
        }
    }

    fn start(&mut self) -> Result<Running, ProcessError> {
        if !self.folder.is_dir() {
            self.folder.clone_from(&self.home);
        }
        let name = if self.has("bash") { "bash" } else { "sh" };
        let program = Program::inside(&self.plan, name, &self.environment);
        let program = if self.has("setsid") { program.in_own_session() } else { program };
        let program = if name == "bash" { program.args(["--noprofile", "--norc"]) } else { program };
        let Started { mut child, group, before } = program.dir(&self.folder).start(Stdio::piped())?;
        let (Some(stdin), Some(output), Some(errors)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(pipe(io::Error::other("no pipe")));
        };
        let errors = errors.into_owned_fd().map_err(pipe)?;
        fcntl_setfl(&errors, OFlags::NONBLOCK).map_err(|error| pipe(error.into()))?;
        let (marker, buffer, id) = (EndMarker::new(), vec![0; PIECE], format!("{:016x}", rand::random::<u64>()));
        Ok(Running { group, child, stdin, output, errors, marker, buffer, before, id, commands: 0 })
    }

    fn has(&self, program: &str) -> bool {
        has_program(&self.plan, &self.environment, program)
    }
}

impl Running {
    /// Sends a command and reads until its marker, or the end of the shell, or more than `most` bytes.
    async fn command(&mut self, script: &str, said: &mut MarkedOutput, most: u64) -> io::Result<CommandEnd> {
        let Self { child, stdin, output, marker, buffer, before, .. } = self;
        before.extend_from_slice(script.as_bytes());
        // A shell that died since the last command breaks this pipe: then its exit shows it below.
        let written = stdin.write_all(&std::mem::take(before)).await;
        loop {
            tokio::select! {
                biased;
                read = output.read(buffer) => match read? {
                    0 => return Ok(CommandEnd::WithShell(exit_of(child.wait().await?))),
                    count => {
                        if let Some(code) = said.push(&buffer[..count], marker) {
                            return Ok(CommandEnd::Code(code));
                        }
                    }
                },
                status = child.wait() => return Ok(CommandEnd::WithShell(exit_of(status?))),
            }
            if said.written() > most {
                return Ok(CommandEnd::Flood);
            }
            if written.is_err() && child.try_wait()?.is_some() {
                return Ok(CommandEnd::WithShell(exit_of(child.wait().await?)));
            }
        }
    }

    /// The refusals that its supervisor has reported since the last call. Each is reported before the refused call
    /// returns.
    fn refused(&mut self) -> Vec<String> {
        let mut said = Vec::new();
        while let Ok(count @ 1..) = rustix::io::read(&self.errors, &mut self.buffer) {
            said.extend_from_slice(&self.buffer[..count]);
            if said.len() > PIECE {
                break;
            }
        }
        let text = String::from_utf8_lossy(&said);
        text.lines().filter_map(|line| line.strip_prefix(REFUSED_NOW)).map(str::to_owned).collect()
    }

    /// The tag of the processes of the current command.
    fn tag(&self) -> String {
        format!("{}-{}", self.id, self.commands)
    }

    /// Kills the programs that the command started, and waits for the shell to continue; `false` if it does not.
    async fn end_command(&mut self, said: &mut MarkedOutput, most: u64) -> bool {
        let tag = self.tag();
        // A command that keeps the shell itself busy continues, and is ended with it.
        let kill = move || kill_where(|environment| has_variable(COMMAND_TAG, &tag, environment));
        tokio::task::spawn_blocking(kill).await.ok();
        matches!(timeout(GOES_ON, self.command("", said, most)).await, Ok(Ok(CommandEnd::Code(_))))
    }

    /// Kills the group, waits for the shell, and reads the rest of its output if `said` is given.
    async fn end(mut self, said: Option<&mut MarkedOutput>) {
        match self.child.try_wait() {
            Ok(Some(status)) => self.group.end(exit_of(status)),
            Ok(None) | Err(_) => self.group.kill(),
        }
        if !self.group.is_supervised() {
            // The group exists only once the session does.
            self.child.start_kill().ok();
        }
        // Killed or dead already: there is nothing else to report.
        self.child.wait().await.ok();
        let Some(said) = said else { return };
        let rest = async {
            while let Ok(count @ 1..) = self.output.read(&mut self.buffer).await {
                said.push(&self.buffer[..count], &self.marker);
            }
        };
        // A process that holds the pipe longer than this has left the group.
        timeout(DRAIN, rest).await.ok();
    }
}

/// The variables in `text`, each ended by a zero.
fn exported(text: &[u8]) -> Environment {
    let split = |variable: &[u8]| {
        let at = variable.iter().position(|byte| *byte == b'=')?;
        Some((OsString::from_vec(variable[..at].to_vec()), OsString::from_vec(variable[at + 1..].to_vec())))
    };
    text.split(|byte| *byte == 0).filter_map(split).filter(|(name, _)| name != COMMAND_TAG).collect()
}

fn pipe(source: io::Error) -> ProcessError {
    ProcessError::Pipe { program: "the shell".into(), source }
}

#[cfg(test)]
mod tests {
    use hob_sandbox::Sandbox;

    use super::*;

    const LIMITS: CommandLimits = CommandLimits { time: Duration::from_secs(60), kept: 4096, written: 1 << 30 };

    fn shell() -> (tempfile::TempDir, Shell) {
        let folder = tempfile::tempdir().unwrap();
        let environment = Environment::from([("PATH".into(), "/usr/bin:/bin".into())]);
        let shell = Shell::new(Sandbox::none().plan(), environment, folder.path());
        (folder, shell)
    }

    async fn run(shell: &mut Shell, command: &str) -> (CommandEnd, String) {
        let ran = shell.run(command, LIMITS, &CancellationToken::new()).await.unwrap();
        (ran.end, ran.output.text())
    }

    fn well(text: &str) -> (CommandEnd, String) {
        (CommandEnd::Code(0), text.to_owned())
    }

    #[tokio::test]
    async fn what_a_command_sets_holds_for_the_next_one() {
        let (folder, mut shell) = shell();
        let script = "mkdir 'a b'; cd 'a b'; export X=\"it's\"; y=2; f() { echo f$1; }";
        assert_eq!(run(&mut shell, script).await, well(""));
        assert_eq!(run(&mut shell, "echo $X $y; f 3; sh -c 'echo $X'").await, well("it's 2\nf3\nit's\n"));
        assert_eq!(shell.folder(), folder.path().canonicalize().unwrap().join("a b"));
        assert_eq!(run(&mut shell, "echo one; echo two >&2; echo three; false").await.0, CommandEnd::Code(1));
        assert_eq!(run(&mut shell, "echo one; echo two >&2; echo three").await, well("one\ntwo\nthree\n"));
        assert_eq!(run(&mut shell, "cat <<'E'\n$x `y`\nE\nprintf end").await, well("$x `y`\nend"));
    }

    #[tokio::test]
    async fn a_shell_beside_another_begins_where_that_one_is_and_keeps_to_itself() {
        let (folder, mut shell) = shell();
        let cancel = CancellationToken::new();
        let mut early = shell.beside(&cancel).await.unwrap();
        assert_eq!(run(&mut early, "echo [$X]").await, well("[]\n"));
        run(&mut shell, "mkdir d; cd d; export X=\"two\nlines='\"; y=2").await;
        let mut other = shell.beside(&cancel).await.unwrap();
        assert_eq!(run(&mut other, "echo \"$X[$y]\"; X=mine; cd /").await, well("two\nlines='[]\n"));
        assert_eq!(run(&mut shell, "echo \"$X\"").await, well("two\nlines='\n"));
        assert_eq!(shell.folder(), folder.path().canonicalize().unwrap().join("d"));
    }

    #[tokio::test]
    async fn a_command_cannot_take_the_shells_own_pipes() {
        let (_folder, mut shell) = shell();
        assert_eq!(run(&mut shell, "cat; read x; echo \"[$x]\"").await, well("[]\n"));
        assert_eq!(run(&mut shell, "exec >&- 2>&- 3>&- <&-").await, well(""));
        assert_eq!(run(&mut shell, "exec 2>/dev/null >/dev/null; echo gone").await, well(""));
        assert_eq!(run(&mut shell, "(echo x >&3) 2>/dev/null || echo closed").await, well("closed\n"));
        let (end, said) = run(&mut shell, "if true; then").await;
        assert!(matches!(end, CommandEnd::Code(1..)) && said.contains("syntax error"), "{end:?} {said}");
        assert_eq!(run(&mut shell, "set -v -x").await.0, CommandEnd::Code(0));
        let (end, said) = run(&mut shell, "echo on").await;
        assert!(end == CommandEnd::Code(0) && said.contains("\non\n"), "{said}");
    }

    #[tokio::test]
    async fn a_command_has_no_terminal() {
        let (_folder, mut shell) = shell();
        let session = "set -- $(cat /proc/$$/stat); [ \"$6\" = $$ ] && echo \"own, terminal $7\"";
        assert_eq!(run(&mut shell, session).await, well("own, terminal 0\n"));
        let (end, said) = run(&mut shell, "cat /dev/tty").await;
        assert!(end == CommandEnd::Code(1) && said.contains("/dev/tty"), "{said}");
    }

    #[tokio::test]
    async fn a_shell_that_dies_is_replaced_in_the_same_folder() {
        let (folder, mut shell) = shell();
        for (command, end) in [
            ("mkdir -p d; cd d", CommandEnd::Code(0)),
            ("echo bye; exit 3", CommandEnd::WithShell(Exit::Code(3))),
            ("kill -9 $$", CommandEnd::WithShell(Exit::Signal(9))),
            ("kill -9 0", CommandEnd::WithShell(Exit::Signal(9))),
            ("exec true", CommandEnd::WithShell(Exit::Code(0))),
            ("set -e; false; echo no", CommandEnd::WithShell(Exit::Code(1))),
            ("pwd; sleep 600 & setsid sleep 5 &", CommandEnd::Code(0)),
            ("setsid sleep 5 & exit 4", CommandEnd::WithShell(Exit::Code(4))),
        ] {
            assert_eq!(run(&mut shell, command).await.0, end, "{command}");
        }
        let (_, said) = run(&mut shell, "echo bye; exit 3").await;
        assert_eq!(said, "bye\n");
        assert_eq!(
            run(&mut shell, "pwd -P").await.1.trim(),
            folder.path().canonicalize().unwrap().join("d").to_str().unwrap()
        );
        assert_eq!(run(&mut shell, "rm -r ../d; exit").await.0, CommandEnd::WithShell(Exit::Code(0)));
        assert_eq!(run(&mut shell, "pwd -P").await.1.trim(), folder.path().canonicalize().unwrap().to_str().unwrap());
    }

    #[tokio::test]
    async fn a_command_that_never_ends_is_ended_with_its_group() {
        let (_folder, mut shell) = shell();
        let limits = CommandLimits { time: Duration::from_millis(300), ..LIMITS };
        for command in
            ["echo $$; exec sleep 600", "echo $$; kill -STOP $$", "echo $$; trap '' TERM; while :; do :; done"]
        {
            let ran = shell.run(command, limits, &CancellationToken::new()).await.unwrap();
            assert_eq!(ran.end, CommandEnd::Deadline, "{command}");
            let alive = format!("/proc/{}", ran.output.text().trim());
            assert!(!Path::new(&alive).exists(), "{command}");
        }
        let cancel = CancellationToken::new();
        cancel.cancel();
        assert_eq!(shell.run("sleep 600", LIMITS, &cancel).await.unwrap().end, CommandEnd::Cancelled);
        assert_eq!(run(&mut shell, "echo on").await, well("on\n"));
    }

    #[tokio::test]
    async fn a_deadline_ends_the_command_and_leaves_the_shell_and_its_jobs() {
        let (_folder, mut shell) = shell();
        assert_eq!(run(&mut shell, "x=kept; sleep 600 & job=$!").await.0, CommandEnd::Code(0));
        let limits = CommandLimits { time: Duration::from_millis(300), ..LIMITS };
        for command in ["echo begun; sleep 600", "sh -c 'sleep 600; true' | cat"] {
            let ran = shell.run(command, limits, &CancellationToken::new()).await.unwrap();
            assert_eq!(ran.end, CommandEnd::DeadlineOfCommand, "{command}");
        }
        assert_eq!(run(&mut shell, "echo $x; kill $job && echo runs").await, well("kept\nruns\n"));
    }

    #[tokio::test]
    async fn a_flood_is_cut_in_its_middle_and_ended_where_it_passes_all_limits() {
        let (_folder, mut shell) = shell();
        let limits = CommandLimits { kept: 10, ..LIMITS };
        let flood = "echo head; head -c 300000000 /dev/zero; echo tail";
        let ran = shell.run(flood, limits, &CancellationToken::new()).await.unwrap();
        assert_eq!((ran.end, ran.written), (CommandEnd::Code(0), 300_000_010));
        assert_eq!(ran.output.text(), "head\n\n[… 300000000 bytes cut …]\ntail\n");
        let limits = CommandLimits { written: 1_000_000, ..LIMITS };
        let ran = shell.run("yes", limits, &CancellationToken::new()).await.unwrap();
        assert_eq!(ran.end, CommandEnd::Flood);
        assert_eq!(run(&mut shell, "echo on").await, well("on\n"));
    }

    #[tokio::test]
    async fn sh_does_where_there_is_no_bash() {
        let (folder, mut shell) = shell();
        let bin = folder.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        std::os::unix::fs::symlink("/bin/sh", bin.join("sh")).unwrap();
        shell.environment = Environment::from([("PATH".into(), bin.into_os_string())]);
        assert_eq!(run(&mut shell, "x=1; cd bin; echo $x").await, well("1\n"));
        let (end, _) = run(&mut shell, "if").await;
        assert!(matches!(end, CommandEnd::Code(1..) | CommandEnd::WithShell(Exit::Code(1..))), "{end:?}");
        assert_eq!(run(&mut shell, "echo \"${PWD##*/}\"").await, well("bin\n"));
    }
}
