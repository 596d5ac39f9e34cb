//! Which work on an issue is a person's: what the forge shows of it, and what of that Hob waits for.

use crate::{AccountKind, Actor, AssigneeFilter, Login, PersonsWork, PullNumber, Timestamp, Trigger};

/// An open pull request that closes an issue, as the forge says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClosingPull {
    /// Its number.
    pub number: PullNumber,
    /// Its repository, `owner/name`, if that is not the issue's.
    pub repository: Option<String>,
    /// Its branch.
    pub branch: String,
    /// Who opened it. `None` if the account is gone.
    pub author: Option<Actor>,
}

/// Who is assigned to an issue, and how that came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The assignee.
    pub assignee: Login,
    /// Who assigned them, and when. `None` if no event says so.
    pub made: Option<(Actor, Timestamp)>,
}

/// The pull requests and branches of an issue.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OthersWork {
    /// Open pull requests that close it.
    pub pulls: Vec<ClosingPull>,
    /// Linked branches.
    pub branches: Vec<String>,
}

/// The open pull requests and branches of people, of those that belong to an issue: not those of Hob's account `own`, and no
/// branch whose name begins with `branch_prefix`.
pub fn linked_work(others: &OthersWork, own: Option<&Login>, branch_prefix: &str) -> Vec<PersonsWork> {
    let is_own_branch = |name: &str| !branch_prefix.is_empty() && name.starts_with(branch_prefix);
    let is_own = |pull: &ClosingPull| {
        let by_own = pull.author.as_ref().zip(own).is_some_and(|(author, own)| author.login.is(own));
        by_own || (pull.repository.is_none() && is_own_branch(&pull.branch))
    };
    let by_person = |pull: &&ClosingPull| pull.author.as_ref().is_none_or(|author| author.kind == AccountKind::User);
    let pulls = others.pulls.iter().filter(by_person).filter(|pull| !is_own(pull)).map(|pull| PersonsWork::Pull {
        pull: format!("{}#{}", pull.repository.as_deref().unwrap_or_default(), pull.number),
        by: pull.author.as_ref().map_or_else(|| "ghost".into(), |author| author.login.clone()),
    });
    let branches = others.branches.iter().filter(|name| !is_own_branch(name)).cloned().map(PersonsWork::Branch);
    pulls.chain(branches).collect()
}

/// Whether an issue's assignees say that somebody else than who asked may work on it. They do not if Hob's own account
/// `own` is among them, or the one whose issues Hob begins, by `begins`.
pub fn asks_others(assignees: &[Login], trigger: &Trigger, own: Option<&Login>, begins: &AssigneeFilter) -> bool {
    let is_own = |assignee: &Login| own.is_some_and(|own| assignee.is(own));
    let is_set = matches!(begins, AssigneeFilter::Account(_)) && begins.fits(assignees);
    !is_set && !assignees.iter().any(is_own) && assignees.iter().any(|assignee| !assignee.is(&trigger.actor))
}

/// The assignees of an issue whose assignees [ask others](asks_others), as far as they may work on it.
pub fn assigned_work(assignments: &[Assignment], trigger: &Trigger) -> Vec<PersonsWork> {
    // A bot that assigns somebody to what gets the label says nothing about who works on it.
    let came_with_label = |assignment: &Assignment| {
        let made = assignment.made.as_ref().zip(trigger.at);
        made.is_some_and(|((by, at), asked_at)| by.kind == AccountKind::Bot && *at >= asked_at)
    };
    let takes = |one: &&Assignment| !one.assignee.is(&trigger.actor) && !came_with_label(one);
    assignments.iter().filter(takes).map(|one| PersonsWork::Assignee(one.assignee.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EventId;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(seconds, 0).unwrap()
    }

    fn actor(login: &str) -> Actor {
        let kind = if login.ends_with("[bot]") { AccountKind::Bot } else { AccountKind::User };
        Actor { login: login.into(), kind }
    }

    #[test]
    fn a_persons_pull_request_counts_and_hobs_own_or_a_bots_does_not() {
        let pull = |number, branch: &str, author: Option<&str>| ClosingPull {
            number: PullNumber(number),
            repository: None,
            branch: branch.to_owned(),
            author: author.map(actor),
        };
        let elsewhere = ClosingPull { repository: Some("rob/site".to_owned()), ..pull(4, "hob/1", Some("rob")) };
        let pulls = vec![
            pull(1, "fix", Some("wil")),
            pull(2, "fix", Some("Hob")),
            pull(3, "hob/1-x", Some("old-hob")),
            elsewhere,
            pull(5, "x", Some("renovate[bot]")),
            pull(6, "x", None),
        ];
        let branches = vec!["hob/1-x".to_owned(), "wil/fix".to_owned()];
        let found = linked_work(&OthersWork { pulls, branches }, Some(&"hob".into()), "hob/");
        assert_eq!(
            found.iter().map(PersonsWork::says).collect::<Vec<_>>(),
            [
                "wil's pull request #1 closes this issue",
                "rob's pull request rob/site#4 closes this issue",
                "ghost's pull request #6 closes this issue",
                "the branch `wil/fix` is linked to this issue",
            ]
        );
    }

    #[test]
    fn an_assignee_counts_unless_they_asked_or_a_bot_assigned_them_on_the_label() {
        let assigned = |assignee: &str, by: Option<(&str, i64)>| Assignment {
            assignee: assignee.into(),
            made: by.map(|(by, seconds)| (actor(by), at(seconds))),
        };
        let trigger = Trigger {
            event: EventId(1),
            actor: "ann".into(),
            approved: String::new(),
            at: Some(at(100)),
            labels: Vec::new(),
        };
        let own = "hob".into();
        for (assignments, setting, counts) in [
            (vec![assigned("Ann", None)], "", vec![]),
            (vec![assigned("wil", None)], "", vec!["wil"]),
            (vec![assigned("wil", Some(("ann", 101)))], "", vec!["wil"]),
            // Somebody took it by a bot's command before the label came.
            (vec![assigned("wil", Some(("robo[bot]", 99)))], "", vec!["wil"]),
            (vec![assigned("wil", Some(("robo[bot]", 101)))], "", vec![]),
            (vec![assigned("ann", None), assigned("wil", None)], "", vec!["wil"]),
            (vec![assigned("hob", None), assigned("wil", None)], "", vec![]),
            (vec![assigned("wil", None)], "wil", vec![]),
        ] {
            let assignee = AssigneeFilter::new(setting);
            let assignees: Vec<Login> = assignments.iter().map(|one| one.assignee.clone()).collect();
            let found = match asks_others(&assignees, &trigger, Some(&own), &assignee) {
                true => assigned_work(&assignments, &trigger),
                false => Vec::new(),
            };
            let counts: Vec<_> = counts.into_iter().map(|login| PersonsWork::Assignee(login.into())).collect();
            assert_eq!(found, counts, "{assignments:?}");
        }
    }
}
