//! Markdown as people wrote it, made to HTML that can do nothing: raw HTML is shown as text, images become links, links
//! lead only to the web.

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html::push_html};

/// The longest text that is rendered; a longer one is shown as it is.
const RENDERED_MAX: usize = 256 << 10;

/// HTML of this Markdown.
pub(super) fn html(markdown: &str) -> String {
    let mut html = String::new();
    if markdown.len() > RENDERED_MAX {
        push_html(&mut html, [Event::Text(CowStr::from(markdown))].into_iter());
        return html;
    }
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    push_html(&mut html, Parser::new_ext(markdown, options).map(inert));
    html
}

fn inert(event: Event<'_>) -> Event<'_> {
    match event {
        // A browser shows no comment, and so does GitHub.
        Event::Html(raw) | Event::InlineHtml(raw) if is_comment(&raw) => Event::Text(CowStr::Borrowed("")),
        Event::Html(raw) | Event::InlineHtml(raw) => Event::Text(raw),
        Event::Start(Tag::Link { link_type, dest_url, title, id } | Tag::Image { link_type, dest_url, title, id }) => {
            Event::Start(Tag::Link { link_type, dest_url: safe(dest_url), title, id })
        }
        Event::End(TagEnd::Image) => Event::End(TagEnd::Link),
        other => other,
    }
}

fn is_comment(html: &str) -> bool {
    let html = html.trim();
    html.strip_prefix("<!--").and_then(|rest| rest.find("-->").map(|end| end + 3 == rest.len())).unwrap_or(false)
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
        let html = html(text);
        assert_eq!(super::html("a <!-- note --> b"), "<p>a  b</p>\n");
        assert!(super::html("<!-- a --> <b>").contains("&lt;b&gt;"));
        for bad in ["<script", "<img", "javascript:", "JaVaScRiPt", "data:"] {
            assert!(!html.contains(bad), "{bad} in {html}");
        }
        assert!(html.contains("&lt;script&gt;") && html.contains("href=\"https://ok.example\""));
    }
}
