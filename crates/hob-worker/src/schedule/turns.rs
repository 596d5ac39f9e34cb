//! The next repository to get a turn, the scheduler's wake-up time, and polls that come together.

use std::time::Duration;

use hob_domain::RepoName;
use hob_forge::Connection;
use tokio::time::Instant;

/// The longest sleep: nothing is that far away.
pub(super) const FAR: Duration = Duration::from_secs(86_400);

/// In how many parts of a pause the polls of many repositories fall together.
const PARTS: u32 = 4;

/// The clocks, read once for the starts and for the sleep after them: an issue that came due between two readings would
/// be neither started nor waited for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    /// Now.
    pub(super) now: Instant,
    /// When the forge may be asked; if that is not after `now`, it may be asked already.
    pub(super) opens: Instant,
}

impl Moment {
    /// The present moment.
    pub(super) fn new(connection: &Connection) -> Self {
        let now = Instant::now();
        Self { now, opens: now + connection.polls_after().unwrap_or_default() }
    }

    /// The moment to wake at, if `waiting` says that there is work which only the gate keeps back.
    pub(super) fn next(self, dues: impl Iterator<Item = Instant>, waiting: bool) -> Instant {
        let Self { now, opens } = self;
        let is_closed = opens > now;
        let next = dues.chain((waiting && is_closed).then_some(opens)).filter(|due| *due > now || is_closed).min();
        // Work that is due now and was not started waits for a job or a survey, whose end wakes.
        next.map_or(now + FAR, |next| next.max(opens))
    }
}

/// The repository whose turn it is: of those with the fewest issues in progress, the next one after `served`.
pub(super) fn whose_turn<'a>(
    waiting: impl Iterator<Item = (&'a RepoName, usize)>,
    served: Option<&RepoName>,
) -> Option<&'a RepoName> {
    let key = |(repo, in_progress): &(&'a RepoName, usize)| {
        (*in_progress, served.is_some_and(|served| *repo <= served), *repo)
    };
    waiting.min_by_key(key).map(|(repo, _)| repo)
}

/// The time of the next poll about a `pause` from `now`, at which others are due, too: the first polls of many repositories end one after
/// the other, and each few of them would be asked about in a query of their own from then on.
pub(super) fn shared(begun: Instant, now: Instant, pause: Duration) -> Instant {
    let part = pause / PARTS;
    let due = now + pause;
    let parts = (due - begun + part / 2).as_nanos().checked_div(part.as_nanos()).map(u32::try_from);
    match parts {
        Some(Ok(parts)) => begun + part * parts,
        Some(Err(_)) | None => due,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sleep_ends_with_the_first_thing_that_comes_due_after_the_moment_of_starting() {
        let now = Instant::now();
        let (open, shut) = (Moment { now, opens: now }, Moment { now, opens: now + Duration::from_secs(9) });
        let at = |nanos: u64| now + Duration::from_nanos(nanos);
        for (moment, dues, waiting, wake) in [
            (open, vec![], false, now + FAR),
            (open, vec![at(0)], false, now + FAR),
            (open, vec![at(0), at(1), at(2)], true, at(1)),
            (shut, vec![at(0)], false, shut.opens),
            (shut, vec![], true, shut.opens),
            (shut, vec![], false, now + FAR),
            (shut, vec![at(10_000_000_000)], false, at(10_000_000_000)),
        ] {
            assert_eq!(moment.next(dues.into_iter(), waiting), wake);
        }
    }

    #[test]
    fn repositories_take_turns_and_who_has_less_in_progress_comes_first() {
        let [a, b, c] = ["o/a", "o/b", "o/c"].map(|name| name.parse::<RepoName>().unwrap());
        for (waiting, served, turn) in [
            (vec![(&a, 0), (&b, 0), (&c, 0)], None, Some(&a)),
            (vec![(&a, 0), (&b, 0), (&c, 0)], Some(&a), Some(&b)),
            (vec![(&a, 0), (&b, 0), (&c, 0)], Some(&c), Some(&a)),
            (vec![(&a, 3), (&b, 1), (&c, 1)], Some(&b), Some(&c)),
            (vec![(&a, 3), (&c, 2)], Some(&b), Some(&c)),
            (vec![(&a, 0), (&c, 1)], Some(&b), Some(&a)),
            (vec![(&a, 9)], Some(&a), Some(&a)),
            (vec![], Some(&a), None),
        ] {
            assert_eq!(whose_turn(waiting.into_iter(), served), turn);
        }
    }

    #[test]
    fn polls_that_end_one_after_the_other_come_together() {
        let (begun, pause) = (Instant::now(), Duration::from_secs(40));
        let at = |millis: u64| begun + Duration::from_millis(millis);
        for (now, due) in [(0, 40_000), (4_999, 40_000), (5_000, 50_000), (14_999, 50_000), (40_100, 80_000)] {
            assert_eq!(shared(begun, at(now), pause), at(due), "{now}");
        }
        assert_eq!(shared(begun, at(7), Duration::ZERO), at(7));
        assert_eq!(shared(begun, at(7), Duration::from_nanos(3)), at(7) + Duration::from_nanos(3));
    }
}
