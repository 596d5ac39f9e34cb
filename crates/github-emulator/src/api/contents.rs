//! Files by their path: get a file or folder, put a file, delete one.

use std::path::Path;

use base64::{Engine, prelude::BASE64_STANDARD};
use git2::{Blob, FileMode, Oid, Repository, Tree, build::TreeUpdateBuilder};
use serde_json::{Value, json};

use super::{
    super::{
        branch_guard::Tip,
        call::{Answer, Call, Reply},
        fields::Fields,
        git::RefMove,
        media::Media,
        refusal::Refusal,
        route::{Route, delete, get, put},
        users::Role,
        wire,
    },
    compare::commit_of,
    objects::{BLOB_MAX, plain_path, signature},
    refs::{find, follow, guard_move, is_unborn},
};

pub(super) const ROUTES: &[Route] = &[
    get("/repos/{owner}/{repo}/contents", show).query(READ).media(MEDIA),
    get("/repos/{owner}/{repo}/contents/", show).query(READ).media(MEDIA),
    get("/repos/{owner}/{repo}/contents/{*path}", show).query(READ).media(MEDIA),
    put("/repos/{owner}/{repo}/contents/{*path}", write).body(WRITTEN),
    delete("/repos/{owner}/{repo}/contents/{*path}", remove).body(REMOVED).query(REMOVED),
    get("/repos/{owner}/{repo}/readme", readme).query(READ).media(&[Media::Raw]),
];

const READ: &[&str] = &["ref"];
const MEDIA: &[Media] = &[Media::Raw, Media::Object];
const WRITTEN: &[&str] = &[
    "content",
    "message",
    "sha",
    "branch",
    "author",
    "author.name",
    "author.email",
    "author.date",
    "committer",
    "committer.name",
    "committer.email",
    "committer.date",
];
/// All but the content, which goes.
const REMOVED: &[&str] = WRITTEN.split_at(1).1;
/// The largest file whose content JSON includes, in bytes. <https://docs.github.com/rest/repos/contents>
const INLINE_MAX: usize = 1 << 20;

/// Modes of a tree's entries.
const FOLDER: i32 = 0o040_000;
const LINK: i32 = 0o120_000;
const SUBMODULE: i32 = 0o160_000;

fn show(call: &Call) -> Answer {
    contents_at(call, call.part("path").trim_end_matches('/'))
}

fn readme(call: &Call) -> Answer {
    contents_at(call, "README.md")
}

fn contents_at(call: &Call, path: &str) -> Answer {
    let git = call.read_git()?;
    let default = call.repository(&call.state(), Role::Read)?.default_branch.clone();
    let reference = call.query("ref").unwrap_or(&default);
    let tree = git.find_commit(commit_of(&git, reference)?)?.tree()?;
    if path.is_empty() {
        return folder(call, &git, path, &tree, reference);
    }
    let entry = tree.get_path(Path::new(path))?;
    match entry.filemode() {
        SUBMODULE => submodule(call, &git, &tree, path, reference),
        FOLDER => folder(call, &git, path, &git.find_tree(entry.id())?, reference),
        LINK => {
            let target = git.find_blob(entry.id())?;
            // A link to a file of the repository is shown as that file; any other as a link.
            match linked_file(&git, &tree, path, target.content()) {
                Some(blob) => file(call, &git, path, &blob, reference),
                None => link(call, &git, path, &target, reference),
            }
        }
        _ => file(call, &git, path, &git.find_blob(entry.id())?, reference),
    }
}

fn file(call: &Call, git: &Repository, path: &str, blob: &Blob<'_>, reference: &str) -> Answer {
    if call.media == Media::Raw {
        return Ok(Reply::raw("application/vnd.github.raw; charset=utf-8", blob.content().to_vec()));
    }
    let state = call.state();
    let mut shown = wire::file(call.view(&state)?, path, blob, reference, git);
    if blob.size() > INLINE_MAX {
        (shown["content"], shown["encoding"]) = (json!(""), json!("none"));
    }
    Ok(Reply::ok(shown))
}

