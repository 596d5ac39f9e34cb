//! Git's objects over the wire.

use base64::{Engine, prelude::BASE64_STANDARD};
use git2::{Commit, ObjectType, Oid, Repository, Signature};
use serde_json::{Value, json};

use super::{
    super::{git::FileChange, state::Accounts, verification::verify},
    View, node_id,
};

/// A ref and what it points to.
pub(in super::super) fn reference(view: View<'_>, name: &str, target: Oid, kind: Option<ObjectType>) -> Value {
    let kind = kind.map_or("commit", |kind| kind.str());
    json!({
        "ref": name,
        "node_id": node_id("Ref", format!("{}:{name}", view.repo.id)),
        "url": view.api(&format!("/git/{name}")),
        "object": {"sha": target.to_string(), "type": kind, "url": view.api(&format!("/git/{kind}s/{target}"))},
    })
}

/// A commit as git has it.
pub(in super::super) fn git_commit(view: View<'_>, commit: &Commit<'_>) -> Value {
    let mut shown = commit_core(view, commit);
    let sha = commit.id().to_string();
    let parents: Value = commit.parent_ids().map(|id| parent(view, id, "/git/commits")).collect();
    if let Value::Object(fields) = &mut shown {
        fields.remove("comment_count");
        fields.insert("sha".to_owned(), json!(sha));
        fields.insert("node_id".to_owned(), json!(node_id("Commit", &sha)));
        fields.insert("html_url".to_owned(), json!(view.html(&format!("/commit/{sha}"))));
        fields.insert("parents".to_owned(), parents);
    }
    shown
}

/// A commit as the repository shows it.
pub(in super::super) fn commit(view: View<'_>, commit: &Commit<'_>) -> Value {
    let sha = commit.id().to_string();
    let parents: Value = commit.parent_ids().map(|id| parent(view, id, "/commits")).collect();
    json!({
        "sha": sha,
        "node_id": node_id("Commit", &sha),
        "url": view.api(&format!("/commits/{sha}")),
        "html_url": view.html(&format!("/commit/{sha}")),
        "comments_url": view.api(&format!("/commits/{sha}/comments")),
        "commit": commit_core(view, commit),
        "author": account_of(view.server, view.accounts, &commit.author()),
        "committer": account_of(view.server, view.accounts, &commit.committer()),
        "parents": parents,
    })
}

/// A commit as a push tells it, with the files it changed.
pub(in super::super) fn pushed_commit(view: View<'_>, commit: &Commit<'_>, files: &[FileChange]) -> Value {
    let named = |wanted: &[&str]| -> Value {
        files.iter().filter(|file| wanted.contains(&file.status)).map(|file| json!(file.path)).collect()
    };
    let committer = person(&commit.committer());
    json!({
        "id": commit.id().to_string(),
        "tree_id": commit.tree_id().to_string(),
        "distinct": true,
        "message": String::from_utf8_lossy(commit.message_raw_bytes()),
        "timestamp": committer["date"],
        "url": view.html(&format!("/commit/{}", commit.id())),
        "author": person(&commit.author()),
        "committer": committer,
        "added": named(&["added", "copied"]),
        "removed": named(&["removed"]),
        "modified": named(&["modified", "changed", "renamed"]),
    })
}

/// A commit in short, as check suites and workflow runs have it.
pub(in super::super) fn simple_commit(commit: &Commit<'_>) -> Value {
    let named = |who: &Signature<'_>| {
        let shown = person(who);
        json!({"name": shown["name"], "email": shown["email"]})
    };
    json!({
        "id": commit.id().to_string(),
        "tree_id": commit.tree_id().to_string(),
        "message": String::from_utf8_lossy(commit.message_raw_bytes()),
        "timestamp": person(&commit.committer())["date"],
        "author": named(&commit.author()),
        "committer": named(&commit.committer()),
    })
}

/// A changed file, as it is at `head`.
pub(in super::super) fn file_change(view: View<'_>, change: &FileChange, head: &str) -> Value {
    let mut shown = json!({
        "sha": change.blob.to_string(),
        "filename": change.path,
        "status": change.status,
        "additions": change.additions,
        "deletions": change.deletions,
        "changes": change.additions + change.deletions,
        "blob_url": view.html(&format!("/blob/{head}/{}", path(&change.path))),
        "raw_url": view.html(&format!("/raw/{head}/{}", path(&change.path))),
        "contents_url": view.api(&format!("/contents/{}?ref={head}", path(&change.path))),
    });
    if let Value::Object(fields) = &mut shown {
        if let Some(patch) = &change.patch {
            fields.insert("patch".to_owned(), json!(patch));
        }
        if let Some(old) = &change.old_path {
            fields.insert("previous_filename".to_owned(), json!(old));
        }
    }
    shown
}

