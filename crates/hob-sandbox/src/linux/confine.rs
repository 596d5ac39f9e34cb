//! The last step before the child: a thread gives up what the child must not have and starts it. In a box, a process of
//! Hob's own does so.

use std::{
    ffi::{OsStr, OsString},
    io,
    os::{
        fd::RawFd,
        unix::{
            ffi::OsStrExt,
            process::{CommandExt, ExitStatusExt},
        },
    },
    path::{Path, PathBuf},
    process::{Child, Command, ExitCode},
    sync::{Arc, mpsc},
    thread,
};

use hob_listener::Listener;

use rustix::{
    process::{DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit},
    thread::{
        CapabilitySet, CapabilitySets, capability_is_in_bounding_set, clear_ambient_capability_set,
        remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
    },
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{
    RefusedError, bridge,
    calls::{Hand, Refusals, TERMINALS},
    filter, landlock, refused,
    report::Teller,
};
use crate::{Launch, Limits, Network, Plan, Tier, launch::CONFINE};

/// The limits and rights that the child is left with.
#[derive(Debug, Serialize, Deserialize)]
struct Rest {
    tier: Tier,
    read: Vec<PathBuf>,
    write: Vec<PathBuf>,
    limits: Limits,
    open: bool,
    /// Whether it is root of the files of another system.
    is_root: bool,
}

impl Rest {
    fn new(plan: &Plan) -> Self {
        Self {
            tier: plan.tier,
            read: plan.readable().collect(),
            // All of another system's files; what it is only shown there is mounted to be read.
            write: plan.write.iter().cloned().chain(plan.root.iter().map(|_| "/".into())).collect(),
            limits: plan.limits,
            open: plan.network == Network::Open,
            is_root: plan.root.is_some(),
        }
    }

    /// Whether the supervisor answers calls that the child may not make.
    fn is_heard(&self) -> bool {
        !self.open
    }
}

/// The step within a box that Hob's program is started for.
#[derive(Debug, Serialize, Deserialize)]
struct Step {
    rest: Rest,
    program: PathBuf,
    bridge: Option<bridge::Way>,
    /// The words that start Hob's program in the box.
    launcher: Vec<OsString>,
    report: RawFd,
}

/// The program to start, and how.
struct Starts {
    program: PathBuf,
    /// Its name and its arguments.
    arguments: Vec<OsString>,
    /// `None` means those of this process.
    environment: Option<Vec<(OsString, OsString)>>,
    folder: Option<PathBuf>,
}

/// Starts a child in a fence.
pub(super) fn start(launch: &Launch, refusals: &Arc<Refusals>) -> Result<Child, RefusedError> {
    let starts = Starts {
        program: launch.program.clone(),
        arguments: launch.arguments.clone(),
        environment: Some(launch.environment.clone()),
        folder: Some(launch.folder.clone()),
    };
    start_from_thread(starts, Rest::new(&launch.plan), Arc::clone(refusals))
}

/// Starts a child from a thread that has taken the step. Rules, rights and filter are a thread's, and its children's; the
/// limits are this process's as well, which stays below all of them.
///
/// If the supervisor answers the child's calls, the answering thread starts this one: in a fence it has the child's
/// rules for files, and may inspect processes with more restrictions than its own.
fn start_from_thread(starts: Starts, rest: Rest, refusals: Arc<Refusals>) -> Result<Child, RefusedError> {
    let (tells, told) = mpsc::channel();
    let begin = move || {
        if !rest.is_heard() {
            // If nobody receives it any more, this process is about to end.
            tells.send(take_step(&starts, &rest, |_listener| {})).ok();
            return;
        }
        let hand = match rest.tier {
            Tier::Box => Ok(Hand::that_watches(refusals)),
            Tier::Fence | Tier::None => hand(&starts, &rest, refusals),
        };
        let hand = match hand {
            Ok(hand) => hand,
            Err(error) => return drop(tells.send(Err(error))),
        };
        let (hears, heard) = mpsc::channel();
        let last = move || tells.send(take_step(&starts, &rest, |listener| drop(hears.send(listener)))).ok();
        // If this thread cannot be started, or fails, no calls are answered and no refusals are reported.
        if thread::Builder::new().spawn(last).is_ok()
            && let Ok(Some(listener)) = heard.recv()
        {
            hand.serve(listener);
        }
    };
    thread::Builder::new().spawn(begin).map_err(RefusedError::at("start the last step"))?;
    told.recv().unwrap_or_else(|_| Err(RefusedError::LastStep("the last step ended by itself".to_owned())))
}

/// Restricts this thread to the child's access to files, and a little more, and makes it the one that makes calls for
/// the child.
fn hand(starts: &Starts, rest: &Rest, refusals: Arc<Refusals>) -> Result<Hand, RefusedError> {
    set_no_new_privs(true).map_err(RefusedError::at("give up new privileges"))?;
    let (read, write) = (rest.read.iter().map(PathBuf::as_path).collect(), writable(rest));
    let (devices, network) = (TERMINALS.map(Path::new).to_vec(), landlock::Connections::Any);
    landlock::restrict(rest.tier, &landlock::Allowed { read, write, devices, network })?;
    drop_capabilities().map_err(RefusedError::at("give up capabilities"))?;
    let environment = starts.environment.iter().flatten();
    let value = |wanted: &str| environment.clone().find(|(name, _)| name == wanted).map(|(_, value)| value);
    let own = |folder: &&OsString| rest.write.iter().any(|own| Path::new(folder).starts_with(own));
    let folder = ["HOME", "TMPDIR"].into_iter().filter_map(value).find(own);
    Ok(Hand::new(folder.map(PathBuf::from), refusals))
}

/// Takes the step in this thread, passes on the listener for the child's calls, and starts the child.
#[expect(clippy::disallowed_methods, reason = "the supervisor is what `hob-process` starts children by")]
fn take_step(starts: &Starts, rest: &Rest, tell: impl FnOnce(Option<Listener>)) -> Result<Child, RefusedError> {
    let (name, arguments) = starts.arguments.split_first().ok_or_else(no_name)?;
    tell(restrict(rest)?);
    let mut command = Command::new(&starts.program);
    command.arg0(name).args(arguments).process_group(0);
    if let Some(environment) = &starts.environment {
        command.env_clear().envs(environment.iter().map(|(name, value)| (name, value)));
    }
    if let Some(folder) = &starts.folder {
        command.current_dir(folder);
    }
    command.spawn().map_err(RefusedError::at("start the program"))
}

pub(super) fn no_name() -> RefusedError {
    RefusedError::Message(postcard::Error::DeserializeUnexpectedEnd)
}

/// The arguments that make Hob's program take the step in a box; the child's name and its arguments follow them. They
/// contain no secret: other processes can read them.
pub(super) fn arguments(launch: &Launch, launcher: &[OsString], report: RawFd) -> Result<[OsString; 2], RefusedError> {
    let (plan, program) = (&launch.plan, launch.program.clone());
    let bridge = match &plan.network {
        Network::None | Network::Open => None,
        Network::Proxy { socket, port } => Some(bridge::Way { socket: socket.clone(), port: *port }),
    };
    let step = Step { rest: Rest::new(plan), program, bridge, launcher: launcher.to_vec(), report };
    Ok([CONFINE.into(), to_hex(&step)?])
}

/// Something for Hob's own program, as an argument.
pub(super) fn to_hex(what: &impl Serialize) -> Result<OsString, RefusedError> {
    let hex: String = postcard::to_stdvec(what)?.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(hex.into())
}

/// Decodes what [`to_hex`] wrote.
pub(super) fn from_hex<T: DeserializeOwned>(hex: &OsStr) -> Result<T, RefusedError> {
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = hex.as_bytes().chunks(2).map(byte).collect();
    Ok(postcard::from_bytes(&bytes.ok_or_else(no_name)?)?)
}

/// Takes the step in a box and ends as the child does. If the step fails, it tells the supervisor.
pub(crate) fn confine(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let told = read(arguments).and_then(|(step, arguments)| {
        let teller = Teller::inherited(step.report)?;
        Ok(run_child(step, arguments, &teller).unwrap_or_else(|error| {
            teller.refuses(&error);
            ExitCode::from(crate::REFUSED)
        }))
    });
    told.unwrap_or_else(|error| refused("", &error))
}

/// The step, and the child's name and its arguments.
fn read(mut arguments: impl Iterator<Item = OsString>) -> Result<(Step, Vec<OsString>), RefusedError> {
    let step = from_hex(&arguments.next().ok_or_else(no_name)?)?;
    Ok((step, arguments.collect()))
}

fn run_child(step: Step, arguments: Vec<OsString>, teller: &Teller) -> Result<ExitCode, RefusedError> {
    // The child is of the same user, and an old kernel has no Landlock.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(RefusedError::at("hide"))?;
    let passed_on = Teller::inherited(step.report)?;
    // Neither the child nor the way to the proxy inherits descriptors that are open here.
    close_fds::set_fds_cloexec(3, &[]);
    if let Some(way) = &step.bridge {
        bridge::start(way, &step.launcher).map_err(RefusedError::at("open the way to the proxy"))?;
    }
    // From here on, everything reported is about the child.
    teller.begins()?;
    let starts = Starts { program: step.program, arguments, environment: None, folder: None };
    let mut child = start_from_thread(starts, step.rest, Arc::new(Refusals::passed_on(passed_on)))?;
    let ended = child.wait().map_err(RefusedError::at("wait for the program"))?;
    Ok(told_as_by_a_shell(ended.code(), ended.signal()))
}

/// The exit code of a shell for a program that ended so.
pub(super) fn told_as_by_a_shell(code: Option<i32>, signal: Option<i32>) -> ExitCode {
    let code = code.or(signal.map(|signal| 128 + signal));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX))
}

