//! What work costs and may cost.

pub(crate) mod budget;
pub(crate) mod day_share;
pub(crate) mod spend;
pub(crate) mod usd;
