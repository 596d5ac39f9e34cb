//! Secrets by the rules of a public scanner. `scripts/secret_rules.py` makes the file, which has the licence's notice.
//!
//! Of some hundred rules those are tried whose keyword is in the text, so most texts cost one pass.

use std::{
    collections::BTreeSet,
    sync::{LazyLock, OnceLock},
};

use aho_corasick::AhoCorasick;
use regex::bytes::{Regex, RegexBuilder};
use serde_json::Value;

/// Bytes that a compiled rule may take.
const REGEX_BYTES: usize = 32 << 20;

static RULES: LazyLock<Rules> = LazyLock::new(|| Rules::read(include_str!("rules.json")));

/// The rules, and what finds those that may match.
struct Rules {
    all: Vec<Rule>,
    /// `None` if there are no rules.
    keywords: Option<AhoCorasick>,
    /// The rule of each keyword.
    of_keyword: Vec<usize>,
}

/// One form of a secret.
struct Rule {
    id: String,
    source: String,
    regex: OnceLock<Option<Regex>>,
    /// A secret with less is a placeholder.
    entropy: f64,
    /// Values that are none.
    allowed: Vec<String>,
}

impl Rules {
    fn read(json: &str) -> Self {
        let file: Value = serde_json::from_str(json).unwrap_or_default();
        let (mut all, mut words, mut of_keyword) = (Vec::new(), Vec::new(), Vec::new());
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let texts = |value: &Value| value.as_array().into_iter().flatten().map(text).collect::<Vec<_>>();
        for rule in file["rules"].as_array().into_iter().flatten() {
            for word in texts(&rule["keywords"]) {
                words.push(word);
                of_keyword.push(all.len());
            }
            all.push(Rule {
                id: text(&rule["id"]),
                source: text(&rule["regex"]),
                regex: OnceLock::new(),
                entropy: rule["entropy"].as_f64().unwrap_or_default(),
                allowed: texts(&rule["allowed"]),
            });
        }
        let keywords = AhoCorasick::builder().ascii_case_insensitive(true).build(words).ok();
        Self { all, keywords, of_keyword }
    }
}

impl Rule {
    /// Compiled the first time that its keyword is met. A test compiles all.
    fn regex(&self) -> Option<&Regex> {
        self.regex.get_or_init(|| compiled(&self.source)).as_ref()
    }

    fn is_secret(&self, found: &[u8]) -> bool {
        let is_allowed = |source: &String| compiled(source).is_some_and(|regex| regex.is_match(found));
        entropy(found) > self.entropy && !self.allowed.iter().any(is_allowed)
    }
}

/// As in Go, for which the rules are written: `\w` and its like are ASCII.
fn compiled(source: &str) -> Option<Regex> {
    RegexBuilder::new(source).unicode(false).size_limit(REGEX_BYTES).build().ok()
}

/// The secrets of the rules' forms, each with its rule's name.
pub(super) fn listed(bytes: &[u8]) -> BTreeSet<(&'static str, Vec<u8>)> {
    let rules = &*RULES;
    let mut tried = BTreeSet::new();
    if let Some(keywords) = &rules.keywords {
        let met = keywords.find_overlapping_iter(bytes).map(|found| found.pattern().as_usize());
        tried.extend(met.filter_map(|keyword| rules.of_keyword.get(keyword).copied()));
    }
    let mut secrets = BTreeSet::new();
    for rule in tried.into_iter().filter_map(|rule| rules.all.get(rule)) {
        for captures in rule.regex().into_iter().flat_map(|regex| regex.captures_iter(bytes)) {
            let group = captures.iter().skip(1).flatten().find(|group| !group.is_empty());
            let Some(found) = group.or_else(|| captures.get(0)).map(|found| found.as_bytes()) else { continue };
            if rule.is_secret(found) {
                secrets.insert((rule.id.as_str(), found.to_vec()));
            }
        }
    }
    secrets
}

