//! Lengths of time for people.

use chrono::TimeDelta;

/// A length of time in its largest unit.
pub fn age(age: TimeDelta) -> String {
    match (age.num_minutes().max(0), age.num_hours(), age.num_days()) {
        (minutes, 0, _) => format!("{minutes} min"),
        (_, hours, 0 | 1) => format!("{hours} h"),
        (_, _, days) => format!("{days} d"),
    }
}
