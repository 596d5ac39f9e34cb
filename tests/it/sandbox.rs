//! The limits of a child in a sandbox, tried by hostile programs. Each attempt is made in a fence and in a box; a
//! machine that lacks one of them fails here.

use std::{
    net::TcpListener,
    os::unix::net::{UnixDatagram, UnixListener},
    path::{Path, PathBuf},
    time::Duration,
};

use hob_config::child_environment;
use hob_process::{Exit, Finished, ProcessError, Program};
use hob_sandbox::{Limits, Maker, Network, Plan, REFUSED_NOW, Sandbox, Tier};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

use crate::harness::{PYTHON, launcher, needs, processes_in};

mod calls;
mod groups;
mod needs;
mod prisoner;
mod renames;
mod rooted;
mod way_out;

/// A tier, and the maker of its boxes.
#[derive(Clone, Copy)]
struct Kind(Tier, Maker);

const TIERS: [Kind; 3] =
    [Kind(Tier::Fence, Maker::Hob), Kind(Tier::Box, Maker::Bubblewrap), Kind(Tier::Box, Maker::Hob)];

impl From<Tier> for Kind {
    fn from(tier: Tier) -> Self {
        Self(tier, Maker::Bubblewrap)
    }
}

impl PartialEq<Tier> for Kind {
    fn eq(&self, tier: &Tier) -> bool {
        self.0 == *tier
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} by {:?}", self.0, self.1)
    }
}

const CANARY: &str = "canary-4711";
/// A bound for a hang: no machine takes longer to end two processes.
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder that a child may write, and one beside it that it may not even read.
struct Prison {
    dir: TempDir,
    tier: Kind,
    limits: Limits,
    network: Network,
}

impl Prison {
    fn new(tier: impl Into<Kind>) -> Self {
        let tier = tier.into();
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("work")).unwrap();
        std::fs::create_dir(dir.path().join("outside")).unwrap();
        std::fs::write(dir.path().join("outside/secret"), CANARY).unwrap();
        Self { dir, tier, limits: Limits::default(), network: Network::None }
    }

    fn work(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    fn outside(&self, name: &str) -> PathBuf {
        self.dir.path().join("outside").join(name)
    }

    fn plan(&self) -> Plan {
        let sandbox = Sandbox::new(self.tier.0, launcher(), self.limits).made_by(self.tier.1);
        let sandbox = sandbox.with_network(self.network.clone());
        sandbox.plan().writes(self.work())
    }

    async fn run(&self, program: &str, arguments: &[&str]) -> Finished {
        let mut environment = child_environment();
        environment.insert("HOME".into(), self.work().into());
        let child = Program::inside(&self.plan(), program, &environment).args(arguments).dir(self.work());
        child.run(&CancellationToken::new()).await.unwrap()
    }

    /// Runs a shell script; returns its output on both streams.
    async fn sh(&self, script: &str) -> (Exit, String) {
        let finished = self.run("sh", &["-c", script]).await;
        (finished.exit, format!("{}{}", finished.stdout.text(), finished.stderr.text()))
    }

    /// Runs a Python program that prints its targets, or the name of the error that stopped it.
    async fn python(&self, body: &str) -> String {
        let lines: String = body.lines().map(|line| format!("    {line}\n")).collect();
        let script = format!(
            "import ctypes, errno, os, socket\n\
             libc = ctypes.CDLL(None, use_errno=True)\n\
             def call(*a):\n    r = libc.syscall(*a)\n    \
             return 'reached' if r >= 0 else errno.errorcode[ctypes.get_errno()]\n\
             try:\n{lines}except OSError as e:\n    print(errno.errorcode[e.errno])\n"
        );
        let finished = self.run(PYTHON, &["-c", &script]).await;
        let errors = finished.stderr.text();
        let errors: Vec<_> = errors.lines().filter(|line| !line.starts_with(REFUSED_NOW)).collect();
        format!("{}{}", finished.stdout.text(), errors.join("\n")).trim().to_owned()
    }
}

