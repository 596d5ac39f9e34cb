//! The tools of one agent: those shown to the model, and the meaning of a call.

use std::{borrow::Cow, collections::BTreeMap};

use hob_config::{AgentSettings, EditForm, Impact, ToolSettings, edit_form};
use hob_domain::{HandOffTarget, ProfileName, RunPurpose};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::{
    model::{Memoized, TEXT, Tool, ToolCall},
    native::{
        mcp::OfferedTool,
        repair::{NotOneObject, only_object},
        tools::{
            Action, ToolError, case, edit, fetch, finish,
            foreign::{Meaning, OwnCall, Unfit, meant, own_call, tool_of},
            job, list, mcp,
            patch::{self, InCommand},
            plan, program, read, search, shell, write,
        },
    },
    report::first_line,
};

/// Tools that every agent has: without them a run could not end properly.
const ALWAYS: [&str; 4] = ["plan", "ask", "hand_off", "done"];
/// Built-in tools that only read.
const READS: [&str; 4] = ["read", "list", "search", fetch::NAME];
/// Built-in tools that change files.
const CHANGES: [&str; 3] = ["edit", "write", "apply_patch"];
/// Bytes of a call's arguments: more than a file may have, quoted.
const ARGUMENTS_MAX: usize = 4 << 20;

/// The tools of one agent.
#[derive(Debug, Clone, Default)]
pub(in crate::native) struct Toolset {
    shown: Memoized<Vec<Tool>>,
    programs: BTreeMap<String, ToolSettings>,
    servers: BTreeMap<String, OfferedTool>,
    targets: Vec<ProfileName>,
    /// A tool that is not shown and runs all the same if the model calls it.
    unshown: Option<&'static str>,
}

/// A tool that the settings name and that does not exist.
#[derive(Debug, thiserror::Error)]
#[error("there is no tool `{name}`: there are {known}")]
pub(in crate::native) struct UnknownTool {
    name: String,
    known: String,
}

/// All tools that are built in, in the order the model sees them.
fn built_in() -> Vec<Tool> {
    let files = [read::tool(), list::tool(), search::tool(), edit::tool(), write::tool(), patch::tool()];
    let ends =
        [shell::tool(), job::tool(), plan::tool(), finish::ask_tool(), finish::for_person_tool(), finish::done_tool()];
    files.into_iter().chain(ends).collect()
}

/// The names of all tools that an agent with these settings has on its own.
pub(crate) fn built_in_tools(settings: &AgentSettings) -> Vec<String> {
    let fetch = (!settings.fetch_hosts.is_empty()).then(|| fetch::NAME.to_owned());
    built_in().iter().map(|tool| tool.name.to_string()).chain(fetch).collect()
}

impl Toolset {
    /// The tools `wanted`, by name; all built-in ones if it is empty. `programs` are `[tools.NAME]`, `helps` their
    /// programs' help texts.
    pub(in crate::native) fn new(
        wanted: &[String],
        programs: &BTreeMap<String, ToolSettings>,
        helps: &BTreeMap<String, String>,
    ) -> Result<Self, UnknownTool> {
        if wanted.is_empty() {
            return Ok(Self { shown: built_in().into(), ..Self::default() });
        }
        let mut set = Self::default();
        let mut shown = Vec::new();
        let built_in = built_in();
        for name in wanted {
            if let Some(settings) = programs.get(name) {
                shown.push(program::tool(name, settings, helps.get(name).map(String::as_str)));
                set.programs.insert(name.clone(), settings.clone());
            } else if name != fetch::NAME && !built_in.iter().any(|tool| tool.name == name.as_str()) {
                let known: Vec<&str> =
                    built_in.iter().map(|tool| &*tool.name).chain(programs.keys().map(String::as_str)).collect();
                return Err(UnknownTool { name: name.clone(), known: known.join(", ") });
            }
        }
        shown.extend(built_in.into_iter().filter(|tool| {
            ALWAYS.contains(&&*tool.name)
                || (tool.name == "job" && wanted.iter().any(|name| name == "shell"))
                || (wanted.iter().any(|name| *name == tool.name) && !set.programs.contains_key(&*tool.name))
        }));
        set.shown = shown.into();
        Ok(set)
    }

