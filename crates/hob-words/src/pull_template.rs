//! Fills the repository's pull request template: Hob's text goes below the headings that ask for it, boxes that are
//! known to be true are ticked, and the rest of the template stays as it is.
//!
//! # Guarantees
//! - Every heading of the template that has something below it is in the body, in the template's order.
//! - A box is ticked only if each of its words is understood, so "tests pass on Windows" stays open.
//! - The template mentions nobody and closes no issue except the one that the work is for.
//!
//! # Caveats
//! Below a heading that Hob answers, the template's paragraphs are taken for instructions to the author and removed;
//! lists, boxes and tables stay.

use hob_domain::{Evidence, IssueNumber, SignOff, Verdict};
use hob_text::{markup::line, quiet, without_comments};

/// The size in bytes from which a template is not used, because Hob's text has to fit below it.
pub const TEMPLATE_MAX: usize = 32 << 10;

/// The template of a repository, and rules for all work in it.
#[derive(Debug, Clone, Copy)]
pub struct PullTemplate<'a> {
    /// Its text on the base.
    pub text: &'a str,
    /// Whether commits are signed off.
    pub sign_off: SignOff,
}

/// Hob's text, by subject.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) issue: IssueNumber,
    pub(super) changed: String,
    pub(super) evidence: String,
}

/// What a heading asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asks {
    Changed,
    Why,
    Evidence,
    Issue,
    /// A subject that Hob has no text for.
    Other,
}

/// A heading and the lines below it, up to the next one.
#[derive(Debug, Default)]
struct Section {
    heading: Vec<String>,
    lines: Vec<String>,
}

/// The template with Hob's text in it, followed by the text that found no place.
pub(super) fn filled(template: PullTemplate<'_>, parts: &Parts, evidence: &Evidence) -> String {
    let (text, _) = without_comments(template.text);
    let mut sections = sections(&text.replace("\r\n", "\n"));
    let facts = Facts { evidence, sign_off: template.sign_off };
    let mut closes = false;
    for section in &mut sections {
        section.lines = outside_code(&section.lines, |text| answered_line(text, &facts, parts.issue, &mut closes));
    }
    let mut said = Vec::new();
    for section in &mut sections {
        let asks = asks(&section.heading.join(" "));
        let text = match asks {
            _ if said.contains(&asks) => continue,
            Asks::Changed => parts.changed.clone(),
            Asks::Why => format!("Issue #{} asks for it.", parts.issue),
            Asks::Evidence => parts.evidence.clone(),
            Asks::Issue if closes => continue,
            Asks::Issue => format!("Fixes #{}", parts.issue),
            Asks::Other => continue,
        };
        said.push(asks);
        let kept = without_prose(&section.lines);
        section.lines = [vec![String::new(), text.trim().to_owned(), String::new()], kept].concat();
    }
    let sections = without_empty(sections);
    let mut body = String::new();
    if !closes && !said.contains(&Asks::Issue) {
        line(&mut body, &format!("Fixes #{}\n", parts.issue));
    }
    for text in sections.iter().flat_map(|section| section.heading.iter().chain(&section.lines)) {
        // Removed comments leave gaps.
        if !text.trim().is_empty() || !(body.is_empty() || body.ends_with("\n\n")) {
            line(&mut body, text.trim_end());
        }
    }
    body.truncate(body.trim_end().len());
    for (asks, heading, text) in
        [(Asks::Changed, "What changed", &parts.changed), (Asks::Evidence, "Evidence", &parts.evidence)]
    {
        if !said.contains(&asks) {
            body.push_str(&format!("\n\n## {heading}\n\n{}", text.trim()));
        }
    }
    body.push('\n');
    body
}

/// The sections without those that have nothing below their heading, and no heading of a lower level either.
fn without_empty(sections: Vec<Section>) -> Vec<Section> {
    let levels: Vec<_> = sections.iter().map(Section::level).collect();
    let has_parts = |at: usize| levels.get(at + 1).is_some_and(|next| *next > levels[at]);
    let is_kept = |(at, section): &(usize, Section)| {
        section.heading.is_empty() || has_parts(*at) || section.lines.iter().any(|line| !line.trim().is_empty())
    };
    sections.into_iter().enumerate().filter(is_kept).map(|(_, section)| section).collect()
}

