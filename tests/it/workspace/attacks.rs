//! Hostile contents of the agent's folder, and of Hob's own as far as it can reach them. Each test names its attack.

use hob_sandbox::{Limits, Sandbox, Tier};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{CWD, FileType, Mode, OFlags, mkdirat, mknodat, openat},
};

use super::*;
use crate::harness::{launcher, processes_in, strict_fence};

async fn findings(checkout: &Checkout) -> Vec<String> {
    let head = commit(checkout).await.unwrap().unwrap();
    let diff = checkout.diff(checkout.base(), &head).await.unwrap();
    let policy = DiffPolicy::new(&[], HobFiles::Protected, 100, 1 << 30).unwrap();
    policy.violations(&diff).iter().map(ToString::to_string).collect()
}

/// Attack corpus J105, E66: git's library would wait for a writer for ever, or read without end.
#[tokio::test]
async fn rules_that_are_no_file_are_refused_before_they_are_opened() {
    for (script, path) in [
        // First the paths that are read at once if they are not refused.
        ("ln -sf /dev/zero .gitignore", ".gitignore"),
        ("mkfifo .gitignore.new; mv -f .gitignore.new .gitignore", ".gitignore"),
        ("mkdir s; mkfifo s/.gitattributes", "s/.gitattributes"),
        ("mkfifo pipe; mkdir s; ln -s ../pipe s/.gitignore", "s/.gitignore"),
        ("head -c 1048577 /dev/zero > .gitignore", ".gitignore"),
    ] {
        let yard = Yard::new().await;
        let checkout = yard.prepare().await;
        sh(checkout.folder(), script).await;
        let error = commit(&checkout).await.expect_err(script);
        let WorkspaceError::Unfit(UnfitWork::Rules { path: found, .. }) = &error else { panic!("{script}: {error}") };
        assert_eq!(found, path);
        // The next attempt begins all the same.
        let checkout = yard.prepare().await;
        assert_eq!(commit(&checkout).await.unwrap(), None);
    }
    let yard = Yard::new().await;
    let checkout = yard.prepare().await;
    sh(checkout.folder(), "mkdir s; ln -s ../.gitignore s/.gitignore; ln -s nowhere s/.gitattributes").await;
    assert!(commit(&checkout).await.unwrap().is_some(), "links to files, and to nothing, are fine");
}

/// Attack corpus J106: a recursive walk would overflow its stack, now or whenever the folder is removed.
#[tokio::test]
async fn folders_without_end_are_refused_and_removed() {
    let yard = Yard::new().await;
    for kept in [Leftover::Remove, Leftover::Keep] {
        let checkout = yard.prepare().await;
        let mut at = openat(CWD, checkout.folder(), OFlags::DIRECTORY, Mode::empty()).unwrap();
        for _ in 0..40_000 {
            mkdirat(&at, "a", Mode::RWXU).unwrap();
            at = openat(&at, "a", OFlags::DIRECTORY, Mode::empty()).unwrap();
        }
        let refused = commit(&checkout).await;
        let base = yard.workspace.fetch(&yard.remote, &main_branch()).await.unwrap();
        let checkout =
            yard.workspace.prepare(&yard.remote, IssueNumber(7), &work_branch(), &base, kept.clone()).await.unwrap();
        // Only now: a test that fails before would end in the removal of its own folder.
        let error = refused.unwrap_err();
        assert_eq!(error.to_string(), "commit the work: folders are nested more than 200 deep in `a`");
        assert!(!checkout.folder().join("a").exists(), "{kept:?}");
    }
    let repo: RepoName = "acme/site".parse().unwrap();
    yard.workspace.remove(&repo, IssueNumber(7)).await.unwrap();
    assert!(!yard.issue().exists());
}

