//! The help texts of configured programs, read once.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use hob_config::ToolSettings;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::{confined::Confined, native::tools::program_of};

/// The time limit for printing a help text.
const TIME: Duration = Duration::from_secs(5);
/// Bytes of help that are kept.
const HELP_MAX: usize = 16 * 1024;

/// The help texts that are known. Clones share them.
#[derive(Debug, Default, Clone)]
pub(crate) struct Helps(Arc<Mutex<BTreeMap<Vec<String>, Arc<str>>>>);

impl Helps {
    /// The help of each of `programs` that wants it, by the tool's name. A program without one gets none.
    pub(super) async fn of<'a>(
        &self,
        programs: impl Iterator<Item = (&'a str, &'a ToolSettings)>,
        confined: &Confined,
    ) -> BTreeMap<String, String> {
        let mut known = self.0.lock().await;
        let mut found = BTreeMap::new();
        for (name, settings) in programs.filter(|(_, settings)| settings.auto_help) {
            let program = program_of(name, settings);
            let rest = settings.command.iter().skip(1).cloned();
            let command: Vec<String> = std::iter::once(program.to_owned()).chain(rest).collect();
            let help = match known.get(&command) {
                Some(help) => Arc::clone(help),
                None => {
                    let help: Arc<str> = ask(&command, confined).await.into();
                    known.insert(command, Arc::clone(&help));
                    help
                }
            };
            found.insert(name.to_owned(), help.to_string());
        }
        found
    }
}

async fn ask(command: &[String], confined: &Confined) -> String {
    let Some((program, rest)) = command.split_first() else { return String::new() };
    let asked = confined.program(program).args(rest).arg("--help").deadline(TIME).output_cap(HELP_MAX);
    match asked.run(&CancellationToken::new()).await {
        Ok(finished) if finished.stdout.text().trim().is_empty() => finished.stderr.text(),
        Ok(finished) => finished.stdout.text(),
        Err(error) => {
            tracing::warn!(%error, "`{program}` has no help: {error}");
            String::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requirement S5.
    #[tokio::test]
    async fn a_program_is_asked_for_its_help_once() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("tool");
        let script = format!("#!/bin/sh\necho asked >> {}/log\necho \"usage: tool $1\"\n", folder.path().display());
        std::fs::write(&program, script).unwrap();
        // The shell reads it: run by itself, it may be "busy" for as long as another test's child has it open.
        let command = vec!["sh".to_owned(), program.to_str().unwrap().to_owned()];
        let asked = ToolSettings { command, auto_help: true, ..ToolSettings::default() };
        let silent = ToolSettings::default();
        let environment = hob_process::Environment::from([("PATH".into(), "/usr/bin:/bin".into())]);
        let confined = Confined { plan: hob_sandbox::Sandbox::none().plan(), environment };
        let helps = Helps::default();
        for _ in 0..2 {
            let programs = [("tool", &asked), ("silent", &silent)].into_iter();
            let found = helps.clone().of(programs, &confined).await;
            assert_eq!(found, [("tool".to_owned(), "usage: tool --help\n".to_owned())].into());
        }
        assert_eq!(std::fs::read_to_string(folder.path().join("log")).unwrap(), "asked\n");
    }
}
