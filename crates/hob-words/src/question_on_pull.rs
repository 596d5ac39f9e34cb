//! The comment that brings a question of a round in review to the person who waits on the pull request.

use hob_domain::{BlockCode, Blocked, Budgets, Login, PullNumber, Record, ReviewEvent};
use hob_text::{inert_line, title};

use crate::{
    answer_options::{used_up, used_up_beside},
    question::{self, question_mark},
};

/// Characters of the quoted words.
const QUOTED: usize = 160;

/// What a person asked for in the round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedFor {
    /// Who.
    pub by: Login,
    /// The review or the comment.
    pub event: ReviewEvent,
    /// Its Markdown.
    pub body: String,
}

impl AskedFor {
    /// Its place on the page of the pull request. `None` if it is of no person.
    fn anchor(&self) -> Option<String> {
        match &self.event {
            ReviewEvent::Review(id) => Some(format!("pullrequestreview-{id}")),
            ReviewEvent::Line(id) => Some(format!("discussion_r{id}")),
            ReviewEvent::Comment(id) => Some(format!("issuecomment-{id}")),
            ReviewEvent::Check { .. }
            | ReviewEvent::Conflict { .. }
            | ReviewEvent::Behind { .. }
            | ReviewEvent::Ejected(_) => None,
        }
    }

    /// The first line that the person wrote.
    fn words(&self) -> Option<String> {
        let line = self.body.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('>'))?;
        Some(inert_line(&title(line, QUOTED))).filter(|words| !words.is_empty())
    }
}

/// Whom the comment on the pull request is for, and what it is about.
#[derive(Debug, Clone, Copy)]
pub struct AskedOnPull<'a> {
    /// The pull request.
    pub pull: PullNumber,
    /// An account or a team, without the `@`.
    pub person: &'a str,
    /// What was asked for in the round. `None` if nobody asked for it.
    pub about: Option<&'a AskedFor>,
    /// The repository's address.
    pub repo_url: &'a str,
    /// The address of the status comment.
    pub status: &'a str,
}

/// The comment.
pub fn question_on_pull(record: &Record, blocked: &Blocked, budgets: &Budgets, asked: AskedOnPull<'_>) -> String {
    let AskedOnPull { pull, person, about, repo_url, status } = asked;
    let subject = about.and_then(|about| {
        let whose = if about.by.is(&Login(person.to_owned())) { "your".to_owned() } else { format!("{}'s", about.by) };
        let what = if matches!(about.event, ReviewEvent::Review(_)) { "review" } else { "comment" };
        Some(format!("[{whose} {what}]({repo_url}/pull/{pull}#{})", about.anchor()?))
    });
    let subject = subject.unwrap_or_else(|| "this pull request".to_owned());
    let stopped = |why: &str| format!("the work on {subject} stopped. {}", inert_line(why));
    let why = match used_up_beside(blocked, record, budgets) {
        Some(exhausted) => stopped(&used_up(&exhausted, record)),
        None if blocked.reason == BlockCode::Question => format!("the agent has a question about {subject}:"),
        None => stopped(&blocked.reason_line()),
    };
    let quoted = about.and_then(AskedFor::words).map_or_else(String::new, |words| format!("> {words}\n\n"));
    let asked = question::asked(record, blocked, budgets, status);
    format!("{}\n@{person}, {why}\n\n{quoted}{asked}", question_mark(blocked))
}

#[cfg(test)]
mod tests {
    use hob_domain::{BlockReason, Claimant, IssueNumber, Nonce, State, Timestamp, WorkerId, acquire};

    use super::*;

    /// Row N66.
    #[test]
    fn a_question_of_a_round_quotes_what_it_is_about_and_mentions_one_person() {
        let (worker, nonce) = (WorkerId::from("w"), Nonce::from("n"));
        let (duration, skew) = (std::time::Duration::from_secs(60), std::time::Duration::ZERO);
        let claimant = Claimant { worker, nonce, duration, skew, bill: None };
        let record = acquire(None, IssueNumber(7), &claimant, Timestamp::UNIX_EPOCH).unwrap();
        let question = || BlockReason::Question { question: "By name or by date, @team?".to_owned() };
        let failed = || BlockReason::AgentFailed { failure: "exit code 3".to_owned() };
        let of = |event, body: &str| AskedFor { by: "ann".into(), event, body: body.to_owned() };
        let review = of(ReviewEvent::Review(5), "> It sorts.\n\nSort them, @bob, as in #3.\nThen stop.");
        let line = of(ReviewEvent::Line(6), "Sort these.");
        let mut text = String::new();
        for (reason, person, about) in [
            (question(), "ann", Some(&review)),
            (question(), "ben", Some(&line)),
            (failed(), "ann", Some(&of(ReviewEvent::Comment(8), ""))),
            (failed(), "ann", None),
        ] {
            let asked = AskedOnPull {
                pull: PullNumber(9),
                person,
                about,
                repo_url: "https://forge/o/r",
                status: "https://forge/o/r/issues/7#issuecomment-1",
            };
            let blocked = reason.blocked(Timestamp::from_timestamp(77, 0).unwrap());
            let record = Record { state: State::Blocked, blocked: Some(blocked.clone()), ..record.clone() };
            text.push_str(&question_on_pull(&record, &blocked, &Budgets::default(), asked));
            text.push('\n');
        }
        insta::assert_snapshot!(text.replace('\u{200b}', "<zwsp>"), @r"
        <!-- hob:question 77 -->
        @ann, the agent has a question about [your review](https://forge/o/r/pull/9#pullrequestreview-5):

        > Sort them, @<zwsp>bob, as in #<zwsp>3.

        **Question**: By name or by date, @<zwsp>team?

        Reply, and the agent continues with your answer. [Details and other answers](https://forge/o/r/issues/7#issuecomment-1)

        <!-- hob:question 77 -->
        @ben, the agent has a question about [ann's comment](https://forge/o/r/pull/9#discussion_r6):

        > Sort these.

        **Question**: By name or by date, @<zwsp>team?

        Reply, and the agent continues with your answer. [Details and other answers](https://forge/o/r/issues/7#issuecomment-1)

        <!-- hob:question 77 -->
        @ann, the work on [your comment](https://forge/o/r/pull/9#issuecomment-8) stopped. The agent failed: exit code 3.

        **Question**: What should the agent do differently, or what does it need?

        Reply with what the agent needs, and it tries again. [Details and other answers](https://forge/o/r/issues/7#issuecomment-1)

        <!-- hob:question 77 -->
        @ann, the work on this pull request stopped. The agent failed: exit code 3.

        **Question**: What should the agent do differently, or what does it need?

        Reply with what the agent needs, and it tries again. [Details and other answers](https://forge/o/r/issues/7#issuecomment-1)
        ");
    }
}
