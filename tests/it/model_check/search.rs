//! The search of a whole model: each state is held against the properties, and then asked whether rest can be reached from it.

use std::collections::{HashMap, VecDeque};

use stateright::Model;

use super::{
    explore::{Act, Protocol},
    shell::Outcome,
    world::World,
};

/// A state, and the way to it.
pub(super) type Way = Vec<(Act, World)>;

/// What a search found.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) steps: usize,
    pub(super) states: usize,
    pub(super) resting: usize,
    /// A property that does not hold, and the shortest way to a state where it does not.
    pub(super) broken: Option<(&'static str, Way)>,
    /// The shortest way into a state from which no faultless way leads to rest.
    pub(super) stuck: Option<Way>,
}

/// The states by their numbers, which are in the order of their distance from the first.
#[derive(Default)]
struct States {
    numbers: HashMap<World, u32>,
    /// How each was reached first.
    came: Vec<Option<(u32, Act)>>,
    /// From where a faultless step leads to each.
    into: Vec<Vec<u32>>,
    queue: VecDeque<(u32, World)>,
}

impl States {
    fn number(&mut self, world: World, from: Option<(u32, Act)>) -> u32 {
        let next = u32::try_from(self.came.len()).unwrap();
        *self.numbers.entry(world).or_insert_with_key(|world| {
            self.queue.push_back((next, world.clone()));
            self.came.push(from);
            self.into.push(Vec::new());
            next
        })
    }

    fn way_to(&self, mut id: u32) -> Way {
        let mut numbers = Vec::new();
        while let Some((from, act)) = self.came[id as usize] {
            numbers.push((act, id));
            id = from;
        }
        let of = |id| self.numbers.iter().find(|(_, n)| **n == id).map(|(world, _)| world.clone()).unwrap();
        numbers.into_iter().rev().map(|(act, id)| (act, of(id))).collect()
    }
}

/// Searches all states.
pub(super) fn search(protocol: &Protocol) -> Found {
    let (mut states, mut found, mut resting) = (States::default(), Found::default(), Vec::new());
    let properties = protocol.properties();
    for world in protocol.init_states() {
        states.number(world, None);
    }
    while let Some((id, world)) = states.queue.pop_front() {
        if let Some(property) = properties.iter().find(|property| !(property.condition)(protocol, &world)) {
            return Found { broken: Some((property.name, states.way_to(id))), ..found };
        }
        if protocol.at_rest(&world) {
            resting.push(id);
        }
        let left = (world.trouble_left, world.people_left);
        for (act, next) in protocol.next_steps(&world) {
            found.steps += 1;
            let next_left = (next.trouble_left, next.people_left);
            let to = states.number(next, Some((id, act)));
            // A question is an end too, but not one that Hob may count on.
            if next_left == left && !matches!(act, Act::AgentEnds(_, Outcome::Question)) {
                states.into[to as usize].push(id);
            }
        }
    }
    (found.states, found.resting) = (states.came.len(), resting.len());
    let mut reaches = vec![false; found.states];
    while let Some(id) = resting.pop() {
        if !std::mem::replace(&mut reaches[id as usize], true) {
            resting.extend(&states.into[id as usize]);
        }
    }
    let stuck = reaches.iter().position(|reaches| !reaches).map(|id| u32::try_from(id).unwrap());
    found.stuck = stuck.map(|id| states.way_to(id));
    found
}
