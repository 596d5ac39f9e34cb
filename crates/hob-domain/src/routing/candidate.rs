//! What the router reads: a profile, and the text of an issue or of a message.

/// A profile, as far as the router reads it.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its name.
    pub name: String,
    /// What it is for, in a sentence or a few.
    pub description: String,
    /// Labels of issues that are its.
    pub labels: Vec<String>,
    /// Words and phrases of issues that are its.
    pub words: Vec<String>,
    /// Regular expressions for error messages that are its.
    pub errors: Vec<String>,
    /// Globs of paths that are its.
    pub paths: Vec<String>,
    /// The first lines of its instructions.
    pub instructions: String,
}

/// What is routed: an issue, or a new message about it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct RoutedText<'a> {
    /// The title; of a message empty.
    pub title: &'a str,
    /// The text.
    pub body: &'a str,
    /// The labels of the issue.
    pub labels: &'a [String],
}
