//! Whether a check that failed on the head is a flake or a failure, by its runs there and by what is known of unchanged code.
//!
//! # Guarantees
//! - What passed in no run on the head is never a flake, even if it is a known one: the error is 0.
//! - Nor is what is not known to fail on unchanged code, or a known flake that fails significantly more often on the head: by Fisher's
//!   exact test, one-sided, of the reruns there against the runs on bases, at the level `LEVEL`. The run that failed first does
//!   not count, since it is why the others were made.
//! - A known flake that the change did not make worse is taken for a failure with a probability of at most `LEVEL`, plus that of
//!   failing in all of its reruns.
//!
//! # Caveats
//! A change that makes a known flake fail more often, and not always, may pass as that flake. The test
//! `how_often_a_worse_flake_is_excused` has the exact probabilities.

use std::collections::BTreeSet;

use hob_domain::{CheckResult, Rate, TestEnd};

/// The level of the exact test.
const LEVEL: f64 = 0.05;
/// Reruns on the base, once the head did both and nothing is known of the base.
pub const ON_BASE: u32 = 5;
/// Reruns of what nothing is known of.
pub const FEW: u32 = 2;
/// The most reruns.
const RERUNS_MAX: u32 = 10;
/// How rarely a known flake may fail in all of its reruns.
const RARELY: f64 = 0.001;

/// What follows from the runs on the head so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// One more run on the head.
    OnHead,
    /// Runs on the base: the head did both, and nothing is known of the base.
    OnBase,
    /// It is a flake.
    Flake,
    /// The change is to blame.
    Failure,
}

/// What follows for a check that failed, from its reruns on the same commit. `base` says how often a test of it, or the check as a
/// whole, failed on unchanged code.
pub fn next(failed: &CheckResult, again: &[&CheckResult], base: impl Fn(Option<&str>) -> Rate) -> Next {
    let reruns = u32::try_from(again.len()).unwrap_or(u32::MAX);
    let passes = again.iter().any(|run| run.passed());
    let subjects: BTreeSet<Option<&str>> =
        [failed].into_iter().chain(again.iter().copied()).filter(|run| !run.passed()).flat_map(failed_in).collect();
    let rates: Vec<(Rate, Rate)> = subjects.into_iter().map(|subject| (rate(again, subject), base(subject))).collect();
    if rates.iter().any(|(_, base)| base.failed == 0) {
        return match (passes, reruns < FEW) {
            (true, _) => Next::OnBase,
            (false, true) => Next::OnHead,
            (false, false) => Next::Failure,
        };
    }
    let left = rates.iter().map(|(_, base)| reruns_of(*base)).max().unwrap_or(FEW).saturating_sub(reruns);
    let at_best = |head: &Rate| Rate { runs: head.runs + left, ..*head };
    let at_worst = |head: &Rate| Rate { failed: head.failed + left, runs: head.runs + left };
    if rates.iter().any(|(head, base)| is_worse(at_best(head), *base)) || !passes && left == 0 {
        return Next::Failure;
    }
    if passes && !rates.iter().any(|(head, base)| is_worse(at_worst(head), *base)) { Next::Flake } else { Next::OnHead }
}

/// The tests that failed in a run that failed; the check as a whole if it names none.
fn failed_in(run: &CheckResult) -> Vec<Option<&str>> {
    let failed = run.tests.ended(TestEnd::Failed).chain(run.tests.ended(TestEnd::Broken));
    let failed: Vec<_> = failed.map(Some).collect();
    if failed.is_empty() { vec![None] } else { failed }
}

/// How often a test, or the check as a whole, failed in these runs.
fn rate(runs: &[&CheckResult], subject: Option<&str>) -> Rate {
    let fails = |run: &&&CheckResult| match subject {
        Some(test) => matches!(run.tests.end(test), Some(TestEnd::Failed | TestEnd::Broken)),
        None => !run.passed(),
    };
    let count = |all: usize| u32::try_from(all).unwrap_or(u32::MAX);
    Rate { failed: count(runs.iter().filter(fails).count()), runs: count(runs.len()) }
}

/// How many reruns a known flake gets: so many that it rarely fails in all of them.
pub fn reruns_of(base: Rate) -> u32 {
    // One more of each: few runs tell little.
    let fails = f64::from(base.failed + 1) / f64::from(base.runs + 2);
    let enough = |reruns: &u32| fails.powf(f64::from(*reruns)) <= RARELY;
    (FEW..RERUNS_MAX).find(enough).unwrap_or(RERUNS_MAX)
}

/// Whether the head fails significantly more often than unchanged code.
fn is_worse(head: Rate, base: Rate) -> bool {
    p_value(head, base) <= LEVEL
}