/// Shannon's entropy, in bits a byte.
fn entropy(bytes: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in bytes {
        counts[usize::from(*byte)] += 1;
    }
    let all = f64::from(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
    counts.iter().filter(|count| **count > 0).map(|count| f64::from(*count) / all).map(|part| -part * part.log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_compiles_and_has_a_keyword() {
        assert!(RULES.all.len() > 100);
        for (at, rule) in RULES.all.iter().enumerate() {
            assert!(rule.regex().is_some() && RULES.of_keyword.contains(&at), "{}", rule.id);
            assert!(rule.allowed.iter().all(|allowed| compiled(allowed).is_some()), "{}", rule.id);
        }
    }

    /// As many characters of a kind, none of which follows by a rule that a person sees.
    fn random(alphabet: &str, count: usize) -> String {
        let alphabet: Vec<char> = alphabet.chars().collect();
        let mut seed = 12_345_u64;
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            alphabet[usize::try_from(seed >> 33).unwrap() % alphabet.len()]
        };
        (0..count).map(|_| next()).collect()
    }

    const HEX: &str = "0123456789abcdef";
    const ALNUM: &str = "abcdefghijkmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    const LOWER: &str = "abcdefghijklmnopqrstuvwxyz0123456789";

    /// The forms: what is before the random characters, these, and what is behind them. Put together here alone, so that
    /// nobody takes this file for a leak.
    const FORMS: [(&str, &str, usize, &str); 44] = [
        ("npm_", ALNUM, 36, ""),
        ("pypi-AgEIcHlwaS5vcmc", ALNUM, 80, ""),
        ("glpat-", ALNUM, 20, ""),
        ("glptt-", HEX, 40, ""),
        ("glrt-", ALNUM, 20, ""),
        ("gldt-", ALNUM, 20, ""),
        ("glsoat-", ALNUM, 20, ""),
        ("sk_live_", ALNUM, 30, ""),
        ("rk_live_", ALNUM, 30, ""),
        ("AIza", ALNUM, 35, ""),
        ("hf_", "abcdefghijklmnopqrstuvwxyz", 34, ""),
        ("SG.", ALNUM, 66, ""),
        ("dop_v1_", HEX, 64, ""),
        ("doo_v1_", HEX, 64, ""),
        ("AGE-SECRET-KEY-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58, ""),
        ("hvs.", ALNUM, 100, ""),
        ("hvb.", ALNUM, 150, ""),
        ("dp.pt.", LOWER, 43, ""),
        ("lin_api_", LOWER, 40, ""),
        ("shpat_", HEX, 32, ""),
        ("shpss_", HEX, 32, ""),
        ("shpca_", HEX, 32, ""),
        ("shppa_", HEX, 32, ""),
        ("rubygems_", HEX, 48, ""),
        ("pul-", HEX, 40, ""),
        ("dapi", HEX, 32, ""),
        ("PMAK-", HEX, 24, "-0123456789abcdef0123456789abcdef01"),
        ("pscale_tkn_", ALNUM, 40, ""),
        ("pscale_oauth_", ALNUM, 40, ""),
        ("sntryu_", HEX, 64, ""),
        ("rdme_", LOWER, 70, ""),
        ("pplx-", ALNUM, 48, ""),
        ("pnu_", LOWER, 36, ""),
        ("CLOJARS_", LOWER, 60, ""),
        ("duffel_live_", LOWER, 43, ""),
        ("EZAK", ALNUM, 54, ""),
        ("LTAI", LOWER, 20, ""),
        ("sha256~", ALNUM, 43, ""),
        ("ico-", ALNUM, 32, ""),
        ("glsa_", ALNUM, 32, "_0123abcd"),
        ("glc_", ALNUM, 64, ""),
        ("shippo_live_", HEX, 40, ""),
        ("fio-u-", LOWER, 64, ""),
        ("HRKU-AA", ALNUM, 58, ""),
    ];

    /// Attack corpus K151.
    #[test]
    fn forty_forms_are_found_in_code_settings_and_addresses() {
        for (before, alphabet, count, after) in FORMS {
            let secret = format!("{before}{}{after}", random(alphabet, count));
            for text in [format!("x = \"{secret}\"\n"), format!("TOKEN={secret}\n"), format!("a: '{secret}' # b")] {
                let found = listed(text.as_bytes());
                assert!(found.iter().any(|(_, found)| secret.as_bytes().starts_with(found)), "{text}: {found:?}");
            }
        }
    }

    /// What tests, lock files and documents are full of.
    #[test]
    fn forty_look_alikes_are_not_secrets() {
        let (hex, alnum) = (|count| random(HEX, count), |count| random(ALNUM, count));
        let mut alikes: Vec<String> = [8, 16, 32, 40, 48, 56, 64, 96, 128].map(hex).to_vec();
        alikes.extend([16, 20, 27, 32, 43, 64, 88, 128, 400].map(alnum));
        alikes.extend(FORMS.map(|(before, ..)| format!("{before}xxxxxxxxxxxxxxxxxxxx")));
        alikes.extend(FORMS.map(|(before, ..)| format!("tokens begin with `{before}`")));
        alikes.extend([
            format!("\"integrity\": \"sha512-{}==\"", random(ALNUM, 86)),
            format!("h1:{}=", random(ALNUM, 43)),
            format!("sha256:{}", random(HEX, 64)),
            format!("sha1-{}=", random(ALNUM, 27)),
            format!("checksum = \"{}\"", random(HEX, 64)),
            format!(
                "{}-{}-4{}-a{}-{}",
                random(HEX, 8),
                random(HEX, 4),
                random(HEX, 3),
                random(HEX, 3),
                random(HEX, 12)
            ),
            format!("data:image/png;base64,iVBORw0KGgo{}", random(ALNUM, 600)),
            format!("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA{} ann@example.com", random(ALNUM, 44)),
            format!("https://example.com/{}/npm_and_yarn", random(ALNUM, 20)),
            format!("uses: actions/checkout@{}", random(HEX, 40)),
            format!("index {}..{} 100644", random(HEX, 7), random(HEX, 7)),
            "AIzaSyXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX".to_owned(),
            "glpat-<your token>, npm_config_registry, sk_live_... and hf_hub_download".to_owned(),
        ]);
        assert!(alikes.len() > 40);
        for alike in alikes {
            let found = listed(format!("x = \"{alike}\"\n").as_bytes());
            assert!(found.is_empty(), "{alike}: {found:?}");
        }
    }
}
