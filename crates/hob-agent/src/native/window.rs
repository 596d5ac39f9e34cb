//! The size of a model's window, and how full it is.

use hob_config::known_model;

use crate::native::history::History;

/// Tokens that a model takes if it is not known.
const DEFAULT: u64 = 128_000;
/// Bytes of a history that fits any window which a service would list.
const SHORT: usize = 24_000;
/// Per cent of the window above which something is left out, and per cent that stay.
const FULL: u64 = 75;
const KEPT: u64 = 50;
/// Bytes of a token until a service has counted some. Code has more tokens than prose.
const BYTES_PER_TOKEN: u64 = 3;

/// The window of the model of one run.
#[derive(Debug)]
pub(super) struct Window {
    tokens: u64,
    /// What is known of the model; `None` if nothing is.
    known: Option<u64>,
    /// Whether it may be other than its service lists.
    is_unlisted: bool,
    /// Bytes and tokens of the last request that a service counted.
    counted: (u64, u64),
}

impl Window {
    /// The window of a model: by the settings, otherwise as far as it is known.
    pub(super) fn new(model: &str, setting: Option<u64>) -> Self {
        let known = known_model(model).map(|known| known.window);
        let tokens = setting.or(known).unwrap_or(DEFAULT).max(1);
        Self { tokens, known, counted: (BYTES_PER_TOKEN, 1), is_unlisted: setting.is_none() }
    }

    /// Whether the service should be asked what it lists: once, and not for a short run.
    pub(super) fn wants_list(&mut self, history: &History) -> bool {
        history.bytes() > SHORT && std::mem::take(&mut self.is_unlisted)
    }

    /// Learns the window that the service lists. Some list the tokens of the answer, too, and so a smaller one that is known holds.
    pub(super) fn listed(&mut self, tokens: u64) {
        self.tokens = self.known.map_or(tokens, |known| known.min(tokens));
    }

    /// Leaves out the oldest parts if the window is nearly full.
    pub(super) fn fit(&self, history: &mut History, plan: Option<&str>) {
        if history.bytes() >= self.bytes(FULL) {
            history.shrink(self.bytes(KEPT), self.bytes(FULL), plan);
        }
    }

    /// Learns the tokens that the service counted for a request of about `bytes`.
    pub(super) fn counted(&mut self, bytes: usize, tokens: u64) {
        if tokens > 0 && bytes > 0 {
            self.counted = (bytes as u64, tokens);
        }
    }

    /// Shrinks after a request that was too long. The window is what the service said, otherwise less than the size
    /// that was sent; `false` if nothing more can be left out.
    pub(super) fn exceeded(&mut self, history: &mut History, said: Option<u64>, plan: Option<&str>) -> bool {
        self.is_unlisted = false;
        let sent = history.bytes() as u64 * self.counted.1 / self.counted.0;
        match said.filter(|said| *said < sent) {
            Some(said) => self.tokens = said,
            // It counts differently than this estimate.
            None => self.tokens = self.tokens.min(sent.max(1)),
        }
        history.shrink(self.bytes(KEPT), self.bytes(KEPT), plan) || history.halve(plan)
    }

    fn bytes(&self, per_cent: u64) -> usize {
        let (bytes, tokens) = self.counted;
        usize::try_from(self.tokens.saturating_mul(per_cent) / 100 * bytes / tokens.max(1)).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_known_set_or_learned() {
        for (model, setting, listed, tokens) in [
            ("anthropic/claude-sonnet-5-5", None, None, 1_000_000),
            ("anthropic/claude-haiku-4-5", None, None, 200_000),
            ("openai/gpt-6-sol", None, None, 922_000),
            ("openai/gpt-6.2", None, None, 128_000),
            ("openai/gpt-5-mini", None, None, 272_000),
            ("openai/gpt-5-mini", None, Some(400_000), 272_000),
            ("openai/gpt-5-mini", None, Some(50_000), 50_000),
            ("openai/qwen3-coder", None, None, 128_000),
            ("openai/qwen3-coder", None, Some(262_144), 262_144),
            ("openai/gpt-5", Some(64_000), Some(50_000), 64_000),
        ] {
            let mut window = Window::new(model, setting);
            assert!(!window.wants_list(&History::new("short".to_owned())), "{model}");
            if window.wants_list(&History::new("x".repeat(30_000)))
                && let Some(listed) = listed
            {
                window.listed(listed);
            }
            assert!(!window.wants_list(&History::new("x".repeat(30_000))), "{model}: once");
            assert_eq!(window.tokens, tokens, "{model}");
        }
        let mut window = Window::new("openai/x", None);
        window.counted(400_000, 100_000);
        assert_eq!(window.bytes(FULL), 384_000);
        let mut history = History::new("x".repeat(400_000));
        assert!(!window.exceeded(&mut history, Some(32_000), None), "the task alone is too long");
        assert_eq!(window.tokens, 32_000);
    }
}
