//! The plan of the work, if a person wants to see one first: when it is made, how it is read from an agent's closing
//! words, and exactly what an approval covers. `plan_text` has the texts for people.

use hob_text::{count, shortened, visible};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    NoPlan, SubIssue,
    plans::{
        plan_words::{is_nothing, item, push_words},
        sub_issues::read_sub_issues,
    },
};

/// Characters of a body that make an issue large.
const LARGE_BODY: usize = 4_000;
/// Items of a task list that make an issue large.
const LARGE_LIST: usize = 5;

/// Steps of a plan.
pub const STEPS_MAX: usize = 15;
/// Files and folders of a plan.
pub const FILES_MAX: usize = 40;
/// Open questions of a plan.
pub const QUESTIONS_MAX: usize = 5;
/// Characters of a step, a question and a path.
const LINE_MAX: usize = 240;
/// Characters of a plan's summary.
const SUMMARY_MAX: usize = 600;

/// When a plan comes before the work: the setting `plan`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlanFirst {
    /// For each issue.
    Always,
    /// For an issue with a long text or a long task list.
    Large,
    /// Only if a person asks for it on the issue.
    Never,
}

impl PlanFirst {
    /// Whether an issue with this body is planned first, even if no person asks for it.
    pub fn applies_to(self, body: &str) -> bool {
        match self {
            Self::Always => true,
            Self::Large => is_large(body),
            Self::Never => false,
        }
    }
}

/// Whether an issue is large by the visible part of its body: 4000 characters, or 5 items of a task list.
fn is_large(body: &str) -> bool {
    let (body, _) = visible(body);
    let is_item = |line: &&str| {
        let line = line.trim_start();
        ["- [ ]", "* [ ]", "+ [ ]"].iter().any(|mark| line.starts_with(mark))
    };
    body.trim().chars().count() >= LARGE_BODY || body.lines().filter(is_item).count() >= LARGE_LIST
}

/// What an agent means to do.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkPlan {
    /// What will be done, in one or two sentences; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// The steps, one line each; empty if the issue is split.
    #[serde(default)]
    pub steps: Vec<String>,
    /// The issues that it is split into; empty if it is not split.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub issues: Vec<SubIssue>,
    /// The files to change or create, relative to the repository's top; a folder means all files in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Open questions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<String>,
}

/// A section of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Summary,
    Steps,
    Files,
    Questions,
    Issues,
}

impl WorkPlan {
    /// Reads a plan from an agent's closing words: sections with the headings `Summary`, `Steps`, `Files` and
    /// `Questions` in any markup.
    ///
    /// # Errors
    /// [`NoPlan`] if there are no steps, a section is too long, or a path cannot be in the repository.
    pub fn read(words: &str) -> Result<Self, NoPlan> {
        let (words, _) = visible(words);
        let plan = Self::sections(words.lines())?;
        if plan.steps.is_empty() { Err(NoPlan::NoSteps) } else { Ok(plan) }
    }

    /// Reads the issues of a split from an agent's closing words: below the heading `Issues`, with a summary before and
    /// questions after.
    ///
    /// # Errors
    /// [`NoPlan`] if there are no issues, a section is too long, or the order is impossible.
    pub fn read_split(words: &str) -> Result<Self, NoPlan> {
        let (words, _) = visible(words);
        let lines: Vec<&str> = words.lines().collect();
        // Indented lines belong to an issue, regardless of their words.
        let begins =
            |line: &&str, wanted| !line.starts_with([' ', '\t']) && heading(line).is_some_and(|(at, _)| at == wanted);
        let (before, rest) =
            lines.split_at(lines.iter().position(|line| begins(line, Section::Issues)).unwrap_or(lines.len()));
        let rest = rest.get(1..).unwrap_or_default();
        let (issues, after) =
            rest.split_at(rest.iter().position(|line| begins(line, Section::Questions)).unwrap_or(rest.len()));
        let plan = Self::sections(before.iter().chain(after).copied())?;
        Ok(Self { issues: read_sub_issues(issues)?, steps: Vec::new(), ..plan })
    }

