//! Ruby: `Gemfile.lock` and `Gemfile`.

use super::{Packages, add};

pub(super) fn lock(text: &str) -> Option<Packages> {
    let mut packages = Packages::new();
    let mut section = "";
    for line in text.lines() {
        if !line.starts_with(' ') {
            section = line.trim();
        }
        let Some(entry) = line.strip_prefix("    ").filter(|entry| !entry.starts_with(' ')) else { continue };
        if let ("GEM" | "GIT", Some((name, version))) = (section, entry.split_once(" (")) {
            add(&mut packages, name, version.trim_end_matches(')'));
        }
    }
    Some(packages)
}

/// Lines such as `gem "rails", "~> 7.0"`; what a program decides is not read.
pub(super) fn gemfile(text: &str) -> Option<Packages> {
    let mut packages = Packages::new();
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default().trim();
        let Some(rest) = line.strip_prefix("gem ").or_else(|| line.strip_prefix("gem(")) else { continue };
        let mut texts = rest.split(['"', '\'']).skip(1).step_by(2);
        let Some(name) = texts.next() else { continue };
        let is_version = |text: &&str| text.starts_with(|c: char| c.is_ascii_digit() || "~<>=!".contains(c));
        let versions: Vec<&str> = texts.filter(is_version).collect();
        add(&mut packages, name, &if versions.is_empty() { "*".to_owned() } else { versions.join(", ") });
    }
    Some(packages)
}
