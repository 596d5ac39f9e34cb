//! The workspace against a real git repository in a folder: mirror, checkout, commit, diff, proof, push.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    time::Duration,
};

use hob_agent::Confined;
use hob_config::{WorkspaceSettings, child_environment, toolchain_folders};
use hob_domain::{
    ChangeKind, DiffPolicy, Evidence, FailureClass, FileMode, HobFiles, IssueNumber, LeftOut, RepoName, Sha, Timestamp,
    Verdict, WhyLeftOut,
};
use hob_process::{Exit, Program};
use hob_text::KnownSecrets;
use hob_workspace::{
    BranchName, CheckLimits, Checkout, Leftover, Remote, Retention, Room, UnfitWork, Workspace, WorkspaceError,
    run_checks,
};
use tokio_util::sync::CancellationToken;

use crate::harness::{script, strict_fence};

mod attacks;
mod corpus;
mod lab_solutions;
mod part;
mod recycled;
mod update;

/// A served repository and a workspace, both gone at the end.
struct Yard {
    home: tempfile::TempDir,
    workspace: Workspace,
    remote: Remote,
}

fn main_branch() -> BranchName {
    "main".parse().unwrap()
}

fn work_branch() -> BranchName {
    "hob/7-fix".parse().unwrap()
}

impl Yard {
    /// Serves a repository with two files.
    async fn new() -> Self {
        let yard = Self::empty(WorkspaceSettings::default()).await;
        yard.begun().await;
        yard
    }

    /// Makes the first commit.
    async fn begun(&self) {
        fs::create_dir(self.source().join("src")).unwrap();
        fs::write(self.source().join("src/a.txt"), "one\ntwo\n").unwrap();
        fs::write(self.source().join(".gitignore"), "*.log\n").unwrap();
        self.git("add -A && git commit -qm first && git push -q origin main").await;
    }

    /// Serves a repository without a commit.
    async fn empty(settings: WorkspaceSettings) -> Self {
        Self::at(tempfile::tempdir().unwrap(), settings).await
    }

    /// The same, in this folder.
    async fn at(home: tempfile::TempDir, settings: WorkspaceSettings) -> Self {
        let workspace = Workspace::open(home.path().join("state"), settings, child_environment().into()).await.unwrap();
        let repo: RepoName = "acme/site".parse().unwrap();
        let remote = Remote::folder(repo, home.path().join("served.git"));
        let yard = Self { home, workspace, remote };
        yard.sh("git init -q --bare -b main served.git && git init -q -b main source").await;
        yard.sh("git -C served.git config uploadpack.allowFilter true").await;
        yard.git("remote add origin ../served.git").await;
        yard
    }

    /// The same one, with a workspace that knows these secrets.
    fn without(mut self, secrets: KnownSecrets) -> Self {
        self.workspace = self.workspace.without(secrets);
        self
    }

    fn source(&self) -> PathBuf {
        self.home.path().join("source")
    }

    fn issue(&self) -> PathBuf {
        self.home.path().join("state/acme/site/issues/7")
    }

    async fn sh(&self, script: &str) -> String {
        sh(self.home.path(), script).await
    }

    async fn git(&self, script: &str) -> String {
        sh(&self.source(), &format!("git {script}")).await
    }

    async fn prepare(&self) -> Checkout {
        let base = self.workspace.fetch(&self.remote, &main_branch()).await.unwrap();
        self.workspace.prepare(&self.remote, IssueNumber(7), &work_branch(), &base, Leftover::Remove).await.unwrap()
    }

    async fn push(&self, checkout: &Checkout, head: &Sha, expected: Option<&Sha>) -> Result<(), WorkspaceError> {
        self.workspace.push(checkout, &self.remote, head, expected, None).await.map(drop)
    }
}

/// Runs a shell script of the people around Hob, which must succeed.
async fn sh(folder: &Path, script: &str) -> String {
    let mut environment = child_environment();
    for role in ["AUTHOR", "COMMITTER"] {
        environment.insert(format!("GIT_{role}_NAME").into(), "Ada".into());
        environment.insert(format!("GIT_{role}_EMAIL").into(), "ada@example.com".into());
    }
    environment.insert("GIT_CONFIG_GLOBAL".into(), "/dev/null".into());
    let program = Program::of_hob("sh", &environment).args(["-ec", script]).dir(folder);
    let finished = program.run(&CancellationToken::new()).await.unwrap();
    assert_eq!(finished.exit, Exit::Code(0), "{script}: {}", finished.stderr.text());
    finished.stdout.text()
}

async fn commit(checkout: &Checkout) -> Result<Option<Sha>, WorkspaceError> {
    let identity = hob_domain::CommitIdentity { name: "Hob".into(), email: "hob@example.com".into() };
    checkout
        .commit(
            &strict_fence(),
            "Fix it\n\nFixes #7\n",
            &identity,
            Timestamp::from_timestamp(1_700_000_000, 0).unwrap(),
        )
        .await
}

