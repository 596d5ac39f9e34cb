//! The audit trail outside of the repository: each deed is told to the setting's sink as it happens, so that no writer of the
//! repository can change what was told.
//!
//! # Guarantees
//! - When a step of the ledger returns, its deeds are in the sink, or in the folder `STATE/audit` until they are: told later in
//!   order, by the next deed or the next start, once, or twice under the same id. If neither can be written, an error says so.
//! - No attempt fails or waits for the sink: a file and a local socket are written at once, an address in the background, and
//!   at the end of an attempt for as long as one notification may take.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    os::unix::{fs::OpenOptionsExt as _, net::UnixDatagram},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use hob_config::{AuditSink, Webhook};
use hob_domain::Audited;
use hob_text::{KnownSecrets, value_without_tokens};
use tokio::time::Instant;

use crate::{
    WorkError,
    webhook::{Delivery, Receiver, WebhookError},
};

/// Deeds that are kept until they can be told; more are lost, which is an error in the log.
const KEPT_MAX: usize = 10_000;
/// The pause after an address that did not take a deed.
const PAUSE: Duration = Duration::from_secs(30);
/// RFC 5424: facility 13, log audit, and severity 6, informational.
const PRIORITY: u32 = 13 * 8 + 6;

/// Tells deeds to a sink.
pub(super) struct Audit {
    sink: Sink,
    /// Deeds that are not told yet, one file each, by name in their order.
    folder: PathBuf,
    secrets: KnownSecrets,
    /// One writer of the folder in this process at a time.
    turn: Mutex<()>,
    count: AtomicU64,
    /// Whether the sink failed last, so that an outage is told once.
    fails: AtomicBool,
    /// One delivery to the address at a time, and none before this.
    not_before: tokio::sync::Mutex<Option<Instant>>,
}

/// Why deeds were not told.
#[derive(Debug, thiserror::Error)]
enum NotTold {
    /// The file, the socket, or the folder of what is kept.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The address.
    #[error("{0}")]
    Address(#[from] WebhookError),
}

enum Sink {
    File(PathBuf),
    Syslog(PathBuf),
    Address(Receiver),
}

impl Audit {
    /// The audit trail of a process. An address is posted to as notifications are, and signed with the same secret.
    pub(super) fn new(
        sink: AuditSink,
        state_dir: &Path,
        webhook: Webhook,
        secrets: KnownSecrets,
    ) -> Result<Self, WorkError> {
        let sink = match sink {
            AuditSink::File(path) => Sink::File(path),
            AuditSink::Syslog(path) => Sink::Syslog(path),
            AuditSink::Address(url) => {
                let url = secrecy::SecretString::from(String::from(url));
                secrets.add([url.clone()]);
                Sink::Address(Receiver::new(Webhook { url, ..webhook })?)
            }
        };
        Ok(Self {
            sink,
            folder: state_dir.join("audit"),
            secrets,
            turn: Mutex::default(),
            count: AtomicU64::default(),
            fails: AtomicBool::default(),
            not_before: tokio::sync::Mutex::default(),
        })
    }

    /// Tells these deeds, or keeps them.
    pub(super) fn tell(self: &Arc<Self>, deeds: &[Audited]) {
        if deeds.is_empty() {
            return;
        }
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        for deed in deeds {
            let kept = self.line(deed).and_then(|line| self.keep(deed, &line));
            if let Err(error) = kept {
                tracing::error!(issue = deed.issue.0, %error, "a deed of issue {} is in no audit trail: {error}", deed.issue);
            }
        }
        self.begin_to_tell();
    }

    /// Tells what is kept: at once, or to an address in the background.
    pub(super) fn begin_to_tell(self: &Arc<Self>) {
        match self.sink {
            Sink::Address(_) => {
                let audit = Arc::clone(self);
                drop(tokio::spawn(async move { audit.deliver().await }));
            }
            Sink::File(_) | Sink::Syslog(_) => self.tell_kept(),
        }
    }

    /// Tells what is left, and does not wait for longer than a notification may take.
    pub(super) async fn settle(&self) {
        match &self.sink {
            Sink::Address(receiver) => {
                drop(tokio::time::timeout(receiver.timeout(), self.deliver()).await);
            }
            Sink::File(_) | Sink::Syslog(_) => {
                let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
                self.tell_kept();
            }
        }
    }

