//! The table of `docs/conversation.md`: what each kind of message leads to in each state, from [`follow`].

use crate::{
    ApprovalGrant, CommandVerdict, Control, Following, Message, MessageTrust, Record, Seeks, State, Transition, follow,
    issue::follow::tests::{LATER, at, messages, records, rules},
};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/conversation.md");
const BEGIN: &str = "<!-- table: hob-domain writes it -->\n";

/// The states that the page shows: its heading, and the name of the record.
const STATES: [(&str, &str); 15] = [
    ("waits", "ready"),
    ("paused", "ready, paused"),
    ("begins", "assigned"),
    ("agent works", "in-progress, with a brief"),
    ("round works", "assigned, a round in review"),
    ("just published", "in-review, published since"),
    ("in review", "in-review"),
    ("in review, told how", "in-review, people were told how to ask"),
    ("in review, paused", "in-review, paused"),
    ("question", "blocked by a question"),
    ("action asks", "blocked for an approval"),
    ("plan asks", "blocked for the approval of a plan"),
    ("failed", "blocked by a failure"),
    ("budget spent", "blocked, the budget spent"),
    ("done", "done"),
];

/// The messages that the page shows: what it calls them, and their name.
const MESSAGES: [(&str, &str); 44] = [
    ("Use UTC.", "words"),
    ("the same, edited", "edited words"),
    ("Ok, go ahead", "yes"),
    ("the same, edited", "edited yes"),
    ("Never mind.", "stop"),
    ("@bob, what do you think?", "words to another"),
    ("@hob, use UTC", "words to Hob by name"),
    ("@hob: explain", "call by name"),
    ("words of a listed program", "words of a program"),
    ("a stranger's words", "a stranger's words"),
    ("`/hob retry`", "retry"),
    ("the same, edited", "edited retry"),
    ("the same, by a stranger", "a stranger's retry"),
    ("`/hob unblock x`", "unblock"),
    ("`/hob approve`", "approve"),
    ("`/hob cancel`", "cancel"),
    ("`/hob pause`", "pause"),
    ("`/hob resume`", "resume"),
    ("`/hob agent fast`", "agent"),
    ("`/hob budget 8`", "budget"),
    ("`/hob plan`", "plan"),
    ("`/hob sign-off`", "sign-off"),
    ("`/hob prove`", "prove"),
    ("`/hob explain`", "explain"),
    ("`/hob help`", "help"),
    ("`/hob typo`", "typo"),
    ("PR: Use UTC.", "PR words"),
    ("PR: yes", "PR yes"),
    ("PR: stop", "PR stop"),
    ("PR: @bob, what do you think?", "PR words to another"),
    ("PR: @hob, please rename it", "PR work by name"),
    ("PR: `/hob please rename it`", "PR work"),
    ("the same, edited", "edited PR work"),
    ("the same, by Hob's account", "PR work of Hob's account"),
    ("PR: `/hob retry`", "PR retry"),
    ("PR: `/hob approve`", "PR approve"),
    ("PR: `/hob prove`", "PR prove"),
    ("PR: `/hob cancel`", "PR cancel"),
    ("PR: `/hob sign-off`", "PR sign-off"),
    ("PR: `/hob cancl`", "PR typo"),
    ("review: Use UTC.", "review words"),
    ("review: LGTM", "review yes"),
    ("review: `/hob cancl`", "review typo"),
    ("line: Use UTC.", "line words"),
];

fn cell(record: &Record, message: &Message) -> &'static str {
    let looks = [Seeks::Commands, Seeks::Requests, Seeks::Answer];
    let found = looks.into_iter().map(|seeks| follow(record, message, &rules(seeks), at(LATER)));
    match found.into_iter().find(|following| *following != Following::Nothing) {
        Some(Following::Command(transition)) => commanded(record.state, &transition),
        Some(Following::Round) => "👀 begins a round",
        Some(Following::Answer { grant: ApprovalGrant::Nothing, .. }) => "👀 is the answer",
        Some(Following::Answer { grant: ApprovalGrant::ProposedAction, .. }) => "👀 allows it",
        Some(Following::Answer { grant: ApprovalGrant::ProposedPlan, .. }) => "👀 approves it",
        Some(Following::End(_)) => "👀 ends the work",
        Some(Following::Refused(_)) => "😕 why not",
        Some(Following::Nothing) | None => unheard(record, message),
    }
}

