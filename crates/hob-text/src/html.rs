//! Tags in Markdown as a browser reads them, over all of a document: what it opens in one place hides what follows in
//! another. Attributes are left out.

/// Elements whose content no forge shows.
const UNSHOWN: [&str; 10] =
    ["script", "style", "template", "title", "noscript", "iframe", "noembed", "noframes", "head", "rp"];
/// Those of them that may contain each other.
const NESTING: [&str; 3] = ["template", "noscript", "head"];
/// The elements of HTML; the tag of another one is text, such as the one in `Vec<T>`.
const ELEMENTS: &str = " a abbr acronym address applet area article aside audio b base basefont bdi bdo big blink \
    blockquote body br button canvas caption center cite code col colgroup data datalist dd del details dfn dialog dir \
    div dl dt em embed fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 header hgroup hr \
    html i image img input ins kbd label legend li link listing main map mark marquee math menu meta meter nav nobr \
    object ol optgroup option output p param picture plaintext pre progress q rb rt rtc ruby s samp search section \
    select slot small source span strike strong sub summary sup svg table tbody td textarea tfoot th thead time tr \
    track tt u ul var video wbr xmp ";
/// Words by which a tag with several is a type's parameter, such as `Box<dyn Error>`.
const OF_GENERICS: [&str; 5] = ["dyn", "impl", "const", "extends", "super"];
/// Characters of such a tag, and how many of them may follow each other: more of either is a hidden sentence.
const TAG_MAX: usize = 32;
const ROW_MAX: usize = 4;

/// What a browser is in the middle of.
#[derive(Debug, Default)]
enum Open {
    #[default]
    Nothing,
    Comment,
    Tag(Begun),
}

/// A tag that has not ended.
#[derive(Debug, Default)]
struct Begun {
    /// Its beginning, which has the name.
    source: String,
    /// The last character of it that is not blank.
    last: Option<char>,
    /// The quotation mark of the attribute that is open.
    quote: Option<char>,
}

/// The state of a browser that reads a document.
#[derive(Debug, Default)]
pub(crate) struct Html {
    open: Open,
    /// An element that is not shown, and how often it was opened.
    unshown: Option<(String, usize)>,
    /// Tags of no element since the last text.
    text_tags: usize,
}

impl Html {
    /// Whether what follows is not shown.
    pub(crate) fn hides(&self) -> bool {
        self.unshown.is_some() || !matches!(self.open, Open::Nothing)
    }

    /// There was text since the last tag.
    pub(crate) fn saw_text(&mut self) {
        self.text_tags = 0;
    }

    /// A block of HTML ends: the tag that the renderer writes next ends one that is open.
    pub(crate) fn end_block(&mut self) {
        if matches!(self.open, Open::Tag(Begun { quote: None, .. })) {
            self.open = Open::Nothing;
        }
    }

    /// The renderer writes an attribute in double quotes; returns whether that ended an open one.
    pub(crate) fn meets_quotes(&mut self) -> bool {
        let is_ended = matches!(self.open, Open::Tag(Begun { quote: Some('"'), .. }));
        if is_ended {
            self.open = Open::Nothing;
        }
        is_ended && self.unshown.is_none()
    }

    /// Reads the next piece of HTML; returns what a page shows of it, with the tags by name.
    pub(crate) fn read(&mut self, html: &str) -> String {
        let (mut text, mut rest) = (String::new(), html);
        while !rest.is_empty() {
            rest = match std::mem::take(&mut self.open) {
                Open::Nothing => self.text(rest, &mut text),
                Open::Comment => match end_of_comment(rest) {
                    Some(end) => &rest[end..],
                    None => {
                        self.open = Open::Comment;
                        ""
                    }
                },
                Open::Tag(begun) => self.tag(begun, rest, &mut text),
            };
        }
        text
    }

