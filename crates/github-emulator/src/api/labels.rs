//! A repository's labels; their names are unique without regard to case.

use super::super::{
    call::{Answer, Call, Reply},
    fields::Fields,
    page::paged,
    refusal::Refusal,
    route::{Route, delete, get, patch, post},
    state::{Label, Repository},
    users::Role,
    wire,
};

/// <https://docs.github.com/rest/issues/labels>
const NAME_MAX: usize = 50;
const DESCRIPTION_MAX: usize = 100;
/// The colour of a label that is created by adding it to an issue.
const DEFAULT_COLOR: &str = "ededed";

pub(super) const ROUTES: &[Route] = &[
    get("/repos/{owner}/{repo}/labels", list),
    post("/repos/{owner}/{repo}/labels", create).body(&["name", "color", "description"]),
    get("/repos/{owner}/{repo}/labels/{name}", show),
    patch("/repos/{owner}/{repo}/labels/{name}", update).body(&["new_name", "name", "color", "description"]),
    delete("/repos/{owner}/{repo}/labels/{name}", remove),
];

fn list(call: &Call) -> Answer {
    let state = call.state();
    let repo = call.repository(&state, Role::Read)?;
    let view = call.view(&state)?;
    Ok(paged(call, repo.labels.iter().collect(), |label| wire::label(view, label)))
}

fn show(call: &Call) -> Answer {
    let state = call.state();
    let label = call.repository(&state, Role::Read)?.label(call.part("name")).ok_or_else(Refusal::not_found)?;
    Ok(Reply::ok(wire::label(call.view(&state)?, label)))
}

fn create(call: &Call) -> Answer {
    let fields = call.fields("Label")?;
    let mut state = call.state();
    let id = call.forge.next_id();
    {
        let repo = call.repository_mut(&mut state, Role::Write)?;
        let name = checked_name(&fields.required("name")?)?;
        if repo.label(&name).is_some() {
            return Err(Refusal::exists("Label", "name"));
        }
        let color = color(&fields)?.unwrap_or_else(|| DEFAULT_COLOR.to_owned());
        repo.labels.push(Label { id, name, color, description: description(&fields)? });
    }
    let view = call.view(&state)?;
    Ok(Reply::created(view.repo.label_by_id(id).map(|label| wire::label(view, label)).into()))
}

fn update(call: &Call) -> Answer {
    let fields = call.fields("Label")?;
    let mut state = call.state();
    let id = {
        let repo = call.repository_mut(&mut state, Role::Write)?;
        let id = repo.label(call.part("name")).ok_or_else(Refusal::not_found)?.id;
        let name = fields.text("new_name")?.or(fields.text("name")?).map(|name| checked_name(&name)).transpose()?;
        if name.as_ref().and_then(|name| repo.label(name)).is_some_and(|other| other.id != id) {
            return Err(Refusal::exists("Label", "name"));
        }
        let (color, description) = (color(&fields)?, description(&fields)?);
        for label in repo.labels.iter_mut().filter(|label| label.id == id) {
            label.name = name.clone().unwrap_or_else(|| label.name.clone());
            label.color = color.clone().unwrap_or_else(|| label.color.clone());
            if fields.has("description") {
                label.description.clone_from(&description);
            }
        }
        id
    };
    let view = call.view(&state)?;
    Ok(Reply::ok(view.repo.label_by_id(id).map(|label| wire::label(view, label)).into()))
}

fn remove(call: &Call) -> Answer {
    let mut state = call.state();
    let repo = call.repository_mut(&mut state, Role::Write)?;
    let id = repo.label(call.part("name")).ok_or_else(Refusal::not_found)?.id;
    repo.labels.retain(|label| label.id != id);
    repo.issues.edit(|issue| issue.labels.contains(&id), |issue| issue.labels.retain(|label| *label != id));
    Ok(Reply::empty())
}

/// The ids of the labels of these names; names that are new become labels, as on GitHub.
pub(super) fn ids_of(call: &Call, repo: &mut Repository, names: &[String]) -> Result<Vec<u64>, Refusal> {
    let mut ids = Vec::new();
    let names = names.iter().map(|name| checked_name(name)).collect::<Result<Vec<_>, _>>()?;
    for name in names {
        let known = repo.label(&name).map(|label| label.id);
        let id = known.unwrap_or_else(|| {
            let id = call.forge.next_id();
            repo.labels.push(Label { id, name, color: DEFAULT_COLOR.to_owned(), description: None });
            id
        });
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

fn checked_name(name: &str) -> Result<String, Refusal> {
    let name = name.trim();
    match name.chars().count() {
        0 => Err(Refusal::missing("Label", "name")),
        1..=NAME_MAX => Ok(name.to_owned()),
        _ => Err(Refusal::custom("Label", "name", format!("name is too long (maximum is {NAME_MAX} characters)"))),
    }
}

fn description(fields: &Fields) -> Result<Option<String>, Refusal> {
    fields.limited("description", DESCRIPTION_MAX)
}

fn color(fields: &Fields) -> Result<Option<String>, Refusal> {
    let color = fields.text("color")?;
    let plain = |color: &String| color.len() == 6 && color.chars().all(|c| c.is_ascii_hexdigit());
    if color.as_ref().is_some_and(|color| !plain(color)) {
        return Err(fields.invalid("color"));
    }
    Ok(color)
}
