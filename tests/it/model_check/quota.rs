//! The writes of an hour, which a process may use up: a part of them is kept for its leases, as `Window` of `hob-forge` does.

use super::{
    explore::Act,
    refs::{Refs, Sends},
    shell::{Shell, Variant},
    world::{Worker, World},
};

/// The length of the hour, in ticks: longer than a lease.
const HOUR: u8 = 3;
/// The part of the hour that is kept for leases: a fifth.
const OF_LEASES: u8 = 5;

/// What a write is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Write {
    OfLease,
    Common,
}

impl Shell {
    /// Whether the hour has room for one more.
    pub(super) fn has_write(self, world: &World, write: Write) -> bool {
        self.writes.is_none_or(|most| {
            let kept = if self.has(Variant::NoReserve) || write == Write::OfLease { 0 } else { most / OF_LEASES };
            world.written < most - kept
        })
    }

    /// The write that an action makes over the API.
    fn write(self, world: &World, act: Act) -> Option<Write> {
        match act {
            Act::Renews(..) => Some(Write::OfLease),
            Act::Edits(_) => Some(Write::Common),
            Act::Next(w, refs, _) => match &world.workers[w] {
                Worker::Idle | Worker::Looked(_) | Worker::Saw(_) => None,
                Worker::Decided(_) => Some(Write::Common),
                Worker::Holds(lease) => match self.sends(lease, refs) {
                    Sends::Nothing | Sends::Fenced => None,
                    Sends::Ledger => Some(Write::OfLease),
                    Sends::Share | Sends::Visible => Some(Write::Common),
                },
            },
            Act::Tick
            | Act::Arrives
            | Act::IsLimited(_)
            | Act::AgentEnds(..)
            | Act::IsPrepared(_)
            | Act::GivesUp(_)
            | Act::Crashes(_)
            | Act::CrashesWriting(_)
            | Act::IsStopped(_)
            | Act::Person(_)
            | Act::NextDay => None,
        }
    }

    /// Takes out those of a worker's actions, the ones from `first` on, for which the hour has no room. Its next request fails then, unless
    /// it is a claim, which waits.
    pub(super) fn limit(self, world: &World, w: usize, acts: &mut Vec<Act>, first: usize) {
        if self.writes.is_none() {
            return;
        }
        let fits = |act: &Act| self.write(world, *act).is_none_or(|write| self.has_write(world, write));
        let is_step = |act: &Act| matches!(act, Act::Next(..));
        let of_worker = acts.split_off(first);
        let (kept, out): (Vec<_>, Vec<_>) = of_worker.into_iter().partition(fits);
        acts.extend(kept);
        let holds =
            matches!(&world.workers[w], Worker::Holds(lease) if self.sends(lease, Refs::Alone) != Sends::Ledger);
        if holds && out.iter().any(is_step) {
            acts.push(Act::IsLimited(w));
        }
    }

    /// Counts an action's write.
    pub(super) fn count(self, world: &mut World, act: Act) {
        if self.writes.is_some() && self.write(world, act).is_some() {
            world.written += 1;
        }
    }

    /// A tick of the hour.
    pub(super) fn tick(self, world: &mut World) {
        if self.writes.is_some() {
            world.hour = (world.hour + 1) % HOUR;
            if world.hour == 0 {
                world.written = 0;
            }
        }
    }
}
