//! pass@k: how likely one of `k` attempts at a task solves it.
//!
//! Assumptions: attempts at one task are alike and do not know of each other; tasks are a sample, attempts at one task are not. So the
//! interval has the task as its unit: ten attempts at one task say less than one at each of ten.

use serde::Serialize;

use crate::rate::interval;

/// The estimate for one `k`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PassAt {
    /// Attempts at a task.
    pub k: u32,
    /// How likely one of them solves it, the mean over tasks.
    pub rate: f64,
    /// Where the interval of 95% begins.
    pub low: f64,
    /// Where it ends.
    pub high: f64,
}

/// The attempts at one task.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Attempts {
    /// How many there were.
    pub(crate) all: u32,
    /// How many solved it.
    pub(crate) solved: u32,
}

impl Attempts {
    /// The share that solved it.
    pub(crate) fn rate(self) -> f64 {
        f64::from(self.solved) / f64::from(self.all.max(1))
    }

    /// The unbiased estimate of Chen et al. (2021, arXiv:2107.03374): 1 - C(n-c, k) / C(n, k), as a product that does not overflow.
    pub(crate) fn pass_at(self, k: u32) -> f64 {
        let Self { all, solved } = self;
        if all.saturating_sub(solved) < k {
            return 1.0;
        }
        1.0 - (all - solved + 1..=all).map(|i| 1.0 - f64::from(k) / f64::from(i)).product::<f64>()
    }
}

/// The estimates for each `k` that every task has attempts for.
pub(crate) fn of_tasks(tasks: &[Attempts]) -> Vec<PassAt> {
    let least = tasks.iter().map(|task| task.all).min().unwrap_or(0);
    let of = |k: u32| {
        let values: Vec<f64> = tasks.iter().map(|task| task.pass_at(k)).collect();
        // A group of `k` attempts is one trial of this.
        let groups = tasks.iter().map(|task| f64::from(task.all)).sum::<f64>() / f64::from(k);
        let (rate, low, high) = interval(&values, groups);
        PassAt { k, rate, low, high }
    };
    (1..=least).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked out beside this code with Python's `math.comb`.
    #[test]
    fn the_estimate_is_the_unbiased_one() {
        for (all, solved, k, wanted) in [
            (10, 3, 1, 0.3),
            (10, 3, 5, 0.916_667),
            (10, 0, 5, 0.0),
            (10, 10, 1, 1.0),
            (5, 1, 5, 1.0),
            (200, 13, 100, 0.999_919),
            (2, 1, 2, 1.0),
        ] {
            let found = Attempts { all, solved }.pass_at(k);
            assert!((found - wanted).abs() < 1e-6, "{all} {solved} {k}: {found}");
        }
    }

    #[test]
    fn an_interval_has_tasks_as_its_unit() {
        // Five tasks that are always solved and five that never are: twenty attempts each say no more than one.
        let tasks = |attempts: u32| -> Vec<Attempts> {
            (0..10).map(|at| Attempts { all: attempts, solved: if at < 5 { attempts } else { 0 } }).collect()
        };
        let (one, many) = (of_tasks(&tasks(1))[0], of_tasks(&tasks(20))[0]);
        assert_eq!(one, many);
        assert!((one.low - 0.2366).abs() < 5e-4 && (one.high - 0.7634).abs() < 5e-4, "{one:?}");
        // Ten tasks that are each solved half the time: the tasks do not differ, and so the rate is surer.
        let even = of_tasks(&[Attempts { all: 20, solved: 10 }; 10]);
        assert!(even[0].high - even[0].low < one.high - one.low, "{even:?}");
        assert_eq!(even.len(), 20);
        assert!(of_tasks(&[]).is_empty());
    }
}
