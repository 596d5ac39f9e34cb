use std::fmt;

use crate::currency::Currency;
use crate::error::MoneyError;

/// An amount in the smallest units of a currency. It may be negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Money {
    units: i64,
    currency: Currency,
}

impl Money {
    pub fn new(units: i64, currency: Currency) -> Self {
        Money { units, currency }
    }

    pub fn units(&self) -> i64 {
        self.units
    }

    pub fn currency(&self) -> Currency {
        self.currency
    }

    pub fn checked_add(&self, other: Money) -> Result<Money, MoneyError> {
        self.combine(other, i64::checked_add)
    }

    pub fn checked_sub(&self, other: Money) -> Result<Money, MoneyError> {
        self.combine(other, i64::checked_sub)
    }

    fn combine(
        &self,
        other: Money,
        op: fn(i64, i64) -> Option<i64>,
    ) -> Result<Money, MoneyError> {
        if self.currency != other.currency {
            return Err(MoneyError::CurrencyMismatch);
        }
        let units = op(self.units, other.units).ok_or(MoneyError::Overflow)?;
        Ok(Money { units, ..*self })
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.units < 0 { "-" } else { "" };
        let scale = 10u64.pow(self.currency.places);
        let (whole, part) = (self.units.unsigned_abs() / scale, self.units.unsigned_abs() % scale);
        match self.currency.places as usize {
            0 => write!(f, "{sign}{whole} {}", self.currency.code),
            places => write!(f, "{sign}{whole}.{part:0places$} {}", self.currency.code),
        }
    }
}
