//! `hob doctor`: checks what Hob needs, and says how to fix what is wrong.

use hob_domain::{count, terminal};
use hob_forge::Access;
use hob_worker::{
    WorkError, Worker,
    preflight::{self, Finding, Health},
};

use crate::cli::{
    args::Shared,
    exit::{Exit, fatal},
    json,
    layout::{width_of, wrapped},
    output::{self, BAD, GOOD, WARN, styled},
    setup::{Listen, Setup},
};

/// The width of what stands before a finding: its mark, and what it is about.
const BEFORE_FINDING: usize = 18;

pub(super) async fn doctor(setup: Setup, shared: Shared) -> anyhow::Result<()> {
    setup.at_most_one(&shared)?;
    let in_actions = setup.standard.in_actions;
    let (renamed, prefix) = (setup.settings.renamed.clone(), setup.settings.ledger.prefix.clone());
    let mut findings = vec![finding(Health::Ok, "forge", setup.standard.api_url.clone())];
    findings.extend(renamed.iter().map(|one| finding(Health::Note, "settings", one.to_string())));
    let found = async {
        let worker = setup.worker(&shared, Access::ReadWrite, None, Listen::nobody()).await?;
        anyhow::Ok(examine(&worker, &prefix).await?)
    };
    match found.await {
        Ok(found) => findings.extend(found),
        Err(error) => findings.push(finding(Health::Bad, "worker", error.to_string())),
    }
    if in_actions {
        findings.push(finding(
            Health::Note,
            "actions",
            "checks of pull requests opened with the job's own GITHUB_TOKEN wait for a person's approval: use a GitHub App or a fine-grained token",
        ));
    }
    let bad = findings.iter().filter(|finding| finding.health == Health::Bad).count();
    if shared.json {
        json::result(&findings)?;
    } else {
        for finding in &findings {
            let mark = match finding.health {
                Health::Ok => styled(GOOD, "ok  "),
                Health::Note => styled(WARN, "note"),
                Health::Bad => styled(BAD, "bad "),
            };
            let text = format!("{mark} {:<12} {}", finding.about, terminal(&finding.says));
            output::line(wrapped(&text, width_of(std::io::stdout()), BEFORE_FINDING))?;
        }
    }
    if bad > 0 { Err(fatal(Exit::Unhealthy, format!("{} found", count(bad, "problem")))) } else { Ok(()) }
}

/// What the run would look at, and whether the token may make refs below the ledger's prefix, which shows only when it is
/// tried.
async fn examine(worker: &Worker, prefix: &str) -> Result<Vec<Finding>, WorkError> {
    let mut findings = preflight::examine(worker).await?;
    if findings.iter().any(|finding| finding.health == Health::Bad) {
        return Ok(findings);
    }
    let base = worker.forge().repository().base_branch().await?;
    findings.push(match worker.forge().ledger().try_prefix(&base).await {
        Ok(()) => finding(Health::Ok, "ledger", format!("refs below `{prefix}` can be created")),
        Err(error) => {
            let advice = "if the forge refuses such refs, set `ledger.prefix` to `refs/heads/hob-ledger/`";
            finding(Health::Bad, "ledger", format!("{error}; {advice}"))
        }
    });
    Ok(findings)
}

fn finding(health: Health, about: &'static str, says: impl Into<String>) -> Finding {
    Finding { health, about, says: says.into() }
}
