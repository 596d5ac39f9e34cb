//! Investigations: runs whose deliverable is a conclusion with evidence, without a change.
//!
//! - Flow: [`open()`] starts a record from a case, or continues one that was kept; each action of the agent goes
//!   through [`apply()`], which makes the next record or refuses; [`report()`] is the comment at the end, with any
//!   ending.
//! - Guarantees: every answer and verdict names evidence in the record. A state is entered only if its gate holds, and
//!   a conclusion is accepted only while the gate of the last state holds. A record with a conclusion no longer
//!   changes.
//! - Caveats: only the agent says that the evidence supports its conclusions; the report shows both.

mod action;
mod apply;
mod brief;
mod case;
mod form;
mod form_answers;
mod gate;
mod ids;
mod iteration;
mod missing;
mod open;
mod progress;
mod record;
mod report;
mod same;
mod template;

pub use action::{CaseAction, CaseStep, Grounds, UnreadableAction, Verdict};
pub use apply::{Refused, apply};
pub use brief::case_brief;
pub use case::{Case, Given};
pub use form::{FieldKind, FormField, IssueForm, UnreadableForm};
pub use form_answers::{FormAnswer, form_answers, form_of};
pub use gate::{CaseState, Condition, default_states};
pub use ids::{EvidenceId, HypothesisId, QuestionId};
pub use iteration::{Allowed, Iteration};
pub use open::{Opened, open};
pub use progress::CaseProgress;
pub use record::{
    Answered, CaseStatus, Conclusion, Confidence, DamagedRecord, EvidenceItem, EvidenceKind, EvidenceRequest,
    Hypothesis, Investigation, Metrics, NextWork, Question, RECORD_VERSION, Standing, UnreadableInvestigation,
};
pub use report::{REPORT_MARK, next_left, next_profile, report};
pub use template::{CaseTemplate, Personality, QuestionTemplate};
