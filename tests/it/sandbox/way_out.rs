//! The only way out of a box: without it, there is none.

use std::{
    io::{Read, Write},
    os::unix::net::UnixListener,
};

use super::*;

/// The child's attempts, by the proxy's port in the box and by the machine's addresses.
const TRIES: &str = r#"
def tried(name, connect):
    try:
        with connect() as one:
            one.settimeout(60)
            one.sendall(b"x")
            print(name, one.recv(8) or "nothing")
    except ConnectionResetError:
        print(name, "nothing")
    except OSError as error:
        print(name, errno.errorcode[error.errno])
def by_file():
    one = socket.socket(socket.AF_UNIX)
    one.connect(FILE)
    return one
def datagram():
    one = socket.socket(type=socket.SOCK_DGRAM)
    one.connect(("192.0.2.1", 53))
    return one
def all():
    tried("proxy", lambda: socket.create_connection(("127.0.0.1", 8118)))
    tried("machine", lambda: socket.create_connection(("127.0.0.1", PORT)))
    tried("elsewhere", lambda: socket.create_connection(("192.0.2.1", 443)))
    tried("datagram", datagram)
    tried("file", by_file)
all()
open("done", "w").write("x")
open("gone").read()
all()
"#;

/// Attack corpus F74: a child that had a way by its proxy, and one that it has lost.
#[tokio::test]
async fn a_box_whose_proxy_is_gone_has_no_other_way_out() {
    needs!(PYTHON);
    let machine = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = machine.local_addr().unwrap().port();
    let mut prison = Prison::new(Tier::Box);
    let socket = prison.outside("proxy");
    let proxy = UnixListener::bind(&socket).unwrap();
    prison.network = Network::Proxy { socket: socket.clone(), port: 8118 };
    for name in ["done", "gone"] {
        rustix::fs::mkfifoat(rustix::fs::CWD, prison.work().join(name), 0o600.into()).unwrap();
    }
    let (work, file) = (prison.work(), prison.outside("service"));
    let service = UnixListener::bind(&file).unwrap();
    // If the child fails, this thread is not joined.
    let ends = std::thread::spawn(move || {
        let (mut first, _) = proxy.accept().unwrap();
        first.read_exact(&mut [0]).unwrap();
        first.write_all(b"way out").unwrap();
        drop(first);
        std::fs::read(work.join("done")).unwrap();
        drop(proxy);
        std::fs::remove_file(socket).unwrap();
        std::fs::write(work.join("gone"), "").unwrap();
    });
    let said = prison.python(&format!("PORT = {port}\nFILE = {file:?}\n{TRIES}")).await;
    let others = "machine ECONNREFUSED\nelsewhere ENETUNREACH\ndatagram ENETUNREACH\nfile ENOENT";
    assert_eq!(said, format!("proxy b'way out'\n{others}\nproxy nothing\n{others}"));
    ends.join().unwrap();
    machine.set_nonblocking(true).unwrap();
    service.set_nonblocking(true).unwrap();
    assert!(machine.accept().is_err() && service.accept().is_err(), "nobody has connected");
}
