//! A check of the forge on a commit, and which of them count, where several have one name or a job fails because others were cancelled.
//!
//! # Guarantees
//! - A run that was cancelled or skipped says nothing beside another one of its name.
//! - Of those that contradict each other, the newest counts if it began after the others had ended: it was started again. Those of
//!   different Apps, and those that ran at the same time, such as for the push and for the pull request, give no verdict.
//! - A failed job that began after cancelled jobs of its workflow run had ended gives no verdict, unless another job failed: it gathers
//!   results (`if: always()`), and got none. A job whose failure has the others cancelled began before.

use hob_domain::{ForgeCheckState, Timestamp};

/// One of the forge's checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadCheck {
    /// Its name.
    pub name: String,
    /// Its state.
    pub state: ForgeCheckState,
    /// The check run's id. `None` for a commit status.
    pub run: Option<u64>,
    /// Whether it is a job of GitHub Actions, which has a log.
    pub is_job: bool,
    /// Its own summary.
    pub says: String,
    /// The number of its annotations on lines of files.
    pub annotations: u64,
    pub(super) origin: Origin,
}

impl HeadCheck {
    /// A check of which only name and state are known.
    pub(super) fn bare(name: String, state: ForgeCheckState) -> Self {
        let (says, origin) = (String::new(), Origin::default());
        Self { name, state, run: None, is_job: false, says, annotations: 0, origin }
    }
}

/// What tells which of several checks counts.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Origin {
    /// The App; `None` for a commit status.
    pub(super) app: Option<String>,
    /// Its check suite: for a job, its workflow run.
    pub(super) suite: Option<u64>,
    pub(super) began: Option<Timestamp>,
    pub(super) ended: Option<Timestamp>,
    pub(super) says: Says,
}

/// Whether its end says something.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Says {
    #[default]
    Something,
    /// It was skipped, or is stale.
    Nothing,
    /// It was cancelled.
    Cancelled,
}

impl Says {
    /// Of a conclusion in lower case.
    pub(super) fn of(conclusion: Option<&str>) -> Self {
        match conclusion {
            Some("cancelled") => Self::Cancelled,
            Some("skipped" | "stale") => Self::Nothing,
            _other_or_none => Self::Something,
        }
    }
}

/// One check of each name: the one that counts, with the state that it leads to.
pub(super) fn counted(mut checks: Vec<HeadCheck>) -> Vec<HeadCheck> {
    let gates: Vec<bool> = checks.iter().map(|check| is_cut_off(check, &checks)).collect();
    for (check, is_gate) in checks.iter_mut().zip(gates) {
        if is_gate {
            check.state = ForgeCheckState::Unknown;
            check.origin.says = Says::Cancelled;
        }
    }
    let mut named: Vec<(String, Vec<HeadCheck>)> = Vec::new();
    for check in checks {
        match named.iter_mut().find(|(name, _)| *name == check.name) {
            Some((_, same)) => same.push(check),
            None => named.push((check.name.clone(), vec![check])),
        }
    }
    named.into_iter().filter_map(|(_, same)| one_of(same)).collect()
}

/// Whether it failed because jobs that it needs were cancelled.
fn is_cut_off(check: &HeadCheck, all: &[HeadCheck]) -> bool {
    let Some(suite) = check.origin.suite else { return false };
    let of_suite = || all.iter().filter(|other| other.origin.suite == Some(suite));
    let cancelled: Vec<_> = of_suite().filter(|other| other.origin.says == Says::Cancelled).collect();
    let began_after = |late: &HeadCheck| {
        let ends =
            |other: &&HeadCheck| other.origin.ended.zip(late.origin.began).is_some_and(|(end, began)| end <= began);
        cancelled.iter().all(ends)
    };
    let failed = |check: &&HeadCheck| check.state == ForgeCheckState::Failed;
    !cancelled.is_empty() && failed(&check) && of_suite().filter(failed).all(began_after)
}

