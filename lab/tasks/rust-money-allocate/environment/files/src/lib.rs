//! Amounts of money and invoices made of them.

mod currency;
mod error;
mod invoice;
mod money;

pub use currency::Currency;
pub use error::MoneyError;
pub use invoice::{Invoice, Line};
pub use money::Money;
