//! Git's way to its server: through this process, which alone holds the token.
//!
//! # Flow
//! [`Forwarder::open`] for one command → git asks `http://127.0.0.1:PORT/OWNER/NAME.git` and shows its nonce → the gate
//! looks at the request → the upstream sends it to the real server with the token → the answer streams back → the
//! command has ended, the forwarder is dropped.
//!
//! # Guarantees
//! - No child has the token: not in an argument, its environment, a file or its memory. It has a nonce that one listener
//!   takes, for one command, one repository and one [`Right`]. When the forwarder is dropped, the port is closed and every
//!   request that is on its way is ended.
//! - The nonce comes by environment, as a header: users of other accounts on this machine can read arguments.
//! - Not one byte of a push is sent on before its whole list of updates was read. The list must hold exactly the update
//!   that Hob intends, from the expected tip to the wanted one, or nothing. What is to go along with it is put behind it here, if
//!   git asks for all updates or none.
//! - Redirects are answered as failures, without their target. No request goes to another host.
//!
//! # Assumptions
//! Other processes of the same user cannot read this one (`hide_from_children` of `hob-process`). The command has a
//! deadline: nothing here waits longer than it.
//!
//! # Caveats
//! While a command runs, a process of the same user can read the nonce from its environment. It can then do what the
//! command may do: read the repository, and make the very update that Hob is making.

mod along;
mod gate;
mod headers;
mod relay;
mod serve;
mod updates;
mod upstream;

pub use along::Along;
pub use gate::GitRequest;
pub(super) use gate::Right;
pub use relay::{GitRelay, NoAnswer, RelayedPush};
pub(super) use serve::Forwarder;
pub(super) use updates::RefUpdate;
pub(super) use upstream::Clients;

/// Why a body breaks off.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Whether the body of a push passes that may only move `name` from nothing to `new`, for `lab/fuzz`: `Ok(None)` while
/// bytes are missing.
///
/// # Errors
/// Why it does not.
#[cfg(fuzzing)]
pub fn fuzz_updates(body: &[u8], name: &str, new: &str) -> Result<Option<bool>, &'static str> {
    let allowed = RefUpdate { name: name.to_owned(), old: None, new: new.into() };
    Ok(match updates::read(body, &allowed)? {
        updates::List::Unfinished => None,
        updates::List::Empty => Some(false),
        updates::List::Allowed { .. } => Some(true),
    })
}
