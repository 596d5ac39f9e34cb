//! What a server's words about a refused push mean, and which setting helps, if one does.

/// Precedes the file's name in GitHub's lists of findings.
const PATH: &str = "path: ";

/// Words of git servers, in lower case, and what to do about them; the first match decides.
///
/// The wordings of GitHub, each as people were answered:
/// - a branch in the way: desktop/desktop#13665; git 2.50 and later say `refname conflict` (git/git, `refs.c`,
///   `ref_transaction_error_msg`)
/// - signatures: vercel/sandbox#169, py-cov-action/python-coverage-comment-action#561
/// - creations being restricted: dmf-mxl/mxl#356
/// - changes through a pull request: yshavit/mdq#255; checks that are expected:
///   open-telemetry/opentelemetry-java-instrumentation#14505
/// - `GH007`: spring-projects/spring-boot#27764, google/season-of-docs#640, and
///   <https://docs.github.com/account-and-profile/how-tos/email-preferences/blocking-command-line-pushes-that-expose-your-personal-email-address>
/// - `GH001`: <https://docs.github.com/repositories/working-with-files/managing-large-files/about-large-files-on-github>
/// - secrets, as `docs.github.com` describes them:
///   <https://docs.github.com/code-security/secret-scanning/working-with-secret-scanning-and-push-protection/working-with-push-protection-from-the-command-line>
/// - workflows: the refusal that `hob init` meets
///
/// Not recorded are the words for patterns of names, messages and addresses: the rules are those of
/// <https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/available-rules-for-rulesets#metadata-restrictions>.
const TABLE: [(&[&str], &str); 14] = [
    (
        &["exists; cannot create", "refname conflict"],
        "another branch's name leaves no room for this one, since git keeps no branch below the name of another: delete or rename \
         it, or set `workspace.branch_prefix`",
    ),
    (
        &["verified signatures"],
        "a rule asks for signed commits: set `publish.signing`, to the path of an SSH key of Hob's account or to `api` for an App",
    ),
    (
        &["push cannot contain secrets", "push protection", "/unblock-secret/", "resolving-a-blocked-push"],
        "the forge found what looks like a secret: take it out of the change, or allow it at the address in the forge's answer",
    ),
    (
        &["gh007", "email privacy restrictions"],
        "the address of Hob's commits is a private one: write the account's noreply address into `publish.author`, or none",
    ),
    (
        &["email address must", "email must", "email should"],
        "a rule restricts the addresses of commits: write one that it allows into `publish.author`",
    ),
    (
        &["gh001", "exceeds github's file size limit", "file size limit", "maximum file size"],
        "a file is too large for the forge: set `workspace.max_file` to the forge's limit, and keep the file out of the \
         repository",
    ),
    (
        &["branch name must", "ref name must"],
        "a rule restricts the names of branches: set `workspace.branch_prefix` so that they fit",
    ),
    (
        &["creations being restricted", "cannot create ref", "creation being restricted"],
        "a rule restricts who may make branches of this name: set `workspace.branch_prefix` to names that it leaves free, or let \
         Hob's account bypass it",
    ),
    (
        &["updates being restricted", "cannot update this protected ref"],
        "a rule restricts who may update branches of this name: set `workspace.branch_prefix` to names that it leaves free, or \
         let Hob's account bypass it",
    ),
    (
        &["changes must be made through a pull request", "required status check", "required status checks"],
        "the rules of a base branch bind Hob's own branches, too: take them out of the rules, or set `workspace.branch_prefix` \
         to names that the rules leave free",
    ),
    (
        &["commit message must"],
        "a rule restricts the messages of commits: set `publish.commit_message` so that they fit",
    ),
    (
        &["must not contain merge commits"],
        "a rule forbids merge commits, and Hob merges the base into its branches: take Hob's branches out of that rule",
    ),
    (
        &["cannot force-push to"],
        "a rule forbids force pushes, and Hob rebases its own commits when the base moves: take Hob's branches out of that rule",
    ),
    (
        &["create or update workflow"],
        "the token may not write workflow files: give it the permission `workflows: write`, or make this change by hand",
    ),
];

/// What to do about a push that a server refused with these words, one sentence without a period. `None` if they are
/// unknown.
pub fn refused_push_advice(said: &str) -> Option<String> {
    let lower = said.to_lowercase();
    let (_, advice) = TABLE.iter().find(|(words, _)| words.iter().any(|word| lower.contains(word)))?;
    Some(named_file(said).map_or_else(|| (*advice).to_owned(), |file| format!("{advice} (`{file}`)")))
}

/// The file that a refusal is about: `File data.bin is 123.45 MB; …`, or `path: src/key.rs:3` of a suspected secret.
fn named_file(said: &str) -> Option<&str> {
    let large = || {
        let (before, _) = said.split_once(" MB; this exceeds")?;
        let (path, _size) = before.rsplit_once(" is ")?;
        path.rsplit_once("File ").map(|(_, path)| path)
    };
    let secret = || said.split_once(PATH).and_then(|(_, rest)| rest.split([';', '\n']).next());
    let file = large().or_else(secret)?.trim();
    // It goes into a code span.
    Some(file).filter(|file| !file.is_empty() && !file.contains('`') && file.len() < 300)
}

