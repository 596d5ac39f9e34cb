//! What a maintainer said in a review of Hob's pull request, as its issue's record keeps it until the work is merged.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Login, PullNumber, ReviewEvent, RoundKind,
    memory::{lesson::readable, line::correction_line},
};

/// Remarks that an issue keeps, and their bytes.
const REMARKS_MAX: usize = 8;
const BYTES_MAX: usize = 2_048;

/// A remark in a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remark {
    /// Its identity.
    pub said: ReviewEvent,
    /// Who made it.
    pub by: Login,
    /// On which pull request.
    pub pull: PullNumber,
    /// Its words, as one line.
    pub text: String,
}

impl Remark {
    /// The remark with these words. `None` if they cannot be a correction.
    pub fn new(said: ReviewEvent, by: Login, pull: PullNumber, markdown: &str) -> Option<Self> {
        let remark = Self { said, by, pull, text: correction_line(markdown)? };
        remark.is_possible().then_some(remark)
    }

    /// Whether Hob can have written it.
    pub(super) fn is_possible(&self) -> bool {
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-_[]".contains(c);
        self.said.kind() == RoundKind::Review
            && self.by.as_str().chars().all(is_name)
            && correction_line(&self.text).as_ref() == Some(&self.text)
    }

    /// Whether both are the same remark.
    pub(super) fn is(&self, other: &Self) -> bool {
        (self.pull, &self.said) == (other.pull, &other.said)
    }

    /// Its place on the pull request's page: what it is, and its number among those.
    pub(super) fn place(&self) -> (&'static str, u64) {
        match self.said {
            ReviewEvent::Review(id) => ("pullrequestreview-", id),
            ReviewEvent::Line(id) => ("discussion_r", id),
            ReviewEvent::Comment(id) => ("issuecomment-", id),
            ReviewEvent::Check { .. }
            | ReviewEvent::Conflict { .. }
            | ReviewEvent::Behind { .. }
            | ReviewEvent::Ejected(_) => ("", 0),
        }
    }

    /// Where people find it.
    pub(super) fn url(&self, repo_url: &str) -> String {
        let (kind, id) = self.place();
        format!("{repo_url}/pull/{}#{kind}{id}", self.pull)
    }
}

/// The remarks on the pull request of an issue, the newest last.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Value", into = "Vec<Remark>")]
pub struct Remarks(Vec<Remark>);

impl From<Value> for Remarks {
    fn from(list: Value) -> Self {
        let (kept, _) = readable(list, Remark::is_possible);
        kept.into_iter().fold(Self::default(), Self::and)
    }
}

impl From<Remarks> for Vec<Remark> {
    fn from(remarks: Remarks) -> Self {
        remarks.0
    }
}

impl Remarks {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The same with one more, for which the oldest make room.
    #[must_use]
    pub fn and(mut self, remark: Remark) -> Self {
        if self.0.iter().any(|known| known.is(&remark)) {
            return self;
        }
        self.0.push(remark);
        let bytes = |remarks: &[Remark]| serde_json::to_string(remarks).map_or(BYTES_MAX, |text| text.len());
        while self.0.len() > REMARKS_MAX || bytes(&self.0) > BYTES_MAX {
            self.0.remove(0);
        }
        self
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = &Remark> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(id: u64, text: &str) -> Option<Remark> {
        Remark::new(ReviewEvent::Line(id), "ann".into(), PullNumber(7), text)
    }

    #[test]
    fn an_issue_keeps_a_few_remarks_the_newest_ones() {
        let all = (0..20).filter_map(|id| said(id, &format!("Error messages in lower case {id}")));
        let kept = all.fold(Remarks::default(), Remarks::and);
        assert_eq!(kept.iter().map(|remark| remark.place().1).collect::<Vec<_>>(), (12..20).collect::<Vec<_>>());
        let long = (0..20).filter_map(|id| said(id, &"überall Fehlermeldungen klein schreiben ".repeat(9)));
        let written = serde_json::to_string(&long.fold(Remarks::default(), Remarks::and)).unwrap();
        assert!(written.len() <= BYTES_MAX && written.matches("ann").count() > 2, "{written}");
        let again = kept.clone().and(said(19, "Error messages in upper case").unwrap());
        assert_eq!(again, kept, "each counts once");
        let written = serde_json::to_value(&kept).unwrap();
        assert_eq!(
            written[0],
            serde_json::json!({"said": {"line": 12}, "by": "ann", "pull": 7, "text": "Error messages in lower case 12"})
        );
        assert_eq!(serde_json::from_value::<Remarks>(written).unwrap(), kept);
    }
}
