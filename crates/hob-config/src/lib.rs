//! Typed settings, one section for each file, and the only code that reads the environment.

mod agents;
mod backends;
mod culprit;
mod draft;
mod duration;
mod environment;
mod flag;
mod issues;
mod load;
mod mcp;
mod models;
mod origin;
mod profiles;
mod ready;
mod renamed;
mod repository;
mod sandbox;
mod secret_files;
mod secrets;
mod sections;
mod sensible;
mod servers;
mod settings;
mod settings_error;
mod standard;
mod toml_sentence;
mod toolchains;
mod variable_names;
mod webhook;
mod workspace;

pub use agents::{
    AgentSettings, FailedCommands, Pattern, PromptVia, RecipeSettings, Replace, Speech, Step, ToolSettings,
};
pub use backends::{AdapterName, BackendKind, UnknownBackend};
pub use draft::DraftRule;
pub use duration::{InvalidDuration, parse_duration};
pub use environment::{ModelAccess, child_environment, model_access, named_environment};
pub use issues::IssueSettings;
pub use mcp::{MCP_PREFIX, McpSettings};
pub use models::{Effort, ImageUse, InvalidModelName, ModelName, ModelSettings, OpenAiInterface, PriceSettings};
pub use profiles::{ProfileSettings, RoutingSettings};
pub use ready::is_ready_agent;
pub use renamed::Renamed;
pub use repository::{REPOSITORY_SETTINGS_PATH, RepositorySettings, RepositorySettingsError};
pub use sandbox::{NetworkSetting, SandboxSettings, TierSetting};
pub use secret_files::{Fault, SecretFileError, SecretFiles};
pub use secrets::{own_secrets, secrets_among};
pub use sections::{
    AppSettings, CheckSettings, DashboardSettings, ExecutorSettings, ForgeSettings, Identity, LeaseSettings, Limits,
    NotifySettings, PollSettings, PublishSettings, RedBase, ReviewSettings, ReviewUpdate, SessionSettings, Signing,
    StatusSettings, TrustSettings, WebhookFormat,
};
pub use settings::{DEFAULTS, Settings};
pub use settings_error::SettingsError;
pub use standard::{OtherForge, Standard, hob_variables};
use toml_sentence::toml_sentence;
pub use toolchains::toolchain_folders;
pub use variable_names::may_pass;
pub use webhook::Webhook;
pub use workspace::WorkspaceSettings;

pub use hob_domain::{Ask, Impact};
