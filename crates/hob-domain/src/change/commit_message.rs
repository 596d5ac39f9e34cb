//! The message of Hob's commits: the house's template, the line that names the issue, and the sign-off.

use serde::{Deserialize, Serialize};

use crate::{ChangeText, CommitIdentity, IssueNumber};

/// A line at the end of a commit's message that says who took part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trailer {
    /// `Co-authored-by`: the person who asked for the work.
    CoAuthor,
    /// `Assisted-by`: the agent and its model.
    AssistedBy,
}

impl Trailer {
    /// The lines, in this order. A co-author whose address is not known is left out.
    pub fn lines(wanted: &[Self], made: MadeBy<'_>, co_author: Option<&CommitIdentity>) -> Vec<String> {
        let line = |trailer: &Self| match trailer {
            Self::CoAuthor => co_author.map(|person| format!("Co-authored-by: {person}")),
            Self::AssistedBy if made.model.is_empty() => Some(format!("Assisted-by: {}", made.agent)),
            Self::AssistedBy => Some(format!("Assisted-by: {}:{}", made.agent, made.model)),
        };
        wanted.iter().filter_map(line).collect()
    }
}

/// Whether commits end with a `Signed-off-by` line of their committer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignOff {
    /// They do.
    Yes,
    /// They do not.
    No,
}

/// The longest template, in bytes.
const TEMPLATE_MAX: usize = 2_000;
/// The placeholders of a template.
const PLACEHOLDERS: [&str; 7] = ["title", "body", "issue", "type", "agent", "model", "requester"];
/// Types of conventional commits. <https://www.conventionalcommits.org/en/v1.0.0/>
const TYPES: [&str; 11] =
    ["feat", "fix", "docs", "style", "refactor", "perf", "test", "build", "ci", "chore", "revert"];

/// A repository's rules for commit messages.
#[derive(Debug, Clone, Copy)]
pub struct MessageRules<'a> {
    /// The template.
    pub template: &'a str,
    /// The issue's labels, which determine the type of the change.
    pub labels: &'a [String],
    /// Who made the change.
    pub made: MadeBy<'a>,
    /// The lines after the one that names the issue.
    pub trailers: &'a [String],
}

/// Who made a change, and for whom.
#[derive(Debug, Default, Clone, Copy)]
pub struct MadeBy<'a> {
    /// The agent's name.
    pub agent: &'a str,
    /// Its model; empty if that is not known.
    pub model: &'a str,
    /// The account that put the label on.
    pub requester: &'a str,
}

/// A template that cannot make commit messages.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidTemplate {
    /// It is longer than a template may be.
    #[error("write at most {TEMPLATE_MAX} bytes")]
    TooLong,
    /// The subject would not describe the change.
    #[error("write `{{title}}` in the first line")]
    NoTitle,
    /// An unknown placeholder.
    #[error(
        "unknown placeholder `{{{0}}}`; expected {{title}}, {{body}}, {{issue}}, {{type}}, {{agent}}, {{model}} or {{requester}}"
    )]
    Unknown(String),
}

/// Checks that this template makes commit messages.
///
/// # Errors
/// [`InvalidTemplate`].
pub fn check_template(template: &str) -> Result<(), InvalidTemplate> {
    if template.len() > TEMPLATE_MAX {
        return Err(InvalidTemplate::TooLong);
    }
    if !template.lines().next().unwrap_or_default().contains("{title}") {
        return Err(InvalidTemplate::NoTitle);
    }
    for part in template.split('{').skip(1) {
        if let Some((name, _)) = part.split_once('}')
            && !PLACEHOLDERS.contains(&name)
        {
            return Err(InvalidTemplate::Unknown(name.to_owned()));
        }
    }
    Ok(())
}

/// Whether a message has this sign-off.
pub fn has_sign_off_of(message: &str, by: &CommitIdentity) -> bool {
    let line = format!("Signed-off-by: {by}");
    message.lines().any(|known| known == line)
}

