//! The ledger on the forge: one ref for each issue, one commit for each transition.
//!
//! # Flow
//! [`Ledger::tips`] lists the refs, and [`Ledger::read_ahead`] reads many of their commits at once. [`Ledger::acquire`]
//! creates a ref or fast-forwards it from the tip that was read; [`Ledger::transition`], [`Ledger::renew`] and
//! [`Ledger::release`] fast-forward it from the tip that the holder last wrote.
//!
//! # Guarantees
//! Each write is a compare-and-set: the commit's parent is the tip that was read, and a ref only moves forwards. If an
//! outcome is unknown, reading the ref settles whether the write took effect.
//!
//! # Caveats
//! The commits have the tree of the base branch, because not every forge accepts an empty tree.

use std::iter;

use hob_domain::{
    Claimant, Generation, IssueNumber, Lost, Nonce, Record, RepositoryRecord, Request, Sha, Timestamp, Transition,
    acquire, apply, counted, released, renewed, still_mine,
};

use crate::{
    BaseBranch, Forge, ForgeError, HeldLease, LEDGER_PREFIX, Tip, Tips,
    lease::{Holding, Turn},
    purpose::Share,
    ref_push::Updates,
    refs::{
        Pushed, Shares, Step, advance, delete_ref, fresh_nonce, list_refs, move_ref, push_all, read_commit, read_ref,
        server,
    },
    repository_ledger::RepositoryChange,
    tips::{FINISHED, issue_number},
};

/// What the ledger says of a renewal.
pub(super) const RENEWED: &str = "renewed the lease";
/// Transitions of one issue that [`Ledger::history`] reads.
const HISTORY_MAX: usize = 500;

/// One transition in the ledger.
#[derive(Debug, Clone)]
pub struct LedgerEntry {
    /// The commit.
    pub commit: Sha,
    /// The sentence for people.
    pub sentence: String,
    /// When it was written, by the writer's clock; the record's `renewed_at` is by the forge's.
    pub at: Timestamp,
    /// The record.
    pub record: Record,
    pub(super) tree: Sha,
    parent: Option<Sha>,
}

impl LedgerEntry {
    /// Whether it only renewed the lease.
    pub fn is_renewal(&self) -> bool {
        self.sentence == RENEWED
    }
}

/// What a lease is acquired with.
#[derive(Debug)]
pub struct Acquisition<'a> {
    /// The issue.
    pub issue: IssueNumber,
    /// The tip that the decision was based on.
    pub seen: Option<&'a LedgerEntry>,
    /// The worker.
    pub claimant: &'a Claimant,
    /// The tree of the base branch.
    pub tree: &'a Sha,
    /// The first transition.
    pub transition: Transition,
}

/// The ledgers of a repository's issues.
#[derive(Debug, Clone, Copy)]
pub struct Ledger<'a> {
    pub(super) forge: &'a Forge,
}

