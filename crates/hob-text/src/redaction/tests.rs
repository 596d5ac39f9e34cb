//! Any secret, in any encoding, anywhere in a text.

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE},
};
use proptest::prelude::{Strategy, prop_assert, prop_assert_eq, proptest};
use serde_json::{Value, json};

use super::{KnownSecrets, Redaction};

const KEY: &str = "sk-ant-api03-Zx9_qL2-vT7\"w/K4+mB8=dR1";
const MARK: &str = "(redacted: a secret of Hob)";

fn each_char(secret: &str, written: impl Fn(char) -> String) -> String {
    secret.chars().map(written).collect()
}

fn hexadecimal(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

/// The secret in each encoding that leaves no other trace of it.
fn encodings(secret: &str) -> Vec<(&'static str, String)> {
    let reserved = |c: char| if c.is_ascii_alphanumeric() { c.to_string() } else { format!("%{:02X}", u32::from(c)) };
    let json = Value::from(secret).to_string();
    vec![
        ("raw", secret.to_owned()),
        ("upper case", secret.to_ascii_uppercase()),
        ("lower case", secret.to_ascii_lowercase()),
        ("reversed", secret.chars().rev().collect()),
        ("hexadecimal", hexadecimal(secret)),
        ("upper hexadecimal", hexadecimal(secret).to_uppercase()),
        ("percent, all", each_char(secret, |c| format!("%{:02x}", u32::from(c)))),
        ("percent, reserved", each_char(secret, reserved)),
        ("JSON", json[1..json.len() - 1].to_owned()),
        ("JSON, all", each_char(secret, |c| format!("\\u{:04X}", u32::from(c)))),
        ("Rust", each_char(secret, |c| format!("\\u{{{:x}}}", u32::from(c)))),
        ("C", each_char(secret, |c| format!("\\x{:02x}", u32::from(c)))),
        ("HTML", each_char(secret, |c| format!("&#{};", u32::from(c)))),
        ("HTML, hexadecimal", each_char(secret, |c| format!("&#x{:x};", u32::from(c)))),
        ("Markdown", each_char(secret, |c| if c.is_ascii_punctuation() { format!("\\{c}") } else { c.to_string() })),
        ("zero-width", each_char(secret, |c| format!("{c}\u{200b}"))),
        ("UTF-16", each_char(secret, |c| format!("{c}\0"))),
    ]
}

/// Attack corpus G77.
#[test]
fn a_secret_is_held_back_in_every_encoding() {
    let redaction = Redaction::new([KEY]);
    for (name, written) in encodings(KEY) {
        let kept = redaction.text(&format!("the key is {written} indeed")).into_owned();
        // The last character may be followed by an invisible one.
        let kept = kept.replace(['\0', '\u{200b}'], "");
        assert_eq!(kept, format!("the key is {MARK} indeed"), "{name}");
    }
    for spread in ["\n", " ", "\r\n  ", "\\n"] {
        let (one, other) = KEY.split_at(20);
        assert_eq!(redaction.text(&format!("a {one}{spread}{other} b")), format!("a {MARK} b"), "{spread:?}");
        let hexadecimal = hexadecimal(KEY);
        let pairs: Vec<_> = hexadecimal.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap()).collect();
        assert_eq!(redaction.text(&pairs.join(spread)), MARK, "{spread:?}");
    }
}

#[test]
fn base64_in_wrapped_lines_is_held_back_at_every_alignment() {
    let redaction = Redaction::new([KEY]);
    for before in 0..80 {
        for (name, encoded) in [
            ("standard", STANDARD.encode(format!("{}{KEY}\n", "x".repeat(before)))),
            ("no padding", STANDARD_NO_PAD.encode(format!("{}{KEY}", "x".repeat(before)))),
            ("for addresses", URL_SAFE.encode(format!("{}{KEY}", "x".repeat(before)))),
        ] {
            let lines: Vec<_> = encoded.as_bytes().chunks(76).map(|line| std::str::from_utf8(line).unwrap()).collect();
            let kept = redaction.text(&lines.join("\n")).into_owned();
            let own = (before * 8).div_ceil(6)..(before + KEY.len()) * 8 / 6;
            assert!(kept.contains(MARK), "{name}, {before}: {kept}");
            assert_eq!(kept.replace('\n', ""), encoded.replace(&encoded[own], MARK), "{name}, {before}");
        }
    }
}

