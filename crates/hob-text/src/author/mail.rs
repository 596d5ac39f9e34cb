//! Where a mail begins that a comment answers or forwards.
//!
//! # Caveats
//! - A program that marks the mail in no way cannot be told from the author.
//! - The marks count in code, too: a fence that the author left open would hide them.

use super::phrases::{ABOUT, AFTER_DASHES, DAYS, FOOTERS, FORWARDS, FROM, HTML, OPENERS, WROTE, WROTE_LAST};

/// Lines over which a mark may be broken, beside its last.
const BROKEN: usize = 3;
/// Lines that the headers of a mail may take.
const HEADERS: usize = 9;
/// A longer line is prose.
const MARK_BYTES: usize = 500;
/// Outlook writes 32 of them, mailing lists 47.
const UNDERSCORES: usize = 20;

/// The first of the lines that are not the author's, because a mail follows.
pub(super) fn mail_begins(lines: &[&str]) -> Option<usize> {
    (0..lines.len()).find_map(|at| {
        let line = lines.get(at).filter(|_| !is_apart(lines, at))?;
        let plain = plain(line);
        let is_mark = is_separator(line, &plain) || has_headers(lines, at, &plain);
        if is_mark { Some(at) } else { attribution(lines, at, &plain) }
    })
}

/// Whether a line is blank, or of a quotation of several lines: one that only begins like that may have a name in front.
fn is_apart(lines: &[&str], at: usize) -> bool {
    let is_quoted = |line: &&str| line.trim_start().starts_with('>');
    let mut from_here = lines.iter().skip(at).filter(|line| !line.trim().is_empty());
    let here = lines.get(at).is_none_or(|line| line.trim().is_empty());
    here || from_here.next().is_some_and(is_quoted) && from_here.next().is_some_and(is_quoted)
}

/// The line as a person reads it, in lower case: without what makes letters bold, tags, and a signed mail's dash.
fn plain(line: &str) -> String {
    if line.len() > MARK_BYTES {
        return String::new();
    }
    let line = line.trim().strip_prefix("- ").unwrap_or(line.trim());
    let line = line.replace("&nbsp;", " ").replace("&lt;", "<").replace("&gt;", ">").replace('\u{a0}', " ");
    let is_unseen = |c: &char| matches!(c, '*' | '`' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
    let (mut text, mut rest) = (String::new(), line.as_str());
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        let is_name = tag.trim_start_matches('/').starts_with(|c: char| c.is_ascii_alphabetic());
        rest = match tag.split_once('>') {
            // An address has no place in a tag's name.
            Some((inner, after)) if is_name && !inner.contains(['@', ':']) => after,
            _ => {
                text.push('<');
                tag
            }
        };
    }
    text.push_str(rest);
    let text: String = text.to_lowercase().chars().filter(|c| !is_unseen(c)).collect();
    text.trim().to_owned()
}

fn is_separator(line: &str, plain: &str) -> bool {
    let is_row = |mark: char, least: usize| plain.len() >= least && plain.chars().all(|c| c == mark);
    let words = plain.trim_matches(['-', '—', ' ']);
    let is_after_dashes = plain.starts_with("--")
        && (AFTER_DASHES.iter().any(|phrase| words.starts_with(phrase)) || plain.ends_with("--") && says_wrote(words));
    let lower = || line.to_ascii_lowercase();
    is_after_dashes
        || matches!(line.trim_end(), "--" | "—")
        || is_row('_', UNDERSCORES)
        || plain.strip_suffix([':', '：']).is_some_and(|words| FORWARDS.contains(&words.trim_end()))
        || FOOTERS.iter().any(|footer| plain.starts_with(footer))
        || line.contains('<') && HTML.iter().any(|mark| lower().contains(mark))
}

/// Whether the headers of a mail begin here: who sent it, and when or about what.
fn has_headers(lines: &[&str], at: usize, plain_line: &str) -> bool {
    let is_of = |names: &[&str], line: &str| {
        line.split_once([':', '：']).is_some_and(|(name, _)| names.contains(&name.trim_end_matches([' ', '_'])))
    };
    if !is_of(&FROM, plain_line) && !is_of(&ABOUT, plain_line) {
        return false;
    }
    let block =
        || lines.iter().skip(at).take(HEADERS).take_while(|line| !line.trim().is_empty()).map(|line| plain(line));
    block().any(|line| is_of(&FROM, &line)) && block().any(|line| is_of(&ABOUT, &line))
}

