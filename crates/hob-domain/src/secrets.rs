//! Secrets in text, by their well-known forms. The value itself is never kept or shown.

use std::fmt;

/// What kind of secret a text holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SecretKind {
    /// A private key in PEM.
    PrivateKey,
    /// A GitHub token.
    GitHubToken,
    /// An AWS access key.
    AwsKey,
    /// A key of a model provider.
    ModelKey,
    /// A Slack token.
    SlackToken,
}

impl fmt::Display for SecretKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PrivateKey => "a private key",
            Self::GitHubToken => "a GitHub token",
            Self::AwsKey => "an AWS access key",
            Self::ModelKey => "a model provider's key",
            Self::SlackToken => "a Slack token",
        })
    }
}

/// Prefix, fewest characters after it, kind. The lengths are those the issuers give, rounded down, so that a prefix
/// alone (as in documentation) is no finding.
const TOKENS: [(&str, usize, SecretKind); 15] = [
    ("ghp_", 30, SecretKind::GitHubToken),
    ("gho_", 30, SecretKind::GitHubToken),
    ("ghu_", 30, SecretKind::GitHubToken),
    ("ghs_", 30, SecretKind::GitHubToken),
    ("ghr_", 30, SecretKind::GitHubToken),
    ("github_pat_", 30, SecretKind::GitHubToken),
    ("AKIA", 16, SecretKind::AwsKey),
    ("ASIA", 16, SecretKind::AwsKey),
    ("sk-ant-", 30, SecretKind::ModelKey),
    ("sk-proj-", 30, SecretKind::ModelKey),
    ("sk-or-v1-", 30, SecretKind::ModelKey),
    ("xoxb-", 20, SecretKind::SlackToken),
    ("xoxp-", 20, SecretKind::SlackToken),
    ("xoxa-", 20, SecretKind::SlackToken),
    ("xapp-", 20, SecretKind::SlackToken),
];

/// Finds the first secret in `text`, in time linear in its length.
pub fn secret_in(text: &str) -> Option<SecretKind> {
    if text.contains("-----BEGIN ") && text.contains("PRIVATE KEY") {
        return Some(SecretKind::PrivateKey);
    }
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    text.split(|c| !word(c)).find_map(|candidate| {
        TOKENS.iter().find_map(|(prefix, fewest, kind)| {
            let rest = candidate.strip_prefix(prefix)?;
            let exact = *kind != SecretKind::AwsKey
                || rest.len() == 16 && rest.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
            (rest.len() >= *fewest && exact).then_some(*kind)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_forms_are_found_and_their_mere_prefixes_are_not() {
        let long = "a1B2".repeat(10);
        for (text, found) in [
            (format!("token = \"ghp_{long}\""), Some(SecretKind::GitHubToken)),
            (format!("github_pat_{long}"), Some(SecretKind::GitHubToken)),
            ("id=AKIAABCDEFGHIJKLMNOP".to_owned(), Some(SecretKind::AwsKey)),
            ("AKIAabcdefghijklmnop".to_owned(), None),
            (format!("-----BEGIN {} PRIVATE KEY-----", "RSA"), Some(SecretKind::PrivateKey)),
            ("-----BEGIN CERTIFICATE-----".to_owned(), None),
            (format!("key: sk-ant-{long}"), Some(SecretKind::ModelKey)),
            ("tokens start with ghp_ or github_pat_".to_owned(), None),
            (String::new(), None),
        ] {
            assert_eq!(secret_in(&text), found, "{text}");
        }
    }
}