impl Section {
    /// The heading's level, from 1; 7 for a heading that is only bold.
    fn level(&self) -> usize {
        let marks = |line: &String, mark: char| line.len() - line.trim_start_matches(mark).len();
        match self.heading.as_slice() {
            [] => 0,
            [one] => Some(marks(one, '#')).filter(|level| *level > 0).unwrap_or(7),
            [_, underline, ..] => {
                if marks(underline, '=') > 0 {
                    1
                } else {
                    2
                }
            }
        }
    }
}

/// The template's lines by heading. A line within a block of code is not a heading.
fn sections(text: &str) -> Vec<Section> {
    let (mut sections, mut in_code) = (vec![Section::default()], false);
    let mut lines = text.lines().peekable();
    while let Some(text) = lines.next() {
        in_code ^= is_fence(text);
        let underline = lines.peek().filter(|next| !in_code && is_underline(text, next)).map(|next| quiet(next));
        if !in_code && (underline.is_some() || is_heading(text)) {
            if underline.is_some() {
                lines.next();
            }
            let heading = [quiet(text)].into_iter().chain(underline).collect();
            sections.push(Section { heading, lines: Vec::new() });
        } else if let Some(section) = sections.last_mut() {
            section.lines.push(text.to_owned());
        }
    }
    sections
}

fn is_fence(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with("```") || text.starts_with("~~~")
}

/// Whether a line is a heading, or looks like one because all of it is bold.
fn is_heading(text: &str) -> bool {
    let rest = text.trim_start_matches('#');
    let level = text.len() - rest.len();
    let bold = text.trim().trim_end_matches(':').trim_end();
    (1..=6).contains(&level) && (rest.is_empty() || rest.starts_with([' ', '\t']))
        || (bold.len() > 4 && bold.starts_with("**") && bold.ends_with("**") && !bold[2..bold.len() - 2].contains("**"))
}

/// Whether the next line makes this one a heading.
fn is_underline(text: &str, next: &str) -> bool {
    let next = next.trim_end();
    let is_rule = next.len() > 2 && (next.bytes().all(|byte| byte == b'=') || next.bytes().all(|byte| byte == b'-'));
    is_rule && text.chars().any(char::is_alphanumeric) && is_prose(text)
}

/// Whether a line is outside lists, tables, quotations, code and HTML.
fn is_prose(text: &str) -> bool {
    let (marker, rest) = item(text);
    let indented = text.starts_with([' ', '\t']);
    marker.is_empty()
        && !indented
        && !rest.starts_with(['|', '>', '#', '<'])
        && !is_fence(rest)
        && closing(rest).is_none()
}

/// A line's list marker with the blanks around it, and the rest.
fn item(text: &str) -> (&str, &str) {
    let rest = text.trim_start();
    let after_digits = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let after = match rest.strip_prefix(['-', '*', '+']) {
        Some(after) => Some(after),
        None if after_digits.len() < rest.len() => after_digits.strip_prefix(['.', ')']),
        None => None,
    };
    match after.filter(|after| after.is_empty() || after.starts_with(' ')) {
        Some(after) => text.split_at(text.len() - after.trim_start().len()),
        None => ("", rest),
    }
}

/// The lines without empty items and paragraphs, which tell authors what to write.
fn without_prose(lines: &[String]) -> Vec<String> {
    let (mut kept, mut in_code) = (Vec::new(), false);
    for text in lines {
        let fence = is_fence(text);
        let (marker, rest) = item(text);
        let is_empty_item = !marker.is_empty() && rest.is_empty();
        if in_code || fence || text.trim().is_empty() || !(is_prose(text) || is_empty_item) {
            kept.push(text.clone());
        }
        in_code ^= fence;
    }
    kept
}

fn outside_code(lines: &[String], mut each: impl FnMut(&str) -> Option<String>) -> Vec<String> {
    let mut in_code = false;
    let mut written = Vec::new();
    for text in lines {
        let fence = is_fence(text);
        match in_code || fence {
            true => written.push(text.clone()),
            false => written.extend(each(text)),
        }
        in_code ^= fence;
    }
    written
}

