//! The commit status by which a proof counts at the forge: a ruleset that requires it lets only proven heads be merged.

use hob_text::title;
use serde::{Deserialize, Serialize};

use crate::{CommentId, Login, Sha, Shown, Word};

/// The status's context: the name that a ruleset requires.
pub const PROOF_CONTEXT: &str = "hob/proof";

/// The longest description that GitHub takes, in characters.
const SAYS_MAX: usize = 140;

/// The state of the status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProofState {
    /// Hob works on the pull request.
    Pending,
    /// What this head changes is proven.
    Success,
    /// A person should look first.
    Failure,
}

/// The status of one head.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProofStatus {
    /// The head.
    pub head: Sha,
    /// The state.
    pub state: ProofState,
    /// The one line beside it.
    pub says: String,
}

/// A request to make the proof of a pull request again, on its head as it is then.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProofAsked {
    /// Who asked in which comment. `None` if the settings ask for it after each push.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Login>,
    /// The comment, which gets the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<CommentId>,
}

impl ProofStatus {
    /// While a round works on the pull request.
    pub fn working(head: Sha) -> Self {
        Self::new(head, ProofState::Pending, "Hob works on this pull request.")
    }

    /// What the runs show of a head, with the sentence about it.
    pub fn of(head: Sha, shown: &Shown, says: &str) -> Self {
        let state = if counts(shown) { ProofState::Success } else { ProofState::Failure };
        Self::new(head, state, says)
    }

    /// A head that somebody else pushed.
    pub fn pushed_after(head: Sha) -> Self {
        Self::new(head, ProofState::Failure, "Pushed after the proof: `/hob prove` makes it again.")
    }

    fn new(head: Sha, state: ProofState, says: &str) -> Self {
        Self { head, state, says: title(says, SAYS_MAX) }
    }
}

/// Whether a head may be merged without a person's look at how it is tested. A change without tests may be right, but a status that
/// also passes for it would say nothing: who merges such a change bypasses the ruleset.
fn counts(shown: &Shown) -> bool {
    match shown.word {
        Word::Proven => !shown.asks_for_a_look(),
        Word::NeedNotShown { .. }
        | Word::OldTestsChanged
        | Word::KeptNotShown { .. }
        | Word::OnlyTests
        | Word::NoTests
        | Word::Unshown => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Closeness, Names, NeedUnknown, NotMade};

    fn shown(word: Word) -> Shown {
        let none = Names::default;
        Shown {
            word,
            by: Closeness::Tests,
            needed: none(),
            broken: none(),
            removed: none(),
            skipped: none(),
            new: none(),
            judges: none(),
        }
    }

    #[test]
    fn only_what_is_proven_succeeds() {
        let some: Names = ["x".to_owned()].into_iter().collect();
        let words = [
            (Word::Proven, ProofState::Success),
            (Word::NeedNotShown { why: NeedUnknown::PassesWithout }, ProofState::Failure),
            (Word::OldTestsChanged, ProofState::Failure),
            (Word::KeptNotShown { why: NotMade::NoTime }, ProofState::Failure),
            (Word::OnlyTests, ProofState::Failure),
            (Word::NoTests, ProofState::Failure),
            (Word::Unshown, ProofState::Failure),
        ];
        for (word, state) in words {
            assert_eq!(ProofStatus::of(Sha::from("h"), &shown(word.clone()), "").state, state, "{word:?}");
        }
        let looked_at = [
            Shown { judges: some.clone(), ..shown(Word::Proven) },
            Shown { removed: some.clone(), ..shown(Word::Proven) },
            Shown { skipped: some, ..shown(Word::Proven) },
        ];
        for shown in looked_at {
            assert_eq!(ProofStatus::of(Sha::from("h"), &shown, "").state, ProofState::Failure, "{shown:?}");
        }
    }

    #[test]
    fn its_line_fits() {
        let long = ProofStatus::of(Sha::from("h"), &shown(Word::Proven), &"é\n".repeat(400));
        assert!(long.says.chars().count() <= SAYS_MAX);
        assert!(!long.says.contains('\n'));
    }
}
