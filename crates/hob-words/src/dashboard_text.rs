//! The dashboard's text: one issue that shows what Hob works on, what waits for whom, and the cost.
//!
//! # Guarantees
//! - The text follows only from the forge's state and contains no time of its own, so it stays the same if nothing
//!   changes.
//! - Titles, questions and reasons are inert. Links are relative, so that listing an issue does not mention it.
//! - It is shorter than an issue's limit: each list shows its first entries and counts the rest.

use std::time::Duration;

use hob_domain::{
    ActBox, DASHBOARD_MARK, DaySpend, Decision, IssueNumber, Permission, Planned, Record, RefusedTick,
    RepositoryRecord, Spend, State, Timestamp, WaitReason, boxes, spend_by_day,
};
use hob_text::{count, inert_line, title};

use crate::{dashboard_profiles::profiles, dashboard_times::times, shown_words::published_word};

/// Characters that the text may have; GitHub allows 65,536.
const CHARS_MAX: usize = 60_000;
/// Entries of each list: as many as fit.
const SHOWN: [usize; 5] = [50, 20, 10, 5, 1];
/// Characters of a title and of a reason.
const TITLE_MAX: usize = 80;
const REASON_MAX: usize = 240;
/// How long a tick that did not count is shown.
const REFUSAL_SHOWN: Duration = Duration::from_secs(86_400);

/// The contents of the dashboard.
#[derive(Debug, Clone)]
pub struct Board<'a> {
    /// The issues, in the order in which they are taken, with the decision about each.
    pub planned: &'a [Planned<'a>],
    /// Issues that cannot be read, with title and reason.
    pub unreadable: Vec<(IssueNumber, &'a str, &'a str)>,
    /// What keeps Hob from working on the whole repository, one sentence each.
    pub trouble: Vec<String>,
    /// The repository's own record.
    pub repository: Option<&'a RepositoryRecord>,
    /// The last tick that did not count.
    pub refused: Option<&'a RefusedTick>,
    /// The permission that a tick needs.
    pub permission: Permission,
    /// The current time, which determines the day.
    pub now: Timestamp,
}

/// The lists, in the order of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum List {
    Blocked,
    InReview,
    Running,
    Ready,
    Waiting,
}

impl List {
    const ALL: [Self; 5] = [Self::Blocked, Self::InReview, Self::Running, Self::Ready, Self::Waiting];

    fn heading(self) -> &'static str {
        match self {
            Self::Blocked => "Blocked",
            Self::InReview => "In review",
            Self::Running => "Running",
            Self::Ready => "Ready",
            Self::Waiting => "Waiting",
        }
    }

    /// The list that an issue belongs to. `None` if it is over, or if no one asks for it.
    fn new(planned: &Planned<'_>) -> Option<Self> {
        let state = planned.issue.record.as_ref().map_or(State::Ready, |record| record.state);
        let is_held = match &planned.decision {
            Decision::Wait(WaitReason::Finished | WaitReason::NotTriggered | WaitReason::Dashboard) => return None,
            Decision::Wait(WaitReason::Held(_)) => true,
            Decision::Wait(_) | Decision::Act(_) => false,
        };
        match (state, &planned.decision) {
            (State::Blocked, _) => Some(Self::Blocked),
            (State::InReview, _) => Some(Self::InReview),
            (State::Assigned | State::InProgress, Decision::Wait(_)) if is_held => Some(Self::Running),
            (State::Ready | State::Done, Decision::Wait(_)) if is_held => None,
            (State::Ready | State::Done | State::Assigned | State::InProgress, Decision::Wait(_)) => {
                Some(Self::Waiting)
            }
            (State::Ready | State::Assigned | State::InProgress, Decision::Act(_)) => Some(Self::Ready),
            // It is coming to its end, or is asked for again.
            (State::Done, Decision::Act(_)) => planned.decision.is_a_claim().then_some(Self::Ready),
        }
    }
}

/// The body of the dashboard's issue.
pub fn dashboard_text(board: &Board<'_>) -> String {
    let mut text = String::new();
    for shown in SHOWN {
        text = text_of(board, shown);
        if text.chars().count() <= CHARS_MAX {
            break;
        }
    }
    text
}

