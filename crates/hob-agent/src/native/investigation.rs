//! The investigation of one run: its record, kept after each action.
//!
//! - Flow: [`CaseFile::open`] reads the record of earlier runs and adds what is new; [`CaseFile::take`] applies an
//!   action and keeps the record before reporting it; everything that the agent looks at is added as evidence
//!   automatically.
//! - Guarantees: a killed run continues from its last action. A damaged record is started over, with a warning.
//! - Caveats: if the session cannot be written, the record lives only as long as the run.

use std::sync::{Mutex, MutexGuard, PoisonError};

use hob_domain::{
    Impact, Nonce, Outcome, RunRequest, Timestamp,
    investigation::{
        Case, CaseAction, CaseProgress, CaseStatus, CaseStep, EvidenceId, EvidenceKind, Investigation, Metrics,
        Refused, apply, case_brief, open, report,
    },
};
use tokio::task::spawn_blocking;

use crate::{
    RunContext,
    report::clip,
    session::{Kept, Session, SessionEvent, now_ms},
};

/// Bytes of each text in the brief; the rest is read with `read_evidence`.
const SHOWN: usize = 16 * 1024;
/// Lines of evidence that one call shows.
const LINES: usize = 400;

/// The investigation of one run.
#[derive(Debug)]
pub(super) struct CaseFile {
    session: Session,
    record: Mutex<Investigation>,
    /// The evidence that is new in this run.
    new: Vec<EvidenceId>,
    /// Held while the record changes and is kept.
    changing: tokio::sync::Mutex<()>,
}

/// The result of an accepted action.
pub(super) enum Taken {
    /// A sentence about the change.
    Sentence(String),
    /// The end of the run.
    End(Outcome),
}

/// A piece of evidence that cannot be shown.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoEvidence {
    /// The record has none of this name.
    #[error("there is no evidence {0}")]
    Unknown(EvidenceId),
    /// It is a tool's output, which is not kept.
    #[error("{0} is what `{1}` showed: call that again")]
    Output(EvidenceId, String),
    /// Its text is not kept any more.
    #[error("the text of {0} ({1}) is gone: ask for it")]
    Gone(EvidenceId, String),
}

impl CaseFile {
    /// Opens the record of the run's session, or begins it.
    pub(super) async fn open(context: &RunContext, request: &RunRequest, case: &Case) -> Self {
        let session = context.session.clone();
        let kept = blocking(&session, Session::investigation).await.unwrap_or(Kept::Nothing);
        let kept = match kept {
            Kept::Nothing => None,
            Kept::Record(record) => Some(*record),
            Kept::Damaged(why) => {
                warn(context, format!("{why}: the investigation begins anew"));
                None
            }
        };
        let opened = open(kept, &request.session, case, now());
        for warning in opened.warnings {
            warn(context, warning);
        }
        let new = opened.new.iter().map(|(id, _)| *id).collect();
        let (record, changing) = (Mutex::new(opened.record), tokio::sync::Mutex::default());
        let file = Self { session, record, new, changing };
        for (id, text) in opened.new {
            let kept = blocking(&file.session, move |session| session.keep_evidence(id, &text)).await;
            if let Some(Err(error)) = kept {
                warn(context, format!("the text of {id} could not be kept: {error}"));
            }
        }
        file.keep().await;
        file
    }

    /// The outcome that ends the run before it begins: a conclusion that was reached, or an unanswered question.
    pub(super) fn end(&self) -> Option<Outcome> {
        let record = self.record();
        match record.status() {
            CaseStatus::Open => None,
            CaseStatus::Waiting => {
                record.requests.last().map(|request| Outcome::Question { question: request.text.clone() })
            }
            CaseStatus::Concluded => Some(Outcome::done(report(&record, now()))),
        }
    }

    /// The brief of the case, with the texts that people wrote.
    pub(super) async fn brief(&self) -> String {
        let record = self.record().clone();
        let written = record.evidence.iter().filter(|item| match item.kind {
            EvidenceKind::Issue | EvidenceKind::FormAnswer | EvidenceKind::Comment => true,
            EvidenceKind::File | EvidenceKind::Output | EvidenceKind::CheckLog => false,
        });
        let ids: Vec<EvidenceId> = written.map(|item| item.id).collect();
        let texts = blocking(&self.session, move |session| {
            ids.into_iter().filter_map(|id| Some((id, session.evidence(id)?))).collect::<Vec<_>>()
        });
        let fence = Nonce(format!("{:016x}", rand::random::<u64>()));
        case_brief(&record, &texts.await.unwrap_or_default(), SHOWN, &fence)
    }

    /// The first message to a continued run.
    pub(super) fn news(&self) -> String {
        let CaseProgress { message, .. } = self.progress();
        if self.new.is_empty() {
            return format!("[case: {message}]");
        }
        let new: Vec<_> = self.new.iter().map(EvidenceId::to_string).collect();
        format!("[case: {message}; new evidence: {}]", new.join(", "))
    }

