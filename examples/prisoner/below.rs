//! Machines that refuse more than this one does: a filter, and below it a program.

use std::{collections::BTreeMap, os::unix::process::CommandExt, process::Command};

use seccompiler::{
    SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, apply_filter,
};

/// Applies the filter of this name and becomes the program.
pub(crate) fn run(filter: &str, program: &str, arguments: &[&str]) {
    match filter {
        "no-namespaces" => no_namespaces(),
        "no-landlock" => no_landlock(),
        other => panic!("no filter `{other}`: `no-namespaces` and `no-landlock` are known"),
    }
    #[expect(clippy::disallowed_methods, reason = "this process becomes the program")]
    let error = Command::new(program).args(arguments).exec();
    panic!("{program}: {error}");
}

/// As in a container without privileges: none can be made or entered.
fn no_namespaces() {
    const NAMESPACES: libc::c_int = libc::CLONE_NEWCGROUP
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWNET
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWUSER
        | libc::CLONE_NEWUTS;
    let flags = (0..32).map(|bit| 1_u64 << bit).filter(|bit| u64::from(NAMESPACES.unsigned_abs()) & bit != 0);
    let clone = flags.map(|flag| {
        let set = SeccompCondition::new(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(flag), flag).unwrap();
        SeccompRule::new(vec![set]).unwrap()
    });
    let always = [libc::SYS_unshare, libc::SYS_setns, libc::SYS_mount, libc::SYS_umount2, libc::SYS_pivot_root];
    let rules = always.into_iter().map(|call| (call, Vec::new())).chain([(libc::SYS_clone, clone.collect())]);
    install(rules.collect(), libc::EPERM);
    // Its flags are in memory, where no filter looks; programs fall back to `clone`.
    install(BTreeMap::from([(libc::SYS_clone3, Vec::new())]), libc::ENOSYS);
}

/// As on an old kernel, and under gVisor.
fn no_landlock() {
    let calls = [libc::SYS_landlock_create_ruleset, libc::SYS_landlock_add_rule, libc::SYS_landlock_restrict_self];
    install(calls.into_iter().map(|call| (call, Vec::new())).collect(), libc::ENOSYS);
}

fn install(rules: BTreeMap<i64, Vec<SeccompRule>>, error: libc::c_int) {
    let refuse = SeccompAction::Errno(error.unsigned_abs());
    let arch = std::env::consts::ARCH.try_into().unwrap();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch).unwrap();
    apply_filter(&seccompiler::BpfProgram::try_from(filter).unwrap()).unwrap();
}
