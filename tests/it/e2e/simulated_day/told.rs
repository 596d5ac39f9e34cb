//! What was told in the course of the day, and what has to be true of it.

use hob_domain::State;
use serde_json::{Value, json};

use super::{Day, Effect, ISSUES, Message};

/// A text in an answer.
fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().replace("\r\n", "\n")
}

/// Whether a comment's first line is the mark of a question that waits.
fn is_open(mark: &str) -> bool {
    mark.starts_with("<!-- hob:question ") && !mark.contains(" closed ")
}

/// Each line behind a bar, so that a comment ends where its bars end.
fn barred(text: &str) -> String {
    text.lines().map(|line| format!("  | {line}").trim_end().to_owned() + "\n").collect()
}

/// One thing that somebody said.
fn entry(who: &str, how: &str, reactions: &[String], text: &str) -> String {
    let seen = if reactions.is_empty() { String::new() } else { format!(" [{}]", reactions.join(", ")) };
    format!("{who}{how}{seen}\n{}", barred(text))
}

impl Day {
    async fn list(&self, path: &str) -> Vec<Value> {
        self.world.look(&format!("{path}?per_page=100")).await.as_array().unwrap().clone()
    }

    /// Who reacted how to this comment.
    async fn reactions(&self, comment: &Value) -> Vec<String> {
        let found = self.list(&format!("/issues/comments/{}/reactions", comment["id"])).await;
        found.iter().map(|one| text(&one["content"])).collect()
    }

    /// The reactions on the reviews of this pull request and on their first lines, in their order.
    async fn seen_reviews(&self, pull: u64) -> Vec<(u64, u64)> {
        let query = format!(
            "{{ repository(owner: \"acme\", name: \"site\") {{ pullRequest(number: {pull}) {{ reviews(first: 50) {{ nodes {{ \
             reactions {{ totalCount }} comments(first: 9) {{ nodes {{ reactions {{ totalCount }} }} }} }} }} }} }} }}"
        );
        let found = self.world.ask_graphql("ann", json!({ "query": query })).await;
        let reviews = found["data"]["repository"]["pullRequest"]["reviews"]["nodes"].as_array().unwrap().clone();
        let count = |value: &Value| value["reactions"]["totalCount"].as_u64().unwrap_or_default();
        reviews.iter().map(|one| (count(one), count(&one["comments"]["nodes"][0]))).collect()
    }

    /// Every issue, and then every pull request in the order of their issues, with all that was said there.
    pub(super) async fn told(&self) -> String {
        let mut pulls = self.pulls().await;
        pulls.sort_by_key(|(_, issue)| *issue);
        let mut all = String::new();
        for number in (1..=ISSUES.len() as u64).chain(pulls.into_iter().map(|(pull, _)| pull)) {
            all.push_str(&self.told_on(number).await);
            all.push('\n');
        }
        all
    }

    /// Each pull request with its issue. Which of two issues that were answered at once has the lower number is chance.
    pub(super) async fn pulls(&self) -> Vec<(u64, u64)> {
        let of = |pull: &Value| {
            let body = text(&pull["body"]);
            let issue = body.lines().next().and_then(|line| line.strip_prefix("Fixes #")?.parse().ok());
            (pull["number"].as_u64().unwrap(), issue.unwrap_or_default())
        };
        self.world.pulls().await.iter().map(of).collect()
    }

    async fn told_on(&self, number: u64) -> String {
        let issue = self.world.look(&format!("/issues/{number}")).await;
        let is_pull = issue.get("pull_request").is_some();
        let kind = if is_pull { "Pull request" } else { "Issue" };
        let labels = self.world.labels(number).await.join(", ");
        let reason = issue["state_reason"].as_str().map(|reason| format!(", {reason}")).unwrap_or_default();
        let state = text(&issue["state"]);
        let mut page = format!("# {kind} {number}: {} ({state}{reason}) [{labels}]\n", text(&issue["title"]));
        page.push_str(&entry(&text(&issue["user"]["login"]), " opened it", &[], &text(&issue["body"])));
        if is_pull {
            let pull = self.world.look(&format!("/pulls/{number}")).await;
            for one in pull["requested_reviewers"].as_array().unwrap() {
                page.push_str(&format!("review requested from {}\n", text(&one["login"])));
            }
        }
        let mut said = Vec::new();
        for comment in self.list(&format!("/issues/{number}/comments")).await {
            let reactions = self.reactions(&comment).await;
            let what = entry(&text(&comment["user"]["login"]), "", &reactions, &text(&comment["body"]));
            said.push((text(&comment["created_at"]), what));
        }
        if is_pull {
            self.add_reviews(number, &mut said).await;
        }
        said.sort_by(|one, other| one.0.cmp(&other.0));
        page.extend(said.into_iter().map(|(_at, what)| what));
        page
    }

