//! Calls of the kernel that change the machine, or lead around other rules.

use std::path::Path;

use crate::{
    attempt::{Attempt, Outcome, Told},
    processes::{LAST, own_namespace},
    raw::{Calls, SCRATCH, Word, n},
};

pub(crate) fn attempts(_told: &Told) -> Vec<Attempt> {
    let here = Word::Is(libc::AT_FDCWD as u64);
    [namespaces(here), machine(), around(here), other_numbers()].into_iter().flatten().collect()
}

fn call(number: libc::c_long, arguments: &[Word], admitted: &[i32]) -> Outcome {
    Calls::one(number, arguments).admitted_by(admitted).make()
}

/// A call whose first argument is a path, and its errors behind the look at the right to it.
fn on(number: libc::c_long, path: &str, after: &[Word], admitted: &[i32]) -> Outcome {
    Calls::on(number, &[], Path::new(path), after).admitted_by(admitted).make()
}

fn namespaces(here: Word) -> Vec<Attempt> {
    let user = i64::from(libc::CLONE_NEWUSER);
    let mut clone3 = Calls::default();
    let arguments = clone3.numbers(&[user.cast_unsigned(), 0, 0, 0, libc::SIGCHLD as u64, 0, 0, 0]);
    let mut mount = Calls::default();
    let (source, target, kind) = (mount.text("none"), mount.text("."), mount.text("no-such-kind"));
    let mut pivot = Calls::default();
    let folder = pivot.text(".");
    let mut tmpfs = Calls::default();
    let name = tmpfs.text("tmpfs");
    let mut tree = Calls::default();
    let at = tree.text(".");
    vec![
        ("make a user namespace", call(libc::SYS_unshare, &[n(user)], &[])),
        ("make a mount namespace", call(libc::SYS_unshare, &[n(libc::CLONE_NEWNS.into())], &[])),
        ("make a user namespace by `clone`", call(libc::SYS_clone, &[n(user | i64::from(libc::SIGCHLD))], &[])),
        ("make a user namespace by `clone3`", clone3.then(libc::SYS_clone3, &[arguments, n(64)]).make()),
        ("enter a namespace", Calls::one(libc::SYS_setns, &[n(0), n(0)]).make_with(own_namespace())),
        ("mount", mount.then(libc::SYS_mount, &[source, target, kind]).admitted_by(&[libc::ENODEV]).make()),
        ("unmount", on(libc::SYS_umount2, ".", &[n(0)], &[libc::EINVAL])),
        (
            "change the root by `pivot_root`",
            pivot.then(libc::SYS_pivot_root, &[folder, folder]).admitted_by(&[libc::EINVAL, libc::EBUSY]).make(),
        ),
        ("change the root by `chroot`", on(libc::SYS_chroot, ".", &[], &[])),
        ("open a file system", tmpfs.then(libc::SYS_fsopen, &[name, n(0)]).make()),
        ("open a tree of mounts", tree.then(libc::SYS_open_tree, &[here, at, n(0)]).make()),
    ]
}

/// What is the machine's own.
fn machine() -> Vec<Attempt> {
    let nothing = n(0);
    let none = "/nonexistent-4711";
    let mut module = Calls::default();
    let name = module.text("no_such_module");
    vec![
        ("set the host's name", call(libc::SYS_sethostname, &[SCRATCH, n(1000)], &[libc::EINVAL])),
        ("set the domain's name", call(libc::SYS_setdomainname, &[SCRATCH, n(1000)], &[libc::EINVAL])),
        ("set the clock", call(libc::SYS_settimeofday, &[nothing, nothing], &[])),
        ("restart the machine", call(libc::SYS_reboot, &[n(1), n(1), nothing], &[libc::EINVAL])),
        ("load another kernel", call(libc::SYS_kexec_load, &[nothing, nothing, nothing, n(0x40)], &[libc::EINVAL])),
        ("load a module", call(libc::SYS_init_module, &[SCRATCH, nothing, SCRATCH], &[libc::ENOEXEC, libc::EFAULT])),
        ("load a module from a file", call(libc::SYS_finit_module, &[n(-1), SCRATCH, nothing], &[libc::EBADF])),
        (
            "unload a module",
            module
                .then(libc::SYS_delete_module, &[name, n(libc::O_NONBLOCK.into())])
                .admitted_by(&[libc::ENOENT])
                .make(),
        ),
        ("swap to a file", on(libc::SYS_swapon, none, &[nothing], &[libc::ENOENT])),
        ("stop swapping", on(libc::SYS_swapoff, none, &[], &[libc::ENOENT])),
        ("account for processes", on(libc::SYS_acct, none, &[], &[libc::ENOENT])),
        ("read the kernel's messages by `syslog`", call(libc::SYS_syslog, &[n(3), SCRATCH, n(16)], &[])),
        ("use ports of devices", call(IOPL, &[n(3)], &[])),
    ]
}

