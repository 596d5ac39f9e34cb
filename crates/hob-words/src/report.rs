//! An issue's only status comment, and Hob's replies to other comments.

use hob_domain::{
    Blocked, Budgets, ChosenBy, OWN_MARK, PersonsWork, Record, RoundKind, SaidId, Spend, State, StatusRules, dollars,
    events_in_words, failing, failure_line, no_verdict, unseen,
};
use hob_text::{
    clip, count, inert, inert_line,
    markup::{capitalized, code_span, folded, line, person},
};

use crate::{
    answer_options::{answer_options, used_up, used_up_beside},
    own_links::{own_links, reason_with_links},
    pull_report::BODY_MAX,
    shown_words::{published_look, published_word},
};

/// Identifies the status comment.
pub const STATUS_MARK: &str = "<!-- hob:status -->";

/// The beginning of Hob's reply to this comment.
pub fn reply_mark(to: SaidId) -> String {
    format!("{OWN_MARK}reply {to} -->")
}

/// Hob's one-line reply to a comment that it cannot follow.
pub fn reply_body(record: &Record, to: SaidId, says: &str) -> String {
    format!("{}\n{}\n", reply_mark(to), own_links(inert(says), record))
}

/// The status comment: the issue's state, the reason, and what to do next; and, folded, what is needed only now and
/// then.
pub fn status_body(record: &Record, rules: &StatusRules<'_>) -> String {
    let mut text = format!("{STATUS_MARK}\n");
    if let Some(refusal) = record.refused.as_ref().filter(|_| record.state == State::Ready) {
        line(&mut text, &inert(&format!("**Refused**: {}.", refusal.reason)));
        line(
            &mut text,
            &format!(
                "\nNothing was done. Someone with write access to this repository can remove the label `{}` and add it \
                 again.",
                rules.trigger
            ),
        );
        return text;
    }
    line(&mut text, &headline(record));
    let blocked = record.blocked.as_ref().filter(|_| record.state == State::Blocked);
    let mut more = Vec::new();
    if let Some(blocked) = blocked {
        if let Some(exhausted) = used_up_beside(blocked, record, &rules.budgets) {
            line(&mut text, &format!("\n{}", used_up(&exhausted, record)));
        }
        text.push_str(&asked(record, blocked));
        let options = answer_options(blocked, record, &rules.budgets, rules.blocked);
        line(&mut text, &format!("\n{}", options.first));
        more.push(options.others);
    }
    for says in of_checks(record, rules) {
        line(&mut text, &format!("\n{says}"));
    }
    for fight in record.label_fights.sentences() {
        line(&mut text, &format!("\n{fight}"));
    }
    let refused = record.pull.introduced.as_ref().filter(|introduced| Some(introduced.pull) == record.pull.number);
    for refused in refused.into_iter().flat_map(|introduced| &introduced.refused) {
        line(&mut text, &format!("\n{}", inert(&clip(refused, 500))));
    }
    let checklist = rules.checklist.filter(|_| record.state == State::InProgress);
    if let Some(checklist) = checklist {
        line(&mut text, &format!("\n{}", checklist.shown()));
    }
    let facts = facts(record, rules);
    if !facts.is_empty() {
        line(&mut text, &format!("\n{facts}"));
    }
    if let Some(checklist) = record.work.checklist.as_ref().filter(|_| checklist.is_none()) {
        line(&mut text, "");
        text.push_str(&checklist.folded());
    }
    let statement = statement(record);
    if blocked.is_some() || record.attempts.ever > 1 || record.spend != Spend::default() || statement.is_some() {
        more.push(cost(record));
        more.extend(statement);
        let heading = if blocked.is_some() { "Other answers, cost and history" } else { "Cost and history" };
        line(&mut text, "");
        text.push_str(&folded(heading, &more.join("\n\n")));
    }
    clip(&text, BODY_MAX)
}

/// The checks on the pull request that start no round.
fn of_checks(record: &Record, rules: &StatusRules<'_>) -> Vec<String> {
    let (told, is_draft) = (&record.review.told, record.pull.waits_for_green());
    let mut says = Vec::new();
    if record.state != State::InReview {
        return says;
    }
    let stays = if is_draft { ", and the pull request stays a draft meanwhile" } else { "" };
    if let Some(pull) = record.pull.number.filter(|_| told.unapproved) {
        says.push(format!(
            "The workflows of #{pull} wait for a maintainer's approval{stays}: press **Approve workflows to run** on [the pull \
             request]({}/pull/{pull}). Every push by Hob needs a new approval as long as Hob works with a job's own token; \
             with a GitHub App or a fine-grained token, the workflows run by themselves.",
            rules.repo_url
        ));
    }
    if !told.red_on_base.is_empty() {
        let fails = failing(&told.red_on_base);
        says.push(format!("On the base branch, too, {fails}, so Hob does not work on that{stays}."));
    }
    if !told.undecided.is_empty() && is_draft {
        let unclear = capitalized(&no_verdict(&told.undecided));
        says.push(format!("{unclear}: the pull request stays a draft. Mark it ready by hand once you know."));
    }
    if !told.hidden.is_empty() && is_draft {
        says.push(format!(
            "{}, and the pull request stays a draft. In GitHub Actions, call `work-checks.yml` instead of `work.yml`; elsewhere, \
             give the token the permission (a GitHub App can have `checks: read`, a fine-grained token cannot). Or mark the \
             pull request ready by hand once you know.",
            capitalized(&unseen(&told.hidden))
        ));
    }
    says
}

