//! What people have begun on an issue: looked at before Hob begins, and while it waits for that.

use hob_domain::{OthersWork, PersonsWork, Record, Trigger, WithPeople, asks_others, assigned_work, linked_work};
use hob_forge::Issue;

use crate::{WorkError, Worker};

/// What people have begun on an issue that is about to be claimed, to which this is linked. Nothing, if a person said
/// that the work goes on beside it.
pub(super) async fn begun(
    worker: &Worker,
    issue: &Issue,
    record: Option<&Record>,
    trigger: &Trigger,
    linked: OthersWork,
) -> Result<Vec<PersonsWork>, WorkError> {
    if matches!(record.and_then(|record| record.work.with_people.as_ref()), Some(WithPeople::GoesOn(_))) {
        return Ok(Vec::new());
    }
    if linked == OthersWork::default() && issue.assignees.iter().all(|assignee| assignee.is(&trigger.actor)) {
        // Nearly always: whose token this is need not be asked.
        return Ok(Vec::new());
    }
    let own = worker.own_login().await?;
    let mut begun = linked_work(&linked, own.as_ref(), &worker.settings.workspace.branch_prefix);
    if asks_others(&issue.assignees, trigger, own.as_ref(), &worker.settings.plan_rules().assignee) {
        let assignments = worker.forge.issues().assignments(issue.number, &issue.assignees).await?;
        begun.extend(assigned_work(&assignments, trigger));
    }
    worker.memory.linked.note(issue.number, linked, worker.forge.now());
    Ok(begun)
}

/// What is left of what a waiting issue waits for, and what else was linked to it since.
pub(super) async fn still_begun(
    worker: &Worker,
    issue: &Issue,
    record: &Record,
) -> Result<Vec<PersonsWork>, WorkError> {
    let waits_for = record.work.waits_for();
    let is_assignee = |work: &&PersonsWork| matches!(work, PersonsWork::Assignee(_));
    let mut begun = Vec::new();
    if !waits_for.iter().all(|work| is_assignee(&work)) {
        let own = worker.own_login().await?;
        let linked = linked(worker, issue).await?;
        begun = linked_work(&linked, own.as_ref(), &worker.settings.workspace.branch_prefix);
    }
    let still = |work: &&PersonsWork| match work {
        PersonsWork::Assignee(login) => issue.assignees.iter().any(|assignee| assignee.is(login)),
        PersonsWork::Pull { .. } | PersonsWork::Branch(_) => false,
    };
    begun.extend(waits_for.iter().filter(still).cloned());
    Ok(begun)
}

async fn linked(worker: &Worker, issue: &Issue) -> Result<OthersWork, WorkError> {
    let now = worker.forge.now();
    if let Some(linked) = worker.memory.linked.get(issue.number, now) {
        return Ok(linked);
    }
    let linked = worker.forge.issues().others_work(issue.number).await?;
    worker.memory.linked.note(issue.number, linked.clone(), now);
    Ok(linked)
}
