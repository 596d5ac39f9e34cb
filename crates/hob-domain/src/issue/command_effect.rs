//! What a command that is followed changes in each state of the issue, or why it cannot be followed.

use std::collections::BTreeSet;

use hob_text::{clip, title};

use crate::{
    AccountKind, AfterBudget, AskedSignOff, BlockCode, ChosenAgent, Command, CommandVerdict, Control, FollowRules,
    Message, ProofAsked, Receipt, Record, Request, SetBudget, State, Timestamp, Transition, command_list, dollars,
    usd_micros,
};

/// The longest reason for a pause that is kept, in characters.
const REASON_MAX: usize = 300;
/// The longest explanation that is posted, in bytes.
const EXPLANATION_MAX: usize = 4_000;
/// Agents and profiles that are suggested in place of an unknown one.
const OFFERED_MAX: usize = 20;

/// The effect of a command, and the reply.
pub(crate) struct Effect {
    pub(crate) then: Transition,
    pub(crate) verdict: CommandVerdict,
    pub(crate) says: Option<String>,
}

impl Effect {
    pub(crate) fn done(then: Transition) -> Self {
        Self { then, verdict: CommandVerdict::Followed, says: None }
    }

    /// Nothing but the receipt.
    pub(crate) fn seen(message: &Message) -> Self {
        Self::done(nothing(message))
    }

    /// Nothing but the reply.
    pub(crate) fn refused(message: &Message, says: String) -> Self {
        Self { then: nothing(message), verdict: CommandVerdict::Impossible, says: Some(says) }
    }
}

/// The effect of a command. While an issue is blocked, `retry`, `unblock` and `approve` that get here were written
/// before the question.
pub(crate) fn effect(
    record: &Record,
    command: &Command,
    message: &Message,
    rules: &FollowRules,
    now: Timestamp,
) -> Effect {
    let (by, is_paused) = (|| message.author.login.clone(), record.pause().is_some());
    let request = |control, reason| Request { control, by: by(), at: now, reason };
    let says = |text: String| Effect { says: Some(text), ..Effect::done(nothing(message)) };
    if record.state == State::Done && !matches!(command, Command::Explain | Command::Help) {
        return Effect::refused(
            message,
            "Its work is finished: to start it again, take the label off and put it on.".to_owned(),
        );
    }
    match command {
        Command::Cancel => Effect::done(Transition::Request(request(Control::Terminate, String::new()))),
        Command::Pause(_) if is_paused => {
            Effect::refused(message, "It is paused already: `/hob resume` lets it go on.".to_owned())
        }
        Command::Pause(why) => {
            let request = request(Control::Pause, title(why, REASON_MAX));
            // The worker that holds the lease carries out the request.
            Effect::done(match record.has_ended() {
                true => Transition::Pause(request.pause(now)),
                false => Transition::Request(request),
            })
        }
        Command::Resume if is_paused => Effect::done(Transition::Resume { by: by() }),
        Command::Retry | Command::Unblock(_) if record.state == State::Ready && !is_paused => {
            Effect::done(Transition::RetryNow { by: by() })
        }
        // That is already under way.
        Command::Retry if !record.has_ended() => Effect::done(nothing(message)),
        Command::Unblock(_)
            if matches!(record.state, State::Assigned | State::InProgress) && message.pull.is_none() =>
        {
            Effect::done(Transition::Overhear(message.comment))
        }
        Command::Unblock(_) if record.state == State::Assigned => Effect::done(nothing(message)),
        Command::Agent(name) => choose(name, message, rules),
        Command::Budget(amount) => budget(record, amount, message, rules),
        Command::Plan if record.pull.number.is_some() => {
            Effect::refused(message, "There is a pull request already: say there what should change.".to_owned())
        }
        Command::SignOff => sign_off(record, message),
        Command::Plan => Effect::done(Transition::RequestPlan { by: by() }),
        Command::Prove if is_paused => {
            Effect::refused(message, "It is paused: `/hob resume` lets it go on, and then it can be proven.".to_owned())
        }
        Command::Prove if record.state == State::InReview && record.pull.number.is_some() => {
            Effect::done(Transition::AskProof(ProofAsked { by: Some(by()), comment: Some(message.comment) }))
        }
        // The proof is made before the work is published.
        Command::Prove if !record.has_ended() => Effect::seen(message),
        Command::Explain => says(clip(&rules.explanation, EXPLANATION_MAX)),
        Command::Help => says(command_list()),
        Command::Resume | Command::Retry | Command::Unblock(_) | Command::Approve(_) | Command::Prove => {
            Effect::refused(message, senseless(command, record))
        }
    }
}

