//! Issue forms, `.github/ISSUE_TEMPLATE/*.yml`: the questions that an issue of this kind answers.
//!
//! The format is GitHub's: <https://docs.github.com/en/communities/using-templates-to-encourage-useful-issues-and-pull-requests/syntax-for-githubs-form-schema>.
//! Keys that only matter to the page are ignored.

use hob_text::{
    title,
    yaml::{self, Node, Value},
};

use crate::investigation::{CaseTemplate, QuestionTemplate};

/// Bytes of a form.
const BYTES_MAX: usize = 64 * 1024;
/// Fields of a form that are read.
const FIELDS_MAX: usize = 60;
/// Options of a field that are read.
const OPTIONS_MAX: usize = 100;
/// Characters of a label.
pub(super) const LABEL_MAX: usize = 300;

/// The kinds of input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// One line.
    Input,
    /// Text.
    Textarea,
    /// One of several options, or some of them.
    Dropdown,
    /// Boxes.
    Checkboxes,
}

/// One field of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormField {
    /// Its id; empty if it has none.
    pub id: String,
    /// What is asked.
    pub label: String,
    /// Its kind of input.
    pub kind: FieldKind,
    /// Whether the form cannot be sent without it. For boxes, whether one of them is required.
    pub required: bool,
    /// The options to choose from.
    pub options: Vec<String>,
}

/// A form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssueForm {
    /// Its name.
    pub name: String,
    /// Its purpose.
    pub description: String,
    /// The labels that its issues get.
    pub labels: Vec<String>,
    /// The fields that a reporter fills in.
    pub fields: Vec<FormField>,
    /// Fields that were skipped, each with the reason.
    pub passed_over: Vec<String>,
}

/// A file that is not a form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the issue form cannot be read: {0}")]
pub struct UnreadableForm(String);

/// Why a field is skipped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum SkippedField {
    #[error("the type `{0}` is not known")]
    UnknownType(String),
    #[error("it has no `type`")]
    NoType,
    #[error("it has no `label`")]
    NoLabel,
}

impl IssueForm {
    /// Reads a form.
    ///
    /// # Errors
    /// [`UnreadableForm`] if it is not YAML, or is YAML but not a form. The issue can be investigated without it.
    pub fn parse(text: &str) -> Result<Self, UnreadableForm> {
        if text.len() > BYTES_MAX {
            return Err(UnreadableForm(format!("it has {} bytes, more than {BYTES_MAX}", text.len())));
        }
        let why = |error: yaml::NoYaml| UnreadableForm(format!("line {}: {}", error.line, error.reason));
        let document = yaml::read(text).map_err(why)?;
        let Some(body) = document.get("body").and_then(Node::list) else {
            return Err(UnreadableForm("it has no list `body`".to_owned()));
        };
        let mut form = Self {
            name: words(document.get("name")),
            description: words(document.get("description")),
            labels: labels(document.get("labels")),
            fields: Vec::new(),
            passed_over: Vec::new(),
        };
        for (at, entry) in body.iter().enumerate() {
            match field(entry) {
                Ok(Some(_)) if form.fields.len() >= FIELDS_MAX => {
                    form.passed_over
                        .push(format!("field {} and those behind it: a form has {FIELDS_MAX} at most", at + 1));
                    break;
                }
                Ok(Some(field)) => form.fields.push(field),
                Ok(None) => {}
                Err(why) => form.passed_over.push(format!("field {}: {why}", at + 1)),
            }
        }
        if form.fields.is_empty() {
            return Err(UnreadableForm("it has no field that a reporter fills in".to_owned()));
        }
        Ok(form)
    }

    /// The questions that the form asks.
    pub fn questions(&self) -> Vec<QuestionTemplate> {
        let asks = |field: &FormField| QuestionTemplate { text: field.label.clone(), required: field.required };
        self.fields.iter().map(asks).collect()
    }

    /// What an investigation starts with if it has this form and nothing else.
    pub fn template(&self) -> CaseTemplate {
        CaseTemplate::default().with_questions(&self.questions())
    }
}