    /// Text up to what `<` opens; returns the rest.
    fn text<'h>(&mut self, html: &'h str, shown: &mut String) -> &'h str {
        let start = html.find('<').unwrap_or(html.len());
        let (before, rest) = html.split_at(start);
        self.push(before, shown);
        let until = |mark: &str| rest.find(mark).map_or("", |at| &rest[at + mark.len()..]);
        if let Some(comment) = rest.strip_prefix("<!--") {
            // `<!-->` and `<!--->` are whole comments.
            let whole = comment.strip_prefix('>').or_else(|| comment.strip_prefix("->"));
            if whole.is_none() {
                self.open = Open::Comment;
            }
            return whole.unwrap_or(comment);
        }
        for (begin, end) in [("<?", "?>"), ("<![CDATA[", "]]>"), ("<!", ">")] {
            if rest.starts_with(begin) {
                return until(end);
            }
        }
        let begins_name = |rest: &str| rest.starts_with(|c: char| c.is_ascii_alphabetic());
        let name = rest.strip_prefix('<').unwrap_or_default();
        match name.strip_prefix('/') {
            Some(closed) if !begins_name(closed) => return until(">"),
            None if !begins_name(name) => {
                let mark = rest.len() - name.len();
                self.push(&rest[..mark.min(1)], shown);
                return name;
            }
            Some(_) | None => {}
        }
        self.open = Open::Tag(Begun::default());
        rest
    }

    fn push(&mut self, text: &str, shown: &mut String) {
        if self.unshown.is_none() {
            shown.push_str(text);
            if text.contains(char::is_alphanumeric) {
                self.saw_text();
            }
        }
    }

    /// A tag, of which a part was read before; returns the rest.
    fn tag<'h>(&mut self, mut begun: Begun, html: &'h str, shown: &mut String) -> &'h str {
        for (at, c) in html.char_indices() {
            match (begun.quote, c) {
                (None, '>') => {
                    self.tag_ends(&begun.source, shown);
                    return &html[at + 1..];
                }
                // A quotation mark opens an attribute only behind its `=`.
                (None, '"' | '\'') if begun.last == Some('=') => begun.quote = Some(c),
                (Some(open), c) if c == open => begun.quote = None,
                _in_tag => {}
            }
            if !c.is_whitespace() {
                begun.last = Some(c);
            }
            if begun.source.len() <= 2 * TAG_MAX {
                begun.source.push(c);
            }
        }
        self.open = Open::Tag(begun);
        ""
    }

    fn tag_ends(&mut self, tag: &str, shown: &mut String) {
        let inner = tag.trim_start_matches('<');
        let (closes, inner) = inner.strip_prefix('/').map_or((false, inner), |inner| (true, inner));
        let written = inner.split(|c: char| c.is_whitespace() || c == '/').next().unwrap_or_default();
        let name = written.to_ascii_lowercase();
        let slash = if closes { "/" } else { "" };
        match &mut self.unshown {
            Some((open, depth)) if *open == name => {
                match (closes, NESTING.contains(&name.as_str())) {
                    (true, _) => *depth -= 1,
                    (false, true) => *depth += 1,
                    (false, false) => {}
                }
                if *depth == 0 {
                    self.unshown = None;
                }
            }
            Some(_) => {}
            None if UNSHOWN.contains(&name.as_str()) => self.unshown = (!closes).then_some((name, 1)),
            None if ELEMENTS.contains(&format!(" {name} ")) => shown.push_str(&format!("<{slash}{name}>")),
            None if is_generic(inner) => self.text_tag(&format!("<{slash}{inner}>"), shown),
            None => self.text_tag(&format!("<{slash}{written}>"), shown),
        }
    }

    /// The tag of no element. A person writes at most a few of them beside each other.
    fn text_tag(&mut self, tag: &str, shown: &mut String) {
        if self.text_tags < ROW_MAX && tag.len() <= TAG_MAX {
            shown.push_str(tag);
            self.text_tags += 1;
        }
    }
}

fn is_generic(inner: &str) -> bool {
    let words: Vec<&str> = inner.split_whitespace().collect();
    words.len() <= 3 && !inner.contains(['=', '"', '\'']) && words.iter().any(|word| OF_GENERICS.contains(word))
}

/// Where a comment ends, behind its mark. One scan, however many comments follow.
fn end_of_comment(text: &str) -> Option<usize> {
    text.match_indices('>').map(|(at, _)| at).find_map(|at| {
        let before = &text[..at];
        (before.ends_with("--") || before.ends_with("--!")).then_some(at + 1)
    })
}
