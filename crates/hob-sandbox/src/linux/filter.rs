//! The filter of system calls: what no child needs, and what would lead around the other rules.
//!
//! A call that is refused fails with `EPERM`, as without the right to it. `clone3` fails with `ENOSYS`: its flags are in
//! memory, where a filter cannot look, and every C library then falls back to `clone`. A call of another architecture, or
//! of x32, ends the process: its numbers mean other calls.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter, sock_filter,
};

use super::RefusedError;

/// Which sockets a child may make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sockets {
    /// None but pairs that are connected from the beginning.
    Pairs,
    /// Those of the internet. A local one would lead to every service of the machine that has one, such as Docker's.
    Internet,
    /// Local ones, and those of the internet: its network is one of its own.
    Local,
}

/// Refused whatever the arguments are.
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

/// Bits of a socket's type that are no part of it.
const SOCKET_FLAGS: u64 = 0o2_000_000 | 0o4_000;

/// Installs the filter for this thread and all that comes from it. It cannot be taken away.
pub(super) fn install(sockets: Sockets) -> Result<(), RefusedError> {
    let own = SeccompAction::Errno(libc::EPERM as u32);
    let clone3 = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    apply_filter(&program(clone3, SeccompAction::Errno(libc::ENOSYS as u32))?)?;
    let mut calls = program(refused(sockets)?, own)?;
    if cfg!(target_arch = "x86_64") {
        calls.splice(0..0, no_x32());
    }
    Ok(apply_filter(&calls)?)
}

fn program(rules: BTreeMap<c_long, Vec<SeccompRule>>, action: SeccompAction) -> Result<BpfProgram, RefusedError> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    Ok(SeccompFilter::new(rules, SeccompAction::Allow, action, arch)?.try_into()?)
}

fn refused(sockets: Sockets) -> Result<BTreeMap<c_long, Vec<SeccompRule>>, RefusedError> {
    let mut rules: BTreeMap<_, _> = REFUSED.into_iter().map(|call| (call, Vec::new())).collect();
    let flag = |flag: libc::c_int| {
        let flag = u64::from(flag.unsigned_abs());
        rule(vec![condition(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(flag), flag)?])
    };
    rules.insert(libc::SYS_clone, NAMESPACES.into_iter().map(flag).collect::<Result<_, _>>()?);
    // They put characters into the input of the terminal, as if somebody had typed them.
    let typed = |request: u64| rule(vec![condition(1, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, request)?]);
    rules.insert(libc::SYS_ioctl, vec![typed(libc::TIOCSTI)?, typed(libc::TIOCLINUX)?]);
    rules.insert(
        libc::SYS_socket,
        match sockets {
            Sockets::Pairs => Vec::new(),
            Sockets::Internet => vec![other_family(&[libc::AF_INET, libc::AF_INET6])?, other_type()?],
            Sockets::Local => vec![other_family(&[libc::AF_UNIX, libc::AF_INET, libc::AF_INET6])?, other_type()?],
        },
    );
    Ok(rules)
}

/// A socket of none of these families.
fn other_family(families: &[libc::c_int]) -> Result<SeccompRule, RefusedError> {
    let not = |family: &libc::c_int| {
        condition(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, u64::from(family.unsigned_abs()))
    };
    rule(families.iter().map(not).collect::<Result<_, _>>()?)
}

/// One that is neither a stream nor of datagrams, such as a raw one.
fn other_type() -> Result<SeccompRule, RefusedError> {
    let raw = u64::from(libc::SOCK_RAW.unsigned_abs());
    rule(vec![condition(1, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(!SOCKET_FLAGS & 0xffff_ffff), raw)?])
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

/// Ends a process that makes a call by its number in x32. That architecture is told by this bit of the number alone:
/// `__X32_SYSCALL_BIT` in `asm/unistd.h`.
fn no_x32() -> [sock_filter; 3] {
    /// `BPF_LD | BPF_W | BPF_ABS`, `BPF_JMP | BPF_JGE | BPF_K`, `BPF_RET | BPF_K`, of `linux/bpf_common.h`.
    const LOAD: u16 = 0x20;
    const JUMP_AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
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
