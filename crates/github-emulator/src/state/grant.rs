//! The rights of an App installation's token: its permissions, its repositories, its end.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::super::users::Role;
use crate::names::{Login, Timestamp};

/// The access that a permission gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in super::super) enum Access {
    Read,
    Write,
}

impl Access {
    /// GitHub's name of it.
    pub(in super::super) fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// GitHub's permissions that the forge has endpoints for.
/// <https://docs.github.com/rest/authentication/permissions-required-for-github-apps>
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in super::super) enum Permission {
    Actions,
    Administration,
    Checks,
    Contents,
    Issues,
    Metadata,
    PullRequests,
    Statuses,
    Workflows,
}

impl Permission {
    /// GitHub's name of it.
    pub(in super::super) fn name(self) -> &'static str {
        match self {
            Self::Actions => "actions",
            Self::Administration => "administration",
            Self::Checks => "checks",
            Self::Contents => "contents",
            Self::Issues => "issues",
            Self::Metadata => "metadata",
            Self::PullRequests => "pull_requests",
            Self::Statuses => "statuses",
            Self::Workflows => "workflows",
        }
    }
}

/// Permissions, each with its access.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(in super::super) struct Permissions(pub(in super::super) BTreeMap<Permission, Access>);

impl Permissions {
    /// The permissions of an App whose account has this role.
    pub(in super::super) fn for_role(role: Role) -> Self {
        use Permission::{
            Actions, Administration, Checks, Contents, Issues, Metadata, PullRequests, Statuses, Workflows,
        };
        let from = |need: Role| if role >= need { Access::Write } else { Access::Read };
        let mut all = BTreeMap::from([(Metadata, Access::Read), (Issues, from(Role::Triage))]);
        all.extend(
            [Actions, Checks, Contents, PullRequests, Statuses].map(|permission| (permission, from(Role::Write))),
        );
        if role >= Role::Write {
            all.insert(Workflows, Access::Write);
        }
        if role >= Role::Admin {
            all.insert(Administration, Access::Write);
        }
        Self(all)
    }

    /// Whether `permission` gives this access.
    pub(in super::super) fn reach(&self, permission: Permission, access: Access) -> bool {
        self.0.get(&permission).is_some_and(|granted| *granted >= access)
    }
}

/// The rights of a token.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in super::super) struct Grant {
    /// The account it acts as.
    pub(in super::super) login: Login,
    pub(in super::super) until: Timestamp,
    pub(in super::super) permissions: Permissions,
    /// The ids of the repositories it is for; `None` means all.
    pub(in super::super) repositories: Option<Vec<u64>>,
}

impl Grant {
    /// Whether it is for the repository of this id.
    pub(in super::super) fn includes(&self, repository: u64) -> bool {
        self.repositories.as_ref().is_none_or(|ids| ids.contains(&repository))
    }
}
