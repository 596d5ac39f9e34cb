//! Markdown as a person reads it on the forge: removes from the source what a renderer does not show.
//!
//! # Guarantees
//! Only what the parser reports as shown text or code is kept, with the marks around it. Text that hides in an
//! unforeseen way, such as a second definition of a link or a table's surplus cell, is therefore removed too.
//!
//! # Caveats
//! Addresses of links and images stay: people see them when they point at one.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "of the parser's many events only what shows or hides text matters"
)]

use std::{collections::BTreeSet, ops::Range};

use pulldown_cmark::{CodeBlockKind, Event, LinkType, Options, Parser, Tag, TagEnd};

use crate::visible;

/// Elements whose content no forge shows.
const UNSHOWN: [&str; 9] =
    ["script", "style", "template", "title", "noscript", "iframe", "noembed", "noframes", "head"];
/// Marks of lists, quotations, headings and tables, which appear between the texts.
const MARKS: &str = "-*+>.)#=|:~";

/// The source without what a renderer does not show, and how many characters were removed.
pub fn rendered(markdown: &str) -> (String, usize) {
    let (source, hidden) = visible(markdown);
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
    reading.finish(&source, hidden)
}

/// The state of the reading. Places are bytes of the source, in order.
#[derive(Default)]
struct Reading {
    footnotes: BTreeSet<String>,
    /// The shown ranges, with the marks in them.
    shown: Vec<Range<usize>>,
    /// What replaces a range.
    edits: Vec<(Range<usize>, String)>,
    /// The open links: whether the end is rewritten, and the link's address.
    links: Vec<Option<String>>,
    /// Where the last shown text ended.
    last: usize,
    /// An element that is not shown, and where it began.
    unshown: Option<(String, usize)>,
    /// Where a block of HTML began.
    html: bool,
}

impl Reading {
    fn read(&mut self, source: &str, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(Tag::FootnoteDefinition(label)) => match self.footnotes.contains(&*label) {
                true => self.shown.push(range.start..range.start + "[^]:".len() + label.len()),
                false => self.edits.push((range, String::new())),
            },
            Event::Start(Tag::Image { dest_url, .. }) => {
                self.shown.push(range.clone());
                self.edits.push((range.clone(), format!("![]({dest_url})")));
                self.last = range.end;
            }
            Event::Start(Tag::Link { link_type, dest_url, title, .. }) => {
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
            Event::Start(Tag::CodeBlock(kind)) => {
                if let CodeBlockKind::Fenced(info) = kind {
                    self.fence(source, &info, &range);
                }
                self.show(range);
            }
            Event::Start(Tag::HtmlBlock) => {
                let text = self.without_attributes(&source[range.clone()], range.start);
                self.shown.push(range.clone());
                self.edits.push((range, text));
                self.html = true;
            }
            Event::End(TagEnd::HtmlBlock) => self.html = false,
            Event::InlineHtml(_) if !self.html => {
                let text = self.without_attributes(&source[range.clone()], range.start);
                self.shown.push(range.clone());
                self.last = range.end;
                self.edits.push((range, text));
            }
            Event::Start(Tag::Emphasis | Tag::Strong | Tag::Strikethrough) => self.shown.push(range),
            Event::End(TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough) => self.last = range.end,
            Event::Text(_)
            | Event::Code(_)
            | Event::FootnoteReference(_)
            | Event::TaskListMarker(_)
            | Event::Rule
            | Event::SoftBreak
            | Event::HardBreak => self.show(range),
            _ => {}
        }
    }

    fn show(&mut self, range: Range<usize>) {
        self.last = range.end;
        self.shown.push(range);
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

    /// The tags by name, with the text between them. `at` is where the piece begins.
    fn without_attributes(&mut self, html: &str, at: usize) -> String {
        let mut text = String::new();
        let mut rest = html;
        while let Some(start) = rest.find('<') {
            let place = at + html.len() - rest.len() + start;
            if self.unshown.is_none() {
                text.push_str(&rest[..start]);
            }
            let tag = &rest[start..];
            let (length, name) = tag_of(tag);
            rest = &tag[length..];
            match (&self.unshown, name) {
                (Some((open, from)), Some(name)) if name.strip_prefix('/') == Some(open) => {
                    self.edits.push((*from..place, String::new()));
                    self.unshown = None;
                }
                (Some(_), _) | (None, None) => {}
                (None, Some(name)) if UNSHOWN.contains(&name.as_str()) => self.unshown = Some((name, place)),
                (None, Some(name)) => text.push_str(&format!("<{name}>")),
            }
        }
        if self.unshown.is_none() {
            text.push_str(rest);
        }
        text
    }

    fn finish(mut self, source: &str, hidden: usize) -> (String, usize) {
        if let Some((_, from)) = self.unshown.take() {
            self.edits.push((from..source.len(), String::new()));
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
            let piece = &source[at..until.min(edit)];
            if is_shown {
                text.push_str(piece);
            } else {
                left_out += push_marks(&mut text, piece);
            }
            at += piece.len();
        }
        (text, hidden + left_out)
    }
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

/// The length of the tag at the beginning, and its name in lower case, with the slash if it closes. `None` for what
/// shows nothing by itself.
fn tag_of(tag: &str) -> (usize, Option<String>) {
    let until = |mark: &str| tag.find(mark).map_or(tag.len(), |at| at + mark.len());
    for (begin, end) in [("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>"), ("<!", ">")] {
        if tag.starts_with(begin) {
            return (until(end), None);
        }
    }
    let name: String = tag[1..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '/').collect();
    let mut quote = None;
    for (at, c) in tag.char_indices().skip(1) {
        match (quote, c) {
            (None, '>') => {
                return (at + 1, Some(name.trim_end_matches('/').to_ascii_lowercase()).filter(|n| !n.is_empty()));
            }
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            _ => {}
        }
    }
    (tag.len(), None)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let (text, hidden) = rendered(source);
            assert_eq!(text, seen, "{source:?}");
            assert!(hidden > 0, "{source:?}");
        }
    }

    /// Attack corpus J119.
    #[test]
    fn all_of_it_in_one_body_is_left_out() {
        let body = "Shown[^1] *and* ![obey](i.png 'obey') <img alt=\"obey\">.\n\n[//]: # (obey)\n\n<?obey ?>\n\n\
                    <![CDATA[obey]]>\n\n[x]: https://e.example 'obey'\n\n<div title='obey'>\n\n`shown`\n\n</div>\n\n\
                    [^1]: shown\n\n[^2]: obey\n";
        let (text, hidden) = rendered(body);
        assert!(!text.contains("obey") && hidden > 0, "{text}");
        assert!(text.to_lowercase().matches("shown").count() == 3 && text.contains("*and*"), "{text}");
    }

    /// Attack corpus C26: what a page shows as text stays text, and does not become a comment when it is read twice.
    #[test]
    fn entities_are_not_decoded() {
        for source in ["&amp;#x3c;!-- obey --&amp;gt;", "&lt;!-- shown --&gt;", "&#x3c;!-- shown --&#62;"] {
            assert_eq!(rendered(source), (source.to_owned(), 0));
        }
        assert_eq!(rendered("&#x3c;<!-- obey -->!-- shown").0, "&#x3c;!-- shown");
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
            assert_eq!(rendered(source), (source.to_owned(), 0));
        }
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_written_is_read_to_its_end(source in "[a-z<>!\\[\\]()#|`*_~\"'=:/^\\\\ \n-]{0,200}") {
            let (text, _) = rendered(&source);
            proptest::prop_assert!(text.len() <= source.len() + 64 * source.len());
        }
    }
}
