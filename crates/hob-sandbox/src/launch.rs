//! How Hob tells its own program which child to start: bytes on the child's standard input, ahead of the child's own.
//!
//! They are in no argument and no environment, which other processes of the machine could read.

use std::{
    ffi::{OsStr, OsString},
    path::PathBuf,
};

use serde::{Deserialize, Serialize};

use crate::Plan;

/// The exit code where a plan could not be applied, so that the program was not started.
pub const REFUSED: u8 = 125;

/// What stands on standard error before the reason then. A child can write the same but for the nonce; there is none where the
/// launch could not be read.
pub fn refused_because(nonce: &str) -> String {
    format!("{}: the sandbox could not be applied: ", format!("hob {nonce}").trim_end())
}

/// What stands on standard error, at the end of what a child wrote, before what the sandbox refused it: with the launch's nonce,
/// so that a child cannot say it.
pub fn refusals_by(nonce: &str) -> String {
    format!("hob {nonce}: the sandbox refused: ")
}

/// How a line of standard error begins that tells the child of a refusal when it happens.
pub const REFUSED_NOW: &str = "hob: the sandbox refused ";

/// The first argument of Hob's program where it supervises a child.
pub(crate) const SUPERVISE: &str = "--supervise-child";
/// The first argument where it starts the child, in a box.
pub(crate) const CONFINE: &str = "--confine-child";
/// The first arguments where it makes a box, and where it is process 1 of that.
pub(crate) const MAKE: &str = "--make-box";
pub(crate) const FILL: &str = "--fill-box";
/// The first argument where it is the child's way out of a box.
pub(crate) const BRIDGE: &str = "--bridge-child";

/// A child to be started.
#[derive(Debug, Serialize, Deserialize)]
pub struct Launch {
    /// What nobody but the supervisor is told, by which Hob knows its word.
    pub nonce: String,
    /// The process that the child must not outlive.
    pub owner: i32,
    /// What the child may reach.
    pub plan: Plan,
    /// Its file.
    pub program: PathBuf,
    /// Its name and its arguments.
    pub arguments: Vec<OsString>,
    /// Its whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// The folder it starts in.
    pub folder: PathBuf,
}

/// A launch that cannot be sent.
#[derive(Debug, thiserror::Error)]
#[error("describe a child to its supervisor: {0}")]
pub struct LaunchError(#[from] postcard::Error);

impl Launch {
    /// The arguments of Hob's program, and what it has to read first.
    ///
    /// # Errors
    /// [`LaunchError`] when it cannot be written down.
    pub fn encode(&self) -> Result<Vec<u8>, LaunchError> {
        let launch = postcard::to_stdvec(self)?;
        let length = u32::try_from(launch.len()).map_err(|_| postcard::Error::SerializeBufferFull)?;
        Ok([length.to_be_bytes().as_slice(), &launch].concat())
    }

    /// The one argument of Hob's program that makes it the supervisor of a child.
    pub fn argument() -> &'static OsStr {
        OsStr::new(SUPERVISE)
    }
}
