//! Commits and refs: the answers to invalid creations and moves, and how soon new objects can be read.

use http::Method;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{
    super::client::REF_SPACE,
    reads::{Base, Token},
    report::Outcome,
    run::Run,
    seen::{NoAnswer, Seen},
};

/// An object that does not exist in any repository.
const NOWHERE: &str = "0123456789012345678901234567890123456789";

/// Whether an answer may only mean that a commit or ref is too young to be seen.
pub(super) fn is_too_young(seen: &Seen) -> bool {
    seen.status == 404 || seen.refuses(422, "Object does not exist") || seen.refuses(422, "Reference does not exist")
}

/// `live.tree`, `commit.create` and `commit.signed`: a commit with one new file above the base branch.
pub(super) async fn commit(run: &mut Run<'_>, base: &Base, token: Token) -> Option<String> {
    let (name, content) = (run.name.clone(), "Made by `hob doctor --live`.\n");
    let file = json!({ "path": format!("{name}.txt"), "mode": "100644", "type": "blob", "content": content });
    let body = json!({ "base_tree": base.tree, "tree": [file] });
    let asked = run.write(Method::POST, "/git/trees", body).await;
    let tree = run.judge("live.tree", asked, Seen::succeeds)?;
    let asked = above(run, tree.text("/sha"), &base.commit).await;
    let made = run.judge("commit.create", asked, Seen::succeeds)?;
    let signed = &made.body["verification"];
    let outcome = match (token == Token::App, signed["verified"].as_bool()) {
        (false, _) => Outcome::NotTried("the token is not an App's".to_owned()),
        (true, Some(true)) => Outcome::Ok(None),
        (true, _) => Outcome::Differs(format!("`reason` is {}", signed["reason"])),
    };
    run.note("commit.signed", outcome);
    Some(made.text("/sha").to_owned())
}

/// Creates a commit. No workflow starts for it:
/// <https://docs.github.com/actions/how-tos/manage-workflow-runs/skip-workflow-runs>.
async fn above(run: &mut Run<'_>, tree: &str, parent: &str) -> Result<Seen, NoAnswer> {
    let message = format!("{}: A test of Hob [skip ci]", run.name);
    run.write(Method::POST, "/git/commits", json!({ "message": message, "tree": tree, "parents": [parent] })).await
}

/// All checks of a ref below the ledger's prefix, at `commit`.
pub(super) async fn ledger(run: &mut Run<'_>, base: &Base, commit: &str) {
    let name = format!("{REF_SPACE}{}", run.name);
    let body = json!({ "ref": format!("refs/{name}"), "sha": commit });
    run.made.refs.push(name.clone());
    let made = run.write_until(Method::POST, "/git/refs", &body, is_too_young).await;
    let Some(made) = made.map_err(|why| run.note("ref.space", Outcome::NotTried(why.to_string()))).ok() else { return };
    run.note("ref.space", made.seen.succeeds());
    if !made.seen.is_success() {
        return;
    }
    run.note("fresh.target", made.is_at_once());
    let read = run.until(&format!("/git/ref/{name}"), Instant::now(), Seen::is_success).await;
    run.judge_wait("fresh.ref", read);
    let again = run.write(Method::POST, "/git/refs", body).await;
    run.judge("ref.exists", again, |seen| seen.is_refusal(422, "Reference already exists"));
    moves(run, base, &name, commit).await;
    gone(run, &name).await;
}

/// `fresh.commit`, `ref.move`, `ref.not_forwards` and `ref.no_object`: the ref `name` is at `from`.
async fn moves(run: &mut Run<'_>, base: &Base, name: &str, from: &str) {
    let path = format!("/git/refs/{name}");
    let to = |commit: &str| json!({ "sha": commit, "force": false });
    if let Ok(next) = above(run, &base.tree, from).await {
        let (since, commit) = (Instant::now(), next.text("/sha").to_owned());
        let read = run.until(&format!("/git/commits/{commit}"), since, Seen::is_success).await;
        run.judge_wait("fresh.commit", read);
        let moved = run.write_until(Method::PATCH, &path, &to(&commit), is_too_young).await;
        run.judge("ref.move", moved.map(|waited| waited.seen), Seen::succeeds);
    }
    let back = run.write(Method::PATCH, &path, to(&base.commit)).await;
    run.judge("ref.not_forwards", back, |seen| seen.is_refusal(422, "Update is not a fast forward"));
    let nowhere = run.write(Method::PATCH, &path, to(NOWHERE)).await;
    run.judge("ref.no_object", nowhere, |seen| seen.is_refusal(422, "Object does not exist"));
}

/// `ref.delete`: the ref is deleted, and a second deletion is refused.
async fn gone(run: &mut Run<'_>, name: &str) {
    let path = format!("/git/refs/{name}");
    let deleted = match run.write(Method::DELETE, &path, Value::Null).await {
        Ok(seen) if seen.is_success() => run.write(Method::DELETE, &path, Value::Null).await,
        other => return drop(run.judge("ref.delete", other, Seen::succeeds)),
    };
    run.made.refs.retain(|made| made != name);
    run.judge("ref.delete", deleted, |seen| seen.is_refusal(422, "Reference does not exist"));
}
