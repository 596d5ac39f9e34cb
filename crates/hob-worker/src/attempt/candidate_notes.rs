//! What an attempt notes of its candidates.

/// What an attempt notes of its candidates.
#[derive(Debug, Default)]
pub(super) struct CandidateNotes {
    /// Whether the best one so far is on the branch while another is made: nothing else may go there.
    pub(super) is_kept: bool,
    /// Whether people said something that a later candidate's agent heard and the chosen one's did not.
    pub(super) is_behind: bool,
    /// What the pull request says of them; `None` if there was one alone.
    pub(super) told: Option<String>,
}
