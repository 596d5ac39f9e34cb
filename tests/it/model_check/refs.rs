//! What moves beside an issue's ledger: its share of the repository's day and its branch, in one push with the ledger or by
//! themselves.

use hob_domain::{
    Allowance, AttemptCost, Budget, DayShare, Generation, Headroom, Nonce, RepositoryRecord, RepositoryRules,
    Reservation, SharedSettings, apply, close_reservation, headroom, renewed, reserve, still_mine,
};

use super::{
    shell::{Answer, Shell, Variant, fail, holding, published},
    world::{DEADLINE, Doing, ISSUE, Late, Lease, Rec, Run, WHENEVER, Worker, World, at, money, worker},
};

/// The most that an attempt may use.
const ALLOWANCE: u8 = 1;
/// When a reservation ends by itself: after everything else.
const UNTIL: i8 = i8::MAX;

/// How a worker moves two refs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pushing {
    /// In one push, both or none.
    Both,
    /// One after the other, as over the API.
    Single,
    /// Either, as the minute's pushes allow. A branch goes with its ledger.
    Either,
}

/// How the refs of one step move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refs {
    Together,
    Alone,
}

/// What a holder's next request writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sends {
    /// Nothing: its agent works.
    Nothing,
    /// The issue's ledger, and what moves with it.
    Ledger,
    /// The branch and the ledger.
    Fenced,
    /// The repository's ledger.
    Share,
    /// What people see, and a branch alone.
    Visible,
}

/// What a push moves beside the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Along {
    Share(Share),
    Branch,
}

/// The parts of an issue's share of the day that matter here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Share {
    pub(super) reserved: bool,
    /// The issue's bill, as the repository's ledger has it.
    pub(super) bill: u8,
    /// The generation under which it was written.
    pub(super) generation: u8,
    /// The attempts of the day; zero where the day has no limit.
    pub(super) attempts: u8,
}

/// The real record of the repository.
fn record_with(share: Option<Share>) -> RepositoryRecord {
    let mut record = RepositoryRecord::next(None, Nonce::from(""), at(0));
    record.day = share.into_iter().map(Share::of_day).collect();
    record
}

impl Share {
    fn of_day(self) -> DayShare {
        let reserved = money(if self.reserved { ALLOWANCE } else { 0 });
        let (before, now, attempts) = (money(0), money(self.bill), self.attempts.into());
        let generation = Generation(self.generation.into());
        DayShare { issue: ISSUE, before, now, attempts, reserved, until: at(UNTIL), generation }
    }

    /// The small form of the record's only share.
    fn of(record: &RepositoryRecord, shell: Shell) -> Self {
        let share = record.day.first().unwrap();
        let attempts = u8::try_from(share.attempts).unwrap();
        Self {
            reserved: share.reserved != money(0),
            bill: u8::try_from(share.now.usd_micros).unwrap(),
            generation: u8::try_from(share.generation.0).unwrap(),
            attempts: shell.day.map_or(0, |_| attempts),
        }
    }

    fn reservation(generation: u8, bill: u8) -> Reservation {
        let allowance = Allowance { usd_micros: Some(ALLOWANCE.into()), ..Allowance::default() };
        let (generation, bill) = (Generation(generation.into()), money(bill));
        Reservation { worker: worker(), issue: ISSUE, generation, bill, allowance, until: at(UNTIL) }
    }
}

impl World {
    /// The repository's ledger moves: what was computed from its former record is void.
    pub(super) fn write_share(&mut self, share: Share) {
        self.forge.share = Some(share);
        let is_void = |late: &Late| match late {
            Late::Share { .. } | Late::Ledger { along: Some(Along::Share(_)), .. } => true,
            Late::Ledger { along: Some(Along::Branch) | None, .. } | Late::Visible { .. } => false,
        };
        if self.forge.late.as_ref().is_some_and(is_void) {
            self.forge.late = None;
        }
    }