impl Ledger<'_> {
    /// The ledgers of all issues, and the repository's own.
    ///
    /// # Errors
    /// [`ForgeError`] of the read.
    pub async fn tips(self) -> Result<Tips, ForgeError> {
        let mut tips = Tips::default();
        for found in list_refs(self.forge).await? {
            let Some(name) = found.name.strip_prefix(LEDGER_PREFIX) else { continue };
            let of_issue = name.strip_prefix("issues/").map(|name| name.split_once('/').unwrap_or((name, "")));
            match of_issue.and_then(|(number, below)| Some((issue_number(number)?, below))) {
                Some((issue, "")) => tips.issues.push(Tip { issue, commit: found.object.sha }),
                Some((issue, _below)) => drop(tips.obstacles.insert(issue, found.name)),
                None if name == "repository" => tips.repository = Some(found.object.sha),
                None if name == FINISHED => tips.finished = Some(found.object.sha),
                None => {}
            }
        }
        Ok(tips)
    }

    /// The prefix of the full names of the issues' ledger refs.
    pub fn issue_refs(self) -> String {
        format!("{LEDGER_PREFIX}issues/")
    }

    /// The tip of one issue's ledger. `None` if it has no ledger yet.
    ///
    /// # Errors
    /// [`ForgeError`] of the read.
    pub async fn tip(self, issue: IssueNumber) -> Result<Option<Tip>, ForgeError> {
        let found = read_ref(self.forge, &format!("issues/{issue}"), "read the ledger's ref").await?;
        Ok(found.map(|commit| Tip { issue, commit }))
    }

    /// The transition at a tip.
    ///
    /// # Errors
    /// [`ForgeError::Record`] if the commit has no readable record.
    pub async fn entry(self, tip: &Tip) -> Result<LedgerEntry, ForgeError> {
        let what = format!("read the ledger of issue {}", tip.issue);
        let commit = read_commit(self.forge, &tip.commit, &what).await?;
        let (sentence, record) = Record::from_message(&commit.message)
            .map_err(|source| ForgeError::Record { issue: tip.issue.0, source })?;
        let parent = commit.parents.into_iter().next().map(|parent| parent.sha);
        Ok(LedgerEntry { commit: commit.sha, sentence, at: commit.author.date, record, tree: commit.tree.sha, parent })
    }

    /// The issue's transitions, oldest first.
    ///
    /// # Errors
    /// [`ForgeError`] of a read.
    pub async fn history(self, issue: IssueNumber) -> Result<Vec<LedgerEntry>, ForgeError> {
        let Some(tip) = self.tip(issue).await? else { return Ok(Vec::new()) };
        let mut entries = self.back_from(self.entry(&tip).await?, |_| false).await?;
        entries.reverse();
        Ok(entries)
    }

    /// `newest` and the transitions before it, the newest first, back to the last one of `generation`. If there is none, it is as
    /// much as [`history`](Self::history) returns.
    ///
    /// # Errors
    /// [`ForgeError`] of a read.
    pub async fn back_to(self, newest: LedgerEntry, generation: Generation) -> Result<Vec<LedgerEntry>, ForgeError> {
        self.back_from(newest, |entry| entry.record.generation == generation).await
    }

    /// `newest` and at most [`HISTORY_MAX`] transitions in all, the newest first, up to one that is the last.
    async fn back_from(
        self,
        newest: LedgerEntry,
        is_last: impl Fn(&LedgerEntry) -> bool,
    ) -> Result<Vec<LedgerEntry>, ForgeError> {
        let (issue, mut entries) = (newest.record.issue, vec![newest]);
        while let Some(entry) = entries.last()
            && entries.len() < HISTORY_MAX
            && !is_last(entry)
            && let Some(commit) = entry.parent.clone()
        {
            let before = self.entry(&Tip { issue, commit }).await?;
            entries.push(before);
        }
        Ok(entries)
    }

    /// Acquires the lease on an issue with a first transition. `tree` is the tree of the base branch, `seen` the tip
    /// that the decision was based on.
    ///
    /// # Errors
    /// [`ForgeError::Held`] if another lease is still valid, [`ForgeError::Lost`] if another worker was faster,
    /// [`ForgeError::Illegal`] if the transition does not apply.
    pub async fn acquire(
        self,
        issue: IssueNumber,
        seen: Option<&LedgerEntry>,
        claimant: &Claimant,
        tree: &Sha,
        transition: Transition,
    ) -> Result<HeldLease, ForgeError> {
        let nothing = |_: &Record, _: Option<&RepositoryRecord>, _, _| -> RepositoryChange<(), ()> { Err(()) };
        Ok(self.acquire_with(Acquisition { issue, seen, claimant, tree, transition }, nothing).await?.0)
    }

    /// The same, with a change of the repository's ledger in the same push, where ledgers are pushed and the change does not refuse what
    /// is known: then also its answer. The change is given the record as it is with the lease.
    ///
    /// # Errors
    /// As for [`acquire`](Self::acquire).
    pub async fn acquire_with<T, E>(
        self,
        acquisition: Acquisition<'_>,
        change: impl Fn(&Record, Option<&RepositoryRecord>, Nonce, Timestamp) -> RepositoryChange<T, E>,
    ) -> Result<(HeldLease, Option<T>), ForgeError> {
        let Acquisition { issue, seen, claimant, tree, transition } = acquisition;
        let now = self.forge.now();
        let acquired = acquire(seen.map(|entry| &entry.record), issue, claimant, now)?;
        let left = seen.and_then(|entry| counted(&entry.record, &acquired));
        let (record, mut sentence) = apply(&acquired, transition, now)?;
        if let Some(left) = left {
            sentence = format!("{left}; {sentence}");
        }
        let tree = seen.map_or(tree, |entry| &entry.tree);
        let from = seen.map(|entry| &entry.commit);
        let record = Box::new(record);
        let with = |before: Option<&RepositoryRecord>, nonce, now| change(&record, before, nonce, now);
        let named = Named::new(&record, &sentence)?;
        let shares = Shares { pushes: Share::Lease, writes: Share::Common };
        let both = self.advance_with(named.step(from, tree), record.generation, shares, with).await?;
        let (holding, answer) = match both {
            Some((tip, answer)) => (Holding { tip, tree: tree.clone(), record }, answer),
            None => (self.advance(from, tree, record, &sentence, Share::Common).await?, None),
        };
        self.forge.listener.tell(seen.map(|entry| &entry.record), &holding.record, &sentence);
        let lease = HeldLease::new(holding);
        self.forge.leases.add(&lease);
        Ok((lease, answer))
    }

    /// Makes a transition of an issue whose lease is held; returns its sentence.
    ///
    /// # Errors
    /// [`ForgeError::Lost`] if another worker has the lease now, and the lease is marked as lost.
    /// [`ForgeError::Illegal`] if the transition does not apply, and nothing is written.
    pub async fn transition(self, lease: &HeldLease, transition: Transition) -> Result<String, ForgeError> {
        let _turn = lease.turn().await;
        let now = self.forge.now();
        let (record, sentence) = apply(&renewed(&lease.record(), fresh_nonce(), now), transition, now)?;
        self.step(lease, Box::new(record), &sentence).await?;
        Ok(sentence)
    }

    /// Renews the lease after reading the ref. Where ledgers are pushed, the same push renews what else this process holds in the
    /// repository and would soon renew.
    ///
    /// # Errors
    /// [`ForgeError::Lost`] if another worker has the lease now, and the lease is marked as lost.
    pub async fn renew(self, lease: &HeldLease) -> Result<(), ForgeError> {
        self.watch(lease).await?;
        let _turn = lease.turn().await;
        let record = Box::new(renewed(&lease.record(), fresh_nonce(), self.forge.now()));
        let others =
            if server(self.forge, Share::Lease).is_some() { self.forge.leases.due_with(lease) } else { Vec::new() };
        if !others.is_empty() && Box::pin(self.renew_together(lease, &record, &others)).await? {
            return Ok(());
        }
        self.step(lease, record, RENEWED).await
    }

    /// Renews the lease and the others in one push; whether it renewed the lease. The heartbeat of one that was not renewed does that, or
    /// finds out why it cannot.
    async fn renew_together(
        self,
        lease: &HeldLease,
        record: &Record,
        others: &[(HeldLease, Turn)],
    ) -> Result<bool, ForgeError> {
        let now = self.forge.now();
        let of_others = others.iter().map(|(other, _)| (other, Box::new(renewed(&other.record(), fresh_nonce(), now))));
        let all: Vec<_> = iter::once((lease, Box::new(record.clone()))).chain(of_others).collect();
        let named = all.iter().map(|(_, record)| Named::new(record, RENEWED)).collect::<Result<Vec<_>, _>>()?;
        let held: Vec<_> = all.iter().map(|(lease, _)| lease.holding()).collect();
        let steps = named.iter().zip(&held).map(|(named, mine)| named.step(Some(&mine.tip), &mine.tree));
        let steps: Vec<_> = steps.collect();
        // Otherwise the lease is written alone, which waits for what passes and finds out what was written.
        let shares = Shares { pushes: Share::Lease, writes: Share::Lease };
        let Ok(pushed) = push_all(self.forge, &steps, Updates::Independent, shares).await else {
            return Ok(false);
        };
        let is_renewed = matches!(pushed.first(), Some(Pushed::To(_)));
        for (((lease, record), mine), pushed) in all.into_iter().zip(held).zip(pushed) {
            if let Pushed::To(tip) = pushed {
                self.forge.listener.tell(Some(&lease.written()), &record, RENEWED);
                lease.wrote(Holding { tip, record, ..mine });
            }
        }
        Ok(is_renewed)
    }

    /// Checks that the lease is still the holder's, and picks up a request from the ledger.
    ///
    /// # Errors
    /// [`ForgeError::Lost`] if another worker has the lease now, and the lease is marked as lost.
    pub async fn watch(self, lease: &HeldLease) -> Result<(), ForgeError> {
        let _turn = lease.turn().await;
        let mine = lease.holding();
        let Some(tip) = self.tip(lease.issue()).await?.filter(|tip| tip.commit != mine.tip) else { return Ok(()) };
        let found = self.entry(&tip).await?.record;
        if let Err(lost) = still_mine(&found, &mine.record) {
            lease.lost().cancel();
            return Err(lost.into());
        }
        // Others only ever write a request beside the holder; what the holder noted since its last write is in its own
        // record. Its own write of a command may have been cut off.
        if found.request().is_some() {
            let commands = mine.record.commands.clone().with_written(&found.commands);
            let record = Box::new(Record { control: found.control, commands, ..*mine.record });
            lease.heard(Holding { tip: tip.commit, tree: mine.tree, record });
        }
        Ok(())
    }

    /// Writes a request for the holder of an issue's lease into the ledger. The holder keeps the lease.
    ///
    /// # Errors
    /// [`ForgeError::Lost`] if the ledger moved meanwhile; read it again.
    pub async fn ask(self, seen: &LedgerEntry, request: Request) -> Result<(), ForgeError> {
        let (record, sentence) = apply(&seen.record, Transition::Request(request), self.forge.now())?;
        let record = Box::new(Record { nonce: fresh_nonce(), ..record });
        let holding = self.advance(Some(&seen.commit), &seen.tree, record, &sentence, Share::Common).await?;
        self.forge.listener.tell(Some(&seen.record), &holding.record, &sentence);
        Ok(())
    }

    /// Releases the lease.
    ///
    /// # Errors
    /// [`ForgeError::Lost`] if another worker already has the lease.
    pub async fn release(self, lease: &HeldLease) -> Result<(), ForgeError> {
        let _turn = lease.turn().await;
        let record = released(&lease.record(), fresh_nonce(), self.forge.now());
        self.step(lease, Box::new(record), "released the lease").await
    }

    /// Releases the lease after this change of the repository's ledger, or in one push with it.
    ///
    /// # Errors
    /// [`ForgeError::Lost`] if another worker already has the lease; [`ForgeError`] of the change, and the lease is still held.
    pub async fn release_after(
        self,
        lease: &HeldLease,
        tree: &Sha,
        change: impl Fn(Option<&RepositoryRecord>, Nonce, Timestamp) -> RepositoryChange<()>,
    ) -> Result<(), ForgeError> {
        const SENTENCE: &str = "released the lease";
        let _turn = lease.turn().await;
        let (mine, before) = (lease.holding(), lease.written());
        let record = Box::new(released(&mine.record, fresh_nonce(), self.forge.now()));
        let named = Named::new(&record, SENTENCE)?;
        let step = named.step(Some(&mine.tip), &mine.tree);
        let shares = Shares { pushes: Share::Common, writes: Share::Lease };
        match self.advance_with(step, record.generation, shares, &change).await {
            Ok(Some((tip, Some(())))) => {
                self.forge.listener.tell(Some(&before), &record, SENTENCE);
                lease.wrote(Holding { tip, record, ..mine });
                return Ok(());
            }
            // One that refuses has nothing to do. What is not known to be written is written again, which is harmless.
            Ok(_) | Err(_) => drop(self.forge.repository_ledger().change(tree, change).await?),
        }
        self.step(lease, record, SENTENCE).await
    }

    /// Makes the last transition of an attempt and releases the lease in one write; returns the transition's sentence.
    ///
    /// # Errors
    /// As for [`transition`](Self::transition).
    pub async fn release_with(self, lease: &HeldLease, transition: Transition) -> Result<String, ForgeError> {
        let _turn = lease.turn().await;
        let now = self.forge.now();
        let (record, sentence) = apply(&released(&lease.record(), fresh_nonce(), now), transition, now)?;
        self.step(lease, Box::new(record), &sentence).await?;
        Ok(sentence)
    }

    /// Tests whether the token may create refs below the ledger's prefix: creates one and deletes it.
    ///
    /// # Errors
    /// [`ForgeError`] of the first call that is refused.
    pub async fn try_refs(self, base: &BaseBranch) -> Result<(), ForgeError> {
        let name = format!("doctor-{}", fresh_nonce());
        move_ref(self.forge, &name, None, &base.sha, "make a ref of the ledger", Share::Common).await?;
        delete_ref(self.forge, &name, "delete a ref of the ledger").await
    }

    /// Writes `record` on top of the lease's last write. A failed step would lose what the run has to report, above all
    /// its cost. So a failure that may be transient is retried, which is safe since only one of the tries can move the
    /// ref.
    async fn step(self, lease: &HeldLease, record: Box<Record>, sentence: &str) -> Result<(), ForgeError> {
        let (mut tried, before) = (0, lease.written());
        let error = loop {
            let error = match self.step_once(lease, record.clone(), sentence).await {
                Ok(holding) => {
                    self.forge.listener.tell(Some(&before), &holding.record, sentence);
                    lease.wrote(holding);
                    return Ok(());
                }
                Err(error) => error,
            };
            let Some(pause) = self.forge.pause_within(lease, &error, tried) else { break error };
            self.forge.wait(&error, pause).await;
            tried += 1;
        };
        if matches!(error, ForgeError::Lost(_)) {
            lease.lost().cancel();
        }
        Err(error)
    }

    async fn step_once(self, lease: &HeldLease, record: Box<Record>, sentence: &str) -> Result<Holding, ForgeError> {
        let mine = lease.holding();
        match self.advance(Some(&mine.tip), &mine.tree, record.clone(), sentence, Share::Lease).await {
            // A write that was cut off before its answer may have moved the ref.
            Err(ForgeError::Lost(lost)) => {
                let Some(tip) = self.tip(lease.issue()).await? else { return Err(lost.into()) };
                let found = self.entry(&tip).await?.record;
                if found.nonce == record.nonce {
                    return Ok(Holding { tip: tip.commit, tree: mine.tree, record });
                }
                still_mine(&found, &mine.record)?;
                // A request that came meanwhile stays in the ledger until it is carried out.
                let request =
                    found.control.filter(|asked| !asked.obeyed && mine.record.control.as_ref() != Some(asked));
                let commands = record.commands.clone().with_written(&found.commands);
                let control = request.or_else(|| record.control.clone());
                let record = Box::new(Record { control, commands, ..*record });
                self.advance(Some(&tip.commit), &mine.tree, record, sentence, Share::Lease).await
            }
            result => result,
        }
    }

    /// Moves an issue's ref by `step`, to a record of this generation, and the repository's ref by `change`, in one push: both or none.
    /// Returns the issue's new tip, and the change's answer; `None` if neither moved.
    ///
    /// A server without atomic pushes makes each update that it can. If that is the step alone, there is no answer; if it is the change
    /// alone, the reservation of an issue that nobody holds ends with its time.
    async fn advance_with<T, E>(
        self,
        step: Step<'_>,
        generation: Generation,
        shares: Shares,
        change: impl Fn(Option<&RepositoryRecord>, Nonce, Timestamp) -> RepositoryChange<T, E>,
    ) -> Result<Option<(Sha, Option<T>)>, ForgeError> {
        let repository = self.forge.repository_ledger();
        if server(self.forge, shares.pushes).is_none() {
            return Ok(None);
        }
        let Some(prepared) = repository.prepare(change).await? else { return Ok(None) };
        let steps = [step, prepared.step(step.tree)];
        let pushed = Box::pin(push_all(self.forge, &steps, Updates::Atomic, shares)).await?;
        let [of_issue, of_repository] = pushed.try_into().unwrap_or([Pushed::Not(None), Pushed::Not(None)]);
        let answer = match of_repository {
            Pushed::To(commit) => {
                repository.wrote(commit, prepared.record);
                Some(prepared.answer)
            }
            Pushed::Lost | Pushed::Not(_) => None,
        };
        match of_issue {
            Pushed::To(tip) => Ok(Some((tip, answer))),
            Pushed::Lost => Err(Lost { tip: generation }.into()),
            Pushed::Not(_) => Ok(None),
        }
    }

    /// Moves an issue's ref from `from` to a new commit with `record`: the protocol's compare-and-set.
    async fn advance(
        self,
        from: Option<&Sha>,
        tree: &Sha,
        record: Box<Record>,
        sentence: &str,
        share: Share,
    ) -> Result<Holding, ForgeError> {
        match advance(self.forge, Named::new(&record, sentence)?.step(from, tree), share).await? {
            Some(tip) => Ok(Holding { tip, tree: tree.clone(), record }),
            // Another writer moved it, with at least this generation. The holder of the lease finds out which.
            None => Err(Lost { tip: record.generation }.into()),
        }
    }
}

/// The texts of a step of an issue's ledger.
pub(super) struct Named {
    pub(super) name: String,
    pub(super) message: String,
    advance: String,
}

impl Named {
    pub(super) fn new(record: &Record, sentence: &str) -> Result<Self, ForgeError> {
        let (issue, message) = (record.issue, record.to_message(sentence)?);
        Ok(Self { name: format!("issues/{issue}"), message, advance: format!("move the ledger of issue {issue}") })
    }

    fn step<'a>(&'a self, from: Option<&'a Sha>, tree: &'a Sha) -> Step<'a> {
        let Self { name, message, advance } = self;
        Step { name, from, tree, message, write: "write the ledger's commit", advance }
    }
}
