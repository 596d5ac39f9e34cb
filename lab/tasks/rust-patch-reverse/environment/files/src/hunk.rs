use std::fmt;

/// The lines a hunk covers on one side, as in its header: `start` is counted
/// from 1, and `,len` is left out when it is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    pub start: usize,
    pub len: usize,
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.len {
            1 => write!(f, "{}", self.start),
            len => write!(f, "{},{}", self.start, len),
        }
    }
}

/// A line of a hunk. The text includes the line feed, unless the line is the
/// last of a file that does not end in one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    Context(String),
    Remove(String),
    Add(String),
}

impl Line {
    fn reversed(&self) -> Line {
        match self {
            Line::Context(text) => Line::Context(text.clone()),
            Line::Remove(text) => Line::Add(text.clone()),
            Line::Add(text) => Line::Remove(text.clone()),
        }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, text) = match self {
            Line::Context(text) => (' ', text),
            Line::Remove(text) => ('-', text),
            Line::Add(text) => ('+', text),
        };
        write!(f, "{sign}{text}")?;
        if !text.ends_with('\n') {
            write!(f, "\n\\ No newline at end of file\n")?;
        }
        Ok(())
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    pub old: Range,
    pub new: Range,
    pub lines: Vec<Line>,
}

impl fmt::Display for Hunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "@@ -{} +{} @@", self.old, self.new)?;
        self.lines.iter().try_for_each(|line| line.fmt(f))
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Patch {
    pub hunks: Vec<Hunk>,
}

impl Patch {
    /// The patch that undoes this one.
    pub fn reverse(&self) -> Patch {
        let reverse_hunk = |hunk: &Hunk| Hunk {
            old: hunk.new,
            new: hunk.old,
            lines: hunk.lines.iter().map(Line::reversed).collect(),
        };
        Patch { hunks: self.hunks.iter().map(reverse_hunk).collect() }
    }
}

impl fmt::Display for Patch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.hunks.iter().try_for_each(|hunk| hunk.fmt(f))
    }
}
