//! Budgets: the limits of an attempt, of an issue over its whole life, and of a repository in a day.

use std::{fmt, time::Duration};

use hob_text::count;

use crate::{CommandLog, SetBudget, Spend, money::spend::dollars};

/// Limits of one kind. `None` means not limited.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Millionths of a US dollar.
    pub usd_micros: Option<u64>,
    /// Tokens sent and produced.
    pub tokens: Option<u64>,
    /// Seconds of agents' wall time.
    pub wall_seconds: Option<u64>,
    /// Attempts.
    pub attempts: Option<u32>,
}

/// The budgets in the settings.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Budgets {
    /// Of one attempt.
    pub attempt: Budget,
    /// Of one issue, over its whole life.
    pub issue: Budget,
    /// The most millionths of a US dollar that a comment may set as an issue's budget. `None` for any amount.
    pub issue_usd_max: Option<u64>,
    /// Of the repository, in one day.
    pub day: Budget,
}

/// The source of a limit over an issue's whole life, and how to raise it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetAdvice {
    /// The setting or the command.
    pub from: &'static str,
    /// How to raise it, as an imperative without its period.
    pub raise: String,
}

impl Budgets {
    /// The budget of an issue's whole life, including what a comment set.
    pub fn of_issue(&self, commands: &CommandLog) -> Budget {
        commands.budget.as_ref().map_or(self.issue, |set| self.with(set))
    }

    /// The budget of an issue's whole life with the budget of a comment, as far as the settings now allow it.
    pub fn with(&self, set: &SetBudget) -> Budget {
        let most = self.issue_usd_max.unwrap_or(u64::MAX);
        Budget { usd_micros: Some(set.usd_micros.min(most)), ..self.issue }
    }

    /// The allowance of an attempt at an issue that spent this, which is the attempt number `attempts_ever`.
    ///
    /// # Errors
    /// [`Exhausted`] names the limit of the issue's whole life that is reached.
    pub fn allowance(&self, spent: Spend, attempts_ever: u32, commands: &CommandLog) -> Result<Allowance, Exhausted> {
        let of_issue = self.of_issue(commands);
        // The attempt that begins is already counted.
        of_issue.next_attempt(attempts_ever.saturating_sub(1))?;
        let attempt = self.attempt.left(Spend::default())?;
        Ok(of_issue.left(spent)?.and(attempt))
    }

    /// Whether a comment may raise a limit of the issue's whole life that is reached.
    pub fn may_be_raised_by_comment(&self, exhausted: &Exhausted) -> bool {
        matches!(exhausted, Exhausted::Money(limit) if self.issue_usd_max.is_none_or(|most| most > *limit))
    }

    /// The advice for a limit of the issue's whole life that is reached.
    pub fn advice(&self, exhausted: &Exhausted, commands: &CommandLog) -> BudgetAdvice {
        const COMMAND: &str = "/hob budget";
        let setting = exhausted.setting_of_issue();
        let raise_setting = |setting: &str| format!("ask the operator of Hob to raise `{setting}`");
        let &Exhausted::Money(limit) = exhausted else {
            return BudgetAdvice { from: setting, raise: raise_setting(setting) };
        };
        let by_comment = commands.budget.is_some();
        let raise = match self.issue_usd_max {
            None => format!("comment `{COMMAND} USD`"),
            Some(most) if most > limit => format!("comment `{COMMAND} USD`, up to {}", dollars(most)),
            Some(_) if by_comment => raise_setting("budget.comment_max"),
            Some(_) => raise_setting(setting),
        };
        BudgetAdvice { from: if by_comment { COMMAND } else { setting }, raise }
    }
}

/// What a run may still use. `None` means not limited.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Millionths of a US dollar.
    pub usd_micros: Option<u64>,
    /// Tokens.
    pub tokens: Option<u64>,
    /// Wall time.
    pub time: Option<Duration>,
}

/// A budget that is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exhausted {
    /// Money, in millionths of a US dollar.
    Money(u64),
    /// Tokens.
    Tokens(u64),
    /// Wall time.
    Time(Duration),
    /// Attempts.
    Attempts(u32),
}

impl Exhausted {
    /// The setting of this limit for an issue's whole life.
    pub fn setting_of_issue(&self) -> &'static str {
        match self {
            Self::Money(_) => "budget.issue",
            Self::Tokens(_) => "budget.tokens",
            Self::Time(_) => "budget.time",
            Self::Attempts(_) => "limits.attempts",
        }
    }
}

