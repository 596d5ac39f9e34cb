//! The marker that a long-lived shell writes after each command's output, and its search in the stream.

use std::{ffi::OsString, os::unix::ffi::OsStringExt, path::PathBuf};

use crate::{Captured, quoted::quoted};

/// The first and last byte of a marker: a control character that hardly any program writes.
const SIGN: u8 = 0x1e;
/// The most bytes of a marker; anything longer is not one. A path has 4,096 at most.
const MARKER_MAX: usize = 8 * 1024;

/// The marker of one shell. It contains a secret, so the output of a command is never taken for it.
#[derive(Debug)]
pub(super) struct EndMarker {
    start: Vec<u8>,
    secret: String,
}

impl EndMarker {
    /// A marker with a new secret.
    pub(super) fn new() -> Self {
        let secret = format!("{:032x}", rand::random::<u128>());
        Self { start: [&[SIGN], secret.as_bytes(), b" "].concat(), secret }
    }

    /// The lines that run `command` and print the marker. Descriptor 3 is the pipe, and closed for the command; what a
    /// command does to its own descriptors ends with the braces. `command` before `eval` keeps a plain sh alive if the
    /// text is not a valid script.
    pub(super) fn script(&self, command: &str) -> String {
        let command = quoted(command);
        let secret = &self.secret;
        format!(
            "[ \"$_HOB\" ] || {{ exec 3>&1 2>&1; _HOB=1; }}\n\
             {{ command eval {command}\n}} </dev/null >&3 2>&3 3>&-\n\
             {{ printf '\\036{secret} %s %s\\036' \"$?\" \"$PWD\" >&3; }} 2>/dev/null\n"
        )
    }
}

/// The output of one command, up to its marker.
#[derive(Debug)]
pub(super) struct MarkedOutput {
    kept: Captured,
    cap: usize,
    written: u64,
    /// Bytes that may be the beginning of a marker.
    pending: Vec<u8>,
    folder: Option<PathBuf>,
}

impl MarkedOutput {
    /// No output yet; at most `cap` bytes will be kept.
    pub(super) fn new(cap: usize) -> Self {
        Self { kept: Captured::default(), cap, written: 0, pending: Vec::new(), folder: None }
    }

    /// Takes a piece of output; returns the exit code if it contains the marker. Anything after the marker is dropped:
    /// a background process wrote it.
    pub(super) fn push(&mut self, piece: &[u8], marker: &EndMarker) -> Option<i32> {
        if self.pending.is_empty() && !piece.contains(&SIGN) {
            self.keep(piece);
            return None;
        }
        self.pending.extend_from_slice(piece);
        let bytes = std::mem::take(&mut self.pending);
        let mut from = 0;
        while let Some(found) = bytes[from..].iter().position(|byte| *byte == SIGN) {
            let at = from + found;
            self.keep(&bytes[from..at]);
            let here = &bytes[at..];
            let known = marker.start.len().min(here.len());
            if here[..known] != marker.start[..known] {
                self.keep(&bytes[at..=at]);
                from = at + 1;
                continue;
            }
            match here[known..].iter().position(|byte| *byte == SIGN) {
                Some(end) => return self.read(&here[known..known + end]),
                None if here.len() <= MARKER_MAX => {
                    self.pending = here.to_vec();
                    return None;
                }
                None => {
                    self.keep(&bytes[at..=at]);
                    from = at + 1;
                }
            }
        }
        self.keep(&bytes[from..]);
        None
    }

    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// The shell's folder at the marker.
    pub(super) fn folder(&mut self) -> Option<PathBuf> {
        self.folder.take().filter(|folder| folder.is_absolute())
    }

    /// The kept output, and how many bytes were written in all.
    pub(super) fn finish(mut self) -> (Captured, u64) {
        let rest = std::mem::take(&mut self.pending);
        self.keep(&rest);
        (self.kept, self.written)
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.written += bytes.len() as u64;
        self.kept.push(bytes, self.cap);
    }

    fn read(&mut self, inner: &[u8]) -> Option<i32> {
        let mut parts = inner.splitn(2, |byte| *byte == b' ');
        let code = parts.next().and_then(|code| std::str::from_utf8(code).ok()?.parse().ok());
        self.folder = parts.next().map(|folder| PathBuf::from(OsString::from_vec(folder.to_vec())));
        // Only the shell knows the secret, so the code is a number.
        Some(code.unwrap_or(-1))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_mark_is_found_wherever_the_stream_is_cut(cuts in proptest::collection::vec(0_usize..200, 0..6)) {
            let marker = EndMarker::new();
            let mut stream = b"out\x1eput \x1e".to_vec();
            stream.extend_from_slice(&marker.start[..9]);
            stream.extend_from_slice(b"\n");
            let said = stream.clone();
            stream.extend_from_slice(&marker.start);
            stream.extend_from_slice(b"7 /a b\x1elater");
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(stream.len())).chain([0, stream.len()]).collect();
            cuts.sort_unstable();
            let mut marked = MarkedOutput::new(1000);
            let found = cuts.windows(2).find_map(|pair| marked.push(&stream[pair[0]..pair[1]], &marker));
            prop_assert_eq!(found, Some(7));
            prop_assert_eq!(marked.folder(), Some(PathBuf::from("/a b")));
            let (kept, written) = marked.finish();
            prop_assert_eq!(kept.whole(), Some(said.clone()));
            prop_assert_eq!(written, said.len() as u64);
        }
    }
}