    /// Keeps the way of editing that the model was trained on; both for a model of which that is not known.
    pub(in crate::native) fn for_model(self, model: &str) -> Self {
        let left_out = match edit_form(model) {
            Some(EditForm::Patch | EditForm::PatchText | EditForm::PatchTool) => "edit",
            Some(EditForm::Replace) => "apply_patch",
            None => return self,
        };
        let unshown = Some(left_out).filter(|name| self.has(name));
        let shown: Vec<Tool> = self.shown.iter().filter(|tool| tool.name != left_out).cloned().collect();
        Self { shown: shown.into(), unshown, ..self }
    }

    /// Adds `fetch` for pages of `hosts`, if there are any and `wanted` names it or is empty.
    pub(in crate::native) fn fetching(self, hosts: &[String], wanted: &[String]) -> Self {
        if hosts.is_empty() || !(wanted.is_empty() || wanted.iter().any(|name| name == fetch::NAME)) {
            return self;
        }
        let place = self.shown.iter().take_while(|tool| READS.contains(&&*tool.name)).count();
        let mut shown = self.shown.to_vec();
        shown.insert(place, fetch::tool(hosts));
        Self { shown: shown.into(), ..self }
    }

    /// Whether the agent fetches pages.
    pub(in crate::native) fn fetches(&self) -> bool {
        self.has(fetch::NAME)
    }

    /// Adds tools of MCP servers.
    pub(in crate::native) fn with_servers(self, offered: Vec<OfferedTool>) -> Self {
        let shown = self.shown.iter().chain(offered.iter().map(|tool| &tool.shown)).cloned().collect::<Vec<_>>().into();
        let servers = offered.into_iter().map(|tool| (tool.shown.name.clone().into_owned(), tool)).collect();
        Self { shown, servers, ..self }
    }

    /// The tools for a run with this purpose: one that plans or reviews has none that change anything, one that reports
    /// none that change files. Programs and servers are approved or refused by their impact.
    pub(in crate::native) fn for_purpose(self, purpose: RunPurpose) -> Self {
        let is_built_in = |name: &str| !self.programs.contains_key(name) && !self.servers.contains_key(name);
        let reads = |name: &str| match (self.programs.get(name), self.servers.get(name)) {
            (Some(program), _) => program.impact == Impact::Low,
            (None, Some(tool)) => tool.impact == Impact::Low,
            (None, None) => READS.contains(&name) || ALWAYS.contains(&name),
        };
        let has = |name: &str| match purpose {
            // The tools of an investigation are chosen below.
            RunPurpose::Work | RunPurpose::Investigate => true,
            RunPurpose::Report => !(is_built_in(name) && CHANGES.contains(&name)),
            RunPurpose::Plan | RunPurpose::Review => reads(name),
        };
        let shown: Vec<Tool> = self.shown.iter().filter(|tool| has(&tool.name)).cloned().collect();
        let unshown = self.unshown.filter(|name| has(name));
        Self { shown: shown.into(), unshown, ..self }
    }

    /// The tools for an investigation: those that look, the actions on the record, and the way out. The conclusion
    /// names the profile that may continue.
    pub(in crate::native) fn for_investigation(self) -> Self {
        let looks = |name: &str| match self.programs.get(name) {
            Some(program) => program.impact == Impact::Low,
            None => READS.contains(&name) || name == "shell" || name == "job",
        };
        let mut shown: Vec<Tool> = self.shown.iter().filter(|tool| looks(&tool.name)).cloned().collect();
        shown.extend(case::tools(&self.targets));
        shown.push(finish::for_person_tool());
        Self { shown: shown.into(), targets: Vec::new(), unshown: None, ..self }
    }