impl Exhausted {
    /// The setting of this attempt's limit: the attempt's own, or the day's if less of that was left.
    pub fn setting_of_attempt(&self, own: &Budget) -> &'static str {
        match *self {
            Self::Money(limit) if own.usd_micros == Some(limit) => "budget.attempt",
            Self::Money(_) => "budget.day",
            Self::Tokens(_) => "budget.tokens",
            Self::Time(limit) if own.wall_seconds == Some(limit.as_secs()) => "limits.attempt_time",
            Self::Time(_) => "budget.time",
            Self::Attempts(_) => "limits.attempts",
        }
    }
}

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Money(micros) => write!(f, "budget of {}", dollars(*micros)),
            Self::Tokens(tokens) => write!(f, "budget of {}", count(*tokens, "token")),
            Self::Time(time) => write!(f, "budget of {} of work", humantime::format_duration(*time)),
            Self::Attempts(attempts) => write!(f, "budget of {}", count(*attempts, "attempt")),
        }
    }
}

impl Budget {
    /// What is left after `spend`, not counting attempts.
    ///
    /// # Errors
    /// [`Exhausted`] names the limit that is reached.
    pub fn left(&self, spend: Spend) -> Result<Allowance, Exhausted> {
        let left = |limit: Option<u64>, used: u64, out: fn(u64) -> Exhausted| match limit {
            None => Ok(None),
            Some(limit) => limit.checked_sub(used).filter(|left| *left > 0).map(Some).ok_or_else(|| out(limit)),
        };
        let time = |seconds| Exhausted::Time(Duration::from_secs(seconds));
        Ok(Allowance {
            usd_micros: left(self.usd_micros, spend.usd_micros, Exhausted::Money)?,
            tokens: left(self.tokens, spend.tokens(), Exhausted::Tokens)?,
            time: left(self.wall_seconds, spend.wall_seconds, time)?.map(Duration::from_secs),
        })
    }

    /// Whether one more attempt may begin after `attempts`.
    ///
    /// # Errors
    /// [`Exhausted::Attempts`] if it may not.
    pub fn next_attempt(&self, attempts: u32) -> Result<(), Exhausted> {
        match self.attempts {
            Some(limit) if attempts >= limit => Err(Exhausted::Attempts(limit)),
            Some(_) | None => Ok(()),
        }
    }

    /// The share of the budget that `spend` has used, if there are limits; 1 is all of it.
    pub fn used(&self, spend: Spend) -> f64 {
        let share = |limit: Option<u64>, used: u64| limit.map_or(0.0, |limit| used as f64 / limit.max(1) as f64);
        share(self.usd_micros, spend.usd_micros)
            .max(share(self.tokens, spend.tokens()))
            .max(share(self.wall_seconds, spend.wall_seconds))
    }
}

impl Allowance {
    /// What both allow.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            usd_micros: fewer(self.usd_micros, other.usd_micros),
            tokens: fewer(self.tokens, other.tokens),
            time: fewer(self.time, other.time),
        }
    }

    /// All of it, as a cost: the most that a run may use. Unlimited amounts count as 0.
    pub fn at_most(&self) -> Spend {
        Spend {
            usd_micros: self.usd_micros.unwrap_or(0),
            input_tokens: self.tokens.unwrap_or(0),
            output_tokens: 0,
            wall_seconds: self.time.map_or(0, |time| time.as_secs()),
        }
    }
}

