//! What counts in an issue, and how much: its prose, its code less, a template or a list of versions hardly.

use super::candidate::RoutedText;

/// Bytes of a body that are read.
const BODY_MAX: usize = 16 * 1024;
/// Bytes of a title that are read, and labels.
const TITLE_MAX: usize = 512;
const LABELS_MAX: usize = 50;
/// Paths that are read.
const PATHS_MAX: usize = 32;
/// Longer runs are not paths.
const PATH_MAX: usize = 200;

/// The part of an issue that a text belongs to, which says how much it counts.
const IN_TITLE: f32 = 3.5;
const IN_LABEL: f32 = 2.0;
const IN_PROSE: f32 = 1.0;
const IN_CODE: f32 = 0.5;
const IN_HEADING: f32 = 0.4;
const ASIDE: f32 = 0.05;

/// Headings, and keys before a colon, below which a template asks for versions and the like.
const ASIDES: [&str; 16] = [
    "environment",
    "version",
    "system",
    "platform",
    "os",
    "operating system",
    "browser",
    "browsers",
    "checklist",
    "desktop",
    "smartphone",
    "your environment",
    "versions",
    "setup",
    "additional context",
    "before submitting",
];
/// Text of a template before anyone fills it in.
const PLACEHOLDERS: [&str; 6] =
    ["'...'", "'....'", "[e.g.", "a clear and concise description", "_no response_", "if applicable, add screenshots"];
/// Phrases after which the words are not the subject.
const DENIALS: [&str; 6] =
    ["nothing to do with", "unrelated to", "not related to", "not about", "has no connection to", "not caused by"];

/// Words of labels that say how urgent or how far an issue is.
const OF_PROCESS: [&str; 24] = [
    "status",
    "stat",
    "priority",
    "pri",
    "severity",
    "lifecycle",
    "stale",
    "resolution",
    "milestone",
    "triage",
    "triaged",
    "migrated",
    "wanted",
    "first",
    "frozen",
    "effort",
    "size",
    "needs",
    "duplicate",
    "invalid",
    "wontfix",
    "tester",
    "unconfirmed",
    "investigation",
];

/// How an issue is built, for its complexity.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) words: usize,
    pub(super) headings: usize,
    pub(super) list_items: usize,
    pub(super) code_blocks: usize,
    pub(super) links: usize,
}

/// An issue, read once.
#[derive(Debug, Default)]
pub(super) struct Read<'a> {
    /// Its parts, each with how much it counts.
    pub(super) parts: Vec<(&'a str, f32)>,
    /// The paths of files it names.
    pub(super) paths: Vec<&'a str>,
    pub(super) shape: Shape,
}

/// Reads an issue. Linear in its length, up to the caps.
pub(super) fn read(issue: RoutedText<'_>) -> Read<'_> {
    let mut read = Read::default();
    let title = title(issue);
    read.parts.push((title, IN_TITLE));
    read.parts.extend(kind(title).map(|kind| (kind, IN_LABEL)));
    read.parts.extend(labels(issue).filter(|label| is_of_subject(label)).map(|label| (label, IN_LABEL)));
    read.names(title);
    read.shape.words += title.split_whitespace().count();
    let mut at = Place::default();
    for line in body(issue).lines() {
        let line = at.outside_comments(line);
        read.line(line.trim(), &mut at);
    }
    read
}

/// The title, as far as it is read.
pub(super) fn title(issue: RoutedText<'_>) -> &str {
    head(issue.title, TITLE_MAX)
}

/// The body, as far as it is read.
pub(super) fn body(issue: RoutedText<'_>) -> &str {
    head(issue.body, BODY_MAX)
}

/// The labels, as far as they are read.
pub(super) fn labels(issue: RoutedText<'_>) -> impl Iterator<Item = &str> {
    issue.labels.iter().take(LABELS_MAX).map(|label| head(label, TITLE_MAX))
}

/// Whether a label says what an issue is about, and not how its maintainers treat it.
fn is_of_subject(label: &str) -> bool {
    let label = label.to_lowercase();
    let mut words = label.split(|at: char| !at.is_alphanumeric()).filter(|word| !word.is_empty());
    !words.any(|word| OF_PROCESS.contains(&word))
}

/// The part before the colon of a title such as `docs: Say how` and `fix(ui): Keep it`, or in brackets before it.
pub(super) fn kind(title: &str) -> Option<&str> {
    let title = title.trim_start();
    let kind = match title.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?.0,
        None => title.split_once(": ")?.0,
    };
    let kind = kind.trim_end_matches(['!', ':', ' ']);
    let scope = kind.split_once('(').and_then(|(_kind, scope)| scope.strip_suffix(')'));
    let kind = scope.unwrap_or(kind);
    (kind.len() <= 20 && !kind.is_empty() && !kind.contains(char::is_whitespace)).then_some(kind)
}

