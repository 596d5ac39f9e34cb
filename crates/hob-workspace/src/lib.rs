//! The workspace: mirrors, checkouts, branches, commits, diffs, checks and the leased push.
//!
//! Flow: [`Workspace::fetch`] → [`Workspace::prepare`] → the agent edits [`Checkout::folder`] → [`Checkout::commit`] →
//! [`Checkout::diff`] → [`Checkout::proof`] and [`run_checks`] → [`Workspace::push`].
//!
//! Guarantees: Hob never runs git in, or opens, a git directory that an agent can write; the agent's folder is
//! committed by a child that has no secret ([`was_committer`]); it follows no link out of a checkout; no child has the
//! token, and it is in no file, address or error; a push moves a branch only from its expected tip; an interrupted step
//! is resumed or redone by the next call.
//!
//! Assumptions: one holder for each issue at a time (the ledger's lease); when [`Checkout::commit`] is called, the
//! agent's processes are gone.
//!
//! Caveats: git runs no filters, so files kept by an extension such as LFS appear as their pointers. A future that is
//! dropped ends its git command; work on the disk that has begun runs to its end.

mod aside;
mod checkout;
mod checks;
mod commit;
mod committer;
mod convert;
mod crossed;
mod diff;
mod error;
mod fill;
mod forwarder;
mod git;
mod git_dir;
mod in_use;
mod intact;
mod layout;
mod links;
mod made;
mod messages;
mod mirror;
mod names;
mod notable;
mod object_id;
mod part;
mod persons_commits;
mod pool;
mod prepared;
mod profiles;
mod public_paths;
mod pull_template;
mod push;
mod put_files;
mod record;
mod remote;
mod reports;
mod retention;
mod route;
mod secrets;
mod sign_off;
mod signing;
mod signing_key;
mod skeleton;
mod statement_key;
mod store;
mod survey;
mod transport;
mod undone;
mod update;

pub use aside::Aside;
pub use checkout::{Checkout, Leftover};
pub use checks::{CheckLimits, run_checks};
pub use commit::Foreign;
pub use committer::was_committer;
pub use crossed::{Crossed, Crossing, SideRules, crossed};
pub use error::{LibraryError, TransportError, UnfitWork, WorkspaceError};
#[cfg(fuzzing)]
pub use forwarder::fuzz_updates;
pub use forwarder::{Along, GitRelay, GitRequest, NoAnswer, RelayedPush};
pub use names::{BranchName, InvalidBranchName};
pub use notable::notable;
pub use prepared::{Prepared, Preparing, Source};
pub use profiles::{NamedFile, commit_profiles, folder_profiles};
pub use public_paths::PublicPaths;
pub use pull_template::pull_template;
pub use put_files::{NewFiles, Put, put_files};
pub use remote::{InvalidServer, Remote};
pub use reports::report_variables;
pub use retention::{Retention, Room};
pub use sign_off::{SignedOff, Signer, sign_off};
pub use signing::{UnsignedCommit, stage};
pub use signing_key::{SigningKey, SigningKeyError};
pub use statement_key::{StatementKey, claimed_key, sign_proof};
pub use store::Workspace;
pub use update::{BranchUpdate, Updater};
