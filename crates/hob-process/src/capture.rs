//! Bounded capture of a stream: the head and the tail are kept, the middle is counted and dropped.

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt},
    task::JoinHandle,
};

use crate::lines::{DataLines, Lines, Watch};

/// Bytes in which the supervisor's final report is searched for.
const LAST: usize = 8 * 1024;

/// The kept part of one output stream.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Captured {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    dropped: u64,
}

impl Captured {
    /// Takes the next bytes of the stream; at most `cap` are kept in all.
    pub(super) fn push(&mut self, bytes: &[u8], cap: usize) {
        let head_room = (cap / 2).saturating_sub(self.head.len());
        let (first, rest) = bytes.split_at(head_room.min(bytes.len()));
        self.head.extend_from_slice(first);
        // In a flood most bytes are dropped: those are counted and never copied.
        let tail_room = cap - cap / 2;
        let (skipped, rest) = rest.split_at(rest.len().saturating_sub(tail_room));
        let excess = (self.tail.len() + rest.len()).saturating_sub(tail_room);
        self.tail.drain(..excess);
        self.tail.extend(rest);
        self.dropped += (skipped.len() + excess) as u64;
    }

    /// The kept bytes as text. Bytes that are not UTF-8 become U+FFFD, and a note marks the cut in the middle.
    pub fn text(&self) -> String {
        let mut bytes = self.head.clone();
        if self.dropped > 0 {
            bytes.extend_from_slice(format!("\n[… {} bytes cut …]\n", self.dropped).as_bytes());
        }
        bytes.extend(&self.tail);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The kept bytes; `None` if the cap cut some away. For output that is parsed, not shown.
    pub fn whole(&self) -> Option<Vec<u8>> {
        (self.dropped == 0).then(|| self.head.iter().chain(&self.tail).copied().collect())
    }

    /// Removes the text that begins with `mark`, within the last [`LAST`] bytes, and returns the rest after it.
    pub(super) fn split_off(&mut self, mark: &str) -> Option<String> {
        let before = (self.head.len() + self.tail.len()).saturating_sub(LAST);
        let last: Vec<u8> = self.head.iter().chain(&self.tail).skip(before).copied().collect();
        let at = last.windows(mark.len()).rposition(|window| window == mark.as_bytes())?;
        let behind = String::from_utf8_lossy(&last[at + mark.len()..]).trim_end().to_owned();
        self.tail.truncate((before + at).saturating_sub(self.head.len()));
        self.head.truncate(before + at);
        Some(behind)
    }

    /// The number of bytes that the cap cut away.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

/// Callbacks that get the lines of a stream while it is read.
#[derive(Default, Clone)]
pub(super) struct Watchers {
    /// Sees lines that are fit to be shown.
    pub(super) shown: Option<Watch>,
    /// Sees lines as they came.
    pub(super) data: Option<Watch>,
}

impl Watchers {
    /// The same watchers, who do not get lines that begin so.
    pub(super) fn but_for(self, beginning: String) -> Self {
        let beginning = Arc::<str>::from(beginning);
        let but = |watch: Watch| -> Watch {
            let beginning = Arc::clone(&beginning);
            Arc::new(move |line: &str| {
                if !line.starts_with(&*beginning) {
                    watch(line);
                }
            })
        };
        Self { shown: self.shown.map(but), data: self.data.map(but) }
    }
}

/// A capture in progress. The bytes so far are shared with the task that reads, so that they survive a stream that
/// never ends.
#[derive(Debug)]
pub(super) struct Capture {
    kept: Arc<Mutex<Captured>>,
    reader: JoinHandle<io::Result<()>>,
}

impl Capture {
    /// Starts to read `stream` to its end and to keep at most `cap` bytes: the first half and the last half.
    /// `watchers` see each line as it comes.
    pub(super) fn start(
        stream: Option<impl AsyncRead + Unpin + Send + 'static>,
        cap: usize,
        watchers: Watchers,
    ) -> Self {
        let kept = Arc::new(Mutex::new(Captured::default()));
        let shared = Arc::clone(&kept);
        let reader = tokio::spawn(async move {
            let Some(mut stream) = stream else { return Ok(()) };
            let mut buffer = vec![0; 16 * 1024];
            let (mut lines, mut data) = (Lines::default(), DataLines::default());
            loop {
                let count = stream.read(&mut buffer).await?;
                if let Some(watch) = &watchers.shown {
                    lines.push(&buffer[..count], watch);
                }
                if let Some(watch) = &watchers.data {
                    data.push(&buffer[..count], watch);
                    if count == 0 {
                        data.end(watch);
                    }
                }
                if count == 0 {
                    return Ok(());
                }
                shared.lock().unwrap_or_else(PoisonError::into_inner).push(&buffer[..count], cap);
            }
        });
        Self { kept, reader }
    }

    /// Returns what was kept once the stream ended, or after `patience`: a process that left the group may hold the
    /// pipe open for ever, and the output so far is still worth having.
    pub(super) async fn finish(mut self, patience: Duration) -> io::Result<Captured> {
        match tokio::time::timeout(patience, &mut self.reader).await {
            Ok(joined) => joined.map_err(io::Error::other)??,
            Err(_elapsed) => self.reader.abort(),
        }
        Ok(std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        self.reader.abort();
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

    #[test]
    fn what_the_supervisor_says_at_the_end_is_no_output() {
        for cap in [200, 70, 60] {
            let mut kept = Captured::default();
            kept.push(b"a line of the child's\nthe last", cap);
            kept.push(b"\nhob 12: no 1, 2\n", cap);
            let before = kept.text();
            assert_eq!(kept.split_off("\nhob 12: ").as_deref(), Some("no 1, 2"), "{cap} {before}");
            assert!(kept.text().ends_with("the last"), "{cap} {}", kept.text());
            assert_eq!(kept.split_off("\nhob 12: "), None);
        }
    }

    #[tokio::test]
    async fn what_was_read_of_a_stream_that_never_ends_is_kept() {
        let (mut writer, reader) = tokio::io::duplex(64);
        let capture = Capture::start(Some(reader), 100, Watchers::default());
        tokio::io::AsyncWriteExt::write_all(&mut writer, b"so far").await.unwrap();
        while capture.kept.lock().unwrap().head.is_empty() {
            tokio::task::yield_now().await;
        }
        assert_eq!(capture.finish(Duration::ZERO).await.unwrap().text(), "so far");
    }
}
