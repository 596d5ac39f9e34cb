//! Pure rules: what the states are, who may claim, what comes next, what people read. No async, no I/O, no clock:
//! `now` is passed in, so every rule is a row of a table test.
#![warn(clippy::wildcard_enum_match_arm)]

mod agent_words;
mod approval;
mod assignee;
mod blocked;
mod brief;
mod budget;
mod change;
mod change_text;
mod checklist;
mod code_owners;
mod command;
mod command_log;
mod commit_identity;
mod commit_message;
mod conflict;
mod dashboard;
mod dashboard_profiles;
mod dashboard_text;
mod dashboard_times;
mod day_share;
mod denied;
mod durations;
mod effect;
mod ending;
mod evidence;
mod explanation;
mod failed_checks;
mod follow;
mod hand_over;
mod house;
mod ids;
mod image;
mod inert;
pub mod investigation;
mod job_log;
mod label_fights;
mod labels;
mod lease;
mod left_out;
mod markup;
mod memory;
mod notification;
mod notify_event;
mod outage;
mod plan;
mod plan_approval;
mod plan_text;
mod plan_words;
mod policy;
mod poll;
mod profile;
mod profile_brief;
mod project;
mod pull_report;
mod pull_template;
mod push_refused;
mod push_rules;
mod question;
mod record;
mod redaction;
mod rendered;
mod report;
mod report_comment;
mod repository;
mod retry;
mod review;
mod review_text;
mod routing;
mod run;
mod run_unasked;
mod second_look;
mod secrets;
mod slug;
mod snapshot;
mod spend;
mod state;
mod statement;
mod sub_issues;
mod text;
mod transition;
mod trust;
mod usd;
mod wait;
mod ways;
mod work_plan;
mod workflow_split;
mod yaml;

