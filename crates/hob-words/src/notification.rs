//! Notifications: what a receiver outside the forge is told about an issue, once each, and the wording. `hob-worker`
//! sends them.
//!
//! # Guarantees
//! - What is due follows from the record alone, so a worker that takes an issue over finds the same notifications with
//!   the same ids, and none that is marked as sent.
//! - Names come from the record. Text of people and agents is one line without hidden characters, and in the formats of
//!   chats it mentions nobody and links nowhere.

use hob_domain::{BlockCode, NotifyEvent, Record, RepoName};
use hob_text::title;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The longest title, in characters.
const TITLE_MAX: usize = 120;
/// The longest question, in characters; the status comment has the whole question.
const QUESTION_MAX: usize = 300;
/// Invisible, and ends what a chat would read as a name or an address.
const BREAK: char = '\u{200b}';

/// One notification.
#[derive(Debug, Clone, Copy)]
pub struct Notification<'a> {
    /// The event.
    pub event: NotifyEvent,
    /// The repository.
    pub repo: &'a RepoName,
    /// Its page on the forge.
    pub repo_url: &'a str,
    /// The issue's title, as last read.
    pub title: &'a str,
    /// The issue's record.
    pub record: &'a Record,
    /// The share of the issue's budget that is used.
    pub used: f64,
}

impl Notification<'_> {
    /// The id of the delivery: independent of the worker, and different for each question, pull request and end.
    pub fn delivery_id(&self) -> String {
        let since = match self.event {
            NotifyEvent::BudgetWarning => None,
            NotifyEvent::Blocked | NotifyEvent::InReview | NotifyEvent::Done => Some(self.record.since),
        };
        // The time is part of it because a rebuilt ledger counts generations from the start again.
        let (at, lease) = since.map_or((0, 0), |since| (since.at.timestamp(), since.generation.0));
        // The forge ignores case in repository names.
        let repo = self.repo.to_string().to_ascii_lowercase();
        let digest = Sha256::digest(format!("{repo}\n{}\n{}\n{at}\n{lease}", self.record.issue, self.event.name()));
        digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }

    /// The body as plain JSON.
    pub fn json(&self) -> Value {
        let record = self.record;
        let mut body = json!({
            "event": self.event.name(),
            "delivery": self.delivery_id(),
            "repository": self.repo.to_string(),
            "issue": { "number": record.issue, "title": title(self.title, TITLE_MAX), "url": self.issue_url() },
            "text": self.sentence(),
            "spend": record.spend,
        });
        if let Some(trigger) = &record.trigger {
            body["asked_by"] = json!(trigger.actor);
        }
        if let Some(pull) = record.pull.number {
            body["pull_request"] = json!({ "number": pull, "url": format!("{}/pull/{pull}", self.repo_url) });
        }
        if let Some(blocked) = record.blocked.as_ref().filter(|_| self.event == NotifyEvent::Blocked) {
            let (kind, reason) = (blocked.reason.kind(), blocked.reason);
            let question = title(&blocked.question, QUESTION_MAX);
            body["blocked"] = json!({ "kind": kind, "reason": reason, "question": question });
        }
        body
    }

    /// The body in the format of Slack's incoming webhooks.
    /// <https://docs.slack.dev/messaging/formatting-message-text>
    pub fn slack(&self) -> Value {
        let issue = link(&self.issue_url(), &format!("#{} {}", self.record.issue, title(self.title, TITLE_MAX)));
        let pull = if let (NotifyEvent::InReview, Some(pull)) = (self.event, self.record.pull.number) {
            format!(" ({})", link(&format!("{}/pull/{pull}", self.repo_url), &format!("pull request {pull}")))
        } else {
            String::new()
        };
        json!({ "text": format!("{} {issue}{pull}: {}", escaped(&self.repo.to_string()), escaped(&self.sentence())) })
    }

    /// The body in the format of a Teams webhook of Workflows: a message with one Adaptive Card. Its text is plain: the
    /// runs of a `RichTextBlock` are not Markdown, unlike those of a `TextBlock`.
    /// <https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using>
    pub fn teams(&self) -> Value {
        let run = |text: &str| json!({ "type": "TextRun", "text": plain(text) });
        let issue = format!("#{} {}", self.record.issue, title(self.title, TITLE_MAX));
        let head = json!({ "type": "TextRun", "text": plain(&format!("{} {issue}", self.repo)), "weight": "bolder" });
        let opens = |title: String, url: String| json!({ "type": "Action.OpenUrl", "title": title, "url": url });
        let mut actions = vec![opens(format!("Issue {}", self.record.issue), self.issue_url())];
        if let (NotifyEvent::InReview, Some(pull)) = (self.event, self.record.pull.number) {
            actions.push(opens(format!("Pull request {pull}"), format!("{}/pull/{pull}", self.repo_url)));
        }
        let block = |run: Value| json!({ "type": "RichTextBlock", "inlines": [run] });
        let card = json!({
            "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
            "type": "AdaptiveCard",
            "version": "1.4",
            "body": [block(head), block(run(&self.sentence()))],
            "actions": actions,
        });
        let contents =
            json!({ "contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": null, "content": card });
        json!({ "type": "message", "attachments": [contents] })
    }

    fn issue_url(&self) -> String {
        format!("{}/issues/{}", self.repo_url, self.record.issue)
    }

    /// What happened, one line.
    fn sentence(&self) -> String {
        match self.event {
            NotifyEvent::Blocked => {
                let Some(blocked) = &self.record.blocked else { return "blocked, a person is needed.".to_owned() };
                let is_other = self.used >= 1.0 && blocked.reason != BlockCode::IssueBudget;
                let reason = if is_other { "The issue's budget is used up.".to_owned() } else { blocked.reason_line() };
                format!("blocked. {reason} {}", title(&blocked.question, QUESTION_MAX))
            }
            NotifyEvent::InReview => "its pull request waits for a review.".to_owned(),
            NotifyEvent::Done => "the work is finished.".to_owned(),
            NotifyEvent::BudgetWarning => {
                let percent = (self.used * 100.0).floor();
                format!("{percent:.0}% of the issue's budget is used: {}.", self.record.spend)
            }
        }
    }
}

