//! Text of people, agents and programs made inert for a comment or a pull request: outside code it cannot mention,
//! close, embed an image or open a tag. Code stays byte for byte, so that a command can be copied.
//!
//! # Guarantees
//! - A Markdown parser decides what is code, from the text as it is written out. If two readings differ, no span within
//!   a line counts as code.
//! - A block of code that the text leaves open is closed, so that what Hob writes after it is not code.
//!
//! # Assumptions
//! The text is on its own: it begins a paragraph, and a blank line follows it. [`inert_line`] is for text within a
//! line.
//!
//! # Caveats
//! Indented code and code spans over several lines count as text: whether they are code depends on what precedes them.

#![expect(clippy::wildcard_enum_match_arm, reason = "of the parser's many events only code and what holds it matter")]

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::{clip, visible};

/// Invisible, and ends what the forge would read as a reference.
const BREAK: char = '\u{200b}';
/// Replaces `<` while text is read, because no `<` opens a tag in what is written out.
const MASK: char = '\u{1}';

/// Bytes of the note that says how much was cut, and of the end of a block of code.
const CUT_WORDS: usize = 200;

/// Text that cannot do anything in a comment or a pull request.
pub fn inert(text: &str) -> String {
    let (text, _) = visible(text);
    let kept = code(&text);
    let written = without_calls(&text, &kept);
    let mut inert = if reads_alike(&text, &kept, &written) { written } else { without_calls(&text, &[]) };
    if let Some(fence) = open_fence(&inert) {
        inert.truncate(inert.trim_end_matches('\n').len());
        inert.push('\n');
        inert.push_str(&fence);
    }
    inert
}

/// The same in at most `max` bytes, not counting the note that says what was cut. The cut comes before the text is made
/// inert: a later one could open what was closed.
pub fn inert_within(text: &str, max: usize) -> String {
    let mut room = max;
    loop {
        let written = inert(clip(text, room).trim());
        if written.len() <= max + CUT_WORDS {
            return written;
        }
        room /= 2;
    }
}

/// The same for text within a line, such as a table's cell: one line that cannot begin a block.
pub fn inert_line(text: &str) -> String {
    const LEAD: &str = "x ";
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    inert(&format!("{LEAD}{line}")).split_off(LEAD.len())
}

/// A range of code.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Code {
    range: Range<usize>,
    is_block: bool,
    /// Whether it is outside lists and quotations, which would end with it.
    is_outermost: bool,
}

/// The ranges of a text that count as code.
fn code(text: &str) -> Vec<Code> {
    let masked = text.replace('<', MASK.encode_utf8(&mut [0; 4]));
    let mut found = read(&masked, Options::ENABLE_GFM | Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH);
    if read(&masked, Options::empty()) != found || has_rivals(&masked, &found) {
        found.retain(|code| code.is_block);
    }
    found
}

fn read(masked: &str, options: Options) -> Vec<Code> {
    let (mut found, mut depth) = (Vec::new(), 0_u32);
    for (event, range) in Parser::new_ext(masked, options).into_offset_iter() {
        let is_block = match event {
            Event::Start(Tag::List(_) | Tag::BlockQuote(_)) => {
                depth += 1;
                continue;
            }
            Event::End(TagEnd::List(_) | TagEnd::BlockQuote(_)) => {
                depth = depth.saturating_sub(1);
                continue;
            }
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => true,
            Event::Code(_) if !masked[range.clone()].contains('\n') => false,
            _ => continue,
        };
        found.push(Code { range, is_block, is_outermost: depth == 0 });
    }
    found
}

/// Whether something outside code may consume a back-tick on the forge: a bare address extends to the next blank, and a
/// formula to the next dollar sign.
fn has_rivals(text: &str, found: &[Code]) -> bool {
    let mut rivals = false;
    pieces(text, found, |piece, is_code| {
        let word = piece.rsplit(char::is_whitespace).next().unwrap_or_default().to_ascii_lowercase();
        rivals |= !is_code && (piece.contains('$') || word.contains("//") || word.contains("www."));
    });
    rivals && text.contains('`')
}

/// Calls `each` with the pieces of the text in order, and whether they are code.
fn pieces<'t>(text: &'t str, kept: &[Code], mut each: impl FnMut(&'t str, bool)) {
    let mut at = 0;
    for code in kept {
        each(&text[at..code.range.start], false);
        each(&text[code.range.clone()], true);
        at = code.range.end;
    }
    each(&text[at..], false);
}

