//! Git's objects: blobs, trees, commits and tags, read and written one by one.

use base64::{Engine, prelude::BASE64_STANDARD};
use git2::{ObjectType, Oid, Repository, Signature, Time};
use serde_json::{Value, json};

use super::super::{
    call::{Answer, Call, Reply},
    media::Media,
    refusal::Refusal,
    route::{Route, get, post},
    users::Role,
    verification::commit_for_app,
    wire::{self, node_id, person, wrapped_base64},
};
use super::ref_moods;

/// The most entries a tree is answered with. <https://docs.github.com/rest/git/trees>
const TREE_MAX: usize = 100_000;

/// The largest blob, in bytes. <https://docs.github.com/rest/git/blobs>
pub(super) const BLOB_MAX: usize = 100 << 20;

pub(super) const READ: &[Route] = &[
    get("/repos/{owner}/{repo}/git/blobs/{sha}", blob).media(&[Media::Raw]),
    get("/repos/{owner}/{repo}/git/trees/{sha}", tree).query(&["recursive"]),
    get("/repos/{owner}/{repo}/git/commits/{sha}", commit),
    get("/repos/{owner}/{repo}/git/tags/{sha}", tag),
];
pub(super) const WRITE: &[Route] = &[
    post("/repos/{owner}/{repo}/git/blobs", create_blob).body(&["content", "encoding"]),
    post("/repos/{owner}/{repo}/git/trees", create_tree).body(&[
        "base_tree",
        "tree",
        "tree.path",
        "tree.mode",
        "tree.type",
        "tree.sha",
        "tree.content",
    ]),
    post("/repos/{owner}/{repo}/git/commits", create_commit).body(&[
        "message",
        "tree",
        "parents",
        "author",
        "author.name",
        "author.email",
        "author.date",
        "committer",
        "committer.name",
        "committer.email",
        "committer.date",
    ]),
    post("/repos/{owner}/{repo}/git/tags", create_tag).body(&[
        "tag",
        "message",
        "object",
        "type",
        "tagger",
        "tagger.name",
        "tagger.email",
        "tagger.date",
    ]),
];

fn blob(call: &Call) -> Answer {
    let git = call.read_git()?;
    let blob = git.find_blob(oid(call.part("sha"))?)?;
    if call.media == Media::Raw {
        return Ok(Reply::raw("application/octet-stream", blob.content().to_vec()));
    }
    let sha = blob.id().to_string();
    Ok(Reply::ok(json!({
        "sha": sha,
        "node_id": node_id("Blob", &sha),
        "size": blob.size(),
        "url": address(call, &format!("/git/blobs/{sha}"))?,
        "content": wrapped_base64(blob.content()),
        "encoding": "base64",
    })))
}

fn create_blob(call: &Call) -> Answer {
    let fields = call.fields("Blob")?;
    writable(call)?;
    let content = fields.text("content")?.ok_or_else(|| fields.missing("content"))?;
    let bytes = match fields.text("encoding")?.as_deref() {
        None | Some("utf-8") => content.into_bytes(),
        Some("base64") => {
            let plain: String = content.chars().filter(|c| !c.is_ascii_whitespace()).collect();
            BASE64_STANDARD.decode(plain).map_err(|_| Refusal::unprocessable("content is not valid Base64"))?
        }
        Some(_) => return Err(fields.invalid("encoding")),
    };
    if bytes.len() > BLOB_MAX {
        return Err(Refusal::custom("Blob", "content", "content is too large (maximum is 100 MB)"));
    }
    let sha = call.read_git()?.blob(&bytes)?.to_string();
    Ok(Reply::created(json!({"sha": sha, "url": address(call, &format!("/git/blobs/{sha}"))?})))
}

fn tree(call: &Call) -> Answer {
    let git = call.read_git()?;
    let named = git.revparse_single(call.part("sha")).map_err(|_| Refusal::not_found())?;
    let tree = named.peel_to_tree().map_err(|_| Refusal::not_found())?;
    let mut entries = Vec::new();
    let deep = call.query("recursive").is_some();
    let whole = collect(call, &git, &tree, "", deep, &mut entries)?;
    tree_reply(call, &tree, entries, !whole).map(Reply::ok)
}

