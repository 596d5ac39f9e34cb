//! `hob-bench`: what agents cost on this machine, with a model that plays a script.

mod agent;
mod bare_loop;
mod command;
mod measure;
mod model_server;
mod output;
mod request;
mod run_agent;
mod subject;
mod tree;
mod unusable;

use std::process::ExitCode;

use clap::Parser;

use crate::{command::Cli, unusable::Unusable};

/// Codes as of `hob`.
const FAILURE: u8 = 1;
const USAGE: u8 = 2;

fn main() -> ExitCode {
    // The same as in `hob`, so that measured programs run under the same conditions.
    if let Err(error) = hob_process::hide_from_children() {
        anstream::eprintln!("hob-bench: the process cannot be hidden from its children: {error}");
        return ExitCode::from(FAILURE);
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are printed too, and are not failures.
            error.print().ok();
            return if error.use_stderr() { ExitCode::from(USAGE) } else { ExitCode::SUCCESS };
        }
    };
    let ended = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(cli.run()),
        Err(error) => Err(error.into()),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            anstream::eprintln!("hob-bench: {error:#}");
            ExitCode::from(if error.is::<Unusable>() { USAGE } else { FAILURE })
        }
    }
}
