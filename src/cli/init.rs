//! `hob init`: makes a repository ready for Hob, by its labels and one pull request.

use hob_config::REPOSITORY_SETTINGS_PATH;
use hob_domain::{LabelNames, Proposal, Workflows};
use hob_forge::Access;
use hob_text::{count, terminal};
use hob_worker::onboard::{
    LeftOut, NewFile, Offered, Onboarded, SCHEDULE_PATH, Survey, WITHOUT_WORKFLOW, WORKFLOW_PATH, onboard, survey,
};
use serde_json::{Value, json};

use crate::cli::{
    args::{InitArgs, Shared},
    exit::{Exit, fatal},
    json,
    layout::paragraph,
    output::{self, BOLD, DIM, GOOD, WARN, styled},
    progress::Verbosity,
    setup::{Listen, Setup},
};

/// The proposed workflows; they name the release of this version.
const WORKFLOW: &str = include_str!("../../examples/workflow.yml");
const SCHEDULE: &str = include_str!("../../examples/schedule.yml");
/// Their settings, which have one line.
const SETTINGS: &str = "    with: { settings: 'model.default = \"anthropic/claude-sonnet-5-5\"' }\n";
/// Lines of their comments that only concern readers in Hob's own repository.
const COPY_THIS: [&str; 2] = [
    " Copy this file to .github/workflows/hob.yml, and schedule.yml to hob-schedule.yml beside it.",
    " Copy this file to .github/workflows/hob-schedule.yml.",
];

pub(super) async fn init(setup: Setup, shared: Shared, args: InitArgs) -> anyhow::Result<()> {
    let access = if args.dry_run { Access::ReadOnly } else { Access::ReadWrite };
    let in_words = !shared.json && shared.verbosity() != Verbosity::Quiet;
    let tell = move |step: String| {
        if in_words {
            output::note(styled(DIM, &terminal(&step)));
        }
    };
    let worker = setup.worker(&shared, access, None, Listen::nobody()).await?;
    let repo = worker.forge().repo().clone();
    tell(format!("reading {repo}"));
    let found = survey(&worker, (!args.no_workflow).then_some(workflows)).await?;
    if args.dry_run {
        return if shared.json { json::result(&value(&found, None)) } else { would(&found) };
    }
    let done = onboard(&worker, &found, &tell).await?;
    if shared.json {
        json::result(&value(&found, Some(&done)))?;
    } else {
        told(&found, &done, &found.trigger)?;
    }
    match (&done.pull, done.left_out) {
        (None, LeftOut::Workflow) => Err(fatal(Exit::Token, WITHOUT_WORKFLOW)),
        (Some(_) | None, LeftOut::Nothing) | (Some(_), LeftOut::Workflow) => Ok(()),
    }
}

/// The workflows for a repository with these labels, whose set-up steps need hosts.
fn workflows(labels: &LabelNames, found: &Proposal) -> Workflows {
    let quoted = |name: &str| format!("'{}'", name.replace('\'', "''"));
    let of_label = |name: &str| format!("github.event.label.name == {}", quoted(name));
    let on_issue = |name: &str| format!("github.event.issue.labels.*.name, {}", quoted(name));
    // A label has no line end, so a comment stays one.
    let in_words = |name: &str| format!("the label `{name}`");
    let proposed = |example: &str| {
        COPY_THIS
            .iter()
            .fold(example.to_owned(), |text, copy| text.replace(copy, ""))
            .replace(&in_words("code"), &in_words(&labels.trigger))
            .replace(&of_label("code"), &of_label(&labels.trigger))
            .replace(&on_issue("blocked"), &on_issue(&labels.blocked))
            .replace(SETTINGS, &with_hosts(found))
    };
    Workflows { hob: proposed(WORKFLOW), schedule: proposed(SCHEDULE) }
}