#[test]
fn a_part_that_a_cut_text_leaves_is_held_back_where_it_tells_much() {
    let redaction = Redaction::new([KEY]);
    for length in 1..=KEY.len() {
        let (begin, end) = (&KEY[..length], &KEY[KEY.len() - length..]);
        for part in [begin, end] {
            let is_much = length >= KEY.len().div_ceil(2);
            assert_eq!(redaction.holds(&format!("({part})")), is_much, "{part}");
        }
    }
    // Half of a short secret is a word.
    let short = Redaction::new(["token-of-hob"]);
    assert!(short.holds("token-of-hob") && !short.holds("token-of-ann, the token-of") && !short.holds("token of\nhob"));
}

#[test]
fn a_key_of_several_lines_is_held_back_line_by_line() {
    let line = |c: char| format!("{c}ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/+{c}");
    let pem = format!("-----BEGIN {} KEY-----\n{}\n{}\nshort\n-----END-----\n", "PRIVATE", line('x'), line('y'));
    let redaction = Redaction::new([pem.as_str()]);
    assert_eq!(redaction.text(&format!("{{:?}} of it: {}", line('y'))), format!("{{:?}} of it: {MARK}"));
    let kept = redaction.text(&pem).into_owned();
    assert!(kept.starts_with("-----BEGIN") && !kept.contains("ABCDEF"), "{kept}");
    assert_eq!(redaction.text("-----BEGIN CERTIFICATE-----"), "-----BEGIN CERTIFICATE-----");
}

#[test]
fn json_stays_json_wherever_the_secret_begins_and_ends() {
    // Here the beginning of one secret and the end of the other are parts of escapes.
    for secret in ["nABCDEFGH", "ABCDEFGH\\", "\"ABCDEFGH", "ABCDEFGH\"", "\\\"ABCDEFGH"] {
        let redaction = Redaction::new([secret]);
        for text in [format!("x\n{}", &secret[1..]), format!("{secret}\""), format!("\\{secret}"), secret.to_owned()] {
            let value = json!({ "note": text, "number": 1 });
            for message in [value.to_string(), format!("a sentence with {secret}\n\n{value}\n")] {
                let kept = redaction.text(&message).into_owned();
                let read: Value = serde_json::from_str(&kept[kept.find('{').unwrap()..]).unwrap();
                assert!(read["note"] == *redaction.text(&text) || read["note"] == MARK, "{kept}");
                assert!(!redaction.holds(&kept), "{kept}");
                assert_eq!(read["number"], 1);
            }
        }
    }
    let redaction = Redaction::new([KEY]);
    let value = json!({ "list": [KEY, 1, null], KEY: { "deep": format!("a {KEY}") }, "other": true });
    let without = json!({ "list": [MARK, 1, null], MARK: { "deep": format!("a {MARK}") }, "other": true });
    assert_eq!(*redaction.value(&value), without);
    let harmless = json!({ "a": ["b", 1.5], "c": {} });
    assert!(matches!(redaction.value(&harmless), std::borrow::Cow::Borrowed(_)));
}

#[test]
fn the_mark_does_not_make_an_image_or_a_link_of_what_stands_around_it() {
    let redaction = Redaction::new([KEY]);
    let text = format!("!{KEY}(http://tracker/x.png) [a]{KEY} `{KEY}`");
    let mut html = String::new();
    pulldown_cmark::html::push_html(&mut html, pulldown_cmark::Parser::new(&redaction.text(&text)));
    assert!(!html.contains("<img") && !html.contains("<a "), "{html}");
}

