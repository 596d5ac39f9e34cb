//! What people say while an agent works, for an agent that can listen in the middle of a run.
//!
//! # Guarantees
//! A conversation is told each text once. A text counts as heard when the model has replied to it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hob_domain::{CommentId, Login};

/// What people said during an attempt, oldest first.
#[derive(Debug, Default, Clone)]
pub struct Steering(Arc<Mutex<State>>);

/// A person's comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// The comment.
    pub comment: CommentId,
    /// Who wrote it.
    pub author: Login,
    /// Its Markdown.
    pub body: String,
    /// The text that tells it to a model, as data.
    pub told: String,
}

#[derive(Debug, Default)]
struct State {
    said: Vec<Said>,
    /// How many of them the brief of the run has.
    briefed: usize,
    /// How many of them the conversation has.
    told: usize,
    /// How many of them the model has replied to.
    heard: usize,
}

impl Steering {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds what a person said just now.
    pub fn say(&self, said: Said) {
        self.state().said.push(said);
    }

    /// Begins a run whose brief has everything that was said so far, and returns it.
    pub fn begin_run(&self) -> Vec<Said> {
        let mut state = self.state();
        let now = state.said.len();
        (state.briefed, state.told, state.heard) = (now, now, now);
        state.said.clone()
    }

    /// Everything that was said so far.
    pub fn said(&self) -> Vec<Said> {
        self.state().said.clone()
    }

    /// The comments that the run has heard since its brief.
    pub fn heard(&self) -> Vec<CommentId> {
        let state = self.state();
        state.said[state.briefed..state.heard].iter().map(|said| said.comment).collect()
    }

    /// The texts that the conversation does not have yet, which it gets now.
    pub(crate) fn take(&self) -> Vec<String> {
        let mut state = self.state();
        let new = state.said[state.told..].iter().map(|said| said.told.clone()).collect();
        state.told = state.said.len();
        new
    }

    /// Notes that the model has replied to all that the conversation has.
    pub(crate) fn replied(&self) {
        let mut state = self.state();
        state.heard = state.told;
    }

    /// Notes that another try of the run begins a new conversation, with the brief alone.
    pub(crate) fn begin_anew(&self) {
        let mut state = self.state();
        (state.told, state.heard) = (state.briefed, state.briefed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(steering: &Steering, comment: u64) {
        let told = format!("text {comment}");
        steering.say(Said { comment: CommentId(comment), author: "ann".into(), body: String::new(), told });
    }

    #[test]
    fn each_text_is_told_once_and_heard_with_the_next_reply() {
        let steering = Steering::default();
        says(&steering, 1);
        assert_eq!(steering.begin_run().len(), 1);
        assert!(steering.take().is_empty(), "the brief has it");
        says(&steering, 2);
        says(&steering, 3);
        assert_eq!(steering.take(), ["text 2", "text 3"]);
        assert!(steering.take().is_empty() && steering.heard().is_empty());
        // The model failed, and the next try knows nothing.
        steering.begin_anew();
        assert_eq!(steering.take().len(), 2);
        steering.replied();
        says(&steering, 4);
        assert_eq!(steering.heard(), [CommentId(2), CommentId(3)]);
        assert_eq!((steering.begin_run().len(), steering.heard().len()), (4, 0));
    }
}
