//! The `hob` binary.

/// A daemon lives for months: with the system's allocator, more and more pages stay nearly empty.
#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

#[expect(clippy::print_stderr, reason = "before the command line is read nothing else can say it")]
fn main() -> std::process::ExitCode {
    // A child of Hob begins as Hob's own program; it only has its own command line.
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
    // Before anything else: no child may read the token from this process.
    if let Err(error) = hob_process::hide_from_children() {
        eprintln!("hob: the process cannot be hidden from its children, so it does not start: {error}");
        return std::process::ExitCode::FAILURE;
    }
    hob::cli::main()
}
