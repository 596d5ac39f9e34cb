//! A share of all, and how sure it is.

use serde::Serialize;

/// The 97.5% point of the normal distribution: intervals are of 95%.
pub(crate) const Z: f64 = 1.959_964;

/// A share of all, with its interval of 95% (Wilson's).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rate {
    /// How many.
    pub count: usize,
    /// Of how many.
    pub of: usize,
    /// Their share, 0 to 1.
    pub rate: f64,
    /// Where the interval begins.
    pub low: f64,
    /// Where it ends.
    pub high: f64,
}

impl Rate {
    /// The share of `count` in `of`.
    pub fn new(count: usize, of: usize) -> Self {
        let (hits, all) = (count as f64, of as f64);
        if of == 0 {
            return Self { count, of, rate: 0.0, low: 0.0, high: 1.0 };
        }
        let (low, high) = wilson(hits / all, all);
        Self { count, of, rate: hits / all, low, high }
    }
}

/// Wilson's interval of a rate in so many.
fn wilson(rate: f64, all: f64) -> (f64, f64) {
    let z2 = Z * Z;
    let middle = (rate + z2 / (2.0 * all)) / (1.0 + z2 / all);
    let half = Z / (1.0 + z2 / all) * (rate * (1.0 - rate) / all + z2 / (4.0 * all * all)).sqrt();
    ((middle - half).max(0.0), (middle + half).min(1.0))
}

/// The mean of a value of each task, from 0 to 1, and its interval of 95%: Wilson's, of as many trials as would make the mean as sure as
/// these tasks do by how much they differ. That is at least as many as there are tasks, since no values from 0 to 1 differ more than zeros
/// and ones; and at most `trials`, which is what attempts at alike tasks are.
pub(crate) fn interval(values: &[f64], trials: f64) -> (f64, f64, f64) {
    let count = values.len() as f64;
    if values.is_empty() {
        return (0.0, 0.0, 1.0);
    }
    let mean = (values.iter().sum::<f64>() / count).clamp(0.0, 1.0);
    let spread = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    let most = mean * (1.0 - mean);
    // Tasks that all have one value, 0 or 1, say nothing about how they differ.
    let as_many = if most == 0.0 { count } else { (count * most / spread).min(trials).max(count) };
    let (low, high) = wilson(mean, as_many);
    (mean, low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wilson's interval of 5 in 10, of 0 in 10 and of 10 in 10, worked out beside this code.
    #[test]
    fn the_interval_is_wilsons() {
        for (count, low, high) in [(5, 0.2366, 0.7634), (0, 0.0, 0.2775), (10, 0.7225, 1.0)] {
            let rate = Rate::new(count, 10);
            assert!((rate.low - low).abs() < 5e-4 && (rate.high - high).abs() < 5e-4, "{rate:?}");
        }
        assert_eq!(Rate::new(0, 0), Rate { count: 0, of: 0, rate: 0.0, low: 0.0, high: 1.0 });
    }
}
