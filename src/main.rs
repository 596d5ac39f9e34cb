//! The `hob` binary.

/// A daemon lives for months: the system's allocator leaves it with more and more pages that hold a little each.
#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

#[expect(clippy::print_stderr, reason = "before the command line is read nothing else can say it")]
fn main() -> std::process::ExitCode {
    // A child of Hob begins as Hob's own program; it has no command line but its own either.
    if let Some(end) = hob_sandbox::was_launched(std::env::args_os()) {
        return end;
    }
    if let Some(end) = hob_workspace::was_committer(std::env::args_os()) {
        return end;
    }
    // In a container that starts nothing else, Hob is process 1.
    if let Some(end) = hob_process::was_first_process() {
        return end;
    }
    // The watchdog has nothing to hide, and no command line but its own.
    if hob_process::was_watchdog(std::env::args_os()) {
        return std::process::ExitCode::SUCCESS;
    }
    // Before anything else that a Hob does: no child may read the token out of this process.
    if let Err(error) = hob_process::hide_from_children() {
        eprintln!("hob: the process cannot be hidden from its children, so it does not start: {error}");
        return std::process::ExitCode::FAILURE;
    }
    hob::cli::main()
}
