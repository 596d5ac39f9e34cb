//! The texts of the pull request: its title, its body, and the commit's message.

use std::fmt::Write as _;

use hob_config::REPOSITORY_SETTINGS_PATH;

use crate::onboard::survey::{NewFile, SCHEDULE_PATH, Survey};

/// Why a file is not in the pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftOut {
    /// Nothing was left out.
    Nothing,
    /// The token may not write workflow files.
    Workflow,
}

/// The sentence on workflows that were left out; it says how to get them in.
pub const WITHOUT_WORKFLOW: &str = "The token may not write workflow files, so those below `.github/workflows` are not part \
    of this. To run Hob in GitHub Actions, give the token the permission `workflows: write` (a classic token: the \
    scope `workflow`) and run `hob init` again. Hob needs it only for that.";

pub(super) fn title(files: &[&NewFile]) -> String {
    match files {
        [one] => format!("Set up Hob: add {}", one.path),
        [hob, _schedule] if hob.replaces => "Give Hob's schedule a workflow of its own".to_owned(),
        _several => "Set up Hob".to_owned(),
    }
}

pub(super) fn message(files: &[&NewFile]) -> String {
    let paths = |replaces: bool| {
        let paths: Vec<&str> = files.iter().filter(|file| file.replaces == replaces).map(|file| file.path).collect();
        paths.join(" and ")
    };
    let changes = match paths(true) {
        none if none.is_empty() => none,
        changed => format!(" Moves the schedule there from {changed}."),
    };
    format!("Set up Hob\n\nAdds {}.{changes}\n", paths(false))
}

pub(super) fn body(survey: &Survey, files: &[&NewFile], left_out: LeftOut) -> String {
    let trigger = &survey.trigger;
    let mut text = "Hob works on issues that someone with write permission labels, and opens a pull request for each. \
                    It never merges. This sets it up:\n\n"
        .to_owned();
    for file in files {
        // Writing to a string does not fail.
        writeln!(text, "- `{}`: {}", file.path, about(file, survey)).ok();
    }
    if left_out == LeftOut::Workflow {
        write!(text, "\n{WITHOUT_WORKFLOW}\n").ok();
    }
    write!(
        text,
        "\nWhat to do next:\n\n1. Read the files and change what does not fit: Hob does not touch a branch that someone else \
         pushed to.\n2. Merge this.\n"
    )
    .ok();
    if files.iter().any(|file| file.replaces) {
        // A repository with the workflow already knows the rest.
        return text;
    }
    let has_workflow = files.iter().any(|file| file.is_workflow());
    let start = if has_workflow {
        "Under *Settings → Actions → General → Workflow permissions*, tick *Allow GitHub Actions to create and approve pull \
         requests*. Under *Settings → Secrets and variables → Actions*, add the key of your model as the secret \
         `ANTHROPIC_API_KEY`. Or run `hob run` on a machine of yours."
    } else {
        "Run `hob doctor`, then `hob run`, on a machine of yours."
    };
    write!(text, "3. {start}\n4. Give one small issue the label `{trigger}`.").ok();
    if has_workflow {
        text.push_str(" A run of the workflow *hob* begins under *Actions*, and says what it did.");
    }
    text.push('\n');
    text
}

fn about(file: &NewFile, survey: &Survey) -> String {
    match file.path {
        REPOSITORY_SETTINGS_PATH => {
            let checks: Vec<String> = survey.proposal.checks.iter().map(|check| format!("`{check}`")).collect();
            let verified = match checks.as_slice() {
                [] => "how work is verified. No checks were found in this repository: add some, otherwise Hob's pull requests say \
                       that the work is not verified."
                    .to_owned(),
                found => format!("how work is verified. The checks found: {}.", found.join(", ")),
            };
            let hosts: Vec<String> = survey.proposal.hosts.names.iter().map(|host| format!("`{host}`")).collect();
            match (survey.proposal.setup.as_slice(), hosts.as_slice()) {
                ([], _) => verified,
                (_, []) => format!(
                    "{verified} The set-up steps cannot reach any host until the operator of Hob lists some in `sandbox.setup_hosts`."
                ),
                (_, hosts) => format!(
                    "{verified} According to the repository's files, the set-up steps fetch from {}: the operator of Hob has to list them \
                     in `sandbox.setup_hosts`.",
                    hosts.join(", ")
                ),
            }
        }
        SCHEDULE_PATH => "runs Hob on a schedule, for work that no label or answer starts. Each run costs at least a minute in a private \
                          repository; without this file, an issue whose worker died waits for the next label or answer."
            .to_owned(),
        _workflow if file.replaces => "its schedule moves to a file of its own, with your times, settings and secrets: GitHub \
                                       disables a workflow that has a schedule once a public repository has had no activity for 60 \
                                       days, and a label would then no longer start Hob. Answers on blocked issues start it now, too."
            .to_owned(),
        _workflow => "runs Hob in GitHub Actions when an issue gets the label or a blocked one an answer, one job an issue. Name \
                      your agent's model in it and in the next one."
            .to_owned(),
    }
}
