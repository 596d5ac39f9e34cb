//! Changes with known defects, and a reviewer's score on them.

use hob_domain::{ChangeKind, Diff, FileChange, FileMode, Finding, FindingSeverity};
use serde::{Deserialize, Serialize};

use crate::Findings;

/// The most lines between a finding and the defect that it describes.
const NEAR: u32 = 3;

/// A change with a known defect, or without one.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReviewCase {
    /// Its name.
    pub id: String,
    /// The language of its code.
    pub language: String,
    /// The purpose of the change.
    pub issue: String,
    /// The change as a unified diff, with its whole files as context.
    pub patch: String,
    /// Its defect. `None` if it has none.
    pub defect: Option<SeededDefect>,
}

/// A defect that was put into a change.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeededDefect {
    /// The file.
    pub file: String,
    /// The line after the change.
    pub line: u32,
    /// The kind of defect.
    pub kind: String,
    /// Its severity.
    pub severity: FindingSeverity,
}

/// The verdict on a reviewer's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    /// It found the defect.
    Found,
    /// It missed the defect.
    Missed,
    /// It reported something serious although there is no defect.
    FalseAlarm,
    /// It reported nothing serious, and there is no defect.
    Clean,
    /// Its answer was unusable.
    NoAnswer,
}

/// A reviewer's score.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ReviewScore {
    /// Reviewed changes.
    pub changes: usize,
    /// Defects that were found.
    pub found: usize,
    /// Defects that were missed.
    pub missed: usize,
    /// Changes without a defect in which the reviewer reported one.
    pub false_alarms: usize,
    /// Changes without a defect and without a serious finding.
    pub clean: usize,
    /// Unusable answers.
    pub no_answers: usize,
}

impl ReviewCase {
    /// The files after the change.
    pub fn files(&self) -> Vec<(String, String)> {
        let mut files: Vec<(String, String)> = Vec::new();
        for line in self.patch.lines() {
            if let Some(path) = line.strip_prefix("+++ b/") {
                files.push((path.to_owned(), String::new()));
            } else if let Some((_, text)) = files.last_mut()
                && let Some(kept) = line.strip_prefix(['+', ' '])
            {
                text.push_str(kept);
                text.push('\n');
            }
        }
        files
    }

    /// The change in the form that findings are compared with.
    pub fn diff(&self) -> Diff {
        let file = |(path, text): (String, String)| FileChange {
            path,
            kind: ChangeKind::Modified,
            mode: FileMode::File,
            additions: 0,
            deletions: 0,
            size: text.len() as u64,
        };
        Diff { files: self.files().into_iter().map(file).collect(), patch: self.patch.clone(), ..Diff::default() }
    }

    /// The verdict on an answer. `None` is an unusable answer.
    pub fn judge(&self, found: Option<&Findings>) -> Judgement {
        let Some(found) = found else { return Judgement::NoAnswer };
        let Some(defect) = &self.defect else {
            let weighs = |finding: &Finding| finding.severity > FindingSeverity::Low;
            return if found.list.iter().any(weighs) { Judgement::FalseAlarm } else { Judgement::Clean };
        };
        let means = |finding: &Finding| {
            finding.file == defect.file && finding.line.is_none_or(|line| line.abs_diff(defect.line) <= NEAR)
        };
        // A remark about style in the right place is not the defect.
        let weighs =
            |finding: &Finding| finding.severity > FindingSeverity::Low || defect.severity == FindingSeverity::Low;
        match found.list.iter().any(|finding| means(finding) && weighs(finding)) {
            true => Judgement::Found,
            false => Judgement::Missed,
        }
    }
}

