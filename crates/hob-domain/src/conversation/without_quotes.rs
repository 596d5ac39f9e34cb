//! A comment without what it quotes.

use pulldown_cmark::{Event, Parser, Tag};

/// The comment's Markdown without its quotes, for people who read the question beside it.
pub fn without_quotes(comment: &str) -> String {
    let (mut kept, mut from) = (String::new(), 0);
    for (event, range) in Parser::new(comment).into_offset_iter() {
        // A quote in a quote ends before the outer one.
        if matches!(event, Event::Start(Tag::BlockQuote(_))) && range.start >= from {
            kept.push_str(comment.get(from..range.start).unwrap_or_default());
            from = range.end;
        }
    }
    kept.push_str(comment.get(from..).unwrap_or_default());
    kept.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_left_out_and_everything_else_stays() {
        for (comment, rest) in [
            ("> **Question**: What should it do?\n\nfix the test, aaa is right", "fix the test, aaa is right"),
            ("> a\nlazy\n\nyes\n\n> > b\n\nno", "yes\n\n\nno"),
            ("use `>` or\n\n```\n> code\n```", "use `>` or\n\n```\n> code\n```"),
            ("- first\n  > quoted\n- second", "- first\n  - second"),
            ("> only", ""),
            ("", ""),
        ] {
            assert_eq!(without_quotes(comment), rest, "{comment:?}");
        }
    }
}
