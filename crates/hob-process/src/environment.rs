//! The environment variables of a child.

use std::{collections::BTreeMap, ffi::OsString};

/// The whole environment of a child: what is not in it does not exist for the child.
pub type Environment = BTreeMap<OsString, OsString>;
