//! What the trials of an evaluation say, and what two of them say of each other.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{LimitKind, Trial};

/// The 97.5% point of the normal distribution: intervals are of 95%.
const Z: f64 = 1.959_964;

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
        let (rate, z2) = (hits / all, Z * Z);
        let middle = (rate + z2 / (2.0 * all)) / (1.0 + z2 / all);
        let half = Z / (1.0 + z2 / all) * (rate * (1.0 - rate) / all + z2 / (4.0 * all * all)).sqrt();
        Self { count, of, rate, low: (middle - half).max(0.0), high: (middle + half).min(1.0) }
    }
}

/// What the trials of one agent and model say.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Score {
    /// Tasks that are solved.
    pub solved: Rate,
    /// The mean reward; a task without one counts as 0.
    pub mean_reward: f64,
    /// US dollars in all.
    pub usd: f64,
    /// US dollars for each solved task; none: none is solved.
    pub usd_per_solved: Option<f64>,
    /// Tokens sent, cached ones included.
    pub input_tokens: u64,
    /// The share of them that the service had cached.
    pub cached_share: f64,
    /// Tokens produced.
    pub output_tokens: u64,
    /// The median of the turns.
    pub median_turns: f64,
    /// The median of the seconds that the agent took.
    pub median_seconds: f64,
    /// Trials that a limit ended.
    pub limited: Rate,
    /// By limit.
    pub limits: BTreeMap<&'static str, usize>,
}

impl Score {
    /// Counts trials.
    pub fn new(trials: &[Trial]) -> Self {
        let count = |is_it: &dyn Fn(&Trial) -> bool| trials.iter().filter(|trial| is_it(trial)).count();
        let sum = |value: &dyn Fn(&Trial) -> u64| trials.iter().map(value).sum::<u64>();
        let all = trials.len().max(1) as f64;
        let solved = Rate::new(count(&|trial| trial.solved), trials.len());
        // The sum of nothing is a negative zero.
        let usd = trials.iter().map(|trial| trial.usd).sum::<f64>() + 0.0;
        let input_tokens = sum(&|trial| trial.input_tokens);
        let mut limits = BTreeMap::new();
        for limit in trials.iter().filter_map(|trial| trial.limit) {
            *limits.entry(name(limit)).or_default() += 1;
        }
        Self {
            solved,
            mean_reward: (trials.iter().filter_map(|trial| trial.reward).sum::<f64>() + 0.0) / all,
            usd,
            usd_per_solved: (solved.count > 0).then(|| usd / solved.count as f64),
            input_tokens,
            cached_share: sum(&|trial| trial.cached_tokens) as f64 / input_tokens.max(1) as f64,
            output_tokens: sum(&|trial| trial.output_tokens),
            median_turns: median(trials.iter().map(|trial| f64::from(trial.turns))),
            median_seconds: median(trials.iter().map(|trial| trial.seconds)),
            limited: Rate::new(count(&|trial| trial.limit.is_some()), trials.len()),
            limits,
        }
    }
}

fn name(limit: LimitKind) -> &'static str {
    match limit {
        LimitKind::Time => "time",
        LimitKind::Money => "money",
        LimitKind::Tokens => "tokens",
        LimitKind::Turns => "turns",
        LimitKind::Other => "other",
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    match (values.len(), values.len() / 2) {
        (0, _) => 0.0,
        (length, half) if length % 2 == 1 => values[half],
        (_, half) => f64::midpoint(values[half - 1], values[half]),
    }
}

/// Two evaluations on the tasks that both tried.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Tasks that both tried.
    pub tasks: usize,
    /// Tasks that only one of them tried, which count for nothing here.
    pub left_out: usize,
    /// Tasks that both solved.
    pub both: usize,
    /// Those that only the first solved.
    pub only_first: Vec<String>,
    /// Those that only the second solved.
    pub only_second: Vec<String>,
    /// Those that neither solved.
    pub neither: usize,
    /// The second's solve rate less the first's.
    pub difference: f64,
    /// Where the interval of 95% of the difference begins (Agresti and Min, for pairs).
    pub low: f64,
    /// Where it ends.
    pub high: f64,
    /// How likely a difference like this or a larger one is if both are equally good (McNemar's exact test, two-sided).
    pub p: f64,
    /// The second's dollars less the first's.
    pub usd: f64,
}