#[tokio::test]
async fn work_goes_from_the_mirror_to_a_pushed_branch() {
    let yard = Yard::new().await;
    let checkout = yard.prepare().await;
    assert_eq!(fs::read_to_string(checkout.folder().join("src/a.txt")).unwrap(), "one\ntwo\n");
    assert_eq!(commit(&checkout).await.unwrap(), None, "nothing changed yet");

    fs::write(checkout.folder().join("src/a.txt"), "one\n2\n").unwrap();
    fs::write(checkout.folder().join("new.txt"), "new\n").unwrap();
    fs::write(checkout.folder().join("noise.log"), "ignored").unwrap();
    let first = commit(&checkout).await.unwrap().unwrap();
    fs::remove_file(checkout.folder().join("new.txt")).unwrap();
    let head = commit(&checkout).await.unwrap().unwrap();
    assert_ne!(first, head);

    let diff = checkout.diff(checkout.base(), &head).await.unwrap();
    assert_eq!(diff.files.len(), 1);
    assert_eq!((diff.files[0].path.as_str(), diff.additions(), diff.deletions()), ("src/a.txt", 1, 1));
    assert!(diff.patch.contains("-two\n+2\n") && !diff.patch_truncated, "{}", diff.patch);

    yard.push(&checkout, &head, None).await.unwrap();
    yard.push(&checkout, &head, None).await.unwrap();
    assert_eq!(yard.workspace.remote_tip(&yard.remote, &work_branch()).await.unwrap(), Some(head.clone()));
    let log = yard.sh("git -C served.git log --format='%an %s' main..hob/7-fix").await;
    assert_eq!(log, "Hob Fix it\nHob Fix it\n");
    assert!(!log.contains(head.as_str()));
}

#[tokio::test]
async fn earlier_work_on_the_branch_is_taken_up() {
    let yard = Yard::new().await;
    let checkout = yard.prepare().await;
    fs::write(checkout.folder().join("src/a.txt"), "half\n").unwrap();
    let half = commit(&checkout).await.unwrap().unwrap();
    yard.push(&checkout, &half, None).await.unwrap();
    yard.git("commit -q --allow-empty -m later && git push -q origin main").await;

    fs::remove_dir_all(yard.home.path().join("state")).unwrap();
    let again = yard.prepare().await;
    assert_eq!((again.start(), again.base()), (&half, checkout.base()), "the base is the commit in common");
    assert_eq!(fs::read_to_string(again.folder().join("src/a.txt")).unwrap(), "half\n");
    assert_eq!(again.diff(again.base(), again.start()).await.unwrap().files.len(), 1);
    assert_eq!(again.pushed(), Some(&half));
    yard.push(&again, again.base(), again.pushed()).await.unwrap();
}

#[tokio::test]
async fn a_branch_that_was_merged_starts_anew_from_the_base() {
    let yard = Yard::new().await;
    yard.git("push -q origin main:hob/7-fix && git commit -q --allow-empty -m later && git push -q origin main").await;
    let checkout = yard.prepare().await;
    let later = yard.git("rev-parse main").await;
    assert_eq!((checkout.start(), checkout.start().as_str()), (checkout.base(), later.trim()));
    yard.push(&checkout, checkout.start(), checkout.pushed()).await.unwrap();
}

#[tokio::test]
async fn a_used_checkout_is_made_clean() {
    let yard = Yard::new().await;
    let checkout = yard.prepare().await;
    fs::write(checkout.folder().join("src/a.txt"), "changed\n").unwrap();
    fs::write(checkout.folder().join("noise.log"), "ignored").unwrap();
    fs::create_dir_all(checkout.folder().join("locked/in")).unwrap();
    fs::set_permissions(checkout.folder().join("locked"), fs::Permissions::from_mode(0o500)).unwrap();
    yard.sh("git init -q state/acme/site/issues/7/tree/nested").await;
    fs::write(yard.issue().join("git/index.lock"), "").unwrap();
    let again = yard.prepare().await;
    let mut left: Vec<_> = fs::read_dir(again.folder()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, [".git", ".gitignore", "src"]);
    assert_eq!(fs::read_to_string(again.folder().join("src/a.txt")).unwrap(), "one\ntwo\n");
}

#[tokio::test]
async fn what_an_earlier_run_left_is_kept_unless_somebody_moved_the_branch() {
    let yard = Yard::new().await;
    let keep = async || {
        let base = yard.workspace.fetch(&yard.remote, &"main".parse().unwrap()).await.unwrap();
        yard.workspace.prepare(&yard.remote, IssueNumber(7), &work_branch(), &base, Leftover::Keep).await.unwrap()
    };
    assert!(!keep().await.is_kept(), "there was nothing");
    let checkout = keep().await;
    fs::write(checkout.folder().join("src/a.txt"), "half\n").unwrap();
    fs::write(checkout.folder().join("noise.log"), "ignored").unwrap();
    yard.sh("git init -q state/acme/site/issues/7/tree/nested").await;

    // Nothing was committed; then a commit was made and not pushed; then it was pushed.
    let again = keep().await;
    assert!(again.is_kept() && again.folder().join("noise.log").exists());
    assert!(!again.folder().join("nested/.git").exists() && again.folder().join(".git/HEAD").exists());
    let half = commit(&again).await.unwrap().unwrap();
    let again = keep().await;
    assert_eq!((again.is_kept(), again.start()), (true, again.base()));
    assert!(commit(&again).await.unwrap().is_some(), "the work is committed anew");
    yard.push(&again, &half, None).await.unwrap();
    assert!(keep().await.is_kept());

    // A person threw the work away.
    yard.git("push -q origin :hob/7-fix").await;
    let again = keep().await;
    assert!(!again.is_kept() && !again.folder().join("noise.log").exists());
    assert_eq!(fs::read_to_string(again.folder().join("src/a.txt")).unwrap(), "one\ntwo\n");
}

