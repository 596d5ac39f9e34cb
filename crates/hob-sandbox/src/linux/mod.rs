//! The tiers on Linux.

mod bridge;
mod bubblewrap;
mod calls;
mod confine;
mod filter;
mod group;
mod landlock;
mod layout;
mod mounts;
mod namespaces;
mod report;
mod supervise;
mod tree;

pub(crate) use bridge::bridge;
pub(crate) use confine::confine;
pub(crate) use landlock::version as landlock_version;
pub(crate) use namespaces::{fill, make};
pub(crate) use supervise::supervise;

/// Why a plan could not be applied.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RefusedError {
    /// A step of it failed.
    #[error("{step}: {source}")]
    Step {
        /// The step that failed.
        step: &'static str,
        /// The system's error.
        source: std::io::Error,
    },
    /// Landlock's rules could not be made.
    #[error("restrict files with Landlock: {0}")]
    Landlock(#[from] ::landlock::RulesetError),
    /// Landlock did not take all of them.
    #[error("restrict files with Landlock: the kernel enforces only a part of the rules")]
    Partly,
    /// The filter of system calls could not be made.
    #[error("filter system calls: {0}")]
    Filter(#[from] seccompiler::BackendError),
    /// It could not be installed.
    #[error("filter system calls: {0}")]
    Install(#[from] seccompiler::Error),
    /// The message of the last step before the program, or of bubblewrap itself.
    #[error("{0}")]
    LastStep(String),
    /// The message from the supervisor could not be read.
    #[error("read what to start: {0}")]
    Message(#[from] postcard::Error),
}

impl RefusedError {
    /// Makes an error of this step from an error of the system.
    pub(crate) fn at<E: Into<std::io::Error>>(step: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::Step { step, source: source.into() }
    }
}

/// Reports on standard error why the program was not started, in the one form that Hob knows: with the launch's nonce.
#[expect(clippy::print_stderr, reason = "standard error is all that this process shares with Hob")]
pub(crate) fn refused(nonce: &str, error: &RefusedError) -> std::process::ExitCode {
    eprintln!("{}{error}", crate::refused_because(nonce));
    std::process::ExitCode::from(crate::REFUSED)
}