impl Comparison {
    /// Compares by pairs.
    pub fn new(first: &[Trial], second: &[Trial]) -> Self {
        let by_name: BTreeMap<&str, &Trial> = second.iter().map(|trial| (trial.task.as_str(), trial)).collect();
        let pairs: Vec<(&Trial, &Trial)> =
            first.iter().filter_map(|trial| Some((trial, *by_name.get(trial.task.as_str())?))).collect();
        let only = |which: &dyn Fn(&Trial, &Trial) -> bool| -> Vec<String> {
            pairs.iter().filter(|(one, other)| which(one, other)).map(|(one, _)| one.task.clone()).collect()
        };
        let only_first = only(&|one, other| one.solved && !other.solved);
        let only_second = only(&|one, other| !one.solved && other.solved);
        let both = pairs.iter().filter(|(one, other)| one.solved && other.solved).count();
        let tasks = pairs.len();
        let (b, c, n) = (only_first.len() as f64, only_second.len() as f64, tasks as f64);
        // Half a task is added to each of the four cells, which keeps the interval honest where few pairs differ.
        let (b2, c2, n2) = (b + 0.5, c + 0.5, n + 2.0);
        let middle = (c2 - b2) / n2;
        let half = Z * ((b2 + c2) - (c2 - b2).powi(2) / n2).sqrt() / n2;
        Self {
            tasks,
            left_out: first.len() + second.len() - 2 * tasks,
            both,
            neither: tasks - both - only_first.len() - only_second.len(),
            difference: if tasks == 0 { 0.0 } else { (c - b) / n },
            low: (middle - half).max(-1.0),
            high: (middle + half).min(1.0),
            p: exact(only_first.len(), only_second.len()),
            usd: pairs.iter().map(|(one, other)| other.usd - one.usd).sum::<f64>() + 0.0,
            only_first,
            only_second,
        }
    }
}

/// The two-sided probability of a split as uneven as this, where each side is equally likely.
fn exact(first: usize, second: usize) -> f64 {
    let (all, least) = (first + second, first.min(second));
    // The terms of the binomial distribution, by their logarithms: the factorial of a few hundred tasks overflows.
    let mut log_term = -(all as f64) * std::f64::consts::LN_2;
    let mut sum = log_term.exp();
    for k in 0..least {
        log_term += ((all - k) as f64).ln() - ((k + 1) as f64).ln();
        sum += log_term.exp();
    }
    (2.0 * sum).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(task: &str, solved: bool) -> Trial {
        Trial {
            task: task.to_owned(),
            solved,
            reward: solved.then_some(1.0),
            outcome: "done".to_owned(),
            limit: (!solved).then_some(LimitKind::Turns),
            why: String::new(),
            usd: 0.25,
            input_tokens: 1_000,
            cached_tokens: 800,
            output_tokens: 10,
            turns: if solved { 10 } else { 250 },
            seconds: 2.0,
            patch_bytes: 1,
            session: String::new(),
        }
    }

    fn near(value: f64, wanted: f64) {
        assert!((value - wanted).abs() < 5e-4, "{value} is not {wanted}");
    }

    /// Wilson's interval of 5 in 10, of 0 in 10 and of 10 in 10, worked out beside this code.
    #[test]
    fn the_interval_is_wilsons() {
        for (count, low, high) in [(5, 0.2366, 0.7634), (0, 0.0, 0.2775), (10, 0.7225, 1.0)] {
            let rate = Rate::new(count, 10);
            near(rate.low, low);
            near(rate.high, high);
        }
        assert_eq!(Rate::new(0, 0), Rate { count: 0, of: 0, rate: 0.0, low: 0.0, high: 1.0 });
    }

    /// McNemar's exact test: twice the sum of `comb(b + c, k) / 2^(b + c)` up to the smaller, by Python's whole numbers.
    #[test]
    fn the_probability_is_the_exact_one() {
        for (first, second, p) in [(0, 0, 1.0), (5, 5, 1.0), (1, 8, 0.039_06), (0, 6, 0.031_25), (12, 30, 0.0079)] {
            near(exact(first, second), p);
            near(exact(second, first), p);
        }
        assert!(exact(400, 700) > 0.0 && exact(400, 700) < 1e-15);
    }

    #[test]
    fn trials_are_counted_and_compared_by_pairs() {
        let first = [trial("a", true), trial("b", true), trial("c", false), trial("d", false)];
        let second = [trial("a", true), trial("b", false), trial("c", true), trial("e", true)];
        let score = Score::new(&first);
        assert_eq!((score.solved.count, score.solved.of, score.limits["turns"]), (2, 4, 2));
        near(score.median_turns, 130.0);
        near(score.usd_per_solved.unwrap(), 0.5);
        near(score.cached_share, 0.8);
        let compared = Comparison::new(&first, &second);
        assert_eq!((compared.tasks, compared.left_out, compared.both, compared.neither), (3, 2, 1, 0));
        assert_eq!((compared.only_first, compared.only_second), (vec!["b".to_owned()], vec!["c".to_owned()]));
        near(compared.difference, 0.0);
        // -1.96 * sqrt(3) / 5
        near(compared.low, -0.678_9);
        assert_eq!(Score::new(&[]).solved.of, 0);
    }
}
