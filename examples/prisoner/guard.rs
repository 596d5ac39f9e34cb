//! The guard: it makes what the prisoner is after, runs it in a plan, and looks from outside at what it left.

use std::{
    fs::{self, File},
    net::{IpAddr, TcpListener, UdpSocket},
    os::{
        fd::OwnedFd,
        linux::net::SocketAddrExt,
        unix::{
            fs::{FileTypeExt, PermissionsExt},
            net::{SocketAddr as LocalAddr, UnixDatagram, UnixListener},
        },
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
};

use hob_process::{Exit, ProcessError, Program};
use hob_sandbox::{Limits, Maker, Sandbox, Tier};
use rustix::{
    process::{Pid, Signal, kill_process},
    pty::{OpenptFlags, openpt, ptsname, unlockpt},
};
use serde_json::{Value, json};
use tempfile::{NamedTempFile, TempDir};
use tokio_util::sync::CancellationToken;

use crate::{
    attempt::Outcome,
    raw::{Calls, n},
};

const CANARY: &str = "canary-4711";
/// Each attempt that changes a file has one of its own.
const VICTIMS: [&str; 11] =
    ["append", "attribute", "empty", "mode", "owner", "remove", "rename", "secret", "steal", "times", "truncate"];

/// Runs the prisoner in a plan of this tier, or in a box that Hob makes itself, `own-box`; what came of it.
pub(crate) fn run(tier: &str, hob: &Path, flags: &[&str]) -> Value {
    let (tier, maker) = match tier {
        "own-box" => (Tier::Box, Some(Maker::Hob)),
        name => (Tier::named(name).unwrap_or_else(|| panic!("no tier `{name}`")), None),
    };
    let mut outside = Outside::new();
    let limits = Limits { memory: 1 << 30, processes: 100, file: 1 << 30, disk: 1 << 30, processors: 0 };
    let sandbox = Sandbox::new(tier, hob.canonicalize().unwrap(), limits);
    let plan = maker.into_iter().fold(sandbox, Sandbox::made_by).plan().writes(outside.work());
    let environment = [("PATH".into(), "/usr/bin:/bin".into()), ("HOME".into(), outside.work().into())].into();
    let child = Program::inside(&plan, std::env::current_exe().unwrap(), &environment).dir(outside.work());
    let child = child.arg("inside").args(outside.told()).args(flags.iter().map(|flag| format!("{flag}=yes")));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let ended = runtime.block_on(child.run(&CancellationToken::new()));
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let user = rustix::process::geteuid().as_raw();
    let mut result = json!({ "tier": tier.name(), "user": user, "kernel": kernel.trim(), "refused": null });
    match ended {
        Ok(ended) if ended.exit == Exit::Code(0) => {
            let said: Value = serde_json::from_str(ended.stdout.text().trim()).unwrap();
            result["attempts"] = outside.corrects(said["attempts"].as_array().unwrap());
        }
        Ok(ended) => panic!("the prisoner ended by {}: {}", ended.exit, ended.stderr.text()),
        Err(error @ ProcessError::Sandbox { .. }) => {
            assert!(outside.corrects(&[]).as_array().unwrap().iter().all(|found| found["result"] == "held"));
            assert_eq!(fs::read_dir(outside.work()).unwrap().count(), 0, "something was started");
            result["refused"] = json!(error.to_string());
        }
        Err(error) => panic!("{error}"),
    }
    result
}

/// What there is outside while the prisoner runs.
struct Outside {
    folder: TempDir,
    tmp: NamedTempFile,
    shm: NamedTempFile,
    /// Another one, which the prisoner tries to remove.
    shared: NamedTempFile,
    process: Child,
    tcp: TcpListener,
    /// The same on `::1` and at an address of the machine's own, where it has them.
    others: [Option<TcpListener>; 2],
    udp: UdpSocket,
    terminal: OwnedFd,
    local: (UnixListener, UnixDatagram, UnixListener),
    key: i64,
    mark: String,
}

impl Outside {
    fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("hob-prisoner-").tempdir().unwrap();
        let mark = folder.path().file_name().unwrap().to_str().unwrap().to_owned();
        let outside = folder.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::create_dir(folder.path().join("work")).unwrap();
        for name in VICTIMS {
            fs::write(outside.join(name), CANARY).unwrap();
            fs::set_permissions(outside.join(name), fs::Permissions::from_mode(0o600)).unwrap();
        }
        let named = LocalAddr::from_abstract_name(&mark).unwrap();
        let local = (
            UnixListener::bind(outside.join("socket")).unwrap(),
            UnixDatagram::bind(outside.join("datagram")).unwrap(),
            UnixListener::bind_addr(&named).unwrap(),
        );
        #[expect(clippy::disallowed_methods, reason = "the guard's own canary, which it ends")]
        let mut process = Command::new("sleep");
        process.arg("600").current_dir(&outside).stdin(File::open(outside.join("secret")).unwrap());
        let process = process.env("TOKEN", CANARY).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let tmp = NamedTempFile::with_prefix("hob-prisoner-").unwrap();
        let [shm, shared] =
            [(); 2].map(|()| tempfile::Builder::new().prefix("hob-prisoner-").tempfile_in("/dev/shm").unwrap());
        for file in [&tmp, &shm, &shared] {
            fs::write(file, CANARY).unwrap();
        }
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        let answers = udp.try_clone().unwrap();
        thread::spawn(move || {
            while let Ok((_, asker)) = answers.recv_from(&mut [0; 64]) {
                answers.send_to(b"y", asker).ok();
            }
        });
        // Nobody else's: ids are used again, but not while their process lives.
        let key = 0x0b00_0000 | i64::from(std::process::id());
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let others = [TcpListener::bind("[::1]:0").ok(), own_address().and_then(|ip| TcpListener::bind((ip, 0)).ok())];
        // Left open for whatever is started, as whoever starts Hob may do.
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        unlockpt(&terminal).unwrap();
        let outside = Self { folder, tmp, shm, shared, process, tcp, others, udp, terminal, local, key, mark };
        outside.shares(Shared::Made);
        outside
    }

    fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("outside").join(name)
    }

    /// What the prisoner is told.
    fn told(&self) -> Vec<String> {
        let shown = |path: &Path| path.display().to_string();
        let port = |address: std::net::SocketAddr| address.port().to_string();
        let mut told = vec![
            ("outside", shown(&self.folder.path().join("outside"))),
            ("tmp", shown(self.tmp.path())),
            ("shm", shown(self.shm.path())),
            ("shared", shown(self.shared.path())),
            ("terminal", ptsname(&self.terminal, Vec::new()).unwrap().into_string().unwrap()),
            ("unix", shown(&self.path("socket"))),
            ("datagram", shown(&self.path("datagram"))),
            ("abstract", self.mark.clone()),
            ("queue", self.mark.clone()),
            ("mark", self.mark.clone()),
            ("key", self.key.to_string()),
            // Its arguments would be a place to find it at.
            ("canary", CANARY.to_owned()),
            ("pid", self.process.id().to_string()),
            ("guard", std::process::id().to_string()),
            ("tcp", port(self.tcp.local_addr().unwrap())),
            ("udp", port(self.udp.local_addr().unwrap())),
        ];
        let [six, machine] = self.others.each_ref().map(|one| one.as_ref().map(|one| one.local_addr().unwrap()));
        told.extend(six.map(|address| ("tcp6", port(address))));
        told.extend(machine.map(|address| ("machine", address.to_string())));
        let home = hob_config::child_environment().remove(std::ffi::OsStr::new("HOME")).map(PathBuf::from);
        told.extend(home.filter(|home| fs::read_dir(home).is_ok()).map(|home| ("home", shown(&home))));
        let disks = fs::read_dir("/dev").unwrap().flatten();
        let mut disks = disks.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_block_device()));
        told.extend(disks.next().map(|disk| ("disk", shown(&disk.path()))));
        told.into_iter().map(|(key, value)| format!("{key}={value}")).collect()
    }

    /// Makes or removes the memory, the semaphores and the queues that processes share by a name or a number.
    fn shares(&self, shared: Shared) {
        let key = n(self.key);
        let last = crate::processes::LAST;
        let mut queue = Calls::default();
        let name = queue.text(&self.mark);
        let mode = n(i64::from(libc::IPC_CREAT | 0o600));
        let all = match shared {
            Shared::Made => [
                Calls::one(libc::SYS_shmget, &[key, n(4096), mode]),
                Calls::one(libc::SYS_msgget, &[key, mode]),
                Calls::one(libc::SYS_semget, &[key, n(1), mode]),
                queue.then(libc::SYS_mq_open, &[name, n(i64::from(libc::O_CREAT | libc::O_RDWR)), n(0o600), n(0)]),
            ],
            Shared::Removed => [
                Calls::one(libc::SYS_shmget, &[key, n(0), n(0)]).then(libc::SYS_shmctl, &[last, n(0), n(0)]),
                Calls::one(libc::SYS_msgget, &[key, n(0)]).then(libc::SYS_msgctl, &[last, n(0), n(0)]),
                Calls::one(libc::SYS_semget, &[key, n(0), n(0)]).then(libc::SYS_semctl, &[last, n(0), n(0)]),
                queue.then(libc::SYS_mq_unlink, &[name]),
            ],
        };
        for calls in all {
            // Where the machine lacks one of them, the prisoner finds nothing.
            calls.make_in(self.folder.path());
        }
    }

    /// What the prisoner says, with what it could not know.
    fn corrects(&mut self, said: &[Value]) -> Value {
        let mut all = said.to_vec();
        let beside = |file: &NamedTempFile| PathBuf::from(format!("{}.new", file.path().display()));
        for (name, file) in [
            ("leave a file in the machine's `/tmp`", &self.tmp),
            ("leave a file in the machine's `/dev/shm`", &self.shm),
        ] {
            let left = beside(file).exists();
            fs::remove_file(beside(file)).ok();
            correct(&mut all, name, left, "the file is there");
        }
        let alive = self.left_behind();
        for pid in &alive {
            kill_process(*pid, Signal::KILL).ok();
        }
        correct(&mut all, "start what outlives its run", !alive.is_empty(), "it is still there");
        let touched: Vec<String> = self.touched();
        let trace = Outcome::when(!touched.is_empty(), format!("changed: {touched:?}"));
        let mut trace = trace.json("leave a trace in the files outside, looked at from there");
        trace["group"] = json!("files: write");
        all.push(trace);
        let was_met = self.was_met();
        let met = Outcome::when(was_met, if was_met { "somebody has connected" } else { "nobody has connected" });
        let mut met = met.json("reach a server or a service outside, looked at from there");
        met["group"] = json!("what a supervisor does");
        all.push(met);
        Value::Array(all)
    }

    /// Whether anybody has connected to one of the servers, however that ended.
    fn was_met(&self) -> bool {
        let servers = self.others.iter().flatten().chain([&self.tcp]);
        let by_address = servers.filter(|one| one.set_nonblocking(true).is_ok() && one.accept().is_ok()).count();
        let services = [&self.local.0, &self.local.2];
        let by_name = services.iter().filter(|one| one.set_nonblocking(true).is_ok() && one.accept().is_ok()).count();
        by_address + by_name > 0
    }

    /// Processes that have the mark among their arguments, without this one.
    fn left_behind(&self) -> Vec<Pid> {
        let all = fs::read_dir("/proc").unwrap().flatten();
        let has = |path: &Path| {
            let words = fs::read(path.join("cmdline")).unwrap_or_default();
            words.split(|byte| *byte == 0).any(|word| word == self.mark.as_bytes())
        };
        let found = all.filter(|entry| has(&entry.path()));
        found.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)).collect()
    }

    /// Files that are not as the guard made them, and those that it did not make.
    fn touched(&self) -> Vec<String> {
        let names = fs::read_dir(self.folder.path().join("outside")).unwrap().flatten();
        let mut names: Vec<String> = names.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.retain(|name| !VICTIMS.contains(&name.as_str()) && !["socket", "datagram"].contains(&name.as_str()));
        let whole = |path: &Path| fs::read_to_string(path).is_ok_and(|text| text == CANARY);
        names.extend(VICTIMS.iter().filter(|name| !whole(&self.path(name))).map(|name| (*name).to_owned()));
        names.extend(
            [self.tmp.path(), self.shm.path(), self.shared.path()]
                .iter()
                .filter(|path| !whole(path))
                .map(|p| p.display().to_string()),
        );
        names
    }
}

/// The address that the machine has for others, where it has one. Nothing is sent.
fn own_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    Some(socket.local_addr().ok()?.ip()).filter(|ip| !ip.is_loopback() && !ip.is_unspecified())
}

/// What is to be done with what processes share.
enum Shared {
    Made,
    Removed,
}

fn correct(all: &mut [Value], name: &str, through: bool, why: &str) {
    if let Some(attempt) = all.iter_mut().find(|attempt| attempt["name"] == name)
        && through
    {
        attempt["result"] = json!("got through");
        attempt["why"] = json!(why);
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
        self.shares(Shared::Removed);
    }
}
