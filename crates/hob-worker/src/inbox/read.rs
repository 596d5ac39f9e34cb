//! The one reader of messages: those that a look seeks, with whether their words count.

use hob_domain::{
    AskedInReview, CommentId, FollowRules, Following, Message, MessageTrust, OWN_MARK, PlainComments, PullNumber,
    Record, SaidIn, Seeks, Timestamp, concerns, follow,
};
use hob_forge::{Comment, Issue, LineRemark, Review};
use hob_text::markup::code_span;

use crate::{WorkError, Worker, authorize::Authorizer, inbox::conversation::Conversation};

/// The messages about an issue, for one look at it.
pub(crate) struct Inbox<'a> {
    pub(crate) worker: &'a Worker,
    pub(crate) authorizer: &'a Authorizer,
    pub(crate) conversation: &'a Conversation,
    pub(crate) record: &'a Record,
}

impl Inbox<'_> {
    /// The commands that were not followed yet, on the issue and on its pull request, oldest first. `issue` is `None` if
    /// nothing is new on the issue itself.
    pub(crate) async fn commands(&self, issue: Option<&Issue>) -> Result<Vec<Message>, WorkError> {
        let mut messages = match issue {
            Some(issue) => {
                // The first look also sees what prepared the work before the label was there.
                let since = self.record.commands.comments.map(|_| self.record.commands_since());
                self.on_issue(issue, since).await?
            }
            None => Vec::new(),
        };
        messages.extend(self.on_pull().await?);
        self.commands_among(messages).await
    }

    /// The commands in the pull request's conversation that were not followed yet, oldest first.
    pub(crate) async fn commands_on_pull(&self) -> Result<Vec<Message>, WorkError> {
        let messages = self.on_pull().await?;
        self.commands_among(messages).await
    }

    async fn commands_among(&self, messages: Vec<Message>) -> Result<Vec<Message>, WorkError> {
        let plain_comments = self.worker.settings.review.plain_comments;
        let commands = self.follow_each(messages, &FollowRules { plain_comments, ..FollowRules::default() }).await?;
        Ok(commands.into_iter().map(|(message, _)| message).collect())
    }

    /// The requests in the pull request's conversation that no round has answered.
    pub(crate) async fn requests(&self) -> Result<Vec<Message>, WorkError> {
        let mut messages = self.on_pull().await?;
        messages.retain(|message| message.asks() == Some(AskedInReview::Work));
        if messages.is_empty() {
            return Ok(messages);
        }
        let rules =
            FollowRules { seeks: Seeks::Requests, own: self.worker.own_login().await?, ..FollowRules::default() };
        Ok(self.follow_each(messages, &rules).await?.into_iter().map(|(message, _)| message).collect())
    }

    /// All comments on the issue by authorized accounts; no others reach the agent. Whether they were edited is not
    /// looked up.
    pub(crate) async fn for_brief(&self, issue: &Issue) -> Result<Vec<Message>, WorkError> {
        let mut authorized = Vec::new();
        let comments = self.conversation.on_issue(self.worker, issue, None).await?;
        for message in comments.iter().filter_map(|comment| message(comment, None)) {
            // Hob itself writes only the status comment; a comment of anyone else with its mark is left out too.
            let counts = !message.body.starts_with(OWN_MARK);
            if counts && self.authorizer.judge(self.worker, &message.author).await?.is_granted() {
                authorized.push(message);
            }
        }
        Ok(authorized)
    }

    /// The newest comment on the issue, regardless of its author. 0 if there is none.
    pub(crate) async fn newest_on_issue(&self, issue: &Issue) -> Result<CommentId, WorkError> {
        let comments = self.conversation.on_issue(self.worker, issue, None).await?;
        Ok(comments.iter().map(|comment| comment.id).max().unwrap_or(CommentId(0)))
    }

    /// The messages since the issue was blocked that answer its question, cannot answer it, or end the work.
    pub(super) async fn answers(&self, issue: &Issue) -> Result<Vec<(Message, Following)>, WorkError> {
        let Some(blocked) = &self.record.blocked else { return Ok(Vec::new()) };
        let mut messages = self.on_issue(issue, Some(blocked.since)).await?;
        messages.extend(self.on_pull().await?);
        messages.extend(self.in_reviews(blocked.since).await?);
        let budgets = self.worker.settings.budgets();
        let rules = FollowRules { seeks: Seeks::Answer, budgets, ..FollowRules::default() };
        self.follow_each(messages, &rules).await
    }

    /// What the messages lead to, oldest first; those that lead to nothing are left out. Accounts are only looked up for messages that may lead to
    /// something.
    async fn follow_each(
        &self,
        mut messages: Vec<Message>,
        rules: &FollowRules,
    ) -> Result<Vec<(Message, Following)>, WorkError> {
        // Comments of one second have the order of their ids.
        messages.sort_by_key(|message| (message.at, message.comment));
        let mut followed = Vec::new();
        for mut message in messages {
            if !concerns(self.record, &message, rules) {
                continue;
            }
            message.trust = self.trust(&message).await?;
            let following = follow(self.record, &message, rules, self.worker.forge.now());
            if following != Following::Nothing {
                followed.push((message, following));
            }
        }
        Ok(followed)
    }

    async fn trust(&self, message: &Message) -> Result<MessageTrust, WorkError> {
        if !self.authorizer.judge(self.worker, &message.author).await?.is_granted() {
            return Ok(MessageTrust::Unauthorized);
        }
        // Other plain words count even if they were edited.
        if message.is_binding() && self.conversation.is_edited(self.worker, message.id()).await? {
            return Ok(MessageTrust::Edited);
        }
        Ok(MessageTrust::Authorized)
    }

    async fn on_issue(&self, issue: &Issue, since: Option<Timestamp>) -> Result<Vec<Message>, WorkError> {
        let comments = self.conversation.on_issue(self.worker, issue, since).await?;
        self.read(comments.iter().filter_map(|comment| message(comment, None)).collect()).await
    }

    /// The comments in the pull request's conversation, oldest first.
    pub(crate) async fn on_pull(&self) -> Result<Vec<Message>, WorkError> {
        let comments = self.conversation.on_pull(self.worker).await?;
        self.read(comments.iter().filter_map(|comment| message(comment, self.conversation.pull())).collect()).await
    }

    /// What people wrote in reviews and on lines of the pull request at `since` or later. While the pull request is as it
    /// was, nothing is read.
    async fn in_reviews(&self, since: Timestamp) -> Result<Vec<Message>, WorkError> {
        if !self.conversation.may_have_news(since) {
            return Ok(Vec::new());
        }
        let pull = self.conversation.pull();
        let reviews = self.conversation.reviews(self.worker).await?.iter();
        let reviews = reviews.filter(|review| review.may_answer()).filter_map(|review| of_review(review, pull));
        let mut messages = self.read(reviews.collect()).await?;
        let remarks = self.conversation.remarks(self.worker).await?.iter();
        let (places, on_lines): (Vec<_>, Vec<_>) =
            remarks.filter_map(|remark| Some((place(remark), of_line(remark, pull)?))).unzip();
        let on_lines = self.read(on_lines).await?.into_iter().zip(&places);
        messages.extend(on_lines.map(|(message, place)| message.at_line(place)));
        Ok(messages)
    }

    /// The messages, with those that call Hob by the name of its account as they are meant.
    async fn read(&self, messages: Vec<Message>) -> Result<Vec<Message>, WorkError> {
        // The account need not be known for others.
        let messages: Vec<_> = match messages.iter().any(Message::may_call_by_name) {
            false => messages,
            true => match self.worker.own_login().await? {
                Some(own) => messages.into_iter().map(|message| message.called_by_name(&own)).collect(),
                None => messages,
            },
        };
        Ok(match self.worker.settings.review.plain_comments {
            PlainComments::Work => messages.into_iter().map(Message::taken_as_request).collect(),
            PlainComments::Hint | PlainComments::Ignore => messages,
        })
    }
}

