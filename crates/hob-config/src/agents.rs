//! The sections `[agents.NAME]` and `[recipes.NAME]`: which agents there are, what runs them, and how far they may go.

use std::time::Duration;

use hob_domain::{Ask, Impact};
use serde::{Deserialize, Serialize};

use crate::{BackendKind, Effort, duration};

/// How a model calls tools.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speech {
    /// With the tool calls of its interface.
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
    /// As an argument: in place of `{prompt}`, or appended where no argument has it.
    Argument,
}

/// Commands that ran and failed: how many end a run, or how many there were.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FailedCommands {
    /// In a row; as a limit, 0: not limited.
    pub in_row: u32,
    /// In the whole run; as a limit, 0: not limited.
    pub total: u32,
}

/// One agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentSettings {
    /// What runs it.
    pub backend: BackendKind,
    /// `command`: the program and its arguments. An argument may be `{prompt}` or `--flag={prompt}`. For a known
    /// command line: its program if it is not on the PATH, and arguments to put before Hob's own.
    pub command: Vec<String>,
    /// `command` only: how the prompt reaches the program.
    pub prompt: PromptVia,
    /// `native`: the model, `anthropic/MODEL`, `openai/MODEL` or `cassette/PATH`; none: `model.default`. For a known
    /// command line: the program's own name of the model; none: the program's choice.
    pub model: Option<String>,
    /// `native` only: the fallback models, in order; if empty and the agent has no model of its own: `model.fallback`.
    pub fallback: Vec<String>,
    /// `native` only: how much the model thinks; none: `model.effort`.
    pub effort: Option<Effort>,
    /// Names of variables that reach the agent's child processes in addition to the allow-list. Hob's own secrets never do.
    pub env: Vec<String>,
    /// Hosts that the agent's programs reach where `sandbox.network` is closed: `example.org`, `example.org:8443`,
    /// `192.0.2.7:80`.
    pub hosts: Vec<String>,
    /// `native` only: hosts whose pages the tool `fetch` shows, written as `hosts`; empty: there is no such tool.
    pub fetch_hosts: Vec<String>,
    /// `recipe` only: the name of the recipe.
    pub recipe: Option<String>,
    /// `native`, and any agent that investigates: turns of the model, or calls of Hob's tools, before the run is stopped; 0, here and
    /// below: not limited. None: 250, and 50 of an investigation.
    pub max_iterations: Option<u32>,
    /// `native`, and any agent that investigates: replies in a row whose actions all failed before the run is stopped.
    pub consecutive_errors: u32,
    /// `native`, and any agent that investigates: of the last 20 replies, those with a failed action that stop the run.
    pub recent_errors: u32,
    /// `native` only: commands that ran and failed before the run is stopped.
    pub failed_commands: FailedCommands,
    /// `native`, and any agent that investigates: identical calls in a row before the run is stopped.
    pub identical_calls: u32,
    /// `native` only: whether the model looks at the task, its change and the checks once more before its `done` counts.
    pub last_look: bool,
    /// `native`, and any agent that investigates: wall time of a run; none: what the attempt has left.
    #[serde(with = "duration::optional")]
    pub max_time: Option<Duration>,
    /// `native` only: tokens a run may send and get, cached ones included.
    pub max_tokens: u64,
    /// `native` only: bytes all commands of a run may write.
    pub max_output: u64,
    /// `native` only: the share of a limit, in percent, after which the model is asked to finish.
    pub soft_limit: u8,
    /// `native` only: tokens the model takes in; near them, old answers are left out. None: what is known of the model.
    pub context_tokens: Option<u64>,
    /// `native` only: how the model calls tools.
    pub speech: Speech,
    /// `native` only: the tools it has, by name; empty: all that are built in.
    pub tools: Vec<String>,
    /// `native` only: the MCP servers whose tools it has besides, by name.
    pub mcp: Vec<String>,
    /// `native` only: the highest impact of an action that needs no approval.
    pub approve: Impact,
    /// `native` only: what happens to an action that needs approval when nobody is at a terminal.
    pub ask: Ask,
    /// `native` only: actions that are refused, whoever approves: `shell(git push)`.
    pub denied: Vec<String>,
    /// Bytes kept of one output stream of a program, and of one tool's answer to the model.
    pub output_cap: usize,
    /// `native` only: time one shell command may take; the run's own time ends it earlier.
    #[serde(with = "duration")]
    pub shell_time: Duration,
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
        }
    }
}

/// Denied by default: deleting folders, pushing, publishing.
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

/// A command-line program that a native agent may have as a tool.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ToolSettings {
    /// The program and its first arguments; empty: the tool's own name.
    pub command: Vec<String>,
    /// What it does, for the model.
    pub description: String,
    /// Argument lines that show its use.
    pub examples: Vec<String>,
    /// What a call of it may do at least.
    pub impact: Impact,
    /// Takes the help text from the program itself (`--help`), once.
    pub auto_help: bool,
}

/// Fixed steps that change a folder without a model.
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
    /// What is looked for.
    pub find: String,
    /// The replacement; `$1` is a group if `find` is a regular expression.
    pub with: String,
    /// The file, or a glob over the folder's files.
    pub files: String,
    /// How `find` is read.
    pub pattern: Pattern,
}

/// How a text to look for is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// As it stands.
    Text,
    /// As a regular expression.
    Regex,
}

/// The step as it is written: one flat table, so that a mistake gets a message of its own.
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
