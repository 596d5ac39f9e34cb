//! The use that one run has made of its limits: turns, time, tokens, money, output, errors.

use std::{
    collections::{BTreeSet, VecDeque},
    time::Duration,
};

use hob_config::FailedCommands;
use hob_domain::{Outcome, Spend};
use hob_text::count;
use tokio::time::Instant;

use crate::{
    model::ToolCall,
    native::{
        circle::{Circle, Closed},
        limits::{Limits, RECENT, out_of_time},
        tools::CommandResult,
    },
    report::{needs_human, permanent},
};

/// The advice to a model that repeats itself.
const STUCK: &str = "[Hob] You go round in a circle. Take another look: read the task and the last error again, and the code \
                     around it. Then try another tool, another place, or a smaller question; if nothing helps, `hand_off`.";

/// The results of one reply's actions. They are counted together, because the model sees no answer before the last.
#[derive(Debug, Default)]
pub(super) struct Actions {
    well: u32,
    wrong: u32,
    last_error: String,
}

impl Actions {
    /// Counts an action that succeeded; a command that exits with an error code succeeds as an action.
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

/// The use that one run has made of its limits.
#[derive(Debug, Default)]
pub(super) struct RunUsage {
    /// Turns begun.
    pub(super) turns: u32,
    pub(super) spend: Spend,
    /// Bytes that commands wrote.
    pub(super) written: u64,
    /// Replies with a failed action, in the whole run.
    pub(super) total_errors: u32,
    /// For each of the last replies, whether an action failed.
    recent: VecDeque<bool>,
    /// The number of the last errors in a row.
    pub(super) consecutive_errors: u32,
    /// Commands that ran and failed.
    pub(super) failed_commands: FailedCommands,
    identical_calls: u32,
    /// The turn in which it was counted last.
    identical_in: u32,
    /// With its answer.
    last_call: Option<(String, String, String)>,
    circle: Circle,
    is_stuck: bool,
    warned: BTreeSet<&'static str>,
}

impl RunUsage {
    /// Continues the counts of an earlier run of the session: bytes that commands wrote, errors in all and in a row, failed commands.
    pub(super) fn restore(&mut self, written: u64, errors: u32, in_row: u32, failed: FailedCommands) {
        (self.written, self.total_errors, self.consecutive_errors) = (written, errors, in_row);
        self.failed_commands = failed;
    }

    /// The turn, of those that count for this run.
    pub(super) fn turn(&self, limits: &Limits) -> u32 {
        self.turns.saturating_sub(limits.turns_before)
    }

    /// The remaining turns; `None` means no limit.
    pub(super) fn turns_left(&self, limits: &Limits) -> Option<u32> {
        limits.turns.map(|most| most.saturating_sub(self.turn(limits)))
    }

    /// Counts a turn that begins. The error is the end of the run: a limit is reached.
    pub(super) fn begin_turn(&mut self, limits: &Limits, now: Instant) -> Result<(), Outcome> {
        if now >= limits.deadline {
            return Err(out_of_time(self.turns, limits));
        }
        let spent = &self.spend;
        let over = |what: &str| needs_human(format!("{what} ({spent}) and the agent was not done"));
        if limits.usd_micros.is_some_and(|limit| spent.usd_micros >= limit) {
            return Err(over("the budget of the run is spent"));
        }
        if limits.tokens.is_some_and(|limit| spent.tokens() >= limit) {
            return Err(over(&format!("the tokens of {} are used up", limits.tokens_of)));
        }
        if let Some(most) = limits.output.filter(|most| self.written > *most) {
            return Err(permanent(format!(
                "the commands of the run wrote {} bytes, more than they may (`max_output` is {most}), and the agent was not done",
                self.written
            )));
        }
        if limits.turns.is_some_and(|most| self.turn(limits) >= most) {
            return Err(permanent(format!(
                "the agent was not done after {}, its limit (`max_iterations`)",
                count(self.turn(limits), "turn")
            )));
        }
        self.turns += 1;
        Ok(())
    }