    /// The tools that end a run, for a model that has to be reminded.
    pub(in crate::native) fn ends(&self) -> (&'static str, &'static str) {
        if self.has("conclude") { ("conclude", "hand_off") } else { ("done", "ask") }
    }

    /// Offers `hand_off` to these profiles; if there are none, it goes to a person.
    pub(in crate::native) fn handing_off_to(self, targets: &[HandOffTarget]) -> Self {
        if targets.is_empty() {
            return self;
        }
        let to_profile = |tool: &Tool| match &*tool.name {
            "hand_off" => finish::hand_off_tool(targets),
            _ => tool.clone(),
        };
        let shown = self.shown.iter().map(to_profile).collect::<Vec<_>>().into();
        let targets = targets.iter().map(|target| target.name.clone()).collect();
        Self { shown, targets, ..self }
    }

    /// The tools as the model sees them.
    pub(in crate::native) fn shown(&self) -> &Memoized<Vec<Tool>> {
        &self.shown
    }

    /// Whether the agent has the tool `name`.
    pub(in crate::native) fn has(&self, name: &str) -> bool {
        self.shown.iter().any(|tool| tool.name == name)
    }

    /// Whether `name` is a configured program.
    pub(in crate::native) fn is_program(&self, name: &str) -> bool {
        self.programs.contains_key(name)
    }

    /// Whether a call of `name` runs.
    fn takes(&self, name: &str) -> bool {
        self.has(name) || self.unshown == Some(name) || name == "think"
    }

    /// The tool that a misspelt name means: with a namespace, or in other letters.
    fn misspelt(&self, name: &str) -> Option<String> {
        let plain = meant(name).to_ascii_lowercase().replace('-', "_");
        Some(plain).filter(|plain| self.has(plain))
    }

    /// The tool of another agent that `name` means, unless a configured program or a server's tool has that name.
    fn of_other(&self, name: &str) -> Option<Meaning> {
        let last = meant(name);
        let is_configured = |name: &str| self.programs.contains_key(name) || self.servers.contains_key(name);
        if is_configured(name) || self.misspelt(name).is_some_and(|plain| is_configured(&plain)) {
            return None;
        }
        tool_of(name.trim()).or_else(|| tool_of(last))
    }

    /// Reads a call; a name or arguments that fit no tool are an error for the model.
    pub(in crate::native) fn parse(&self, call: &ToolCall) -> Result<Action, ToolError> {
        if call.arguments.len() > ARGUMENTS_MAX {
            let reason = format!("they have {} bytes, more than {ARGUMENTS_MAX}", call.arguments.len());
            return Err(ToolError::Arguments { tool: first_line(&call.name, 40), reason });
        }
        let is_text = || call.arguments.trim_start().starts_with("*** Begin Patch");
        let plain = (self.of_other(&call.name) == Some(Meaning::Patch) && is_text())
            .then(|| ToolCall::of_text(call.id.clone(), call.name.clone(), call.arguments.clone()));
        let call = &*self.with_main_argument(plain.as_ref().unwrap_or(call));
        if let Some(meaning) = self.of_other(&call.name) {
            let broken = |reason: String| ToolError::Arguments { tool: first_line(&call.name, 40), reason };
            let given = object(call).map_err(|error| broken(error.to_string()))?;
            let OwnCall { name, arguments } =
                own_call(meaning, given).map_err(|unfit: Unfit| broken(unfit.to_string()))?;
            return match self.takes(name) {
                true => self.or_patch(own_action(name, arguments)?),
                false => Err(self.unknown(&call.name)),
            };
        }
        let known = if self.has(&call.name) { None } else { self.misspelt(&call.name) };
        if let Some(name) = known {
            return self.parse(&ToolCall { name, ..call.clone() });
        }
        if !self.has(&call.name) {
            return Err(self.unknown(&call.name));
        }
        if let Some(settings) = self.programs.get(&call.name) {
            return program::Run::new(&call.name, settings, arguments(call)?).map(Action::Program);
        }
        if let Some(tool) = self.servers.get(&call.name) {
            // What `null` means is the server's to say.
            let broken =
                |error: NotOneObject| ToolError::Arguments { tool: call.name.clone(), reason: error.to_string() };
            return Ok(Action::Mcp(mcp::Call::new(tool, object(call).map_err(broken)?)));
        }
        match call.name.as_str() {
            fetch::NAME => arguments(call).map(Action::Fetch),
            "job" => arguments(call).map(Action::Job),
            name if case::is_one(name) => {
                self.only_known(call)?;
                case_action(call)
            }
            "hand_off" if self.targets.is_empty() => arguments(call).map(Action::ForPerson),
            _ => {
                self.only_known(call)?;
                let pass_on = |hand_off| Action::PassOn(finish::PassOn { hand_off, targets: self.targets.clone() });
                arguments(call).map(pass_on)
            }
        }
    }

