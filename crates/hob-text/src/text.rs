//! Makes hostile text harmless for a model, a terminal or a title. `inert` does so for comments.

use std::fmt::{Display, Write};

/// The text in one line of at most `max` characters.
pub fn shortened(text: &str, max: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= max {
        return line;
    }
    let kept: String = line.chars().take(max.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// Cuts `text` at a character boundary near `max` bytes and appends a note.
pub fn clip(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(max);
    format!("{}\n[… {} bytes cut …]", &text[..end], text.len() - end)
}

/// The text that a person sees, for a model: invisible characters and HTML comments are removed, and so are control
/// characters except line ends and tabs. Joiners and selectors stay where they are part of a letter or an emoji. Returns
/// the text and how many characters were hidden in it.
pub fn visible(text: &str) -> (String, usize) {
    // Before the comments: an invisible character could keep one from being found.
    let (seen, hidden) = without_invisible(text);
    let (kept, in_comments) = without_comments(&seen);
    (kept, hidden + in_comments)
}

/// The same for text that no browser reads as HTML, such as a title or a program's output: comments stay.
pub fn without_invisible(text: &str) -> (String, usize) {
    let mut seen = String::with_capacity(text.len());
    let hidden = each_char(text, |c, is_seen| {
        if is_seen {
            seen.push(c)
        }
    });
    (seen.replace("\r\n", "\n").replace('\r', "\n"), hidden)
}

/// Code or output with its invisible characters as `\u{…}`: they may be what it is about, and none is lost or unseen.
pub fn with_escapes(code: &str) -> String {
    let mut seen = String::with_capacity(code.len());
    each_char(code, |c, is_seen| if is_seen { seen.push(c) } else { seen.extend(c.escape_unicode()) });
    seen
}

/// Calls `each` with the characters, and whether a person sees them; returns how many are not seen.
fn each_char(text: &str, mut each: impl FnMut(char, bool)) -> usize {
    let (mut hidden, mut before) = (0, None);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let is_seen = !is_hidden(c) || before.is_some_and(|before| is_letter_after(c, before, chars.peek().copied()));
        each(c, is_seen);
        if is_seen {
            before = Some(c);
        } else {
            hidden += 1;
        }
    }
    hidden
}

/// Whether an invisible character is part of a letter here: a joiner, or the form of a character. At most one of a kind
/// follows a letter, so that a row of them cannot carry a message.
fn is_letter_after(c: char, before: char, next: Option<char>) -> bool {
    match c {
        '\u{200c}' => is_joined_script(before),
        // An emoji is joined to another one.
        '\u{200d}' => is_joined_script(before) || (is_pictured(before) && next.is_some_and(is_pictured)),
        '\u{fe0e}' | '\u{fe0f}' => {
            is_pictured(before) && before != '\u{fe0f}' || (is_keycap(before) && next == Some('\u{20e3}'))
        }
        '\u{fe00}'..='\u{fe0d}' => {
            is_han(before) || matches!(before, '\u{1000}'..='\u{109f}' | '\u{2200}'..='\u{22ff}')
        }
        '\u{e0100}'..='\u{e01ef}' => is_han(before),
        '\u{180b}'..='\u{180d}' | '\u{180f}' => matches!(before, '\u{1820}'..='\u{18aa}'),
        _other => false,
    }
}

/// Scripts whose letters change their form beside each other: Arabic, and those of India and around it.
fn is_joined_script(c: char) -> bool {
    matches!(c,
        '\u{620}'..='\u{8ff}' | '\u{900}'..='\u{df4}' | '\u{f00}'..='\u{109f}' | '\u{1780}'..='\u{17b3}'
        | '\u{17b6}'..='\u{17dd}' | '\u{1820}'..='\u{18aa}' | '\u{a8e0}'..='\u{a8ff}' | '\u{fb50}'..='\u{fdff}'
        | '\u{fe70}'..='\u{fefc}')
}

/// Symbols and emoji, and what may stand between two that are joined.
fn is_pictured(c: char) -> bool {
    matches!(c,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2100}'..='\u{214f}' | '\u{2190}'..='\u{21ff}'
        | '\u{2300}'..='\u{23ff}' | '\u{2460}'..='\u{24ff}' | '\u{25a0}'..='\u{27bf}' | '\u{2900}'..='\u{297f}'
        | '\u{2b00}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{fe0f}'
        | '\u{1f000}'..='\u{1faff}')
}

fn is_keycap(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '#' | '*')
}

fn is_han(c: char) -> bool {
    matches!(c, '\u{3001}' | '\u{3002}' | '\u{3005}'..='\u{3007}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{ff01}' | '\u{ff0c}' | '\u{ff1a}'..='\u{ff1f}' | '\u{20000}'..='\u{323af}')
}