/// The check of several of one name that counts.
fn one_of(mut same: Vec<HeadCheck>) -> Option<HeadCheck> {
    if same.iter().any(|check| check.origin.says == Says::Something) {
        same.retain(|check| check.origin.says == Says::Something);
    }
    same.sort_by_key(|check| std::cmp::Reverse((check.state == ForgeCheckState::Pending, check.origin.began)));
    let mut same = same.into_iter();
    let mut newest = same.next()?;
    let contradicts = |other: HeadCheck| {
        let is_older = other.origin.app == newest.origin.app
            && other.origin.ended.zip(newest.origin.began).is_some_and(|(end, began)| end < began);
        other.state != newest.state && !is_older
    };
    if newest.state != ForgeCheckState::Pending && same.any(contradicts) {
        newest.state = ForgeCheckState::Unknown;
    }
    Some(newest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A check run of a suite with a conclusion, and the seconds of its start and end.
    type Run<'a> = (&'a str, u64, &'a str, i64, i64);

    fn check(&(name, suite, conclusion, began, ended): &Run<'_>) -> HeadCheck {
        let state = match conclusion {
            "failure" => ForgeCheckState::Failed,
            "cancelled" => ForgeCheckState::Unknown,
            "running" => ForgeCheckState::Pending,
            _success_or_skipped => ForgeCheckState::Passed,
        };
        let at = |seconds: i64| Timestamp::from_timestamp(seconds, 0);
        let app = Some(if suite > 90 { "robo" } else { "github-actions" }.to_owned());
        let says = Says::of(Some(conclusion));
        HeadCheck {
            origin: Origin { app, suite: Some(suite), began: at(began), ended: at(ended), says },
            ..HeadCheck::bare(name.to_owned(), state)
        }
    }

    /// Cases c13: zephyrproject-rtos/zephyr#105175, btclib-org/btclib#1025, apache/texera#8523.
    #[test]
    fn of_several_runs_the_one_that_says_something_counts() {
        use ForgeCheckState::{Failed, Passed, Pending, Unknown};
        for (says, runs, expected) in [
            (
                "an old red run",
                &[("test", 1, "failure", 0, 9), ("test", 2, "success", 10, 20)][..],
                &[("test", Passed)][..],
            ),
            ("a new red run", &[("test", 1, "success", 0, 9), ("test", 2, "failure", 10, 20)], &[("test", Failed)]),
            ("at one time", &[("test", 1, "failure", 0, 9), ("test", 2, "success", 1, 20)], &[("test", Unknown)]),
            ("of another App", &[("test", 1, "failure", 0, 9), ("test", 91, "success", 10, 20)], &[("test", Unknown)]),
            ("started again", &[("test", 1, "failure", 0, 9), ("test", 2, "running", 10, 9)], &[("test", Pending)]),
            (
                "cancelled after its success",
                &[("test", 1, "success", 0, 9), ("test", 2, "cancelled", 10, 20)],
                &[("test", Passed)],
            ),
            (
                "red, then cancelled",
                &[("test", 1, "failure", 0, 9), ("test", 2, "cancelled", 10, 20)],
                &[("test", Failed)],
            ),
            ("red, then skipped", &[("test", 1, "failure", 0, 9), ("test", 2, "skipped", 10, 20)], &[("test", Failed)]),
            ("skipped alone", &[("test", 1, "skipped", 0, 9)], &[("test", Passed)]),
            (
                "a gate of cancelled jobs",
                &[("a", 1, "cancelled", 0, 9), ("b", 1, "success", 0, 5), ("all", 1, "failure", 9, 10)],
                &[("a", Unknown), ("b", Passed), ("all", Unknown)],
            ),
            (
                "of another run",
                &[("a", 1, "cancelled", 0, 9), ("all", 2, "failure", 9, 10)],
                &[("a", Unknown), ("all", Failed)],
            ),
            (
                "a failure that has the others cancelled",
                &[("a", 1, "cancelled", 0, 9), ("b", 1, "failure", 0, 8), ("all", 1, "failure", 9, 10)],
                &[("a", Unknown), ("b", Failed), ("all", Failed)],
            ),
            (
                "a gate, and a run that was started again",
                &[
                    ("a", 1, "cancelled", 0, 9),
                    ("all", 1, "failure", 9, 10),
                    ("a", 2, "success", 1, 30),
                    ("all", 2, "success", 30, 31),
                ],
                &[("a", Passed), ("all", Passed)],
            ),
        ] {
            let counted = counted(runs.iter().map(check).collect());
            let found: Vec<_> = counted.iter().map(|check| (check.name.as_str(), check.state)).collect();
            assert_eq!(found, expected, "{says}");
        }
    }
}
