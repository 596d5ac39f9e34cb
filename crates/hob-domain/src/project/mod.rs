//! Recognizes by a repository's files the checks that verify it and the steps that fetch what they need.
//!
//! [`proposal()`] is for the person who sets Hob up: `hob init` writes it into `.github/hob.toml`, and `hob doctor`
//! names its steps. Nothing here runs programs, and no proposed check writes, publishes or deploys.
//!
//! | part | finds |
//! |---|---|
//! | `files` | which files are read, and what they say |
//! | `runner` | the repository's own one command: `just test`, `make test` |
//! | `javascript`, `python`, `compiled` | the checks and steps of a language |
//! | `hosts` | where the steps fetch from, as lock files and settings say it |
//! | `proposal` | all of them together, in folders too, and `.github/hob.toml` |

mod compiled;
mod files;
mod hosts;
mod javascript;
mod part;
mod proposal;
mod python;
mod runner;
#[cfg(test)]
mod samples;

pub use files::{ProjectFiles, manifests};
pub use hosts::host_files;
pub use proposal::{Proposal, SetUpHosts, proposal, proposed_set_up};
