//! A part of a large repository: what is downloaded, what is checked out, and what a commit keeps of the rest.

use super::{update::update, *};

/// A repository with folders that the work needs and others, in a workspace of two folders; on the disk, since trees that are in
/// memory are not recycled.
async fn yard() -> Yard {
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let yard = Yard::at(home, WorkspaceSettings::default()).await;
    let files = "mkdir -p .github api/core api/old docs/img libs/a libs/b 'odd [x]'
        for file in top.txt .github/w.yml api/about api/core/a.c api/old/b.c docs/d.md docs/img/p.png libs/l libs/a/a libs/b/b 'odd [x]/o'
        do echo \"text of $file\" > \"$file\"; done";
    sh(&yard.source(), files).await;
    yard.git("add -A && git commit -qm first && git push -q origin main").await;
    yard.within(&["api/core/", "libs"])
}

impl Yard {
    fn within(mut self, folders: &[&str]) -> Self {
        let folders: Vec<String> = folders.iter().map(|&folder| folder.to_owned()).collect();
        self.workspace = self.workspace.recycling(2).within(&folders);
        self
    }

    /// How many contents of files the mirror and the issue do not have, of all that the repository has.
    async fn absent(&self) -> String {
        let git = self.issue().join("git");
        let list = "git rev-list --objects --missing=print refs/heads/hob/7-fix | grep -c '^?' || true";
        sh(&git, &format!("export GIT_NO_LAZY_FETCH=1; {list}")).await.trim().to_owned()
    }
}

/// The files in a folder, those of git aside.
async fn files(folder: &Path) -> String {
    sh(folder, "find . -path ./.git -prune -o -type f -printf '%P\\n' | sort | tr '\\n' ' '").await
}

const PART: &str = ".github/w.yml api/about api/core/a.c libs/a/a libs/b/b libs/l top.txt ";

#[tokio::test]
async fn only_the_part_is_downloaded_and_checked_out_and_a_commit_keeps_the_rest() {
    let yard = yard().await;
    let checkout = yard.prepare().await;
    assert_eq!((files(checkout.folder()).await.as_str(), yard.absent().await.as_str()), (PART, "4"));
    assert_eq!(sh(checkout.folder(), "git status --porcelain; git stash list").await, "", "nothing is missing for git");
    assert_eq!(commit(&checkout).await.unwrap(), None);

    let work =
        "echo more >> api/core/a.c; echo new > api/core/n.c; mkdir -p web docs; echo w > web/w; echo n > docs/new.md
        git rm -q --cached libs/l; rm libs/l; git checkout -q HEAD -- .; rm libs/b/b; git reset -q --hard; rm libs/b/b
        echo more >> api/core/a.c; echo new > api/core/n.c";
    sh(checkout.folder(), work).await;
    let head = commit(&checkout).await.unwrap().unwrap();
    let changed = checkout.diff(checkout.base(), &head).await.unwrap();
    let names: Vec<_> = changed.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(names, ["api/core/a.c", "api/core/n.c", "docs/new.md", "libs/b/b", "web/w"]);
    assert_eq!(yard.absent().await, "4", "the rest is in the commit as it was");
    let proof = checkout.proof(&head).await.unwrap();
    let proven = ".github/w.yml api/about api/core/a.c api/core/n.c docs/new.md libs/a/a libs/l top.txt web/w ";
    assert_eq!(files(&proof).await, proven, "with what the work put elsewhere");
    assert_eq!(sh(&proof, "git status --porcelain").await, "");
    yard.push(&checkout, &head, None).await.unwrap();
    let pushed = yard.sh("git -C served.git ls-tree -r --name-only hob/7-fix | wc -l").await;
    assert_eq!(pushed.trim(), "13");

    // Elsewhere, with nothing from here.
    fs::remove_dir_all(yard.home.path().join("state")).unwrap();
    let again = yard.prepare().await;
    assert_eq!((files(again.folder()).await.as_str(), again.start()), (proven, &head));
}