#[tokio::test]
async fn git_works_for_the_agent_and_what_it_does_there_stays_there() {
    let yard = Yard::new().await;
    let checkout = yard.prepare().await;
    let folder = checkout.folder();
    assert!(checkout.borrowed_folders().iter().all(|folder| folder.join("info").is_dir()));
    assert_eq!(
        sh(folder, "git status --porcelain; git log --format=%s; git branch --show-current").await,
        "first\nhob/7-fix\n"
    );
    fs::write(folder.join("src/a.txt"), "one\n").unwrap();
    assert!(sh(folder, "git diff").await.contains("-two"));
    sh(folder, "git commit -qam 'by the agent'").await;
    let head = commit(&checkout).await.unwrap().unwrap();
    let diff = checkout.diff(checkout.base(), &head).await.unwrap();
    assert_eq!((diff.files.len(), diff.deletions()), (1, 1));
    assert_eq!(sh(&yard.issue(), "git --git-dir=git log --format=%s").await, "Fix it\nfirst\n");
}

/// Hob never opens the git directory that an agent can write. `CANARY` in the agent's script is a program that makes a
/// file.
async fn runs_nothing_of_hobs(hostile: &str) {
    let yard = Yard::new().await;
    let checkout = yard.prepare().await;
    let folder = checkout.folder();
    let canary = yard.home.path().join("canary");
    let hostile = hostile.replace("CANARY", &format!("touch {}", canary.display()));
    sh(folder, &format!("{hostile}; echo changed > src/a.txt; cp -r .git src/.git")).await;
    let head = commit(&checkout).await.unwrap().unwrap();
    checkout.diff(checkout.base(), &head).await.unwrap();
    checkout.proof(&head).await.unwrap();
    yard.push(&checkout, &head, None).await.unwrap();
    yard.prepare().await;
    assert!(!canary.exists(), "the agent's settings ran a program");
    assert!(!folder.join("src/.git").exists(), "the next run finds the settings of this one");
}

/// Attack corpus D34.
#[tokio::test]
async fn a_monitor_of_files_in_the_agents_git_settings_is_not_run() {
    runs_nothing_of_hobs("git config core.fsmonitor 'CANARY'").await;
}

/// Attack corpus D35.
#[tokio::test]
async fn a_filter_in_the_agents_git_settings_is_not_run() {
    let keys = "filter.x.clean filter.x.smudge diff.external diff.x.command";
    let sets = format!("for key in {keys}; do git config $key 'CANARY'; done; git config filter.x.required true");
    runs_nothing_of_hobs(&format!("{sets}; echo '* filter=x diff=x' > .gitattributes")).await;
}

/// Attack corpus D36.
#[tokio::test]
async fn hooks_in_the_agents_git_settings_are_not_run() {
    runs_nothing_of_hobs(
        "git config core.hooksPath \"$PWD/.git/hooks\"; mkdir -p .git/hooks
         for hook in pre-commit post-checkout pre-push post-index-change reference-transaction; do
           printf '#!/bin/sh\nCANARY\n' > .git/hooks/$hook; chmod +x .git/hooks/$hook; done",
    )
    .await;
}

/// Attack corpus D37.
#[tokio::test]
async fn programs_and_places_in_the_agents_git_settings_are_not_used() {
    let keys = "core.sshCommand gpg.program credential.helper core.editor core.pager";
    let sets = format!("for key in {keys}; do git config $key 'CANARY'; done; git config core.worktree /");
    runs_nothing_of_hobs(&format!("{sets}; git config url.file:///nowhere/.insteadOf file:///")).await;
}

/// Attack corpus D39.
#[tokio::test]
async fn a_git_file_that_points_elsewhere_is_not_followed() {
    let yard = Yard::new().await;
    let checkout = yard.prepare().await;
    fs::remove_dir_all(checkout.folder().join(".git")).unwrap();
    yard.sh("git init -q other").await;
    fs::write(checkout.folder().join(".git"), format!("gitdir: {}\n", yard.home.path().join("other/.git").display()))
        .unwrap();
    fs::write(checkout.folder().join("new.txt"), "new\n").unwrap();
    assert!(commit(&checkout).await.unwrap().is_some());
    assert_eq!(yard.sh("git -C other for-each-ref").await, "");
    symlink("/etc", checkout.folder().join("link")).unwrap();
    fs::remove_file(checkout.folder().join(".git")).unwrap();
    symlink(yard.home.path().join("other/.git"), checkout.folder().join(".git")).unwrap();
    yard.prepare().await;
    assert!(yard.home.path().join("other/.git/HEAD").exists(), "the link's target was touched");

    fs::remove_dir_all(checkout.folder()).unwrap();
    symlink(yard.home.path(), checkout.folder()).unwrap();
    let error = commit(&checkout).await.unwrap_err();
    assert!(matches!(error, WorkspaceError::Unfit(UnfitWork::NoFolder)), "{error}");
    yard.prepare().await;
    assert!(yard.source().exists() && !checkout.folder().is_symlink());
}