/// Signs the commits off if people review them and nobody changes them. Who signs off has seen them.
fn sign_off(record: &Record, message: &Message) -> Effect {
    let why_not = match (record.state, record.pull.number, &record.commands.sign_off) {
        _ if message.author.kind != AccountKind::User => "Only a person can sign commits off.".to_owned(),
        (_, None, _) => "There is no pull request yet: write it again when it is open.".to_owned(),
        _ if record.pause().is_some() => "It is paused: `/hob resume` lets it go on.".to_owned(),
        (State::InReview, Some(_), Some(asked)) => {
            format!("The commits are being signed off by {}.", asked.by)
        }
        (State::InReview, Some(_), None) => {
            let Message { comment, said_in, pull, .. } = *message;
            let receipt = Receipt { comment, said_in, pull, verdict: CommandVerdict::Followed, says: None };
            let by = message.author.login.clone();
            return Effect::done(Transition::SignOff(AskedSignOff { by, receipt }));
        }
        (State::Ready | State::Assigned | State::InProgress | State::Blocked | State::Done, Some(_), _) => {
            "The commits may still change: write it again when the issue is in review.".to_owned()
        }
    };
    Effect::refused(message, why_not)
}

fn nothing(message: &Message) -> Transition {
    Transition::Reconcile { what: format!("replied to {}", message.author.login) }
}

/// Chooses the agent or profile of the next attempts, if one has that name.
fn choose(name: &str, message: &Message, rules: &FollowRules) -> Effect {
    if rules.agents.iter().chain(&rules.ready_agents).chain(&rules.profiles).any(|known| known == name) {
        let agent = ChosenAgent { name: name.to_owned(), by: message.author.login.clone(), at: message.at };
        return Effect::done(Transition::ChooseAgent(agent));
    }
    if let Some((_, fault)) = rules.damaged.iter().find(|(known, _)| known == name) {
        return Effect::refused(message, format!("The profile {} is damaged: {fault}", quoted(name)));
    }
    let offered: BTreeSet<&String> = rules.agents.iter().chain(&rules.profiles).collect();
    let mut offered: Vec<&String> = offered.into_iter().collect();
    offered.sort_by_key(|known| strsim::damerau_levenshtein(known, name));
    let offered: Vec<String> = offered.into_iter().take(OFFERED_MAX).map(|known| format!("`{known}`")).collect();
    let there = match offered.is_empty() {
        true => "no agent is set up.".to_owned(),
        false => format!("there are {}.", offered.join(", ")),
    };
    Effect::refused(
        message,
        match name.is_empty() {
            true => format!("Which agent or profile? For `/hob agent NAME`, {there}"),
            false => format!("{} is neither an agent nor a profile here: {there}", quoted(name)),
        },
    )
}

/// Sets the issue's budget in money. An issue that is blocked for its budget continues if the new one is enough.
fn budget(record: &Record, amount: &str, message: &Message, rules: &FollowRules) -> Effect {
    let Ok(usd_micros) = usd_micros(amount) else {
        let how = "write US dollars with a point, as in `/hob budget 5` or `/hob budget 2.50`.";
        let why = match amount {
            "" => "The amount is missing".to_owned(),
            amount => format!("{} is not an amount above 0", quoted(amount)),
        };
        return Effect::refused(message, format!("{why}: {how}"));
    };
    if let Some(most) = rules.budgets.issue_usd_max.filter(|most| *most < usd_micros) {
        let (wanted, most) = (dollars(usd_micros), dollars(most));
        let why = format!("a comment may set {most} at most (`budget.comment_max` in Hob's settings).");
        return Effect::refused(message, format!("{wanted} is too much: {why}"));
    }
    let set = SetBudget { usd_micros, by: message.author.login.clone() };
    let of_issue = rules.budgets.with(&set);
    let left = of_issue.left(record.spend).map(drop).and_then(|()| of_issue.next_attempt(record.attempts.ever));
    let is_spent = record.blocked.as_ref().is_some_and(|blocked| blocked.reason == BlockCode::IssueBudget);
    let is_blocked_for_it = record.state == State::Blocked && is_spent;
    let then = if is_blocked_for_it && left.is_ok() { AfterBudget::Requeue } else { AfterBudget::Stay };
    let says = left
        .err()
        .map(|exhausted| format!("The budget is {}, and the issue's {exhausted} is used up.", dollars(usd_micros)));
    Effect { says, ..Effect::done(Transition::SetBudget { budget: set, then }) }
}

