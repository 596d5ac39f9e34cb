//! The output of `hob agent investigate`: each iteration, and the result, within the width of the terminal.

use hob_domain::{
    RunReport, Spend,
    investigation::{
        Answered, CaseProgress, CaseStatus, Confidence, Hypothesis, Investigation, Iteration, Question, Standing,
        report,
    },
};
use hob_text::{count, terminal};
use serde::Serialize;

use crate::cli::{
    layout::{width_of, wrapped},
    output::{self, BAD, BOLD, DIM, GOOD, Unwritable, WARN, styled},
};

/// Blanks before the continuation of a line.
const HANG: usize = 4;

/// The result as programs get it.
#[derive(Debug, Serialize)]
pub(super) struct Ended<'a> {
    status: CaseStatus,
    /// `None` if there is no conclusion.
    confidence: Option<Confidence>,
    progress: CaseProgress,
    spend: Spend,
    /// The comment.
    pub(super) report: String,
    record: &'a Investigation,
}

impl<'a> Ended<'a> {
    /// The result in `record` after the run.
    pub(super) fn new(record: &'a Investigation, run: &RunReport) -> Self {
        Self {
            status: record.status(),
            confidence: record.confidence(),
            progress: record.progress(),
            spend: run.spend,
            report: report(record, now()),
            record,
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the report says how long it took so far; nothing is decided by it")]
fn now() -> hob_domain::Timestamp {
    std::time::SystemTime::now().into()
}

/// The lines of one iteration; the last says how far the case is, if that has changed.
pub(super) fn lines(iteration: &Iteration, progress: Option<&CaseProgress>) -> String {
    shown(iteration, progress, width_of(std::io::stderr()))
}

fn shown(iteration: &Iteration, progress: Option<&CaseProgress>, width: Option<usize>) -> String {
    let Iteration { thought, confidence, action, impact, approval, effect, .. } = iteration;
    let plain = |text: &str| terminal(text).replace('\n', " ");
    let head = styled(BOLD, &iteration.place());
    let how = styled(DIM, &format!("(impact {impact}, {approval})"));
    let mut lines = vec![wrapped(&format!("{head} {} {how}", plain(action)), width, HANG)];
    let mut below = |text: String| lines.push(wrapped(&format!("{}{text}", " ".repeat(HANG)), width, HANG));
    if !thought.trim().is_empty() {
        let sure = confidence.map(|confidence| format!(" ({confidence})")).unwrap_or_default();
        below(styled(DIM, &format!("thinks{sure}: {}", plain(thought))));
    }
    below(format!("→ {}", plain(effect)));
    if let Some(CaseProgress { percent, message }) = progress {
        below(styled(DIM, &format!("{percent}%, {}", plain(message))));
    }
    lines.join("\n")
}

/// Prints the result for people; its figures go to standard error.
pub(super) fn print(record: &Investigation, run: &RunReport) -> Result<(), Unwritable> {
    print_case(record)?;
    output::note(wrapped(
        &styled(BOLD, &format!("{}; {}", figures(record), run.spend)),
        width_of(std::io::stderr()),
        0,
    ));
    Ok(())
}

/// Prints the state of the case.
pub(super) fn print_case(record: &Investigation) -> Result<(), Unwritable> {
    let width = width_of(std::io::stdout());
    for line in result(record) {
        output::line(wrapped(&line, width, if line.starts_with("  ") { 2 } else { 0 }))?;
    }
    Ok(())
}

/// The cost and the counts.
pub(super) fn figures(record: &Investigation) -> String {
    let metrics = &record.metrics;
    format!(
        "{}; {} of {} answered, {} of {} hypotheses tested, {} of the state, {} refused, {}",
        count(metrics.iterations, "iteration"),
        record.answered(),
        count(record.questions.len(), "question"),
        record.tested(),
        record.hypotheses.len(),
        count(metrics.transitions, "change"),
        metrics.refused,
        count(metrics.errors, "error")
    )
}

/// The result, a line each, not broken.
fn result(record: &Investigation) -> Vec<String> {
    let plain = |text: &str| terminal(text).replace('\n', " ");
    let mut lines = Vec::new();
    match (&record.conclusion, record.confidence()) {
        (Some(end), Some(confidence)) => {
            lines.push(format!("{} ({confidence} confidence)", styled(GOOD, "Conclusion")));
            lines.extend(terminal(&end.text).lines().map(str::to_owned));
        }
        (None, _) | (_, None) => {
            let CaseProgress { percent, message } = record.progress();
            lines.push(format!("{} ({percent}%, {message})", styled(WARN, "No conclusion")));
        }
    }
    let because = |answer: &Answered| {
        let refs: Vec<_> = answer.evidence_refs.iter().map(ToString::to_string).collect();
        format!("{} ({}; {})", plain(&answer.text), answer.confidence, refs.join(", "))
    };
    if !record.questions.is_empty() {
        lines.extend([String::new(), styled(BOLD, "Answers")]);
    }
    for Question { id, text, answered, required } in &record.questions {
        lines.push(format!("{id} {}", plain(text)));
        lines.push(match (answered, required) {
            (Some(answer), _) => format!("  {}", because(answer)),
            (None, true) => format!("  {}", styled(BAD, "no answer, and one is required")),
            (None, false) => "  no answer".to_owned(),
        });
    }
    if !record.hypotheses.is_empty() {
        lines.extend([String::new(), styled(BOLD, "Hypotheses")]);
    }
    for Hypothesis { id, text, standing, verdict } in &record.hypotheses {
        let standing = match standing {
            Standing::Open => styled(DIM, "not tested"),
            Standing::Validated => styled(GOOD, "validated"),
            Standing::Disproved => styled(BAD, "disproved"),
        };
        lines.push(format!("{id} {standing}: {}", plain(text)));
        lines.extend(verdict.iter().map(|verdict| format!("  {}", because(verdict))));
    }
    let to_settle = record.conclusion.iter().flat_map(|end| &end.to_settle);
    for (at, one) in to_settle.enumerate() {
        if at == 0 {
            lines.extend([String::new(), styled(BOLD, "What would settle the rest")]);
        }
        lines.push(format!("- {}", plain(one)));
    }
    let relied_on = record.relied_on();
    if !relied_on.is_empty() {
        lines.extend([String::new(), styled(BOLD, "Evidence")]);
    }
    for item in relied_on {
        lines.push(format!("{} {} {}, {} bytes", item.id, item.kind, plain(&item.source), item.bytes));
    }
    lines
}
