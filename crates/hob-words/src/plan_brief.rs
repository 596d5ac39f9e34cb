//! What an agent reads about a plan, in its brief.

use std::fmt::Write;

use hob_domain::{FILES_MAX, Nonce, QUESTIONS_MAX, STEPS_MAX, SUB_ISSUES_MAX, WorkPlan};
use hob_text::push_fenced;

/// What an agent is told about a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanBrief<'a> {
    /// It makes a plan, in place of this one if there is one.
    Make(Option<&'a WorkPlan>),
    /// It splits the issue, in place of this plan if there is one.
    Split(Option<&'a WorkPlan>),
    /// It carries out this plan.
    CarryOut(&'a WorkPlan),
}

impl PlanBrief<'_> {
    /// Writes this part of a brief.
    pub(crate) fn write(self, text: &mut String, fence: &Nonce) {
        match self {
            Self::Split(before) => {
                push_before(text, fence, before);
                // Writing to a string cannot fail.
                writeln!(
                    text,
                    "\nSplit this issue into smaller ones and change nothing: the folder is only read now. A person looks at the list, \
                     and Hob opens the issues when it is approved. Look at what is there, then end with the list as your last words (the \
                     summary, where you end with a tool). It has this form:\n\n\
                     Summary: the goal and what is left out, in one or two sentences\n\
                     Issues:\n1. the title of the first one, in one line\n    \
                     its text in Markdown, indented: what is to be done, where, and how one sees that it is done\n    \
                     After: the numbers of those before it in this list that it has to wait for, such as 1, 2; no such line where it waits for \
                     none\n2. the next one, {SUB_ISSUES_MAX} at most\n\
                     Questions:\n- one line for each open question, {QUESTIONS_MAX} at most; no such section where nothing is open"
                )
                .ok();
            }
            Self::Make(before) => {
                push_before(text, fence, before);
                // Writing to a string cannot fail.
                writeln!(
                    text,
                    "\nMake a plan and change nothing: the folder is only read now. A person looks at the plan, and the work \
                     begins when it is approved. Look at what is there, then end with the plan as your last words (the summary, \
                     where you end with a tool). It has this form:\n\n\
                     Summary: what will be done, in one or two sentences\n\
                     Steps:\n- one line for each step, {STEPS_MAX} at most\n\
                     Files:\n- one path for each file that will be changed or made, relative to this folder, {FILES_MAX} at most; \
                     `name/` for all of a folder\n\
                     Questions:\n- one line for each open question, {QUESTIONS_MAX} at most; no such section where nothing is open"
                )
                .ok();
            }
            Self::CarryOut(plan) => {
                text.push_str(
                    "\nA person approved this plan: carry it out. If other files have to be touched, say in your summary which \
                     and why.\n",
                );
                push_fenced(text, fence, "plan", &plan.plain());
            }
        }
    }
}

fn push_before(text: &mut String, fence: &Nonce, before: Option<&WorkPlan>) {
    if let Some(before) = before {
        text.push_str("\nThis plan of yours was not approved. The answer says what should be different.\n");
        push_fenced(text, fence, "plan", &before.plain());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::plan;

    #[test]
    fn the_brief_asks_for_a_plan_or_gives_the_approved_one() {
        let told = |brief: PlanBrief<'_>| {
            let mut text = String::new();
            brief.write(&mut text, &"f3nce".into());
            text
        };
        let (first, again) = (told(PlanBrief::Make(None)), told(PlanBrief::Make(Some(&plan()))));
        assert!(first.contains("Make a plan and change nothing") && !first.contains("f3nce"), "{first}");
        assert!(again.contains("was not approved") && again.contains("--- plan f3nce\nSummary: Accept empty files."));
        let approved = told(PlanBrief::CarryOut(&plan()));
        assert!(
            approved.contains("approved this plan: carry it out") && !approved.contains("Make a plan"),
            "{approved}"
        );
    }
}