/// Attack corpus J107: a secret in a file is found, whatever git is told about the file and however it is written.
#[tokio::test]
async fn a_secret_is_found_whatever_git_takes_the_file_for() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let utf16: Vec<u8> = format!("token {token}\n").encode_utf16().flat_map(u16::to_be_bytes).collect();
    let plain = format!("token {token}\n").into_bytes();
    let large = [vec![b'x'; 65 << 20], vec![b'\n'], plain.clone()].concat();
    for (attributes, content) in [
        ("* -diff\n", plain.clone()),
        ("*.txt binary\n", plain.clone()),
        ("", [b"\0".as_slice(), &plain].concat()),
        ("", utf16),
        ("", large),
    ] {
        let yard = Yard::new().await;
        let checkout = yard.prepare().await;
        fs::write(checkout.folder().join(".gitattributes"), attributes).unwrap();
        fs::write(checkout.folder().join("a.txt"), content).unwrap();
        assert_eq!(findings(&checkout).await, ["`a.txt` holds a GitHub token"], "{attributes}");
    }
    let yard = Yard::new().await;
    let checkout = yard.prepare().await;
    fs::write(checkout.folder().join(format!("{token}.txt")), "").unwrap();
    assert_eq!(findings(&checkout).await, ["`[a GitHub token].txt` holds a GitHub token"]);
}

/// Attack corpus J107: a maintainer's own commit is not a finding when an agent changes the file around it.
#[tokio::test]
async fn a_secret_that_was_there_before_is_nobodys_doing() {
    let yard = Yard::new().await;
    let token = format!("ghp_{}", "a1B2".repeat(9));
    fs::write(yard.source().join("test.txt"), format!("{token}\n")).unwrap();
    yard.git("add -A && git commit -qm token && git push -q origin main").await;
    let checkout = yard.prepare().await;
    sh(checkout.folder(), "echo more >> test.txt; mkdir moved; mv test.txt moved").await;
    assert_eq!(findings(&checkout).await, [""; 0]);
    fs::write(checkout.folder().join("other.txt"), format!("{token}\n")).unwrap();
    assert_eq!(findings(&checkout).await, ["`other.txt` holds a GitHub token"]);
}

/// Attack corpus J107: attributes do not hide a change from readers of the pull request.
#[tokio::test]
async fn attributes_hide_no_lines() {
    let yard = Yard::new().await;
    let checkout = yard.prepare().await;
    fs::write(checkout.folder().join(".gitattributes"), "* -diff\n").unwrap();
    fs::write(checkout.folder().join("src/a.txt"), "one\n2\n").unwrap();
    let head = commit(&checkout).await.unwrap().unwrap();
    let diff = checkout.diff(checkout.base(), &head).await.unwrap();
    assert!(diff.patch.contains("-two\n+2\n"), "{}", diff.patch);
    assert_eq!((diff.additions(), diff.deletions()), (2, 1));
}

/// Attack corpus J111: a secret of Hob's own has no form that tells it, and an agent that has read it can encode it.
#[tokio::test]
async fn hobs_own_secret_is_found_in_any_encoding_and_in_an_earlier_commit() {
    const SECRET: &str = "plain words, and 1 number";
    let known = || {
        let secrets = KnownSecrets::default();
        secrets.add([SECRET.to_owned().into(), "another-secret-of-Hob-2".to_owned().into()]);
        secrets
    };
    let own = |place: &str| format!("`{place}` holds a secret of Hob itself");
    for script in [
        format!("echo 'it is {SECRET}' > a.txt"),
        format!("printf 'some text before it: {SECRET}' | base64 -w 20 > a.txt"),
        format!("printf '{SECRET}' | od -An -tx1 > a.txt"),
        format!("printf '\\000\\001{SECRET}' > a.txt"),
        format!("ln -s '{SECRET}' a.txt"),
    ] {
        let yard = Yard::new().await.without(known());
        let checkout = yard.prepare().await;
        sh(checkout.folder(), &script).await;
        let found = findings(&checkout).await;
        assert!(found.contains(&own("a.txt")), "{script}: {found:?}");
    }
    let yard = Yard::new().await.without(known());
    fs::write(yard.source().join("known.txt"), "another-secret-of-Hob-2\n").unwrap();
    yard.git("add -A && git commit -qm known && git push -q origin main").await;
    let checkout = yard.prepare().await;
    fs::write(checkout.folder().join(format!("{SECRET}.txt")), "").unwrap();
    sh(checkout.folder(), "echo more >> known.txt").await;
    let shown = own("(redacted: a secret of Hob).txt");
    assert_eq!(findings(&checkout).await, [shown.as_str()], "what was there before is nobody's doing");
    // The next commit takes it away, and a push brings both.
    sh(checkout.folder(), "rm plain*").await;
    let found = findings(&checkout).await;
    assert!(matches!(found.as_slice(), [one] if one.starts_with(&format!("{shown} in the commit "))), "{found:?}");
}

