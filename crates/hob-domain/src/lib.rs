//! Pure rules: what the states are, who may claim, what comes next. No async, no I/O, no clock: `now` is passed in, so
//! every rule is a row of a table test. `hob-words` has what people read.
#![warn(clippy::wildcard_enum_match_arm)]

mod approval;
mod auto_agent;
mod change;
mod checklist;
mod conversation;
mod decide;
mod hand_off;
mod ids;
mod image;
pub mod investigation;
mod issue;
mod labels;
mod memory;
mod money;
mod outcomes;
mod plans;
mod profile;
mod project;
mod quote;
mod repository;
mod retry;
mod routing;
mod run;
mod state;
pub mod trace;
mod who_works;

pub use approval::{Ask, Impact, Proposed};
pub use auto_agent::{AUTO_AGENT, AutoIssue, auto_agent};
pub use change::{
    auto_merge::merges_itself,
    change_text::{ChangeText, is_declined},
    check_notes::{CheckNotes, failing, no_verdict, unseen},
    code_owners::code_owners,
    commit_identity::{CommitIdentity, noreply_email},
    commit_message::{
        InvalidTemplate, MadeBy, MessageRules, SignOff, Trailer, change_in, check_template, commit_message,
        has_sign_off_of, signed_off,
    },
    conflict::{Conflict, ConflictKind},
    denied::denied_advice,
    diff::{ChangeKind, Diff, FileChange, FileMode, LinkOut, SecretFound, shown_path},
    envelope::{Envelope, EnvelopeSignature, PAYLOAD_TYPE, Proof, UnreadableProof, envelope_signature},
    evidence::{CheckExit, CheckResult, CheckRun, CheckTally, Evidence, Verdict},
    failed_checks::{FailedChecks, LastLines, exit_word, failed_checks},
    finding::{Finding, FindingSeverity},
    left_out::{LeftOut, WhyLeftOut, left_out},
    notable::{Advisory, Dependencies, DependencyChange, Emptied, Notable, Sweeping, Undone},
    persons_commit::PersonsCommit,
    policy::{DiffPolicy, HobFiles, InvalidGlob, Violation, refused_changes},
    proof_status::{PROOF_CONTEXT, ProofAsked, ProofState, ProofStatus},
    pull_log::{ACTOR, BaseChoice, BaseSource, DraftLog, Introduced, PullLog, Reviewers},
    push_refused::{branch_in_the_way, folders_of, refused_push_advice},
    push_rules::{Pattern, PatternOperator, PushPlan, PushRule, Signs},
    rate::Rate,
    reruns::{RunDifference, RunName, run_differences},
    review::{
        Due, EventAnswer, ForgeCheck, ForgeCheckState, MergeState, PullFacts, ReviewEvent, ReviewLog, ReviewRules,
        RoundKind, Said, due, events_in_words,
    },
    run_unasked::run_unasked,
    sha256::Sha256Hex,
    shown::{Closeness, Names, NeedUnknown, NotMade, Shown, Strength, Word},
    slug::branch_for,
    stated_runs::{RunEnd, RunMade, RunResult, StatedCheck, StatedRun, StatedRuns, StatedTests},
    statement::{
        Predicate, StatedCost, StatedEnvironment, Statement, UnreadableStatement, WorkRequest, brief_reason,
        shown_briefly,
    },
    test_results::{TestEnd, TestResults},
    verified::{Misfit, StatedOf, misfits},
    workflow_split::{NotSplit, Workflows, split_workflow},
};
pub use checklist::{Checklist, ChecklistStep, StepState};
pub use conversation::{
    agent_words::named_in_words,
    command::{
        Asked, AskedInReview, Command, EDITED_REPLY, asked_in, asked_in_review, asked_work, command_in, command_list,
        unknown_command_reply,
    },
    command_log::{AskedSignOff, ChosenAgent, CommandLog, CommandVerdict, Receipt, SetBudget},
    message::{Message, MessageTrust, Seeks},
    named_numbers::named_numbers,
    said_in::{SaidId, SaidIn},
    trust::{
        AccountKind, Actor, LabelEvent, LabelEventKind, Permission, TrustRules, Unauthorized, approved_hash,
        is_approved, latest,
    },
};
pub use decide::{
    assignee::AssigneeFilter,
    others_work::{Assignment, ClosingPull, OthersWork, asks_others, assigned_work, linked_work},
    plan::{
        Action, Decision, PlanRules, Planned, SEEN_MAX, decide, may_have_words, plan, plan_chosen, unseen_in_review,
    },
    snapshot::{IssueStatus, IssueView, PullStatus, Snapshot},
    wait::WaitReason,
};
pub use hand_off::{
    CHAIN_MAX, ChainEnd, ChainLink, HandOff, HandOffLog, HandOffTarget, PassedOn, Received, RefusedHandOff,
    write_targets,
};
pub use ids::{
    ActionMark, CommentId, EventId, Generation, InvalidRepoName, IssueNumber, Login, Nonce, OWN_MARK, PullNumber,
    RepoName, RunId, Sha, Timestamp, WorkerId,
};
pub use image::{IMAGE_BYTES_MAX, IMAGES_MAX, Image, InvalidImage, images_in, may_show_images};
pub use issue::{
    answer::{approval_text, approval_words, plan_approval_text},
    audit::{Audited, Deed, audited},
    block_code::{BlockCode, BlockKind},
    blocked::{BlockReason, Blocked},
    control::{Control, Controlled, Pause, Request},
    ending::{ClosedAs, Ending, StopDeed},
    failure_words::failure_line,
    follow::{concerns, follow},
    following::{FollowRules, Following, PlainComments},
    label_fights::{LabelFight, LabelFights, OthersDo},
    lease::{Claimant, Held, Lost, acquire, counted, first_record, held_by, released, remaining, renewed, still_mine},
    notify_event::NotifyEvent,
    notify_rules::{NotifyRules, to_notify},
    outage::{Outage, Outages, ServiceOutage},
    persons_work::{PersonsWork, WithPeople},
    record::{Answer, RECORD_VERSION, Record, Refusal, Trigger},
    record_message::{UnreadableRecord, UnwritableRecord},
    record_parts::{
        Approval, AskedComment, Attempts, AutoChoice, Branch, Failure, Lease, OwnComments, Since, Taught, Work,
        WorkedBy,
    },
    reply::{JoinedWords, Reply, ReplyEffect, joined_with, reply_of},
    status_rules::StatusRules,
    stopped::Stopped,
    traces::Traces,
    transition::{AfterBudget, Illegal, Note, Transition, apply},
    unblocking::{ApprovalGrant, Unblocking},
    unwritten::UnwrittenSpend,
};
pub use labels::{LabelChange, LabelNames, LabelSpec, has_label};
pub use memory::{
    AGENTS_FILES, Correction, Corrections, FACTS_MAX, Fact, Lesson, LessonKind, Lessons, LineProposal, MEMORY_BYTES,
    Memory, Remark, Remarks, TestCommand, correction_line, proposal_body, proposal_branch, proposal_title,
    with_correction,
};
pub use money::{
    budget::{Allowance, Budget, BudgetAdvice, Budgets, Exhausted},
    day_share::DayShare,
    spend::{Spend, dollars},
    usd::{UnreadableAmount, usd_micros},
};
pub use outcomes::{
    bill::{bill_of, quote_for},
    outcome::{IssueOutcome, OutcomeKind},
    step_figures::{AttemptFate, StepFigures},
    sums::{OutcomeGroup, Outcomes, by_group},
    trial::AgentTrial,
};
pub use plans::{
    plan_text::CostLimit,
    plan_words::NoPlan,
    sub_issues::{
        SUB_ISSUE_MARK, SUB_ISSUES_MAX, SubIssue, opened_sub_issues, short_mark, sub_issue_body, sub_issue_mark,
        sub_issue_title,
    },
    work_plan::{FILES_MAX, PlanFirst, PlanLog, QUESTIONS_MAX, STEPS_MAX, WorkPlan},
};
pub use profile::{
    Bounds, Case, Catalog, CatalogEntry, Deliverable, ErrorPattern, Gate, InvalidPattern, InvalidProfileName,
    InvalidStateName, Matches, Narrowed, PROFILE_MAX, Parsed, PathGlobs, Problem, Profile, ProfileFile, ProfileFiles,
    ProfileLimits, ProfileName, ProfileOrigin, ProfileQuestion, ProfileSource, ProfileState, Severity, Standing,
    StateName, Unread, allowed_model, is_profile_file, name_of_file as name_of_profile_file, parse as parse_profile,
    ready_profiles,
};
pub use project::{ProjectFiles, Proposal, SetUpHosts, host_files, manifests, proposal, proposed_set_up};
pub use quote::{BILLS_MAX, Bill, Bills, IssueKind, Quote};
pub use repository::{
    dashboard::{
        Act, ActBox, DASHBOARD_MARK, DASHBOARD_TITLE, DRAW_INTERVAL, DaySpend, Drawn, RefusedTick, body_digest, boxes,
        normalized, ticked,
    },
    durations::{Durations, Latest, Percentiles, TIMES_KEPT},
    finished_list::FinishedList,
    flakes::{BaseRates, FLAKES_BYTES, FLAKES_MAX, Flake, FlakeName, Flakes},
    poll::{error_pause, poll_pause, until_due},
    record::{
        AttemptCost, DayBill, Full, Headroom, RepositoryRecord, RepositoryRules, Reservation, close_reservation,
        day_left, headroom, hour_room, reserve, spend_by_day,
    },
    shared_settings::{SettingsInUse, SharedSettings},
};
pub use retry::{FailureClass, failure_mark};
pub use routing::{
    Candidate, ChosenBy, Claim, Evaluation, FailedLoads, GateResult, Judged, Latency, Likeness, Missed, ModelAnswer,
    QUESTION_SYSTEM, RouteChoice, RoutedText, Router, Routing, RoutingOverview, RoutingRules, Scored, decide_agent,
    evaluate, missed, routing_is_off, routing_overview,
};
pub use run::{Outcome, Progress, RunPurpose, RunReport, RunRequest, Strain};
pub use state::{Recovery, State};
pub use trace::{TRACED, trace_id};
pub use who_works::{
    Brings, Cause, Choice, Claims, Named, PersonalChoice, RouterInput, Unusable, Works, model_question,
    profile_warning, who_works,
};
