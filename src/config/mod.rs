//! Typed settings, one section a file, and the only reader of the environment.

mod agents;
mod environment;
mod models;

pub use agents::{AgentSettings, BackendKind, Pattern, PromptVia, RecipeSettings, Replace, Step};
pub use environment::{ModelAccess, child_environment, may_pass, model_access, named_environment};
pub use models::{InvalidModelName, ModelName, ModelSettings, PriceSettings};
