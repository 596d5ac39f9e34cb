//! Why an issue is blocked: one enum, which gives the text for people and the question.

use hob_text::{
    count,
    markup::{capitalized, code_span, sentence},
    title,
};
use serde::{Deserialize, Serialize};

use crate::{
    BlockCode, BlockKind, BudgetAdvice, CommentId, Conflict, CostLimit, Exhausted, FailedChecks, LastLines, Outage,
    Proposed, PullNumber, RoundKind, Sha, Spend, Timestamp, Violation, WorkPlan,
    issue::{
        block_code::with_kind,
        failure_words::{failure_line, failure_output},
    },
    refused_push_advice,
};

/// Policy violations, or files in conflict, that a blocked issue lists.
const ITEMS_SHOWN: usize = 20;

/// Characters of what happened, where it has one line.
const LINE_MAX: usize = 300;

/// Why an issue is blocked, as the ledger keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blocked {
    /// The reason as a code; its JSON has the kind beside it.
    #[serde(flatten, with = "with_kind")]
    pub reason: BlockCode,
    /// What happened, one or a few sentences.
    pub text: String,
    /// The question to a person.
    pub question: String,
    /// The last output of the checks or steps that are the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub last: Vec<LastLines>,
    /// Since when, by the forge's clock; older comments do not count as answers.
    pub since: Timestamp,
    /// Whether a comment has mentioned someone for the question, or there was no one to mention.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub told: bool,
    /// The newest comment before an approval was requested: times have whole seconds, and within a second the ids show
    /// the order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<CommentId>,
}

impl Blocked {
    /// Whether a comment was written after an approval was requested; an earlier one approves something else.
    pub fn precedes(&self, comment: CommentId, at: Timestamp) -> bool {
        at > self.since || at == self.since && self.after.is_some_and(|after| after < comment)
    }

    /// Whether it waits for an approval.
    pub fn asks_for_approval(&self) -> bool {
        self.reason.kind() == BlockKind::Approval
    }

    /// Whether the obstacle is unrelated to the work, which then continues unchanged.
    pub(crate) fn is_of_no_work(&self) -> bool {
        match self.reason {
            BlockCode::PushRefused
            | BlockCode::AttemptsUsedUp
            | BlockCode::AttemptsFailed
            | BlockCode::ServiceDown
            | BlockCode::AttemptBudget => true,
            BlockCode::Question
            | BlockCode::ApprovalNeeded
            | BlockCode::PlanProposed
            | BlockCode::ChecksFailed
            | BlockCode::RedBase
            | BlockCode::MergeConflict
            | BlockCode::NoChanges
            | BlockCode::AgentFailed
            | BlockCode::IssueBudget
            | BlockCode::PolicyViolated
            | BlockCode::SetUpNeeded
            | BlockCode::LedgerLost
            | BlockCode::EditedMeanwhile
            | BlockCode::Rejected
            | BlockCode::NoProgress
            | BlockCode::RoundChangedNothing
            | BlockCode::PersonPushed
            | BlockCode::RoundsUsedUp
            | BlockCode::WorkerDied => false,
        }
    }

    /// What happened, in one line. Of a list, it has the first item.
    pub fn reason_line(&self) -> String {
        let mut lines = self.text.lines().map(str::trim).filter(|line| !line.is_empty());
        let first = lines.next().unwrap_or_default();
        let items: Vec<_> = lines.filter(|line| line.starts_with("- ") || line.starts_with('`')).collect();
        let more = match items.len() {
            0 | 1 => String::new(),
            number if number < ITEMS_SHOWN => format!(", and {} more", number - 1),
            _ => ", and many more".to_owned(),
        };
        let item = items.first().map(|item| item.strip_prefix("- ").unwrap_or(item));
        title(&item.map_or_else(|| sentence(first), |item| sentence(&format!("{first} {item}{more}"))), LINE_MAX)
    }

    /// What happened and the question, in one line.
    pub fn in_a_line(&self) -> String {
        format!("{} {}", self.reason_line(), self.question)
    }
}