pub use agent_words::named_in_words;
pub use approval::{Ask, Impact, Proposed};
pub use assignee::AssigneeFilter;
pub use blocked::{BlockKind, BlockReason, Blocked};
pub use brief::{BriefParts, brief, investigation_brief};
pub use budget::{Allowance, Budget, BudgetAdvice, Budgets, Exhausted};
pub use change::{ChangeKind, Diff, FileChange, FileMode, LinkOut, SecretFound, shown_path};
pub use change_text::{ChangeText, is_declined};
pub use checklist::{Checklist, ChecklistStep, StepState};
pub use code_owners::code_owners;
pub use command::{
    Asked, AskedInReview, Command, EDITED_REPLY, asked_in, asked_in_review, asked_work, command_in, command_list,
    unknown_command, unknown_command_reply,
};
pub use command_log::{ChosenAgent, CommandLog, CommandVerdict, Receipt, SetBudget};
pub use commit_identity::{CommitIdentity, noreply_email};
pub use commit_message::{InvalidTemplate, MessageRules, change_in, check_template, commit_message, signed_off};
pub use conflict::{Conflict, ConflictKind};
pub use dashboard::{
    Act, ActBox, DASHBOARD_MARK, DASHBOARD_TITLE, DRAW_INTERVAL, DaySpend, Drawn, RefusedTick, body_digest, boxes,
    normalized, ticked,
};
pub use dashboard_text::{Board, dashboard_text};
pub use denied::denied_advice;
pub use durations::{Durations, Latest, Percentiles, TIMES_KEPT};
pub use ending::Ending;
pub use evidence::{CheckExit, CheckResult, CheckRun, CheckTally, Evidence, Verdict};
pub use explanation::explanation;
pub use failed_checks::{FailedChecks, LastLines, failed_checks};
pub use follow::{FollowRules, GivenCommand, follow};
pub use hand_over::{
    CHAIN_MAX, ChainEnd, ChainLink, HandOver, HandOverLog, HandOverTarget, PassedOn, Received, RefusedHandOver,
};
pub use house::{BaseChoice, BaseSource, DraftLog, HouseLog, Introduced, Reviewers};
pub use ids::{
    ActionMark, CommentId, EventId, Generation, InvalidRepoName, IssueNumber, Login, Nonce, PullNumber, RepoName,
    RunId, Sha, Timestamp, WorkerId,
};
pub use image::{IMAGE_BYTES_MAX, IMAGES_MAX, Image, InvalidImage, images_in, may_show_images};
pub use inert::{inert, inert_line};
pub use job_log::failing_part;
pub use label_fights::{LabelFight, LabelFights, OthersDo};
pub use labels::{LabelChange, LabelNames, LabelSpec, has_label};
pub use lease::{Claimant, Held, Lost, acquire, expires_at, held_by, released, remaining, renewed, still_mine};
pub use left_out::{LeftOut, WhyLeftOut, left_out};
pub use markup::count;
pub use memory::{
    AGENTS_FILES, Correction, Corrections, FACTS_MAX, Fact, Lesson, LessonKind, Lessons, LineProposal, MEMORY_BYTES,
    Memory, Remark, Remarks, TestCommand, correction_line, proposal_body, proposal_branch, proposal_title,
    with_correction,
};
pub use notification::{Notification, NotifyRules, to_notify};
pub use notify_event::{Entered, NotifyEvent};
pub use outage::{Outage, Outages, ServiceOutage};
pub use plan::{Action, Decision, PlanRules, Planned, decide, plan, plan_chosen};
pub use plan_text::{CostLimit, PlanBrief};
pub use plan_words::NoPlan;
pub use policy::{DiffPolicy, HobFiles, InvalidGlob, Violation};
pub use poll::{error_pause, poll_pause, until_due};
pub use profile::{
    Bounds, Case, Catalog, CatalogEntry, Deliverable, ErrorPattern, Gate, InvalidProfileName, InvalidStateName,
    Matches, Narrowed, PROFILE_MAX, Parsed, PathGlobs, Problem, Profile, ProfileFile, ProfileFiles, ProfileLimits,
    ProfileName, ProfileOrigin, ProfileQuestion, ProfileSource, ProfileState, Severity, Standing, StateName,
    allowed_model, is_profile_file, name_of_file as name_of_profile_file, parse as parse_profile, ready_profiles,
};
pub use profile_brief::profile_brief;
pub use project::{ProjectFiles, Proposal, SetUpHosts, host_files, manifests, proposal, proposed_set_up};
pub use pull_report::{MovedBase, PullReport, evidence_table, pull_body};
pub use pull_template::{PullTemplate, SignOff, TEMPLATE_MAX};
pub use push_refused::{branch_in_the_way, folders_of, refused_push_advice};
pub use push_rules::{Pattern, PatternOperator, PushPlan, PushRule, Signs};
pub use question::{question_body, question_mark};
pub use record::{
    Answer, Control, Holder, Pause, RECORD_VERSION, Record, Refusal, Request, Trigger, UnreadableRecord,
    UnwritableRecord,
};
pub use redaction::{KnownSecrets, Redaction};
pub use rendered::rendered;
pub use report::{OWN_MARK, STATUS_MARK, StatusRules, reply_body, reply_mark, status_body};
pub use report_comment::{report_comment, report_mark, report_of, split_mark};
pub use repository::{
    DayShare, Full, Headroom, RepositoryRecord, RepositoryRules, Reservation, close_reservation, day_left, headroom,
    hour_room, reserve, spend_by_day,
};
pub use retry::{FailureClass, failure_mark};
pub use review::{
    CheckNotes, EventAnswer, ForgeCheck, ForgeCheckState, MergeState, PullFacts, ReviewEvent, ReviewLog, ReviewRules,
    RoundKind, Said, due, events_in_words, failing, no_verdict, unseen,
};
pub use review_text::{
    FailedForgeCheck, LineComment, ReviewBrief, ThreadBrief, answer_body, answered_by, answered_event,
};
pub use routing::{
    Candidate, ChosenBy, Claims, Evaluation, FailedLoads, GateResult, Judged, Latency, Likeness, Missed,
    QUESTION_SYSTEM, RouteChoice, RoutedText, Router, Routing, RoutingOverview, RoutingRules, Scored, decide_agent,
    evaluate, missed, routing_is_off, routing_overview,
};
pub use run::{Outcome, Progress, RunPurpose, RunReport, RunRequest};
pub use run_unasked::run_unasked;
pub use second_look::{
    FINDINGS_MAX, Finding, FindingSeverity, Findings, Judgement, LOOK_ROUNDS, LookParts, ReviewCase, ReviewScore,
    SecondLook, SeededDefect, UnreadableFindings, look_allowance, look_brief,
};
pub use secrets::{SecretKind, secrets_in, without_tokens};
pub use slug::branch_for;
pub use snapshot::{IssueStatus, IssueView, PullStatus, Snapshot};
pub use spend::{Spend, dollars};
pub use state::{Recovery, State};
pub use statement::{Checked, CheckedOnce, Proof, STATEMENT_VERSION, Statement};
pub use sub_issues::{SUB_ISSUE_MARK, SubIssue, opened_sub_issues, sub_issue_body, sub_issue_mark, sub_issue_title};
pub use text::{clip, quiet, terminal, title, visible};
pub use transition::{AfterBudget, ApprovalGrant, Illegal, Note, Traces, Transition, Unblocking, apply};
pub use trust::{AccountKind, Actor, LabelEvent, LabelEventKind, Permission, TrustRules, approved_hash, latest};
pub use usd::{UnreadableAmount, usd_micros};
pub use wait::WaitReason;
pub use work_plan::{PlanFirst, PlanLog, WorkPlan};
pub use workflow_split::{NotSplit, Workflows, split_workflow};
