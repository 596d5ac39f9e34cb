//! Typed settings, one section for each file, and the only code that reads the environment.

mod agents;
mod audit;
mod backends;
mod candidates;
mod constants;
mod culprit;
mod draft;
mod duration;
mod effort;
mod environment;
mod flag;
mod given;
mod known_models;
mod load;
mod mcp;
mod models;
mod of_both;
mod operator_file;
mod origin;
mod otel;
mod pace;
mod prices;
mod profiles;
mod publishing;
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
mod shared;
mod size;
mod standard;
mod toml_sentence;
mod toolchains;
mod variable_names;
mod webhook;
mod workspace;

pub use agents::{
    AgentSettings, FailedCommands, Pattern, PromptVia, RecipeSettings, Replace, Speech, Step, ToolSettings,
};
pub use audit::AuditSink;
pub use backends::{AdapterName, BackendKind, UnknownBackend};
pub use candidates::Candidates;
pub use constants::{DEFAULTS, is_constant};
pub use draft::DraftRule;
pub use duration::{InvalidDuration, parse_duration};
pub use effort::Effort;
pub use environment::{ModelAccess, child_environment, listen_token, model_access, named_environment, own_environment};
pub use given::Given;
pub use known_models::{
    EditForm, KnownModel, ModelSource, ThinkingForm, Vendor, edit_form, known_model, known_models, model_source,
};
pub use mcp::{MCP_PREFIX, McpSettings};
pub use models::{ImageUse, InvalidModelName, ModelName, ModelSettings, OpenAiInterface};
pub use of_both::{
    OF_BOTH, RepositoryDashboard, RepositoryLabels, RepositoryLimits, RepositoryNotify, RepositoryPublish,
    RepositoryReview, RepositoryRouting,
};
pub use operator_file::operator_file;
pub use otel::TraceVariables;
pub use pace::{InvalidPace, Pace};
pub use prices::{LongPrices, PriceSettings};
pub use profiles::{ProfileSettings, RoutingSettings};
pub use publishing::{Author, InvalidAuthor, Signing};
pub use ready::is_ready_agent;
pub use renamed::OldName;
pub use repository::{OPERATOR_ONLY, REPOSITORY_SETTINGS_PATH, RepositorySettings, RepositorySettingsError};
pub use sandbox::{NetworkSetting, SandboxSettings, TierSetting};
pub use secret_files::{Fault, SecretFileError, SecretFiles};
pub use secrets::{own_secrets, secrets_among};
pub use sections::{
    AppSettings, BudgetSettings, CheckSettings, ClosedIssue, DashboardSettings, ExecutorSettings, ForgeSettings,
    LeaseSettings, Limits, NotifySettings, PollSettings, PublishSettings, RedBase, ReviewSettings, ReviewUpdate,
    RunSettings, StateSettings, StatusSettings, TrustSettings, WebhookFormat,
};
pub use sensible::least;
pub use settings::Settings;
pub use settings_error::SettingsError;
pub use size::{InvalidSize, parse_size, show_size};
pub use standard::{OtherForge, PASS_PREFIX, Standard, hob_variables};
use toml_sentence::toml_sentence;
pub use toolchains::toolchain_folders;
pub use variable_names::may_pass;
pub use webhook::Webhook;
pub use workspace::WorkspaceSettings;

pub use hob_domain::{Ask, Impact};