/// Why an issue needs a person, with everything that its text mentions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockReason {
    /// The agent asks a question.
    Question {
        /// The agent's question.
        question: String,
    },
    /// The agent wants to do something that needs approval.
    ApprovalNeeded(Proposed),
    /// The agent has a plan, which needs approval.
    PlanProposed {
        /// The plan.
        plan: Box<WorkPlan>,
        /// What the work may cost.
        cost: CostLimit,
    },
    /// The checks still fail after the last round.
    ChecksFailed {
        /// Rounds of work in this attempt.
        rounds: u32,
        /// The failed checks.
        failed: FailedChecks,
    },
    /// Checks already fail on the base, and `on_red_base` says not to work then.
    RedBase {
        /// The failed checks.
        failed: FailedChecks,
    },
    /// The branch does not merge with today's base, and the agent left conflicts.
    MergeConflict {
        /// The base branch.
        base: String,
        /// The files that still have both sides.
        files: Vec<Conflict>,
    },
    /// The agent changed no file.
    NoChanges {
        /// What it said.
        said: String,
    },
    /// The agent failed for good.
    AgentFailed {
        /// The failure.
        failure: String,
    },
    /// All attempts were used up before this one began.
    AttemptsUsedUp {
        /// The limit.
        attempts: u32,
    },
    /// The last attempt failed too.
    AttemptsFailed {
        /// Attempts so far.
        attempts: u32,
        /// How the last one failed.
        failure: String,
    },
    /// A service that the work needs has failed for longer than `limits.patience`.
    ServiceDown {
        /// The service, and how often it failed.
        outage: Outage,
        /// Its last failure.
        failure: String,
    },
    /// A budget of this attempt is used up.
    AttemptBudget {
        /// The limit that is reached.
        exhausted: Exhausted,
        /// The setting that it comes from.
        setting: &'static str,
        /// What the attempt spent.
        spent: Spend,
        /// What the issue spent.
        bill: Spend,
    },
    /// A budget of the issue's whole life is used up.
    IssueBudget {
        /// The limit that is reached.
        exhausted: Exhausted,
        /// What the issue spent.
        bill: Spend,
        /// The source of the limit, and how to raise it.
        advice: BudgetAdvice,
    },
    /// Policy forbids publishing the change.
    PolicyViolated(Vec<Violation>),
    /// The forge refused the push or the pull request.
    PushRefused {
        /// The error.
        failure: String,
    },
    /// Something has to be set up first.
    SetUpNeeded {
        /// The error.
        failure: String,
    },
    /// The ledger was deleted while the issue was blocked.
    LedgerLost,
    /// The issue was edited after the work was approved.
    EditedMeanwhile,
    /// The pull request was closed without a merge.
    Rejected(PullNumber),
    /// The same failure on the same work, twice.
    NoProgress {
        /// The failure.
        failure: String,
    },
    /// A person pushed to Hob's branch.
    PersonPushed {
        /// The commit's author.
        author: String,
        /// Their commit.
        commit: Sha,
        /// The branch.
        branch: String,
        /// The branch's tip, which an answer accepts.
        tip: Sha,
    },
    /// A round for a failed check or a base that moved ended without a change, so the same would fail again.
    RoundChangedNothing {
        /// What the round was for.
        wanted: String,
        /// What the agent said.
        said: String,
    },
    /// The pull request has had as many rounds in review as it may have.
    RoundsUsedUp {
        /// What the rounds were for.
        kind: RoundKind,
        /// How many it may have.
        limit: u32,
        /// What the next one would be for.
        wanted: String,
    },
    /// Its worker died.
    WorkerDied,
}

