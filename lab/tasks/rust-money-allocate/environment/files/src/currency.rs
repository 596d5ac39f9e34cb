/// A currency by its ISO 4217 code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Currency {
    pub code: &'static str,
    /// How many decimal places the smallest unit takes.
    pub places: u32,
}

impl Currency {
    pub const EUR: Currency = Currency { code: "EUR", places: 2 };
    pub const USD: Currency = Currency { code: "USD", places: 2 };
    pub const JPY: Currency = Currency { code: "JPY", places: 0 };
    pub const KWD: Currency = Currency { code: "KWD", places: 3 };
}