    /// A push: the ledger moves, and with it what goes along, or neither does.
    pub(super) fn push(&mut self, age: u8, record: &Rec, along: Option<Along>) -> bool {
        let moves = self.compare_and_set(age, record);
        match along.filter(|_| moves) {
            Some(Along::Share(share)) => self.write_share(share),
            Some(Along::Branch) => self.forge.branch = true,
            None => {}
        }
        moves
    }

    /// The same, if its answer says that it arrived; if it is late, it will arrive.
    pub(super) fn sent(&mut self, age: u8, record: &Rec, along: Option<Along>, answer: Answer) -> bool {
        match answer {
            Answer::Arrives | Answer::Lost | Answer::LostAndStale => self.push(age, record, along),
            Answer::Failed => false,
            Answer::Late => {
                self.forge.late = Some(Late::Ledger { record: record.clone(), age, along });
                false
            }
        }
    }
}

impl Shell {
    /// What a day and an hour allow.
    pub(super) fn repository_rules(self) -> RepositoryRules {
        let day = Budget { attempts: self.day.map(u32::from), ..Budget::default() };
        RepositoryRules { issues_per_hour: usize::MAX, day, shared: SharedSettings::default() }
    }

    /// Whether the day has room for an attempt at an issue of this bill.
    pub(super) fn has_room(self, share: Option<Share>, bill: u8) -> bool {
        let ask = Share::reservation(0, bill);
        self.day.is_none()
            || headroom(Some(&record_with(share)), &ask, &self.repository_rules(), at(0)) != Headroom::None
    }

    /// Whether a share needs no settlement: `settlement::is_settled`.
    pub(super) fn is_settled(share: Option<Share>, bill: u8) -> bool {
        record_with(share).is_settled(ISSUE, money(bill), at(0))
    }

    /// The share with the reservation of this lease; `None` if the day has no room.
    pub(super) fn reserved(self, world: &World, mine: &Rec) -> Option<Share> {
        let (before, ask) = (record_with(world.forge.share), Share::reservation(mine.generation, mine.spend));
        let next = reserve(Some(&before), &ask, &self.repository_rules(), Nonce::from(""), at(0));
        next.ok().map(|(record, _)| Share::of(&record, self))
    }

    /// The share after an attempt under this lease.
    pub(super) fn closed(self, world: &World, mine: &Rec) -> Share {
        let before = record_with(world.forge.share);
        let known = world.forge.share.map_or(0, |share| share.generation);
        let generation = if self.has(Variant::StaleShare) { mine.generation.max(known) } else { mine.generation };
        let (generation, bill) = (Generation(generation.into()), money(mine.spend));
        let cost = AttemptCost { issue: ISSUE, generation, began: money(0), bill };
        Share::of(&close_reservation(Some(&before), cost, Nonce::from(""), at(0)), self)
    }

    /// What a holder's next request writes.
    pub(super) fn sends(self, lease: &Lease, refs: Refs) -> Sends {
        match lease.doing {
            Doing::Work => Sends::Nothing,
            Doing::Reserve | Doing::Release | Doing::ReleaseReady if refs == Refs::Alone && lease.moves_the_share() => {
                Sends::Share
            }
            Doing::Reserve | Doing::Start | Doing::Settle(_) | Doing::Release | Doing::ReleaseReady => Sends::Ledger,
            Doing::Push if !lease.alone && !self.has(Variant::Unfenced) => Sends::Fenced,
            Doing::Push | Doing::Comment | Doing::Label | Doing::Open | Doing::Say | Doing::PutBack => Sends::Visible,
        }
    }

    /// Whether the holder's heartbeat goes on.
    pub(super) fn works(self, lease: &Lease) -> bool {
        let ends = matches!(lease.doing, Doing::Release | Doing::PutBack | Doing::ReleaseReady);
        lease.run == Run::Attempt && !ends
    }