impl BlockReason {
    /// The reason without what its text mentions.
    pub fn code(&self) -> BlockCode {
        match self {
            Self::Question { .. } => BlockCode::Question,
            Self::ApprovalNeeded(_) => BlockCode::ApprovalNeeded,
            Self::PlanProposed { .. } => BlockCode::PlanProposed,
            Self::ChecksFailed { .. } => BlockCode::ChecksFailed,
            Self::RedBase { .. } => BlockCode::RedBase,
            Self::MergeConflict { .. } => BlockCode::MergeConflict,
            Self::NoChanges { .. } => BlockCode::NoChanges,
            Self::AgentFailed { .. } => BlockCode::AgentFailed,
            Self::AttemptsUsedUp { .. } => BlockCode::AttemptsUsedUp,
            Self::AttemptsFailed { .. } => BlockCode::AttemptsFailed,
            Self::ServiceDown { .. } => BlockCode::ServiceDown,
            Self::AttemptBudget { .. } => BlockCode::AttemptBudget,
            Self::IssueBudget { .. } => BlockCode::IssueBudget,
            Self::PolicyViolated(_) => BlockCode::PolicyViolated,
            Self::PushRefused { .. } => BlockCode::PushRefused,
            Self::SetUpNeeded { .. } => BlockCode::SetUpNeeded,
            Self::LedgerLost => BlockCode::LedgerLost,
            Self::EditedMeanwhile => BlockCode::EditedMeanwhile,
            Self::Rejected(_) => BlockCode::Rejected,
            Self::NoProgress { .. } => BlockCode::NoProgress,
            Self::RoundChangedNothing { .. } => BlockCode::RoundChangedNothing,
            Self::PersonPushed { .. } => BlockCode::PersonPushed,
            Self::RoundsUsedUp { .. } => BlockCode::RoundsUsedUp,
            Self::WorkerDied => BlockCode::WorkerDied,
        }
    }

    /// What happened.
    fn text(&self) -> String {
        match self {
            Self::Question { .. } => "The agent needs an answer before it can continue.".to_owned(),
            Self::ApprovalNeeded(proposed) => {
                format!("The agent wants to run an action of {} impact, which needs approval here.", proposed.impact)
            }
            Self::PlanProposed { plan, cost } => plan.proposed(*cost),
            Self::ChecksFailed { rounds, failed } => {
                format!("The checks still fail after {} of work.\n\n{}", count(*rounds, "round"), failed.list)
            }
            Self::RedBase { failed } => {
                format!("The base branch fails its own checks, so no agent was started.\n\n{}", failed.list)
            }
            Self::MergeConflict { base, files } => {
                let list = files.iter().take(ITEMS_SHOWN).map(|file| format!("\n- {file}"));
                format!(
                    "The branch conflicts with `{base}` in these files, and the agent did not resolve that:\n{}",
                    list.collect::<String>()
                )
            }
            Self::NoChanges { said } if said.trim().is_empty() => {
                "The agent changed no file, and did not say why.".to_owned()
            }
            Self::NoChanges { said } => sentence(&format!("The agent changed no file. It said: {}", said.trim())),
            Self::AgentFailed { failure } => sentence(&format!("The agent failed: {}", failure_line(failure))),
            Self::AttemptsUsedUp { attempts } => {
                format!("{} used up, the most that `limits.attempts` allows.", were(*attempts))
            }
            Self::AttemptsFailed { attempts, failure } => {
                let attempts = count(*attempts, "attempt");
                sentence(&format!(
                    "{attempts} failed, the most that `limits.attempts` allows. The last failure: {}",
                    failure_line(failure)
                ))
            }
            Self::ServiceDown { outage, failure } => down(outage, failure),
            Self::AttemptBudget { exhausted, setting, spent, bill } => format!(
                "The attempt's {exhausted} (`{setting}`) is used up: {spent}. The issue has spent {bill} so far."
            ),
            Self::IssueBudget { exhausted, bill, advice } => {
                format!("The issue's {exhausted} (`{}`) is used up. It has spent {bill} so far.", advice.from)
            }
            Self::PolicyViolated(violations) => {
                let list = violations.iter().take(ITEMS_SHOWN).map(|violation| format!("\n- {violation}"));
                format!("The change breaks rules and was not pushed:\n{}", list.collect::<String>())
            }
            Self::PushRefused { failure } => {
                let refused = sentence(&capitalized(failure));
                let advice = refused_push_advice(failure);
                advice.map_or(refused.clone(), |advice| format!("{refused}\n\n{}", sentence(&capitalized(&advice))))
            }
            Self::SetUpNeeded { failure } => sentence(&capitalized(failure)),
            Self::LedgerLost => "The ledger of this issue was deleted, and with it the reason why it is blocked and \
                                 what it has cost so far."
                .to_owned(),
            Self::EditedMeanwhile => {
                "The issue's title or body was edited after the work on it was authorized.".to_owned()
            }
            Self::Rejected(pull) => {
                format!("Pull request #{pull} was closed without a merge.")
            }
            Self::NoProgress { failure } => {
                let failure = failure_line(failure);
                sentence(&format!("Two attempts in a row failed in the same way on the same work: {failure}"))
            }
            Self::PersonPushed { author, commit, branch, .. } => {
                format!("{} pushed the commit {} to `{branch}`, so Hob stopped.", title(author, 80), commit.short())
            }
            Self::RoundChangedNothing { wanted, said } => {
                let said = if said.trim().is_empty() { String::new() } else { format!(". It said: {}", said.trim()) };
                sentence(&format!(
                    "The agent changed nothing in a round in review ({wanted}), so the same would fail again{said}"
                ))
            }
            Self::RoundsUsedUp { kind, limit, wanted } => rounds_used_up(*kind, *limit, wanted),
            Self::WorkerDied => "The worker that held this issue died.".to_owned(),
        }
    }

