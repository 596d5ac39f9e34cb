//! MCP servers: programs on this machine, and addresses, whose tools the native agent has besides its own.
//!
//! - Flow: the settings name the servers; those of an agent are opened when its run begins, all at the same time
//!   (`servers`); each lists its tools, which are cut to what a model can be shown (`offer`); a call goes to the server that
//!   has the tool; all are closed with the run.
//! - Guarantees: a program runs in the sandbox with a home of its own, its own variables and its own hosts, and is gone when
//!   the run ends. To an address goes Hob itself, so that no child has its token; a redirect is not followed. Each wait has
//!   a deadline; what a server sends is bounded from one request to the next. A server that does not do is left out with
//!   one warning, and the others are used.
//! - Assumptions: none about a server: its names, descriptions, schemas and answers are text from outside.
//! - Caveats: the effects of a tool are not visible here. Its impact is what the settings say.

mod answer;
mod bound;
mod connection;
mod error;
mod http;
mod local;
mod look;
mod offer;
mod pipes;
mod recorded;
mod servers;

pub(super) use error::CallError;
pub(super) use local::Place;
pub use look::{ServerLook, look_at_servers};
pub(super) use offer::OfferedTool;
pub(super) use recorded::Recorded;
pub(crate) use servers::McpServers;
pub(super) use servers::{Connected, McpSource, Opened};
