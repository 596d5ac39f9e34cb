use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoneyError {
    /// The two amounts are in different currencies.
    CurrencyMismatch,
    /// The result does not fit.
    Overflow,
    /// There are no weights to divide by, or all of them are 0.
    NoWeights,
    /// The discount is negative or larger than the total.
    DiscountOutOfRange,
}

impl fmt::Display for MoneyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MoneyError::CurrencyMismatch => "the currencies differ",
            MoneyError::Overflow => "the amount is too large",
            MoneyError::NoWeights => "there is nothing to divide by",
            MoneyError::DiscountOutOfRange => "the discount is out of range",
        })
    }
}

impl std::error::Error for MoneyError {}
