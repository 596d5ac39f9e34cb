//! The wording of a failed run, the same for every backend.

use hob_domain::{FailureClass, Outcome, RunReport, Spend};
use tokio::time::Instant;

/// Bytes of a title that are kept; its display cuts it further.
const TITLE_MAX: usize = 300;

/// A run that did not finish, and may if it is tried again.
pub(super) fn unfinished(reason: impl Into<String>) -> Outcome {
    Outcome::Failed { reason: reason.into(), failure: FailureClass::Unfinished }
}

/// A run that fails the same way each time.
pub(super) fn permanent(reason: impl Into<String>) -> Outcome {
    Outcome::Failed { reason: reason.into(), failure: FailureClass::Permanent }
}

/// A run that a person has to look at.
pub(super) fn needs_human(reason: impl Into<String>) -> Outcome {
    Outcome::Failed { reason: reason.into(), failure: FailureClass::NeedsHuman }
}

/// A run that lacked something that only the worker's operator can supply.
pub(super) fn misconfigured(reason: impl Into<String>) -> Outcome {
    Outcome::Failed { reason: reason.into(), failure: FailureClass::Misconfigured }
}

/// An error with its causes, in one line: the first one alone often says only that something failed.
pub(super) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}

/// The title that an agent gave its change; `None` if it is empty.
pub(super) fn given_title(title: &str) -> Option<String> {
    Some(clip(title.trim(), TITLE_MAX)).filter(|title| !title.is_empty())
}

/// A finished run, by an agent's closing words: a line `Title: …` names the change, and the summary follows it.
pub(super) fn done(words: &str, max: usize) -> Outcome {
    let bare = |line: &str| line.trim_matches(['*', '#', '_', ' ']).to_owned();
    let lines: Vec<&str> = words.trim().lines().collect();
    let named = lines.iter().enumerate().rev().find_map(|(at, line)| {
        let title = bare(line).strip_prefix("Title:").map(bare);
        title.and_then(|title| Some((at, given_title(&title)?)))
    });
    let Some((at, title)) = named else { return Outcome::done(clip(words.trim(), max)) };
    let (before, after) = (lines[..at].join("\n"), lines[at + 1..].join("\n"));
    let summary = if after.trim().is_empty() { before } else { after };
    Outcome::Done { summary: clip(summary.trim(), max), title: Some(title) }
}

/// What a person is asked if an agent ends with words instead of a result. Words that are a question ask for themselves.
pub(super) fn last_words(words: &str) -> String {
    if words.trim_end().ends_with('?') {
        return words.to_owned();
    }
    format!("It ended without a result; its last words were: {}\n\nWhat should it do next?", words.trim())
}

/// A run that was ended on purpose.
pub(super) fn cancelled() -> Outcome {
    Outcome::Failed { reason: "the run was cancelled".into(), failure: FailureClass::Cancelled }
}

/// The report of a run that began at `started`; `spend` has its money and tokens.
pub(super) fn report(outcome: Outcome, spend: Spend, started: Instant) -> RunReport {
    RunReport { outcome, spend: Spend { wall_seconds: started.elapsed().as_secs(), ..spend } }
}

/// The last boundary between characters of `text` that is not after `max`.
pub(super) fn boundary(text: &str, max: usize) -> usize {
    (0..=max.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// At most `max` bytes of `text`, cut between characters, with a note if something was cut.
pub(super) fn clip(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let end = boundary(text, max);
    format!("{}\n[… {} bytes cut …]", &text[..end], text.len() - end)
}

/// At most the last `max` bytes of `text`, trimmed: a program says what matters at its end.
pub(super) fn tail(text: &str, max: usize) -> &str {
    let text = text.trim();
    let start = (text.len().saturating_sub(max)..text.len()).find(|at| text.is_char_boundary(*at));
    &text[start.unwrap_or(text.len())..]
}

/// At most `max` bytes of the first line of `text`, for a line of progress.
pub(super) fn first_line(text: &str, max: usize) -> String {
    let line = text.lines().next().unwrap_or_default().trim();
    let end = boundary(line, max);
    let more = if end < line.len() || text.trim().lines().count() > 1 { " …" } else { "" };
    format!("{}{more}", &line[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_closing_words_names_the_change() {
        let done_as = |words: &str| match done(words, 100) {
            Outcome::Done { summary, title } => (title.unwrap_or_default(), summary),
            other => panic!("{other:?}"),
        };
        for (words, title, summary) in [
            ("Title: Accept empty files\n\nThe parser did not.", "Accept empty files", "The parser did not."),
            ("I am done.\n\n**Title:** Accept it\nIt was refused.", "Accept it", "It was refused."),
            ("It was refused.\nTitle: Accept it", "Accept it", "It was refused."),
            ("Title:\nNo title.", "", "Title:\nNo title."),
            ("The title: x", "", "The title: x"),
        ] {
            assert_eq!(done_as(words), (title.to_owned(), summary.to_owned()), "{words}");
        }
    }

    #[test]
    fn a_clip_never_splits_a_character() {
        assert_eq!(clip("aé", 2), "a\n[… 2 bytes cut …]");
        assert_eq!(clip("aé", 3), "aé");
        assert_eq!(first_line("aéb\nc", 2), "a …");
        assert_eq!(first_line("", 2), "");
    }
}
