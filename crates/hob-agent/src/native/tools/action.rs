//! The actions that a model can request.

use hob_config::Impact;
use hob_domain::investigation::{CaseAction, Grounds};

use crate::{
    native::tools::{
        case, edit, fetch, finish, job, list, mcp, patch, plan, program, read, search, shell, think, write,
    },
    report::first_line,
};

/// One call, read.
#[derive(Debug)]
pub(in crate::native) enum Action {
    /// Shows a file.
    Read(read::Read),
    /// Shows names.
    List(list::List),
    /// Reviews for text.
    Search(search::Search),
    /// Shows a page.
    Fetch(fetch::Fetch),
    /// Replaces a piece of a file.
    Edit(edit::Edit),
    /// Makes or replaces a file.
    Write(write::Write),
    /// Changes several files at once.
    Patch(patch::ApplyPatch),
    /// Runs a command in the shell.
    Shell(shell::Shell),
    /// Waits for a command in the background.
    Job(job::Look),
    /// Runs a configured program.
    Program(program::Run),
    /// Calls a tool of an MCP server.
    Mcp(mcp::Call),
    /// Shows a piece of evidence.
    ReadEvidence(case::ReadEvidence),
    /// Changes the record of an investigation.
    Case(CaseAction),
    /// Sets the plan of the work.
    Plan(plan::Plan),
    /// Thinks, and does nothing.
    Think(think::Think),
    /// Ends the run with a question.
    Ask(finish::Ask),
    /// Ends the run with the state of the work.
    ForPerson(finish::ForPerson),
    /// Ends the run for another profile to go on.
    PassOn(finish::PassOn),
    /// Ends the run.
    Done(finish::Done),
}

/// The relation of an action to the others of its reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::native) enum Effect {
    /// It only looks, or needs nothing of the others: it may run beside others that do.
    Independent,
    /// It may change files: it runs alone, in its order.
    MayChange,
    /// It ends the run, or speaks: in its order.
    Speaks,
}

impl Action {
    /// The tool, by Hob's own name for it: a model may have called it by another.
    pub(in crate::native) fn tool(&self) -> &str {
        match self {
            Self::Read(_) => "read",
            Self::List(_) => "list",
            Self::Search(_) => "search",
            Self::Fetch(_) => fetch::NAME,
            Self::Edit(_) => "edit",
            Self::Write(_) => "write",
            Self::Patch(_) => "apply_patch",
            Self::Shell(_) => "shell",
            Self::Program(run) => &run.name,
            Self::Mcp(call) => &call.name,
            Self::ReadEvidence(_) => case::READ_EVIDENCE,
            Self::Case(action) => action.name(),
            Self::Plan(_) => "plan",
            Self::Think(_) => "think",
            Self::Job(_) => "job",
            Self::Ask(_) => "ask",
            Self::ForPerson(_) | Self::PassOn(_) => "hand_off",
            Self::Done(_) => "done",
        }
    }

    /// The action in a few words, for progress.
    pub(in crate::native) fn line(&self) -> String {
        let what = match self {
            Self::Read(read) => read.what(),
            Self::List(list) => list.what(),
            Self::Search(search) => search.pattern.clone(),
            Self::Fetch(fetch) => fetch.url.clone(),
            Self::Edit(edit) => edit.path.clone(),
            Self::Write(write) => write.path.clone(),
            Self::Patch(patch) => patch.files(),
            Self::Shell(shell) => shell.command.clone(),
            Self::Program(run) => run.arguments.clone(),
            Self::Mcp(call) => call.line(),
            Self::ReadEvidence(read) => read.id.to_string(),
            Self::Case(action) => action.object(),
            Self::Job(look) => look.id.to_string(),
            Self::Plan(plan) => return format!("plan {}", plan.line()),
            Self::Think(think) => think.thought.clone(),
            Self::Ask(ask) => ask.question.clone(),
            Self::ForPerson(hand_off) => hand_off.needed.clone(),
            Self::PassOn(pass_on) => return format!("hand_off to {}", first_line(&pass_on.hand_off.to, 60)),
            Self::Done(done) => done.summary.clone(),
        };
        format!("{} {}", self.tool(), first_line(&what, 100))
    }

