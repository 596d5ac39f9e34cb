//! Hob's own agent: a loop over a language model with a small set of tools.
//!
//! - Flow: each turn the limits are checked, the model is asked, the tools it calls are run, and their answers are added
//!   to the conversation, which only grows. A tool that fails answers the model with why. The run ends with `done`, with
//!   `ask`, or at a limit.
//! - Guarantees: limits hold inside the loop, not around it: time, turns, replies whose actions failed (in a row, in all), identical
//!   calls in a row, money. The system role has Hob's own text alone; the task comes as the user's message. The file
//!   tools stay in the folder (see `agent::folder`).
//! - Caveats: money is counted after each reply, so a run can go over its budget by one reply. A request that failed on
//!   its way and was sent again may have cost something that no service reports. A shell command is confined by its
//!   environment, time and process group only.
//! - A reply without a tool call: the model is told once to end with a tool. When it does so again, its words are taken as
//!   the summary if a tool that changes files ran well before, else as a question, because a person should see them.

mod backend;
mod limits;
mod tools;
mod turns;

pub use backend::NativeAgent;
