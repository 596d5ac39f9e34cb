//! goose: `goose run`. Written from its documentation; it is in no package registry, and was never run.

use crate::{
    adapters::{
        adapter::{Adapter, Plan, Prompt, Situation, words},
        parsed_output::ParsedOutput,
    },
    native::Speaks,
};

pub(super) const GOOSE: Adapter = Adapter {
    program: "goose",
    install: "brew install block-goose-cli",
    minimum: (1, 0, 0),
    version: "--version",
    variables: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOSE_PROVIDER"],
    prompt: Prompt::File,
    prices: "",
    litter: &[],
    controls: &[".goose"],
    speaks: Speaks::Mcp,
    plan,
    read,
    after: None,
};

fn plan(situation: &Situation<'_>) -> Plan {
    let mut arguments = words(&["run", "--no-session", "--quiet", "--with-builtin", "developer"]);
    arguments.extend(["--instructions".to_owned(), situation.prompt_file.display().to_string()]);
    if let Some(address) = situation.tools {
        arguments.extend(["--with-streamable-http-extension".to_owned(), address.to_owned()]);
    }
    // No keyring: a job has none, and a prompt for one would wait for ever.
    let mut environment = vec![("GOOSE_MODE", "auto".to_owned()), ("GOOSE_DISABLE_KEYRING", "1".to_owned())];
    if let Some((provider, model)) = situation.model.and_then(|model| model.split_once('/')) {
        environment.extend([("GOOSE_PROVIDER", provider.to_owned()), ("GOOSE_MODEL", model.to_owned())]);
    }
    // Its addresses have no version.
    let host = |base: &String| base.trim_end_matches('/').trim_end_matches("/v1").to_owned();
    environment.extend(situation.services.openai.as_ref().map(|base| ("OPENAI_HOST", host(base))));
    environment.extend(situation.services.anthropic.as_ref().map(|base| ("ANTHROPIC_HOST", host(base))));
    Plan { arguments, environment, files: Vec::new() }
}

fn read(line: &str, parsed: &mut ParsedOutput) -> Option<String> {
    let line = line.trim();
    if line.is_empty() {
        return None;
    }
    if line.to_ascii_lowercase().starts_with("error") {
        parsed.problem = Some(line.to_owned());
    } else {
        line.clone_into(&mut parsed.summary);
    }
    Some(line.chars().take(200).collect())
}
