//! Whether the schedule that starts Hob in GitHub Actions still does. GitHub disables a workflow without a word.

use std::time::Duration;

use hob_domain::Timestamp;
use hob_forge::ScheduledWorkflow;

use crate::Worker;

/// The file that `hob init` proposes for the schedule.
const FILE: &str = "hob-schedule.yml";
/// The delay that is normal for schedules: 4 to 6 hours in September and October 2026 (community discussions 210625,
/// 210888 and 208924 on github.com).
const PATIENCE: Duration = Duration::from_secs(6 * 3_600);
/// The time between two runs, if there have not been two to measure it.
const DAY: Duration = Duration::from_secs(24 * 3_600);

/// The problem with the schedule, as one sentence that says what to do; `None` if there is none, or it cannot be
/// determined.
pub async fn schedule_trouble(worker: &Worker) -> Option<String> {
    match worker.forge.workflow_file(FILE).scheduled().await {
        Ok(found) => trouble(&found?, worker.forge.now()),
        Err(error) => {
            tracing::debug!(%error, "cannot tell whether the schedule runs: {error}");
            None
        }
    }
}

fn trouble(found: &ScheduledWorkflow, now: Timestamp) -> Option<String> {
    let help = format!("enable it on its page below Actions, or by `gh workflow enable {FILE}`");
    match found.state.as_str() {
        "active" => {}
        "disabled_inactivity" => {
            return Some(format!(
                "The schedule no longer starts Hob: GitHub disabled the workflow `{FILE}` because the repository had no \
                 activity for 60 days; {help}"
            ));
        }
        _disabled => {
            return Some(format!(
                "The schedule does not start Hob: the workflow `{FILE}` is disabled; {help}, or delete the file"
            ));
        }
    }
    let (last, gap) = match found.runs.as_slice() {
        [] => (None, DAY),
        [one] => (Some(*one), DAY),
        [newest, before, ..] => (Some(*newest), (*newest - *before).to_std().unwrap_or(DAY)),
    };
    let due = last.unwrap_or(found.updated_at) + gap + PATIENCE;
    (due < now).then(|| {
        let since = last.map_or_else(
            || "it has started none yet".to_owned(),
            |last| format!("the last one began at {}", last.format("%F %H:%M UTC")),
        );
        format!(
            "The schedule is late: of the runs of the workflow `{FILE}`, {since}; until the next one, issues whose worker died \
             wait for a label, an answer or a run by hand"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_that_is_disabled_or_late_is_told() {
        let at = |hours: i64| Timestamp::from_timestamp(hours * 3_600, 0).unwrap();
        for (state, runs, now, says) in [
            ("active", &[100, 99][..], 107, ""),
            ("active", &[100, 99], 108, "the last one began at 1970-01-05 04:00 UTC"),
            ("active", &[100, 76], 129, ""),
            ("active", &[100, 76], 131, "is late"),
            ("active", &[100], 129, ""),
            ("active", &[100], 131, "is late"),
            ("active", &[], 89, ""),
            ("active", &[], 91, "it has started none yet"),
            ("disabled_inactivity", &[100], 100, "no activity for 60 days"),
            ("disabled_manually", &[100], 100, "is disabled; enable it"),
        ] {
            let runs = runs.iter().map(|hours| at(*hours)).collect();
            let found = ScheduledWorkflow { state: state.to_owned(), updated_at: at(60), runs };
            let told = trouble(&found, at(now)).unwrap_or_default();
            assert!(told.contains(says) && told.is_empty() == says.is_empty(), "{state} {now}: {told}");
        }
    }
}
