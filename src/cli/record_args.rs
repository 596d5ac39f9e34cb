//! The flag `--record`, which several commands have.

use std::path::PathBuf;

use clap::Args;

use crate::cli::exit::{Exit, fatal};

/// Where replies are recorded.
#[derive(Debug, Default, Args)]
pub(super) struct RecordArgs {
    /// Record the model replies of native agents in this folder, one file per session. The model `cassette/FILE` plays one
    /// back.
    #[arg(long, value_name = "DIR")]
    pub(super) record: Option<PathBuf>,
}

impl RecordArgs {
    /// The folder, made if it does not exist.
    pub(super) fn folder(self) -> anyhow::Result<Option<PathBuf>> {
        let Some(folder) = self.record else { return Ok(None) };
        let made = std::fs::create_dir_all(&folder).and_then(|()| folder.canonicalize());
        let why = |error| fatal(Exit::Usage, format!("cannot record into `{}`: {error}", folder.display()));
        made.map(Some).map_err(why)
    }
}
