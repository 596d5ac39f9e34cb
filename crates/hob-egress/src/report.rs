//! The connections of a run: one line for each, and the hosts that were refused.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

/// Refused hosts that are kept.
const DENIED_MAX: usize = 100;
/// Refusals of one run that are warned of, each once.
const WARNED_MAX: usize = 1_000;
/// Characters of a request's target that are reported.
const TARGET_MAX: usize = 200;

/// Whether a connection was let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It was.
    Allowed,
    /// The rules refused it.
    Denied,
}

/// The summary of one connection, without path, query or headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// `host:port`, or `route NAME`.
    pub target: String,
    /// Whether it was let through.
    pub verdict: Verdict,
    /// Why it was refused, or how it ended; empty after an ordinary end.
    pub reason: String,
    /// Bytes from the agent.
    pub sent_bytes: u64,
    /// Bytes to the agent.
    pub received_bytes: u64,
}

/// The callback for each line.
#[derive(Clone)]
pub struct OnLine(Arc<dyn Fn(&Line) + Send + Sync>);

impl OnLine {
    /// Calls `tell`, which must not block.
    pub fn new(tell: impl Fn(&Line) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }
}

impl fmt::Debug for OnLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnLine").finish_non_exhaustive()
    }
}

/// The destination of the lines.
#[derive(Debug)]
pub(crate) struct Log {
    on_line: Option<OnLine>,
    denied: Mutex<BTreeMap<String, String>>,
    /// What was warned of: once a run is enough.
    warned: Mutex<BTreeSet<(String, String)>>,
}

impl Log {
    pub(crate) fn new(on_line: Option<OnLine>) -> Self {
        Self { on_line, denied: Mutex::default(), warned: Mutex::default() }
    }

    /// The refused hosts, as many as are kept, each with the first reason.
    pub(crate) fn denied(&self) -> BTreeMap<String, String> {
        self.denied.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn write(&self, line: &Line) {
        let Line { target, reason, sent_bytes, received_bytes, .. } = line;
        match line.verdict {
            Verdict::Allowed => tracing::info!(
                net.target = %target, sent_bytes, received_bytes, reason = %reason,
                "the agent reached {target}: {sent_bytes} bytes sent, {received_bytes} received"
            ),
            Verdict::Denied => {
                let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
                if warned.len() < WARNED_MAX && warned.insert((target.clone(), reason.clone())) {
                    tracing::warn!(net.target = %target, reason = %reason, "the agent was refused {target}: {reason}");
                }
                drop(warned);
                let mut denied = self.denied.lock().unwrap_or_else(PoisonError::into_inner);
                if denied.len() < DENIED_MAX {
                    denied.entry(target.clone()).or_insert_with(|| reason.clone());
                }
            }
        }
        if let Some(OnLine(tell)) = &self.on_line {
            tell(line);
        }
    }
}

/// One connection while it lives. The line is written when its last owner drops it.
#[derive(Debug)]
pub(crate) struct Entry {
    log: Arc<Log>,
    target: String,
    end: Mutex<(Verdict, String)>,
    sent: AtomicU64,
    received: AtomicU64,
}

/// A direction, as the agent sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Sent,
    Received,
}

impl Entry {
    /// Begins a connection to `target`, of which only printable characters are kept.
    pub(crate) fn new(log: &Arc<Log>, target: &str) -> Arc<Self> {
        // A user before the host may contain a password.
        let target = target.rsplit('@').next().unwrap_or_default();
        let target = target.escape_default().take(TARGET_MAX).collect();
        let end = Mutex::new((Verdict::Allowed, String::new()));
        Arc::new(Self { log: Arc::clone(log), target, end, sent: 0.into(), received: 0.into() })
    }

    /// The rules refused it.
    pub(crate) fn deny(&self, reason: impl fmt::Display) {
        self.set(Verdict::Denied, reason);
    }

    /// It did not end by its two sides, but for this reason.
    pub(crate) fn cut(&self, reason: impl fmt::Display) {
        self.set(Verdict::Allowed, reason);
    }

    /// Counts bytes.
    pub(crate) fn count(&self, way: Way, bytes: u64) {
        let counter = match way {
            Way::Sent => &self.sent,
            Way::Received => &self.received,
        };
        counter.fetch_add(bytes, Ordering::Relaxed);
    }

    fn set(&self, verdict: Verdict, reason: impl fmt::Display) {
        *self.end.lock().unwrap_or_else(PoisonError::into_inner) = (verdict, reason.to_string());
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let (verdict, reason) = self.end.get_mut().unwrap_or_else(PoisonError::into_inner).clone();
        let line = Line {
            target: self.target.clone(),
            verdict,
            reason,
            sent_bytes: *self.sent.get_mut(),
            received_bytes: *self.received.get_mut(),
        };
        self.log.write(&line);
    }
}