/// The purpose of a child.
#[tokio::test]
async fn a_child_works_in_its_folder_as_everywhere() {
    for tier in TIERS {
        let prison = Prison::new(tier);
        let script = "echo in > a && mkdir d && mv a d/b && cat d/b && echo x | sort > /dev/null && git --version | cut -c1-3 \
                      && ls /usr/bin/env && head -c 4 /dev/urandom | wc -c";
        let (exit, said) = prison.sh(script).await;
        assert_eq!((exit, said.as_str()), (Exit::Code(0), "in\ngit\n/usr/bin/env\n4\n"), "{tier}");
        assert_eq!(std::fs::read_to_string(prison.work().join("d/b")).unwrap(), "in\n");
        assert_eq!(prison.sh("exit 7").await.0, Exit::Code(7));
        for signal in [6, 9, 11] {
            assert_eq!(prison.sh(&format!("kill -{signal} $$")).await.0, Exit::Signal(signal), "{tier}");
        }
        let missing = Program::inside(&prison.plan(), "no-such-program", &child_environment()).dir(prison.work());
        let error = missing.run(&CancellationToken::new()).await.unwrap_err().to_string();
        assert_eq!(error, "start `no-such-program`: No such file or directory (os error 2)");
    }
}

/// Calls that the filter allows, though they look like refused ones.
#[tokio::test]
async fn what_programs_do_every_day_works() {
    needs!(PYTHON);
    for tier in TIERS {
        let script = "nice -n 1 ionice -c 3 taskset 1 true && (ulimit -n 100) && mkdir g && chmod g+s g && cp -a g h \
                      && tar cf a.tar h && tar xpf a.tar && install -m 755 /usr/bin/true own && ./own && flock own true \
                      && mkfifo pipe && timeout 60 sh -c 'echo x > pipe & cat pipe'";
        let (exit, said) = Prison::new(tier).sh(script).await;
        assert_eq!((exit, said.as_str()), (Exit::Code(0), "x\n"), "{tier}");
        let said = Prison::new(tier)
            .python(
                "import shutil, socket, subprocess, tempfile, threading\n\
                 socket.socketpair()[0].close()\n\
                 os.mkdir('g')\n\
                 os.chmod('g', 0o2755)\n\
                 shutil.copytree('g', 'h')\n\
                 os.nice(1)\n\
                 os.sched_setaffinity(threading.get_native_id(), os.sched_getaffinity(0))\n\
                 subprocess.run(['true'], check=True)\n\
                 tempfile.TemporaryFile(dir='.').write(b'x')\n\
                 print('works')",
            )
            .await;
        assert_eq!(said, "works", "{tier}");
    }
}

/// As Hob's own commits are made.
#[tokio::test]
async fn hob_itself_can_be_the_child_by_the_kernels_name_of_its_program() {
    for tier in TIERS {
        let finished = Prison::new(tier).run("/proc/self/exe", &["--version"]).await;
        assert!(finished.stdout.text().starts_with("hob "), "{tier}: {} {}", finished.exit, finished.stderr.text());
    }
}

