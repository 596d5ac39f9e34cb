//! A person's sign-off on the commits of a branch: Hob's commits are made again with that person as their author.

use std::collections::HashMap;

use git2::{Commit, Oid, Repository, Sort};
use hob_domain::{CommitIdentity, Sha, Timestamp, has_sign_off_of, shown_path, signed_off};

use crate::{
    Checkout, Foreign, WorkspaceError,
    commit::{is_own, signature},
    error::library,
    git_dir,
    layout::blocking,
    object_id::oid,
};

/// This file's step in errors.
const DOING: &str = "sign the commits off";

/// What a sign-off came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignedOff {
    /// So many commits were made again, and the branch has this tip.
    Commits(usize, Sha),
    /// No commit of Hob's lacks a person's sign-off.
    Already,
    /// This commit of somebody else is on top of one that lacks it.
    Below(Foreign),
}

/// Who made the commits, who signs them off, and when.
#[derive(Debug, Clone)]
pub struct Signer {
    /// The identity whose commits may change.
    pub own: CommitIdentity,
    /// The person.
    pub by: CommitIdentity,
    /// The time of the new commits.
    pub time: Timestamp,
}

/// Makes Hob's commits on the branch that lack a person's sign-off again, with `signer.by` as their author and with that
/// sign-off; their files stay. The commits of `base_tip` are not part of the work.
///
/// # Errors
/// [`WorkspaceError::Library`] when a commit cannot be read or written.
pub async fn sign_off(checkout: &Checkout, base_tip: &Sha, signer: Signer) -> Result<SignedOff, WorkspaceError> {
    let (git, branch) = (checkout.git_dir(), checkout.branch().full());
    let (start, known) = (oid(checkout.start())?, [oid(checkout.base())?, oid(base_tip)?]);
    blocking(DOING, move || {
        let repo = git_dir::open(&git, DOING)?;
        let done = sign_all_off(&repo, start, known, &signer).map_err(library(DOING))?;
        if let SignedOff::Commits(_, tip) = &done {
            repo.reference(&branch, oid(tip)?, true, "signed off").map_err(library(DOING))?;
        }
        Ok(done)
    })
    .await
}

fn sign_all_off(repo: &Repository, tip: Oid, known: [Oid; 2], signer: &Signer) -> Result<SignedOff, git2::Error> {
    let mut walk = repo.revwalk()?;
    walk.set_sorting(Sort::TOPOLOGICAL | Sort::REVERSE)?;
    walk.push(tip)?;
    // The base's tip may not be here if it has nothing of the branch.
    known.into_iter().filter(|id| repo.find_commit(*id).is_ok()).try_for_each(|id| walk.hide(id))?;
    let (mut moved, mut count): (HashMap<Oid, Oid>, usize) = (HashMap::new(), 0);
    for id in walk {
        let commit = repo.find_commit(id?)?;
        let is_on_new = commit.parent_ids().any(|parent| moved.contains_key(&parent));
        if !is_own(&commit, &signer.own) {
            if is_on_new {
                let author = shown_path(commit.author().name_bytes());
                return Ok(SignedOff::Below(Foreign { sha: Sha(commit.id().to_string()), author }));
            }
            continue;
        }
        let lacks = lacks_sign_off(&commit, &signer.own);
        if lacks || is_on_new {
            count += usize::from(lacks);
            moved.insert(commit.id(), again(repo, &commit, &moved, lacks.then_some(&signer.by), signer)?);
        }
    }
    Ok(match moved.get(&tip) {
        Some(tip) => SignedOff::Commits(count, Sha(tip.to_string())),
        None => SignedOff::Already,
    })
}

/// Whether no person signed a commit of Hob's off. What a merge brings is not its author's.
fn lacks_sign_off(commit: &Commit<'_>, own: &CommitIdentity) -> bool {
    let author = identity(&commit.author());
    let message = String::from_utf8_lossy(commit.message_bytes()).into_owned();
    let is_a_persons = !own.is_own(&author.name, &author.email);
    commit.parent_count() == 1 && !(is_a_persons && has_sign_off_of(&message, &author))
}

/// Makes a commit again, on its moved parents, by this author.
fn again(
    repo: &Repository,
    commit: &Commit<'_>,
    moved: &HashMap<Oid, Oid>,
    by: Option<&CommitIdentity>,
    signer: &Signer,
) -> Result<Oid, git2::Error> {
    let parents = commit.parent_ids().map(|id| repo.find_commit(moved.get(&id).copied().unwrap_or(id)));
    let parents = parents.collect::<Result<Vec<_>, _>>()?;
    let message = String::from_utf8_lossy(commit.message_bytes()).into_owned();
    let (author, message) = match by {
        Some(by) => {
            let made = signature(by, signer.time)?;
            let author = git2::Signature::new(
                &String::from_utf8_lossy(made.name_bytes()),
                &String::from_utf8_lossy(made.email_bytes()),
                &commit.author().when(),
            )?;
            // As git writes the name: a DCO compares the two.
            let message = signed_off(&message, &identity(&author));
            (author, message)
        }
        None => (commit.author().to_owned(), message),
    };
    let committer = signature(&signer.own, signer.time)?;
    repo.commit(None, &author, &committer, &message, &commit.tree()?, &parents.iter().collect::<Vec<_>>())
}