/// Files that git checks out in another form than it stores: an encoding, line ends that were not normalised, an
/// expanded id.
#[tokio::test]
async fn files_that_git_converts_are_committed_as_git_would_and_untouched_ones_stay_as_they_are() {
    let yard = Yard::new().await;
    let attributes = "*.utf16 working-tree-encoding=UTF-16LE\n*.txt text eol=lf\n*.id ident\n*.bat eol=crlf\n";
    fs::write(yard.source().join(".gitattributes"), attributes).unwrap();
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    fs::write(yard.source().join("a.utf16"), utf16("grüße\n")).unwrap();
    fs::write(yard.source().join("a.bat"), "one\r\n").unwrap();
    yard.git("add -A").await;
    for (name, content) in [("raw.txt", "one\r\ntwo\r\n"), ("raw.id", "$Id: filled in $\n")] {
        fs::write(yard.home.path().join("raw"), content).unwrap();
        let id = yard.git("hash-object -w --no-filters ../raw").await;
        yard.git(&format!("update-index --add --cacheinfo 100644,{},{name}", id.trim())).await;
    }
    yard.git("commit -qm converted && git push -q origin main").await;
    let checkout = yard.prepare().await;
    let all = ["a.utf16", "a.bat", "raw.txt", "raw.id"];
    assert_eq!(fs::read(checkout.folder().join("a.utf16")).unwrap(), utf16("grüße\n"));
    sh(checkout.folder(), &format!("touch -d 2020-01-01 {}", all.join(" "))).await;
    assert_eq!(commit(&checkout).await.unwrap(), None, "nobody changed them");

    fs::write(checkout.folder().join("a.utf16"), utf16("grüße\nan alle\n")).unwrap();
    fs::write(checkout.folder().join("new.utf16"), utf16("neu\n")).unwrap();
    fs::write(checkout.folder().join("a.bat"), "one\r\ntwo\r\n").unwrap();
    fs::write(checkout.folder().join("b.txt"), "one\n").unwrap();
    let head = commit(&checkout).await.unwrap().unwrap();
    yard.push(&checkout, &head, None).await.unwrap();
    yard.git("fetch -q origin hob/7-fix").await;
    let changed = yard.git("diff --name-only main FETCH_HEAD").await;
    assert_eq!(changed.lines().collect::<Vec<_>>(), ["a.bat", "a.utf16", "b.txt", "new.utf16"]);
    for (name, kept) in [("a.utf16", "grüße\nan alle\n"), ("new.utf16", "neu\n"), ("a.bat", "one\ntwo\n")] {
        assert_eq!(yard.git(&format!("cat-file blob FETCH_HEAD:{name}")).await, kept, "{name}");
    }

    fs::write(checkout.folder().join("a.utf16"), "odd").unwrap();
    let error = commit(&checkout).await.unwrap_err();
    assert!(error.to_string().contains("a.utf16"), "{error}");
    assert!(matches!(error, WorkspaceError::Unfit(UnfitWork::Unconverted { .. })), "{error}");
}

#[tokio::test]
async fn what_may_not_be_read_is_named_unless_git_ignores_it() {
    let yard = Yard::new().await;
    let checkout = yard.prepare().await;
    sh(checkout.folder(), "mkdir x.log && chmod 000 x.log").await;
    assert_eq!(commit(&checkout).await.unwrap(), None, "it is ignored");
    for (script, path, mend) in [
        ("echo x > new && chmod 000 new", "new", "rm new"),
        ("mkdir -p a/b && echo x > a/b/c && chmod 000 a/b", "a/b", "chmod 700 a/b && rm -r a"),
        ("chmod 000 src/a.txt", "src/a.txt", "chmod 644 src/a.txt"),
    ] {
        sh(checkout.folder(), script).await;
        let error = commit(&checkout).await.expect_err(script);
        let WorkspaceError::Unfit(UnfitWork::Unreadable { path: found }) = &error else { panic!("{script}: {error}") };
        assert_eq!(found, path);
        sh(checkout.folder(), mend).await;
    }
    assert_eq!(commit(&checkout).await.unwrap(), None);
}

/// Attack corpus D38, D41.
#[tokio::test]
async fn nested_repositories_are_left_out_and_reserved_names_refused() {
    let yard = Yard::new().await;
    let checkout = yard.prepare().await;
    for (script, path) in [
        ("git init -q nested && echo x > nested/a", "nested"),
        ("git init -q nested && cd nested && echo x > a && git add a && git commit -qm x", "nested"),
        ("mkdir -p deep/nested && echo 'gitdir: /x' > deep/nested/.git && echo x > deep/nested/a", "deep/nested"),
    ] {
        sh(checkout.folder(), script).await;
        assert_eq!(commit(&checkout).await.expect(script), None);
        let left_out = LeftOut { path: format!("{path}/"), why: WhyLeftOut::Repository, files: 1 };
        assert_eq!(checkout.left_out(), [left_out], "{script}");
        sh(checkout.folder(), "rm -rf nested deep").await;
    }
    // The files that the repository tracks there stay in it.
    sh(checkout.folder(), "git init -q src && cd src && git add . && git commit -qm x").await;
    assert_eq!((commit(&checkout).await.unwrap(), checkout.left_out()), (None, Vec::new()));
    sh(checkout.folder(), "rm -rf src/.git && git checkout -q src").await;
    sh(checkout.folder(), "mkdir -p sub/.GIT && echo x > sub/.GIT/config").await;
    assert_eq!(commit(&checkout).await.unwrap(), None, "it is left out as `.git` is");
    sh(checkout.folder(), "mkdir -p sub/git~1 && echo x > sub/git~1/config").await;
    let error = commit(&checkout).await.unwrap_err();
    assert!(matches!(error, WorkspaceError::Unfit(UnfitWork::ReservedName { .. })), "{error}");
    sh(checkout.folder(), "rm -rf sub").await;
    sh(checkout.folder(), "git init -q --bare bare").await;
    assert!(commit(&checkout).await.unwrap().is_some(), "a bare repository is a folder of files");
}