/// Attack corpus E52
/// Attack corpus E55
#[tokio::test]
async fn a_file_outside_is_neither_read_nor_written_by_any_name() {
    for tier in TIERS {
        let prison = Prison::new(tier);
        let secret = prison.outside("secret").display().to_string();
        std::os::unix::fs::symlink(&secret, prison.work().join("link")).unwrap();
        for path in [
            secret.clone(),
            "../outside/secret".to_owned(),
            "link".to_owned(),
            format!("/proc/self/root{secret}"),
            "/proc/self/cwd/../outside/secret".to_owned(),
            format!("/proc/{}/cwd/../..{secret}", std::process::id()),
            "/etc/shadow".to_owned(),
            "/root/.ssh/id_rsa".to_owned(),
        ] {
            let (exit, said) = prison.sh(&format!("cat '{path}'")).await;
            assert!(
                exit == Exit::Code(1) && !said.contains(CANARY) && !said.contains("root:"),
                "{tier} {path}: {said}"
            );
        }
        let writes = format!(
            "echo x > '{secret}'; echo x > ../outside/new; echo x >> link; rm '{secret}'; ln '{secret}' hard; echo x > /usr/x"
        );
        prison.sh(&writes).await;
        assert_eq!(std::fs::read_to_string(prison.outside("secret")).unwrap(), CANARY, "{tier}");
        assert!(
            !prison.outside("new").exists() && !prison.work().join("hard").exists() && !Path::new("/usr/x").exists()
        );
    }
}

/// Attack corpus E53
/// Attack corpus J121
/// Attack corpus J129
#[tokio::test]
async fn the_environment_of_no_process_outside_is_read() {
    for tier in TIERS {
        let prison = Prison::new(tier);
        let holder = [("TOKEN".into(), CANARY.into()), ("PATH".into(), "/usr/bin:/bin".into())].into();
        let mut holder = Program::of_hob("cat", &holder).spawn().unwrap();
        // It has its environment only once it has executed its program.
        let (stdin, stdout) = (holder.stdin.as_mut().unwrap(), holder.stdout.as_mut().unwrap());
        stdin.write_all(b"x").await.unwrap();
        stdout.read_exact(&mut [0]).await.unwrap();
        let pid = holder.id().unwrap();
        let own = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
        assert!(String::from_utf8_lossy(&own).contains(CANARY), "the canary is there");
        let hob = std::process::id();
        let (_, said) = prison
            .sh(&format!("cat /proc/{pid}/environ /proc/{hob}/environ /proc/$PPID/environ /proc/1/environ"))
            .await;
        assert!(!said.contains(CANARY) && !said.contains("CARGO_"), "{tier}: {said}");
        let (_, said) = prison.sh("cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'").await;
        assert!(!said.contains(CANARY), "{tier}: {said}");
        holder.kill().await.unwrap();
    }
}

/// Attack corpus E58
/// Attack corpus E59
#[tokio::test]
async fn no_rights_are_had_or_won() {
    for tier in TIERS {
        let prison = Prison::new(tier);
        let (_, said) =
            prison.sh("grep -E '^(Cap(Eff|Prm|Bnd|Amb)|NoNewPrivs|Seccomp):' /proc/self/status | tr '\\t' ' '").await;
        let none = "0000000000000000";
        let wanted =
            format!("CapPrm: {none}\nCapEff: {none}\nCapBnd: {none}\nCapAmb: {none}\nNoNewPrivs: 1\nSeccomp: 2\n");
        assert_eq!(said, wanted, "{tier}");
        let (exit, said) = prison.sh("unshare --user true || unshare --mount true").await;
        assert!(exit != Exit::Code(0), "{tier}: {said}");
        let (exit, said) = prison.sh("mount -t tmpfs none /mnt || chroot / true").await;
        assert!(exit != Exit::Code(0), "{tier}: {said}");
    }
}

/// Attack corpus E60
/// Attack corpus J128
#[tokio::test]
async fn no_process_outside_is_signalled_or_traced() {
    needs!(PYTHON);
    for tier in TIERS {
        let prison = Prison::new(tier);
        let hob = std::process::id();
        let (exit, said) = prison.sh(&format!("kill -0 {hob} || kill -0 $PPID")).await;
        assert!(exit != Exit::Code(0), "{tier}: {said}");
        let attach = prison.python(&format!("print(call(101, 16, {hob}, 0, 0))")).await;
        assert!(["EPERM", "ESRCH"].contains(&attach.as_str()), "{tier}: {attach}");
        let peek = prison.python(&format!("print(call(310, {hob}, 0, 0, 0, 0, 0))")).await;
        assert!(["EPERM", "ESRCH"].contains(&peek.as_str()), "{tier}: {peek}");
    }
}

