//! The next repository to get a turn, and the scheduler's wake-up time.

use std::time::Duration;

use hob_domain::RepoName;
use hob_forge::Connection;
use tokio::time::Instant;

/// The longest sleep: nothing is that far away.
pub(super) const FAR: Duration = Duration::from_secs(86_400);

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
}