    /// The question to a person.
    fn question(&self) -> String {
        match self {
            Self::Question { question } => return question.clone(),
            Self::ApprovalNeeded(proposed) => {
                return format!("Do you approve this: {}?", code_span(&proposed.line));
            }
            Self::PlanProposed { plan, .. } if !plan.issues.is_empty() => "Should Hob open these issues?",
            Self::PlanProposed { .. } => "Should the agent follow this plan?",
            Self::ChecksFailed { .. } => "How should the agent fix the failed checks?",
            Self::RedBase { .. } => "Can you fix the base branch?",
            Self::MergeConflict { .. } => "Which side should be kept, and in which files?",
            Self::RoundChangedNothing { .. } => "What is the cause, or should this pull request not fix it?",
            Self::RoundsUsedUp { kind: RoundKind::Review, .. } => {
                "Should the agent continue with this review, or will you take over the branch?"
            }
            // Rounds for a base that moves are never used up.
            Self::RoundsUsedUp { kind: RoundKind::Checks | RoundKind::Base, .. } => "What makes these checks fail?",
            Self::NoChanges { .. } => "What should the agent change, if anything?",
            Self::AgentFailed { .. } => "What should the agent do differently, or what does it need?",
            Self::AttemptsUsedUp { .. } | Self::AttemptsFailed { .. } => {
                "Should Hob try again? An answer resets the count."
            }
            Self::ServiceDown { .. } => {
                "Should Hob try again now, or with another agent (`/hob agent NAME`)? No attempt was counted."
            }
            Self::AttemptBudget { setting, .. } => {
                return format!(
                    "Should Hob make another attempt? Only the operator of Hob can give attempts more (`{setting}`)."
                );
            }
            Self::IssueBudget { .. } => "Is the issue worth more, or will you do the rest by hand?",
            Self::PolicyViolated(_) => {
                "Can the issue be solved in another way? If the rule is wrong here, a person has to make this change."
            }
            Self::PushRefused { .. } | Self::SetUpNeeded { .. } => "Can you fix this and then let Hob try again?",
            Self::LedgerLost | Self::WorkerDied => "Should Hob continue?",
            Self::EditedMeanwhile => "Should Hob work on the current text?",
            Self::Rejected(_) | Self::NoProgress { .. } => "What should be done differently?",
            Self::PersonPushed { .. } => "Should Hob continue from the branch as it is now?",
        }
        .to_owned()
    }

