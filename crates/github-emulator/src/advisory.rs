//! Advisories that a test makes known: a package's version has a weakness.

/// An advisory against a version of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownAdvisory {
    /// The package.
    pub package: String,
    /// The version.
    pub version: String,
    /// Its id, such as `GHSA-…`.
    pub id: String,
    /// `low`, `moderate`, `high` or `critical`.
    pub severity: String,
    /// What it is.
    pub summary: String,
}
