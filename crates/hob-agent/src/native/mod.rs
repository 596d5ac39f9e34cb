//! Hob's own agent: a loop over a language model with a small set of tools.
//!
//! - Flow: each turn the limits are checked, the model is asked, its reply is parsed into actions (`speech`), each is
//!   checked against the rules (`guard`) and run (`tool_calls`, `tools`), and the answers are added to the conversation
//!   with a note of the remaining limits (`history`, `usage`). A failed tool tells the model why. The run ends with
//!   `done`, `ask` or `hand_off`, or at a limit.
//! - Guarantees: limits hold inside the loop, not around it: time, turns, replies whose actions failed (in a row, of
//!   the last 20), identical calls in a row, tokens, money, bytes that commands write. A turn costs the same however
//!   long the run is. The system role has only Hob's own text; the task is the user's message. The file tools stay in
//!   the folder (see `agent::folder`).
//!   Processes that its commands and MCP servers started are gone when the run ends, even outside of their group, if
//!   they kept the variable `HOB_AGENT_RUN`.
//! - Caveats: money and tokens are counted after each reply, so a run can exceed them by one reply. A request that
//!   failed on its way and was sent again may have cost something that no service reports. A shell command is confined
//!   by its environment, time and process group only; rules about commands are advice for the model.
//! - Ends: words without a tool call are never the end: the model is asked for a tool, and if it repeatedly gives none,
//!   the run fails with its last words. `done` of a run that changed a file is a gate on what ran and passed (`last_look`).

mod backend;
mod change;
mod circle;
mod command_line;
mod fetcher;
mod guard;
mod help;
mod history;
mod in_span;
mod investigation;
mod last_look;
mod limits;
mod mcp;
mod needs;
mod notes;
mod plain;
mod quick_check;
mod quiet;
mod repair;
mod replay;
mod restore;
mod scoped;
mod seen;
mod served;
mod speech;
mod standing;
mod surroundings;
mod tool_calls;
mod tools;
mod turns;
mod usage;
mod window;

pub use backend::NativeAgent;
pub(super) use help::Helps;
pub(super) use limits::TURNS;
pub(super) use mcp::McpServers;
pub use mcp::{ServerLook, look_at_servers};
pub(super) use needs::{Needs, OpenWays};
pub use replay::{Comparison, Difference, Replayed, compare};
pub(super) use served::{Speaks, investigate};
pub(super) use tools::built_in_tools;
