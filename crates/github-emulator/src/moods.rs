//! Moods: behaviour of the real GitHub that occurs now and then and that no schema describes. Each was observed, and
//! its variant says where. This file says which ones are on; `temper` draws, and the endpoints answer.

use std::{collections::BTreeSet, str::FromStr};

/// The percentage of answers that a mood changes, of those that it may change, unless the moods say otherwise.
const PERCENT: u8 = 20;

/// One way in which GitHub differs from its description. A request that a mood refuses has no effect, and one that
/// succeeds has the same effect as without moods; the one exception is [`Mood::Queries`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Mood {
    /// `permissions` of a repository is five times `false` for an installation's token and for every account of type
    /// Bot, regardless of its rights: the field is about users. hub4j/github-api, recordings of
    /// `GHAuthenticatedAppInstallationTest` and `GHCheckRunBuilderTest`; MemberJunction/MJ#4389;
    /// semantic-release/github#182.
    TokenPermissions,
    /// A caller that loses a race for a ref gets one of several messages: `Reference cannot be updated`
    /// (suzuki-shunsuke/lock-action#761, osunyorg/admin#119), `Reference update failed`
    /// (github/rest-api-description#4887), or the one that says why.
    RefRaces,
    /// A move or creation of a ref outside of `refs/heads` that nothing speaks against is refused in the same words, drawn.
    /// github/rest-api-description#4887 (sporadic, no race), octokit/octokit.net#2277.
    RefRefusals,
    /// For a second, a commit that the API made is unknown to the endpoints of refs, and a new ref is unknown to reads
    /// and moves, drawn. octokit/octokit.rb#622, PyGithub/PyGithub#2759.
    RefLag,
    /// For two seconds, the events of an issue lack the newest ones, drawn by issue. Not recorded anywhere: derived
    /// from other reads that lag.
    EventLag,
    /// For two seconds after the push of its head, a pull request cannot be opened (octokit/octokit.rb#622), and a new
    /// issue or pull request is not found, drawn; at any time, a pull request or comment `was submitted too quickly`
    /// (Azure/azure-sdk-tools#7226, ezyang/ghstack#121).
    PullLag,
    /// Unedited comments and reviews are shown as updated a second after they were made, drawn by id.
    /// palantir/policy-bot#459.
    Touched,
    /// GraphQL answers with a timeout, as 200 (gitkraken/vscode-gitlens#3298) or as 502 (my-badges/my-badges#72), or
    /// with `RATE_LIMITED` as 200, drawn; and with 502 after a mutation has had its effect (russellbanks/Komac#1077).
    /// An edit history is `null`, drawn by id: the public schema allows it, but there is no recording of it.
    Queries,
    /// GraphQL hides check runs from every account that is not an admin, as from a fine-grained token: the whole
    /// `statusCheckRollup` or its nodes are `null`, with an entry in `errors`. kirodotdev/KiroCrew#4546,
    /// philips-software/pull-request-report-action#557, spatie/bloom#259.
    HiddenChecks,
    /// An `ETag` belongs to the token and not to the account: another token, as an App's next one, gets a whole answer.
    /// eclipse-csi/otterdog#201.
    Tags,
    /// The secondary limits, with a `retry-after` or, drawn, without one: 900 points a minute of REST, 2,000 of GraphQL, 80 writes of content a minute and 500 an hour,
    /// 100 requests at once. <https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api>
    Points,
    /// A push with a file of more than 100 MiB is refused.
    /// <https://docs.github.com/repositories/working-with-files/managing-large-files/about-large-files-on-github>
    LargeFiles,
}

impl Mood {
    /// Every mood.
    pub const ALL: [Self; 12] = [
        Self::TokenPermissions,
        Self::RefRaces,
        Self::RefRefusals,
        Self::RefLag,
        Self::EventLag,
        Self::PullLag,
        Self::Touched,
        Self::Queries,
        Self::HiddenChecks,
        Self::Tags,
        Self::Points,
        Self::LargeFiles,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::TokenPermissions => "token-permissions",
            Self::RefRaces => "ref-races",
            Self::RefRefusals => "ref-refusals",
            Self::RefLag => "ref-lag",
            Self::EventLag => "event-lag",
            Self::PullLag => "pull-lag",
            Self::Touched => "touched",
            Self::Queries => "queries",
            Self::HiddenChecks => "hidden-checks",
            Self::Tags => "tags",
            Self::Points => "points",
            Self::LargeFiles => "large-files",
        }
    }
}

/// The moods that are on, the frequency of the drawn ones, and the seed of the draws.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moods {
    on: BTreeSet<Mood>,
    percent: u8,
    seed: u64,
}

impl Default for Moods {
    /// No mood.
    fn default() -> Self {
        Self::new([], 0)
    }
}

impl Moods {
    /// These moods. The same seed draws the same for the same requests in the same order.
    pub fn new(on: impl IntoIterator<Item = Mood>, seed: u64) -> Self {
        Self { on: on.into_iter().collect(), percent: PERCENT, seed }
    }

    /// Every mood.
    pub fn all(seed: u64) -> Self {
        Self::new(Mood::ALL, seed)
    }

    /// The same moods, with this percentage of draws that hit; 20 unless it is set.
    #[must_use]
    pub fn with_percent(mut self, percent: u8) -> Self {
        self.percent = percent;
        self
    }

    /// The moods that are on.
    pub fn on(&self) -> impl Iterator<Item = Mood> + '_ {
        self.on.iter().copied()
    }

    /// The percentage of draws that hit.
    pub fn percent(&self) -> u8 {
        self.percent
    }

    /// The seed of the draws.
    pub fn seed(&self) -> u64 {
        self.seed
    }
}

/// A text that names no moods.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidMoods {
    /// A name that no mood has.
    #[error("`{0}` is not a mood; expected `all` or names among {known}", known = Mood::ALL.map(Mood::name).join(", "))]
    Name(String),
    /// Something other than a number after the `@`.
    #[error("`{0}` is not a seed: write a whole number after the `@`")]
    Seed(String),
}

impl FromStr for Moods {
    type Err = InvalidMoods;

    /// Reads `all` or `NAME[,NAME…]`, and `@SEED` behind it; the seed is 0 without one.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (names, seed) = text.split_once('@').unwrap_or((text, "0"));
        let seed = seed.parse().map_err(|_| InvalidMoods::Seed(seed.to_owned()))?;
        if names == "all" {
            return Ok(Self::all(seed));
        }
        let named = |name: &str| {
            let known = Mood::ALL.into_iter().find(|mood| mood.name() == name);
            known.ok_or_else(|| InvalidMoods::Name(name.to_owned()))
        };
        Ok(Self::new(names.split(',').map(named).collect::<Result<Vec<_>, _>>()?, seed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moods_are_read_by_name_with_a_seed() {
        assert_eq!("all".parse(), Ok(Moods::all(0)));
        assert_eq!("ref-lag,tags@7".parse(), Ok(Moods::new([Mood::Tags, Mood::RefLag], 7)));
        for mood in Mood::ALL {
            assert_eq!(mood.name().parse(), Ok(Moods::new([mood], 0)));
        }
        for bad in ["", "all,tags", "ref-lag,", "tags@", "tags@x", "none"] {
            assert!(bad.parse::<Moods>().is_err(), "{bad:?}");
        }
    }
}
