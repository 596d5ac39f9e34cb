//! Which plan waits for approval, and which one is approved: exactly this plan, for exactly this text of the issue.

use crate::{BlockCode, Record, State, WorkPlan};

impl Record {
    /// The plan that waits for approval, if there is one.
    pub fn waiting_plan(&self) -> Option<&WorkPlan> {
        let asks = self.blocked.as_ref().is_some_and(|blocked| blocked.reason == BlockCode::PlanProposed);
        self.approval.plan.proposed.as_ref().filter(|_| asks && self.state == State::Blocked)
    }

    /// The plan that a person approved for the issue as last authorized.
    pub fn approved_plan(&self) -> Option<&WorkPlan> {
        let plan = self.approval.plan.proposed.as_ref()?;
        (self.approval.plan.approved.as_ref()? == &plan.mark(self.authorized_text())).then_some(plan)
    }

    /// Approves the waiting plan for the issue as now authorized.
    pub(crate) fn approve_plan(&mut self) {
        let issue = self.authorized_text();
        self.approval.plan.approved = self.approval.plan.proposed.as_ref().map(|plan| plan.mark(issue));
    }

    /// The hash of the issue's title and body as last authorized.
    fn authorized_text(&self) -> &str {
        self.trigger.as_ref().map_or("", |trigger| trigger.approved.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        BlockReason, CostLimit, EventId, Timestamp, Trigger, issue::lease::tests::record_at,
        plans::work_plan::tests::plan,
    };

    fn waiting() -> Record {
        let reason = BlockReason::PlanProposed { plan: Box::new(plan()), cost: CostLimit::default() };
        let mut record = record_at(State::Blocked);
        record.blocked = Some(reason.blocked(Timestamp::UNIX_EPOCH));
        record.approval.plan.proposed = Some(plan());
        record.trigger = Some(Trigger {
            event: EventId(1),
            actor: "ann".into(),
            approved: "text".to_owned(),
            at: None,
            labels: Vec::new(),
        });
        record
    }

    #[test]
    fn a_plan_waits_only_on_an_issue_that_is_blocked_for_it() {
        assert_eq!(waiting().waiting_plan(), Some(&plan()));
        let other = BlockReason::WorkerDied.blocked(Timestamp::UNIX_EPOCH);
        for record in [Record { state: State::Ready, ..waiting() }, Record { blocked: Some(other), ..waiting() }] {
            assert_eq!(record.waiting_plan(), None);
        }
    }

    #[test]
    fn an_approval_ends_with_the_plan_and_with_the_text_that_it_was_for() {
        let mut record = waiting();
        assert_eq!(record.approved_plan(), None);
        record.approve_plan();
        assert_eq!(record.approved_plan(), Some(&plan()));
        let mut edited = record.clone();
        edited.trigger = Some(Trigger {
            event: EventId(1),
            actor: "ann".into(),
            approved: "other".to_owned(),
            at: None,
            labels: Vec::new(),
        });
        assert_eq!(edited.approved_plan(), None);
        record.approval.plan.proposed = Some(WorkPlan { summary: String::new(), ..plan() });
        assert_eq!(record.approved_plan(), None);
    }
}
