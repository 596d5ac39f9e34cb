//! The error that ends the program with the code for a wrong command line.

/// A command line that cannot be carried out.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Unusable(pub(crate) String);
