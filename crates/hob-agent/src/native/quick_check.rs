//! The check that runs by itself after edits: the fastest one, where it is fast enough, and only its failures are told.
//!
//! - Guarantees: only a check that passed on the base is run, and only where the rules let the model run it unasked. Its result
//!   counts for the gate before `done` like the model's own; a failure between edits does not make the work hard.

use std::time::Duration;

use hob_domain::{RunPurpose, RunRequest};

use crate::{native::standing::Standing, report::clip};

/// Bytes of the output of a failed check.
const SHOWN_MAX: usize = 2_000;

/// The check of `request` that is run after edits: one that took at most `most` on the base. `None` if there is none.
pub(super) fn quick(request: &RunRequest, most: Duration) -> Option<String> {
    let fast = request.checks.iter().filter_map(|check| Some((request.checks_took.get(check)?, check)));
    let fastest = fast.filter(|(took, _)| **took <= most).min_by_key(|(took, _)| **took);
    let is_wanted = request.purpose == RunPurpose::Work && !most.is_zero();
    fastest.filter(|_| is_wanted).map(|(_, check)| check.clone())
}

/// What a model is told of a failed `check`: the same output once.
pub(super) fn failure(standing: &mut Standing, check: &str, output: &str) -> String {
    let output = clip(output, SHOWN_MAX);
    if standing.quick_failure.as_ref() == Some(&output) {
        return format!("\n[Hob ran `{check}`: it fails as before]");
    }
    standing.quick_failure = Some(output.clone());
    format!("\n[Hob ran `{check}`, which passed before the work, and it fails now]\n{output}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::guard::tests::request;

    #[test]
    fn the_fastest_check_that_passed_in_time_is_the_one() {
        let secs = Duration::from_secs;
        for (took, most, quick_one) in [
            (&[("a", 4), ("b", 2), ("other", 1)][..], secs(5), Some("b")),
            (&[("a", 4), ("b", 6)], secs(5), Some("a")),
            (&[("b", 6)], secs(5), None),
            (&[("a", 0)], Duration::ZERO, None),
            (&[], secs(5), None),
        ] {
            let mut request = request(&[]);
            request.checks = vec!["a".to_owned(), "b".to_owned()];
            request.checks_took = took.iter().map(|(check, seconds)| ((*check).to_owned(), secs(*seconds))).collect();
            assert_eq!(quick(&request, most).as_deref(), quick_one, "{took:?}");
            request.purpose = RunPurpose::Plan;
            assert_eq!(quick(&request, most), None);
        }
    }
}
