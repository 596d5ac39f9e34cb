use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditError {
    /// A text, or another edit, is not of the length that the edit is for.
    LengthMismatch { expected: usize, found: usize },
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EditError::LengthMismatch { expected, found } => {
                write!(f, "the length is {found} instead of {expected}")
            }
        }
    }
}

impl std::error::Error for EditError {}
