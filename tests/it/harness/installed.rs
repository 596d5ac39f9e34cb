//! Programs of the machine that tests need: a test whose program does not start here says so, and is skipped.

use std::{io::Write, process::Command};

/// Where children in a sandbox find Python: they do not see a home, nor a shim that leads there.
pub(crate) const PYTHON: &str = "/usr/bin/python3";

/// Says that something was not tested. Not by a macro: the output of a test that passes is not shown.
pub(crate) fn skipped(why: &str) {
    std::io::stderr().write_all(format!("skipped: {why}\n").as_bytes()).unwrap();
}

/// Whether a program starts here. If not, the test that asks says that it is skipped.
#[expect(clippy::disallowed_methods, reason = "a test's own tool")]
pub(crate) fn starts(program: &str) -> bool {
    let starts = Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !starts {
        // The test runner names a test's thread after it.
        let test = std::thread::current().name().unwrap_or_default().to_owned();
        skipped(&format!("{test}: `{program} --version` does not start here"));
    }
    starts
}

/// Ends a test, which is then skipped, if one of the programs that it needs does not start here.
macro_rules! needs {
    ($($program:expr),+) => {
        if $(!$crate::harness::starts($program))||+ {
            return;
        }
    };
}

pub(crate) use needs;
