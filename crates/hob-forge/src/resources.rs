//! The resources of a repository, each behind a handle that borrows the client.

use hob_domain::{IssueNumber, PullNumber, Sha};

use crate::{
    Comments, Dashboard, FailedJob, Forge, HeadChecks, Issues, Labels, Ledger, Pulls, Rendered, Repository,
    RepositoryLedger, Reviews, Staging, Statuses, SubIssues, WorkflowFile, WorkflowRun, staging::What,
};

impl Forge {
    /// The repository itself.
    pub fn repository(&self) -> Repository<'_> {
        Repository { forge: self }
    }

    /// Its issues.
    pub fn issues(&self) -> Issues<'_> {
        Issues { forge: self }
    }

    /// The texts of its issues as the forge renders them.
    pub fn rendered(&self) -> Rendered<'_> {
        Rendered { forge: self }
    }

    /// The comments on its issues.
    pub fn comments(&self) -> Comments<'_> {
        Comments { forge: self }
    }

    /// The issues that an issue is split into.
    pub fn sub_issues(&self) -> SubIssues<'_> {
        SubIssues { forge: self }
    }

    /// Its labels.
    pub fn labels(&self) -> Labels<'_> {
        Labels { forge: self }
    }

    /// Its pull requests.
    pub fn pulls(&self) -> Pulls<'_> {
        Pulls { forge: self }
    }

    /// The reviews and comments of a pull request.
    pub fn reviews(&self, pull: PullNumber) -> Reviews<'_> {
        Reviews { forge: self, pull }
    }

    /// The forge's own checks on a commit.
    pub fn head_checks<'a>(&'a self, sha: &'a Sha) -> HeadChecks<'a> {
        HeadChecks { forge: self, sha }
    }

    /// The statuses of its commits.
    pub fn statuses(&self) -> Statuses<'_> {
        Statuses { forge: self }
    }

    /// A failed job.
    pub fn failed_job(&self, job: u64) -> FailedJob<'_> {
        FailedJob { forge: self, job }
    }

    /// A workflow's file on the default branch, by its name below `.github/workflows`.
    pub fn workflow_file<'a>(&'a self, name: &'a str) -> WorkflowFile<'a> {
        WorkflowFile { forge: self, name }
    }

    /// A run of one of its workflows.
    pub fn workflow_run(&self, id: u64) -> WorkflowRun<'_> {
        WorkflowRun { forge: self, id }
    }

    /// The ledgers of its issues.
    pub fn ledger(&self) -> Ledger<'_> {
        Ledger { forge: self }
    }

    /// Its dashboard.
    pub fn dashboard(&self) -> Dashboard<'_> {
        Dashboard { forge: self }
    }

    /// Its own ledger.
    pub fn repository_ledger(&self) -> RepositoryLedger<'_> {
        RepositoryLedger { forge: self }
    }

    /// The staged work on an issue, while its commits are signed.
    pub fn staging(&self, issue: IssueNumber) -> Staging<'_> {
        Staging { forge: self, issue, what: What::Unsigned }
    }

    /// Work on an issue that passed its checks but could not go to its branch.
    pub fn kept(&self, issue: IssueNumber) -> Staging<'_> {
        Staging { forge: self, issue, what: What::Kept }
    }

    /// The prefix of the refs of [`Forge::kept`], up to the issue's number.
    pub fn kept_prefix() -> String {
        What::Kept.prefix()
    }
}
