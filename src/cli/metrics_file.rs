//! The file with a run's metrics, in OpenMetrics' text format, for a collector that reads files.
//!
//! # Guarantees
//! A reader never sees half a file: each version is renamed over the one before.

use std::{
    io::Write,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use hob_worker::metrics_for_file;
use tempfile::NamedTempFile;

use crate::cli::exit::{Exit, fatal};

/// How often the file is written: as often as collectors read it.
const EVERY: Duration = Duration::from_secs(15);

/// The file, written now and then until it is closed.
pub(super) struct MetricsFile {
    path: PathBuf,
    writer: tokio::task::JoinHandle<()>,
}

impl MetricsFile {
    /// Writes the file for the first time. `None` if no file is wanted.
    pub(super) fn open(path: Option<PathBuf>) -> anyhow::Result<Option<Self>> {
        let Some(path) = path else { return Ok(None) };
        write(&path).map_err(|error| {
            fatal(Exit::Usage, format!("the metrics cannot be written to `{}`: {error}", path.display()))
        })?;
        let now_and_then = path.clone();
        let writer = tokio::spawn(async move {
            let mut ticks = tokio::time::interval(EVERY);
            loop {
                ticks.tick().await;
                let path = now_and_then.clone();
                let written = tokio::task::spawn_blocking(move || write(&path)).await;
                if let Ok(Err(error)) = written {
                    tracing::warn!(%error, "the metrics could not be written: {error}");
                }
            }
        });
        Ok(Some(Self { path, writer }))
    }

    /// Writes the file for the last time.
    pub(super) async fn close(self) {
        self.writer.abort();
        // Dropped only now, so that nothing older is written over this.
        drop(self.writer.await);
        if let Err(error) = write(&self.path) {
            tracing::warn!(%error, "the metrics could not be written: {error}");
        }
    }
}

fn write(path: &Path) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(metrics_for_file().as_bytes())?;
    // A collector runs as another user, and nothing in it is secret.
    file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644))?;
    file.persist(path)?;
    Ok(())
}