/// `iopl`, which only x86 has.
const IOPL: libc::c_long = 172;

/// What leads around other rules.
fn around(here: Word) -> Vec<Attempt> {
    let mut key = Calls::default();
    let (kind, name) = (key.text("user"), key.text("prisoner"));
    const PROCESS_KEYRING: i64 = -2;
    let key = key.then(libc::SYS_add_key, &[kind, name, name, n(1), n(PROCESS_KEYRING)]);
    let mut wanted = Calls::default();
    let (of_kind, no_name) = (wanted.text("user"), wanted.text("no-such-key"));
    let wanted = wanted.then(libc::SYS_request_key, &[of_kind, no_name, n(0), n(0)]).admitted_by(&[libc::ENOKEY]);
    let mut event = Calls::default();
    // `perf_event_attr`: the software event 0, of 64 bytes, without the kernel and the hypervisor.
    let about = event.bytes(&[&[1, 0, 0, 0, 64, 0, 0, 0][..], &[0; 32], &[0x60], &[0; 23]].concat());
    let mut map = Calls::default();
    // `bpf_attr`: an array with one value of 4 bytes.
    let array = map.bytes(&[2, 4, 4, 1].map(|number: u32| number.to_le_bytes()).concat());
    let mut handle = Calls::default();
    let (path, into) = (handle.text("."), handle.bytes(&[&128_u32.to_le_bytes()[..], &[0; 132]].concat()));
    let typed = |request: u64| call(libc::SYS_ioctl, &[n(0), Word::Is(request), SCRATCH], &[libc::ENOTTY, libc::EIO]);
    vec![
        ("use `io_uring`", call(libc::SYS_io_uring_setup, &[n(4), SCRATCH], &[])),
        ("ask for a keyring", call(libc::SYS_keyctl, &[n(0), n(-3), n(1)], &[])),
        ("add a key", key.make()),
        ("request a key", wanted.make()),
        ("load a program into the kernel (`bpf`)", map.then(libc::SYS_bpf, &[n(0), array, n(16)]).make()),
        (
            "count the processor's events",
            event.then(libc::SYS_perf_event_open, &[about, n(0), n(-1), n(-1), n(0)]).make(),
        ),
        ("handle page faults (`userfaultfd`)", call(libc::SYS_userfaultfd, &[n(1)], &[])),
        ("watch all files (`fanotify`)", call(libc::SYS_fanotify_init, &[n(0x200), n(0)], &[])),
        (
            "ask for a file's handle",
            handle
                .then(libc::SYS_name_to_handle_at, &[here, path, into, SCRATCH, n(0)])
                .admitted_by(&[libc::EOPNOTSUPP, libc::EOVERFLOW])
                .make(),
        ),
        ("type into a terminal (`TIOCSTI`)", typed(libc::TIOCSTI)),
        ("type by the same call with other upper bits", typed(libc::TIOCSTI | 1 << 32)),
        ("type into a console (`TIOCLINUX`)", typed(0x541c)),
    ]
}

/// The same calls by numbers that a filter may not know.
fn other_numbers() -> Vec<Attempt> {
    const X32: libc::c_long = 0x4000_0000;
    const GETPID_OF_32_BITS: u32 = 20;
    let upper = Word::Is(1 << 32 | libc::AF_NETLINK as u64);
    vec![
        ("call by the numbers of x32", call(X32 | libc::SYS_getpid, &[LAST], &[])),
        ("call by the numbers of 32-bit programs", Calls::of_32_bits(GETPID_OF_32_BITS).make()),
        (
            "make a netlink socket with other upper bits",
            call(libc::SYS_socket, &[upper, n(libc::SOCK_RAW.into()), n(0)], &[]),
        ),
    ]
}
