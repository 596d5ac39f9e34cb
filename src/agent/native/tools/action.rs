//! A call of the model, read into what Hob can do.

use serde::de::DeserializeOwned;

use crate::{
    agent::{
        native::tools::{ToolError, edit, finish, list, read, search, shell, write},
        report::first_line,
    },
    model::{Tool, ToolCall},
};

/// What a model can have done.
#[derive(Debug)]
pub(in crate::agent::native) enum Action {
    /// Shows a file.
    Read(read::Read),
    /// Shows names.
    List(list::List),
    /// Looks for text.
    Search(search::Search),
    /// Replaces a piece of a file.
    Edit(edit::Edit),
    /// Makes or replaces a file.
    Write(write::Write),
    /// Runs a command.
    Shell(shell::Shell),
    /// Ends the run with a question.
    Ask(finish::Ask),
    /// Ends the run.
    Done(finish::Done),
}

/// Whether an action can change the folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::agent::native) enum Effect {
    /// It only looks.
    Looks,
    /// It may have changed files.
    MayChange,
}

/// All tools, in the order the model sees them.
pub(in crate::agent::native) fn tools() -> Vec<Tool> {
    let files = [read::tool(), list::tool(), search::tool(), edit::tool(), write::tool()];
    files.into_iter().chain([shell::tool(), finish::ask_tool(), finish::done_tool()]).collect()
}

impl Action {
    /// Reads a call; a name or arguments that fit no tool are an error for the model.
    pub(in crate::agent::native) fn parse(call: &ToolCall) -> Result<Self, ToolError> {
        match call.name.as_str() {
            "read" => arguments(call).map(Self::Read),
            "list" => arguments(call).map(Self::List),
            "search" => arguments(call).map(Self::Search),
            "edit" => arguments(call).map(Self::Edit),
            "write" => arguments(call).map(Self::Write),
            "shell" => arguments(call).map(Self::Shell),
            "ask" => arguments(call).map(Self::Ask),
            "done" => arguments(call).map(Self::Done),
            _ => {
                let known: Vec<_> = tools().iter().map(|tool| tool.name).collect();
                Err(ToolError::Unknown { name: first_line(&call.name, 40), known: known.join(", ") })
            }
        }
    }

    /// What the action does, in a few words for whoever watches.
    pub(in crate::agent::native) fn line(&self) -> String {
        let (tool, what) = match self {
            Self::Read(read) => ("read", read.path.as_str()),
            Self::List(list) => ("list", list.path.as_str()),
            Self::Search(search) => ("search", search.pattern.as_str()),
            Self::Edit(edit) => ("edit", edit.path.as_str()),
            Self::Write(write) => ("write", write.path.as_str()),
            Self::Shell(shell) => ("shell", shell.command.as_str()),
            Self::Ask(ask) => ("ask", ask.question.as_str()),
            Self::Done(done) => ("done", done.summary.as_str()),
        };
        format!("{tool} {}", first_line(what, 100))
    }

    /// Whether it can change the folder.
    pub(in crate::agent::native) fn effect(&self) -> Effect {
        match self {
            Self::Read(_) | Self::List(_) | Self::Search(_) | Self::Ask(_) | Self::Done(_) => Effect::Looks,
            Self::Edit(_) | Self::Write(_) | Self::Shell(_) => Effect::MayChange,
        }
    }
}

fn arguments<T: DeserializeOwned>(call: &ToolCall) -> Result<T, ToolError> {
    // A call without arguments comes as an empty text from some services.
    let text = if call.arguments.trim().is_empty() { "{}" } else { &call.arguments };
    let object = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text);
    object
        .and_then(|object| serde_json::from_value(object.into()))
        .map_err(|error| ToolError::Arguments { tool: call.name.clone(), reason: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, arguments: &str) -> ToolCall {
        ToolCall { id: "1".into(), name: name.into(), arguments: arguments.into() }
    }

    #[test]
    fn each_tool_is_known_by_the_name_it_shows() {
        for tool in tools() {
            let error = Action::parse(&call(tool.name, "[]")).unwrap_err();
            assert!(matches!(error, ToolError::Arguments { .. }), "{}", tool.name);
            assert_eq!(tool.schema["type"], "object", "{}", tool.name);
        }
    }

    #[test]
    fn a_call_that_fits_no_tool_says_what_would() {
        let said = |name: &str, arguments: &str| Action::parse(&call(name, arguments)).unwrap_err().to_string();
        assert!(said("rm\n-rf", "{}").contains("no tool `rm …`: use read, list"));
        assert!(said("read", "{\"path\": ").contains("EOF"));
        assert!(said("read", "").contains("missing field `path`"));
        assert!(said("edit", "{\"path\":\"a\",\"old\":1}").contains("invalid type"));
    }

    #[test]
    fn a_line_of_progress_is_one_short_line() {
        let action = Action::parse(&call("shell", "{\"command\":\"./test.sh\\nrm x\"}")).unwrap();
        assert_eq!(action.line(), "shell ./test.sh …");
    }
}
