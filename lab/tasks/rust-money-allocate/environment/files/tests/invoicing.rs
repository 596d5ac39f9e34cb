use invoicing::{Currency, Invoice, Money, MoneyError};

#[test]
fn writes_amounts() {
    assert_eq!(Money::new(-5, Currency::EUR).to_string(), "-0.05 EUR");
    assert_eq!(Money::new(1200, Currency::JPY).to_string(), "1200 JPY");
    assert_eq!(Money::new(1200, Currency::KWD).to_string(), "1.200 KWD");
}

#[test]
fn adds_up_an_invoice() {
    let mut invoice = Invoice::new(Currency::EUR);
    invoice.add("3 chairs", Money::new(14_997, Currency::EUR)).unwrap();
    invoice.add("voucher", Money::new(-1_000, Currency::EUR)).unwrap();
    assert_eq!(invoice.total(), Ok(Money::new(13_997, Currency::EUR)));
    assert_eq!(
        invoice.add("tip", Money::new(100, Currency::USD)),
        Err(MoneyError::CurrencyMismatch)
    );
}