/// Gives up what a child must not have. The returned listener receives calls that the supervisor makes for it.
fn restrict(rest: &Rest) -> Result<Option<Listener>, RefusedError> {
    // The parent of Hob may have left descriptors open that lead to files.
    close_fds::set_fds_cloexec(3, &[]);
    limit(rest.limits).map_err(RefusedError::at("set resource limits"))?;
    set_no_new_privs(true).map_err(RefusedError::at("give up new privileges"))?;
    let network =
        if rest.open || rest.tier == Tier::Box { landlock::Connections::Any } else { landlock::Connections::None };
    let read = rest.read.iter().map(PathBuf::as_path).collect();
    landlock::restrict(rest.tier, &landlock::Allowed { read, write: writable(rest), devices: Vec::new(), network })?;
    drop_capabilities().map_err(RefusedError::at("give up capabilities"))?;
    let sockets = match (rest.open, rest.tier) {
        (true, _) => filter::Sockets::Internet,
        (false, Tier::Box) => filter::Sockets::Local,
        (false, Tier::Fence | Tier::None) => filter::Sockets::Supervised,
    };
    let shared = if rest.tier == Tier::Box { filter::Shared::Box } else { filter::Shared::Machine };
    let owners = if rest.is_root { filter::Owners::Pretended } else { filter::Owners::Real };
    filter::install(sockets, shared, owners)
}

/// The child's own folders; in a box also the temporary ones, which are its own there.
fn writable(rest: &Rest) -> Vec<PathBuf> {
    let temporary =
        if rest.tier == Tier::Box { ["/tmp", "/dev/shm", "/dev/pts", "/dev/mqueue"].as_slice() } else { &[] };
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
    // The sum over all processes is monitored; this stops one that takes everything between two looks.
    if limits.memory > 0 {
        most(Resource::Data, limits.memory)?;
    }
    Ok(())
}

pub(super) fn drop_capabilities() -> rustix::io::Result<()> {
    for capability in CapabilitySet::all().iter() {
        if capability_is_in_bounding_set(capability).unwrap_or(false) {
            // Without this capability in the bounding set, no program can gain it either.
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
