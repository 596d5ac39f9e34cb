//! The place of a review's comment: read from a request, and looked up in the diff.

use git2::Oid;
use serde_json::Value;

use super::{
    super::{
        call::Call,
        git::{FileChange, changes},
        refusal::Refusal,
    },
    diff_lines::{Side, lines},
    issues::BODY_MAX,
    pulls::sides,
};

/// The place and the text of a comment.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) body: String,
    pub(super) path: String,
    /// `None` if it is on the whole file.
    pub(super) line: Option<u64>,
    pub(super) side: Side,
    pub(super) start: Option<(u64, Side)>,
    pub(super) position: Option<u64>,
    pub(super) hunk: String,
}

impl Place {
    /// Reads a comment's text and place, and looks the place up in the files that the pull request changes.
    ///
    /// # Errors
    /// 422 if the text is missing or too long, or the diff has no such place.
    pub(super) fn read(sent: &Value, files: &[FileChange]) -> Result<Self, Refusal> {
        let body = body_of(sent)?;
        let path = sent["path"].as_str().ok_or_else(|| missing("path"))?.to_owned();
        let file = files.iter().find(|file| file.path == path).ok_or_else(|| invalid("path"))?;
        let side = side(sent, "side")?.unwrap_or(Side::Right);
        if sent["subject_type"] == "file" {
            let (line, start, position, hunk) = (None, None, None, String::new());
            return Ok(Self { body, path, line, side, start, position, hunk });
        }
        let found = lines(file.patch.as_deref().unwrap_or_default());
        let at = |side: Side, number: u64| {
            found.iter().position(|line| line.as_ref().is_some_and(|line| line.on(side) == Some(number)))
        };
        let asked = (sent["line"].as_u64(), sent["position"].as_u64());
        let (index, why) = match asked {
            (Some(number), _) => (at(side, number), "pull_request_review_thread.line"),
            (None, Some(position)) => {
                (usize::try_from(position).ok().and_then(|position| position.checked_sub(1)), "position")
            }
            (None, None) => return Err(missing("line")),
        };
        let line = index.and_then(|index| found.get(index)?.as_ref()).ok_or_else(|| invalid(why))?;
        // A position has no side: the line is on the new file's side if it is there.
        let side = if asked.0.is_none() && line.on(Side::Right).is_none() { Side::Left } else { side };
        let start = match sent["start_line"].as_u64() {
            None => None,
            Some(first) => {
                let first_side = self::side(sent, "start_side")?.unwrap_or(side);
                let before = at(first_side, first).is_some_and(|first| Some(first) < index);
                let start = Some((first, first_side)).filter(|_| before);
                Some(start.ok_or_else(|| invalid("pull_request_review_thread.start_line"))?)
            }
        };
        let position = index.and_then(|index| u64::try_from(index + 1).ok());
        Ok(Self { body, path, line: line.on(side), side, start, position, hunk: line.hunk.clone() })
    }
}

/// The text of a comment.
pub(super) fn body_of(sent: &Value) -> Result<String, Refusal> {
    let body = sent["body"].as_str().filter(|body| !body.trim().is_empty()).ok_or_else(|| missing("body"))?;
    if body.chars().count() > BODY_MAX {
        let message = format!("body is too long (maximum is {BODY_MAX} characters)");
        return Err(Refusal::custom(RESOURCE, "body", message));
    }
    Ok(body.to_owned())
}

/// The files that the pull request in the path changes, as of `commit`, or of its head; and that commit.
///
/// # Errors
/// 422 if the commit is not one of the pull request's.
pub(super) fn files_at(call: &Call, commit: Option<&str>) -> Result<(Vec<FileChange>, String), Refusal> {
    let git = call.read_git()?;
    let (base, head) = sides(call)?;
    let at = match commit {
        None => head,
        Some(sha) => {
            let known = |id: &Oid| *id == head || git.graph_descendant_of(head, *id).unwrap_or(false);
            Oid::from_str(sha).ok().filter(known).ok_or_else(|| invalid("commit_id"))?
        }
    };
    Ok((changes(&git, base, at)?, at.to_string()))
}

/// GitHub's name of a side.
pub(super) fn side_name(side: Side) -> &'static str {
    match side {
        Side::Left => "LEFT",
        Side::Right => "RIGHT",
    }
}

fn side(sent: &Value, field: &str) -> Result<Option<Side>, Refusal> {
    match sent[field].as_str() {
        None => Ok(None),
        Some("LEFT") => Ok(Some(Side::Left)),
        Some("RIGHT") => Ok(Some(Side::Right)),
        Some(_) => Err(invalid(field)),
    }
}

const RESOURCE: &str = "PullRequestReviewComment";

fn invalid(field: &str) -> Refusal {
    Refusal::invalid(RESOURCE, field)
}

fn missing(field: &str) -> Refusal {
    Refusal::missing(RESOURCE, field)
}
