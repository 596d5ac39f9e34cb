//! Logs on standard error, as text for people or as JSON for programs.

mod logs;

pub use logs::{LogFormat, start_logs};
