//! Labels: create, put on, take off.

use serde_json::{Value, json};

use super::{
    super::problem::Problem,
    doing::{Doing, Mutation, Shown, Target},
    issues::texts,
};

pub(super) const DESCRIPTION: &str = r"
extend type Mutation {
    addLabelsToLabelable(input: AddLabelsToLabelableInput!): AddLabelsToLabelablePayload
    clearLabelsFromLabelable(input: ClearLabelsFromLabelableInput!): ClearLabelsFromLabelablePayload
    createLabel(input: CreateLabelInput!): CreateLabelPayload
    removeLabelsFromLabelable(input: RemoveLabelsFromLabelableInput!): RemoveLabelsFromLabelablePayload
}
input AddLabelsToLabelableInput { labelIds: [ID!]! labelableId: ID! }
type AddLabelsToLabelablePayload { labelable: Labelable }
input ClearLabelsFromLabelableInput { labelableId: ID! }
type ClearLabelsFromLabelablePayload { labelable: Labelable }
input CreateLabelInput { color: String! description: String name: String! repositoryId: ID! }
type CreateLabelPayload { label: Label }
input RemoveLabelsFromLabelableInput { labelIds: [ID!]! labelableId: ID! }
type RemoveLabelsFromLabelablePayload { labelable: Labelable }
";

pub(super) const MUTATIONS: &[(&str, Mutation)] = &[
    ("addLabelsToLabelable", add),
    ("clearLabelsFromLabelable", clear),
    ("createLabel", create),
    ("removeLabelsFromLabelable", remove),
];

fn add(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    let subject = subject(doing)?;
    let names = doing.labels("labelIds", &subject.repo)?.unwrap_or_default();
    doing.rest("POST /repos/{owner}/{repo}/issues/{number}/labels", &subject, &json!({"labels": names}))?;
    Ok(vec![("labelable", Shown::Node(subject.node()))])
}

/// Removing a label that is not on it changes nothing, unlike in the REST API.
fn remove(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    let subject = subject(doing)?;
    let names = doing.labels("labelIds", &subject.repo)?.unwrap_or_default();
    let kept: Vec<String> = {
        let state = doing.call.state();
        let repo = state.repositories.get(subject.repo.owner(), subject.repo.name());
        let issue = repo.and_then(|repo| Some((repo, repo.issues.get(&subject.number)?)));
        let labels =
            issue.into_iter().flat_map(|(repo, issue)| issue.labels.iter().filter_map(|id| repo.label_by_id(*id)));
        labels.map(|label| label.name.clone()).filter(|name| !names.contains(name)).collect()
    };
    doing.rest("PUT /repos/{owner}/{repo}/issues/{number}/labels", &subject, &json!({"labels": kept}))?;
    Ok(vec![("labelable", Shown::Node(subject.node()))])
}

fn clear(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    let subject = subject(doing)?;
    doing.rest("DELETE /repos/{owner}/{repo}/issues/{number}/labels", &subject, &json!({}))?;
    Ok(vec![("labelable", Shown::Node(subject.node()))])
}

fn create(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    let repo = doing.target("repositoryId", &["Repository"])?;
    let body = Value::Object(texts(doing, &["color", "description", "name"]));
    let made = doing.rest("POST /repos/{owner}/{repo}/labels", &repo, &body)?;
    Ok(vec![("label", Shown::Node(made["node_id"].as_str().unwrap_or_default().to_owned()))])
}

fn subject(doing: &Doing<'_>) -> Result<Target, Problem> {
    doing.target("labelableId", &["Issue", "PullRequest"])
}