    fn sections<'a>(lines: impl Iterator<Item = &'a str>) -> Result<Self, NoPlan> {
        let mut plan = Self::default();
        let mut section = Section::Summary;
        for line in lines.map(str::trim_end).filter(|line| !line.trim().is_empty()) {
            let (line, is_heading) = match heading(line) {
                Some((found, rest)) => {
                    section = found;
                    (rest, true)
                }
                None => (line, false),
            };
            let (is_item, text) = item(line);
            if text.is_empty() {
                continue;
            }
            let lines = match section {
                Section::Summary | Section::Issues => {
                    push_words(&mut plan.summary, text, SUMMARY_MAX);
                    continue;
                }
                Section::Steps => &mut plan.steps,
                Section::Files => &mut plan.files,
                Section::Questions => &mut plan.questions,
            };
            if section == Section::Files {
                lines.extend(path(text)?.filter(|path| !lines.contains(path)));
                continue;
            }
            match lines.last_mut().filter(|_| !is_item && !is_heading) {
                Some(last) => push_words(last, text, LINE_MAX),
                None => lines.push(shortened(text, LINE_MAX)),
            }
        }
        plan.questions.retain(|question| !is_nothing(question));
        plan.bounded()
    }

    fn bounded(self) -> Result<Self, NoPlan> {
        for (many, noun, max) in [
            (self.steps.len(), "step", STEPS_MAX),
            (self.files.len(), "file", FILES_MAX),
            (self.questions.len(), "question", QUESTIONS_MAX),
        ] {
            if many > max {
                return Err(NoPlan::TooLong(count(many, noun), max));
            }
        }
        Ok(self)
    }

    /// Whether the plan names this file or a folder that contains it.
    pub fn names(&self, path: &str) -> bool {
        self.files.iter().any(|named| {
            let named = named.trim_end_matches('/');
            path == named || path.strip_prefix(named).is_some_and(|rest| rest.starts_with('/'))
        })
    }

    /// Identifies exactly this plan of exactly this issue. `issue` is the hash of its title and body.
    pub(crate) fn mark(&self, issue: &str) -> String {
        let mut digest = Sha256::new().chain_update(issue);
        for lines in [std::slice::from_ref(&self.summary), &self.steps, &self.files, &self.questions] {
            digest.update([1]);
            for line in lines {
                digest.update(line);
                digest.update([0]);
            }
        }
        for issue in &self.issues {
            digest.update([2]);
            for part in [&issue.title, &issue.body] {
                digest.update(part);
                digest.update([0]);
            }
            for nth in &issue.after {
                digest.update(nth.to_string());
                digest.update([0]);
            }
        }
        digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The section that a line begins, and what follows its heading.
fn heading(line: &str) -> Option<(Section, &str)> {
    let bare = line.trim().trim_start_matches(['#', '*', '_', ' ']);
    let name: &str = bare.split([':', '*', '_']).next().unwrap_or_default().trim();
    let section = match name.to_ascii_lowercase().as_str() {
        "summary" | "plan" => Section::Summary,
        "steps" => Section::Steps,
        "files" => Section::Files,
        "questions" | "open questions" => Section::Questions,
        "issues" => Section::Issues,
        _other => return None,
    };
    let rest = bare.get(name.len()..).unwrap_or_default().trim_start_matches([':', '*', '_', ' ']);
    // A sentence that begins with the word is not a heading.
    let is_heading = rest.is_empty() || bare[name.len()..].trim_start_matches(['*', '_', ' ']).starts_with(':');
    is_heading.then_some((section, rest))
}

/// The path in a line of the files, within back-ticks or as its first word. `None` if the line says that there are no
/// files.
fn path(line: &str) -> Result<Option<String>, NoPlan> {
    let quoted = line.split('`').nth(1).filter(|path| !path.trim().is_empty());
    let bare = || line.split([' ', '\t']).next().unwrap_or_default().trim_end_matches([',', ':', ';']);
    let named = quoted.unwrap_or_else(bare).trim();
    if quoted.is_none() && is_nothing(named) {
        return Ok(None);
    }
    let path = named.strip_prefix("./").unwrap_or(named);
    let is_part = |part: &str| !part.is_empty() && part != "." && part != "..";
    let is_relative = path.strip_suffix('/').unwrap_or(path).split('/').all(is_part) && !path.contains(['\\', '\n']);
    match is_relative && path.chars().count() <= LINE_MAX && !path.chars().any(char::is_control) {
        true => Ok(Some(path.to_owned())),
        false => Err(NoPlan::BadPath(shortened(path, 80))),
    }
}

/// The state of an issue's plan.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanLog {
    /// Whether the agent is making one now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub under_way: bool,
    /// The last plan that it made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposed: Option<WorkPlan>,
    /// The mark of the approved plan, for the issue as it was at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved: Option<String>,
}

impl PlanLog {
    /// Whether there was no plan.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A plan.
    pub(crate) fn plan() -> WorkPlan {
        let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        WorkPlan {
            summary: "Accept empty files.".to_owned(),
            steps: lines(&["Return an empty document", "Add a test"]),
            files: lines(&["src/parse.rs", "tests/"]),
            issues: Vec::new(),
            questions: lines(&["Is a file of blanks empty, too?"]),
        }
    }