/// Reads a field. `None` for a text on the page that has no input.
fn field(entry: &Node) -> Result<Option<FormField>, SkippedField> {
    let kind = match entry.get("type").and_then(Node::text) {
        Some("input") => FieldKind::Input,
        Some("textarea") => FieldKind::Textarea,
        Some("dropdown") => FieldKind::Dropdown,
        Some("checkboxes") => FieldKind::Checkboxes,
        Some("markdown") => return Ok(None),
        Some(other) => return Err(SkippedField::UnknownType(title(other, 40))),
        None => return Err(SkippedField::NoType),
    };
    let attribute = |key: &str| entry.get("attributes").and_then(|attributes| attributes.get(key));
    let label = words(attribute("label"));
    if label.is_empty() {
        return Err(SkippedField::NoLabel);
    }
    let listed = attribute("options").and_then(Node::list).unwrap_or_default();
    let option = |option: &Node| match option.value {
        Value::Map(_) => words(option.get("label")),
        Value::Text(_) | Value::Nothing | Value::List(_) | Value::Other => words(Some(option)),
    };
    let options = listed.iter().take(OPTIONS_MAX).map(option).filter(|option| !option.is_empty()).collect();
    let boxes = kind == FieldKind::Checkboxes && listed.iter().any(|option| is_true(option.get("required")));
    let required = boxes || is_true(entry.get("validations").and_then(|validations| validations.get("required")));
    Ok(Some(FormField { id: words(entry.get("id")), label, kind, required, options }))
}

fn is_true(value: Option<&Node>) -> bool {
    value.and_then(Node::text) == Some("true")
}

/// A text as one line. Numbers and switches stay as people wrote them.
fn words(value: Option<&Node>) -> String {
    value.and_then(Node::text).map(|text| title(text, LABEL_MAX)).unwrap_or_default()
}

/// A list, or a text with commas.
fn labels(value: Option<&Node>) -> Vec<String> {
    let found: Vec<String> = match (value.and_then(Node::list), value.and_then(Node::text)) {
        (Some(list), _) => list.iter().map(|label| words(Some(label))).collect(),
        (None, Some(text)) => text.split(',').map(|label| title(label, LABEL_MAX)).collect(),
        (None, None) => Vec::new(),
    };
    found.into_iter().filter(|label| !label.is_empty()).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::investigation) const DEPLOYMENT: &str = r#"
name: A deployment failed
description: For the people on call
labels: [incident, "deploy"]
body:
  - type: markdown
    attributes:
      value: Thanks for the report!
  - type: input
    id: version
    attributes:
      label: Which version?
      placeholder: 1.2.3
    validations:
      required: true
  - type: textarea
    id: happened
    attributes:
      label: What happened?
      description: Paste the log.
      render: shell
    validations: { required: true }
  - type: dropdown
    id: where
    attributes:
      label: In which environments?
      multiple: true
      options: [staging, production, 42]
  - type: checkboxes
    id: checked
    attributes:
      label: Before you report
      options:
        - label: I looked at the dashboard
          required: true
        - label: I tried again
  - type: slider
    attributes: { label: How bad? }
  - type: input
"#;

    #[test]
    fn a_form_is_a_list_of_questions() {
        let form = IssueForm::parse(DEPLOYMENT).unwrap();
        assert_eq!((form.name.as_str(), form.labels.len()), ("A deployment failed", 2));
        let asked: Vec<_> = form.questions().into_iter().map(|asked| (asked.text, asked.required)).collect();
        let asked: Vec<_> = asked.iter().map(|(text, required)| (text.as_str(), *required)).collect();
        assert_eq!(
            asked,
            [
                ("Which version?", true),
                ("What happened?", true),
                ("In which environments?", false),
                ("Before you report", true)
            ]
        );
        assert_eq!(form.fields[2].options, ["staging", "production", "42"]);
        assert_eq!(form.passed_over, ["field 6: the type `slider` is not known", "field 7: it has no `label`"]);
    }

    #[test]
    fn what_is_no_form_says_why() {
        for (text, why) in [
            ("---\nname: Bug\n---\n# A Markdown template", "no list `body`"),
            (&"x".repeat(BYTES_MAX + 1), "more than 65536"),
            ("a: &a [1]\nbody: *a\n", "no list `body`"),
            ("body: [", "cannot be read"),
            ("\t- x", "cannot be read"),
            ("just words", "no list `body`"),
            ("name: x\nbody: {}\n", "no list `body`"),
            ("body:\n  - type: markdown\n", "no field"),
            ("body:\n  - [1, 2]\n  - text\n", "no field"),
        ] {
            let error = IssueForm::parse(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text:?}: {error}");
        }
    }
}
