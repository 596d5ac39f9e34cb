//! An agent's plan, and the issues that it would split one into.

pub(crate) mod plan_text;
pub(crate) mod plan_words;
pub(crate) mod sub_issues;
pub(crate) mod work_plan;
