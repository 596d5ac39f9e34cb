//! `hob outcomes --csv`: a line for each issue, as RFC 4180 has it, for a spreadsheet.

use hob_domain::{IssueOutcome, RepoName};

use crate::cli::output::{self, Unwritable};

/// The first line.
const HEADS: &str = "repo,issue,outcome,at,pull_request,merge_seconds,agent,model,profile,labels,week,word,rounds,zero_touch,usd,\
                     input_tokens,output_tokens,wall_seconds,quote_low_usd,quote_high_usd";

/// Prints the lines.
pub(super) fn print(all: &[(RepoName, IssueOutcome)]) -> Result<(), Unwritable> {
    output::line(HEADS)?;
    all.iter().try_for_each(|(repo, outcome)| output::line(line(repo, outcome)))
}

fn line(repo: &RepoName, one: &IssueOutcome) -> String {
    let number = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
    let usd = |micros: Option<u64>| {
        micros.map(|micros| format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)).unwrap_or_default()
    };
    let words = |words: &Option<String>| cell(words.as_deref().unwrap_or_default());
    let kind = serde_json::to_value(one.kind).ok();
    let kind = kind.as_ref().and_then(|kind| kind.as_str()).unwrap_or_default();
    [
        cell(&repo.to_string()),
        one.issue.to_string(),
        kind.to_owned(),
        one.at.to_rfc3339(),
        number(one.pull.map(|pull| pull.0)),
        number(one.merge_seconds),
        words(&one.agent),
        words(&one.model),
        words(&one.profile),
        cell(&one.labels.join("; ")),
        one.week(),
        one.word.as_ref().map(|word| word.name().to_owned()).unwrap_or_default(),
        one.rounds.to_string(),
        one.is_zero_touch.to_string(),
        usd(Some(one.spend.usd_micros)),
        one.spend.input_tokens.to_string(),
        one.spend.output_tokens.to_string(),
        one.spend.wall_seconds.to_string(),
        usd(one.quote.map(|quote| quote.low)),
        usd(one.quote.map(|quote| quote.high)),
    ]
    .join(",")
}

/// A text in quotes. Others choose labels, and a spreadsheet would run one that begins like a formula.
fn cell(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text: String = text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect();
    format!("\"{}{}\"", if formula { "'" } else { "" }, text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_one_cell_and_no_formula() {
        for (text, shown) in [
            ("bug", "\"bug\""),
            ("a,b", "\"a,b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("=1+1", "\"'=1+1\""),
            ("@sum", "\"'@sum\""),
            ("a\nb", "\"a b\""),
            ("", "\"\""),
        ] {
            assert_eq!(cell(text), shown);
        }
    }
}
