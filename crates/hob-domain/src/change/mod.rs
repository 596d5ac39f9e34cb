//! A change on its way to a pull request: the diff, its proof, what may be pushed, and its review.

pub(crate) mod change_text;
pub(crate) mod code_owners;
pub(crate) mod commit_identity;
pub(crate) mod commit_message;
pub(crate) mod conflict;
pub(crate) mod denied;
pub(crate) mod diff;
pub(crate) mod evidence;
pub(crate) mod failed_checks;
pub(crate) mod finding;
pub(crate) mod left_out;
pub(crate) mod persons_commit;
pub(crate) mod policy;
pub(crate) mod proof_status;
pub(crate) mod pull_log;
pub(crate) mod push_refused;
pub(crate) mod push_rules;
pub(crate) mod review;
pub(crate) mod run_unasked;
pub(crate) mod shown;
pub(crate) mod slug;
pub(crate) mod statement;
pub(crate) mod test_results;
pub(crate) mod workflow_split;