    /// Counts a call with its answer. A warning if both are the same as before. The error is the end of the run: in too many
    /// replies in a row. Calls of one reply count once, because the model sees no answer before the last.
    pub(super) fn count_call(
        &mut self,
        limits: &Limits,
        call: &ToolCall,
        answer: &str,
    ) -> Result<Option<String>, Outcome> {
        self.circle.call(call, answer);
        let now = (call.name.clone(), call.arguments.clone(), answer.to_owned());
        if self.last_call.as_ref() != Some(&now) {
            (self.identical_calls, self.identical_in) = (1, self.turns);
            self.last_call = Some(now);
            return Ok(None);
        }
        if self.identical_in == self.turns {
            return Ok(Some(
                "[the same call as before in this reply, with the same answer: once is enough]".to_owned(),
            ));
        }
        (self.identical_calls, self.identical_in) = (self.identical_calls + 1, self.turns);
        let times = self.identical_calls;
        if limits.identical_calls.is_some_and(|most| times >= most) {
            return Err(permanent(format!(
                "the agent made the same `{}` call {times} times in a row, with the same answer (`identical_calls`)",
                call.name
            )));
        }
        Ok(Some(self.steered(limits, "the same call", times)))
    }

    /// Counts a reply whose calls are counted. A warning if it closes a circle. The error is the end of the run: one that was gone
    /// through too often.
    pub(super) fn count_reply(&mut self, limits: &Limits) -> Result<Option<String>, Outcome> {
        let Some(Closed { replies: of, times }) = self.circle.closed() else { return Ok(None) };
        let what = format!("the calls of the last {}", replies(of));
        if limits.identical_calls.is_some_and(|most| times >= most) {
            return Err(permanent(format!(
                "the agent made {what} {times} times in turn, with the same answers (`identical_calls`)"
            )));
        }
        Ok(Some(self.steered(limits, &what, times)))
    }

    /// The warning of what was repeated, and before the last time what to do instead.
    fn steered(&mut self, limits: &Limits, what: &str, times: u32) -> String {
        let ends = limits.identical_calls.map(|most| format!("; the run ends at {most}")).unwrap_or_default();
        let warning = format!("[{what} {times} times in a row{ends}: do something else]");
        self.is_stuck |= limits.identical_calls.is_some_and(|most| times + 1 == most);
        if self.is_stuck { format!("{warning}\n{STUCK}") } else { warning }
    }

    /// Whether the model is about to end its run by repeating itself. Once.
    pub(super) fn takes_stuck(&mut self) -> bool {
        std::mem::take(&mut self.is_stuck)
    }

    /// Counts the failures of a reply. The error is the end of the run: too many replies failed. A reply counts as an
    /// error if some of its actions failed, and as an error in a row if all did.
    pub(super) fn count_actions(&mut self, limits: &Limits, actions: &Actions) -> Result<(), Outcome> {
        self.consecutive_errors = match (actions.well, actions.wrong) {
            (0, 0) => self.consecutive_errors,
            (0, _) => self.consecutive_errors + 1,
            (_, _) => 0,
        };
        self.total_errors += u32::from(actions.has_failed());
        self.recent.push_back(actions.has_failed());
        if self.recent.len() > RECENT {
            self.recent.pop_front();
        }
        let error = &actions.last_error;
        if limits.consecutive_errors.is_some_and(|most| self.consecutive_errors >= most) {
            return Err(permanent(format!(
                "the actions of {} in a row failed (`consecutive_errors`), the last with: {error}",
                replies(self.consecutive_errors)
            )));
        }
        let recent = self.recent.iter().filter(|failed| **failed).count();
        if limits.recent_errors.is_some_and(|most| recent >= most as usize) {
            return Err(permanent(format!(
                "actions of {recent} of the last {} replies failed (`recent_errors`), the last with: {error}",
                self.recent.len()
            )));
        }
        Ok(())
    }

    /// Counts a command that ran. The error is the end of the run: too many failed.
    pub(super) fn count_command(&mut self, limits: &Limits, line: &str, result: &CommandResult) -> Result<(), Outcome> {
        let failed = &mut self.failed_commands;
        let CommandResult::Failed(how) = result else {
            failed.in_row = 0;
            return Ok(());
        };
        (failed.in_row, failed.total) = (failed.in_row + 1, failed.total + 1);
        let is_reached = |count: u32, limit: u32| limit > 0 && count >= limit;
        let reached = if is_reached(failed.in_row, limits.failed_commands.in_row) {
            format!("{} in a row failed (`failed_commands.in_row`)", count(failed.in_row, "command"))
        } else if is_reached(failed.total, limits.failed_commands.total) {
            format!("{} of the run failed (`failed_commands.total`)", count(failed.total, "command"))
        } else {
            return Ok(());
        };
        Err(permanent(format!("{reached}, the last: `{line}` ({how})")))
    }

