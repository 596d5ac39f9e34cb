//! `hob session log SESSION [-f]`: a session's transcript, line by line; with `--all` those of all sessions.

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context;
use hob_agent::session::{Line, SessionEvent, SessionRecord, SessionState, Sessions};
use hob_domain::{Outcome, RunId};
use hob_text::terminal;

use crate::cli::{
    args::Shared,
    json,
    layout::shortened,
    local::is_local,
    output::{self, BAD, BOLD, DIM, GOOD, styled},
    session_args::{LogArgs, SessionArgs},
    sessions::{find, open, outcome, when},
    setup::Setup,
};

/// How often a followed transcript is read.
const READ_INTERVAL: Duration = Duration::from_millis(200);
/// Characters of a line, without `--full`.
const LINE_MAX: usize = 160;

pub(super) async fn log(setup: Setup, shared: Shared, args: LogArgs) -> anyhow::Result<()> {
    let sessions = open(&setup);
    let Some(session) = args.session.clone() else { return all(&setup, &shared, &sessions, args.full) };
    let record = find(&setup, &shared, &SessionArgs { session })?;
    let mut tail = Tail { path: sessions.transcript(&record.id)?, read: 0, part: Vec::new() };
    loop {
        // The state is read before the lines, so that lines written in between are printed in the next round.
        let state = sessions.record(&record.id).map(|record| record.state);
        for line in tail.lines()? {
            print(&record.id, &line, &shared, args.full)?;
        }
        if !args.follow || state != Some(SessionState::Running) {
            return Ok(());
        }
        tokio::time::sleep(READ_INTERVAL).await;
    }
}

/// Prints the transcripts of all sessions. One that cannot be read does not hide the others.
fn all(setup: &Setup, shared: &Shared, sessions: &Sessions, full: bool) -> anyhow::Result<()> {
    let repo = setup.at_most_one(shared)?;
    let mut records = sessions.list();
    records.retain(|record| repo.as_ref().is_none_or(|repo| record.repo == *repo) || is_local(record));
    records.sort_by_key(|record| record.started_ms);
    for SessionRecord { id, .. } in &records {
        let transcript = match sessions.read(id) {
            Ok(transcript) => transcript,
            Err(error) => {
                output::warn(&format!("the session {id} is left out: {error}"));
                continue;
            }
        };
        if !shared.json {
            output::line(styled(BOLD, &terminal(id.as_str())))?;
        }
        for line in &transcript.lines {
            print(id, line, shared, full)?;
        }
    }
    Ok(())
}

/// A transcript that may still grow.
struct Tail {
    path: PathBuf,
    read: u64,
    part: Vec<u8>,
}

impl Tail {
    /// The complete lines since the last call, without the header and damaged lines.
    fn lines(&mut self) -> anyhow::Result<Vec<Line>> {
        let failed = |path: &Path| format!("read the transcript `{}`", path.display());
        let mut file = File::open(&self.path).with_context(|| failed(&self.path))?;
        file.seek(SeekFrom::Start(self.read)).with_context(|| failed(&self.path))?;
        let read = file.read_to_end(&mut self.part).with_context(|| failed(&self.path))?;
        self.read += u64::try_from(read).unwrap_or_default();
        let whole = self.part.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let lines: Vec<u8> = self.part.drain(..whole).collect();
        Ok(lines.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect())
    }
}

fn print(session: &RunId, line: &Line, shared: &Shared, full: bool) -> anyhow::Result<()> {
    if shared.json {
        return Ok(json::event(serde_json::json!({ "event": "line", "session": session, "line": line }))?);
    }
    let Some((style, text)) = text_of(&line.event) else { return Ok(()) };
    let text = if full { text } else { one_line(&text) };
    let at = when(line.at_ms);
    let at = at.get(11..19).unwrap_or_default();
    for (index, part) in terminal(&text).lines().enumerate() {
        let at = if index == 0 { at } else { "|       " };
        output::line(format!("{} {}", styled(DIM, at), styled(style, part)))?;
    }
    Ok(())
}

/// The text of an event; `None` if it is not shown.
fn text_of(event: &SessionEvent) -> Option<(anstyle::Style, String)> {
    let plain = anstyle::Style::new();
    Some(match event {
        SessionEvent::Started { run, brief, .. } => (BOLD, format!("run {run}: {brief}")),
        SessionEvent::Progress { text } => (plain, text.clone()),
        SessionEvent::Told { text } => (DIM, text.clone()),
        SessionEvent::Noted { text } => (output::WARN, text.clone()),
        SessionEvent::Asked { .. } | SessionEvent::Spending { .. } | SessionEvent::Turned { .. } => return None,
        SessionEvent::Replied { turn, model, text, input_tokens, output_tokens, .. } => {
            (BOLD, format!("turn {turn} ({model}, {input_tokens} + {output_tokens} tokens) {text}"))
        }
        SessionEvent::Action { tool, arguments, .. } => (plain, format!("  {tool} {arguments}")),
        SessionEvent::Result { is_error: true, text, .. } => (BAD, format!("  → failed: {text}")),
        SessionEvent::Result { text, .. } => (DIM, format!("  → {text}")),
        SessionEvent::Ended { outcome: ended, spend } => {
            let style = match ended {
                Outcome::Done { .. } | Outcome::NothingToDo { .. } | Outcome::HandOff(_) => GOOD,
                Outcome::Question { .. } | Outcome::ApprovalNeeded { .. } => output::WARN,
                Outcome::Failed { .. } => BAD,
            };
            (style, format!("{} ({spend})", outcome(ended)))
        }
    })
}

/// The first line that is not blank, cut to the maximum.
fn one_line(text: &str) -> String {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = shortened(lines.next().unwrap_or_default(), LINE_MAX);
    let more = lines.count();
    if more > 0 { format!("{first} … {more} more lines") } else { first }
}