    /// The share that a step of the repository's ledger alone writes; `None` if the day has no room.
    pub(super) fn next_share(self, world: &World, lease: &Lease) -> Option<Share> {
        match lease.doing {
            Doing::Reserve => self.reserved(world, &lease.mine),
            _settles => Some(self.closed(world, &lease.mine)),
        }
    }

    /// Moves the repository's ledger alone. A worker that loses its race tries again, so it is one step.
    pub(super) fn move_share(self, world: &mut World, w: usize, mut lease: Lease, answer: Answer) -> Worker {
        let is_reservation = lease.doing == Doing::Reserve;
        if is_reservation && !Self::may_write(&lease.mine, world.clocks[w]) {
            return Worker::Idle;
        }
        let Some(share) = self.next_share(world, &lease) else {
            // The attempt does not count.
            lease.doing = Doing::PutBack;
            return holding(lease);
        };
        match answer {
            Answer::Failed if is_reservation => return fail(lease),
            Answer::Failed => return Worker::Idle,
            Answer::Arrives | Answer::Lost | Answer::LostAndStale | Answer::Late => world.write_share(share),
        }
        lease.settled = !is_reservation;
        if is_reservation {
            lease.doing = Doing::Label;
        }
        holding(lease)
    }

    /// The ledger's step that goes with the branch: the end of a round, and else a renewal.
    fn pushed_record(self, world: &mut World, lease: &Lease, now: i8) -> Rec {
        let nonce = Nonce(self.fresh_nonce(world).to_string());
        let renewed = renewed(&lease.mine.record(), nonce, at(now));
        if !lease.mine.is_reviewed() {
            return Rec::of(&renewed);
        }
        Rec::of(&apply(&renewed, published(&lease.mine), at(now)).unwrap().0)
    }

    /// Pushes the branch with a step of the ledger: `push_along` of `attempt::branch`.
    pub(super) fn push_along(self, world: &mut World, w: usize, mut lease: Lease, answer: Answer) -> Worker {
        let now = world.clocks[w];
        if !Self::may_write(&lease.mine, now) {
            return Worker::Idle;
        }
        let record = self.pushed_record(world, &lease, now);
        let landed = world.sent(lease.age, &record, Some(Along::Branch), answer);
        if landed && answer == Answer::Arrives {
            (lease.mine, lease.age, lease.doing) = (record, 0, Doing::Open);
            lease.looks = false;
            return holding(lease);
        }
        // It was refused, or nobody knows: whose is the lease?
        if let Worker::Holds(stored) = &world.workers[w] {
            lease.age = stored.age;
        }
        let tip = world.forge.tip.as_ref().map(Rec::record);
        if tip.is_none_or(|tip| still_mine(&tip, &lease.mine.record()).is_err()) {
            return Worker::Idle;
        }
        lease.alone = true;
        if landed {
            // The push of the branch alone finds it there.
            lease.doing = Doing::Open;
        }
        holding(lease)
    }

    /// What a worker leaves on its way if it dies while it pushes the branch.
    pub(super) fn push_in_flight(self, world: &mut World, lease: &Lease, now: i8) -> Late {
        let record = self.pushed_record(world, lease, now);
        Late::Ledger { record, age: lease.age, along: Some(Along::Branch) }
    }

    /// What it leaves if it dies while it moves the repository's ledger alone.
    pub(super) fn share_in_flight(self, world: &World, lease: &Lease, now: i8) -> Option<Late> {
        let share = self.next_share(world, lease)?;
        match lease.doing {
            Doing::Reserve if !Self::may_write(&lease.mine, now) => None,
            Doing::Reserve => Some(Late::Share { share, ends: Some(DEADLINE) }),
            _settles => Some(Late::Share { share, ends: WHENEVER }),
        }
    }

    /// Until when a push of a branch alone may arrive. Its process is not suspended meanwhile: that is what fencing is for.
    pub(super) fn push_ends(self) -> Option<i8> {
        if self.variant == Variant::Unfenced { WHENEVER } else { Some(DEADLINE) }
    }
}