/// Attack corpus E58
/// Attack corpus E60
/// Attack corpus E61
#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn calls_that_no_program_needs_are_refused() {
    needs!(PYTHON);
    for tier in TIERS {
        let prison = Prison::new(tier);
        for (name, call) in [
            ("io_uring_setup", "print(call(425, 4, 0))"),
            ("keyctl", "print(call(250, 0, -3, 0))"),
            ("add_key", "print(call(248, b'user', b'x', b'y', 1, -3))"),
            ("bpf", "print(call(321, 0, 0, 0))"),
            ("perf_event_open", "print(call(298, 0, 0, -1, -1, 0))"),
            ("userfaultfd", "print(call(323, 0))"),
            ("unshare", "print(call(272, 0x10000000))"),
            ("clone with a namespace", "print(call(56, 0x10000011, 0, 0, 0, 0))"),
            ("setns", "print(call(308, 0, 0))"),
            ("mount", "print(call(165, 0, 0, 0, 0, 0))"),
            ("open_by_handle_at", "print(call(304, -100, 0, 0))"),
            ("TIOCSTI", "print(call(16, 0, 0x5412, b'x'))"),
            ("vsock", "socket.socket(40, socket.SOCK_STREAM)\nprint('reached')"),
            ("netlink", "socket.socket(16, socket.SOCK_RAW)\nprint('reached')"),
            ("raw", "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)\nprint('reached')"),
            ("packet", "socket.socket(17, socket.SOCK_RAW)\nprint('reached')"),
            ("a limit of another process", "print(call(302, os.getppid(), 4, 0, 0))"),
            ("the priority of another process", "print(call(141, 0, os.getppid(), 19))"),
            ("the priority of a user", "print(call(141, 2, 0, 19))"),
            ("the scheduling of another process", "print(call(144, os.getppid(), 3, 0))"),
            ("the disk priority of another process", "print(call(251, 1, os.getppid(), 0))"),
            ("a setuid program", "open('own', 'w')\nos.chmod('own', 0o4755)\nprint('reached')"),
            ("a setuid file", "os.open('born', os.O_CREAT | os.O_WRONLY, 0o4700)\nprint('reached')"),
        ] {
            assert_eq!(prison.python(call).await, "EPERM", "{tier} {name}");
        }
        assert_eq!(prison.python("print(call(435, 0, 0))").await, "ENOSYS", "{tier} clone3");
        assert_eq!(prison.python("print(call(437, -100, b'own', 0, 0))").await, "ENOSYS", "{tier} openat2");
        let x32 = prison.run(PYTHON, &["-c", "import ctypes; ctypes.CDLL(None).syscall(0x40000027)"]).await;
        assert!(!x32.exit.is_success(), "{tier}: a call by its number in x32 ends the process: {:?}", x32.exit);
    }
}

/// Attack corpus E62
/// Attack corpus F67
#[tokio::test]
async fn without_network_nothing_outside_is_reached() {
    needs!(PYTHON);
    for tier in TIERS {
        let prison = Prison::new(tier);
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = server.local_addr().unwrap().port();
        let path = prison.outside("docker.sock");
        let _service = UnixListener::bind(&path).unwrap();
        for attempt in [
            format!("socket.create_connection(('127.0.0.1', {port}))\nprint('reached')"),
            format!("s = socket.socket(socket.AF_UNIX)\ns.connect({:?})\nprint('reached')", path.display().to_string()),
            "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\ns.sendto(b'x', ('192.0.2.1', 53))\nprint('reached')"
                .to_owned(),
            "socket.create_connection(('192.0.2.1', 80), 5)\nprint('reached')".to_owned(),
        ] {
            let said = prison.python(&attempt).await;
            let refused = ["EPERM", "EACCES", "ECONNREFUSED", "ENETUNREACH", "ENOENT"];
            assert!(refused.contains(&said.as_str()), "{tier} {attempt}: {said}");
        }
    }
}

