//! `hob eval` on tasks that need an image: podman makes it, and its files are the root of Hob's boxes.

use std::{
    fs,
    path::{Path, PathBuf},
};

use hob_process::Program;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::evaluation::{put, result, task};
use crate::harness::{World, needs, script, skipped, small_system};

const PROGRAMS: [&str; 6] = ["sh", "cat", "grep", "ls", "mkdir", "rm"];
/// A program that answers as podman does; the files of its images are in `root.tar`.
const PODMAN: &str = r#"echo "$*" >> {DIR}/podman.log
case "$1-$2" in
  build-*) test ! -e {DIR}/unbuildable || { echo 'no such base' >&2; exit 125; }; echo sha256:4711 > $3 ;;
  image-inspect) echo "{\"Env\":[\"PATH=/bin\",\"GREETING=hello\",\"HOME=/nowhere\"],\"WorkingDir\":\"/app\",\"User\":\"$(cat {DIR}/user)\"}" ;;
  export-*) cp {DIR}/root.tar "$3" ;;
esac"#;

/// A task whose image has a file at `/made`, which its tests want in the answer, with a solution and a recording.
async fn built(world: &World, tasks: &Path) -> PathBuf {
    let (dir, root) = (world.dir().display().to_string(), world.dir().join("image"));
    let folder = task(tasks, "built", "1");
    put(&folder.join("environment/Dockerfile"), "FROM base\nRUN echo of the image > /made\nWORKDIR /app\n");
    let check = "grep -qx \"hello of the image\" /app/answer.txt && grep -qx \"hello of the image\" /answer\n";
    put(&folder.join("tests/test.sh"), &format!("{check}echo $((! $?)) > /logs/verifier/reward.txt\n"));
    let solve = "echo \"$GREETING $(cat /made)\" > /app/answer.txt; cat answer.txt > /answer";
    put(&folder.join("solution/solve.sh"), solve);
    let command = format!("{solve}; ls -a / > root.txt; echo \"$HOME\" >> root.txt");
    let calls = json!([{ "name": "shell", "arguments": { "command": command } }]);
    let check = json!([{ "name": "read", "arguments": { "path": "/app/answer.txt" } }]);
    let done = json!({ "calls": [{ "name": "done", "arguments": { "summary": "Answered." } }] });
    put(
        &folder.join("recording.json"),
        &json!({ "cassette": 1, "replies": [{ "calls": calls }, { "calls": check }, done, done] }).to_string(),
    );
    small_system(&root, &PROGRAMS).await;
    put(&root.join("made"), "of the image\n");
    put(&root.join("app/answer.txt"), "0\n");
    fs::create_dir_all(root.join("dev")).unwrap();
    let tar = Program::of_hob("tar", &hob_config::child_environment()).args(["-C", "image", "-cf", "root.tar", "."]);
    assert!(tar.dir(world.dir()).run(&CancellationToken::new()).await.unwrap().exit.is_success());
    put(&world.dir().join("user"), "root");
    fs::create_dir_all(world.dir().join("bin")).unwrap();
    script(&world.dir().join("bin/podman"), &PODMAN.replace("{DIR}", &dir));
    folder
}

/// A `PATH` on which this podman is the first one.
fn path(world: &World) -> String {
    let path = hob_config::child_environment().remove(std::ffi::OsStr::new("PATH")).unwrap();
    format!("{}/bin:{}", world.dir().display(), path.to_str().unwrap())
}

#[tokio::test]
async fn a_task_that_needs_an_image_is_tried_in_its_files() {
    needs!("ldd", "tar");
    let world = World::fixing().script("outsider", "true").start().await;
    let folder = built(&world, &world.dir().join("tasks")).await;
    put(&folder.join("task.toml"), "[environment]\nbuild_timeout_sec = 60\nmemory_mb = 1024\ncpus = 1\n");
    let path = path(&world);
    let path = [("PATH", path.as_str())];
    let checked = world.hob_with(&["eval", "tasks", "--check", "--json"], &path).await;
    assert_eq!((checked.code, &checked.result()["usable"]), (0, &json!(1)), "{checked:?}");
    let recorded = world.hob_with(&["eval", "tasks", "--recorded", "--json"], &path).await;
    assert_eq!((recorded.code, &result(&recorded).0["solved"]["count"]), (0, &json!(1)), "{recorded:?}");
    let patch = fs::read_to_string(world.dir().join("eval-results/tasks-native/patches/built.patch")).unwrap();
    assert!(patch.contains("-0\n+hello of the image\n") && patch.contains("\n+made\n"), "{patch}");
    // What this machine has is not there, and a home is the image's.
    assert!(patch.contains("\n+/root\n") && !patch.contains("\n+boot\n"), "{patch}");
    let log = fs::read_to_string(world.dir().join("podman.log")).unwrap();
    let wants = |words: &str| assert!(log.lines().any(|line| line.starts_with(words)), "{words}: {log}");
    let context = folder.join("environment").canonicalize().unwrap();
    let build = log.lines().find(|line| line.starts_with("build --iidfile ")).unwrap_or_default();
    assert!(build.ends_with(&format!(" --tag hob-eval:built {}", context.display())), "{log}");
    wants("image inspect --format {{json .Config}} sha256:4711");
    wants("container prune --force --filter label=hob-eval --filter until=1h");
    let count = |word: &str| log.lines().filter(|line| line.starts_with(word)).count();
    // Two for the check, one for the agent; each container goes, and none was started.
    assert_eq!((count("create --name hob-eval-"), count("rm --force hob-eval-"), count("run")), (3, 3, 0), "{log}");
    let left = fs::read_dir(world.state_dir("program").join("eval")).into_iter().flatten().count();
    assert_eq!(left, 0, "files of an image are left");
    // The program of another agent is not in it.
    let other = world.hob_with(&["eval", "tasks", "--agent", "outsider"], &path).await;
    assert!(other.code == 8 && other.stderr.contains("`outsider` cannot"), "{other:?}");
    world.finish().await;
}