/// A line of the template with Hob's answer. `None` if it was already said.
fn answered_line(text: &str, facts: &Facts<'_>, issue: IssueNumber, closes: &mut bool) -> Option<String> {
    let (marker, rest) = item(text);
    if let Some(keyword) = closing(rest) {
        let is_first = !std::mem::replace(closes, true);
        return is_first.then(|| format!("{marker}{keyword} #{issue}"));
    }
    let ticked = rest.strip_prefix("[ ]").filter(|claim| !marker.is_empty() && facts.prove(claim));
    Some(ticked.map_or_else(|| quiet(text), |claim| format!("{marker}[x]{}", quiet(claim))))
}

/// The keyword of a line such as `Fixes # (issue)` or `Closes: #123`, which names the issue.
fn closing(text: &str) -> Option<&str> {
    const KEYWORDS: [&str; 9] =
        ["close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved"];
    let end = text.find(|c: char| !c.is_ascii_alphabetic())?;
    let (word, rest) = text.split_at(end);
    let names = rest.trim_start().strip_prefix(':').map_or_else(
        || rest.trim_start().starts_with('#'),
        |after| after.trim().is_empty() || after.trim_start().starts_with('#'),
    );
    (names && KEYWORDS.contains(&word.to_ascii_lowercase().as_str())).then_some(word)
}

/// The words of a text in lower case.
fn words(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    parts.map(str::to_lowercase).collect()
}

/// What a heading asks for.
fn asks(heading: &str) -> Asks {
    const OTHERWISE: [&str; 13] = [
        "type",
        "types",
        "kind",
        "breaking",
        "checklist",
        "current",
        "behavior",
        "behaviour",
        "known",
        "changelog",
        "screenshots",
        "migration",
        "release",
    ];
    let words = words(heading);
    let has = |any: &[&str]| words.iter().any(|word| any.contains(&word.as_str()));
    if has(&OTHERWISE) {
        Asks::Other
    } else if has(&["test", "tests", "testing", "tested", "verification", "verified", "verify", "evidence"]) {
        Asks::Evidence
    } else if has(&["issue", "issues", "ticket", "tickets", "fixes", "closes", "resolves"]) {
        Asks::Issue
    } else if has(&["summary", "description", "overview", "change", "changes", "changed"])
        || (has(&["what"]) && (words.len() == 1 || has(&["do", "does", "done", "did", "this", "new"])))
    {
        Asks::Changed
    } else if has(&["why", "motivation", "rationale", "reason", "reasons", "context", "background"]) {
        Asks::Why
    } else {
        Asks::Other
    }
}

/// What is known about the work.
struct Facts<'a> {
    evidence: &'a Evidence,
    sign_off: SignOff,
}

