use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoneyError {
    /// The two amounts are in different currencies.
    CurrencyMismatch,
    /// The result does not fit.
    Overflow,
}

impl fmt::Display for MoneyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MoneyError::CurrencyMismatch => "the currencies differ",
            MoneyError::Overflow => "the amount is too large",
        })
    }
}

impl std::error::Error for MoneyError {}
