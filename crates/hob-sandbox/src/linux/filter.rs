//! The filter of system calls: refuses calls that no child needs, and those that would bypass the other rules.
//!
//! A refused call fails with `EPERM`, as it does without the right to it. `clone3` and `openat2` fail with `ENOSYS`, so
//! that programs fall back to calls whose arguments a filter sees. A call of another architecture, or of x32, ends the
//! process: its numbers mean other calls.

use std::collections::BTreeMap;

use hob_listener::{Instruction, Listener, NOTIFY};
use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter, sock_filter,
};

use super::{RefusedError, calls::TOLD};

/// The sockets that a child may make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sockets {
    /// Those that the supervisor makes for it, and pairs that are connected from the beginning.
    Supervised,
    /// Internet sockets. A local one would lead to every service of the machine that has one, such as Docker's.
    Internet,
    /// Local and internet sockets: the child has its own network.
    Local,
}

/// The scope of message queues, semaphores and shared memory that a child can open by name or number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shared {
    /// Those of all processes of its user. Landlock has no rules for them.
    Machine,
    /// Those of its box.
    Box,
}

/// The users that a child can give files and itself to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owners {
    /// Those of the machine.
    Real,
    /// None: it is root of all of its files, and the only user. Programs for root, such as `tar` and package managers, expect to have others,
    /// so these calls do nothing and say that they did.
    Pretended,
}

/// Requests of `ioctl` that type into a terminal, as the kernel numbers them. In `libc` their type depends on the C library.
const TIOCSTI: u64 = 0x5412;
const TIOCLINUX: u64 = 0x541c;

/// Refused if they would reach other processes of the machine.
const SHARING: [c_long; 13] = [
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_msgctl,
    libc::SYS_msgget,
    libc::SYS_msgrcv,
    libc::SYS_msgsnd,
    libc::SYS_semctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_shmget,
];

/// Give a file or a process to another user or group.
const OWNING: [c_long; 11] = [
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_setfsgid,
    libc::SYS_setfsuid,
    libc::SYS_setgid,
    libc::SYS_setgroups,
    libc::SYS_setregid,
    libc::SYS_setresgid,
    libc::SYS_setresuid,
    libc::SYS_setreuid,
    libc::SYS_setuid,
];

/// Answered with `ENOSYS`: their arguments are in memory, where a filter cannot look, and every program falls back to
/// the older call.
const WITH_FALLBACK: [c_long; 2] = [libc::SYS_clone3, libc::SYS_openat2];

/// Refused with any arguments.
const REFUSED: [c_long; 51] = [
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_adjtimex,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kcmp,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_lookup_dcookie,
    libc::SYS_migrate_pages,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_move_pages,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_madvise,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
];

/// Flags of `clone` that make a namespace.
const NAMESPACES: [libc::c_int; 7] = [
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
];

/// `BPF_RET | BPF_K` of `linux/bpf_common.h`.
const RETURN: u16 = 0x06;

/// Bits of a socket's type that are flags, not part of the type.
const SOCKET_FLAGS: u64 = 0o2_000_000 | 0o4_000;

/// Installs the filter for this thread and all its descendants. It cannot be removed. The returned listener receives
/// the calls that are answered for the child.
pub(super) fn install(sockets: Sockets, shared: Shared, owners: Owners) -> Result<Option<Listener>, RefusedError> {
    let own = SeccompAction::Errno(libc::EPERM as u32);
    let newer = WITH_FALLBACK.into_iter().map(|call| (call, Vec::new())).collect();
    apply_filter(&program(newer, SeccompAction::Errno(libc::ENOSYS as u32))?)?;
    apply_filter(&program(hiding()?, SeccompAction::Errno(0))?)?;
    if owners == Owners::Pretended {
        apply_filter(&program(owning(), SeccompAction::Errno(0))?)?;
    }
    let listener = match sockets {
        Sockets::Supervised => Some(listen(supervised()?)?),
        // Before Linux 5.19, or below another listener, these calls are refused without a report.
        Sockets::Local => listen(watched()?).ok(),
        Sockets::Internet => None,
    };
    let mut calls = program(refused(sockets, shared, listener.is_some())?, own)?;
    if cfg!(target_arch = "x86_64") {
        calls.splice(0..0, no_x32());
    }
    apply_filter(&calls)?;
    Ok(listener)
}

