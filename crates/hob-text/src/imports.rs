//! The files that a note for agents imports: `@path` in its text, as Claude Code reads it.

use pulldown_cmark::{Event, Parser, Tag, TagEnd, TextMergeStream};

/// The paths in a note that are written as `@path`, in order; what is code is none.
pub fn imports(markdown: &str) -> Vec<String> {
    let (mut found, mut is_code) = (Vec::new(), false);
    for event in TextMergeStream::new(Parser::new(markdown)) {
        if let Event::Start(Tag::CodeBlock(_)) | Event::End(TagEnd::CodeBlock) = &event {
            is_code = matches!(event, Event::Start(_));
        } else if let Event::Text(text) = event
            && !is_code
        {
            let paths = text.split_whitespace().filter_map(|word| word.strip_prefix('@'));
            found.extend(paths.map(|path| path.trim_end_matches([',', '.', ';', ':', ')', '!', '?']).to_owned()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_after_an_at_sign_is_an_import_unless_it_is_code() {
        let note = "# Notes\n\n- style: @docs/my_style_guide.md.\n- @README, mail@x.org `@a.md`\n\n```\n@b.md\n```\n\n    @c.md\n";
        assert_eq!(imports(note), ["docs/my_style_guide.md", "README"]);
    }
}
