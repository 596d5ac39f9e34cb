//! What people have begun on an issue: Hob waits for it before it spends money.

use hob_text::markup::code_span;
use serde::{Deserialize, Serialize};

use crate::Login;

/// What a person has begun on an issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PersonsWork {
    /// An open pull request that closes it.
    Pull {
        /// Its number, with the repository before it if that is another one.
        pull: String,
        /// Who opened it.
        by: Login,
    },
    /// A branch that is linked to it.
    Branch(String),
    /// Somebody is assigned to it.
    Assignee(Login),
}

impl PersonsWork {
    /// The fact, as the end of a sentence about the issue.
    pub fn says(&self) -> String {
        match self {
            Self::Pull { pull, by } => format!("{by}'s pull request {pull} closes this issue"),
            Self::Branch(branch) => format!("the branch {} is linked to this issue", code_span(branch)),
            Self::Assignee(login) => format!("{login} is assigned to this issue"),
        }
    }

    /// What ends the wait for it, after "when".
    pub fn ends_when(&self) -> String {
        match self {
            Self::Pull { pull, .. } => format!("{pull} is closed without a merge"),
            Self::Branch(branch) => format!("{} is unlinked", code_span(branch)),
            Self::Assignee(login) => format!("{login} is unassigned"),
        }
    }

    /// What people have begun, in one sentence without its end.
    pub fn each_says(all: &[Self]) -> String {
        joined(all, Self::says)
    }

    /// The facts and what ends the wait for them, in two sentences of which the first lacks its beginning.
    pub fn all_say(all: &[Self]) -> String {
        let (says, ends_when) = (Self::each_says(all), joined(all, Self::ends_when));
        format!("{says}. Hob begins when {ends_when}; `/hob retry` in a comment begins now")
    }
}

/// A branch's name as code, which it cannot end.
fn joined(all: &[PersonsWork], say: impl Fn(&PersonsWork) -> String) -> String {
    all.iter().map(say).collect::<Vec<_>>().join(", and ")
}

/// How Hob's work goes with what people have begun on the issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WithPeople {
    /// It waits for this.
    Waits(Vec<PersonsWork>),
    /// It goes on beside it, as this person asked.
    GoesOn(Login),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_what_is_begun_and_what_ends_the_wait() {
        let pull = PersonsWork::Pull { pull: "#9".to_owned(), by: "wil".into() };
        let both = [pull, PersonsWork::Assignee("rob".into())];
        assert_eq!(
            PersonsWork::all_say(&both),
            "wil's pull request #9 closes this issue, and rob is assigned to this issue. Hob begins when #9 is closed without a merge, and rob is \
             unassigned; `/hob retry` in a comment begins now"
        );
    }
}