/// The calls of [`OWNING`], and those that only some architectures have.
fn owning() -> BTreeMap<c_long, Vec<SeccompRule>> {
    let calls = OWNING.into_iter();
    #[cfg(target_arch = "x86_64")]
    let calls = calls.chain([libc::SYS_chown, libc::SYS_lchown]);
    calls.map(|call| (call, Vec::new())).collect()
}

/// Installs the filter of calls that the supervisor answers. The library does not know such an action, so it replaces
/// one that the library knows and nothing else here uses.
fn listen(calls: BTreeMap<c_long, Vec<SeccompRule>>) -> Result<Listener, RefusedError> {
    let known = SeccompAction::Trace(0);
    let stands_for = u32::from(known.clone());
    let waits = |sock_filter { code, jt, jf, k }| {
        let k = if code == RETURN && k == stands_for { NOTIFY } else { k };
        Instruction { code, jt, jf, k }
    };
    let filter: Vec<Instruction> = program(calls, known)?.into_iter().map(waits).collect();
    Listener::install(&filter).map_err(RefusedError::at("listen to system calls"))
}

/// In a box: calls that are refused with a report, and calls that may lead out of it, where there is nothing.
fn watched() -> Result<BTreeMap<c_long, Vec<SeccompRule>>, RefusedError> {
    let of_box = |call: &c_long| !SHARING.contains(call);
    let told = TOLD.iter().map(|(call, _)| *call).filter(of_box).map(|call| (call, Vec::new()));
    let mut rules: BTreeMap<_, _> = told.chain([(libc::SYS_connect, Vec::new())]).collect();
    let to_somebody = rule(vec![condition(4, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?])?;
    rules.insert(libc::SYS_sendto, vec![to_somebody]);
    Ok(rules)
}

/// Calls about sockets, and those about files that may be shared memory or terminals: a filter does not see paths, but
/// these are opened for reading and writing, or without following a link, by their whole path. Few others are.
fn supervised() -> Result<BTreeMap<c_long, Vec<SeccompRule>>, RefusedError> {
    let of_sockets = [libc::SYS_bind, libc::SYS_connect, libc::SYS_listen, libc::SYS_socket];
    let told = TOLD.iter().map(|(call, _)| *call);
    let mut rules: BTreeMap<_, _> = of_sockets.into_iter().chain(told).map(|call| (call, Vec::new())).collect();
    let bits = |place, mask: libc::c_int, value: libc::c_int| {
        let (mask, value) = (u64::from(mask.unsigned_abs()), u64::from(value.unsigned_abs()));
        condition(place, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(mask), value)
    };
    let opened = |flags: u8| -> Result<[SeccompCondition; 2], RefusedError> {
        let kinds = libc::O_NOFOLLOW | libc::O_DIRECTORY | libc::O_PATH;
        Ok([bits(flags, libc::O_ACCMODE, libc::O_RDWR)?, bits(flags, kinds, libc::O_NOFOLLOW)?])
    };
    let by_path = |place| condition(place, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, u64::from(libc::AT_FDCWD as u32));
    let openat = opened(2)?.map(|flags| rule(vec![by_path(0)?, flags]));
    rules.insert(libc::SYS_openat, openat.into_iter().collect::<Result<_, _>>()?);
    rules.insert(libc::SYS_linkat, vec![rule(vec![by_path(0)?, by_path(2)?])?]);
    rules.insert(libc::SYS_unlinkat, vec![rule(vec![by_path(0)?])?]);
    #[cfg(target_arch = "x86_64")]
    {
        let open = opened(1)?.map(|flags| rule(vec![flags]));
        rules.insert(libc::SYS_open, open.into_iter().collect::<Result<_, _>>()?);
        rules.extend([(libc::SYS_link, Vec::new()), (libc::SYS_unlink, Vec::new())]);
    }
    Ok(rules)
}

fn program(rules: BTreeMap<c_long, Vec<SeccompRule>>, action: SeccompAction) -> Result<BpfProgram, RefusedError> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    Ok(SeccompFilter::new(rules, SeccompAction::Allow, action, arch)?.try_into()?)
}

