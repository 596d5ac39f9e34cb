//! Reads a unified diff, with git's headers: names, modes, empty files.

use crate::native::tools::patch::change::{Change, ChangeKind, Hunk, InvalidPatch, header, hunk_line};

/// What git's header of a file says beside the names of the diff.
#[derive(Debug, Default)]
struct GitHeader {
    /// The names in its first line.
    names: String,
    from: Option<String>,
    to: Option<String>,
    mode: Option<bool>,
    is_new: bool,
    is_deleted: bool,
}

impl GitHeader {
    /// Takes one of its lines.
    fn take(&mut self, line: &str) -> Result<(), InvalidPatch> {
        let is_executable = |mode: &str| Some(mode.trim().ends_with("755"));
        if let Some(from) = line.strip_prefix("rename from ") {
            self.from = Some(unquoted(from));
        } else if let Some(to) = line.strip_prefix("rename to ") {
            self.to = Some(unquoted(to));
        } else if let Some(from) = line.strip_prefix("copy from ") {
            return Err(InvalidPatch::Copy(unquoted(from)));
        } else if let Some(mode) = line.strip_prefix("new file mode ") {
            (self.is_new, self.mode) = (true, is_executable(mode).filter(|is_executable| *is_executable));
        } else if line.starts_with("deleted file mode ") {
            self.is_deleted = true;
        } else if let Some(mode) = line.strip_prefix("new mode ") {
            self.mode = is_executable(mode);
        } else if line.starts_with("Binary files ") || line.starts_with("GIT binary patch") {
            return Err(InvalidPatch::Binary(self.path().unwrap_or_default()));
        }
        Ok(())
    }

    /// The name of the file, where its first line has the same twice.
    fn path(&self) -> Option<String> {
        let names = self.names.trim();
        let (first, second) = names.split_at_checked(names.len() / 2)?;
        let (first, second) = (name(first)?, name(second.trim_start())?);
        (first == second).then_some(first)
    }

    /// The change of a file whose lines stay as they are; `None` if nothing changes.
    fn alone(self) -> Option<Change> {
        let path = self.path();
        let kind = match (self.is_new, self.is_deleted) {
            (true, _) => ChangeKind::Add(String::new()),
            (false, true) => ChangeKind::Delete,
            (false, false) => ChangeKind::Update { hunks: Vec::new(), moved: self.to },
        };
        let is_change = self.is_new || self.is_deleted || self.from.is_some() || self.mode.is_some();
        let path = self.from.or(path).filter(|_| is_change)?;
        Some(Change { path, kind, is_executable: self.mode })
    }
}

/// Reads a unified diff. Text before the first file and between files is passed over.
pub(super) fn unified(lines: &[&str]) -> Result<Vec<Change>, InvalidPatch> {
    let mut changes: Vec<Change> = Vec::new();
    let mut git: Option<GitHeader> = None;
    let mut index = 0;
    while index < lines.len() {
        let line = lines[index];
        if let Some(names) = line.strip_prefix("diff --git ") {
            changes.extend(git.take().and_then(GitHeader::alone));
            git = Some(GitHeader { names: names.to_owned(), ..GitHeader::default() });
        }
        let pair = line.strip_prefix("--- ").zip(lines.get(index + 1).and_then(|l| l.strip_prefix("+++ ")));
        let Some((from, to)) = pair else {
            if let Some(git) = &mut git {
                git.take(line)?;
            }
            index += 1;
            continue;
        };
        let (from, to) = (name(from), name(to));
        index += 2;
        let mut hunks = Vec::new();
        while lines.get(index).is_some_and(|line| line.starts_with("@@")) {
            let (hunk, after) = hunk(lines, index)?;
            hunks.push(hunk);
            index = after;
        }
        let (path, kind) = match (from, to) {
            (None, Some(path)) => {
                let text: String = hunks.iter().flat_map(|hunk| &hunk.new).map(|line| format!("{line}\n")).collect();
                (path, ChangeKind::Add(text))
            }
            (Some(path), None) => (path, ChangeKind::Delete),
            (Some(path), Some(to)) => {
                let moved = (to != path).then_some(to);
                (path, ChangeKind::Update { hunks, moved })
            }
            (None, None) => return Err(InvalidPatch::NoName),
        };
        changes.push(Change { path, kind, is_executable: git.take().and_then(|git| git.mode) });
    }
    changes.extend(git.and_then(GitHeader::alone));
    Ok(changes)
}

