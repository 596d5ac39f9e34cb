//! Reads `git log --patch` and says in how many commits Hob would have found secrets. `scripts/secret_alarms.py` runs it.

#![expect(clippy::print_stdout, reason = "it is a program")]

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, BufRead},
};

use hob_text::secrets_in;

#[derive(Default)]
struct Seen {
    commits: u64,
    alarms: BTreeSet<u64>,
    kinds: BTreeMap<String, u64>,
    added: Vec<u8>,
    removed: Vec<u8>,
}

impl Seen {
    /// A file's part of a commit is over.
    fn file_ends(&mut self) {
        let before = secrets_in(&self.removed);
        for (kind, _) in secrets_in(&self.added).difference(&before) {
            self.alarms.insert(self.commits);
            *self.kinds.entry(kind.to_string()).or_default() += 1;
        }
        self.added.clear();
        self.removed.clear();
    }
}

fn main() -> io::Result<()> {
    let (mut seen, mut line) = (Seen::default(), Vec::new());
    let mut input = io::stdin().lock();
    while input.read_until(b'\n', &mut line)? > 0 {
        match line.as_slice() {
            text if text.starts_with(b"commit ") => {
                seen.file_ends();
                seen.commits += 1;
            }
            text if text.starts_with(b"diff --git ") => seen.file_ends(),
            [b'+', rest @ ..] => seen.added.extend(rest),
            [b'-', rest @ ..] => seen.removed.extend(rest),
            _other => {}
        }
        line.clear();
    }
    seen.file_ends();
    let kinds: Vec<_> = seen.kinds.iter().map(|(kind, count)| format!("{count} × {kind}")).collect();
    println!("{}\t{}\t{}", seen.commits, seen.alarms.len(), kinds.join(", "));
    Ok(())
}
