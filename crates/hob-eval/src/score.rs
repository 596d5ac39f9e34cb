//! What the trials of an evaluation say, and what two of them say of each other.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{
    LimitKind, Trial,
    pass_at::{self, Attempts, PassAt},
    rate::{Rate, Z, interval},
};

/// What the trials of one agent and model say.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Score {
    /// Attempts that solved their task, of all; the rate is the mean over tasks, and its interval has the task as its unit.
    pub solved: Rate,
    /// Tasks.
    pub tasks: usize,
    /// How likely one of `k` attempts at a task solves it, for each `k` that every task has attempts for.
    pub pass_at: Vec<PassAt>,
    /// The mean reward; a trial without one counts as 0.
    pub mean_reward: f64,
    /// US dollars in all.
    pub usd: f64,
    /// US dollars for each attempt that solved its task; none: none did.
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
        let attempts: Vec<Attempts> = by_task(trials).into_values().collect();
        let (rate, low, high) =
            interval(&attempts.iter().map(|task| task.rate()).collect::<Vec<_>>(), trials.len() as f64);
        let solved = Rate { count: count(&|trial| trial.solved), of: trials.len(), rate, low, high };
        // The sum of nothing is a negative zero.
        let usd = trials.iter().map(|trial| trial.usd).sum::<f64>() + 0.0;
        let input_tokens = sum(&|trial| trial.input_tokens);
        let mut limits = BTreeMap::new();
        for limit in trials.iter().filter_map(|trial| trial.limit) {
            *limits.entry(name(limit)).or_default() += 1;
        }
        Self {
            solved,
            tasks: attempts.len(),
            pass_at: pass_at::of_tasks(&attempts),
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
    /// Tasks that both solved as often, at least once.
    pub both: usize,
    /// Those that the first solved in a larger share of its attempts.
    pub only_first: Vec<String>,
    /// Those that the second did.
    pub only_second: Vec<String>,
    /// Those that neither solved.
    pub neither: usize,
    /// The second's solve rate less the first's, the mean over tasks.
    pub difference: f64,
    /// Where the interval of 95% of the difference begins: by pairs of one task (Agresti and Min).
    pub low: f64,
    /// Where it ends.
    pub high: f64,
    /// How likely a split of the tasks like this or a more uneven one is if both are equally good (McNemar's exact test, two-sided).
    pub p: f64,
    /// The second's dollars less the first's.
    pub usd: f64,
}

/// The attempts at each task.
fn by_task(trials: &[Trial]) -> BTreeMap<&str, Attempts> {
    let mut tasks = BTreeMap::<&str, Attempts>::new();
    for trial in trials {
        let task = tasks.entry(&trial.task).or_default();
        task.all += 1;
        task.solved += u32::from(trial.solved);
    }
    tasks
}

impl Comparison {
    /// Compares by pairs: what each did on one task.
    pub fn new(first: &[Trial], second: &[Trial]) -> Self {
        let (one, other) = (by_task(first), by_task(second));
        let pairs: BTreeMap<&str, (f64, f64)> =
            one.iter().filter_map(|(task, tried)| Some((*task, (tried.rate(), other.get(task)?.rate())))).collect();
        let those = |which: &dyn Fn(f64, f64) -> bool| -> Vec<String> {
            let those = pairs.iter().filter(|(_, (one, other))| which(*one, *other));
            those.map(|(task, _)| (*task).to_owned()).collect()
        };
        let (only_first, only_second) = (those(&|one, other| one > other), those(&|one, other| one < other));
        let neither = pairs.values().filter(|(one, other)| *one == 0.0 && *other == 0.0).count();
        let tasks = pairs.len();
        let n = tasks as f64;
        let differences: Vec<f64> = pairs.values().map(|(one, other)| other - one).collect();
        let (sum, squares) = (differences.iter().sum::<f64>(), differences.iter().map(|one| one * one).sum::<f64>());
        // Half a task is added to each of the four cells, which keeps the interval honest where few pairs differ.
        let (squares2, n2) = (squares + 1.0, n + 2.0);
        let middle = sum / n2;
        let half = Z * (squares2 - sum.powi(2) / n2).sqrt() / n2;
        let usd = |trials: &[Trial]| {
            let those = trials.iter().filter(|trial| pairs.contains_key(trial.task.as_str()));
            those.map(|trial| trial.usd).sum::<f64>()
        };
        Self {
            tasks,
            left_out: one.len() + other.len() - 2 * tasks,
            both: tasks - neither - only_first.len() - only_second.len(),
            neither,
            difference: if tasks == 0 { 0.0 } else { sum / n },
            low: (middle - half).max(-1.0),
            high: (middle + half).min(1.0),
            p: exact(only_first.len(), only_second.len()),
            usd: usd(second) - usd(first) + 0.0,
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
            attempt: 1,
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

    #[test]
    fn several_attempts_at_a_task_are_one_task() {
        let again = |task: &str, solved: &[bool]| -> Vec<Trial> {
            let one = |(at, solved): (u32, &bool)| Trial { attempt: at, ..trial(task, *solved) };
            (1..).zip(solved).map(one).collect()
        };
        let first = [again("a", &[true, false]), again("b", &[false, false])].concat();
        let second = [again("a", &[true, true]), again("b", &[false, false])].concat();
        let score = Score::new(&first);
        assert_eq!((score.tasks, score.solved.count, score.solved.of, score.pass_at.len()), (2, 1, 4, 2));
        near(score.solved.rate, 0.25);
        near(score.pass_at[1].rate, 0.5);
        let compared = Comparison::new(&first, &second);
        assert_eq!((compared.tasks, compared.both, compared.neither), (2, 0, 1));
        assert_eq!((compared.only_first.len(), compared.only_second), (0, vec!["a".to_owned()]));
        near(compared.difference, 0.25);
    }
}
