//! Markdown as a person reads it on the forge: removes from the source what a renderer does not show.
//!
//! # Guarantees
//! - Only what the parser reports as shown text or code is kept, with the marks around it. Text that hides in an
//!   unforeseen way, such as a second definition of a link or a table's surplus cell, is therefore removed too.
//! - No character of code that the page shows is lost: an invisible one becomes `\u{…}`.
//!
//! # Caveats
//! - Addresses of links and images stay: people see them when they point at one.
//! - A tag of no element, such as the one in `Vec<T>`, stays though the page has nothing there: its author means text.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "of the parser's many events only what shows or hides text matters"
)]

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::{Display, Write},
    ops::Range,
};

use pulldown_cmark::{CodeBlockKind, Event, LinkType, Options, Parser, Tag, TagEnd};

use crate::{
    clip,
    drawn::{Drawing, formulas},
    html::Html,
    markup::count,
    push_fenced,
    text::with_escapes,
    without_invisible,
};

/// Marks of lists, quotations, headings and tables, which appear between the texts.
const MARKS: &str = "-*+>.)#=|:~";

/// A text as a page shows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rendered {
    /// The source without what the page does not show.
    pub text: String,
    /// How many characters were left out.
    pub hidden: usize,
    /// The drawings of which a part was left out.
    pub drawings: BTreeSet<Drawing>,
}

impl Rendered {
    /// A sentence that says what was left out of `whole`; `None` if nothing was.
    pub fn left_out(&self, whole: &str) -> Option<String> {
        let parts: Vec<&str> = self.drawings.iter().map(|drawing| drawing.part()).collect();
        let among = if parts.is_empty() { String::new() } else { format!(", among them {}", parts.join(" and ")) };
        (self.hidden > 0)
            .then(|| format!("(Left out: {} of {whole} that cannot be seen{among}.)", count(self.hidden, "character")))
    }
}

/// The source without what a renderer does not show.
pub fn rendered(markdown: &str) -> Rendered {
    let source = markdown.replace("\r\n", "\n").replace('\r', "\n");
    let mut reading = Reading::default();
    let options = Options::ENABLE_GFM
        | Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_TASKLISTS;
    let called = Parser::new_ext(&source, options).filter_map(|event| match event {
        Event::FootnoteReference(label) => Some(label.into_string()),
        _ => None,
    });
    reading.footnotes = called.collect();
    for (event, range) in Parser::new_ext(&source, options).into_offset_iter() {
        reading.read(&source, event, range);
    }
    reading.finish(&source)
}

/// Puts a text of the forge between lines that contain `fence`, as its page shows it and at most `max` bytes of it, and
/// says what was left out.
pub fn push_page(text: &mut String, fence: impl Display, name: &str, markdown: &str, max: usize) {
    let page = rendered(markdown);
    push_fenced(text, fence, name, &clip(&page.text, max));
    if let Some(left_out) = page.left_out(&format!("the {name}")) {
        // Writing to a string cannot fail.
        writeln!(text, "{left_out}").ok();
    }
}

/// The state of the reading. Places are bytes of the source, in order.
#[derive(Default)]
struct Reading {
    footnotes: BTreeSet<String>,
    /// The shown ranges, with the marks in them.
    shown: Vec<Range<usize>>,
    /// The ranges of code that the page shows as code: where each begins and ends.
    code: BTreeMap<usize, usize>,
    /// What replaces a range.
    edits: Vec<(Range<usize>, String)>,
    /// The open links: whether the end is rewritten, and the link's address.
    links: Vec<Option<String>>,
    /// Where the last shown text ended.
    last: usize,
    html: Html,
    /// Where HTML began that hides what follows.
    unshown: Option<usize>,
    /// The open block that the page draws: its source, and the ranges of that.
    drawing: Option<(Drawing, String, Option<Range<usize>>)>,
    /// The drawings of which a part was left out.
    drawings: BTreeSet<Drawing>,
}