impl Facts<'_> {
    /// Whether every word of a box's text is understood, and the text is true.
    fn prove(&self, claim: &str) -> bool {
        const FILLERS: [&str; 38] = [
            "i", "ve", "have", "has", "had", "been", "my", "our", "the", "a", "an", "all", "any", "this", "these",
            "that", "it", "its", "is", "are", "was", "were", "be", "to", "in", "with", "for", "of", "and", "on", "by",
            "pr", "pull", "request", "change", "changes", "code", "commits",
        ];
        let (mut rest, mut commands) = (String::new(), Vec::new());
        for (number, part) in claim.split('`').enumerate() {
            match number % 2 {
                0 => rest.push_str(part),
                _ => commands.push(part.trim()),
            }
        }
        let words = words(&rest);
        let words: Vec<&str> = words.iter().map(String::as_str).filter(|word| !FILLERS.contains(word)).collect();
        let within = |known: &[&str]| words.iter().all(|word| known.contains(word));
        let has = |any: &[&str]| words.iter().any(|word| any.contains(word));
        const PASS: [&str; 7] = ["pass", "passes", "passed", "passing", "green", "succeed", "succeeds"];
        const RUN: [&str; 5] = ["run", "ran", "locally", "local", "verified"];
        let passes = |subject: &[&str], marks: &[&str]| {
            let known = [&PASS[..], &RUN[..], subject, &["new", "existing", "suite", "unit"][..]].concat();
            within(&known) && has(&PASS) && has(subject) && self.passed(marks)
        };
        if !commands.is_empty() {
            let known = [&PASS[..], &RUN[..], &["tests", "test", "checks", "check"][..]].concat();
            let ran = commands.iter().all(|command| !command.is_empty() && self.passed(&[command]));
            return ran && within(&known) && (has(&PASS) || has(&["run", "ran"]));
        }
        let links =
            has(&["linked", "links", "link", "references", "referenced", "closes", "fixes", "related", "relevant"]);
        let to_issue = [
            "linked",
            "links",
            "link",
            "references",
            "referenced",
            "closes",
            "fixes",
            "related",
            "relevant",
            "issue",
            "existing",
            "corresponding",
            "description",
        ];
        let signs = ["signed", "sign", "signoff", "off", "dco", "commit", "every", "each"];
        (links && has(&["issue"]) && within(&to_issue))
            || passes(&["tests", "test"], &["test", "spec", "tox", "nox"])
            || passes(&["lint", "linter", "linters", "linting"], &["lint", "clippy", "ruff", "flake8"])
            || (self.sign_off == SignOff::Yes && within(&signs) && has(&["off", "signoff", "dco"]) && !words.is_empty())
    }

    /// Whether the checks are green, and the command of one of them contains one of `marks`.
    fn passed(&self, marks: &[&str]) -> bool {
        let green = matches!(self.evidence.verdict(), Verdict::Green | Verdict::RedToGreen { .. });
        green && self.evidence.head.iter().any(|check| marks.iter().any(|mark| check.command.contains(mark)))
    }
}

#[cfg(test)]
mod tests {
    use hob_domain::{CheckExit, CheckResult, CheckRun};

    use super::*;

    fn evidence(command: &str, exit: CheckExit) -> Evidence {
        let output = String::new();
        let check = CheckResult {
            command: command.to_owned(),
            exit,
            output,
            seconds: 2,
            run: CheckRun::Now,
            refused: None,
            tests: hob_domain::TestResults::default(),
        };
        Evidence { base: Vec::new(), head: vec![check] }
    }

    fn green() -> Evidence {
        evidence("make test", CheckExit::Passed)
    }

    fn fill(text: &str) -> String {
        let (changed, evidence) = ("Reads the zone.".to_owned(), "**Green**.".to_owned());
        let parts = Parts { issue: IssueNumber(7), changed, evidence };
        filled(PullTemplate { text, sign_off: SignOff::Yes }, &parts, &green()).replace('\u{200b}', "<zwsp>")
    }

