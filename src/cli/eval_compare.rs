//! The tables of `hob eval`, and `hob eval compare`: the difference between two evaluations.

use std::path::PathBuf;

use hob_eval::{Comparison, Heading, PassAt, Results, Score, Trial};
use hob_text::count;
use serde_json::json;

use crate::cli::{args::Shared, eval_args::CompareArgs, eval_find::usage, json, layout::Table, output};

/// A row for each agent and model.
pub(super) fn table(rows: &[(String, String, Score)]) -> Result<(), output::Unwritable> {
    let heads = [
        "agent",
        "model",
        "solved",
        "95%",
        "pass@k",
        "usd",
        "usd each",
        "tokens in",
        "cached",
        "out",
        "turns",
        "seconds",
    ];
    let mut table = Table::new(&heads, &["ended by a limit"]);
    for (agent, model, score) in rows {
        let Score { solved, limited, .. } = score;
        let limits: Vec<String> = score.limits.iter().map(|(name, number)| format!("{name} {number}")).collect();
        let limits = if limits.is_empty() { String::new() } else { format!(" ({})", limits.join(", ")) };
        table.row(vec![
            agent.clone(),
            model.clone(),
            format!("{}/{} {}", solved.count, solved.of, percent(solved.rate)),
            format!("{}–{}", percent(solved.low), percent(solved.high)),
            score.pass_at.last().filter(|pass| pass.k > 1).map_or_else(|| "–".to_owned(), pass_at),
            format!("{:.2}", score.usd),
            score.usd_per_solved.map_or_else(|| "–".to_owned(), |usd| format!("{usd:.4}")),
            score.input_tokens.to_string(),
            percent(score.cached_share),
            score.output_tokens.to_string(),
            format!("{:.1}", score.median_turns),
            format!("{:.1}", score.median_seconds),
            format!("{}{limits}", percent(limited.rate)),
        ]);
    }
    table.print()
}

/// The estimate for the most attempts.
fn pass_at(pass: &PassAt) -> String {
    format!("pass@{} {} ({}–{})", pass.k, percent(pass.rate), percent(pass.low), percent(pass.high))
}

fn percent(part: f64) -> String {
    format!("{:.0}%", 100.0 * part)
}

pub(super) fn compare(shared: &Shared, args: &CompareArgs) -> anyhow::Result<()> {
    let read = |folder: &PathBuf| Results::read(folder).map_err(usage);
    let runs = args.results.iter().map(read).collect::<anyhow::Result<Vec<_>>>()?;
    let paired = match runs.as_slice() {
        [(_, first), (_, second)] => Some(Comparison::new(first, second)),
        _one_or_many => None,
    };
    if shared.json {
        let rows: Vec<_> =
            runs.iter().map(|(heading, trials)| json!({ "run": heading, "score": Score::new(trials) })).collect();
        return json::result(&json!({ "runs": rows, "paired": paired }));
    }
    let row = |(heading, trials): &(Heading, Vec<Trial>)| {
        (heading.agent.clone(), heading.model.clone().unwrap_or_default(), Score::new(trials))
    };
    table(&runs.iter().map(row).collect::<Vec<_>>())?;
    let Some(paired) = paired else { return Ok(()) };
    let list = |names: &[String]| if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
    output::line(format!(
        "\n{} tried by both; solved by both {}, by neither {}\nonly by the first {}{}\nonly by the second {}{}\n\
         second minus first: {:+.1} points (95%: {:+.1} to {:+.1}), p = {:.3}, {:+.2} USD",
        count(paired.tasks, "task"),
        paired.both,
        paired.neither,
        paired.only_first.len(),
        list(&paired.only_first),
        paired.only_second.len(),
        list(&paired.only_second),
        100.0 * paired.difference,
        100.0 * paired.low,
        100.0 * paired.high,
        paired.p,
        paired.usd,
    ))?;
    if paired.left_out > 0 {
        output::line(format!("left out, since only one of them tried it: {}", count(paired.left_out, "task")))?;
    }
    Ok(())
}
