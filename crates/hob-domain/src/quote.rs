//! What work will probably cost, told before it begins: by the bills of like issues, which the repository's record keeps.
//!
//! # Guarantees
//! The record keeps [`BILLS_MAX`] short lines, one for an issue, the newest last.
//!
//! # Assumptions
//! The next issue is like those before it. With nine bills or more, it then lies between two of their ranks in 8 of 10 cases, for any
//! distribution. Fewer bills do not have such ranks, and are taken as log-normal: the range is Student's prediction interval.
//!
//! # Caveats
//! A bill is known once the work is published. Rounds in review make it grow, and each replaces it.

use serde::{Deserialize, Serialize};

use crate::{IssueNumber, ProfileName, money::spend::dollars};

/// Bills that are kept.
pub const BILLS_MAX: usize = 200;
/// Like issues that a quote needs.
const LIKE_MIN: usize = 5;
/// Where ranks begin to say what 8 of 10 keep to: the lowest and the highest of nine.
const RANKED_MIN: usize = 9;
/// Student's t, of which 9 in 10 are below, for 5 to 8 bills.
const STUDENT: [f64; RANKED_MIN - LIKE_MIN] = [1.533, 1.476, 1.440, 1.415];
/// Millionths of a dollar in a cent.
const CENT: u64 = 10_000;

/// What the work on one issue cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "BillWire", into = "BillWire")]
pub struct Bill {
    /// The issue.
    pub issue: IssueNumber,
    /// The profile that worked; `None` for an agent without one.
    pub profile: Option<ProfileName>,
    /// How much work the router took it for, from 1 to 10; 0 if it was not asked.
    pub complexity: u8,
    /// Millionths of a US dollar.
    pub usd_micros: u64,
}

/// A bill in few bytes.
#[derive(Serialize, Deserialize)]
struct BillWire(IssueNumber, Option<ProfileName>, u8, u64);

impl From<Bill> for BillWire {
    fn from(Bill { issue, profile, complexity, usd_micros }: Bill) -> Self {
        Self(issue, profile, complexity, usd_micros)
    }
}

impl From<BillWire> for Bill {
    fn from(BillWire(issue, profile, complexity, usd_micros): BillWire) -> Self {
        Self { issue, profile, complexity, usd_micros }
    }
}

/// What issues are alike by.
#[derive(Debug, Clone, Copy)]
pub struct IssueKind<'a> {
    /// The profile that works; `None` for an agent without one.
    pub profile: Option<&'a ProfileName>,
    /// How much work the router takes it for, from 1 to 10; 0 if it was not asked.
    pub complexity: u8,
}

impl IssueKind<'_> {
    /// Those of this kind: of the same profile and size, and if these are too few for a quote, of the same profile.
    pub(crate) fn alike<T>(self, all: &[T], kind_of: impl Fn(&T) -> IssueKind<'_>) -> Vec<&T> {
        let of_profile = || all.iter().filter(|one| kind_of(one).profile == self.profile);
        let size = Size::of(self.complexity);
        let of_size: Vec<&T> = of_profile().filter(|one| Size::of(kind_of(one).complexity) == size).collect();
        if of_size.len() >= LIKE_MIN { of_size } else { of_profile().collect() }
    }
}

/// How much work it is, coarsely.
#[derive(PartialEq, Eq)]
enum Size {
    Unknown,
    Small,
    Medium,
    Large,
}

impl Size {
    fn of(complexity: u8) -> Self {
        match complexity {
            0 => Self::Unknown,
            1..=3 => Self::Small,
            4..=6 => Self::Medium,
            7.. => Self::Large,
        }
    }
}

/// The latest bills of a repository, the oldest first.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bills(Vec<Bill>);

impl Bills {
    /// Whether none is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// These with the newest bill of an issue, in place of an earlier one of the same issue.
    #[must_use]
    pub fn and(mut self, bill: Bill) -> Self {
        self.0.retain(|known| known.issue != bill.issue);
        self.0.push(bill);
        drop(self.0.drain(..self.0.len().saturating_sub(BILLS_MAX)));
        self
    }

