//! The comment at the end of an investigation: conclusion and confidence, answers with evidence, what was ruled out and
//! why, and what would settle the rest. It can be written at any time, even without a conclusion.
//!
//! All words in it are a model's or a stranger's: they go through `inert`, and each part of the comment has its own cap, so
//! that a long answer cannot push the others out.

use hob_text::{
    clip, count, inert_line, inert_within,
    markup::{code_span, folded, line},
};

use crate::{
    OWN_MARK, ProfileName, Timestamp,
    investigation::{
        Answered, EvidenceItem, Hypothesis, Investigation, NextWork, Question, Standing, ids::list, missing::lacks,
    },
};

/// Identifies the comment.
pub const REPORT_MARK: &str = "<!-- hob:investigation -->";

/// The mark before the name of the profile that continues.
const NEXT_MARK: &str = "<!-- hob:next ";
/// Bytes of the whole: the limit of a comment on the forge, with room for the text around it.
const REPORT_MAX: usize = 60_000;
/// Bytes of the conclusion.
const CONCLUSION_MAX: usize = 8 * 1024;
/// Bytes of an answer or a reason.
const ANSWER_MAX: usize = 600;
/// Bytes of a question, a hypothesis or a source.
const LINE_MAX: usize = 300;
/// Rows of the table of evidence.
const ROWS_MAX: usize = 40;

/// Writes the comment as of `now`.
pub fn report(record: &Investigation, now: Timestamp) -> String {
    debug_assert!(REPORT_MARK.starts_with(OWN_MARK), "Hob has to know its own comment");
    let mut text = format!("{REPORT_MARK}\n");
    conclusion(&mut text, record);
    let parts = [answers(record), hypotheses(record), to_settle(record)];
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        text.push_str(&part);
    }
    let tail = format!("{}{}{}", next_work(record), evidence(record), figures(record, now));
    let room = REPORT_MAX.saturating_sub(tail.len());
    if text.len() > room {
        text = format!("{}\n", inert_cut(&text, room));
    }
    text.push_str(&tail);
    text
}

/// Who continues, for people and, in a separate mark, for Hob.
fn next_work(record: &Investigation) -> String {
    let Some(NextWork { to, left }) = record.conclusion.as_ref().and_then(|end| end.next.as_ref()) else {
        return String::new();
    };
    let left = inert_line(&clip(left, ANSWER_MAX)).trim_end().to_owned();
    format!("\n### What comes next\n\nFor {}: {left}\n{NEXT_MARK}{to} -->\n", code_span(to.as_str()))
}

/// What the continuing profile has to change, according to the report.
pub fn next_left(report: &str) -> String {
    let lines: Vec<&str> = report.lines().collect();
    let mark = lines.iter().rposition(|line| line.starts_with(NEXT_MARK));
    let said = mark.and_then(|at| lines.get(at.checked_sub(1)?)).and_then(|line| line.split_once(": "));
    said.map_or_else(|| "What the report says comes next.".to_owned(), |(_, left)| left.to_owned())
}

/// The profile that continues after an investigation, according to its report.
pub fn next_profile(report: &str) -> Option<ProfileName> {
    let line = report.lines().rev().find_map(|line| line.strip_prefix(NEXT_MARK))?;
    line.strip_suffix(" -->")?.parse().ok()
}

/// Cuts text that is already inert at the end of a line. A part that is cut has no open block of code, because each
/// line is separate except in the conclusion, which is far shorter than the room.
fn inert_cut(text: &str, room: usize) -> String {
    let kept = &text[..text.floor_char_boundary(room.saturating_sub(100))];
    let kept = kept.rfind('\n').map_or(kept, |end| &kept[..end]);
    format!("{kept}\n\nThe rest is left out: the comment would be too long.")
}

fn conclusion(text: &mut String, record: &Investigation) {
    match (&record.conclusion, record.confidence()) {
        (Some(end), Some(confidence)) => {
            line(text, "## Conclusion\n");
            line(text, &inert_within(&end.text, CONCLUSION_MAX));
            line(text, &format!("\n**Confidence: {confidence}.** Evidence: {}.", list(&end.evidence_refs)));
        }
        (None, _) | (_, None) => {
            line(text, "## No conclusion\n");
            let state = code_span(&record.state);
            line(text, &format!("The investigation ended in the state {state}, before it could conclude."));
        }
    }
}

