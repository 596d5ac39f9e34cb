//! Closes and deletes what a run created, also after a failure or a request to stop.

use http::Method;
use serde_json::{Value, json};

use super::{
    issues::text,
    run::{Phase, Run},
    seen::{NoAnswer, Seen},
};

/// Tries of each write.
const TRIES: u32 = 3;

/// What could not be closed or deleted, and why.
pub(super) async fn clean(run: &mut Run<'_>) -> Vec<String> {
    run.phase = Phase::Cleaning;
    let mut left = Vec::new();
    if run.made.unknown
        && let Err(why) = find_unknown(run).await
    {
        left.push(format!("an issue or pull request may be open: {why}"));
    }
    let closed = json!({ "state": "closed", "body": text(&run.name, "This was a test, and it has ended.") });
    for (kind, of_kind, numbers) in [
        ("pulls", "the pull request", std::mem::take(&mut run.made.pulls)),
        ("issues", "the issue", std::mem::take(&mut run.made.issues)),
    ] {
        for number in numbers {
            let path = format!("/{kind}/{number}");
            left.extend(end(run, Method::PATCH, &path, &closed, &format!("{of_kind} {number}")).await);
        }
    }
    for name in std::mem::take(&mut run.made.refs) {
        let what = format!("the ref `refs/{name}`");
        left.extend(end(run, Method::DELETE, &format!("/git/refs/{name}"), &Value::Null, &what).await);
    }
    if run.made.label {
        let (path, what) = (format!("/labels/{}", run.name), format!("the label `{}`", run.name));
        left.extend(end(run, Method::DELETE, &path, &Value::Null, &what).await);
    }
    left
}

/// Closes or deletes one object. `None` if it is done, or if the object did not exist.
async fn end(run: &mut Run<'_>, method: Method, path: &str, body: &Value, what: &str) -> Option<String> {
    let is_gone = |seen: &Seen| seen.status == 404 || seen.refuses(422, "Reference does not exist");
    let mut why = String::new();
    for _ in 0..TRIES {
        match run.write(method.clone(), path, body.clone()).await {
            Ok(seen) if seen.is_success() || is_gone(&seen) => return None,
            Ok(seen) => why = seen.says(),
            Err(failed) => why = failed.to_string(),
        }
    }
    Some(format!("{what}: {why}"))
}

/// Finds objects that were opened by a write whose answer did not come.
async fn find_unknown(run: &mut Run<'_>) -> Result<(), NoAnswer> {
    let seen = run.get("/issues?state=open&per_page=100&sort=created&direction=desc").await?;
    let all = seen.body.as_array().ok_or_else(|| NoAnswer::Unexpected(seen.says()))?;
    for one in all.iter().filter(|one| one["title"].as_str().is_some_and(|title| title.starts_with(&run.name))) {
        let Some(number) = one["number"].as_u64() else { continue };
        let numbers = if one["pull_request"].is_object() { &mut run.made.pulls } else { &mut run.made.issues };
        if !numbers.contains(&number) {
            numbers.push(number);
        }
    }
    Ok(())
}