/// Attack corpus D42, D49, E66.
#[tokio::test]
async fn links_pipes_and_strange_names_are_handled() {
    let yard = Yard::new().await;
    let checkout = yard.prepare().await;
    let folder = checkout.folder();
    sh(folder, "ln -s /etc/passwd out; mkfifo pipe; printf x > \"$(printf 'a\\nb')\"; printf x > \"$(printf 'e\\033[m')\"; printf x > \"$(printf 'n\\377')\"; rm -r src; ln -s /etc src; printf '#!/bin/sh\\n' > run; chmod +x run").await;
    let head = commit(&checkout).await.unwrap().unwrap();
    let diff = checkout.diff(checkout.base(), &head).await.unwrap();
    let shown: Vec<_> = diff.files.iter().map(|file| (file.path.as_str(), file.mode)).collect();
    assert_eq!(
        shown,
        [
            ("a\\nb", FileMode::File),
            ("e\\u{1b}[m", FileMode::File),
            ("n\\xff", FileMode::File),
            ("out", FileMode::Link),
            ("run", FileMode::Executable),
            ("src", FileMode::Link),
            ("src/a.txt", FileMode::File),
        ]
    );
    assert!(!diff.patch.contains("root:"), "a link was followed");
    let policy = DiffPolicy::new(&[], HobFiles::Protected, 100, 1000).unwrap();
    let said: Vec<_> = policy.violations(&diff).iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        ["`out` is a link out of the repository, to `/etc/passwd`", "`src` is a link out of the repository, to `/etc`"]
    );
    let proof = checkout.proof(&head).await.unwrap();
    assert_eq!(fs::read_link(proof.join("out")).unwrap(), Path::new("/etc/passwd"));
}

#[tokio::test]
async fn a_link_in_place_of_a_folder_is_not_followed() {
    let yard = Yard::new().await;
    let checkout = yard.prepare().await;
    let outside = yard.home.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("a.txt"), "keep").unwrap();
    fs::write(outside.join("b.txt"), "keep").unwrap();
    fs::remove_dir_all(checkout.folder().join("src")).unwrap();
    symlink(&outside, checkout.folder().join("src")).unwrap();
    let head = commit(&checkout).await.unwrap().unwrap();
    let diff = checkout.diff(checkout.base(), &head).await.unwrap();
    let paths: Vec<_> = diff.files.iter().map(|file| (file.path.as_str(), &file.kind)).collect();
    assert_eq!(paths, [("src", &ChangeKind::Added), ("src/a.txt", &ChangeKind::Deleted)]);
    yard.prepare().await;
    assert_eq!(fs::read_to_string(checkout.folder().join("src/a.txt")).unwrap(), "one\ntwo\n");
    for name in ["a.txt", "b.txt"] {
        assert_eq!(fs::read_to_string(outside.join(name)).unwrap(), "keep");
    }
}

/// Attack corpus D38.
#[tokio::test]
async fn a_submodule_of_the_repository_stays_as_it_is() {
    let yard = Yard::new().await;
    let commit_id = yard.git("rev-parse HEAD").await;
    yard.git(&format!(
        "update-index --add --cacheinfo 160000,{},sub && git commit -qm sub && git push -q origin main",
        commit_id.trim()
    ))
    .await;
    let checkout = yard.prepare().await;
    assert_eq!(commit(&checkout).await.unwrap(), None);
    sh(checkout.folder(), "rm -rf sub; mkdir sub; git init -q sub; echo x > sub/x").await;
    assert_eq!(commit(&checkout).await.unwrap(), None);
    let left_out = checkout.left_out();
    assert_eq!(
        left_out.iter().map(|one| (one.path.as_str(), &one.why)).collect::<Vec<_>>(),
        [("sub/x", &WhyLeftOut::Submodule)]
    );
    sh(checkout.folder(), "rm -rf sub; echo x > new").await;
    let head = commit(&checkout).await.unwrap().unwrap();
    assert_eq!(checkout.diff(checkout.base(), &head).await.unwrap().files.len(), 1);
    checkout.proof(&head).await.unwrap();
}

/// As `docs/operate.md` says: no filter that the attributes name is run, and the pointer is the file.
#[tokio::test]
async fn a_file_in_git_lfs_is_its_pointer() {
    let yard = Yard::new().await;
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n";
    let work = yard.source();
    fs::write(work.join(".gitattributes"), "*.bin filter=lfs diff=lfs merge=lfs -text\n").unwrap();
    fs::write(work.join("big.bin"), pointer).unwrap();
    yard.git("add -A && git commit -qm lfs && git push -q origin main").await;
    let checkout = yard.prepare().await;
    assert_eq!(fs::read_to_string(checkout.folder().join("big.bin")).unwrap(), pointer);
    assert_eq!(commit(&checkout).await.unwrap(), None);
    fs::write(checkout.folder().join("new"), "x").unwrap();
    let head = commit(&checkout).await.unwrap().unwrap();
    let proof = checkout.proof(&head).await.unwrap();
    assert_eq!(fs::read_to_string(proof.join("big.bin")).unwrap(), pointer);
}

#[tokio::test]
async fn issues_of_one_repository_are_prepared_at_the_same_time() {
    let yard = Yard::new().await;
    let one = async |number: u64| {
        let base = yard.workspace.fetch(&yard.remote, &main_branch()).await?;
        let branch: BranchName = format!("hob/{number}").parse().unwrap();
        yard.workspace.prepare(&yard.remote, IssueNumber(number), &branch, &base, Leftover::Remove).await
    };
    for made in futures_util::future::join_all((1..=6).map(one)).await {
        assert!(made.unwrap().folder().join("src/a.txt").exists());
    }
}

#[tokio::test]
async fn a_mirror_in_use_by_another_process_is_left_alone() {
    let yard = Yard::new().await;
    yard.prepare().await;
    let lock = fs::File::open(yard.home.path().join("state/acme/site/lock")).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let error = yard.workspace.fetch(&yard.remote, &main_branch()).await.unwrap_err();
    assert!(matches!(error, WorkspaceError::Busy { .. }), "{error}");
}