/// The text with mentions and references removed outside code.
fn without_calls(text: &str, kept: &[Code]) -> String {
    let mut written = String::with_capacity(text.len() + 16);
    pieces(
        text,
        kept,
        |piece, is_code| {
            if is_code { push_code(&mut written, piece) } else { push_text(&mut written, piece) }
        },
    );
    written
}

/// Whether the written text has exactly the same code as was kept.
fn reads_alike(text: &str, kept: &[Code], written: &str) -> bool {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    pieces(text, kept, |piece, is_code| {
        let mut pushed = String::new();
        push_code(&mut pushed, piece);
        before.extend(is_code.then_some(pushed));
    });
    pieces(written, &code(written), |piece, is_code| after.extend(is_code.then(|| piece.to_owned())));
    before == after
}

/// Other programs read commands in code, too, so a line that is only such a command is broken up. A path is not.
fn push_code(written: &mut String, code: &str) {
    for line in code.split_inclusive('\n') {
        let rest = line.trim_start();
        let word = rest.strip_prefix('/').and_then(|rest| rest.split_whitespace().next()).unwrap_or_default();
        let is_command = !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'));
        if is_command && (written.is_empty() || written.ends_with('\n')) {
            written.push_str(&line[..line.len() - rest.len()]);
            written.push(BREAK);
            written.push_str(rest);
        } else {
            written.push_str(line);
        }
    }
}

fn push_text(written: &mut String, text: &str) {
    let mut chars = text.chars().peekable();
    let mut line_start = written.rsplit('\n').next().is_none_or(|line| line.trim().is_empty());
    while let Some(c) = chars.next() {
        let next = chars.peek().copied().unwrap_or(' ');
        let after_gh = || written.len() >= 2 && written.as_bytes()[written.len() - 2..].eq_ignore_ascii_case(b"gh");
        match c {
            '<' => written.push_str("&lt;"),
            // `&commat;` would mention as `@` does.
            '&' if next == '#' || next.is_ascii_alphanumeric() => written.push_str("&amp;"),
            '!' if next == '[' => written.push_str("!\\"),
            '@' if next.is_alphanumeric() => written.extend(['@', BREAK]),
            '#' if next.is_ascii_digit() => written.extend(['#', BREAK]),
            '-' if next.is_ascii_digit() && after_gh() => written.extend(['-', BREAK]),
            '/' if line_start => written.extend([BREAK, '/']),
            '/' if written.ends_with("/issues") || written.ends_with("/pull") => written.extend(['/', BREAK]),
            c => written.push(c),
        }
        line_start = c == '\n' || (line_start && c.is_whitespace());
    }
}

