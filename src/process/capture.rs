//! Bounded capture of a stream: the head and the tail are kept, the middle is counted and dropped.

use std::collections::VecDeque;

use tokio::io::{AsyncRead, AsyncReadExt};

/// What was kept of one output stream.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Captured {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    dropped: u64,
}

impl Captured {
    /// Reads `stream` to its end and keeps at most `cap` bytes: the first half and the last half.
    pub(super) async fn read(mut stream: impl AsyncRead + Unpin, cap: usize) -> std::io::Result<Self> {
        let mut kept = Self::default();
        let mut buffer = vec![0; 16 * 1024];
        loop {
            let count = stream.read(&mut buffer).await?;
            if count == 0 {
                return Ok(kept);
            }
            kept.push(&buffer[..count], cap);
        }
    }

    fn push(&mut self, mut bytes: &[u8], cap: usize) {
        let head_room = (cap / 2).saturating_sub(self.head.len());
        let (first, rest) = bytes.split_at(head_room.min(bytes.len()));
        self.head.extend_from_slice(first);
        bytes = rest;
        self.tail.extend(bytes);
        let excess = self.tail.len().saturating_sub(cap - cap / 2);
        self.tail.drain(..excess);
        self.dropped += excess as u64;
    }

    /// The kept bytes as text; bytes that are not UTF-8 become U+FFFD, and a note stands where the middle was cut.
    pub fn text(&self) -> String {
        let mut bytes = self.head.clone();
        if self.dropped > 0 {
            bytes.extend_from_slice(format!("\n[… {} bytes cut …]\n", self.dropped).as_bytes());
        }
        bytes.extend(&self.tail);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The kept bytes, or nothing where the cap cut some away: for output that is parsed, not shown.
    pub fn whole(&self) -> Option<Vec<u8>> {
        (self.dropped == 0).then(|| self.head.iter().chain(&self.tail).copied().collect())
    }

    /// How many bytes the cap cut away.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_and_the_tail_are_kept_and_the_middle_is_counted() {
        let mut kept = Captured::default();
        for chunk in b"0123456789abcdef".chunks(3) {
            kept.push(chunk, 6);
        }
        assert_eq!(kept.text(), "012\n[… 10 bytes cut …]\ndef");
        assert_eq!(kept.whole(), None);
    }

    #[test]
    fn output_below_the_cap_is_whole() {
        let mut kept = Captured::default();
        kept.push(b"hello", 6);
        assert_eq!(kept.whole().as_deref(), Some(&b"hello"[..]));
    }
}