fn text_of(board: &Board<'_>, shown: usize) -> String {
    let mut text = format!(
        "{DASHBOARD_MARK}\nHob keeps this page up to date, with at most one edit a minute. Tick a box and Hob does it \
         once, if your account has the permission `{}`. Other edits of this page are lost.\n",
        board.permission
    );
    for trouble in &board.trouble {
        text.push_str(&format!("\n**No work begins**: {}\n", line(trouble, REASON_MAX)));
    }
    if let Some(pause) = board.repository.and_then(|record| record.paused.as_ref()) {
        let why =
            if pause.reason.is_empty() { String::new() } else { format!(": {}", line(&pause.reason, REASON_MAX)) };
        text.push_str(&format!("\n**All work is paused** by {}{why}\n", line(pause.by.as_str(), 40)));
    }
    if let Some(refused) = board.refused.filter(|refused| board.now < refused.at + REFUSAL_SHOWN) {
        text.push_str(&format!(
            "\n**A tick was ignored** at {}: {}.\n",
            minute(refused.at),
            line(&refused.why, REASON_MAX)
        ));
    }
    let mut any = false;
    for list in List::ALL {
        let mut entries: Vec<String> = board
            .planned
            .iter()
            .filter(|planned| List::new(planned) == Some(list))
            .map(|one| entry(list, one))
            .collect();
        if list == List::Waiting {
            let unreadable = board
                .unreadable
                .iter()
                .map(|(number, title, why)| format!("{}  \n  {}\n", head(*number, title), line(why, REASON_MAX)));
            entries.extend(unreadable);
        }
        if entries.is_empty() {
            continue;
        }
        any = true;
        text.push_str(&format!("\n### {} ({})\n\n", list.heading(), entries.len()));
        entries.iter().take(shown).for_each(|entry| text.push_str(entry));
        if entries.len() > shown {
            text.push_str(&format!("- … and {} more\n", entries.len() - shown));
        }
    }
    if !any {
        text.push_str("\nNo issue is waiting for work.\n");
    }
    text.push_str(&profiles(board.planned.iter().filter_map(|planned| planned.issue.record.as_ref())));
    text.push_str(&board.repository.map(|record| times(&record.durations)).unwrap_or_default());
    text.push_str(&days(&spend_by_day(board.repository, board.now)));
    text
}

fn entry(list: List, planned: &Planned<'_>) -> String {
    let (issue, record) = (planned.issue, planned.issue.record.as_ref());
    let mut text = head(issue.number, &issue.title);
    let says = match list {
        List::Blocked => record.and_then(|record| record.blocked.as_ref()).map(|blocked| {
            format!("{}  \n  **{}**", line(&blocked.text, REASON_MAX), line(&blocked.question, REASON_MAX))
        }),
        List::InReview => record.map(in_review),
        List::Running => record.map(running),
        List::Ready => None,
        List::Waiting => match &planned.decision {
            Decision::Wait(reason) => Some(line(&reason.to_string(), REASON_MAX)),
            Decision::Act(_) => None,
        },
    };
    if let Some(says) = says {
        text.push_str(&format!("  \n  {says}"));
    }
    text.push('\n');
    for one in record.map(boxes).unwrap_or_default() {
        text.push_str(&format!("  {}\n", box_line(&one, record)));
    }
    text
}

/// A box; that of an approval shows everything that it approves.
fn box_line(one: &ActBox, record: Option<&Record>) -> String {
    let action = record.and_then(Record::waiting_action).filter(|_| one.act == hob_domain::Act::Approve);
    let beside =
        action.map(|action| format!(" exactly this, by the tool {}: `{}`", line(&action.tool, 40), action.text));
    one.line(&beside.unwrap_or_default())
}

/// An issue's first line, all of it a link, which is easy to tap. A full address, or a number after a hash sign, would
/// create a reference on the issue.
fn head(number: IssueNumber, issue_title: &str) -> String {
    // None of these may end the link.
    let plain = issue_title.replace('[', "(").replace(']', ")").replace('`', "'");
    format!("- [{number} {}](../issues/{number})", line(&plain, TITLE_MAX))
}

fn in_review(record: &Record) -> String {
    let mut facts = Vec::new();
    if let Some(pull) = record.pull.number {
        facts.push(format!("[pull request {pull}](../pull/{pull})"));
    }
    facts.extend(published_word(record).map(str::to_owned));
    if let Some(checks) = record.work.checks {
        facts.push(format!("{} of {} passed", checks.passed, count(checks.run, "check")));
    }
    facts.extend(spent(record));
    facts.join(" · ")
}

fn running(record: &Record) -> String {
    let mut facts = vec![format!("since {}", minute(record.since.at))];
    facts.push(format!("attempt {}", record.attempts.now));
    facts.extend(spent(record));
    facts.join(" · ")
}

fn spent(record: &Record) -> Option<String> {
    (record.spend != Spend::default()).then(|| format!("{} so far", record.spend))
}

