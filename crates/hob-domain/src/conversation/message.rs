//! A message to Hob, on an issue or on its pull request, and what a look at messages is for.
//!
//! What it leads to depends on the issue's record: see [`follow`](crate::follow()).

use crate::{
    AccountKind, Actor, Asked, AskedInReview, Command, CommentId, Login, OWN_MARK, PullNumber, SaidId, SaidIn,
    Timestamp, asked_in, asked_in_review, asked_work,
    conversation::{
        command::{author_lines, has_own_words, is_verb},
        short_words::{ShortWord, short_word},
    },
};

/// A comment on an issue or on its pull request, or the words of a review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The comment or the review.
    pub comment: CommentId,
    /// Which of them.
    pub said_in: SaidIn,
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

    /// What it is.
    pub fn id(&self) -> SaidId {
        SaidId { said_in: self.said_in, id: self.comment }
    }

    /// Its command, if it is a known one and its words count.
    pub fn command(&self) -> Option<Command> {
        match self.asks().filter(|_| self.trust == MessageTrust::Authorized)? {
            AskedInReview::Command(Asked::Known(command)) => Some(command),
            AskedInReview::Command(Asked::Unknown(_)) | AskedInReview::Work => None,
        }
    }

    /// Whether a line of it may begin with the name of an account.
    pub fn may_call_by_name(&self) -> bool {
        self.body.lines().any(|line| without_greeting(line).starts_with('@'))
    }

    /// The message as Hob is to read it if a line of its author's own words begins with the name of Hob's account, `own`,
    /// maybe behind a greeting: `@hob retry` is the command, and other words are a request on a pull request and plain
    /// words on an issue.
    #[must_use]
    pub fn called_by_name(mut self, own: &Login) -> Self {
        let lines = author_lines(&self.body, |line| words_after_name(line, own).is_some());
        let Some((line, after)) = lines.first() else { return self };
        let said = format!("{}\n{after}", words_after_name(line, own).unwrap_or_default());
        let (said, lines_to_it) = (said.trim(), &self.body[..self.body.len() - after.len()]);
        let before = lines_to_it.trim().strip_suffix(line).unwrap_or_default().trim();
        let is_command = said.split_whitespace().next().is_some_and(is_verb);
        self.body = match (said.is_empty(), is_command, self.pull) {
            (true, ..) => return self,
            (false, true, _) => format!("/hob {said}"),
            (false, false, Some(_)) => format!("/hob {said}\n\n{before}").trim().to_owned(),
            (false, false, None) if before.is_empty() || before.starts_with('@') => said.to_owned(),
            (false, false, None) => return self,
        };
        self
    }

    /// The message as a request, if it is a person's plain words in a pull request's conversation. A short reply is for
    /// the people there.
    #[must_use]
    pub fn taken_as_request(mut self) -> Self {
        let is_plain = self.pull.is_some() && self.author.kind == AccountKind::User && self.asks().is_none();
        let is_words = !self.is_to_another() && short_word(&self.body).is_none() && has_own_words(&self.body);
        if is_plain && is_words && !self.has_own_mark() {
            self.body = format!("/hob {}", self.body.trim_start());
        }
        self
    }

    /// A comment on a line as an agent is to read it, which does not see the line: `place` says where it is. Short words
    /// and commands need no place.
    #[must_use]
    pub fn at_line(mut self, place: &str) -> Self {
        match self.asks() {
            Some(AskedInReview::Command(_)) => {}
            Some(AskedInReview::Work) => {
                self.body = format!("/hob {place}: {}", asked_work(&self.body).unwrap_or_default());
            }
            None if self.is_to_another() || self.short_word().is_some() || self.has_own_mark() => {}
            None => self.body = format!("{place}: {}", self.body.trim()),
        }
        self
    }

    /// Whether it begins with a mention, and so is for somebody else: people talk to each other, too.
    pub(crate) fn is_to_another(&self) -> bool {
        self.body.trim_start().starts_with('@')
    }

    /// What it says by itself, if it is one of a person's short replies.
    pub(crate) fn short_word(&self) -> Option<ShortWord> {
        let is_plain = self.author.kind == AccountKind::User && self.asks().is_none();
        short_word(&self.body).filter(|_| is_plain && !self.is_to_another())
    }

    /// Whether its words bind by themselves, as commands and short replies do; if they were edited, another account may
    /// have written them.
    pub fn is_binding(&self) -> bool {
        self.asks().is_some() || self.short_word().is_some()
    }

    /// Whether it has the mark of Hob's own texts. Anyone can write the mark, and loses a voice by it.
    pub(crate) fn has_own_mark(&self) -> bool {
        self.body.starts_with(OWN_MARK)
    }
}

/// Words before a name that say nothing by themselves.
const GREETINGS: [&str; 8] = ["hi", "hello", "hey", "dear", "ok", "okay", "thanks", "please"];

/// A line without a greeting at its beginning.
fn without_greeting(line: &str) -> &str {
    let line = line.trim_start();
    let Some((word, rest)) = line.split_once(char::is_whitespace) else { return line };
    let word = word.trim_end_matches([',', '!', '.']);
    if GREETINGS.iter().any(|known| known.eq_ignore_ascii_case(word)) { rest.trim_start() } else { line }
}

