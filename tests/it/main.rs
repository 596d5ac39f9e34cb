//! Every integration test, in one binary: each extra binary would link everything again.
#![expect(clippy::unwrap_used, reason = "a failed unwrap in a test is a failed test")]
#![expect(clippy::large_futures, reason = "a test's future begins on the test's own stack, with nothing above it")]

mod agents;
mod docs;
mod e2e;
mod github;
mod harness;
#[cfg(target_os = "linux")]
mod installer;
mod layering;
mod local_forge;
mod local_forge_apps;
mod local_forge_data;
mod local_forge_life;
mod local_forge_rules;
mod local_forge_seed;
mod local_forge_webhooks;
mod model_check;
mod model_server;
mod models;
mod packaging;
mod rehearsal;
mod sandbox;
mod workspace;
mod workspace_http;