/// An entry of a folder: a file, a folder, a link or a submodule.
pub(in super::super) fn content(
    view: View<'_>,
    at: &str,
    id: Oid,
    mode: i32,
    reference: &str,
    git: &Repository,
) -> Value {
    let (kind, below) = match mode {
        0o040_000 => ("dir", "trees"),
        0o160_000 => ("submodule", "trees"),
        0o120_000 => ("symlink", "blobs"),
        _ => ("file", "blobs"),
    };
    let size = git.find_blob(id).map_or(0, |blob| blob.size());
    let own = view.api(&format!("/contents/{}?ref={reference}", path(at)));
    let page = view.html(&format!("/{}/{reference}/{}", if kind == "dir" { "tree" } else { "blob" }, path(at)));
    let object = view.api(&format!("/git/{below}/{id}"));
    let download = (kind == "file").then(|| view.html(&format!("/raw/{reference}/{}", path(at))));
    json!({
        "type": kind,
        "name": at.rsplit('/').next(),
        "path": at,
        "sha": id.to_string(),
        "size": size,
        "url": own,
        "git_url": object,
        "html_url": page,
        "download_url": download,
        "_links": {"self": own, "git": object, "html": page},
    })
}

/// A file with its content.
pub(in super::super) fn file(
    view: View<'_>,
    at: &str,
    blob: &git2::Blob<'_>,
    reference: &str,
    git: &Repository,
) -> Value {
    let mut shown = content(view, at, blob.id(), 0o100_644, reference, git);
    if let Value::Object(fields) = &mut shown {
        fields.insert("encoding".to_owned(), json!("base64"));
        fields.insert("content".to_owned(), json!(wrapped_base64(blob.content())));
    }
    shown
}

fn commit_core(view: View<'_>, commit: &Commit<'_>) -> Value {
    json!({
        "url": view.api(&format!("/git/commits/{}", commit.id())),
        "author": person(&commit.author()),
        "committer": person(&commit.committer()),
        "message": String::from_utf8_lossy(commit.message_raw_bytes()),
        "tree": {"sha": commit.tree_id().to_string(), "url": view.api(&format!("/git/trees/{}", commit.tree_id()))},
        "comment_count": 0,
        "verification": verify(commit, view.accounts).shown(),
    })
}

fn parent(view: View<'_>, id: Oid, below: &str) -> Value {
    let (url, page) = (view.api(&format!("{below}/{id}")), view.html(&format!("/commit/{id}")));
    json!({"sha": id.to_string(), "url": url, "html_url": page})
}

/// A commit's author or committer.
pub(in super::super) fn person(who: &Signature<'_>) -> Value {
    let at = chrono::DateTime::from_timestamp(who.when().seconds(), 0).unwrap_or_default();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    json!({"name": text(who.name_bytes()), "email": text(who.email_bytes()), "date": super::time(at)})
}

/// Base64 in lines, as GitHub gives a blob.
pub(in super::super) fn wrapped_base64(bytes: &[u8]) -> String {
    let text = BASE64_STANDARD.encode(bytes);
    let mut wrapped = String::with_capacity(text.len() + text.len() / 60 + 1);
    for line in text.as_bytes().chunks(60) {
        wrapped.push_str(std::str::from_utf8(line).unwrap_or_default());
        wrapped.push('\n');
    }
    wrapped
}

/// The account whose address signs a commit, `ID+LOGIN@users.noreply.HOST` or `LOGIN@…`; `null` otherwise.
pub(in super::super) fn account_of(server: &str, accounts: &Accounts, who: &Signature<'_>) -> Value {
    let email = String::from_utf8_lossy(who.email_bytes()).into_owned();
    let Some((local, _host)) = email.split_once("@users.noreply.") else { return Value::Null };
    super::simple_account(server, accounts, local.split_once('+').map_or(local, |(_, login)| login))
}

/// A path within a repository as part of an address.
fn path(plain: &str) -> String {
    let part =
        |part: &str| url::form_urlencoded::byte_serialize(part.as_bytes()).collect::<String>().replace('+', "%20");
    plain.split('/').map(part).collect::<Vec<_>>().join("/")
}
