//! Whether a statement is of the pull request that somebody holds against it.

use std::fmt;

use crate::{IssueNumber, Proof, PullNumber, RepoName, Sha};

/// A pull request as the forge has it.
#[derive(Debug, Clone)]
pub struct StatedOf {
    /// The repository.
    pub repository: RepoName,
    /// Its number.
    pub pull_request: PullNumber,
    /// Its issue; `None` if no ledger of an open issue names the pull request.
    pub issue: Option<IssueNumber>,
    /// The tip of its branch.
    pub head: Sha,
    /// The tree of the tip.
    pub tree: Sha,
}

/// How a statement does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Misfit {
    /// It is about another repository.
    Repository {
        /// The repository in it.
        said: RepoName,
        /// The repository that it was held against.
        is: RepoName,
    },
    /// It is about another pull request.
    PullRequest {
        /// The one in it.
        said: PullNumber,
        /// The one that it was held against.
        is: PullNumber,
    },
    /// It is about another issue.
    Issue {
        /// The one in it.
        said: IssueNumber,
        /// The pull request's.
        is: IssueNumber,
    },
    /// The branch has another tip.
    Head {
        /// The commit in it.
        said: Sha,
        /// The tip.
        is: Sha,
    },
    /// The commit has another tree.
    Tree {
        /// The tree in it.
        said: Sha,
        /// The commit's.
        is: Sha,
    },
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Repository { said, is } => {
                write!(f, "it is about the repository {said}, not {is}: do not trust it here")
            }
            Self::PullRequest { said, is } => {
                write!(f, "it is about pull request #{said}, not #{is}: check that one, or take this one's statement")
            }
            Self::Issue { said, is } => {
                write!(f, "it is about issue #{said}, and the pull request belongs to issue #{is}: do not trust it")
            }
            Self::Head { said, is } => write!(
                f,
                "the pull request's head is {is}, and the statement is of {said}: review what was pushed since, and run the \
                 checks on it"
            ),
            Self::Tree { said, is } => {
                write!(f, "the head's tree is {is}, and the statement says {said}: do not trust it")
            }
        }
    }
}

/// How the statement does not fit the pull request.
pub fn misfits(proof: &Proof, of: &StatedOf) -> Vec<Misfit> {
    let (statement, said) = (proof.statement(), &proof.statement().predicate);
    let mut found = Vec::new();
    // The forge's names never differ only by case.
    if !said.repository.to_string().eq_ignore_ascii_case(&of.repository.to_string()) {
        found.push(Misfit::Repository { said: said.repository.clone(), is: of.repository.clone() });
    }
    if said.pull_request != of.pull_request {
        found.push(Misfit::PullRequest { said: said.pull_request, is: of.pull_request });
    }
    if let Some(is) = of.issue.filter(|issue| *issue != said.issue) {
        found.push(Misfit::Issue { said: said.issue, is });
    }
    if statement.head != of.head {
        found.push(Misfit::Head { said: statement.head.clone(), is: of.head.clone() });
    } else if statement.tree != of.tree {
        found.push(Misfit::Tree { said: statement.tree.clone(), is: of.tree.clone() });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::statement::tests::statement;

    #[test]
    fn each_misfit_is_named_in_a_sentence() {
        let proof = Proof::unsigned(statement()).unwrap();
        let fits = StatedOf {
            repository: "ann/site".parse().unwrap(),
            pull_request: PullNumber(9),
            issue: Some(IssueNumber(7)),
            head: "aa".into(),
            tree: "bb".into(),
        };
        assert_eq!(misfits(&proof, &fits), []);
        assert_eq!(misfits(&proof, &StatedOf { issue: None, ..fits.clone() }), []);
        for (of, says) in [
            (StatedOf { repository: "eve/site".parse().unwrap(), ..fits.clone() }, "about the repository ann/site"),
            (StatedOf { pull_request: PullNumber(8), ..fits.clone() }, "pull request #9, not #8"),
            (StatedOf { issue: Some(IssueNumber(6)), ..fits.clone() }, "about issue #7"),
            (
                StatedOf { head: "ab".into(), tree: "xx".into(), ..fits.clone() },
                "head is ab, and the statement is of aa",
            ),
            (StatedOf { tree: "xx".into(), ..fits }, "tree is xx, and the statement says bb"),
        ] {
            let found: Vec<String> = misfits(&proof, &of).iter().map(ToString::to_string).collect();
            assert!(found.len() == 1 && found[0].contains(says), "{found:?}");
        }
    }
}
