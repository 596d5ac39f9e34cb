use crate::error::EditError;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    Retain(usize),
    Insert(String),
    Delete(usize),
}

/// An edit of a text of a certain length, in normal form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edit {
    steps: Vec<Step>,
}

impl Edit {
    pub fn new() -> Self {
        Edit::default()
    }

    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    pub fn retain(&mut self, n: usize) -> &mut Self {
        match self.steps.last_mut() {
            _ if n == 0 => {}
            Some(Step::Retain(last)) => *last += n,
            _ => self.steps.push(Step::Retain(n)),
        }
        self
    }

    pub fn delete(&mut self, n: usize) -> &mut Self {
        match self.steps.last_mut() {
            _ if n == 0 => {}
            Some(Step::Delete(last)) => *last += n,
            _ => self.steps.push(Step::Delete(n)),
        }
        self
    }

    pub fn insert(&mut self, text: &str) -> &mut Self {
        if text.is_empty() {
            return self;
        }
        // An insertion goes before the deletion it follows.
        let at = match self.steps.last() {
            Some(Step::Delete(_)) => self.steps.len() - 1,
            _ => self.steps.len(),
        };
        match self.steps[..at].last_mut() {
            Some(Step::Insert(last)) => last.push_str(text),
            _ => self.steps.insert(at, Step::Insert(text.to_string())),
        }
        self
    }

    /// The length of the texts that the edit is for.
    pub fn base_len(&self) -> usize {
        let len = |step: &Step| match step {
            Step::Retain(n) | Step::Delete(n) => *n,
            Step::Insert(_) => 0,
        };
        self.steps.iter().map(len).sum()
    }

    /// The length of the texts that come out of it.
    pub fn target_len(&self) -> usize {
        let len = |step: &Step| match step {
            Step::Retain(n) => *n,
            Step::Insert(text) => text.chars().count(),
            Step::Delete(_) => 0,
        };
        self.steps.iter().map(len).sum()
    }

    pub fn apply(&self, text: &str) -> Result<String, EditError> {
        self.check_base(text.chars().count())?;
        let mut rest = text.chars();
        let mut result = String::with_capacity(text.len());
        for step in &self.steps {
            match step {
                Step::Retain(n) => result.extend(rest.by_ref().take(*n)),
                Step::Insert(text) => result.push_str(text),
                Step::Delete(n) => rest.by_ref().take(*n).for_each(drop),
            }
        }
        Ok(result)
    }

    /// The edit that undoes this one, given the text it is applied to.
    pub fn invert(&self, text: &str) -> Result<Edit, EditError> {
        self.check_base(text.chars().count())?;
        let mut rest = text.chars();
        let mut inverse = Edit::new();
        for step in &self.steps {
            match step {
                Step::Retain(n) => {
                    rest.by_ref().take(*n).for_each(drop);
                    inverse.retain(*n);
                }
                Step::Insert(text) => {
                    inverse.delete(text.chars().count());
                }
                Step::Delete(n) => {
                    inverse.insert(&rest.by_ref().take(*n).collect::<String>());
                }
            }
        }
        Ok(inverse)
    }

    /// The edit that does what `self` and then `next` do.
    pub fn compose(&self, next: &Edit) -> Result<Edit, EditError> {
        let (expected, found) = (self.target_len(), next.base_len());
        if expected != found {
            return Err(EditError::LengthMismatch { expected, found });
        }
        let mut result = Edit::new();
        let (mut first, mut second) = (Cursor::new(self), Cursor::new(next));
        loop {
            match (first.peek(), second.peek()) {
                // What `first` deletes `second` never sees.
                (Some(Piece::Delete(n)), _) => {
                    first.take(n);
                    result.delete(n);
                }
                (_, Some(Piece::Insert(text))) => {
                    second.take(text.chars().count());
                    result.insert(text);
                }
                (Some(a), Some(b)) => {
                    let n = a.len().min(b.len());
                    match (first.take(n), second.take(n)) {
                        (Piece::Insert(text), Piece::Retain(_)) => result.insert(text),
                        (Piece::Insert(_), _) => &mut result,
                        (_, Piece::Delete(_)) => result.delete(n),
                        _ => result.retain(n),
                    };
                }
                // The lengths match, so both end together.
                _ => return Ok(result),
            }
        }
    }