/// Attack corpus E62: objects that processes share by a number, and datagrams to a path by a pair of sockets. A box has
/// its own.
#[tokio::test]
async fn a_fence_lets_no_child_reach_what_other_processes_share() {
    needs!(PYTHON);
    let prison = Prison::new(Tier::Fence);
    let path = prison.outside("log.sock");
    let _service = UnixDatagram::bind(&path).unwrap();
    let datagram = format!(
        "a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\na.sendto(b'x', {:?})\nprint('reached')",
        path.display().to_string()
    );
    assert_eq!(prison.python(&datagram).await, "EPERM");
    assert_eq!(prison.python("a, b = socket.socketpair()\na.send(b'x')\nprint(b.recv(1))").await, "b'x'");
    if cfg!(target_arch = "x86_64") {
        for (name, call) in [("shmget", 29), ("shmat", 30), ("semget", 64), ("msgget", 68), ("mq_open", 240)] {
            assert_eq!(prison.python(&format!("print(call({call}, 0, 0, 0))")).await, "EPERM", "{name}");
        }
    }
}

/// Attack corpus E62
#[tokio::test]
async fn with_the_network_of_the_machine_its_services_by_path_are_not_reached() {
    needs!(PYTHON);
    for tier in TIERS {
        let prison = Prison { network: Network::Open, ..Prison::new(tier) };
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = server.local_addr().unwrap().port();
        let reached =
            prison.python(&format!("socket.create_connection(('127.0.0.1', {port}))\nprint('reached')")).await;
        assert_eq!(reached, "reached", "{tier}");
        let said = prison.python("socket.socket(socket.AF_UNIX)\nprint('reached')").await;
        assert_eq!(said, "EPERM", "{tier}");
    }
}

/// Attack corpus E63
#[tokio::test]
async fn a_child_has_three_descriptors() {
    // Hob's parent may leave one open: the next program has it, too.
    let _left = rustix::io::dup(std::io::stdin()).unwrap();
    for tier in TIERS {
        // Not a pipe, whose ends the shell would have for a moment.
        let (_, said) = Prison::new(tier).sh("ls /proc/$$/fd; true").await;
        assert_eq!(said.split_whitespace().collect::<Vec<_>>(), ["0", "1", "2"], "{tier}");
    }
}

/// Attack corpus E64
/// Attack corpus J126
#[tokio::test]
async fn nothing_outlives_a_child() {
    // Half of them have a name that is not UTF-8.
    let script = "p=$(printf 's\\377'); cp /bin/sh \"./$p\"; for i in $(seq 50); do for p in sh \"./$p\"; do \
                  env -i setsid \"$p\" -c 'trap \"\" TERM; read n < /proc/$$/comm; echo \"$n\"; exec >&- 2>&-; \
                  sleep 600; :' & done; p=$(printf 's\\377'); done | head -100";
    for tier in TIERS {
        let prison = Prison::new(tier);
        let (exit, said) = prison.sh(script).await;
        let called = |name: &str| said.lines().filter(|line| *line == name).count();
        assert_eq!((exit, called("sh"), called("s\u{fffd}")), (Exit::Code(0), 50, 50), "{tier}: {said}");
        let left = processes_in(&prison.work());
        assert!(left.is_empty(), "{tier}: {left:?}");
    }
}

