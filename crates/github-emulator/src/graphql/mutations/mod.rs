//! The mutations, one file a topic: the description of each with its input and payload, and its implementation. Most
//! only call the endpoint of the REST API that does the same.

mod auto_merge;
mod comments;
mod doing;
mod issues;
mod labels;
mod linked;
mod pulls;
mod reactions;
mod refs;
mod reviews;
mod table;

pub(super) use table::{descriptions, run};