    fn line(&self, deed: &Audited) -> io::Result<String> {
        let mut value = serde_json::to_value(deed)?;
        value["event"] = "deed".into();
        value["version"] = 1.into();
        Ok(value_without_tokens(self.secrets.redaction().value(&value).into_owned()).to_string())
    }

    fn keep(&self, deed: &Audited, line: &str) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        if self.kept()?.len() >= KEPT_MAX {
            return Err(io::Error::other(format!("{KEPT_MAX} deeds wait in {} already", self.folder.display())));
        }
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let name = format!("{:016}-{}-{number:08}", deed.at.timestamp_millis(), std::process::id());
        let new = self.folder.join(format!("{name}.new"));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
        file.write_all(line.as_bytes())?;
        file.sync_all()?;
        fs::rename(new, self.folder.join(name))
    }

    /// The files of deeds that are not told yet, the oldest first.
    fn kept(&self) -> io::Result<Vec<PathBuf>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let paths: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
        let mut paths: Vec<PathBuf> = paths.into_iter().filter(|path| path.extension().is_none()).collect();
        paths.sort();
        Ok(paths)
    }

    /// Writes what is kept to the file or the socket. Another process that does so has its turn first.
    fn tell_kept(&self) {
        let told = self.locked().and_then(|lock| {
            let Some(_lock) = lock else { return Ok(()) };
            for path in self.kept()? {
                self.write(&fs::read_to_string(&path)?)?;
                fs::remove_file(path)?;
            }
            Ok(())
        });
        self.note(told.map_err(NotTold::from));
    }

    fn write(&self, line: &str) -> io::Result<()> {
        match &self.sink {
            Sink::File(path) => {
                let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
                file.write_all(format!("{line}\n").as_bytes())?;
                file.sync_data()
            }
            Sink::Syslog(path) => {
                let socket = UnixDatagram::unbound()?;
                socket.set_nonblocking(true)?;
                let at = serde_json::from_str::<serde_json::Value>(line)?["at"].as_str().unwrap_or("-").to_owned();
                let message = format!("<{PRIORITY}>1 {at} - hob {} deed - {line}", std::process::id());
                socket.send_to(message.as_bytes(), path).map(drop)
            }
            Sink::Address(_) => Ok(()),
        }
    }

    /// Posts what is kept, until the receiver does not take one.
    async fn deliver(&self) {
        let Sink::Address(receiver) = &self.sink else { return };
        let mut not_before = self.not_before.lock().await;
        if not_before.is_some_and(|at| Instant::now() < at) {
            return;
        }
        let told = self.post_kept(receiver).await;
        *not_before = told.is_err().then(|| Instant::now() + PAUSE);
        self.note(told);
    }

    async fn post_kept(&self, receiver: &Receiver) -> Result<(), NotTold> {
        let Some(_lock) = self.locked()? else { return Ok(()) };
        for path in self.kept()? {
            let body = fs::read_to_string(&path)?;
            let id = serde_json::from_str::<serde_json::Value>(&body).ok();
            let id = id.and_then(|value| value["id"].as_str().map(ToOwned::to_owned)).unwrap_or_default();
            receiver.deliver(&Delivery { id, event: "deed", body }).await?;
            fs::remove_file(path)?;
        }
        Ok(())
    }

    /// The right to tell what is kept; `None` while another process has it.
    fn locked(&self) -> io::Result<Option<File>> {
        fs::create_dir_all(&self.folder)?;
        let lock = OpenOptions::new().write(true).create(true).truncate(false).open(self.folder.join("turn.lock"))?;
        match lock.try_lock() {
            Ok(()) => Ok(Some(lock)),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }

    /// Says once that the sink fails, and once that it does not any more.
    fn note(&self, told: Result<(), NotTold>) {
        match (told, self.fails.load(Ordering::Relaxed)) {
            (Err(why), false) => {
                let folder = self.folder.display();
                tracing::warn!(error = %why, "the audit trail cannot be written, deeds are kept in {folder} and told later: {why}");
                self.fails.store(true, Ordering::Relaxed);
            }
            (Ok(()), true) => {
                tracing::info!("the audit trail is written again");
                self.fails.store(false, Ordering::Relaxed);
            }
            (Err(_), true) | (Ok(()), false) => {}
        }
    }
}
