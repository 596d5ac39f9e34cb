//! Markdown as people wrote it, made to HTML that can do nothing: of raw HTML a few bare tags stay, comments are left out
//! and the rest is shown as text; images become links, and links lead only to the web. Addresses and `#12` in plain text
//! become links too.

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html::push_html};

/// The longest text that is rendered; a longer one is shown as it is.
const RENDERED_MAX: usize = 256 << 10;

/// HTML of this Markdown; `#12` leads to the issue below `repo`, the address of a repository.
pub(super) fn html(markdown: &str, repo: &str) -> String {
    let mut html = String::new();
    if markdown.len() > RENDERED_MAX {
        push_html(&mut html, [Event::Text(CowStr::from(markdown))].into_iter());
        return html;
    }
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut within = Within::Text;
    // Inside a code block or a link, text stays as it is.
    let mut plain = 0_u32;
    let events = Parser::new_ext(markdown, options).flat_map(|event| {
        match &event {
            Event::Start(Tag::CodeBlock(_) | Tag::Link { .. } | Tag::Image { .. }) => plain += 1,
            Event::End(TagEnd::CodeBlock | TagEnd::Link | TagEnd::Image) => plain = plain.saturating_sub(1),
            _ => {}
        }
        match event {
            Event::Text(text) if plain == 0 => linked(&text, repo),
            other => vec![inert(other, &mut within)],
        }
    });
    push_html(&mut html, events);
    html
}

/// Text with its addresses and issue numbers made to links.
fn linked(text: &str, repo: &str) -> Vec<Event<'static>> {
    let mut events = Vec::new();
    for word in text.split_inclusive([' ', '(', ')', '\t']) {
        let core = word.trim_end_matches([' ', '(', ')', '\t', '.', ',', ';', ':', '!', '?']);
        let number = core.strip_prefix('#').filter(|digits| !digits.is_empty() && digits.len() < 10);
        let address = match number.filter(|digits| digits.chars().all(|c| c.is_ascii_digit())) {
            Some(digits) => Some(format!("{repo}/issues/{digits}")),
            None if core.starts_with("http://") || core.starts_with("https://") => Some(core.to_owned()),
            None => None,
        };
        let own = |text: &str| Event::Text(CowStr::from(text.to_owned()));
        match address {
            Some(address) => {
                let (dest_url, none) = (CowStr::from(address), || CowStr::from(""));
                let link_type = pulldown_cmark::LinkType::Inline;
                events.push(Event::Start(Tag::Link { link_type, dest_url, title: none(), id: none() }));
                events.push(own(core));
                events.push(Event::End(TagEnd::Link));
                events.push(own(&word[core.len()..]));
            }
            None => events.push(own(word)),
        }
    }
    events
}

/// Tags that stay, without attributes: what GitHub's own comments fold and break lines with.
const KEPT: [&str; 9] =
    ["<details>", "</details>", "<summary>", "</summary>", "<br>", "<sub>", "</sub>", "<sup>", "</sup>"];

/// Where the reading of raw HTML stands: a comment may go on over many lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Within {
    Text,
    Comment,
}

/// Raw HTML with nothing left in it but the tags that stay.
fn cleaned(raw: &str, within: &mut Within) -> String {
    let (mut rest, mut clean) = (raw, String::new());
    while let Some(first) = rest.chars().next() {
        if *within == Within::Comment {
            let Some(end) = rest.find("-->") else { break };
            *within = Within::Text;
            rest = &rest[end + 3..];
        } else if rest.starts_with("<!--") {
            *within = Within::Comment;
            rest = &rest[4..];
        } else if let Some(tag) = KEPT.iter().find(|tag| rest.starts_with(**tag)) {
            clean.push_str(tag);
            rest = &rest[tag.len()..];
        } else {
            match first {
                '<' => clean.push_str("&lt;"),
                '>' => clean.push_str("&gt;"),
                '&' => clean.push_str("&amp;"),
                '"' => clean.push_str("&quot;"),
                other => clean.push(other),
            }
            rest = &rest[first.len_utf8()..];
        }
    }
    clean
}

fn inert<'e>(event: Event<'e>, within: &mut Within) -> Event<'e> {
    match event {
        Event::Html(raw) => Event::Html(cleaned(&raw, within).into()),
        Event::InlineHtml(raw) => Event::InlineHtml(cleaned(&raw, within).into()),
        Event::End(TagEnd::HtmlBlock) => {
            *within = Within::Text;
            Event::End(TagEnd::HtmlBlock)
        }
        Event::Start(Tag::Link { link_type, dest_url, title, id } | Tag::Image { link_type, dest_url, title, id }) => {
            Event::Start(Tag::Link { link_type, dest_url: safe(dest_url), title, id })
        }
        Event::End(TagEnd::Image) => Event::End(TagEnd::Link),
        other => other,
    }
}

/// The address, where it leads to the web or within this page; `#` otherwise.
fn safe(address: CowStr<'_>) -> CowStr<'_> {
    let lower = address.trim().to_ascii_lowercase();
    let web = ["http://", "https://", "mailto:", "#"].iter().any(|start| lower.starts_with(start));
    if web { address } else { CowStr::from("#") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_markdown_does_nothing() {
        let text = "<script>alert(1)</script>\n\na <img src=x onerror=alert(1)> b\n\n![x](http://e.example/i.png \"t\")\n\n\
                    [a](javascript:alert(1)) [b](JaVaScRiPt:x) [c](data:text/html,x) [d](https://ok.example)";
        let html = html(text, "/a/b");
        for bad in ["<script", "<img", "javascript:", "JaVaScRiPt", "data:"] {
            assert!(!html.contains(bad), "{bad} in {html}");
        }
        assert!(html.contains("&lt;script&gt;") && html.contains("href=\"https://ok.example\""));
    }

    #[test]
    fn comments_vanish_and_folds_stay() {
        let text = "<!-- hob\n<script>\n-->\n\n<details><summary>Checks</summary>\n\n- ok\n\n</details>\n\na <!-- b --> c<br>d";
        let html = html(text, "/a/b");
        assert!(!html.contains("hob") && !html.contains("script") && !html.contains(" b "), "{html}");
        assert!(html.contains("<details><summary>Checks</summary>") && html.contains("c<br>d"), "{html}");
        assert!(html.contains("</details>") && html.contains("<li>ok</li>"), "{html}");
        assert!(!super::html("<details open onclick=x>", "/a/b").contains("<details"));
    }

    #[test]
    fn numbers_and_addresses_lead_somewhere_but_not_in_code() {
        let html =
            html("Fixes #12, see https://x.example/a. `#3`\n\n    #4 code\n\n[#5](http://y.example) a#6", "/a/b");
        assert!(html.contains("<a href=\"/a/b/issues/12\">#12</a>, see <a href=\"https://x.example/a\">"), "{html}");
        for bare in ["issues/3", "issues/4", "issues/5", "issues/6"] {
            assert!(!html.contains(bare), "{html}");
        }
    }
}