/// The hunk whose header is the line `at`, and the index of the line behind it.
fn hunk(lines: &[&str], at: usize) -> Result<(Hunk, usize), InvalidPatch> {
    let rest = &lines[at][2..];
    // Without numbers, a hunk is as long as its lines are those of one.
    let has_numbers = rest.trim_start().starts_with('-');
    let sizes = if has_numbers { sizes(rest).ok_or(InvalidPatch::Header(at + 1))? } else { (0, 0) };
    let ((mut left, mut right), mut hunk, mut index) = (sizes, header(rest), at + 1);
    // Models count badly: a hunk continues as long as its lines do.
    while let Some(line) = lines.get(index).filter(|_| goes_on(lines, index, left, right)) {
        hunk_line(&mut hunk, line).map_err(|why| InvalidPatch::Line { number: index + 1, why })?;
        match line.chars().next() {
            Some('+') => right = right.saturating_sub(1),
            Some('-') => left = left.saturating_sub(1),
            Some('\\') => {}
            Some(_) | None => (left, right) = (left.saturating_sub(1), right.saturating_sub(1)),
        }
        index += 1;
    }
    match left + right > 0 && index >= lines.len() {
        true => Err(InvalidPatch::Cut { header: at + 1, old: left, new: right }),
        false => Ok((hunk, index)),
    }
}

/// Whether the line belongs to the hunk, whose header leaves this many old and new lines to come.
fn goes_on(lines: &[&str], index: usize, left: usize, right: usize) -> bool {
    let at = |index: usize| lines.get(index).copied().unwrap_or_default();
    let line = at(index);
    // A header is three lines together, or git's own: a removed line may begin as one of them does.
    let is_file = line.starts_with("--- ") && at(index + 1).starts_with("+++ ") && at(index + 2).starts_with("@@");
    if is_file || line.starts_with("@@ ") || line == "@@" || line.starts_with("diff --git ") {
        return false;
    }
    if left + right > 0 {
        return true;
    }
    match line.chars().next() {
        // The end of a mail with a patch.
        Some('-') => line != "-- ",
        Some('+' | ' ' | '\\') => true,
        // An empty line of context, if more of the hunk follows it.
        None => lines[index..].iter().find(|line| !line.is_empty()).is_some_and(|next| {
            next.starts_with(['+', ' '])
                || next.starts_with('-') && !next.starts_with("-- ") && !next.starts_with("--- ")
        }),
        Some(_) => false,
    }
}

/// A file's name in a diff's header; `None` for `/dev/null`.
fn name(text: &str) -> Option<String> {
    let name = unquoted(text.split('\t').next().unwrap_or_default());
    let plain = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).unwrap_or(&name);
    (name != "/dev/null").then(|| plain.to_owned())
}

/// A name without the quotes that git sets around some, and the escapes in them.
fn unquoted(name: &str) -> String {
    let name = name.trim();
    let Some(inner) = name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else { return name.to_owned() };
    let (mut bytes, mut rest) = (Vec::new(), inner.as_bytes());
    while let [byte, after @ ..] = rest {
        rest = after;
        match (byte, after) {
            (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', ..]) => {
                bytes.push((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'));
                rest = &after[3..];
            }
            (b'\\', [escaped, ..]) => {
                bytes.push(match escaped {
                    b'n' => b'\n',
                    b't' => b'\t',
                    other => *other,
                });
                rest = &after[1..];
            }
            (byte, _) => bytes.push(*byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The numbers of lines on both sides, from ` -1,3 +1,4 @@`.
fn sizes(rest: &str) -> Option<(usize, usize)> {
    let mut sides = rest.split("@@").next()?.split_whitespace();
    let mut size = |sign: char| {
        let side = sides.next()?.strip_prefix(sign)?;
        side.split_once(',').map_or(Some(1), |(_, size)| size.parse().ok())
    };
    Some((size('-')?, size('+')?))
}
