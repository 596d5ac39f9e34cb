//! Code agents behind one trait: they change the files of a folder and return an [`Outcome`](hob_domain::Outcome). They
//! have no forge token and no git directory of Hob's, and this crate does not depend on the forge.

mod acp;
mod adapters;
mod agent_span;
mod approval;
mod backend;
mod checklist;
mod command;
mod confined;
mod egress;
mod environment;
mod executor;
mod folder;
mod home;
mod measured;
pub mod model;
mod narrowed;
mod native;
mod noted;
mod reached;
mod recipe;
mod registry;
mod report;
pub mod session;
mod steering;
mod tool_spans;
mod traced;

pub use adapters::{adapter_program, adapter_variables, find_adapter};
pub use approval::{Approval, Proposal, Verdict};
pub use backend::{AgentBackend, AgentError, Machine, RunContext};
pub use command::CommandAgent;
pub use confined::Confined;
pub use egress::RunEgress;
pub use executor::Executor;
pub use home::Home;
pub use narrowed::NarrowedAgent;
pub use native::{Comparison, Difference, NativeAgent, Replayed, ServerLook, compare, look_at_servers};
pub use noted::Advance;
pub use reached::{Reached, Traffic};
pub use recipe::RecipeAgent;
pub use registry::{AgentParts, Registry, variables_of_agents};
pub use steering::{Said, Steering};