    /// A call that has a text and no more, as one of a custom tool, gives the one text that the tool wants.
    fn with_main_argument<'c>(&self, call: &'c ToolCall) -> Cow<'c, ToolCall> {
        let shown = || {
            let name = Some(call.name.clone()).filter(|name| self.has(name)).or_else(|| self.misspelt(&call.name))?;
            self.shown.iter().find(|tool| tool.name == name)
        };
        let Some((text, tool)) = call.text().zip(shown()) else { return Cow::Borrowed(call) };
        let (known, required) = (&tool.schema["properties"], tool.schema["required"].as_array());
        match required.map(Vec::as_slice) {
            Some([Value::String(main)]) if known.get(TEXT).is_none() && known[main]["type"] == "string" => {
                Cow::Owned(ToolCall { arguments: json!({ main.as_str(): text }).to_string(), ..call.clone() })
            }
            Some(_) | None => Cow::Borrowed(call),
        }
    }

    /// A command that is a patch is one: there is no such program.
    fn or_patch(&self, action: Action) -> Result<Action, ToolError> {
        let Action::Shell(shell) = &action else { return Ok(action) };
        match patch::in_command(&shell.command) {
            None => Ok(action),
            Some(_) if !self.takes("apply_patch") => {
                Err(ToolError::Refused("not run: there is no `apply_patch` here".to_owned()))
            }
            Some(InCommand::Patch { folder, patch }) => {
                Ok(Action::Patch(patch::ApplyPatch::in_shell(patch, folder, shell.workdir.clone())))
            }
            Some(InCommand::AndMore) => Err(ToolError::Refused(
                "not run: `apply_patch` is a tool here, not a program. Make it the whole command, with a here-document, and \
                 do the rest in another call"
                    .to_owned(),
            )),
        }
    }

    /// There is no tool of this name, with those that there are.
    fn unknown(&self, name: &str) -> ToolError {
        let known: Vec<Cow<'_, str>> = self.shown.iter().map(|tool| Cow::Borrowed(&*tool.name)).collect();
        ToolError::Unknown { name: first_line(name, 40), known: known.join(", ") }
    }

    /// Refuses a key that the tool does not show, for arguments whose own type ignores it.
    fn only_known(&self, call: &ToolCall) -> Result<(), ToolError> {
        let given: Map<String, Value> = arguments(call)?;
        let shown = self.shown.iter().find(|tool| tool.name == call.name.as_str());
        let Some(known) = shown.and_then(|tool| tool.schema["properties"].as_object()) else { return Ok(()) };
        match given.keys().find(|key| !known.contains_key(*key)) {
            Some(key) => {
                let known: Vec<String> = known.keys().map(|key| format!("`{key}`")).collect();
                let reason = format!("unknown field `{}`, expected one of {}", first_line(key, 40), known.join(", "));
                Err(ToolError::Arguments { tool: call.name.clone(), reason })
            }
            None => Ok(()),
        }
    }
}

