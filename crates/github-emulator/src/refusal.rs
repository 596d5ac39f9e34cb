//! Answers that refuse, in GitHub's form: status, `message`, `errors`, `documentation_url`.

use axum::{
    Json,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode};
use serde_json::{Value, json};

use super::users::Role;

/// A refused request.
#[derive(Debug, Clone)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    message: String,
    errors: Vec<Value>,
    /// The value of `X-Accepted-GitHub-Permissions`.
    accepting: Option<String>,
}

impl Refusal {
    /// A refusal with this status and message.
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), errors: Vec::new(), accepting: None }
    }

    /// The object does not exist, or is hidden from this account.
    pub(super) fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "Not Found")
    }

    /// The forge does not have this endpoint. A client that retries after a server's failure does not retry this.
    pub(super) fn not_here(endpoint: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("the embedded forge has no {endpoint}"))
    }

    /// The endpoint would ignore a `what` of this name, which GitHub would not.
    pub(super) fn unobeyed(what: &str, name: &str, endpoint: &str) -> Self {
        let message = format!("the embedded forge does not obey the {what} `{name}` of {endpoint}");
        let mut refusal = Self::unprocessable(message.clone());
        refusal.errors.push(json!({"resource": "Request", "field": name, "code": "custom", "message": message}));
        refusal
    }

    /// A write without an account.
    pub(super) fn anonymous() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "Requires authentication")
    }

    /// The account's role does not suffice.
    pub(super) fn needs(role: Role) -> Self {
        let right = match role {
            Role::None | Role::Read => "read access to",
            Role::Triage => "triage access to",
            Role::Write => "push access to",
            Role::Maintain => "maintain access to",
            Role::Admin => "admin rights to",
        };
        Self::new(StatusCode::FORBIDDEN, format!("Must have {right} Repository."))
    }

    /// An App's or bot's role does not suffice.
    pub(super) fn integration() -> Self {
        Self::new(StatusCode::FORBIDDEN, "Resource not accessible by integration")
    }

    /// A fine-grained token does not suffice.
    pub(super) fn personal() -> Self {
        Self::new(StatusCode::FORBIDDEN, "Resource not accessible by personal access token")
    }

    /// The same with the names of permissions that would have sufficed.
    pub(super) fn accepting(mut self, permissions: String) -> Self {
        self.accepting = Some(permissions);
        self
    }

    /// A field has an invalid value.
    pub(super) fn invalid(resource: &str, field: &str) -> Self {
        Self::field(resource, field, "invalid")
    }

    /// A required field is missing.
    pub(super) fn missing(resource: &str, field: &str) -> Self {
        Self::field(resource, field, "missing_field")
    }

    /// There is one of this name already.
    pub(super) fn exists(resource: &str, field: &str) -> Self {
        Self::field(resource, field, "already_exists")
    }

    /// A field is wrong in a way that needs a sentence.
    pub(super) fn custom(resource: &str, field: &str, message: impl Into<String>) -> Self {
        let mut refusal = Self::field(resource, field, "custom");
        if let Some(Value::Object(error)) = refusal.errors.first_mut() {
            error.insert("message".to_owned(), Value::String(message.into()));
        }
        refusal
    }

    /// Too many requests of this kind in a short time.
    pub(super) fn too_quick(resource: &str, field: &str) -> Self {
        Self { status: StatusCode::FORBIDDEN, ..Self::custom(resource, field, "was submitted too quickly") }
    }

    /// Too many requests in a short time.
    pub(super) fn too_fast() -> Self {
        let message = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";
        Self::new(StatusCode::FORBIDDEN, message)
    }

    /// The request is well-formed, but cannot be carried out.
    pub(super) fn unprocessable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, message)
    }

    /// A request is invalid as a whole, or in a part that has no name.
    pub(super) fn invalid_because(error: &str) -> Self {
        let mut refusal = Self::unprocessable("Validation Failed");
        refusal.errors.push(Value::String(error.to_owned()));
        refusal
    }

    /// The same for reviews, whose `errors` are plain sentences on GitHub.
    pub(super) fn sentence(error: &str) -> Self {
        let mut refusal = Self::unprocessable("Unprocessable Entity");
        refusal.errors.push(Value::String(error.to_owned()));
        refusal
    }

    /// Only an App's own token may do this.
    pub(super) fn needs_app() -> Self {
        Self::new(StatusCode::FORBIDDEN, "You must authenticate via a GitHub App.")
    }

    /// The repository takes no writes any more.
    pub(super) fn archived() -> Self {
        Self::new(StatusCode::FORBIDDEN, "Repository was archived so is read-only.")
    }

    /// The forge itself failed; the cause goes to the log.
    pub(super) fn internal(cause: impl std::fmt::Display) -> Self {
        tracing::error!(error = %cause, "the embedded forge failed to answer: {cause}");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "Server Error")
    }

    /// Its message as one sentence, with the problem of each field.
    pub(super) fn sentence_of(&self) -> String {
        let one = |error: &Value| match (error.as_str(), error["message"].as_str()) {
            (Some(text), _) | (None, Some(text)) => text.to_owned(),
            (None, None) => format!(
                "{} {}",
                error["field"].as_str().unwrap_or_default(),
                error["code"].as_str().unwrap_or_default().replace('_', " ")
            ),
        };
        match self.errors.iter().map(one).collect::<Vec<_>>() {
            none if none.is_empty() => self.message.clone(),
            sentences => sentences.join(", "),
        }
    }

    fn field(resource: &str, field: &str, code: &str) -> Self {
        let mut refusal = Self::unprocessable("Validation Failed");
        refusal.errors.push(json!({"resource": resource, "field": field, "code": code}));
        refusal
    }
}

impl From<git2::Error> for Refusal {
    fn from(error: git2::Error) -> Self {
        if error.code() == git2::ErrorCode::NotFound { Self::not_found() } else { Self::internal(error) }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.message)?;
        self.errors.iter().try_for_each(|error| write!(f, " {error}"))
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut body = json!({
            "message": self.message,
            "documentation_url": "https://docs.github.com/rest",
            "status": self.status.as_u16().to_string(),
        });
        if let (false, Value::Object(fields)) = (self.errors.is_empty(), &mut body) {
            fields.insert("errors".to_owned(), Value::Array(self.errors));
        }
        let mut response = (self.status, Json(body)).into_response();
        if let Some(permissions) = self.accepting.and_then(|value| HeaderValue::from_str(&value).ok()) {
            response.headers_mut().insert("x-accepted-github-permissions", permissions);
        }
        response
    }
}