    /// The number of failed commands, as a part of the note; empty if they are not limited.
    fn failures(&self, limits: &Limits) -> String {
        let (failed, most) = (self.failed_commands, limits.failed_commands);
        let parts = [(failed.in_row, most.in_row, " in a row"), (failed.total, most.total, "")];
        let parts: Vec<String> = parts
            .into_iter()
            .filter(|(_, most, _)| *most > 0 && failed.total > 0)
            .map(|(count, most, how)| format!("{count} of {most}{how}"))
            .collect();
        if parts.is_empty() { String::new() } else { format!("; failed commands: {}", parts.join(", ")) }
    }

    /// The note before the next turn: the remaining limits, and a warning, once a limit, that it is nearly reached.
    pub(super) fn status(&mut self, limits: &Limits, now: Instant) -> String {
        let time = limits.deadline.saturating_duration_since(now);
        let mut left = vec![span(time)];
        if let Some(limit) = limits.tokens {
            left.push(format!("{} tokens", short(limit.saturating_sub(self.spend.tokens()))));
        }
        if let Some(limit) = limits.usd_micros {
            let cents = limit.saturating_sub(self.spend.usd_micros) / 10_000;
            left.push(format!("${}.{:02}", cents / 100, cents % 100));
        }
        let errors = match self.total_errors {
            0 => String::new(),
            errors => format!("; {}", count(errors, "error")),
        };
        let (next, failures) = (self.turn(limits) + 1, self.failures(limits));
        let of = limits.of_turns();
        let mut text = format!("[turn {next}{of}; left: {}{errors}{failures}]", left.join(", "));
        for name in self.nearly_reached(limits, now) {
            text.push_str(&format!("\n[nearly all {name} is used: finish what matters, then {}]", limits.end_with));
        }
        text
    }

    /// A line of progress: `what` happens in this turn.
    pub(super) fn progress(&self, limits: &Limits, what: &str) -> String {
        let of = limits.turns.map(|most| format!("/{most}")).unwrap_or_default();
        format!("turn {}{of}: {what}", self.turn(limits))
    }

    /// The limits that are nearly reached and were not warned of before.
    fn nearly_reached(&mut self, limits: &Limits, now: Instant) -> Vec<&'static str> {
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let uses = [
            ("of the turns", u64::from(self.turn(limits)), limits.turns.map(u64::from)),
            ("of the time", millis(now - limits.started), Some(millis(limits.deadline - limits.started))),
            ("of the tokens", self.spend.tokens(), limits.tokens),
            ("of the money", self.spend.usd_micros, limits.usd_micros),
            ("that commands may write", self.written, limits.output),
        ];
        let near = uses.into_iter().filter(|(_, used, most)| {
            let is_near = |most: u64| u128::from(*used) * 100 >= u128::from(most) * u128::from(limits.soft) && most > 0;
            most.is_some_and(is_near)
        });
        near.filter_map(|(name, _, _)| self.warned.insert(name).then_some(name)).collect()
    }
}

/// A number of tokens as `9999`, `12k` or `1.5M`.
fn short(number: u64) -> String {
    match number {
        0..10_000 => number.to_string(),
        10_000..1_000_000 => format!("{}k", number / 1_000),
        _ => format!("{}.{}M", number / 1_000_000, number % 1_000_000 / 100_000),
    }
}

/// A time as `90 s` or `12 min`.
fn span(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds => format!("{} min", seconds / 60),
    }
}

fn replies(number: u32) -> String {
    if number == 1 { "1 reply".to_owned() } else { format!("{number} replies") }
}

#[cfg(test)]
mod tests {
    use hob_config::AgentSettings;

    use super::*;
    use crate::native::guard::tests::request;

    fn limits(now: Instant) -> Limits {
        Limits {
            turns: Some(2),
            turns_before: 0,
            consecutive_errors: Some(2),
            recent_errors: Some(3),
            failed_commands: FailedCommands { in_row: 2, total: 3 },
            identical_calls: Some(3),
            usd_micros: Some(10),
            tokens: Some(1_000),
            tokens_of: "the run (`max_tokens`)",
            output: Some(100),
            soft: 80,
            end_with: "`done` or `hand_off`",
            started: now,
            deadline: now + Duration::from_secs(100),
            time_setting: "limits.attempt_time",
        }
    }

    fn said<T: std::fmt::Debug>(ended: Result<T, Outcome>) -> String {
        match ended.unwrap_err() {
            Outcome::Failed { reason, .. } => reason,
            other => panic!("{other:?}"),
        }
    }

