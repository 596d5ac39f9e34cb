//! The chain of an issue's hand-offs, as the ledger keeps it.

use hob_text::{inert_line, markup::code_span};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{HandOff, Nonce, ProfileName, RunId, Sha, Spend};

/// The most hand-offs in one attempt, including those that were tried again.
pub const CHAIN_MAX: usize = 5;
/// Hand-offs that the ledger remembers; the oldest is dropped first.
const LINKS_KEPT: usize = 20;
/// Pieces of evidence that are recognized when they are named again.
const EVIDENCE_KEPT: usize = 250;

/// One accepted hand-off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainLink {
    /// Who handed off.
    pub from: ProfileName,
    /// Who continues.
    pub to: ProfileName,
    /// Why, in a line.
    pub reason: String,
    /// How well the rest of the work fits the next profile according to the router, in percent. `None` if the router
    /// was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<u8>,
    /// What the work of `from` cost, including its time.
    #[serde(default)]
    pub spend: Spend,
    /// The branch's tip.
    pub head: Sha,
    /// Whether Hob switched profiles because of what was said, without a hand-off by the agent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub switched: bool,
    /// Pieces of evidence known at that time.
    #[serde(default)]
    evidence: usize,
}

/// The hand-off that the working profile has received.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Received {
    /// Who handed off.
    pub from: ProfileName,
    /// Who received it.
    pub to: ProfileName,
    /// The hand-off's content.
    #[serde(alias = "hand_over")]
    pub hand_off: HandOff,
    /// Whether Hob switched profiles because of what was said, without a hand-off by the agent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub switched: bool,
}

impl Received {
    /// Who handed off to whom and why, as a line of the ledger.
    pub(crate) fn sentence(&self) -> String {
        let Self { from, to, hand_off, switched } = self;
        let reason = hand_off.short_reason();
        match switched {
            true => format!("switched from `{from}` to `{to}`: {reason}"),
            false => format!("`{from}` handed off to `{to}`: {reason}"),
        }
    }

    /// Adds it to a brief.
    pub fn write(&self, text: &mut String, fence: &Nonce) {
        let from = &self.from;
        text.push_str(&match self.switched {
            true => format!(
                "\nThe profile `{from}` worked on this before you, and Hob switched to you. What it changed is committed in the \
                 folder. Look at the work before you rely on what is said of it.\n"
            ),
            false => format!(
                "\nThe profile `{from}` worked on this before you and handed it off to you. What it did is committed in the \
                 folder. Do what is left, and look at the work before you rely on what is said of it.\n"
            ),
        });
        self.hand_off.write(text, fence, from);
    }
}

/// A hand-off that was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassedOn {
    /// The hand-off and its two profiles.
    pub received: Received,
    /// How well the rest of the work fits the next profile according to the router, in percent.
    pub percent: Option<u8>,
    /// What the previous profile's work cost.
    pub spend: Spend,
    /// The branch's tip.
    pub head: Sha,
    /// The session of the next one's runs.
    pub session: RunId,
}

/// The hand-offs of an issue.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HandOffLog {
    /// The hand-off that gave the work to the current profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    received: Option<Received>,
    /// The hand-offs, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    links: Vec<ChainLink>,
    /// How many of them were before a person last said something new.
    before: usize,
    /// The total cost at the last hand-off.
    #[serde(skip_serializing_if = "Option::is_none")]
    billed: Option<Spend>,
    /// Marks of the evidence named since something new was said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    evidence: Vec<String>,
    /// Whether an agent handed off after the investigation was reported. The links alone do not tell: they are
    /// bounded, and one may be older than the report.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    after_report: bool,
}

/// Why a chain may not continue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChainEnd {
    /// It has as many hand-offs as it may have.
    #[error("the chain has {CHAIN_MAX} hand-offs, the most that it may have")]
    Full,
    /// It goes in a circle.
    #[error("`{0}` had the work before, and nothing is new since then: no commit, answer or evidence")]
    Circle(ProfileName),
}

impl HandOffLog {
    /// Whether there was no hand-off.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The hand-off that gave the work to the current profile.
    pub fn received(&self) -> Option<&Received> {
        self.received.as_ref()
    }

    /// All hand-offs that are remembered, oldest first.
    pub fn links(&self) -> &[ChainLink] {
        &self.links
    }

    /// The hand-offs since something new was said.
    pub fn chain(&self) -> &[ChainLink] {
        self.links.get(self.before..).unwrap_or_default()
    }

