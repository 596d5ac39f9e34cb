//! Investigations by other agents' programs: they get the tools of an investigation that the native agent has.
//!
//! - Flow: the program is run on the brief of the case (`rounds`). It calls the tools over MCP (`protocol`), whose messages come
//!   through the run's egress, or names one in the last line that it prints, where it speaks no MCP. A call is checked, approved,
//!   run, shown and written down by the same code as a native agent's (`desk`).
//! - Guarantees: the record is kept after each action, so that a run which is killed goes on from there. What ends the
//!   investigation ends the program. Calls run one after the other, in the order in which they come.
//! - Caveats: what a program looks at with tools of its own is not seen here, and is no evidence.

mod desk;
mod protocol;
mod rounds;

pub(crate) use rounds::{Speaks, investigate};