/// The probability that so many of all failures, or more, are among the head's runs if it fails no more often than the base does:
/// the upper tail of the hypergeometric distribution.
fn p_value(head: Rate, base: Rate) -> f64 {
    let (runs, others) = (head.runs, base.runs);
    let failures = head.failed + base.failed;
    let (least, most) = (failures.saturating_sub(others), failures.min(runs));
    // Each term by the one before it, so that no factorial is needed.
    let (mut term, mut all, mut tail) = (1.0, 0.0, 0.0);
    for failed in least..=most {
        all += term;
        if failed >= head.failed {
            tail += term;
        }
        let up = f64::from(runs - failed) * f64::from(failures - failed);
        term *= up / (f64::from(failed + 1) * f64::from(others + failed + 1 - failures));
    }
    tail / all
}

#[cfg(test)]
mod tests {
    use hob_domain::{CheckExit, CheckRun, TestResults};

    use super::*;

    /// A run in which these tests failed. With none it passes, unless the check fails by itself.
    fn run(failed: &[&str], by_itself: bool) -> CheckResult {
        let mut tests = TestResults { names_failures_alone: true, ..TestResults::default() };
        failed.iter().for_each(|name| tests.add(name, TestEnd::Failed));
        let exit = if failed.is_empty() && !by_itself { CheckExit::Passed } else { CheckExit::Failed { code: 1 } };
        let (command, output) = ("make test".to_owned(), String::new());
        CheckResult { command, exit, output, seconds: 1, run: CheckRun::Now, refused: None, tests }
    }

    const fn of(failed: u32, runs: u32) -> Rate {
        Rate { failed, runs }
    }

    /// Where a run that is drawn by `draw` and failed first ends, and after how many reruns.
    fn ends(
        mut draw: impl FnMut() -> CheckResult,
        first: &CheckResult,
        base: &impl Fn(Option<&str>) -> Rate,
    ) -> (Next, usize) {
        let mut again: Vec<CheckResult> = Vec::new();
        loop {
            match next(first, &again.iter().collect::<Vec<_>>(), base) {
                Next::OnHead => again.push(draw()),
                other => return (other, again.len()),
            }
        }
    }

    /// SplitMix64.
    struct Seed(u64);

    impl Seed {
        fn below(&mut self, bound: u32) -> u32 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            u32::try_from((mixed ^ (mixed >> 31)) % u64::from(bound)).unwrap()
        }

        /// Whether something happens that does in so many of 1,000 cases.
        fn happens(&mut self, permille: u32) -> bool {
            self.below(1_000) < permille
        }

