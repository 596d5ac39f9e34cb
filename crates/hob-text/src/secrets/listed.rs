//! Secrets by the rules of public scanners. `scripts/secret_rules.py` makes the file, which has the licences' notices.
//!
//! Of some hundred rules those are tried whose keyword is in the text, so most texts cost one pass.

use std::{
    collections::BTreeSet,
    ops::Range,
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
        let sources = file["sources"].as_array().into_iter().flatten();
        for rule in sources.flat_map(|source| source["rules"].as_array()).flatten() {
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

/// Where there are secrets of the rules' forms, each with its rule's name.
pub(super) fn listed(bytes: &[u8]) -> Vec<(&'static str, Range<usize>)> {
    let rules = &*RULES;
    let mut tried = BTreeSet::new();
    if let Some(keywords) = &rules.keywords {
        let met = keywords.find_overlapping_iter(bytes).map(|found| found.pattern().as_usize());
        tried.extend(met.filter_map(|keyword| rules.of_keyword.get(keyword).copied()));
    }
    let mut secrets = Vec::new();
    for rule in tried.into_iter().filter_map(|rule| rules.all.get(rule)) {
        for captures in rule.regex().into_iter().flat_map(|regex| regex.captures_iter(bytes)) {
            let group = captures.iter().skip(1).flatten().find(|group| !group.is_empty());
            let Some(found) = group.or_else(|| captures.get(0)) else { continue };
            if rule.is_secret(found.as_bytes()) {
                secrets.push((rule.id.as_str(), found.range()));
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
    const FORMS: [(&str, &str, usize, &str); 62] = [
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
        ("aio_", ALNUM, 28, ""),
        ("ATATT3xFfGF0", ALNUM, 100, "=0123ABCD"),
        ("da2-", LOWER, 26, ""),
        ("ATBB", ALNUM, 32, ""),
        ("cio", ALNUM, 32, ""),
        ("odt_", ALNUM, 32, ""),
        ("dckr_pat_", ALNUM, 27, ""),
        ("sl.", ALNUM, 140, ""),
        ("fc-", HEX, 32, ""),
        ("GOCSPX-", ALNUM, 28, ""),
        ("ya29.", ALNUM, 120, ""),
        ("gsk_", ALNUM, 52, ""),
        ("jina_", ALNUM, 60, ""),
        ("oy2", LOWER, 43, ""),
        ("NRII-", LOWER, 32, ""),
        ("sq0csp-", ALNUM, 43, ""),
        ("tvly-", ALNUM, 32, ""),
        ("live_126031192_", ALNUM, 30, ""),
    ];

    /// Attack corpus K151.
    #[test]
    fn sixty_forms_are_found_in_code_settings_and_addresses() {
        for (before, alphabet, count, after) in FORMS {
            let secret = format!("{before}{}{after}", random(alphabet, count));
            for text in [format!("x = \"{secret}\"\n"), format!("TOKEN={secret}\n"), format!("a: '{secret}' # b")] {
                let found = listed(text.as_bytes());
                assert!(found.iter().any(|(_, at)| secret.starts_with(&text[at.clone()])), "{text}: {found:?}");
            }
        }
    }

    /// Secrets that only the words around them tell, by what is before, the kind of characters, their number, and what is
    /// behind them.
    const BY_WORDS: [(&str, &str, usize, &str); 18] = [
        ("TELEGRAM=4839574813:AA", ALNUM, 33, "\n"),
        ("Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.", ALNUM, 43, "\n"),
        ("API_TOKEN='eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.", ALNUM, 43, "'"),
        ("machine api.example.com login ann password ", ALNUM, 20, "\n"),
        ("machine api.example.com\n  login ann\n  password ", HEX, 40, "\n"),
        ("AccountName=acme;AccountKey=", ALNUM, 86, "==;EndpointSuffix=x"),
        ("SharedAccessKeyName=all;SharedAccessKey=", ALNUM, 43, "=\""),
        ("Endpoint=https://a.azconfig.io;Id=abcd-e6-s0:0123456789abcdefghij;Secret=", ALNUM, 43, "="),
        ("personalAccessToken = \"", "abcdefghijklmnopqrstuvwxyz234567", 52, "\";"),
        ("{\"auths\": {\"https://index.docker.io/v1/\": {\"auth\": \"", ALNUM, 32, "\"}}}"),
        ("  .dockerconfigjson: eyJhdXRocyI6", ALNUM, 80, "=\n"),
        ("VAULT_TOKEN=s.", ALNUM, 26, "\n"),
        ("vault: token \"b.", ALNUM, 90, "\""),
        ("Vault's Unseal Key 1: ", ALNUM, 44, "\n"),
        ("https://discord.com/api/webhooks/123456789012345678/", ALNUM, 68, "\n"),
        ("DISCORD_TOKEN=M", ALNUM, 25, ".AbCdEf.0123456789abcdefghijABCDEFGHIJ\n"),
        ("[Interface]\nPrivateKey = ", ALNUM, 43, "=\n"),
        ("figma-token: 1394-", HEX, 8, "-8e22-40ee-8c40-0123456789ab\n"),
    ];

    /// Attack corpus K151.
    #[test]
    fn a_secret_is_found_by_the_words_around_it_and_not_without_them() {
        for (before, alphabet, count, after) in BY_WORDS {
            let secret = random(alphabet, count);
            let text = format!("{before}{secret}{after}");
            let found = listed(text.as_bytes());
            assert!(found.iter().any(|(_, at)| text[at.clone()].contains(&secret)), "{text}: {found:?}");
            for alike in
                [format!("x = {secret}\n"), text.replace(&secret, "$SECRET"), text.replace(&secret, "<your secret>")]
            {
                assert_eq!(listed(alike.as_bytes()), [], "{alike}");
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
            format!("curl https://example.com/{} # default login, password reset", random(HEX, 20)),
            format!("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.{}", random(ALNUM, 43)),
            format!("discord.gg/{} and @discordjs/rest.{}", random(ALNUM, 8), random(ALNUM, 20)),
            "machine github.com login ann password $GITHUB_TOKEN".to_owned(),
            "vault write secret/app s.getServerAddressByClientCIDRs(req.Request)".to_owned(),
            "AccountName=acme;AccountKey=<your key>".to_owned(),
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