/// Words of a comment, made safe for a line.
fn quoted(words: &str) -> String {
    let short: String = words.chars().take(80).collect();
    format!("`{}`", short.replace('`', "'"))
}

/// Why a command makes no sense in this state, and which one would.
fn senseless(command: &Command, record: &Record) -> String {
    let why = match (command, record.state) {
        (Command::Resume, _) => "It is not paused",
        (Command::Prove, _) => "No pull request is in review",
        (_, State::Blocked) => "That came before the question",
        (Command::Approve(_), _) => "Nothing waits for approval",
        (Command::Unblock(_), State::Assigned | State::InProgress) => "An agent is at work, and does not hear of this",
        (
            Command::Retry
            | Command::Unblock(_)
            | Command::Cancel
            | Command::Pause(_)
            | Command::Agent(_)
            | Command::Budget(_)
            | Command::Plan
            | Command::SignOff
            | Command::Explain
            | Command::Help,
            State::Ready | State::Assigned | State::InProgress | State::InReview | State::Done,
        ) => "Nothing waits for another attempt",
    };
    let instead = match (record.state, record.pause(), record.pull.number) {
        (_, Some(_), _) => "`/hob resume` lets it go on, as it is paused.".to_owned(),
        (State::InReview, None, Some(pull)) => format!("say on pull request #{pull} what should change."),
        (State::Blocked, None, _) => "answer the question, or comment `/hob retry`.".to_owned(),
        (State::Ready, None, _) => "`/hob retry` tries it without waiting.".to_owned(),
        (State::Assigned | State::InProgress, None, _) => "`/hob pause` ends this attempt.".to_owned(),
        (State::InReview | State::Done, None, _) => "`/hob help` lists the commands.".to_owned(),
    };
    format!("{why}: {instead}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Attempts, Budget, Budgets, CommandLog, CommentId, Exhausted, Failure, Following, Pause, PullLog, PullNumber,
        Receipt, Spend, SubIssue, WorkPlan, apply, conversation::message::tests::message, follow,
        issue::lease::tests::record_at,
    };

    fn now() -> Timestamp {
        Timestamp::from_timestamp(1_000, 0).unwrap()
    }

    fn rules() -> FollowRules {
        FollowRules {
            agents: vec!["careful".to_owned(), "fast".to_owned()],
            ready_agents: vec!["claude".to_owned()],
            profiles: vec!["fast".to_owned(), "writer".to_owned()],
            damaged: vec![("dns".to_owned(), "dns.md cannot be used: line 3: x".to_owned())],
            budgets: Budgets {
                issue: Budget { usd_micros: Some(5_000_000), attempts: Some(9), ..Budget::default() },
                issue_usd_max: Some(8_000_000),
                ..Budgets::default()
            },
            explanation: "it waits".to_owned(),
            ..FollowRules::default()
        }
    }

    fn followed(record: &Record, line: &str) -> (Record, Receipt) {
        let Following::Command(transition) = follow(record, &message(line, now()), &rules(), now()) else {
            panic!("{line}")
        };
        let (next, _) = apply(record, *transition, now()).unwrap();
        let receipt = next.commands.receipts.last().unwrap().clone();
        (next, receipt)
    }

    fn says(record: &Record, line: &str) -> String {
        let (_, receipt) = followed(record, line);
        assert_eq!(receipt.verdict, CommandVerdict::Impossible, "{line}");
        receipt.says.unwrap()
    }

    fn spent(usd_micros: u64) -> Record {
        let bill = Spend { usd_micros, ..Spend::default() };
        let exhausted = Exhausted::Money(5_000_000);
        let advice = rules().budgets.advice(&exhausted, &CommandLog::default());
        let reason = crate::BlockReason::IssueBudget { exhausted, bill, advice };
        Record { blocked: Some(reason.blocked(now())), spend: bill, ..record_at(State::Blocked) }
    }

    #[test]
    fn every_command_meets_every_state() {
        let all = [
            "retry",
            "unblock x",
            "approve",
            "cancel",
            "pause",
            "resume",
            "agent fast",
            "budget 3",
            "plan",
            "sign-off",
            "explain",
            "help",
            "typo",
        ];
        let mut table = Vec::new();
        for state in State::ALL {
            for is_paused in [false, true] {
                let pause = Pause { by: "bob".into(), since: now(), reason: String::new() };
                let pull = PullLog::of(PullNumber(9));
                let record = Record { control: is_paused.then(|| pause.into()), pull, ..record_at(state) };
                let mut takes = Vec::new();
                for said in all {
                    let (next, receipt) = followed(&record, &format!("/hob {said}"));
                    assert_eq!((next.state, &next.commands.handled[..]), (state, &[CommentId(5)][..]), "{said}");
                    match receipt.verdict {
                        CommandVerdict::Followed => takes.push(said),
                        CommandVerdict::Impossible => assert!(receipt.says.is_some(), "{state} {said}"),
                    }
                }
                table.push(format!("{state}{}: {}", if is_paused { ", paused" } else { "" }, takes.join(", ")));
            }
        }
        insta::assert_snapshot!(table.join("\n"), @"
        ready: retry, unblock x, cancel, pause, agent fast, budget 3, explain, help
        ready, paused: cancel, resume, agent fast, budget 3, explain, help
        assigned: retry, unblock x, cancel, pause, agent fast, budget 3, explain, help
        assigned, paused: retry, unblock x, cancel, resume, agent fast, budget 3, explain, help
        in-progress: retry, unblock x, cancel, pause, agent fast, budget 3, explain, help
        in-progress, paused: retry, unblock x, cancel, resume, agent fast, budget 3, explain, help
        in-review: cancel, pause, agent fast, budget 3, sign-off, explain, help
        in-review, paused: cancel, resume, agent fast, budget 3, explain, help
        blocked: cancel, pause, agent fast, budget 3, explain, help
        blocked, paused: cancel, resume, agent fast, budget 3, explain, help
        done: explain, help
        done, paused: explain, help
        ");
    }

    #[test]
    fn what_is_followed_takes_effect_in_the_same_commit() {
        let (paused, _) = followed(&record_at(State::InReview), "/hob pause later");
        assert_eq!(paused.pause().map(|pause| pause.reason), Some("later".to_owned()));
        let unhandled = Record { commands: CommandLog::default(), ..paused };
        let (resumed, _) = followed(&unhandled, "/hob resume");
        assert_eq!(resumed.control, None);
        let (asked, _) = followed(&record_at(State::InProgress), "/hob pause");
        assert!(asked.pause().is_none() && asked.asks_for_a_pause());
        let waiting =
            Record { failure: Failure { until: Some(now()), ..Failure::default() }, ..record_at(State::Ready) };
        assert_eq!(followed(&waiting, "/hob retry").0.failure.until, None);
        let (planned, _) = followed(&record_at(State::Ready), "/hob plan");
        assert_eq!(planned.commands.wants_plan, Some("ann".into()));
        // The rest of a split is not opened once a person asks for another plan or another agent.
        let mut approved = record_at(State::Ready);
        approved.approval.plan.proposed = Some(WorkPlan { issues: vec![SubIssue::default()], ..WorkPlan::default() });
        approved.approval.plan.approved = Some("0123".to_owned());
        for line in ["/hob plan", "/hob agent fast"] {
            assert_eq!(followed(&approved, line).0.approval.plan.approved, None, "{line}");
        }
    }

    #[test]
    fn an_agent_is_chosen_by_a_name_that_there_is() {
        for name in ["fast", "claude", "writer"] {
            let (chosen, _) = followed(&record_at(State::InReview), &format!("/hob agent {name}"));
            assert_eq!(chosen.commands.agent.map(|agent| agent.name).as_deref(), Some(name));
        }
        for (line, reply) in [
            (
                "/hob agent fsat",
                "`fsat` is neither an agent nor a profile here: there are `fast`, `writer`, `careful`.",
            ),
            (
                "/hob agent writr",
                "`writr` is neither an agent nor a profile here: there are `writer`, `fast`, `careful`.",
            ),
            ("/hob agent dns", "The profile `dns` is damaged: dns.md cannot be used: line 3: x"),
            ("/hob agent", "Which agent or profile? For `/hob agent NAME`, there are `fast`, `writer`, `careful`."),
        ] {
            assert_eq!(says(&record_at(State::Ready), line), reply);
        }
    }

    #[test]
    fn a_budget_is_an_amount_that_the_settings_allow() {
        for (line, micros) in [("/hob budget 8", 8_000_000), ("/hob budget $2.50", 2_500_000)] {
            let (set, _) = followed(&record_at(State::Ready), line);
            assert_eq!(set.commands.budget.map(|budget| budget.usd_micros), Some(micros), "{line}");
        }
        for (line, reply) in [
            ("/hob budget 8.01", "$8.01 is too much: a comment may set $8.00 at most (`budget.comment_max`"),
            ("/hob budget lots", "`lots` is not an amount above 0: write US dollars with a point"),
            ("/hob budget 5,00", "`5,00` is not an amount"),
            ("/hob budget -1", "`-1` is not an amount"),
            ("/hob budget NaN", "`NaN` is not an amount"),
            ("/hob budget 1e99", "`1e99` is not an amount"),
            ("/hob budget 0", "`0` is not an amount"),
            ("/hob budget", "The amount is missing: write US dollars"),
        ] {
            let said = says(&record_at(State::Ready), line);
            assert!(said.starts_with(reply), "{line}: {said}");
        }
    }

    #[test]
    fn a_budget_that_is_enough_requeues_an_issue_that_is_blocked_for_it() {
        let (enough, receipt) = followed(&spent(6_000_000), "/hob budget 7");
        assert_eq!((enough.state, enough.attempts.now, enough.blocked, receipt.says), (State::Ready, 0, None, None));
        let (not_enough, receipt) = followed(&spent(6_000_000), "/hob budget 6");
        assert_eq!((not_enough.state, not_enough.commands.budget.is_some()), (State::Blocked, true));
        assert_eq!(receipt.says.unwrap(), "The budget is $6.00, and the issue's budget of $6.00 is used up.");
        let tried = Record { attempts: Attempts { now: 1, ever: 9 }, ..spent(6_000_000) };
        let (tried, receipt) = followed(&tried, "/hob budget 7");
        assert_eq!(tried.state, State::Blocked);
        assert!(receipt.says.unwrap().ends_with("the issue's budget of 9 attempts is used up."));
        // Any other question stays open.
        let asked = crate::BlockReason::WorkerDied.blocked(now());
        let asked = Record { blocked: Some(asked), ..record_at(State::Blocked) };
        assert_eq!(followed(&asked, "/hob budget 7").0.state, State::Blocked);
    }

    #[test]
    fn foreign_words_come_back_inert_and_short() {
        let name = format!("`@ann`#1<b>{}", "x".repeat(9_000));
        let said = says(&record_at(State::Ready), &format!("/hob agent {name}"));
        assert!(said.len() < 400 && said.starts_with("`'@ann'#1<b>") && said.matches('`').count() == 8, "{said}");
        let (paused, _) = followed(&record_at(State::Ready), &format!("/hob pause {}", "y ".repeat(9_000)));
        assert!(paused.pause().unwrap().reason.chars().count() <= REASON_MAX);
    }

    #[test]
    fn what_makes_no_sense_is_told_with_what_would() {
        let review = Record { pull: PullLog::of(PullNumber(9)), ..record_at(State::InReview) };
        for (record, line, reply) in [
            (&review, "/hob retry", "Nothing waits for another attempt: say on pull request #9 what should change."),
            (&record_at(State::Ready), "/hob resume", "It is not paused: `/hob retry` tries it without waiting."),
            (
                &record_at(State::Blocked),
                "/hob retry",
                "That came before the question: answer the question, or comment `/hob retry`.",
            ),
            (
                &record_at(State::InProgress),
                "/hob approve",
                "Nothing waits for approval: `/hob pause` ends this attempt.",
            ),
        ] {
            assert_eq!(says(record, line), reply);
        }
    }
}