/// Adds a tree's entries; returns whether all found room.
fn collect(
    call: &Call,
    git: &Repository,
    tree: &git2::Tree<'_>,
    prefix: &str,
    deep: bool,
    entries: &mut Vec<Value>,
) -> Result<bool, Refusal> {
    for entry in tree {
        if entries.len() >= TREE_MAX {
            return Ok(false);
        }
        let path = format!("{prefix}{}", String::from_utf8_lossy(entry.name_bytes()));
        let (id, kind) = (entry.id(), entry.kind().unwrap_or(ObjectType::Commit));
        let mut shown = json!({"path": path, "mode": format!("{:06o}", entry.filemode()), "type": kind.str(), "sha": id.to_string()});
        if let (Value::Object(fields), true) = (&mut shown, kind != ObjectType::Commit) {
            fields.insert("url".to_owned(), json!(address(call, &format!("/git/{}s/{id}", kind.str()))?));
            if kind == ObjectType::Blob {
                fields.insert("size".to_owned(), json!(git.odb()?.read_header(id)?.0));
            }
        }
        entries.push(shown);
        if deep
            && kind == ObjectType::Tree
            && !collect(call, git, &git.find_tree(id)?, &format!("{path}/"), deep, entries)?
        {
            return Ok(false);
        }
    }
    Ok(true)
}

fn tree_reply(call: &Call, tree: &git2::Tree<'_>, entries: Vec<Value>, truncated: bool) -> Result<Value, Refusal> {
    let sha = tree.id().to_string();
    Ok(
        json!({"sha": sha, "url": address(call, &format!("/git/trees/{sha}"))?, "tree": entries, "truncated": truncated}),
    )
}

fn create_tree(call: &Call) -> Answer {
    let fields = call.fields("Tree")?;
    writable(call)?;
    let git = call.read_git()?;
    let base = match fields.text("base_tree")? {
        Some(sha) => git.find_object(oid(&sha)?, None)?.peel_to_tree()?,
        None => git.find_tree(git.treebuilder(None)?.write()?)?,
    };
    let Some(Value::Array(entries)) = fields.raw("tree") else { return Err(fields.invalid("tree")) };
    let mut update = git2::build::TreeUpdateBuilder::new();
    for entry in entries {
        let path = entry["path"].as_str().filter(|path| plain_path(path)).ok_or_else(|| fields.invalid("tree.path"))?;
        if entry["sha"].is_null() && entry["content"].is_null() {
            update.remove(path);
            continue;
        }
        let mode = match entry["mode"].as_str() {
            Some("100644") => git2::FileMode::Blob,
            Some("100755") => git2::FileMode::BlobExecutable,
            Some("120000") => git2::FileMode::Link,
            Some("040000") => git2::FileMode::Tree,
            Some("160000") => git2::FileMode::Commit,
            Some(_) | None => return Err(fields.invalid("tree.mode")),
        };
        let id = match (entry["sha"].as_str(), entry["content"].as_str()) {
            (Some(sha), _) => oid(sha).map_err(|_| fields.invalid("tree.sha"))?,
            (None, Some(content)) => git.blob(content.as_bytes())?,
            (None, None) => return Err(fields.invalid("tree.sha")),
        };
        if mode != git2::FileMode::Commit && git.find_object(id, None).is_err() {
            return Err(Refusal::unprocessable(format!("tree.sha {id} is not a valid object")));
        }
        update.upsert(path, id, mode);
    }
    let made = update.create_updated(&git, &base).map_err(|error| Refusal::unprocessable(error.message()))?;
    let tree = git.find_tree(made)?;
    let mut shown = Vec::new();
    collect(call, &git, &tree, "", false, &mut shown)?;
    tree_reply(call, &tree, shown, false).map(Reply::created)
}

/// Whether a path stays inside the tree and out of git's own folder.
pub(super) fn plain_path(path: &str) -> bool {
    !path.is_empty()
        && path.split('/').all(|part| !matches!(part, "" | "." | "..") && !part.eq_ignore_ascii_case(".git"))
        && !path.contains('\0')
}

fn commit(call: &Call) -> Answer {
    let git = call.read_git()?;
    let commit = git.find_commit(oid(call.part("sha"))?)?;
    let state = call.state();
    Ok(Reply::ok(wire::git_commit(call.view(&state)?, &commit)))
}

