//! The identity of Hob's commits, and which commits count as its own.

use serde::{Deserialize, Serialize};

/// The address of Hob's commits if none is set and the forge does not say which account Hob acts as. Every Hob used it
/// once, so commits with it always count as Hob's.
const COMMON_EMAIL: &str = "hob@users.noreply.github.com";

/// The committer's address of commits that the forge makes itself.
const FORGE_EMAIL: &str = "noreply@github.com";

/// Follows the local part of an address that the forge gives an account.
const NOREPLY: &str = "@users.noreply.";

/// The author and committer of Hob's commits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitIdentity {
    /// A name for people.
    pub name: String,
    /// An address, which the forge uses to link commits to an account.
    pub email: String,
}

impl std::fmt::Display for CommitIdentity {
    /// `NAME <ADDRESS>` as in a commit, without characters that git's format does not allow.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let plain = |text: &str| text.replace(|c: char| c.is_control() || matches!(c, '<' | '>'), "");
        write!(f, "{} <{}>", plain(&self.name).trim(), plain(&self.email).trim())
    }
}

impl CommitIdentity {
    /// Hob under this name, with its default address.
    pub fn common(name: &str) -> Self {
        Self { name: name.to_owned(), email: COMMON_EMAIL.to_owned() }
    }

    /// Whether the forge made and signed the commit for Hob's account; then its author counts.
    pub fn is_by_forge(&self, committer_email: &str, author_email: &str) -> bool {
        committer_email == FORGE_EMAIL && author_email == self.email && self.email != COMMON_EMAIL
    }

    /// Whether a commit by this committer is Hob's. Another worker may act as another account; then the name counts.
    pub fn is_own(&self, name: &str, email: &str) -> bool {
        let of_account = || {
            let id = email.split_once(NOREPLY).and_then(|(local, _)| local.split_once('+')).map(|(id, _login)| id);
            id.is_some_and(|id| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()))
        };
        email == self.email || email == COMMON_EMAIL || (name == self.name && of_account())
    }
}

/// The address that the forge at `host` permanently keeps for an account and links to it.
/// <https://docs.github.com/account-and-profile/reference/email-addresses-reference>
pub fn noreply_email(id: u64, login: &str, host: &str) -> String {
    format!("{id}+{login}{NOREPLY}{host}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_has_an_address_of_its_own() {
        assert_eq!(
            noreply_email(41_898_282, "github-actions[bot]", "github.com"),
            "41898282+github-actions[bot]@users.noreply.github.com"
        );
    }

    #[test]
    fn commits_of_every_worker_count_as_hobs_and_those_of_people_do_not() {
        let email = noreply_email(7, "hob-bot", "github.com");
        let own = CommitIdentity { name: "Hob".to_owned(), email: email.clone() };
        for (name, email, is_own) in [
            ("Hob", email.as_str(), true),
            ("Hob", COMMON_EMAIL, true),
            ("Hob", "8+other-bot@users.noreply.github.com", true),
            ("Ada", "8+ada@users.noreply.github.com", false),
            ("Hob", "hob@example.org", false),
            ("Hob", "ada@users.noreply.github.com", false),
            ("Hob", "+@users.noreply.github.com", false),
            ("GitHub", "noreply@github.com", false),
        ] {
            assert_eq!(own.is_own(name, email), is_own, "{name} <{email}>");
        }
        assert!(CommitIdentity::common("Hob").is_own("Hob", &email));
        assert!(
            own.is_by_forge(FORGE_EMAIL, &email) && !own.is_by_forge(FORGE_EMAIL, "8+ada@users.noreply.github.com")
        );
        assert!(!own.is_by_forge("ada@example.org", &email));
        assert!(!CommitIdentity::common("Hob").is_by_forge(FORGE_EMAIL, COMMON_EMAIL));
    }
}