    /// The quote for an issue of this kind: by issues of the same profile and size, and if these are too few, by those of the same profile.
    /// `None` if too few of them are known.
    pub fn quote(&self, profile: Option<&ProfileName>, complexity: u8) -> Option<Quote> {
        let kind = IssueKind { profile, complexity };
        let like =
            kind.alike(&self.0, |bill| IssueKind { profile: bill.profile.as_ref(), complexity: bill.complexity });
        if like.len() < LIKE_MIN {
            return None;
        }
        let mut logarithms: Vec<f64> = like.iter().map(|bill| (bill.usd_micros.max(1) as f64).ln()).collect();
        logarithms.sort_unstable_by(f64::total_cmp);
        let (low, high) = range(&logarithms);
        let (low, high) = (low.exp().round() as u64, high.exp().round() as u64);
        let (low, high) = (low / CENT * CENT, high.div_ceil(CENT).saturating_mul(CENT));
        Some(Quote { low, high, of: like.len() })
    }
}

/// Where the next of these lies in 8 of 10 cases. They are sorted, and at least [`LIKE_MIN`].
fn range(sorted: &[f64]) -> (f64, f64) {
    let count = sorted.len() as f64;
    if let Some(student) = sorted.len().checked_sub(LIKE_MIN).and_then(|over| STUDENT.get(over)) {
        let mean = sorted.iter().sum::<f64>() / count;
        let variance = sorted.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let off = student * (variance * (1.0 + 1.0 / count)).sqrt();
        return (mean - off, mean + off);
    }
    // Of n that are known, the next one falls into each of n + 1 gaps equally often.
    let at = |share: f64| {
        let rank = share * (count + 1.0);
        let below = (rank as usize).clamp(1, sorted.len() - 1);
        let (lower, upper) = (sorted[below - 1], sorted[below]);
        lower + (rank - below as f64) * (upper - lower)
    };
    (at(0.1), at(0.9))
}

/// What work will probably cost, in millionths of a US dollar, in whole cents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quote {
    /// One in ten costs less.
    pub low: u64,
    /// One in ten costs more.
    pub high: u64,
    /// The like issues that it is from.
    pub of: usize,
}

impl Quote {
    /// Whether the bill lies in it.
    pub fn holds(&self, bill_micros: u64) -> bool {
        (self.low..=self.high).contains(&bill_micros)
    }
}

