//! A branch whose base has moved on.

use hob_domain::{CommitIdentity, Conflict, ConflictKind, SignOff};
use hob_workspace::{BranchUpdate, Updater};

use super::*;

/// Commits `ours` to `main`, and `theirs` to the branch beside it; returns the result of an update of the branch.
async fn meet(yard: &Yard, ours: &str, theirs: &str) -> (Checkout, BranchUpdate) {
    let checkout = yard.prepare().await;
    sh(checkout.folder(), theirs).await;
    if let Some(work) = commit(&checkout).await.unwrap() {
        yard.push(&checkout, &work, None).await.unwrap();
    }
    yard.git(&format!("pull -q origin main; {ours}; git add -A; git commit -qm moved; git push -q origin HEAD:main"))
        .await;
    update(yard, Leftover::Remove).await
}

pub(super) async fn update(yard: &Yard, leftover: Leftover) -> (Checkout, BranchUpdate) {
    let base = yard.workspace.fetch(&yard.remote, &main_branch()).await.unwrap();
    let mut checkout =
        yard.workspace.prepare(&yard.remote, IssueNumber(7), &work_branch(), &base, leftover).await.unwrap();
    if checkout.is_kept() {
        commit(&checkout).await.unwrap();
    }
    let identity = CommitIdentity { name: "Hob".into(), email: "hob@example.com".into() };
    let updater = Updater {
        identity,
        time: Timestamp::from_timestamp(1_800_000_000, 0).unwrap(),
        keeps_history: false,
        sign_off: SignOff::No,
    };
    let updated = yard.workspace.update(&mut checkout, &yard.remote, &main_branch(), &base, updater).await.unwrap();
    assert_eq!(checkout.base(), &base);
    assert_eq!(&checkout.tip().await.unwrap(), checkout.start());
    (checkout, updated)
}

fn read(checkout: &Checkout, path: &str) -> String {
    fs::read_to_string(checkout.folder().join(path)).unwrap()
}

#[tokio::test]
async fn a_change_beside_the_bases_is_rebased_and_follows_a_file_that_moved() {
    let yard = Yard::new().await;
    let lines: String = (0..20).map(|line| format!("line {line}\n")).collect();
    fs::write(yard.source().join("src/long.txt"), lines).unwrap();
    yard.git("add -A && git commit -qm long && git push -q origin main").await;
    let (checkout, updated) =
        meet(&yard, "git mv src/long.txt long.txt", "sed -i 's/line 3/line three/' src/long.txt").await;
    assert_eq!(updated, BranchUpdate::Rebased(1));
    assert!(read(&checkout, "long.txt").contains("line three\n") && !checkout.folder().join("src/long.txt").exists());
    assert!(checkout.conflicts().is_empty() && checkout.conflicts_left().await.unwrap().is_empty());
}

#[tokio::test]
async fn what_the_base_has_by_now_is_left_out() {
    let yard = Yard::new().await;
    let change = "echo three >> src/a.txt";
    let (checkout, updated) = meet(&yard, change, change).await;
    assert_eq!((updated, checkout.start()), (BranchUpdate::Rebased(1), checkout.base()));
}

#[tokio::test]
async fn a_conflict_says_what_each_side_did() {
    let yard = Yard::new().await;
    for (name, content) in [("gone.txt", "a\n"), ("kept.txt", "b\n"), ("pic.bin", "\0first")] {
        fs::write(yard.source().join(name), content).unwrap();
    }
    yard.git("add -A && git commit -qm more && git push -q origin main").await;
    let ours = "printf 'ONE\\r\\ntwo\\r\\n' > src/a.txt; rm gone.txt; echo new > kept.txt; printf 'x\\0' > pic.bin";
    let theirs = "echo eins > src/a.txt; echo changed > gone.txt; rm kept.txt; printf 'y\\0' > pic.bin";
    let (checkout, updated) = meet(&yard, ours, theirs).await;
    assert_eq!(updated, BranchUpdate::Conflicted(4));
    let mut found: Vec<_> = checkout.conflicts().iter().map(|found| (found.path.as_str(), found.kind)).collect();
    found.sort_by_key(|(path, _)| *path);
    let all = [
        ("gone.txt", ConflictKind::GoneFromBase),
        ("kept.txt", ConflictKind::GoneFromBranch),
        ("pic.bin", ConflictKind::Binary),
        ("src/a.txt", ConflictKind::Lines),
    ];
    assert_eq!(found, all);
    for (path, content) in [("gone.txt", "changed\n"), ("kept.txt", "new\n"), ("pic.bin", "y\0")] {
        assert_eq!(read(&checkout, path), content, "{path}");
    }
    let text = read(&checkout, "src/a.txt");
    assert!(text.starts_with("<<<<<<< main") && text.contains(">>>>>>> hob/7-fix"), "{text}");

    // Half of the markers is still a conflict, and a commit of them is in no later commit's history.
    let left = |left: Vec<Conflict>| left.into_iter().map(|conflict| conflict.path).collect::<Vec<_>>();
    assert_eq!(left(checkout.conflicts_left().await.unwrap()), ["src/a.txt"]);
    let half = text.lines().skip(1).collect::<Vec<_>>().join("\n");
    fs::write(checkout.folder().join("src/a.txt"), half).unwrap();
    commit(&checkout).await.unwrap();
    assert_eq!(left(checkout.conflicts_left().await.unwrap()), ["src/a.txt"]);
    fs::write(checkout.folder().join("src/a.txt"), "ONE\neins\n").unwrap();
    let head = commit(&checkout).await.unwrap().unwrap();
    assert!(checkout.conflicts_left().await.unwrap().is_empty());
    let pushed = checkout.pushed().cloned();
    yard.push(&checkout, &head, pushed.as_ref()).await.unwrap();
    assert_eq!(yard.sh("git -C served.git rev-list --count main..hob/7-fix").await.trim(), "1");
}

#[tokio::test]
async fn what_a_run_left_uncommitted_moves_to_the_new_base_and_markers_are_no_leftover() {
    let yard = Yard::new().await;
    let checkout = yard.prepare().await;
    fs::write(checkout.folder().join("half.txt"), "half\n").unwrap();
    yard.git("pull -q origin main; echo x > other.txt; git add -A; git commit -qm moved; git push -q origin main")
        .await;
    let (checkout, updated) = update(&yard, Leftover::Keep).await;
    assert_eq!((updated, checkout.is_kept()), (BranchUpdate::Rebased(1), true));
    assert_eq!((read(&checkout, "half.txt"), read(&checkout, "other.txt")), ("half\n".into(), "x\n".into()));

    // Now both change the same file.
    fs::write(checkout.folder().join("other.txt"), "mine\n").unwrap();
    yard.git("pull -q origin main; echo y > other.txt; git commit -qam again; git push -q origin main").await;
    let (checkout, updated) = update(&yard, Leftover::Keep).await;
    assert_eq!(updated, BranchUpdate::Conflicted(1));
    assert!(read(&checkout, "other.txt").contains("<<<<<<<"));
    let (checkout, updated) = update(&yard, Leftover::Keep).await;
    assert_eq!((updated, checkout.is_kept()), (BranchUpdate::UpToDate, false));
    assert_eq!(read(&checkout, "other.txt"), "y\n");
}
