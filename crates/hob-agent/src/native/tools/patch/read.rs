//! Reads a patch: the envelope `*** Begin Patch`, or a unified diff.

use crate::native::tools::patch::{
    change::{Change, ChangeKind, Hunk, InvalidLine, InvalidPatch, header, hunk_line},
    unified::unified,
};

/// The first and the last line of the envelope.
const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";

/// Reads either form.
pub(super) fn read(text: &str) -> Result<Vec<Change>, InvalidPatch> {
    let lines: Vec<&str> = text.lines().collect();
    let begin = lines.iter().position(|line| line.trim() == BEGIN);
    let changes = match begin {
        // A unified diff in the envelope's first and last line.
        Some(begin) if !lines[begin..].iter().any(|line| file(line).is_some()) => {
            let inner: Vec<&str> = lines[begin + 1..].iter().copied().take_while(|line| line.trim() != END).collect();
            let is_diff = inner.iter().any(|line| line.starts_with("+++ "));
            if is_diff { unified(&inner)? } else { envelope(&lines[begin + 1..])? }
        }
        Some(begin) => envelope(&lines[begin + 1..])?,
        None => unified(&lines)?,
    };
    if changes.is_empty() {
        return Err(InvalidPatch::Empty);
    }
    let empty = changes.iter().find(|change| match &change.kind {
        ChangeKind::Update { hunks, moved } => hunks.is_empty() && moved.is_none() && change.is_executable.is_none(),
        ChangeKind::Add(_) | ChangeKind::Delete => false,
    });
    match empty {
        Some(change) => Err(InvalidPatch::NoChange(change.path.clone())),
        None => Ok(changes),
    }
}

/// The change that a file's header begins.
fn file(line: &str) -> Option<Change> {
    let update = ChangeKind::Update { hunks: Vec::new(), moved: None };
    let kinds = [
        ("*** Add File:", ChangeKind::Add(String::new())),
        ("*** Delete File:", ChangeKind::Delete),
        ("*** Update File:", update),
    ];
    kinds.into_iter().find_map(|(header, kind)| Some(Change::new(line.strip_prefix(header)?.trim(), kind)))
}

fn envelope(lines: &[&str]) -> Result<Vec<Change>, InvalidPatch> {
    let mut changes: Vec<Change> = Vec::new();
    let (mut has_ended, mut skip) = (false, 0);
    for (index, line) in lines.iter().enumerate() {
        let number = index + 2;
        if let Some(change) = file(line) {
            // Also behind an end: some models write one for each file.
            has_ended = false;
            changes.push(change);
        } else if line.trim() == END {
            has_ended = true;
        } else if !has_ended && skip <= index {
            let Some(change) = changes.last_mut() else {
                return Err(InvalidPatch::NoFile(number));
            };
            // The names of the file in a unified diff say nothing more.
            let is_first = matches!(&change.kind, ChangeKind::Update { hunks, .. } if hunks.is_empty());
            if is_first && line.starts_with("--- ") && lines.get(index + 1).is_some_and(|next| next.starts_with("+++ "))
            {
                skip = index + 2;
                continue;
            }
            body(change, line).map_err(|why| InvalidPatch::Line { number, why })?;
        }
    }
    if has_ended { Ok(changes) } else { Err(InvalidPatch::NoEnd) }
}

/// One line below a file's header.
fn body(change: &mut Change, line: &str) -> Result<(), InvalidLine> {
    match &mut change.kind {
        ChangeKind::Delete if line.trim().is_empty() => Ok(()),
        ChangeKind::Delete => Err(InvalidLine::Deleted),
        // There is one hunk in a new file.
        ChangeKind::Add(text) if text.is_empty() && line.starts_with("@@") => Ok(()),
        ChangeKind::Add(text) => {
            let Some(added) = line.strip_prefix('+') else {
                return Err(InvalidLine::New);
            };
            text.push_str(added);
            text.push('\n');
            Ok(())
        }
        ChangeKind::Update { hunks, moved } => {
            if let Some(path) = line.strip_prefix("*** Move to:") {
                *moved = Some(path.trim().to_owned());
                return Ok(());
            }
            if let Some(rest) = line.strip_prefix("@@") {
                hunks.push(header(rest));
                return Ok(());
            }
            if hunks.is_empty() {
                hunks.push(Hunk::default());
            }
            let Some(hunk) = hunks.last_mut() else { return Ok(()) };
            if line.trim() == "*** End of File" {
                hunk.at_end = true;
                return Ok(());
            }
            hunk_line(hunk, line)
        }
    }
}
