//! Whether a failure says something of the code.

use hob_domain::TestEnd;

/// Words of a failure that says nothing of the code's behaviour: what the test names is not there.
const ABSENT: [&str; 28] = [
    "attributeerror: ...",
    "call to undefined",
    "cannot find module",
    "cannot find package",
    "could not compile",
    "failed to resolve import",
    "has no attribute",
    "has no exported member",
    "importerror",
    "error[e0",
    "failed to import",
    "is not a constructor",
    "is not a function",
    "is not defined",
    "loaderror",
    "module not found",
    "modulenotfounderror",
    "nameerror",
    "no such file to load",
    "nomethoderror",
    "setup failed",
    "syntaxerror",
    "uninitialized constant",
    "undefined function",
    "undefined method",
    "undefined subroutine",
    "undefined:",
    "unresolved import",
];

/// The end of a test that failed with these words.
pub(crate) fn failed(said: &str) -> TestEnd {
    let said = said.to_lowercase();
    if ABSENT.iter().any(|word| said.contains(word)) { TestEnd::Broken } else { TestEnd::Failed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_that_names_what_is_absent_says_nothing_of_behaviour() {
        assert_eq!(failed("ImportError: cannot import name 'slug'"), TestEnd::Broken);
        assert_eq!(failed("TypeError: a.slug is not a function"), TestEnd::Broken);
        assert_eq!(failed("AssertionError: 'a' != 'b'"), TestEnd::Failed);
    }
}
