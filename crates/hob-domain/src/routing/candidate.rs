//! What the router reads: a profile, and the text of an issue or of a message.

use crate::{Catalog, ErrorPattern, PathGlobs, Profile, ProfileName, ProfileSource};

/// A profile, as far as the router reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Its name.
    pub name: ProfileName,
    /// What it is for, in a sentence or a few.
    pub description: String,
    /// Labels of its issues.
    pub labels: Vec<String>,
    /// Words and phrases of its issues.
    pub words: Vec<String>,
    /// Error messages of its issues.
    pub errors: Vec<ErrorPattern>,
    /// Paths of its issues.
    pub paths: PathGlobs,
    /// Its instructions; only their beginning counts.
    pub instructions: String,
    /// Whether Hob brings it: those of a repository or its settings go before it.
    pub is_ready: bool,
}

impl From<&Profile> for Candidate {
    fn from(profile: &Profile) -> Self {
        Self {
            name: profile.name.clone(),
            description: profile.description.clone(),
            labels: profile.matches.labels.clone(),
            words: profile.matches.words.clone(),
            errors: profile.matches.errors.clone(),
            paths: profile.matches.paths.clone(),
            instructions: profile.instructions.clone(),
            is_ready: false,
        }
    }
}

impl Candidate {
    /// A profile of the catalog, which knows whether Hob brings it.
    pub fn new(catalog: &Catalog, profile: &Profile) -> Self {
        let source = catalog.get(&profile.name).filter(|(known, _)| *known == profile).map(|(_, origin)| origin.source);
        Self { is_ready: source == Some(ProfileSource::Ready), ..profile.into() }
    }
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
