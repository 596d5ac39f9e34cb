//! Markdown by people as harmless HTML: of raw HTML a few bare tags stay, comments are left out and the rest is shown
//! as text; images become links, and links lead only to the web. Addresses and `#12` in plain text become links too.
//!
//! # Guarantees
//! The author's raw HTML never reaches the page: an event of raw HTML carries one of [`KEPT`], and everything else is
//! an event of text, which pulldown-cmark escapes. So nothing has to be cleaned afterwards.
//!
//! # Caveats
//! `ammonia` and `comrak` would do more, and bring in licences that `deny.toml` does not allow (MPL-2.0 and BSD-2-Clause).

use pulldown_cmark::{CowStr, Event, LinkType, Options, Parser, Tag, TagEnd, html::push_html};
use url::Url;

/// The longest text that is rendered; a longer one is shown as it is.
const RENDERED_MAX: usize = 256 << 10;

/// HTML of this Markdown; `#12` leads to the issue below `repo`, the address of a repository.
pub(super) fn html(markdown: &str, repo: &str) -> String {
    html_with_images(markdown, repo, &|_address| None)
}

/// The same, except that images whose addresses `shown` replaces stay images.
pub(super) fn html_with_images(markdown: &str, repo: &str, shown: &dyn Fn(&str) -> Option<String>) -> String {
    let mut html = String::new();
    if markdown.len() > RENDERED_MAX {
        push_html(&mut html, [Event::Text(CowStr::from(markdown))].into_iter());
        return html;
    }
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut within = Within::Text;
    // Inside a code block or a link, text stays as it is.
    let mut plain = 0_u32;
    let mut is_shown = false;
    let events = Parser::new_ext(markdown, options).flat_map(|event| {
        match &event {
            Event::Start(Tag::CodeBlock(_) | Tag::Link { .. } | Tag::Image { .. }) => plain += 1,
            Event::End(TagEnd::CodeBlock | TagEnd::Link | TagEnd::Image) => plain = plain.saturating_sub(1),
            _ => {}
        }
        match event {
            Event::Text(text) if plain == 0 => linked(&text, repo),
            Event::Html(raw) | Event::InlineHtml(raw) => inert(&raw, &mut within),
            Event::Start(Tag::Image { link_type, ref dest_url, ref title, ref id }) if shown(dest_url).is_some() => {
                is_shown = true;
                let dest_url = shown(dest_url).unwrap_or_default().into();
                vec![Event::Start(Tag::Image { link_type, dest_url, title: title.clone(), id: id.clone() })]
            }
            Event::End(TagEnd::Image) if std::mem::take(&mut is_shown) => vec![Event::End(TagEnd::Image)],
            other => vec![web_only(other, &mut within)],
        }
    });
    push_html(&mut html, events);
    html
}

/// The plain text of this Markdown.
pub(super) fn text(markdown: &str) -> String {
    if markdown.len() > RENDERED_MAX {
        return markdown.to_owned();
    }
    let mut text = String::new();
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH) {
        match event {
            Event::Text(part) | Event::Code(part) => text.push_str(&part),
            Event::SoftBreak | Event::HardBreak | Event::End(TagEnd::Item | TagEnd::TableRow | TagEnd::CodeBlock) => {
                text.push('\n');
            }
            Event::End(TagEnd::Paragraph | TagEnd::Heading(_)) => text.push_str("\n\n"),
            _ => {}
        }
    }
    text.trim_end().to_owned()
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
                let link_type = LinkType::Inline;
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

/// Tags that stay, without attributes: those with which GitHub's own comments fold and break lines.
const KEPT: [&str; 9] =
    ["<details>", "</details>", "<summary>", "</summary>", "<br>", "<sub>", "</sub>", "<sup>", "</sup>"];

/// The state of reading raw HTML: a comment may span many lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Within {
    Text,
    Comment,
}

/// Raw HTML as the tags that stay, and text.
fn inert(raw: &str, within: &mut Within) -> Vec<Event<'static>> {
    let (mut rest, mut events, mut text) = (raw, Vec::new(), String::new());
    while !rest.is_empty() {
        if *within == Within::Comment {
            let Some(end) = comment_end(rest) else { break };
            *within = Within::Text;
            rest = &rest[end..];
        } else if let Some(comment) = rest.strip_prefix("<!--") {
            // Browsers take `<!-->` and `<!--->` for whole comments.
            match [">", "->"].iter().find_map(|end| comment.strip_prefix(end)) {
                Some(after) => rest = after,
                None => (*within, rest) = (Within::Comment, comment),
            }
        } else if let Some(tag) = KEPT.iter().find(|tag| rest.starts_with(**tag)) {
            events.push(Event::Text(std::mem::take(&mut text).into()));
            events.push(Event::InlineHtml(CowStr::Borrowed(tag)));
            rest = &rest[tag.len()..];
        } else {
            let next = rest.char_indices().skip(1).find(|(_, c)| *c == '<').map_or(rest.len(), |(at, _)| at);
            text.push_str(&rest[..next]);
            rest = &rest[next..];
        }
    }
    events.push(Event::Text(text.into()));
    events
}

/// The end of the comment in which `text` begins.
fn comment_end(text: &str) -> Option<usize> {
    ["-->", "--!>"].iter().filter_map(|end| Some(text.find(end)? + end.len())).min()
}

