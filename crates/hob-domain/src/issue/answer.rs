//! Which comment answers the question of a blocked issue, and what the answer means.

use hob_text::title;

use crate::{
    AccountKind, ApprovalGrant, Asked, AskedInReview, BlockCode, Blocked, Command, CommandVerdict, EDITED_REPLY,
    Ending, FollowRules, Following, Message, MessageTrust, Proposed, Receipt, Record, SaidIn, State, StopDeed,
    asked_work, conversation::short_words::ShortWord, unknown_command_reply,
};

/// The question that a blocked issue waits for an answer to.
fn question(record: &Record) -> Option<&Blocked> {
    record.blocked.as_ref().filter(|_| record.state == State::Blocked)
}

/// Whether a message certainly came after the question. Within its second, the order of comments alone is known.
fn is_newer(blocked: &Blocked, message: &Message) -> bool {
    match message.said_in {
        SaidIn::Comment => blocked.precedes(message.comment, message.at),
        SaidIn::Review | SaidIn::Line => message.at > blocked.since,
    }
}

/// Whether a command answers the question of a blocked issue, and so is not followed as a command.
pub(crate) fn is_answer(record: &Record, message: &Message, command: &Command) -> bool {
    let Some(blocked) = question(record) else { return false };
    match command {
        Command::Retry | Command::Unblock(_) => message.at >= blocked.since,
        Command::Approve(_) if blocked.asks_for_approval() => is_newer(blocked, message),
        Command::Approve(_) => message.at >= blocked.since,
        Command::Cancel
        | Command::Pause(_)
        | Command::Resume
        | Command::Agent(_)
        | Command::Budget(_)
        | Command::Plan
        | Command::SignOff
        | Command::Prove
        | Command::Explain
        | Command::Help => false,
    }
}

/// Whether a message may be an answer: it was written since the question, and is neither Hob's nor an answer that was
/// taken before.
pub(crate) fn may_answer(record: &Record, message: &Message) -> bool {
    let Some(blocked) = question(record) else { return false };
    // Times have whole seconds: a comment that was taken for an answer before is recognized by its id.
    let taken = record.answer.as_ref().and_then(|answer| answer.comment);
    let is_old = message.said_in.is_comment()
        && (Some(message.comment) <= taken || Some(message.comment) == record.comments.status);
    // Whether it was edited costs a query each time.
    let is_refused = message.is_binding() && record.commands.has_refused(message.id());
    message.at >= blocked.since
        && !is_old
        && !is_refused
        && !message.has_own_mark()
        && !record.review.is_about(message)
        && meaning(record, message, blocked).is_some()
}

/// What an authorized account's message is for the question.
pub(crate) fn answer(record: &Record, message: &Message, rules: &FollowRules) -> Following {
    let Some(blocked) = question(record).filter(|_| may_answer(record, message)) else { return Following::Nothing };
    match message.trust {
        // A look for commands tells its author so.
        MessageTrust::Edited if message.asks().is_some() && message.said_in.is_comment() => return Following::Nothing,
        MessageTrust::Edited if message.is_binding() => return refused(record, message, EDITED_REPLY.to_owned()),
        MessageTrust::Edited | MessageTrust::Authorized | MessageTrust::Unauthorized => {}
    }
    let spent = rules.budgets.allowance(record.spend, record.attempts.ever, &record.commands).err();
    let spent = spent.filter(|_| blocked.reason == BlockCode::IssueBudget);
    match (meaning(record, message, blocked), spent) {
        (Some(Meaning::Words(_)), Some(exhausted)) => {
            let raise = rules.budgets.advice(&exhausted, &record.commands).raise;
            refused(record, message, format!("The issue's {exhausted} is used up: first {raise}."))
        }
        (Some(Meaning::Words(text)), None) => Following::Answer { text, grant: ApprovalGrant::Nothing },
        (Some(Meaning::Approval(text)), _) => Following::Answer { text, grant: ApprovalGrant::ProposedAction },
        (Some(Meaning::PlanApproval(text)), _) => Following::Answer { text, grant: ApprovalGrant::ProposedPlan },
        (Some(Meaning::Cancel), _) => Following::End(ending(message)),
        (Some(Meaning::Impossible(why)), _) => refused(record, message, why),
        (None, _) => Following::Nothing,
    }
}

