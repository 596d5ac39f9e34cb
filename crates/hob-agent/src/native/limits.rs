//! The limits of a run.

use hob_config::{AgentSettings, FailedCommands};
use hob_domain::{Outcome, RunRequest};
use hob_text::count;
use tokio::time::Instant;

use crate::report::unfinished;

/// The limit of turns if an agent's settings name none.
pub(crate) const TURNS: u32 = 250;
/// The limit for an investigation: one that has not concluded by then needs a person.
const TURNS_OF_INVESTIGATION: u32 = 50;
/// The number of recent replies that the rate of errors is computed from.
pub(super) const RECENT: usize = 20;

/// The limits of one run. `None` means no limit.
#[derive(Debug, Clone)]
pub(super) struct Limits {
    /// Turns of the model.
    pub(super) turns: Option<u32>,
    /// Turns of earlier runs of the session, which do not count.
    pub(super) turns_before: u32,
    /// The limit of replies in a row whose actions all failed.
    pub(super) consecutive_errors: Option<u32>,
    /// Replies with a failed action, of the last [`RECENT`].
    pub(super) recent_errors: Option<u32>,
    /// Commands that ran and failed; 0: not limited.
    pub(super) failed_commands: FailedCommands,
    /// Identical calls in a row.
    pub(super) identical_calls: Option<u32>,
    /// Millionths of a US dollar.
    pub(super) usd_micros: Option<u64>,
    /// Tokens sent and produced.
    pub(super) tokens: Option<u64>,
    /// The scope of the token limit.
    pub(super) tokens_of: &'static str,
    /// Bytes that commands write.
    pub(super) output: Option<u64>,
    /// Per cent of a limit after which the model is asked to finish.
    pub(super) soft: u64,
    /// The tools that a model is told to end with, near a limit.
    pub(super) end_with: &'static str,
    /// When it began.
    pub(super) started: Instant,
    /// When its time is over.
    pub(super) deadline: Instant,
    /// The setting that this comes from.
    pub(super) time_setting: &'static str,
}

impl Limits {
    /// The limits of one run that begins at `now`.
    pub(super) fn new(settings: &AgentSettings, request: &RunRequest, now: Instant) -> Self {
        let counted = |limit: u32| (limit > 0).then_some(limit);
        let own_tokens = Some(settings.max_tokens).filter(|most| *most > 0);
        let tokens = request.tokens.filter(|left| own_tokens.is_none_or(|own| *left < own));
        let own_time = settings.max_time.filter(|time| !time.is_zero() && *time < request.time);
        Self {
            turns: counted(settings.max_iterations.unwrap_or(match request.investigation {
                Some(_) => TURNS_OF_INVESTIGATION,
                None => TURNS,
            })),
            turns_before: 0,
            consecutive_errors: counted(settings.consecutive_errors),
            recent_errors: counted(settings.recent_errors),
            failed_commands: settings.failed_commands,
            identical_calls: counted(settings.identical_calls).map(|calls| calls.max(2)),
            usd_micros: request.usd_micros,
            tokens: tokens.or(own_tokens),
            tokens_of: tokens.map_or("the run (`max_tokens`)", |_left| "the attempt"),
            output: Some(settings.max_output).filter(|most| *most > 0),
            soft: u64::from(settings.soft_limit),
            end_with: if request.investigation.is_some() { "`conclude` or `hand_off`" } else { "`done` or `hand_off`" },
            started: now,
            deadline: now + own_time.unwrap_or(request.time),
            time_setting: own_time.map_or(request.time_setting, |_own| "max_time"),
        }
    }
}

impl Limits {
    /// The number of turns, as the rest of `turn 3`; empty if they are not limited.
    pub(super) fn of_turns(&self) -> String {
        self.turns.map(|most| format!(" of {most}")).unwrap_or_default()
    }
}

/// The outcome of a run whose time is over.
pub(super) fn out_of_time(turns: u32, limits: &Limits) -> Outcome {
    unfinished(format!("the agent ran out of time after {} (`{}`)", count(turns, "turn"), limits.time_setting))
}
