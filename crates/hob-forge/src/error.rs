//! The errors between Hob and the forge, each with what to do about it.

use std::{error::Error, time::Duration};

use hob_domain::{FailureClass, Held, Illegal, Lost, RepoName, UnreadableRecord, UnwritableRecord, denied_advice};

/// A call that failed.
#[derive(Debug, thiserror::Error)]
pub enum ForgeError {
    /// No connection, or one that broke: a write may have had its effect.
    #[error("the forge cannot be reached to {what} ({source}): check GITHUB_API_URL and the network")]
    Unreachable {
        /// What was tried.
        what: String,
        /// What the network said.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The API's address is not valid.
    #[error(
        "GITHUB_API_URL is `{0}`, which is not the address of an API such as `https://HOST/api/v3`, without a name or a \
         password in it"
    )]
    NoAddress(String),
    /// No answer in time: a write may have had its effect.
    #[error("the forge did not answer in {} s when asked to {what}", deadline.as_secs())]
    TimedOut {
        /// What was tried.
        what: String,
        /// The deadline.
        deadline: Duration,
    },
    /// A rate limit: primary or secondary.
    #[error("the forge's rate limit is used up for {} s (asked to {what})", retry_after.as_secs())]
    Limited {
        /// What was tried.
        what: String,
        /// How long to wait.
        retry_after: Duration,
    },
    /// A 5xx: a write may have had its effect.
    #[error("the forge failed with status {status} when asked to {what}")]
    Server {
        /// What was tried.
        what: String,
        /// The status.
        status: u16,
        /// How long to wait, if the forge says so.
        retry_after: Option<Duration>,
    },
    /// 401.
    #[error("the forge does not accept the token: it is wrong, expired or revoked (GITHUB_TOKEN)")]
    Unauthorized,
    /// The App cannot sign in.
    #[error("the App cannot sign in: {0}")]
    App(String),
    /// A 403 that is not a rate limit, or a 451.
    #[error("the token may not {what} ({message}){}", after_colon(advice))]
    Forbidden {
        /// What was tried.
        what: String,
        /// What the forge said.
        message: String,
        /// What to do about it, if known.
        advice: Option<String>,
    },
    /// 403 from a conversation that is locked for people without write access.
    #[error(
        "the conversation is locked, so the forge refused to {what}: unlock it, or give Hob's account write access"
    )]
    Locked {
        /// What was tried.
        what: String,
    },
    /// 404, or 410 for a deleted object.
    #[error("not found: {what}")]
    NotFound {
        /// What was tried.
        what: String,
    },
    /// The repository does not exist, or the token may not see it.
    #[error(
        "the repository {0} does not exist or the token may not see it: check the name and the token's repositories"
    )]
    NoRepository(RepoName),
    /// 410 from a repository whose issues are disabled.
    #[error("the repository has its issues disabled: enable them in its settings (asked to {what})")]
    NoIssues {
        /// What was tried.
        what: String,
    },
    /// The repository is archived and read-only.
    #[error("the repository {0} is archived and read-only: unarchive it, or stop running Hob on it")]
    Archived(RepoName),
    /// The repository has no commit yet.
    #[error("the repository {0} is empty: push a first commit to its default branch")]
    EmptyRepository(RepoName),
    /// A path that contains a secret; nothing was sent.
    #[error("a name in the request holds a secret of Hob, so the forge was not asked to {what}: change the name")]
    HoldsSecret {
        /// What was tried.
        what: String,
    },
    /// A call that is not on the list of permitted calls; nothing was sent.
    #[error("no call of Hob's does this, so the forge was not asked to {what}; please report it")]
    NotPermitted {
        /// What was tried.
        what: String,
    },
    /// 409, 422 and other refusals.
    #[error("the forge refused to {what} with status {status}: {message}")]
    Refused {
        /// What was tried.
        what: String,
        /// The status.
        status: u16,
        /// What the forge said.
        message: String,
    },
    /// One of Hob's own refs does not move although it is where it was read: the obstacle is permanent.
    #[error(
        "the forge refuses to {what} with status {status} though no one else has moved `{reference}` ({message}): delete a ref \
         that is in its way, above or below it, or let the token's account past the rule that covers it"
    )]
    Obstructed {
        /// What was tried.
        what: String,
        /// The full name of the ref.
        reference: String,
        /// The status.
        status: u16,
        /// What the forge said.
        message: String,
    },
    /// 301: the repository was renamed or moved.
    #[error("the repository has moved: {} (asked to {what})", renamed(to))]
    Moved {
        /// What was tried.
        what: String,
        /// Its current name, if known.
        to: Option<RepoName>,
    },
    /// A list that is longer than what is read of it; a part could mislead.
    #[error("the forge lists more than {limit} entries, and Hob reads no more of a list (asked to {what}): {advice}")]
    TooLong {
        /// What was tried.
        what: String,
        /// How many entries are read.
        limit: usize,
        /// What to do.
        advice: String,
    },
    /// An answer that cannot be understood.
    #[error("the forge's answer cannot be read (asked to {what}): {source}")]
    Unreadable {
        /// What was tried.
        what: String,
        /// What is wrong with it.
        source: Box<dyn Error + Send + Sync>,
    },
    /// A ledger commit that cannot be understood.
    #[error("issue {issue}: {source}")]
    Record {
        /// The issue.
        issue: u64,
        /// What is wrong with it.
        source: UnreadableRecord,
    },
    /// A record that has no JSON form; nothing was written.
    #[error(transparent)]
    Unwritable(#[from] UnwritableRecord),
    /// A transition that does not apply to the issue's state; nothing was written.
    #[error(transparent)]
    Illegal(#[from] Illegal),
    /// The repository's own ledger cannot be understood.
    #[error("the repository's ledger: {0}; nothing is claimed until it can be read")]
    RepositoryRecord(#[source] UnreadableRecord),
    /// Others changed the repository's ledger before each of this worker's tries.
    #[error("too many workers change the repository's ledger at once: raise `poll.interval` or run fewer of them")]
    Crowded,
    /// The client is read-only.
    #[error("a dry run writes nothing, and was asked to {what}")]
    ReadOnly {
        /// What was tried.
        what: String,
    },
    /// Another worker holds the lease.
    #[error(transparent)]
    Held(#[from] Held),
    /// Another worker has the lease now.
    #[error(transparent)]
    Lost(#[from] Lost),
    /// The rest of the lease does not cover a write.
    #[error("the lease ends before a write to {what} could")]
    LeaseTooShort {
        /// What was tried.
        what: String,
    },
}

impl ForgeError {
    /// The class of the failure.
    pub fn class(&self) -> FailureClass {
        match self {
            Self::Unreachable { .. } | Self::TimedOut { .. } | Self::Crowded => {
                FailureClass::Transient { retry_after: None }
            }
            Self::Server { retry_after, .. } => FailureClass::Transient { retry_after: *retry_after },
            Self::Limited { retry_after, .. } => FailureClass::Transient { retry_after: Some(*retry_after) },
            Self::Unauthorized
            | Self::App(_)
            | Self::Forbidden { .. }
            | Self::NoAddress(_)
            | Self::NoRepository(_)
            | Self::NoIssues { .. }
            | Self::Archived(_)
            | Self::EmptyRepository(_)
            | Self::Moved { .. } => FailureClass::Misconfigured,
            Self::Record { .. } | Self::RepositoryRecord(_) | Self::HoldsSecret { .. } | Self::Obstructed { .. } => {
                FailureClass::NeedsHuman
            }
            Self::NotFound { .. }
            | Self::NotPermitted { .. }
            | Self::Refused { .. }
            | Self::Locked { .. }
            | Self::TooLong { .. }
            | Self::Unwritable(_)
            | Self::Illegal(_)
            | Self::Unreadable { .. }
            | Self::ReadOnly { .. } => FailureClass::Permanent,
            Self::Held(_) | Self::Lost(_) | Self::LeaseTooShort { .. } => FailureClass::Cancelled,
        }
    }

    /// Whether a write that failed this way may have had its effect; only a read can tell.
    pub fn outcome_is_unknown(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::TimedOut { .. } | Self::Server { .. })
    }

    /// Whether the forge's reason for a denied call is known to be permanent.
    pub fn is_known_denial(&self) -> bool {
        matches!(self, Self::Forbidden { message, .. } if denied_advice(message).is_some())
    }

    /// Whether the requested object does not exist.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::NotFound { .. })
    }

    /// Whether the forge refused with this status and a message that contains `part`.
    pub(super) fn is_refusal(&self, wanted: u16, part: &str) -> bool {
        matches!(self, Self::Refused { status, message, .. } if *status == wanted && message.contains(part))
    }
}

fn renamed(to: &Option<RepoName>) -> String {
    to.as_ref().map_or_else(|| "use its new name".to_owned(), |name| format!("use its new name, `{name}`"))
}

fn after_colon(advice: &Option<String>) -> String {
    advice.as_ref().map_or_else(String::new, |advice| format!(": {advice}"))
}
