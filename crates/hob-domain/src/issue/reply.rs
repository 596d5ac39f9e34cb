//! What all that people said since a blocked issue's question leads to: their words are the answer, in their order, and
//! the last one counts where they contradict.

use crate::{ApprovalGrant, CommandVerdict, CommentId, Ending, Following, Login, Message, Receipt, Timestamp};

/// The most that is kept of the words, in bytes: what one comment may have. The oldest are left out first.
const WORDS_MAX: usize = 65_536;

/// What the messages since the question lead to together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The receipt of each message, oldest first.
    pub receipts: Vec<Receipt>,
    /// What follows.
    pub then: ReplyEffect,
}

/// What follows from the messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplyEffect {
    /// The issue stays blocked: none of them can be an answer.
    Stay,
    /// They answer the question.
    Answer {
        /// Who said the last of them.
        actor: Login,
        /// All of their words for the agent.
        text: String,
        /// What the last of them approves.
        grant: ApprovalGrant,
        /// The newest of their comments. `None` if all was said in reviews.
        comment: Option<CommentId>,
        /// When it was written.
        at: Timestamp,
    },
    /// The work is over.
    End(Ending),
}

/// All that was said since the question, with the last words in no comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinedWords {
    /// The receipts of the comments, oldest first.
    pub receipts: Vec<Receipt>,
    /// All words for the agent.
    pub text: String,
    /// The newest of the comments that are part of it.
    pub comment: Option<CommentId>,
}

/// What was said in comments, oldest first, and then by `actor` at the command line or on the dashboard: `text` comes last.
pub fn joined_with(followed: Vec<(Message, Following)>, actor: &Login, text: &str) -> JoinedWords {
    let mut words = words_of(&followed);
    if !text.trim().is_empty() {
        words.push((actor.clone(), text.to_owned()));
    }
    let reply = reply_of(followed);
    let comments = reply.receipts.iter().filter(|receipt| receipt.said_in.is_comment());
    let comment = comments.map(|receipt| receipt.comment).max();
    JoinedWords { receipts: reply.receipts, text: joined(&words), comment }
}

/// The words of the messages that are answers, each with its author.
fn words_of(followed: &[(Message, Following)]) -> Vec<(Login, String)> {
    let mut words = Vec::new();
    for (message, following) in followed {
        match following {
            Following::Answer { text, .. } if !text.is_empty() => {
                words.push((message.author.login.clone(), text.clone()));
            }
            Following::Answer { .. }
            | Following::Nothing
            | Following::Command(_)
            | Following::Round
            | Following::Refused(_)
            | Following::End(_) => {}
        }
    }
    words
}

/// What the messages lead to together, oldest first, each with what it leads to alone.
pub fn reply_of(followed: Vec<(Message, Following)>) -> Reply {
    let mut reply = Reply { receipts: Vec::new(), then: ReplyEffect::Stay };
    let mut words: Vec<(Login, String)> = Vec::new();
    let mut newest = None;
    for (message, following) in followed {
        let Message { comment, said_in, pull, author, at, .. } = message;
        let taken = Receipt { comment, said_in, pull, verdict: CommandVerdict::Followed, says: None };
        match following {
            Following::Nothing | Following::Command(_) | Following::Round => {}
            Following::Refused(receipt) => reply.receipts.push(receipt),
            Following::End(ending) => {
                reply.receipts.push(taken);
                reply.then = ReplyEffect::End(ending);
            }
            Following::Answer { text, grant } => {
                reply.receipts.push(taken);
                if !text.is_empty() {
                    words.push((author.login.clone(), text));
                }
                newest = Some(comment).filter(|_| said_in.is_comment()).or(newest);
                let text = joined(&words);
                reply.then = ReplyEffect::Answer { actor: author.login, text, grant, comment: newest, at };
            }
        }
    }
    reply
}

