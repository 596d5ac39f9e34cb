//! Rust's tests inside of the code's files: items under `#[cfg(test)]` and functions under `#[test]` at the top of a file.

use std::ops::Range;

use syn::{Attribute, Item, Meta, spanned::Spanned};

/// A file in two parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// Everything but the tests.
    pub code: String,
    /// The tests; empty if there are none.
    pub tests: String,
}

/// Splits a file of Rust. `None` if it cannot be read, or has tests below its top, which cannot be taken out.
pub fn split(source: &str) -> Option<Split> {
    let file = syn::parse_file(source).ok()?;
    let (mut code, mut tests, mut last) = (String::new(), String::new(), 0);
    for item in &file.items {
        let Some(attributes) = attributes(item) else { continue };
        if attributes.iter().any(is_of_tests) {
            let range = range(item, attributes);
            code.push_str(source.get(last..range.start)?);
            tests.push_str(source.get(range.clone())?);
            tests.push('\n');
            last = range.end;
        }
    }
    code.push_str(source.get(last..)?);
    let is_whole = !code.contains("#[cfg(test)]") && !code.contains("#[test]");
    is_whole.then_some(Split { code, tests })
}

/// The bytes of an item, with its attributes.
fn range(item: &Item, attributes: &[Attribute]) -> Range<usize> {
    let all = item.span().byte_range();
    let first = attributes.iter().map(|attribute| attribute.span().byte_range().start).min();
    first.unwrap_or(all.start).min(all.start)..all.end
}

fn is_of_tests(attribute: &Attribute) -> bool {
    let path = attribute.path();
    if path.segments.last().is_some_and(|last| last.ident == "test") {
        return true;
    }
    let Meta::List(list) = &attribute.meta else { return false };
    let said = list.tokens.to_string();
    // `not(test)` is code.
    path.is_ident("cfg")
        && !said.contains("not")
        && said.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "test")
}

fn attributes(item: &Item) -> Option<&[Attribute]> {
    Some(match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _other => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "//! Slugs.\n\nuse std::fmt;\n\n/// Makes one.\npub fn slug(text: &str) -> String { text.to_lowercase() }\n\n\
                        #[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn ä() { assert_eq!(slug(\"Ä\"), \"ä\"); }\n}\n";

    #[test]
    fn tests_at_the_top_are_taken_out() {
        let Split { code, tests } = split(FILE).unwrap();
        assert!(code.contains("pub fn slug") && !code.contains("assert_eq"), "{code}");
        assert!(tests.starts_with("#[cfg(test)]\nmod tests {") && tests.contains("fn ä()"), "{tests}");
        let other = split(
            "#[cfg(not(test))]\nfn a() {}\n#[cfg(all(test, unix))]\nuse b::c;\n#[tokio::test]\nasync fn d() {}\n",
        )
        .unwrap();
        assert_eq!(other.code.trim(), "#[cfg(not(test))]\nfn a() {}");
        assert!(other.tests.contains("use b::c;") && other.tests.contains("async fn d"), "{other:?}");
    }

    #[test]
    fn what_cannot_be_told_apart_is_not_split() {
        for source in [
            "fn (",
            "mod a {\n    #[cfg(test)]\n    mod tests {}\n}\n",
            "impl A {\n    #[cfg(test)]\n    fn x() {}\n}\n",
        ] {
            assert_eq!(split(source), None, "{source}");
        }
        assert_eq!(split("fn a() {}\n").unwrap().tests, "");
    }
}
