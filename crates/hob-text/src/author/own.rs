//! The part of a comment that its author wrote, and which of its words are the author's own.
//!
//! # Guarantees
//! - Nothing below the mark of a mail that is answered or forwarded is the author's, not even within a fence.
//! - What is quoted ends at a blank line: the line that a mail program broke off a quoted one is no longer marked.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::mail::mail_begins;
use crate::html::Html;

/// Elements of HTML whose content is not what the author says at that place.
const SET_APART: [&str; 17] = [
    "blockquote",
    "q",
    "details",
    "table",
    "pre",
    "code",
    "samp",
    "del",
    "s",
    "strike",
    "ul",
    "ol",
    "dl",
    "div",
    "svg",
    "select",
    "textarea",
];

/// Where the words have to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Also in lists, tables and footnotes.
    Anywhere,
    /// In paragraphs and headings of the comment itself.
    Outside,
}

/// The Markdown that the author of a comment wrote: without quotations, and without the mail that it answers or forwards.
pub fn authored(comment: &str) -> String {
    let text = comment.replace("\r\n", "\n").replace('\r', "\n");
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mail = mail_begins(&lines);
    let own: usize = lines.iter().take(mail.unwrap_or(lines.len())).map(|line| line.len()).sum();
    let own = text.get(..own).unwrap_or_default();
    let quoted = quoted(own);
    if mail.is_none() && quoted.is_empty() {
        return comment.to_owned();
    }
    let (mut kept, mut from) = (String::new(), 0);
    for range in quoted {
        kept.push_str(own.get(from..range.start).unwrap_or_default());
        // What is left of its line, such as the dash of a list, does not join the next one.
        let quotation = own.get(range.clone()).unwrap_or_default();
        let joins = quotation.ends_with('\n') && !kept.is_empty() && !kept.ends_with('\n');
        from = (range.end - usize::from(joins)).max(from);
    }
    kept.push_str(own.get(from..).unwrap_or_default());
    // Blanks before the first word can make it code.
    let blank: usize = kept.split_inclusive('\n').take_while(|line| line.trim().is_empty()).map(str::len).sum();
    kept.get(blank..).unwrap_or_default().trim_end().to_owned()
}

/// The ranges of quotations, in order.
fn quoted(comment: &str) -> Vec<Range<usize>> {
    let (mut found, mut html, mut open, mut lists) = (Vec::new(), Html::default(), Vec::<usize>::new(), 0_usize);
    for (event, range) in Parser::new_ext(comment, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::BlockQuote(_)) => {
                let end = if lists == 0 { paragraph_end(comment, range.end) } else { range.end };
                found.push(range.start..end);
            }
            Event::Start(Tag::List(_)) => lists += 1,
            Event::End(TagEnd::List(_)) => lists = lists.saturating_sub(1),
            Event::Html(tags) | Event::InlineHtml(tags) => {
                for tag in html.read(&tags).split('<') {
                    if tag.starts_with("blockquote>") {
                        open.push(range.start);
                    } else if tag.starts_with("/blockquote>")
                        && let Some(start) = open.pop()
                    {
                        found.push(start..range.end);
                    }
                }
            }
            _other => {}
        }
    }
    // One that is left open takes all the rest.
    found.extend(open.first().map(|start| *start..comment.len()));
    found.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    let mut outer: Vec<Range<usize>> = Vec::new();
    for range in found {
        match outer.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            Some(_) | None => outer.push(range),
        }
    }
    outer
}

/// Where the next blank line begins.
fn paragraph_end(comment: &str, from: usize) -> usize {
    let rest = comment.get(from..).unwrap_or_default();
    // The range of a quotation has its last line end.
    let lines = rest.split_inclusive('\n').take_while(|line| !line.trim().is_empty());
    from + lines.map(str::len).sum::<usize>()
}

/// The ranges of a comment that are shown as its author's words: not quoted or struck out, and neither code, nor raw or
/// hidden HTML, nor an image's text.
pub fn own_words(comment: &str, place: Place) -> Vec<Range<usize>> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_FOOTNOTES;
    let (mut own, mut html, mut elements) = (Vec::new(), Html::default(), 0_usize);
    // Whether each open part of the document sets its words apart.
    let mut parts = Vec::<bool>::new();
    for (event, range) in Parser::new_ext(comment, options).into_offset_iter() {
        match event {
            Event::Start(tag) => parts.push(sets_apart(&tag, place)),
            Event::End(end) => {
                parts.pop();
                if end == TagEnd::HtmlBlock {
                    html.end_block();
                }
            }
            Event::Html(tags) | Event::InlineHtml(tags) => {
                for tag in html.read(&tags).split('<') {
                    let name = tag.split_once('>').map_or("", |(name, _)| name);
                    match name.strip_prefix('/') {
                        Some(name) if SET_APART.contains(&name) => elements = elements.saturating_sub(1),
                        None if SET_APART.contains(&name) => elements += 1,
                        Some(_) | None => {}
                    }
                }
            }
            Event::Text(_) if elements == 0 && !html.hides() && !parts.contains(&true) => own.push(range),
            _other => {}
        }
    }
    own
}

fn sets_apart(tag: &Tag<'_>, place: Place) -> bool {
    match tag {
        Tag::BlockQuote(_) | Tag::CodeBlock(_) | Tag::HtmlBlock | Tag::Image { .. } | Tag::Strikethrough => true,
        Tag::List(_) | Tag::Table(_) | Tag::FootnoteDefinition(_) => place == Place::Outside,
        _shown => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_left_out_and_everything_else_stays() {
        for (comment, rest) in [
            ("> **Question**: What should it do?\n\nfix the test, aaa is right", "fix the test, aaa is right"),
            ("> a\nlazy\n\nyes\n\n> > b\n\nno", "yes\n\n\nno"),
            ("> ```\n> a\nbroken off\n\nyes", "yes"),
            ("use `>` or\n\n```\n> code\n```", "use `>` or\n\n```\n> code\n```"),
            ("- first\n  > quoted\n- second", "- first\n  \n- second"),
            ("- > quoted\n- second", "- \n- second"),
            ("a <blockquote>b <blockquote>c</blockquote></blockquote> d", "a  d"),
            ("<blockquote>\n\nb\n\n</blockquote>\n\nd", "d"),
            ("a\n\n<blockquote>\n\nb\n\nd", "a"),
            ("> only", ""),
            ("    code\n", "    code\n"),
            ("> a\n\n    code\n", "    code"),
            ("a\r\nb\rc", "a\r\nb\rc"),
            ("> a\r\n\r\nb\rc", "b\nc"),
            ("", ""),
        ] {
            assert_eq!(authored(comment), rest, "{comment:?}");
        }
    }
}