        /// How often something fails in so many runs.
        fn rate(&mut self, permille: u32, runs: u32) -> Rate {
            of((0..runs).filter(|_| self.happens(permille)).count().try_into().unwrap(), runs)
        }
    }

    #[test]
    fn the_exact_test_is_fishers() {
        for (head, base, p) in [
            // The lady who tastes tea: 17/70.
            (of(3, 4), of(1, 4), 17.0 / 70.0),
            (of(4, 5), of(4, 20), 25_365.0 / 1_081_575.0),
            (of(6, 7), of(1, 4), 29.0 / 330.0),
            (of(0, 5), of(3, 9), 1.0),
            (of(2, 2), of(0, 0), 1.0),
            (of(2, 2), of(1, 20), 20.0 / 1_540.0),
        ] {
            assert!((p_value(head, base) - p).abs() < 1e-12, "{head} {base}: {}", p_value(head, base));
        }
    }

    #[test]
    fn what_is_not_known_is_run_a_few_times_and_what_is_known_until_it_is_clear() {
        let (fails, passes) = (run(&[], true), run(&[], false));
        for (again, base, expected) in [
            (&[][..], of(0, 0), Next::OnHead),
            (&[&fails], of(0, 9), Next::OnHead),
            (&[&fails, &fails], of(0, 9), Next::Failure),
            (&[&passes], of(0, 9), Next::OnBase),
            (&[&fails, &passes], of(1, 6), Next::Flake),
            (&[], of(1, 5), Next::OnHead),
            (&[&passes], of(1, 5), Next::Flake),
            // With many runs on bases, one pass is not enough.
            (&[&passes], of(4, 20), Next::OnHead),
            (&[&passes, &passes], of(4, 20), Next::Flake),
            (&[&fails, &fails, &fails, &fails], of(4, 20), Next::Failure),
            (&[&fails, &passes, &fails], of(1, 200), Next::Failure),
        ] {
            assert_eq!(next(&fails, again, |_| base), expected, "{} reruns, {base} on bases", again.len());
        }
        let sizes = [of(1, 200), of(4, 20), of(1, 5), of(1, 2), of(9, 10)].map(reruns_of);
        assert_eq!(sizes, [2, 5, 6, 10, 10]);
    }

    #[test]
    fn a_known_flake_excuses_no_test_beside_it() {
        let known = |test: Option<&str>| if test == Some("b") { of(0, 9) } else { of(3, 9) };
        let (flake, both, neither) = (run(&["a"], false), run(&["a", "b"], false), run(&[], false));
        assert_eq!(next(&flake, &[&neither], known), Next::Flake);
        assert_eq!(next(&both, &[&run(&["b"], false), &both], known), Next::Failure);
        assert_eq!(next(&both, &[&neither], known), Next::OnBase, "`b` passes at times, and is not known to");
        assert_eq!(next(&flake, &[&both, &neither], known), Next::OnBase);
        // It ended without a test that failed.
        let known = |test: Option<&str>| if test.is_none() { of(0, 9) } else { of(3, 9) };
        assert_eq!(next(&flake, &[&run(&[], true), &run(&[], true)], known), Next::Failure);
    }

    /// 10,000 seeds: flakes of any rate, of which anything is known. A test that always fails on the head is never excused, be it a flake
    /// until now or a test beside one, and flakes that did not get worse are taken for failures within the stated bound.
    #[test]
    fn no_regression_passes_as_a_flake() {
        let (mut same, mut blamed, mut bound) = (0_u32, 0_u32, 0.0);
        for seed in 0..10_000 {
            let mut seed = Seed(seed);
            let (permille, runs) = (1 + seed.below(950), 1 + seed.below(200));
            let base = seed.rate(permille, runs);
            let known = |test: Option<&str>| if test == Some("b") { Rate::default() } else { base };
            let always = run(&["a"], false);
            assert_eq!(ends(|| always.clone(), &always, &known).0, Next::Failure, "{base}");
            let worse = run(&["a", "b"], false);
            let mut draw = || if seed.happens(permille) { worse.clone() } else { run(&["b"], false) };
            let first = draw();
            assert_eq!(ends(draw, &first, &known).0, Next::Failure, "{base}");
            let by_check = run(&[], true);
            assert_eq!(ends(|| by_check.clone(), &by_check, &known).0, Next::Failure, "{base}");
            if base.failed > 0 {
                let flaky = || if seed.happens(permille) { run(&["a"], false) } else { run(&[], false) };
                let (end, _) = ends(flaky, &always, &known);
                assert!(matches!(end, Next::Flake | Next::Failure));
                same += 1;
                blamed += u32::from(end == Next::Failure);
                bound += (LEVEL + (f64::from(permille) / 1_000.0).powf(f64::from(reruns_of(base)))).min(1.0);
            }
        }
        assert!(same > 9_000 && f64::from(blamed) < bound, "{blamed} of {same}, at most {bound}");
    }

    /// The probability that a known flake which fails so often on the head is taken for a flake, over all ways in which its reruns may end.
    fn excused(fails: f64, base: Rate, again: &mut Vec<bool>) -> f64 {
        let runs: Vec<CheckResult> = again.iter().map(|failed| run(&[], *failed)).collect();
        match next(&run(&[], true), &runs.iter().collect::<Vec<_>>(), |_| base) {
            Next::Flake => 1.0,
            Next::Failure | Next::OnBase => 0.0,
            Next::OnHead => {
                let mut sum = 0.0;
                for (failed, weight) in [(true, fails), (false, 1.0 - fails)] {
                    again.push(failed);
                    sum += weight * excused(fails, base, again);
                    again.pop();
                }
                sum
            }
        }
    }

    #[test]
    fn how_often_a_worse_flake_is_excused() {
        let mut told = "on bases: failing always, 9 of 10, 7 of 10, 5 of 10, 2 of 10\n".to_owned();
        for base in [of(1, 5), of(4, 20), of(20, 100), of(2, 100), of(10, 20)] {
            let odds = [1.0, 0.9, 0.7, 0.5, 0.2].map(|fails| format!("{:.3}", excused(fails, base, &mut Vec::new())));
            told.push_str(&format!("{base}: {}\n", odds.join(" ")));
        }
        insta::assert_snapshot!(told, @"
        on bases: failing always, 9 of 10, 7 of 10, 5 of 10, 2 of 10
        1 of 5 runs: 0.000 0.469 0.882 0.984 1.000
        4 of 20 runs: 0.000 0.081 0.472 0.812 0.993
        20 of 100 runs: 0.000 0.081 0.472 0.812 0.993
        2 of 100 runs: 0.000 0.190 0.510 0.750 0.960
        10 of 20 runs: 0.000 0.264 0.851 0.989 1.000
        ");
    }
}
