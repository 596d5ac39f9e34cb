//! Names and labels of Jobs: from repository, issue and ledger alone, so that dispatchers which know nothing of each other name the
//! same Job alike.

use hob_domain::{IssueNumber, RepoName};
use hob_worker::RemoteTask;
use sha2::{Digest, Sha256};

/// The label with the repository.
pub(crate) const REPOSITORY: &str = "hob/repository";
/// The label with the issue's number.
pub(crate) const ISSUE: &str = "hob/issue";
/// The longest value of a label.
const LABEL: usize = 63;
/// The part of a name that shows the repository. With the number, which has at most 20 digits, and the hash a name has at most 61
/// characters of the 63 that a Job's may have.
const SHOWN: usize = 24;

/// The name of an issue's Job: the `nth` that begins while the ledger is where it is, from 0.
pub(crate) fn job_name(task: &RemoteTask, nth: usize) -> String {
    let ledger = task.ledger.as_ref().map_or("", |commit| commit.0.as_str());
    let hash = hash(&format!("{}#{} {ledger} {nth}", lower(&task.repo), task.issue));
    let shown: String = task
        .repo
        .name()
        .to_ascii_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let shown: String = shown.trim_matches('-').chars().take(SHOWN).collect();
    match shown.trim_end_matches('-') {
        "" => format!("hob-{}-{hash}", task.issue),
        shown => format!("hob-{shown}-{}-{hash}", task.issue),
    }
}

/// The repository as the value of a label: `owner.name`, or a hash if that is not a value or is too long. An owner has no dot.
pub(crate) fn repository_label(repo: &RepoName) -> String {
    let plain = lower(repo).replacen('/', ".", 1);
    let is_value = plain.len() <= LABEL
        && plain.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
        && plain.starts_with(|c: char| c.is_ascii_alphanumeric())
        && plain.ends_with(|c: char| c.is_ascii_alphanumeric());
    if is_value { plain } else { hash(&plain) }
}

/// What selects an issue's Jobs.
pub(crate) fn selector(repo: &RepoName, issue: IssueNumber) -> String {
    format!("{REPOSITORY}={},{ISSUE}={issue}", repository_label(repo))
}

/// Names of repositories differ in more than ASCII case.
fn lower(repo: &RepoName) -> String {
    repo.to_string().to_ascii_lowercase()
}

fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(5).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, time::Duration};

    use hob_domain::Sha;

    use super::*;

    fn task(repo: &str, issue: u64, ledger: &str) -> RemoteTask {
        let ledger = (!ledger.is_empty()).then(|| Sha(ledger.to_owned()));
        RemoteTask { repo: repo.parse().unwrap(), issue: IssueNumber(issue), ledger, longest: Duration::from_secs(60) }
    }

    #[test]
    fn a_name_is_one_of_a_job_and_another_for_each_issue_ledger_and_number() {
        let long = format!("{}/{}", "o".repeat(39), "N.".repeat(50));
        let mut names = BTreeSet::new();
        for repo in ["acme/site", "acme/Site.js", "acme/_", "other/site", &long] {
            for (issue, ledger, nth) in [(7, "", 0), (7, "", 1), (7, "a1", 0), (u64::MAX, "", 0)] {
                let name = job_name(&task(repo, issue, ledger), nth);
                assert!(name.len() <= LABEL, "{name}");
                assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{name}");
                assert!(name.starts_with("hob-") && !name.ends_with('-') && !name.contains("--"), "{name}");
                assert!(names.insert(name.clone()), "{name} twice");
            }
        }
        assert_eq!(job_name(&task("Acme/Site", 7, "a1"), 0), job_name(&task("acme/site", 7, "a1"), 0));
        assert!(job_name(&task("acme/site", 7, ""), 0).starts_with("hob-site-7-"));
    }

    #[test]
    fn a_label_shows_the_repository_where_it_may() {
        assert_eq!(repository_label(&"Acme/site.js".parse().unwrap()), "acme.site.js");
        for repo in ["acme/site-", "acme/_x_", &format!("acme/{}", "n".repeat(90))] {
            let label = repository_label(&repo.parse().unwrap());
            assert!(label.len() == 10 && label.chars().all(|c| c.is_ascii_hexdigit()), "{label}");
        }
    }
}
