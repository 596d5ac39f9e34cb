//! Templates for issues and pull requests, which `gh` asks for before it creates one. The forge reads none.

pub(super) const DESCRIPTION: &str = r"
type IssueTemplate { about: String body: String filename: String! name: String! title: String }
type PullRequestTemplate { body: String filename: String }
type RepositoryContactLink { about: String! name: String! url: URI! }
";
