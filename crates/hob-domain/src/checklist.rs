//! An agent's checklist: its steps and their states, as the status comment shows them while the agent works. Because an
//! agent wrote it, it is made harmless and short everywhere.

use hob_text::{count, inert_line, markup::folded, visible};
use serde::{Deserialize, Serialize};

/// The most bytes of a checklist that people see.
const SHOWN_MAX: usize = 2_048;
/// The most steps that are kept.
const STEPS_MAX: usize = 50;
/// Characters of a step.
const STEP_MAX: usize = 80;
/// Steps that are listed singly; on a phone, more would push the rest of the comment away.
const LINES_MAX: usize = 12;
/// The sign of a step that is not done.
const TODO: &str = "○";
/// Bytes reserved for the text around the steps.
const AROUND: usize = 160;

/// The state of a step.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepState {
    /// Not begun.
    #[default]
    Todo,
    /// The agent is working on it.
    Doing,
    /// Done.
    Done,
}

/// A step and its state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChecklistStep {
    /// The step in one line.
    pub step: String,
    /// Its state.
    pub state: StepState,
}

/// An agent's steps, in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checklist(Vec<ChecklistStep>);

impl Checklist {
    /// A checklist of these steps, up to the number that is kept. `None` if there are no steps.
    pub fn new(steps: impl IntoIterator<Item = (String, StepState)>) -> Option<Self> {
        let kept = steps.into_iter().filter_map(|(step, state)| {
            let (step, _) = visible(&step);
            let line = step.split_whitespace().collect::<Vec<_>>().join(" ");
            let short: String = line.chars().take(STEP_MAX).collect();
            let step = if short.len() < line.len() { format!("{}…", short.trim_end()) } else { short };
            (!step.is_empty()).then_some(ChecklistStep { step, state })
        });
        let steps: Vec<_> = kept.take(STEPS_MAX).collect();
        (!steps.is_empty()).then_some(Self(steps))
    }

    /// The same with `form` applied to its steps.
    #[must_use]
    pub fn in_words(self, form: impl Fn(&str) -> String) -> Self {
        Self(self.0.into_iter().map(|step| ChecklistStep { step: form(&step.step), ..step }).collect())
    }

    /// Its progress, in a few words.
    pub fn standing(&self) -> String {
        format!("{} of {} done", self.done(), count(self.0.len(), "step"))
    }

    /// Its progress, in percent.
    pub fn percent(&self) -> u8 {
        u8::try_from(self.done() * 100 / self.0.len().max(1)).unwrap_or(100)
    }

    fn done(&self) -> usize {
        self.0.iter().filter(|step| step.state == StepState::Done).count()
    }

    /// The checklist while the agent works.
    pub fn shown(&self) -> String {
        format!("{}:\n\n{}", self.standing(), self.lines("**Now**:"))
    }

    /// The checklist after the run: a summary that unfolds to the steps. The step that the agent was working on is not
    /// done.
    pub fn folded(&self) -> String {
        folded(&format!("{} by the agent", self.standing()), &self.lines(TODO))
    }

    /// One line for each step; `doing` precedes the current one. In a long list the finished steps are grouped, and
    /// steps that do not fit are counted.
    fn lines(&self, doing: &str) -> String {
        let is_done = |step: &&ChecklistStep| step.state == StepState::Done;
        let mut lines = Vec::new();
        let mut steps: Vec<_> = self.0.iter().collect();
        if steps.len() > LINES_MAX {
            let done = steps.iter().filter(|step| is_done(step)).count();
            if done > 0 {
                lines.push(format!("- ✓ {}", count(done, "step")));
            }
            steps.retain(|step| !is_done(step));
        }
        let (mut bytes, mut left) = (lines.iter().map(String::len).sum::<usize>(), steps.len());
        for step in steps {
            let sign = match step.state {
                StepState::Todo => TODO,
                StepState::Doing => doing,
                StepState::Done => "✓",
            };
            let line = format!("- {sign} {}", inert_line(&step.step));
            if lines.len() >= LINES_MAX || bytes + line.len() > SHOWN_MAX - AROUND {
                break;
            }
            bytes += line.len() + 1;
            left -= 1;
            lines.push(line);
        }
        if left > 0 {
            lines.push(format!("- and {left} more"));
        }
        lines.join("\n")
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A checklist of three steps.
    pub(crate) fn checklist() -> Checklist {
        let steps =
            [("Look at the parser", StepState::Done), ("Add a test", StepState::Doing), ("Mend it", StepState::Todo)];
        Checklist::new(steps.map(|(step, state)| (step.to_owned(), state))).unwrap()
    }

    #[test]
    fn a_checklist_says_how_far_it_is_and_then_each_step() {
        insta::assert_snapshot!(checklist().shown(), @r"
        1 of 3 steps done:

        - ✓ Look at the parser
        - **Now**: Add a test
        - ○ Mend it
        ");
        insta::assert_snapshot!(checklist().folded(), @r"
        <details><summary>1 of 3 steps done by the agent</summary>

        - ✓ Look at the parser
        - ○ Add a test
        - ○ Mend it

        </details>
        ");
        assert_eq!(Checklist::new([]), None);
        assert_eq!(Checklist::new([(" \u{200b}\n".to_owned(), StepState::Todo)]), None);
    }

    #[test]
    fn a_long_checklist_stays_short() {
        let many = (0..60).map(|n| {
            let state = match n {
                0..20 => StepState::Done,
                20 => StepState::Doing,
                _ => StepState::Todo,
            };
            (format!("Step {n}"), state)
        });
        let shown = Checklist::new(many).unwrap().shown();
        assert!(
            shown.starts_with("20 of 50 steps done:\n\n- ✓ 20 steps\n- **Now**: Step 20\n- ○ Step 21\n"),
            "{shown}"
        );
        assert!(shown.ends_with("\n- and 19 more"), "{shown}");
        for step in ["x".repeat(9_000), "<@a#1 ".repeat(900), "\u{1f980}".repeat(900)] {
            let list = Checklist::new(std::iter::repeat_n((step, StepState::Doing), 900)).unwrap();
            for shown in [list.shown(), list.folded()] {
                assert!(shown.len() <= SHOWN_MAX, "{} bytes", shown.len());
            }
        }
    }

    /// Attack corpus H87, G83, for the agent's words while it works.
    #[test]
    fn a_step_does_nothing_in_a_comment() {
        let hostile = "Fixes #9 @team ![x](http://e.example) <img>\n/hob cancel\n```\n- [ ] x";
        let list = Checklist::new([(hostile.to_owned(), StepState::Todo)]).unwrap();
        let shown = list.shown();
        assert!(!shown.contains("@team") && !shown.contains("#9") && !shown.contains("<img"), "{shown}");
        assert_eq!(shown.lines().count(), 3, "{shown}");
    }

    #[test]
    fn steps_in_another_form_keep_their_state() {
        let steps = [("Write /w/tree/a", StepState::Done), ("Test", StepState::Todo)];
        let list = Checklist::new(steps.map(|(step, state)| (step.to_owned(), state))).unwrap();
        let told = list.in_words(|step| step.replace("/w/tree/", ""));
        let kept: Vec<_> = told.0.iter().map(|step| (step.step.as_str(), step.state)).collect();
        assert_eq!(kept, [("Write a", StepState::Done), ("Test", StepState::Todo)]);
    }
}