    async fn add_reviews(&self, pull: u64, said: &mut Vec<(String, String)>) {
        let seen = self.seen_reviews(pull).await;
        for (review, (seen, _lines)) in self.list(&format!("/pulls/{pull}/reviews")).await.iter().zip(seen) {
            let how = format!(" reviewed: {}, {seen} reactions", text(&review["state"]));
            let what = entry(&text(&review["user"]["login"]), &how, &[], &text(&review["body"]));
            said.push((text(&review["submitted_at"]), what));
        }
        for remark in self.list(&format!("/pulls/{pull}/comments")).await {
            let how = format!(" on {}", text(&remark["path"]));
            let what = entry(&text(&remark["user"]["login"]), &how, &[], &text(&remark["body"]));
            said.push((text(&remark["created_at"]), what));
        }
    }

    /// Each message has its one receipt and its effect.
    pub(super) async fn everything_was_heard(&self) {
        let mut missed = Vec::new();
        for message in &self.messages {
            let Message { login, on, words, receipt, effect } = message;
            let comments = self.list(&format!("/issues/{on}/comments")).await;
            let own = |one: &Value| one["user"]["login"] == *login && one["body"] == *words;
            let place = comments.iter().position(own).unwrap();
            let reactions = self.reactions(&comments[place]).await;
            let has_effect = match effect {
                Effect::Read(issue) => {
                    let last = words.lines().last().unwrap().trim_start_matches("/hob retry ");
                    let last = last.trim_start_matches("/hob ");
                    self.world.briefs(*issue).iter().any(|brief| brief.contains(last))
                }
                Effect::Reply => {
                    let mut after = comments[place..].iter().map(|one| text(&one["body"]));
                    after.any(|body| body.starts_with("<!-- hob:reply "))
                }
                Effect::Done(issue, said) => self.world.history(*issue).await.iter().any(|line| line.contains(said)),
            };
            if reactions != [*receipt] || !has_effect {
                missed.push(format!("{message:?}: {reactions:?}, {:#?}", self.world.history(*on).await));
            }
        }
        assert!(missed.is_empty(), "{}", missed.join("\n"));
        for issue in [1, 5, 13] {
            let seen = self.seen_reviews(self.pull(issue).await).await;
            // An approval asks for nothing.
            let wanted = [(u64::from(issue != 1), u64::from(issue == 13))];
            assert_eq!(seen[..1], wanted, "#{issue}: one receipt each");
        }
    }

    /// Notes the questions that are open now, and whom they call.
    pub(super) async fn notes_questions(&mut self) {
        for number in 1..=self.last().await {
            for said in self.world.said(number).await {
                let Some((mark, words)) = said.text.split_once('\n').filter(|(mark, _)| is_open(mark)) else {
                    continue;
                };
                let called = words.split_whitespace().filter_map(|word| word.strip_prefix('@'));
                let called = called.map(|login| (number, login.trim_end_matches(',').to_owned()));
                self.asked.entry(format!("{number} {mark}")).or_default().extend(called);
            }
        }
    }

    /// Each question called one person in one place, and none is open once it is answered.
    pub(super) async fn nobody_was_asked_twice(&self) {
        assert!(self.asked.len() > 10, "{:?}", self.asked);
        assert!(self.asked.values().all(|called| called.len() == 1), "{:?}", self.asked);
        for number in 1..=self.last().await {
            for said in self.world.said(number).await {
                let open = said.text.lines().next().is_some_and(is_open);
                assert!(
                    !open || self.blocked(number).await,
                    "#{number} waits for nobody, and this asks: {}",
                    said.text
                );
            }
        }
    }

    /// The newest number.
    async fn last(&self) -> u64 {
        let pulls = self.world.pulls().await;
        pulls.iter().filter_map(|pull| pull["number"].as_u64()).fold(ISSUES.len() as u64, u64::max)
    }

    /// Whether the issue, or the one of this pull request, waits for an answer.
    async fn blocked(&self, number: u64) -> bool {
        let body = text(&self.world.look(&format!("/issues/{number}")).await["body"]);
        let fixed = body.lines().next().and_then(|line| line.strip_prefix("Fixes #")?.parse().ok());
        self.world.record(fixed.unwrap_or(number)).await.is_some_and(|record| record.state == State::Blocked)
    }

    /// Each issue is done, in review, or waits for somebody or something that its status comment names.
    pub(super) async fn nothing_is_stuck(&self) {
        for number in 1..=ISSUES.len() as u64 {
            let issue = self.world.look(&format!("/issues/{number}")).await;
            let Some(record) = self.world.record(number).await else {
                let ended = issue["state"] == "closed" || self.world.labels(number).await.is_empty();
                assert!(ended, "#{number} is asked for, and nobody has looked at it");
                continue;
            };
            let status = self.world.status(number).await;
            let fine = match record.state {
                State::Done | State::InReview => true,
                State::Blocked => status.contains("**Blocked**"),
                State::Ready | State::Assigned | State::InProgress => false,
            };
            assert!(fine, "#{number} is {:?}: {status}\n{:#?}", record.state, self.world.history(number).await);
        }
    }
}
