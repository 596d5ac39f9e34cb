//! Git's own programs as child processes: their environment, their start, their input and messages.

use std::{path::Path, process::Stdio};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    process::{Child, Command},
};

/// The variables that git inherits: the paths of programs and temporary files, the language and the time zone.
const INHERITED: [&str; 6] = ["PATH", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE", "TZ"];
/// The most bytes of a child's messages that are logged.
const MESSAGES_MAX: u64 = 16 << 10;

/// `git` in its own process group, with piped streams and without the settings of the system and the user. The caller
/// enforces a deadline: dropping the child kills it.
pub(in super::super) fn program(home: &Path) -> Command {
    #[expect(clippy::disallowed_methods, reason = "this crate depends on no other crate of the workspace")]
    let mut command = Command::new("git");
    #[expect(clippy::disallowed_methods, reason = "the one place of this crate that reads the environment")]
    let inherited = INHERITED.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
    command.env_clear().envs(inherited);
    command.env("HOME", home).env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    command.process_group(0).kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Starts the child, and logs what it writes to standard error.
pub(in super::super) fn spawn(mut command: Command) -> std::io::Result<Child> {
    let mut child = command.spawn()?;
    if let Some(mut stderr) = child.stderr.take() {
        tokio::spawn(async move {
            let mut text = Vec::new();
            (&mut stderr).take(MESSAGES_MAX).read_to_end(&mut text).await.ok();
            if !text.is_empty() {
                tracing::debug!("git said: {}", String::from_utf8_lossy(&text));
            }
            // The rest is read and dropped: a child whose pipe is full waits for ever.
            tokio::io::copy(&mut stderr, &mut tokio::io::sink()).await.ok();
        });
    }
    Ok(child)
}

/// Writes `input` to the child's standard input, and closes it.
pub(in super::super) fn feed(child: &mut Child, mut input: impl AsyncRead + Unpin + Send + 'static) {
    if let Some(mut stdin) = child.stdin.take() {
        tokio::spawn(async move {
            // A child that has refused the request may stop reading: its answer says why.
            tokio::io::copy(&mut input, &mut stdin).await.ok();
            stdin.shutdown().await.ok();
        });
    }
}
