//! The environment variables of a child.

use std::{collections::BTreeMap, ffi::OsString};

/// The whole environment of a child: other variables do not exist for it.
pub type Environment = BTreeMap<OsString, OsString>;
