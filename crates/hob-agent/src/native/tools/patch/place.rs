//! Locates a hunk in a file, without guessing: its place is the only one, or the patch is refused.

use std::borrow::Cow;

use crate::native::tools::{
    edit::near_misses,
    lines::{Places, Unclear, line_end, without_mark},
    patch::change::Hunk,
};

/// A hunk that fits nowhere, or in more than one place.
#[derive(Debug, thiserror::Error)]
#[error("hunk {number}: {why}. {near}")]
pub(super) struct UnplacedHunk {
    /// Its number, from 1.
    number: usize,
    #[source]
    why: Unplaced,
    /// The lines of the file that are like its own.
    near: String,
}

#[derive(Debug, thiserror::Error)]
enum Unplaced {
    #[error("there is no line `{0}` to begin after")]
    Anchor(String),
    #[error("its line is not in the file")]
    Line,
    #[error("it adds lines and does not show where: give lines around them")]
    Anywhere,
    #[error("its lines are not there")]
    Nowhere,
    /// The line, from 1, of its place above the hunk before.
    #[error("its lines are at line {0}, above those of the hunk before: put the hunks in the order of the file")]
    Above(usize),
    /// The lines, from 1, of the first two places.
    #[error("its lines occur more than once, first at lines {0} and {1}: take more lines around them")]
    Several(usize, usize),
    #[error(transparent)]
    Unclear(#[from] Unclear),
}

/// The text after all hunks.
pub(super) fn patched(text: &str, hunks: &[Hunk]) -> Result<String, UnplacedHunk> {
    let (mark, text) = without_mark(text);
    let ending = line_end(text);
    let mut ends = text.is_empty() || text.ends_with('\n');
    let lines: Vec<&str> = match text.strip_suffix(ending).unwrap_or(text) {
        "" if text.is_empty() => Vec::new(),
        body => body.split(ending).collect(),
    };
    let mut result: Vec<Cow<'_, str>> = Vec::with_capacity(lines.len());
    let mut cursor = 0;
    for (index, hunk) in hunks.iter().enumerate() {
        let failed = |why: Unplaced| {
            let is_nowhere = matches!(why, Unplaced::Nowhere);
            let near = if is_nowhere { near_misses(text, &hunk.old.join("\n")) } else { String::new() };
            UnplacedHunk { number: index + 1, why, near }
        };
        let (at, places) = place(&lines, cursor, hunk).map_err(failed)?;
        let [old, new] = [&hunk.old, &hunk.new].map(|lines| plain(lines));
        result.extend(lines[cursor..at].iter().map(|line| Cow::Borrowed(*line)));
        let there = &lines[at..at + old.len()];
        result
            .extend(places.replaced(there, &old, &new).map_err(|why| failed(why.into()))?.into_iter().map(Cow::Owned));
        cursor = at + hunk.old.len();
        if let Some(says) = hunk.ends_with_line_end.filter(|_| cursor == lines.len()) {
            ends = says;
        }
    }
    result.extend(lines[cursor..].iter().map(|line| Cow::Borrowed(*line)));
    let mut text = result.join(ending);
    if ends && !text.is_empty() {
        text.push_str(ending);
    }
    Ok(format!("{mark}{text}"))
}

/// Lines without a byte-order mark, which is not one of theirs.
fn plain(lines: &[String]) -> Vec<&str> {
    lines.iter().map(|line| without_mark(line).1).collect()
}

/// The index of the line at which a hunk begins, and the way in which its lines match.
fn place(lines: &[&str], cursor: usize, hunk: &Hunk) -> Result<(usize, Places), Unplaced> {
    let mut from = cursor;
    if let Some(anchor) = &hunk.anchor {
        let found = lines[cursor..].iter().position(|line| line.trim() == anchor.trim());
        from = cursor + found.ok_or_else(|| Unplaced::Anchor(anchor.clone()))? + 1;
    }
    let wanted = plain(&hunk.old);
    let places = Places::find(lines, from, &wanted);
    if wanted.is_empty() {
        let at = match hunk.line {
            Some(line) if line <= lines.len() && line >= cursor => line,
            Some(_) => return Err(Unplaced::Line),
            None if hunk.anchor.is_some() => from,
            None if hunk.at_end || lines.is_empty() => lines.len(),
            None => return Err(Unplaced::Anywhere),
        };
        return Ok((at, places));
    }
    let said = hunk.line.map(|line| line - 1);
    let at = match (places.at.as_slice(), said) {
        ([], _) => {
            let above = Places::find(&lines[..cursor], 0, &wanted).at;
            return Err(above.first().map_or(Unplaced::Nowhere, |at| Unplaced::Above(at + 1)));
        }
        (several, _) if hunk.at_end => {
            let last = lines.len() - wanted.len();
            several.iter().copied().find(|at| *at == last).ok_or(Unplaced::Nowhere)?
        }
        ([only], _) => *only,
        (several, Some(said)) if several.contains(&said) => said,
        ([first, second, ..], _) => {
            return Err(Unplaced::Several(first + 1, second + 1));
        }
    };
    Ok((at, places))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hunk(old: &[&str], new: &[&str]) -> Hunk {
        let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        Hunk { old: owned(old), new: owned(new), ..Hunk::default() }
    }

    #[test]
    fn a_hunk_goes_to_its_one_exact_place() {
        let one = |text: &str, hunk: Hunk| patched(text, &[hunk]);
        assert_eq!(one("a\nb\nc\n", hunk(&["b"], &["B", "B2"])).unwrap(), "a\nB\nB2\nc\n");
        assert_eq!(one("a\r\nb\r\n", hunk(&["b"], &["B"])).unwrap(), "a\r\nB\r\n");
        assert_eq!(one("a\nb", hunk(&["b"], &["c"])).unwrap(), "a\nc");
        assert_eq!(one("", hunk(&[], &["x"])).unwrap(), "x\n");
        assert_eq!(one("a\n", hunk(&["a"], &[])).unwrap(), "");
        assert!(one("a\na\n", hunk(&["a"], &["b"])).unwrap_err().to_string().contains("lines 1 and 2"));
        assert_eq!(one("  a\n", hunk(&["a"], &["b"])).unwrap(), "  b\n");
        assert_eq!(one("a\nb \nc\r\n", hunk(&["a", "b"], &["a", "B"])).unwrap(), "a\nB\nc\r\n");
        assert!(one("x\n", hunk(&[], &["b"])).unwrap_err().to_string().contains("does not show where"));
    }

    #[test]
    fn an_anchor_a_line_and_the_end_choose_among_several_places() {
        let text = "fn a\n  x\nfn b\n  x\n";
        let anchored = Hunk { anchor: Some("fn b".into()), ..hunk(&["  x"], &["  y"]) };
        assert_eq!(patched(text, &[anchored]).unwrap(), "fn a\n  x\nfn b\n  y\n");
        let said = Hunk { line: Some(2), ..hunk(&["  x"], &["  y"]) };
        assert_eq!(patched(text, &[said]).unwrap(), "fn a\n  y\nfn b\n  x\n");
        let end = Hunk { at_end: true, ..hunk(&["  x"], &["  y"]) };
        assert_eq!(patched(text, &[end]).unwrap(), "fn a\n  x\nfn b\n  y\n");
        let both = [hunk(&["fn a", "  x"], &["fn a"]), hunk(&["  x"], &["  y"])];
        assert_eq!(patched(text, &both).unwrap(), "fn a\nfn b\n  y\n");
        let nowhere = Hunk { anchor: Some("fn c".into()), ..hunk(&["  x"], &[]) };
        assert!(patched(text, &[nowhere]).unwrap_err().to_string().contains("no line `fn c`"));
    }
}
