//! Circles: a few replies that repeat in turn, each with the same calls and the same answers.
//!
//! A call that repeats by itself is counted elsewhere (`usage`).

use std::{
    collections::{VecDeque, hash_map::DefaultHasher},
    hash::{Hash, Hasher},
};

use crate::model::ToolCall;

/// Replies of the longest circle that is seen.
const LONGEST: usize = 3;

/// The last replies, and how often they repeated.
#[derive(Debug, Default)]
pub(super) struct Circle {
    now: Reply,
    last: VecDeque<Reply>,
    /// For each length of a circle, how many replies in a row were the same as that many before.
    repeated: [u32; LONGEST],
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Reply {
    calls: u32,
    digest: u64,
}

/// A circle that closed once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Closed {
    /// Its replies.
    pub(super) replies: u32,
    /// How often it was gone through.
    pub(super) times: u32,
}

impl Circle {
    /// Takes a call of the reply, and its answer.
    pub(super) fn call(&mut self, call: &ToolCall, answer: &str) {
        let mut hasher = DefaultHasher::new();
        (self.now.digest, &call.name, &call.arguments, answer).hash(&mut hasher);
        self.now = Reply { calls: self.now.calls + 1, digest: hasher.finish() };
    }

    /// Ends the reply; the circle that it closed, from the second time on.
    pub(super) fn closed(&mut self) -> Option<Closed> {
        let reply = std::mem::take(&mut self.now);
        for (index, repeated) in self.repeated.iter_mut().enumerate() {
            *repeated = if self.last.get(index) == Some(&reply) { *repeated + 1 } else { 0 };
        }
        let is_one_call = reply.calls == 1;
        self.last.push_front(reply);
        self.last.truncate(LONGEST);
        let shortest = self.repeated.iter().zip(1..).find(|(repeated, replies)| **repeated >= *replies);
        let (repeated, replies) = shortest.map(|(repeated, replies)| (*repeated, replies))?;
        let is_closed = repeated % replies == 0 && !(replies == 1 && is_one_call);
        is_closed.then(|| Closed { replies, times: repeated / replies + 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For each reply, a word of calls, the circle that it closed.
    fn closed(replies: &str) -> Vec<(u32, u32)> {
        let mut circle = Circle::default();
        let one = |reply: &str| {
            for call in reply.chars() {
                let (name, answer) = (call.to_ascii_lowercase().to_string(), call.to_string());
                circle.call(&ToolCall { id: "1".into(), name, arguments: "{}".into() }, &answer);
            }
            circle.closed().map_or((0, 0), |closed| (closed.replies, closed.times))
        };
        replies.split(' ').map(one).collect()
    }

    #[test]
    fn a_circle_of_two_or_three_replies_is_seen_each_time_that_it_closes() {
        let no = (0, 0);
        for (replies, expected) in [
            ("a b a b a b", vec![no, no, no, (2, 2), no, (2, 3)]),
            ("x a b c a b c a b c", vec![no, no, no, no, no, no, (3, 2), no, no, (3, 3)]),
            ("ab ab ab", vec![no, (1, 2), (1, 3)]),
            ("ab ba ab ba", vec![no, no, no, (2, 2)]),
            // One call is counted elsewhere; another answer or call, or a longer circle, is none.
            ("a a a a a a", vec![no; 6]),
            ("a b a B a b", vec![no; 6]),
            ("a b a c a b a c", vec![no; 8]),
            ("a b a b x b a b", vec![no, no, no, (2, 2), no, no, no, no]),
        ] {
            assert_eq!(closed(replies), expected, "{replies}");
        }
    }
}