/// The action of an own tool.
fn own_action(name: &str, arguments: Map<String, Value>) -> Result<Action, ToolError> {
    let read = |value: Value| match name {
        "read" => serde_json::from_value(value).map(Action::Read),
        "list" => serde_json::from_value(value).map(Action::List),
        "search" => serde_json::from_value(value).map(Action::Search),
        "edit" => serde_json::from_value(value).map(Action::Edit),
        "write" => serde_json::from_value(value).map(Action::Write),
        "apply_patch" => serde_json::from_value(value).map(Action::Patch),
        "shell" => serde_json::from_value(value).map(Action::Shell),
        "plan" => serde_json::from_value(value).map(Action::Plan),
        "think" => serde_json::from_value(value).map(Action::Think),
        "job" => serde_json::from_value(value).map(Action::Job),
        "ask" => serde_json::from_value(value).map(Action::Ask),
        _ => serde_json::from_value(value).map(Action::Done),
    };
    read(arguments.into()).map_err(|error| ToolError::Arguments { tool: name.to_owned(), reason: error.to_string() })
}

fn arguments<T: DeserializeOwned>(call: &ToolCall) -> Result<T, ToolError> {
    let broken = |reason: String| ToolError::Arguments { tool: call.name.clone(), reason };
    let mut given = object(call).map_err(|error| broken(error.to_string()))?;
    given.retain(|_, value| !value.is_null());
    serde_json::from_value(given.into()).map_err(|error| broken(error.to_string()))
}

fn object(call: &ToolCall) -> Result<Map<String, Value>, NotOneObject> {
    // A call without arguments comes as an empty text from some services.
    let text = if call.arguments.trim().is_empty() { "{}" } else { &call.arguments };
    // Some models quote it once more.
    match serde_json::from_str::<Value>(text) {
        Ok(Value::String(quoted)) => only_object(&quoted),
        Ok(_) | Err(_) => only_object(text),
    }
}

