//! An issue with a label and a comment, and their edits.

use std::time::Duration;

use http::Method;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{
    graphql,
    report::Outcome,
    run::Run,
    seen::{Seen, is_unknown},
};

/// After this time, comments were seen with an `updated_at` that no edit explains: a little over a second.
const TOUCHED_AFTER: Duration = Duration::from_millis(2_500);

/// The explanation for people in everything that is created.
pub(super) fn text(name: &str, more: &str) -> String {
    format!("{name} was made by `hob doctor --live`, which closes it again. It asks for nothing. {more}")
        .trim()
        .to_owned()
}

/// Opens the issue and tests it; returns its number and the login that opened it.
pub(super) async fn issue(run: &mut Run<'_>) -> Option<(u64, String)> {
    let name = run.name.clone();
    let body = json!({ "title": format!("{name}: a test"), "body": text(&name, "") });
    let asked = run.write(Method::POST, "/issues", body).await;
    run.made.unknown |= is_unknown(&asked);
    let opened = run.judge("issue.open", asked, Seen::succeeds)?;
    let (since, number, login) = (Instant::now(), opened.number("/number")?, opened.text("/user/login").to_owned());
    run.made.issues.push(number);
    run.names.add(&login, "LOGIN");
    run.names.add(login.trim_end_matches("[bot]"), "LOGIN");
    let read = run.until(&format!("/issues/{number}"), since, Seen::is_success).await;
    run.judge_wait("fresh.issue", read);
    label(run, number).await;
    comment(run, number).await;
    let edited = text(&name, "Edited once.");
    let asked = run.write(Method::PATCH, &format!("/issues/{number}"), json!({ "body": edited })).await;
    if run.judge("issue.edit", asked, Seen::succeeds).is_some() {
        graphql::edits(run, opened.text("/node_id"), &edited, &login).await;
    }
    Some((number, login))
}

/// `label.create`, `label.put`, `fresh.event` and `label.take`.
async fn label(run: &mut Run<'_>, issue: u64) {
    let name = run.name.clone();
    let body = json!({ "name": name, "color": "ededed", "description": "A test of Hob" });
    run.made.label = true;
    let made = match run.write(Method::POST, "/labels", body.clone()).await {
        Ok(made) if made.is_success() => run.write(Method::POST, "/labels", body).await,
        other => return drop(run.judge("label.create", other, Seen::succeeds)),
    };
    run.judge("label.create", made, |seen| seen.is_refusal(422, "already_exists"));
    let path = format!("/issues/{issue}/labels");
    let asked = run.write(Method::POST, &path, json!({ "labels": [name] })).await;
    if run.judge("label.put", asked, Seen::succeeds).is_none() {
        return;
    }
    let is_it = |event: &Value| event["event"] == "labeled" && event["label"]["name"] == name.as_str();
    let shows = |seen: &Seen| seen.body.as_array().is_some_and(|events| events.iter().any(is_it));
    let events = run.until(&format!("/issues/{issue}/events?per_page=100"), Instant::now(), shows).await;
    run.judge_wait("fresh.event", events);
    let path = format!("{path}/{name}");
    let taken = match run.write(Method::DELETE, &path, Value::Null).await {
        Ok(taken) if taken.is_success() => run.write(Method::DELETE, &path, Value::Null).await,
        other => return drop(run.judge("label.take", other, Seen::succeeds)),
    };
    run.judge("label.take", taken, |seen| seen.is_refusal(404, "Label does not exist"));
}

/// `comment.create`, `fresh.comment`, `comment.times`, `comment.edit` and `comment.edited`.
async fn comment(run: &mut Run<'_>, issue: u64) {
    let (name, path) = (run.name.clone(), format!("/issues/{issue}/comments"));
    let asked = run.write(Method::POST, &path, json!({ "body": text(&name, "") })).await;
    let Some(made) = run.judge("comment.create", asked, Seen::succeeds) else { return };
    let (since, node) = (Instant::now(), made.text("/node_id").to_owned());
    let Some(id) = made.number("/id") else { return };
    let find = |seen: &Seen| seen.body.as_array()?.iter().find(|one| one["id"].as_u64() == Some(id)).cloned();
    let listed = format!("{path}?per_page=100");
    let read = run.until(&listed, since, |seen| find(seen).is_some()).await;
    run.judge_wait("fresh.comment", read);
    let before = graphql::last_edited(run, &node).await;
    run.pause(TOUCHED_AFTER.saturating_sub(since.elapsed())).await;
    let later = run.get(&listed).await;
    run.judge("comment.times", later, |seen| match find(seen) {
        Some(one) if one["updated_at"] == one["created_at"] => Outcome::Ok(None),
        Some(one) => {
            let apart = format!("created {}, updated {}", one["created_at"], one["updated_at"]);
            Outcome::Differs(format!("it was not edited, and it is {apart}"))
        }
        None => Outcome::NotTried("the comment is not listed".to_owned()),
    });
    let path = format!("/issues/comments/{id}");
    let asked = run.write(Method::PATCH, &path, json!({ "body": text(&name, "Edited once.") })).await;
    if run.judge("comment.edit", asked, Seen::succeeds).is_none() {
        return;
    }
    let outcome = match (before, graphql::last_edited(run, &node).await) {
        (Ok(None), Ok(Some(_))) => Outcome::Ok(None),
        (Ok(Some(_)), Ok(_)) => Outcome::Differs("`lastEditedAt` is set before any edit".to_owned()),
        (Ok(None), Ok(None)) => Outcome::Differs("`lastEditedAt` is null just after an edit".to_owned()),
        (Err(why), _) | (_, Err(why)) => Outcome::NotTried(why.to_string()),
    };
    run.note("comment.edited", outcome);
}
