//! Searches for issues and pull requests, over REST and GraphQL alike: words and qualifiers, which must all match.
//! <https://docs.github.com/search-github/searching-on-github/searching-issues-and-pull-requests>
//!
//! Another qualifier is refused by its name: ignoring it would find too much.

use super::{
    dates::Range,
    state::{Issue, IssueState, Repository},
};
use crate::names::Login;

/// A qualifier or an order that the forge's searches do not know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the embedded forge's search has no qualifier `{name}:{value}`")]
pub(super) struct Unknown {
    name: String,
    value: String,
}

/// A parsed search: each qualifier with its value, and whether it must hold.
#[derive(Debug)]
pub(super) struct Wanted {
    terms: Vec<Term>,
}

#[derive(Debug)]
struct Term {
    name: String,
    value: String,
    sense: Sense,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sense {
    Holds,
    HoldsNot,
}

impl Wanted {
    /// Reads the words of a query; quotes keep blanks together.
    pub(super) fn read(query: &str) -> Self {
        let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
        for c in query.chars() {
            match c {
                '"' => quoted = !quoted,
                c if c.is_whitespace() && !quoted => words.push(std::mem::take(&mut word)),
                c => word.push(c),
            }
        }
        words.push(word);
        let terms = words.into_iter().filter(|word| !word.is_empty()).map(|word| {
            let (sense, word) =
                word.strip_prefix('-').map_or((Sense::Holds, word.as_str()), |rest| (Sense::HoldsNot, rest));
            let (name, value) = word.split_once(':').unwrap_or(("", word));
            Term { name: name.to_owned(), value: value.to_owned(), sense }
        });
        Self { terms: terms.collect() }
    }

    /// Whether an issue matches, with `me` as the caller.
    ///
    /// # Errors
    /// [`Unknown`] for an unknown qualifier.
    pub(super) fn fits(&self, me: Option<&Login>, repo: &Repository, issue: &Issue) -> Result<bool, Unknown> {
        for Term { name, value, sense } in &self.terms {
            if holds(me, repo, issue, name, value)? != (*sense == Sense::Holds) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The repositories that it names.
    pub(super) fn repositories(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().filter(|term| term.name == "repo").map(|term| term.value.as_str())
    }

    /// Sorts the results by the search's own `sort`, otherwise by this one: newest first if there is none.
    ///
    /// # Errors
    /// [`Unknown`] for an unknown order.
    pub(super) fn order(&self, found: &mut [(&Repository, &Issue)], sort: Option<&str>) -> Result<(), Unknown> {
        let own = self.terms.iter().find(|term| term.name == "sort").map(|term| term.value.as_str());
        let sort = own.or(sort).unwrap_or("created-desc");
        let (field, direction) = sort.split_once('-').unwrap_or((sort, "desc"));
        match field {
            "created" => found.sort_by_key(|(_, issue)| issue.id),
            "updated" => found.sort_by_key(|(_, issue)| (issue.updated_at, issue.id)),
            "comments" => found.sort_by_key(|(_, issue)| (issue.comments.len(), issue.id)),
            _ => return Err(unknown("sort", sort)),
        }
        if direction == "desc" {
            found.reverse();
        }
        Ok(())
    }
}

fn holds(me: Option<&Login>, repo: &Repository, issue: &Issue, name: &str, value: &str) -> Result<bool, Unknown> {
    let is = |login: &Login| match (value, me) {
        ("@me", Some(me)) => login.is(me),
        // `gh` writes an App's account so; others write the name that the REST API has.
        _ => value.strip_prefix("app/").map_or_else(|| login.is(&value.into()), |slug| login.is(&Login::of_bot(slug))),
    };
    let within = || Range::read(value).ok_or_else(|| unknown(name, value));
    let (open, pull) = (issue.state == IssueState::Open, issue.pull.as_ref());
    let merged = pull.and_then(|pull| pull.merged.as_ref());
    Ok(match (name, value) {
        // The words between terms of an advanced search.
        ("", "AND" | "OR" | "NOT") => return Err(unknown(name, value)),
        ("", word) => {
            let text = format!("{}\n{}", issue.title, issue.body.as_deref().unwrap_or_default());
            text.to_lowercase().contains(&word.to_lowercase())
        }
        ("repo", name) => repo.name.to_string().eq_ignore_ascii_case(name),
        ("user" | "org", name) => repo.name.owner().eq_ignore_ascii_case(name),
        ("is" | "state", "open") => open,
        ("is" | "state", "closed") => !open,
        ("is" | "type", "issue") => pull.is_none(),
        ("is" | "type", "pr" | "pull-request") => pull.is_some(),
        ("is", "merged") => merged.is_some(),
        ("is", "unmerged") => pull.is_some() && merged.is_none(),
        ("is", "draft") => pull.is_some_and(|pull| pull.draft),
        ("draft", "true" | "false") => pull.is_some_and(|pull| pull.draft == (value == "true")),
        ("author", _) => is(&issue.author),
        ("assignee", _) => issue.assignees.iter().any(is),
        ("commenter", _) => issue.comments.iter().any(|comment| is(&comment.author)),
        // Several labels with commas between them: one is enough.
        ("label", names) => {
            names.split(',').any(|name| repo.label(name).is_some_and(|label| issue.labels.contains(&label.id)))
        }
        ("no", "label") => issue.labels.is_empty(),
        ("no", "assignee") => issue.assignees.is_empty(),
        ("head", branch) => pull.is_some_and(|pull| pull.head_ref == branch),
        ("base", branch) => pull.is_some_and(|pull| pull.base_ref == branch),
        ("review-requested", _) => pull.is_some_and(|pull| pull.reviewers.iter().any(is)),
        ("created", _) => within()?.has(issue.created_at),
        ("updated", _) => within()?.has(issue.updated_at),
        ("closed", _) => {
            let range = within()?;
            issue.closed.as_ref().is_some_and(|(at, _)| range.has(*at))
        }
        ("merged", _) => {
            let range = within()?;
            merged.is_some_and(|merged| range.has(merged.at))
        }
        ("sort", _) => true,
        ("archived", "true" | "false") => repo.archived == (value == "true"),
        (name, value) => return Err(unknown(name, value)),
    })
}

fn unknown(name: &str, value: &str) -> Unknown {
    Unknown { name: name.to_owned(), value: value.to_owned() }
}
