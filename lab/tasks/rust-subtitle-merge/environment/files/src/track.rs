use std::fmt;
use std::str::FromStr;

use crate::timestamp::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cue {
    pub start: Timestamp,
    pub end: Timestamp,
    pub text: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Track {
    pub cues: Vec<Cue>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrackError {
    /// Counted from 1.
    pub cue: usize,
    pub message: String,
}

impl fmt::Display for TrackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cue {}: {}", self.cue, self.message)
    }
}

impl std::error::Error for TrackError {}

impl Track {
    pub fn shift(&mut self, millis: i64) {
        for cue in &mut self.cues {
            cue.start = cue.start.shifted(millis);
            cue.end = cue.end.shifted(millis);
        }
    }
}

impl FromStr for Track {
    type Err = TrackError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        let blocks = lines.split(|line| line.is_empty()).filter(|b| !b.is_empty());
        let cues = blocks
            .enumerate()
            .map(|(i, block)| {
                parse_cue(block).map_err(|message| TrackError { cue: i + 1, message })
            })
            .collect::<Result<_, _>>()?;
        Ok(Track { cues })
    }
}

fn parse_cue(block: &[&str]) -> Result<Cue, String> {
    let times = block.get(1).ok_or("no times")?;
    let (start, end) = times.split_once("-->").ok_or("no arrow between the times")?;
    let start: Timestamp = start.trim().parse().map_err(|e| format!("{e}"))?;
    let end: Timestamp = end.trim().parse().map_err(|e| format!("{e}"))?;
    if end < start {
        return Err("it ends before it starts".to_string());
    }
    Ok(Cue { start, end, text: block[2..].join("\n") })
}

impl fmt::Display for Track {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, cue) in self.cues.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            writeln!(f, "{}\n{} --> {}\n{}", i + 1, cue.start, cue.end, cue.text)?;
        }
        Ok(())
    }
}
