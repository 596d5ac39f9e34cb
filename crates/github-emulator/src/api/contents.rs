//! Files by their path: get a file or folder, put a file, delete one.

use base64::{Engine, prelude::BASE64_STANDARD};
use git2::{FileMode, Oid, build::TreeUpdateBuilder};
use serde_json::{Value, json};

use super::{
    super::{
        call::{Answer, Call, Reply},
        fields::Fields,
        git::RefMove,
        refusal::Refusal,
        route::{Route, delete, get, put},
        users::Role,
        wire,
    },
    compare::commit_of,
    objects::{plain_path, signature},
    refs::{find, follow, guard, is_unborn},
};

pub(super) const ROUTES: &[Route] = &[
    get("/repos/{owner}/{repo}/contents", show),
    get("/repos/{owner}/{repo}/contents/", show),
    get("/repos/{owner}/{repo}/contents/{*path}", show),
    put("/repos/{owner}/{repo}/contents/{*path}", write),
    delete("/repos/{owner}/{repo}/contents/{*path}", remove),
    get("/repos/{owner}/{repo}/readme", readme),
];

fn show(call: &Call) -> Answer {
    at(call, call.part("path").trim_end_matches('/'))
}

fn readme(call: &Call) -> Answer {
    at(call, "README.md")
}

fn at(call: &Call, path: &str) -> Answer {
    let git = call.read_git()?;
    let default = call.repository(&call.state(), Role::Read)?.default_branch.clone();
    let reference = call.query("ref").unwrap_or(&default);
    let tree = git.find_commit(commit_of(&git, reference)?)?.tree()?;
    let folder = if path.is_empty() {
        tree
    } else {
        let entry = tree.get_path(std::path::Path::new(path))?;
        let object = entry.to_object(&git)?;
        match object.into_tree() {
            Ok(folder) => folder,
            Err(object) => {
                let blob = object.into_blob().map_err(|_| Refusal::not_found())?;
                if call.accept.contains("raw") {
                    return Ok(Reply::raw("application/vnd.github.raw; charset=utf-8", blob.content().to_vec()));
                }
                let state = call.state();
                return Ok(Reply::ok(&wire::file(call.view(&state)?, path, &blob, reference, &git)));
            }
        }
    };
    let state = call.state();
    let view = call.view(&state)?;
    let below = |name: &[u8]| {
        let name = String::from_utf8_lossy(name);
        if path.is_empty() { name.into_owned() } else { format!("{path}/{name}") }
    };
    let entries: Value = folder
        .iter()
        .map(|e| wire::content(view, &below(e.name_bytes()), (e.id(), e.filemode()), reference, &git))
        .collect();
    Ok(Reply::ok(&entries))
}

fn write(call: &Call) -> Answer {
    let fields = call.fields("Content")?;
    let path = checked(call, &fields)?;
    let content = fields.text("content")?.ok_or_else(|| fields.missing("content"))?;
    let plain: String = content.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    let bytes = BASE64_STANDARD.decode(plain).map_err(|_| Refusal::unprocessable("content is not valid Base64."))?;
    let (existed, commit) = change(call, &fields, path, Some(&bytes))?;
    let git = call.read_git()?;
    let blob = git.find_blob(Oid::hash_object(git2::ObjectType::Blob, &bytes)?)?;
    let state = call.state();
    let view = call.view(&state)?;
    let commit_shown = wire::git_commit(view, &git.find_commit(commit)?);
    let mut content = wire::file(view, path, &blob, &commit.to_string(), &git);
    if let Value::Object(fields) = &mut content {
        fields.remove("content");
        fields.remove("encoding");
    }
    let body = json!({"content": content, "commit": commit_shown});
    Ok(if existed { Reply::ok(&body) } else { Reply::created(&body) })
}

fn remove(call: &Call) -> Answer {
    // Some clients send a DELETE's fields in its query.
    let mut sent = call.fields("Content")?;
    if !sent.has("message") {
        sent = Fields::parse("Content", json!(call.query).to_string().as_bytes())?;
    }
    let path = checked(call, &sent)?;
    sent.required("sha")?;
    let (_, commit) = change(call, &sent, path, None)?;
    let git = call.read_git()?;
    let state = call.state();
    let commit = wire::git_commit(call.view(&state)?, &git.find_commit(commit)?);
    Ok(Reply::ok(&json!({"content": null, "commit": commit})))
}

fn checked<'c>(call: &'c Call, fields: &Fields) -> Result<&'c str, Refusal> {
    call.repository(&call.state(), Role::Write)?;
    fields.required("message")?;
    Some(call.part("path")).filter(|path| plain_path(path)).ok_or_else(|| Refusal::unprocessable("path is malformed"))
}

/// Commits one file's new content, or its end; answers whether it existed, and the commit.
fn change(call: &Call, fields: &Fields, path: &str, content: Option<&[u8]>) -> Result<(bool, Oid), Refusal> {
    let git = call.write_git(Role::Write)?;
    let default = call.repository(&call.state(), Role::Read)?.default_branch.clone();
    let reference = format!("refs/heads/{}", fields.text("branch")?.unwrap_or(default));
    guard(call, &reference)?;
    let old = find(&git, &reference)?;
    let parent = old.map(|old| git.find_commit(old)).transpose()?;
    if parent.is_none() && !is_unborn(&git)? {
        let branch = reference.trim_start_matches("refs/heads/");
        return Err(Refusal::new(http::StatusCode::NOT_FOUND, format!("Branch {branch} not found")));
    }
    let tree = match &parent {
        Some(parent) => parent.tree()?,
        None => git.find_tree(git.treebuilder(None)?.write()?)?,
    };
    let entry = tree.get_path(std::path::Path::new(path)).ok();
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
    Ok((entry.is_some(), commit))
}

/// Refuses where the file is not the one the caller saw.
fn unchanged(fields: &Fields, path: &str, entry: Option<&git2::TreeEntry<'_>>) -> Result<(), Refusal> {
    match (fields.text("sha")?, entry) {
        (None, Some(_)) => Err(Refusal::unprocessable("Invalid request.\n\n\"sha\" wasn't supplied.")),
        (Some(sha), Some(entry)) if entry.id().to_string() != sha => {
            Err(Refusal::new(http::StatusCode::CONFLICT, format!("{path} does not match {sha}")))
        }
        (Some(_), Some(_)) | (Some(_) | None, None) => Ok(()),
    }
}
