//! A branch and its pull request, and the refusals of both.

use http::Method;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{
    issues::text,
    reads::{Base, Token},
    refs::is_too_young,
    report::Outcome,
    run::Run,
    seen::{NoAnswer, Seen, Waited, is_unknown},
};
use crate::repository::encoded;

/// Creates the branch at the base branch's tip, requests a pull request without commits, moves the branch to `commit`,
/// and opens the pull request; returns its number.
pub(super) async fn pull(run: &mut Run<'_>, base: &Base, commit: &str) -> Option<u64> {
    let name = run.name.clone();
    let of_branch = format!("heads/{name}");
    let body = json!({ "ref": format!("refs/{of_branch}"), "sha": base.commit });
    run.made.refs.push(of_branch.clone());
    let branch = run.write(Method::POST, "/git/refs", body).await;
    if !branch.as_ref().is_ok_and(Seen::is_success) {
        let why = branch.map_or_else(|why| why.to_string(), |seen| seen.says());
        run.note("pull.open", Outcome::NotTried(format!("the branch could not be made: {why}")));
        return None;
    }
    // A branch that is not visible yet is refused with other words.
    let shown = run.until(&format!("/git/ref/{of_branch}"), Instant::now(), Seen::is_success).await;
    shown.map_err(|why| run.note("pull.empty", Outcome::NotTried(why.to_string()))).ok();
    let mut body = json!({ "head": name, "base": base.branch, "title": format!("{name}: a test"), "body": text(&name, ""), "draft": true });
    let none = ask_for(run, &mut body, |_seen| false).await.map(|waited| waited.seen);
    if let Some(opened) = run.judge("pull.empty", none, |seen| seen.is_refusal(422, "No commits between")) {
        run.made.pulls.extend(opened.number("/number"));
    }
    let to = json!({ "sha": commit, "force": false });
    let path = format!("/git/refs/{of_branch}");
    let moved = run.write_until(Method::PATCH, &path, &to, is_too_young).await;
    if !moved.as_ref().is_ok_and(|moved| moved.seen.is_success()) {
        let why = moved.map_or_else(|why| why.to_string(), |moved| moved.seen.says());
        run.note("pull.open", Outcome::NotTried(format!("the branch could not be moved: {why}")));
        return None;
    }
    open(run, body).await
}

/// Requests a pull request until the answer is no longer about a head that is too new; without a draft if the
/// repository has none (SWE-agent/SWE-agent#179).
async fn ask_for(run: &mut Run<'_>, body: &mut Value, is_too_new: impl Fn(&Seen) -> bool) -> Result<Waited, NoAnswer> {
    let mut asked = run.write_until(Method::POST, "/pulls", body, &is_too_new).await;
    if asked.as_ref().is_ok_and(|waited| waited.seen.refuses(422, "Draft pull requests are not supported")) {
        body["draft"] = json!(false);
        asked = run.write_until(Method::POST, "/pulls", body, &is_too_new).await;
    }
    run.made.unknown |= !asked.as_ref().is_ok_and(|waited| waited.seen.status < 500);
    asked
}

/// `fresh.push`, `fresh.pull`, `pull.open` and `pull.edit`.
async fn open(run: &mut Run<'_>, mut body: Value) -> Option<u64> {
    let is_too_new = |seen: &Seen| seen.refuses(422, "No commits between") || seen.refuses(422, "head invalid");
    let opened = ask_for(run, &mut body, is_too_new).await;
    let opened = opened.map_err(|why| run.note("pull.open", Outcome::NotTried(why.to_string()))).ok()?;
    let Some(number) = opened.seen.number("/number").filter(|_| opened.seen.is_success()) else {
        run.note("pull.open", Outcome::Differs(opened.seen.says()));
        return None;
    };
    let since = Instant::now();
    run.made.pulls.push(number);
    run.note("fresh.push", opened.is_at_once());
    let read = run.until(&format!("/pulls/{number}"), since, Seen::is_success).await;
    run.judge_wait("fresh.pull", read);
    let second = run.write(Method::POST, "/pulls", body).await;
    run.made.unknown |= is_unknown(&second);
    if let Some(opened) =
        run.judge("pull.open", second, |seen| seen.is_refusal(422, "A pull request already exists for"))
    {
        run.made.pulls.extend(opened.number("/number"));
    }
    let (name, path) = (run.name.clone(), format!("/pulls/{number}"));
    let edit = json!({ "title": format!("{name}: a test, edited"), "body": text(&name, "Edited once.") });
    let edited = run.write(Method::PATCH, &path, edit).await;
    run.judge("pull.edit", edited, Seen::succeeds);
    Some(number)
}

/// `issue.creator` or `issue.by_app`: whether what the account opened is found by its name.
pub(super) async fn by_creator(run: &mut Run<'_>, opened: &[u64], login: &str, token: Token) {
    let (id, other) = match token.is_an_apps() {
        true => ("issue.by_app", ("issue.creator", "the token is not a user's")),
        false => ("issue.creator", ("issue.by_app", "the token is not an App's")),
    };
    run.note(other.0, Outcome::NotTried(other.1.to_owned()));
    let login = encoded(login);
    let path = format!("/issues?creator={login}&state=open&per_page=100&sort=created&direction=desc");
    let lists = |seen: &Seen, number: u64| {
        seen.body.as_array().is_some_and(|all| all.iter().any(|one| one["number"].as_u64() == Some(number)))
    };
    let found = run.until(&path, Instant::now(), |seen| opened.iter().all(|number| lists(seen, *number))).await;
    run.judge_wait(id, found);
}
