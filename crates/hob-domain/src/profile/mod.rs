//! Profiles: what a repository or an operator says of one kind of work, in one Markdown file. Here is how such a file is
//! read; nothing of it opens files.

mod fields;
mod front_matter;
mod keys;
mod parse;
mod patterns;
mod problem;
mod profile_name;
mod tool_names;
mod types;
mod yaml;

pub use parse::{PROFILE_MAX, Parsed, parse};
pub use patterns::{ErrorPattern, PathGlobs};
pub use problem::{Problem, Severity};
pub use profile_name::{InvalidProfileName, ProfileName};
pub use types::{Case, Deliverable, Gate, Matches, Profile, ProfileLimits, ProfileQuestion, ProfileState};