/// A commit's message. A line below it names the issue, with any template; the trailers follow.
pub fn commit_message(change: &ChangeText, issue_title: &str, issue: IssueNumber, rules: MessageRules<'_>) -> String {
    let (title, body) = change.in_commit(issue_title);
    let (kind, plain) = kind(&title, rules.labels);
    // A title that already has the type does not get it again.
    let title = if rules.template.contains("{type}") { plain } else { &title };
    // One pass over the template, so that a placeholder's text is not read as a template.
    let mut text = String::new();
    let mut rest = rules.template;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        let (name, after) = after.split_once('}').unwrap_or((after, ""));
        match name {
            "title" => text.push_str(title),
            "body" => text.push_str(&body),
            "issue" => text.push_str(&issue.to_string()),
            "type" => text.push_str(kind),
            "agent" => text.push_str(rules.made.agent),
            "model" => text.push_str(rules.made.model),
            "requester" => text.push_str(rules.made.requester),
            other => text.push_str(&format!("{{{other}")),
        }
        rest = after;
    }
    text.push_str(rest);
    let mut message = String::new();
    for line in text.trim().lines() {
        if !line.trim().is_empty() || !message.ends_with("\n\n") {
            message.push_str(line.trim_end());
            message.push('\n');
        }
    }
    let trailers = rules.trailers.iter().map(|trailer| format!("{trailer}\n"));
    format!("{message}\nIssue: {issue}\n{}", trailers.collect::<String>())
}

/// A commit message's text about its change, without the lines for machines.
pub fn change_in(message: &str) -> ChangeText {
    let (subject, body) = message.split_once('\n').unwrap_or((message, ""));
    const MACHINES: [&str; 4] = ["Issue: ", "Signed-off-by: ", "Co-authored-by: ", "Assisted-by: "];
    let is_for_people = |line: &&str| !MACHINES.iter().any(|name| line.starts_with(name));
    let body: Vec<&str> = body.lines().filter(is_for_people).collect();
    let body = body.join("\n");
    let summary = if body.trim().is_empty() { subject } else { body.trim() };
    ChangeText { title: Some(subject.to_owned()), ..ChangeText::untitled(summary) }
}

/// The type of a change, and its title without the type, from the title or else from the issue's labels.
fn kind<'t>(title: &'t str, labels: &[String]) -> (&'t str, &'t str) {
    if let Some((kind, rest)) = title.split_once(": ")
        && TYPES.contains(&kind)
    {
        return (kind, rest);
    }
    let has = |names: &[&str]| labels.iter().any(|label| names.iter().any(|name| label.eq_ignore_ascii_case(name)));
    let kind = if has(&["bug"]) {
        "fix"
    } else if has(&["documentation", "docs"]) {
        "docs"
    } else if has(&["enhancement", "feature"]) {
        "feat"
    } else {
        "chore"
    };
    (kind, title)
}