impl Reading {
    fn read(&mut self, source: &str, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(Tag::FootnoteDefinition(label)) => match self.footnotes.contains(&*label) {
                true => self.shown.push(range.start..range.start + "[^]:".len() + label.len()),
                false => self.edits.push((range, String::new())),
            },
            Event::Start(Tag::Image { dest_url, .. }) => {
                self.writes_quotes(range.start);
                self.shown.push(range.clone());
                self.edits.push((range.clone(), format!("![]({dest_url})")));
                self.last = range.end;
            }
            Event::Start(Tag::Link { link_type, dest_url, title, .. }) => {
                self.writes_quotes(range.start);
                let is_written = matches!(link_type, LinkType::Autolink | LinkType::Email | LinkType::WikiLink { .. });
                let is_plain = is_written || (link_type == LinkType::Inline && title.is_empty());
                self.links.push((!is_plain).then(|| dest_url.into_string()));
                self.last = range.start + 1;
                self.shown.push(range);
            }
            Event::End(TagEnd::Link) => {
                if let Some(address) = self.links.pop().flatten() {
                    self.edits.push((self.last.min(range.end)..range.end, format!("]({address})")));
                }
                self.last = range.end;
            }
            Event::Start(Tag::CodeBlock(kind)) => self.begin_code(source, &kind, range),
            Event::End(TagEnd::CodeBlock) => self.end_drawing(),
            Event::Html(html) | Event::InlineHtml(html) => self.tags(&html, range),
            Event::End(TagEnd::HtmlBlock) => self.html.end_block(),
            Event::Start(Tag::Emphasis | Tag::Strong | Tag::Strikethrough) => self.shown.push(range),
            Event::End(TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough) => self.last = range.end,
            Event::Code(_) => {
                self.code.insert(range.start, range.end);
                self.html.saw_text();
                self.show(range);
            }
            Event::Text(text) => {
                if let Some((_, drawn, place)) = &mut self.drawing {
                    drawn.push_str(&text);
                    *place = Some(place.as_ref().map_or(range.start, |place| place.start)..range.end);
                }
                if text.contains(char::is_alphanumeric) {
                    self.html.saw_text();
                }
                self.show(range);
            }
            Event::FootnoteReference(_) | Event::TaskListMarker(_) => {
                self.writes_quotes(range.start);
                self.show(range);
            }
            Event::Rule | Event::SoftBreak | Event::HardBreak => self.show(range),
            _ => {}
        }
    }

    fn show(&mut self, range: Range<usize>) {
        self.last = range.end;
        self.shown.push(range);
    }

    fn begin_code(&mut self, source: &str, kind: &CodeBlockKind<'_>, range: Range<usize>) {
        let mut drawing = None;
        if let CodeBlockKind::Fenced(info) = kind {
            if !info.is_empty() {
                self.writes_quotes(range.start);
            }
            self.fence(source, info, &range);
            drawing = Drawing::of(info);
        }
        match drawing {
            Some(drawing) => self.drawing = Some((drawing, String::new(), None)),
            None => drop(self.code.insert(range.start, range.end)),
        }
        self.html.saw_text();
        self.show(range);
    }

    /// Behind a fence only the language is visible, through the colours.
    fn fence(&mut self, source: &str, info: &str, range: &Range<usize>) {
        let line = source[range.clone()].lines().next().unwrap_or_default();
        let marks = line.len() - line.trim_start_matches(['`', '~']).len();
        let is_language = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '#' | '.' | '_');
        let language: String = info.chars().take_while(is_language).take(20).collect();
        if language != info {
            self.edits.push((range.start + marks..range.start + line.len(), language));
        }
    }

    /// Leaves out what a drawing does not show.
    fn end_drawing(&mut self) {
        let Some((drawing, source, Some(place))) = self.drawing.take() else { return };
        if let Some(shown) = drawing.shown(&source) {
            self.edits.push((place, shown));
            self.drawings.insert(drawing);
        }
    }

    /// The tags by name, with the text between them.
    fn tags(&mut self, html: &str, range: Range<usize>) {
        self.shows_again(range.start);
        let text = self.html.read(html);
        if self.html.hides() {
            self.unshown = Some(range.end);
        }
        self.last = range.end;
        self.shown.push(range.clone());
        if text != html {
            self.edits.push((range, text));
        }
    }

    /// What the renderer writes here has an attribute, and so ends an attribute that HTML left open.
    fn writes_quotes(&mut self, at: usize) {
        if self.html.meets_quotes() {
            self.shows_again(at);
        }
    }

    fn shows_again(&mut self, at: usize) {
        if let Some(from) = self.unshown.take() {
            self.edits.push((from..at, String::new()));
        }
    }

    fn finish(mut self, source: &str) -> Rendered {
        self.shows_again(source.len());
        for formula in formulas(source, &self.code) {
            let is_in = |(edit, _): &(Range<usize>, String)| edit.start <= formula.start && formula.end <= edit.end;
            if !self.edits.iter().any(is_in) {
                self.edits.push((formula, String::new()));
                self.drawings.insert(Drawing::Formula);
            }
        }
        // Of two that begin together, the wider one comes first.
        self.edits.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
        self.shown.sort_by_key(|range| range.start);
        let (mut shown, mut edits) = (self.shown.into_iter().peekable(), self.edits.into_iter().peekable());
        let (mut text, mut left_out, mut at) = (String::new(), 0, 0);
        while at < source.len() {
            while edits.next_if(|(range, _)| range.start < at).is_some() {}
            while shown.next_if(|range| range.end <= at).is_some() {}
            if let Some((range, instead)) = edits.next_if(|(range, _)| range.start == at) {
                let instead = without_invisible(&instead).0;
                left_out += source[range.clone()].chars().count().saturating_sub(instead.chars().count());
                text.push_str(&instead);
                // An empty edit comes before what follows.
                at = range.end.max(at);
                if range.is_empty() {
                    edits.next_if(|(next, _)| next.start == at);
                }
                continue;
            }
            let edit = edits.peek().map_or(source.len(), |(range, _)| range.start);
            let (until, is_shown) = match shown.peek() {
                Some(range) if range.start <= at => (range.end, true),
                Some(range) => (range.start, false),
                None => (source.len(), false),
            };
            let piece = at..until.min(edit);
            at = piece.end;
            if is_shown {
                left_out += push_shown(&mut text, source, piece, &self.code);
            } else {
                left_out += push_marks(&mut text, &source[piece]);
            }
        }
        Rendered { text, hidden: left_out, drawings: self.drawings }
    }
}