/// Attack corpus D47.
#[tokio::test]
async fn a_branch_without_common_history_is_refused() {
    let yard = Yard::new().await;
    yard.git("checkout -q --orphan other && git commit -qm alien && git push -q origin other:hob/7-fix").await;
    let base = yard.workspace.fetch(&yard.remote, &main_branch()).await.unwrap();
    let error = yard
        .workspace
        .prepare(&yard.remote, IssueNumber(7), &work_branch(), &base, Leftover::Remove)
        .await
        .unwrap_err();
    assert!(matches!(error, WorkspaceError::UnrelatedHistory { .. }), "{error}");
}

#[tokio::test]
async fn the_checks_run_in_a_clean_folder_each_time() {
    let yard = Yard::new().await;
    let checkout = yard.prepare().await;
    fs::write(checkout.folder().join("src/a.txt"), "fixed\n").unwrap();
    let head = commit(&checkout).await.unwrap().unwrap();
    let commands = [
        "test ! -e left && grep -q fixed src/a.txt".to_owned(),
        "echo x > left; echo y > src/a.txt; git status".to_owned(),
    ];
    let limits = CheckLimits { time: std::time::Duration::from_secs(60), output_bytes: 10_000, reports: None };
    let run = async |sha: &Sha| {
        let folder = checkout.proof(sha).await.unwrap();
        let sandbox = crate::harness::sandbox();
        let (confined, _home) = Confined::to_folder(&folder, &sandbox, child_environment()).await.unwrap();
        let Confined { plan, environment } = &confined;
        run_checks(&folder, &commands, plan, environment, limits.clone(), &CancellationToken::new()).await.unwrap()
    };
    let evidence = Evidence { base: run(checkout.base()).await, head: run(&head).await };
    assert_eq!(evidence.verdict(), Verdict::RedToGreen { repaired: vec![commands[0].clone()] }, "{evidence:?}");
    assert!(evidence.head[1].output.contains("modified:   src/a.txt"), "{}", evidence.head[1].output);
}

/// Attack corpus D48.
#[tokio::test]
async fn the_limits_of_a_commit_are_named() {
    let yard = Yard::empty(WorkspaceSettings { max_files: 3, max_file: 1 << 20, ..WorkspaceSettings::default() }).await;
    yard.git("commit -q --allow-empty -m first && git push -q origin main").await;
    let checkout = yard.prepare().await;
    sh(checkout.folder(), "touch a b c d").await;
    let error = commit(&checkout).await.unwrap_err().to_string();
    assert!(error.starts_with("commit the work: 4 files are changed, the limit is 3"), "{error}");
    sh(checkout.folder(), "rm a b c d; truncate -s 1048577 big").await;
    assert_eq!(
        commit(&checkout).await.unwrap_err().to_string(),
        "commit the work: `big` has 1048577 bytes, the limit is 1048576"
    );
}

/// Attack corpus D44.
#[tokio::test]
async fn a_rename_a_secret_and_a_long_patch_are_seen() {
    let yard = Yard::empty(WorkspaceSettings { max_patch_kib: 1, ..WorkspaceSettings::default() }).await;
    fs::write(yard.source().join("old.txt"), "line\n".repeat(500)).unwrap();
    yard.git("add -A && git commit -qm first && git push -q origin main").await;
    let checkout = yard.prepare().await;
    sh(checkout.folder(), "mkdir -p .github/workflows && mv old.txt .github/workflows/ci.yml").await;
    let token = format!("ghp_{}", "a1B2".repeat(9));
    fs::write(checkout.folder().join("long.txt"), format!("{}token {token}\n", "filler\n".repeat(1000))).unwrap();
    let head = commit(&checkout).await.unwrap().unwrap();
    let diff = checkout.diff(checkout.base(), &head).await.unwrap();
    assert!(diff.patch_truncated && diff.patch.len() <= 1024);
    assert!(diff.files.iter().any(|file| file.kind == ChangeKind::Renamed { from: "old.txt".into() }));
    let policy = DiffPolicy::new(&[], HobFiles::Protected, 100, 1 << 20).unwrap();
    let said: Vec<_> = policy.violations(&diff).iter().map(ToString::to_string).collect();
    assert_eq!(said, ["`.github/workflows/ci.yml` is protected", "`long.txt` holds a GitHub token"]);
}

/// Attack corpus B19.
#[tokio::test]
async fn a_push_moves_a_branch_only_from_where_it_is_expected() {
    let yard = Yard::new().await;
    let checkout = yard.prepare().await;
    fs::write(checkout.folder().join("a"), "1").unwrap();
    let one = commit(&checkout).await.unwrap().unwrap();
    fs::write(checkout.folder().join("a"), "2").unwrap();
    let two = commit(&checkout).await.unwrap().unwrap();
    yard.git("push -q origin main:hob/7-fix").await;
    for expected in [None, Some(&one)] {
        let error = yard.push(&checkout, &two, expected).await.unwrap_err();
        assert!(matches!(error, WorkspaceError::LeaseLost { .. }), "{error}");
    }
    yard.push(&checkout, &two, Some(checkout.base())).await.unwrap();
    yard.push(&checkout, &one, Some(&two)).await.unwrap();
    assert_eq!(yard.workspace.remote_tip(&yard.remote, &work_branch()).await.unwrap(), Some(one));
    assert_eq!(yard.workspace.remote_tip(&yard.remote, &"hob/8".parse().unwrap()).await.unwrap(), None);
}

