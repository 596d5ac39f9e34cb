//! The commit status by which a proof counts at the forge: a ruleset that requires it lets only proven heads be merged.

use hob_text::title;
use serde::{Deserialize, Serialize};

use crate::{CheckTally, CommentId, Login, Sha, Shown, Word};

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
    /// The runs do not show that the change is needed and breaks nothing. At the forge this is pending, too: a ruleset lets
    /// nothing be merged, and nothing is marked as failed.
    NotShown,
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

    /// What the runs show of a head whose checks ended so, with the sentence about it.
    pub fn of(head: Sha, shown: &Shown, checks: CheckTally, says: &str) -> Self {
        Self::new(head, counts(shown, checks), says)
    }

    /// A head that somebody else pushed.
    pub fn pushed_after(head: Sha) -> Self {
        Self::new(head, ProofState::NotShown, "Pushed after the proof: `/hob prove` makes it again.")
    }

    fn new(head: Sha, state: ProofState, says: &str) -> Self {
        Self { head, state, says: title(says, SAYS_MAX) }
    }
}

/// What a head counts for. A change without tests may be right, but a status that also passes for it would say nothing, and
/// one that fails would accuse it: it stays pending, and who merges such a change bypasses the ruleset.
fn counts(shown: &Shown, checks: CheckTally) -> ProofState {
    if shown.asks_for_a_look() || checks.passed < checks.run {
        return ProofState::Failure;
    }
    match shown.word {
        Word::Proven => ProofState::Success,
        Word::OldTestsChanged => ProofState::Failure,
        Word::NeedNotShown { .. }
        | Word::KeptNotShown { .. }
        | Word::OnlyTests
        | Word::NoTests
        // There is no check.
        | Word::Unshown => ProofState::NotShown,
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

    const GREEN: CheckTally = CheckTally { passed: 2, run: 2 };

    #[test]
    fn only_what_is_proven_succeeds_and_only_what_a_person_should_see_fails() {
        let some: Names = ["x".to_owned()].into_iter().collect();
        let words = [
            (Word::Proven, ProofState::Success),
            (Word::NeedNotShown { why: NeedUnknown::PassesWithout }, ProofState::NotShown),
            (Word::OldTestsChanged, ProofState::Failure),
            (Word::KeptNotShown { why: NotMade::NoTime }, ProofState::NotShown),
            (Word::OnlyTests, ProofState::NotShown),
            (Word::NoTests, ProofState::NotShown),
        ];
        for (word, state) in words {
            let shown = shown(word);
            assert_eq!(ProofStatus::of(Sha::from("h"), &shown, GREEN, "").state, state, "{shown:?}");
            let looked_at = [
                Shown { judges: some.clone(), ..shown.clone() },
                Shown { removed: some.clone(), ..shown.clone() },
                Shown { skipped: some.clone(), ..shown },
            ];
            for shown in looked_at {
                let status = ProofStatus::of(Sha::from("h"), &shown, GREEN, "");
                assert_eq!(status.state, ProofState::Failure, "{shown:?}");
            }
        }
    }

    #[test]
    fn red_checks_fail_and_a_repository_without_checks_is_not_accused() {
        let unshown = |checks| ProofStatus::of(Sha::from("h"), &shown(Word::Unshown), checks, "").state;
        assert_eq!(unshown(CheckTally { passed: 1, run: 2 }), ProofState::Failure);
        assert_eq!(unshown(CheckTally { passed: 0, run: 0 }), ProofState::NotShown);
        assert_eq!(ProofStatus::pushed_after(Sha::from("h")).state, ProofState::NotShown);
    }

    #[test]
    fn its_line_fits() {
        let long = ProofStatus::of(Sha::from("h"), &shown(Word::Proven), GREEN, &"é\n".repeat(400));
        assert!(long.says.chars().count() <= SAYS_MAX);
        assert!(!long.says.contains('\n'));
    }
}
