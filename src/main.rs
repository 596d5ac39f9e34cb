//! The `hob` binary.

fn main() -> std::process::ExitCode {
    hob::cli::main()
}
