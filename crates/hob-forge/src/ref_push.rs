//! The request and the report of a push that moves ledgers' refs to commits that Hob makes itself: git's own protocol in one
//! exchange, without a git process and without a folder.
//!
//! # Flow
//! [`LedgerCommit::new`] makes a commit, [`request`] the updates and the pack that holds them, [`report`] reads the answer. The trees of
//! the commits and their parents are on the server, so the pack needs nothing else.
//!
//! # Guarantees
//! An update names the commit that the ref must be at: the server moves it from there or not at all.
//!
//! # Assumptions
//! The server's state is known from the API, so the refs are not listed first. What GitHub runs for a push over HTTP reads the
//! update and the pack, and lists refs only for a request that asks for it (`docs/design/github.md`, "Refs and the ledger").

use hob_domain::{Sha, Timestamp};
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};

/// What each request asks for: nothing beside the report.
const CAPABILITIES: &str = concat!("report-status agent=hob/", env!("CARGO_PKG_VERSION"));
/// What one whose updates depend on each other asks for, too: all of them or none.
const ATOMIC: &str = " atomic";
/// A ref that does not exist.
const NOTHING: &str = "0000000000000000000000000000000000000000";
/// The longest payload of a packet, in bytes.
const PACKET_MAX: usize = 65_516;
/// The type of an object in a pack.
const COMMIT: u8 = 1;
/// The longest block of zlib's format that is stored as it is, in bytes.
const BLOCK_MAX: usize = 65_535;

/// The author of the ledgers' commits. Each record names the worker.
const AUTHOR: &str = "Hob <hob@localhost>";

/// A commit that is not on the server yet.
#[derive(Debug)]
pub(super) struct LedgerCommit {
    pub(super) sha: Sha,
    content: Vec<u8>,
}

impl LedgerCommit {
    /// A commit with this message after `parent`. `None` if an id is not one of SHA-1.
    pub(super) fn new(parent: Option<&Sha>, tree: &Sha, message: &str, at: Timestamp) -> Option<Self> {
        let is_known = |sha: &Sha| sha.as_str().len() == NOTHING.len() && sha.as_str().bytes().all(is_hexadecimal);
        if !is_known(tree) || !parent.is_none_or(is_known) {
            return None;
        }
        let parent = parent.map(|parent| format!("parent {parent}\n")).unwrap_or_default();
        let by = format!("{AUTHOR} {} +0000", at.timestamp());
        let content = format!("tree {tree}\n{parent}author {by}\ncommitter {by}\n\n{message}").into_bytes();
        let sha = hexadecimal(&sha1(&[format!("commit {}\0", content.len()).as_bytes(), &content].concat()));
        Some(Self { sha: Sha(sha), content })
    }

    /// The commit as an object of a pack. <https://git-scm.com/docs/gitformat-pack>
    pub(super) fn packed(&self) -> Vec<u8> {
        // The type and the lowest four bits of the size, then seven bits a byte; the highest bit says that more follow.
        let (mut rest, mut packed) = (self.content.len() >> 4, Vec::new());
        let mut byte = (COMMIT << 4) | (self.content.len() & 0xf) as u8;
        while rest > 0 {
            packed.push(byte | 0x80);
            byte = (rest & 0x7f) as u8;
            rest >>= 7;
        }
        packed.push(byte);
        packed.extend(stored(&self.content));
        packed
    }
}

/// A ref that is to move from where it was read to a new commit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Update<'a> {
    /// Its full name.
    pub(super) name: &'a str,
    pub(super) from: Option<&'a Sha>,
    pub(super) to: &'a LedgerCommit,
}

/// Whether some of the updates of a push may be made without the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Updates {
    /// Each by itself.
    Independent,
    /// All or none.
    Atomic,
}

/// The body of a push.
pub(super) fn request(updates: &[Update<'_>], kind: Updates) -> Vec<u8> {
    let atomic = if kind == Updates::Atomic { ATOMIC } else { "" };
    let mut body = Vec::new();
    for (index, Update { name, from, to }) in updates.iter().enumerate() {
        let capabilities = if index == 0 { format!("\0{CAPABILITIES}{atomic}") } else { String::new() };
        let line = format!("{} {} {name}{capabilities}", from.map_or(NOTHING, Sha::as_str), to.sha);
        body.extend(format!("{:04x}{line}", line.len() + 4).into_bytes());
    }
    body.extend(b"0000");
    body.extend(pack(updates));
    body
}

/// A pack of the updates' commits.
fn pack(updates: &[Update<'_>]) -> Vec<u8> {
    let count = updates.len() as u32;
    let mut pack = [b"PACK".as_slice(), &2_u32.to_be_bytes(), &count.to_be_bytes()].concat();
    for Update { to: commit, .. } in updates {
        pack.extend(commit.packed());
    }
    let sum = sha1(&pack);
    pack.extend(sum);
    pack
}

/// The bytes in zlib's format (RFC 1950), not compressed: a record is a few kilobytes, and a compressor's tables are 250 kB on the
/// stack.
fn stored(content: &[u8]) -> Vec<u8> {
    let mut stream = vec![0x78, 0x01];
    let mut blocks = content.chunks(BLOCK_MAX).peekable();
    while let Some(block) = blocks.next() {
        let length = (block.len() as u16).to_le_bytes();
        stream.push(u8::from(blocks.peek().is_none()));
        stream.extend(length.into_iter().chain(length.map(|byte| !byte)).chain(block.iter().copied()));
    }
    // Adler-32.
    let (low, high) = content.iter().fold((1_u32, 0_u32), |(low, high), byte| {
        let low = (low + u32::from(*byte)) % 65_521;
        (low, (high + low) % 65_521)
    });
    stream.extend(((high << 16) | low).to_be_bytes());
    stream
}

/// What a report says of one ref.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Report {
    /// The ref moved.
    Done,
    /// It did not, for this reason.
    Refused(String),
}

/// The reports about these refs, in their order. `None` if one is missing.
pub(super) fn report<'a>(body: &[u8], names: impl Iterator<Item = &'a str>) -> Option<Vec<Report>> {
    let lines = packets(body)?;
    let (unpacked, lines) = lines.split_first()?;
    let unpacked = unpacked.strip_prefix("unpack ")?;
    let of_one = |name: &str| {
        if unpacked != "ok" {
            return Some(Report::Refused(unpacked.to_owned()));
        }
        lines.iter().find_map(|line| match line.split_once(' ')? {
            ("ok", of) if of == name => Some(Report::Done),
            ("ng", of) => Some(Report::Refused(of.strip_prefix(name)?.strip_prefix(' ')?.to_owned())),
            _other => None,
        })
    };
    names.map(of_one).collect()
}

