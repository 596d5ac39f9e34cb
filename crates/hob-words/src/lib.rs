//! What people and agents read: comments, pull requests, notifications, the dashboard, briefs. Pure: a record and the
//! facts in, a text out. The rules are in `hob-domain`, and hostile text is made harmless by `hob-text`.

mod age;
mod answer_options;
mod answered;
mod brief;
mod closed_issue;
mod dashboard_profiles;
mod dashboard_text;
mod dashboard_times;
mod explanation;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod issue_bodies;
mod issue_page;
mod named_issue;
mod notable_words;
mod notification;
mod own_links;
mod persons_commits;
mod plan_brief;
mod profile_brief;
mod proof_answer;
mod pull_report;
mod pull_template;
mod question;
mod question_on_pull;
mod report;
mod report_comment;
mod review_text;
mod reviewer;
mod round_answers;
mod shown_words;

pub use age::age;
pub use answer_options::how_to_answer;
pub use brief::{BriefParts, brief, investigation_brief};
pub use closed_issue::{CLOSED_MARK, LeftPull, closed_issue_body};
pub use dashboard_text::{Board, dashboard_text};
pub use explanation::explanation;
pub use issue_page::said_meanwhile;
pub use named_issue::NamedIssue;
pub use notable_words::{for_the_agent, nothing_first, undone_first};
pub use notification::Notification;
pub use plan_brief::PlanBrief;
pub use profile_brief::profile_brief;
pub use proof_answer::{no_proof_answer, proof_answer};
pub use pull_report::{MovedBase, PullReport, evidence_table, pull_body};
pub use pull_template::{PullTemplate, TEMPLATE_MAX};
pub use question::{closed_question_body, question_body, question_mark};
pub use question_on_pull::{AskedFor, AskedOnPull, question_on_pull};
pub use report::{STATUS_MARK, chosen_by_outcomes, likely_cost, reply_body, reply_mark, status_body};
pub use report_comment::{report_comment, report_mark, report_of, split_mark};
pub use review_text::{FailedForgeCheck, LineComment, ReviewBrief, ThreadBrief, answered_by, answered_events};
pub use reviewer::{
    FINDINGS_MAX, Findings, Judgement, REVIEWER_ROUNDS, ReviewCase, ReviewScore, ReviewerParts, ReviewerReport,
    SeededDefect, UnreadableFindings, reviewer_allowance, reviewer_brief,
};
pub use round_answers::{round_answers, told_first};
pub use shown_words::{status_line, word_of};
