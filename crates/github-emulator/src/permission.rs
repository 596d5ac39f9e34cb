//! The permission that an endpoint requires of an installation's token.
//! <https://docs.github.com/rest/authentication/permissions-required-for-github-apps>

use super::state::{Access, Grant, Permission};

/// Permissions of which one is enough, and the access that it must give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Needed {
    any_of: &'static [Permission],
    access: Access,
}

impl Needed {
    /// The permission for an endpoint below a repository, by its method and pattern.
    pub(super) fn for_call(method: &str, pattern: &str) -> Option<Self> {
        use Permission::{Actions, Administration, Checks, Contents, Issues, Metadata, PullRequests, Statuses};
        let below = pattern.strip_prefix("/repos/{owner}/{repo}")?;
        let access = if method == "GET" { Access::Read } else { Access::Write };
        let part = below.trim_start_matches('/').split('/').next().unwrap_or_default();
        let any_of: &[Permission] = match part {
            "" | "collaborators" if access == Access::Read => &[Metadata],
            "" | "collaborators" => &[Administration],
            // A pull request is an issue, too: either permission is enough for their common parts.
            "issues" if below == "/issues" && access == Access::Write => &[Issues],
            "issues" | "labels" | "assignees" => &[Issues, PullRequests],
            "pulls" if below.ends_with("/merge") && access == Access::Write => &[Contents],
            "pulls" => &[PullRequests],
            "check-runs" | "check-suites" => &[Checks],
            "statuses" => &[Statuses],
            "actions" => &[Actions],
            // The App asks for its own installation with its key.
            "installation" => return None,
            // Sub-resources of a commit or a branch have their own routes, which name their permission.
            "commits" if below.ends_with("{*sha}") => return None,
            "branches" if below.ends_with("{*branch}") => return None,
            "branches" if below.contains("/protection") => &[Administration],
            "rules" => &[Metadata],
            "rulesets" if access == Access::Read => &[Metadata],
            "rulesets" => &[Administration],
            _ => &[Contents],
        };
        Some(Self { any_of, access })
    }

    /// The permission that git needs to fetch or push.
    pub(super) fn of_git(access: Access) -> Self {
        Self { any_of: &[Permission::Contents], access }
    }

    /// Whether a token has it. Everyone may read public data.
    pub(super) fn is_met(self, grant: &Grant, is_public: bool) -> bool {
        (is_public && self.access == Access::Read)
            || self.any_of.iter().any(|permission| grant.permissions.reach(*permission, self.access))
    }

    /// Whether a fine-grained token can have it: there is no permission for checks.
    pub(super) fn is_personal(self) -> bool {
        self.any_of.iter().any(|permission| *permission != Permission::Checks)
    }

    /// The value of `X-Accepted-GitHub-Permissions`.
    pub(super) fn header(self) -> String {
        let each = self.any_of.iter().map(|permission| format!("{}={}", permission.name(), self.access.name()));
        each.collect::<Vec<_>>().join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_endpoint_names_its_permission() {
        let header = |method: &str, pattern: &str| Needed::for_call(method, pattern).map(Needed::header);
        for (method, below, expected) in [
            ("GET", "", "metadata=read"),
            ("DELETE", "", "administration=write"),
            ("POST", "/issues", "issues=write"),
            ("POST", "/issues/{number}/comments", "issues=write; pull_requests=write"),
            ("PUT", "/pulls/{number}/merge", "contents=write"),
            ("POST", "/pulls", "pull_requests=write"),
            ("PUT", "/contents/{*path}", "contents=write"),
            ("POST", "/git/refs", "contents=write"),
            ("POST", "/check-runs", "checks=write"),
            ("POST", "/actions/jobs/{id}/rerun", "actions=write"),
            ("PUT", "/branches/{branch}/protection", "administration=write"),
            ("GET", "/collaborators/{login}/permission", "metadata=read"),
            ("GET", "/rulesets", "metadata=read"),
            ("PUT", "/rulesets/{id}", "administration=write"),
        ] {
            let pattern = format!("/repos/{{owner}}/{{repo}}{below}");
            assert_eq!(header(method, &pattern).as_deref(), Some(expected), "{method} {below}");
        }
        assert_eq!(header("GET", "/user"), None);
    }
}
