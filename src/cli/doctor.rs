//! `hob doctor`: checks what Hob needs, and says how to fix what is wrong.

use hob_forge::Access;
use hob_text::{count, terminal};
use hob_worker::{
    RunsIn, WorkError, Worker,
    preflight::{self, Finding, Health},
    prove_rights, starts_workflows,
};

use crate::cli::{
    args::{DoctorArgs, Shared},
    exit::{Exit, fatal},
    json,
    layout::{width_of, wrapped},
    live_check,
    output::{self, BAD, GOOD, WARN, styled},
    screen::Screen,
    setup::{Listen, Setup},
};

/// The width of the columns before a finding: its mark, and its subject.
const BEFORE_FINDING: usize = 18;

pub(super) async fn doctor(mut setup: Setup, shared: Shared, args: DoctorArgs, screen: Screen) -> anyhow::Result<()> {
    if let Some(repo) = &args.live {
        return live_check::live(setup, shared, repo, screen).await;
    }
    // Also finds the forge, if the git remote names it.
    setup.repository(&shared).await?;
    let runs_in = if setup.standard.in_actions { RunsIn::Job } else { RunsIn::Elsewhere };
    let old_names = setup.settings.old_names.clone();
    let mut findings = vec![finding(Health::Ok, "forge", setup.standard.api_url.clone())];
    findings.extend(old_names.iter().map(|one| finding(Health::Note, "settings", one.to_string())));
    // How a run will be started is not known here.
    setup.listens = true;
    let found = async {
        let worker = setup.worker(&shared, Access::ReadWrite, None, Listen::nobody()).await?;
        anyhow::Ok(examine(&worker, runs_in, args).await?)
    };
    match found.await {
        Ok(found) => findings.extend(found),
        Err(error) => findings.push(finding(Health::Bad, "worker", error.to_string())),
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

/// The checks of a run, the token's permissions, which only show when they are tried, and the model's answer.
async fn examine(worker: &Worker, runs_in: RunsIn, args: DoctorArgs) -> Result<Vec<Finding>, WorkError> {
    let mut findings = preflight::examine(worker).await?;
    if findings.iter().any(|finding| finding.health == Health::Bad) {
        findings.push(finding(
            Health::Note,
            "permissions",
            "not tried: fix the other problems first, then run `hob doctor` again",
        ));
        return Ok(findings);
    }
    let base = worker.forge().repository().base_branch().await?;
    findings.extend(prove_rights(worker, &base).await);
    findings.push(starts_workflows(worker, &base, runs_in).await?);
    if args.ask_model {
        findings.push(preflight::ask_model(worker, &base).await?);
    }
    Ok(findings)
}

fn finding(health: Health, about: &'static str, says: impl Into<String>) -> Finding {
    Finding { health, about, says: says.into() }
}
