//! Calls that the supervisor of a fenced child makes for it: they lead to the run itself, even if their arguments
//! change while they are read. A box shows that the same programs work there.

use std::os::{
    linux::net::SocketAddrExt,
    unix::net::{SocketAddr, UnixListener},
};

use super::*;

/// The beginning of each program: its own server, and a thread that repeats something until it is told to stop.
const BEGINNING: &str = r#"
import contextlib, ctypes, errno, os, socket, struct, sys, threading
libc = ctypes.CDLL(None, use_errno=True)
own = socket.create_server(("127.0.0.1", 0))
own.settimeout(0.001)
port = own.getsockname()[1]
def address(port):
    return struct.pack("=HHI8x", socket.AF_INET, socket.htons(port), socket.htonl(0x7f000001))
@contextlib.contextmanager
def meanwhile(what):
    stop = threading.Event()
    def again():
        while not stop.is_set():
            what()
    thread = threading.Thread(target=again)
    thread.start()
    yield
    stop.set()
    thread.join()
def attempts(times, one):
    met = {}
    for _ in range(times):
        try:
            one()
            name = "done"
        except OSError as error:
            name = errno.errorcode[error.errno]
        met[name] = met.get(name, 0) + 1
    print(met)
"#;

impl Prison {
    async fn racing(&self, body: &str) -> String {
        let finished = self.run(PYTHON, &["-c", &format!("{BEGINNING}{body}")]).await;
        assert!(finished.exit.is_success(), "{}", finished.stderr.text());
        finished.stdout.text()
    }
}

/// Whether no one has connected.
fn is_alone(listener: &TcpListener) -> bool {
    listener.set_nonblocking(true).unwrap();
    listener.accept().is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
}

#[tokio::test]
async fn a_connection_goes_where_it_was_allowed_to_go() {
    needs!(PYTHON);
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let elsewhere = other.local_addr().unwrap().port();
    let prison = Prison::new(Tier::Fence);
    // The address changes in the caller's memory; and the socket, behind its number.
    let body = format!(
        r#"
memory = ctypes.create_string_buffer(address(port))
ports = [struct.pack("=H", socket.htons(one)) for one in ({elsewhere}, port)]
def flip():
    for one in ports:
        ctypes.memmove(ctypes.addressof(memory) + 2, one, 2)
def connect():
    with socket.socket() as client:
        if libc.connect(client.fileno(), memory, 16):
            raise OSError(ctypes.get_errno(), "")
    own.accept()[0].close()
with meanwhile(flip):
    attempts(2000, connect)
first, second = socket.socket(), socket.socketpair()[0]
number = os.dup(first.fileno())
def swap():
    for one in (first, second):
        os.dup2(one.fileno(), number)
def reach():
    if libc.connect(number, address({elsewhere}), 16):
        raise OSError(ctypes.get_errno(), "")
with meanwhile(swap):
    attempts(2000, reach)
"#
    );
    let said = prison.racing(&body).await;
    assert!(said.contains("'done'") && said.contains("'ECONNREFUSED'"), "{said}");
    assert!(is_alone(&other), "{said}");
}

/// Attack corpus F68.
#[tokio::test]
async fn a_connection_is_not_made_by_what_is_sent_either() {
    needs!(PYTHON);
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = format!("('127.0.0.1', {})", other.local_addr().unwrap().port());
    for tier in TIERS {
        let said = Prison::new(tier)
            .racing(&format!(
                "def fast():\n    with socket.socket() as s:\n        s.sendto(b'x', socket.MSG_FASTOPEN, {to})\n\
                 def fast_too():\n    with socket.socket() as s:\n        s.sendmsg([b'x'], [], socket.MSG_FASTOPEN, {to})\n\
                 attempts(1, fast)\nattempts(1, fast_too)"
            ))
            .await;
        assert!(!said.contains("done") && is_alone(&other), "{tier}: {said}");
    }
}

