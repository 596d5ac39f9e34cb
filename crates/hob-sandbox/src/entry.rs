//! The entry points of Hob's own program as a child's supervisor, or as one of the processes that make a box.

use std::{ffi::OsString, process::ExitCode};

#[cfg(target_os = "linux")]
use crate::{
    launch::{BRIDGE, CONFINE, FILL, MAKE, SUPERVISE},
    linux::{bridge, confine, fill, make, supervise},
};

/// Runs as a child's supervisor or as a maker of its box if this process was started as one; otherwise does nothing.
#[cfg(target_os = "linux")]
pub fn was_launched(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut arguments = arguments.into_iter().skip(1);
    let first = arguments.next()?;
    if first == SUPERVISE {
        return Some(supervise());
    }
    if first == CONFINE {
        return Some(confine(arguments));
    }
    if first == MAKE {
        return Some(make(arguments));
    }
    if first == FILL {
        return Some(fill(arguments));
    }
    (first == BRIDGE).then(|| bridge(arguments))
}

/// No other system has a tier that starts children this way.
#[cfg(not(target_os = "linux"))]
pub fn was_launched(_arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    None
}
