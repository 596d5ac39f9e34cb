//! How far a run may go, and how far it has gone.

use tokio::time::Instant;

use crate::{
    agent::report::{needs_human, permanent, transient},
    config::AgentSettings,
    domain::{Outcome, RunRequest, Spend},
};

/// How far one run may go.
#[derive(Debug, Clone)]
pub(super) struct Limits {
    /// Turns of the model.
    pub(super) turns: u32,
    /// Replies in a row whose actions all failed.
    pub(super) consecutive_errors: u32,
    /// Replies with a failed action.
    pub(super) total_errors: u32,
    /// Identical calls in a row.
    pub(super) identical_calls: u32,
    /// Millionths of a US dollar; none: not limited.
    pub(super) usd_micros: Option<u64>,
    /// When its time is over.
    pub(super) deadline: Instant,
}

impl Limits {
    /// The limits of one run that begins at `now`.
    pub(super) fn new(settings: &AgentSettings, request: &RunRequest, now: Instant) -> Self {
        Self {
            turns: settings.max_iterations,
            consecutive_errors: settings.consecutive_errors,
            total_errors: settings.total_errors,
            identical_calls: settings.identical_calls,
            usd_micros: request.usd_micros,
            deadline: now + request.time,
        }
    }
}

/// How the actions of one reply went. They are counted together, because the model sees no answer before the last.
#[derive(Debug, Default)]
pub(super) struct Actions {
    well: u32,
    wrong: u32,
    last_error: String,
}

impl Actions {
    /// Counts an action that did what it does; a command that exits with an error code did too.
    pub(super) fn well(&mut self) {
        self.well += 1;
    }

    /// Counts an action that failed, with why.
    pub(super) fn wrong(&mut self, error: String) {
        self.wrong += 1;
        self.last_error = error;
    }

    /// Whether one failed.
    pub(super) fn has_failed(&self) -> bool {
        self.wrong > 0
    }
}

/// How far one run has gone.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Turns begun.
    pub(super) turns: u32,
    /// Money and tokens.
    pub(super) spend: Spend,
    consecutive_errors: u32,
    total_errors: u32,
    identical_calls: u32,
    last_call: Option<(String, String)>,
}

impl Tally {
    /// Begins a turn, or says why there is none.
    pub(super) fn begin_turn(&mut self, limits: &Limits, now: Instant) -> Result<(), Outcome> {
        if now >= limits.deadline {
            return Err(out_of_time(self.turns));
        }
        if self.turns >= limits.turns {
            return Err(permanent(format!("the agent was not done after {} turns, the most it may take", self.turns)));
        }
        if limits.usd_micros.is_some_and(|limit| self.spend.usd_micros >= limit) {
            return Err(needs_human(format!(
                "the budget of the run is spent ({}) and the agent was not done",
                self.spend
            )));
        }
        self.turns += 1;
        Ok(())
    }

    /// Counts a call before it is run, or says that it was made too often in a row.
    pub(super) fn count_call(&mut self, limits: &Limits, tool: &str, arguments: &str) -> Result<(), Outcome> {
        let same = self.last_call.as_ref().is_some_and(|(name, given)| name == tool && given == arguments);
        self.identical_calls = if same { self.identical_calls + 1 } else { 1 };
        if self.identical_calls >= limits.identical_calls.max(2) {
            return Err(permanent(format!(
                "the agent made the same `{tool}` call {} times in a row",
                self.identical_calls
            )));
        }
        if !same {
            self.last_call = Some((tool.to_owned(), arguments.to_owned()));
        }
        Ok(())
    }

    /// Counts how the actions of a reply went, or says that too many went wrong. A reply in which all failed is an error
    /// in a row; one in which some did is an error.
    pub(super) fn count_actions(&mut self, limits: &Limits, actions: &Actions) -> Result<(), Outcome> {
        self.consecutive_errors = match (actions.well, actions.wrong) {
            (0, 0) => self.consecutive_errors,
            (0, _) => self.consecutive_errors + 1,
            (_, _) => 0,
        };
        self.total_errors += u32::from(actions.has_failed());
        let error = &actions.last_error;
        if self.consecutive_errors >= limits.consecutive_errors.max(1) {
            return Err(permanent(format!(
                "the actions of {} replies in a row failed, the last with: {error}",
                self.consecutive_errors
            )));
        }
        if self.total_errors >= limits.total_errors.max(1) {
            return Err(permanent(format!("actions of {} replies failed, the last with: {error}", self.total_errors)));
        }
        Ok(())
    }
}

/// The end of a run whose time is over.
pub(super) fn out_of_time(turns: u32) -> Outcome {
    transient(format!("the time of the run was over after {turns} turns and the agent was not done"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn limits(now: Instant) -> Limits {
        Limits {
            turns: 2,
            consecutive_errors: 2,
            total_errors: 3,
            identical_calls: 3,
            usd_micros: Some(10),
            deadline: now + Duration::from_secs(1),
        }
    }

    fn said(ended: Result<(), Outcome>) -> String {
        match ended.unwrap_err() {
            Outcome::Failed { reason, .. } => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn turns_time_and_money_end_a_run_before_a_turn() {
        let now = Instant::now();
        let limits = limits(now);
        let mut tally = Tally::default();
        assert!(said(tally.begin_turn(&limits, limits.deadline)).contains("time of the run"));
        tally.begin_turn(&limits, now).unwrap();
        tally.spend.usd_micros = 10;
        assert!(said(tally.begin_turn(&limits, now)).contains("budget"));
        tally.spend.usd_micros = 9;
        tally.begin_turn(&limits, now).unwrap();
        assert!(said(tally.begin_turn(&limits, now)).contains("2 turns"));
    }

    #[test]
    fn errors_end_a_run_in_a_row_or_in_all() {
        let limits = limits(Instant::now());
        let mut tally = Tally::default();
        let wrong = |error: &str| Actions { wrong: 4, last_error: error.to_owned(), ..Actions::default() };
        let some = |error: &str| Actions { well: 1, ..wrong(error) };
        let well = Actions { well: 1, ..Actions::default() };
        tally.count_actions(&limits, &wrong("a")).unwrap();
        assert_eq!(
            said(tally.count_actions(&limits, &wrong("b"))),
            "the actions of 2 replies in a row failed, the last with: b"
        );
        let mut tally = Tally::default();
        for actions in [wrong("a"), well, some("b")] {
            tally.count_actions(&limits, &actions).unwrap();
        }
        assert_eq!(said(tally.count_actions(&limits, &wrong("d"))), "actions of 3 replies failed, the last with: d");
    }

    #[test]
    fn the_same_call_again_and_again_ends_a_run() {
        let limits = limits(Instant::now());
        let mut tally = Tally::default();
        for arguments in ["1", "1", "2", "1", "1"] {
            tally.count_call(&limits, "read", arguments).unwrap();
        }
        tally.count_call(&limits, "list", "1").unwrap();
        tally.count_call(&limits, "list", "1").unwrap();
        assert!(said(tally.count_call(&limits, "list", "1")).contains("same `list` call 3 times"));
    }
}