/// The first line of "On …, … wrote:" if this is its last one.
fn attribution(lines: &[&str], last: usize, plain_last: &str) -> Option<usize> {
    if !plain_last.ends_with([':', '：', '-']) {
        return None;
    }
    // Some programs put a name, an address and the verb into paragraphs.
    let is_alone = is_lone_verb(plain_last);
    let first = last.saturating_sub(if is_alone { HEADERS } else { BROKEN });
    let is_blank = |at: usize| lines.get(at).is_none_or(|line| line.trim().is_empty());
    let window: Vec<usize> = (first..=last).rev().take_while(|at| is_alone || !is_blank(*at)).collect();
    let joined =
        |from: usize| lines.get(from..=last).unwrap_or_default().iter().map(|line| plain(line)).collect::<Vec<_>>();
    let begins = |at: &usize| lines.get(*at).map(|line| plain(line)).unwrap_or_default();
    let found = window.iter().copied().find(|from| introduces(&joined(*from).join(" ")))?;
    if opens(&begins(&found)) {
        return Some(found);
    }
    // Its beginning is on a line above, as is the name before a verb or an address.
    let above = window.iter().copied().filter(|at| *at < found);
    let opener = above.clone().find(|at| opens(&begins(at)));
    let is_cut =
        |line: &str| line.starts_with('<') || WROTE.iter().chain(&WROTE_LAST).any(|verb| line.starts_with(verb));
    Some(opener.or_else(|| above.clone().next().filter(|_| is_cut(&begins(&found)))).unwrap_or(found))
}

/// Whether a line begins as one above a quoted mail does.
fn opens(plain: &str) -> bool {
    let mut words = plain.split([' ', ',']);
    let has_opener = words.next().is_some_and(|word| OPENERS.contains(&word));
    has_opener && (plain.contains(|c: char| c.is_ascii_digit()) || words.next().is_some_and(is_day))
}

fn is_day(word: &str) -> bool {
    DAYS.iter().any(|day| word.starts_with(day))
}

/// Whether the text says that somebody wrote what follows.
fn introduces(plain: &str) -> bool {
    let plain = plain.trim_end_matches(['-', ' ']);
    let Some(said) = plain.strip_suffix([':', '：']) else { return false };
    let said = said.trim_end();
    let is_dated = opens(plain) && plain.split([' ', ',']).any(is_day);
    is_lone_verb(plain)
        || says_wrote(said) && (has_date(said) || has_address(said) || is_dated)
        || said.ends_with('>') && has_address(said) && has_date(said)
}

fn is_lone_verb(plain: &str) -> bool {
    let Some(said) = plain.strip_suffix([':', '：']) else { return false };
    let said = said.trim_matches(['<', '>', ' ']);
    WROTE_LAST.contains(&said) || WROTE.contains(&said)
}

fn says_wrote(said: &str) -> bool {
    let is_last = |verb: &&str| said.strip_suffix(*verb).is_some_and(|before| !before.ends_with(char::is_alphanumeric));
    WROTE_LAST.iter().any(is_last) || WROTE.iter().any(|verb| said.contains(verb))
}

/// An address of a mail, or the stars that GitHub puts in its place.
fn has_address(said: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '*';
    said.match_indices('@').any(|(at, _)| {
        said[..at].chars().next_back().is_some_and(is_part) && said[at + 1..].chars().next().is_some_and(is_part)
    })
}

/// A year, a time, or a date of numbers.
fn has_date(said: &str) -> bool {
    let mut numbers = said
        .split(|c: char| !c.is_ascii_digit() && !matches!(c, ':' | '.' | '/' | '-'))
        .map(|word| word.trim_matches([':', '.', '/', '-']));
    numbers.any(|word| {
        let parts: Vec<&str> = word.split([':', '.', '/', '-']).collect();
        let is_year = |part: &&str| part.len() == 4 && (part.starts_with("19") || part.starts_with("20"));
        let is_time = word.contains(':') && parts.iter().all(|part| matches!(part.len(), 1 | 2));
        parts.iter().any(is_year) || is_time || parts.len() == 3 && parts.iter().all(|part| matches!(part.len(), 1 | 2))
    })
}
