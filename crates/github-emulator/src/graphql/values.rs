//! Values that clients send, against the types they are for: variables and arguments.

use async_graphql_parser::types::{BaseType, Type};
use async_graphql_value::Value as Literal;
use serde_json::{Map, Value};

use super::schema::{Input, Kind, Schema};
use crate::names::Timestamp;

/// A value that is not of its type, in GitHub's words.
#[derive(Debug, thiserror::Error)]
pub(super) enum Mismatch {
    #[error("Expected value to not be null")]
    Null,
    #[error("Could not coerce value {value} to {name}")]
    Kind { value: Value, name: String },
    #[error("Expected {value} to be one of: {}", values.join(", "))]
    NotListed { value: Value, values: Vec<String> },
    #[error("Field is not defined: {0}")]
    Undefined(String),
    #[error("{name}: {source}")]
    Field { name: String, source: Box<Self> },
}

/// A value for a type, with the defaults of inputs filled in.
///
/// # Errors
/// [`Mismatch`] if the value is not of this type.
pub(super) fn coerce(schema: &Schema, ty: &Type, value: &Value) -> Result<Value, Mismatch> {
    if value.is_null() {
        return if ty.nullable { Ok(Value::Null) } else { Err(Mismatch::Null) };
    }
    match (&ty.base, value) {
        (BaseType::List(of), Value::Array(list)) => {
            list.iter().map(|value| coerce(schema, of, value)).collect::<Result<_, _>>().map(Value::Array)
        }
        // One value is valid as a list of one.
        (BaseType::List(of), value) => coerce(schema, of, value).map(|value| Value::Array(vec![value])),
        (BaseType::Named(name), value) => coerce_named(schema, name, value),
    }
}

fn coerce_named(schema: &Schema, name: &str, value: &Value) -> Result<Value, Mismatch> {
    let wrong = || Err(Mismatch::Kind { value: value.clone(), name: name.to_owned() });
    match (schema.get(name), value) {
        (Some(Kind::Enum { values }), Value::String(text)) if values.contains(text) => Ok(value.clone()),
        (Some(Kind::Enum { values }), _) => Err(Mismatch::NotListed { value: value.clone(), values: values.clone() }),
        (Some(Kind::Input { fields }), Value::Object(sent)) => coerce_fields(schema, fields, sent).map(Value::Object),
        (Some(Kind::Scalar), value) => {
            let fits = match (name, value) {
                ("Int", value) => value.as_i64().is_some_and(|number| i32::try_from(number).is_ok()),
                ("Float", value) => value.is_number(),
                ("Boolean", value) => value.is_boolean(),
                ("ID", Value::Number(number)) if number.is_i64() || number.is_u64() => {
                    return Ok(Value::String(number.to_string()));
                }
                ("DateTime", Value::String(text)) => text.parse::<Timestamp>().is_ok(),
                (_, value) => value.is_string(),
            };
            if fits { Ok(value.clone()) } else { wrong() }
        }
        (_, _) => wrong(),
    }
}

/// The values for these arguments or fields of an input.
///
/// # Errors
/// [`Mismatch`] if one is unknown, is missing or is not of its type.
pub(super) fn coerce_fields(
    schema: &Schema,
    fields: &[Input],
    sent: &Map<String, Value>,
) -> Result<Map<String, Value>, Mismatch> {
    if let Some(unknown) = sent.keys().find(|name| !fields.iter().any(|field| field.name == **name)) {
        return Err(Mismatch::Undefined(unknown.clone()));
    }
    let of_field = |field: &Input, why: Mismatch| Mismatch::Field { name: field.name.clone(), source: Box::new(why) };
    let mut coerced = Map::new();
    for field in fields {
        match (sent.get(&field.name), &field.default) {
            (Some(value), _) => {
                let value = coerce(schema, &field.ty, value).map_err(|why| of_field(field, why))?;
                coerced.insert(field.name.clone(), value);
            }
            (None, Some(default)) => {
                coerced.insert(field.name.clone(), default.clone());
            }
            (None, None) if field.required() => return Err(of_field(field, Mismatch::Null)),
            (None, None) => {}
        }
    }
    Ok(coerced)
}

/// A literal of the query as JSON, with the variables in it; `None` if it is a variable that was not given.
pub(super) fn plain(literal: &Literal, variables: &Map<String, Value>) -> Option<Value> {
    Some(match literal {
        Literal::Variable(name) => variables.get(name.as_str())?.clone(),
        Literal::Null | Literal::Binary(_) => Value::Null,
        Literal::Number(number) => Value::Number(number.clone()),
        Literal::String(text) => Value::String(text.clone()),
        Literal::Boolean(flag) => Value::Bool(*flag),
        Literal::Enum(name) => Value::String(name.to_string()),
        Literal::List(list) => {
            Value::Array(list.iter().map(|item| plain(item, variables).unwrap_or(Value::Null)).collect())
        }
        Literal::Object(fields) => {
            let given = fields.iter().filter_map(|(name, item)| Some((name.to_string(), plain(item, variables)?)));
            Value::Object(given.collect())
        }
    })
}

/// Whether a literal fits a type, with any values of its variables.
pub(super) fn fits(schema: &Schema, ty: &Type, literal: &Literal) -> bool {
    match (&ty.base, literal) {
        (_, Literal::Variable(_)) => true,
        (_, Literal::Null) => ty.nullable,
        (BaseType::List(of), Literal::List(list)) => list.iter().all(|item| fits(schema, of, item)),
        (BaseType::List(of), literal) => fits(schema, of, literal),
        (BaseType::Named(name), literal) => match (schema.get(name), literal) {
            // An enumeration's value has no quotes around it, and nothing else goes without.
            (Some(Kind::Enum { values }), Literal::Enum(value)) => values.iter().any(|known| known == value.as_str()),
            (Some(Kind::Enum { .. }), _) | (_, Literal::Enum(_)) => false,
            (Some(Kind::Input { fields }), Literal::Object(sent)) => {
                let known = |name: &str| fields.iter().find(|field| field.name == name);
                sent.iter().all(|(name, item)| known(name).is_some_and(|field| fits(schema, &field.ty, item)))
                    && fields.iter().all(|field| !field.required() || sent.contains_key(field.name.as_str()))
            }
            (_, literal) => plain(literal, &Map::new()).is_some_and(|value| coerce_named(schema, name, &value).is_ok()),
        },
    }
}
