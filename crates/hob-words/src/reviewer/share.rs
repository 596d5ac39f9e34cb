//! The allowance of a review: a small share of the issue's budget, and never more than is left of it.

use std::time::Duration;

use hob_domain::{Allowance, Budget, Exhausted, Spend};

/// The share of the issue's budget, in percent, that all reviews of one attempt may use together.
const SHARE_PERCENT: u64 = 15;
/// The time limit of one review.
const LOOK_TIME: Duration = Duration::from_secs(600);

/// What a review may use after the attempt's earlier reviews used `taken`. `issue` is the issue's budget, `left` what
/// all runs may still use.
///
/// # Errors
/// [`Exhausted`] if the share is used up.
pub fn reviewer_allowance(issue: &Budget, taken: Spend, left: Allowance) -> Result<Allowance, Exhausted> {
    let share = |limit: Option<u64>| limit.map(|limit| (u128::from(limit) * u128::from(SHARE_PERCENT) / 100) as u64);
    let budget = Budget { usd_micros: share(issue.usd_micros), tokens: share(issue.tokens), ..Budget::default() };
    let time = Allowance { time: Some(LOOK_TIME), ..Allowance::default() };
    Ok(budget.left(taken)?.and(left).and(time))
}

#[cfg(test)]
mod tests {
    use proptest::{option, prelude::*};

    use super::*;

    fn spent(usd_micros: u64, tokens: u64) -> Spend {
        Spend { usd_micros, input_tokens: tokens, output_tokens: 0, wall_seconds: 0 }
    }

    #[test]
    fn a_look_takes_its_share_or_what_is_left() {
        let issue = Budget { usd_micros: Some(2_000_000), tokens: Some(1_000), ..Budget::default() };
        let none = Allowance::default();
        let minute = Some(Duration::from_secs(60));
        let few = Allowance { usd_micros: Some(100_000), tokens: Some(20), time: minute };
        let all = |usd_micros, tokens, time| Ok(Allowance { usd_micros, tokens, time });
        for (issue, taken, left, expected) in [
            (issue, spent(0, 0), none, all(Some(300_000), Some(150), Some(LOOK_TIME))),
            (issue, spent(200_000, 50), none, all(Some(100_000), Some(100), Some(LOOK_TIME))),
            (issue, spent(0, 0), few, all(Some(100_000), Some(20), minute)),
            (issue, spent(300_000, 0), few, Err(Exhausted::Money(300_000))),
            (issue, spent(0, 151), few, Err(Exhausted::Tokens(150))),
            (Budget::default(), spent(9, 9), none, all(None, None, Some(LOOK_TIME))),
            (Budget { usd_micros: Some(6), ..issue }, spent(0, 0), none, Err(Exhausted::Money(0))),
        ] {
            assert_eq!(reviewer_allowance(&issue, taken, left), expected, "{issue:?} {taken:?} {left:?}");
        }
    }

    proptest! {
        #[test]
        fn a_look_never_takes_more_than_is_left(
            budget in option::of(any::<u64>()), taken in any::<u64>(), left in option::of(any::<u64>()),
        ) {
            let issue = Budget { usd_micros: budget, ..Budget::default() };
            let left = Allowance { usd_micros: left, ..Allowance::default() };
            if let Ok(allowed) = reviewer_allowance(&issue, spent(taken, 0), left) {
                let allowed = allowed.usd_micros;
                prop_assert!(left.usd_micros.is_none_or(|left| allowed.is_some_and(|allowed| allowed <= left)));
                prop_assert!(budget.is_none_or(|budget| allowed.is_some_and(|allowed| allowed <= budget / 100 * 15 + 15)));
            }
        }
    }
}
