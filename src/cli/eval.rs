//! `hob eval routing`: the quality of Hob's own routing, on a file with known answers. It asks neither a forge nor a
//! model.

use std::{collections::BTreeSet, fs::File, io::Read, path::Path, time::Instant};

use anyhow::{anyhow, bail};
use hob_domain::{
    Candidate, Catalog, Evaluation, Judged, Likeness, ProfileName, RoutedText, Router, RoutingRules, evaluate,
};
use hob_text::terminal;
use hob_workspace::folder_profiles;
use serde::{Deserialize, Serialize};

use crate::cli::{
    agents::notes,
    args::Shared,
    eval_args::RoutingArgs,
    exit::{Exit, fatal},
    json,
    layout::Table,
    output,
};

/// Bytes of a file of issues that are read.
const ISSUES_MAX: u64 = 256 << 20;
/// Profiles of a folder that are read.
const PROFILES_MAX: usize = 1_000;

/// A line of the file.
#[derive(Debug, Deserialize)]
struct Line {
    title: String,
    #[serde(default)]
    body: Option<String>,
    #[serde(default)]
    labels: Option<Vec<String>>,
    /// It must be present, even if it is null: a misspelt key is not an answer.
    #[serde(deserialize_with = "Deserialize::deserialize")]
    profile: Option<ProfileName>,
    /// The current agent or profile: then the line is a message about an issue.
    #[serde(default)]
    present: Option<ProfileName>,
}

/// A line that does not count.
#[derive(Debug, Serialize)]
pub(super) struct BadLine {
    pub(super) line: usize,
    pub(super) why: String,
}

/// The router's answer for one line.
#[derive(Debug, Serialize)]
struct Case {
    line: usize,
    expected: Option<ProfileName>,
    choice: Option<ProfileName>,
    complexity: u8,
    /// The likeliest profile, whether or not it was chosen.
    profile: Option<ProfileName>,
    confidence: f32,
    likeness: Likeness,
    reasons: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Report {
    #[serde(flatten)]
    evaluation: Evaluation,
    bad_lines: Vec<BadLine>,
    cases: Vec<Case>,
}

pub(super) async fn routing(shared: &Shared, args: &RoutingArgs) -> anyhow::Result<()> {
    let candidates = candidates(&args.profiles).await?;
    let names: BTreeSet<&ProfileName> = candidates.iter().map(|candidate| &candidate.name).collect();
    let router = Router::new(&candidates);
    let mut cases = Vec::new();
    let (judged, bad_lines) = lines_of(&args.file, ISSUES_MAX, |number, bytes| {
        let issue = judge(&router, &read(bytes, &names)?);
        cases.push(case(number, &issue));
        Ok(issue)
    })?;
    if judged.is_empty() {
        return Err(fatal(Exit::Usage, format!("`{}` has no line with a labelled issue", args.file.display())));
    }
    let evaluation = evaluate(&judged, RoutingRules::default());
    if shared.json {
        return json::result(&Report { evaluation, bad_lines, cases });
    }
    print(&evaluation)
}

/// The profiles of a folder. Problems with a file are reported, and the others are used.
async fn candidates(folder: &Path) -> anyhow::Result<Vec<Candidate>> {
    let found = folder_profiles(folder, PROFILES_MAX).await.map_err(|error| fatal(Exit::Usage, error.to_string()))?;
    let catalog = Catalog::new([found], PROFILES_MAX);
    for note in notes(&catalog) {
        output::note(terminal(&note));
    }
    let found: Vec<Candidate> = catalog.profiles().map(Candidate::from).collect();
    if found.is_empty() {
        return Err(fatal(Exit::Usage, format!("the folder `{}` has no usable profile", folder.display())));
    }
    Ok(found)
}

/// The lines of a file that are not empty, as `read` parses them; those that it cannot parse are reported, with their
/// numbers.
pub(super) fn lines_of<T>(
    file: &Path,
    max: u64,
    mut read: impl FnMut(usize, &[u8]) -> anyhow::Result<T>,
) -> anyhow::Result<(Vec<T>, Vec<BadLine>)> {
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    for (at, bytes) in contents(file, max)?.split(|byte| *byte == b'\n').enumerate() {
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        match read(at + 1, bytes) {
            Ok(line) => good.push(line),
            Err(error) => {
                let why = error.to_string();
                output::note(format!("line {}: {}", at + 1, terminal(&why)));
                bad.push(BadLine { line: at + 1, why });
            }
        }
    }
    Ok((good, bad))
}

fn contents(path: &Path, max: u64) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(max).read_to_end(&mut bytes));
    read.map_err(|error| fatal(Exit::Usage, format!("cannot read `{}`: {error}", path.display())))?;
    Ok(bytes)
}

