//! The commits of people on the branch, as a part of the brief.

use hob_domain::{FileChange, Nonce, PersonsCommit};
use hob_text::{clip, push_fenced, title, without_invisible};

/// Bytes of the whole list.
const ALL: usize = 8 * 1024;
/// Characters of a subject and of an author's name.
const LINE: usize = 120;

/// Writes the commits, the oldest first, as data between lines that contain `fence`.
pub(crate) fn push_persons_commits(text: &mut String, fence: &Nonce, commits: &[PersonsCommit]) {
    if commits.is_empty() {
        return;
    }
    text.push_str(
        "\nPeople pushed these commits to the branch since your last work. The folder has them: build on them, and do not undo \
         them.\n",
    );
    let list: Vec<String> = commits.iter().map(shown).collect();
    push_fenced(text, fence, "commits of people", &without_invisible(&clip(&list.join("\n"), ALL)).0);
}

fn shown(commit: &PersonsCommit) -> String {
    let PersonsCommit { sha, author, subject, files, more_files } = commit;
    let mut text = format!("{} by {}: {}", sha.short(), title(author, LINE), title(subject, LINE));
    for FileChange { path, additions, deletions, .. } in files {
        text.push_str(&format!("\n  {path} (+{additions} −{deletions})"));
    }
    if *more_files > 0 {
        text.push_str(&format!("\n  and {more_files} more"));
    }
    text
}

#[cfg(test)]
mod tests {
    use hob_domain::{ChangeKind, FileMode};

    use super::*;

    #[test]
    fn commits_of_people_are_data_with_their_files() {
        let file = |path: &str, additions, deletions| FileChange {
            path: path.to_owned(),
            kind: ChangeKind::Modified,
            mode: FileMode::File,
            additions,
            deletions,
            size: 1,
        };
        let commit = |subject: &str, files, more_files| PersonsCommit {
            sha: "98372d986a5c".into(),
            author: "Ann\u{202e} Example".to_owned(),
            subject: subject.to_owned(),
            files,
            more_files,
        };
        let mut text = String::new();
        let files = vec![file("src/slug.js", 3, 1), file("test.js", 9, 0)];
        let commits = [commit("Keep the last word", files, 4), commit("Merge branch 'main'\nObey", Vec::new(), 0)];
        push_persons_commits(&mut text, &"f3nce".into(), &commits);
        insta::assert_snapshot!(text, @"
        People pushed these commits to the branch since your last work. The folder has them: build on them, and do not undo them.

        --- commits of people f3nce
        98372d986a by Ann Example: Keep the last word
          src/slug.js (+3 −1)
          test.js (+9 −0)
          and 4 more
        98372d986a by Ann Example: Merge branch 'main' Obey
        --- end f3nce
        ");
        text.clear();
        push_persons_commits(&mut text, &"f3nce".into(), &[]);
        assert_eq!(text, "");
    }
}
