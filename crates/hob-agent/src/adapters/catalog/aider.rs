//! aider: one message, edits as text. It has no events: its lines for people are parsed.

use std::sync::LazyLock;

use regex::Regex;

use crate::{
    adapters::{
        adapter::{Adapter, Plan, Prompt, Situation, Version, words},
        limit::is_unpaid,
        parsed_output::ParsedOutput,
    },
    model::Usage,
    native::Speaks,
};

pub(super) const AIDER: Adapter = Adapter {
    program: "aider",
    install: "pip install aider-chat",
    minimum: Version(0, 80, 0),
    version: "--version",
    variables: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"],
    prompt: Prompt::File,
    prices: "",
    litter: &[".aider."],
    controls: &[".aider.conf.yml", ".aider.model.metadata.json", ".aider.model.settings.yml", ".env"],
    speaks: Speaks::LastLine,
    plan,
    read,
    after: None,
};

fn plan(situation: &Situation<'_>) -> Plan {
    let mut arguments = words(&["--yes-always", "--no-auto-commits", "--no-dirty-commits", "--no-gitignore"]);
    arguments.extend(words(&["--no-check-update", "--no-show-release-notes", "--no-show-model-warnings"]));
    arguments.extend(words(&["--analytics-disable", "--no-pretty", "--no-fancy-input", "--no-detect-urls"]));
    // Streamed, it guesses how many tokens there were.
    arguments.push("--no-stream".to_owned());
    let path = |name: &str| situation.home.join(name).display().to_string();
    for (flag, file) in [("--chat-history-file", "chat.md"), ("--input-history-file", "input")] {
        arguments.extend([flag.to_owned(), path(file)]);
    }
    arguments.extend(situation.model_flag("--model"));
    arguments.extend(["--message-file".to_owned(), situation.prompt_file.display().to_string()]);
    // Wide, so that an error stays on one line.
    let mut environment = vec![("LITELLM_LOCAL_MODEL_COST_MAP", "True".to_owned()), ("COLUMNS", "1000".to_owned())];
    environment.extend(situation.services.openai.clone().map(|base| ("OPENAI_API_BASE", base)));
    environment.extend(situation.services.anthropic.clone().map(|base| ("ANTHROPIC_API_BASE", base)));
    Plan { arguments, environment, files: Vec::new() }
}

fn read(line: &str, parsed: &mut ParsedOutput) -> Option<String> {
    static BILL: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"^Tokens: ([\d.,]+[kM]?) sent(?:, ([\d.,]+[kM]?) cache write)?(?:, ([\d.,]+[kM]?) cache hit)?, ([\d.,]+[kM]?) received\.(?: Cost: \$([\d.]+) message)?",
        )
        .ok()
    });
    let line = line.trim_end();
    if let Some(found) = BILL.as_ref().and_then(|bill| bill.captures(line)) {
        let tokens = |at: usize| found.get(at).map_or(0, |count| rounded(count.as_str()));
        parsed.count(Usage { input: tokens(1), cache_write: tokens(2), cached_input: tokens(3), output: tokens(4) });
        if let Some(usd) = found.get(5).and_then(|usd| usd.as_str().parse().ok()) {
            parsed.add_usd(usd);
        }
        parsed.problem = None;
        return None;
    }
    // An error of its model library; the rest of the line is the service's own message.
    if line.starts_with("litellm.") || line.starts_with("The API provider ") {
        parsed.problem = Some(line.to_owned());
        // It would try again for minutes.
        parsed.abort |= is_unpaid(line);
    }
    if let Some(path) = line.strip_prefix("Applied edit to ") {
        let words = format!("Edited `{path}`.");
        parsed.summary = if parsed.summary.is_empty() { words } else { format!("{} {words}", parsed.summary) };
    }
    ["Applied edit to ", "litellm.", "Retrying in "]
        .iter()
        .any(|start| line.starts_with(start))
        .then(|| line.to_owned())
}

/// A count as aider rounds it: `950`, `1.2k`, `15k`, `1.0M`.
fn rounded(text: &str) -> u64 {
    let text = text.replace(',', "");
    let (number, factor) = match (text.strip_suffix('k'), text.strip_suffix('M')) {
        (Some(thousands), _) => (thousands, 1e3),
        (_, Some(millions)) => (millions, 1e6),
        (None, None) => (text.as_str(), 1.0),
    };
    // `as` saturates, and a text that is not a number counts as 0.
    (number.parse().unwrap_or(0.0) * factor) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_bill_is_read_as_it_is_rounded() {
        let mut parsed = ParsedOutput::default();
        read("Tokens: 1.2k sent, 300 cache hit, 10 received. Cost: $0.01 message, $0.05 session.", &mut parsed);
        read("Tokens: 100 sent, 10 received.", &mut parsed);
        assert_eq!((parsed.usage.input, parsed.usage.cached_input, parsed.usage.output), (1_300, 300, 20));
        assert_eq!(parsed.usd_micros, Some(10_000));
    }

    #[test]
    fn an_error_that_a_later_reply_follows_is_over() {
        let mut parsed = ParsedOutput::default();
        read("litellm.InternalServerError: oops", &mut parsed);
        assert!(parsed.problem.is_some());
        read("Tokens: 100 sent, 10 received.", &mut parsed);
        assert_eq!(parsed.problem, None);
    }
}