/// The end of the work that a message asks for, by a command or in plain words.
fn ending(message: &Message) -> Ending {
    let by = message.author.login.clone();
    let mut lines = message.body.lines().map(str::trim);
    let said = lines.find(|line| !line.is_empty() && !line.starts_with('>')).unwrap_or_default();
    match message.short_word() {
        // The sentence that quotes it has a period of its own.
        Some(ShortWord::Stop) => {
            Ending::Stopped { by, deed: StopDeed::Said(title(said.trim_end_matches('.'), SAID_MAX)) }
        }
        Some(ShortWord::Yes) | None => Ending::Terminated(by),
    }
}

/// Characters of the words that are shown.
const SAID_MAX: usize = 60;

/// The reply to what cannot be an answer, unless it was given.
fn refused(record: &Record, message: &Message, why: String) -> Following {
    if record.commands.has_taken(message.id()) {
        return Following::Nothing;
    }
    let Message { comment, said_in, pull, .. } = *message;
    Following::Refused(Receipt { comment, said_in, pull, verdict: CommandVerdict::Impossible, says: Some(why) })
}

/// The reply to a plain yes where an action waits, which is allowed only in so many words.
const YES_TO_ACTION: &str = "To allow exactly this action, comment `/hob approve`. Any other words are an answer, and the agent goes on without it.";

/// The reply to a command in a review that no look for commands finds.
const ANSWERS_ALONE: &str = "In a review, only an answer counts. Write the command in a comment.";

/// The meaning of a comment for a blocked issue, if its author is authorized.
#[derive(Debug, PartialEq, Eq)]
enum Meaning {
    Cancel,
    Words(String),
    Approval(String),
    PlanApproval(String),
    /// It is meant for Hob and cannot be followed, for this reason.
    Impossible(String),
}

/// `None` if it is not meant for Hob.
fn meaning(record: &Record, message: &Message, blocked: &Blocked) -> Option<Meaning> {
    match message.asks() {
        None => plain_words(record, message, blocked),
        // On a pull request, this and other commands are left to a look for commands.
        Some(AskedInReview::Command(Asked::Unknown(said))) => {
            let is_left = message.pull.is_some() && message.said_in.is_comment();
            (!is_left).then(|| Meaning::Impossible(unknown_command_reply(&said)))
        }
        Some(AskedInReview::Command(Asked::Known(command))) if !message.said_in.is_comment() => {
            let meaning = commanded(record, message, blocked, command);
            Some(meaning.unwrap_or_else(|| Meaning::Impossible(ANSWERS_ALONE.to_owned())))
        }
        Some(AskedInReview::Command(Asked::Known(command))) => {
            let counts =
                message.pull.is_none() || matches!(command, Command::Retry | Command::Unblock(_) | Command::Approve(_));
            counts.then_some(command).and_then(|command| commanded(record, message, blocked, command))
        }
        Some(AskedInReview::Work) => Some(Meaning::Words(asked_work(&message.body).unwrap_or_default().to_owned())),
    }
}

/// A person's plain reply answers any reason for the block; a program's only a question, so that two programs do not
/// answer each other for ever.
fn plain_words(record: &Record, message: &Message, blocked: &Blocked) -> Option<Meaning> {
    let is_person = message.author.kind == AccountKind::User;
    let is_asked = matches!(blocked.reason, BlockCode::Question | BlockCode::ApprovalNeeded);
    // One that only quotes has no words left.
    let has_words = !message.body.trim().is_empty();
    if message.is_to_another() || !has_words || !(is_person || is_asked) {
        return None;
    }
    let is_newer = is_newer(blocked, message);
    Some(match (message.short_word(), blocked.reason) {
        (Some(ShortWord::Stop), _) => Meaning::Cancel,
        (Some(ShortWord::Yes), BlockCode::PlanProposed) if is_newer && record.waiting_plan().is_some() => {
            Meaning::PlanApproval(plan_approval_text(""))
        }
        (Some(ShortWord::Yes), BlockCode::ApprovalNeeded) if record.waiting_action().is_some() => {
            Meaning::Impossible(YES_TO_ACTION.to_owned())
        }
        (Some(ShortWord::Yes) | None, _) => reply(message),
    })
}

fn reply(message: &Message) -> Meaning {
    Meaning::Words(message.body.trim().to_owned())
}