/// Why a person is needed, and the question.
fn asked(record: &Record, blocked: &Blocked) -> String {
    let (reason, question) = (clip(&blocked.text, 10_000), clip(&blocked.question, 4_000));
    let mut text = format!("\n{}\n", reason_with_links(inert(&reason), blocked, record));
    for last in &blocked.last {
        line(&mut text, &format!("\n{}", last.shown().trim_end()));
    }
    if let Some(plan) = record.waiting_plan() {
        line(&mut text, &format!("\n{}", plan.shown().trim_end()));
    }
    line(&mut text, &format!("\n{}", inert(&format!("**Question**: {question}"))));
    if let Some(action) = record.waiting_action() {
        // Each of its lines follows a bar, so none ends the block.
        let tool = code_span(&action.tool);
        line(&mut text, &format!("\nExactly this, by the tool {tool}:\n\n```text\n{}```", action.shown()));
    }
    text
}

/// The work's location and progress.
fn facts(record: &Record, rules: &StatusRules<'_>) -> String {
    let mut facts = Vec::new();
    if let Some(branch) = record.work.pushed_branch() {
        facts.push(format!("branch [{}]({})", code_span(branch), branch_url(rules.repo_url, branch)));
    }
    facts.extend(published_word(record).map(str::to_owned));
    if let Some(checks) = record.work.checks {
        let verb = if checks.run == 1 { "passes" } else { "pass" };
        facts.push(format!("{} of {} {verb}", checks.passed, count(checks.run, "check")));
    }
    if let Some(profile) = profile(record) {
        facts.push(profile);
    }
    facts.extend(chosen_by_outcomes(record).map(|chosen| format!("agent {chosen}")));
    let route = record.route.as_ref().filter(|_| record.state != State::Done);
    if let Some(warning) = route.and_then(|route| route.warning.as_ref()) {
        facts.push(format!("**Warning**: {}", inert_line(&clip(warning, 600))));
    }
    if let Some(handled) = handled(record) {
        facts.push(handled);
    }
    // Beside the work it would only distract from what was spent.
    if record.work.quote.is_some() && record.state != State::InReview {
        facts.extend(likely_cost(record, &rules.budgets).map(|cost| format!("cost: {cost}")));
    }
    let used = rules.budgets.of_issue(&record.commands).used(record.spend);
    let is_told = used >= 1.0 && record.state == State::Blocked;
    if used >= rules.soft && used > 0.0 && record.state != State::Done && !is_told {
        facts.push(format!("**{:.0}% of the issue's budget is used**", (used * 100.0).floor()));
    }
    facts.join(" · ")
}

/// What the issue will probably cost, and the most that it may. `None` if neither is known, and once the bill is final.
pub fn likely_cost(record: &Record, budgets: &Budgets) -> Option<String> {
    let cap = budgets.of_issue(&record.commands).usd_micros.map(|cap| format!("cap {}", dollars(cap)));
    let quote = record.work.quote.map(|quote| format!("probably {quote}"));
    let parts: Vec<String> = quote.into_iter().chain(cap).collect();
    (!parts.is_empty() && record.state != State::Done).then(|| parts.join("; "))
}

/// Which profile works, how sure that is and why, and how to change it.
fn profile(record: &Record) -> Option<String> {
    let route = record.route.as_ref().filter(|_| record.state != State::Done)?;
    let name = code_span(route.profile.as_ref()?.as_str());
    let reasons = inert_line(&clip(&route.reasons.join("; "), 300));
    Some(match route.by {
        ChosenBy::Command | ChosenBy::Label | ChosenBy::Repository => format!("profile {name}: {reasons}"),
        ChosenBy::Router | ChosenBy::Base => {
            let why = if reasons.is_empty() { reasons } else { format!(": {reasons}") };
            format!("profile {name} ({} % sure{why}); `/hob agent NAME` changes it", route.percent)
        }
    })
}

/// Which agent the outcomes of earlier work chose, and why. `None` if another one worked last.
pub fn chosen_by_outcomes(record: &Record) -> Option<String> {
    let auto = record.work.auto.as_ref().filter(|_| record.state != State::Done)?;
    let is_its = record.work.by.as_ref().is_none_or(|by| by.agent == auto.agent);
    is_its.then(|| format!("{}, by outcomes: {}", code_span(&auto.agent), inert_line(&clip(&auto.why, 300))))
}

/// The handled events of the pull request.
fn handled(record: &Record) -> Option<String> {
    let log = &record.review;
    let rounds: u32 = RoundKind::ALL.into_iter().map(|kind| log.count(kind)).sum();
    let is_over = record.pull.number.is_some() && rounds > 0 && !log.is_under_way();
    is_over.then(|| {
        let events = events_in_words(&log.handled);
        let of = if events.is_empty() { String::new() } else { format!(": {}", inert_line(&events)) };
        let unchanged = if log.unchanged { "; the last round changed no file, and nothing was pushed" } else { "" };
        format!("handled in review{of} ({}{unchanged})", log.rounds_in_words())
    })
}

/// The page of a branch on the forge.
fn branch_url(repo_url: &str, branch: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'/');
    let mut url = format!("{repo_url}/tree/");
    for byte in branch.bytes() {
        if plain(byte) { url.push(char::from(byte)) } else { url.push_str(&format!("%{byte:02X}")) }
    }
    url
}

fn cost(record: &Record) -> String {
    let mut facts = Vec::new();
    if record.attempts.ever > 0 {
        facts.push(format!("attempt {}", record.attempts.ever));
    }
    if record.spend != Spend::default() {
        facts.push(format!("spent {}", record.spend));
    }
    facts.push(format!("`hob explain {} --history` prints each step", record.issue));
    facts.join(" · ")
}