fn read(bytes: &[u8], names: &BTreeSet<&ProfileName>) -> anyhow::Result<Line> {
    // Its column is within the line, whose number in the file is reported.
    let why = |error: serde_json::Error| anyhow!(error.to_string().replace(" at line 1 column", ", column"));
    let line: Line = serde_json::from_slice(bytes).map_err(why)?;
    match line.profile.iter().chain(&line.present).find(|profile| !names.contains(profile)) {
        Some(profile) => bail!("there is no profile `{profile}`"),
        None => Ok(line),
    }
}

fn judge(router: &Router, line: &Line) -> Judged {
    let (body, labels) = (line.body.as_deref().unwrap_or_default(), line.labels.as_deref().unwrap_or_default());
    let started = Instant::now();
    let routing = router.route(RoutedText { title: &line.title, body, labels });
    let micros = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
    Judged { expected: line.profile.clone(), present: line.present.clone(), routing, micros }
}

fn case(line: usize, issue: &Judged) -> Case {
    let first = issue.routing.ranked.first();
    Case {
        line,
        expected: issue.expected.clone(),
        choice: issue.first_choice().0.cloned(),
        complexity: issue.routing.complexity,
        profile: first.map(|first| first.profile.clone()),
        confidence: first.map_or(0.0, |first| first.confidence),
        likeness: first.map(|first| first.likeness).unwrap_or_default(),
        reasons: first.map(|first| first.reasons.clone()).unwrap_or_default(),
    }
}

fn print(evaluation: &Evaluation) -> anyhow::Result<()> {
    let gate = evaluation.gate;
    let mut table = Table::new(&["figure", "value"], &["what it says"]);
    let mut row = |figure: &str, value: String, says: &str| table.row(vec![figure.to_owned(), value, says.to_owned()]);
    row("issues", evaluation.issues.to_string(), "issues routed");
    row("accuracy", percent(evaluation.accuracy), "first choices that are right, including none where no profile fits");
    row("calibration", format!("{:.3}", evaluation.calibration_error), "mean distance of confidence and truth");
    row("engaged", percent(gate.engagement), "issues with a right profile that get one");
    row("loaded", gate.loaded.to_string(), "profiles that pass the gate of confidence and complexity");
    row("precision", percent(gate.precision), "share of them that is right");
    row("left", gate.left.to_string(), "issues with a right profile that the base agent works on");
    if let Some(switches) = evaluation.switches {
        let says = format!("{} messages after which the right profile is used", switches.messages);
        row("switches", percent(switches.accuracy), &says);
    }
    row("p95", format!("{:.3} ms", evaluation.latency.p95_ms), "time to route an issue, for 95 of 100");
    table.print()?;
    output::line("")?;
    let mut table = Table::new(&["profile", "right"], &["first choices"]);
    for (expected, chosen) in &evaluation.confusion {
        let right = chosen.get(expected).copied().unwrap_or_default();
        let all: usize = chosen.values().sum();
        let others = chosen.iter().filter(|(choice, _)| *choice != expected);
        let others: Vec<String> = others.map(|(choice, count)| format!("{choice} {count}")).collect();
        table.row(vec![expected.clone(), format!("{right}/{all}"), others.join(", ")]);
    }
    Ok(table.print()?)
}

fn percent(part: f64) -> String {
    format!("{:.1}%", 100.0 * part)
}
