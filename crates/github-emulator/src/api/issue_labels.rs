//! The labels of one issue.

use serde_json::Value;

use super::{
    super::{
        call::{Answer, Call, Reply},
        fields::Fields,
        page::paged,
        refusal::Refusal,
        route::{Route, delete, get, post, put},
        state::{EventKind, Repository},
        users::Role,
        wire,
    },
    labels::ids_of,
};

pub(super) const ROUTES: &[Route] = &[
    get("/repos/{owner}/{repo}/issues/{number}/labels", list),
    post("/repos/{owner}/{repo}/issues/{number}/labels", add).body(&["labels"]),
    put("/repos/{owner}/{repo}/issues/{number}/labels", set).body(&["labels"]),
    delete("/repos/{owner}/{repo}/issues/{number}/labels", remove_all),
    delete("/repos/{owner}/{repo}/issues/{number}/labels/{name}", remove),
];

fn list(call: &Call) -> Answer {
    let state = call.state();
    let repo = call.repository(&state, Role::Read)?;
    let issue = call.issue(repo)?;
    let view = call.view(&state)?;
    let labels = issue.labels.iter().filter_map(|id| repo.label_by_id(*id)).collect();
    Ok(paged(call, labels, |label| wire::label(view, label)))
}

fn add(call: &Call) -> Answer {
    let names = names(call)?.ok_or_else(|| Refusal::missing("Label", "labels"))?;
    change(call, |repo, _| {
        let ids = ids_of(call, repo, &names)?;
        let mut wanted = call.issue(repo)?.labels.clone();
        wanted.extend(ids.into_iter().filter(|id| !wanted.contains(id)).collect::<Vec<_>>());
        Ok(wanted)
    })
}

fn set(call: &Call) -> Answer {
    let names = names(call)?.unwrap_or_default();
    change(call, |repo, _| ids_of(call, repo, &names))
}

fn remove_all(call: &Call) -> Answer {
    change(call, |_, _| Ok(Vec::new()))?;
    Ok(Reply::empty())
}

fn remove(call: &Call) -> Answer {
    change(call, |repo, number| {
        let label = repo.label(call.part("name")).map(|label| label.id);
        let has = repo.issues.get(&number).map(|issue| issue.labels.clone()).unwrap_or_default();
        let absent = || Refusal::new(http::StatusCode::NOT_FOUND, "Label does not exist");
        let id = label.filter(|id| has.contains(id)).ok_or_else(absent)?;
        Ok(has.into_iter().filter(|other| *other != id).collect())
    })
}

/// Gives the issue in the path the labels that `wanted` finds, and answers them.
fn change(call: &Call, wanted: impl FnOnce(&mut Repository, u64) -> Result<Vec<u64>, Refusal>) -> Answer {
    let mut state = call.state();
    let number = call.number("number")?;
    {
        let repo = call.repository_mut(&mut state, Role::Triage)?;
        call.issue(repo)?;
        let ids = wanted(repo, number)?;
        put_labels(call, repo, number, &ids)?;
    }
    let view = call.view(&state)?;
    Ok(Reply::ok(wire::labels(view, &call.issue(view.repo)?.labels)))
}

/// Makes the labels of an issue exactly these, with an event for each that is added or removed.
pub(super) fn put_labels(call: &Call, repo: &mut Repository, number: u64, ids: &[u64]) -> Result<(), Refusal> {
    let had = repo.issues.get(&number).map(|issue| issue.labels.clone()).unwrap_or_default();
    let gone = had.iter().filter(|id| !ids.contains(id)).map(|id| (*id, false));
    let come = ids.iter().filter(|id| !had.contains(id)).map(|id| (*id, true));
    let mut events = Vec::new();
    for (id, added) in gone.chain(come) {
        if let Some(label) = repo.label_by_id(id) {
            let (name, color) = (label.name.clone(), label.color.clone());
            events.push(if added { EventKind::Labeled { name, color } } else { EventKind::Unlabeled { name, color } });
        }
    }
    let actor = call.actor()?;
    if let Some(issue) = repo.issues.get_mut(&number) {
        issue.labels = ids.to_vec();
        for event in events {
            issue.record(call.forge.next_id(), actor, call.now, event);
        }
    }
    Ok(())
}

/// The names sent: an object with `labels`, or a bare list, as GitHub takes both.
fn names(call: &Call) -> Result<Option<Vec<String>>, Refusal> {
    if let Ok(list @ Value::Array(_)) = serde_json::from_slice::<Value>(&call.body) {
        let wrapped = serde_json::json!({"labels": list}).to_string();
        return Fields::parse("Label", wrapped.as_bytes())?.texts("labels");
    }
    call.fields("Label")?.texts("labels")
}
