//! A message to Hob: a comment on an issue or in its pull request's conversation, and what a look at messages is for.
//!
//! What it leads to depends on the issue's record: see [`follow`](crate::follow()).

use crate::{
    Actor, Asked, AskedInReview, Command, CommentId, OWN_MARK, PullNumber, Timestamp, asked_in, asked_in_review,
};

/// A comment on an issue or in its pull request's conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The comment.
    pub comment: CommentId,
    /// The pull request that the comment is on. `None` if it is on the issue.
    pub pull: Option<PullNumber>,
    /// Who wrote it.
    pub author: Actor,
    /// Its Markdown.
    pub body: String,
    /// When it was written.
    pub at: Timestamp,
    /// Whether its words count.
    pub trust: MessageTrust,
}

/// Whether a message's words count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageTrust {
    /// They do: an authorized account wrote them.
    Authorized,
    /// An authorized account wrote the comment, and it was edited: another account may have changed its words.
    Edited,
    /// They do not: the account is not authorized.
    Unauthorized,
}

/// What a look at messages is for.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Seeks {
    /// Commands that were not followed yet.
    #[default]
    Commands,
    /// Requests for work on the pull request that no round has answered.
    Requests,
    /// An answer to the question of a blocked issue. Commands that answer nothing are left to a look for commands.
    Answer,
}

impl Message {
    /// What it asks for, by the rules of the place where it is. `None` for plain words.
    pub fn asks(&self) -> Option<AskedInReview> {
        match self.pull {
            None => asked_in(&self.body).map(AskedInReview::Command),
            Some(_) => asked_in_review(&self.body),
        }
    }

    /// Its command, if it is a known one and its words count.
    pub fn command(&self) -> Option<Command> {
        match self.asks().filter(|_| self.trust == MessageTrust::Authorized)? {
            AskedInReview::Command(Asked::Known(command)) => Some(command),
            AskedInReview::Command(Asked::Unknown(_)) | AskedInReview::Work => None,
        }
    }

    /// Whether it has the mark of Hob's own texts. Anyone can write the mark, and loses a voice by it.
    pub(crate) fn has_own_mark(&self) -> bool {
        self.body.starts_with(OWN_MARK)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::AccountKind;

    /// A comment on the issue by `ann`, an authorized person.
    pub(crate) fn message(body: &str, at: Timestamp) -> Message {
        Message {
            comment: CommentId(5),
            pull: None,
            author: Actor { login: "ann".into(), kind: AccountKind::User },
            body: body.to_owned(),
            at,
            trust: MessageTrust::Authorized,
        }
    }

    #[test]
    fn more_words_on_a_pull_request_ask_for_work_and_on_an_issue_do_not() {
        let on_issue = message("/hob cancel the second rename", Timestamp::UNIX_EPOCH);
        let on_pull = Message { pull: Some(PullNumber(9)), ..on_issue.clone() };
        assert_eq!(on_pull.asks(), Some(AskedInReview::Work));
        assert!(matches!(on_issue.asks(), Some(AskedInReview::Command(_))));
    }
}
