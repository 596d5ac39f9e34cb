//! The parts of a release beside the program: `hob --version`, `hob completions`, `hob man`.

use std::{fs, io::Write};

use serde_json::json;

use crate::cli::{
    about_args::{CompletionsArgs, ManArgs},
    command_line::shown,
    exit::{Exit, fatal},
    json, output,
};

/// The commit that a release was built from, which its script sets; `None` in other builds.
const COMMIT: Option<&str> = option_env!("HOB_COMMIT");

pub(super) fn version(as_json: bool) -> anyhow::Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    if !as_json {
        let commit = COMMIT.map(|commit| format!(" ({commit})")).unwrap_or_default();
        return Ok(output::line(format!("hob {version}{commit}"))?);
    }
    let features: Vec<&str> = [("jemalloc", cfg!(feature = "jemalloc"))]
        .into_iter()
        .filter_map(|(name, is_there)| is_there.then_some(name))
        .collect();
    let (system, machine) = (std::env::consts::OS, std::env::consts::ARCH);
    json::result(&json!({
        "version": version, "commit": COMMIT, "features": features, "system": system, "machine": machine,
    }))
}

pub(super) fn completions(args: &CompletionsArgs) -> anyhow::Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut shown(), "hob", &mut text);
    std::io::stdout().write_all(&text).map_err(|error| output::Unwritable::from(error).into())
}

/// A page for Hob and for each of its commands, down to the last one.
pub(super) fn man(args: &ManArgs) -> anyhow::Result<()> {
    let unwritable =
        |error: std::io::Error| fatal(Exit::Usage, format!("cannot write to `{}`: {error}", args.folder.display()));
    fs::create_dir_all(&args.folder).map_err(unwritable)?;
    clap_mangen::generate_to(shown(), &args.folder).map_err(unwritable)
}
