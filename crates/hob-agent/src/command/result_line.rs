//! A program's report of its own run: one JSON object in the last line of its standard output.

use std::time::Duration;

use hob_domain::{FailureClass, HandOff, Outcome, Spend};
use serde::Deserialize;

use crate::report::{clip, given_title};

/// Bytes of text that are kept of a report; the rest is cut.
const TEXT_MAX: usize = 16 * 1024;

/// The last line: `{"outcome": "done", "title": "…", "summary": "…", "usd": 0.12, "input_tokens": 900, "output_tokens": 80}`. Every
/// field may be missing; unknown ones are ignored, because programs print JSON lines of their own.
#[derive(Debug, Default, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct ResultLine {
    /// The end of the run; without it the exit code decides.
    pub(crate) outcome: Option<NamedOutcome>,
    /// A summary of the work. `result` is its name in Claude Code's `--output-format json`.
    #[serde(alias = "result")]
    pub(crate) summary: String,
    /// A title for the change, in a few words.
    pub(crate) title: String,
    /// Why it failed, or why nothing has to change.
    pub(crate) reason: String,
    /// Its question to a person.
    pub(crate) question: String,
    /// The profile to hand off to; only with the outcome `hand_off`, like the fields up to `evidence`.
    pub(crate) to: String,
    /// The finished part of the work.
    pub(crate) done: String,
    /// The rest of the work.
    pub(crate) left: String,
    /// Context for the next profile.
    pub(crate) context: String,
    /// Evidence: where it can be seen.
    pub(crate) evidence: Vec<String>,
    /// Seconds until a used-up quota resets; with the outcome `quota`.
    pub(crate) reset_after: Option<u32>,
    /// The cost in US dollars; `total_cost_usd` likewise.
    #[serde(alias = "total_cost_usd")]
    pub(crate) usd: f64,
    /// Tokens sent to a model.
    pub(crate) input_tokens: u64,
    /// Tokens a model produced.
    pub(crate) output_tokens: u64,
}

/// The outcomes that a program can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NamedOutcome {
    /// The work is done.
    Done,
    /// Nothing has to change.
    NothingToDo,
    /// A person has to answer.
    Question,
    /// The model's quota is used up: that does not cost an attempt.
    Quota,
    /// Another profile continues.
    HandOff,
    /// It failed.
    Failed,
}

impl ResultLine {
    /// Reads the last line of `stdout` that is not blank; `None` if it is not an object of this form.
    pub(crate) fn read(stdout: &str) -> Option<Self> {
        let line = stdout.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
        let said: Self = line.starts_with('{').then(|| serde_json::from_str(line).ok())??;
        (said != Self::default()).then_some(said)
    }

    /// The outcome that it names, in Hob's terms. Without a name it is done if it has a summary, otherwise `None`.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        let text = |first: &str, second: &str, missing: &str| {
            let said = [first, second].into_iter().map(str::trim).find(|text| !text.is_empty());
            clip(said.unwrap_or(missing), TEXT_MAX)
        };
        let unnamed = || (!self.summary.trim().is_empty()).then_some(NamedOutcome::Done);
        Some(match self.outcome.or_else(unnamed)? {
            NamedOutcome::Done => {
                Outcome::Done { summary: text(&self.summary, &self.reason, ""), title: given_title(&self.title) }
            }
            NamedOutcome::NothingToDo => Outcome::NothingToDo { reason: text(&self.reason, &self.summary, "") },
            NamedOutcome::Question => {
                Outcome::Question { question: text(&self.question, &self.reason, "the agent asked for a person") }
            }
            NamedOutcome::Quota => Outcome::Failed {
                reason: text(&self.reason, &self.summary, "the model's quota is used up"),
                failure: FailureClass::QuotaExhausted {
                    reset_after: self.reset_after.map(|seconds| Duration::from_secs(seconds.into())),
                },
            },
            NamedOutcome::HandOff => Outcome::HandOff(Box::new(HandOff {
                to: self.to.clone(),
                reason: text(&self.reason, &self.summary, ""),
                done: self.done.clone(),
                left: self.left.clone(),
                context: self.context.clone(),
                evidence: self.evidence.clone(),
            })),
            NamedOutcome::Failed => Outcome::Failed {
                reason: text(&self.reason, &self.summary, "the agent gave no reason"),
                failure: FailureClass::Permanent,
            },
        })
    }

    /// The cost of the run by its report. A value that is negative or not a number counts as nothing.
    pub(crate) fn spend(&self) -> Spend {
        // `as` saturates: NaN and negative values become 0.
        let usd_micros = (self.usd * 1e6).ceil() as u64;
        Spend { usd_micros, input_tokens: self.input_tokens, output_tokens: self.output_tokens, wall_seconds: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_line_counts() {
        let said =
            ResultLine::read("{\"outcome\":\"failed\"}\ntext\n{\"outcome\":\"done\",\"summary\":\"did it\"}\n\n")
                .unwrap();
        assert_eq!(said.outcome(), Some(Outcome::done("did it")));
        for none in
            ["", "plain", "{\"outcome\":\"done\"}\nbye", "{\"other\":1}", "{broken", "[]", "{\"outcome\":\"won\"}"]
        {
            assert_eq!(ResultLine::read(none), None, "{none}");
        }
    }

    #[test]
    fn a_report_may_name_the_change() {
        let said = ResultLine::read(r#"{"outcome":"done","title":" Accept it ","summary":"It was refused."}"#).unwrap();
        let (summary, title) = ("It was refused.".to_owned(), Some("Accept it".to_owned()));
        assert_eq!(said.outcome(), Some(Outcome::Done { summary, title }));
    }

    /// Row M3.
    #[test]
    fn a_report_may_hand_off_to_another_profile() {
        let line =
            r#"{"outcome":"hand_off","to":"cloud","reason":"It is theirs.","left":"the zone","evidence":["a.tf"]}"#;
        let hand_off = HandOff {
            to: "cloud".to_owned(),
            reason: "It is theirs.".to_owned(),
            left: "the zone".to_owned(),
            evidence: vec!["a.tf".to_owned()],
            ..HandOff::default()
        };
        assert_eq!(ResultLine::read(line).unwrap().outcome(), Some(Outcome::HandOff(Box::new(hand_off))));
    }

    #[test]
    fn another_agents_line_is_read_as_far_as_it_goes() {
        let line = r#"{"type":"result","is_error":false,"result":"Fixed it.","total_cost_usd":0.5,"usage":{"x":1}}"#;
        let said = ResultLine::read(line).unwrap();
        assert_eq!(said.outcome(), Some(Outcome::done("Fixed it.")));
        assert_eq!(said.spend().usd_micros, 500_000);
    }

    #[test]
    fn a_bill_below_zero_counts_as_nothing() {
        let bill =
            |usd: &str| ResultLine::read(&format!("{{\"usd\":{usd},\"input_tokens\":1}}")).unwrap().spend().usd_micros;
        assert_eq!((bill("0.0000015"), bill("-3"), bill("1e300")), (2, 0, u64::MAX));
    }
}