/// The message with a `Signed-off-by` line of its committer, unless it has one.
/// <https://developercertificate.org/>
pub fn signed_off(message: &str, by: &CommitIdentity) -> String {
    let line = format!("Signed-off-by: {by}");
    if has_sign_off_of(message, by) {
        return message.to_owned();
    }
    let text = message.trim_end();
    let is_trailer = |line: &str| {
        line.split_once(": ").is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'))
    };
    let last = text.rsplit("\n\n").next().filter(|_| text.contains("\n\n")).unwrap_or_default();
    let gap = if !last.is_empty() && last.lines().all(is_trailer) { "\n" } else { "\n\n" };
    format!("{text}{gap}{line}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(template: &str, title: &str, summary: &str, labels: &[&str]) -> String {
        let labels: Vec<String> = labels.iter().map(|label| (*label).to_owned()).collect();
        let change = ChangeText { title: Some(title.to_owned()), ..ChangeText::untitled(summary) };
        let made = MadeBy { agent: "native", model: "anthropic/x", requester: "ann" };
        commit_message(&change, "x", IssueNumber(7), MessageRules { template, labels: &labels, made, trailers: &[] })
    }

    #[test]
    fn a_template_is_filled() {
        for (template, title, summary, labels, text) in [
            ("{title}\n\n{body}", "Fix it", "It was wrong.", &[][..], "Fix it\n\nIt was wrong.\n\nIssue: 7\n"),
            ("{title}\n\n{body}", "Fix it", "", &[], "Fix it\n\nIssue: 7\n"),
            ("{type}: {title} (#{issue})", "Fix it", "x", &["Bug"], "fix: Fix it (#7)\n\nIssue: 7\n"),
            ("{type}: {title}", "docs: Say it", "x", &["bug"], "docs: Say it\n\nIssue: 7\n"),
            ("{type}: {title}", "Do it", "x", &[], "chore: Do it\n\nIssue: 7\n"),
            (
                "{title}\n\n{agent} ({model}) for {requester}",
                "Fix it",
                "x",
                &[],
                "Fix it\n\nnative (anthropic/x) for ann\n\nIssue: 7\n",
            ),
            ("[HOB] {title}\n\nA {b", "Use {body}", "x", &[], "[HOB] Use {body}\n\nA {b\n\nIssue: 7\n"),
        ] {
            assert_eq!(message(template, title, summary, labels), text, "{template}");
        }
    }

    #[test]
    fn the_trailers_that_are_wanted_follow_the_issue() {
        let person = CommitIdentity { name: "ann".to_owned(), email: "1+ann@example.org".to_owned() };
        let wanted = [Trailer::CoAuthor, Trailer::AssistedBy];
        let made = MadeBy { agent: "native", model: "anthropic/x", requester: "ann" };
        let trailers = Trailer::lines(&wanted, made, Some(&person));
        let rules = MessageRules { template: "{title}", labels: &[], made, trailers: &trailers };
        let change = ChangeText { title: Some("Fix it".to_owned()), ..ChangeText::default() };
        let message = commit_message(&change, "x", IssueNumber(7), rules);
        insta::assert_snapshot!(signed_off(&message, &person), @r"
        Fix it

        Issue: 7
        Co-authored-by: ann <1+ann@example.org>
        Assisted-by: native:anthropic/x
        Signed-off-by: ann <1+ann@example.org>
        ");
        assert_eq!(change_in(&message).summary, "Fix it");
        let unknown = Trailer::lines(&wanted, MadeBy { model: "", ..made }, None);
        assert_eq!(unknown, ["Assisted-by: native"]);
    }

    #[test]
    fn a_message_says_what_its_change_said() {
        let by = CommitIdentity { name: "Hob".to_owned(), email: "hob@example.org".to_owned() };
        for (summary, said) in
            [("It was wrong.\n\nNow it is right.", "It was wrong.\n\nNow it is right."), ("", "Fix it")]
        {
            let message = signed_off(&message("{title}\n\n{body}", "Fix it", summary, &[]), &by);
            let change = change_in(&message);
            assert_eq!((change.title.as_deref(), change.summary.as_str()), (Some("Fix it"), said));
        }
    }

    #[test]
    fn a_template_that_makes_no_message_is_refused() {
        assert_eq!(check_template("{type}({issue}): {title}\n\n{body}"), Ok(()));
        assert_eq!(check_template("Change\n{title}"), Err(InvalidTemplate::NoTitle));
        assert_eq!(check_template(""), Err(InvalidTemplate::NoTitle));
        assert_eq!(check_template("{title} {scope}"), Err(InvalidTemplate::Unknown("scope".to_owned())));
        assert_eq!(check_template(&"{title}".repeat(400)), Err(InvalidTemplate::TooLong));
    }

    #[test]
    fn a_commit_is_signed_off_once_among_its_trailers() {
        let by = CommitIdentity { name: "Hob <x>".to_owned(), email: "hob@example.org".to_owned() };
        let line = "Signed-off-by: Hob x <hob@example.org>\n";
        for (message, signed) in [
            ("Fix it\n\nIssue: 7\n", format!("Fix it\n\nIssue: 7\n{line}")),
            ("Merge branch 'a' into b\n", format!("Merge branch 'a' into b\n\n{line}")),
            ("fix: it\n", format!("fix: it\n\n{line}")),
            ("Fix it\n\nNote: read\nthis\n", format!("Fix it\n\nNote: read\nthis\n\n{line}")),
        ] {
            assert_eq!(signed_off(message, &by), signed);
            assert_eq!(signed_off(&signed, &by), signed, "once");
        }
    }
}