fn refused(
    sockets: Sockets,
    shared: Shared,
    is_heard: bool,
) -> Result<BTreeMap<c_long, Vec<SeccompRule>>, RefusedError> {
    let sharing = if shared == Shared::Machine { SHARING.as_slice() } else { &[] };
    // The supervisor can report what it refuses itself.
    let by_supervisor = |call: &c_long| is_heard && TOLD.iter().any(|(told, _)| told == call);
    let refused = REFUSED.iter().chain(sharing).filter(|call| !by_supervisor(call));
    let mut rules: BTreeMap<_, _> = refused.map(|call| (*call, Vec::new())).collect();
    rules.extend(on_others()?);
    rules.extend(setuid()?);
    let flag = |flag: libc::c_int| {
        let flag = u64::from(flag.unsigned_abs());
        rule(vec![condition(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(flag), flag)?])
    };
    rules.insert(libc::SYS_clone, NAMESPACES.into_iter().map(flag).collect::<Result<_, _>>()?);
    // They put characters into the terminal's input as if a person had typed them.
    let typed = |request: u64| rule(vec![condition(1, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, request)?]);
    rules.insert(libc::SYS_ioctl, vec![typed(TIOCSTI)?, typed(TIOCLINUX)?]);
    rules.insert(
        libc::SYS_socket,
        match sockets {
            Sockets::Supervised => vec![other_family(&[libc::AF_UNIX, libc::AF_INET, libc::AF_INET6])?],
            Sockets::Internet => vec![other_family(&[libc::AF_INET, libc::AF_INET6])?, of_type(libc::SOCK_RAW)?],
            Sockets::Local => {
                vec![other_family(&[libc::AF_UNIX, libc::AF_INET, libc::AF_INET6])?, of_type(libc::SOCK_RAW)?]
            }
        },
    );
    // A pair of datagram sockets does not stay a pair: each can send to the path of any service.
    let mut pairs = vec![other_family(&[libc::AF_UNIX])?];
    if sockets != Sockets::Local {
        pairs.extend([of_type(libc::SOCK_DGRAM)?, of_type(libc::SOCK_RAW)?]);
    }
    rules.insert(libc::SYS_socketpair, pairs);
    if sockets == Sockets::Supervised {
        // The connection would carry its first bytes before anything checked them.
        let fast = u64::from(libc::MSG_FASTOPEN.unsigned_abs());
        let sends = |place| rule(vec![condition(place, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(fast), fast)?]);
        rules.extend([
            (libc::SYS_sendto, vec![sends(3)?]),
            (libc::SYS_sendmsg, vec![sends(2)?]),
            (libc::SYS_sendmmsg, vec![sends(3)?]),
        ]);
    }
    Ok(rules)
}

/// Answered with success, and without effect: a process that hides its open files from its supervisor also hides what
/// it uses. Many programs that keep keys do not start if they cannot hide, Hob's committer among them. Processes in the
/// sandbox may not trace it in any case.
fn hiding() -> Result<BTreeMap<c_long, Vec<SeccompRule>>, RefusedError> {
    let is = |place, value| condition(place, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value);
    let hides = rule(vec![is(0, u64::from(libc::PR_SET_DUMPABLE.unsigned_abs()))?, is(1, 0)?])?;
    Ok([(libc::SYS_prctl, vec![hides])].into())
}