    /// The reason as the ledger keeps it.
    pub fn blocked(&self, since: Timestamp) -> Blocked {
        let last = match self {
            Self::ChecksFailed { failed, .. } | Self::RedBase { failed } => failed.last.clone(),
            Self::AgentFailed { failure } | Self::AttemptsFailed { failure, .. } | Self::NoProgress { failure } => {
                failure_output(failure).into_iter().collect()
            }
            Self::Question { .. }
            | Self::ApprovalNeeded(_)
            | Self::PlanProposed { .. }
            | Self::MergeConflict { .. }
            | Self::NoChanges { .. }
            | Self::AttemptsUsedUp { .. }
            | Self::ServiceDown { .. }
            | Self::AttemptBudget { .. }
            | Self::IssueBudget { .. }
            | Self::PolicyViolated(_)
            | Self::PushRefused { .. }
            | Self::SetUpNeeded { .. }
            | Self::LedgerLost
            | Self::EditedMeanwhile
            | Self::Rejected(_)
            | Self::PersonPushed { .. }
            | Self::RoundChangedNothing { .. }
            | Self::RoundsUsedUp { .. }
            | Self::WorkerDied => Vec::new(),
        };
        Blocked {
            reason: self.code(),
            text: self.text(),
            question: self.question(),
            last,
            since,
            told: false,
            after: None,
        }
    }
}

/// A service that has failed for longer than the patience.
fn down(Outage { service, since, failures }: &Outage, failure: &str) -> String {
    let (since, times) = (since.format("%Y-%m-%d %H:%M UTC"), count(*failures, "time"));
    sentence(&format!(
        "{} has failed {times} in a row since {since}, for longer than `limits.patience` allows. The last failure: {}",
        capitalized(service),
        failure_line(failure)
    ))
}

/// The pull request has used up its rounds of this kind.
fn rounds_used_up(kind: RoundKind, limit: u32, wanted: &str) -> String {
    let (rounds, what) = (count(limit, "round"), kind.noun());
    sentence(&format!(
        "The pull request has had {rounds} for {what}, the most that `limits.rounds` allows. Now: {wanted}"
    ))
}

