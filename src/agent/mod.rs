//! Code agents behind one trait: they change the files of a folder and return an [`Outcome`](crate::domain::Outcome).
//! They hold no forge token, no git directory of Hob's, and this module cannot import the forge.

mod adapters;
mod backend;
mod command;
mod environment;
mod executor;
mod folder;
mod native;
mod recipe;
mod registry;
mod report;

pub use adapters::{adapter_program, adapter_variables, find_adapter};
pub use backend::{AgentBackend, AgentError, RunContext};
pub use command::CommandAgent;
pub use executor::Executor;
pub use native::{Comparison, Difference, NativeAgent, Proposal, Replayed, Verdict, compare};
pub use recipe::RecipeAgent;
pub use registry::{AgentParts, Registry};
