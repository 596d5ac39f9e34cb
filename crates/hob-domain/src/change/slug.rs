//! Branch names: `hob/<number>-<slug>`, always a valid git ref for any title.

use crate::IssueNumber;

/// How many characters of the title a branch name keeps.
const SLUG_MAX: usize = 40;

/// Names the branch for an issue: `prefix`, the number, and up to 40 characters of its title in `[a-z0-9-]`.
pub fn branch_for(prefix: &str, issue: IssueNumber, title: &str) -> String {
    let mut slug = String::new();
    for word in title.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        let separator = usize::from(!slug.is_empty());
        if slug.len() + separator + word.len() > SLUG_MAX {
            break;
        }
        if separator == 1 {
            slug.push('-');
        }
        slug.extend(word.chars().map(|c| c.to_ascii_lowercase()));
    }
    if slug.is_empty() { format!("{prefix}{issue}") } else { format!("{prefix}{issue}-{slug}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_title_gives_a_valid_branch() {
        for (title, branch) in [
            ("Fix the greeting", "hob/7-fix-the-greeting"),
            ("  --force +x:main \u{1b}[31m ", "hob/7-force-x-main-31m"),
            ("größer als früher", "hob/7-gr-er-als-fr-her"),
            ("修复", "hob/7"),
            ("", "hob/7"),
            (&"word ".repeat(50), "hob/7-word-word-word-word-word-word-word-word"),
        ] {
            assert_eq!(branch_for("hob/", IssueNumber(7), title), branch);
        }
    }
}