/// A link whose target is not a file of the repository.
fn link(call: &Call, git: &Repository, path: &str, target: &Blob<'_>, reference: &str) -> Answer {
    let state = call.state();
    let mut shown = wire::content(call.view(&state)?, path, target.id(), LINK, reference, git);
    shown["target"] = json!(String::from_utf8_lossy(target.content()));
    Ok(Reply::ok(shown))
}

/// The file that a link at `path` leads to, if it is in the same tree.
fn linked_file<'g>(git: &'g Repository, tree: &Tree<'_>, path: &str, target: &[u8]) -> Option<Blob<'g>> {
    let target = std::str::from_utf8(target).ok().filter(|target| !target.starts_with('/'))?;
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    let entry = tree.get_path(Path::new(&parts.join("/"))).ok()?;
    let is_file = !matches!(entry.filemode(), FOLDER | SUBMODULE | LINK);
    is_file.then(|| git.find_blob(entry.id()).ok()).flatten()
}

fn submodule(call: &Call, git: &Repository, tree: &Tree<'_>, path: &str, reference: &str) -> Answer {
    let entry = tree.get_path(Path::new(path))?;
    let modules = tree.get_name(".gitmodules").and_then(|entry| git.find_blob(entry.id()).ok());
    let modules = modules.map(|blob| String::from_utf8_lossy(blob.content()).into_owned()).unwrap_or_default();
    let state = call.state();
    let mut shown = wire::content(call.view(&state)?, path, entry.id(), SUBMODULE, reference, git);
    shown["submodule_git_url"] = json!(submodule_address(&modules, path));
    Ok(Reply::ok(shown))
}

/// The address that `.gitmodules` gives the submodule at `path`.
fn submodule_address(modules: &str, path: &str) -> Option<String> {
    let value = |line: &str, name: &str| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == name).then(|| value.trim().to_owned())
    };
    let sections = modules.split("[submodule").map(|section| section.lines().collect::<Vec<_>>());
    let find = |lines: &[&str], name: &str| lines.iter().find_map(|line| value(line, name));
    sections.into_iter().find(|lines| find(lines, "path").as_deref() == Some(path)).and_then(|l| find(&l, "url"))
}

fn folder(call: &Call, git: &Repository, path: &str, folder: &Tree<'_>, reference: &str) -> Answer {
    let state = call.state();
    let view = call.view(&state)?;
    let below = |name: &[u8]| {
        let name = String::from_utf8_lossy(name);
        if path.is_empty() { name.into_owned() } else { format!("{path}/{name}") }
    };
    let shown = |e: git2::TreeEntry<'_>| {
        let mut shown = wire::content(view, &below(e.name_bytes()), e.id(), e.filemode(), reference, git);
        if e.filemode() == SUBMODULE {
            // GitHub calls a submodule so in a list, for old clients' sake.
            shown["type"] = json!("file");
        }
        shown
    };
    let entries: Value = folder.iter().map(shown).collect();
    if call.media != Media::Object {
        return Ok(Reply::ok(entries));
    }
    let mut whole = wire::content(view, path, folder.id(), FOLDER, reference, git);
    whole["entries"] = entries;
    Ok(Reply::ok(whole))
}

fn write(call: &Call) -> Answer {
    let fields = call.fields("Content")?;
    let path = checked(call, &fields)?;
    let content = fields.text("content")?.ok_or_else(|| fields.missing("content"))?;
    let plain: String = content.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    let bytes = BASE64_STANDARD.decode(plain).map_err(|_| Refusal::unprocessable("content is not valid Base64."))?;
    if bytes.len() > BLOB_MAX {
        return Err(Refusal::custom("Content", "content", "content is too large (maximum is 100 MB)"));
    }
    let Change { existed, commit, branch } = change(call, &fields, path, Some(&bytes))?;
    let git = call.read_git()?;
    let blob = git.find_blob(Oid::hash_object(git2::ObjectType::Blob, &bytes)?)?;
    let state = call.state();
    let view = call.view(&state)?;
    let commit_shown = wire::git_commit(view, &git.find_commit(commit)?);
    // Its addresses name the branch, as in `create-file` of `octokit/fixtures`.
    let mut content = wire::file(view, path, &blob, &branch, &git);
    if let Value::Object(fields) = &mut content {
        fields.remove("content");
        fields.remove("encoding");
    }
    let body = json!({"content": content, "commit": commit_shown});
    Ok(if existed { Reply::ok(body) } else { Reply::created(body) })
}

