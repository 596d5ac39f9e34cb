use crate::edit::Edit;
use crate::error::EditError;

/// A text with its edits, so that they can be undone one by one.
#[derive(Debug, Clone, Default)]
pub struct History {
    text: String,
    undo: Vec<Edit>,
}

impl History {
    pub fn new(text: &str) -> Self {
        History { text: text.to_string(), undo: Vec::new() }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn perform(&mut self, edit: &Edit) -> Result<(), EditError> {
        let inverse = edit.invert(&self.text)?;
        self.text = edit.apply(&self.text)?;
        self.undo.push(inverse);
        Ok(())
    }

    /// Undoes the last edit. Returns false if there is none.
    pub fn undo(&mut self) -> Result<bool, EditError> {
        let Some(inverse) = self.undo.pop() else {
            return Ok(false);
        };
        self.text = inverse.apply(&self.text)?;
        Ok(true)
    }
}
