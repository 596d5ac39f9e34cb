//! Trees that go from one issue to the next.

use std::{collections::BTreeSet, os::unix::fs::MetadataExt};

use rustix::fs::{XattrFlags, setxattr};

use super::*;

/// File systems on which files stay in a tree: ext2 to ext4, XFS, Btrfs.
const TRUSTED: [u32; 3] = [0xef53, 0x5846_5342, 0x9123_683e];

/// A yard on the disk, since the folder of temporary files may be in memory, with `spare` trees of each kind.
async fn yard(spare: usize) -> Yard {
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut yard = Yard::at(home, WorkspaceSettings::default()).await;
    yard.workspace = yard.workspace.recycling(spare);
    yard.begun().await;
    yard
}

impl Yard {
    fn state(&self) -> PathBuf {
        self.home.path().join("state/acme/site")
    }

    /// Commits so many files that git does not write all of them within a tick of the clock: those of the last one are
    /// written again in any case.
    async fn many(&self) {
        sh(&self.source(), "seq 1000 | split -l 1 -a 3 --additional-suffix=.txt - src/b").await;
        self.git("add -A && git commit -qm many && git push -q origin main").await;
    }

    /// The names of the free trees of a kind.
    fn free(&self, kind: &str) -> Vec<String> {
        let folder = fs::read_dir(self.state().join("free").join(kind)).into_iter().flatten();
        let mut names: Vec<_> = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    async fn issue_of(&self, workspace: &Workspace, issue: u64) -> Checkout {
        let base = self.workspace.fetch(&self.remote, &main_branch()).await.unwrap();
        let branch: BranchName = format!("hob/{issue}").parse().unwrap();
        workspace.prepare(&self.remote, IssueNumber(issue), &branch, &base, Leftover::Remove).await.unwrap()
    }

    async fn prepared(&self, issue: u64) -> Checkout {
        self.issue_of(&self.workspace, issue).await
    }

    /// All issues have ended.
    async fn prune(&self) {
        let before = Timestamp::from_timestamp(32_503_680_000, 0).unwrap();
        let stay = Retention { before, listed: Vec::new(), in_progress: Vec::new(), most: 0 };
        self.workspace.prune(self.remote.repo(), stay).await.unwrap();
    }
}

fn inode(path: impl AsRef<Path>) -> u64 {
    fs::symlink_metadata(path).unwrap().ino()
}

/// All that a child sees of a folder: names, kinds, modes, targets and contents, and its git directory's settings.
async fn seen(folder: &Path) -> String {
    let list = "find . -path ./.git -prune -o -printf '%P %y %m %n %l\\n' | sort
        find . -path ./.git -prune -o -type f -print | sort | xargs -d '\\n' sha256sum; ls .git; cat .git/config
        git status --porcelain --ignored; git ls-files -v";
    sh(folder, list).await
}

fn is_trusted(yard: &Yard) -> bool {
    TRUSTED.contains(&(rustix::fs::statfs(yard.home.path()).unwrap().f_type as u32))
}

#[tokio::test]
async fn the_next_issue_gets_the_trees_of_one_that_ended() {
    let yard = yard(2).await;
    yard.many().await;
    let checkout = yard.prepared(7).await;
    let proof = checkout.proof(checkout.base()).await.unwrap();
    let known = |folder: &Path| {
        let files = fs::read_dir(folder.join("src")).unwrap().map(|entry| {
            let found = entry.unwrap().metadata().unwrap();
            (found.ino(), found.ctime(), found.ctime_nsec())
        });
        (inode(folder.join("src")), files.collect::<BTreeSet<_>>())
    };
    let (tree, checked) = (known(checkout.folder()), known(&proof));
    drop(checkout);
    assert_eq!(
        (yard.free("trees"), yard.free("proofs")),
        (vec![], vec!["0".to_owned()]),
        "an issue goes on in its tree"
    );
    yard.prune().await;
    assert_eq!((yard.free("trees").len(), yard.free("proofs").len()), (1, 1));

    let next = yard.prepared(8).await;
    let proof = next.proof(next.base()).await.unwrap();
    assert_eq!((yard.free("trees").len(), yard.free("proofs").len()), (0, 0));
    for (folder, (src, files)) in [(next.folder(), tree), (&*proof, checked)] {
        assert_eq!(fs::read_to_string(folder.join("src/a.txt")).unwrap(), "one\ntwo\n");
        assert_eq!(inode(folder.join("src")) == src, is_trusted(&yard), "the folder");
        let (_, now) = known(folder);
        let same = now.intersection(&files).count();
        assert!(now.len() == 1001 && (same > 0) == is_trusted(&yard), "{same} files are the same");
    }
    fs::write(next.folder().join("src/a.txt"), "one\n2\n").unwrap();
    let head = commit(&next).await.unwrap().unwrap();
    assert_eq!(next.diff(next.base(), &head).await.unwrap().files.len(), 1);
    yard.push(&next, &head, None).await.unwrap();
}

/// Once the agent has ended, nobody writes to the folder of the checks before they begin: one look at it is enough.
#[tokio::test]
async fn what_is_cleaned_before_the_checks_is_filled_without_another_look() {
    let yard = yard(2).await;
    yard.many().await;
    let checkout = yard.prepared(7).await;
    checkout.clean_ahead().await;
    let proof = checkout.proof(checkout.base()).await.unwrap();
    for leaves in ["left", "src/a.txt"] {
        fs::write(proof.join(leaves), "left").unwrap();
    }
    checkout.clean_ahead().await;
    assert!(!proof.join("left").exists() && !proof.join("src/a.txt").exists());
    fs::write(proof.join("later"), "").unwrap();
    let proof = checkout.proof(checkout.base()).await.unwrap();
    assert_eq!(fs::read_to_string(proof.join("src/a.txt")).unwrap(), "one\ntwo\n");
    assert!(proof.join("later").exists(), "it is looked through once");
    let proof = checkout.proof(checkout.base()).await.unwrap();
    assert!(!proof.join("later").exists() && proof.join("src/a.txt").exists());
}

/// Attack corpus L160: an agent, or a check, leaves something for the next issue.
#[tokio::test]
async fn nothing_of_an_issue_is_in_the_next_ones_trees() {
    let yard = yard(2).await;
    yard.many().await;
    let fill =
        "mkdir -p deep/er; for n in 1 2 3 4 5 6 7 8 9; do echo file$n > f$n; done; echo x > deep/er/x; ln -s f1 l
        printf '*.id ident\\n*.txt text\\n' > .gitattributes; printf '$Id$\\n' > f.id; echo '#!' > run; chmod +x run";
    sh(&yard.source(), fill).await;
    yard.git("add -A && git commit -qm more && git push -q origin main").await;
    let outside = yard.home.path().join("outside");
    fs::create_dir_all(outside.join("er")).unwrap();
    fs::write(outside.join("er/x"), "x\n").unwrap();
    let fresh =
        Workspace::open(yard.home.path().join("other"), WorkspaceSettings::default(), child_environment().into()).await;
    let fresh = fresh.unwrap();
    fresh.fetch(&yard.remote, &main_branch()).await.unwrap();
    let expected = yard.issue_of(&fresh, 8).await;
    let expected_proof = expected.proof(expected.base()).await.unwrap();
    let (expected, expected_proof) = (seen(expected.folder()).await, seen(&expected_proof).await);

    for (issue, hostile) in [
        // Same size, same time of change of content; and the time of Hob's index, which a child in a fence can set.
        "for f in f1 src/a.txt src/baaa.txt src/baab.txt deep/er/x run; do cp -p $f /tmp/ref.$$; tr a-z0-9 A-Z1-9 < $f > new; cat new > $f
            touch -r /tmp/ref.$$ $f; rm new /tmp/ref.$$; done; touch -d 2100-01-01 ../tree.index ../proof.index",
        // What git would not commit as a change.
        "cp -p f.id r; printf '$Id: rm -rf $\\n' > f.id; touch -r r f.id; rm r; printf 'one\\r\\ntwo\\r\\n' > src/a.txt",
        "echo 2 > f2; rm f3; echo x > new; echo x > ignored.log; mkdir some; echo x > some/x; mkfifo pipe",
        "git init -q nested; git init -q src; mkdir -p sub/.GIT; cp -r .git deep/.git; echo 'gitdir: /x' > deep/er/.git",
        "chmod 755 f1; chmod 600 f2; chmod a-x run; chmod 2777 src; chmod 1700 deep; chmod 500 deep/er",
        "rm -r deep; ln -s ../../../../../outside deep; ln -sf /etc/passwd f1; rm l; ln -s f2 l; rm f5; mkdir f5",
        "ln f1 other; ln -f f2 f3; rm -rf src; echo x > src; mv f6 f7",
        "git update-index --assume-unchanged f1; git update-index --skip-worktree f2; echo 1 > f1; echo 2 > f2",
        "git config core.fsmonitor 'touch /tmp/x'; git config core.hooksPath .hooks; mkdir .hooks .git/hooks
            printf '#!/bin/sh\\n' > .hooks/post-checkout; git commit -qm own --allow-empty; git checkout -q -b own",
        "rm -rf .git; ln -s ../../../../../outside .git; mkdir x; chmod 000 x src; chmod 000 .",
    ]
    .into_iter()
    .enumerate()
    {
        let issue = issue as u64 * 2 + 10;
        let checkout = yard.prepared(issue).await;
        let proof = checkout.proof(checkout.base()).await.unwrap();
        for folder in [checkout.folder(), &proof] {
            setxattr(folder.join("deep"), "user.note", b"x", XattrFlags::empty()).ok();
            sh(folder, hostile).await;
        }
        drop(checkout);
        yard.prune().await;
        assert_eq!((yard.free("trees").len(), yard.free("proofs").len()), (1, 1), "{hostile}");
        let next = yard.prepared(8).await;
        let proof = next.proof(next.base()).await.unwrap();
        assert_eq!((yard.free("trees").len(), yard.free("proofs").len()), (0, 0), "{hostile}");
        assert_eq!(seen(next.folder()).await, expected, "{hostile}");
        assert_eq!(seen(&proof).await, expected_proof, "{hostile}");
        for folder in [next.folder(), &proof] {
            let mut names = [0; 100];
            assert_eq!(rustix::fs::listxattr(folder.join("deep"), &mut names).unwrap_or(0), 0, "{hostile}");
        }
        assert_eq!(fs::read_to_string(outside.join("er/x")).unwrap(), "x\n", "{hostile}");
        assert_eq!(commit(&next).await.unwrap(), None, "{hostile}");
        drop(next);
        yard.prune().await;
    }
}

/// Attack corpus L160: the folder of the checks is clean at each run of an issue, too.
#[tokio::test]
async fn a_check_cannot_leave_a_forged_file_for_the_next_one() {
    let yard = yard(1).await;
    yard.many().await;
    let checkout = yard.prepared(7).await;
    for _ in 0..3 {
        let proof = checkout.proof(checkout.base()).await.unwrap();
        assert_eq!(fs::read_to_string(proof.join("src/a.txt")).unwrap(), "one\ntwo\n");
        assert_eq!(fs::read_to_string(proof.join("src/baaa.txt")).unwrap(), "1\n");
        let forge = "for f in src/a.txt src/baaa.txt; do cp -p $f r; tr 1a-z 2A-Z < r > $f; touch -r r $f; rm r; done";
        sh(&proof, &format!("{forge}; touch -d 2100-01-01 ../proof.index")).await;
    }
}

/// The files of a folder that are those of another time.
fn same_files(folder: &Path, known: &BTreeSet<(u64, i64, i64)>) -> usize {
    files_in(folder).intersection(known).count()
}

fn files_in(folder: &Path) -> BTreeSet<(u64, i64, i64)> {
    let files = fs::read_dir(folder.join("src")).unwrap().map(|entry| {
        let found = entry.unwrap().metadata().unwrap();
        (found.ino(), found.ctime(), found.ctime_nsec())
    });
    files.collect()
}

/// Attack corpus L160: an agent in a fence can change modes and times of files that it cannot write.
#[tokio::test]
async fn a_folder_of_checks_that_was_filled_ahead_is_cleaned_when_it_is_needed() {
    let yard = yard(1).await;
    yard.many().await;
    let checkout = yard.prepared(7).await;
    let proof = checkout.proof(checkout.base()).await.unwrap();
    let expected = seen(&proof).await;
    sh(&proof, "echo x > left; echo 2 > src/a.txt").await;
    checkout.fill_ahead(checkout.base()).await;
    assert_eq!(seen(&proof).await, expected);
    let filled = files_in(&proof);
    let hostile = "chmod 777 src/baaa.txt; touch -d 2001-01-01 src/baab.txt; chmod 700 src; chmod 000 .; touch -d 2100-01-01 ../proof.index";
    sh(&proof, hostile).await;
    checkout.proof(checkout.base()).await.unwrap();
    assert_eq!(seen(&proof).await, expected);
    assert!(!files_in(&proof).is_empty() && (same_files(&proof, &filled) == 0));
    // Without such an agent, what was filled ahead is not written again.
    checkout.fill_ahead(checkout.base()).await;
    let filled = files_in(&proof);
    checkout.proof(checkout.base()).await.unwrap();
    assert_eq!(same_files(&proof, &filled) > 500, is_trusted(&yard));
}

/// Its work on the disk goes on, and what follows waits for it.
#[tokio::test]
async fn a_fill_that_is_dropped_leaves_the_folder_to_the_next() {
    let yard = yard(1).await;
    yard.many().await;
    let checkout = yard.prepared(7).await;
    let expected = seen(&checkout.proof(checkout.base()).await.unwrap()).await;
    for steps in 1..40 {
        let mut ahead = Box::pin(checkout.fill_ahead(checkout.base()));
        for _ in 0..steps {
            if futures_util::poll!(&mut ahead).is_ready() {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(ahead);
        let proof = checkout.proof(checkout.base()).await.unwrap();
        assert_eq!(sh(&proof, "git status --porcelain --ignored; ls src | wc -l").await, "1001\n", "{steps}");
    }
    assert_eq!(seen(&checkout.proof(checkout.base()).await.unwrap()).await, expected);
}

#[tokio::test]
async fn the_folder_of_the_checks_is_filled_beside_the_agents() {
    let yard = yard(2).await;
    yard.many().await;
    let checkout = yard.prepared(7).await;
    let expected = seen(&checkout.proof(checkout.base()).await.unwrap()).await;
    drop(checkout);
    yard.prune().await;
    let checking = yard.workspace.clone().checking_base();
    // The second finds no free trees.
    let both = [yard.issue_of(&checking, 8).await, yard.issue_of(&checking, 9).await];
    assert_eq!((yard.free("trees").len(), yard.free("proofs").len()), (0, 0));
    for checkout in both {
        let names = sh(checkout.folder(), "git status --porcelain --ignored; ls src | wc -l").await;
        assert_eq!(names, "1001\n");
        assert_eq!(seen(&checkout.folder().with_file_name("proof")).await, expected);
    }
}

#[tokio::test]
async fn no_agents_tree_becomes_one_of_the_checks() {
    let yard = yard(2).await;
    drop(yard.prepared(7).await);
    yard.prune().await;
    assert_eq!((yard.free("trees").len(), yard.free("proofs").len()), (1, 0));
    let next = yard.prepared(8).await;
    drop(yard.prepared(9).await);
    yard.prune().await;
    next.proof(next.base()).await.unwrap();
    assert_eq!(yard.free("trees").len(), 1, "the checks took it");
}

/// Git cannot read its index, files are a link, and what a crash left in the middle of taking and resetting one.
#[tokio::test]
async fn a_tree_that_cannot_be_cleaned_is_replaced() {
    let yard = yard(1).await;
    let outside = yard.home.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("x"), "keep").unwrap();
    for (issue, damage) in [
        "echo junk > free/trees/0/index",
        "rm free/trees/0/index",
        "rm free/trees/0/index; mkdir free/trees/0/index",
        "chmod 000 free/trees/0/index free/trees/0/files free/trees/0",
        "rm -r free/trees/0/files; ln -s ../../../../../../outside free/trees/0/files",
        "rm -r free/trees/0; echo x > free/trees/0",
        "rm -r free/trees/0; mkdir free/trees/0",
        // A crash after the rename that takes it.
        "mkdir -p issues/8; mv free/trees/0 issues/8/tree.taken",
        // A crash in the middle of git's work.
        "mkdir -p issues/8; mv free/trees/0/files issues/8/tree; mv free/trees/0/index issues/8/tree.index
            rm issues/8/tree/src/a.txt; echo half > issues/8/tree/.gitignore; echo x > issues/8/tree.index.lock",
        "mkdir -p issues/8; mv free/trees/0/files issues/8/tree; mv free/trees/0 issues/8/tree.taken; mkdir issues/8/tree.fresh
            mv issues/8/tree/src issues/8/tree.fresh; mkdir issues/8/tree.probe",
        // A crash while it was made free.
        "mkdir -p issues/8; mv free/trees/0 issues/8/tree.freed; rm -r issues/8/tree.freed/files",
    ]
    .into_iter()
    .enumerate()
    {
        drop(yard.prepared(issue as u64 + 10).await);
        yard.prune().await;
        assert_eq!(yard.free("trees"), ["0"], "{damage}");
        sh(&yard.state(), damage).await;
        let next = yard.prepared(8).await;
        let names = "find . -path ./.git -prune -o -type f -print | sort; git status --porcelain --ignored";
        assert_eq!(sh(next.folder(), names).await, "./.gitignore\n./src/a.txt\n", "{damage}");
        assert_eq!(commit(&next).await.unwrap(), None, "{damage}");
        drop(next);
        yard.prune().await;
        sh(&yard.state(), "rm -rf free issues").await;
    }
    assert_eq!(fs::read_to_string(outside.join("x")).unwrap(), "keep");
}

#[tokio::test]
async fn no_more_trees_are_free_than_are_kept() {
    let yard = yard(2).await;
    for _ in 0..2 {
        let made = futures_util::future::join_all((1..=4).map(|issue| yard.prepared(issue))).await;
        let folders: BTreeSet<_> = made.iter().map(|checkout| inode(checkout.folder().join("src"))).collect();
        assert_eq!((folders.len(), yard.free("trees").len()), (4, 0));
        drop(made);
        yard.prune().await;
        assert_eq!(yard.free("trees"), ["0", "1"]);
    }
}

/// The blobs are the same, but git writes them in another form.
#[tokio::test]
async fn other_rules_of_conversion_hold_for_files_that_stay() {
    let yard = yard(1).await;
    yard.many().await;
    drop(yard.prepared(7).await);
    yard.prune().await;
    fs::write(yard.source().join(".gitattributes"), "*.txt eol=crlf\n").unwrap();
    yard.git("add -A && git commit -qm crlf && git push -q origin main").await;
    let next = yard.prepared(8).await;
    assert!(yard.free("trees").is_empty());
    for entry in fs::read_dir(next.folder().join("src")).unwrap() {
        assert!(fs::read_to_string(entry.unwrap().path()).unwrap().ends_with("\r\n"));
    }
}

/// Git writes a commit over a tree that it takes to be as Hob's record says, so paths that changed their kind are not in its way.
#[tokio::test]
async fn a_free_tree_becomes_a_commit_in_which_paths_are_of_another_kind() {
    let yard = yard(1).await;
    yard.many().await;
    let fill =
        "mkdir -p deep/er; echo x > deep/er/x; echo 1 > file; echo 1 > gone; echo 1 > run; ln -s run l; echo 1 > same";
    sh(&yard.source(), fill).await;
    yard.git("add -A && git commit -qm more && git push -q origin main").await;
    let checkout = yard.prepared(7).await;
    let proof = checkout.proof(checkout.base()).await.unwrap();
    for folder in [checkout.folder(), &proof] {
        sh(folder, "rm -r src/b*; echo 2 > same; echo 2 > gone; mkdir file2; rm run; mkdir run; echo x > run/x").await;
    }
    drop(checkout);
    yard.prune().await;
    let changes = "rm -r deep gone src/baab.txt; echo 1 > deep; rm file l; mkdir file l; echo 1 > file/x; echo 1 > l/x; chmod +x run; \
        ln -s same file2; echo 2 > src/baac.txt";
    sh(&yard.source(), changes).await;
    yard.git("add -A && git commit -qm kinds && git push -q origin main").await;
    let next = yard.prepared(8).await;
    let proof = next.proof(next.base()).await.unwrap();
    assert_eq!((yard.free("trees").len(), yard.free("proofs").len()), (0, 0));
    let fresh =
        Workspace::open(yard.home.path().join("other"), WorkspaceSettings::default(), child_environment().into()).await;
    let fresh = fresh.unwrap();
    fresh.fetch(&yard.remote, &main_branch()).await.unwrap();
    let expected = yard.issue_of(&fresh, 8).await;
    assert_eq!(seen(next.folder()).await, seen(expected.folder()).await);
    assert_eq!(seen(&proof).await, seen(&expected.proof(expected.base()).await.unwrap()).await);
    assert_eq!(commit(&next).await.unwrap(), None);
}

#[tokio::test]
async fn git_writes_a_new_tree_once_whatever_rules_of_conversion_it_has() {
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (git, calls) = (home.path().join("git"), home.path().join("calls"));
    crate::harness::script(&git, &format!("echo \"$*\" >> {}\nexec git \"$@\"", calls.display()));
    let settings = WorkspaceSettings { git: git.display().to_string(), ..WorkspaceSettings::default() };
    let yard = Yard::at(home, settings).await;
    yard.begun().await;
    fs::write(yard.source().join(".gitattributes"), "*.txt eol=crlf\n").unwrap();
    yard.git("add -A && git commit -qm crlf && git push -q origin main").await;
    let checkout = yard.prepared(7).await;
    assert_eq!(fs::read_to_string(checkout.folder().join("src/a.txt")).unwrap(), "one\r\ntwo\r\n");
    assert_eq!(fs::read_to_string(calls).unwrap().matches(" read-tree ").count(), 1);
}

#[tokio::test]
async fn a_folder_of_checks_stays_while_the_issue_is_in_use_and_free_trees_go_first_for_room() {
    let yard = yard(1).await;
    let first = yard.prepared(7).await;
    let again = yard.prepared(7).await;
    let proof = again.proof(again.base()).await.unwrap();
    drop(first);
    assert!(proof.join("src/a.txt").exists());
    fs::write(proof.join("large"), vec![1; 1 << 20]).unwrap();
    drop(again);
    assert!(!proof.exists());
    assert_eq!(yard.free("proofs"), ["0"]);
    let used = hob_sandbox::bytes_on_disk(&yard.state());
    let now = Timestamp::from_timestamp(1_700_000_000, 0).unwrap();
    let room = Room { bytes: used - (1 << 19), in_progress: Vec::new(), now };
    yard.workspace.shrink(yard.remote.repo(), room).await.unwrap();
    assert!(yard.free("proofs").is_empty() && yard.issue().exists());
}

#[tokio::test]
async fn without_spare_trees_none_is_kept() {
    let yard = yard(0).await;
    let checkout = yard.prepared(7).await;
    checkout.proof(checkout.base()).await.unwrap();
    drop(checkout);
    yard.prune().await;
    assert!(!yard.state().join("free").exists() && !yard.issue().exists());
}
