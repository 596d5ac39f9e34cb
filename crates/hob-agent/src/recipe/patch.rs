//! The unified diff in the body of an issue.

/// All text fenced as `diff` or `patch` in a Markdown text, block after block; `None` if there is none.
pub(super) fn fenced_diff(body: &str) -> Option<String> {
    let mut diff = String::new();
    let mut fence: Option<(&str, usize)> = None;
    for line in body.lines() {
        let bare = line.trim_start_matches(' ');
        let indent = line.len() - bare.len();
        let ticks = bare.len() - bare.trim_start_matches(if bare.starts_with('~') { '~' } else { '`' }).len();
        match fence {
            None if ticks >= 3 && indent <= 3 => {
                let kind = bare[ticks..].split_whitespace().next().unwrap_or_default();
                let wanted = kind.eq_ignore_ascii_case("diff") || kind.eq_ignore_ascii_case("patch");
                fence = Some((if wanted { "diff" } else { "" }, ticks));
            }
            // A line of a diff never begins with a fence: it begins with a blank, a sign or a header.
            Some((_, opened)) if ticks >= opened && indent <= 3 && bare[ticks..].trim().is_empty() && ticks >= 3 => {
                fence = None;
            }
            Some(("diff", _)) => {
                diff.push_str(line);
                diff.push('\n');
            }
            None | Some(_) => {}
        }
    }
    (!diff.trim().is_empty()).then_some(diff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_blocks_fenced_as_a_diff_count() {
        let body =
            "Text\n```rust\n--- a\n```\n```diff\n--- a/x\n+++ b/x\n```\nmore\n~~~~ Patch title\n--- a/y\n```\n~~~~\n";
        assert_eq!(fenced_diff(body).as_deref(), Some("--- a/x\n+++ b/x\n--- a/y\n```\n"));
        for none in ["", "--- a/x", "```diff\n```", "```\n--- a\n```", "    ```diff\n--- a"] {
            assert_eq!(fenced_diff(none), None, "{none}");
        }
    }
}
