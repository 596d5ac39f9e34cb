//! The hosts that a run's programs reached through Hob's proxy, and how much went there.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use hob_egress::{Line, OnLine, Verdict};

/// Hosts that are kept of one run.
const HOSTS_MAX: usize = 1_000;

/// The hosts of a run. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Reached(Arc<Mutex<BTreeMap<String, Traffic>>>);

/// What went to a host, over all connections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes to the host.
    pub sent_bytes: u64,
    /// Bytes from it.
    pub received_bytes: u64,
    /// Connections that the rules refused.
    pub refused: u64,
}

impl Reached {
    /// Each `host:port`, or `route NAME`, with what went there.
    pub fn hosts(&self) -> BTreeMap<String, Traffic> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The callback that counts.
    pub(super) fn counting(&self) -> OnLine {
        let hosts = Arc::clone(&self.0);
        OnLine::new(move |line| count(&mut hosts.lock().unwrap_or_else(PoisonError::into_inner), line))
    }
}

fn count(hosts: &mut BTreeMap<String, Traffic>, line: &Line) {
    if hosts.len() >= HOSTS_MAX && !hosts.contains_key(&line.target) {
        return;
    }
    let traffic = hosts.entry(line.target.clone()).or_default();
    traffic.sent_bytes += line.sent_bytes;
    traffic.received_bytes += line.received_bytes;
    traffic.refused += u64::from(line.verdict == Verdict::Denied);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_to_a_host_are_added_up() {
        let mut hosts = BTreeMap::new();
        let line = |target: &str, verdict| Line {
            target: target.to_owned(),
            verdict,
            reason: String::new(),
            sent_bytes: 10,
            received_bytes: 200,
        };
        for (target, verdict) in [
            ("a.example:443", Verdict::Allowed),
            ("b.example:443", Verdict::Denied),
            ("a.example:443", Verdict::Allowed),
        ] {
            count(&mut hosts, &line(target, verdict));
        }
        assert_eq!(hosts["a.example:443"], Traffic { sent_bytes: 20, received_bytes: 400, refused: 0 });
        assert_eq!(hosts["b.example:443"].refused, 1);
    }
}
