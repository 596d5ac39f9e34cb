//! Whose word counts: the permission of an account is looked up at the moment it matters.

use hob_domain::{Actor, LabelEventKind, Refusal, Trigger, latest};
use hob_forge::Issue;
use sha2::{Digest, Sha256};

use crate::{WorkError, Worker};

/// What the trigger label's last event means.
pub(super) enum Vetted {
    /// Its actor may set Hob to work.
    Trusted(Trigger),
    /// Its actor may not.
    Refused(Refusal),
}

impl Worker {
    /// Checks who put the trigger label on last.
    pub(super) async fn vet(&self, issue: &Issue) -> Result<Vetted, WorkError> {
        let events = self.forge.label_events(issue.number).await?;
        let label = &self.settings.labels.trigger;
        let event = latest(&events, LabelEventKind::Labeled, label);
        let refused = |reason: String| {
            Vetted::Refused(Refusal {
                event: event.map(|event| event.id),
                actor: event.and_then(|event| event.actor.as_ref()).map(|actor| actor.login.clone()),
                reason,
                at: self.forge.now(),
            })
        };
        let Some(event) = event else {
            return Ok(refused(format!("no event says who put the label `{label}` on")));
        };
        let Some(actor) = &event.actor else {
            return Ok(refused(format!("the account that put the label `{label}` on is gone")));
        };
        Ok(match self.judge(actor).await? {
            Ok(()) => {
                Vetted::Trusted(Trigger { event: event.id, actor: actor.login.clone(), approved: approved_hash(issue) })
            }
            Err(reason) => refused(reason),
        })
    }

    /// Whether an account's word counts; the reason where it does not. A look-up that fails trusts nobody.
    pub(super) async fn judge(&self, actor: &Actor) -> Result<Result<(), String>, WorkError> {
        let rules = self.settings.trust_rules();
        let permission = if rules.lists(actor) { None } else { self.forge.permission(actor).await? };
        Ok(rules.judge(actor, permission))
    }
}

/// What was approved: the title and the body as they stood.
pub(super) fn approved_hash(issue: &Issue) -> String {
    let digest = Sha256::new().chain_update(&issue.title).chain_update([0]).chain_update(&issue.body).finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
