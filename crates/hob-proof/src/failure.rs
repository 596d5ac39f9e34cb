//! Whether a failure says something of the code.

use hob_domain::TestEnd;

/// Words of a failure that says nothing of the code's behaviour: what the test names is not there.
const ABSENT: [&str; 28] = [
    // pytest cuts its summary, and does not say whose.
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

/// Whose attributes and methods no change adds: a value that is none, or of another type than the code expects, is a fault of the
/// code.
const OF_THE_LANGUAGE: [&str; 17] = [
    "'bool' object has",
    "'bytes' object has",
    "'dict' object has",
    "'float' object has",
    "'function' object has",
    "'generator' object has",
    "'int' object has",
    "'list' object has",
    "'nonetype' object has",
    "'set' object has",
    "'str' object has",
    "'tuple' object has",
    "for an instance of array",
    "for an instance of hash",
    "for an instance of integer",
    "for an instance of string",
    "for nil",
];

/// The end of a test that failed with these words.
pub(crate) fn failed(said: &str) -> TestEnd {
    let said = said.to_lowercase();
    let has = |line: &str, words: &[&str]| words.iter().any(|word| line.contains(word));
    let is_absent = said.lines().any(|line| has(line, &ABSENT) && !has(line, &OF_THE_LANGUAGE));
    if is_absent { TestEnd::Broken } else { TestEnd::Failed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_that_names_what_is_absent_says_nothing_of_behaviour() {
        assert_eq!(failed("ImportError: cannot import name 'slug'"), TestEnd::Broken);
        assert_eq!(failed("TypeError: a.slug is not a function"), TestEnd::Broken);
        assert_eq!(failed("AttributeError: module 'slug' has no attribute 'trimmed'"), TestEnd::Broken);
        assert_eq!(failed("AssertionError: 'a' != 'b'"), TestEnd::Failed);
        assert_eq!(failed("AttributeError: 'NoneType' object has no attribute 'strip'"), TestEnd::Failed);
        assert_eq!(failed("NoMethodError: undefined method 'strip' for nil"), TestEnd::Failed);
    }
}