    /// Both edits, of the same text, as they must be applied after each other.
    /// Where both insert in one place, the text of `self` comes first.
    pub fn transform(&self, other: &Edit) -> Result<(Edit, Edit), EditError> {
        self.check_base(other.base_len())?;
        let (mut a_after_b, mut b_after_a) = (Edit::new(), Edit::new());
        let (mut ours, mut theirs) = (Cursor::new(self), Cursor::new(other));
        loop {
            match (ours.peek(), theirs.peek()) {
                (Some(Piece::Insert(text)), _) => {
                    let n = text.chars().count();
                    ours.take(n);
                    a_after_b.insert(text);
                    b_after_a.retain(n);
                }
                (_, Some(Piece::Insert(text))) => {
                    let n = text.chars().count();
                    theirs.take(n);
                    a_after_b.retain(n);
                    b_after_a.insert(text);
                }
                (Some(a), Some(b)) => {
                    let n = a.len().min(b.len());
                    match (ours.take(n), theirs.take(n)) {
                        (Piece::Retain(_), Piece::Retain(_)) => {
                            a_after_b.retain(n);
                            b_after_a.retain(n);
                        }
                        (Piece::Delete(_), Piece::Retain(_)) => {
                            a_after_b.delete(n);
                        }
                        (Piece::Retain(_), Piece::Delete(_)) => {
                            b_after_a.delete(n);
                        }
                        // Both delete it: there is nothing left to do.
                        _ => {}
                    }
                }
                _ => return Ok((a_after_b, b_after_a)),
            }
        }
    }

    fn check_base(&self, found: usize) -> Result<(), EditError> {
        match self.base_len() {
            expected if expected == found => Ok(()),
            expected => Err(EditError::LengthMismatch { expected, found }),
        }
    }
}

/// What is left of a step.
#[derive(Clone, Copy)]
enum Piece<'a> {
    Retain(usize),
    Insert(&'a str),
    Delete(usize),
}

impl Piece<'_> {
    fn len(&self) -> usize {
        match self {
            Piece::Retain(n) | Piece::Delete(n) => *n,
            Piece::Insert(text) => text.chars().count(),
        }
    }
}

/// Walks over the steps of an edit, in pieces of any length.
struct Cursor<'a> {
    steps: std::slice::Iter<'a, Step>,
    current: Option<Piece<'a>>,
}

impl<'a> Cursor<'a> {
    fn new(edit: &'a Edit) -> Self {
        let mut cursor = Cursor { steps: edit.steps.iter(), current: None };
        cursor.advance();
        cursor
    }

    fn advance(&mut self) {
        self.current = self.steps.next().map(|step| match step {
            Step::Retain(n) => Piece::Retain(*n),
            Step::Insert(text) => Piece::Insert(text),
            Step::Delete(n) => Piece::Delete(*n),
        });
    }

    fn peek(&self) -> Option<Piece<'a>> {
        self.current
    }

    /// Takes the next `n` characters, which must be within the current piece.
    fn take(&mut self, n: usize) -> Piece<'a> {
        let piece = self.current.expect("a piece is left");
        let (taken, rest) = match piece {
            Piece::Retain(len) => (Piece::Retain(n), Piece::Retain(len - n)),
            Piece::Delete(len) => (Piece::Delete(n), Piece::Delete(len - n)),
            Piece::Insert(text) => {
                let at = text.char_indices().nth(n).map_or(text.len(), |(at, _)| at);
                (Piece::Insert(&text[..at]), Piece::Insert(&text[at..]))
            }
        };
        match rest.len() {
            0 => self.advance(),
            _ => self.current = Some(rest),
        }
        taken
    }
}