fn commanded(record: &Record, message: &Message, blocked: &Blocked, command: Command) -> Option<Meaning> {
    let is_newer = is_newer(blocked, message);
    match (command, blocked.reason) {
        (Command::Cancel, _) => Some(Meaning::Cancel),
        (Command::Retry, _) => Some(Meaning::Words(String::new())),
        (Command::Unblock(text), _) => Some(Meaning::Words(text)),
        (Command::Approve(words), BlockCode::ApprovalNeeded) => {
            let waiting = record.waiting_action().filter(|_| is_newer);
            waiting.map(|action| Meaning::Approval(approval_text(action, &words)))
        }
        (Command::Approve(words), BlockCode::PlanProposed) => {
            let waiting = record.waiting_plan().filter(|_| is_newer);
            waiting.map(|_plan| Meaning::PlanApproval(plan_approval_text(&words)))
        }
        (Command::Approve(_), BlockCode::Question) => Some(reply(message)),
        (Command::Approve(_), _) => Some(Meaning::Impossible(
            "Nothing waits for approval here: reply in plain words, or comment `/hob retry`.".to_owned(),
        )),
        (
            Command::Pause(_)
            | Command::Resume
            | Command::Agent(_)
            | Command::Budget(_)
            | Command::Plan
            | Command::SignOff
            | Command::Prove
            | Command::Explain
            | Command::Help,
            _,
        ) => None,
    }
}

/// The beginning of the text of an approval.
const ACTION_APPROVED: &str = "Approved: the tool ";
const PLAN_APPROVED: &str = "Approved: carry the plan out.";

/// The person's words beside an approval, as far as its text shows them. `None` if the text is not an approval.
pub fn approval_words(text: &str) -> Option<&str> {
    let plan = text.strip_prefix(PLAN_APPROVED).map(str::trim);
    plan.or_else(|| text.starts_with(ACTION_APPROVED).then_some(""))
}

/// The text of an approval for the agent, which may no longer remember what exactly it had asked for.
pub fn approval_text(action: &Proposed, words: &str) -> String {
    let Proposed { tool, text, .. } = action;
    let told = format!("{ACTION_APPROVED}`{tool}` may do exactly this, and nothing else is approved by it:\n{text}");
    if words.trim().is_empty() { told } else { format!("{told}\n\n{}", words.trim()) }
}

