//! The endpoints of the REST API, one file a topic. Each is a plain function of a call; the table of all is here.

mod actions;
mod annotations;
mod apps;
mod assignees;
mod branches;
mod check_suites;
mod checks;
mod collaborators;
mod comments;
mod compare;
mod contents;
mod diff_lines;
mod events;
mod issue_edit;
mod issue_labels;
mod issues;
mod labels;
mod merge;
mod meta;
mod objects;
mod pulls;
mod reactions;
mod refs;
mod relations;
mod repo_edit;
mod repos;
mod reruns;
mod review_comments;
mod review_place;
mod reviewers;
mod reviews;
mod statuses;
mod table;

pub use table::endpoints;
pub(super) use table::routes;
