//! What a message leads to in each state of the issue, for each kind of look.
//!
//! # Guarantees
//! - The effect of a command, the comment's id and the receipt are one transition, so that a command takes effect once
//!   even if a worker dies.
//! - While an issue is blocked, `retry`, `unblock` and `approve` that were written after the question answer it, and no
//!   look for commands finds them.
//! - Nothing follows from the words of an account that is not authorized, or from a command that was edited.

use crate::{
    AccountKind, Asked, AskedInReview, Command, EDITED_REPLY, FollowRules, Following, Message, MessageTrust,
    PlainComments, PullNumber, Receipt, Record, ReviewEvent, Seeks, State, Timestamp, Transition,
    conversation::{command::has_own_words, short_words::ShortWord},
    issue::{
        answer::{answer, is_answer, may_answer},
        command_effect::{Effect, effect},
    },
    unknown_command_reply,
};

/// Whether a message may lead to something, depending on whether its author is authorized and it was edited; nothing
/// follows from the others.
pub fn concerns(record: &Record, message: &Message, rules: &FollowRules) -> bool {
    match rules.seeks {
        Seeks::Commands => {
            message.said_in.is_comment()
                && is_unfollowed(record, message)
                && (asked(record, message).is_some() || plain_words(record, message, rules).is_some())
        }
        Seeks::Requests => is_open_request(record, message, rules),
        Seeks::Answer => may_answer(record, message),
    }
}

/// What a message leads to.
pub fn follow(record: &Record, message: &Message, rules: &FollowRules, now: Timestamp) -> Following {
    match (rules.seeks, message.trust) {
        (_, MessageTrust::Unauthorized) => Following::Nothing,
        _ if !concerns(record, message, rules) => Following::Nothing,
        (Seeks::Commands, _) => command(record, message, rules, now),
        (Seeks::Requests, MessageTrust::Authorized) => Following::Round,
        // A look for commands tells its author so.
        (Seeks::Requests, MessageTrust::Edited) => Following::Nothing,
        (Seeks::Answer, _) => answer(record, message, rules),
    }
}

/// Whether a command in it would be new.
fn is_unfollowed(record: &Record, message: &Message) -> bool {
    (message.at >= record.commands_since() || prepares_work(record, message))
        && !record.commands.has_handled(message.comment)
        && !message.has_own_mark()
}

/// Whether it says, before the label that asks for the work, how that is to be done. Everything else counts once there is work.
fn prepares_work(record: &Record, message: &Message) -> bool {
    // Commands that an earlier version followed have no mark.
    let marks_commands = record.trigger.as_ref().is_some_and(|trigger| trigger.at.is_some());
    let prepares = || match message.command() {
        Some(Command::Agent(_) | Command::Budget(_) | Command::Plan | Command::Pause(_) | Command::Resume) => true,
        Some(
            Command::Retry
            | Command::Unblock(_)
            | Command::Approve(_)
            | Command::Cancel
            | Command::SignOff
            | Command::Prove
            | Command::Explain
            | Command::Help,
        )
        | None => false,
    };
    marks_commands && message.pull.is_none() && prepares()
}

/// Whether it asks for work on a pull request in review that no round has done.
fn is_open_request(record: &Record, message: &Message, rules: &FollowRules) -> bool {
    let is_own = rules.own.as_ref().is_some_and(|own| message.author.login.is(own));
    let is_handled = record.review.handled.contains(&ReviewEvent::of(message.id()));
    // In a review, all words ask for work.
    let asks = !message.said_in.is_comment() || message.asks() == Some(AskedInReview::Work);
    record.state == State::InReview && !is_own && !is_handled && asks
}

/// What a message asks for. A plain stop is a command while the work goes on; what it means for a blocked issue is in
/// [`answer`], and in review people may say it to each other.
fn asked(record: &Record, message: &Message) -> Option<AskedInReview> {
    let goes_on = match record.state {
        State::Ready | State::Assigned | State::InProgress => true,
        State::InReview => is_from_the_work(record, message) && came_late(record, message),
        State::Blocked | State::Done => false,
    };
    let stops = || goes_on && message.short_word() == Some(ShortWord::Stop);
    message.asks().or_else(|| stops().then_some(AskedInReview::Command(Asked::Known(Command::Cancel))))
}