/// Attempts with their verb.
fn were(attempts: u32) -> String {
    format!("{} {}", count(attempts, "attempt"), if attempts == 1 { "is" } else { "are" })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{ConflictKind, Impact, plans::work_plan::tests::plan};

    /// One reason of each variant.
    pub(crate) fn every_reason() -> Vec<BlockReason> {
        let text = || "no route to host".to_owned();
        let line = "shell rm `x`\ny".to_owned();
        vec![
            BlockReason::Question { question: "UTC or local?".to_owned() },
            BlockReason::ApprovalNeeded(Proposed {
                tool: "shell".to_owned(),
                line,
                text: text(),
                impact: Impact::High,
            }),
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
            BlockReason::RoundsUsedUp { kind: RoundKind::Checks, limit: 2, wanted: text() },
        ]
    }

    fn failed() -> FailedChecks {
        let last = LastLines { command: "make test".to_owned(), lines: "error: '3 == 5'".to_owned() };
        FailedChecks { list: "`make test`: failed (exit code 1)".to_owned(), last: vec![last] }
    }

    fn spend(seconds: u64) -> Spend {
        Spend { wall_seconds: seconds, ..Spend::default() }
    }

    #[test]
    fn a_refused_push_names_the_setting_that_helps_on_a_line_of_its_own() {
        let failure =
            "the server refused the push to `hob/1-x`: remote: - Commits must have verified signatures.".to_owned();
        let text = BlockReason::PushRefused { failure: failure.clone() }.blocked(Timestamp::UNIX_EPOCH).text;
        let (said, advice) = text.split_once("\n\n").unwrap();
        assert_eq!(said, capitalized(&failure));
        assert!(advice.starts_with("A rule asks for signed commits: set `publish.signing`"), "{advice}");
        assert!(advice.ends_with('.'), "{advice}");
    }

    #[test]
    fn every_reason_gives_a_text_and_a_question() {
        let told: Vec<String> = every_reason()
            .iter()
            .map(|reason| {
                let Blocked { reason, text, question, .. } = reason.blocked(Timestamp::UNIX_EPOCH);
                let lines = text.lines().count();
                format!("{reason:?} | {} ({lines} lines) | {question}", text.lines().next().unwrap())
            })
            .collect();
        insta::assert_snapshot!(told.join("\n"), @"
        Question | The agent needs an answer before it can continue. (1 lines) | UTC or local?
        ApprovalNeeded | The agent wants to run an action of high impact, which needs approval here. (1 lines) | Do you approve this: `` shell rm `x` y ``?
        PlanProposed | The agent has a plan. Nothing is changed before it is approved. The work costs $4.88 at most, what is left of `budget.issue`. (1 lines) | Should the agent follow this plan?
        ChecksFailed | The checks still fail after 2 rounds of work. (3 lines) | How should the agent fix the failed checks?
        RedBase | The base branch fails its own checks, so no agent was started. (3 lines) | Can you fix the base branch?
        MergeConflict | The branch conflicts with `main` in these files, and the agent did not resolve that: (3 lines) | Which side should be kept, and in which files?
        NoChanges | The agent changed no file. It said: It is fine. (1 lines) | What should the agent change, if anything?
        RoundChangedNothing | The agent changed nothing in a round in review (the check `test` failed), so the same would fail again. It said: It is flaky. (1 lines) | What is the cause, or should this pull request not fix it?
        AgentFailed | The agent failed: no route to host. (1 lines) | What should the agent do differently, or what does it need?
        AttemptsUsedUp | 3 attempts are used up, the most that `limits.attempts` allows. (1 lines) | Should Hob try again? An answer resets the count.
        AttemptsFailed | 3 attempts failed, the most that `limits.attempts` allows. The last failure: no route to host. (1 lines) | Should Hob try again? An answer resets the count.
        AttemptBudget | The attempt's budget of $5.00 (`budget.attempt`) is used up: 1 s. The issue has spent 2 s so far. (1 lines) | Should Hob make another attempt? Only the operator of Hob can give attempts more (`budget.attempt`).
        IssueBudget | The issue's budget of $5.00 (`budget.issue`) is used up. It has spent 2 s so far. (1 lines) | Is the issue worth more, or will you do the rest by hand?
        PolicyViolated | The change breaks rules and was not pushed: (22 lines) | Can the issue be solved in another way? If the rule is wrong here, a person has to make this change.
        PushRefused | No route to host. (1 lines) | Can you fix this and then let Hob try again?
        SetUpNeeded | No route to host. (1 lines) | Can you fix this and then let Hob try again?
        LedgerLost | The ledger of this issue was deleted, and with it the reason why it is blocked and what it has cost so far. (1 lines) | Should Hob continue?
        EditedMeanwhile | The issue's title or body was edited after the work on it was authorized. (1 lines) | Should Hob work on the current text?
        Rejected | Pull request #9 was closed without a merge. (1 lines) | What should be done differently?
        NoProgress | Two attempts in a row failed in the same way on the same work: no route to host. (1 lines) | What should be done differently?
        ServiceDown | `anthropic/x` has failed 30 times in a row since 1970-01-01 00:00 UTC, for longer than `limits.patience` allows. The last failure: no route to host. (1 lines) | Should Hob try again now, or with another agent (`/hob agent NAME`)? No attempt was counted.
        PersonPushed | Ada 'skip ci' pushed the commit 0123456789 to `hob/1-x`, so Hob stopped. (1 lines) | Should Hob continue from the branch as it is now?
        WorkerDied | The worker that held this issue died. (1 lines) | Should Hob continue?
        RoundsUsedUp | The pull request has had 2 rounds for failed checks, the most that `limits.rounds` allows. Now: no route to host. (1 lines) | What makes these checks fail?
        ");
    }
}