fn link(url: &str, text: &str) -> String {
    // In Slack's syntax, a bar ends the address of a link.
    format!("<{url}|{}>", escaped(text).replace('|', "\u{a6}"))
}

/// Text that a card shows as is. A date of the form `{{DATE(…)}}` would be formatted, and clients may turn addresses
/// into links and names into mentions.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        plain.push(c);
        if matches!(c, '{' | '@' | ':') {
            plain.push(BREAK);
        }
    }
    plain
}

/// Text that Slack shows as is.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '@' => escaped.extend(['@', BREAK]),
            ':' => escaped.extend([':', BREAK]),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use hob_domain::{
        BlockReason, Budget, EventId, Generation, NotifyRules, PullLog, PullNumber, Since, State, Timestamp,
        Transition, Trigger, apply, to_notify,
    };

    use super::*;
    use crate::fixtures::record_at;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(seconds, 0).unwrap()
    }

    fn all(record: &Record) -> Vec<NotifyEvent> {
        use NotifyEvent::{Blocked, BudgetWarning, Done, InReview};
        let budget = Budget { usd_micros: Some(100), ..Budget::default() };
        to_notify(record, &NotifyRules { events: &[Blocked, InReview, Done, BudgetWarning], budget, soft: 0.8 })
    }

    fn asked(question: &str, when: i64) -> Record {
        asked_under(1, question, when)
    }

    fn asked_under(lease: u64, question: &str, when: i64) -> Record {
        let working = Record {
            generation: Generation(lease),
            trigger: Some(Trigger {
                event: EventId(7),
                actor: "ann".into(),
                approved: String::new(),
                at: None,
                labels: Vec::new(),
            }),
            ..record_at(State::InProgress)
        };
        let reason = BlockReason::Question { question: question.to_owned() };
        apply(&working, Transition::Block(reason), at(when)).unwrap().0
    }

    fn told<'a>(record: &'a Record, repo: &'a RepoName, title: &'a str) -> Notification<'a> {
        let event = all(record)[0];
        Notification { event, repo, repo_url: "https://forge/acme/site", title, record, used: 0.85 }
    }

    #[test]
    fn each_question_has_one_id_whoever_asks_it() {
        let repo: RepoName = "acme/site".parse().unwrap();
        let other: RepoName = "Acme/Site".parse().unwrap();
        let (first, second) = (asked("UTC?", 100), asked("UTC?", 200));
        let id = |record: &Record, repo: &RepoName| told(record, repo, "t").delivery_id();
        assert_eq!(id(&first, &repo), id(&first, &other));
        assert_ne!(id(&first, &repo), id(&second, &repo));
        assert_ne!(
            id(&first, &repo),
            id(&asked_under(2, "UTC?", 100), &repo),
            "in the same second, under another lease"
        );
        // A takeover changes the lease but not the state.
        let taken = apply(&first, Transition::Reconcile { what: "x".to_owned() }, at(300)).unwrap().0;
        assert_eq!(id(&first, &repo), id(&taken, &repo));
        assert_eq!(id(&first, &repo).len(), 32);
    }

    #[test]
    fn the_bodies_say_what_happened() {
        let repo: RepoName = "acme/site".parse().unwrap();
        let blocked = asked("UTC or <!channel> local? https://evil.example @here", 100);
        let notification = told(&blocked, &repo, "Fix <b> & | <https://evil.example|x>");
        insta::assert_snapshot!(notification.slack()["text"].as_str().unwrap().replace(BREAK, "_"), @"acme/site <https://forge/acme/site/issues/1|#1 Fix &lt;b&gt; &amp; ¦ &lt;https:_//evil.example¦x&gt;>: blocked. The agent needs an answer before it can continue. UTC or &lt;!channel&gt; local? https:_//evil.example @_here");
        insta::assert_snapshot!(serde_json::to_string_pretty(&notification.json()).unwrap(), @r#"
        {
          "asked_by": "ann",
          "blocked": {
            "kind": "question",
            "question": "UTC or <!channel> local? https://evil.example @here",
            "reason": "question"
          },
          "delivery": "62adbbf86faf11b10f509b0689d91e15",
          "event": "blocked",
          "issue": {
            "number": 1,
            "title": "Fix <b> & | <https://evil.example|x>",
            "url": "https://forge/acme/site/issues/1"
          },
          "repository": "acme/site",
          "spend": {
            "input_tokens": 0,
            "output_tokens": 0,
            "usd_micros": 0,
            "wall_seconds": 0
          },
          "text": "blocked. The agent needs an answer before it can continue. UTC or <!channel> local? https://evil.example @here"
        }
        "#);
        let review = Record {
            pull: PullLog::of(PullNumber(9)),
            since: Since { at: at(5), generation: Generation(1) },
            ..record_at(State::InReview)
        };
        let review = told(&review, &repo, "Fix it").slack();
        insta::assert_snapshot!(review["text"].as_str().unwrap(), @"acme/site <https://forge/acme/site/issues/1|#1 Fix it> (<https://forge/acme/site/pull/9|pull request 9>): its pull request waits for a review.");
    }

    #[test]
    fn a_card_has_plain_text_and_opens_what_it_is_about() {
        let repo: RepoName = "acme/site".parse().unwrap();
        let blocked = asked("UTC or <!channel> local? https://evil.example @here", 100);
        let card = told(&blocked, &repo, "Fix *it* [x](https://evil.example) {{DATE(2026-01-01T00:00:00Z)}}").teams();
        insta::assert_snapshot!(serde_json::to_string_pretty(&card).unwrap().replace(BREAK, "_"), @r#"
        {
          "attachments": [
            {
              "content": {
                "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
                "actions": [
                  {
                    "title": "Issue 1",
                    "type": "Action.OpenUrl",
                    "url": "https://forge/acme/site/issues/1"
                  }
                ],
                "body": [
                  {
                    "inlines": [
                      {
                        "text": "acme/site #1 Fix *it* [x](https:_//evil.example) {_{_DATE(2026-01-01T00:_00:_00Z)}}",
                        "type": "TextRun",
                        "weight": "bolder"
                      }
                    ],
                    "type": "RichTextBlock"
                  },
                  {
                    "inlines": [
                      {
                        "text": "blocked. The agent needs an answer before it can continue. UTC or <!channel> local? https:_//evil.example @_here",
                        "type": "TextRun"
                      }
                    ],
                    "type": "RichTextBlock"
                  }
                ],
                "type": "AdaptiveCard",
                "version": "1.4"
              },
              "contentType": "application/vnd.microsoft.card.adaptive",
              "contentUrl": null
            }
          ],
          "type": "message"
        }
        "#);
        let review = Record {
            pull: PullLog::of(PullNumber(9)),
            since: Since { at: at(5), generation: Generation(1) },
            ..record_at(State::InReview)
        };
        let teams = told(&review, &repo, "Fix it").teams();
        let actions = &teams["attachments"][0]["content"]["actions"];
        assert_eq!(actions[1]["url"], "https://forge/acme/site/pull/9", "{teams}");
    }
}
