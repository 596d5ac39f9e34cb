//! YAML from a repository: hostile until proven small. Nothing in it is expanded, and its depth is bounded before it is
//! read into a tree, because the tree is read and dropped by recursion.

use yaml_rust2::{Event, Yaml, YamlLoader, parser::Parser};

/// Bytes of a file.
const BYTES_MAX: usize = 64 * 1024;
/// How deep lists and maps may stand in one another.
const DEPTH_MAX: usize = 16;

/// The one document of a text.
pub(super) fn document(text: &str) -> Result<Yaml, String> {
    if text.len() > BYTES_MAX {
        return Err(format!("it has {} bytes, more than {BYTES_MAX}", text.len()));
    }
    check(text)?;
    let mut documents = YamlLoader::load_from_str(text).map_err(|error| error.to_string())?;
    match documents.len() {
        1 => Ok(documents.swap_remove(0)),
        number => Err(format!("it has {number} documents, not one")),
    }
}

/// Looks at the events, one after the other.
fn check(text: &str) -> Result<(), String> {
    let mut parser = Parser::new_from_str(text);
    let mut depth = 0_usize;
    loop {
        let (event, mark) = parser.next_token().map_err(|error| error.to_string())?;
        match event {
            Event::StreamEnd => return Ok(()),
            Event::Alias(_) => return Err(format!("line {}: an alias, which is not read here", mark.line())),
            Event::SequenceStart(..) | Event::MappingStart(..) => depth += 1,
            Event::SequenceEnd | Event::MappingEnd => depth = depth.saturating_sub(1),
            Event::Nothing | Event::StreamStart | Event::DocumentStart | Event::DocumentEnd | Event::Scalar(..) => {}
        }
        if depth > DEPTH_MAX {
            return Err(format!("line {}: more than {DEPTH_MAX} lists and maps in one another", mark.line()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_grow_or_go_deep_is_refused() {
        for (text, why) in [
            ("a: &x [1]\nb: *x\n".to_owned(), "an alias"),
            ("[".repeat(40_000), "recursion limit"),
            ("- ".repeat(20_000), "in one another"),
            ("a:\n  - [[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]\n".to_owned(), "in one another"),
            ("x".repeat(BYTES_MAX + 1), "more than 65536"),
            ("a: 1\n---\nb: 2\n".to_owned(), "2 documents"),
            (String::new(), "0 documents"),
            ("a: [1\nb: }".to_owned(), "line"),
        ] {
            let error = document(&text).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
        assert_eq!(document("a: 1\n").unwrap()["a"].as_i64(), Some(1));
    }
}
