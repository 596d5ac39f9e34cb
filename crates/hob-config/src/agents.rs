//! The sections `[agents.NAME]` and `[recipes.NAME]`: the agents, what runs them, and their limits.

use std::time::Duration;

use hob_domain::{Ask, Impact};
use serde::{Deserialize, Deserializer, Serialize};

use crate::{BackendKind, Effort, duration};

/// How a model makes tool calls.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speech {
    /// With its interface's own tool calls.
    #[default]
    Calls,
    /// With a JSON object in its text, for models and servers without tool calls.
    Json,
}

/// How a command gets its prompt.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptVia {
    /// On standard input.
    #[default]
    Stdin,
    /// As an argument: in place of `{prompt}`, or appended if no argument contains it.
    Argument,
}

/// Commands that ran and failed: as a limit or as a count.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FailedCommands {
    /// In a row; as a limit, 0 means not limited.
    pub in_row: u32,
    /// In the whole run; as a limit, 0 means not limited.
    pub total: u32,
}

/// One agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentSettings {
    /// The backend that runs it.
    pub backend: BackendKind,
    /// `command`: the program and its arguments. An argument may be `{prompt}` or `--flag={prompt}`. For a known
    /// command line: its program if it is not on the PATH, and arguments to put before Hob's own.
    pub command: Vec<String>,
    /// `command` only: how the prompt reaches the program.
    pub prompt: PromptVia,
    /// `native`: the model, `anthropic/MODEL`, `openai/MODEL` or `cassette/PATH`. `None` for `model.default`. For a
    /// known command line: the program's own name of the model, or `None` for its default.
    pub model: Option<String>,
    /// `native` only: the fallback models, in order. If it is empty and the agent has no model of its own,
    /// `model.fallback` applies.
    pub fallback: Vec<String>,
    /// `native` only: how much the model thinks. `None` for `model.effort`.
    pub effort: Option<Effort>,
    /// Names of variables that the agent's child processes get in addition to the allow-list; never Hob's own secrets.
    pub env: Vec<String>,
    /// Hosts that the agent's programs may reach while `sandbox.network` is closed: `example.org`, `example.org:8443`,
    /// `192.0.2.7:80`.
    pub hosts: Vec<String>,
    /// `native` only: hosts whose pages the tool `fetch` may read, written as `hosts`; if empty, the tool is missing.
    pub fetch_hosts: Vec<String>,
    /// What passes to its model's service beside the usual, by the names in refusals: `web_search`, `urls`, a beta flag.
    pub allow: Vec<String>,
    /// `recipe` only: the name of the recipe.
    pub recipe: Option<String>,
    /// `native`, and any agent that investigates: turns of the model, or calls of Hob's tools, before the run is
    /// stopped. Here and below, 0 means not limited. `None` for 250, or 50 in an investigation.
    pub max_iterations: Option<u32>,
    /// `native`, and any agent that investigates: replies in a row whose actions all failed before the run is stopped.
    pub consecutive_errors: u32,
    /// `native`, and any agent that investigates: how many of the last 20 replies may have a failed action before the
    /// run is stopped.
    pub recent_errors: u32,
    /// `native` only: commands that ran and failed before the run is stopped.
    pub failed_commands: FailedCommands,
    /// `native`, and any agent that investigates: identical calls in a row before the run is stopped.
    pub identical_calls: u32,
    /// `native` only: whether the model has to look at the task, its change and the checks once more before its `done`
    /// counts.
    pub last_look: bool,
    /// `native`, and any agent that investigates: wall time of a run. `None` for what the attempt has left.
    #[serde(with = "duration::optional")]
    pub max_time: Option<Duration>,
    /// `native` only: tokens that a run may send and receive, including cached ones.
    pub max_tokens: u64,
    /// `native` only: bytes that all commands of a run may write.
    pub max_output: u64,
    /// `native` only: the share of a limit, in percent, after which the model is asked to finish.
    pub soft_limit: u8,
    /// `native` only: the model's window in tokens; near it, old answers are masked. `None` for what is known about the
    /// model.
    pub context_tokens: Option<u64>,
    /// `native` only: how the model makes tool calls.
    pub speech: Speech,
    /// `native` only: its tools, by name; empty for all built-in ones.
    pub tools: Vec<String>,
    /// `native` only: MCP servers whose tools it has in addition, by name.
    pub mcp: Vec<String>,
    /// `native` only: the highest impact of an action that needs no approval.
    pub approve: Impact,
    /// `native` only: what happens to an action that needs approval if no person is at a terminal.
    pub ask: Ask,
    /// `native` only: actions that are refused even with approval, such as `shell(git push)`: Hob's own list, and those of the
    /// settings.
    #[serde(deserialize_with = "beside_own")]
    pub denied: Vec<String>,
    /// Bytes kept of one output stream of a program, and of one tool's answer to the model.
    pub output_cap: usize,
    /// `native` only: the time limit of one shell command; the run's own time may end it earlier.
    #[serde(with = "duration")]
    pub shell_time: Duration,
    /// `native` only: the fastest check runs by itself after edits if it took at most this long on the base; zero for none.
    #[serde(with = "duration")]
    pub quick_check: Duration,
}

