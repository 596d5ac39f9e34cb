//! Results on standard output: tables for people, JSON for programs. Errors on standard error.

use anstyle::{AnsiColor, Style};
use hob_config::Settings;
use hob_domain::{RepoName, terminal};
use hob_forge::Rate;
use serde::Serialize;

/// Whether a line names its repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    /// No: there is only one repository.
    One,
    /// Yes: there are several.
    Several,
}

impl Naming {
    /// Whether lines name their repository when there are this many.
    pub(super) fn of(repositories: usize) -> Self {
        if repositories > 1 { Self::Several } else { Self::One }
    }
}

/// Bold.
pub(super) const BOLD: Style = Style::new().bold();
/// Less important.
pub(super) const DIM: Style = Style::new().dimmed();
/// Success.
pub(super) const GOOD: Style = AnsiColor::Green.on_default();
/// Needs attention.
pub(super) const WARN: Style = AnsiColor::Yellow.on_default();
/// Failure.
pub(super) const BAD: Style = AnsiColor::Red.on_default().bold();

/// Text in a style; the stream drops the style if it is not a terminal.
pub(super) fn styled(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// One JSON value on standard output.
pub(super) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    anstream::println!("{}", serde_json::to_string_pretty(value)?);
    Ok(())
}

/// A table with aligned columns; the last one is not padded.
pub(super) fn table(heads: &[&str], rows: &[Vec<String>]) {
    let mut widths: Vec<usize> = heads.iter().map(|head| head.len()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: Vec<String>| {
        let filled = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        filled.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    anstream::println!("{}", styled(BOLD, &line(heads.iter().map(|head| (*head).to_owned()).collect())));
    for row in rows {
        anstream::println!("{}", line(row.iter().map(|cell| terminal(cell).replace('\n', " ")).collect()));
    }
}

/// What is left of a rate limit, on one line.
pub(super) fn rate(rate: &Rate) -> String {
    let at = rate.reset.format("%H:%M:%S UTC");
    terminal(&format!("rate limit `{}`: {} of {} calls left until {at}", rate.resource, rate.remaining, rate.limit))
}

/// Which repository the lines below are about, where there are several.
pub(super) fn heading(repo: &RepoName, naming: Naming) {
    match naming {
        Naming::One => {}
        Naming::Several => anstream::println!("{}", styled(BOLD, &repo.to_string())),
    }
}

/// A value with the repository it is about, for programs.
pub(super) fn with_repo(repo: &RepoName, value: &impl Serialize) -> anyhow::Result<serde_json::Value> {
    let mut value = serde_json::to_value(value)?;
    value["repo"] = repo.to_string().into();
    Ok(value)
}

/// An error with its causes, one sentence.
pub(super) fn error(error: &anyhow::Error) {
    let mut text = error.to_string();
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        // A transparent error repeats its cause.
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    anstream::eprintln!("{} {}", styled(BAD, "hob:"), terminal(&text));
}

/// Every setting with its effective value.
pub(super) fn settings(settings: &Settings, as_json: bool) -> anyhow::Result<()> {
    if as_json {
        return json(settings);
    }
    anstream::print!("{}", toml::to_string(settings)?);
    Ok(())
}