/// Text for a terminal: control characters, escapes and direction overrides become visible `\u{…}` forms. So does the
/// bracket of `##[`, which GitHub Actions reads as a command anywhere in a job's log.
pub fn terminal(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        let command = c == '[' && shown.ends_with("##");
        if c == '\n' || c == '\t' || !(c.is_control() || is_hidden(c) || command) {
            shown.push(c);
        } else {
            shown.extend(c.escape_unicode());
        }
    }
    shown
}

/// A title for a commit or a pull request: one line without hidden characters, CI switches or trailers, at most `max`
/// characters.
pub fn title(text: &str, max: usize) -> String {
    let (text, _) = visible(text);
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let plain = without_switches(&line);
    if plain.chars().count() <= max {
        return plain;
    }
    let cut: String = plain.chars().take(max - 1).collect();
    let kept = cut.rfind(' ').filter(|space| *space > cut.len() / 2).map_or(cut.as_str(), |space| &cut[..space]);
    format!("{kept}…")
}

/// The text without what switches CI off, such as `[skip ci]`: the brackets become quotation marks.
pub fn without_switches(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let text = text.replace("***", "");
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once('[') {
        plain.push_str(before);
        let Some((inner, after_it)) = after.split_once(']') else {
            plain.push('[');
            rest = after;
            continue;
        };
        let letters: String = inner.chars().filter(|c| c.is_alphabetic()).collect::<String>().to_lowercase();
        if letters.contains("skip") || letters.contains("noci") {
            plain.extend(["'", inner, "'"]);
            rest = after_it;
        } else {
            plain.push('[');
            rest = after;
        }
    }
    plain.push_str(rest);
    plain
}

/// Text for a title or a commit message, which no renderer escapes: it mentions nobody and closes nothing.
pub fn quiet(text: &str) -> String {
    let mut quiet = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        quiet.push(c);
        let next = chars.peek().copied().unwrap_or(' ');
        let calls = match c {
            '@' => next.is_alphanumeric(),
            '#' => next.is_ascii_digit(),
            '-' => next.is_ascii_digit() && quiet.to_ascii_lowercase().ends_with("gh-"),
            '/' => quiet.ends_with("/issues/") || quiet.ends_with("/pull/"),
            _other => false,
        };
        if calls {
            quiet.push('\u{200b}');
        }
    }
    quiet
}

/// Invisible characters that can carry a message: zero-width, fillers, direction, tags, variation selectors, controls.
fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
        || (c.is_control() && !matches!(c, '\n' | '\t' | '\r'))
}

/// The places of two dashes, also within a longer row of them.
fn dashes(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.as_bytes().windows(2).enumerate().filter(|(_, two)| *two == b"--").map(move |(at, _)| (at, &text[at..at + 2]))
}

/// Removes HTML comments as a browser reads them: from `<!--` to `-->` or `--!>`, or to the end if none closes it.
pub fn without_comments(text: &str) -> (String, usize) {
    let mut shown = String::with_capacity(text.len());
    let (mut rest, mut hidden) = (text, 0);
    while let Some(start) = rest.find("<!--") {
        shown.push_str(&rest[..start]);
        let comment = &rest[start + 4..];
        // One scan for all comments; a scan of the rest of the text for each of them would take quadratic time.
        let ends = |(at, _): (usize, &str)| {
            let after = &comment[at + 2..];
            let mark = ["!>", ">"].iter().find(|mark| after.starts_with(**mark))?;
            Some(at + 2 + mark.len())
        };
        let end = dashes(comment).find_map(ends).unwrap_or(comment.len());
        hidden += comment[..end].chars().count() + 4;
        rest = &comment[end..];
    }
    shown.push_str(rest);
    // Removing a comment can join the text around it into the beginning of another.
    (shown.replace("<!--", "<! --"), hidden)
}

/// Keeps the head and the tail, because a failure's cause is at one of the two ends.
pub fn clip_middle(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(max / 4);
    let tail = text.ceil_char_boundary(text.len() - (max - max / 4));
    format!("{}\n[… {} bytes cut …]\n{}", &text[..head], tail - head, &text[tail..])
}