/// The beginning of a text, cut at a character.
pub(super) fn head(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

/// The part that a line belongs to.
#[derive(Debug, Default)]
struct Place {
    comment: bool,
    code: bool,
    aside: bool,
}

impl Place {
    /// The first part of a line that is outside of HTML comments.
    fn outside_comments<'a>(&mut self, line: &'a str) -> &'a str {
        let mut rest = line;
        if self.comment {
            let Some((_hidden, after)) = rest.split_once("-->") else { return "" };
            self.comment = false;
            rest = after;
        }
        let Some((before, hidden)) = rest.split_once("<!--") else { return rest };
        match hidden.split_once("-->") {
            Some((_hidden, after)) if before.trim().is_empty() => after.split("<!--").next().unwrap_or_default(),
            Some(_) => before,
            None => {
                self.comment = true;
                before
            }
        }
    }
}

impl<'a> Read<'a> {
    fn line(&mut self, line: &'a str, at: &mut Place) {
        if let Some(info) = line.strip_prefix("```").or_else(|| line.strip_prefix("~~~")) {
            at.code = !at.code;
            if at.code {
                self.shape.code_blocks += 1;
                self.parts.push((info, IN_CODE));
            }
            return;
        }
        if line.is_empty() {
            return;
        }
        self.names(line);
        if at.code {
            return self.parts.push((line, IN_CODE));
        }
        if let Some(heading) = heading(line) {
            self.shape.headings += 1;
            at.aside = is_aside(heading);
            return self.parts.push((heading, if at.aside { ASIDE } else { IN_HEADING }));
        }
        let item = ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark)).or_else(|| numbered(line));
        let text = item.unwrap_or(line);
        let lower = text.to_ascii_lowercase();
        if text.starts_with("[ ]") || PLACEHOLDERS.iter().any(|placeholder| lower.contains(placeholder)) {
            return;
        }
        self.shape.list_items += usize::from(item.is_some());
        self.shape.words += text.split_whitespace().count();
        let aside = at.aside || text.split_once(':').is_some_and(|(key, _)| is_aside(key));
        let weight = match () {
            () if aside => ASIDE,
            () if text.starts_with('>') => IN_CODE,
            () => IN_PROSE,
        };
        for part in asserted(text) {
            self.parts.push((part, weight));
        }
    }

    /// Notes the paths and the links that a line names.
    fn names(&mut self, line: &'a str) {
        for run in line
            .split(|at: char| at.is_whitespace() || matches!(at, '`' | '"' | '\'' | '(' | ')' | ',' | ';' | '<' | '>'))
        {
            let link = run.contains("://");
            let number = run.strip_prefix('#').or_else(|| run.split_once('#').map(|(_repo, number)| number));
            let refers = number.is_some_and(|number| {
                let number = number.trim_end_matches(['.', ':', '!', '?']);
                !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
            });
            self.shape.links += usize::from(link || refers);
            let path = run.trim_matches(|at: char| !at.is_alphanumeric() && !matches!(at, '.' | '_' | '/'));
            let path = path.trim_end_matches(['.', ':']).trim_start_matches("./").trim_start_matches('/');
            if !link && is_path(path) && self.paths.len() < PATHS_MAX && !self.paths.contains(&path) {
                self.paths.push(path);
            }
        }
    }
}

/// The text of a heading, or of a line that is bold as a whole.
fn heading(line: &str) -> Option<&str> {
    let hashes = line.trim_start_matches('#');
    match line.len() - hashes.len() {
        1..=6 if hashes.starts_with(' ') => return Some(hashes.trim()),
        _ => {}
    }
    let bold = line.strip_prefix("**")?.strip_suffix("**").or_else(|| line.strip_prefix("**")?.strip_suffix("**:"))?;
    (!bold.contains("**")).then(|| bold.trim())
}

