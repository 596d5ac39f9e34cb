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

    fn check_base(&self, found: usize) -> Result<(), EditError> {
        match self.base_len() {
            expected if expected == found => Ok(()),
            expected => Err(EditError::LengthMismatch { expected, found }),
        }
    }
}
