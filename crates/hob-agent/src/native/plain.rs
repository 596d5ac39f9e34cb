//! Output of programs as plain text: cursor movements, colours and bells are removed, since a model pays for them and a
//! person may see them on a terminal.

/// The text without escape sequences and control characters; of a line that was written over with carriage returns, as
/// progress bars do, the last state.
pub(super) fn plain(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut line_start = 0;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape(&mut chars),
            '\u{9b}' => skip_sequence(&mut chars),
            '\r' if chars.peek().is_some_and(|next| !matches!(next, '\n' | '\r')) => clean.truncate(line_start),
            '\n' => {
                clean.push('\n');
                line_start = clean.len();
            }
            '\t' => clean.push(c),
            c if c.is_control() => {}
            c => clean.push(c),
        }
    }
    clean
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn skip_escape(chars: &mut Chars<'_>) {
    match chars.next_if(|next| !next.is_control()) {
        Some('[') => skip_sequence(chars),
        // A title, a link or another text for the terminal: up to BEL or ESC \, and not beyond its line.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            while let Some(c) = chars.next_if(|next| *next != '\n') {
                if c == '\u{7}' {
                    return;
                }
                if c == '\u{1b}' {
                    chars.next_if_eq(&'\\');
                    return;
                }
            }
        }
        Some('(' | ')' | '#' | '%') => drop(chars.next_if(|next| !next.is_control())),
        Some(_) | None => {}
    }
}

/// Parameters, then one final character.
fn skip_sequence(chars: &mut Chars<'_>) {
    while chars.next_if(|next| matches!(next, ' '..='?')).is_some() {}
    chars.next_if(|next| matches!(next, '@'..='~'));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_for_a_terminal_is_taken_out() {
        for (text, clean) in [
            ("\u{1b}[1;31mred\u{1b}[0m\n", "red\n"),
            ("\u{1b}]0;title\u{7}text", "text"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("10%\r20%\r100%\ndone\r\n", "100%\ndone\n"),
            ("a\u{8}\u{7}b\0c\td\u{9b}2J", "abc\td"),
            ("\u{1b}]open\nnext", "\nnext"),
            ("\u{1b}(Bx\u{1b}", "x"),
            ("über\u{fffd}", "über\u{fffd}"),
        ] {
            assert_eq!(plain(text), clean, "{text:?}");
        }
    }
}
