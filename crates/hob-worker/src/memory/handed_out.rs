//! The memory of issues whose command ended without their being taken up, so that it does not run at each poll.

use std::time::Duration;

use hob_domain::{IssueNumber, Sha};
use tokio::time::Instant;

use crate::memory::bounded_map::BoundedMap;

/// Issues that are remembered at most.
const KEPT: usize = 20_000;
/// The first pause after a command that failed; it doubles each time.
const FAILED: Duration = Duration::from_secs(60);
/// The first pause after one that succeeded: it may have submitted a job that waits for its turn.
const SUBMITTED: Duration = Duration::from_secs(900);
/// The longest pause.
const LONGEST: Duration = Duration::from_secs(3_600);

/// Issues as of the last command that ended so.
#[derive(Debug, Default)]
pub(crate) struct HandedOut(BoundedMap<IssueNumber, Ended, KEPT>);

#[derive(Debug, Clone)]
struct Ended {
    /// Where the issue's ledger was, if it had one.
    ledger: Option<Sha>,
    /// How often it ended so in a row.
    times: u32,
    until: Instant,
}

impl HandedOut {
    /// Whether the issue, whose ledger is there, waits before its command runs again.
    pub(crate) fn waits(&self, issue: IssueNumber, ledger: Option<&Sha>) -> bool {
        self.0.get(&issue).is_some_and(|ended| ended.ledger.as_ref() == ledger && Instant::now() < ended.until)
    }

    /// Remembers that the issue's command ended and its ledger did not move; returns the pause.
    pub(crate) fn note(&self, issue: IssueNumber, ledger: Option<Sha>, succeeded: bool) -> Duration {
        let before = self.0.get(&issue).filter(|ended| ended.ledger == ledger);
        let times = before.map_or(0, |ended| ended.times.saturating_add(1));
        let first = if succeeded { SUBMITTED } else { FAILED };
        let pause = first.saturating_mul(1 << times.min(10)).min(LONGEST);
        self.0.insert(issue, Ended { ledger, times, until: Instant::now() + pause });
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_issue_waits_longer_each_time_until_its_ledger_moves() {
        let (handed_out, issue, ledger) = (HandedOut::default(), IssueNumber(7), Some(Sha("a".to_owned())));
        assert!(!handed_out.waits(issue, None));
        for minutes in [1, 2, 4, 8, 16, 32, 60, 60] {
            let pause = handed_out.note(issue, ledger.clone(), false);
            assert_eq!(pause, Duration::from_secs(minutes * 60));
            tokio::time::advance(pause - Duration::from_secs(1)).await;
            assert!(handed_out.waits(issue, ledger.as_ref()) && !handed_out.waits(IssueNumber(8), ledger.as_ref()));
            tokio::time::advance(Duration::from_secs(1)).await;
            assert!(!handed_out.waits(issue, ledger.as_ref()));
        }
        handed_out.note(issue, ledger.clone(), false);
        assert!(!handed_out.waits(issue, None) && !handed_out.waits(issue, Some(&Sha("b".to_owned()))));
        // Where the ledger moved, or there is none yet, the count begins anew.
        assert_eq!(handed_out.note(issue, None, true), Duration::from_secs(900));
        assert!(handed_out.waits(issue, None));
    }
}
