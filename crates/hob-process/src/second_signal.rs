//! The second signal, which ends the process in any state of its threads.

use std::{
    io,
    sync::{Arc, atomic::AtomicBool},
};

use rustix::process::Signal;
use signal_hook::flag::{register, register_conditional_shutdown};

/// Ends the process with `code` at the second of these signals, from within the signal's own handler, which needs no
/// free thread and no lock. The first one is only counted; others may handle it as well.
///
/// # Errors
/// The system's, when a signal cannot be handled.
pub fn exit_at_second(signals: &[Signal], code: i32) -> io::Result<()> {
    let came = Arc::new(AtomicBool::new(false));
    for signal in signals {
        // The order matters: the first signal finds that none came yet, and then counts.
        register_conditional_shutdown(signal.as_raw(), code, Arc::clone(&came))?;
        register(signal.as_raw(), Arc::clone(&came))?;
    }
    Ok(())
}