    #[test]
    fn a_template_is_filled_below_its_headings() {
        let template = "## Description\n\n<!-- What,\nand why? -->\nPlease include a summary of the changes, @team.\n\n\
            Fixes # (issue)\n\n## Type of change\n\nPlease delete options that are not relevant.\n\n- [ ] Bug fix\n\
            - [ ] Breaking change\n\n## How Has This Been Tested?\n\nPlease describe the tests.\n\n- [ ] Test A\n\n\
            ## Checklist:\n\n- [ ] My code follows the style of @acme/core\n\
            - [ ] New and existing unit tests pass locally with my changes\n- [ ] I have linked the related issue\n\
            - [ ] All commits are signed off (DCO)\n";
        insta::assert_snapshot!(fill(template), @r"
        ## Description

        Reads the zone.

        Fixes #7

        ## Type of change

        Please delete options that are not relevant.

        - [ ] Bug fix
        - [ ] Breaking change

        ## How Has This Been Tested?

        **Green**.

        - [ ] Test A

        ## Checklist:

        - [ ] My code follows the style of @<zwsp>acme/core
        - [x] New and existing unit tests pass locally with my changes
        - [x] I have linked the related issue
        - [x] All commits are signed off (DCO)
        ");
    }

    #[test]
    fn what_finds_no_place_is_appended() {
        insta::assert_snapshot!(fill("# Screenshots\r\n\r\n```\r\n# Summary\r\nFixes #1\r\n```\r\n"), @r"
        Fixes #7

        # Screenshots

        ```
        # Summary
        Fixes #1
        ```

        ## What changed

        Reads the zone.

        ## Evidence

        **Green**.
        ");
        insta::assert_snapshot!(fill("**Summary**:\n\nTests\n-----\n\n### Related issue(s)\n- \n"), @r"
        **Summary**:

        Reads the zone.

        Tests
        -----

        **Green**.

        ### Related issue(s)

        Fixes #7
        ");
    }

    /// Field note N81: the first screen is not a row of empty headings.
    #[test]
    fn what_and_why_are_answered_and_a_heading_without_anything_goes() {
        let template = "# Pull request\n\n## What\n\n<!-- what? -->\n\n## Why\n\n## Screenshots\n\n## Checklist\n\n\
            - [ ] Tests pass\n\n## Notes\n\n";
        insta::assert_snapshot!(fill(template), @"
        Fixes #7

        # Pull request

        ## What

        Reads the zone.

        ## Why

        Issue #7 asks for it.

        ## Checklist

        - [x] Tests pass

        ## Evidence

        **Green**.
        ");
    }

    #[test]
    fn only_the_issue_of_the_work_is_closed_and_once() {
        for template in [
            "Closes: #123\nresolves #4\n",
            "- Fixes #ISSUE\n",
            "Closes:\n",
            "See #9, which closes #8.\n",
            "\n",
            "<!-- x",
        ] {
            let body = fill(template);
            let named: Vec<&str> = body.match_indices('#').map(|(at, _)| &body[at..]).collect();
            let named = named.iter().filter(|rest| rest[1..].starts_with(|c: char| c.is_ascii_digit())).count();
            assert!(named == 1 && body.contains(" #7\n"), "{body}");
        }
    }

    #[test]
    fn a_heading_is_asked_what_it_says() {
        for (heading, kind) in [
            ("## Summary", Asks::Changed),
            ("What does this PR do?", Asks::Changed),
            ("#### What this PR does / why we need it:", Asks::Changed),
            ("Description of changes", Asks::Changed),
            ("## What", Asks::Changed),
            ("What was done?", Asks::Changed),
            ("## Why", Asks::Why),
            ("**Motivation and context**", Asks::Why),
            ("Type of change", Asks::Other),
            ("What kind of change does this PR introduce?", Asks::Other),
            ("Breaking changes", Asks::Other),
            ("What is the current behavior?", Asks::Other),
            ("Test plan", Asks::Evidence),
            ("How has this been tested?", Asks::Evidence),
            ("Related issue", Asks::Issue),
            ("Which issue(s) this PR fixes:", Asks::Issue),
            ("Known issues", Asks::Other),
            ("Checklist", Asks::Other),
            ("", Asks::Other),
        ] {
            assert_eq!(asks(heading), kind, "{heading}");
        }
    }

    #[test]
    fn a_box_is_ticked_only_where_all_of_it_is_known_to_be_true() {
        let green = green();
        let red = evidence("make test", CheckExit::Failed { code: 1 });
        let other = evidence("cargo fmt --check", CheckExit::Passed);
        let lints = evidence("npm run lint", CheckExit::Passed);
        for (claim, evidence, sign_off, holds) in [
            (" Tests pass", &green, SignOff::No, true),
            (" All existing unit tests pass locally", &green, SignOff::No, true),
            (" I ran `make test`", &green, SignOff::No, true),
            (" I ran `make lint`", &green, SignOff::No, false),
            (" Tests pass", &red, SignOff::No, false),
            (" Tests pass", &other, SignOff::No, false),
            (" Tests pass on Windows", &green, SignOff::No, false),
            (" I have added tests that pass", &green, SignOff::No, false),
            (" Linting passes", &lints, SignOff::No, true),
            (" Linting passes", &green, SignOff::No, false),
            (" This PR closes an existing issue", &red, SignOff::No, true),
            (" I have discussed the issue", &green, SignOff::No, false),
            (" Commits are signed-off", &green, SignOff::Yes, true),
            (" Commits are signed-off", &green, SignOff::No, false),
            (" Commits are signed", &green, SignOff::Yes, false),
            (" I have read the contributing guide", &green, SignOff::Yes, false),
            ("", &green, SignOff::Yes, false),
        ] {
            assert_eq!(Facts { evidence, sign_off }.prove(claim), holds, "{claim}");
        }
    }
}