/// What plain words are that answer no question.
enum PlainWords {
    /// The brief has them, or will have them.
    Read,
    /// An agent has to read them.
    Unread,
    /// People who talk on a pull request do not know yet how to talk to Hob.
    NeedHint(PullNumber),
}

/// Whether no agent's brief has a comment on the issue.
fn came_late(record: &Record, message: &Message) -> bool {
    message.pull.is_none() && record.commands.briefed.is_none_or(|briefed| message.comment > briefed)
}

/// Whether a comment came before the work was published, and Hob knows what the agent's brief had.
fn is_from_the_work(record: &Record, message: &Message) -> bool {
    record.commands.briefed.is_some() && message.at <= record.since.at
}

/// What plain words are while an agent works, and on an open pull request. `None` if they are nothing to Hob.
fn plain_words(record: &Record, message: &Message, rules: &FollowRules) -> Option<PlainWords> {
    if message.asks().is_some() || message.is_to_another() {
        return None;
    }
    let is_person = message.author.kind == AccountKind::User;
    let commands = &record.commands;
    let while_worked = match (record.state, message.pull) {
        (State::Assigned | State::InProgress, None) => true,
        (State::InReview, None) => is_from_the_work(record, message),
        (State::Assigned | State::InProgress | State::InReview, Some(_)) => false,
        (State::Ready | State::Blocked | State::Done, _) => return None,
    };
    if while_worked {
        let is_yes = message.short_word() == Some(ShortWord::Yes);
        return match (came_late(record, message), is_person) {
            // Nothing follows from a yes to work that is under way.
            (true, true) if !is_yes => Some(PlainWords::Unread),
            (true, false) if record.state != State::Assigned => None,
            (true | false, _) => Some(PlainWords::Read),
        };
    }
    let may_hint = is_person && rules.plain_comments == PlainComments::Hint;
    let pull = record.pull.number.filter(|pull| may_hint && commands.hinted != Some(*pull))?;
    let is_there = message.pull.is_some() || record.state == State::InReview;
    // A yes is for the people who merge. What is older than the work on the pull request is not about it.
    let is_about_it = message.at >= record.since.at && message.short_word() != Some(ShortWord::Yes);
    (is_there && is_about_it && has_own_words(&message.body)).then_some(PlainWords::NeedHint(pull))
}

/// The line that tells people on a pull request, or on the issue while that is open, how to talk to Hob.
fn hint(message: &Message, pull: PullNumber) -> String {
    let (on, there) = match message.pull {
        Some(_) => ("here".to_owned(), ""),
        None => (format!("on pull request #{pull}"), " there"),
    };
    format!(
        "To ask Hob for a change, begin a comment {on} with `/hob`, comment on a line{there}, or submit a review. \
         `/hob cancel` ends the work. Hob leaves other comments to people."
    )
}