/// The words of a review as a message. `None` if its author is gone.
fn of_review(review: &Review, pull: Option<PullNumber>) -> Option<Message> {
    Some(Message {
        comment: CommentId(review.id),
        said_in: SaidIn::Review,
        pull,
        author: review.author.clone()?,
        body: review.body.clone(),
        at: review.submitted_at,
        trust: MessageTrust::Authorized,
    })
}

/// A comment on a line as a message. `None` if its author is gone.
fn of_line(remark: &LineRemark, pull: Option<PullNumber>) -> Option<Message> {
    Some(Message {
        comment: CommentId(remark.id),
        said_in: SaidIn::Line,
        pull,
        author: remark.author.clone()?,
        body: remark.body.clone(),
        at: remark.created_at,
        trust: MessageTrust::Authorized,
    })
}

/// Where a comment on a line is, for an agent.
fn place(remark: &LineRemark) -> String {
    let path = code_span(&remark.path);
    remark.line.map_or_else(|| format!("On {path}"), |line| format!("On {path}, line {line}"))
}

/// A comment as a message whose words are not judged yet. `None` if its author is gone.
fn message(comment: &Comment, pull: Option<PullNumber>) -> Option<Message> {
    Some(Message {
        comment: comment.id,
        said_in: SaidIn::Comment,
        pull,
        author: comment.author.clone()?,
        body: comment.body.clone(),
        at: comment.created_at,
        trust: MessageTrust::Authorized,
    })
}
