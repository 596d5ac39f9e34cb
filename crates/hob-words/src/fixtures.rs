//! Records and texts that the tests of these texts share.

use std::time::Duration;

use hob_domain::{
    Attempts, BlockReason, BudgetAdvice, Checklist, Claimant, Conflict, ConflictKind, CostLimit, Exhausted,
    FailedChecks, Impact, IssueNumber, LastLines, Nonce, Outage, Proposed, PullNumber, Record, Sha, Spend, State,
    StepState, Timestamp, Violation, WorkPlan, WorkerId, acquire,
};

/// A record in `state`, held by `w` in generation 1, in its first attempt.
pub(super) fn record_at(state: State) -> Record {
    let claimant = Claimant {
        worker: WorkerId::from("w"),
        nonce: Nonce::from("1"),
        duration: Duration::from_secs(60),
        skew: Duration::from_secs(5),
        bill: None,
    };
    let first = acquire(None, IssueNumber(1), &claimant, Timestamp::UNIX_EPOCH).unwrap();
    Record { state, attempts: Attempts { now: 1, ever: 1 }, ..first }
}

/// A plan.
pub(super) fn plan() -> WorkPlan {
    let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
    WorkPlan {
        summary: "Accept empty files.".to_owned(),
        steps: lines(&["Return an empty document", "Add a test"]),
        files: lines(&["src/parse.rs", "tests/"]),
        issues: Vec::new(),
        questions: lines(&["Is a file of blanks empty, too?"]),
    }
}

/// A checklist.
pub(super) fn checklist() -> Checklist {
    let steps =
        [("Look at the parser", StepState::Done), ("Add a test", StepState::Doing), ("Mend it", StepState::Todo)];
    Checklist::new(steps.map(|(step, state)| (step.to_owned(), state))).unwrap()
}

/// One reason of each variant.
pub(super) fn every_reason() -> Vec<BlockReason> {
    let text = || "no route to host".to_owned();
    let line = "shell rm `x`\ny".to_owned();
    vec![
        BlockReason::Question { question: "UTC or local?".to_owned() },
        BlockReason::ApprovalNeeded(Proposed { tool: "shell".to_owned(), line, text: text(), impact: Impact::High }),
        BlockReason::PlanProposed {
            plan: Box::new(plan()),
            cost: CostLimit { attempt: None, issue: Some(4_880_000), quote: None },
        },
        BlockReason::ChecksFailed { rounds: 2, failed: failed() },
        BlockReason::RedBase { failed: failed() },
        BlockReason::MergeConflict {
            base: "main".to_owned(),
            files: vec![Conflict { path: "src/a.rs".to_owned(), kind: ConflictKind::Lines }],
        },
        BlockReason::NoChanges { said: " It is fine. ".to_owned() },
        BlockReason::RoundChangedNothing {
            wanted: "the check `test` failed".to_owned(),
            said: "It is flaky.".to_owned(),
        },
        BlockReason::AgentFailed { failure: text() },
        BlockReason::AttemptsUsedUp { attempts: 3 },
        BlockReason::AttemptsFailed { attempts: 3, failure: text() },
        BlockReason::AttemptBudget {
            exhausted: Exhausted::Money(5_000_000),
            setting: "budget.attempt",
            spent: spend(1),
            bill: spend(2),
        },
        BlockReason::IssueBudget {
            exhausted: Exhausted::Money(5_000_000),
            bill: spend(2),
            advice: BudgetAdvice {
                from: "budget.issue",
                raise: "ask the operator of Hob to raise `budget.issue`".to_owned(),
            },
        },
        BlockReason::PolicyViolated(vec![Violation::Protected { path: "Makefile".to_owned() }; 30]),
        BlockReason::PushRefused { failure: text() },
        BlockReason::SetUpNeeded { failure: text() },
        BlockReason::LedgerLost,
        BlockReason::EditedMeanwhile,
        BlockReason::Rejected(PullNumber(9)),
        BlockReason::NoProgress { failure: text() },
        BlockReason::ServiceDown {
            outage: Outage { service: "`anthropic/x`".to_owned(), since: Timestamp::UNIX_EPOCH, failures: 30 },
            failure: text(),
        },
        BlockReason::PersonPushed {
            author: "Ada\n[skip ci]".to_owned(),
            commit: Sha("0123456789abcdef".to_owned()),
            branch: "hob/1-x".to_owned(),
            tip: Sha("fedcba9876543210".to_owned()),
        },
        BlockReason::WorkerDied,
    ]
}

fn failed() -> FailedChecks {
    let last = LastLines { command: "make test".to_owned(), lines: "error: '3 == 5'".to_owned() };
    FailedChecks { list: "`make test`: failed (exit code 1)".to_owned(), last: vec![last] }
}

fn spend(seconds: u64) -> Spend {
    Spend { wall_seconds: seconds, ..Spend::default() }
}