    /// The total cost at the last hand-off.
    pub fn billed(&self) -> Option<Spend> {
        self.billed
    }

    /// Whether the investigation was handed off after its report.
    pub fn is_after_report(&self) -> bool {
        self.after_report
    }

    /// The same after the report of an investigation.
    #[must_use]
    pub(crate) fn after_report(self) -> Self {
        Self { after_report: true, ..self }
    }

    /// Whether `hand_off` may pass to `to`, with the work at `head`.
    ///
    /// # Errors
    /// [`ChainEnd`] if it may not; the work so far is then the result.
    pub fn may_go_on(&self, hand_off: &HandOff, to: &ProfileName, head: &Sha) -> Result<(), ChainEnd> {
        let chain = self.chain();
        if chain.len() >= CHAIN_MAX {
            return Err(ChainEnd::Full);
        }
        let Some(gave) = chain.iter().rev().find(|link| link.from == *to) else { return Ok(()) };
        let names_new = hand_off.evidence.iter().any(|piece| !self.evidence.contains(&mark(piece)));
        let is_new = gave.head != *head || names_new || self.evidence.len() > gave.evidence;
        if is_new { Ok(()) } else { Err(ChainEnd::Circle(to.clone())) }
    }

    /// Whether the chain is as long as it may be.
    pub(crate) fn is_full(&self) -> bool {
        self.chain().len() >= CHAIN_MAX
    }

    /// Adds a hand-off; `bill` is the total cost so far.
    pub(crate) fn take(&mut self, passed: PassedOn, bill: Spend) {
        let PassedOn { received, percent, spend, head, session: _ } = passed;
        for piece in &received.hand_off.evidence {
            let mark = mark(piece);
            if !self.evidence.contains(&mark) && self.evidence.len() < EVIDENCE_KEPT {
                self.evidence.push(mark);
            }
        }
        let (from, to) = (received.from.clone(), received.to.clone());
        let (reason, evidence) = (received.hand_off.short_reason(), self.evidence.len());
        let switched = received.switched;
        self.links.push(ChainLink { from, to, reason, percent, spend, head, switched, evidence });
        if self.links.len() > LINKS_KEPT {
            self.links.remove(0);
            self.before = self.before.saturating_sub(1);
        }
        (self.received, self.billed) = (Some(received), Some(bill));
        if switched {
            // A switch is not the agent's hand-off, so the new profile may hand off as often as the first.
            self.before = self.links.len();
        }
    }

    /// After something new was said, the current profile keeps the work and may hand off as often as the first.
    pub(crate) fn begin_anew(&mut self) {
        (self.before, self.billed) = (self.links.len(), None);
        self.evidence.clear();
    }
}

impl ChainLink {
    /// One line for a pull request: from whom, to whom, why, how sure, at what cost.
    pub fn line(&self) -> String {
        let sure = self.percent.map_or_else(String::new, |percent| format!(", {percent}% likely"));
        let (from, to) = (code_span(self.from.as_str()), code_span(self.to.as_str()));
        let who = match self.switched {
            true => format!("switched from {from} to {to}"),
            false => format!("{from} handed off to {to}"),
        };
        format!("{who}{sure}, after {}: {}", self.spend, inert_line(&self.reason))
    }
}

