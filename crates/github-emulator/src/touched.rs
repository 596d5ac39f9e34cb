//! The mood `touched`: an unedited comment or review is shown as updated a second after it was made.

use chrono::TimeDelta;

use super::{moods::Mood, temper::Temper};
use crate::names::Timestamp;

/// The time at which a text of this global id is shown as updated: a second after it was made at the earliest, as
/// observed there.
pub(super) fn updated(temper: &Temper, id: &str, created: Timestamp, updated: Timestamp, now: Timestamp) -> Timestamp {
    let later = created + TimeDelta::seconds(1);
    let is_touched = updated == created && now >= later && temper.always_hits(Mood::Touched, id).is_some();
    if is_touched { later } else { updated }
}
