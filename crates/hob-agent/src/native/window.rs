//! The size of a model's window, and how full it is.

use hob_config::known_model;

use crate::native::history::History;

/// Tokens that a model takes if it is not known.
const DEFAULT: u64 = 128_000;
/// Per cent of the window above which something is left out, and per cent that stay.
const FULL: u64 = 75;
const KEPT: u64 = 50;
/// Bytes of a token until a service has counted some. Code has more tokens than prose.
const BYTES_PER_TOKEN: u64 = 3;

/// The window of the model of one run.
#[derive(Debug)]
pub(super) struct Window {
    tokens: u64,
    /// Bytes and tokens of the last request that a service counted.
    counted: (u64, u64),
}

impl Window {
    /// The window of a model: by the settings, otherwise as far as it is known.
    pub(super) fn new(model: &str, setting: Option<u64>) -> Self {
        let known = || known_model(model).map_or(DEFAULT, |known| known.window);
        Self { tokens: setting.unwrap_or_else(known).max(1), counted: (BYTES_PER_TOKEN, 1) }
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
        for (model, setting, tokens) in [
            ("anthropic/claude-sonnet-5-5", None, 1_000_000),
            ("anthropic/claude-haiku-4-5", None, 200_000),
            ("openai/gpt-6-sol", None, 922_000),
            ("openai/gpt-6.2", None, 128_000),
            ("openai/gpt-5-mini", None, 272_000),
            ("openai/qwen3-coder", None, 128_000),
            ("openai/gpt-5", Some(64_000), 64_000),
        ] {
            assert_eq!(Window::new(model, setting).tokens, tokens, "{model}");
        }
        let mut window = Window::new("openai/x", None);
        window.counted(400_000, 100_000);
        assert_eq!(window.bytes(FULL), 384_000);
        let mut history = History::new("x".repeat(400_000));
        assert!(!window.exceeded(&mut history, Some(32_000), None), "the task alone is too long");
        assert_eq!(window.tokens, 32_000);
    }
}
