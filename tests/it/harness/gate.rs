//! A gate in an agent's script, so that something can happen while it works.

use std::{path::PathBuf, time::Duration};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::unix::pipe,
};

use super::World;

/// The shell's part: say that the agent is here, wait to go on.
pub(crate) const AT_THE_GATE: &str = "echo > {DIR}/arrived; read line < {DIR}/go\n";

/// No agent takes longer to arrive: without it, a failure before the agent would hang the test.
const PATIENCE: Duration = Duration::from_secs(60);

/// Two named pipes: agents arrive, the test lets them go.
pub(crate) struct Gate {
    arrived: pipe::Receiver,
    go: pipe::Sender,
}

impl Gate {
    /// Puts [`AT_THE_GATE`] before `script`.
    pub(crate) fn before(script: &str) -> String {
        format!("{AT_THE_GATE}{script}")
    }

    /// Makes the gate of this world; before any agent starts.
    pub(crate) fn of(world: &World) -> Self {
        let made = |name: &str| -> PathBuf {
            let path = world.dir().join(name);
            mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
            path
        };
        let (arrived, go) = (made("arrived"), made("go"));
        // Opened both ways, so that neither end waits for the other.
        let arrived = pipe::OpenOptions::new().read_write(true).open_receiver(arrived).unwrap();
        let go = pipe::OpenOptions::new().read_write(true).open_sender(go).unwrap();
        Self { arrived, go }
    }

    /// Waits until an agent is at the gate.
    pub(crate) async fn reached(&mut self) {
        tokio::time::timeout(PATIENCE, self.arrived.read_u8()).await.unwrap().unwrap();
    }

    /// Lets one agent go on.
    pub(crate) async fn open(&mut self) {
        self.go.write_all(b"\n").await.unwrap();
    }
}