#[tokio::test]
async fn a_push_refused_by_the_server_says_why() {
    let yard = Yard::new().await;
    let hook = yard.home.path().join("served.git/hooks/pre-receive");
    script(&hook, "echo 'branch is protected' >&2\nexit 1");
    let checkout = yard.prepare().await;
    fs::write(checkout.folder().join("a"), "1").unwrap();
    let head = commit(&checkout).await.unwrap().unwrap();
    let error = yard.push(&checkout, &head, None).await.unwrap_err();
    assert!(matches!(error, WorkspaceError::PushRefused { .. }), "{error}");
    assert!(error.to_string().contains("branch is protected"), "{error}");
}

#[tokio::test]
async fn a_base_that_moved_meanwhile_costs_no_missing_object() {
    let yard = Yard::new().await;
    fs::write(yard.source().join("src/a.txt"), "the mirror lacks what stood here\n").unwrap();
    yard.git("commit -qam second && git push -q origin main").await;
    let checkout = yard.prepare().await;
    fs::write(checkout.folder().join("a"), "1").unwrap();
    let head = commit(&checkout).await.unwrap().unwrap();
    yard.git("rm -q src/a.txt && git commit -qm gone && git push -q origin main").await;
    yard.push(&checkout, &head, None).await.unwrap();
}

#[tokio::test]
async fn an_empty_repository_and_a_missing_branch_are_told_apart() {
    let yard = Yard::empty(WorkspaceSettings::default()).await;
    let error = yard.workspace.fetch(&yard.remote, &main_branch()).await.unwrap_err();
    assert!(matches!(error, WorkspaceError::EmptyRepository { .. }), "{error}");
    yard.git("commit -q --allow-empty -m first && git push -q origin main").await;
    let error = yard.workspace.fetch(&yard.remote, &"trunk".parse().unwrap()).await.unwrap_err();
    assert_eq!(error.to_string(), "`acme/site` has no branch `trunk`");
    assert_eq!(error.class(), FailureClass::NeedsHuman);
}

#[tokio::test]
async fn a_damaged_or_half_made_mirror_is_made_anew() {
    let yard = Yard::new().await;
    let mirror = yard.home.path().join("state/acme/site/mirror.git");
    fs::create_dir_all(mirror.with_file_name("mirror.new/objects")).unwrap();
    let tip = yard.workspace.fetch(&yard.remote, &main_branch()).await.unwrap();
    assert!(!mirror.with_file_name("mirror.new").exists());
    for damage in [
        "rm -r objects refs",
        "echo x > HEAD",
        "echo '[x' > config",
        "for f in objects/pack/*.pack; do chmod u+w $f; : > $f; done",
    ] {
        sh(&mirror, damage).await;
        assert_eq!(yard.workspace.fetch(&yard.remote, &main_branch()).await.unwrap(), tip, "{damage}");
        yard.prepare().await;
    }
}

#[tokio::test]
async fn only_the_files_of_the_checkout_are_fetched() {
    let yard = Yard::new().await;
    fs::write(yard.source().join("src/a.txt"), "later\n").unwrap();
    yard.git("commit -qam second && git push -q origin main").await;
    yard.prepare().await;
    let missing = "git -C state/acme/site/mirror.git rev-list --all --objects --missing=print | grep -c '^?'";
    assert_eq!(yard.sh(missing).await, "1\n", "the content before the last commit stays at the server");
}

#[tokio::test]
async fn folders_are_for_the_user_alone_and_go_when_they_are_old() {
    let yard = Yard::new().await;
    let checkout = yard.prepare().await;
    for folder in [yard.home.path().join("state"), yard.issue(), checkout.folder().to_owned()] {
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700, "{}", folder.display());
    }
    let repo = yard.remote.repo();
    let (past, future) = (Timestamp::UNIX_EPOCH, Timestamp::from_timestamp(32_503_680_000, 0).unwrap());
    let seven = [IssueNumber(7)];
    let prune = async |before, listed: &[IssueNumber], in_progress: &[IssueNumber]| {
        let stay = Retention { before, listed: listed.to_vec(), in_progress: in_progress.to_vec(), most: 0 };
        yard.workspace.prune(repo, stay).await.unwrap()
    };
    assert_eq!(prune(future, &[], &[]).await, [], "it is in use");
    drop(checkout);
    assert_eq!(prune(past, &[], &[]).await, []);
    assert_eq!(prune(future, &seven, &[]).await, []);
    assert_eq!(prune(future, &[], &seven).await, []);
    assert_eq!(prune(future, &[], &[]).await, seven);
    assert!(!yard.issue().exists());
    yard.workspace.remove(repo, IssueNumber(7)).await.unwrap();
}

#[tokio::test]
async fn no_more_checkouts_stay_than_are_kept_and_the_trash_is_emptied_beside() {
    let yard = Yard::new().await;
    let base = yard.workspace.fetch(&yard.remote, &main_branch()).await.unwrap();
    let issues = [3, 1, 4, 2].map(IssueNumber);
    for (place, issue) in issues.into_iter().enumerate() {
        drop(yard.workspace.prepare(&yard.remote, issue, &work_branch(), &base, Leftover::Remove).await.unwrap());
        // Git writes the times of a moment; these are a minute apart.
        let index = yard.issue().with_file_name(issue.to_string()).join("git/index");
        let used = std::time::UNIX_EPOCH + std::time::Duration::from_secs(60 * (place as u64 + 1));
        fs::File::options().write(true).open(index).unwrap().set_modified(used).unwrap();
    }
    let repo = yard.remote.repo();
    let stay = Retention {
        before: Timestamp::UNIX_EPOCH,
        listed: issues.to_vec(),
        in_progress: vec![IssueNumber(3)],
        most: 2,
    };
    assert_eq!(
        yard.workspace.prune(repo, stay.clone()).await.unwrap(),
        [IssueNumber(1)],
        "the oldest but the busy one"
    );
    assert_eq!(yard.workspace.prune(repo, stay).await.unwrap(), []);
    let trash = yard.home.path().join("state/acme/site/trash");
    assert_eq!(fs::read_dir(&trash).unwrap().count(), 1);
    sh(&trash, "chmod -R a-w 1-0/tree").await;
    let stop = CancellationToken::new();
    stop.cancel();
    yard.workspace.empty_trash(repo, &stop).await.unwrap();
    assert!(trash.join("1-0/tree/src/a.txt").exists(), "a worker that stops does not wait for it");
    yard.workspace.empty_trash(repo, &CancellationToken::new()).await.unwrap();
    assert!(!trash.exists());
}

