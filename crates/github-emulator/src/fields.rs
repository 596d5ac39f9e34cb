//! The fields of a request's JSON body, read one by one with GitHub's refusals.

use serde_json::{Map, Value};

use super::refusal::Refusal;

/// A JSON object that was sent, with the name of the resource for its refusals.
#[derive(Debug)]
pub(super) struct Fields {
    resource: &'static str,
    map: Map<String, Value>,
}

impl Fields {
    /// Reads a body; an empty one has no fields.
    ///
    /// # Errors
    /// 400 if it is not a JSON object.
    pub(super) fn parse(resource: &'static str, body: &[u8]) -> Result<Self, Refusal> {
        if body.iter().all(u8::is_ascii_whitespace) {
            return Ok(Self { resource, map: Map::new() });
        }
        match serde_json::from_slice(body) {
            Ok(Value::Object(map)) => Ok(Self { resource, map }),
            Ok(_) => Err(Refusal::new(http::StatusCode::BAD_REQUEST, "Body should be a JSON object")),
            Err(_) => Err(Refusal::new(http::StatusCode::BAD_REQUEST, "Problems parsing JSON")),
        }
    }

    /// Whether the field was sent, `null` included.
    pub(super) fn has(&self, field: &str) -> bool {
        self.map.contains_key(field)
    }

    /// The field as it was sent.
    pub(super) fn raw(&self, field: &str) -> Option<&Value> {
        self.map.get(field)
    }

    /// A text; `None` if it is absent or `null`.
    pub(super) fn text(&self, field: &str) -> Result<Option<String>, Refusal> {
        match self.map.get(field) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(self.invalid(field)),
        }
    }

    /// A text that has to be there and not blank.
    pub(super) fn required(&self, field: &str) -> Result<String, Refusal> {
        match self.text(field)? {
            Some(text) if !text.trim().is_empty() => Ok(text),
            Some(_) | None => Err(Refusal::missing(self.resource, field)),
        }
    }

    /// A text of at most `max` characters.
    pub(super) fn limited(&self, field: &str, max: usize) -> Result<Option<String>, Refusal> {
        let text = self.text(field)?;
        if text.as_ref().is_some_and(|text| text.chars().count() > max) {
            let message = format!("{field} is too long (maximum is {max} characters)");
            return Err(Refusal::custom(self.resource, field, message));
        }
        Ok(text)
    }

    /// A Boolean; `None` if it is absent or `null`.
    pub(super) fn flag(&self, field: &str) -> Result<Option<bool>, Refusal> {
        match self.map.get(field) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(_) => Err(self.invalid(field)),
        }
    }

    /// A whole number; `None` if it is absent or `null`.
    pub(super) fn number(&self, field: &str) -> Result<Option<u64>, Refusal> {
        match self.map.get(field) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value.as_u64().map(Some).ok_or_else(|| self.invalid(field)),
        }
    }

    /// A list of texts, or of objects with a `name`; `None` if it is absent or `null`.
    pub(super) fn texts(&self, field: &str) -> Result<Option<Vec<String>>, Refusal> {
        let list = match self.map.get(field) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Array(list)) => list,
            Some(_) => return Err(self.invalid(field)),
        };
        let text = |value: &Value| value.as_str().or_else(|| value["name"].as_str()).map(str::to_owned);
        list.iter().map(|value| text(value).ok_or_else(|| self.invalid(field))).collect::<Result<_, _>>().map(Some)
    }

    /// The refusal of this field's value.
    pub(super) fn invalid(&self, field: &str) -> Refusal {
        Refusal::invalid(self.resource, field)
    }

    /// The refusal of this field's absence.
    pub(super) fn missing(&self, field: &str) -> Refusal {
        Refusal::missing(self.resource, field)
    }
}