fn remove(call: &Call) -> Answer {
    // Some clients send a DELETE's fields in its query.
    let mut sent = call.fields("Content")?;
    if !sent.has("message") {
        sent = Fields::parse("Content", json!(call.query).to_string().as_bytes())?;
    }
    let path = checked(call, &sent)?;
    sent.required("sha")?;
    let Change { commit, .. } = change(call, &sent, path, None)?;
    let git = call.read_git()?;
    let state = call.state();
    let commit = wire::git_commit(call.view(&state)?, &git.find_commit(commit)?);
    Ok(Reply::ok(json!({"content": null, "commit": commit})))
}

/// The result of a write to a file.
struct Change {
    existed: bool,
    commit: Oid,
    branch: String,
}

fn checked<'c>(call: &'c Call, fields: &Fields) -> Result<&'c str, Refusal> {
    call.repository(&call.state(), Role::Write)?;
    fields.required("message")?;
    Some(call.part("path")).filter(|path| plain_path(path)).ok_or_else(|| Refusal::unprocessable("path is malformed"))
}

/// Commits one file's new content, or its deletion.
fn change(call: &Call, fields: &Fields, path: &str, content: Option<&[u8]>) -> Result<Change, Refusal> {
    let git = call.write_git(Role::Write)?;
    let default = call.repository(&call.state(), Role::Read)?.default_branch.clone();
    let branch = fields.text("branch")?.unwrap_or(default);
    let reference = format!("refs/heads/{branch}");
    let old = find(&git, &reference)?;
    guard_move(call, &git, &reference, old, Tip::New)?;
    let parent = old.map(|old| git.find_commit(old)).transpose()?;
    if parent.is_none() && !is_unborn(&git)? {
        return Err(Refusal::new(http::StatusCode::NOT_FOUND, format!("Branch {branch} not found")));
    }
    let tree = match &parent {
        Some(parent) => parent.tree()?,
        None => git.find_tree(git.treebuilder(None)?.write()?)?,
    };
    let entry = tree.get_path(Path::new(path)).ok();
    unchanged(fields, path, entry.as_ref())?;
    let mut update = TreeUpdateBuilder::new();
    match content {
        Some(bytes) => {
            let executable = entry.as_ref().is_some_and(|entry| entry.filemode() == 0o100_755);
            let mode = if executable { FileMode::BlobExecutable } else { FileMode::Blob };
            update.upsert(path, git.blob(bytes)?, mode);
        }
        None => {
            entry.as_ref().ok_or_else(Refusal::not_found)?;
            update.remove(path);
        }
    }
    let tree = git.find_tree(update.create_updated(&git, &tree)?)?;
    let author = signature(call, fields.raw("author").or(fields.raw("committer")))?;
    let committer = signature(call, fields.raw("committer").or(fields.raw("author")))?;
    let parents: Vec<&git2::Commit<'_>> = parent.iter().collect();
    let commit = git.commit(None, &author, &committer, &fields.required("message")?, &tree, &parents)?;
    git.reference(&reference, commit, true, "")?;
    follow(call, &git, RefMove { reference, old, new: Some(commit) })?;
    Ok(Change { existed: entry.is_some(), commit, branch })
}

/// Refuses if the file is not the one that the caller saw.
fn unchanged(fields: &Fields, path: &str, entry: Option<&git2::TreeEntry<'_>>) -> Result<(), Refusal> {
    match (fields.text("sha")?, entry) {
        (None, Some(_)) => Err(Refusal::unprocessable("Invalid request.\n\n\"sha\" wasn't supplied.")),
        (Some(sha), Some(entry)) if entry.id().to_string() != sha => {
            Err(Refusal::new(http::StatusCode::CONFLICT, format!("{path} does not match {sha}")))
        }
        (Some(_), Some(_)) | (Some(_) | None, None) => Ok(()),
    }
}
