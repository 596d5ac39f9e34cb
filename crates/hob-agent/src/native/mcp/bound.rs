//! The limit on what a server sends from one request to the next, and the reason why it was cut off.

use std::sync::{
    OnceLock,
    atomic::{AtomicUsize, Ordering},
};

use rmcp::model::ServerJsonRpcMessage;

use crate::report::first_line;

/// Bytes of one message.
const MESSAGE_MAX: usize = 4 << 20;
/// Bytes between two requests.
const BYTES_MAX: usize = 16 << 20;
/// Messages between two requests: answers, reports of progress, requests of the server's own.
const MESSAGES_MAX: usize = 2_000;

/// Counts what a server sent since the last request.
#[derive(Debug, Default)]
pub(super) struct Bound {
    bytes: AtomicUsize,
    messages: AtomicUsize,
    fault: OnceLock<String>,
}

/// A server that was cut off; the bound knows why.
#[derive(Debug, thiserror::Error)]
#[error("the server was cut off")]
pub(super) struct CutOff;

impl Bound {
    /// A request goes out.
    pub(super) fn asked(&self) {
        self.bytes.store(0, Ordering::Relaxed);
        self.messages.store(0, Ordering::Relaxed);
    }

    /// Counts `bytes` of a message that has `so_far` with them.
    pub(super) fn came(&self, bytes: usize, so_far: usize) -> Result<(), CutOff> {
        let all = self.bytes.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if so_far > MESSAGE_MAX {
            return Err(self.cut_off(format!("it sent a message of more than {MESSAGE_MAX} bytes")));
        }
        if all > BYTES_MAX {
            return Err(self.cut_off(format!("it sent more than {BYTES_MAX} bytes for one request")));
        }
        Ok(())
    }

    /// Reads a message.
    pub(super) fn read(&self, text: &[u8]) -> Result<ServerJsonRpcMessage, CutOff> {
        if self.messages.fetch_add(1, Ordering::Relaxed) >= MESSAGES_MAX {
            return Err(self.cut_off(format!("it sent more than {MESSAGES_MAX} messages for one request")));
        }
        serde_json::from_slice(text).map_err(|_| {
            let text = String::from_utf8_lossy(&text[..text.len().min(200)]).into_owned();
            self.cut_off(format!("it sent something that is not JSON-RPC: `{}`", first_line(&text, 80)))
        })
    }

    /// Why it was cut off, if it was.
    pub(super) fn fault(&self) -> Option<&str> {
        self.fault.get().map(String::as_str)
    }

    fn cut_off(&self, why: String) -> CutOff {
        // Only the first reason is meaningful.
        self.fault.set(why).ok();
        CutOff
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_bounded_from_one_request_to_the_next() {
        let bound = Bound::default();
        for _ in 0..5 {
            bound.asked();
            bound.came(BYTES_MAX, MESSAGE_MAX).unwrap();
        }
        bound.came(1, 1).unwrap_err();
        assert!(bound.fault().unwrap().contains("bytes for one request"));
        let ping = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let bound = Bound::default();
        assert!((0..MESSAGES_MAX).all(|_| bound.read(ping).is_ok()));
        bound.read(ping).unwrap_err();
        assert!(bound.fault().unwrap().contains("messages"));
    }

    #[test]
    fn what_is_no_message_is_told_in_one_short_line() {
        for (text, says) in [
            ("ready on port 8000\nx", "it sent something that is not JSON-RPC: `ready on port 8000 …`"),
            ("{\"jsonrpc\":\"1.0\"}", "it sent something that is not JSON-RPC: `{\"jsonrpc\":\"1.0\"}`"),
            ("\u{fffd}", "it sent something that is not JSON-RPC: `\u{fffd}`"),
        ] {
            let bound = Bound::default();
            bound.read(text.as_bytes()).unwrap_err();
            assert_eq!(bound.fault(), Some(says));
        }
        let bound = Bound::default();
        bound.came(1, MESSAGE_MAX + 1).unwrap_err();
        assert!(bound.fault().unwrap().contains("a message of more than"));
    }
}