/// The fence of a block of code that the text leaves open.
fn open_fence(text: &str) -> Option<String> {
    let last = code(text).pop().filter(|code| code.is_block && code.is_outermost)?;
    let lines: Vec<&str> = text[last.range].lines().collect();
    let opening = lines.first()?.trim_start();
    let mark = opening.chars().next()?;
    let fence: String = opening.chars().take_while(|c| *c == mark).collect();
    let closes = |line: &str| {
        let words = line.trim_start_matches(' ');
        // With four blanks it is a line of the code.
        line.len() - words.len() < 4
            && words.trim_end().len() >= fence.len()
            && words.trim_end().chars().all(|c| c == mark)
    };
    let is_closed = lines.len() > 1 && lines.last().is_some_and(|line| closes(line));
    (!is_closed).then_some(fence)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parts that a reader takes for text, without mask or doubt.
    fn read_as_text(written: &str) -> Vec<String> {
        let options = Options::ENABLE_GFM | Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
        let (mut texts, mut block, mut in_code) = (Vec::new(), String::new(), false);
        for event in Parser::new_ext(written, options) {
            match event {
                Event::Start(Tag::CodeBlock(_)) => in_code = true,
                Event::End(TagEnd::CodeBlock) => in_code = false,
                Event::Text(text) if !in_code => block.push_str(&text),
                Event::Code(_) => block.push('\u{fffc}'),
                Event::Html(raw) | Event::InlineHtml(raw) => panic!("a tag: {raw:?} in {written:?}"),
                Event::Start(Tag::Image { .. }) => panic!("an image in {written:?}"),
                Event::End(TagEnd::Paragraph | TagEnd::Item | TagEnd::TableCell | TagEnd::Heading(_)) => {
                    texts.push(std::mem::take(&mut block));
                }
                _ => {}
            }
        }
        texts.push(block);
        texts
    }

    fn calls(text: &str) -> bool {
        let chars: Vec<char> = text.chars().collect();
        chars
            .windows(2)
            .any(|two| (two[0] == '@' && two[1].is_alphanumeric()) || (two[0] == '#' && two[1].is_ascii_digit()))
    }

    /// Attack corpus G83, H87, J118.
    #[test]
    fn an_agents_text_is_inert_in_a_comment() {
        assert_eq!(inert("@team Fixes #9"), "@\u{200b}team Fixes #\u{200b}9");
        assert_eq!(inert("closes GH-4 https://x/o/r/issues/5"), "closes GH-\u{200b}4 https://x/o/r/issues/\u{200b}5");
        assert_eq!(inert("![x](http://beacon) <img>"), "!\\[x](http://beacon) &lt;img>");
        assert_eq!(inert("/merge\n  /hob retry"), "\u{200b}/merge\n  \u{200b}/hob retry");
        assert_eq!(inert("&commat;team &#x40;x &num;9 a && b"), "&amp;commat;team &amp;#x40;x &amp;num;9 a && b");
        assert_eq!(inert("a/b, mail a@b.c"), "a/b, mail a@\u{200b}b.c");
    }

    #[test]
    fn code_stays_byte_for_byte() {
        for text in [
            "Run `npm install -g @anthropic-ai/claude-code` first.",
            "``a ` @b`` and `Vec<u8>`",
            "```sh\nnpm install -g @anthropic-ai/claude-code\ngit log #1 <in\n```",
            "~~~\n```\n@a\n~~~",
            "- one:\n\n  ```\n  @a #1\n  ```\n- two: `@b`",
            "> ```\n> @a\n> ```",
            "```\n/usr/bin/x: @a\n```",
            "| a | b |\n|---|---|\n| `@x/y` | `#1` |",
        ] {
            assert_eq!(inert(text), text);
        }
    }

    #[test]
    fn what_only_looks_like_code_is_text() {
        for (text, written) in [
            // Indented, unclosed, over two lines, escaped.
            ("a\n\n    @a", "a\n\n    @\u{200b}a"),
            ("`@a", "`@\u{200b}a"),
            ("`x\n@a`", "`x\n@\u{200b}a`"),
            ("\\`@a`", "\\`@\u{200b}a`"),
            // The tag would have consumed the first back-tick, but no tag is left.
            ("<a href=\"`\"> `@a `", "&lt;a href=\"`\"> `@\u{200b}a `"),
            // On the forge, an address and a formula consume it.
            ("https://x.example/`z @a `", "https://x.example/`z @\u{200b}a `"),
            ("$x`y$ @a `", "$x`y$ @\u{200b}a `"),
            // Another program's command as a line, also inside code.
            ("```\n/merge\n```", "```\n\u{200b}/merge\n```"),
        ] {
            assert_eq!(inert(text), written);
        }
    }

    #[test]
    fn a_block_that_is_left_open_is_closed() {
        assert_eq!(inert("```\n@a"), "```\n@a\n```");
        assert_eq!(inert("~~~~ x\n```\n"), "~~~~ x\n```\n~~~~");
        assert_eq!(inert("```"), "```\n```");
        assert_eq!(inert("~~~\n    ~~~"), "~~~\n    ~~~\n~~~");
        assert_eq!(inert("- ```\n  @a"), "- ```\n  @a", "the list's end closes it");
        assert_eq!(inert("```\n@a\n```"), "```\n@a\n```");
    }

    #[test]
    fn within_a_line_nothing_begins_a_block() {
        assert_eq!(inert_line("```\n@a\n```"), "``` @a ```");
        assert_eq!(inert_line("# x\n- `@a` @b"), "# x - `@a` @\u{200b}b");
        assert_eq!(inert_line("``` @a"), "``` @\u{200b}a");
    }

    /// Pieces, some harmless alone and some not.
    const PIECES: [&str; 25] = [
        "@a",
        "#1",
        "`",
        "``",
        "```",
        "~~~",
        "\n",
        "\n\n",
        "    ",
        "- ",
        "> ",
        "<",
        "<a href=\"",
        "\">",
        "<!--",
        "-->",
        "$",
        "https://e.example/",
        "|",
        "\n|---|---|\n",
        "![i](",
        ")",
        "\\",
        " ",
        "x",
    ];

    proptest::proptest! {
        #[test]
        fn however_it_is_put_together_nothing_calls(
            pieces in proptest::collection::vec(proptest::sample::select(PIECES.to_vec()), 0..24),
        ) {
            let written = inert(&pieces.concat());
            for text in read_as_text(&written) {
                assert!(!calls(&text), "{text:?} in {written:?}");
            }
            // What Hob writes after it is not code.
            let followed = read_as_text(&format!("{written}\n\nThe end."));
            assert!(followed.iter().any(|text| text == "The end."), "{written:?}");
        }
    }
}