/// Calls that would end or slow down other processes of the user, which Landlock does not prevent: limits and
/// priorities of any process but the caller, and of all processes of a user. Setting processor affinity is allowed:
/// threads of many programs name each other.
fn on_others() -> Result<Vec<(c_long, Vec<SeccompRule>)>, RefusedError> {
    /// `PRIO_USER` of `linux/resource.h`, `IOPRIO_WHO_USER` of `linux/ioprio.h`.
    const OF_USER: u64 = 2;
    const IO_OF_USER: u64 = 3;
    let named = |place| rule(vec![condition(place, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, 0)?]);
    let user = |value| rule(vec![condition(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)?]);
    Ok(vec![
        (libc::SYS_prlimit64, vec![named(0)?]),
        (libc::SYS_sched_setattr, vec![named(0)?]),
        (libc::SYS_sched_setparam, vec![named(0)?]),
        (libc::SYS_sched_setscheduler, vec![named(0)?]),
        (libc::SYS_setpriority, vec![named(1)?, user(OF_USER)?]),
        (libc::SYS_ioprio_set, vec![named(1)?, user(IO_OF_USER)?]),
    ])
}

/// Calls that would make a program run as Hob's user, perhaps root, for any user who starts it.
fn setuid() -> Result<Vec<(c_long, Vec<SeccompRule>)>, RefusedError> {
    let has = |place, bits: u64| condition(place, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(bits), bits);
    let bit = |place| has(place, u64::from(libc::S_ISUID));
    // The mode matters only if the call makes a file.
    let made = |flags: u8, mode: u8| -> Result<Vec<SeccompRule>, RefusedError> {
        let by = |flag: libc::c_int| rule(vec![has(flags, u64::from(flag.unsigned_abs()))?, bit(mode)?]);
        Ok(vec![by(libc::O_CREAT)?, by(libc::O_TMPFILE)?])
    };
    let mode = |place: u8| -> Result<Vec<SeccompRule>, RefusedError> { Ok(vec![rule(vec![bit(place)?])?]) };
    let calls = vec![
        (libc::SYS_fchmod, mode(1)?),
        (libc::SYS_fchmodat, mode(2)?),
        (libc::SYS_fchmodat2, mode(2)?),
        (libc::SYS_mknodat, mode(2)?),
        (libc::SYS_openat, made(2, 3)?),
    ];
    #[cfg(target_arch = "x86_64")]
    let calls = [
        calls,
        vec![
            (libc::SYS_chmod, mode(1)?),
            (libc::SYS_creat, mode(1)?),
            (libc::SYS_mknod, mode(1)?),
            (libc::SYS_open, made(1, 2)?),
        ],
    ]
    .concat();
    Ok(calls)
}

/// A socket of none of these families.
fn other_family(families: &[libc::c_int]) -> Result<SeccompRule, RefusedError> {
    let not = |family: &libc::c_int| {
        condition(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, u64::from(family.unsigned_abs()))
    };
    rule(families.iter().map(not).collect::<Result<_, _>>()?)
}

/// A socket of this type.
fn of_type(kind: libc::c_int) -> Result<SeccompRule, RefusedError> {
    let kind = u64::from(kind.unsigned_abs());
    rule(vec![condition(1, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(!SOCKET_FLAGS & 0xffff_ffff), kind)?])
}

fn condition(
    argument: u8,
    length: SeccompCmpArgLen,
    compare: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, RefusedError> {
    Ok(SeccompCondition::new(argument, length, compare, value)?)
}

fn rule(conditions: Vec<SeccompCondition>) -> Result<SeccompRule, RefusedError> {
    Ok(SeccompRule::new(conditions)?)
}

/// Ends a process that makes a call by its number in x32. Only this bit of the number identifies that architecture:
/// `__X32_SYSCALL_BIT` in `asm/unistd.h`.
fn no_x32() -> [sock_filter; 3] {
    /// `BPF_LD | BPF_W | BPF_ABS`, `BPF_JMP | BPF_JGE | BPF_K`, of `linux/bpf_common.h`.
    const LOAD: u16 = 0x20;
    const JUMP_AT_LEAST: u16 = 0x35;
    /// The number's place in `seccomp_data`.
    const NUMBER: u32 = 0;
    const X32: u32 = 0x4000_0000;
    let kill = u32::from(SeccompAction::KillProcess);
    [
        sock_filter { code: LOAD, jt: 0, jf: 0, k: NUMBER },
        sock_filter { code: JUMP_AT_LEAST, jt: 0, jf: 1, k: X32 },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: kill },
    ]
}