fn create_commit(call: &Call) -> Answer {
    let fields = call.fields("Commit")?;
    writable(call)?;
    let git = call.read_git()?;
    // GitHub takes any text here, an empty one too.
    let message = fields.text("message")?.ok_or_else(|| fields.missing("message"))?;
    let tree = git.find_tree(oid(&fields.required("tree")?).map_err(|_| fields.invalid("tree"))?);
    let tree = tree.map_err(|_| Refusal::unprocessable("Tree SHA does not exist"))?;
    let mut parents = Vec::new();
    for parent in fields.texts("parents")?.unwrap_or_default() {
        let found = oid(&parent).and_then(|id| Ok(git.find_commit(id)?));
        parents.push(found.map_err(|_| Refusal::unprocessable("Parent SHA does not exist or is not a commit object"))?);
    }
    let author = signature(call, fields.raw("author"))?;
    let committer = fields.raw("committer").map(|who| signature(call, Some(who))).transpose()?;
    let committer = committer.unwrap_or_else(|| author.clone());
    let parents: Vec<_> = parents.iter().collect();
    // The forge signs commits that an App makes in its own name.
    let names_nobody = !fields.has("author") && !fields.has("committer");
    let id = match call.grant.is_some() && names_nobody {
        true => commit_for_app(&git, &author, &message, &tree, &parents)?,
        false => git.commit(None, &author, &committer, &message, &tree, &parents)?,
    };
    ref_moods::note_commit(call, id);
    let state = call.state();
    Ok(Reply::created(wire::git_commit(call.view(&state)?, &git.find_commit(id)?)))
}

fn tag(call: &Call) -> Answer {
    let git = call.read_git()?;
    tag_reply(call, &git, oid(call.part("sha"))?).map(Reply::ok)
}

fn create_tag(call: &Call) -> Answer {
    let fields = call.fields("Tag")?;
    writable(call)?;
    let git = call.read_git()?;
    let (name, message) = (fields.required("tag")?, fields.required("message")?);
    let object = git.find_object(oid(&fields.required("object")?)?, None);
    let object = object.map_err(|_| Refusal::unprocessable("Object does not exist"))?;
    let kind = object.kind().map_or("commit", |kind| kind.str());
    if fields.required("type")? != kind {
        return Err(fields.invalid("type"));
    }
    let tagger = signature(call, fields.raw("tagger"))?;
    let id = git.tag_annotation_create(&name, &object, &tagger, &message);
    let id = id.map_err(|error| Refusal::unprocessable(error.message()))?;
    tag_reply(call, &git, id).map(Reply::created)
}

fn tag_reply(call: &Call, git: &Repository, id: Oid) -> Result<Value, Refusal> {
    let tag = git.find_tag(id)?;
    let (target, kind) = (tag.target_id(), tag.target_type().unwrap_or(ObjectType::Commit).str());
    Ok(json!({
        "sha": id.to_string(),
        "node_id": node_id("Tag", id),
        "url": address(call, &format!("/git/tags/{id}"))?,
        "tag": String::from_utf8_lossy(tag.name_bytes()),
        "message": String::from_utf8_lossy(tag.message_bytes().unwrap_or_default()),
        "tagger": tag.tagger().map(|tagger| person(&tagger)),
        "object": {"sha": target.to_string(), "type": kind, "url": address(call, &format!("/git/{kind}s/{target}"))?},
        "verification": {"verified": false, "reason": "unsigned", "signature": null, "payload": null, "verified_at": null},
    }))
}

/// The committer: the one that was sent, or the account itself.
pub(super) fn signature(call: &Call, sent: Option<&Value>) -> Result<Signature<'static>, Refusal> {
    let login = call.actor()?;
    let noreply = {
        let state = call.state();
        let id = state.accounts.get(login.as_str()).map_or(0, |account| account.id);
        format!("{id}+{login}@users.noreply.github.com")
    };
    let text = |field: &str| sent.and_then(|who| who[field].as_str());
    let (name, email) = (text("name").unwrap_or(login.as_str()), text("email").unwrap_or(&noreply));
    let at = match text("date") {
        Some(date) => date.parse().map_err(|_| Refusal::invalid("Commit", "date"))?,
        None => call.now,
    };
    let signature = Signature::new(name, email, &Time::new(at.timestamp(), 0));
    signature.map_err(|error| Refusal::unprocessable(error.message()))
}

fn oid(sha: &str) -> Result<Oid, Refusal> {
    let whole = Some(sha).filter(|sha| sha.len() == 40).and_then(|sha| Oid::from_str(sha).ok());
    whole.ok_or_else(Refusal::not_found)
}

fn writable(call: &Call) -> Result<(), Refusal> {
    call.repository(&call.state(), Role::Write)?;
    call.actor().map(|_| ())
}

fn address(call: &Call, below: &str) -> Result<String, Refusal> {
    let state = call.state();
    Ok(call.view(&state)?.api(below))
}