    /// The highest impact that needs no approval.
    pub(super) fn approve(&self) -> Impact {
        self.record().approve
    }

    /// The state of the case.
    pub(super) fn progress(&self) -> CaseProgress {
        self.record().progress()
    }

    /// Notes the remaining iterations of a run that begins; `None` means no limit.
    pub(super) fn bounded(&self, left: Option<u32>) {
        let metrics = &mut self.record().metrics;
        metrics.max_iterations = left.map(|left| metrics.iterations.saturating_add(left));
    }

    /// Counts an iteration that begins.
    pub(super) async fn iterated(&self) {
        let counted = |metrics: &mut Metrics| metrics.iterations = metrics.iterations.saturating_add(1);
        counted(&mut self.record().metrics);
        self.keep().await;
    }

    /// Counts an action that was refused.
    pub(super) fn refused(&self) {
        let metrics = &mut self.record().metrics;
        metrics.refused = metrics.refused.saturating_add(1);
    }

    /// Counts an action that failed otherwise.
    pub(super) fn failed(&self) {
        let metrics = &mut self.record().metrics;
        metrics.errors = metrics.errors.saturating_add(1);
    }

    /// Refuses an invalid action, before a person is asked about it.
    pub(super) fn check(&self, action: &CaseAction) -> Result<(), Refused> {
        apply(&self.record(), action, now()).map(drop)
    }

    /// Takes an action, and keeps the record.
    pub(super) async fn take(&self, action: CaseAction) -> Result<Taken, Refused> {
        let _one_at_a_time = self.changing.lock().await;
        let now = now();
        let (next, sentence) = apply(&self.record(), &action, now)?;
        *self.record() = next;
        self.keep().await;
        Ok(match action.step {
            CaseStep::Conclude { .. } => Taken::End(Outcome::done(report(&self.record(), now))),
            CaseStep::RequestEvidence { request } => Taken::End(Outcome::Question { question: request }),
            CaseStep::AnswerQuestion { .. } | CaseStep::TestHypothesis { .. } | CaseStep::TransitionState { .. } => {
                Taken::Sentence(sentence)
            }
        })
    }

    /// Adds a tool's output as evidence, and returns its name. `None` if the record is full.
    pub(super) async fn saw(&self, source: &str, text: &str) -> Option<EvidenceId> {
        let _one_at_a_time = self.changing.lock().await;
        let id = self.record().add(EvidenceKind::Output, source, text)?;
        self.keep().await;
        Some(id)
    }

    /// The text of a piece of evidence, from a line on.
    pub(super) async fn read(&self, id: EvidenceId, from: Option<usize>, cap: usize) -> Result<String, NoEvidence> {
        let Some(item) = self.record().evidence.iter().find(|item| item.id == id).cloned() else {
            return Err(NoEvidence::Unknown(id));
        };
        if item.kind == EvidenceKind::Output {
            return Err(NoEvidence::Output(id, item.source));
        }
        let kept = blocking(&self.session, move |session| session.evidence(id)).await.flatten();
        let Some(text) = kept else {
            return Err(NoEvidence::Gone(id, item.source));
        };
        let from = from.unwrap_or(1).max(1);
        let all = text.lines().count();
        let last = (from - 1 + LINES).min(all);
        let mut shown = format!("[{id}, lines {from} to {last} of {all}]\n");
        for (at, line) in text.lines().enumerate().skip(from - 1).take(LINES) {
            shown.push_str(&format!("{}: {line}\n", at + 1));
        }
        Ok(clip(&shown, cap))
    }

    /// Writes the record to the session. A failure is a warning: the work continues.
    pub(super) async fn keep(&self) {
        let record = self.record().clone();
        let kept = blocking(&self.session, move |session| session.keep_investigation(&record)).await;
        if let Some(Err(error)) = kept {
            tracing::warn!(%error, "the record of the investigation could not be kept: {error}");
        }
    }

    fn record(&self) -> MutexGuard<'_, Investigation> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn blocking<T: Send + 'static>(
    session: &Session,
    work: impl FnOnce(&Session) -> T + Send + 'static,
) -> Option<T> {
    let session = session.clone();
    // It fails if it panics, or if the runtime is shutting down: then there is no result.
    spawn_blocking(move || work(&session)).await.ok()
}

fn warn(context: &RunContext, text: String) {
    tracing::warn!("{text}");
    context.show(text.clone());
    context.session.add(SessionEvent::Noted { text });
}

fn now() -> Timestamp {
    let ms = i64::try_from(now_ms()).unwrap_or(i64::MAX);
    Timestamp::from_timestamp_millis(ms).unwrap_or_default()
}
