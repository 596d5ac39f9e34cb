//! The annotations of a check run, about lines of files: sent with its `output`, and listed.

use serde_json::Value;

use super::super::{
    call::{Answer, Call},
    job::Annotation,
    page::paged,
    refusal::Refusal,
    route::{Route, get},
    users::Role,
    wire,
};

/// The most annotations in one request. <https://docs.github.com/rest/checks/runs>
const AT_ONCE_MAX: usize = 50;

pub(super) const ROUTES: &[Route] = &[get("/repos/{owner}/{repo}/check-runs/{id}/annotations", list)];

fn list(call: &Call) -> Answer {
    let (state, id) = (call.state(), call.number("id")?);
    let repo = call.repository(&state, Role::Read)?;
    let run = repo.checks.get(&id).ok_or_else(Refusal::not_found)?;
    let view = call.view(&state)?;
    Ok(paged(call, run.annotations.iter().collect(), |annotation| wire::annotation(view, run, annotation)))
}

/// Reads the annotations of a check run's `output`.
///
/// # Errors
/// 422 if there are too many, or one is invalid.
pub(super) fn read(sent: Option<&Value>) -> Result<Vec<Annotation>, Refusal> {
    let list = match sent {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(list)) if list.len() <= AT_ONCE_MAX => list,
        Some(_) => return Err(invalid("annotations")),
    };
    let read = list.iter().map(|sent| serde_json::from_value(sent.clone())).collect::<Result<Vec<Annotation>, _>>();
    let read = read.map_err(|error| Refusal::custom("CheckRun", "annotations", error.to_string()))?;
    match read.iter().find_map(Annotation::wrong_field) {
        Some(field) => Err(invalid(field)),
        None => Ok(read),
    }
}

fn invalid(field: &str) -> Refusal {
    Refusal::invalid("CheckRun", field)
}