    #[test]
    fn large_is_what_is_long_or_has_a_long_list() {
        let list = |items: usize| "- [ ] one\n".repeat(items);
        for (body, large) in [
            (String::new(), false),
            ("x".repeat(3_999), false),
            ("x".repeat(4_000), true),
            (format!("{}{}", "x".repeat(3_900), " ".repeat(500)), false),
            (format!("<!-- {} -->", "x".repeat(9_000)), false),
            (list(4), false),
            (list(5), true),
            ("- [x] done\n".repeat(9), false),
            ("  * [ ] one\n".repeat(5), true),
            ("- one\n".repeat(9), false),
        ] {
            let short: String = body.chars().take(20).collect();
            assert_eq!(PlanFirst::Large.applies_to(&body), large, "{short}");
            assert!(PlanFirst::Always.applies_to(&body) && !PlanFirst::Never.applies_to(&body));
        }
    }

    #[test]
    fn a_plan_is_read_however_it_is_marked_up() {
        for words in [
            "Summary: Accept empty files.\nSteps:\n- Return an empty document\n- Add a test\nFiles:\n- src/parse.rs\n- tests/\n\
             Questions:\n- Is a file of blanks empty, too?",
            "Accept empty files.\n\n## Steps\n\n1. Return an empty\n   document\n2. Add a test\n\n## Files\n\n- `src/parse.rs`: the \
             parser\n- ./tests/ (new)\n- src/parse.rs\n\n## Open questions\n\n* Is a file of blanks empty, too?\n* None.",
            "**Plan:** Accept empty files.\n**Steps**\n1) Return an empty document\n2) Add a test\n**Files:**\nsrc/parse.rs,\n\
             tests/\n**Questions**:\nIs a file of blanks empty, too?",
        ] {
            assert_eq!(WorkPlan::read(words), Ok(plan()), "{words}");
        }
        let least = WorkPlan::read("Steps: Do it\nFiles: none\nQuestions:\n- none").unwrap();
        assert_eq!(
            (least.steps.as_slice(), least.files.len(), least.questions.len()),
            (&["Do it".to_owned()][..], 0, 0)
        );
        let named = WorkPlan::read("Steps of a dance.\nSteps:\n- Files are read first\n- Plan B").unwrap();
        assert_eq!((named.summary.as_str(), named.steps.len()), ("Steps of a dance.", 2));
    }

    #[test]
    fn what_is_no_plan_says_why() {
        let steps = |many: usize| format!("Steps:\n{}", "- x\n".repeat(many));
        let files: String = (0..41).map(|n| format!("- f{n}\n")).collect();
        for (words, why) in [
            ("I did it all already.".to_owned(), "the agent gave no plan: its last words have no steps"),
            (String::new(), "the agent gave no plan: its last words have no steps"),
            (steps(16), "the agent's plan is too long: it has 16 steps, and may have 15"),
            (format!("Steps: x\nFiles:\n{files}"), "the agent's plan is too long: it has 41 files, and may have 40"),
        ] {
            assert_eq!(WorkPlan::read(&words).unwrap_err().to_string(), why);
        }
        for path in ["/etc/passwd", "../x", "a/../b", "a//b", "`a\\b`", "`.`", "`a/./b`", &"x".repeat(241)] {
            let words = format!("Steps: x\nFiles:\n- {path}");
            assert!(matches!(WorkPlan::read(&words), Err(NoPlan::BadPath(_))), "{path}");
        }
    }

    #[test]
    fn a_plan_stays_short_whatever_an_agent_writes() {
        let long = format!("{}\nSteps:\n- {}\n  {}", "s ".repeat(9_000), "x".repeat(9_000), "y ".repeat(9_000));
        let plan = WorkPlan::read(&long).unwrap();
        assert_eq!((plan.summary.chars().count(), plan.steps[0].chars().count()), (600, 240));
    }

    #[test]
    fn a_plan_names_its_files_and_what_is_in_its_folders() {
        for (path, named) in [
            ("src/parse.rs", true),
            ("src/parse.rs.orig", false),
            ("src", false),
            ("tests/a/b.rs", true),
            ("tests", true),
            ("tests2/a.rs", false),
        ] {
            assert_eq!(plan().names(path), named, "{path}");
        }
    }

    #[test]
    fn a_mark_is_of_one_plan_and_one_text_of_the_issue() {
        let mark = plan().mark("a");
        assert_eq!(mark, plan().mark("a"));
        let moved = WorkPlan { steps: plan().files, files: plan().steps, ..plan() };
        for (other, issue) in [(plan(), "b"), (moved, "a"), (WorkPlan { summary: String::new(), ..plan() }, "a")] {
            assert_ne!(mark, other.mark(issue), "{other:?} {issue}");
        }
    }
}
