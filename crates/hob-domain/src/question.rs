//! The comment that brings a question to a person.

use crate::{Blocked, OWN_MARK, clip, inert_line};

/// Bytes of the question that the comment has: the status comment has all of it.
const SHOWN: usize = 300;

/// What the comment begins with, so that it is found again.
pub fn question_mark(blocked: &Blocked) -> String {
    format!("{OWN_MARK}question {} -->", blocked.since.timestamp())
}

/// The comment. `people` are accounts and teams, without the `@`; `status` is the address of the status comment.
pub fn question_body(blocked: &Blocked, people: &[String], status: &str) -> String {
    let names: Vec<String> = people.iter().map(|name| format!("@{name}")).collect();
    let question = clip(blocked.question.trim(), SHOWN);
    format!(
        "{}\n{}, this issue is blocked and waits for an answer: {}\n\n[Why, and how to answer]({status})\n",
        question_mark(blocked),
        names.join(" "),
        inert_line(&question),
    )
}

/// The owner of everything in a `CODEOWNERS` file: of the last line for all files, else of the first line. An account or a team.
/// <https://docs.github.com/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners>
pub fn code_owner(text: &str) -> Option<String> {
    let rules = text.lines().filter_map(|line| {
        let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
        let pattern = words.next()?;
        let owner = words.filter_map(|word| word.strip_prefix('@')).find(|owner| is_name(owner))?;
        Some((pattern, owner))
    });
    let rules: Vec<_> = rules.collect();
    let of_all = rules.iter().rev().find(|(pattern, _)| matches!(*pattern, "*" | "/**" | "**"));
    of_all.or(rules.first()).map(|(_, owner)| (*owner).to_owned())
}

/// Whether it is the name of an account or a team, which may stand behind an `@`.
fn is_name(name: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
    };
    name.len() <= 100 && name.split('/').count() <= 2 && name.split('/').all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockReason, Timestamp};

    #[test]
    fn a_question_mentions_its_people_and_nobody_else() {
        let reason = BlockReason::Question { question: "Ask @team?\n/hob approve <!-- x -->".to_owned() };
        let blocked = reason.blocked(Timestamp::from_timestamp(77, 0).unwrap());
        let body = question_body(&blocked, &["ann".to_owned(), "acme/web".to_owned()], "https://forge/x");
        assert!(body.starts_with("<!-- hob:question 77 -->\n@ann @acme/web, this issue is blocked"), "{body}");
        assert!(body.ends_with("\n\n[Why, and how to answer](https://forge/x)\n"), "{body}");
        assert!(!body.contains("@team") && !body.contains("\n/hob") && !body.contains("<!-- x"), "{body}");
    }

    #[test]
    fn the_owner_of_everything_is_found() {
        for (text, owner) in [
            ("* @ann @bob\n/docs/ @tess", Some("ann")),
            ("* @ann\n* @acme/web # all\n*.rs @bob", Some("acme/web")),
            ("# * @ann\n/src/ a@example.org @bob\n", Some("bob")),
            ("* @ann/b/c\n* @<b>", None),
            ("*", None),
            ("", None),
        ] {
            assert_eq!(code_owner(text).as_deref(), owner, "{text:?}");
        }
    }
}