/// What follows an account's name at the beginning of a line. An App's name is mentioned without its suffix.
fn words_after_name<'a>(line: &'a str, own: &Login) -> Option<&'a str> {
    let name = own.as_str().trim_end_matches("[bot]");
    let (said, after) = without_greeting(line).strip_prefix('@')?.split_at_checked(name.len())?;
    let ends = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/'));
    let after = after.strip_prefix("[bot]").unwrap_or(after);
    if !said.eq_ignore_ascii_case(name) || after.chars().next().is_some_and(|c| !ends(c)) {
        return None;
    }
    Some(after.trim_start_matches([',', ':', ';', '.', '!', ' ', '\t']).trim())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::AccountKind;

    /// A comment on the issue by `ann`, an authorized person.
    pub(crate) fn message(body: &str, at: Timestamp) -> Message {
        Message {
            comment: CommentId(5),
            said_in: SaidIn::Comment,
            pull: None,
            author: Actor { login: "ann".into(), kind: AccountKind::User },
            body: body.to_owned(),
            at,
            trust: MessageTrust::Authorized,
        }
    }

    #[test]
    fn a_call_by_name_is_a_command_or_what_it_says() {
        for (own, body, on_issue, on_pull) in [
            ("hob", "@hob retry", "/hob retry", "/hob retry"),
            ("hob[bot]", "@Hob, please add a test", "please add a test", "/hob please add a test"),
            ("hob[bot]", "@hob[bot]: Explain", "/hob Explain", "/hob Explain"),
            ("hob", "@hobart retry", "@hobart retry", "@hobart retry"),
            ("hob", "@hob/team retry", "@hob/team retry", "@hob/team retry"),
            ("hob", "@hob", "@hob", "@hob"),
            ("hob", "Ask @hob retry", "Ask @hob retry", "Ask @hob retry"),
            ("hob", "Hi @hob, use UTC", "use UTC", "/hob use UTC"),
            ("hob", "Thanks! @hob: retry", "/hob retry", "/hob retry"),
            ("hob", "@hob\nuse UTC", "use UTC", "/hob use UTC"),
            ("hob", "Nearly.\n\n@hob, use UTC", "Nearly.\n\n@hob, use UTC", "/hob use UTC\n\nNearly."),
            ("hob", "Nearly.\n@hob retry", "/hob retry", "/hob retry"),
            ("hob", "@bob, see below.\n@hob use UTC", "use UTC", "/hob use UTC\n\n@bob, see below."),
            ("hob", "> @hob retry\n\nWhy?", "> @hob retry\n\nWhy?", "> @hob retry\n\nWhy?"),
            ("hob", "```\n@hob retry\n```", "```\n@hob retry\n```", "```\n@hob retry\n```"),
        ] {
            let said = message(body, Timestamp::UNIX_EPOCH);
            let there = Message { pull: Some(PullNumber(9)), ..said.clone() };
            assert_eq!(said.called_by_name(&own.into()).body, on_issue, "{body}");
            assert_eq!(there.called_by_name(&own.into()).body, on_pull, "{body}");
        }
    }

    #[test]
    fn words_on_a_line_say_where_they_are_unless_they_say_it_all() {
        for (body, read) in [
            ("Use UTC.", "On `a.rs`, line 3: Use UTC."),
            ("/hob use UTC", "/hob On `a.rs`, line 3: use UTC"),
            ("/hob retry", "/hob retry"),
            ("yes", "yes"),
            ("@bob, why?", "@bob, why?"),
            ("<!-- hob:answer x -->", "<!-- hob:answer x -->"),
        ] {
            let said = Message { pull: Some(PullNumber(9)), ..message(body, Timestamp::UNIX_EPOCH) };
            assert_eq!(said.at_line("On `a.rs`, line 3").body, read);
        }
    }

    #[test]
    fn plain_words_of_people_on_a_pull_request_can_be_requests() {
        for (body, taken) in [
            ("Please add a test.", "/hob Please add a test."),
            ("> Why?\n\nNot like this.", "/hob > Why?\n\nNot like this."),
            ("LGTM", "LGTM"),
            ("@bob, what do you think?", "@bob, what do you think?"),
            ("> Only quoted.", "> Only quoted."),
            ("/hob cancel", "/hob cancel"),
            ("<!-- hob:reply 5 -->\nDone.", "<!-- hob:reply 5 -->\nDone."),
        ] {
            let on_issue = message(body, Timestamp::UNIX_EPOCH);
            let there = Message { pull: Some(PullNumber(9)), ..on_issue.clone() };
            assert_eq!(on_issue.clone().taken_as_request(), on_issue);
            let asks = there.clone().taken_as_request();
            assert_eq!(asks.body, taken);
            assert_eq!(asks.asks() == Some(AskedInReview::Work), taken != body, "{body}");
            let program = Actor { login: "ci[bot]".into(), kind: AccountKind::Bot };
            let said = Message { author: program, ..there };
            assert_eq!(said.clone().taken_as_request(), said);
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