/// Attack corpus J105, I100: a folder that git's library cannot finish, and one that ends the process.
#[tokio::test]
async fn a_commit_that_hangs_or_crashes_takes_nothing_else_along() {
    let yard = Yard::new().await;
    let checkout = yard.prepare().await;
    fs::write(checkout.folder().join("new.txt"), "two\n").unwrap();
    let works = |script: &str| {
        let program = yard.home.path().join("committer");
        crate::harness::script(&program, script);
        Sandbox::new(Tier::None, program, Limits::default())
    };
    let identity = hob_domain::CommitIdentity { name: "Hob".into(), email: "hob@example.com".into() };
    for (script, says) in [
        ("kill -SEGV $$", "commit the work: it ended by signal 11: no word"),
        ("echo 'out of memory' >&2; exit 134", "commit the work: it ended by exit code 134: out of memory"),
        ("echo '{\"Failed\":\"compare the folder: bad index\"}'", "commit the work: compare the folder: bad index"),
    ] {
        let failed = checkout.commit(&works(script), "x", &identity, Timestamp::UNIX_EPOCH).await.unwrap_err();
        assert_eq!((failed.to_string().as_str(), failed.class()), (says, FailureClass::Unfinished));
    }
    // In a fence its supervisor ends it, with everything that it has started.
    let endless = "echo > began; exec tail -f /dev/null";
    let left = "n=$(printf 's\\377'); cp /bin/sleep \"./$n\"; env -i setsid \"./$n\" 600 &";
    let supervised =
        format!("if [ $1 = --supervise-child ]; then exec {} $1; fi\n{left} {endless}", launcher().display());
    let git = yard.issue().join("git");
    for (tier, script) in [(Tier::None, endless), (Tier::Fence, supervised.as_str())] {
        let sandbox = Sandbox::new(tier, works(script).launcher().to_owned(), Limits::default());
        let began = git.join("began");
        mknodat(CWD, &began, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let began = openat(CWD, &began, OFlags::RDWR, Mode::empty()).unwrap();
        tokio::time::pause();
        // Blocking work holds the time until then.
        let begins = tokio::task::spawn_blocking(move || {
            let patience = Timespec { tv_sec: 60, tv_nsec: 0 };
            poll(&mut [PollFd::new(&began, PollFlags::IN)], Some(&patience))
        });
        // In real time, which does not stop: a bound for a hang, not a figure.
        let (_here, gone) = std::sync::mpsc::channel::<()>();
        let (gives_up, patience) = tokio::sync::oneshot::channel::<()>();
        std::thread::spawn(move || {
            gone.recv_timeout(Duration::from_secs(60)).ok();
            drop(gives_up);
        });
        let late = tokio::select! {
            late = checkout.commit(&sandbox, "x", &identity, Timestamp::UNIX_EPOCH) => late.unwrap_err(),
            _ = patience => panic!("{tier}: it has no limit"),
        };
        tokio::time::resume();
        assert_eq!(begins.await.unwrap(), Ok(1), "{tier}: it began");
        assert!(matches!(late, WorkspaceError::Unfit(UnfitWork::TooSlow { seconds: 300 })), "{tier}: {late}");
        assert!(processes_in(&git).is_empty(), "{tier}: {:?}", processes_in(&git));
        fs::remove_file(git.join("began")).unwrap();
    }
    // The remains of a child that was ended in the middle do no harm.
    fs::write(yard.issue().join("git/index.lock"), "").unwrap();
    fs::write(yard.issue().join("git/refs/heads/hob/7-fix.lock"), "").unwrap();
    assert!(commit(&checkout).await.unwrap().is_some());
}

/// Attack corpus G81.
#[tokio::test]
async fn no_message_and_no_branch_name_holds_a_secret_of_hobs() {
    let secrets = KnownSecrets::default();
    secrets.add(["#7 is a secret".to_owned().into(), "hob/7-fix".to_owned().into()]);
    let yard = Yard::new().await.without(secrets);
    let checkout = yard.prepare().await;
    fs::write(checkout.folder().join("new.txt"), "x\n").unwrap();
    let identity = hob_domain::CommitIdentity { name: "Hob".into(), email: "hob@example.com".into() };
    let time = Timestamp::from_timestamp(1_700_000_000, 0).unwrap();
    let head = checkout.commit(&strict_fence(), "Say that #7 is a secret\n", &identity, time).await.unwrap().unwrap();
    let git_dir = yard.issue().join("git");
    let message = yard.sh(&format!("git --git-dir {} log -1 --format=%B {head}", git_dir.display())).await;
    assert_eq!(message.trim(), "Say that (redacted: a secret of Hob)");
    let refused = yard.push(&checkout, &head, None).await.unwrap_err();
    assert!(matches!(refused, WorkspaceError::PushRefused { .. }), "{refused}");
    // A message that was not made here is found before the push.
    let forged = yard
        .sh(&format!("git --git-dir {} commit-tree -p {head} -m '#7 is a secret' {head}^{{tree}}", git_dir.display()))
        .await;
    let diff = checkout.diff(checkout.base(), &Sha(forged.trim().to_owned())).await.unwrap();
    let found: Vec<_> = diff.secrets.iter().map(|found| found.path.as_str()).collect();
    assert_eq!(found, ["the commit's message"]);
}

/// Attack corpus J108: each link by itself stays in the tree.
#[tokio::test]
async fn a_link_that_leaves_by_way_of_another_is_refused() {
    let yard = Yard::new().await;
    let checkout = yard.prepare().await;
    sh(checkout.folder(), "mkdir -p a/b/c; ln -s ../../.. a/b/c/x; ln -s a/b/c/x/../../etc/passwd y").await;
    assert_eq!(findings(&checkout).await, ["`y` is a link out of the repository, to `a/b/c/x/../../etc/passwd`"]);
    // A later commit that only changes the target of the first one.
    let yard = Yard::new().await;
    yard.sh("cd source && mkdir -p d/e && ln -s d/e l && ln -s l/../../src z && git add -A && git commit -qm links")
        .await;
    yard.git("push -q origin main").await;
    let checkout = yard.prepare().await;
    sh(checkout.folder(), "rm l; mkdir l; echo x > l/x").await;
    assert_eq!(findings(&checkout).await, ["`z` is a link out of the repository, to `l/../../src`"]);
}

/// Attack corpus J123: a server, or a proxy on the way to it, that the git directory names.
#[tokio::test]
async fn a_push_goes_where_hob_says_whatever_the_git_directory_says() {
    let yard = Yard::new().await;
    let checkout = yard.prepare().await;
    yard.sh("git init -q --bare -b main elsewhere.git").await;
    let (served, elsewhere) = (yard.home.path().join("served.git"), yard.home.path().join("elsewhere.git"));
    let redirect =
        format!("git config -f git/config url.file://{}.insteadOf file://{}", elsewhere.display(), served.display());
    sh(&yard.issue(), &redirect).await;
    fs::write(checkout.folder().join("new.txt"), "new\n").unwrap();
    let head = commit(&checkout).await.unwrap().unwrap();
    sh(&yard.issue(), &redirect).await;
    yard.push(&checkout, &head, None).await.unwrap();
    assert_eq!(yard.sh("git -C elsewhere.git for-each-ref").await, "");
    assert!(yard.sh("git -C served.git for-each-ref").await.contains("refs/heads/hob/7-fix"));
}

/// Attack corpus J124, J125: programs that the settings of mirror and git directory name.
#[tokio::test]
async fn no_program_that_a_git_directory_names_is_run() {
    let yard = Yard::new().await;
    let checkout = yard.prepare().await;
    let canary = yard.home.path().join("canary");
    let program = format!("touch {}; cat", canary.display());
    let mirror = yard.home.path().join("state/acme/site/mirror.git");
    yard.sh("git init -q --bare -b main borrowed.git && git -C source push -q ../borrowed.git main").await;
    sh(
        &mirror,
        &format!("git config -f config core.alternateRefsCommand '{program}'; mkdir -p hooks info; printf '#!/bin/sh\\ntouch {}\\n' > hooks/reference-transaction; chmod +x hooks/reference-transaction; echo {}/borrowed.git/objects > objects/info/alternates", canary.display(), yard.home.path().display()),
    )
    .await;
    yard.git("commit -q --allow-empty -m next && git push -q origin main").await;
    yard.workspace.fetch(&yard.remote, &main_branch()).await.unwrap();
    assert!(!canary.exists(), "the fetch ran it");
    sh(
        &yard.issue(),
        &format!("git config -f git/config filter.x.smudge '{program}'; git config -f git/config filter.x.clean '{program}'; mkdir -p git/info; echo '* filter=x' > git/info/attributes"),
    )
    .await;
    fs::write(checkout.folder().join("new.txt"), "new\n").unwrap();
    let head = commit(&checkout).await.unwrap().unwrap();
    checkout.proof(&head).await.unwrap();
    assert!(!canary.exists(), "the checkout of the proof ran it");
}

/// Attack corpus J127: the last commit is clean, and one below it brings a secret along.
#[tokio::test]
async fn a_secret_in_a_commit_below_a_clean_one_is_found() {
    let yard = Yard::new().await;
    let checkout = yard.prepare().await;
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let git = format!("git --git-dir={} --work-tree=.", yard.issue().join("git").display());
    sh(
        checkout.folder(),
        &format!(
            "echo {token} > s; {git} add s; {git} commit -qm s; rm s; {git} rm -q --cached s; {git} commit -qm gone"
        ),
    )
    .await;
    fs::write(checkout.folder().join("new.txt"), "new\n").unwrap();
    let found = findings(&checkout).await;
    assert!(found.len() == 1 && found[0].starts_with("`s` holds a GitHub token in the commit "), "{found:?}");
}

/// Attack corpus D40: a bare repository in a folder of the work is plain files, with any settings.
#[tokio::test]
async fn a_bare_repository_in_the_work_is_not_used() {
    let yard = Yard::new().await;
    let checkout = yard.prepare().await;
    let canary = yard.home.path().join("canary");
    let touch = format!("touch {}", canary.display());
    let bare = format!(
        "git init -q --bare src/bare; cd src/bare; git config core.fsmonitor '{touch}'; git config core.worktree ../..
         git config core.bare false; git config filter.x.clean '{touch}'; echo '* filter=x' > info/attributes
         printf '#!/bin/sh\n{touch}\n' > hooks/post-checkout; chmod +x hooks/post-checkout
         cp hooks/post-checkout hooks/reference-transaction; cp hooks/post-checkout hooks/post-index-change
         cp -r . ../..; cd ../..; rm -rf .git; echo changed > src/a.txt"
    );
    sh(checkout.folder(), &bare).await;
    let head = commit(&checkout).await.unwrap().unwrap();
    let diff = checkout.diff(checkout.base(), &head).await.unwrap();
    let paths: Vec<_> = diff.files.iter().map(|file| file.path.as_str()).collect();
    assert!(paths.contains(&"src/bare/config") && paths.contains(&"HEAD"), "{paths:?}");
    checkout.proof(&head).await.unwrap();
    yard.push(&checkout, &head, None).await.unwrap();
    yard.prepare().await;
    assert!(!canary.exists(), "the bare repository's settings ran a program");
}

/// Attack corpus D43: an option as an address, a name that leaves the folder, a line that ends in CR.
#[tokio::test]
async fn settings_of_submodules_are_neither_committed_nor_obeyed() {
    let hostile = [
        "[submodule \"x\"]\n\tpath = x\n\turl = -u./x\n",
        "[submodule \"../../../hooks\"]\n\tpath = x\n\turl = https://example.com/x\n",
        "[submodule \"x\"]\n\tpath = \"x\r\"\n\turl = https://example.com/x\n",
    ];
    for text in hostile {
        let yard = Yard::new().await;
        let checkout = yard.prepare().await;
        fs::write(checkout.folder().join(".gitmodules"), text).unwrap();
        assert_eq!(findings(&checkout).await, ["`.gitmodules` is protected"]);

        // One that the repository has already leads nowhere.
        let yard = Yard::new().await;
        fs::write(yard.source().join(".gitmodules"), text).unwrap();
        let tip = yard.git("rev-parse HEAD").await;
        let link = format!("160000,{},x", tip.trim());
        yard.git(&format!("add -A && git update-index --add --cacheinfo {link} && git commit -qm sub")).await;
        yard.git("push -q origin main").await;
        let checkout = yard.prepare().await;
        fs::write(checkout.folder().join("new.txt"), "new\n").unwrap();
        let head = commit(&checkout).await.unwrap().unwrap();
        let proof = checkout.proof(&head).await.unwrap();
        for folder in [checkout.folder(), &proof] {
            assert_eq!(fs::read_dir(folder.join("x")).unwrap().count(), 0, "{text}");
        }
        assert!(!yard.issue().join("git/modules").exists() && !yard.issue().join("hooks").exists());
    }
}

/// Attack corpus D47: the tip in Hob's git directory is replaced by one that has nothing in common with the base.
#[tokio::test]
async fn a_history_that_does_not_go_out_from_the_base_is_not_pushed() {
    let yard = Yard::new().await;
    let checkout = yard.prepare().await;
    let git = format!("git --git-dir={}", yard.issue().join("git").display());
    sh(
        checkout.folder(),
        &format!("{git} update-ref refs/heads/hob/7-fix $({git} commit-tree -m alien HEAD^{{tree}})"),
    )
    .await;
    fs::write(checkout.folder().join("new.txt"), "new\n").unwrap();
    let head = commit(&checkout).await.unwrap().unwrap();
    let error = yard.push(&checkout, &head, None).await.unwrap_err();
    assert!(matches!(error, WorkspaceError::UnrelatedHistory { .. }), "{error}");
    assert_eq!(yard.workspace.remote_tip(&yard.remote, &work_branch()).await.unwrap(), None);
}

/// Attack corpus D48: with the default limits.
#[tokio::test]
async fn a_huge_file_and_very_many_files_are_refused() {
    let yard = Yard::new().await;
    let checkout = yard.prepare().await;
    sh(checkout.folder(), "truncate -s 209715201 huge").await;
    let error = commit(&checkout).await.unwrap_err();
    assert!(matches!(error, WorkspaceError::Unfit(UnfitWork::TooLarge { .. })), "{error}");
    sh(checkout.folder(), "rm huge; mkdir many; cd many; seq 10001 | xargs touch").await;
    let error = commit(&checkout).await.unwrap_err();
    assert!(matches!(error, WorkspaceError::Unfit(UnfitWork::TooManyFiles { count: 10_001, .. })), "{error}");
}

/// Attack corpus D51: the source of a checkout changes, or goes away, and the checkout stays.
#[tokio::test]
async fn a_checkout_outlives_the_objects_that_it_was_cloned_from() {
    let yard = Yard::new().await;
    let checkout = yard.prepare().await;
    yard.sh("rm -rf served.git/objects source/.git/objects; git init -q --bare -b main served.git").await;
    fs::write(checkout.folder().join("src/a.txt"), "one\n").unwrap();
    let head = commit(&checkout).await.unwrap().unwrap();
    let diff = checkout.diff(checkout.base(), &head).await.unwrap();
    assert!(diff.patch.contains("-two\n"), "{}", diff.patch);
    let proof = checkout.proof(checkout.base()).await.unwrap();
    assert_eq!(fs::read_to_string(proof.join("src/a.txt")).unwrap(), "one\ntwo\n");
}

/// Attack corpus D51: the objects that the agent's git borrows are there to be read.
#[tokio::test]
async fn an_agent_reads_the_objects_that_it_borrows_and_changes_none() {
    let yard = Yard::new().await;
    let checkout = yard.prepare().await;
    for tier in [Tier::Fence, Tier::Box] {
        let sandbox = Sandbox::new(tier, launcher(), Limits::default()).reading(checkout.borrowed_folders());
        let (confined, _home) = Confined::to_folder(checkout.folder(), &sandbox, child_environment()).await.unwrap();
        let borrowed = checkout.borrowed_folders().map(|folder| folder.display().to_string()).join(" ");
        let script = format!(
            "git log --format=%s; for folder in {borrowed}; do
             (echo x > $folder/info/alternates; echo x > $folder/../config; rm -rf $folder/*
              find $folder -type f -exec sh -c 'chmod u+w $0; echo x > $0' {{}} \\;) 2> /dev/null; done; true"
        );
        let child = Program::inside(&confined.plan, "sh", &confined.environment).args(["-c", &script]);
        let finished = child.dir(checkout.folder()).run(&CancellationToken::new()).await.unwrap();
        assert_eq!(finished.stdout.text(), "first\n", "{tier}: {}", finished.stderr.text());
        let mirror = yard.home.path().join("state/acme/site/mirror.git");
        let log = format!("git fsck >&2; git log --format=%s {base}", base = checkout.base());
        assert_eq!(sh(&mirror, &log).await, "first\n", "{tier}");
        assert!(!mirror.join("objects/info/alternates").exists(), "{tier}");
    }
}

/// Attack corpus E56: hooks that one run leaves, and the settings that would make git run them, are nothing to the next.
#[tokio::test]
async fn hooks_that_a_run_leaves_are_not_run_in_the_next() {
    let yard = Yard::new().await;
    let keep = async || {
        let base = yard.workspace.fetch(&yard.remote, &main_branch()).await.unwrap();
        yard.workspace.prepare(&yard.remote, IssueNumber(7), &work_branch(), &base, Leftover::Keep).await.unwrap()
    };
    let checkout = keep().await;
    let canary = yard.home.path().join("canary");
    let script = format!(
        "mkdir .husky; git config core.hooksPath .husky; git config core.fsmonitor .husky/pre-commit
         for hook in pre-commit post-checkout post-commit commit-msg; do
           printf '#!/bin/sh\ntouch {}\n' > .husky/$hook; chmod +x .husky/$hook; cp .husky/$hook .git/hooks 2> /dev/null || true
         done; echo x > new.txt",
        canary.display()
    );
    sh(checkout.folder(), &script).await;
    drop(checkout);
    let checkout = keep().await;
    assert!(checkout.is_kept() && checkout.folder().join(".husky/pre-commit").exists());
    sh(checkout.folder(), "git status; git add -A; git commit -qm 'by the agent'; git checkout -q -b other").await;
    assert!(commit(&checkout).await.unwrap().is_some());
    assert!(!canary.exists(), "a hook of the run before was run");
}
