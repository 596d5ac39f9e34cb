//! Work in an agent's folder that is in no commit, and why.

use hob_text::markup::{code_span, count};
use serde::{Deserialize, Serialize};

/// The most entries that are named.
const SHOWN: usize = 12;

/// A file, or a folder with all its files.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LeftOut {
    /// Its path; that of a folder ends with a slash.
    pub path: String,
    /// The reason.
    pub why: WhyLeftOut,
    /// The number of files.
    pub files: u64,
}

/// Why work is left out.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhyLeftOut {
    /// The output of tools: byte code, dependencies, caches, programs.
    Made,
    /// It belongs to another repository.
    Submodule,
    /// It is a nested repository, perhaps a worktree.
    Repository,
    /// Git would convert it by a program that Hob does not run.
    Filter(String),
    /// Git ignores it, beside files that it tracks.
    Ignored,
    /// The repository has a file of this path that is not checked out, so what it holds was not seen.
    NotCheckedOut,
}

impl LeftOut {
    /// Whether it was written rather than generated, so that it would be missed.
    pub fn is_lost(&self) -> bool {
        self.why != WhyLeftOut::Made
    }

    /// Its description, as a part of a list.
    fn told(&self) -> String {
        let path = code_span(&self.path);
        let path = if self.files > 1 { format!("{path} ({})", count(self.files, "file")) } else { path };
        match &self.why {
            WhyLeftOut::Made => format!("{path}: made by tools"),
            WhyLeftOut::Submodule => format!("{path}: in a submodule, which Hob does not commit"),
            WhyLeftOut::Repository => format!("{path}: a separate git repository"),
            WhyLeftOut::Filter(name) => {
                format!("{path}: kept by the filter {}, which Hob does not run", code_span(name))
            }
            WhyLeftOut::Ignored => format!("{path}: ignored by git, beside files that are not"),
            WhyLeftOut::NotCheckedOut => {
                format!("{path}: there already, outside of the `folders` that are checked out")
            }
        }
    }
}

/// All of it, as a list with what helps; empty if nothing is left out.
pub fn left_out(all: &[LeftOut]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let mut text = "Not committed:\n\n".to_owned();
    for one in all.iter().take(SHOWN) {
        text.push_str(&format!("- {}\n", one.told()));
    }
    if all.len() > SHOWN {
        text.push_str(&format!("- and {} more\n", all.len() - SHOWN));
    }
    if all.iter().any(|one| one.why == WhyLeftOut::Made) {
        text.push_str(
            "\nFiles that tools make are committed only if the issue names them or the repository already tracks a part of them.\n",
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_told_with_what_helps() {
        let one = |path: &str, files, why| LeftOut { path: path.to_owned(), files, why };
        let all = [
            one("node_modules/", 600, WhyLeftOut::Made),
            one("logo.bin", 1, WhyLeftOut::Filter("lfs".to_owned())),
            one("lib/x.c", 1, WhyLeftOut::Submodule),
            one("dist/new.js", 1, WhyLeftOut::Ignored),
            one("docs/a.md", 1, WhyLeftOut::NotCheckedOut),
        ];
        insta::assert_snapshot!(left_out(&all), @r"
        Not committed:

        - `node_modules/` (600 files): made by tools
        - `logo.bin`: kept by the filter `lfs`, which Hob does not run
        - `lib/x.c`: in a submodule, which Hob does not commit
        - `dist/new.js`: ignored by git, beside files that are not
        - `docs/a.md`: there already, outside of the `folders` that are checked out

        Files that tools make are committed only if the issue names them or the repository already tracks a part of them.
        ");
        assert_eq!(left_out(&[]), "");
        assert!(left_out(&vec![all[1].clone(); 30]).contains("- and 18 more"));
    }
}
