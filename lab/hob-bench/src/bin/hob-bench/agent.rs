//! `hob-bench agent`: the table.

use std::{path::PathBuf, time::Duration};

use hob_bench::Fault;
use hob_config::parse_duration;
use serde::Serialize;

use crate::{
    measure::{Cost, Survival, cost, survives, version, warm},
    output::print_json,
    subject::{Subject, find},
    unusable::Unusable,
};

/// The arguments.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Run this many steps, one shell command each.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(2..=10_000))]
    steps: u32,

    /// Run every agent this many times.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    rounds: u32,

    /// Measure only these agents [default: `native`, `bare-loop` and every installed agent].
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    agents: Vec<String>,

    /// Use the agents that `scripts/agents.sh` installed in this folder [default: search the PATH].
    #[arg(long, value_name = "DIR")]
    agents_dir: Option<PathBuf>,

    /// Skip the runs with faults.
    #[arg(long)]
    no_faults: bool,

    /// End a run after this time.
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = parse_duration)]
    time: Duration,
}

/// Time a run with a fault may take: an agent that waits longer than this did not survive it.
const FAULT_TIME: Duration = Duration::from_secs(90);

/// One line of the table: medians over the rounds.
#[derive(Debug, Serialize)]
struct Row {
    agent: String,
    version: Option<String>,
    start_ms: f64,
    step_p50_ms: Option<f64>,
    step_p95_ms: Option<f64>,
    cpu_step_ms: Option<f64>,
    pss_mb: f64,
    request_first_kb: f64,
    request_last_kb: Option<f64>,
    faults_survived: Option<usize>,
    faults_not_survived: Vec<String>,
}

/// Measures and prints.
pub(super) async fn compare(json: bool, args: &Args) -> anyhow::Result<()> {
    if !cfg!(target_os = "linux") {
        return Err(Unusable("the measurement reads /proc, which needs Linux".into()).into());
    }
    let subjects = find(&args.agents, args.agents_dir.as_deref())?;
    let mut runs: Vec<(Subject, Vec<Cost>)> = Vec::new();
    for subject in subjects {
        match warm(&subject, args.time).await {
            Ok(()) => runs.push((subject, Vec::new())),
            // One that cannot be run is named, and the others are measured.
            Err(error) => anstream::eprintln!("skipped: {error:#}"),
        }
    }
    for round in 1..=args.rounds {
        for (subject, costs) in &mut runs {
            anstream::eprintln!("round {round} of {}: {}", args.rounds, subject.name());
            costs.push(cost(subject, args.steps as usize, args.time).await?);
        }
    }
    let mut rows = Vec::new();
    for (subject, costs) in &runs {
        let mut row = row(subject, costs);
        row.version = version(subject).await;
        if !args.no_faults {
            anstream::eprintln!("faults: {}", subject.name());
            faults(subject, &mut row).await?;
        }
        rows.push(row);
    }
    if json { print_json(&rows) } else { table(&rows, args.steps) }
}

async fn faults(subject: &Subject, row: &mut Row) -> anyhow::Result<()> {
    for fault in Fault::PASSING {
        if let Survival::Lost(reason) = survives(subject, fault, FAULT_TIME).await? {
            tracing::info!(agent = subject.name(), %fault, "{fault} was not survived: {reason}");
            row.faults_not_survived.push(fault.to_string());
        }
    }
    row.faults_survived = Some(Fault::PASSING.len() - row.faults_not_survived.len());
    Ok(())
}

fn row(subject: &Subject, costs: &[Cost]) -> Row {
    let of = |get: fn(&Cost) -> f64| quantile(costs.iter().map(get).collect(), 0.5).unwrap_or(0.0);
    let steps = || costs.iter().flat_map(|cost| cost.steps_ms.iter().copied()).collect::<Vec<f64>>();
    Row {
        agent: subject.name().to_owned(),
        version: None,
        start_ms: of(|cost| cost.start_ms),
        step_p50_ms: quantile(steps(), 0.5),
        step_p95_ms: quantile(steps(), 0.95),
        cpu_step_ms: quantile(costs.iter().filter_map(|cost| cost.cpu_step_ms).collect(), 0.5),
        pss_mb: of(|cost| cost.pss_mb),
        request_first_kb: of(|cost| cost.request_kb.0),
        request_last_kb: subject.has_steps().then(|| of(|cost| cost.request_kb.1)),
        faults_survived: None,
        faults_not_survived: Vec::new(),
    }
}

/// The smallest value that at least this share of the values does not exceed.
fn quantile(mut values: Vec<f64>, share: f64) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let at = (values.len() as f64 * share).ceil() as usize;
    values.get(at.saturating_sub(1)).copied()
}

/// The table in Markdown; in brackets how many times the value of Hob's own agent it is.
fn table(rows: &[Row], steps: u32) -> anyhow::Result<()> {
    let own = rows.iter().find(|row| row.agent == Subject::Native.name());
    let cell = |row: &Row, get: fn(&Row) -> Option<f64>| {
        let Some(value) = get(row) else { return "–".to_owned() };
        let digits = if value < 100.0 { 1 } else { 0 };
        let ratio = own.filter(|own| own.agent != row.agent).and_then(get).filter(|own| *own > 0.0);
        let ratio = ratio.map_or_else(String::new, |own| format!(" ({:.1}×)", value / own));
        format!("{value:.digits$}{ratio}")
    };
    let mut lines = vec![
        format!(
            "| agent | version | start to first request, ms | step p50, ms | step p95, ms | CPU a step, ms | memory (PSS), MB | request at step 1, kB | at step {steps}, kB | faults survived of 7 |"
        ),
        "|---|---|---|---|---|---|---|---|---|---|".to_owned(),
    ];
    for row in rows {
        let cells = [
            row.agent.clone(),
            row.version.clone().unwrap_or_else(|| "–".to_owned()),
            cell(row, |row| Some(row.start_ms)),
            cell(row, |row| row.step_p50_ms),
            cell(row, |row| row.step_p95_ms),
            cell(row, |row| row.cpu_step_ms),
            cell(row, |row| Some(row.pss_mb)),
            cell(row, |row| Some(row.request_first_kb)),
            cell(row, |row| row.request_last_kb),
            survived(row),
        ];
        lines.push(format!("| {} |", cells.join(" | ")));
    }
    anstream::println!("{}", lines.join("\n"));
    Ok(())
}

fn survived(row: &Row) -> String {
    match (row.faults_survived, row.faults_not_survived.as_slice()) {
        (None, _) => "–".to_owned(),
        (Some(survived), []) => survived.to_string(),
        (Some(survived), lost) => format!("{survived}, not {}", lost.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_one_of_the_values() {
        let values = || vec![5.0, 1.0, 3.0, 2.0, 4.0];
        assert_eq!(quantile(values(), 0.5), Some(3.0));
        assert_eq!(quantile(values(), 0.95), Some(5.0));
        assert_eq!(quantile(Vec::new(), 0.5), None);
    }
}
