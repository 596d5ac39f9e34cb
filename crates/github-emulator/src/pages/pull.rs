//! The page of a pull request: its text, its commits, its events, its diff in colour; and the diff alone.

use git2::Oid;
use serde_json::{Value, json};

use super::{
    super::{
        call::{Answer, Call, Reply},
        git::{FileChange, changes, emails, patch_text, walk},
        refusal::Refusal,
        users::Role,
    },
    layout::{page, trail},
    text::{head, timeline},
};

/// The most lines of diff on a page.
const LINES_MAX: usize = 5_000;

/// A pull request, or with `.diff` or `.patch` after the number its diff or its commits as text.
pub(super) fn show(call: &Call) -> Answer {
    let (number, kind) = match call.part("number").split_once('.') {
        Some((number, kind @ ("diff" | "patch"))) => (number, Some(kind)),
        Some(_) => return Err(Refusal::not_found()),
        None => (call.part("number"), None),
    };
    let number: u64 = number.parse().map_err(|_| Refusal::not_found())?;
    let git = call.read_git()?;
    let (base, head_id, base_ref, head_ref) = {
        let state = call.state();
        let issue = call.repository(&state, Role::Read)?.issues.get(&number);
        let pull = issue.and_then(|issue| issue.pull.as_ref()).ok_or_else(Refusal::not_found)?;
        let ids = (Oid::from_str(&pull.base_sha)?, Oid::from_str(&pull.head_sha)?);
        (ids.0, ids.1, pull.base_ref.clone(), pull.head_ref.clone())
    };
    if let Some(kind) = kind {
        let text = if kind == "diff" { patch_text(&git, base, head_id)? } else { emails(&git, base, head_id)? };
        return Ok(Reply::raw("text/plain; charset=utf-8", text));
    }
    let commits =
        walk(&git, Some(base), head_id)?.into_iter().map(|id| commit(&git, id)).collect::<Result<Value, _>>()?;
    let changed = changes(&git, base, head_id)?;
    let mut room = LINES_MAX;
    let files: Value = changed.iter().map(|change| file(change, &mut room)).collect();
    let state = call.state();
    let repo = call.repository(&state, Role::Read)?;
    let issue = repo.issues.get(&number).ok_or_else(Refusal::not_found)?;
    let shown = json!({
        "issue": head(repo, issue),
        "base": base_ref,
        "head": head_ref,
        "commits": commits,
        "files": files,
        "additions": changed.iter().map(|change| change.additions).sum::<usize>(),
        "deletions": changed.iter().map(|change| change.deletions).sum::<usize>(),
        "timeline": timeline(repo, issue),
    });
    page("pull.html", &format!("{} #{number}", issue.title), &trail(call), &shown)
}

fn commit(git: &git2::Repository, id: Oid) -> Result<Value, git2::Error> {
    let commit = git.find_commit(id)?;
    let subject = String::from_utf8_lossy(commit.summary_bytes().unwrap_or_default()).into_owned();
    let author = String::from_utf8_lossy(commit.author().name_bytes()).into_owned();
    Ok(json!({"sha": id.to_string().get(..10), "subject": subject, "author": author}))
}

/// A file's changed lines, each with the name of its style, as far as there is room.
fn file(change: &FileChange, room: &mut usize) -> Value {
    let lines: Vec<&str> = change.patch.as_deref().unwrap_or_default().lines().collect();
    let shown = lines.len().min(*room);
    *room -= shown;
    let styled = lines.iter().take(shown).map(|line| {
        let style = match line.as_bytes().first() {
            Some(b'+') => "add",
            Some(b'-') => "del",
            Some(b'@') => "hunk",
            Some(_) | None => "same",
        };
        json!({"style": style, "text": line})
    });
    json!({
        "path": change.path,
        "old": change.old_path,
        "status": change.status,
        "additions": change.additions,
        "deletions": change.deletions,
        "lines": styled.collect::<Value>(),
        "left": lines.len() - shown,
        "binary": change.patch.is_none(),
    })
}