#[tokio::test]
async fn a_repository_takes_no_more_of_the_disk_than_it_may() {
    let yard = Yard::new().await;
    let base = yard.workspace.fetch(&yard.remote, &main_branch()).await.unwrap();
    let (repo, place) = (yard.remote.repo(), yard.home.path().join("state/acme/site"));
    let prepare = async |issue, used: u64| {
        let checkout = yard.workspace.prepare(&yard.remote, issue, &work_branch(), &base, Leftover::Remove).await;
        let checkout = checkout.unwrap();
        fs::write(checkout.folder().join("large"), vec![1; 1 << 20]).unwrap();
        let index = place.join(format!("issues/{issue}/git/index"));
        let used = std::time::UNIX_EPOCH + Duration::from_secs(60 * used);
        fs::File::options().write(true).open(index).unwrap().set_modified(used).unwrap();
        checkout
    };
    for (issue, used) in [(1, 3), (2, 1), (3, 2)] {
        drop(prepare(IssueNumber(issue), used).await);
    }
    let in_use = prepare(IssueNumber(4), 0).await;
    fs::create_dir_all(place.join("prepared/key")).unwrap();
    let made = fs::metadata(place.join("mirror.git/HEAD")).unwrap().modified().unwrap();
    let shrink = async |bytes, hours: u64, in_progress: &[u64]| {
        let now = (made + Duration::from_secs(3_600 * hours)).into();
        let in_progress = in_progress.iter().copied().map(IssueNumber).collect();
        yard.workspace.shrink(repo, Room { bytes, in_progress, now }).await.unwrap();
        let mut issues: Vec<_> = fs::read_dir(place.join("issues")).unwrap().map(|e| e.unwrap().file_name()).collect();
        issues.sort();
        let left = ["prepared", "mirror.git"].into_iter().filter(|name| place.join(name).exists());
        issues.into_iter().map(|name| name.into_string().unwrap()).chain(left.map(str::to_owned)).collect::<Vec<_>>()
    };
    let rest = ["prepared", "mirror.git"];
    assert_eq!(shrink(u64::MAX, 25, &[]).await, [&["1", "2", "3", "4"][..], &rest].concat());
    assert_eq!(
        shrink(4 << 20, 25, &[2]).await,
        [&["1", "2", "4"][..], &rest].concat(),
        "3 is the oldest that nobody uses"
    );
    assert_eq!(shrink(0, 25, &[]).await, [&["4"][..], &rest].concat(), "4 is in use");
    drop(in_use);
    assert_eq!(shrink(2 << 20, 25, &[]).await, [&["4"][..], &rest].concat(), "there is room");
    assert_eq!(shrink(1, 23, &[]).await, ["mirror.git"], "it was made today");
    assert_eq!(shrink(1, 25, &[]).await, [""; 0]);
    // All of it can be had again.
    drop(yard.prepare().await);
}

#[tokio::test]
async fn many_packs_become_one_and_nothing_is_lost() {
    let yard = Yard::new().await;
    let first = yard.workspace.fetch(&yard.remote, &main_branch()).await.unwrap();
    let packs = || {
        let entries = fs::read_dir(yard.home.path().join("state/acme/site/mirror.git/objects/pack")).unwrap();
        entries.flatten().filter(|entry| entry.path().extension().is_some_and(|end| end == "pack")).count()
    };
    let mut gone = first.clone();
    for n in 0..52 {
        if n == 26 {
            // A base that is thrown away on the server is borrowed from still.
            gone = yard.workspace.fetch(&yard.remote, &main_branch()).await.unwrap();
            yard.git(&format!("reset -q --hard {first}")).await;
        }
        yard.git(&format!("commit -q --allow-empty -m {n} && git push -qf origin main")).await;
        yard.workspace.fetch(&yard.remote, &main_branch()).await.unwrap();
        assert!(packs() < 50);
    }
    assert!(packs() < 10, "{}", packs());
    let checkout =
        yard.workspace.prepare(&yard.remote, IssueNumber(7), &work_branch(), &gone, Leftover::Remove).await.unwrap();
    assert_eq!(checkout.base(), &gone);
}

/// A process has a workspace for each of its repositories, in one state folder.
#[tokio::test]
async fn workspaces_of_one_folder_are_tried_at_the_same_time() {
    let yard = Yard::empty(WorkspaceSettings::default()).await;
    let folder = yard.home.path().join("state");
    let other =
        Workspace::open(folder.clone(), WorkspaceSettings::default(), child_environment().into()).await.unwrap();
    let tries = (0..200).map(|n| if n % 2 == 0 { &yard.workspace } else { &other }.try_writing());
    futures_util::future::join_all(tries).await.into_iter().collect::<Result<Vec<()>, _>>().unwrap();
    let left = std::fs::read_dir(folder)
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("writable-"));
    assert_eq!(left.count(), 0);
}