/// The settings with the set-up steps' needs; without steps they are as in the example.
fn with_hosts(found: &Proposal) -> String {
    let Some(model) = SETTINGS.split('\'').nth(1).filter(|_| !found.setup.is_empty()) else {
        return SETTINGS.to_owned();
    };
    let hosts = found.hosts.listed("sandbox.setup_hosts", "");
    let lines: String = hosts.lines().map(|line| format!("        {line}\n")).collect();
    format!(
        "    with:\n      settings: |\n        {model}\n        # The set-up steps of .github/hob.toml fetch from these hosts, and \
         reach no other.\n{lines}"
    )
}

fn value(found: &Survey, done: Option<&Onboarded>) -> Value {
    let Proposal { checks, setup, setup_key, hosts, check_hosts } = &found.proposal;
    let check_hosts: &[String] = check_hosts.as_ref().map_or(&[], |hosts| &hosts.names);
    let labels: Vec<&str> = found.labels.iter().map(|label| label.name.as_str()).collect();
    let files: Vec<Value> = found
        .files
        .iter()
        .map(|file| json!({ "path": file.path, "text": file.text, "replaces": file.replaces }))
        .collect();
    let pull = match done {
        Some(done) => done.pull.as_ref().map(|(pull, offered)| (pull, word(*offered))),
        None => found.open.as_ref().map(|pull| (pull, "open")),
    };
    let is_left_out = done.is_some_and(|done| done.left_out == LeftOut::Workflow);
    let workflows = found.files.iter().filter(|file| is_left_out && file.is_workflow());
    let left_out: Vec<&str> = workflows.map(|file| file.path).collect();
    json!({
        "labels": labels,
        "files": files,
        "present": found.present,
        "not_split": found.not_split.map(|why| why.to_string()),
        "left_out": left_out,
        "checks": checks,
        "setup": setup,
        "setup_key": setup_key,
        "hosts": hosts.names,
        "check_hosts": check_hosts,
        "branch": found.branch.as_str(),
        "pull": pull.map(|(pull, state)| json!({ "number": pull.number, "url": pull.html_url, "state": state })),
        "dry_run": done.is_none(),
    })
}

fn word(offered: Offered) -> &'static str {
    match offered {
        Offered::Opened => "opened",
        Offered::Updated => "updated",
        Offered::Unchanged => "unchanged",
        Offered::Theirs => "theirs",
    }
}

/// Prints the result of `--dry-run`: the files, and the steps.
fn would(found: &Survey) -> anyhow::Result<()> {
    there(found)?;
    for label in &found.labels {
        paragraph(&format!("would create the label `{}`: {}", label.name, label.description))?;
    }
    for NewFile { path, text, replaces } in &found.files {
        let title = if *replaces { format!("--- {path}, changed") } else { format!("--- {path}") };
        output::line(format!("{}\n{}", styled(BOLD, &title), terminal(text.trim_end())))?;
    }
    let what = match (found.files.len(), &found.open) {
        (0, _) => "would open no pull request: nothing is missing".to_owned(),
        (files, None) => {
            format!("would open a pull request with {} from the branch `{}`", count(files, "file"), found.branch)
        }
        (_, Some(open)) => format!("would bring the open pull request up to date where it differs: {}", open.html_url),
    };
    Ok(paragraph(&what)?)
}

fn there(found: &Survey) -> anyhow::Result<()> {
    for path in &found.present {
        paragraph(&format!("`{path}` already exists and is left unchanged"))?;
    }
    if let Some(why) = found.not_split {
        paragraph(&styled(
            WARN,
            &format!(
                "`{WORKFLOW_PATH}` has a schedule beside its other triggers, so GitHub disables all of them once a public repository \
                 has had no activity for 60 days. It was left unchanged, because {why}: move the schedule to `{SCHEDULE_PATH}` by hand, as in examples/schedule.yml of Hob's repository"
            ),
        ))?;
    }
    Ok(())
}

