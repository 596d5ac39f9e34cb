//! Auto-merge of a pull request: on and off.

use super::{
    super::{
        super::{api, call::Call, state::AutoMerge},
        problem::Problem,
    },
    doing::{Doing, Mutation, Shown, Target},
};

pub(super) const DESCRIPTION: &str = r"
extend type Mutation {
    disablePullRequestAutoMerge(input: DisablePullRequestAutoMergeInput!): DisablePullRequestAutoMergePayload
    enablePullRequestAutoMerge(input: EnablePullRequestAutoMergeInput!): EnablePullRequestAutoMergePayload
}
input DisablePullRequestAutoMergeInput { pullRequestId: ID! }
type DisablePullRequestAutoMergePayload { actor: Actor pullRequest: PullRequest }
input EnablePullRequestAutoMergeInput {
    commitBody: String
    commitHeadline: String
    expectedHeadOid: GitObjectID
    mergeMethod: PullRequestMergeMethod = MERGE
    pullRequestId: ID!
}
type EnablePullRequestAutoMergePayload { actor: Actor pullRequest: PullRequest }
";

pub(super) const MUTATIONS: &[(&str, Mutation)] =
    &[("disablePullRequestAutoMerge", disable), ("enablePullRequestAutoMerge", enable)];

fn enable(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    let (pull, call) = target(doing)?;
    let text = |name: &str| doing.input.text(name).map(str::to_owned);
    let auto = AutoMerge {
        by: call.actor()?.clone(),
        at: call.now,
        method: api::method(doing.input.text("mergeMethod").unwrap_or_default()),
        title: text("commitHeadline"),
        body: text("commitBody"),
    };
    api::switch_on(&call, auto, doing.input.text("expectedHeadOid"))?;
    Ok(vec![("actor", Shown::Actor), ("pullRequest", Shown::Node(pull.node()))])
}

fn disable(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    let (pull, call) = target(doing)?;
    api::switch_off(&call)?;
    Ok(vec![("actor", Shown::Actor), ("pullRequest", Shown::Node(pull.node()))])
}

fn target(doing: &Doing<'_>) -> Result<(Target, Call), Problem> {
    let pull = doing.target("pullRequestId", &["PullRequest"])?;
    let call = doing.at(&pull).with_part("number", pull.number.to_string());
    Ok((pull, call))
}
