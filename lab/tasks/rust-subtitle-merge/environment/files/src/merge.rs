use crate::track::{Cue, Track};

/// All cues of both tracks by start time. Cues that start together keep their
/// order, those of `first` before those of `second`.
pub fn merge(first: &Track, second: &Track) -> Track {
    let mut cues: Vec<Cue> = first.cues.iter().chain(&second.cues).cloned().collect();
    cues.sort_by_key(|cue| cue.start);
    Track { cues }
}

/// Pairs of neighbouring cues (by index) of which the second starts while the
/// first is still on the screen.
pub fn clashes(track: &Track) -> Vec<(usize, usize)> {
    track
        .cues
        .windows(2)
        .enumerate()
        .filter(|(_, pair)| pair[1].start < pair[0].end)
        .map(|(i, _)| (i, i + 1))
        .collect()
}
