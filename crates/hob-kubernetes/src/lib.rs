//! An executor of Kubernetes: each issue is worked on by a Job (`batch/v1`) of its own, whose pod runs `hob run ISSUE`.
//!
//! | part | owns |
//! |---|---|
//! | `executor` | what the worker calls |
//! | `follow` | one Job, from its creation to its end |
//! | `reasons` | why a Job waits, and why it failed |
//! | `cluster` | the client, in one namespace, with deadlines |
//! | `template` | the user's Job, and what Hob fills into it |
//! | `passes` | what a pod gets instead of a token of the forge |
//! | `name` | names and labels, by which a second dispatcher finds the same Job |
//! | `phase` | what a Job does, by its object |
//!
//! It knows nothing of the forge and of leases: whether the issue was taken up is the worker's to see.

mod cluster;
mod executor;
mod follow;
mod name;
mod passes;
mod phase;
mod reasons;
mod template;
#[cfg(test)]
mod tests;

pub use executor::JobExecutor;
pub use passes::{Passes, Sign};
pub use template::{Template, TemplateError};
