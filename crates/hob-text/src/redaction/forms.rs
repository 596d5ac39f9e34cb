//! The common ways to write one secret, without escapes, which are undone before the search.

use base64::{
    Engine,
    engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD},
};

/// A shorter value appears in too many texts by chance, so it does not count as a secret.
const SHORTEST: usize = 8;
/// Below this length only the whole secret counts: half of it is a word.
const WHOLE_BELOW: usize = 24;
/// The fewest bytes that count as a part of a longer secret.
const PART_MIN: usize = 16;

/// One way to write a secret.
pub(super) struct Form {
    /// The text in lower case; the search ignores case.
    pub(super) text: Vec<u8>,
    /// How many bytes of it in a row are a finding.
    pub(super) enough: usize,
}

/// All forms of a secret; none if it is too short. Each line of a longer secret, such as a key in PEM, counts on its
/// own because logs and terminals show it line by line.
pub(super) fn forms(secret: &str) -> Vec<Form> {
    let secret = secret.trim();
    // A key in a variable may have its line ends written out.
    let secret = if secret.starts_with("-----BEGIN") { &secret.replace("\\n", "\n") } else { secret };
    let lines: Vec<&str> = secret.lines().map(str::trim).collect();
    match lines.as_slice() {
        [] | [_] => of_line(secret, SHORTEST),
        // The heading of a key in PEM is not secret.
        lines => lines.iter().filter(|l| !l.starts_with("-----")).flat_map(|l| of_line(l, PART_MIN)).collect(),
    }
}

fn of_line(secret: &str, shortest: usize) -> Vec<Form> {
    let length = secret.len();
    if length < shortest {
        return Vec::new();
    }
    let enough = if length < WHOLE_BELOW { length } else { PART_MIN.max(length.div_ceil(2)) };
    let mut texts = vec![secret.to_owned(), secret.chars().rev().collect(), hexadecimal(secret)];
    for before in 0..3 {
        texts.push(within_base64(&STANDARD_NO_PAD, secret, before));
        texts.push(within_base64(&URL_SAFE_NO_PAD, secret, before));
    }
    texts.sort_unstable();
    texts.dedup();
    let form = |text: String| {
        let enough = (text.len() * enough).div_ceil(length).min(text.len());
        Form { text: text.to_ascii_lowercase().into_bytes(), enough }
    };
    texts.into_iter().map(form).collect()
}

fn hexadecimal(secret: &str) -> String {
    secret.bytes().map(|byte| format!("{byte:02x}")).collect()
}

/// The base64 characters that depend only on the secret if `before` bytes precede it, modulo three.
fn within_base64(engine: &impl Engine, secret: &str, before: usize) -> String {
    let mut bytes = vec![0; before];
    bytes.extend(secret.bytes());
    let own = (before * 8).div_ceil(6)..bytes.len() * 8 / 6;
    let encoded = engine.encode(bytes);
    encoded.get(own).unwrap_or_default().to_owned()
}
