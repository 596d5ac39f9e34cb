//! The branch that an attempt starts from and that its pull request goes to.

use std::ops::ControlFlow;

use hob_domain::{BaseChoice, BaseSource, BlockReason};
use hob_workspace::BranchName;

use crate::{
    WorkError, Worker,
    authorize::{LabelVerdict, label_counts},
    held_issue::HeldIssue,
};

/// Chooses the base: by a label of an authorized account, otherwise as earlier attempts did, otherwise by the settings.
/// Returns why a person is needed if a label names something that cannot be a base.
pub(super) async fn choose_base(
    worker: &Worker,
    held: &HeldIssue,
) -> Result<ControlFlow<BlockReason, BaseChoice>, WorkError> {
    let (issue, labels) = (&held.issue, &worker.settings.labels);
    let earlier = held.lease.record().work.base;
    let mut named = None;
    if let Some((label, branch)) = labels.base(&issue.labels) {
        let known = BaseChoice { branch: branch.to_owned(), by: BaseSource::Label };
        // The account that added the label was checked when it was first followed.
        let counts = match earlier.as_ref() == Some(&known) {
            true => LabelVerdict::Counts,
            false => label_counts(worker, issue, label).await?,
        };
        match counts {
            LabelVerdict::Counts if branch.parse::<BranchName>().is_err() => {
                return Ok(ControlFlow::Break(no_such_base(&known)));
            }
            // The contents of Hob's own branches, checks and template included, are an agent's.
            LabelVerdict::Counts if branch.starts_with(&worker.settings.workspace.branch_prefix) => {
                let failure = format!("the label `{label}` names one of Hob's own branches, which cannot be a base");
                return Ok(ControlFlow::Break(BlockReason::SetUpNeeded { failure }));
            }
            LabelVerdict::Counts => named = Some(branch),
            LabelVerdict::Ignored(why) => worker.progress(issue.number, &why.to_string()),
        }
    }
    Ok(ControlFlow::Continue(BaseChoice::choose(named, earlier.as_ref(), set_base(worker, held))))
}

/// The base that the settings name.
fn set_base<'a>(worker: &'a Worker, held: &'a HeldIssue) -> &'a str {
    match worker.settings.publish.base.as_str() {
        "" => &held.base.name,
        set => set,
    }
}

/// The base in place of one that is not there any more: a default branch that was renamed has the issue's work go to its
/// new name. `None` if nothing else can take its place.
pub(super) fn base_instead(worker: &Worker, held: &HeldIssue, gone: &BaseChoice) -> Option<BaseChoice> {
    let set = set_base(worker, held);
    (gone.by == BaseSource::Settings && gone.branch != set).then(|| BaseChoice::of_settings(set))
}

/// The reason to ask a person if a label names a branch that does not exist.
pub(super) fn no_such_base(base: &BaseChoice) -> BlockReason {
    let failure = format!(
        "a label on this issue names the base branch `{}`, which does not exist: create it, or change the label",
        base.branch
    );
    BlockReason::SetUpNeeded { failure }
}
