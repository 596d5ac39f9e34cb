//! Standard error on a terminal: lines of progress wait while an approval prompt is open.

use std::sync::{Arc, Mutex, PoisonError};

/// The most lines that wait; further ones are only counted.
const HELD_MAX: usize = 1_000;

/// Where lines of progress go. Clones share it.
#[derive(Debug, Default, Clone)]
pub(super) struct Screen(Arc<Mutex<Held>>);

#[derive(Debug, Default)]
struct Held {
    asking: bool,
    lines: Vec<String>,
    more: usize,
}

impl Screen {
    /// Shows a line, now or when the prompt has closed.
    pub(super) fn line(&self, line: String) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !held.asking {
            anstream::eprintln!("{line}");
        } else if held.lines.len() < HELD_MAX {
            held.lines.push(line);
        } else {
            held.more += 1;
        }
    }

    /// Holds lines back until the returned guard is dropped.
    pub(super) fn ask(&self) -> Asking<'_> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).asking = true;
        Asking(self)
    }
}

/// An open prompt.
pub(super) struct Asking<'a>(&'a Screen);

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let mut held = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Held { lines, more, .. } = std::mem::take(&mut *held);
        for line in lines {
            anstream::eprintln!("{line}");
        }
        if more > 0 {
            anstream::eprintln!("({more} more lines of progress were dropped)");
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
