//! Standard error, which progress, log events and the approval prompt share. Lines wait while a prompt is open; on a
//! terminal the last line may be a status, which the next line replaces; in GitHub Actions lines are grouped.

use std::{
    io::{IsTerminal, Write},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::cli::{
    actions::Group,
    layout::{shortened, width_of},
    output::{self, DIM, styled},
};

/// The most lines that wait; further ones are only counted.
const HELD_MAX: usize = 1_000;
/// Puts the cursor to the begin of its line and empties it.
const EMPTY_LINE: &str = "\r\u{1b}[K";

/// The destination of progress lines. Clones share it.
#[derive(Debug, Default, Clone)]
pub(super) struct Screen(Arc<Mutex<Held>>);

#[derive(Debug, Default)]
struct Held {
    asking: bool,
    lines: Vec<String>,
    more: usize,
    /// Whether the terminal's last line is a status.
    status: bool,
    group: Option<Group>,
}

impl Screen {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the status is visible.
    pub(super) fn is_live(&self) -> bool {
        std::io::stderr().is_terminal()
    }

    /// Shows a line, now or when the prompt has closed.
    pub(super) fn line(&self, line: String) {
        let mut held = self.held();
        if !held.asking {
            held.clear();
            output::note(line);
        } else if held.lines.len() < HELD_MAX {
            held.lines.push(line);
        } else {
            held.more += 1;
        }
    }

    /// Shows the status below the last line, or removes it.
    pub(super) fn status(&self, text: Option<&str>) {
        let mut held = self.held();
        held.clear();
        if held.asking {
            return;
        }
        if let (Some(text), Some(width)) = (text, width_of(std::io::stderr())) {
            let text = styled(DIM, &shortened(&output::redacted(text), width.saturating_sub(3)));
            let mut stderr = anstream::stderr().lock();
            held.status = write!(stderr, "{text}").and_then(|()| stderr.flush()).is_ok();
        }
    }

    /// Begins a group of lines that GitHub Actions folds, unless it is the one that is open.
    pub(super) fn group(&self, title: &str) {
        let mut held = self.held();
        if held.group.as_ref().is_none_or(|group| !group.is(title)) {
            held.end_group();
            let (group, begin) = Group::begin(title);
            output::note(begin);
            held.group = Some(group);
        }
    }

    /// Ends the group and the status before the result.
    pub(super) fn close(&self) {
        let mut held = self.held();
        held.clear();
        held.end_group();
    }

    /// Holds lines back until the returned guard is dropped.
    pub(super) fn ask(&self) -> Asking<'_> {
        let mut held = self.held();
        held.clear();
        held.asking = true;
        Asking(self)
    }
}

impl Held {
    fn clear(&mut self) {
        if std::mem::take(&mut self.status) {
            // Not through the stream that drops styles: it would drop this too.
            let mut stderr = std::io::stderr().lock();
            write!(stderr, "{EMPTY_LINE}").and_then(|()| stderr.flush()).ok();
        }
    }

    fn end_group(&mut self) {
        if let Some(group) = self.group.take() {
            output::note(group.end());
        }
    }
}

/// Log events are lines too, one each, even if the text of an error has line breaks: a job's log takes some for
/// commands. An event arrives here as a whole, so that no secret in it is split.
impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        let event = text.trim_end_matches('\n').replace('\n', "\\n").replace("##[", "##\\u005b");
        self.held().clear();
        writeln!(std::io::stderr(), "{}", output::redacted(&event))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stderr().flush()
    }
}

/// An open prompt.
pub(super) struct Asking<'a>(&'a Screen);

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let mut held = self.0.held();
        let (lines, more) = (std::mem::take(&mut held.lines), std::mem::take(&mut held.more));
        held.asking = false;
        for line in lines {
            output::note(line);
        }
        if more > 0 {
            output::note(format!("({more} more lines of progress were dropped)"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_wait_while_somebody_is_asked() {
        let screen = Screen::default();
        let asking = screen.ask();
        for n in 0..HELD_MAX + 2 {
            screen.line(format!("line {n}"));
        }
        let held = |screen: &Screen| {
            let held = screen.0.lock().unwrap();
            (held.asking, held.lines.len(), held.more)
        };
        assert_eq!(held(&screen), (true, HELD_MAX, 2));
        drop(asking);
        assert_eq!(held(&screen), (false, 0, 0));
    }
}