fn told(found: &Survey, done: &Onboarded, trigger: &str) -> anyhow::Result<()> {
    there(found)?;
    match found.labels.len() {
        0 => paragraph("all labels already exist")?,
        made => paragraph(&format!("{} created", count(made, "label")))?,
    }
    let Some((pull, offered)) = &done.pull else {
        if done.left_out == LeftOut::Nothing {
            paragraph(&format!(
                "no pull request is needed. Next: `hob doctor`, then give one issue the label `{trigger}`"
            ))?;
        }
        return Ok(());
    };
    if found.files.iter().any(|file| file.path == REPOSITORY_SETTINGS_PATH) {
        match found.proposal.checks.as_slice() {
            [] => paragraph(
                "no checks were found: add some to `.github/hob.toml`, otherwise Hob's pull requests say that the work is not \
                 verified",
            )?,
            checks => paragraph(&format!("checks found: {}", checks.join("; ")))?,
        }
        match (found.proposal.setup.as_slice(), found.proposal.hosts.names.join(", ")) {
            ([], _) => {}
            (_, hosts) if hosts.is_empty() => paragraph(
                "the set-up steps cannot reach any host: list those of the package registries in `sandbox.setup_hosts` of Hob's settings",
            )?,
            (_, hosts) => {
                paragraph(&format!("hosts of the set-up steps, for `sandbox.setup_hosts` of Hob's settings: {hosts}"))?
            }
        }
    }
    if done.left_out == LeftOut::Workflow {
        paragraph(&styled(WARN, WITHOUT_WORKFLOW))?;
    }
    let what = match offered {
        Offered::Opened => "opened the pull request",
        Offered::Updated => "updated the pull request",
        Offered::Unchanged => "the pull request is already open and up to date",
        Offered::Theirs => "the pull request is open and was left unchanged: someone else pushed to its branch",
    };
    output::line(format!("{}: {}", styled(GOOD, what), pull.html_url))?;
    Ok(paragraph(&format!("Next: read it, merge it, and give one issue the label `{trigger}`"))?)
}

#[cfg(test)]
mod tests {
    use hob_domain::SetUpHosts;

    use super::*;

    fn names() -> LabelNames {
        hob_config::Settings::load(None, [].into(), &[]).unwrap().labels
    }

    #[test]
    fn the_proposed_workflows_are_the_examples_but_for_the_sentence_that_says_to_copy_them() {
        let proposed = workflows(&names(), &Proposal::default());
        for (example, copy, proposed) in
            [(WORKFLOW, COPY_THIS[0], proposed.hob), (SCHEDULE, COPY_THIS[1], proposed.schedule)]
        {
            assert_eq!(example.matches(copy).count(), 1);
            assert_eq!(proposed, example.replace(copy, ""));
        }
    }

    #[test]
    fn the_proposed_workflow_has_the_hosts_that_the_set_up_steps_need() {
        assert_eq!([WORKFLOW, SCHEDULE].map(|text| text.matches(SETTINGS).count()), [1, 1]);
        let steps = Proposal { setup: vec!["npm ci".to_owned()], ..Proposal::default() };
        let names = vec!["npm.example.org".to_owned()];
        let known = Proposal { hosts: SetUpHosts { names, is_open: false }, ..steps.clone() };
        let settings =
            "      settings: |\n        model.default = \"anthropic/claude-sonnet-5-5\"\n        # The set-up steps";
        for (found, last) in [
            (known, "        sandbox.setup_hosts = [\"npm.example.org\"]\n"),
            (steps, "        # sandbox.setup_hosts = [\"HOST\"]\n"),
        ] {
            let Workflows { hob, schedule } = workflows(&self::names(), &found);
            for text in [hob, schedule] {
                assert!(text.contains(settings) && text.contains(&format!("{last}    secrets: ")), "{text}");
            }
        }
    }

    #[test]
    fn the_proposed_workflow_waits_for_the_labels_of_the_settings() {
        let labels = LabelNames { trigger: "hob's".to_owned(), blocked: "stuck".to_owned(), ..names() };
        let text = workflows(&labels, &Proposal::default()).hob;
        for part in ["label.name == 'hob''s')", "the label `hob's`.", "labels.*.name, 'stuck')"] {
            assert!(text.contains(part), "{part}");
        }
        assert!(!text.contains("'code'") && !text.contains("`code`") && !text.contains("'blocked'"), "{text}");
    }
}
