use crate::currency::Currency;
use crate::error::MoneyError;
use crate::money::Money;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub text: String,
    /// Negative for a credit.
    pub amount: Money,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invoice {
    currency: Currency,
    lines: Vec<Line>,
}

impl Invoice {
    pub fn new(currency: Currency) -> Self {
        Invoice { currency, lines: Vec::new() }
    }

    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    pub fn add(&mut self, text: &str, amount: Money) -> Result<(), MoneyError> {
        if amount.currency() != self.currency {
            return Err(MoneyError::CurrencyMismatch);
        }
        self.lines.push(Line { text: text.to_string(), amount });
        Ok(())
    }

    pub fn total(&self) -> Result<Money, MoneyError> {
        self.lines
            .iter()
            .try_fold(Money::new(0, self.currency), |sum, line| sum.checked_add(line.amount))
    }
}