    /// Requirement S2, P4.
    #[test]
    fn turns_time_money_tokens_and_output_end_a_run_before_a_turn() {
        let now = Instant::now();
        let limits = limits(now);
        let mut usage = RunUsage::default();
        assert!(said(usage.begin_turn(&limits, limits.deadline)).contains("ran out of time"));
        usage.begin_turn(&limits, now).unwrap();
        usage.spend.usd_micros = 10;
        assert!(said(usage.begin_turn(&limits, now)).contains("budget"));
        usage.spend.usd_micros = 9;
        usage.spend.input_tokens = 1_000;
        assert!(
            said(usage.begin_turn(&limits, now))
                .contains("tokens of the run (`max_tokens`) are used up ($0.0001, 1000 tokens")
        );
        usage.spend.input_tokens = 999;
        usage.written = 101;
        assert!(
            said(usage.begin_turn(&limits, now)).contains("wrote 101 bytes, more than they may (`max_output` is 100)")
        );
        usage.written = 100;
        usage.begin_turn(&limits, now).unwrap();
        assert!(said(usage.begin_turn(&limits, now)).contains("2 turns"));
    }

    #[test]
    fn errors_end_a_run_in_a_row_or_in_all() {
        let limits = limits(Instant::now());
        let mut usage = RunUsage::default();
        let wrong = |error: &str| Actions { wrong: 4, last_error: error.to_owned(), ..Actions::default() };
        let some = |error: &str| Actions { well: 1, ..wrong(error) };
        let well = Actions { well: 1, ..Actions::default() };
        usage.count_actions(&limits, &wrong("a")).unwrap();
        assert_eq!(
            said(usage.count_actions(&limits, &wrong("b"))),
            "the actions of 2 replies in a row failed (`consecutive_errors`), the last with: b"
        );
        let mut usage = RunUsage::default();
        for actions in [wrong("a"), well, some("b")] {
            usage.count_actions(&limits, &actions).unwrap();
        }
        assert_eq!(
            said(usage.count_actions(&limits, &wrong("d"))),
            "actions of 3 of the last 4 replies failed (`recent_errors`), the last with: d"
        );
    }

    /// Requirement S2.
    #[test]
    fn failed_commands_end_a_run_in_a_row_or_in_all() {
        let limits = limits(Instant::now());
        let failed = CommandResult::Failed("exit code 2".to_owned());
        let mut usage = RunUsage::default();
        usage.count_command(&limits, "ls x", &failed).unwrap();
        assert!(usage.status(&limits, limits.started).ends_with("; failed commands: 1 of 2 in a row, 1 of 3]"));
        assert_eq!(
            said(usage.count_command(&limits, "ls y", &failed)),
            "2 commands in a row failed (`failed_commands.in_row`), the last: `ls y` (exit code 2)"
        );
        let mut usage = RunUsage::default();
        for result in [&failed, &CommandResult::Succeeded, &failed, &CommandResult::Succeeded] {
            usage.count_command(&limits, "ls x", result).unwrap();
        }
        assert_eq!(
            said(usage.count_command(&limits, "ls z", &failed)),
            "3 commands of the run failed (`failed_commands.total`), the last: `ls z` (exit code 2)"
        );
        let limits = Limits { failed_commands: FailedCommands::default(), ..limits };
        let mut usage = RunUsage::default();
        for _ in 0..100 {
            usage.count_command(&limits, "ls x", &failed).unwrap();
        }
        assert!(!usage.status(&limits, limits.started).contains("failed commands"));
    }

    fn call(name: &str, arguments: &str) -> ToolCall {
        ToolCall { id: "1".into(), name: name.into(), arguments: arguments.into() }
    }

    /// 0 counts as in `failed_commands`, above.
    #[test]
    fn what_is_0_in_the_settings_limits_nothing() {
        let settings = AgentSettings {
            max_iterations: Some(0),
            consecutive_errors: 0,
            recent_errors: 0,
            identical_calls: 0,
            max_tokens: 0,
            max_output: 0,
            max_time: Some(Duration::ZERO),
            ..AgentSettings::default()
        };
        let (now, request) = (Instant::now(), request(&[]));
        let limits = Limits::new(&settings, &request, now);
        assert_eq!((limits.deadline, limits.tokens), (now + request.time, request.tokens));
        let limits = Limits { tokens: None, ..limits };
        let mut usage = RunUsage { written: u64::MAX, ..RunUsage::default() };
        usage.spend.input_tokens = u64::MAX;
        let wrong = Actions { wrong: 1, ..Actions::default() };
        for _ in 0..1_000 {
            usage.begin_turn(&limits, now).unwrap();
            usage.count_call(&limits, &call("list", "1"), "same").unwrap();
            usage.count_actions(&limits, &wrong).unwrap();
        }
        assert_eq!(usage.status(&limits, now), "[turn 1001; left: 60 s; 1000 errors]");
        assert_eq!(usage.progress(&limits, "reads"), "turn 1000: reads");
    }