/// Adds a shown piece of the source, its code character for character; returns how many invisible characters of the text
/// around the code were left out.
fn push_shown(text: &mut String, source: &str, piece: Range<usize>, code: &BTreeMap<usize, usize>) -> usize {
    let (mut left_out, mut at) = (0, piece.start);
    while at < piece.end {
        let inside = code.range(..=at).next_back().map(|(_, end)| *end).filter(|end| *end > at);
        let next = code.range(at + 1..).next().map_or(piece.end, |(start, _)| *start);
        let end = inside.unwrap_or(next).min(piece.end);
        if inside.is_some() {
            text.push_str(&with_escapes(&source[at..end]));
        } else {
            let (seen, hidden) = without_invisible(&source[at..end]);
            text.push_str(&seen);
            left_out += hidden;
        }
        at = end;
    }
    left_out
}

/// Adds the lines between two texts that consist of marks; returns how many characters of other lines were left out.
fn push_marks(text: &mut String, between: &str) -> usize {
    let is_mark = |c: char| c.is_whitespace() || c.is_ascii_digit() || MARKS.contains(c);
    let mut left_out = 0;
    for line in between.split_inclusive('\n') {
        if line.chars().all(is_mark) {
            text.push_str(line);
        } else if line != "\\" {
            left_out += line.trim_end_matches('\n').chars().count();
            text.push_str(&line[line.trim_end_matches('\n').len()..]);
        }
    }
    left_out
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, thread, time::Duration};

    use super::*;

    /// A block of a body with this code, and the lines of the code.
    fn with_code(kind: u8, code: &[String]) -> (String, Vec<String>) {
        let lines = |before: &str| code.iter().map(|line| format!("{before}{line}\n")).collect::<String>();
        let block = match kind {
            0 => format!("```\n{}```", lines("")),
            1 => format!("~~~~ rust\n{}~~~~", lines("")),
            2 => format!("- one\n  - two\n\n    ```js\n{}    ```", lines("    ")),
            3 => format!("> said\n>\n> ```\n{}> ```", lines("> ")),
            4 => format!("So:\n\n{}", lines("    ")),
            5 => format!("It costs $5, `{}` and 10% more than $6.", code[0]),
            _ => format!("- **so `{}`** <b>*`{}`*</b>", code[0], code[0]),
        };
        (block, if kind < 5 { code.to_vec() } else { vec![code[0].clone()] })
    }

    fn as_it_is(source: &str) -> Rendered {
        Rendered { text: source.to_owned(), ..Rendered::default() }
    }

    /// Attack corpus C20, C27, C28.
    #[test]
    fn what_nobody_sees_is_left_out() {
        for (source, seen) in [
            ("a <!-- obey --> b", "a  b"),
            ("one\n\n[//]: # (obey)\n\ntwo", "one\n\n\n\ntwo"),
            ("one\n\n[x]: https://e.example \"obey\"\n[x]: y 'obey again'\n\ntwo", "one\n\n\n\n\ntwo"),
            ("see [the docs][d]\n\n[d]: https://e.example 'obey'\n", "see [the docs](https://e.example)\n\n\n"),
            ("[here](https://e.example \"obey\") now", "[here](https://e.example) now"),
            ("![obey](https://e.example/i.png 'obey') x", "![](https://e.example/i.png) x"),
            ("<img src=\"i.png\" alt=\"obey\"> x", "<img> x"),
            ("a <b title='obey > <i'>bold</b> c", "a <b>bold</b> c"),
            ("<div data-x=\"obey\"\n  aria-label='obey'>\nshown\n</div>\n", "<div>\nshown\n</div>\n"),
            ("<?obey ?>\n\n<!DOCTYPE obey>\n\n<![CDATA[obey]]>\n\nx", "\n\n\n\n\n\nx"),
            ("a <style>obey</style> b <template>obey *now*</template> c", "a  b  c"),
            ("<script>\nobey\n</script>\n\nx <style>obey", "\n\nx "),
            ("x[^1]\n\n[^1]: a note\n\n[^2]: obey\n", "x[^1]\n\n[^1]: a note\n\n"),
            ("```sh obey and more\nls\n```\n", "```sh\nls\n```\n"),
            ("| a | b |\n|---|---|\n| 1 | 2 | obey |\n", "| a | b |\n|---|---|\n| 1 | 2\n"),
        ] {
            let Rendered { text, hidden, .. } = rendered(source);
            assert_eq!(text, seen, "{source:?}");
            assert!(hidden > 0, "{source:?}");
        }
    }

    /// Attack corpus C20, C21, C27, C28: what a browser is in the middle of goes on over blocks.
    #[test]
    fn what_a_browser_hides_is_left_out_wherever_it_ends() {
        for source in [
            // It never ends: what the renderer writes cannot end it.
            "shown\n\n<div><!--\n\nobey **obey**\n\n```\nobey\n```\n\n--> obey",
            "shown\n\n<div title=\"\n\nobey *obey*\n\n\">obey",
            // An address that the renderer writes ends the attribute.
            "<div title=\"\n\nobey [x](https://e.example) shown",
            "<div title='\n\nobey [x](https://e.example) obey\n\n<div '>shown</div>",
            // Tags over several lines, also in containers.
            "<div\n  title='obey\n  obey'\n  obey>shown</div>",
            "> <div\n> title='obey'\n> obey>\n> shown\n> </div>",
            "- <!-- obey\n  obey -->\n- shown",
            "a <b\ntitle='obey'>shown</b>",
            // Comments that end at once, or in another way.
            "a <!--> shown",
            "<!--->shown<!-- obey -->",
            "<!-- obey --!> shown",
            "<div></ obey>shown<!obey></div>",
            // Comments and code.
            "`<!--` shown `-->`<!-- ` --><!-- ` obey -->",
            "```\n<!--\n```\n\nshown\n\n--><!-- obey -->",
            "<!--\n```\nobey\n-->\n```\nshown\n```",
            // Nested and oddly written elements.
            "<template>obey<template>obey</template>obey</template>shown",
            "<template/>obey</template>shown",
            "<STYLE\n>obey</style >shown",
            "<ruby>shown<rp>(obey)</rp></ruby><svg><title>obey</title></svg>",
            "<noscript><!-- </noscript> --> obey</noscript>shown",
            "<details title='obey'><summary alt=obey>shown</summary></details>",
            "<div don't title='obey'>shown</div> 'x'",
            // In other blocks.
            "| <!-- obey --> | shown |\n|---|---|\n",
            "[<!-- obey -->shown](x) # <!-- obey -->",
            "shown $\\mathrlap{obey}$ $\\color{#fffffe}{obey}$ $\\color[rgb]{1,1,1}{obey}$ $\\def\\x{obey}$ $a % obey$",
            "shown\n\n> ```mermaid\n> %% obey\n> ```\n\n- ```math\n  \\phantom{obey}\n  ```\n\n~~~GeoJSON\nobey\n~~~",
        ] {
            let Rendered { text, hidden, .. } = rendered(source);
            assert!(!text.contains("obey") && text.contains("shown"), "{source:?}: {text:?}");
            assert!(hidden > 0 || !source.contains("obey"), "{source:?}");
        }
    }

    /// Attack corpus K141.
    #[test]
    fn what_a_drawing_does_not_show_is_left_out() {
        for (source, seen) in [
            ("```mermaid\n%% obey\nA --> B\n```\n", "```mermaid\nA --> B\n```\n"),
            ("a $\\phantom{obey}$ b $\\color{white}{obey}$ c", "a  b  c"),
            ("```math\nx % obey\n```\n", "```math\n```\n"),
            (
                "```geojson\n{\"type\":\"Point\",\"properties\":{\"a\":\"obey\"}}\n```\n",
                "```geojson\n{\"type\":\"Point\"}\n```\n",
            ),
        ] {
            let Rendered { text, drawings, .. } = rendered(source);
            assert_eq!((text.as_str(), drawings.len()), (seen, 1), "{source:?}");
        }
    }

    #[test]
    fn what_was_left_out_is_named_and_nothing_else_is() {
        let said = |source| rendered(source).left_out("the issue");
        assert_eq!(
            said("a <!-- b --> `<!-- c -->`").unwrap(),
            "(Left out: 10 characters of the issue that cannot be seen.)"
        );
        assert_eq!(
            said("```mermaid\n%% x\n```\n\n$\\phantom{y}$").unwrap(),
            "(Left out: 18 characters of the issue that cannot be seen, among them what a mermaid diagram does not draw and a \
             formula that hides a part of itself.)"
        );
        for source in [
            "Vec<T>, Box<dyn Error>, Map<K extends V>",
            "می\u{200c}خواهم",
            "`<!-- x -->`",
            "a <!-- b",
            "<!-- $\\phantom{x}$",
        ] {
            assert_eq!(said(source).is_some(), source.starts_with("<!--"), "{source:?}");
        }
        assert!(rendered("<!-- $\\phantom{x}$ -->").drawings.is_empty());
    }

    /// Attack corpus J120.
    #[test]
    fn what_opens_very_often_is_read_in_linear_time() {
        const PATIENCE: Duration = Duration::from_secs(60);
        let (tells, told) = mpsc::channel();
        thread::spawn(move || {
            let read = |piece: &str| rendered(&format!("<div>{}", piece.repeat(1 << 17))).text.len();
            tells.send(["<!--a-->", "<!--a--", "<i a='", "</ ", "<a "].map(read)).ok();
        });
        assert!(told.recv_timeout(PATIENCE).is_ok());
    }

    /// Attack corpus J119.
    #[test]
    fn all_of_it_in_one_body_is_left_out() {
        let body = "Shown[^1] *and* ![obey](i.png 'obey') <img alt=\"obey\">.\n\n[//]: # (obey)\n\n<?obey ?>\n\n\
                    <![CDATA[obey]]>\n\n[x]: https://e.example 'obey'\n\n<div title='obey'>\n\n`shown`\n\n</div>\n\n\
                    [^1]: shown\n\n[^2]: obey\n";
        let Rendered { text, hidden, .. } = rendered(body);
        assert!(!text.contains("obey") && hidden > 0, "{text}");
        assert!(text.to_lowercase().matches("shown").count() == 3 && text.contains("*and*"), "{text}");
    }

    /// Attack corpus C26: what a page shows as text stays text, and does not become a comment when it is read twice.
    #[test]
    fn entities_are_not_decoded() {
        for source in ["&amp;#x3c;!-- obey --&amp;gt;", "&lt;!-- shown --&gt;", "&#x3c;!-- shown --&#62;"] {
            assert_eq!(rendered(source), as_it_is(source));
        }
        assert_eq!(rendered("&#x3c;<!-- obey -->!-- shown").text, "&#x3c;!-- shown");
    }

    #[test]
    fn what_people_write_stays_as_it_is() {
        for source in [
            "# Title\n\nSome *text* with **bold**, `code` and ~~none~~.\nAnother line  \nand one more.\n",
            "- one\n- two\n  - three\n\n1. a\n2. b\n\n- [ ] open\n- [x] done\n",
            "> quoted\n> more\n\n---\n\nSee <https://e.example> and https://e.example/x.\n",
            "```rust\nfn main() { println!(\"<b title='x'>\"); } // [//]: # (x)\n```\n\n    indented <b title='x'>\n",
            "| a | b |\n|:--|--:|\n| 1 | 2 |\n",
            "Title\n=====\n\n[docs](https://e.example) and [a](b)\n",
            "Größe: 5 < 6 && 7 > 2; C:\\path and 100 % of it.",
        ] {
            assert_eq!(rendered(source), as_it_is(source));
        }
    }

    /// What is beside code: all that hides something, and ends.
    const BESIDE: [&str; 12] = [
        "Plain words.",
        "<!-- obey\n\n``` -->",
        "a <!-- ` --> b",
        "<details>\n<summary title='`'>Vec<T></summary>\n",
        "</details>",
        "<template>`obey`</template>",
        "$\\phantom{obey}$ and $5",
        "```mermaid\n%% obey\ngraph TD\n```",
        "[x]: y 'obey'",
        "![`a`](b 'c')",
        "| a | b |\n|---|---|\n| 1 | 2 | obey |",
        "<div\ntitle='```'>",
    ];

    proptest::proptest! {
        #[test]
        fn no_character_of_code_is_lost(
            blocks in proptest::collection::vec(
                (
                    0_u8..7,
                    proptest::collection::vec("q[a-z<>!\"'$%{}\\\\=/&#|*_\u{200b}\u{200d}\u{e0041}\u{fe0f} -]{0,30}q", 1..4),
                    proptest::sample::select(BESIDE.to_vec()),
                ),
                1..6,
            ),
            ends in proptest::sample::select(vec!["\n", "\r\n"]),
        ) {
            let (mut body, mut codes) = (String::new(), Vec::new());
            for (kind, code, beside) in &blocks {
                let (block, lines) = with_code(*kind, code);
                body.push_str(&format!("{beside}\n\n{block}\n\n"));
                codes.extend(lines);
            }
            let text = rendered(&body.replace('\n', ends)).text;
            for code in codes {
                proptest::prop_assert!(text.contains(&with_escapes(&code)), "{:?} in {:?}: {:?}", code, body, text);
            }
            proptest::prop_assert!(!text.contains("obey"), "{:?}: {:?}", body, text);
        }

        #[test]
        fn whatever_is_written_is_read_to_its_end(source in "[a-z<>!\\[\\]()#|`*_~\"'=:/^\\\\ \n-]{0,200}") {
            let text = rendered(&source).text;
            proptest::prop_assert!(text.len() <= source.len() + 64 * source.len());
        }
    }
}
