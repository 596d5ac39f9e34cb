//! The trigger label itself: whether the repository still has it.

use crate::{WorkError, WorkEvent, Worker};

/// Why a missing trigger label means nothing: the repository no longer has that label. A renamed label takes its new
/// name on every issue at once, and a deleted one is off all of them: this does not end any work.
pub(super) async fn trigger_is_gone(worker: &Worker) -> Result<Option<String>, WorkError> {
    let label = &worker.settings.labels.trigger;
    let specs = worker.settings.labels.specs();
    let missing = worker.forge.labels().missing(&specs).await?;
    let gone = missing.iter().any(|spec| spec.name == *label).then(|| {
        format!(
            "the repository no longer has the label `{label}`, so no work is ended because it is missing: rename the label back, or set \
             `labels.trigger` to its new name"
        )
    });
    if worker.memory.trouble.note_trigger(gone.clone())
        && let Some(why) = &gone
    {
        worker.emit(&WorkEvent::Failed { issue: None, reason: why.clone() });
    }
    Ok(gone)
}