fn command(record: &Record, message: &Message, rules: &FollowRules, now: Timestamp) -> Following {
    let Effect { then, verdict, says } = match asked(record, message) {
        Some(_) if message.trust == MessageTrust::Edited => Effect::refused(message, EDITED_REPLY.to_owned()),
        Some(AskedInReview::Command(Asked::Known(command))) => {
            if is_answer(record, message, &command) {
                return Following::Nothing;
            }
            effect(record, &command, message, rules, now)
        }
        Some(AskedInReview::Command(Asked::Unknown(said))) => Effect::refused(message, unknown_command_reply(&said)),
        // A round answers it, which begins or is under way.
        Some(AskedInReview::Work) if record.has_ended() => return Following::Nothing,
        Some(AskedInReview::Work) => Effect::seen(message),
        None => match plain_words(record, message, rules) {
            Some(PlainWords::Read) => Effect::seen(message),
            Some(PlainWords::Unread) => Effect::done(Transition::Overhear(message.comment)),
            Some(PlainWords::NeedHint(pull)) => {
                Effect { then: Transition::Hint(pull), ..Effect::refused(message, hint(message, pull)) }
            }
            None => return Following::Nothing,
        },
    };
    let receipt = Receipt { comment: message.comment, said_in: message.said_in, pull: message.pull, verdict, says };
    Following::Command(Box::new(Transition::Follow { receipt, then: Box::new(then) }))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{
        AccountKind, Actor, Answer, ApprovalGrant, BlockReason, Budget, Budgets, CommandLog, CommandVerdict, CommentId,
        Control, CostLimit, EventId, Exhausted, Impact, Pause, Proposed, PullLog, PullNumber, Request, SaidIn,
        SetBudget, Sha, Since, Spend, Trigger, WorkPlan, apply, conversation::message::tests::message,
        issue::lease::tests::record_at,
    };

    /// When the work was asked for, when the question was asked, and when messages come.
    const SINCE: i64 = 50;
    const ASKED: i64 = 100;
    pub(crate) const LATER: i64 = 200;

    pub(crate) fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(seconds, 0).unwrap()
    }

    pub(crate) fn rules(seeks: Seeks) -> FollowRules {
        let issue = Budget { usd_micros: Some(5_000_000), ..Budget::default() };
        FollowRules {
            seeks,
            own: Some("hob".into()),
            agents: vec!["fast".to_owned()],
            budgets: Budgets { issue, ..Budgets::default() },
            explanation: "it waits".to_owned(),
            ..FollowRules::default()
        }
    }

    fn record(state: State) -> Record {
        let trigger = Trigger {
            event: EventId(1),
            actor: "ann".into(),
            approved: "x".to_owned(),
            at: Some(at(SINCE)),
            labels: Vec::new(),
        };
        Record { trigger: Some(trigger), ..record_at(state) }
    }

    fn blocked(reason: BlockReason) -> Record {
        apply(&record(State::InProgress), Transition::Block(reason), at(ASKED)).unwrap().0
    }

    fn failed() -> Record {
        blocked(BlockReason::NoProgress { failure: "no".to_owned() })
    }

    fn spent() -> BlockReason {
        let (bill, exhausted) = (Spend { usd_micros: 6_000_000, ..Spend::default() }, Exhausted::Money(5_000_000));
        let advice = rules(Seeks::Answer).budgets.advice(&exhausted, &CommandLog::default());
        BlockReason::IssueBudget { exhausted, bill, advice }
    }

    /// Every state, with the conditions that a rule asks for.
    pub(crate) fn records() -> Vec<(&'static str, Record)> {
        let pull = || PullLog::of(PullNumber(9));
        let paused = |record: Record| Record {
            control: Some(Pause { by: "bob".into(), since: at(ASKED), reason: String::new() }.into()),
            ..record
        };
        let review = || Record { pull: pull(), ..record(State::InReview) };
        let rework = Transition::Rework { events: vec![ReviewEvent::Comment(1)], head: Sha::from("h") };
        let round = apply(&review(), rework, at(ASKED)).unwrap().0;
        let request = Request { control: Control::Pause, by: "bob".into(), at: at(ASKED), reason: String::new() };
        let action = Proposed { tool: "shell".into(), line: "rm x".into(), text: "rm x".into(), impact: Impact::High };
        let plan = WorkPlan { steps: vec!["Do it".to_owned()], ..WorkPlan::default() };
        let planned = BlockReason::PlanProposed { plan: Box::new(plan), cost: CostLimit::default() };
        let bill = Spend { usd_micros: 6_000_000, ..Spend::default() };
        let raised = SetBudget { usd_micros: 9_000_000, by: "ann".into() };
        let taken = Answer {
            actor: "ann".into(),
            text: String::new(),
            question: None,
            comment: Some(CommentId(60)),
            event: None,
        };
        let briefed = CommandLog { briefed: Some(CommentId(50)), ..CommandLog::default() };
        let hinted = CommandLog { hinted: Some(PullNumber(9)), ..CommandLog::default() };
        let published = Since { at: at(LATER + 1), ..review().since };
        let handled = {
            let mut record = review();
            record.review.handled.push(ReviewEvent::Comment(60));
            record
        };
        vec![
            ("ready", record(State::Ready)),
            ("ready, paused", paused(record(State::Ready))),
            ("ready, with a pull request", Record { pull: pull(), ..record(State::Ready) }),
            ("assigned", record(State::Assigned)),
            ("assigned, a round in review", round),
            ("in-progress", record(State::InProgress)),
            ("in-progress, with a brief", Record { commands: briefed.clone(), ..record(State::InProgress) }),
            ("in-progress, asked to pause", Record { control: Some(request.into()), ..record(State::InProgress) }),
            ("in-review", review()),
            ("in-review, paused", paused(review())),
            ("in-review, published since", Record { commands: briefed, since: published, ..review() }),
            ("in-review, people were told how to ask", Record { commands: hinted, ..review() }),
            ("in-review, the request is handled", handled),
            ("blocked by a question", blocked(BlockReason::Question { question: "UTC?".to_owned() })),
            ("blocked for an approval", blocked(BlockReason::ApprovalNeeded(action))),
            ("blocked for the approval of a plan", blocked(planned)),
            ("blocked by a failure", failed()),
            ("blocked by a failure, paused", paused(failed())),
            ("blocked by a failure, an answer was taken", Record { answer: Some(taken), ..failed() }),
            (
                "blocked, its pull request rejected",
                Record { pull: pull(), ..apply(&review(), Transition::Reject(PullNumber(9)), at(ASKED)).unwrap().0 },
            ),
            ("blocked, the budget spent", Record { spend: bill, ..blocked(spent()) }),
            (
                "blocked, the budget raised since",
                Record {
                    spend: bill,
                    commands: CommandLog { budget: Some(raised), ..CommandLog::default() },
                    ..blocked(spent())
                },
            ),
            ("done", record(State::Done)),
        ]
    }

    /// Every kind of message: its name, and the message. All are later than the question unless they say otherwise.
    pub(crate) fn messages() -> Vec<(&'static str, Message)> {
        let said = |body: &str| Message { comment: CommentId(60), ..message(body, at(LATER)) };
        let early = |body: &str| Message { at: at(ASKED - 10), ..said(body) };
        let on_pull = |body: &str| Message { pull: Some(PullNumber(9)), ..said(body) };
        let said_in = |said_in, body: &str| Message { said_in, ..on_pull(body) };
        let by =
            |login: &str, kind, message: Message| Message { author: Actor { login: login.into(), kind }, ..message };
        let trusted = |trust, message: Message| Message { trust, ..message };
        vec![
            ("words", said("Use UTC.")),
            ("words to another", said("@bob, what do you think?")),
            ("yes", said("Ok, go ahead")),
            ("stop", said("Never mind.")),
            ("edited yes", trusted(MessageTrust::Edited, said("LGTM"))),
            ("words of a program", by("ci[bot]", AccountKind::Bot, said("Red."))),
            ("edited words", trusted(MessageTrust::Edited, said("Use UTC."))),
            ("call by name", said("@hob: explain").called_by_name(&"hob".into())),
            ("words to Hob by name", said("@hob, use UTC").called_by_name(&"hob".into())),
            ("a stranger's words", trusted(MessageTrust::Unauthorized, said("Use UTC."))),
            ("words before the question", early("Use UTC.")),
            ("Hob's mark", said("<!-- hob:reply 1 -->\n/hob retry")),
            ("retry", said("/hob retry")),
            ("unblock", said("/hob unblock x")),
            ("approve", said("/hob approve")),
            ("cancel", said("/hob cancel")),
            ("pause", said("/hob pause")),
            ("resume", said("/hob resume")),
            ("agent", said("/hob agent fast")),
            ("budget", said("/hob budget 8")),
            ("plan", said("/hob plan")),
            ("sign-off", said("/hob sign-off")),
            ("prove", said("/hob prove")),
            ("explain", said("/hob explain")),
            ("help", said("/hob help")),
            ("typo", said("/hob typo")),
            ("edited retry", trusted(MessageTrust::Edited, said("/hob retry"))),
            ("a stranger's retry", trusted(MessageTrust::Unauthorized, said("/hob retry"))),
            ("retry before the question", early("/hob retry")),
            ("approve before the question", early("/hob approve")),
            ("retry before the label", Message { at: at(SINCE - 10), ..said("/hob retry") }),
            ("PR words", on_pull("Use UTC.")),
            ("PR work by name", on_pull("@hob, please rename it").called_by_name(&"hob".into())),
            ("PR words to another", on_pull("@bob, what do you think?")),
            ("PR yes", on_pull("yes")),
            ("PR stop", on_pull("stop")),
            ("PR retry", on_pull("/hob retry")),
            ("PR approve", on_pull("/hob approve")),
            ("PR prove", on_pull("/hob prove")),
            ("PR cancel", on_pull("/hob cancel")),
            ("PR sign-off", on_pull("/hob sign-off")),
            ("PR typo", on_pull("/hob cancl")),
            ("PR work", on_pull("/hob please rename it")),
            ("edited PR work", trusted(MessageTrust::Edited, on_pull("/hob please rename it"))),
            ("review words", said_in(SaidIn::Review, "Use UTC.")),
            ("review yes", said_in(SaidIn::Review, "LGTM")),
            ("review stop", said_in(SaidIn::Review, "Stop.")),
            ("review retry", said_in(SaidIn::Review, "/hob retry")),
            ("review cancel", said_in(SaidIn::Review, "/hob cancel")),
            ("review pause", said_in(SaidIn::Review, "/hob pause")),
            ("review typo", said_in(SaidIn::Review, "/hob cancl")),
            ("edited review yes", trusted(MessageTrust::Edited, said_in(SaidIn::Review, "LGTM"))),
            ("edited review retry", trusted(MessageTrust::Edited, said_in(SaidIn::Review, "/hob retry"))),
            ("a stranger's review", trusted(MessageTrust::Unauthorized, said_in(SaidIn::Review, "Use UTC."))),
            ("line words", said_in(SaidIn::Line, "Use UTC.")),
            ("line words to another", said_in(SaidIn::Line, "@bob, what do you think?")),
            ("PR work of Hob's account", by("hob", AccountKind::User, on_pull("/hob please rename it"))),
        ]
    }

    fn outcome(following: &Following, record: &Record) -> Option<String> {
        Some(match following {
            Following::Nothing => return None,
            Following::Command(transition) => {
                let Transition::Follow { receipt, then } = transition.as_ref() else { return Some("?".to_owned()) };
                // What a rule leads to always applies.
                apply(record, transition.as_ref().clone(), at(LATER)).unwrap();
                match receipt.verdict {
                    CommandVerdict::Followed => format!("follows ({})", then.name()),
                    CommandVerdict::Impossible => "replies that it cannot be followed".to_owned(),
                }
            }
            Following::Round => "asks for a round".to_owned(),
            Following::Answer { grant: ApprovalGrant::Nothing, .. } => "answers".to_owned(),
            Following::Answer { grant: ApprovalGrant::ProposedAction, .. } => "approves the action".to_owned(),
            Following::Answer { grant: ApprovalGrant::ProposedPlan, .. } => "approves the plan".to_owned(),
            Following::End(_) => "ends the work".to_owned(),
            Following::Refused(_) => "cannot answer".to_owned(),
        })
    }

    /// The records in these states with what the messages lead to; those that lead to nothing are left out.
    fn table(seeks: Seeks, states: &[State]) -> String {
        let (rules, messages) = (rules(seeks), messages());
        let mut rows: Vec<(String, String)> = Vec::new();
        for (name, record) in records().into_iter().filter(|(_, record)| states.contains(&record.state)) {
            let mut outcomes: Vec<(String, Vec<&str>)> = Vec::new();
            for (message_name, message) in &messages {
                let Some(outcome) = outcome(&follow(&record, message, &rules, at(LATER)), &record) else { continue };
                assert!(concerns(&record, message, &rules), "{name}: {message_name}");
                match outcomes.iter_mut().find(|(known, _)| *known == outcome) {
                    Some((_, names)) => names.push(message_name),
                    None => outcomes.push((outcome, vec![message_name])),
                }
            }
            let lines: String =
                outcomes.iter().map(|(outcome, names)| format!("\n  {outcome}: {}", names.join(", "))).collect();
            match rows.iter_mut().find(|(_, known)| *known == lines) {
                Some((names, _)) => *names = format!("{names}\n{name}"),
                None => rows.push((name.to_owned(), lines)),
            }
        }
        rows.retain(|(_, lines)| !lines.is_empty());
        rows.iter().map(|(names, lines)| format!("{names}{lines}")).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_look_for_commands_on_an_issue_that_waits_or_is_worked_on() {
        let states = [State::Ready, State::Assigned, State::InProgress];
        insta::assert_snapshot!(table(Seeks::Commands, &states), @"
        ready
          follows (request): stop, cancel, PR stop, PR cancel
          follows (reconcile): call by name, explain, help
          follows (retry now): retry, unblock, retry before the question, PR retry
          replies that it cannot be followed: approve, resume, sign-off, prove, typo, edited retry, approve before the question, PR approve, PR prove, PR sign-off, PR typo, edited PR work
          follows (pause): pause
          follows (choose agent): agent
          follows (set budget): budget
          follows (request plan): plan
        ready, paused
          follows (request): stop, cancel, PR stop, PR cancel
          follows (reconcile): call by name, explain, help
          replies that it cannot be followed: retry, unblock, approve, pause, sign-off, prove, typo, edited retry, retry before the question, approve before the question, PR retry, PR approve, PR prove, PR sign-off, PR typo, edited PR work
          follows (resume): resume
          follows (choose agent): agent
          follows (set budget): budget
          follows (request plan): plan
        ready, with a pull request
          follows (request): stop, cancel, PR stop, PR cancel
          follows (reconcile): call by name, explain, help
          follows (retry now): retry, unblock, retry before the question, PR retry
          replies that it cannot be followed: approve, resume, plan, sign-off, prove, typo, edited retry, approve before the question, PR approve, PR prove, PR sign-off, PR typo, edited PR work
          follows (pause): pause
          follows (choose agent): agent
          follows (set budget): budget
        assigned
          follows (overhear): words, edited words, words to Hob by name, words before the question, unblock
          follows (reconcile): yes, edited yes, words of a program, call by name, retry, prove, explain, help, retry before the question, PR work by name, PR retry, PR prove, PR work, PR work of Hob's account
          follows (request): stop, cancel, pause, PR stop, PR cancel
          replies that it cannot be followed: approve, resume, sign-off, typo, edited retry, approve before the question, PR approve, PR sign-off, PR typo, edited PR work
          follows (choose agent): agent
          follows (set budget): budget
          follows (request plan): plan
        assigned, a round in review
          follows (overhear): words, edited words, words to Hob by name, words before the question, unblock
          follows (reconcile): yes, edited yes, words of a program, call by name, retry, prove, explain, help, retry before the question, PR work by name, PR retry, PR prove, PR work, PR work of Hob's account
          follows (request): stop, cancel, pause, PR stop, PR cancel
          replies that it cannot be followed: approve, resume, plan, sign-off, typo, edited retry, approve before the question, PR words, PR approve, PR sign-off, PR typo, edited PR work
          follows (choose agent): agent
          follows (set budget): budget
        in-progress
        in-progress, with a brief
        in-progress, asked to pause
          follows (overhear): words, edited words, words to Hob by name, words before the question, unblock
          follows (reconcile): yes, edited yes, call by name, retry, prove, explain, help, retry before the question, PR work by name, PR retry, PR prove, PR work, PR work of Hob's account
          follows (request): stop, cancel, pause, PR stop, PR cancel
          replies that it cannot be followed: approve, resume, sign-off, typo, edited retry, approve before the question, PR approve, PR sign-off, PR typo, edited PR work
          follows (choose agent): agent
          follows (set budget): budget
          follows (request plan): plan
        ");
    }

    #[test]
    fn a_look_for_commands_on_an_issue_that_is_in_review_or_done() {
        insta::assert_snapshot!(table(Seeks::Commands, &[State::InReview, State::Done]), @"
        in-review
        in-review, the request is handled
          replies that it cannot be followed: words, stop, edited words, words to Hob by name, words before the question, retry, unblock, approve, resume, plan, typo, edited retry, retry before the question, approve before the question, PR words, PR stop, PR retry, PR approve, PR typo, edited PR work
          follows (reconcile): call by name, explain, help
          follows (request): cancel, PR cancel
          follows (pause): pause
          follows (choose agent): agent
          follows (set budget): budget
          follows (sign off): sign-off, PR sign-off
          follows (ask for the proof): prove, PR prove
        in-review, paused
          replies that it cannot be followed: words, stop, edited words, words to Hob by name, words before the question, retry, unblock, approve, pause, plan, sign-off, prove, typo, edited retry, retry before the question, approve before the question, PR words, PR stop, PR retry, PR approve, PR prove, PR sign-off, PR typo, edited PR work
          follows (reconcile): call by name, explain, help
          follows (request): cancel, PR cancel
          follows (resume): resume
          follows (choose agent): agent
          follows (set budget): budget
        in-review, published since
          follows (overhear): words, edited words, words to Hob by name, words before the question
          follows (reconcile): yes, edited yes, call by name, explain, help
          follows (request): stop, cancel, PR cancel
          replies that it cannot be followed: retry, unblock, approve, resume, plan, typo, edited retry, retry before the question, approve before the question, PR retry, PR approve, PR typo, edited PR work
          follows (pause): pause
          follows (choose agent): agent
          follows (set budget): budget
          follows (sign off): sign-off, PR sign-off
          follows (ask for the proof): prove, PR prove
        in-review, people were told how to ask
          follows (reconcile): call by name, explain, help
          replies that it cannot be followed: retry, unblock, approve, resume, plan, typo, edited retry, retry before the question, approve before the question, PR retry, PR approve, PR typo, edited PR work
          follows (request): cancel, PR cancel
          follows (pause): pause
          follows (choose agent): agent
          follows (set budget): budget
          follows (sign off): sign-off, PR sign-off
          follows (ask for the proof): prove, PR prove
        done
          follows (reconcile): call by name, explain, help
          replies that it cannot be followed: retry, unblock, approve, cancel, pause, resume, agent, budget, plan, sign-off, prove, typo, edited retry, retry before the question, approve before the question, PR retry, PR approve, PR prove, PR cancel, PR sign-off, PR typo, edited PR work
        ");
    }

    #[test]
    fn a_look_for_commands_on_an_issue_that_is_blocked() {
        insta::assert_snapshot!(table(Seeks::Commands, &[State::Blocked]), @"
        blocked by a question
        blocked for an approval
        blocked for the approval of a plan
        blocked by a failure
        blocked by a failure, an answer was taken
        blocked, the budget spent
        blocked, the budget raised since
          follows (reconcile): call by name, explain, help
          follows (request): cancel, PR cancel
          follows (pause): pause
          replies that it cannot be followed: resume, sign-off, prove, typo, edited retry, retry before the question, approve before the question, PR prove, PR sign-off, PR typo, edited PR work
          follows (choose agent): agent
          follows (set budget): budget
          follows (request plan): plan
        blocked by a failure, paused
          follows (reconcile): call by name, explain, help
          follows (request): cancel, PR cancel
          replies that it cannot be followed: pause, sign-off, prove, typo, edited retry, retry before the question, approve before the question, PR prove, PR sign-off, PR typo, edited PR work
          follows (resume): resume
          follows (choose agent): agent
          follows (set budget): budget
          follows (request plan): plan
        blocked, its pull request rejected
          follows (reconcile): call by name, explain, help
          follows (request): cancel, PR cancel
          follows (pause): pause
          replies that it cannot be followed: resume, plan, sign-off, prove, typo, edited retry, retry before the question, approve before the question, PR prove, PR sign-off, PR typo, edited PR work
          follows (choose agent): agent
          follows (set budget): budget
        ");
    }

    #[test]
    fn a_look_for_requests_finds_them_on_an_issue_in_review_alone() {
        insta::assert_snapshot!(table(Seeks::Requests, &State::ALL), @"
        in-review
        in-review, paused
        in-review, published since
        in-review, people were told how to ask
          asks for a round: PR work by name, PR work, review words, review yes, review stop, review retry, review cancel, review pause, review typo, line words, line words to another
        in-review, the request is handled
          asks for a round: review words, review yes, review stop, review retry, review cancel, review pause, review typo, line words, line words to another
        ");
    }

    #[test]
    fn a_look_for_an_answer_finds_one_on_a_blocked_issue_alone() {
        insta::assert_snapshot!(table(Seeks::Answer, &State::ALL), @"
        blocked by a question
          answers: words, yes, words of a program, edited words, words to Hob by name, retry, unblock, approve, PR words, PR work by name, PR yes, PR retry, PR approve, PR work, review words, review yes, review retry, line words, PR work of Hob's account
          ends the work: stop, cancel, PR stop, review stop, review cancel
          cannot answer: edited yes, typo, review pause, review typo, edited review yes, edited review retry
        blocked for an approval
          answers: words, words of a program, edited words, words to Hob by name, retry, unblock, PR words, PR work by name, PR retry, PR work, review words, review retry, line words, PR work of Hob's account
          cannot answer: yes, edited yes, typo, PR yes, review yes, review pause, review typo, edited review yes, edited review retry
          ends the work: stop, cancel, PR stop, review stop, review cancel
          approves the action: approve, PR approve
        blocked for the approval of a plan
          answers: words, edited words, words to Hob by name, retry, unblock, PR words, PR work by name, PR retry, PR work, review words, review retry, line words, PR work of Hob's account
          approves the plan: yes, approve, PR yes, PR approve, review yes
          ends the work: stop, cancel, PR stop, review stop, review cancel
          cannot answer: edited yes, typo, review pause, review typo, edited review yes, edited review retry
        blocked by a failure
        blocked by a failure, paused
        blocked, its pull request rejected
        blocked, the budget raised since
          answers: words, yes, edited words, words to Hob by name, retry, unblock, PR words, PR work by name, PR yes, PR retry, PR work, review words, review yes, review retry, line words, PR work of Hob's account
          ends the work: stop, cancel, PR stop, review stop, review cancel
          cannot answer: edited yes, approve, typo, PR approve, review pause, review typo, edited review yes, edited review retry
        blocked by a failure, an answer was taken
          answers: review words, review yes, review retry, line words
          ends the work: review stop, review cancel
          cannot answer: review pause, review typo, edited review yes, edited review retry
        blocked, the budget spent
          cannot answer: words, yes, edited yes, edited words, words to Hob by name, retry, unblock, approve, typo, PR words, PR work by name, PR yes, PR retry, PR approve, PR work, review words, review yes, review retry, review pause, review typo, edited review yes, edited review retry, line words, PR work of Hob's account
          ends the work: stop, cancel, PR stop, review stop, review cancel
        ");
    }

    /// A record that knows the message knows it in every state.
    #[test]
    fn a_handled_message_is_no_command_and_gets_no_second_reply() {
        for (name, mut record) in records() {
            record.commands.handle(CommentId(60));
            for (_, message) in messages().into_iter().filter(|(_, message)| !message.said_in.is_comment()) {
                let (comment, said_in, verdict) = (message.comment, message.said_in, CommandVerdict::Impossible);
                record.commands.take(Receipt { comment, said_in, pull: None, verdict, says: None });
            }
            for (message_name, message) in messages() {
                let followed = follow(&record, &message, &rules(Seeks::Commands), at(LATER));
                assert_eq!(followed, Following::Nothing, "{name}: {message_name}");
                let answered = follow(&record, &message, &rules(Seeks::Answer), at(LATER));
                assert!(!matches!(answered, Following::Refused(_)), "{name}: {message_name}");
            }
        }
    }
}