fn said(answer: &Answered) -> String {
    let text = inert_line(&clip(&answer.text, ANSWER_MAX));
    format!("{text} ({} confidence; {})", answer.confidence, list(&answer.evidence_refs))
}

fn short(text: &str) -> String {
    inert_line(&clip(text, LINE_MAX))
}

fn answers(record: &Investigation) -> String {
    if record.questions.is_empty() {
        return String::new();
    }
    let mut text = "\n### Answers\n\n".to_owned();
    for Question { id, text: asked, answered, required } in &record.questions {
        let asked = short(asked);
        let answer = match (answered, required) {
            (Some(answer), _) => said(answer),
            (None, true) => "No answer was found, and one is required.".to_owned(),
            (None, false) => "No answer was found.".to_owned(),
        };
        line(&mut text, &format!("- **{id}: {asked}**<br>{answer}"));
    }
    text
}

fn hypotheses(record: &Investigation) -> String {
    let mut text = String::new();
    for (heading, standing) in [
        ("What the evidence supports", Standing::Validated),
        ("What was ruled out", Standing::Disproved),
        ("What was not tested", Standing::Open),
    ] {
        let those: Vec<&Hypothesis> = record.hypotheses.iter().filter(|one| one.standing == standing).collect();
        if those.is_empty() {
            continue;
        }
        line(&mut text, &format!("\n### {heading}\n"));
        for Hypothesis { id, text: supposed, verdict, .. } in those {
            let why = verdict.as_ref().map(|why| format!("<br>{}", said(why))).unwrap_or_default();
            line(&mut text, &format!("- **{id}: {}**{why}", short(supposed)));
        }
    }
    text
}

/// What would settle the rest: the agent's own words, requests without an answer, and what the gate lacks.
fn to_settle(record: &Investigation) -> String {
    let mut points = Vec::new();
    if let Some(end) = &record.conclusion {
        points.extend(end.to_settle.iter().map(|one| inert_line(&clip(one, ANSWER_MAX))));
    }
    for request in record.requests.iter().filter(|request| request.answered_by.is_empty()) {
        points.push(format!("An answer to: {}", inert_line(&clip(&request.text, ANSWER_MAX))));
    }
    if record.conclusion.is_none() {
        let last = record.states.len().saturating_sub(1);
        points.extend(lacks(record, last).into_iter().map(|missing| format!("For a conclusion: {missing}.")));
    }
    if points.is_empty() {
        return String::new();
    }
    let list: Vec<_> = points.iter().map(|point| format!("- {point}")).collect();
    format!("\n### What would settle the rest\n\n{}\n", list.join("\n"))
}

/// The evidence that something rests on; other reads of the agent are in the transcript.
fn evidence(record: &Investigation) -> String {
    let rows = record.relied_on();
    if rows.is_empty() {
        return String::new();
    }
    let mut table = "| | kind | source | bytes | SHA-256 |\n|---|---|---|---|---|\n".to_owned();
    for EvidenceItem { id, kind, source, sha256, bytes } in rows.iter().take(ROWS_MAX) {
        let source = code_span(&clip(source, LINE_MAX)).replace('|', "\\|");
        let digest: String = sha256.chars().filter(char::is_ascii_hexdigit).take(16).collect();
        line(&mut table, &format!("| {id} | {kind} | {source} | {bytes} | `{digest}…` |"));
    }
    if rows.len() > ROWS_MAX {
        line(&mut table, &format!("\n{} more are left out.", rows.len() - ROWS_MAX));
    }
    format!("\n{}", folded(&format!("The evidence that this rests on ({})", rows.len()), &table))
}

fn figures(record: &Investigation, now: Timestamp) -> String {
    let metrics = &record.metrics;
    let end = record.conclusion.as_ref().map_or(now, |end| end.at);
    let minutes = (end - metrics.started).num_minutes().max(0);
    format!(
        "\n<sub>{} in {}; {} of {} answered, {} of {} hypotheses tested, {} of the state, {} refused, {}.</sub>\n",
        count(metrics.iterations, "iteration"),
        count(minutes.unsigned_abs(), "minute"),
        record.answered(),
        count(record.questions.len(), "question"),
        record.tested(),
        record.hypotheses.len(),
        count(metrics.transitions, "change"),
        count(metrics.refused, "action"),
        count(metrics.errors, "error"),
    )
}

#[cfg(test)]
mod tests;