impl Default for AgentSettings {
    fn default() -> Self {
        Self {
            backend: BackendKind::default(),
            command: Vec::new(),
            prompt: PromptVia::default(),
            model: None,
            fallback: Vec::new(),
            effort: None,
            env: Vec::new(),
            hosts: Vec::new(),
            fetch_hosts: Vec::new(),
            allow: Vec::new(),
            recipe: None,
            max_iterations: None,
            consecutive_errors: 5,
            recent_errors: 12,
            failed_commands: FailedCommands::default(),
            identical_calls: 4,
            last_look: true,
            max_time: None,
            max_tokens: 20_000_000,
            max_output: 1 << 30,
            soft_limit: 80,
            context_tokens: None,
            speech: Speech::default(),
            tools: Vec::new(),
            mcp: Vec::new(),
            approve: Impact::default(),
            ask: Ask::default(),
            denied: DENIED.map(str::to_owned).into(),
            output_cap: 32 * 1024,
            shell_time: Duration::from_secs(300),
            quick_check: Duration::from_secs(5),
        }
    }
}

/// The settings add to Hob's own list: a list of one refusal must not drop the others.
fn beside_own<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let mut denied: Vec<String> = DENIED.map(str::to_owned).into();
    for action in Vec::<String>::deserialize(deserializer)? {
        if !denied.contains(&action) {
            denied.push(action);
        }
    }
    Ok(denied)
}

/// Always denied: deleting folders, pushing, publishing.
const DENIED: [&str; 16] = [
    "shell(rm -r)",
    "shell(find -delete)",
    "shell(git push)",
    "shell(npm publish)",
    "shell(pnpm publish)",
    "shell(yarn publish)",
    "shell(yarn npm publish)",
    "shell(cargo publish)",
    "shell(twine upload)",
    "shell(uv publish)",
    "shell(poetry publish)",
    "shell(gem push)",
    "shell(docker push)",
    "shell(mvn deploy)",
    "shell(gh release create)",
    "shell(gh pr create)",
];

/// A command-line program that a native agent may use as a tool.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ToolSettings {
    /// The program and its first arguments; empty for the tool's own name.
    pub command: Vec<String>,
    /// Its description, for the model.
    pub description: String,
    /// Examples of its arguments.
    pub examples: Vec<String>,
    /// The lowest impact of a call.
    pub impact: Impact,
    /// Whether to take the help text from the program itself (`--help`), once.
    pub auto_help: bool,
}

/// Fixed steps that change a folder, without a model.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RecipeSettings {
    /// What the recipe does, for the pull request.
    pub description: Option<String>,
    /// The steps, in order; the first that fails or changes nothing ends the recipe.
    pub steps: Vec<Step>,
}

/// One step of a recipe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "StepFields", into = "StepFields")]
pub enum Step {
    /// `{ run = "shell command" }`: runs in the folder.
    Run(String),
    /// `{ replace = "text", with = "text", in = "path or glob", regex = false }`: replaces each occurrence.
    Replace(Replace),
    /// `{ apply = "issue-diff" }`: applies the unified diff fenced in the issue's body.
    ApplyIssueDiff,
}