/// The same for a plan, which the agent's brief has.
pub fn plan_approval_text(words: &str) -> String {
    format!("{PLAN_APPROVED}\n\n{}", words.trim()).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        BlockReason, CommentId, CostLimit, Impact, Note, PullNumber, Timestamp, Transition, WorkPlan, apply,
        conversation::message::tests::message, issue::lease::tests::record_at,
    };

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(seconds, 0).unwrap()
    }

    fn blocked(reason: BlockReason) -> Record {
        apply(&record_at(State::InProgress), Transition::Block(reason), at(100)).unwrap().0
    }

    fn failed() -> Record {
        blocked(BlockReason::NoProgress { failure: "no".to_owned() })
    }

    fn action() -> Proposed {
        let (tool, line, text) = ("shell".to_owned(), "shell rm x".to_owned(), "rm x".to_owned());
        Proposed { tool, line, text, impact: Impact::High }
    }

    fn meant(record: &Record, body: &str, seconds: i64) -> Option<Meaning> {
        meaning(record, &message(body, at(seconds)), record.blocked.as_ref().unwrap())
    }

    #[test]
    fn what_cannot_be_followed_is_told() {
        for (body, says) in
            [("/hob approve", "Nothing waits for approval"), ("/hob tpyo `x`", "`/hob tpyo 'x'` is not a command")]
        {
            let Some(Meaning::Impossible(why)) = meant(&failed(), body, 101) else { panic!("{body}") };
            assert!(why.contains(says), "{why}");
        }
    }

    #[test]
    fn a_programs_plain_words_answer_only_a_question() {
        let mut red = message("Red again.", at(101));
        red.author.kind = AccountKind::Bot;
        let means = |record: &Record| meaning(record, &red, record.blocked.as_ref().unwrap());
        assert_eq!(means(&failed()), None);
        assert!(means(&blocked(BlockReason::Question { question: "UTC?".to_owned() })).is_some());
    }

    #[test]
    fn a_comment_means_what_its_command_and_the_reason_say() {
        let words = |text: &str| Some(Meaning::Words(text.to_owned()));
        let question = blocked(BlockReason::Question { question: "UTC?".to_owned() });
        let approval = blocked(BlockReason::ApprovalNeeded(action()));
        let failed = failed();
        let approved = |said: &str| Some(Meaning::Approval(approval_text(&action(), said)));
        let plan = WorkPlan { steps: vec!["Do it".to_owned()], ..WorkPlan::default() };
        let planned = blocked(BlockReason::PlanProposed { plan: Box::new(plan), cost: CostLimit::default() });
        let after = |comment| {
            let mut record = approval.clone();
            record.note(Note::Asks(CommentId(comment)));
            record
        };
        let plan_approved = |said: &str| Some(Meaning::PlanApproval(plan_approval_text(said)));
        for (name, record, body, seconds, expected) in [
            ("a reply answers a question", &question, " UTC. ", 101, words("UTC.")),
            ("so does an approval where nothing is proposed", &question, "/hob approve", 101, words("/hob approve")),
            ("a reply to a proposal says what to do instead", &approval, "Do not.", 101, words("Do not.")),
            ("a reply to anything else does too", &failed, "Use UTC.", 101, words("Use UTC.")),
            ("but not one to somebody else", &failed, "@bob, what do you think?", 101, None),
            ("a proposal is approved", &approval, "/hob approve now", 101, approved("now")),
            ("but not by what came before the question", &approval, "/hob approve", 99, None),
            ("nor within its second, where nobody knows the order", &approval, "/hob approve", 100, None),
            ("nor by what came first within its second", &after(5), "/hob approve", 100, None),
            ("what came later in that second counts", &after(4), "/hob approve", 100, approved("")),
            ("a plan is approved", &planned, "/hob approve now", 101, plan_approved("now")),
            ("but not where nobody knows the order either", &planned, "/hob approve", 100, None),
            ("a reply corrects it", &planned, "Fewer files.", 101, words("Fewer files.")),
            ("a retry needs no words", &failed, "/hob retry", 101, words("")),
            ("and may have some", &failed, "/hob retry with UTC", 101, words("with UTC")),
            ("an unblocking has", &failed, "/hob unblock use UTC", 101, words("use UTC")),
            ("a yes approves a plan", &planned, "Ok, go ahead!", 101, plan_approved("")),
            ("but not where nobody knows the order either", &planned, "yes", 100, words("yes")),
            ("a yes to a question is its answer", &question, "yes", 101, words("yes")),
            ("a no is words", &planned, "No.", 101, words("No.")),
            (
                "a yes does not allow an action",
                &approval,
                "LGTM",
                101,
                Some(Meaning::Impossible(YES_TO_ACTION.to_owned())),
            ),
            ("a stop ends everything", &approval, "Never mind", 101, Some(Meaning::Cancel)),
            ("a cancel ends everything", &question, "/hob cancel", 101, Some(Meaning::Cancel)),
        ] {
            assert_eq!(meant(record, body, seconds), expected, "{name}");
        }
    }

    /// Times have whole seconds, so a reply within the second of the question may be older than it: it counts all the
    /// same, even if a worker followed it as a command before, unless it was taken for an answer.
    #[test]
    fn a_reply_within_the_second_of_the_question_counts_unless_it_was_an_answer_before() {
        let mut record = failed();
        let retry = message("/hob retry", at(100));
        record.commands.handle(retry.comment);
        let rules = FollowRules { seeks: crate::Seeks::Answer, ..FollowRules::default() };
        let nothing = ApprovalGrant::Nothing;
        assert_eq!(answer(&record, &retry, &rules), Following::Answer { text: String::new(), grant: nothing });
        assert_eq!(answer(&record, &message("/hob retry", at(99)), &rules), Following::Nothing);
        let taken = crate::Answer {
            actor: "ann".into(),
            text: String::new(),
            question: None,
            comment: Some(retry.comment),
            event: None,
        };
        record.answer = Some(taken);
        assert_eq!(answer(&record, &retry, &rules), Following::Nothing);
    }

    #[test]
    fn on_a_pull_request_words_answer_and_so_do_some_commands() {
        let on_pull = |body: &str| Message { pull: Some(PullNumber(9)), ..message(body, at(101)) };
        for (body, counts) in [
            ("/hob retry", true),
            ("/hob unblock x", true),
            ("/hob approve", true),
            ("/hob retry with the old name", true),
            ("/hob cancel", false),
            ("/hob typo", true),
            ("/hob cancl", false),
            ("The second one.", true),
            ("@bob, the second one?", false),
        ] {
            assert_eq!(may_answer(&failed(), &on_pull(body)), counts, "{body}");
        }
    }
}