/// Identifies a piece of evidence, ignoring blanks and case.
fn mark(piece: &str) -> String {
    let words = piece.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    Sha256::digest(words).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn name(text: &str) -> ProfileName {
        text.parse().unwrap()
    }

    fn given(to: &str, evidence: &[&str]) -> HandOff {
        let evidence = evidence.iter().map(|piece| (*piece).to_owned()).collect();
        HandOff { to: to.to_owned(), reason: "why".to_owned(), evidence, ..HandOff::default() }
    }

    /// Hands off, if that is allowed.
    fn pass(log: &mut HandOffLog, (from, to): (&str, &str), head: u8, evidence: &[&str]) -> Result<(), ChainEnd> {
        let (hand_off, head) = (given(to, evidence), Sha(head.to_string()));
        log.may_go_on(&hand_off, &name(to), &head)?;
        let received = Received { from: name(from), to: name(to), hand_off, switched: false };
        let passed = PassedOn { received, percent: None, spend: Spend::default(), head, session: RunId("s".into()) };
        log.take(passed, Spend::default());
        Ok(())
    }

    /// Row M3: a circle ends the chain unless there is something new.
    #[test]
    fn a_circle_without_anything_new_ends_the_chain() {
        let circle = Err(ChainEnd::Circle(name("a")));
        for (head, first, second, expected) in [
            (1, &[][..], &[][..], circle.clone()),
            (2, &[], &[], Ok(())),
            (1, &["log.txt"], &[" LOG.txt"], circle),
            (1, &["log.txt"], &["log.txt", "trace.txt"], Ok(())),
        ] {
            let mut log = HandOffLog::default();
            pass(&mut log, ("a", "b"), 1, first).unwrap();
            assert_eq!(pass(&mut log, ("b", "a"), head, second), expected, "{head} {first:?} {second:?}");
        }
        let mut log = HandOffLog::default();
        pass(&mut log, ("a", "b"), 1, &[]).unwrap();
        log.begin_anew();
        assert_eq!((log.chain().len(), log.received().unwrap().to.as_str()), (0, "b"));
        assert_eq!(pass(&mut log, ("b", "a"), 1, &[]), Ok(()), "a person has answered since");
    }

    /// Row M3: A → B → A → B, each time with a new commit, ends at the cap.
    #[test]
    fn two_that_hand_off_to_each_other_end_at_the_cap() {
        let mut log = HandOffLog::default();
        for n in 0..5 {
            pass(&mut log, if n % 2 == 0 { ("a", "b") } else { ("b", "a") }, n, &[]).unwrap();
        }
        assert_eq!(pass(&mut log, ("b", "a"), 9, &["new"]), Err(ChainEnd::Full));
    }

    #[test]
    fn a_line_of_the_chain_calls_nobody() {
        let spend = Spend { usd_micros: 250_000, wall_seconds: 61, ..Spend::default() };
        let reason = "ask @all\n- [x](http://x) <img>".to_owned();
        let (from, to, head) = (name("dns"), name("cloud"), Sha("h".to_owned()));
        let link = ChainLink { from, to, reason, percent: Some(80), spend, head, switched: false, evidence: 0 };
        let switched = ChainLink { switched: true, ..link.clone() }.line();
        assert!(switched.starts_with("switched from `dns` to `cloud`, 80% likely, after $0.25"), "{switched}");
        insta::assert_snapshot!(link.line().replace('\u{200b}', "<zwsp>"), @"`dns` handed off to `cloud`, 80% likely, after $0.25, 1 min 1 s: ask @<zwsp>all - [x](http://x) &lt;img>");
    }

    /// Requirement M2: a switch is part of the chain, and does not reduce how often the next profile may hand off.
    #[test]
    fn a_switch_is_a_link_and_begins_a_chain() {
        let mut log = HandOffLog::default();
        pass(&mut log, ("a", "b"), 1, &[]).unwrap();
        let hand_off = given("c", &[]);
        let received = Received { from: name("b"), to: name("c"), hand_off, switched: true };
        assert_eq!(received.sentence(), "switched from `b` to `c`: why");
        let (head, session) = (Sha("1".to_owned()), RunId("s".into()));
        log.take(PassedOn { received, percent: None, spend: Spend::default(), head, session }, Spend::default());
        assert_eq!((log.links().len(), log.chain().len()), (2, 0));
        assert_eq!(log.links().iter().map(|link| link.switched).collect::<Vec<_>>(), [false, true]);
        assert_eq!(pass(&mut log, ("c", "b"), 1, &[]), Ok(()), "it is the first of its own");
    }

    proptest! {
        /// Rows M3, M8: no matter what agents do, a chain ends and the ledger stays bounded.
        #[test]
        fn no_chain_passes_the_cap(
            steps in prop::collection::vec((0..4_usize, 0..4_usize, 0..6_u8, "[ab]{0,2}", prop::bool::weighted(0.1)), 0..200),
        ) {
            const NAMES: [&str; 4] = ["a", "b", "c", "d"];
            let mut log = HandOffLog::default();
            for (from, to, head, piece, is_news) in steps {
                if is_news {
                    log.begin_anew();
                }
                let before = log.clone();
                let passed = pass(&mut log, (NAMES[from], NAMES[to]), head, &[piece.as_str()]);
                let was_there = before.chain().iter().any(|link| link.from.as_str() == NAMES[to]);
                match passed {
                    Ok(()) => prop_assert_eq!(log.received().unwrap().to.as_str(), NAMES[to]),
                    Err(ChainEnd::Full) => prop_assert_eq!(before.chain().len(), CHAIN_MAX),
                    Err(ChainEnd::Circle(_)) => prop_assert!(was_there),
                }
                prop_assert!(log.chain().len() <= CHAIN_MAX && log.links().len() <= LINKS_KEPT);
            }
        }
    }
}
