//! Secrets in text, by their well-known forms. The value itself is never kept or shown.

mod listed;

use std::{collections::BTreeSet, fmt};

/// The kinds of secrets in texts.
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
    /// One of a public scanner's forms, by its rule's name.
    Listed(&'static str),
    /// One that Hob was given, in any form.
    Own,
}

impl fmt::Display for SecretKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Listed(rule) => return write!(f, "a secret of the form `{rule}`"),
            Self::PrivateKey => "a private key",
            Self::GitHubToken => "a GitHub token",
            Self::AwsKey => "an AWS access key",
            Self::ModelKey => "a model provider's key",
            Self::SlackToken => "a Slack token",
            Self::Own => "a secret of Hob itself",
        };
        f.write_str(name)
    }
}

/// Prefix, fewest characters after it, kind. The lengths are the issuers', rounded down, so that a prefix alone, as in
/// documentation, is not a finding.
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

/// The secrets in `bytes`, each with what distinguishes it from others of its kind, in time linear in their number.
/// Text in UTF-16 and text with NUL bytes in between is read, too.
pub fn secrets_in(bytes: &[u8]) -> BTreeSet<(SecretKind, Vec<u8>)> {
    let mut found = BTreeSet::new();
    find(bytes, &mut found);
    if bytes.contains(&0) {
        let without: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != 0).collect();
        find(&without, &mut found);
    }
    found
}

fn find(bytes: &[u8], found: &mut BTreeSet<(SecretKind, Vec<u8>)>) {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let mut at = 0;
    for word in bytes.split(|byte| !is_word(byte)) {
        let end = at + word.len();
        if let Some(kind) = token(word) {
            found.insert((kind, word.to_vec()));
        } else if word.ends_with(KEY_BEGINS) && is_private_key(&bytes[end..]) {
            // The text after the heading belongs to the key.
            let own = &bytes[end..bytes.len().min(end + KEY_OWN)];
            found.insert((SecretKind::PrivateKey, own.to_vec()));
        }
        at = end + 1;
    }
    for (rule, secret) in listed::listed(bytes) {
        // Those above have plainer names.
        let is_in =
            |known: &[u8]| secret.len() <= known.len() && known.windows(secret.len()).any(|part| part == secret);
        if !found.iter().any(|(_, known)| is_in(known) || secret.starts_with(known)) {
            found.insert((SecretKind::Listed(rule), secret));
        }
    }
}

/// The text with each token replaced by its kind.
pub fn without_tokens(text: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let shown = |part: &str| {
        let (word, end) = part.split_at(part.trim_end_matches(|c| !is_word(c)).len());
        token(word.as_bytes()).map_or_else(|| part.to_owned(), |kind| format!("[{kind}]{end}"))
    };
    text.split_inclusive(|c| !is_word(c)).map(shown).collect()
}

/// The heading of a key in PEM, without its kind.
const KEY_BEGINS: &[u8] = b"-----BEGIN";
/// Bytes after the heading that distinguish keys.
const KEY_OWN: usize = 200;

/// Whether ` RSA PRIVATE KEY-----`, with any kind, follows.
fn is_private_key(rest: &[u8]) -> bool {
    let line = &rest[..rest.len().min(80)];
    let line = line.split(|byte| matches!(byte, b'\n' | b'\r' | b'\\')).next().unwrap_or_default();
    line.windows(KEY_ENDS.len()).any(|part| part == KEY_ENDS)
}

/// How the heading of every kind of private key ends.
const KEY_ENDS: &[u8] = b" PRIVATE KEY";

fn token(word: &[u8]) -> Option<SecretKind> {
    TOKENS.iter().find_map(|(prefix, fewest, kind)| {
        let rest = word.strip_prefix(prefix.as_bytes())?;
        let exact = *kind != SecretKind::AwsKey
            || rest.len() == 16 && rest.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        (rest.len() >= *fewest && exact).then_some(*kind)
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
            assert_eq!(secrets_in(text.as_bytes()).first().map(|(kind, _)| *kind), found, "{text}");
            // Attack corpus J107.
            for encoded in [text.encode_utf16().flat_map(u16::to_le_bytes).collect(), format!("\0{text}").into_bytes()]
            {
                assert_eq!(secrets_in(&encoded).first().map(|(kind, _)| *kind), found, "{text}: {encoded:?}");
            }
        }
    }

    #[test]
    fn a_token_is_shown_as_its_kind() {
        let text = format!("a/ghp_{}.txt b ghp_x", "a1B2".repeat(10));
        assert_eq!(without_tokens(&text), "a/[a GitHub token].txt b ghp_x");
    }

    #[test]
    fn each_secret_is_told_from_others_of_its_kind() {
        let (one, other) = ("ghp_".to_owned() + &"a".repeat(36), "ghp_".to_owned() + &"b".repeat(36));
        let key = |body: &str| format!("-----BEGIN {} PRIVATE KEY-----\n{body}\n", "EC");
        let text = format!("{one} {other} {one}\n{}{}", key("AAAA"), key("BBBB"));
        let found: Vec<_> = secrets_in(text.as_bytes()).into_iter().map(|(kind, _)| kind).collect();
        let (key, token) = (SecretKind::PrivateKey, SecretKind::GitHubToken);
        assert_eq!(found, [key, key, token, token]);
    }
}
