//! The actions that a model can request.

use hob_config::Impact;
use hob_domain::investigation::{CaseAction, Grounds};

use crate::{
    native::tools::{case, edit, fetch, finish, list, mcp, patch, plan, program, read, search, shell, write},
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
    /// The action in a few words, for progress.
    pub(in crate::native) fn line(&self) -> String {
        let (tool, what) = match self {
            Self::Read(read) => ("read", read.path.as_str()),
            Self::List(list) => ("list", list.path.as_str()),
            Self::Search(search) => ("search", search.pattern.as_str()),
            Self::Fetch(fetch) => ("fetch", fetch.url.as_str()),
            Self::Edit(edit) => ("edit", edit.path.as_str()),
            Self::Write(write) => ("write", write.path.as_str()),
            Self::Patch(patch) => return format!("apply_patch {}", first_line(&patch.files(), 100)),
            Self::Shell(shell) => ("shell", shell.command.as_str()),
            Self::Program(run) => (run.name.as_str(), run.arguments.as_str()),
            Self::Mcp(call) => return format!("{} {}", call.name, first_line(&call.line(), 100)),
            Self::ReadEvidence(read) => return format!("read_evidence {}", read.id),
            Self::Case(action) => return format!("{} {}", action.name(), first_line(&action.object(), 100)),
            Self::Plan(plan) => return format!("plan {}", plan.line()),
            Self::Ask(ask) => ("ask", ask.question.as_str()),
            Self::ForPerson(hand_off) => ("hand_off", hand_off.needed.as_str()),
            Self::PassOn(pass_on) => return format!("hand_off to {}", first_line(&pass_on.hand_off.to, 60)),
            Self::Done(done) => ("done", done.summary.as_str()),
        };
        format!("{tool} {}", first_line(what, 100))
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
            Self::Shell(_) | Self::Program(_) | Self::Mcp(_) => true,
            Self::Edit(_) | Self::Write(_) | Self::Patch(_) | Self::ReadEvidence(_) | Self::Case(_) => false,
            Self::Plan(_) | Self::Ask(_) | Self::ForPerson(_) | Self::PassOn(_) | Self::Done(_) => false,
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
            Self::Shell(_) | Self::Program(_) | Self::Mcp(_) => Effect::MayChange,
            Self::Case(_) | Self::Plan(_) | Self::Ask(_) => Effect::Speaks,
            Self::ForPerson(_) | Self::PassOn(_) | Self::Done(_) => Effect::Speaks,
        }
    }

    /// The files it changes, as far as it names them.
    pub(in crate::native) fn changes(&self) -> Vec<String> {
        match self {
            Self::Edit(edit) => vec![edit.path.clone()],
            Self::Write(write) => vec![write.path.clone()],
            Self::Patch(patch) => patch.paths(),
            Self::Read(_) | Self::List(_) | Self::Search(_) | Self::Fetch(_) => Vec::new(),
            Self::Shell(_) | Self::Program(_) => Vec::new(),
            Self::ReadEvidence(_) | Self::Case(_) | Self::Mcp(_) | Self::Plan(_) => Vec::new(),
            Self::Ask(_) | Self::ForPerson(_) | Self::PassOn(_) | Self::Done(_) => Vec::new(),
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