impl std::fmt::Display for Quote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let high = dollars(self.high);
        let (low, high) = (dollars(self.low), high.trim_start_matches('$'));
        write!(f, "{low}–{high} (8 in 10 of {} similar issues)", self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bill(issue: u64, usd_micros: u64) -> Bill {
        Bill { issue: IssueNumber(issue), profile: None, complexity: 5, usd_micros }
    }

    fn bills(costs: impl IntoIterator<Item = u64>) -> Bills {
        let numbered = costs.into_iter().zip(1..);
        numbered.fold(Bills::default(), |bills, (cost, issue)| bills.and(bill(issue, cost)))
    }

    #[test]
    fn a_quote_needs_five_like_issues() {
        assert_eq!(bills([1_000_000; 4]).quote(None, 6), None);
        let known = bills([1_000_000; 5]);
        assert_eq!(known.quote(None, 6), Some(Quote { low: 1_000_000, high: 1_000_000, of: 5 }));
        assert_eq!(known.quote(Some(&"dns".parse().unwrap()), 6), None, "another profile");
    }

    #[test]
    fn issues_of_the_same_size_come_first() {
        let mut known = bills([1_000_000; 5]);
        for issue in 11..=14 {
            known = known.and(Bill { complexity: 9, ..bill(issue, 8_000_000) });
        }
        let of = |known: &Bills, complexity| known.quote(None, complexity).unwrap().of;
        assert_eq!((of(&known, 4), of(&known, 9)), (5, 9), "four large ones are too few");
        known = known.and(Bill { complexity: 7, ..bill(15, 8_000_000) });
        assert_eq!((of(&known, 4), of(&known, 9)), (5, 5));
    }

    #[test]
    fn the_range_of_nine_is_from_the_lowest_to_the_highest() {
        let known = bills((1..=9).map(|n| n * 1_000_000));
        let quote = known.quote(None, 5).unwrap();
        assert_eq!(quote.to_string(), "$1.00–9.00 (8 in 10 of 9 similar issues)");
        assert!(quote.holds(1_000_000) && quote.holds(9_000_000) && !quote.holds(9_000_001) && !quote.holds(999_999));
    }

    #[test]
    fn the_latest_bill_of_an_issue_counts_and_the_record_stays_short() {
        let known = bills(1..=1_000);
        assert_eq!((known.0.len(), &known.0[0]), (BILLS_MAX, &bill(801, 801)));
        let again = known.and(bill(900, 7));
        assert_eq!((again.0.len(), again.0.last()), (BILLS_MAX, Some(&bill(900, 7))));
        let long: ProfileName = "a".repeat(40).parse().unwrap();
        let full = (1_000_000..1_000_300).fold(Bills::default(), |bills, issue| {
            bills.and(Bill { profile: Some(long.clone()), ..bill(issue, 99_000_000) })
        });
        let text = serde_json::to_string(&full).unwrap();
        assert!(text.len() < 16 * 1_024, "{} bytes", text.len());
        assert_eq!(serde_json::from_str::<Bills>(&text).unwrap(), full);
        assert_eq!(serde_json::to_string(&bills([5])).unwrap(), "[[1,null,5,5]]");
    }

    /// Numbers that look random, the same on every machine.
    struct Dice(u64);

    impl Dice {
        fn number(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            mixed ^ (mixed >> 31)
        }

        /// Between 0 and 1, without both.
        fn unit(&mut self) -> f64 {
            ((self.number() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
        }

        fn normal(&mut self) -> f64 {
            (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
        }
    }

    /// How many of 500 issues got a quote, and how many bills lay in it. Four profiles, of which one has most of the work; costs that
    /// grow with the complexity; and one issue in seven that is tried again and costs a multiple.
    fn quoted(seed: u64) -> (u32, u32) {
        let mut dice = Dice(seed);
        let means: Vec<f64> = (0..4).map(|_| 13.0 + 1.5 * dice.unit()).collect();
        let (growth, spread) = (0.05 + 0.15 * dice.unit(), 0.4 + 0.5 * dice.unit());
        let (mut known, mut quoted, mut held) = (Bills::default(), 0, 0);
        for issue in 1..=500 {
            let profile = ((4.0 * dice.unit().powi(2)) as usize).min(3);
            let complexity = 1 + (10.0 * dice.unit()) as u8;
            let mut cost = means[profile] + growth * f64::from(complexity) + spread * dice.normal();
            if dice.unit() < 0.15 {
                cost += (2.0 + 6.0 * dice.unit()).ln();
            }
            let usd_micros = cost.exp() as u64;
            let profile: ProfileName = ["a", "b", "c", "d"][profile].parse().unwrap();
            if let Some(quote) = known.quote(Some(&profile), complexity) {
                (quoted, held) = (quoted + 1, held + u32::from(quote.holds(usd_micros)));
            }
            known = known.and(Bill { issue: IssueNumber(issue), profile: Some(profile), complexity, usd_micros });
        }
        (quoted, held)
    }

    #[test]
    fn the_bill_lies_in_the_range_in_eight_of_ten_cases() {
        for seed in 1..=20 {
            let (quoted, held) = quoted(seed);
            let share = f64::from(held) / f64::from(quoted);
            assert!(quoted > 450 && (0.75..=0.85).contains(&share), "seed {seed}: {held} of {quoted}");
        }
    }
}