    /// Its exact content: a command or a patch as it is, otherwise the arguments as JSON. Its time limit is not part of
    /// it.
    pub(in crate::native) fn exact(&self) -> String {
        // Arguments are plain data: they always have a JSON form.
        match self {
            Self::Shell(shell) => shell.command.clone(),
            Self::Patch(patch) => patch.text().to_owned(),
            Self::Program(run) => serde_json::to_string(&run.words).unwrap_or_default(),
            Self::Mcp(call) => serde_json::to_string_pretty(&call.arguments).unwrap_or_default(),
            Self::Edit(edit) => serde_json::to_string_pretty(edit).unwrap_or_default(),
            Self::Write(write) => serde_json::to_string_pretty(write).unwrap_or_default(),
            Self::Case(action) => action.exact(),
            Self::Fetch(fetch) => fetch.url.clone(),
            Self::Read(_) | Self::List(_) | Self::Search(_) | Self::ReadEvidence(_) | Self::Plan(_) => self.line(),
            Self::Think(_) => self.line(),
            Self::Job(look) => serde_json::to_string_pretty(look).unwrap_or_default(),
            Self::Ask(_) | Self::ForPerson(_) | Self::PassOn(_) | Self::Done(_) => self.line(),
        }
    }

    /// The grounds for it, if it gives any.
    pub(in crate::native) fn grounds(&self) -> Option<&Grounds> {
        if let Self::Case(action) = self { Some(&action.grounds) } else { None }
    }

    /// Whether what it shows is evidence of an investigation. What people gave is evidence already.
    pub(in crate::native) fn finds_evidence(&self) -> bool {
        match self {
            Self::Read(_) | Self::List(_) | Self::Search(_) | Self::Fetch(_) => true,
            Self::Shell(_) | Self::Job(_) | Self::Program(_) | Self::Mcp(_) => true,
            Self::Edit(_) | Self::Write(_) | Self::Patch(_) | Self::ReadEvidence(_) | Self::Case(_) => false,
            Self::Plan(_) | Self::Think(_) | Self::Ask(_) => false,
            Self::ForPerson(_) | Self::PassOn(_) | Self::Done(_) => false,
        }
    }

    /// Its relation to other actions.
    pub(in crate::native) fn effect(&self) -> Effect {
        match self {
            Self::Read(_) | Self::List(_) | Self::Search(_) | Self::Fetch(_) | Self::ReadEvidence(_) => {
                Effect::Independent
            }
            Self::Program(run) if run.impact == Impact::Low => Effect::Independent,
            Self::Shell(shell) if shell.is_independent() || shell.only_looks() => Effect::Independent,
            Self::Mcp(call) if call.impact == Impact::Low => Effect::Independent,
            Self::Edit(_) | Self::Write(_) | Self::Patch(_) => Effect::MayChange,
            Self::Shell(_) | Self::Job(_) | Self::Program(_) | Self::Mcp(_) => Effect::MayChange,
            Self::Case(_) | Self::Plan(_) | Self::Ask(_) => Effect::Speaks,
            Self::Think(_) => Effect::Independent,
            Self::ForPerson(_) | Self::PassOn(_) | Self::Done(_) => Effect::Speaks,
        }
    }

    /// Whether it ends the run.
    pub(in crate::native) fn is_end(&self) -> bool {
        matches!(self, Self::Done(_) | Self::Ask(_) | Self::ForPerson(_) | Self::PassOn(_))
    }

    /// Whether it names a path from the top of the folder.
    pub(in crate::native) fn is_below_top(&self) -> bool {
        let is_relative = |path: &str| !path.starts_with('/') && path != ".";
        match self {
            Self::Read(read) => is_relative(&read.path),
            Self::List(list) => is_relative(&list.path),
            Self::Search(search) => is_relative(&search.path),
            Self::Edit(_) | Self::Write(_) | Self::Patch(_) => self.changes().iter().any(|path| is_relative(path)),
            Self::Fetch(_) | Self::Shell(_) | Self::Job(_) | Self::Program(_) | Self::Mcp(_) => false,
            Self::ReadEvidence(_) | Self::Case(_) | Self::Plan(_) | Self::Think(_) => false,
            Self::Ask(_) | Self::ForPerson(_) | Self::PassOn(_) | Self::Done(_) => false,
        }
    }

    /// The files it changes, as far as it names them.
    pub(in crate::native) fn changes(&self) -> Vec<String> {
        match self {
            Self::Edit(edit) => vec![edit.path.clone()],
            Self::Write(write) => vec![write.path.clone()],
            Self::Patch(patch) => patch.paths(),
            Self::Read(_) | Self::List(_) | Self::Search(_) | Self::Fetch(_) => Vec::new(),
            Self::Shell(_) | Self::Job(_) | Self::Program(_) => Vec::new(),
            Self::ReadEvidence(_) | Self::Case(_) | Self::Mcp(_) | Self::Plan(_) => Vec::new(),
            Self::Think(_) | Self::Ask(_) => Vec::new(),
            Self::ForPerson(_) | Self::PassOn(_) | Self::Done(_) => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_progress_is_one_short_line() {
        let shell = serde_json::from_str(r#"{"command":"./test.sh\nrm x"}"#).unwrap();
        assert_eq!(Action::Shell(shell).line(), "shell ./test.sh …");
    }
}