/// A replacement of text in files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replace {
    /// The text to find.
    pub find: String,
    /// The replacement; `$1` is a group if `find` is a regular expression.
    pub with: String,
    /// The file, or a glob over the folder's files.
    pub files: String,
    /// How `find` is read.
    pub pattern: Pattern,
}

/// How the text to find is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// Literally.
    Text,
    /// As a regular expression.
    Regex,
}

/// A step as it is written: one flat table, so that each mistake gets its own message.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct StepFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replace: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    with: Option<String>,
    #[serde(rename = "in", skip_serializing_if = "Option::is_none")]
    files: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    regex: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    apply: Option<String>,
}

impl TryFrom<StepFields> for Step {
    type Error = String;

    fn try_from(fields: StepFields) -> Result<Self, Self::Error> {
        match fields {
            StepFields { run: Some(run), replace: None, with: None, files: None, regex: None, apply: None } => {
                Ok(Self::Run(run))
            }
            StepFields { run: None, replace: Some(find), with: Some(with), files: Some(files), regex, apply: None } => {
                let pattern = if regex.unwrap_or(false) { Pattern::Regex } else { Pattern::Text };
                match find.as_str() {
                    "" => Err("`replace` needs a text that is not empty".into()),
                    _ => Ok(Self::Replace(Replace { find, with, files, pattern })),
                }
            }
            StepFields { run: None, replace: None, with: None, files: None, regex: None, apply: Some(what) } => {
                match what.as_str() {
                    "issue-diff" => Ok(Self::ApplyIssueDiff),
                    _ => Err(format!("`apply = \"{what}\"` is not known; write `apply = \"issue-diff\"`")),
                }
            }
            _ => {
                Err("a step is `{ run = … }`, `{ replace = …, with = …, in = … }` or `{ apply = \"issue-diff\" }`"
                    .into())
            }
        }
    }
}

impl From<Step> for StepFields {
    fn from(step: Step) -> Self {
        match step {
            Step::Run(run) => Self { run: Some(run), ..Self::default() },
            Step::Replace(Replace { find, with, files, pattern }) => Self {
                replace: Some(find),
                with: Some(with),
                files: Some(files),
                regex: Some(pattern == Pattern::Regex),
                ..Self::default()
            },
            Step::ApplyIssueDiff => Self { apply: Some("issue-diff".into()), ..Self::default() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recipe_reads_each_kind_of_step() {
        let recipe: RecipeSettings = toml::from_str(
            r#"
            steps = [
              { run = "cargo fmt" },
              { replace = "(a)b", with = "$1c", in = "src/*.rs", regex = true },
              { apply = "issue-diff" },
            ]
            "#,
        )
        .unwrap();
        let replace =
            Replace { find: "(a)b".into(), with: "$1c".into(), files: "src/*.rs".into(), pattern: Pattern::Regex };
        assert_eq!(recipe.steps, [Step::Run("cargo fmt".into()), Step::Replace(replace), Step::ApplyIssueDiff]);
    }

    #[test]
    fn a_step_that_is_no_step_says_what_a_step_is() {
        for (text, said) in [
            ("{ run = 'x', apply = 'issue-diff' }", "a step is"),
            ("{ replace = 'x', with = 'y' }", "a step is"),
            ("{ replace = '', with = 'y', in = 'z' }", "not empty"),
            ("{ apply = 'patch' }", "issue-diff"),
            ("{ rum = 'x' }", "unknown field `rum`"),
        ] {
            let error = toml::from_str::<RecipeSettings>(&format!("steps = [{text}]")).unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    #[test]
    fn an_agent_needs_no_more_than_its_command() {
        let agent: AgentSettings = toml::from_str("backend = 'command'\ncommand = ['aider', '{prompt}']").unwrap();
        assert_eq!((agent.backend, agent.prompt, agent.max_iterations), (BackendKind::Command, PromptVia::Stdin, None));
        assert!(toml::from_str::<AgentSettings>("comand = ['x']").is_err());
    }
}
