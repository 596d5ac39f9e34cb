//! What a forge's words about a denied request mean, and what to do: one table, for the API and for git.

/// Words of GitHub's answers, in lower case, and what to do about them; the first match decides. They are the wordings
/// of its API and git server, and those of GitHub Enterprise Server.
const TABLE: [(&[&str], &str); 11] = [
    (&["ip allow list"], "add this machine's address to the IP allow list, or run Hob from an address that is on it"),
    (&["saml", "single sign-on"], "authorize the token for the organization's single sign-on"),
    (
        &["installation has been suspended"],
        "the App's installation is suspended: lift that in the settings of the account that it is installed on",
    ),
    (&["suspended"], "the account is suspended: ask the forge's support, or use another account"),
    (&["archived"], "the repository is archived and read-only: unarchive it, or stop running Hob on it"),
    (
        &["not permitted to create or approve pull requests", "not permitted to create pull requests"],
        "in the settings of the repository and of its organization, under Actions, General, check \"Allow GitHub Actions to \
         create and approve pull requests\", or use the token of an App or of a person",
    ),
    (
        &["terms of service", "access blocked", "has been disabled", "is disabled"],
        "the forge has closed the repository: its owner has to ask the forge's support",
    ),
    (&["locked for migration"], "the repository is being moved: give Hob its new name"),
    (
        &["push access to view collaborator permission"],
        "only an account with write access to the repository may ask who else has it: give Hob's account write access",
    ),
    (&["is blocked"], "the repository's owner has blocked the account: ask them, or use another account"),
    (
        &["forbids access via", "personal access tokens (classic)", "third-party application access"],
        "the organization does not admit this kind of token: use the one that its policy names",
    ),
];

/// What to do about a request that a forge denied with these words. `None` if they are about a permission, or unknown.
pub fn denied_advice(said: &str) -> Option<&'static str> {
    let said = said.to_lowercase();
    TABLE.iter().find(|(words, _)| words.iter().any(|word| said.contains(word))).map(|(_, advice)| *advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_forge_says_decides_what_to_do() {
        for (said, part) in [
            (
                "Although you appear to have the correct authorization credentials, the `acme` organization has an IP allow \
                 list enabled, and your IP address is not permitted to access this resource.",
                "add this machine's address",
            ),
            ("Resource protected by organization SAML enforcement. You must grant your token access", "single sign-on"),
            ("remote: The 'acme' organization has enabled or enforced SAML SSO.", "single sign-on"),
            ("This installation has been suspended", "the App's installation"),
            ("Sorry. Your account was suspended.", "the account is suspended"),
            ("remote: Your account is suspended. Please visit https://support.github.com", "the account is suspended"),
            ("Repository was archived so is read-only.", "unarchive it"),
            ("remote: This repository was archived so it is read-only.", "unarchive it"),
            ("GitHub Actions is not permitted to create or approve pull requests.", "Allow GitHub Actions"),
            ("Repository access blocked", "the forge has closed"),
            ("Access to this repository has been disabled by GitHub staff due to a violation", "the forge has closed"),
            ("Repository has been locked for migration.", "is being moved"),
            ("User is blocked", "has blocked the account"),
            ("Must have push access to view collaborator permission.", "write access"),
            ("`acme` forbids access via a personal access token (classic). Please use an App", "its policy names"),
        ] {
            assert!(
                denied_advice(said).is_some_and(|advice| advice.contains(part)),
                "{said}: {:?}",
                denied_advice(said)
            );
        }
        for said in ["", "Resource not accessible by integration", "Must have admin rights to Repository."] {
            assert_eq!(denied_advice(said), None, "{said}");
        }
    }
}