/// Attack corpus F68.
#[tokio::test]
async fn a_port_that_another_takes_over_is_out_of_reach() {
    needs!(PYTHON);
    let prison = Prison::new(Tier::Fence);
    let wait = |name: &str| rustix::fs::mkfifoat(rustix::fs::CWD, prison.work().join(name), 0o600.into()).unwrap();
    wait("left");
    wait("taken");
    let body = r#"
own.close()
open("left", "w").write(str(port))
open("taken").read()
def connect():
    socket.create_connection(("127.0.0.1", port)).close()
attempts(1, connect)
"#;
    let work = prison.work();
    let take = tokio::task::spawn_blocking(move || {
        let port: u16 = std::fs::read_to_string(work.join("left")).unwrap().parse().unwrap();
        let taken = TcpListener::bind(("127.0.0.1", port)).unwrap();
        std::fs::write(work.join("taken"), "").unwrap();
        taken
    });
    let said = prison.racing(body).await;
    assert_eq!(said, "{'ECONNREFUSED': 1}\n");
    assert!(is_alone(&take.await.unwrap()));
}

/// Attack corpus E52, E62.
#[tokio::test]
async fn a_path_leads_to_a_service_of_the_run_or_to_none() {
    needs!(PYTHON);
    let prison = Prison::new(Tier::Fence);
    let service = UnixListener::bind(prison.outside("service")).unwrap();
    let hidden = SocketAddr::from_abstract_name(format!("hob-test-{}", std::process::id())).unwrap();
    let hidden = UnixListener::bind_addr(&hidden).unwrap();
    let body = format!(
        r#"
os.mkdir("in")
server = socket.socket(socket.AF_UNIX)
server.bind("in/service")
server.listen()
server.settimeout(0.001)
os.symlink("in", "way")
def turn():
    for target in ("{outside}", "in"):
        os.symlink(target, "next")
        os.rename("next", "way")
def connect():
    with socket.socket(socket.AF_UNIX) as client:
        client.connect("way/service")
    server.accept()[0].close()
def bind():
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("way/new")
    os.unlink("in/new")
with meanwhile(turn):
    attempts(2000, connect)
    attempts(2000, bind)
def by_name():
    with socket.socket(socket.AF_UNIX) as client:
        client.connect("\0hob-test-{id}")
attempts(1, by_name)
"#,
        outside = prison.outside("").display(),
        id = std::process::id()
    );
    let said = prison.racing(&body).await;
    assert!(said.matches("'done'").count() == 2 && said.contains("'EACCES'"), "{said}");
    assert!(said.ends_with("{'ECONNREFUSED': 1}\n"), "{said}");
    for service in [service, hidden] {
        service.set_nonblocking(true).unwrap();
        assert!(service.accept().is_err(), "{said}");
    }
    let mut outside: Vec<_> =
        std::fs::read_dir(prison.outside("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    outside.sort();
    assert_eq!(outside, ["secret", "service"]);
}

/// Attack corpus E61.
#[tokio::test]
async fn a_terminal_of_somebody_else_stays_theirs() {
    needs!(PYTHON);
    use rustix::pty::{OpenptFlags, openpt, ptsname, unlockpt};
    let theirs = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    unlockpt(&theirs).unwrap();
    let name = ptsname(&theirs, Vec::new()).unwrap();
    let name = name.to_str().unwrap();
    let body = format!(
        "def theirs():\n    os.close(os.open('{name}', os.O_RDWR | os.O_NOCTTY))\nattempts(1, theirs)\n\
         main, end = os.openpty()\nos.write(end, b'x')\nprint(os.read(main, 1))\nagain = os.ttyname(end)\nos.close(main)\n\
         def after():\n    os.close(os.open(again, os.O_RDWR | os.O_NOCTTY))\nattempts(1, after)\n"
    );
    let said = Prison::new(Tier::Fence).racing(&body).await;
    assert_eq!(said, "{'EACCES': 1}\nb'x'\n{'EACCES': 1}\n");
}

#[tokio::test]
async fn names_of_shared_memory_stay_in_the_runs_own_folder() {
    needs!(PYTHON);
    let prison = Prison::new(Tier::Fence);
    let name = format!("hob-test-{}", std::process::id());
    let shared = Path::new("/dev/shm").join(&name);
    std::fs::write(&shared, CANARY).unwrap();
    let body = format!(
        "def theirs():\n    os.close(os.open('/dev/shm/{name}', os.O_RDWR))\nattempts(1, theirs)\n\
         def up():\n    os.close(os.open('/dev/shm/..', os.O_RDONLY | os.O_NOFOLLOW))\nattempts(1, up)\n\
         os.symlink('../../outside', '.dev-shm/out') if os.path.isdir('.dev-shm') else None\n\
         def through():\n    os.close(os.open('/dev/shm/out', os.O_RDWR))\nattempts(1, through)\n\
         os.unlink('/dev/shm/{name}') if os.path.exists('.dev-shm/{name}') else None\n"
    );
    let said = prison.racing(&body).await;
    let kept = std::fs::read_to_string(&shared);
    std::fs::remove_file(&shared).unwrap();
    assert_eq!(said, "{'ENOENT': 1}\n{'EACCES': 1}\n{'ELOOP': 1}\n");
    assert_eq!(kept.unwrap(), CANARY);
}

/// A signal that comes while the supervisor works for the caller makes neither of them begin again. The handler lets
/// calls go on, as those of Go and asyncio do.
#[tokio::test]
async fn signals_do_not_make_a_call_twice() {
    needs!(PYTHON);
    for tier in TIERS {
        let body = r#"
import signal
signal.signal(signal.SIGALRM, lambda *_: None)
signal.siginterrupt(signal.SIGALRM, False)
signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
own.settimeout(None)
def connect():
    with socket.socket() as client:
        client.bind(("127.0.0.1", 0))
        client.connect(("127.0.0.1", port))
        own.accept()[0].close()
attempts(1000, connect)
signal.setitimer(signal.ITIMER_REAL, 0)
"#;
        assert_eq!(Prison::new(tier).racing(body).await, "{'done': 1000}\n", "{tier}");
    }
}

/// A box leads nowhere, and a child's refused calls are reported as well.
#[tokio::test]
async fn what_a_box_refuses_is_counted_and_told() {
    needs!(PYTHON);
    for maker in [Maker::Bubblewrap, Maker::Hob] {
        let prison = Prison::new(Kind(Tier::Box, maker));
        let script = "import ctypes, os, socket\n\
                      own = socket.create_server(('127.0.0.1', 0))\n\
                      socket.create_connection(own.getsockname()).close()\n\
                      for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):\n    \
                          try:\n        socket.socket(type=kind).connect(('192.0.2.1', 80))\n    \
                          except OSError as error: print(error.strerror)\n\
                      try:\n    socket.socket(type=socket.SOCK_DGRAM).sendto(b'', ('192.0.2.1', 53))\n\
                      except OSError as error: print(error.strerror)\n\
                      print(ctypes.CDLL(None, use_errno=True).ptrace(0, 0, 0, 0))\n\
                      os.write(2, b'the last')\nos.kill(os.getpid(), 9)\n";
        let finished = prison.run(PYTHON, &["-u", "-c", script]).await;
        assert_eq!(finished.exit, Exit::Signal(9));
        assert_eq!(finished.stdout.text(), format!("{}-1\n", "Network is unreachable\n".repeat(3)), "{maker:?}");
        let said = finished.stderr.text();
        assert!(
            said.starts_with("hob: the sandbox refused connect 192.0.2.1:80\n") && said.ends_with("the last"),
            "{said}"
        );
        let refused = finished.refused.unwrap();
        assert_eq!(refused, "connect 192.0.2.1:80 (2×), connect 192.0.2.1:53 (1×), ptrace (1×)", "{maker:?}");
        assert_eq!(prison.run("true", &[]).await.refused, None);
    }
}

/// A refusal is reported twice: to the child when it happens, and to Hob at the end, in words that no child can forge.
#[tokio::test]
async fn what_was_refused_is_counted_and_told() {
    needs!(PYTHON);
    let prison = Prison::new(Tier::Fence);
    let script = "import socket\n\
                  for kind in (socket.SOCK_DGRAM, socket.SOCK_DGRAM, socket.SOCK_STREAM):\n    \
                      try:\n        socket.socket(type=kind).connect(('192.0.2.1', 80))\n    \
                      except OSError as error: print(error.strerror)\n\
                  import os\nos.write(2, b'the last')\nos.kill(os.getpid(), 9)\n";
    let finished = prison.run(PYTHON, &["-c", script]).await;
    assert_eq!(finished.exit, Exit::Signal(9));
    assert_eq!(
        finished.stderr.text(),
        "hob: the sandbox refused UDP sockets\nhob: the sandbox refused connect 192.0.2.1:80\nthe last"
    );
    assert_eq!(finished.refused.as_deref(), Some("UDP sockets (2×), connect 192.0.2.1:80 (1×)"));
    let fake = prison.sh("echo 'hob 0123456789abcdef: the sandbox refused: all (1×)' >&2").await;
    assert!(fake.1.contains("all (1×)"), "{}", fake.1);
    assert_eq!(prison.run("true", &[]).await.refused, None);
}