/// An event whose links lead only to the web; an image becomes a link to it.
fn web_only<'e>(event: Event<'e>, within: &mut Within) -> Event<'e> {
    match event {
        Event::End(TagEnd::HtmlBlock) => {
            *within = Within::Text;
            Event::End(TagEnd::HtmlBlock)
        }
        Event::Start(Tag::Link { link_type, dest_url, title, id } | Tag::Image { link_type, dest_url, title, id }) => {
            // The HTML writer puts `mailto:` before an address of this type.
            let dest_url = if link_type == LinkType::Email { dest_url } else { safe(dest_url) };
            Event::Start(Tag::Link { link_type, dest_url, title, id })
        }
        Event::End(TagEnd::Image) => Event::End(TagEnd::Link),
        other => other,
    }
}

/// The address, if it leads to the web, within this page, or to an issue beside this one; `#` otherwise. It is parsed
/// as a browser does, which ignores tabs, line ends and leading control characters.
fn safe(address: CowStr<'_>) -> CowStr<'_> {
    let web = Url::parse(&address).is_ok_and(|url| matches!(url.scheme(), "http" | "https" | "mailto"));
    let beside = address.strip_prefix("../issues/").or_else(|| address.strip_prefix("../pull/"));
    let beside = beside.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
    if web || beside || address.starts_with('#') { address } else { CowStr::from("#") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_markdown_does_nothing() {
        let text = "<script>alert(1)</script>\n\na <img src=x onerror=alert(1)> b\n\n![x](http://e.example/i.png \"t\")\n\n\
                    [a](javascript:alert(1)) [b](JaVaScRiPt:x) [c](data:text/html,x) [d](https://ok.example) [e](../../x) [f](../issues/7)";
        let html = html(text, "/a/b");
        for bad in ["<script", "<img", "javascript:", "JaVaScRiPt", "data:", "../../x"] {
            assert!(!html.contains(bad), "{bad} in {html}");
        }
        assert!(html.contains("&lt;script&gt;") && html.contains("href=\"https://ok.example\""));
        assert!(html.contains("href=\"../issues/7\""), "{html}");
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

    #[test]
    fn comments_end_where_browsers_end_them() {
        for (text, shown) in [
            ("a <!-- secret --> b", "b"),
            ("<!-- secret --!> b", "b"),
            ("<!--> b", "b"),
            ("<!---> b", "b"),
            ("<!-- secret\nsecret --> b", "b"),
            ("<details><!-- secret --></details> b", "b"),
        ] {
            let html = html(text, "/a/b");
            assert!(html.contains(shown) && !html.contains("secret") && !html.contains("<!"), "{text}: {html}");
        }
        assert!(!html("<!-- secret, and no end", "/a/b").contains("secret"));
    }

    #[test]
    fn addresses_are_read_as_browsers_read_them() {
        for (address, to) in [
            ("https://ok.example/a?b=c", "https://ok.example/a?b=c"),
            ("#part", "#part"),
            ("mailto:ann@ok.example", "mailto:ann@ok.example"),
            ("javascript:alert(1)", "#"),
            ("&#106;avascript:alert(1)", "#"),
            ("<java\tscript:alert(1)>", "#"),
            ("<\u{1}javascript:alert(1)>", "#"),
            ("vbscript:x", "#"),
            ("data:text/html,x", "#"),
            ("file:///etc/passwd", "#"),
            ("//evil.example", "#"),
            ("/a/b/settings", "#"),
        ] {
            let html = html(&format!("[x]({address})"), "/a/b");
            assert!(html.contains(&format!("href=\"{to}\"")), "{address}: {html}");
        }
        assert!(html("<ann@ok.example>", "/a/b").contains("href=\"mailto:ann@ok.example\""));
    }

    /// The tags that a page may have, beside the tags that stay.
    const TAGS: [&str; 17] = [
        "a",
        "blockquote",
        "code",
        "del",
        "em",
        "h1",
        "h2",
        "hr",
        "li",
        "ol",
        "p",
        "pre",
        "strong",
        "table",
        "td",
        "tr",
        "ul",
    ];
    /// Pieces that are harmless alone or not.
    const PIECES: [&str; 26] = [
        "<script>",
        "</script>",
        "<img src=x onerror=alert(1)>",
        "<!--",
        "-->",
        "--!>",
        "<",
        ">",
        "\"",
        "'",
        "&lt;",
        "\n",
        "\n\n",
        "[a](",
        "![i](",
        ")",
        "javascript:alert(1)",
        "https://e.example/",
        "<details>",
        "</summary>",
        "<sub>",
        "`",
        "    ",
        "> ",
        "<svg/onload=x>",
        " onclick=x ",
    ];

    proptest::proptest! {
        #[test]
        fn however_it_is_put_together_only_known_tags_come_out(
            pieces in proptest::collection::vec(proptest::sample::select(PIECES.to_vec()), 0..30),
        ) {
            let html = html(&pieces.concat(), "/a/b");
            for (at, _) in html.match_indices('<') {
                let tag = &html[at..=at + html[at..].find('>').unwrap()];
                let name = tag.trim_start_matches(['<', '/']).split([' ', '>']).next().unwrap();
                let link = tag.strip_prefix("<a href=\"").map(|rest| rest.split('"').next().unwrap());
                // A fence's word may be anything that stays within its quotes.
                let language = tag.strip_prefix("<code class=\"language-").and_then(|rest| rest.strip_suffix("\">"));
                let is_language = language.is_some_and(|language| !language.contains('"'));
                let known = is_language || match link {
                    Some(to) => to.starts_with("http") || to.starts_with('#') || to.starts_with("/a/b/issues/"),
                    None => KEPT.contains(&tag) || (TAGS.contains(&name) && !tag.contains(['"', '=', ' '])) || ["<hr />", "<br />"].contains(&tag),
                };
                assert!(known, "{tag} in {html}");
            }
        }
    }
}