/// The packets before the first flush, as text without the end of their lines. `None` if that is not what the bytes are.
fn packets(mut body: &[u8]) -> Option<Vec<String>> {
    let mut lines = Vec::new();
    loop {
        let (length, rest) = body.split_at_checked(4)?;
        let length = usize::from_str_radix(std::str::from_utf8(length).ok()?, 16).ok()?;
        if length == 0 {
            return Some(lines);
        }
        let (line, rest) = rest.split_at_checked(length.checked_sub(4).filter(|length| *length <= PACKET_MAX)?)?;
        lines.push(String::from_utf8_lossy(line).trim_end_matches('\n').to_owned());
        body = rest;
    }
}

fn sha1(bytes: &[u8]) -> Vec<u8> {
    digest(&SHA1_FOR_LEGACY_USE_ONLY, bytes).as_ref().to_vec()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn is_hexadecimal(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

    fn commit() -> LedgerCommit {
        let at = Timestamp::from_timestamp(1_700_000_000, 0).unwrap();
        LedgerCommit::new(None, &Sha(EMPTY_TREE.to_owned()), "began\n\n{}\n", at).unwrap()
    }

    fn said(report_of: &str) -> Option<Report> {
        report(report_of.as_bytes(), ["refs/hob/issues/7"].into_iter())?.pop()
    }

    /// The id is what `git hash-object -t commit` prints for the same bytes.
    #[test]
    fn a_commit_has_the_id_that_git_gives_it() {
        assert_eq!(commit().sha.as_str(), "1957a7d2e6cb2859485d0688f2f2f765dead2d65");
        let long = Sha("0".repeat(64));
        assert!(LedgerCommit::new(Some(&long), &Sha(EMPTY_TREE.to_owned()), "x", Timestamp::default()).is_none());
        assert!(LedgerCommit::new(None, &Sha("x".repeat(40)), "x", Timestamp::default()).is_none());
    }

    /// Beyond one block, too; the sums are those of Python's `zlib.adler32`.
    #[test]
    fn content_is_stored_in_blocks() {
        assert_eq!(stored(b"hob"), [0x78, 1, 1, 3, 0, 0xfc, 0xff, b'h', b'o', b'b', 2, 0x7b, 1, 0x3a]);
        let long = stored(&vec![b'x'; BLOCK_MAX + 2]);
        assert_eq!((long[2], long.len()), (0, 2 + 5 + BLOCK_MAX + 5 + 2 + 4));
        assert_eq!(long[7 + BLOCK_MAX..][..5], [1, 2, 0, 0xfd, 0xff]);
        assert_eq!(long[long.len() - 4..], [0x3f, 0xd0, 0x07, 0x81]);
    }

    #[test]
    fn a_report_is_done_only_if_the_ref_moved() {
        assert_eq!(said("000eunpack ok\n0019ok refs/hob/issues/7\n0000"), Some(Report::Done));
        let stale = "000eunpack ok\n002eng refs/hob/issues/7 failed to update ref\n0000";
        assert_eq!(said(stale), Some(Report::Refused("failed to update ref".to_owned())));
        let missing = "001bunpack missing objects\n0000";
        assert_eq!(said(missing), Some(Report::Refused("missing objects".to_owned())));
        // Of two refs each has its own; one without a line says nothing.
        let two = "000eunpack ok\n0019ok refs/hob/issues/7\n0018ng refs/hob/x stale\n0000";
        let names = ["refs/hob/x", "refs/hob/issues/7"];
        let said_of_both = report(two.as_bytes(), names.into_iter());
        assert_eq!(said_of_both, Some(vec![Report::Refused("stale".to_owned()), Report::Done]));
        assert_eq!(report(two.as_bytes(), ["refs/hob/issues/7", "refs/hob/y"].into_iter()), None);
        // Another ref, no ref, no end, and what is not a report.
        for not in [
            "000eunpack ok\n0019ok refs/hob/issues/8\n0000",
            "000eunpack ok\n0000",
            "000eunpack ok\n",
            "0000",
            "<html>",
            "zzzz",
            "0003",
        ] {
            assert_eq!(said(not), None, "{not}");
        }
    }
}
