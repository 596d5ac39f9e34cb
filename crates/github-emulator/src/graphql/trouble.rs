//! The mood `queries`: failed answers, before the query ran or after a mutation had its effect.

use async_graphql_parser::types::OperationType;
use http::StatusCode;
use serde_json::json;

use super::super::{
    call::{Call, Reply},
    moods::Mood,
};
use crate::names::Login;

/// GitHub's message about a query that took too long, without the id of the request.
/// gitkraken/vscode-gitlens#3298 has it in full.
const TIMEOUT: &str = "Something went wrong while executing your query. This may be the result of a timeout, or it could be a \
                       GitHub bug. Please include `";

/// The trouble of a query.
#[derive(Debug, Clone)]
pub(super) struct Trouble {
    kind: Kind,
    request: String,
    who: String,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Timeout,
    BadGateway,
    RateLimited,
    /// Only a mutation has one.
    BadGatewayAfter,
}

impl Trouble {
    /// The trouble of this operation, if any.
    pub(super) fn drawn(call: &Call, operation: &str, ty: OperationType) -> Option<Self> {
        let who = call.caller.as_ref().map_or("", Login::as_str);
        let draw = call.forge.temper.hits(Mood::Queries, &format!("{who} {operation}"))?;
        let kind = match ty {
            OperationType::Mutation => {
                draw.among(&[Kind::Timeout, Kind::BadGateway, Kind::RateLimited, Kind::BadGatewayAfter])
            }
            OperationType::Query | OperationType::Subscription => {
                draw.among(&[Kind::Timeout, Kind::BadGateway, Kind::RateLimited])
            }
        };
        let request = format!("{:04X}:0001:{:X}", call.forge.next_id(), call.now.timestamp());
        Some(Self { kind: kind?, request, who: who.to_owned() })
    }

    /// The answer in place of running it.
    pub(super) fn before(&self) -> Option<Reply> {
        match self.kind {
            Kind::Timeout => Some(self.timeout(StatusCode::OK)),
            Kind::BadGateway => Some(self.timeout(StatusCode::BAD_GATEWAY)),
            Kind::RateLimited => {
                let message = format!("API rate limit exceeded for user {}.", self.who);
                Some(Reply::ok(json!({"errors": [{"type": "RATE_LIMITED", "message": message}]})))
            }
            Kind::BadGatewayAfter => None,
        }
    }

    /// The answer in place of its own, once it has run.
    pub(super) fn after(&self) -> Option<Reply> {
        match self.kind {
            Kind::BadGatewayAfter => Some(self.timeout(StatusCode::BAD_GATEWAY)),
            Kind::Timeout | Kind::BadGateway | Kind::RateLimited => None,
        }
    }

    fn timeout(&self, status: StatusCode) -> Reply {
        let message = format!("{TIMEOUT}{}` when reporting this issue.", self.request);
        Reply::json(status, json!({"data": null, "errors": [{"message": message}]}))
    }
}
