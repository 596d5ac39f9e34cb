//! The last step before the child: this process gives up what the child must not have, and becomes it.

use std::{
    convert::Infallible,
    ffi::{OsStr, OsString},
    io,
    os::{fd::RawFd, unix::process::CommandExt},
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use rustix::{
    process::{Resource, Rlimit, getrlimit, setrlimit},
    thread::{
        CapabilitySet, CapabilitySets, capability_is_in_bounding_set, clear_ambient_capability_set,
        remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
    },
};
use serde::{Deserialize, Serialize};

use super::{RefusedError, bridge, filter, landlock, refused, report::Teller};
use crate::{Limits, Network, Plan, Tier, launch::CONFINE};

/// What is left of a plan for this step.
#[derive(Debug, Serialize, Deserialize)]
struct Rest {
    tier: Tier,
    read: Vec<PathBuf>,
    write: Vec<PathBuf>,
    limits: Limits,
    open: bool,
    program: PathBuf,
    bridge: Option<bridge::Way>,
    report: RawFd,
}

/// The arguments that make Hob's program take this step; behind them come the child's name and its arguments. They hold no
/// secret: other processes can read them.
pub(super) fn arguments(plan: &Plan, program: &Path, report: RawFd) -> Result<[OsString; 2], RefusedError> {
    let bridge = match &plan.network {
        Network::None | Network::Open => None,
        Network::Proxy { socket, port } => Some(bridge::Way { socket: socket.clone(), port: *port }),
    };
    let rest = Rest {
        tier: plan.tier,
        read: plan.readable().map(Path::to_owned).collect(),
        write: plan.write.clone(),
        limits: plan.limits,
        open: plan.network == Network::Open,
        program: program.to_owned(),
        bridge,
        report,
    };
    let hex: String = postcard::to_stdvec(&rest)?.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok([CONFINE.into(), hex.into()])
}

/// Takes the step, and returns where it failed, which the supervisor is told.
pub(crate) fn confine(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let told = read(arguments).and_then(|(rest, name, arguments)| {
        let mut teller = Teller::inherited(rest.report)?;
        let Err(error) = become_child(&rest, &name, arguments, &mut teller);
        teller.refuses(&error);
        Ok(())
    });
    told.map_or_else(|error| refused("", &error), |()| ExitCode::from(crate::REFUSED))
}

/// The rest of the plan, the child's name and its arguments.
fn read<A: Iterator<Item = OsString>>(mut arguments: A) -> Result<(Rest, OsString, A), RefusedError> {
    let unreadable = || RefusedError::Message(postcard::Error::DeserializeUnexpectedEnd);
    let hex = arguments.next().and_then(|hex| hex.into_string().ok()).ok_or_else(unreadable)?;
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = hex.as_bytes().chunks(2).map(byte).collect();
    let rest = postcard::from_bytes(&bytes.ok_or_else(unreadable)?)?;
    let name = arguments.next().ok_or_else(unreadable)?;
    Ok((rest, name, arguments))
}

fn become_child(
    rest: &Rest,
    name: &OsStr,
    arguments: impl Iterator<Item = OsString>,
    teller: &mut Teller,
) -> Result<Infallible, RefusedError> {
    // Whoever started Hob may have left descriptors open that lead to files.
    close_fds::set_fds_cloexec(3, &[]);
    if let Some(way) = &rest.bridge {
        bridge::start(way).map_err(RefusedError::at("open the way to the proxy"))?;
    }
    limit(rest.limits).map_err(RefusedError::at("set resource limits"))?;
    set_no_new_privs(true).map_err(RefusedError::at("give up new privileges"))?;
    let network =
        if rest.open || rest.tier == Tier::Box { landlock::Connections::Any } else { landlock::Connections::None };
    let read = rest.read.iter().map(PathBuf::as_path).collect();
    landlock::restrict(rest.tier, &landlock::Allowed { read, write: writable(rest), network })?;
    drop_capabilities().map_err(RefusedError::at("give up capabilities"))?;
    let sockets = match (rest.open, rest.tier) {
        (true, _) => filter::Sockets::Internet,
        (false, Tier::Box) => filter::Sockets::Local,
        (false, Tier::Fence | Tier::None) => filter::Sockets::Pairs,
    };
    let shared = if rest.tier == Tier::Box { filter::Shared::Box } else { filter::Shared::Machine };
    filter::install(sockets, shared)?;
    teller.begins()?;
    #[expect(clippy::disallowed_methods, reason = "this process becomes the child, it starts none")]
    let error = Command::new(&rest.program).arg0(name).args(arguments).exec();
    Err(RefusedError::Step { step: "start the program", source: error })
}

/// Its own folders; in a box the temporary ones, too, which are nobody else's there.
fn writable(rest: &Rest) -> Vec<PathBuf> {
    let temporary = if rest.tier == Tier::Box { ["/tmp", "/dev/shm", "/dev/pts"].as_slice() } else { &[] };
    rest.write.iter().cloned().chain(temporary.iter().map(PathBuf::from)).collect()
}

fn limit(limits: Limits) -> io::Result<()> {
    /// Files that a process may have open.
    const OPEN: u64 = 8192;
    let most = |resource, most: u64| -> io::Result<()> {
        let now = getrlimit(resource);
        let most = Some(now.maximum.map_or(most, |now| now.min(most)));
        Ok(setrlimit(resource, Rlimit { current: most, maximum: most })?)
    };
    most(Resource::Core, 0)?;
    most(Resource::Nofile, OPEN)?;
    if limits.file > 0 {
        most(Resource::Fsize, limits.file)?;
    }
    // The sum over all processes is watched; this stops one that takes it all between two looks.
    if limits.memory > 0 {
        most(Resource::Data, limits.memory)?;
    }
    Ok(())
}

fn drop_capabilities() -> rustix::io::Result<()> {
    for capability in CapabilitySet::all().iter() {
        if capability_is_in_bounding_set(capability).unwrap_or(false) {
            // Without the right to this, no new privileges can be had by a program either.
            match remove_capability_from_bounding_set(capability) {
                Ok(()) | Err(rustix::io::Errno::PERM) => {}
                Err(error) => return Err(error),
            }
        }
    }
    clear_ambient_capability_set()?;
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
}