#[tokio::test]
async fn a_file_that_is_elsewhere_is_not_replaced_by_one_that_never_saw_it() {
    let yard = yard().await;
    let checkout = yard.prepare().await;
    sh(checkout.folder(), "mkdir docs; echo mine > docs/d.md; echo more >> top.txt").await;
    let head = commit(&checkout).await.unwrap().unwrap();
    let left = LeftOut { path: "docs/d.md".to_owned(), why: WhyLeftOut::NotCheckedOut, files: 1 };
    assert_eq!(checkout.left_out(), [left]);
    let diff = checkout.diff(checkout.base(), &head).await.unwrap();
    assert_eq!(diff.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["top.txt"]);
    assert_eq!(files(&checkout.proof(&head).await.unwrap()).await, PART);
}

/// Attack corpus J108: a link that leads out by way of one that is not here.
#[tokio::test]
async fn a_link_through_one_that_is_elsewhere_may_lead_anywhere() {
    let yard = yard().await;
    yard.git("pull -q origin main; ln -s /etc docs/out; git add -A; git commit -qm link; git push -q origin HEAD:main")
        .await;
    let checkout = yard.prepare().await;
    sh(checkout.folder(), "ln -s ../docs/d.md libs/file; ln -s ../docs/out/passwd libs/out").await;
    let head = commit(&checkout).await.unwrap().unwrap();
    let out = checkout.diff(checkout.base(), &head).await.unwrap().links_out;
    assert_eq!(out.iter().map(|link| link.path.as_str()).collect::<Vec<_>>(), ["libs/out"]);
}

#[tokio::test]
async fn a_tree_of_one_part_becomes_one_of_another_or_of_all() {
    let mut yard = yard().await;
    let all = yard.git("ls-files | sort | tr '\\n' ' '").await.replace('"', "");
    for (folders, holds) in [
        (
            &["docs/img", "api"][..],
            ".github/w.yml api/about api/core/a.c api/old/b.c docs/d.md docs/img/p.png top.txt ",
        ),
        (&["odd [x]"], ".github/w.yml odd [x]/o top.txt "),
        (&["gone"], ".github/w.yml top.txt "),
        (&[], all.as_str()),
        (&["libs", "api/core", "libs/a"], PART),
    ] {
        yard = yard.within(folders);
        let checkout = yard.prepare().await;
        let proof = checkout.proof(checkout.base()).await.unwrap();
        assert_eq!((files(checkout.folder()).await.as_str(), files(&proof).await.as_str()), (holds, holds));
        assert_eq!(sh(&proof, "git status --porcelain").await, "", "{folders:?}");
    }
}

#[tokio::test]
async fn a_branch_meets_a_base_that_changed_in_the_part_and_elsewhere() {
    let yard = yard().await;
    let checkout = yard.prepare().await;
    sh(checkout.folder(), "echo mine >> api/core/a.c; mkdir web; echo w > web/w").await;
    let work = commit(&checkout).await.unwrap().unwrap();
    yard.push(&checkout, &work, None).await.unwrap();
    let theirs = "git mv docs/d.md docs/e.md; echo theirs >> docs/img/p.png; git rm -q api/old/b.c; echo x > api/about";
    yard.git(&format!(
        "pull -q origin main; {theirs}; git add -A; git commit -qm theirs; git push -q origin HEAD:main"
    ))
    .await;
    fs::remove_dir_all(yard.home.path().join("state")).unwrap();
    let (checkout, updated) = update(&yard, Leftover::Remove).await;
    assert_eq!(updated, hob_workspace::BranchUpdate::Rebased(1));
    assert_eq!(fs::read_to_string(checkout.folder().join("api/about")).unwrap(), "x\n");
    assert!(files(checkout.folder()).await.contains("web/w") && yard.absent().await != "0");

    yard.git("pull -q origin main; echo other >> api/core/a.c; git commit -qam other; git push -q origin HEAD:main")
        .await;
    let (checkout, updated) = update(&yard, Leftover::Remove).await;
    assert_eq!(updated, hob_workspace::BranchUpdate::Conflicted(1));
    assert_eq!(checkout.conflicts()[0].path, "api/core/a.c");
}