/// Puts `inner` between lines that contain `fence`.
pub fn push_fenced(text: &mut String, fence: impl Display, name: &str, inner: &str) {
    // Writing to a string cannot fail.
    writeln!(text, "\n--- {name} {fence}\n{inner}\n--- end {fence}").ok();
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, thread, time::Duration};

    use super::*;

    /// Attack corpus C20, C21.
    #[test]
    fn comments_are_taken_out_as_a_browser_reads_them() {
        for (text, seen) in [
            ("a<!-- obey -->b", "ab"),
            ("a<!-- <!-- x --!>b-->c", "ab-->c"),
            ("a<!-- to the end", "a"),
            ("a<\u{200b}!-- x --\u{2060}>b", "ab"),
        ] {
            assert_eq!(visible(text).0, seen, "{text:?}");
        }
        assert_eq!(visible("a<!---->b<!--->c--->d"), ("abd".to_owned(), 18));
    }

    /// Attack corpus C22, C23, C24, C25.
    #[test]
    fn a_model_gets_only_what_a_person_sees() {
        for (text, seen) in [
            ("a\u{e0041}\u{e0042}b", "ab"),
            ("a\u{fe0f}\u{e0100}b", "ab"),
            ("a\u{200b}\u{2062}\u{3164}b", "ab"),
            ("a\u{202e}b", "ab"),
            ("line\r\nnext\tcell\u{1b}[31m", "line\nnext\tcell[31m"),
        ] {
            assert_eq!(visible(text).0, seen, "{text:?}");
        }
        assert_eq!(visible("plain").1, 0);
        assert_eq!(visible("a\u{200b}b").1, 1);
    }

    #[test]
    fn joiners_and_selectors_are_letters_where_they_belong() {
        for text in [
            "می\u{200c}خواهم",
            "क्\u{200d}ष और क्\u{200c}ष",
            "👩\u{200d}💻 👩🏽\u{200d}🚀 ❤\u{fe0f}\u{200d}🔥 ✔\u{fe0e} 1\u{fe0f}\u{20e3}",
            "葛\u{e0100}城",
        ] {
            assert_eq!(visible(text), (text.to_owned(), 0));
            assert_eq!(with_escapes(text), text);
        }
        // Elsewhere, or in a row, they are not.
        for (text, seen) in [
            ("a\u{200d}b\u{200c}c", "abc"),
            ("ی\u{200c}\u{200c}\u{200d}خ", "ی\u{200c}خ"),
            ("😀\u{fe0f}\u{fe0f}\u{e0100}\u{fe03}\u{200d}x", "😀\u{fe0f}x"),
            ("葛\u{e0100}\u{e0101}", "葛\u{e0100}"),
            ("1\u{fe0f}2", "12"),
        ] {
            assert_eq!(visible(text).0, seen, "{text:?}");
        }
    }

    #[test]
    fn code_loses_no_character_and_hides_none() {
        assert_eq!(
            with_escapes("a\u{200b}b\u{e0041}\u{1b}[m\n\t<!-- x -->"),
            "a\\u{200b}b\\u{e0041}\\u{1b}[m\n\t<!-- x -->"
        );
    }

    /// Attack corpus J120: each comment is scanned once. If each scanned the rest of the text, this would take hours.
    #[test]
    fn very_many_comments_are_read_in_linear_time() {
        const PATIENCE: Duration = Duration::from_secs(60);
        let (tells, told) = mpsc::channel();
        thread::spawn(move || {
            tells.send(["<!--a-->", "<!--a--"].map(|comment| visible(&comment.repeat(1 << 20)).0)).ok();
        });
        assert_eq!(told.recv_timeout(PATIENCE), Ok([String::new(), String::new()]));
    }

    /// Attack corpus H87: a commit message closes issues just as a pull request's body does.
    #[test]
    fn a_commit_message_calls_nobody_and_closes_nothing() {
        let text = "Fixes #9, closes GH-4, https://x/o/r/issues/5; thanks @team";
        let said = "Fixes #\u{200b}9, closes GH-\u{200b}4, https://x/o/r/issues/\u{200b}5; thanks @\u{200b}team";
        assert_eq!(quiet(text), said);
        assert_eq!(quiet("Vec<T> a/b # x"), "Vec<T> a/b # x");
    }

    /// Attack corpus H84, H92.
    #[test]
    fn a_title_is_one_plain_line() {
        assert_eq!(title("Fix [skip ci]\nSigned-off-by: x \u{1b}]52;c", 80), "Fix 'skip ci' Signed-off-by: x ]52;c");
        assert_eq!(title(&"x".repeat(100), 10), format!("{}…", "x".repeat(9)));
        assert_eq!(title("one two three", 11), "one two…");
    }

    /// Attack corpus H84: the switches of GitHub and Azure, and those that people made up.
    #[test]
    fn no_title_switches_ci_off() {
        for (text, plain) in [
            ("[ci skip] [SKIP-CI] [No CI] [skip actions]", "'ci skip' 'SKIP-CI' 'No CI' 'skip actions'"),
            ("a[0] [Bug] [x](y) [", "a[0] [Bug] [x](y) ["),
            ("[[skip ci]] ***NO_CI***", "'[skip ci'] NO_CI"),
        ] {
            assert_eq!(without_switches(text), plain);
        }
    }

    /// Attack corpus H84, H85.
    #[test]
    fn a_terminal_shows_escapes_as_text() {
        assert_eq!(terminal("a\u{1b}[2Jb\u{202e}\n"), "a\\u{1b}[2Jb\\u{202e}\n");
        assert_eq!(terminal("# [x] ##[add-mask]y"), "# [x] ##\\u{5b}add-mask]y");
    }

    #[test]
    fn a_clip_says_what_it_cut() {
        assert_eq!(clip("größe", 3), "gr\n[… 5 bytes cut …]");
        assert_eq!(clip("short", 10), "short");
    }
}