/// The digest of the statement about the pull request, which the ledger has.
fn statement(record: &Record) -> Option<String> {
    let proof = record.work.proof.as_ref()?;
    let pull = proof.statement().predicate.pull_request;
    Some(format!("Statement of #{pull}: SHA-256 `{}`; `hob verify {pull}` checks it", proof.digest()))
}

fn headline(record: &Record) -> String {
    let pull = record.pull.number.map(|number| format!("#{number}")).unwrap_or_default();
    if let Some(pause) = record.pause().filter(|_| record.state != State::Done) {
        let why = if pause.reason.is_empty() { String::new() } else { format!(" ({})", inert_line(&pause.reason)) };
        return format!(
            "**Paused** by {}{why}: Hob leaves it alone until `/hob resume` in a comment, or `hob resume {}`.",
            person(&pause.by),
            record.issue
        );
    }
    match record.state {
        State::Ready if !record.work.waits_for().is_empty() => {
            format!("**Waiting**: {}.", PersonsWork::all_say(record.work.waits_for()))
        }
        State::Ready => match (&record.failure.text, record.failure.until) {
            (Some(failure), Some(until)) => {
                let failure = clip(&failure_line(failure), 2_000);
                inert(&format!("**Waiting** until {}: {failure}", until.format("%Y-%m-%d %H:%M UTC")))
            }
            _ => "**Ready**: the next free worker takes it.".to_owned(),
        },
        State::InProgress if record.approval.plan.under_way => {
            "**In progress**: an agent plans the work, and changes nothing.".to_owned()
        }
        State::Assigned | State::InProgress if record.review.is_under_way() => {
            let events = inert_line(&events_in_words(&record.review.round));
            format!("**In progress**: an agent works on what happened on {pull}: {events}.")
        }
        State::Assigned => "**Claimed**: the work is being prepared.".to_owned(),
        State::InProgress => "**In progress**: an agent works on it.".to_owned(),
        State::InReview => match published_look(record) {
            Some(first) => {
                format!("**In review**: {pull} is open. Look here first: {first} Then merge it, or close it.")
            }
            None => format!("**In review**: {pull} is open. Review it, merge it, or close it."),
        },
        State::Blocked if record.waiting_plan().is_some() => "**Blocked**: a plan needs approval.".to_owned(),
        // Otherwise the comment would look as if the answer had not been read.
        State::Blocked => {
            // The question is asked there.
            let on = if record.review.is_under_way() { format!(" on {pull}") } else { String::new() };
            match &record.answer {
                Some(answer) => {
                    format!("**Blocked** again{on}, after {} requeued it: a person is needed.", person(&answer.actor))
                }
                None => format!("**Blocked**{on}: a person is needed."),
            }
        }
        State::Done if let Some(comment) = record.comments.report => {
            format!("**Done**: the [report](#issuecomment-{comment}) is below.")
        }
        State::Done if let Some((end, by)) = record.control.as_ref().and_then(|end| Some((end, end.ended_by()?))) => {
            let deed = if end.reason.is_empty() { "ended the work on this issue" } else { &inert_line(&end.reason) };
            let pull = if pull.is_empty() { pull } else { format!("; its pull request was {pull}") };
            format!("**Stopped**: {} {deed}{pull}.", person(by))
        }
        State::Done if pull.is_empty() => "**Done**: Hob no longer works on this issue.".to_owned(),
        State::Done => format!("**Done**: Hob no longer works on this issue; its pull request was {pull}."),
    }
}

#[cfg(test)]
mod tests {
    use hob_domain::{
        Answer, BlockCode, Branch, CheckTally, Checklist, Claimant, Failure, Impact, IssueNumber, Nonce, OwnComments,
        Pause, Proposed, PullLog, PullNumber, Refusal, ReviewLog, Timestamp, Work, WorkerId, acquire,
    };

    use super::*;
    use crate::fixtures::{checklist, every_reason};

    fn record(state: State) -> Record {
        let claimant = Claimant {
            worker: WorkerId::from("w"),
            nonce: Nonce::from("n"),
            duration: std::time::Duration::from_secs(60),
            skew: std::time::Duration::ZERO,
            bill: None,
        };
        let mut record = acquire(None, IssueNumber(7), &claimant, Timestamp::UNIX_EPOCH).unwrap();
        record.state = state;
        record.attempts = hob_domain::Attempts { now: 1, ever: 1 };
        record
    }