/// Attack corpus K131: a name that is not UTF-8; the child ends and leaves it, or is ended beside it.
#[tokio::test]
async fn a_process_with_any_name_is_found_and_ended() {
    const NAMES: [&str; 3] = ["s\\377", "a) S 1 (b", "s\\n"];
    for (tier, name) in TIERS.into_iter().flat_map(|tier| NAMES.map(|name| (tier, name))) {
        let prison = Prison::new(tier);
        // The `x` keeps a line end that the shell would take away.
        let named = format!("n=$(printf '{name}x'); n=${{n%x}}; cp /bin/sleep \"./$n\"");
        let start = format!("{named}; env -i setsid \"./$n\" 600 >&- 2>&- &");
        let (exit, said) = prison.sh(&start).await;
        assert_eq!(exit, Exit::Code(0), "{tier} {name}: {said}");
        let bytes = name.replace("\\377", "\u{fffd}").replace("\\n", "\n");
        let mut files = std::fs::read_dir(prison.work()).unwrap().flatten();
        assert!(files.any(|file| file.file_name().to_string_lossy() == bytes), "{name} is called so");
        assert!(processes_in(&prison.work()).is_empty(), "{tier} {name}: {said}");
        let mut environment = child_environment();
        environment.insert("HOME".into(), prison.work().into());
        let child = Program::inside(&prison.plan(), "sh", &environment).args(["-c", &format!("{start} wait")]);
        let child = child.dir(prison.work()).deadline(Duration::from_secs(1));
        assert_eq!(child.run(&CancellationToken::new()).await.unwrap().exit, Exit::Deadline, "{tier} {name}");
        assert!(processes_in(&prison.work()).is_empty(), "{tier} {name}");
        // They count, too.
        let limits = Limits { processes: 20, ..Limits::default() };
        let prison = Prison { limits, ..Prison::new(tier) };
        let many = format!("{named}; for i in $(seq 40); do \"./$n\" 600 & done; wait");
        let (exit, said) = prison.sh(&many).await;
        assert!(exit == Exit::Code(125) && said.contains("more than 20 processes"), "{tier} {name}: {exit} {said}");
    }
}

/// Attack corpus E64: processes that ignore signals are killed before the supervisor would give up.
#[tokio::test]
async fn a_child_that_is_cancelled_takes_all_that_came_from_it_along() {
    let script = "trap '' TERM; p=$(printf 's\\377'); cp /bin/sh \"./$p\"; \
                  env -i setsid \"./$p\" -c 'trap \"\" TERM; echo ready; sleep 600; :' & \
                  sleep 600; :";
    for tier in TIERS {
        let prison = Prison::new(tier);
        let cancel = CancellationToken::new();
        let (ends, work) = (cancel.clone(), prison.work());
        let (seen, before) = std::sync::mpsc::channel();
        let mut environment = child_environment();
        environment.insert("HOME".into(), prison.work().into());
        let child = Program::inside(&prison.plan(), "sh", &environment).args(["-c", script]).dir(prison.work());
        let child = child.watch(move |line| {
            if line == "ready" {
                seen.send(processes_in(&work).len()).unwrap();
                ends.cancel()
            }
        });
        let finished = tokio::time::timeout(PATIENCE, child.run(&cancel)).await.unwrap().unwrap();
        let said = finished.stderr.text();
        assert_eq!((finished.exit, said.contains("did not end in")), (Exit::Cancelled, false), "{tier}: {said}");
        assert!(before.recv().unwrap() >= 2, "{tier}: both shells are there, and are found");
        let left = processes_in(&prison.work());
        assert!(left.is_empty(), "{tier}: {left:?}");
    }
}