fn is_aside(heading: &str) -> bool {
    let plain = heading.trim_matches(|at: char| !at.is_alphanumeric());
    plain.len() < 30 && {
        let plain = plain.to_lowercase();
        ASIDES.iter().any(|aside| {
            plain == *aside || plain.strip_suffix(" version").is_some() || plain.starts_with("environment")
        })
    }
}

/// The text of an item of a numbered list.
fn numbered(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(|at: char| at.is_ascii_digit());
    let text = rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))?;
    (rest.len() < line.len()).then_some(text)
}

/// The parts of a line without the clauses that say what it is not about.
fn asserted(line: &str) -> Vec<&str> {
    // Lower case of ASCII has the same length, so that places agree.
    let lower = line.to_ascii_lowercase();
    let (mut parts, mut from) = (Vec::new(), 0);
    while let Some(denied) = DENIALS.iter().filter_map(|denial| lower[from..].find(denial)).min() {
        parts.push(&line[from..from + denied]);
        let clause = from + denied;
        from = lower[clause..].find(['.', ',', ';', '!', '?', ':']).map_or(line.len(), |end| clause + end);
    }
    parts.push(&line[from..]);
    parts
}

/// Whether a run without blanks is the path of a file.
fn is_path(run: &str) -> bool {
    if run.len() < 4 || run.len() > PATH_MAX || !run.bytes().all(|byte| byte.is_ascii_graphic()) {
        return false;
    }
    let name = run.rsplit('/').next().unwrap_or(run);
    let name = name.split(':').next().unwrap_or(name);
    let extension = name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && (1..=10).contains(&extension.len())
            && extension.bytes().all(|byte| byte.is_ascii_alphabetic())
    });
    // A host such as `example.com` and an abbreviation are not files, but a name in a folder is.
    (extension && (run.contains('/') || name.contains(['_', '-']) || name.len() > 4))
        || (run.matches('/').count() >= 2 && !run.contains("//"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_body(body: &str) -> Read<'_> {
        read(RoutedText { title: "", body, labels: &[] })
    }

    fn weight_of(read: &Read<'_>, text: &str) -> f32 {
        read.parts.iter().filter(|(part, _)| part.contains(text)).map(|(_, weight)| *weight).sum()
    }

    #[test]
    fn what_a_template_says_hardly_counts() {
        let body = "<!-- alpha -->\nbravo <!-- charlie\ndelta --> echo\n- [ ] foxtrot\n- [x] golf\n### Environment\nhotel\n### What\nindia";
        let read = read_body(body);
        for (text, weight) in [
            ("alpha", 0.0),
            ("bravo", 1.0),
            ("charlie", 0.0),
            ("delta", 0.0),
            ("echo", 1.0),
            ("foxtrot", 0.0),
            ("golf", 1.0),
        ] {
            assert_eq!(weight_of(&read, text), weight, "{text}");
        }
        assert_eq!((weight_of(&read, "hotel"), weight_of(&read, "india")), (ASIDE, IN_PROSE));
    }

    #[test]
    fn what_it_is_not_about_does_not_count() {
        let read = read_body("This has nothing to do with alpha bravo, it is Charlie. Unrelated to delta");
        for (text, weight) in [("alpha", 0.0), ("bravo", 0.0), ("Charlie", 1.0), ("delta", 0.0)] {
            assert_eq!(weight_of(&read, text), weight, "{text}");
        }
    }

    #[test]
    fn files_are_found_and_hosts_in_links_are_not() {
        let body = "See `src/db/pool.rs:12` and (docs/a.md), README.md, /etc/app/conf and https://example.com/a/b.rs, e.g. this.";
        assert_eq!(read_body(body).paths, ["src/db/pool.rs:12", "docs/a.md", "README.md", "etc/app/conf"]);
    }

    #[test]
    fn the_shape_is_counted() {
        let read = read_body(
            "# One\nsome words here\n- a\n2. b\n```sql\nselect 1\n```\nsee #12, o/r#3 and https://x.example/y",
        );
        assert_eq!(read.shape, Shape { words: 10, headings: 1, list_items: 2, code_blocks: 1, links: 3 });
    }
}