/// The words of all, each with its author if there is more than one message.
fn joined(words: &[(Login, String)]) -> String {
    match words {
        [(_, text)] => text.clone(),
        [_, rest @ ..]
            if words.iter().map(|(who, text)| who.as_str().len() + text.len() + 4).sum::<usize>() > WORDS_MAX =>
        {
            joined(rest)
        }
        several => several.iter().map(|(who, text)| format!("{who}: {text}")).collect::<Vec<_>>().join("\n\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Actor, SaidIn, conversation::message::tests::message};

    fn said(id: u64, who: &str, following: Following) -> (Message, Following) {
        let at = Timestamp::from_timestamp(i64::try_from(id).unwrap(), 0).unwrap();
        let said = message("", at);
        let author = Actor { login: who.into(), ..said.author.clone() };
        (Message { comment: CommentId(id), author, ..said }, following)
    }

    fn words(text: &str) -> Following {
        Following::Answer { text: text.to_owned(), grant: ApprovalGrant::Nothing }
    }

    fn approval() -> Following {
        Following::Answer { text: "Approved.".to_owned(), grant: ApprovalGrant::ProposedPlan }
    }

    #[test]
    fn what_is_said_at_the_command_line_comes_after_the_comments() {
        let ben = Login::from("ben");
        for (followed, text, joined, receipts) in [
            (vec![], "UTC", "UTC", 0),
            (vec![said(1, "ann", words("Fix the typo"))], "No, wait", "ann: Fix the typo\n\nben: No, wait", 1),
            (vec![said(1, "ann", words("UTC"))], "", "UTC", 1),
            (vec![said(1, "ann", words("UTC")), said(2, "ann", refused(2))], "", "UTC", 2),
            (vec![], "", "", 0),
        ] {
            let comment = (1..=receipts).next_back().map(CommentId);
            let all = joined_with(followed, &ben, text);
            assert_eq!((all.text.as_str(), all.receipts.len() as u64, all.comment), (joined, receipts, comment));
        }
    }

    fn end() -> Following {
        Following::End(Ending::Terminated("ben".into()))
    }

    fn refused(id: u64) -> Following {
        let says = Some("no".to_owned());
        Following::Refused(Receipt {
            comment: CommentId(id),
            said_in: SaidIn::Comment,
            pull: None,
            verdict: CommandVerdict::Impossible,
            says,
        })
    }

    /// Field note N112, and what the last word decides.
    #[test]
    fn all_words_are_the_answer_and_the_last_one_counts() {
        let answer = |actor: &str, text: &str, grant, id: u64| {
            let at = Timestamp::from_timestamp(i64::try_from(id).unwrap(), 0).unwrap();
            ReplyEffect::Answer { actor: actor.into(), text: text.to_owned(), grant, comment: Some(CommentId(id)), at }
        };
        let (nothing, plan) = (ApprovalGrant::Nothing, ApprovalGrant::ProposedPlan);
        for (name, followed, receipts, then) in [
            ("nothing was said", vec![], 0, ReplyEffect::Stay),
            ("one", vec![said(1, "ann", words("UTC"))], 1, answer("ann", "UTC", nothing, 1)),
            (
                "two people",
                vec![said(1, "ann", words("Fix the typo")), said(2, "ben", words("No, wait"))],
                2,
                answer("ben", "ann: Fix the typo\n\nben: No, wait", nothing, 2),
            ),
            (
                "a retry has no words",
                vec![said(1, "ann", words("UTC")), said(2, "ben", words(""))],
                2,
                answer("ben", "UTC", nothing, 2),
            ),
            (
                "words take an approval back",
                vec![said(1, "ann", approval()), said(2, "ben", words("Wait"))],
                2,
                answer("ben", "ann: Approved.\n\nben: Wait", nothing, 2),
            ),
            (
                "an approval comes last",
                vec![said(1, "ann", words("Why?")), said(2, "ben", approval())],
                2,
                answer("ben", "ann: Why?\n\nben: Approved.", plan, 2),
            ),
            (
                "an end comes last",
                vec![said(1, "ann", words("UTC")), said(2, "ben", end())],
                2,
                ReplyEffect::End(Ending::Terminated("ben".into())),
            ),
            (
                "words after an end",
                vec![said(1, "ben", end()), said(2, "ann", words("Go on"))],
                2,
                answer("ann", "Go on", nothing, 2),
            ),
            ("what cannot count", vec![said(1, "ann", refused(1))], 1, ReplyEffect::Stay),
            (
                "what cannot count, and an answer",
                vec![said(1, "ann", words("UTC")), said(2, "ann", refused(2))],
                2,
                answer("ann", "UTC", nothing, 1),
            ),
        ] {
            let reply = reply_of(followed);
            assert_eq!((reply.receipts.len(), &reply.then), (receipts, &then), "{name}");
        }
    }
}
