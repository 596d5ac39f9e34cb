//! A renewal of a lease that the push of the branch makes: the fencing of that push.
//!
//! # Guarantees
//! The server moves the branch and the ledger or neither. So a worker that lost its lease, however late its push arrives, moves no
//! branch: the ledger is no longer where it read it.

use hob_domain::{Record, Sha, renewed};

use crate::{
    ForgeError, HeldLease, LEDGER_PREFIX, Ledger,
    lease::{Holding, Turn},
    ledger::{Named, RENEWED},
    ref_push::LedgerCommit,
    refs::{count_push, fresh_nonce, may_push},
};

/// A renewal of a lease that a push of the branch makes. Nothing else writes the ledger while it exists.
#[derive(Debug)]
pub struct PushedRenewal {
    name: String,
    commit: LedgerCommit,
    mine: Holding,
    record: Box<Record>,
    _turn: Turn,
}

impl Ledger<'_> {
    /// The step that a push of the branch is to take along. `None` where ledgers are not pushed, or the server took no such push
    /// lately.
    ///
    /// # Errors
    /// [`ForgeError`] of a record that cannot be written.
    pub async fn push_along(self, lease: &HeldLease) -> Result<Option<PushedRenewal>, ForgeError> {
        let connection = self.forge.connection();
        if !may_push(self.forge) || !connection.pushes.take_renewals() {
            return Ok(None);
        }
        let turn = lease.turn().await;
        let (mine, now) = (lease.holding(), self.forge.now());
        let record = Box::new(renewed(&mine.record, fresh_nonce(), now));
        let (redaction, named) = (connection.secrets().redaction(), Named::new(&record, RENEWED)?);
        let commit = LedgerCommit::new(Some(&mine.tip), &mine.tree, &redaction.text(&named.message), now);
        let name = format!("{LEDGER_PREFIX}{}", named.name);
        Ok(commit.map(|commit| PushedRenewal { name, commit, mine, record, _turn: turn }))
    }

    /// Notes that the branch was pushed with this step.
    pub fn pushed_along(self, lease: &HeldLease, renewal: PushedRenewal) {
        count_push(self.forge);
        let PushedRenewal { commit, mine, record, .. } = renewal;
        self.forge.listener.tell(Some(&lease.written()), &record, RENEWED);
        lease.wrote(Holding { tip: commit.sha, record, ..mine });
    }

    /// Notes that the server took the push of a branch only alone: so are the next ones for a while.
    pub fn push_alone(self, why: &dyn std::error::Error) {
        self.forge.connection().pushes.give_renewals_up(why);
    }
}

impl PushedRenewal {
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
