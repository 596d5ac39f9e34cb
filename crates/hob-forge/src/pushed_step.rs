//! A step of the ledger that the push of the issue's branch makes: the fencing of that push.
//!
//! # Guarantees
//! The server moves the branch and the ledger or neither. So a worker that lost its lease, however late its push arrives, moves no
//! branch: the ledger is no longer where it read it.

use hob_domain::{Record, Sha, Transition, apply, renewed};

use crate::{
    ForgeError, HeldLease, LEDGER_PREFIX, Ledger,
    lease::{Holding, Turn},
    ledger::{Named, RENEWED},
    ref_push::LedgerCommit,
    refs::{count_push, fresh_nonce, may_push},
};

/// A step of the ledger that a push of the issue's branch makes. Nothing else writes the ledger while it exists.
#[derive(Debug)]
pub struct PushedStep {
    name: String,
    sentence: String,
    commit: LedgerCommit,
    mine: Holding,
    record: Box<Record>,
    _turn: Turn,
}

impl Ledger<'_> {
    /// The step that a push of the branch is to take along: this transition, or without one a renewal. `None` where ledgers are not
    /// pushed, or the server took no such push lately.
    ///
    /// # Errors
    /// [`ForgeError`] of a record that cannot be written, and [`ForgeError::Illegal`] if the transition does not apply.
    pub async fn push_along(
        self,
        lease: &HeldLease,
        transition: Option<Transition>,
    ) -> Result<Option<PushedStep>, ForgeError> {
        let connection = self.forge.connection();
        if !may_push(self.forge) || !connection.pushes.take_steps() {
            return Ok(None);
        }
        let turn = lease.turn().await;
        let (mine, now) = (lease.holding(), self.forge.now());
        let renewed = renewed(&mine.record, fresh_nonce(), now);
        let (record, sentence) = match transition {
            Some(transition) => apply(&renewed, transition, now)?,
            None => (renewed, RENEWED.to_owned()),
        };
        let record = Box::new(record);
        let (redaction, named) = (connection.secrets().redaction(), Named::new(&record, &sentence)?);
        let commit = LedgerCommit::new(Some(&mine.tip), &mine.tree, &redaction.text(&named.message), now);
        let name = format!("{LEDGER_PREFIX}{}", named.name);
        Ok(commit.map(|commit| PushedStep { name, sentence, commit, mine, record, _turn: turn }))
    }

    /// Whether the step was made by a push whose answer was lost.
    ///
    /// # Errors
    /// [`ForgeError`] of the read.
    pub async fn has_step(self, step: &PushedStep) -> Result<bool, ForgeError> {
        let tip = self.tip(step.record.issue).await?;
        Ok(tip.is_some_and(|tip| tip.commit == step.commit.sha))
    }

    /// Notes that the branch was pushed with this step; returns its sentence.
    pub fn pushed_along(self, lease: &HeldLease, step: PushedStep) -> String {
        count_push(self.forge);
        let PushedStep { sentence, commit, mine, record, .. } = step;
        self.forge.listener.tell(Some(&lease.written()), &record, &sentence);
        lease.wrote(Holding { tip: commit.sha, record, ..mine });
        sentence
    }

    /// Notes that the server took the push of a branch only alone: so are the next ones for a while.
    pub fn push_alone(self, why: &dyn std::error::Error) {
        self.forge.connection().pushes.give_steps_up(why);
    }
}

impl PushedStep {
    /// The ledger's ref.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The commit that the ref is at.
    pub fn from(&self) -> &Sha {
        &self.mine.tip
    }

    /// The commit that it moves to.
    pub fn to(&self) -> &Sha {
        &self.commit.sha
    }

    /// That commit as an object of a pack.
    pub fn packed(&self) -> Vec<u8> {
        self.commit.packed()
    }
}
