//! What only GraphQL shows: edits, the roll-up of checks, and its answer to a field that its schema lacks.

use std::time::Duration;

use http::Method;
use serde_json::{Value, json};

use super::{report::Outcome, run::Run, seen::NoAnswer};
use crate::{
    call::Call,
    live_permitted::{ASK_COMMENT, ASK_EDITS, ASK_ROLLUP, ASK_UNKNOWN},
    permitted::GRAPHQL,
    purpose::Purpose,
};

/// Tries of a query.
const TRIES: u32 = 3;
/// The pause before the next try.
const PAUSE: Duration = Duration::from_secs(1);

/// Sends a query; returns the whole answer, including errors.
async fn ask(run: &mut Run<'_>, query: &str, variables: Value) -> Result<Value, NoAnswer> {
    let body = json!({ "query": query, "variables": variables });
    let (mut tried, mut why) = (0, String::new());
    run.queries += 1;
    while tried < TRIES && !run.is_stopped() {
        if tried > 0 {
            run.pause(PAUSE).await;
        }
        tried += 1;
        let purpose = Purpose::without_permission("ask GraphQL");
        let seen = run.once(Call::write(&Method::POST, GRAPHQL, &body, purpose)).await?;
        let first = &seen.body["errors"][0];
        let says = first["message"].as_str().unwrap_or_default();
        let is_failure = seen.body["data"].is_null()
            && (says.starts_with("Something went wrong") || first["type"] == "RATE_LIMITED");
        if seen.status == 200 && !is_failure {
            return Ok(seen.body);
        }
        why = if is_failure { format!("{} \"{says}\"", seen.status) } else { seen.says() };
        run.unanswered.push(why.clone());
    }
    Err(NoAnswer::GraphQl(why))
}

/// `graphql.answers`: whether each query was answered at the first try.
pub(super) fn judge_answers(run: &mut Run<'_>) {
    let outcome = match (run.queries, run.unanswered.first()) {
        (0, _) => return,
        (_, None) => Outcome::Ok(None),
        (queries, Some(first)) => {
            let failed = run.unanswered.len();
            Outcome::Differs(format!("{failed} tries of {queries} queries failed; the first: {first}"))
        }
    };
    run.note("graphql.answers", outcome);
}

/// `graphql.field`: the answer about a field that the schema lacks.
pub(super) async fn unknown_field(run: &mut Run<'_>) {
    let outcome = match ask(run, ASK_UNKNOWN, json!({})).await {
        Ok(answer) => {
            let says = answer["errors"][0]["message"].as_str().unwrap_or("no error").to_owned();
            let is_known = says.contains("doesn't exist on type") && answer["data"].is_null();
            if is_known { Outcome::ok(says) } else { Outcome::Differs(says) }
        }
        Err(why) => Outcome::NotTried(why.to_string()),
    };
    run.note("graphql.field", outcome);
}

/// When a comment was last edited, by `lastEditedAt`; `None` if it never was.
pub(super) async fn last_edited(run: &mut Run<'_>, comment: &str) -> Result<Option<String>, NoAnswer> {
    let answer = ask(run, ASK_COMMENT, json!({ "id": comment })).await?;
    let node = &answer["data"]["node"];
    if node.is_null() {
        return Err(NoAnswer::NoComment);
    }
    Ok(node["lastEditedAt"].as_str().map(str::to_owned))
}

/// `graphql.editors` and `graphql.texts`: the answer about an issue whose body was edited to `text` by `login`.
pub(super) async fn edits(run: &mut Run<'_>, issue: &str, text: &str, login: &str) {
    let answer = match ask(run, ASK_EDITS, json!({ "id": issue })).await {
        Ok(answer) => answer,
        Err(why) => {
            run.note("graphql.editors", Outcome::NotTried(why.to_string()));
            return run.note("graphql.texts", Outcome::NotTried(why.to_string()));
        }
    };
    let edits = &answer["data"]["node"]["userContentEdits"];
    let Some(nodes) = edits["nodes"].as_array() else {
        run.note("graphql.editors", Outcome::Differs("`userContentEdits` of an edited issue is null".to_owned()));
        return;
    };
    // A program's login lacks the ending that the REST API gives it.
    let is_ours =
        |node: &Value| node["editor"]["login"].as_str().is_some_and(|editor| editor == login.trim_end_matches("[bot]"));
    let count = nodes.len();
    let outcome = match (nodes.iter().any(is_ours), nodes.iter().any(Value::is_null)) {
        (true, false) => Outcome::ok(format!("{count} after one edit")),
        (false, false) => Outcome::Differs(format!("{count} after one edit, none by who edited")),
        (_, true) => Outcome::Differs(format!("{count} after one edit, some of them null")),
    };
    run.note("graphql.editors", outcome);
    let newest = nodes.iter().max_by_key(|node| node["editedAt"].as_str());
    let outcome = match newest.and_then(|node| node["diff"].as_str()) {
        Some(diff) if diff == text => Outcome::Ok(None),
        Some(_) => Outcome::Differs("`diff` of the newest edit is not the whole text".to_owned()),
        None => Outcome::Differs("`diff` of the newest edit is null".to_owned()),
    };
    run.note("graphql.texts", outcome);
}

/// `check.same`: whether the roll-up of a commit shows as much as the REST API, which showed `runs`. `None` if that was
/// forbidden.
pub(super) async fn rollup(run: &mut Run<'_>, commit: &str, runs: Option<u64>) {
    let repo = run.forge().repo();
    let variables = json!({ "owner": repo.owner(), "name": repo.name(), "oid": commit });
    let outcome = match ask(run, ASK_ROLLUP, variables).await {
        Ok(answer) => compared(&answer, runs),
        Err(why) => Outcome::NotTried(why.to_string()),
    };
    run.note("check.same", outcome);
}

fn compared(answer: &Value, runs: Option<u64>) -> Outcome {
    let errors = answer["errors"].as_array().map_or(&[][..], Vec::as_slice);
    let is_of_it = |part: &Value| part == "statusCheckRollup";
    let of_path = |error: &&Value| error["path"].as_array().is_some_and(|path| path.iter().any(is_of_it));
    let hidden = errors.iter().find(of_path).map(|error| error["type"].as_str().unwrap_or("an error").to_owned());
    let nodes = answer["data"]["repository"]["object"]["statusCheckRollup"]["contexts"]["nodes"].as_array();
    let shown = nodes.map_or(0, |nodes| nodes.iter().filter(|node| node["__typename"] == "CheckRun").count());
    match (runs, hidden) {
        (None, Some(_)) => Outcome::ok("hidden in both"),
        (None, None) if shown == 0 => Outcome::NotTried("neither shows a check run of the base branch".to_owned()),
        (None, None) => Outcome::Differs(format!("forbidden by REST, and GraphQL shows {shown}")),
        (Some(0), _) => Outcome::NotTried("the tip of the base branch has no check run".to_owned()),
        (Some(runs), Some(kind)) => Outcome::Differs(format!("REST shows {runs}, GraphQL says {kind}")),
        (Some(runs), None) if shown == 0 => {
            Outcome::Differs(format!("REST shows {runs}, GraphQL none, without an error"))
        }
        (Some(_), None) => Outcome::Ok(None),
    }
}
