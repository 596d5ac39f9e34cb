//! The file in which a repository tells agents how it wants the work.

use crate::memory::same::is_same;

/// The files that repositories have for this, the most general first.
pub const AGENTS_FILES: [&str; 3] = ["AGENTS.md", "CLAUDE.md", ".github/copilot-instructions.md"];

/// The heading above the lines of corrections.
const HEADING: &str = "## Corrections from reviews";

/// The file's text with one more line. `None` if it says the same already.
pub fn with_correction(text: &str, line: &str) -> Option<String> {
    if text.lines().any(|known| is_same(known, line)) {
        return None;
    }
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut lines: Vec<&str> = text.lines().collect();
    let item = format!("- {line}");
    match lines.iter().position(|known| known.trim_end() == HEADING) {
        Some(heading) => {
            let is_end = |known: &&str| known.starts_with('#');
            let section = lines[heading + 1..].iter().position(is_end).map_or(lines.len(), |next| heading + 1 + next);
            let last = lines[..section].iter().rposition(|known| !known.trim().is_empty()).unwrap_or(heading);
            if last == heading {
                lines.splice(last + 1..last + 1, ["", item.as_str()]);
            } else {
                lines.insert(last + 1, &item);
            }
        }
        None => {
            while lines.last().is_some_and(|last| last.trim().is_empty()) {
                lines.pop();
            }
            let blank: &[&str] = if lines.is_empty() { &[] } else { &[""] };
            lines.extend(blank.iter().chain(&[HEADING, "", &item]));
        }
    }
    Some(lines.join(end) + end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_comes_below_a_heading_of_its_own() {
        let line = "Error messages in lower case";
        let added = |text: &str| with_correction(text, line);
        let section = format!("{HEADING}\n\n- {line}\n");
        for (text, after) in [
            ("", section.clone()),
            ("# Rules\n\nUse tabs.", format!("# Rules\n\nUse tabs.\n\n{section}")),
            ("# Rules\n\n\n", format!("# Rules\n\n{section}")),
            (&format!("{HEADING}\n"), section.clone()),
            (&format!("{HEADING}\n\n- Use tabs.\n"), format!("{HEADING}\n\n- Use tabs.\n- {line}\n")),
            (
                &format!("# A\n\n{HEADING}\n\n- Use tabs.\n\n## B\n\nb\n"),
                format!("# A\n\n{HEADING}\n\n- Use tabs.\n- {line}\n\n## B\n\nb\n"),
            ),
        ] {
            assert_eq!(added(text), Some(after), "{text:?}");
        }
        let windows = added("# Rules\r\n").unwrap();
        assert_eq!(windows, format!("# Rules\r\n\r\n{HEADING}\r\n\r\n- {line}\r\n"));
        assert_eq!(added("# Rules\n\n* Please write error messages in lower case.\n"), None, "it says so already");
    }
}
