//! A call of another agent's tool as a call of Hob's own.

use serde_json::{Map, Value};

use crate::native::tools::foreign::{
    commands::{input, job_end, job_output, shell},
    files::{edit, editor, patch, read, read_many, write},
    finds::{glob, list, search},
    given::{Given, Unfit},
    names::Meaning,
    plans::{ask, done, plan, think},
};

/// A call of an own tool.
#[derive(Debug, PartialEq)]
pub(in crate::native::tools) struct OwnCall {
    /// The tool.
    pub(in crate::native::tools) name: &'static str,
    /// Its arguments.
    pub(in crate::native::tools) arguments: Map<String, Value>,
}

/// The call of the tool that is meant by another agent's.
pub(in crate::native::tools) fn own_call(meaning: Meaning, arguments: Map<String, Value>) -> Result<OwnCall, Unfit> {
    let mut given = Given::new(arguments);
    let name = match meaning {
        Meaning::Shell(clock) => shell(&mut given, clock)?,
        Meaning::Read => read(&mut given)?,
        Meaning::ReadMany => read_many(&mut given)?,
        Meaning::List => list(&mut given)?,
        Meaning::Glob => glob(&mut given)?,
        Meaning::Search => search(&mut given, false)?,
        Meaning::SearchAnyCase => search(&mut given, true)?,
        Meaning::Edit => edit(&mut given)?,
        Meaning::Write => write(&mut given)?,
        Meaning::Editor => editor(&mut given)?,
        Meaning::Patch => patch(&mut given)?,
        Meaning::Plan => plan(&mut given)?,
        Meaning::Done => done(&mut given)?,
        Meaning::Ask => ask(&mut given)?,
        Meaning::Think => think(&mut given)?,
        Meaning::JobOutput => job_output(&mut given)?,
        Meaning::JobInput => input(&mut given)?,
        Meaning::JobEnd => job_end(&mut given)?,
    };
    Ok(OwnCall { name, arguments: given.finish()? })
}