fn commanded(state: State, transition: &Transition) -> &'static str {
    let Transition::Follow { receipt, then } = transition else { return "?" };
    match (receipt.verdict, then.as_ref()) {
        (CommandVerdict::Impossible, Transition::Hint(_)) => "😕 how to ask",
        (CommandVerdict::Impossible, _) => "😕 why not",
        (CommandVerdict::Followed, Transition::Request(request)) if request.control == Control::Terminate => {
            "👀 ends the work"
        }
        (CommandVerdict::Followed, Transition::Request(_) | Transition::Pause(_)) => "👀 pauses it",
        (CommandVerdict::Followed, Transition::Resume { .. }) => "👀 goes on",
        (CommandVerdict::Followed, Transition::RetryNow { .. }) => "👀 tries now",
        (CommandVerdict::Followed, Transition::ChooseAgent(_)) => "👀 next attempt",
        (CommandVerdict::Followed, Transition::SetBudget { .. }) => "👀 sets it",
        (CommandVerdict::Followed, Transition::AskProof(_)) => "👀 proves it",
        (CommandVerdict::Followed, Transition::RequestPlan { .. }) => "👀 plans first",
        (CommandVerdict::Followed, Transition::SignOff(_)) => "👀 signs off",
        // Without a word of the agent, nothing is published.
        (CommandVerdict::Followed, Transition::Overhear(_)) if state == State::InProgress => "👀 heard first",
        (CommandVerdict::Followed, Transition::Overhear(_)) if state == State::InReview => "👀 begins a round",
        (CommandVerdict::Followed, Transition::Reconcile { .. }) if receipt.says.is_some() => "👀 replies",
        (CommandVerdict::Followed, _) => "👀 seen",
    }
}

/// What a message is that gets no receipt.
fn unheard(record: &Record, message: &Message) -> &'static str {
    match (message.trust, record.state) {
        (MessageTrust::Unauthorized, _) => "",
        _ if message.is_to_another() => "for them",
        (_, State::Ready | State::Assigned | State::InProgress) if !message.said_in.is_comment() => "read later",
        (_, State::Ready) if message.pull.is_none() || message.asks().is_some() => "read later",
        (_, State::Done) => "it is over",
        (_, State::Ready | State::Assigned | State::InProgress | State::InReview | State::Blocked) => "for people",
    }
}

fn table() -> String {
    let (records, messages) = (records(), messages());
    let of = |name: &str| &records.iter().find(|(known, _)| *known == name).unwrap().1;
    let headings = STATES.map(|(heading, _)| heading).join(" | ");
    let mut rows = vec![format!("| | {headings} |"), format!("|---{}|", "|---".repeat(STATES.len()))];
    for (shown, name) in MESSAGES {
        let message = &messages.iter().find(|(known, _)| *known == name).unwrap().1;
        let cells = STATES.map(|(_, record)| cell(of(record), message)).join(" | ");
        rows.push(format!("| {shown} | {cells} |"));
    }
    rows.join("\n") + "\n"
}

#[test]
fn the_page_has_the_table_and_no_cell_is_silence_but_for_strangers() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (_, written) = page.split_once(BEGIN).unwrap();
    let table = table();
    let written = written.split("\n\n").next().unwrap_or_default().trim_end();
    assert!(written == table.trim_end(), "docs/conversation.md has another table. Write:\n{table}");
    for row in table.lines().skip(2) {
        let is_silent = row.contains("|  |");
        assert_eq!(is_silent, row.contains("stranger"), "{row}");
    }
}
