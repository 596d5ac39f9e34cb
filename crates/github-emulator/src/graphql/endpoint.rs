//! `/api/graphql`: one request, from the body to the answer.
//!
//! # Flow
//! A query is read from one state under its lock. A mutation's fields run in order, each through the REST endpoints
//! that it corresponds to, with their rights, events and webhooks; then the answer is selected from the state after it.
//! A refused field is `null` with an entry in `errors`, and the next one runs all the same, as on GitHub.

use std::sync::OnceLock;

use async_graphql_parser::{
    Positioned, parse_query,
    types::{DocumentOperations, ExecutableDocument, OperationDefinition, OperationType, SelectionSet},
};
use async_graphql_value::{ConstValue, Name, indexmap::IndexMap};
use http::{Method, StatusCode};
use serde_json::{Map, Value, json};

use super::{
    super::{
        call::{Answer, Call, Reply},
        envelope::GRAPHQL,
        meter::Payer,
        moods::Mood,
        points::Cost,
        refusal::Refusal,
        route::{Route, get, post},
    },
    execute::Run,
    introspect, mutations,
    object::At,
    problem::Problem,
    schema::{InvalidSchema, Schema},
    trouble::Trouble,
    types,
    validate::validate,
    values::coerce,
};
use crate::names::Login;

/// The longest query, in bytes.
const QUERY_MAX: usize = 1 << 20;

/// The most fragments of a query: nested fragments recurse.
const FRAGMENTS_MAX: usize = 200;

/// The length to which a query without a name is cut to name it.
const NAME_MAX: usize = 200;

/// The endpoint, beside the REST API.
pub(in super::super) const ROUTES: &[Route] = &[get(GRAPHQL, introspection), post(GRAPHQL, answer)];

/// The schema of this forge.
fn schema() -> Result<&'static Schema, Refusal> {
    static SCHEMA: OnceLock<Result<Schema, InvalidSchema>> = OnceLock::new();
    let texts =
        || types::DESCRIPTIONS.iter().copied().chain(mutations::descriptions()).chain([introspect::DESCRIPTION]);
    SCHEMA.get_or_init(|| Schema::read(texts())).as_ref().map_err(Refusal::internal)
}

/// The answer to a GET: the names of all types, a part of the introspection.
fn introspection(call: &Call) -> Answer {
    let query = "{ __schema { queryType { name } mutationType { name } types { kind name } } }";
    run(call, &json!({ "query": query }))
}

fn answer(call: &Call) -> Answer {
    let body: Value = serde_json::from_slice(&call.body)
        .map_err(|_| Refusal::new(StatusCode::BAD_REQUEST, "Problems parsing JSON"))?;
    if !body.is_object() {
        return Err(Refusal::new(StatusCode::BAD_REQUEST, "Body should be a JSON object"));
    }
    run(call, &body)
}

fn run(call: &Call, body: &Value) -> Answer {
    if call.caller.is_none() {
        return Err(Refusal::new(StatusCode::UNAUTHORIZED, "This endpoint requires you to be authenticated."));
    }
    let Some(query) = body["query"].as_str().filter(|query| query.len() <= QUERY_MAX) else {
        return Ok(refused(&[Problem::new(
            "ARGUMENT_ERROR",
            "A query attribute must be specified and must be a string.",
        )]));
    };
    let document = match parse_query(query) {
        Ok(document) => document,
        Err(error) => {
            let at = error.positions().next().unwrap_or_default();
            return Ok(refused(&[Problem::query("parseError", error.to_string(), at, &[])]));
        }
    };
    let ExecutableDocument { operations, fragments } = &document;
    let (name, operation) = match chosen(operations, body["operationName"].as_str()) {
        Ok(chosen) => chosen,
        Err(problem) => return Ok(refused(&[problem])),
    };
    if fragments.len() > FRAGMENTS_MAX {
        let message = format!("A query has at most {FRAGMENTS_MAX} fragments.");
        return Ok(refused(&[Problem::new("ARGUMENT_LIMIT", message)]));
    }
    let schema = schema()?;
    let problems = validate(schema, name, operation, fragments);
    if !problems.is_empty() {
        return Ok(refused(&problems));
    }
    let variables = match variables(schema, &operation.node, &body["variables"]) {
        Ok(variables) => variables,
        Err(problems) => return Ok(refused(&problems)),
    };
    pay(call, operation.node.ty)?;
    let named = name.map_or_else(|| query.chars().take(NAME_MAX).collect(), ToString::to_string);
    let trouble = Trouble::drawn(call, &named, operation.node.ty);
    if let Some(answer) = trouble.as_ref().and_then(Trouble::before) {
        return Ok(answer);
    }
    let run = Run::new(schema, fragments, variables);
    let set = &operation.node.selection_set.node;
    let data = match operation.node.ty {
        OperationType::Mutation => {
            let payer = call.caller.as_ref().map(|login| Payer::account(login, call.token, GRAPHQL));
            if !call.forge.meter.admits(&Method::POST, payer.as_ref(), call.now) {
                return Err(Refusal::new(StatusCode::FORBIDDEN, "You have exceeded a secondary rate limit."));
            }
            Some(mutate(call, &run, set))
        }
        OperationType::Query | OperationType::Subscription => {
            let state = call.state();
            let at = At { call, state: &state, find: types::find };
            run.query(&at, &types::Query, set)
        }
    };
    Ok(trouble.as_ref().and_then(Trouble::after).unwrap_or_else(|| whole(data.as_ref(), &run.problems())))
}

