//! How Hob tells its own program which child to start: bytes on the child's standard input, ahead of the child's own.
//!
//! They appear in no argument and no environment, which other processes of the machine could read.

use std::{
    ffi::{OsStr, OsString},
    path::PathBuf,
};

use serde::{Deserialize, Serialize};

use crate::Plan;

/// The exit code if a plan could not be applied, so that the program was not started.
pub const REFUSED: u8 = 125;

/// The text on standard error before that reason. Without the nonce, a child could write the same. The nonce is empty
/// if the launch could not be read.
pub fn refused_because(nonce: &str) -> String {
    format!("{}: the sandbox could not be applied: ", format!("hob {nonce}").trim_end())
}

/// The text on standard error, after the child's own output, before the list of what the sandbox refused. It has the
/// launch's nonce, so that a child cannot forge it.
pub fn refusals_by(nonce: &str) -> String {
    format!("hob {nonce}: the sandbox refused: ")
}

/// The beginning of a line on standard error that tells the child of a refusal as it happens.
pub const REFUSED_NOW: &str = "hob: the sandbox refused ";

/// The first argument of Hob's program as a child's supervisor.
pub(crate) const SUPERVISE: &str = "--supervise-child";
/// The first argument of Hob's program when it starts the child in a box.
pub(crate) const CONFINE: &str = "--confine-child";
/// The first arguments of Hob's program as the maker of a box and as process 1 in it.
pub(crate) const MAKE: &str = "--make-box";
pub(crate) const FILL: &str = "--fill-box";
/// The first argument of Hob's program as the child's way out of a box.
pub(crate) const BRIDGE: &str = "--bridge-child";

/// A child to be started.
#[derive(Debug, Serialize, Deserialize)]
pub struct Launch {
    /// A secret shared with the supervisor only, which proves that a message is the supervisor's.
    pub nonce: String,
    /// The process that the child must not outlive.
    pub owner: i32,
    /// The child's plan.
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
    /// The arguments of Hob's program, and the bytes that it reads first.
    ///
    /// # Errors
    /// [`LaunchError`] if it cannot be serialized.
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
