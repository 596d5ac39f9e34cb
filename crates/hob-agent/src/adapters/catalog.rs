//! The programs by name, a file each in the folder `catalog`: data, and a parser of the program's events.

mod aider;
mod claude;
mod codex;
mod copilot;
mod gemini;
mod mini_swe_agent;
mod opencode;
mod pi;

use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    path::PathBuf,
};

use hob_config::AdapterName;
use hob_process::Environment;

use aider::AIDER;
use claude::CLAUDE;
use codex::CODEX;
use copilot::COPILOT;
use gemini::GEMINI;
use mini_swe_agent::MINI_SWE_AGENT;
use opencode::OPENCODE;
use pi::PI;

use crate::{adapters::adapter::Adapter, environment::find_program};

/// The adapter of a program.
pub(super) fn adapter(name: AdapterName) -> &'static Adapter {
    match name {
        AdapterName::Claude => &CLAUDE,
        AdapterName::Codex => &CODEX,
        AdapterName::Copilot => &COPILOT,
        AdapterName::Gemini => &GEMINI,
        AdapterName::Opencode => &OPENCODE,
        AdapterName::Aider => &AIDER,
        AdapterName::Pi => &PI,
        AdapterName::MiniSweAgent => &MINI_SWE_AGENT,
    }
}

/// The path of the program of a known name: the first of that name on the `PATH` of `environment`.
pub fn find_adapter(name: AdapterName, environment: &Environment) -> Option<PathBuf> {
    find_program(adapter(name).program, environment.get(OsStr::new("PATH")).map(OsString::as_os_str))
}

/// The program's own name.
pub fn adapter_program(name: AdapterName) -> &'static str {
    adapter(name).program
}

/// The names of all variables that any known program gets, each once, in order.
pub fn adapter_variables() -> Vec<&'static str> {
    let all = AdapterName::ALL.into_iter().flat_map(|name| adapter(name).variables.iter().copied());
    all.collect::<BTreeSet<_>>().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use hob_config::may_pass;

    use super::*;

    #[test]
    fn no_program_names_a_variable_that_opens_the_forge() {
        assert!(adapter_variables().into_iter().all(may_pass));
    }

    #[test]
    fn every_program_says_how_it_is_installed() {
        for name in AdapterName::ALL {
            assert!(adapter(name).install.contains(' '), "{name}");
        }
    }
}