/// A call of a tool of investigations.
fn case_action(call: &ToolCall) -> Result<Action, ToolError> {
    if call.name == case::READ_EVIDENCE {
        return arguments(call).map(Action::ReadEvidence);
    }
    case::parse(&call.name, arguments(call)?).map(Action::Case)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, arguments: &str) -> ToolCall {
        ToolCall { id: "1".into(), name: name.into(), arguments: arguments.into() }
    }

    fn set(wanted: &[&str]) -> Result<Toolset, UnknownTool> {
        let wanted: Vec<String> = wanted.iter().map(|name| (*name).to_owned()).collect();
        let programs = [("ls".to_owned(), ToolSettings::default())].into();
        Toolset::new(&wanted, &programs, &BTreeMap::new())
    }

    /// The first request is at most 9 kB with a task of 1 kB.
    #[test]
    fn the_prompt_and_the_tools_are_short() {
        let prompt = include_str!("../prompt.md");
        assert!(prompt.len() <= 3_000, "{}", prompt.len());
        for model in ["anthropic/claude-sonnet-5-5", "openai/gpt-5.1", "openai/qwen3-coder"] {
            let tools = serde_json::to_string(&set(&[]).unwrap().for_model(model).shown).unwrap();
            assert!(prompt.len() + tools.len() <= 8_000, "{model}: {}", tools.len());
        }
    }

    #[test]
    fn each_tool_is_known_by_the_name_it_shows() {
        let set = set(&[]).unwrap();
        assert!(set.shown.len() > 10);
        for tool in set.shown.iter() {
            let error = set.parse(&call(&tool.name, "[]")).unwrap_err();
            assert!(matches!(error, ToolError::Arguments { .. }), "{}", tool.name);
            assert_eq!(tool.schema["type"], "object", "{}", tool.name);
        }
    }

    #[test]
    fn a_call_that_fits_no_tool_says_what_would() {
        let set = set(&[]).unwrap();
        let said = |name: &str, arguments: &str| set.parse(&call(name, arguments)).unwrap_err().to_string();
        assert!(said("rm\n-rf", "{}").contains("no tool `rm …`: use read, list"));
        assert!(said("read", "{\"path\": ").contains("EOF"));
        assert!(said("read", "").contains("missing field `path`"));
        assert!(said("edit", "{\"path\":\"a\",\"old\":1}").contains("invalid type"));
        assert!(said("write", &" ".repeat(5 << 20)).contains("more than 4194304"));
        assert!(said("lsof", "{}").contains("no tool `lsof`"));
    }

    /// Requirement S5: an argument that would be ignored is refused, and the model is told that key and the valid ones.
    #[test]
    fn a_key_that_a_tool_does_not_have_is_refused() {
        let targets = [HandOffTarget { name: "code".parse().unwrap(), description: String::new() }];
        let programs = [("ls".to_owned(), ToolSettings::default())].into();
        let wanted: Vec<String> =
            built_in().iter().map(|tool| tool.name.to_string()).chain(["ls".to_owned()]).collect();
        let all =
            Toolset::new(&wanted, &programs, &BTreeMap::new()).unwrap().fetching(&["example.org".to_owned()], &[]);
        let passing_on = all.clone().handing_off_to(&targets);
        for set in [&all, &passing_on, &all.clone().for_investigation(), &passing_on.clone().for_investigation()] {
            for tool in set.shown.iter() {
                let said = set.parse(&call(&tool.name, r#"{"no_such_key": 1}"#)).unwrap_err().to_string();
                let first = tool.schema["required"][0].as_str().unwrap_or("path");
                assert!(said.contains("unknown field `no_such_key`, expected"), "{}: {said}", tool.name);
                assert!(said.contains(&format!("`{first}`")), "{}: {said}", tool.name);
            }
        }
        let said = |arguments: &str| all.parse(&call("ls", arguments)).unwrap_err().to_string();
        assert!(said(r#"{"args": ["show", "17"]}"#).ends_with("unknown field `args`, expected `arguments`"));
        for none in ["{}", ""] {
            assert!(said(none).ends_with("missing field `arguments`"), "{}", said(none));
        }
    }

    #[test]
    fn a_text_alone_is_the_one_text_that_a_tool_wants() {
        let set = set(&[]).unwrap().fetching(&["example.org".to_owned()], &[]);
        let line = |name: &str, text: &str| {
            let call = call(name, &json!({ "input": text }).to_string());
            set.parse(&call).map(|action| action.line()).map_err(|error| error.to_string())
        };
        let patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch";
        for (name, text, action) in [
            ("apply_patch", patch, "apply_patch a"),
            ("functions.apply_patch", patch, "apply_patch a"),
            ("shell", "ls -l", "shell ls -l"),
            ("exec_command", "ls -l", "shell ls -l"),
            ("shell", patch, "apply_patch a"),
            ("read", "a.rs", "read a.rs"),
            ("fetch", "https://example.org/", "fetch https://example.org/"),
            ("ask", "Which?", "ask Which?"),
        ] {
            assert_eq!(line(name, text).as_deref(), Ok(action), "{name} {text}");
        }
        for (name, error) in
            [("job", "missing field `id`"), ("list", "unknown field `input`"), ("ls", "unknown field `input`")]
        {
            assert!(line(name, "x").is_err_and(|said| said.contains(error)), "{name}");
        }
    }

    /// Some servers give the text of a custom tool's call as the arguments of a function's.
    #[test]
    fn a_patch_is_taken_where_an_object_should_be() {
        let patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch";
        assert_eq!(set(&[]).unwrap().parse(&call("apply_patch", patch)).unwrap().line(), "apply_patch a");
        assert!(set(&[]).unwrap().parse(&call("read", patch)).is_err());
    }

    #[test]
    fn each_family_of_models_edits_as_it_was_trained() {
        for (model, edits, patches) in [
            ("anthropic/claude-sonnet-5-5", true, false),
            ("openai/gpt-5.2-codex", false, true),
            ("openai/gpt-6-sol", false, true),
            ("openai/qwen3-coder", true, true),
        ] {
            let set = set(&[]).unwrap().for_model(model);
            assert_eq!((set.has("edit"), set.has("apply_patch"), set.has("write")), (edits, patches, true), "{model}");
        }
    }

    #[test]
    fn a_run_that_plans_has_tools_that_only_read() {
        let names = |set: Toolset| set.shown.iter().map(|tool| tool.name.to_string()).collect::<Vec<_>>();
        let all = set(&[]).unwrap();
        assert_eq!(names(all.clone().for_purpose(RunPurpose::Work)), names(all.clone()));
        assert_eq!(
            names(all.clone().for_purpose(RunPurpose::Review)),
            names(all.clone().for_purpose(RunPurpose::Plan))
        );
        let planning = all.clone().for_purpose(RunPurpose::Plan);
        let reporting = all.clone().for_purpose(RunPurpose::Report);
        assert_eq!(names(reporting), ["read", "list", "search", "shell", "job", "plan", "ask", "hand_off", "done"]);
        assert_eq!(names(planning.clone()), ["read", "list", "search", "plan", "ask", "hand_off", "done"]);
        for (tool, arguments) in [("write", r#"{"path":"a","text":"b"}"#), ("shell", r#"{"command":"ls"}"#)] {
            assert!(matches!(planning.parse(&call(tool, arguments)), Err(ToolError::Unknown { .. })), "{tool}");
        }
        // A program of unknown impact counts as one that changes something.
        let programs = [
            ("look".to_owned(), ToolSettings { impact: Impact::Low, ..ToolSettings::default() }),
            ("act".to_owned(), ToolSettings::default()),
        ];
        let wanted = ["look".to_owned(), "act".to_owned(), "edit".to_owned()];
        let set = Toolset::new(&wanted, &programs.into(), &BTreeMap::new()).unwrap();
        assert_eq!(names(set.for_purpose(RunPurpose::Plan)), ["look", "plan", "ask", "hand_off", "done"]);
    }

    #[test]
    fn an_investigation_has_tools_that_look_and_those_of_its_record() {
        let names = |set: &Toolset| set.shown.iter().map(|tool| tool.name.to_string()).collect::<Vec<_>>();
        let of_record = [
            "read_evidence",
            "answer_question",
            "test_hypothesis",
            "request_evidence",
            "transition_state",
            "conclude",
            "hand_off",
        ];
        let all = set(&[]).unwrap().for_investigation();
        assert_eq!(names(&all), [&["read", "list", "search", "shell", "job"], &of_record[..]].concat());
        for tool in ["write", "edit", "apply_patch", "done"] {
            assert!(matches!(all.parse(&call(tool, "{}")), Err(ToolError::Unknown { .. })), "{tool}");
        }
        assert!(matches!(all.parse(&call("read_evidence", r#"{"id":"E1"}"#)), Ok(Action::ReadEvidence(_))));
        let said = all.parse(&call("conclude", r#"{"conclusion":"x"}"#)).unwrap_err().to_string();
        assert!(said.contains("missing field `thought`"), "{said}");
        // A program of unknown impact counts as one that changes something; a run that works has none of these tools.
        assert_eq!(names(&set(&["ls", "read"]).unwrap().for_investigation()), [&["read"], &of_record[..]].concat());
        assert!(matches!(set(&[]).unwrap().parse(&call("conclude", "{}")), Err(ToolError::Unknown { .. })));
    }

    #[test]
    fn an_agent_has_the_tools_it_names_and_those_that_end_a_run() {
        let limited = set(&["ls", "read"]).unwrap();
        let names: Vec<&str> = limited.shown.iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, ["ls", "read", "plan", "ask", "hand_off", "done"]);
        assert!(limited.parse(&call("shell", r#"{"command":"x"}"#)).is_err());
        assert!(matches!(limited.parse(&call("ls", r#"{"arguments":"-l"}"#)), Ok(Action::Program(_))));
        assert!(set(&["sl"]).unwrap_err().to_string().contains("no tool `sl`: there are read, list"));
    }
}