    fn rules() -> StatusRules<'static> {
        let issue = hob_domain::Budget { usd_micros: Some(5_000_000), ..hob_domain::Budget::default() };
        let budgets = Budgets { issue, issue_usd_max: issue.usd_micros, ..Budgets::default() };
        StatusRules {
            trigger: "code",
            blocked: "blocked",
            budgets,
            soft: 0.8,
            repo_url: "https://example.org/acme/site",
            checklist: None,
        }
    }

    #[test]
    fn a_budget_that_is_nearly_used_up_is_warned_of() {
        let spent =
            |usd_micros| Record { spend: Spend { usd_micros, ..Spend::default() }, ..record(State::InProgress) };
        assert!(!status_body(&spent(3_990_000), &rules()).contains("budget"));
        assert!(status_body(&spent(4_500_000), &rules()).contains("**90% of the issue's budget is used**"));
    }

    #[test]
    fn a_quote_is_told_until_the_work_is_there() {
        let quote = Some(hob_domain::Quote { low: 600_000, high: 1_900_000, of: 14 });
        let quoted = |state| Record { work: Work { quote, ..Work::default() }, ..record(state) };
        let says = "\ncost: probably $0.60–1.90 (8 in 10 of 14 similar issues); cap $5.00\n";
        assert!(status_body(&quoted(State::InProgress), &rules()).contains(says));
        for shown in [State::InReview, State::Done] {
            assert!(!status_body(&quoted(shown), &rules()).contains("probably"));
        }
        assert!(!status_body(&record(State::InProgress), &rules()).contains("probably"));
    }

    #[test]
    fn a_block_that_follows_an_answer_says_so() {
        let answer =
            Answer { actor: "ann".into(), text: "Go on.".to_owned(), question: None, comment: None, event: None };
        let reason = hob_domain::BlockReason::AgentFailed { failure: "out of ideas".to_owned() };
        let blocked = Some(reason.blocked(Timestamp::UNIX_EPOCH));
        let text = status_body(&Record { blocked, answer: Some(answer), ..record(State::Blocked) }, &rules());
        assert!(text.contains("\n**Blocked** again, after `ann` requeued it: a person is needed.\n"), "{text}");
    }

    #[test]
    fn a_block_on_a_used_up_budget_names_what_to_raise_before_the_answer() {
        let blocked = |reason: hob_domain::BlockReason| Record {
            spend: Spend { usd_micros: 5_200_000, ..Spend::default() },
            blocked: Some(reason.blocked(Timestamp::UNIX_EPOCH)),
            ..record(State::Blocked)
        };
        let says = "The issue's budget of $5.00 is used up: it has spent $5.20.";
        let failed = hob_domain::BlockReason::AgentFailed { failure: "out of ideas".to_owned() };
        let status = status_body(&blocked(failed), &rules());
        assert!(status.contains(says) && !status.contains("% of the issue's budget"), "{status}");
        let exhausted = hob_domain::Exhausted::Money(5_000_000);
        let advice = rules().budgets.advice(&exhausted, &Default::default());
        let spent = hob_domain::BlockReason::IssueBudget { exhausted, bill: Spend::default(), advice };
        assert!(!status_body(&blocked(spent), &rules()).contains(says), "its reason says so");
    }

    #[test]
    fn a_wait_for_people_says_for_whom_and_how_to_begin_anyway() {
        let begun = vec![PersonsWork::Pull { pull: "#9".to_owned(), by: "wil".into() }];
        let work = Work { with_people: Some(hob_domain::WithPeople::Waits(begun)), ..Work::default() };
        let mut waiting = Record { work, ..record(State::Ready) };
        waiting.attempts.now = 0;
        insta::assert_snapshot!(status_body(&waiting, &rules()), @"
        <!-- hob:status -->
        **Waiting**: wil's pull request #9 closes this issue. Hob begins when #9 is closed without a merge; `/hob retry` in a comment begins now.
        ");
    }

    #[test]
    fn an_issue_whose_result_is_a_comment_links_it() {
        let body = status_body(
            &Record {
                comments: OwnComments { report: Some(hob_domain::CommentId(9)), ..OwnComments::default() },
                ..record(State::Done)
            },
            &rules(),
        );
        assert!(body.contains("**Done**: the [report](#issuecomment-9) is below."));
    }

    #[test]
    fn a_pause_says_who_and_how_it_goes_on() {
        let pause = Pause { by: "ann".into(), since: Timestamp::UNIX_EPOCH, reason: "after the release".to_owned() };
        let body = status_body(&Record { control: Some(pause.into()), ..record(State::Ready) }, &rules());
        assert!(body.contains("**Paused** by `ann` (after the release): Hob leaves it alone until `/hob resume` in a comment, or `hob resume 7`."));
    }

    #[test]
    fn a_blocked_comment_says_why_what_is_asked_and_how_to_answer() {
        let mut record = record(State::Blocked);
        record.work.branch = Some(Branch { name: "hob/7-x".to_owned(), pushed: false });
        record.spend = Spend { wall_seconds: 61, ..Spend::default() };
        record.blocked = Some(Blocked {
            reason: BlockCode::Question,
            text: "The agent needs an answer. <img src=x>".to_owned(),
            question: "UTC or local?".to_owned(),
            last: Vec::new(),
            since: Timestamp::UNIX_EPOCH,
            told: false,
            after: None,
        });
        insta::assert_snapshot!(status_body(&record, &rules()), @"
        <!-- hob:status -->
        **Blocked**: a person is needed.

        The agent needs an answer. &lt;img src=x>

        **Question**: UTC or local?

        Reply, and the agent continues with your answer.

        <details><summary>Other answers, cost and history</summary>

        Answers of accounts with write access to this repository count.

        - `/hob retry`, or removing the label `blocked`, leaves the decision to the agent.
        - `/hob cancel` ends the work on this issue.

        attempt 1 · spent 1 min 1 s · `hob explain 7 --history` prints each step

        </details>
        ");
    }

    #[test]
    fn an_action_that_waits_for_a_word_is_shown_whole_and_cannot_break_out() {
        let mut record = record(State::Blocked);
        let text = "rm x\n```\n<img src=x> @all\n/hob approve".to_owned();
        let (tool, line, impact) = ("shell".to_owned(), "shell rm x …".to_owned(), Impact::High);
        record.approval.waits = Some(Proposed { tool, line, text, impact });
        record.blocked = Some(Blocked {
            reason: BlockCode::ApprovalNeeded,
            text: "It needs a word.".to_owned(),
            question: "May it?".to_owned(),
            last: Vec::new(),
            since: Timestamp::UNIX_EPOCH,
            told: false,
            after: None,
        });
        insta::assert_snapshot!(status_body(&record, &rules()), @"
        <!-- hob:status -->
        **Blocked**: a person is needed.

        It needs a word.

        **Question**: May it?

        Exactly this, by the tool `shell`:

        ```text
        | rm x
        | ```
        | <img src=x> @all
        | /hob approve
        ```

        Comment `/hob approve` to allow exactly this for this issue, now and later. Or reply with what to do instead.

        <details><summary>Other answers, cost and history</summary>

        Answers of accounts with write access to this repository count.

        - `/hob retry`, or removing the label `blocked`, lets the agent continue without it.
        - `/hob cancel` ends the work on this issue.

        attempt 1 · `hob explain 7 --history` prints each step

        </details>
        ");
    }

    #[test]
    fn rounds_in_review_are_told_and_what_no_round_is_for() {
        let said = vec![
            hob_domain::ReviewEvent::Review(1),
            hob_domain::ReviewEvent::Line(2),
            hob_domain::ReviewEvent::Line(3),
        ];
        let with = |state, review, pull: PullLog| Record {
            pull: PullLog { number: Some(PullNumber(9)), ..pull },
            work: Work { checks: Some(CheckTally { passed: 2, run: 2 }), ..Work::default() },
            review,
            ..record(state)
        };
        let round = ReviewLog { rounds: 1, round: said.clone(), ..ReviewLog::default() };
        let mut draft = PullLog::default();
        draft.opened_draft(PullNumber(9));
        let red_on_base = vec!["lint <b>".to_owned(), "e2e".to_owned()];
        let (undecided, hidden) = (vec!["slow".to_owned()], vec!["checks: read".to_owned()]);
        let told = hob_domain::CheckNotes { red_on_base, undecided, hidden, unapproved: true };
        let handled = ReviewLog { rounds: 2, ci_rounds: 1, handled: said, told, ..ReviewLog::default() };
        let under_way = status_body(&with(State::InProgress, round, PullLog::default()), &rules());
        let over = status_body(&with(State::InReview, handled, draft), &rules());
        insta::assert_snapshot!(format!("{under_way}\n{over}"), @"
        <!-- hob:status -->
        **In progress**: an agent works on what happened on #9: a review, 2 comments on lines.

        2 of 2 checks pass

        <!-- hob:status -->
        **In review**: #9 is open. Review it, merge it, or close it.

        The workflows of #9 wait for a maintainer's approval, and the pull request stays a draft meanwhile: press **Approve workflows to run** on [the pull request](https://example.org/acme/site/pull/9). Every push by Hob needs a new approval as long as Hob works with a job's own token; with a GitHub App or a fine-grained token, the workflows run by themselves.

        On the base branch, too, the checks `lint <b>`, `e2e` fail, so Hob does not work on that, and the pull request stays a draft meanwhile.

        No verdict of `slow` can be seen: the pull request stays a draft. Mark it ready by hand once you know.

        The token lacks `checks: read`, so Hob cannot see all checks, and the pull request stays a draft. In GitHub Actions, call `work-checks.yml` instead of `work.yml`; elsewhere, give the token the permission (a GitHub App can have `checks: read`, a fine-grained token cannot). Or mark the pull request ready by hand once you know.

        2 of 2 checks pass · handled in review: a review, 2 comments on lines (2 rounds for reviews, 1 round for failed checks)
        ");
    }

    /// The status comment of an issue in each state, and in each condition that changes the comment.
    #[test]
    fn the_status_comment_says_where_the_issue_stands() {
        let at = Timestamp::from_timestamp(1_700_000_000, 0).unwrap();
        let spend = Spend { usd_micros: 120_000, input_tokens: 900, output_tokens: 100, wall_seconds: 61 };
        let work = Work { checks: Some(CheckTally { passed: 2, run: 2 }), ..Work::default() };
        let worked = |state| {
            let (pull, work) = (PullLog::of(PullNumber(9)), work.clone());
            Record { pull, work, spend, ..record(state) }
        };
        let refusal = Refusal { event: None, actor: None, reason: "`otto` has triage permission".to_owned(), at };
        let failure = Some("the model <b>failed</b>".to_owned());
        let pause = Pause { by: "ann".into(), since: at, reason: "after the release".to_owned() };
        let mut planning = record(State::InProgress);
        planning.approval.plan.under_way = true;
        let rows = [
            ("ready", record(State::Ready)),
            ("refused", Record { refused: Some(refusal), ..record(State::Ready) }),
            (
                "retry",
                Record {
                    failure: Failure { text: failure, until: Some(at), ..Failure::default() },
                    ..record(State::Ready)
                },
            ),
            ("paused", Record { control: Some(pause.into()), ..record(State::Ready) }),
            ("assigned", record(State::Assigned)),
            ("in progress", record(State::InProgress)),
            ("planning", planning),
            ("in review", worked(State::InReview)),
            ("blocked without a reason", record(State::Blocked)),
            ("done", worked(State::Done)),
            ("done without a pull request", record(State::Done)),
        ];
        let told = rows.map(|(name, record)| format!("== {name}\n{}", status_body(&record, &rules())));
        insta::assert_snapshot!(told.join("\n"), @"
        == ready
        <!-- hob:status -->
        **Ready**: the next free worker takes it.

        == refused
        <!-- hob:status -->
        **Refused**: `otto` has triage permission.

        Nothing was done. Someone with write access to this repository can remove the label `code` and add it again.

        == retry
        <!-- hob:status -->
        **Waiting** until 2023-11-14 22:13 UTC: the model &lt;b>failed&lt;/b>

        == paused
        <!-- hob:status -->
        **Paused** by `ann` (after the release): Hob leaves it alone until `/hob resume` in a comment, or `hob resume 7`.

        == assigned
        <!-- hob:status -->
        **Claimed**: the work is being prepared.

        == in progress
        <!-- hob:status -->
        **In progress**: an agent works on it.

        == planning
        <!-- hob:status -->
        **In progress**: an agent plans the work, and changes nothing.

        == in review
        <!-- hob:status -->
        **In review**: #9 is open. Review it, merge it, or close it.

        2 of 2 checks pass

        <details><summary>Cost and history</summary>

        attempt 1 · spent $0.12, 1000 tokens, 1 min 1 s · `hob explain 7 --history` prints each step

        </details>

        == blocked without a reason
        <!-- hob:status -->
        **Blocked**: a person is needed.

        == done
        <!-- hob:status -->
        **Done**: Hob no longer works on this issue; its pull request was #9.

        2 of 2 checks pass

        <details><summary>Cost and history</summary>

        attempt 1 · spent $0.12, 1000 tokens, 1 min 1 s · `hob explain 7 --history` prints each step

        </details>

        == done without a pull request
        <!-- hob:status -->
        **Done**: Hob no longer works on this issue.
        ");
    }

    /// The status comment of an issue for each reason why it may be blocked.
    #[test]
    #[expect(clippy::too_many_lines, reason = "most of them are the texts")]
    fn a_blocked_comment_offers_what_fits_its_reason() {
        let told: Vec<String> = every_reason()
            .into_iter()
            .map(|reason| {
                let mut record = record(State::Blocked);
                let blocked = reason.blocked(Timestamp::UNIX_EPOCH);
                if let hob_domain::BlockReason::ApprovalNeeded(proposed) = &reason {
                    record.approval.waits = Some(proposed.clone());
                }
                if let hob_domain::BlockReason::Rejected(pull) = reason {
                    record.pull = PullLog::of(pull);
                }
                if let hob_domain::BlockReason::PlanProposed { plan, .. } = reason {
                    record.approval.plan.proposed = Some(*plan);
                }
                let pushed = blocked.reason == BlockCode::ChecksFailed;
                record.work.branch = Some(Branch { name: "hob/7-x".to_owned(), pushed });
                let reason = blocked.reason;
                record.blocked = Some(blocked);
                let body = status_body(&record, &rules());
                let body = body.split_once("\n\n").unwrap().1;
                format!("== {reason:?}\n{}", body.rsplit_once("\n\n</details>").unwrap().0)
            })
            .collect();
        insta::assert_snapshot!(told.join("\n\n"), @"
        == Question
        The agent needs an answer before it can continue.

        **Question**: UTC or local?

        Reply, and the agent continues with your answer.

        <details><summary>Other answers, cost and history</summary>

        Answers of accounts with write access to this repository count.

        - `/hob retry`, or removing the label `blocked`, leaves the decision to the agent.
        - `/hob cancel` ends the work on this issue.

        attempt 1 · `hob explain 7 --history` prints each step

        == ApprovalNeeded
        The agent wants to run an action of high impact, which needs approval here.

        **Question**: Do you approve this: `` shell rm `x` y ``?

        Exactly this, by the tool `shell`:

        ```text
        | no route to host
        ```

        Comment `/hob approve` to allow exactly this for this issue, now and later. Or reply with what to do instead.

        <details><summary>Other answers, cost and history</summary>

        Answers of accounts with write access to this repository count.

        - `/hob retry`, or removing the label `blocked`, lets the agent continue without it.
        - `/hob cancel` ends the work on this issue.

        attempt 1 · `hob explain 7 --history` prints each step

        == PlanProposed
        The agent has a plan. Nothing is changed before it is approved. The work costs $4.88 at most, what is left of `budget.issue`.

        **Plan**: Accept empty files.

        1. Return an empty document
        2. Add a test

        **2 files**

        - `src/parse.rs`
        - `tests/`

        **Open questions**

        - Is a file of blanks empty, too?

        **Question**: Should the agent follow this plan?

        Comment `/hob approve`, or just yes, to have exactly this plan carried out. Or reply with what should be different: the agent makes a new plan.

        <details><summary>Other answers, cost and history</summary>

        Answers of accounts with write access to this repository count.

        - `/hob retry`, or removing the label `blocked`, asks for a new plan.
        - `/hob cancel` ends the work on this issue.

        attempt 1 · `hob explain 7 --history` prints each step

        == ChecksFailed
        The checks still fail after 2 rounds of work.

        `make test`: failed (exit code 1)

        <details><summary>Last lines of make test</summary>

        ```text
        error: '3 == 5'
        ```

        </details>

        **Question**: How should the agent fix the failed checks?

        Reply with a hint, and the agent continues from its work so far.

        branch [`hob/7-x`](https://example.org/acme/site/tree/hob/7-x)

        <details><summary>Other answers, cost and history</summary>

        Answers of accounts with write access to this repository count.

        - `/hob retry`, or removing the label `blocked`, lets the agent try again unchanged.
        - `/hob cancel` ends the work on this issue. The work so far stays on `hob/7-x`.

        attempt 1 · `hob explain 7 --history` prints each step

        == RedBase
        The base branch fails its own checks, so no agent was started.

        `make test`: failed (exit code 1)

        <details><summary>Last lines of make test</summary>

        ```text
        error: '3 == 5'
        ```

        </details>

        **Question**: Can you fix the base branch?

        Once it is fixed, comment `/hob retry`: Hob starts from the fixed branch.

        <details><summary>Other answers, cost and history</summary>

        Answers of accounts with write access to this repository count.

        - Removing the label `blocked` does the same as `/hob retry`.
        - `/hob cancel` ends the work on this issue.

        attempt 1 · `hob explain 7 --history` prints each step

        == MergeConflict
        The branch conflicts with `main` in these files, and the agent did not resolve that:

        - `src/a.rs`: both changed the same lines; both versions are in it, between markers

        **Question**: Which side should be kept, and in which files?

        Reply with the answer. Or merge the base into the branch yourself, then comment `/hob retry`.

        <details><summary>Other answers, cost and history</summary>

        Answers of accounts with write access to this repository count.

        - Removing the label `blocked` does the same as `/hob retry`.
        - `/hob cancel` ends the work on this issue.

        attempt 1 · `hob explain 7 --history` prints each step

        == NoChanges
        The agent changed no file. It said: It is fine.

        **Question**: What should the agent change, if anything?

        Reply with what should change, or close the issue.

        <details><summary>Other answers, cost and history</summary>

        Answers of accounts with write access to this repository count.

        - `/hob cancel` ends the work on this issue.

        attempt 1 · `hob explain 7 --history` prints each step

        == RoundChangedNothing
        The agent changed nothing in a round in review (the check `test` failed), so the same would fail again. It said: It is flaky.

        **Question**: What is the cause, or should this pull request not fix it?

        Reply with what should be different, and the agent works on it once more.

        <details><summary>Other answers, cost and history</summary>

        Answers of accounts with write access to this repository count.

        - `/hob cancel` ends the work on this issue.

        attempt 1 · `hob explain 7 --history` prints each step

        == AgentFailed
        The agent failed: no route to host.

        **Question**: What should the agent do differently, or what does it need?

        Reply with what the agent needs, and it tries again.

        <details><summary>Other answers, cost and history</summary>

        Answers of accounts with write access to this repository count.

        - `/hob retry`, or removing the label `blocked`, lets the agent try again unchanged.
        - `/hob cancel` ends the work on this issue.

        attempt 1 · `hob explain 7 --history` prints each step

        == AttemptsUsedUp
        3 attempts are used up, the most that `limits.attempts` allows.

        **Question**: Should Hob try again? An answer resets the count.

        Comment `/hob retry` for another attempt, or reply with a hint for it.

        <details><summary>Other answers, cost and history</summary>

        Answers of accounts with write access to this repository count.

        - Removing the label `blocked` does the same as `/hob retry`.
        - `/hob cancel` ends the work on this issue.

        attempt 1 · `hob explain 7 --history` prints each step

        == AttemptsFailed
        3 attempts failed, the most that `limits.attempts` allows. The last failure: no route to host.

        **Question**: Should Hob try again? An answer resets the count.

        Comment `/hob retry` for another attempt, or reply with a hint for it.

        <details><summary>Other answers, cost and history</summary>

        Answers of accounts with write access to this repository count.

        - Removing the label `blocked` does the same as `/hob retry`.
        - `/hob cancel` ends the work on this issue.

        attempt 1 · `hob explain 7 --history` prints each step

        == AttemptBudget
        The attempt's budget of $5.00 (`budget.attempt`) is used up: 1 s. The issue has spent 2 s so far.

        **Question**: Should Hob make another attempt? Only the operator of Hob can give attempts more (`budget.attempt`).

        Comment `/hob retry` for another attempt, or reply with a hint for it.

        <details><summary>Other answers, cost and history</summary>

        Answers of accounts with write access to this repository count.

        - Removing the label `blocked` does the same as `/hob retry`.
        - `/hob cancel` ends the work on this issue.

        attempt 1 · `hob explain 7 --history` prints each step

        == IssueBudget
        The issue's budget of $5.00 (`budget.issue`) is used up. It has spent 2 s so far.

        **Question**: Is the issue worth more, or will you do the rest by hand?

        Comment `/hob retry`: the limit was raised.

        <details><summary>Other answers, cost and history</summary>

        Answers of accounts with write access to this repository count.

        - Removing the label `blocked` does the same as `/hob retry`.
        - `/hob cancel` ends the work on this issue.

        attempt 1 · `hob explain 7 --history` prints each step

        == PolicyViolated
        The change breaks rules and was not pushed:

        - `Makefile` is protected
        - `Makefile` is protected
        - `Makefile` is protected
        - `Makefile` is protected
        - `Makefile` is protected
        - `Makefile` is protected
        - `Makefile` is protected
        - `Makefile` is protected
        - `Makefile` is protected
        - `Makefile` is protected
        - `Makefile` is protected
        - `Makefile` is protected
        - `Makefile` is protected
        - `Makefile` is protected
        - `Makefile` is protected
        - `Makefile` is protected
        - `Makefile` is protected
        - `Makefile` is protected
        - `Makefile` is protected
        - `Makefile` is protected

        **Question**: Can the issue be solved in another way? If the rule is wrong here, a person has to make this change.

        Reply with a way that does without these changes, or make them yourself.

        <details><summary>Other answers, cost and history</summary>

        Answers of accounts with write access to this repository count.

        - `/hob cancel` ends the work on this issue.

        attempt 1 · `hob explain 7 --history` prints each step

        == PushRefused
        No route to host.

        **Question**: Can you fix this and then let Hob try again?

        Comment `/hob retry` when Hob should try again.

        <details><summary>Other answers, cost and history</summary>

        Answers of accounts with write access to this repository count.

        - Removing the label `blocked` does the same as `/hob retry`.
        - `/hob cancel` ends the work on this issue.

        attempt 1 · `hob explain 7 --history` prints each step

        == SetUpNeeded
        No route to host.

        **Question**: Can you fix this and then let Hob try again?

        Comment `/hob retry` when Hob should try again.

        <details><summary>Other answers, cost and history</summary>

        Answers of accounts with write access to this repository count.

        - Removing the label `blocked` does the same as `/hob retry`.
        - `/hob cancel` ends the work on this issue.

        attempt 1 · `hob explain 7 --history` prints each step

        == LedgerLost
        The ledger of this issue was deleted, and with it the reason why it is blocked and what it has cost so far.

        **Question**: Should Hob continue?

        Comment `/hob retry` when Hob should try again.

        <details><summary>Other answers, cost and history</summary>

        Answers of accounts with write access to this repository count.

        - Removing the label `blocked` does the same as `/hob retry`.
        - `/hob cancel` ends the work on this issue.

        attempt 1 · `hob explain 7 --history` prints each step

        == EditedMeanwhile
        The issue's title or body was edited after the work on it was authorized.

        **Question**: Should Hob work on the current text?

        Comment `/hob retry`, or reply with more: Hob continues with the current text.

        <details><summary>Other answers, cost and history</summary>

        Answers of accounts with write access to this repository count.

        - Removing the label `blocked` does the same as `/hob retry`.
        - `/hob cancel` ends the work on this issue.

        attempt 1 · `hob explain 7 --history` prints each step

        == Rejected
        Pull request #9 was closed without a merge.

        **Question**: What should be done differently?

        Reply with what should be different, and the agent works on it once more.

        <details><summary>Other answers, cost and history</summary>

        Answers of accounts with write access to this repository count.

        - `/hob cancel` ends the work on this issue.

        attempt 1 · `hob explain 7 --history` prints each step

        == NoProgress
        Two attempts in a row failed in the same way on the same work: no route to host.

        **Question**: What should be done differently?

        Reply with what should be different, and the agent works on it once more.

        <details><summary>Other answers, cost and history</summary>

        Answers of accounts with write access to this repository count.

        - `/hob cancel` ends the work on this issue.

        attempt 1 · `hob explain 7 --history` prints each step

        == ServiceDown
        `anthropic/x` has failed 30 times in a row since 1970-01-01 00:00 UTC, for longer than `limits.patience` allows. The last failure: no route to host.

        **Question**: Should Hob try again now, or with another agent (`/hob agent NAME`)? No attempt was counted.

        Comment `/hob retry` for another attempt, or reply with a hint for it.

        <details><summary>Other answers, cost and history</summary>

        Answers of accounts with write access to this repository count.

        - Removing the label `blocked` does the same as `/hob retry`.
        - `/hob cancel` ends the work on this issue.

        attempt 1 · `hob explain 7 --history` prints each step

        == PersonPushed
        Ada 'skip ci' pushed the commit 0123456789 to `hob/1-x`, so Hob stopped.

        **Question**: Should Hob continue from the branch as it is now?

        Any answer means yes: comment `/hob retry`, or reply with a hint.

        <details><summary>Other answers, cost and history</summary>

        Answers of accounts with write access to this repository count.

        - Removing the label `blocked` does the same as `/hob retry`.
        - `/hob cancel` ends the work on this issue.

        attempt 1 · `hob explain 7 --history` prints each step

        == WorkerDied
        The worker that held this issue died.

        **Question**: Should Hob continue?

        Comment `/hob retry`, or reply with a hint.

        <details><summary>Other answers, cost and history</summary>

        Answers of accounts with write access to this repository count.

        - Removing the label `blocked` does the same as `/hob retry`.
        - `/hob cancel` ends the work on this issue.

        attempt 1 · `hob explain 7 --history` prints each step
        ");
    }

    #[test]
    fn a_checklist_stands_open_while_the_agent_works_and_is_folded_later() {
        let (now, then) = (checklist(), Checklist::new([("Then".to_owned(), hob_domain::StepState::Done)]).unwrap());
        let live = StatusRules { checklist: Some(&now), ..rules() };
        let record = Record { work: Work { checklist: Some(then), ..Work::default() }, ..record(State::InProgress) };
        insta::assert_snapshot!(status_body(&record, &live), @r"
        <!-- hob:status -->
        **In progress**: an agent works on it.

        1 of 3 steps done:

        - ✓ Look at the parser
        - **Now**: Add a test
        - ○ Mend it
        ");
        let blocked = Record { state: State::Blocked, ..record };
        let text = status_body(&blocked, &live);
        assert!(text.contains("1 of 1 step done by the agent</summary>") && !text.contains("Add a test"), "{text}");
    }

    #[test]
    fn a_branch_is_linked_once_it_was_pushed() {
        let with = |pushed| {
            let branch = Some(Branch { name: "hob/7-größe".to_owned(), pushed });
            status_body(&Record { work: Work { branch, ..Work::default() }, ..record(State::InProgress) }, &rules())
        };
        assert!(!with(false).contains("hob/7"));
        let link = "branch [`hob/7-größe`](https://example.org/acme/site/tree/hob/7-gr%C3%B6%C3%9Fe)";
        assert!(with(true).contains(link));
    }
}
