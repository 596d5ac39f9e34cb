use std::cmp::Reverse;
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

    /// Divides the amount in proportion to `weights`, without losing a unit.
    ///
    /// Shares are cut down towards zero; the units left over go to those that
    /// lost the largest fractions, the earlier ones first.
    pub fn allocate(&self, weights: &[u64]) -> Result<Vec<Money>, MoneyError> {
        // Neither the sum nor the products can overflow: 63 and 64 bits make 127.
        let total: u128 = weights.iter().copied().map(u128::from).sum();
        if total == 0 {
            return Err(MoneyError::NoWeights);
        }
        let amount = self.units.unsigned_abs();
        let products: Vec<u128> =
            weights.iter().map(|&w| u128::from(amount) * u128::from(w)).collect();
        // No share is larger than the amount, so all fit.
        let mut shares: Vec<u64> = products.iter().map(|p| (p / total) as u64).collect();

        let left = amount - shares.iter().sum::<u64>();
        let mut order: Vec<usize> = (0..weights.len()).collect();
        order.sort_by_key(|&i| Reverse(products[i] % total));
        for &i in order.iter().take(left as usize) {
            shares[i] += 1;
        }

        let with_sign = |share: u64| match self.units < 0 {
            true => 0i64.wrapping_sub_unsigned(share),
            false => share as i64,
        };
        Ok(shares.into_iter().map(|s| Money { units: with_sign(s), ..*self }).collect())
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
