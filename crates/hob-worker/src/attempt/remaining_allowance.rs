//! The remaining budgets of an attempt.

use hob_domain::{Allowance, BlockReason, Budget};

use crate::{Worker, attempt::job::Job};

/// The attempt's remaining allowance; the reason to stop if nothing is left.
pub(super) fn remaining_allowance(worker: &Worker, job: &Job<'_>) -> Result<Allowance, BlockReason> {
    let record = job.held.lease.record();
    let (bill, budgets) = (record.spend, worker.settings.budgets());
    let issue = budgets.of_issue(&record.commands).left(bill);
    issue.map_err(|exhausted| {
        let advice = budgets.advice(&exhausted, &record.commands);
        BlockReason::IssueBudget { exhausted, bill, advice }
    })?;
    let allowance = job.limits.allowance;
    let attempt = Budget {
        usd_micros: allowance.usd_micros,
        tokens: allowance.tokens,
        wall_seconds: allowance.time.map(|time| time.as_secs()),
        attempts: None,
    };
    let spent = bill.since(job.limits.began);
    let own = budgets.attempt;
    attempt.left(spent).map_err(|exhausted| {
        let setting = exhausted.setting_of_attempt(&own);
        BlockReason::AttemptBudget { exhausted, setting, spent, bill }
    })
}
