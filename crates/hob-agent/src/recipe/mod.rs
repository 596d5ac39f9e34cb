//! Fixed steps as an agent: shell commands, replacements, and the diff that an issue brings. No model, no cost.
//!
//! - Flow: the steps run in order; the first that fails, or that ought to change files and changes none, ends the
//!   recipe with its number and the reason.
//! - Guarantees: replacements and diffs stay in the folder and out of `.git` (see `agent::folder`); a diff is applied
//!   whole or not at all (see `agent::folder`).
//! - Caveats: `run` steps are the repository's own commands, read from its base branch; they are not confined here.

mod backend;
mod diff;
mod patch;
mod replace;

pub use backend::RecipeAgent;
