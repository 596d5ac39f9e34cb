//! The former versions of an edited text, with the editors and times.

use serde::{Deserialize, Serialize};

use crate::names::{Login, Timestamp};

/// A version of a text, from a point in time on.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in super::super) struct Revision {
    pub(in super::super) id: u64,
    pub(in super::super) editor: Login,
    pub(in super::super) at: Timestamp,
    pub(in super::super) text: String,
}

/// The revisions of a text, oldest first. An unedited text has none; the first edit keeps the original, too, as GitHub
/// does.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(in super::super) struct History(Vec<Revision>);

impl History {
    /// Notes that a text was edited. `ids` gives a new id at each call.
    pub(in super::super) fn note(&mut self, ids: impl Fn() -> u64, original: Original<'_>, edit: Edited<'_>) {
        if self.0.is_empty() {
            let Original { author, at, text } = original;
            self.0.push(Revision { id: ids(), editor: author.clone(), at, text: text.to_owned() });
        }
        let Edited { editor, at, text } = edit;
        self.0.push(Revision { id: ids(), editor: editor.clone(), at, text: text.to_owned() });
    }

    /// The revisions, oldest first.
    pub(in super::super) fn revisions(&self) -> &[Revision] {
        &self.0
    }

    /// The last edit; `None` if the text is unedited.
    pub(in super::super) fn last_edit(&self) -> Option<&Revision> {
        self.0.get(1..).and_then(<[Revision]>::last)
    }
}

/// A text as it was written.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Original<'t> {
    pub(in super::super) author: &'t Login,
    pub(in super::super) at: Timestamp,
    pub(in super::super) text: &'t str,
}

/// The new version of a text.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Edited<'t> {
    pub(in super::super) editor: &'t Login,
    pub(in super::super) at: Timestamp,
    pub(in super::super) text: &'t str,
}
