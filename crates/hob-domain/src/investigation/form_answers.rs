//! The answers in the body of an issue that was made with a form, as GitHub renders it: a heading `### Label` for each
//! field, and below it the input.
//!
//! - Guarantees: only the labels of the form are headings, in the form's order and each once, so a heading in an answer
//!   is part of the answer, unless it is the label of a later field.
//! - Caveats: anybody who can edit the issue can write any answer.

use hob_text::title;

use crate::{
    has_label,
    investigation::{FieldKind, FormField, IssueForm, form::LABEL_MAX},
};

/// What GitHub writes for a field without input.
const NOTHING: [&str; 2] = ["_No response_", "*No response*"];

/// The input of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormAnswer {
    /// The field's label.
    pub label: String,
    /// Whether the form needs an answer.
    pub required: bool,
    /// The answer. `None` if nothing was filled in, or if the field is not in the text.
    pub answer: Option<String>,
}

/// The form that an issue was made with: the one whose fields its body answers most, and in a tie the one with more of
/// the issue's labels. `None` if the body answers no form.
pub fn form_of<'a>(forms: &'a [IssueForm], body: &str, labels: &[String]) -> Option<&'a IssueForm> {
    let fit = |form: &IssueForm| {
        let answered = form_answers(form, body).iter().filter(|field| field.answer.is_some()).count();
        (answered, form.labels.iter().filter(|label| has_label(labels, label)).count())
    };
    let fits = forms.iter().map(|form| (fit(form), form)).filter(|((answered, _), _)| *answered > 0);
    // In a tie the first form counts.
    fits.rev().max_by_key(|(fit, _)| *fit).map(|(_, form)| form)
}

/// Reads the answers to `form` out of `body`, one for each of its fields.
pub fn form_answers(form: &IssueForm, body: &str) -> Vec<FormAnswer> {
    let lines: Vec<&str> = body.lines().collect();
    let is_heading = |line: &str, field: &FormField| {
        line.trim_end().strip_prefix("### ").is_some_and(|label| title(label, LABEL_MAX) == field.label)
    };
    // Each field's heading is searched after that of the previous field.
    let mut from = 0;
    let starts: Vec<Option<usize>> = form
        .fields
        .iter()
        .map(|field| {
            let found = lines[from..].iter().position(|line| is_heading(line, field)).map(|at| from + at);
            from = found.map_or(from, |at| at + 1);
            found
        })
        .collect();
    let answer = |(at, field): (usize, &FormField)| {
        let text = starts[at].map(|start| {
            let end = starts[at + 1..].iter().flatten().next().copied().unwrap_or(lines.len());
            lines[start + 1..end].join("\n")
        });
        let answer = text.and_then(|text| said(field.kind, &text));
        FormAnswer { label: field.label.clone(), required: field.required, answer }
    };
    form.fields.iter().enumerate().map(answer).collect()
}

/// The input. `None` if there is none.
fn said(kind: FieldKind, text: &str) -> Option<String> {
    let text = text.trim();
    if text.is_empty() || NOTHING.contains(&text) {
        return None;
    }
    match kind {
        FieldKind::Input | FieldKind::Textarea | FieldKind::Dropdown => Some(text.to_owned()),
        FieldKind::Checkboxes => {
            let ticked = text.lines().filter_map(|line| {
                let line = line.trim_start().strip_prefix("- [")?;
                line.strip_prefix("x] ").or_else(|| line.strip_prefix("X] ")).map(str::trim)
            });
            let ticked: Vec<_> = ticked.collect();
            (!ticked.is_empty()).then(|| ticked.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::investigation::form::tests::DEPLOYMENT;

    fn read(body: &str) -> Vec<Option<String>> {
        let form = IssueForm::parse(DEPLOYMENT).unwrap();
        form_answers(&form, body).into_iter().map(|answer| answer.answer).collect()
    }

    #[test]
    fn the_answers_stand_below_their_labels() {
        let body = "### Which version?\n\n1.4.2\n\n### What happened?\n\n```shell\n### not a label\nno space left\n```\n\n\
                    ### In which environments?\r\n\r\nstaging, production\r\n\r\n### Before you report\n\n\
                    - [X] I looked at the dashboard\n- [ ] I tried again\n";
        let answers = read(body);
        let answers: Vec<_> = answers.iter().map(|answer| answer.as_deref().unwrap_or("-")).collect();
        assert_eq!(
            answers,
            [
                "1.4.2",
                "```shell\n### not a label\nno space left\n```",
                "staging, production",
                "I looked at the dashboard"
            ]
        );
    }

    #[test]
    fn the_form_is_the_one_that_the_body_answers() {
        let form = |name: &str, label: &str, asks: &[&str]| {
            let fields = asks.iter().map(|asks| format!("  - type: input\n    attributes: {{ label: '{asks}' }}\n"));
            let text = format!("name: {name}\nlabels: [{label}]\nbody:\n{}", fields.collect::<String>());
            IssueForm::parse(&text).unwrap()
        };
        let forms = [form("one", "bug", &["A?"]), form("two", "docs", &["A?"]), form("three", "bug", &["A?", "B?"])];
        let chosen = |body: &str, labels: &[&str]| {
            let labels: Vec<String> = labels.iter().map(|label| (*label).to_owned()).collect();
            form_of(&forms, body, &labels).map(|form| form.name.as_str())
        };
        assert_eq!(chosen("### A?\n\nyes\n\n### B?\n\nno\n", &[]), Some("three"));
        assert_eq!(chosen("### A?\n\nyes\n", &["Docs"]), Some("two"));
        assert_eq!(chosen("### A?\n\nyes\n", &[]), Some("one"));
        assert_eq!(chosen("### A?\n\n_No response_\n", &["bug"]), None);
        assert_eq!(chosen("Just prose.", &["bug"]), None);
    }

    #[test]
    fn what_was_left_out_has_no_answer() {
        assert_eq!(read(""), vec![None; 4]);
        assert_eq!(read("Just prose."), vec![None; 4]);
        let body = "### Which version?\n\n_No response_\n\n### In which environments?\n\nNone\n\n\
                    ### Before you report\n\n- [ ] I tried again";
        let answers = read(body);
        assert_eq!(answers, [None, None, Some("None".to_owned()), None]);
    }

    #[test]
    fn a_label_within_an_answer_does_not_stand_for_an_earlier_field() {
        let body = "### What happened?\n\nSee:\n### Which version?\n9.9\n";
        // The first field is found and no later one: the text is not as GitHub renders it.
        assert_eq!(read(body)[0].as_deref(), Some("9.9"));
        let body = "### Which version?\n\n1\n\n### What happened?\n\nSee:\n### Which version?\n9.9\n";
        let answers = read(body);
        assert_eq!((answers[0].as_deref(), answers[1].as_deref()), (Some("1"), Some("See:\n### Which version?\n9.9")));
    }
}