fn identity(signature: &git2::Signature<'_>) -> CommitIdentity {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    CommitIdentity { name: text(signature.name_bytes()), email: text(signature.email_bytes()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(name: &str) -> CommitIdentity {
        CommitIdentity { name: name.to_owned(), email: format!("9+{name}@users.noreply.github.com") }
    }

    fn signer() -> Signer {
        Signer { own: CommitIdentity::common("Hob"), by: person("ann"), time: Timestamp::UNIX_EPOCH }
    }

    /// A commit by this author and committer, with a file of its own.
    fn commit(repo: &Repository, by: &CommitIdentity, parents: &[Oid], message: &str) -> Oid {
        let by = signature(by, Timestamp::UNIX_EPOCH).unwrap();
        let parents: Vec<_> = parents.iter().map(|id| repo.find_commit(*id).unwrap()).collect();
        let mut tree = repo.treebuilder(parents.first().map(|one| one.tree().unwrap()).as_ref()).unwrap();
        tree.insert(message.replace(' ', "-"), repo.blob(message.as_bytes()).unwrap(), 0o100_644).unwrap();
        let tree = repo.find_tree(tree.write().unwrap()).unwrap();
        repo.commit(None, &by, &by, message, &tree, &parents.iter().collect::<Vec<_>>()).unwrap()
    }

    /// The new commits, the newest first: author, committer, and sign-offs.
    fn told(repo: &Repository, tip: &Sha, base: Oid) -> Vec<String> {
        let mut walk = repo.revwalk().unwrap();
        walk.set_sorting(Sort::TOPOLOGICAL).unwrap();
        walk.push(oid(tip).unwrap()).unwrap();
        walk.hide(base).unwrap();
        let one = |id: Result<Oid, git2::Error>| {
            let commit = repo.find_commit(id.unwrap()).unwrap();
            let (author, committer) = (identity(&commit.author()).name, identity(&commit.committer()).name);
            let message = commit.message().unwrap();
            let subject = message.lines().next().unwrap();
            format!("{subject}: {author}, {committer}, {}", message.matches("Signed-off-by: ann <9+ann@").count())
        };
        walk.map(one).collect()
    }

    fn tip(done: SignedOff) -> (usize, Sha) {
        let SignedOff::Commits(count, tip) = done else { panic!("{done:?}") };
        (count, tip)
    }

    #[test]
    fn hobs_commits_are_made_again_and_those_of_people_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let repo = Repository::init_bare(folder.path()).unwrap();
        let (hob, bob) = (CommitIdentity::common("Hob"), person("bob"));
        let base = commit(&repo, &bob, &[], "base");
        let first = commit(&repo, &hob, &[base], "first");
        let later_base = commit(&repo, &bob, &[base], "later base");
        let merge = commit(&repo, &hob, &[first, later_base], "merge");
        let sign = |tip, base| sign_all_off(&repo, tip, [base; 2], &signer()).unwrap();

        let (count, signed) = tip(sign(merge, later_base));
        assert_eq!(count, 1, "a merge needs no sign-off");
        assert_eq!(told(&repo, &signed, later_base), ["merge: Hob, Hob, 0", "first: ann, Hob, 1"]);
        let tree = |id: Oid| repo.find_commit(id).unwrap().tree_id();
        assert_eq!(tree(oid(&signed).unwrap()), tree(merge));
        assert_eq!(sign(oid(&signed).unwrap(), later_base), SignedOff::Already);

        // What a person put on top of unsigned commits stays, and so do those.
        let theirs = commit(&repo, &bob, &[first], "theirs");
        let on_top = commit(&repo, &hob, &[theirs], "on top");
        let foreign = Foreign { sha: Sha(theirs.to_string()), author: "bob".to_owned() };
        assert_eq!(sign(on_top, base), SignedOff::Below(foreign));

        // What is on top of a person's commit alone is signed off.
        let theirs = commit(&repo, &bob, &[base], "theirs");
        let on_top = commit(&repo, &hob, &[theirs], "on top");
        let (count, signed) = tip(sign(on_top, base));
        assert_eq!(
            (count, told(&repo, &signed, base)),
            (1, vec!["on top: ann, Hob, 1".to_owned(), "theirs: bob, bob, 0".to_owned()])
        );
        assert_eq!(repo.find_commit(oid(&signed).unwrap()).unwrap().parent_id(0).unwrap(), theirs);
    }
}
