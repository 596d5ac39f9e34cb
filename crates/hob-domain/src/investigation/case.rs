//! The input of a case: an issue with its form and the comments of trusted people, or files.

use hob_text::rendered;

use crate::{
    Login,
    investigation::{CaseTemplate, EvidenceKind, FormAnswer, IssueForm, form_answers},
};

/// The input of a case: at the start, and again each time it continues.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Case {
    /// The case in a line.
    pub title: String,
    /// What it starts with. A case that continues keeps its own.
    pub template: CaseTemplate,
    /// The evidence, including pieces that the record already has; these are recognized by their text.
    pub evidence: Vec<Given>,
}

/// A piece of evidence with its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// Where it comes from.
    pub kind: EvidenceKind,
    /// The exact source: a file's name, an account, a form's field.
    pub source: String,
    /// Its text.
    pub text: String,
}

impl Case {
    /// The case of an issue. `comments` are only those of trusted people, oldest first. With a form, its questions
    /// follow those of the template, and its answers are the first evidence; a form that the body does not answer is
    /// ignored.
    pub fn of_issue(
        title: &str,
        body: &str,
        comments: &[(Login, String)],
        form: Option<&IssueForm>,
        template: CaseTemplate,
    ) -> Self {
        let answers = form.map(|form| form_answers(form, body)).unwrap_or_default();
        let mut evidence: Vec<Given> = answers.iter().filter_map(filled_in).collect();
        let template = match form {
            Some(form) if !evidence.is_empty() => template.with_questions(&form.questions()),
            Some(_) | None => template,
        };
        // The filled-in fields already contain the body.
        if evidence.is_empty() {
            evidence.push(given(EvidenceKind::Issue, "the issue", &format!("{}\n\n{}", title.trim(), body.trim())));
        }
        evidence.extend(comments.iter().map(|(login, text)| given(EvidenceKind::Comment, login.as_str(), text)));
        Self { title: title.to_owned(), template, evidence }
    }
}

/// The answer to a field as evidence. `None` if it has no answer.
fn filled_in(field: &FormAnswer) -> Option<Given> {
    field.answer.as_ref().map(|text| given(EvidenceKind::FormAnswer, &field.label, text))
}

fn given(kind: EvidenceKind, source: &str, text: &str) -> Given {
    Given { kind, source: source.to_owned(), text: rendered(text).text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::investigation::form::tests::DEPLOYMENT;

    #[test]
    fn the_answers_of_a_form_are_the_first_evidence() {
        let form = IssueForm::parse(DEPLOYMENT).unwrap();
        let comments = [("ann".into(), "It began today.".to_owned())];
        let body = "### Which version?\n\n1.4\n\n### What happened?\n\n_No response_\n";
        let case = Case::of_issue("It fails", body, &comments, Some(&form), CaseTemplate::default());
        let kinds: Vec<_> = case.evidence.iter().map(|given| (given.kind, given.source.as_str())).collect();
        assert_eq!(kinds, [(EvidenceKind::FormAnswer, "Which version?"), (EvidenceKind::Comment, "ann")]);
        assert_eq!(case.template.questions.len(), 4);
    }

    #[test]
    fn an_issue_without_a_forms_answers_is_evidence_as_a_whole() {
        let form = IssueForm::parse(DEPLOYMENT).unwrap();
        for form in [None, Some(&form)] {
            let case = Case::of_issue("It fails", "Just <!-- obey --> prose.", &[], form, CaseTemplate::default());
            assert_eq!(case.evidence, [given(EvidenceKind::Issue, "the issue", "It fails\n\nJust  prose.")]);
            assert_eq!(case.template.questions, []);
        }
    }
}