fn fewer<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(usd_micros: u64, tokens: u64, wall_seconds: u64) -> Spend {
        Spend { usd_micros, input_tokens: tokens, output_tokens: 0, wall_seconds }
    }

    #[test]
    fn each_limit_ends_by_itself() {
        let budget =
            Budget { usd_micros: Some(5_000_000), tokens: Some(1_000), wall_seconds: Some(60), attempts: Some(2) };
        for (spend, left) in [
            (spent(0, 0, 0), Ok((5_000_000, 1_000, 60))),
            (spent(4_999_999, 999, 59), Ok((1, 1, 1))),
            (spent(5_000_000, 0, 0), Err(Exhausted::Money(5_000_000))),
            (spent(0, 1_001, 0), Err(Exhausted::Tokens(1_000))),
            (spent(0, 0, 60), Err(Exhausted::Time(Duration::from_secs(60)))),
        ] {
            let found = budget.left(spend);
            let found =
                found.map(|left| (left.usd_micros.unwrap(), left.tokens.unwrap(), left.time.unwrap().as_secs()));
            assert_eq!(found, left, "{spend:?}");
        }
        assert_eq!((budget.next_attempt(1), budget.next_attempt(2)), (Ok(()), Err(Exhausted::Attempts(2))));
    }

    #[test]
    fn what_is_not_limited_never_ends() {
        let all = spent(u64::MAX, u64::MAX, u64::MAX);
        assert_eq!(Budget::default().left(all), Ok(Allowance::default()));
        assert_eq!((Budget::default().next_attempt(u32::MAX), Budget::default().used(all)), (Ok(()), 0.0));
    }

    #[test]
    fn two_allowances_give_the_smaller_of_each() {
        let one = Allowance { usd_micros: Some(5), tokens: None, time: Some(Duration::from_secs(9)) };
        let other = Allowance { usd_micros: Some(3), tokens: Some(7), time: None };
        let both = Allowance { usd_micros: Some(3), tokens: Some(7), time: Some(Duration::from_secs(9)) };
        assert_eq!((one.and(other), both.at_most()), (both, spent(3, 7, 9)));
    }

    #[test]
    fn a_used_up_budget_of_an_attempt_names_its_setting() {
        let own = Budget { usd_micros: Some(5), wall_seconds: Some(60), ..Budget::default() };
        for (exhausted, setting) in [
            (Exhausted::Money(5), "budget.attempt"),
            (Exhausted::Money(4), "budget.day"),
            (Exhausted::Tokens(4), "budget.tokens"),
            (Exhausted::Time(Duration::from_secs(60)), "limits.attempt_time"),
            (Exhausted::Time(Duration::from_secs(59)), "budget.time"),
        ] {
            assert_eq!(exhausted.setting_of_attempt(&own), setting);
        }
    }

    #[test]
    fn a_comment_sets_a_budget_as_far_as_the_settings_allow_now() {
        let budgets = |most| Budgets {
            issue: Budget { usd_micros: Some(5), tokens: Some(7), ..Budget::default() },
            issue_usd_max: most,
            ..Budgets::default()
        };
        let set = |usd_micros| CommandLog {
            budget: Some(SetBudget { usd_micros, by: "ann".into() }),
            ..CommandLog::default()
        };
        for (most, commands, usd) in [
            (Some(9), CommandLog::default(), 5),
            (Some(9), set(8), 8),
            (Some(9), set(3), 3),
            (Some(6), set(8), 6),
            (None, set(80), 80),
        ] {
            let budget = budgets(most).of_issue(&commands);
            assert_eq!((budget.usd_micros, budget.tokens), (Some(usd), Some(7)), "{most:?} {commands:?}");
        }
    }

    #[test]
    fn a_used_up_budget_says_who_can_raise_it() {
        let usd = |usd: u64| usd * 1_000_000;
        let budgets = |most| Budgets { issue_usd_max: most, ..Budgets::default() };
        let set = CommandLog { budget: Some(SetBudget { usd_micros: usd(5), by: "ann".into() }), ..Default::default() };
        let (none, money) = (CommandLog::default(), Exhausted::Money(usd(5)));
        for (most, exhausted, commands, from, raise) in [
            (Some(usd(5)), money, &none, "budget.issue", "ask the operator of Hob to raise `budget.issue`"),
            (Some(usd(8)), money, &none, "budget.issue", "comment `/hob budget USD`, up to $8.00"),
            (Some(usd(8)), money, &set, "/hob budget", "comment `/hob budget USD`, up to $8.00"),
            (Some(usd(5)), money, &set, "/hob budget", "ask the operator of Hob to raise `budget.comment_max`"),
            (None, money, &set, "/hob budget", "comment `/hob budget USD`"),
            (None, Exhausted::Tokens(5), &set, "budget.tokens", "ask the operator of Hob to raise `budget.tokens`"),
        ] {
            let advice = budgets(most).advice(&exhausted, commands);
            assert_eq!((advice.from, advice.raise.as_str()), (from, raise), "{most:?} {exhausted:?}");
        }
    }

    #[test]
    fn a_used_up_budget_is_named() {
        assert_eq!(Exhausted::Money(5_000_000).to_string(), "budget of $5.00");
        assert_eq!(Exhausted::Time(Duration::from_secs(3_600)).to_string(), "budget of 1h of work");
    }
}