/// The branches that would prevent branches whose names begin with `prefix`: git does not allow a branch below the name
/// of another.
pub fn folders_of(prefix: &str) -> impl Iterator<Item = &str> {
    prefix.match_indices('/').filter_map(|(at, _)| prefix.get(..at)).filter(|folder| !folder.is_empty())
}

/// What to do about the branch `folder`, which prevents branches whose names begin with `prefix`.
pub fn branch_in_the_way(folder: &str, prefix: &str) -> String {
    format!(
        "the branch `{folder}` leaves no room for branches `{prefix}…`, since git keeps no branch below the name of another: \
         delete or rename it, or set `workspace.branch_prefix`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answers are in the order in which git prints them, joined like errors.
    #[test]
    fn what_the_server_says_decides_which_setting_is_named() {
        for (said, part) in [
            (
                "[remote rejected] (cannot lock ref 'refs/heads/hob/1-x': 'refs/heads/hob' exists; cannot create \
                 'refs/heads/hob/1-x')",
                "delete or rename it, or set `workspace.branch_prefix`",
            ),
            ("[remote rejected] (refname conflict)", "`workspace.branch_prefix`"),
            (
                "remote: error: GH013: Repository rule violations found for refs/heads/changeset-release/main.; remote: Review \
                 all repository rules at https://github.com/vercel/sandbox/rules?ref=x; remote: - Commits must have verified \
                 signatures.; remote:   Found 1 violation:",
                "`publish.signing`",
            ),
            (
                "remote: error: GH006: Protected branch update failed for refs/heads/x. Commits must have verified signatures.",
                "`publish.signing`",
            ),
            (
                "remote: error: GH013: Repository rule violations found for refs/heads/backport/86/-/release/v2.0.0.; remote: - \
                 Cannot create ref due to creations being restricted.",
                "`workspace.branch_prefix`",
            ),
            (
                "remote: error: GH013: Repository rule violations found for refs/heads/hob/1-x.; remote: - Branch name must \
                 match a given regex pattern: ^(feature|fix)/.*$",
                "restricts the names of branches: set `workspace.branch_prefix`",
            ),
            (
                "[remote rejected] (push declined due to email privacy restrictions) (remote: error: GH007: Your push would \
                 publish a private email address.; remote: You can make your email public or disable this protection by \
                 visiting:; remote: https://github.com/settings/emails)",
                "write the account's noreply address into `publish.author`",
            ),
            (
                "remote: - Commit author email address must end with a matching pattern: @example.com",
                "write one that it allows into `publish.author`",
            ),
            (
                "remote: - Committer email address must match a given regex pattern: .*@acme\\.com$",
                "write one that it allows into `publish.author`",
            ),
            (
                "remote: error: File data/all.bin is 106.36 MB; this exceeds GitHub's file size limit of 100.00 MB; remote: \
                 error: GH001: Large files detected. You may want to try Git Large File Storage - https://git-lfs.github.com.",
                "`workspace.max_file` to the forge's limit, and keep the file out of the repository (`data/all.bin`)",
            ),
            (
                "remote: error: GH013: Repository rule violations found for refs/heads/main.; remote: - GITHUB PUSH PROTECTION; \
                 remote:     - Push cannot contain secrets; remote:       —— GitHub Personal Access Token ——; remote:        \
                 locations:; remote:          - commit: 6f2b9be9f72b0e99e53247053aa8f3a8c227fa27; remote:            path: \
                 src/key.rs:3; remote: (?) To push, remove secret from commit(s)",
                "take it out of the change, or allow it at the address in the forge's answer (`src/key.rs:3`)",
            ),
            ("remote: - Changes must be made through a pull request.", "bind Hob's own branches"),
            ("remote: - Required status check \"EasyCLA\" is expected.", "bind Hob's own branches"),
            ("remote: - Cannot update this protected ref.", "`workspace.branch_prefix`"),
            ("remote: - Commit message must match a given regex pattern: ^feat", "`publish.commit_message`"),
            ("remote: - This branch must not contain merge commits.", "merge commits"),
            ("remote: - Cannot force-push to this branch", "forbids force pushes"),
            (
                "refusing to allow a GitHub App to create or update workflow `.github/workflows/ci.yml` without `workflows` \
                 permission",
                "`workflows: write`",
            ),
        ] {
            let advice = refused_push_advice(said).unwrap_or_default();
            assert!(advice.contains(part), "{said}: {advice}");
        }
        for said in ["", "[remote rejected] (hook declined)", "[remote rejected] (pre-receive hook declined) (ask Ann)"]
        {
            assert_eq!(refused_push_advice(said), None, "{said}");
        }
    }

    #[test]
    fn a_path_that_would_end_its_code_span_is_not_repeated() {
        let said = "remote: error: File a`b is 106.36 MB; this exceeds GitHub's file size limit of 100.00 MB";
        assert!(refused_push_advice(said).is_some_and(|advice| !advice.contains("a`b")));
    }

    #[test]
    fn each_folder_of_a_prefix_is_a_branch_that_would_be_in_the_way() {
        for (prefix, folders) in [
            ("hob/", vec!["hob"]),
            ("bots/hob/", vec!["bots", "bots/hob"]),
            ("bots/hob-", vec!["bots"]),
            ("hob-", vec![]),
        ] {
            assert_eq!(folders_of(prefix).collect::<Vec<_>>(), folders, "{prefix}");
        }
    }
}