/// Attack corpus I99
#[tokio::test]
async fn a_child_that_takes_too_much_is_ended_with_the_reason() {
    needs!(PYTHON);
    for tier in TIERS {
        let limits = Limits { processes: 50, ..Limits::default() };
        let prison = Prison { limits, ..Prison::new(tier) };
        let (exit, said) = prison.sh("for i in $(seq 100); do sleep 600 & done; wait").await;
        assert_eq!(exit, Exit::Code(125), "{tier}: {said}");
        assert!(said.contains("more than 50 processes (`sandbox.processes`)"), "{tier}: {said}");
        let limits = Limits { disk: 8 << 20, ..Limits::default() };
        let prison = Prison { limits, ..Prison::new(tier) };
        let (exit, said) = prison.sh("head -c 64000000 /dev/zero > big; sync; sleep 600").await;
        assert!(exit == Exit::Code(125) && said.contains("more than 8 MiB (`sandbox.disk`)"), "{tier}: {exit} {said}");
        let limits = Limits { file: 1 << 20, ..Limits::default() };
        let prison = Prison { limits, ..Prison::new(tier) };
        prison.sh("head -c 64000000 /dev/zero > big").await;
        assert_eq!(std::fs::metadata(prison.work().join("big")).unwrap().len(), 1 << 20, "{tier}");
        let limits = Limits { memory: 128 << 20, ..Limits::default() };
        let prison = Prison { limits, ..Prison::new(tier) };
        let said = prison.python("x = bytearray(512 << 20)\nprint('reached')").await;
        assert!(said.contains("MemoryError"), "{tier}: {said}");
        // Each by itself is within the limit, which the kernel holds it to.
        let three = "import time\nfor _ in range(3):\n    if os.fork() == 0:\n        x = b'x' * (64 << 20)\n        \
                     time.sleep(600)\ntime.sleep(600)";
        let said = prison.python(three).await;
        assert!(said.contains("more than 128 MiB of memory (`sandbox.memory`)"), "{tier}: {said}");
    }
}

/// Attack corpus K132: memory that processes share, mapped or not, is the child's as well; what many of them map, and what is
/// open beside, counts once.
#[tokio::test]
async fn shared_memory_counts_once() {
    needs!(PYTHON);
    let fill = "for i in range(0, len(m), 1 << 20): m[i:i + (1 << 20)] = b'x' * (1 << 20)";
    let held = "f = os.memfd_create('m')\nfor _ in range(120): os.write(f, bytes(1 << 20))";
    let too_much = [
        format!("import mmap, time\nm = mmap.mmap(-1, 256 << 20)\n{fill}\ntime.sleep(600)"),
        "import time\nf = os.memfd_create('m')\nfor _ in range(256): os.write(f, bytes(1 << 20))\ntime.sleep(600)"
            .to_owned(),
        format!(
            "import mmap, time\nfor _ in range(4):\n    if os.fork() == 0:\n        m = mmap.mmap(-1, 64 << 20)\n        {fill}\n        time.sleep(600)\ntime.sleep(600)"
        ),
        format!("import mmap, time\n{held}\nm = mmap.mmap(-1, 120 << 20)\n{fill}\ntime.sleep(600)"),
    ];
    let enough = format!(
        "import mmap, time\nm = mmap.mmap(-1, 48 << 20)\n{fill}\nfor _ in range(8):\n    if os.fork() == 0:\n        sum(m[::4096])\n        time.sleep(3)\n        os._exit(0)\nfor _ in range(8): os.wait()\nprint('works')"
    );
    // Open and mapped, too.
    let both = format!("import mmap, time\n{held}\nm = mmap.mmap(f, 120 << 20)\n{fill}\ntime.sleep(3)\nprint('works')");
    for tier in TIERS {
        let prison = || Prison { limits: Limits { memory: 200 << 20, ..Limits::default() }, ..Prison::new(tier) };
        for taken in &too_much {
            let said = prison().python(taken).await;
            assert!(said.contains("more than 200 MiB of memory (`sandbox.memory`)"), "{tier} {taken}: {said}");
        }
        for enough in [&enough, &both] {
            assert_eq!(prison().python(enough).await, "works", "{tier} {enough}");
        }
        // Nor is it hidden.
        let said = prison().python(&format!("libc.prctl(4, 0, 0, 0, 0)\n{}", too_much[1])).await;
        assert!(said.contains("more than 200 MiB of memory"), "{tier}: {said}");
    }
}

