//! Where Hob's own program begins as the supervisor of a child, or as one of those that a box is made by.

use std::{ffi::OsString, process::ExitCode};

#[cfg(target_os = "linux")]
use crate::{
    launch::{BRIDGE, CONFINE, FILL, MAKE, SUPERVISE},
    linux::{bridge, confine, fill, make, supervise},
};

/// Is a child's supervisor, or makes its box, where this process was started for that; else nothing is done.
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
