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

    /// A copy with `discount` taken off the positive lines, in proportion.
    pub fn discounted(&self, discount: Money) -> Result<Invoice, MoneyError> {
        if discount.currency() != self.currency {
            return Err(MoneyError::CurrencyMismatch);
        }
        if !(0..=self.total()?.units()).contains(&discount.units()) {
            return Err(MoneyError::DiscountOutOfRange);
        }
        let mut result = self.clone();
        // There may be no positive line to take it off.
        if discount.units() == 0 {
            return Ok(result);
        }
        let weights: Vec<u64> =
            self.lines.iter().map(|line| line.amount.units().max(0) as u64).collect();
        for (line, share) in result.lines.iter_mut().zip(discount.allocate(&weights)?) {
            line.amount = line.amount.checked_sub(share)?;
        }
        Ok(result)
    }
}
