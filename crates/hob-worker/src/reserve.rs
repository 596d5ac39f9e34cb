//! An attempt's share of the repository's day: reserved before the work, settled after it.

use hob_domain::{Allowance, Budget, Exhausted, Full, Reservation, Spend, close_reservation, reserve};
use hob_forge::{BaseBranch, HeldLease};

use crate::{WorkError, Worker};

impl Worker {
    /// What attempt and issue may still take.
    ///
    /// # Errors
    /// [`Exhausted`] names the limit of the issue's whole life that is reached.
    pub(super) fn issue_allowance(&self, lease: &HeldLease) -> Result<Allowance, Exhausted> {
        let (budgets, record) = (self.settings.limits.budgets(), lease.record());
        // The attempt that begins is counted already.
        budgets.issue.next_attempt(record.attempts_ever.saturating_sub(1))?;
        let attempt = budgets.attempt.left(Spend::default())?;
        Ok(budgets.issue.left(record.spend)?.and(attempt))
    }

    /// Reserves the attempt's share of hour and day in the repository's ledger. The inner error says why there is none.
    pub(super) async fn reserve(
        &self,
        lease: &HeldLease,
        base: &BaseBranch,
        allowance: Allowance,
    ) -> Result<Result<Allowance, Full>, WorkError> {
        let rules = self.settings.repository_rules();
        let (issue, bill) = (lease.issue(), lease.record().spend);
        let time = self.settings.limits.issue_time + self.settings.lease.duration + self.settings.lease.skew;
        let reserved = self.forge.change_repository(&base.tree, |before, nonce, now| {
            let ask = Reservation { issue, bill, allowance, until: now + time };
            let (record, allowance) = reserve(before, &ask, &rules, nonce, now)?;
            Ok((record, format!("{} begins with issue {issue}", self.id), allowance))
        });
        Ok(reserved.await?)
    }

    /// Puts what the attempt cost in the place of its reservation. `began` is the bill it began with. What fails here
    /// costs only room: the reservation ends by itself, and the next attempt at the issue tells its bill again.
    pub(super) async fn settle_day(&self, lease: &HeldLease, base: &BaseBranch, began: Spend) {
        let Budget { usd_micros, tokens, wall_seconds, attempts: _ } = self.settings.limits.budgets().day;
        if usd_micros.is_none() && tokens.is_none() && wall_seconds.is_none() {
            return;
        }
        let (issue, bills) = (lease.issue(), (began, lease.record().spend));
        let settled = self.forge.change_repository(&base.tree, |before, nonce, now| {
            let record = close_reservation(before, issue, bills, nonce, now);
            Ok((record, format!("{} ended with issue {issue}: {}", self.id, bills.1.since(began)), ()))
        });
        if let Err(error) = settled.await {
            tracing::warn!(issue.number = issue.0, %error, "the day's bill could not be written: {error}");
        }
    }
}
