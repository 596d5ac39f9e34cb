//! A child that has the files of another system in place of this machine's.

use hob_process::has_program;

use super::*;
use crate::harness::small_system;

const PROGRAMS: [&str; 7] = ["sh", "cat", "chown", "id", "ls", "mkdir", "nproc"];

/// Such a system, a folder of this machine beside it, and what a child's `/app` shows.
async fn system() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    small_system(&dir.path().join("root"), &PROGRAMS).await;
    std::fs::create_dir_all(dir.path().join("root/etc")).unwrap();
    for folder in ["work", "outside"] {
        std::fs::create_dir(dir.path().join(folder)).unwrap();
    }
    std::fs::write(dir.path().join("root/etc/passwd"), "root:x:0:0:of the image:/root:/bin/sh\n").unwrap();
    std::fs::write(dir.path().join("outside/secret"), CANARY).unwrap();
    dir
}

async fn sh(dir: &TempDir, maker: Maker, script: &str) -> Result<Finished, ProcessError> {
    let (work, limits) = (dir.path().join("work"), Limits { processors: 1, ..Limits::default() });
    let sandbox = Sandbox::new(Tier::Fence, launcher(), Limits::default()).made_by(maker).at_most(limits);
    let sandbox = sandbox.reading(["/usr/share".into()]).showing("/app".into(), work.clone());
    let plan = sandbox.rooted(dir.path().join("root")).plan().writes(work);
    let environment = [("PATH".into(), "/bin".into())].into();
    assert!(has_program(&plan, &environment, "cat") && !has_program(&plan, &environment, "git"));
    Program::inside(&plan, "sh", &environment).args(["-c", script]).dir("/app").run(&CancellationToken::new()).await
}

#[tokio::test]
async fn a_child_has_another_systems_files_and_none_of_this_machines() {
    needs!("ldd");
    for maker in [Maker::Bubblewrap, Maker::Hob] {
        let dir = system().await;
        let secret = dir.path().join("outside/secret").display().to_string();
        let script = format!(
            "id -u; chown 1000:1000 /etc/passwd && cat /etc/passwd; nproc; pwd; echo 1 > /app/a; echo 2 > /b; mkdir /tmp; echo 3 > /tmp/c; ls /usr/share /home {secret}; \
             cat {secret} /proc/self/root{secret}; echo x > /dev/null; read name < /run/hob/hob; echo y > /run/hob/hob; echo 0 > /proc/self/oom_score_adj"
        );
        let ended = sh(&dir, maker, &script).await.unwrap();
        let (said, errors) = (ended.stdout.text(), ended.stderr.text());
        assert_eq!(said, "0\nroot:x:0:0:of the image:/root:/bin/sh\n1\n/app\n", "{maker:?}: {errors}");
        // Hob's program, and its own `/proc`.
        assert_eq!(errors.matches("Read-only file system").count(), 2, "{maker:?}: {errors}");
        let written =
            ["work/a", "root/b", "root/tmp/c"].map(|file| std::fs::read_to_string(dir.path().join(file)).unwrap());
        assert_eq!(written, ["1\n", "2\n", "3\n"], "{maker:?}");
        // What it wrote is there for the next child, as in a container.
        assert_eq!(sh(&dir, maker, "cat /b /tmp/c").await.unwrap().stdout.text(), "2\n3\n", "{maker:?}");
        let missing = sh(&dir, maker, "git").await.unwrap();
        assert_eq!(missing.exit, Exit::Code(127), "{maker:?}");
    }
}

/// A link in the place of a mount leads to no folder of this machine.
#[tokio::test]
async fn a_link_in_the_other_system_brings_nothing_of_this_machine_into_reach() {
    needs!("ldd");
    for maker in [Maker::Bubblewrap, Maker::Hob] {
        let dir = system().await;
        let outside = dir.path().join("outside");
        std::os::unix::fs::symlink(&outside, dir.path().join("root/app")).unwrap();
        let ended = sh(&dir, maker, "ls /app; echo x > /app/new").await;
        assert!(matches!(ended, Err(ProcessError::Sandbox { .. })), "{maker:?}: {ended:?}");
        let names = std::fs::read_dir(&outside).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(names.collect::<Vec<_>>(), ["secret"], "{maker:?}");
    }
}
