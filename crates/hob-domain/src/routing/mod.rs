//! Which profile fits an issue: a pure function of the issue's text and the profiles. It asks no model.
//!
//! # Flow
//! [`Router::new`] reads the profiles once: their own words, and for each topic they name the words that belong to it
//! (`topics.txt`). [`Router::route`] reads an issue, and ranks the profiles by what both have in common, each with a
//! confidence, and the strongest reasons in words. [`decide_agent`] adds what people and the repository said, and the
//! thresholds.
//!
//! # Guarantees
//! The time is linear in the text, of which only a part that is bounded is read; nothing panics; the same input gives the
//! same result.
//!
//! # Caveats
//! It knows words, not what they mean. A text in which the matter is never named has no profile.

mod breaker;
mod candidate;
mod complexity;
mod confidence;
mod decide;
mod evaluate;
mod issue_text;
#[cfg(test)]
mod measured;
mod missed;
mod overview;
mod profile_words;
mod question;
mod router;
mod score;
#[cfg(test)]
mod tests;
mod topics;
mod words;

pub use breaker::{FailedLoads, routing_is_off};
pub use candidate::{Candidate, RoutedText};
pub use confidence::Likeness;
pub use decide::{ChosenBy, Claim, RouteChoice, RoutingRules, decide_agent};
pub use evaluate::{Evaluation, GateResult, Judged, Latency, evaluate};
pub use missed::{Missed, missed};
pub use overview::{RoutingOverview, routing_overview};
pub use question::{ModelAnswer, QUESTION_SYSTEM};
pub use router::Router;
pub use score::{Routing, Scored};
pub(crate) use words::{is_significant, stem, words};
