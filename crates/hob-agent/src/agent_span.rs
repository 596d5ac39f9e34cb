//! The span of an agent's run for traces.

use hob_domain::{
    Outcome, RunReport, RunRequest, TRACED,
    trace::{billed, failed},
};
use tracing::{Span, field::Empty, info_span};

use crate::{
    AgentBackend, AgentError,
    traced::{model_of, provider},
};

/// The span of a run of `agent`, which is known as `name`.
pub(crate) fn agent_span(name: &str, agent: &dyn AgentBackend, request: &RunRequest) -> Span {
    let model = || agent.model(request.candidate);
    info_span!(
        target: TRACED,
        "invoke_agent",
        otel.name = format!("invoke_agent {name}"),
        otel.kind = "internal",
        otel.status_code = Empty,
        "error.type" = Empty,
        gen_ai.operation.name = "invoke_agent",
        gen_ai.agent.name = name,
        gen_ai.conversation.id = request.session.as_str(),
        gen_ai.provider.name = model().and_then(|model| provider(&model)),
        gen_ai.request.model = model().map(|model| model_of(&model).to_owned()),
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        hob.cost.usd = Empty,
        hob.run.id = request.run.as_str(),
        hob.run.purpose = request.purpose.name(),
        hob.run.outcome = Empty,
    )
}

/// Notes how the run ended.
pub(crate) fn agent_ended(span: &Span, report: &Result<RunReport, AgentError>) {
    let failure = match report {
        Ok(RunReport { outcome, spend }) => {
            billed(span, spend);
            span.record("hob.run.outcome", outcome_of(outcome));
            match outcome {
                Outcome::Failed { failure, .. } => Some(failure),
                Outcome::Done { .. }
                | Outcome::NothingToDo { .. }
                | Outcome::Question { .. }
                | Outcome::ApprovalNeeded { .. }
                | Outcome::HandOff(_) => None,
            }
        }
        Err(error) => Some(&error.failure),
    };
    if let Some(failure) = failure {
        failed(span, failure.name());
    }
}

fn outcome_of(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Done { .. } => "done",
        Outcome::NothingToDo { .. } => "nothing_to_do",
        Outcome::Question { .. } => "question",
        Outcome::ApprovalNeeded { .. } => "approval_needed",
        Outcome::HandOff(_) => "hand_off",
        Outcome::Failed { .. } => "failed",
    }
}
