//! How far a run may go.

use hob_config::{AgentSettings, FailedCommands};
use hob_domain::{Outcome, RunRequest, count};
use tokio::time::Instant;

use crate::report::unfinished;

/// Turns of a run whose agent's settings name no limit.
pub(crate) const TURNS: u32 = 250;
/// The same of an investigation: one that has not concluded by then needs a person.
const TURNS_OF_INVESTIGATION: u32 = 50;
/// Replies that the rate of errors is of.
pub(super) const RECENT: usize = 20;

/// How far one run may go.
#[derive(Debug, Clone)]
pub(super) struct Limits {
    /// Turns of the model.
    pub(super) turns: u32,
    /// Replies in a row whose actions all failed.
    pub(super) consecutive_errors: u32,
    /// Replies with a failed action, of the last [`RECENT`].
    pub(super) recent_errors: u32,
    /// Commands that ran and failed; 0: not limited.
    pub(super) failed_commands: FailedCommands,
    /// Identical calls in a row.
    pub(super) identical_calls: u32,
    /// Millionths of a US dollar; none: not limited.
    pub(super) usd_micros: Option<u64>,
    /// Tokens sent and produced.
    pub(super) tokens: u64,
    /// Whose tokens these are.
    pub(super) tokens_of: &'static str,
    /// Bytes that commands write.
    pub(super) output: u64,
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
        let tokens = request.tokens.filter(|left| *left < settings.max_tokens);
        let own_time = settings.max_time.filter(|time| *time < request.time);
        Self {
            turns: settings.max_iterations.unwrap_or(match request.investigation {
                Some(_) => TURNS_OF_INVESTIGATION,
                None => TURNS,
            }),
            consecutive_errors: settings.consecutive_errors.max(1),
            recent_errors: settings.recent_errors.max(1),
            failed_commands: settings.failed_commands,
            identical_calls: settings.identical_calls.max(2),
            usd_micros: request.usd_micros,
            tokens: tokens.unwrap_or(settings.max_tokens),
            tokens_of: tokens.map_or("the run (`max_tokens`)", |_left| "the attempt"),
            output: settings.max_output,
            soft: u64::from(settings.soft_limit),
            end_with: if request.investigation.is_some() { "`conclude` or `hand_off`" } else { "`done` or `hand_off`" },
            started: now,
            deadline: now + own_time.unwrap_or(request.time),
            time_setting: own_time.map_or(request.time_setting, |_own| "max_time"),
        }
    }
}

/// The end of a run whose time is over.
pub(super) fn out_of_time(turns: u32, limits: &Limits) -> Outcome {
    unfinished(format!("the agent ran out of time after {} (`{}`)", count(turns, "turn"), limits.time_setting))
}
