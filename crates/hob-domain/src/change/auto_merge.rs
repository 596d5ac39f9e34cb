//! Which changes the forge may merge by itself, by the owner's settings.

use crate::{Diff, PathGlobs, Shown, Word, run_unasked};

/// Whether a change is proven, has nothing that a person should look at because of its tests or of files that run by themselves, and
/// stays within these paths.
pub fn merges_itself(paths: &PathGlobs, diff: &Diff, shown: &Shown) -> bool {
    let is_proven = match shown.word {
        Word::Proven => !shown.asks_for_a_look(),
        Word::NeedNotShown { .. }
        | Word::OldTestsChanged
        | Word::KeptNotShown { .. }
        | Word::OnlyTests
        | Word::NoTests
        | Word::Unshown => false,
    };
    let within = diff.files.iter().flat_map(|file| file.both_paths()).all(|path| paths.is_match(path));
    is_proven && within && !diff.files.is_empty() && run_unasked(diff).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ChangeKind, Closeness, FileChange, FileMode, Names};

    fn shown(word: Word) -> Shown {
        let none = Names::default;
        let (needed, broken, removed, skipped, new, judges) = (none(), none(), none(), none(), none(), none());
        Shown { word, by: Closeness::Tests, needed, broken, removed, skipped, new, judges }
    }

    fn diff(paths: &[&str]) -> Diff {
        let file = |path: &&str| FileChange {
            path: (*path).to_owned(),
            kind: ChangeKind::Modified,
            mode: FileMode::File,
            additions: 1,
            deletions: 1,
            size: 10,
        };
        Diff { files: paths.iter().map(file).collect(), ..Diff::default() }
    }

    #[test]
    fn only_a_proven_change_within_the_paths_is_merged_by_the_forge() {
        let globs = |texts: &[&str]| PathGlobs::new(texts.iter().map(|&text| text.to_owned()).collect()).unwrap();
        let (docs, within) = (globs(&["docs/**", "tests/**"]), diff(&["docs/a.md", "tests/a.py"]));
        assert!(merges_itself(&docs, &within, &shown(Word::Proven)));
        for word in [Word::OldTestsChanged, Word::OnlyTests, Word::NoTests, Word::Unshown] {
            assert!(!merges_itself(&docs, &within, &shown(word.clone())), "{word:?}");
        }
        let judged = Shown { judges: ["docs/a.md".to_owned()].into_iter().collect(), ..shown(Word::Proven) };
        assert!(!merges_itself(&docs, &within, &judged));
        let proven = shown(Word::Proven);
        assert!(!merges_itself(&docs, &diff(&["docs/a.md", "src/a.py"]), &proven));
        let renamed =
            FileChange { kind: ChangeKind::Renamed { from: "src/a.md".to_owned() }, ..within.files[0].clone() };
        assert!(!merges_itself(&docs, &Diff { files: vec![renamed], ..Diff::default() }, &proven));
        assert!(!merges_itself(&docs, &diff(&[]), &proven));
        assert!(!merges_itself(&globs(&[]), &within, &proven));
        assert!(!merges_itself(&globs(&["**"]), &diff(&["package-lock.json"]), &proven), "it runs code");
    }
}