/// Charges an operation's cost to the secondary limits, if they are among the moods.
///
/// # Errors
/// 403 if one is reached.
fn pay(call: &Call, ty: OperationType) -> Result<(), Refusal> {
    let cost = match ty {
        OperationType::Mutation => Cost::mutation(),
        OperationType::Query | OperationType::Subscription => Cost::query(),
    };
    let who = call.caller.as_ref().map_or("", Login::as_str);
    let is_admitted = !call.forge.temper.is(Mood::Points) || call.forge.points.pay(who, &cost, call.now);
    if is_admitted { Ok(()) } else { Err(Refusal::too_fast()) }
}

/// Runs the fields of a mutation in order, each over the state that the one before it left.
fn mutate<'q>(call: &Call, run: &Run<'q>, set: &'q SelectionSet) -> ConstValue {
    let mut fields = IndexMap::new();
    for (key, all) in run.mutations(set) {
        let Some(asked) = all.first() else { continue };
        let name = asked.node.name.node.as_str();
        let field = run.schema.field("Mutation", name);
        let args = field.map_or_else(|| Ok(super::object::Args::default()), |field| run.args(field, &asked.node));
        let done = args.and_then(|args| mutations::run(call, name, &args.input("input").unwrap_or_default()));
        let state = call.state();
        let at = At { call, state: &state, find: types::find };
        let value = match name {
            "__typename" => ConstValue::from("Mutation"),
            _ => run.done(&at, key, &all, done.map(|payload| payload.shown(&at))),
        };
        fields.insert(Name::new(key), value);
    }
    ConstValue::Object(fields)
}

/// The operation to run.
fn chosen<'d>(
    operations: &'d DocumentOperations,
    wanted: Option<&str>,
) -> Result<(Option<&'d Name>, &'d Positioned<OperationDefinition>), Problem> {
    let mut all = operations.iter();
    let found = match wanted.filter(|name| !name.is_empty()) {
        // A document of one operation is kept without its name.
        Some(_) if matches!(operations, DocumentOperations::Single(_)) => all.next(),
        Some(name) => all.find(|(known, _)| known.is_some_and(|known| known.as_str() == name)),
        None if operations.iter().count() == 1 => all.next(),
        None => None,
    };
    found.ok_or_else(|| match wanted {
        Some(name) => Problem::new("ARGUMENT_ERROR", format!("No operation named \"{name}\"")),
        None => Problem::new("ARGUMENT_ERROR", "An operation name is required"),
    })
}

/// The variables of an operation, checked and with their defaults.
fn variables(
    schema: &Schema,
    operation: &OperationDefinition,
    sent: &Value,
) -> Result<Map<String, Value>, Vec<Problem>> {
    let (mut known, mut problems) = (Map::new(), Vec::new());
    for variable in &operation.variable_definitions {
        let (name, ty) = (variable.node.name.node.as_str(), &variable.node.var_type.node);
        let default = variable.node.default_value.as_ref().and_then(|value| value.node.clone().into_json().ok());
        let value = sent.get(name).cloned().or(default);
        match value.map(|value| coerce(schema, ty, &value)) {
            Some(Ok(value)) => {
                known.insert(name.to_owned(), value);
            }
            None if ty.nullable => {}
            Some(Err(why)) => {
                let message = format!("Variable ${name} of type {ty} was provided invalid value: {why}");
                problems.push(Problem::query("variableInvalid", message, variable.pos, &[("variableName", name)]));
            }
            None => {
                let message = format!("Variable ${name} of type {ty} was provided invalid value");
                problems.push(Problem::query("variableInvalid", message, variable.pos, &[("variableName", name)]));
            }
        }
    }
    if problems.is_empty() { Ok(known) } else { Err(problems) }
}

/// Nothing ran.
fn refused(problems: &[Problem]) -> Reply {
    Reply::ok(json!({"errors": problems.iter().map(Problem::json).collect::<Vec<_>>()}))
}

/// An answer: the data in the query's order, and the problems.
fn whole(data: Option<&ConstValue>, problems: &[Problem]) -> Reply {
    let mut text = format!("{{\"data\":{}", data.map_or_else(|| "null".to_owned(), json_of));
    if !problems.is_empty() {
        let problems: Vec<Value> = problems.iter().map(Problem::json).collect();
        text.push_str(&format!(",\"errors\":{}", Value::Array(problems)));
    }
    text.push('}');
    Reply::raw("application/json; charset=utf-8", text)
}

fn json_of(data: &ConstValue) -> String {
    serde_json::to_string(data).unwrap_or_else(|_| "null".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_description_can_be_read() {
        let schema = schema().unwrap();
        assert!(schema.field("Query", "repository").is_some());
    }

    #[test]
    fn a_document_of_several_operations_needs_a_name() {
        let document = parse_query("query A { viewer { login } } query B { viewer { login } }").unwrap();
        assert!(chosen(&document.operations, None).is_err());
        assert_eq!(chosen(&document.operations, Some("B")).unwrap().0.map(Name::as_str), Some("B"));
        assert!(chosen(&document.operations, Some("C")).is_err());
    }
}
