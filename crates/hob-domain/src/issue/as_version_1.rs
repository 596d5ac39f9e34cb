//! What version 1 of the record would have written for a record of today, for tests of both versions.
//!
//! It works on the JSON. Version 1 did not write since when an issue is in a state that nobody is notified of, and had one
//! word for several block reasons.

use chrono::{DateTime, Utc};
use serde_json::{Map, Value, json};

/// The states of which people are notified, and of which version 1 wrote when they began.
const NOTIFIED: [&str; 3] = ["blocked", "in-review", "done"];

/// The fields of a record as version 1 had them.
pub(crate) fn as_version_1(mut record: Map<String, Value>) -> Map<String, Value> {
    if record.insert("version".to_owned(), json!(1)) == Some(json!(1)) {
        return record;
    }
    let time = |value: &Value| serde_json::from_value::<DateTime<Utc>>(value.clone()).unwrap();
    let lease = record.remove("lease");
    let seconds = lease.as_ref().map_or(60, |one| (time(&one["until"]) - time(&record["renewed_at"])).num_seconds());
    record.insert("duration_seconds".to_owned(), json!(seconds));
    let holder = lease.map(|one| json!({ "worker": one["worker"], "nonce": one["nonce"] }));
    record.insert("holder".to_owned(), json!(holder));

    let since = record.remove("since").unwrap();
    let told = record.remove("told").unwrap_or(json!([])).as_array().unwrap().clone();
    record.insert("claimed_at".to_owned(), since["at"].clone());
    if NOTIFIED.iter().any(|state| record["state"] == *state) {
        let notified = told.contains(&record["state"]);
        let entered = json!({ "at": since["at"], "generation": since["generation"], "notified": notified });
        record.insert("entered".to_owned(), entered);
    }
    if told.contains(&json!("budget-warning")) {
        record.insert("budget_warned".to_owned(), json!(true));
    }

    spread(&mut record, "attempts", &[("now", "attempt"), ("ever", "attempts_ever")]);
    let review = record.get_mut("review").and_then(Value::as_object_mut);
    let begun = review.and_then(|review| review.remove("begun")).unwrap_or(json!(0));
    record.insert("round".to_owned(), begun);
    // It kept neither why work had stopped nor the comment of a question.
    for (part, name) in [("failure", "stopped"), ("comments", "asked")] {
        if let Some(part) = record.get_mut(part).and_then(Value::as_object_mut) {
            part.remove(name);
        }
    }
    // Nor what people had begun, or a reviewer had found.
    if let Some(work) = record.get_mut("work").and_then(Value::as_object_mut) {
        work.remove("with_people");
        work.remove("findings");
        // Nor who worked, and for how much.
        work.remove("by");
        work.remove("auto");
        work.remove("quote");
    }
    let failure = [("text", "last_failure"), ("until", "retry_after"), ("mark", "stalled"), ("outage", "outage")];
    spread(&mut record, "failure", &failure);
    spread(&mut record, "comments", &[("status", "status_comment"), ("report", "report")]);
    spread(&mut record, "approval", &[("waits", "proposed"), ("given", "approved"), ("plan", "plan")]);
    spread(&mut record, "taught", &[("facts", "learned"), ("remarks", "remarks")]);
    work(&mut record);
    if let Some(control) = record.remove("control") {
        let Value::Object(asked) = control else { panic!("{control}") };
        let of = |name: &str| asked.get(name).cloned().unwrap_or(json!(""));
        let (by, at, reason) = (of("by"), of("at"), of("reason"));
        match asked.contains_key("obeyed") {
            true => record.insert("paused".to_owned(), json!({ "by": by, "since": at, "reason": reason })),
            false => {
                let request = json!({ "control": of("what"), "by": by, "at": at, "reason": reason });
                record.insert("request".to_owned(), request)
            }
        };
    }
    let chain = record.get_mut("chain").and_then(Value::as_object_mut);
    if chain.and_then(|chain| chain.remove("after_report")).is_some() {
        record.insert("handed_on".to_owned(), json!(true));
    }
    if let Some(blocked) = record.get_mut("blocked") {
        let reason = blocked.as_object_mut().unwrap().remove("reason").unwrap();
        blocked["kind"] = json!(match reason.as_str().unwrap() {
            "attempts-used-up" | "attempts-failed" | "service-down" | "attempt-budget" => "limit-reached",
            "issue-budget" => "budget-spent",
            "ledger-lost" => "set-up-needed",
            "round-changed-nothing" => "no-progress",
            same => same,
        });
    }
    record
}

fn work(record: &mut Map<String, Value>) {
    let same = ["base", "branch", "accepted", "checks", "proof", "checklist"].map(|name| (name, name));
    let names: Vec<_> = same.into_iter().chain([("head", "head_sha")]).collect();
    spread(record, "work", &names);
    if let Some(branch) = record.remove("branch") {
        record.insert("branch".to_owned(), branch["name"].clone());
        record.insert("pushed".to_owned(), json!(branch["pushed"] == true));
    }
    // Nor a commit status, or when the pull request was opened and merged.
    if let Some(pull) = record.get_mut("pull").and_then(Value::as_object_mut) {
        pull.retain(|name, _| !["proof", "proving", "prove", "opened_at", "merged_at"].contains(&name.as_str()));
    }
    spread(record, "pull", &[("number", "pull_request"), ("introduced", "introduced"), ("draft", "draft")]);
    let house: Map<String, Value> =
        ["base", "introduced", "draft"].iter().filter_map(|name| record.remove_entry(*name)).collect();
    if !house.is_empty() {
        record.insert("house".to_owned(), json!(house));
    }
}

/// Makes the fields of a part fields of the record, under the names that they had.
fn spread(record: &mut Map<String, Value>, part: &str, names: &[(&str, &str)]) {
    let Some(Value::Object(mut fields)) = record.remove(part) else { return };
    for (now, then) in names {
        if let Some(value) = fields.remove(*now) {
            record.insert((*then).to_owned(), value);
        }
    }
    assert!(fields.is_empty(), "version 1 has no name for {fields:?}");
}
