//! `hob doctor --live`: compares the forge's answers with Hob's assumptions, in a repository that is named twice.

use hob_forge::{Live, LiveReport, TEST_PREFIX, live_check};
use hob_text::{count, terminal};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::cli::{
    args::Shared,
    exit::{Exit, fatal},
    json,
    output::{self, BAD, GOOD, WARN, styled},
    screen::Screen,
    setup::Setup,
    signals::on_signal,
};

/// Hob's version.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The width of the ids.
const ID: usize = 18;

/// Runs the live check in `repo`, which `--repo` has to name as well.
pub(super) async fn live(setup: Setup, shared: Shared, repo: &str, screen: Screen) -> anyhow::Result<()> {
    if shared.repo != [repo] {
        let help = format!("`--live {repo}` writes to the repository, so `--repo {repo}` is required as well");
        return Err(fatal(Exit::Usage, help));
    }
    let api_url = setup.standard.api_url.clone();
    let forge = setup.live_forge(repo)?;
    let told = |text: &str| screen.line(terminal(text));
    told(&format!(
        "in {repo}, at {api_url}: making a branch, a ref outside of branches, a label, an issue with a comment, and a pull \
         request, all named `{TEST_PREFIX}…`; they are closed or deleted at the end"
    ));
    let cancel = CancellationToken::new();
    let stopping = "stopping: closing and deleting what was made (a second signal exits immediately and leaves it)";
    on_signal(cancel.clone(), screen.clone(), stopping);
    let report = live_check(Live { forge: &forge, api_url: &api_url, cancel: &cancel, told: &told }).await?;
    screen.close();
    if shared.json {
        let (lines, token, server) = (&report.lines, report.token, &report.server);
        json::result(&json!({ "lines": lines, "token": token, "server": server, "hob": VERSION }))?;
    } else {
        print(&report)?;
    }
    for left in &report.left {
        output::warn(&format!("left in {repo}: {left}; close or delete it by hand"));
    }
    ended(&report)
}

fn print(report: &LiveReport) -> anyhow::Result<()> {
    for line in &report.lines {
        let outcome = styled(style(line.outcome), line.outcome);
        let says = line.says.as_deref().map_or_else(String::new, |says| format!(": {}", terminal(says)));
        output::line(format!("{:ID$} {outcome}{says}", line.id))?;
    }
    output::line(format!("{:ID$} {}", "token", report.token))?;
    output::line(format!("{:ID$} {}", "server", terminal(&report.server)))?;
    Ok(output::line(format!("{:ID$} {VERSION}", "hob"))?)
}

fn style(outcome: &str) -> anstyle::Style {
    match outcome {
        "ok" => GOOD,
        "differs" => BAD,
        _not_tried => WARN,
    }
}

fn ended(report: &LiveReport) -> anyhow::Result<()> {
    if report.interrupted {
        return Err(fatal(Exit::Failure, "interrupted: the rows with `not tried` were not checked"));
    }
    if !report.left.is_empty() {
        return Err(fatal(
            Exit::Failure,
            format!("{} could not be closed or deleted", count(report.left.len(), "thing")),
        ));
    }
    match report.differing() {
        0 => Ok(()),
        differing => {
            let differs = if differing == 1 { "differs" } else { "differ" };
            Err(fatal(Exit::Failure, format!("{} {differs} from `docs/design/github.md`", count(differing, "line"))))
        }
    }
}