impl FromIterator<Judgement> for ReviewScore {
    fn from_iter<T: IntoIterator<Item = Judgement>>(judgements: T) -> Self {
        let mut score = Self::default();
        for judgement in judgements {
            score.changes += 1;
            *match judgement {
                Judgement::Found => &mut score.found,
                Judgement::Missed => &mut score.missed,
                Judgement::FalseAlarm => &mut score.false_alarms,
                Judgement::Clean => &mut score.clean,
                Judgement::NoAnswer => &mut score.no_answers,
            } += 1;
        }
        score
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const CORPUS: &str = include_str!("../../../../lab/review/corpus.jsonl");
    const REPLIES: &str = include_str!("../../../../lab/review/replies.jsonl");

    /// An example of a reply, written for its case.
    #[derive(Deserialize)]
    struct Reply {
        id: String,
        reply: String,
        /// Whether it names the defect. `None` if there is no defect.
        finds: Option<bool>,
    }

    fn corpus() -> Vec<ReviewCase> {
        CORPUS.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn the_corpus_is_what_it_says() {
        let cases = corpus();
        let (bad, clean): (Vec<_>, Vec<_>) = cases.iter().partition(|case| case.defect.is_some());
        let languages: BTreeSet<&str> = cases.iter().map(|case| case.language.as_str()).collect();
        assert_eq!((bad.len(), clean.len(), languages.len()), (60, 20, 15));
        assert_eq!(cases.iter().map(|case| &case.id).collect::<BTreeSet<_>>().len(), 80);
        for case in &bad {
            let (defect, files) = (case.defect.as_ref().unwrap(), case.files());
            let (_, text) = files.iter().find(|(path, _)| *path == defect.file).unwrap();
            let line = text.lines().nth(defect.line as usize - 1).unwrap();
            assert!(case.patch.lines().any(|one| one.strip_prefix('+') == Some(line)), "{}: {line}", case.id);
        }
    }

    #[test]
    fn examples_of_replies_are_read_for_all_of_them() {
        let replies: Vec<Reply> = REPLIES.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let cases = corpus();
        assert_eq!(replies.len(), cases.len());
        let mut judgements = Vec::new();
        for (case, reply) in cases.iter().zip(&replies) {
            assert_eq!(case.id, reply.id);
            let found = Findings::read(&reply.reply, &case.diff());
            let judgement = case.judge(found.as_ref().ok());
            let expected = match reply.finds {
                Some(true) => Judgement::Found,
                Some(false) => Judgement::Missed,
                None => Judgement::Clean,
            };
            assert_eq!(judgement, expected, "{}: {}", case.id, reply.reply);
            if let (Some(true), Some(defect), Ok(found)) = (reply.finds, &case.defect, &found) {
                let same = |one: &&Finding| one.line == Some(defect.line) && one.severity == defect.severity;
                assert!(found.list.iter().any(|one| same(&one)), "{}: {found:?}", case.id);
            }
            judgements.push(judgement);
        }
        let score: ReviewScore = judgements.into_iter().collect();
        assert_eq!((score.changes, score.found, score.missed, score.false_alarms, score.no_answers), (80, 54, 6, 0, 0));
    }

    #[test]
    fn an_answer_is_judged_by_place_and_weight() {
        let case = corpus().remove(0);
        let read = |words: &str| case.judge(Findings::read(words, &case.diff()).ok().as_ref());
        for (words, judgement) in [
            ("- high pages.py:6: x", Judgement::Found),
            ("- medium pages.py:3: x", Judgement::Found),
            ("- medium pages.py:2: x", Judgement::Missed),
            ("- high pages.py: x", Judgement::Found),
            ("- low pages.py:6: x", Judgement::Missed),
            ("No findings", Judgement::Missed),
            ("Fine.", Judgement::NoAnswer),
        ] {
            assert_eq!(read(words), judgement, "{words}");
        }
        let clean = ReviewCase { defect: None, ..case.clone() };
        let read = |words: &str| clean.judge(Findings::read(words, &clean.diff()).ok().as_ref());
        assert_eq!(
            (read("- low pages.py:6: x"), read("- medium pages.py:6: x")),
            (Judgement::Clean, Judgement::FalseAlarm)
        );
    }
}
