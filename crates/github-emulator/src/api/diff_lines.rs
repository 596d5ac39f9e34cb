//! The lines of a diff that a comment can be attached to.

/// The side of a diff that a line is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// The old file.
    Left,
    /// The new file.
    Right,
}

/// One line of a file's hunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DiffLine {
    /// Its number in the old file; `None` if it was added.
    old: Option<u64>,
    /// Its number in the new file; `None` if it was removed.
    new: Option<u64>,
    /// The hunk from its head down to this line.
    pub(super) hunk: String,
}

impl DiffLine {
    /// Its number on this side.
    pub(super) fn on(&self, side: Side) -> Option<u64> {
        match side {
            Side::Left => self.old,
            Side::Right => self.new,
        }
    }
}

/// The lines of a patch, in order of GitHub's `position`, which begins below the first hunk's head with 1 and also
/// counts the heads of later hunks: these are not lines.
pub(super) fn lines(patch: &str) -> Vec<Option<DiffLine>> {
    let (mut found, mut old, mut new, mut hunk) = (Vec::new(), 0, 0, String::new());
    for text in patch.lines() {
        if text.starts_with("@@") {
            if !hunk.is_empty() {
                found.push(None);
            }
            (old, new) = starts(text).unwrap_or_default();
            text.clone_into(&mut hunk);
            continue;
        }
        hunk.push('\n');
        hunk.push_str(text);
        let (has_old, has_new) = match text.as_bytes().first() {
            Some(b'+') => (false, true),
            Some(b'-') => (true, false),
            // "No newline at end of file" is about the line before it.
            Some(b'\\') => (false, false),
            Some(_) | None => (true, true),
        };
        let line = DiffLine { old: has_old.then_some(old), new: has_new.then_some(new), hunk: hunk.clone() };
        found.push(Some(line).filter(|_| has_old || has_new));
        (old, new) = (old + u64::from(has_old), new + u64::from(has_new));
    }
    found
}

/// The numbers of the first lines of a hunk, by its head.
fn starts(head: &str) -> Option<(u64, u64)> {
    let mut ranges = head.split(' ').skip(1).map(|range| {
        let start = range.trim_start_matches(['-', '+']).split(',').next().unwrap_or_default();
        start.parse().ok()
    });
    Some((ranges.next()??, ranges.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_counts_lines_and_later_heads() {
        let patch = "@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n@@ -9 +10 @@ fn\n-x\n+y";
        let found = lines(patch);
        let numbers: Vec<_> = found.iter().map(|l| l.as_ref().map(|l| (l.on(Side::Left), l.on(Side::Right)))).collect();
        let expected = [
            Some((Some(1), Some(1))),
            Some((Some(2), None)),
            Some((None, Some(2))),
            Some((None, Some(3))),
            None,
            Some((Some(9), None)),
            Some((None, Some(10))),
        ];
        assert_eq!(numbers, expected);
        assert_eq!(found[2].as_ref().unwrap().hunk, "@@ -1,2 +1,3 @@\n a\n-b\n+c");
        assert_eq!(found[6].as_ref().unwrap().hunk, "@@ -9 +10 @@ fn\n-x\n+y");
    }
}