#[tokio::test]
async fn an_image_that_cannot_be_had_is_a_reason_not_to_try_a_task() {
    needs!("ldd", "tar");
    let world = World::fixing().start().await;
    let folder = built(&world, &world.dir().join("tasks")).await;
    let with_podman = path(&world);
    let path = [("PATH", with_podman.as_str())];
    let why = async |part: &str| {
        let ended = world.hob_with(&["eval", "tasks", "--recorded", "--json"], &path).await;
        let (report, trials) = result(&ended);
        let said = report["unusable"][0]["why"].as_str().unwrap_or_default().to_owned();
        assert!(ended.code == 8 && trials == 0 && said.contains(part), "{part}: {ended:?}");
    };
    put(&world.dir().join("unbuildable"), "");
    why("`podman build` failed: exit code 125: no such base").await;
    fs::remove_file(world.dir().join("unbuildable")).unwrap();
    put(&world.dir().join("user"), "nobody");
    why("runs as the user `nobody`").await;
    put(&world.dir().join("user"), "");
    // Its own image, by its name, is not built; what starts with it is told.
    put(&folder.join("task.toml"), "[environment]\ndocker_image = \"example.test/built:1\"\nworkdir = \"/\"\n");
    why("its image names no `WORKDIR`").await;
    let log = fs::read_to_string(world.dir().join("podman.log")).unwrap();
    assert!(log.contains("\nimage inspect example.test/built:1\n"), "{log}");
    put(&folder.join("environment/Dockerfile"), "FROM base\nRUN x\nWORKDIR /app\nENTRYPOINT [\"serve\"]\n");
    let ended = world.hob_with(&["eval", "tasks", "--recorded"], &path).await;
    assert!(ended.code == 8 && ended.stderr.contains("`ENTRYPOINT`, which is not started here"), "{ended:?}");
    world.finish().await;
}

/// An agent that is root of the image's files leaves them so that no test can run: that is no error of the machine's, and solves nothing.
#[tokio::test]
async fn an_agent_that_spoils_the_files_of_its_image_has_not_solved_the_task() {
    needs!("ldd", "tar");
    let world = World::fixing().start().await;
    let folder = built(&world, &world.dir().join("tasks")).await;
    let calls = json!([{ "name": "shell", "arguments": { "command": "rm -r /bin" } }]);
    let done = json!({ "calls": [{ "name": "done", "arguments": { "summary": "Answered." } }] });
    put(
        &folder.join("recording.json"),
        &json!({ "cassette": 1, "replies": [{ "calls": calls }, done, done] }).to_string(),
    );
    let path = path(&world);
    let ended = world.hob_with(&["eval", "tasks", "--recorded", "--json"], &[("PATH", path.as_str())]).await;
    let (report, trials) = result(&ended);
    let trial: &Value = &report["trials"][0];
    assert_eq!((ended.code, trials, &trial["solved"]), (0, 1, &json!(false)), "{ended:?}");
    world.finish().await;
}

/// The real podman, on an image of one static program.
#[tokio::test]
async fn a_real_podman_makes_the_image() {
    let busybox = Path::new("/bin/busybox");
    let environment = hob_config::child_environment();
    let podman = Program::of_hob("podman", &environment).arg("info").run(&CancellationToken::new()).await;
    if !podman.is_ok_and(|ended| ended.exit.is_success()) || !busybox.is_file() {
        return skipped("podman does not answer, or there is no static busybox");
    }
    let world = World::fixing().start().await;
    let folder = task(&world.dir().join("tasks"), "real", "1");
    let dockerfile = "FROM scratch\nCOPY busybox /bin/busybox\nENV PATH=/bin\nRUN [\"/bin/busybox\", \"--install\", \"-s\", \"/bin\"]\n\
                      RUN echo 1 > /made\nWORKDIR /app\n";
    put(&folder.join("environment/Dockerfile"), dockerfile);
    fs::copy(busybox, folder.join("environment/busybox")).unwrap();
    put(&folder.join("solution/solve.sh"), "cat /made > answer.txt\n");
    let home = environment.get(std::ffi::OsStr::new("HOME")).and_then(|home| home.to_str()).unwrap_or_default();
    let checked = world.hob_with(&["eval", "tasks", "--check", "--json"], &[("HOME", home)]).await;
    let report = checked.result();
    let why = report["checked"][0]["why"].as_str().unwrap_or_default().to_owned();
    if why.contains("`podman ") {
        skipped(&format!("podman cannot make an image here: {why}"));
    } else {
        assert_eq!((checked.code, &report["usable"]), (0, &json!(1)), "{checked:?}");
    }
    world.finish().await;
}
