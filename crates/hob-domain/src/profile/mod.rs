//! Profiles: what a repository or an operator says of one kind of work, in one Markdown file. Here is how such a file is
//! read, which of several counts, and what it may do at most; nothing of it opens files.

mod catalog;
mod fields;
mod front_matter;
mod keys;
mod narrow;
mod parse;
mod patterns;
mod problem;
mod profile_name;
mod ready;
mod source;
mod state_name;
mod tool_names;
mod types;

pub use catalog::{Catalog, CatalogEntry, ProfileOrigin, Standing};
pub use narrow::{Bounds, Narrowed, allowed_model};
pub use parse::{Parsed, parse};
pub use patterns::{ErrorPattern, InvalidPattern, PathGlobs};
pub use problem::{Problem, Severity};
pub use profile_name::{InvalidProfileName, ProfileName};
pub use ready::ready_profiles;
pub use source::{PROFILE_MAX, ProfileFile, ProfileFiles, ProfileSource, Unread, is_profile_file, name_of_file};
pub use state_name::{InvalidStateName, StateName};
pub use types::{Case, Deliverable, Gate, Matches, Profile, ProfileLimits, ProfileQuestion, ProfileState};