#[test]
fn a_file_tells_which_secrets_it_holds_wherever_they_stand() {
    let redaction = Redaction::new(["the-first-secret-1", "the-other-secret-2"]);
    for before in [0, 10, (1 << 20) - 7, (1 << 20) - 1, 1 << 20, 3 << 20] {
        let mut content = vec![b'.'; before];
        content.extend(b"the-other-secret-2 \xff\xfe");
        assert_eq!(Vec::from_iter(redaction.found_in(&content)), [1], "{before}");
    }
    let utf_16: Vec<u8> = "a the-first-secret-1".encode_utf16().flat_map(u16::to_be_bytes).collect();
    assert_eq!(Vec::from_iter(redaction.found_in(&utf_16)), [0]);
    assert!(redaction.found_in(b"the-first-secret-2").is_empty());
}

/// Attack corpus G79.
#[test]
fn what_holds_secrets_shows_none_when_it_is_printed() {
    let known = KnownSecrets::default();
    known.add([KEY.to_owned().into()]);
    known.rotate(&"ghs_0123456789abcdefghij".to_owned().into());
    let shown = format!("{known:?} {:?}", known.redaction());
    assert!(!shown.contains("sk-ant") && !shown.contains("ghs_"), "{shown}");
}

#[test]
fn earlier_tokens_are_held_back_too_and_their_number_is_bounded() {
    let known = KnownSecrets::default();
    known.add([KEY.to_owned().into(), "short".to_owned().into()]);
    let token = |n: usize| format!("ghs_{n:04}abcdefghijklmnopqrstuv");
    let (other, before) = (known.clone(), known.redaction());
    for n in 0..40 {
        other.rotate(&token(n).into());
    }
    let now = known.redaction();
    let held: Vec<_> = (0..40).filter(|n| now.text(&token(*n)) == MARK).collect();
    assert!(held.contains(&39) && held.contains(&24), "{held:?}");
    assert!(now.holds(KEY) && !now.holds("short") && !before.holds(&token(39)));
    other.rotate(&token(39).into());
    assert!(std::sync::Arc::ptr_eq(&now, &known.redaction()), "nothing new is built for what is known");
}

fn secret() -> impl Strategy<Value = String> {
    "[!-~]{8,90}"
}

proptest! {
    #[test]
    fn no_secret_passes_in_any_encoding((secret, before, after) in (secret(), "[ -~\n]{0,40}", "[ -~\nä€]{0,40}")) {
        let redaction = Redaction::new([secret.as_str()]);
        for (name, written) in encodings(&secret) {
            // A backslash or a sign that begins an escape would change the meaning of the encoding.
            let before = before.trim_end_matches(['\\', '%', '&', '#', '{']);
            let kept = redaction.text(&format!("{before} {written}{after}")).into_owned();
            prop_assert!(!kept.contains(&written), "{}: {}", name, kept);
            prop_assert!(kept.contains(MARK), "{}: {}", name, kept);
        }
    }

    #[test]
    fn no_secret_passes_in_base64((secret, before, after) in (secret(), "\\PC{0,20}", "\\PC{0,20}")) {
        let redaction = Redaction::new([secret.as_str()]);
        let own = (before.len() * 8).div_ceil(6)..(before.len() + secret.len()) * 8 / 6;
        for encoded in [STANDARD.encode(format!("{before}{secret}{after}")), URL_SAFE.encode(format!("{before}{secret}{after}"))] {
            let kept = redaction.text(&encoded).into_owned();
            prop_assert!(kept.contains(MARK) && !kept.contains(&encoded[own.clone()]), "{}", kept);
        }
    }

    #[test]
    fn text_without_a_secret_is_unchanged((secret, text) in ("[0-9]{8,40}", "[a-zA-Z\\\\%&#;{}\" \n\0äß€\u{200b}]{0,200}")) {
        let redaction = Redaction::new([secret.as_str()]);
        prop_assert_eq!(&*redaction.text(&text), text.as_str());
        prop_assert!(redaction.found_in(text.as_bytes()).is_empty());
    }

    #[test]
    fn any_text_is_taken((secrets, text) in (proptest::collection::vec("\\PC{0,30}", 0..3), "\\PC{0,100}")) {
        let redaction = Redaction::new(secrets.iter().map(String::as_str));
        let text = format!("{text}{}", secrets.concat());
        let kept = redaction.text(&text).into_owned();
        prop_assert_eq!(&*redaction.text(&kept), kept.as_str(), "what is left holds nothing");
    }
}
