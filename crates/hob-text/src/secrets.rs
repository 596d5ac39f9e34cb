//! Secrets in text, by their well-known forms. The value itself is never kept or shown.

mod listed;

use std::{collections::BTreeSet, fmt, ops::Range};

use serde_json::Value;

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
    for (kind, at) in plain(bytes) {
        let own = match kind {
            // The text after the heading belongs to the key.
            SecretKind::PrivateKey => at.end..bytes.len().min(at.end + KEY_OWN),
            SecretKind::GitHubToken
            | SecretKind::AwsKey
            | SecretKind::ModelKey
            | SecretKind::SlackToken
            | SecretKind::Listed(_)
            | SecretKind::Own => at,
        };
        found.insert((kind, bytes[own].to_vec()));
    }
    for (rule, at) in listed::listed(bytes) {
        let secret = &bytes[at];
        // Those above have plainer names.
        let is_in =
            |known: &[u8]| secret.len() <= known.len() && known.windows(secret.len()).any(|part| part == secret);
        if !found.iter().any(|(_, known)| is_in(known) || secret.starts_with(known)) {
            found.insert((SecretKind::Listed(rule), secret.to_vec()));
        }
    }
}

/// Where there are secrets of Hob's own rules, in order; of a key in PEM, where it begins.
fn plain(bytes: &[u8]) -> Vec<(SecretKind, Range<usize>)> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let (mut at, mut found) = (0, Vec::new());
    for word in bytes.split(|byte| !is_word(byte)) {
        let end = at + word.len();
        if let Some(kind) = token(word) {
            found.push((kind, at..end));
        } else if word.ends_with(KEY_BEGINS) && is_private_key(&bytes[end..]) {
            found.push((SecretKind::PrivateKey, end - KEY_BEGINS.len()..end));
        }
        at = end + 1;
    }
    found
}

/// The text with each secret of a known form replaced by its kind.
pub fn without_tokens(text: &str) -> String {
    let bytes = text.as_bytes();
    let listed = listed::listed(bytes).into_iter().map(|(rule, at)| (SecretKind::Listed(rule), at));
    let mut found: Vec<_> = plain(bytes).into_iter().chain(listed).collect();
    // Of those at one place Hob's own rule comes first, for its plainer name.
    found.sort_by_key(|(_, at)| at.start);
    let (mut kept, mut end) = (String::new(), 0);
    for (kind, at) in found {
        let from = text.floor_char_boundary(at.start);
        if from >= end {
            kept.push_str(&text[end..from]);
            kept.push_str(&format!("[{}]", kind.to_string().replace('`', "")));
            end = if kind == SecretKind::PrivateKey { end_of_key(text, at.end) } else { end };
        }
        end = end.max(text.ceil_char_boundary(at.end));
    }
    kept + &text[end..]
}

/// The value, in whose texts each secret of a known form is replaced by its kind.
pub fn value_without_tokens(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(without_tokens(&text)),
        Value::Array(items) => items.into_iter().map(value_without_tokens).collect(),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(name, item)| (name, value_without_tokens(item))).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
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

/// Where the key in PEM ends whose heading has begun before `at`: after its last line, or with the text.
fn end_of_key(text: &str, at: usize) -> usize {
    let last = text[at..].find(KEY_LAST).map(|last| at + last + KEY_LAST.len());
    let end = last.and_then(|last| Some(last + text[last..].find(DASHES)? + DASHES.len()));
    end.unwrap_or(text.len())
}

/// How the last line of a key in PEM begins.
const KEY_LAST: &str = "-----END";
/// How it ends.
const DASHES: &str = "-----";
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
    use serde_json::json;

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
        let key = format!("a\n-----BEGIN {0} PRIVATE KEY-----\nAAAA\n-----END {0} PRIVATE KEY-----\nb", "EC");
        assert_eq!(without_tokens(&key), "a\n[a private key]\nb");
        let cut = format!("a -----BEGIN {} PRIVATE KEY-----\nAAAA é", "EC");
        assert_eq!(without_tokens(&cut), "a [a private key]");
        let said = json!({"a": [format!("é npm_{}é", "a1B2".repeat(9)), 1], "b": "PRIVATE KEY"});
        let left = json!({"a": ["é [a secret of the form npm-access-token]é", 1], "b": "PRIVATE KEY"});
        assert_eq!(value_without_tokens(said), left);
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