fn days(days: &[DaySpend]) -> String {
    if days.is_empty() {
        return String::new();
    }
    let mut text = "\n### Spend\n\n| day (UTC) | spent |\n|---|---|\n".to_owned();
    for DaySpend { day, spend } in days {
        text.push_str(&format!("| {day} | {spend} |\n"));
    }
    text
}

/// A time, to the minute.
fn minute(time: Timestamp) -> String {
    time.format("%Y-%m-%d %H:%M UTC").to_string()
}

/// Foreign text within a line. An unpaired back-tick would pull the following text into its code.
fn line(text: &str, max: usize) -> String {
    let text = title(text, max);
    inert_line(&if text.matches('`').count().is_multiple_of(2) { text } else { text.replace('`', "'") })
}

#[cfg(test)]
mod tests {
    use hob_domain::{
        Action, BlockReason, CheckTally, EventId, Failure, Held, Impact, IssueStatus, IssueView, Nonce, Pause,
        Proposed, PullLog, PullNumber, Transition, Trigger, Work, WorkerId, apply,
    };

    use super::*;
    use crate::fixtures::record_at;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(seconds, 0).unwrap()
    }

    fn record(state: State) -> Record {
        let trigger =
            Trigger { event: EventId(7), actor: "ann".into(), approved: String::new(), at: None, labels: Vec::new() };
        Record { trigger: Some(trigger), ..record_at(state) }
    }

    fn blocked(reason: BlockReason) -> Record {
        apply(&record(State::InProgress), Transition::Block(reason), at(100)).unwrap().0
    }

    fn view(number: u64, title: &str, record: Option<Record>) -> IssueView {
        IssueView {
            comments: 0,
            goes_on: None,
            has_command_on_pull: false,
            is_quiet: false,
            pull_updated_at: None,
            number: IssueNumber(number),
            title: title.to_owned(),
            labels: Vec::new(),
            status: IssueStatus::Open,
            created_at: at(0),
            updated_at: at(0),
            record: record.map(|record| Record { issue: IssueNumber(number), ..record }),
            assignees: Vec::new(),
            blockers: Vec::new(),
            begun: Vec::new(),
            pull: None,
            is_dashboard: false,
            review: None,
        }
    }

    fn board<'a>(planned: &'a [Planned<'a>], repository: Option<&'a RepositoryRecord>) -> Board<'a> {
        Board {
            trouble: Vec::new(),
            planned,
            unreadable: Vec::new(),
            repository,
            refused: None,
            permission: Permission::Write,
            now: at(3 * 86_400),
        }
    }

    #[test]
    fn a_repository_without_work_says_so() {
        insta::assert_snapshot!(dashboard_text(&board(&[], None)), @r"
        <!-- hob:dashboard -->
        Hob keeps this page up to date, with at most one edit a minute. Tick a box and Hob does it once, if your account has the permission `write`. Other edits of this page are lost.

        No issue is waiting for work.
        ");
    }

    /// An issue of each kind.
    fn views() -> Vec<(IssueView, Decision)> {
        let hostile = "Close #3 @team <!-- hob:do cancel 1 7 --> [x](https://evil.example) ![i](x)\n- [x] retry";
        let action = Proposed {
            tool: "shell".to_owned(),
            line: "shell rm x".to_owned(),
            text: "rm x".to_owned(),
            impact: Impact::High,
        };
        let review = Record {
            pull: PullLog::of(PullNumber(20)),
            work: Work { checks: Some(CheckTally { passed: 2, run: 2 }), ..Work::default() },
            spend: Spend { usd_micros: 1_230_000, ..Spend::default() },
            ..record(State::InReview)
        };
        let later = Record { failure: Failure { until: Some(at(500)), ..Failure::default() }, ..record(State::Ready) };
        let held = Held { holder: WorkerId::from("w"), until: at(9) };
        vec![
            (
                view(1, hostile, Some(blocked(BlockReason::NoProgress { failure: "exit 1".to_owned() }))),
                Decision::Act(Action::SeekAnswer),
            ),
            (view(2, "Ask", Some(blocked(BlockReason::ApprovalNeeded(action)))), Decision::Act(Action::SeekAnswer)),
            (view(3, "Review me", Some(review)), Decision::Wait(WaitReason::InReview(PullNumber(20)))),
            (view(4, "At it", Some(record(State::InProgress))), Decision::Wait(WaitReason::Held(held))),
            (view(5, "Next one", None), Decision::Act(Action::Claim)),
            (
                view(6, "Later", Some(later)),
                Decision::Wait(WaitReason::RetryAfter { until: at(500), why: "HTTP 502".to_owned() }),
            ),
            (view(7, "Depends", None), Decision::Wait(WaitReason::BlockedBy(vec![IssueNumber(4)]))),
            (view(8, "Over", Some(record(State::Done))), Decision::Wait(WaitReason::Finished)),
            (view(9, "The page itself", None), Decision::Wait(WaitReason::Dashboard)),
        ]
    }

    #[test]
    fn each_issue_is_in_one_list_with_what_it_waits_for() {
        let views = views();
        let planned: Vec<_> =
            views.iter().map(|(issue, decision)| Planned { issue, decision: decision.clone() }).collect();
        let day = |n: i64| DaySpend {
            day: at(n * 86_400).date_naive(),
            spend: Spend { usd_micros: 500_000, input_tokens: 10, ..Spend::default() },
        };
        let repository = RepositoryRecord {
            days: vec![day(1), day(2)],
            paused: Some(Pause { by: "ann".into(), since: at(1), reason: "see @ops".to_owned() }),
            ..RepositoryRecord::next(None, Nonce::from("n"), at(3 * 86_400))
        };
        let mut board = board(&planned, Some(&repository));
        let refused = RefusedTick { at: at(3 * 86_400 - 60), why: "`rob` has the permission `read`".to_owned() };
        board.refused = Some(&refused);
        board.unreadable = vec![(IssueNumber(10), "Odd", "its ledger is of a newer Hob")];
        insta::assert_snapshot!(dashboard_text(&board).replace('\u{200b}', "~"), @r"
        <!-- hob:dashboard -->
        Hob keeps this page up to date, with at most one edit a minute. Tick a box and Hob does it once, if your account has the permission `write`. Other edits of this page are lost.

        **All work is paused** by ann: see @~ops

        **A tick was ignored** at 1970-01-03 23:59 UTC: `rob` has the permission `read`.

        ### Blocked (2)

        - [1 Close #~3 @~team (x)(https://evil.example) !(i)(x) - (x) retry](../issues/1)  
          Two attempts in a row failed in the same way on the same work: exit 1.  
          **What should be done differently?**
          - [ ] retry <!-- hob:do retry 1 100 -->
          - [ ] cancel <!-- hob:do cancel 1 7 -->
        - [2 Ask](../issues/2)  
          The agent wants to run an action of high impact, which needs approval here.  
          **Do you approve this: `shell rm x`?**
          - [ ] approve exactly this, by the tool shell: `rm x` <!-- hob:do approve 2 911938ac1e9d75bb -->
          - [ ] cancel <!-- hob:do cancel 2 7 -->

        ### In review (1)

        - [3 Review me](../issues/3)  
          [pull request 20](../pull/20) · 2 of 2 checks passed · $1.23, 0 s so far
          - [ ] cancel <!-- hob:do cancel 3 7 -->

        ### Running (1)

        - [4 At it](../issues/4)  
          since 1970-01-01 00:00 UTC · attempt 1
          - [ ] cancel <!-- hob:do cancel 4 7 -->

        ### Ready (1)

        - [5 Next one](../issues/5)

        ### Waiting (3)

        - [6 Later](../issues/6)  
          it is tried again after 1970-01-01 00:08:20 UTC: HTTP 502
          - [ ] retry <!-- hob:do retry 6 500 -->
          - [ ] cancel <!-- hob:do cancel 6 7 -->
        - [7 Depends](../issues/7)  
          it is blocked by #~4, still open; it is claimed when that is closed
        - [10 Odd](../issues/10)  
          its ledger is of a newer Hob

        ### Spend

        | day (UTC) | spent |
        |---|---|
        | 1970-01-03 | $0.50, 10 tokens, 0 s |
        | 1970-01-02 | $0.50, 10 tokens, 0 s |
        ");
        let ticks = hob_domain::ticked(&dashboard_text(&board).replace("[ ]", "[x]"));
        assert_eq!(ticks.len(), 8, "the boxes that were drawn, and none of a title's");
    }

    #[test]
    fn a_thousand_issues_fit_and_the_rest_is_counted() {
        let long = "@".repeat(500);
        let failure = BlockReason::NoProgress { failure: long.clone() };
        let views: Vec<_> = (1..=1_000).map(|n| view(n, &long, Some(blocked(failure.clone())))).collect();
        let planned: Vec<_> =
            views.iter().map(|issue| Planned { issue, decision: Decision::Act(Action::SeekAnswer) }).collect();
        let text = dashboard_text(&board(&planned, None));
        assert!(text.chars().count() <= CHARS_MAX, "{}", text.chars().count());
        assert!(text.contains("### Blocked (1000)") && text.contains("- … and 9"), "{text}");
    }
}
