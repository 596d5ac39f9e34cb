//! Reading, merging, shifting and writing SubRip subtitle tracks.

mod merge;
mod timestamp;
mod track;

pub use merge::{clashes, merge};
pub use timestamp::{Timestamp, TimestampError};
pub use track::{Cue, Track, TrackError};