    #[test]
    fn a_resumed_run_counts_its_own_turns() {
        let now = Instant::now();
        let limits = Limits { turns_before: 7, ..limits(now) };
        let mut usage = RunUsage { turns: 7, ..RunUsage::default() };
        usage.begin_turn(&limits, now).unwrap();
        assert_eq!(usage.progress(&limits, "reads"), "turn 1/2: reads");
        usage.begin_turn(&limits, now).unwrap();
        assert!(said(usage.begin_turn(&limits, now)).contains("not done after 2 turns"));
    }

    #[test]
    fn a_low_rate_of_errors_ends_no_run() {
        let limits = Limits { recent_errors: Some(12), consecutive_errors: Some(5), ..limits(Instant::now()) };
        let mut usage = RunUsage::default();
        for reply in 0..1_000 {
            let actions = match reply % 10 {
                0 | 1 => Actions { wrong: 1, ..Actions::default() },
                _ => Actions { well: 1, ..Actions::default() },
            };
            usage.count_actions(&limits, &actions).unwrap();
        }
        assert_eq!(usage.total_errors, 200);
    }

    #[test]
    fn the_same_call_with_the_same_answer_again_and_again_ends_a_run() {
        let limits = limits(Instant::now());
        let mut usage = RunUsage::default();
        let mut counted = |arguments: &str, answer: &str, is_next: bool| {
            usage.turns += u32::from(is_next);
            let warned = usage.count_call(&limits, &call("read", arguments), answer);
            (
                warned.map(|warning| warning.is_some()).map_err(|outcome| said(Err::<(), _>(outcome))),
                usage.takes_stuck(),
            )
        };
        for (arguments, answer, is_next, expected) in [
            ("1", "a", true, (Ok(false), false)),
            ("1", "a", true, (Ok(true), true)),
            ("2", "a", true, (Ok(false), false)),
            // Other answers, and calls of the same reply, do not count.
            ("2", "b", true, (Ok(false), false)),
            ("2", "c", true, (Ok(false), false)),
            ("2", "c", false, (Ok(true), false)),
            ("2", "c", false, (Ok(true), false)),
            ("2", "c", true, (Ok(true), true)),
        ] {
            assert_eq!(counted(arguments, answer, is_next), expected, "{arguments} {answer}");
        }
        let (end, _) = counted("2", "c", true);
        assert!(
            end.unwrap_err().contains("same `read` call 3 times in a row, with the same answer (`identical_calls`)")
        );
    }

    #[test]
    fn a_circle_of_replies_is_steered_first_and_ended_last() {
        let limits = limits(Instant::now());
        let mut usage = RunUsage::default();
        let mut counted = |name: &str| {
            usage.turns += 1;
            usage.count_call(&limits, &call(name, "{}"), "same").unwrap();
            (usage.count_reply(&limits), usage.takes_stuck())
        };
        for name in ["read", "list", "read"] {
            assert_eq!(counted(name), (Ok(None), false));
        }
        let (steered, is_stuck) = counted("list");
        let steered = steered.unwrap().unwrap();
        assert!(is_stuck && steered.ends_with(STUCK), "{steered}");
        assert!(
            steered.starts_with("[the calls of the last 2 replies 2 times in a row; the run ends at 3:"),
            "{steered}"
        );
        assert_eq!(counted("read"), (Ok(None), false));
        assert_eq!(
            said(counted("list").0),
            "the agent made the calls of the last 2 replies 3 times in turn, with the same answers (`identical_calls`)"
        );
    }

    /// Requirement S4.
    #[test]
    fn each_turn_says_what_is_left_and_a_limit_that_is_near_is_said_once() {
        let now = Instant::now();
        let mut limits = limits(now);
        (limits.turns, limits.tokens, limits.usd_micros) = (Some(50), Some(5_000_000), Some(1_000_000));
        let mut usage = RunUsage { turns: 11, total_errors: 1, ..RunUsage::default() };
        usage.spend.usd_micros = 54_321;
        assert_eq!(usage.status(&limits, now), "[turn 12 of 50; left: 100 s, 5.0M tokens, $0.94; 1 error]");
        usage.written = 80;
        let near = usage.status(&limits, now + Duration::from_secs(80));
        assert_eq!(near.matches("nearly all").count(), 2, "{near}");
        assert!(near.contains("nearly all of the time is used") && near.contains("that commands may write"), "{near}");
        assert!(!usage.status(&limits, now + Duration::from_secs(81)).contains("nearly"));
    }
}
