//! A plan in words: what it may cost, as the agent wrote it, and as the status comment shows it. Because an agent wrote
//! the plan, it is made harmless and short everywhere.

use hob_text::{
    count, inert_line,
    markup::{code_span, folded, line},
};

use crate::{
    Diff, Quote, WorkPlan,
    money::spend::dollars,
    plans::sub_issues::{plain_sub_issues, shown_sub_issues},
};

/// Files that are shown without unfolding: as many as a phone has room for.
const FILES_OPEN: usize = 6;

/// What carrying out a plan may cost, in millionths of a US dollar. `None` means no limit.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct CostLimit {
    /// One attempt.
    pub attempt: Option<u64>,
    /// What remains for the issue.
    pub issue: Option<u64>,
    /// What it will probably cost.
    pub quote: Option<Quote>,
}

impl std::fmt::Display for CostLimit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(quote) = self.quote {
            write!(f, "The whole issue will probably cost {quote}. ")?;
        }
        match (self.attempt, self.issue) {
            (None, None) => write!(f, "No limit of money is set for the work."),
            (Some(attempt), None) => {
                write!(f, "The work costs {} at most in one attempt (`budget.attempt`).", dollars(attempt))
            }
            (Some(attempt), Some(issue)) if attempt < issue => write!(
                f,
                "The work costs {} at most in one attempt (`budget.attempt`), and {} in all (`budget.issue`).",
                dollars(attempt),
                dollars(issue)
            ),
            (_, Some(issue)) => {
                write!(f, "The work costs {} at most, what is left of `budget.issue`.", dollars(issue))
            }
        }
    }
}

impl WorkPlan {
    /// The plan in the format in which it is read.
    pub fn plain(&self) -> String {
        let mut text = format!("Summary: {}\n", self.summary);
        text.push_str(&if self.issues.is_empty() { "Steps:\n".to_owned() } else { plain_sub_issues(&self.issues) });
        let mut list = |name: &str, lines: &[String]| {
            if !name.is_empty() && !lines.is_empty() {
                line(&mut text, name);
            }
            for one in lines {
                line(&mut text, &format!("- {one}"));
            }
        };
        list("", &self.steps);
        list("Files:", &self.files);
        list("Questions:", &self.questions);
        text.trim_end().to_owned()
    }

    /// The text of a plan that waits for approval.
    pub(crate) fn proposed(&self, cost: CostLimit) -> String {
        if self.issues.is_empty() {
            return format!("The agent has a plan. Nothing is changed before it is approved. {cost}");
        }
        let issues = count(self.issues.len(), "issue");
        format!("The agent proposes to split this issue into {issues}. None is opened before the split is approved.")
    }

    /// The plan as the status comment shows it: short lines that wrap well on a phone, and the files folded if there
    /// are many.
    pub fn shown(&self) -> String {
        let mut text = String::new();
        let summary = if self.summary.is_empty() { String::new() } else { format!(": {}", inert_line(&self.summary)) };
        line(&mut text, &format!("**Plan**{summary}\n"));
        if !self.issues.is_empty() {
            text.push_str(&shown_sub_issues(&self.issues));
            self.show_questions(&mut text);
            return text;
        }
        for (number, step) in self.steps.iter().enumerate() {
            line(&mut text, &format!("{}. {}", number + 1, listed(step)));
        }
        let files: String = self.files.iter().map(|file| format!("- {}\n", code_span(file))).collect();
        match self.files.len() {
            0 => line(&mut text, "\nIt names no files."),
            many if many > FILES_OPEN => {
                line(&mut text, "");
                text.push_str(&folded(&count(many, "file"), &files));
            }
            many => text.push_str(&format!("\n**{}**\n\n{files}", count(many, "file"))),
        }
        self.show_questions(&mut text);
        text
    }

    fn show_questions(&self, text: &mut String) {
        if self.questions.is_empty() {
            return;
        }
        line(text, "\n**Open questions**\n");
        for question in &self.questions {
            line(text, &format!("- {}", listed(question)));
        }
    }

    /// The changed files that the plan does not name.
    pub fn outside<'d>(&self, diff: &'d Diff) -> Vec<&'d str> {
        diff.files.iter().map(|file| file.path.as_str()).filter(|path| !self.names(path)).collect()
    }
}

/// A text as an item of a list that cannot begin a block: a heading, a fence, a list of its own.
fn listed(text: &str) -> String {
    let text = inert_line(text);
    let is_plain = text.starts_with(char::is_alphabetic) || (text.starts_with('`') && !text.starts_with("``"));
    if is_plain { text } else { format!("\u{200b}{text}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans::work_plan::tests::plan;

    #[test]
    fn the_cost_is_what_the_settings_leave() {
        let limit = |attempt, issue| CostLimit { attempt, issue, quote: None }.to_string();
        assert_eq!(limit(None, None), "No limit of money is set for the work.");
        let left = "The work costs $4.88 at most, what is left of `budget.issue`.";
        assert_eq!((limit(None, Some(4_880_000)), limit(Some(9_000_000), Some(4_880_000))), (left.into(), left.into()));
        assert_eq!(
            limit(Some(1_000_000), Some(4_880_000)),
            "The work costs $1.00 at most in one attempt (`budget.attempt`), and $4.88 in all (`budget.issue`)."
        );
        assert!(limit(Some(1_000_000), None).starts_with("The work costs $1.00 at most in one attempt"));
    }

    #[test]
    fn an_agent_reads_the_plan_in_the_form_in_which_it_wrote_it() {
        assert_eq!(WorkPlan::read(&plan().plain()), Ok(plan()));
        let least = WorkPlan { steps: vec!["Do it".to_owned()], ..WorkPlan::default() };
        assert_eq!(WorkPlan::read(&least.plain()), Ok(least));
    }

    #[test]
    fn a_plan_is_shown_in_short_lines_and_does_nothing() {
        let hostile = WorkPlan::read(
            "Close #9, @team\nSteps:\n- /hob approve\n- ``` @all\n- <img src=x> ![x](http://e.example)\nFiles:\n- `a b.rs`\n\
             Questions:\n- # Is [skip ci] read?",
        );
        let shown = hostile.unwrap().shown().replace('\u{200b}', "<zwsp>");
        insta::assert_snapshot!(shown, @r"
        **Plan**: Close #<zwsp>9, @<zwsp>team

        1. <zwsp>/hob approve
        2. <zwsp>``` @<zwsp>all
        3. <zwsp>&lt;img src=x> !\[x](http://e.example)

        **1 file**

        - `a b.rs`

        **Open questions**

        - <zwsp># Is [skip ci] read?
        ");
        insta::assert_snapshot!(plan().shown(), @r"
        **Plan**: Accept empty files.

        1. Return an empty document
        2. Add a test

        **2 files**

        - `src/parse.rs`
        - `tests/`

        **Open questions**

        - Is a file of blanks empty, too?
        ");
        let many = WorkPlan { files: (0..7).map(|n| format!("src/{n}.rs")).collect(), questions: Vec::new(), ..plan() };
        assert!(many.shown().ends_with("- `src/6.rs`\n\n</details>\n"), "{}", many.shown());
    }
}
