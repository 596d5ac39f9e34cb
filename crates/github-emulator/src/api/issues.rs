//! Issues: list, get, create.

use super::{
    super::{
        call::{Answer, Call, Reply},
        page::paged,
        refusal::Refusal,
        route::{Route, get, post},
        state::{EventKind, History, Issue, IssueState, Repository, mentions},
        users::Role,
        wire,
    },
    assignees::{assign, sent},
    issue_labels::put_labels,
    labels::ids_of,
    pull_moods,
};
use crate::names::Login;

/// The longest text of an issue or comment, in characters.
pub(super) const BODY_MAX: usize = 65_536;
/// The longest title.
pub(super) const TITLE_MAX: usize = 256;

pub(super) const ROUTES: &[Route] = &[
    get("/repos/{owner}/{repo}/issues", list).query(&[
        "state",
        "labels",
        "since",
        "creator",
        "assignee",
        "mentioned",
        "milestone",
        "sort",
        "direction",
    ]),
    post("/repos/{owner}/{repo}/issues", create).body(&["title", "body", "labels", "assignees", "assignee"]),
    get("/repos/{owner}/{repo}/issues/{number}", show),
];

fn show(call: &Call) -> Answer {
    let state = call.state();
    let issue = call.issue(call.repository(&state, Role::Read)?)?;
    pull_moods::sees(call, issue)?;
    Ok(Reply::ok(wire::issue(call.view(&state)?, issue)))
}

fn list(call: &Call) -> Answer {
    let state = call.state();
    let repo = call.repository(&state, Role::Read)?;
    let labels = match call.query("labels") {
        None => Some(Vec::new()),
        // A label that does not exist is on no issue.
        Some(names) => names.split(',').map(|name| repo.label(name.trim()).map(|label| label.id)).collect(),
    };
    let since = call.time("Issue", "since")?;
    let wanted_state = match call.choice("Issue", "state", &["open", "closed", "all"])? {
        "all" => None,
        "closed" => Some(IssueState::Closed),
        _ => Some(IssueState::Open),
    };
    // There are no milestones: no issue has one, and every number is unknown.
    let without_milestone = match call.query("milestone") {
        None | Some("none") => true,
        Some("*") => false,
        Some(_) => return Err(Refusal::invalid("Issue", "milestone")),
    };
    let mut issues: Vec<&Issue> = repo
        .issues
        .values()
        .filter(|issue| wanted_state.is_none_or(|state| issue.state == state))
        .filter(|issue| labels.as_ref().is_some_and(|ids| ids.iter().all(|id| issue.labels.contains(id))))
        .filter(|issue| since.is_none_or(|since| issue.updated_at >= since))
        .filter(|issue| call.query("creator").is_none_or(|login| issue.author.is(&login.into())))
        .filter(|issue| match call.query("assignee") {
            None => true,
            Some("*") => !issue.assignees.is_empty(),
            Some("none") => issue.assignees.is_empty(),
            Some(login) => issue.assignees.iter().any(|assignee| assignee.is(&login.into())),
        })
        .filter(|issue| without_milestone && call.query("mentioned").is_none_or(|login| mentioned(issue, login)))
        .collect();
    match call.choice("Issue", "sort", &["created", "updated", "comments"])? {
        "updated" => issues.sort_by_key(|issue| (issue.updated_at, issue.number)),
        "comments" => issues.sort_by_key(|issue| (issue.comments.len(), issue.number)),
        _ => issues.sort_by_key(|issue| (issue.created_at, issue.number)),
    }
    if call.choice("Issue", "direction", &["desc", "asc"])? == "desc" {
        issues.reverse();
    }
    let view = call.view(&state)?;
    Ok(paged(call, issues, |issue| wire::issue(view, issue)))
}

/// Whether the issue's text or a comment mentions the account, as `@login`.
fn mentioned(issue: &Issue, login: &str) -> bool {
    let wanted = format!("@{}", login.to_ascii_lowercase());
    let name = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let texts = issue.body.iter().chain(issue.comments.iter().map(|comment| &comment.body));
    texts.map(|text| text.to_ascii_lowercase()).any(|text| {
        text.match_indices(&wanted).any(|(at, _)| {
            let (before, after) = (&text[..at], &text[at + wanted.len()..]);
            !before.ends_with(name) && !after.starts_with(name)
        })
    })
}

fn create(call: &Call) -> Answer {
    let fields = call.fields("Issue")?;
    let actor = call.actor()?;
    let mut state = call.state();
    let role = call.role(&state, call.repository(&state, Role::Read)?);
    let title = fields.required("title")?;
    fields.limited("title", TITLE_MAX)?;
    let body = fields.limited("body", BODY_MAX)?;
    let assignees = sent(&fields)?.unwrap_or_default();
    let labels = fields.texts("labels")?.unwrap_or_default();
    let assignable = assign(&state, call, &assignees)?;
    let number = {
        let repo = call.repository_mut(&mut state, Role::Read)?;
        // GitHub silently drops fields that the role may not set.
        let triage = role >= Role::Triage;
        let ids = if triage { ids_of(call, repo, &labels)? } else { Vec::new() };
        let number = add(repo, new_issue(call, repo.next_number(), actor, title, body));
        put_labels(call, repo, number, &ids)?;
        if let (true, Some(issue)) = (triage, repo.issues.get_mut(&number)) {
            for assignee in assignable {
                issue.assignees.push(assignee.clone());
                issue.record(call.forge.next_id(), actor, call.now, EventKind::Assigned { assignee });
            }
        }
        cross_reference(call, repo, actor, number);
        number
    };
    let view = call.view(&state)?;
    Ok(Reply::created(view.repo.issues.get(&number).map(|issue| wire::issue(view, issue)).into()))
}

fn add(repo: &mut Repository, issue: Issue) -> u64 {
    let number = issue.number;
    repo.issues.insert(number, issue);
    number
}

/// An open issue with nothing but its text.
pub(super) fn new_issue(call: &Call, number: u64, author: &Login, title: String, body: Option<String>) -> Issue {
    Issue {
        id: call.forge.next_id(),
        number,
        title,
        body,
        author: author.clone(),
        state: IssueState::Open,
        reason: None,
        labels: Vec::new(),
        assignees: Vec::new(),
        lock: None,
        created_at: call.now,
        updated_at: call.now,
        closed: None,
        comments: Vec::new(),
        events: Vec::new(),
        reactions: Vec::new(),
        history: History::default(),
        blocked_by: Vec::new(),
        linked: Vec::new(),
        children: Vec::new(),
        pull: None,
    }
}

/// Notes on each issue that this one or its newest comment mentions that it did; once for each pair.
pub(super) fn cross_reference(call: &Call, repo: &mut Repository, actor: &Login, source: u64) {
    let Some(issue) = repo.issues.get(&source) else { return };
    let comment = issue.comments.last().map_or("", |comment| comment.body.as_str());
    let text = format!("{}\n{comment}", issue.body.as_deref().unwrap_or_default());
    for number in mentions(&text).into_iter().filter(|number| *number != source) {
        let Some(issue) = repo.issues.get_mut(&number) else { continue };
        let known = |kind: &EventKind| matches!(kind, EventKind::CrossReferenced { source: s } if *s == source);
        if !issue.events.iter().any(|event| known(&event.kind)) {
            issue.record(call.forge.next_id(), actor, call.now, EventKind::CrossReferenced { source });
        }
    }
}
