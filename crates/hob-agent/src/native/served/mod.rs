//! Investigations by other agents' programs: they get the same tools as the native agent.
//!
//! - Flow: the program is run on the brief of the case (`rounds`). It calls the tools over MCP (`protocol`), whose
//!   messages come through the run's egress, or, if it does not speak MCP, names one in its last line of output. A call
//!   is checked, approved, run, shown and recorded by the same code as a native agent's (`desk`).
//! - Guarantees: the record is kept after each action, so that a killed run continues from there. The end of the
//!   investigation ends the program. Calls run one after the other, in the order in which they come.
//! - Caveats: what a program reads with its own tools is not visible here, and is not evidence.

mod desk;
mod protocol;
mod rounds;

pub(crate) use rounds::{Speaks, investigate};