/// Attack corpus K133: a file without a name, in a locked folder, and deeper than a path is long.
#[tokio::test]
async fn what_is_written_counts_wherever_it_is() {
    let write = "head -c 64000000 /dev/zero";
    let places = [
        format!("exec 3>gone; rm gone; {write} >&3; sleep 600"),
        format!("mkdir locked; {write} > locked/big; chmod 000 locked; sleep 600"),
        format!(
            "n=$(head -c 200 /dev/zero | tr '\\0' a); for i in $(seq 30); do mkdir $n; cd $n; done; {write} > big; sleep 600"
        ),
    ];
    for tier in TIERS {
        for place in &places {
            let limits = Limits { disk: 8 << 20, ..Limits::default() };
            let prison = Prison { limits, ..Prison::new(tier) };
            let (exit, said) = prison.sh(place).await;
            let told = exit == Exit::Code(125) && said.contains("more than 8 MiB (`sandbox.disk`)");
            assert!(told, "{tier} {place}: {exit} {said}");
            prison.sh("chmod 700 locked").await;
        }
    }
}

/// Attack corpus K146
#[tokio::test]
async fn no_key_of_the_machine_is_read() {
    for tier in TIERS {
        let (exit, keys) = Prison::new(tier).sh("ls /etc/ssl/private /etc/pki/tls/private").await;
        assert!(exit != Exit::Code(0) && !keys.contains(".key"), "{tier}: {keys}");
        let (exit, said) = Prison::new(tier).sh("ls /etc/ssl/certs > /dev/null").await;
        assert_eq!(exit, Exit::Code(0), "{tier}: {said}");
    }
}

/// Attack corpus E65
#[tokio::test]
async fn a_plan_that_cannot_be_applied_starts_nothing() {
    let prison = Prison::new(Tier::Fence);
    let sandbox = Sandbox::new(Tier::Fence, prison.outside("no-hob"), Limits::default());
    let child = Program::inside(&sandbox.plan(), "touch", &child_environment()).arg(prison.work().join("ran"));
    assert!(child.run(&CancellationToken::new()).await.is_err());
    assert!(!prison.work().join("ran").exists());
    // A supervisor that is told nonsense, or nothing, starts nothing either.
    for nonsense in [&b""[..], b"\0\0\0\x05hello", b"\xff\xff\xff\xff", b"\0\0\0\x10short"] {
        let supervisor = Program::of_hob(launcher(), &child_environment()).arg("--supervise-child").stdin(nonsense);
        let finished = supervisor.run(&CancellationToken::new()).await.unwrap();
        assert_eq!(finished.exit, Exit::Code(125));
        let said = finished.stderr.text();
        assert!(said.starts_with("hob: the sandbox could not be applied: read what to start"), "{said}");
    }
}

/// Attack corpus E65: an impossible plan, and a child that pretends that its own could not be applied.
#[tokio::test]
async fn a_sandbox_that_cannot_be_made_is_told_from_a_child_that_says_so() {
    for tier in TIERS {
        let prison = Prison::new(tier);
        let child = Program::inside(&prison.plan(), prison.outside("secret"), &child_environment());
        let refused = child.dir(prison.work()).run(&CancellationToken::new()).await.unwrap_err();
        assert!(
            matches!(&refused, ProcessError::Sandbox { reason, .. } if reason.contains("start the program")),
            "{refused}"
        );
        let lie = "echo 'hob: the sandbox could not be applied: no bwrap' >&2; echo begins; exit 125";
        assert_eq!(prison.sh(lie).await.0, Exit::Code(125), "{tier}");
    }
    // A folder that is not in the box.
    let prison = Prison::new(Tier::Box);
    let child = Program::inside(&prison.plan(), "true", &child_environment()).dir(prison.outside(""));
    let refused = child.run(&CancellationToken::new()).await.unwrap_err();
    assert!(matches!(&refused, ProcessError::Sandbox { reason, .. } if reason.contains("bwrap: ")), "{refused}");
}
