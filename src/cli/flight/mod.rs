//! `hob audit ISSUE --html FILE`: the flight record, one HTML file with the whole life of an issue, for a bug report.
//!
//! - Flow: `audit` reads the ledger and the deeds; [`record`] makes the page of them and of the sessions that this machine has;
//!   `Page::html` renders it; [`written`] puts it in place.
//! - Guarantees: the file runs nothing and loads nothing. Each text of others is a `Told`, so it has no secret that Hob knows or
//!   recognizes, nothing invisible and a bounded length, and the templates escape it. What was cut is said so.
//! - Caveats: what agents did on other machines is not in it, and neither is what a session no longer has.

mod checks;
mod cost;
mod file;
mod gathered;
mod life;
mod page;
mod session;
mod told;

pub(super) use file::written;
pub(super) use gathered::{Gathered, record};
