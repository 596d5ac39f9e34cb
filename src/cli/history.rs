//! `hob history ISSUE`.

use hob_domain::IssueNumber;
use hob_forge::Access;
use hob_text::terminal;

use crate::cli::{
    args::Shared,
    exit::{Exit, fatal},
    json,
    layout::{width_of, wrapped},
    output::{self, DIM},
    progress::state,
    setup::{Listen, Setup},
    words::because,
};

/// The width of the columns before a sentence: time, commit and state.
const BEFORE_SENTENCE: usize = 47;

pub(super) async fn history(setup: Setup, shared: Shared, number: IssueNumber) -> anyhow::Result<()> {
    let worker = setup.worker(&shared, Access::ReadOnly, None, Listen::nobody()).await?;
    let entries = worker.forge().ledger().history(number).await?;
    if entries.is_empty() {
        return Err(fatal(Exit::NotFound, format!("issue {number} has no ledger: Hob never claimed it")));
    }
    if shared.json {
        let records: Vec<_> = entries
            .iter()
            .map(|entry| serde_json::json!({ "commit": entry.commit, "sentence": entry.sentence, "record": entry.record }))
            .collect();
        return json::result(&records);
    }
    for entry in entries {
        let at = entry.record.renewed_at.format("%Y-%m-%d %H:%M:%S");
        let (at, commit) = (output::styled(DIM, &format!("{at} UTC")), output::styled(DIM, entry.commit.short()));
        let why = because(entry.record.state, &entry.sentence);
        let text = format!("{at} {commit} {} {}", state(entry.record.state), terminal(&why));
        output::line(wrapped(&text, width_of(std::io::stdout()), BEFORE_SENTENCE))?;
    }
    Ok(())
}
