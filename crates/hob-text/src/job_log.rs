//! The log of a job of GitHub Actions, reduced to what its failed step printed.
//!
//! # Assumptions
//! Each line begins with its time, `2026-01-02T03:04:05.1234567Z `, and what the runner marks as an error begins with
//! `##[error]` after that. A step's times are whole seconds.
//! <https://docs.github.com/actions/how-tos/monitor-workflows/use-workflow-run-logs>

use chrono::TimeDelta;

use chrono::{DateTime, Utc};

/// What the step that ran in this time printed, without times and colours, to the last error that the runner marks. A log
/// whose lines have no times is kept whole.
pub fn failing_part(log: &str, from: Option<DateTime<Utc>>, until: Option<DateTime<Utc>>) -> String {
    let until = until.map(|until| until + TimeDelta::seconds(1));
    let mut is_in = true;
    let mut lines: Vec<&str> = Vec::new();
    for line in log.trim_start_matches('\u{feff}').lines() {
        let line = match timed(line) {
            Some((at, rest)) => {
                is_in = from.is_none_or(|from| from <= at) && until.is_none_or(|until| at < until);
                rest
            }
            // A line without a time goes on with the one before it.
            None => line,
        };
        if is_in {
            lines.push(line);
        }
    }
    if let Some(last) = lines.iter().rposition(|line| line.starts_with(ERROR)) {
        lines.truncate(last + 1);
    }
    anstream::adapter::strip_str(&lines.join("\n")).to_string()
}

/// What the runner begins the line of an error with.
const ERROR: &str = "##[error]";

fn timed(line: &str) -> Option<(DateTime<Utc>, &str)> {
    let (time, rest) = line.split_once(' ').unwrap_or((line, ""));
    Some((chrono::DateTime::parse_from_rfc3339(time).ok()?.to_utc(), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\u{feff}2026-01-02T03:04:05.1000000Z ##[group]Run npm ci\n2026-01-02T03:04:05.2000000Z added 7\n\
                       2026-01-02T03:04:09.0000000Z \u{1b}[31mleft != right\u{1b}[0m\n  at a.test.js:3\n\
                       2026-01-02T03:04:10.9000000Z ##[error]Process completed with exit code 1.\n\
                       2026-01-02T03:04:10.9500000Z Post job cleanup.\n2026-01-02T03:04:12.0000000Z Cleaning up";

    fn at(second: i64) -> Option<DateTime<Utc>> {
        chrono::DateTime::parse_from_rfc3339("2026-01-02T03:04:00Z")
            .ok()
            .map(|time| time.to_utc() + TimeDelta::seconds(second))
    }

    #[test]
    fn only_the_failed_step_is_kept_up_to_its_error() {
        let wanted = "left != right\n  at a.test.js:3\n##[error]Process completed with exit code 1.";
        assert_eq!(failing_part(LOG, at(9), at(10)), wanted);
        let whole = failing_part(LOG, None, None);
        assert!(whole.starts_with("##[group]Run npm ci\nadded 7\nleft") && whole.ends_with("exit code 1."), "{whole}");
    }

    #[test]
    fn a_log_in_another_form_is_kept() {
        assert_eq!(failing_part("plain\nlines", at(9), at(10)), "plain\nlines");
        assert_eq!(failing_part("", at(9), at(10)), "");
        assert_eq!(failing_part(LOG, at(40), at(50)), "", "nothing was printed then");
    }
}
