//! What an attempt needs before an agent can work: the rules, the agent, the branch, the folder, the comments.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use hob_agent::{AgentBackend, Registry};
use hob_config::{REPOSITORY_SETTINGS_PATH, RepositorySettings};
use hob_domain::{Allowance, Login, RunId, STATUS_MARK, branch_for};
use hob_forge::{BaseBranch, ForgeError, HeldLease, Issue};
use hob_workspace::{BranchName, Leftover, WorkspaceError};
use tokio::time::Instant;

use crate::{WorkError, Worker, attempt::Job};

/// The pause before a mirror that is in use is tried again.
const BUSY_PAUSE: Duration = Duration::from_millis(100);

impl Worker {
    pub(super) async fn prepare<'a>(
        &self,
        lease: &'a HeldLease,
        issue: &'a Issue,
        base: &'a BaseBranch,
        (allowance, ends): (Allowance, Instant),
    ) -> Result<Job<'a>, WorkError> {
        self.progress(issue, "fetching the repository");
        let base_branch: BranchName = base.name.parse()?;
        let remote = self.remote().await?;
        let base_sha = self.when_free(async || self.workspace.fetch(&remote, &base_branch).await).await?;
        let text = self.forge.file(REPOSITORY_SETTINGS_PATH, &base_sha).await?.unwrap_or_default();
        let rules = RepositorySettings::parse(&text)?;
        let (agent_name, agent) = self.choose_agent(issue, &rules)?;
        let branch = self.choose_branch(lease, issue).await?;
        let of = (self.forge.repo(), issue.number);
        let earlier = lease.record().session.and_then(|session| self.executor.resumable(&session, &agent_name, of));
        let leftover = match &earlier {
            // A session goes on in the folder that it left.
            Some(session) => {
                self.executor.end_leftovers(session);
                // What the run that was killed spent after its worker's last heartbeat.
                lease.note_spend(session.bill().since(lease.record().spend)).await;
                Leftover::Keep
            }
            None => Leftover::Remove,
        };
        let prepare = async || self.workspace.prepare((&remote, issue.number), &branch, &base_sha, leftover).await;
        let checkout = self.when_free(prepare).await?;
        let comments = self.trusted_comments(issue).await?;
        let nonce = lease.record().nonce;
        let (repo, nonce) = (self.forge.repo(), nonce.as_str().get(..8).unwrap_or_default().to_owned());
        let run = RunId(format!("{}-{}-{}-{}-{nonce}", repo.owner(), repo.name(), issue.number, lease.generation()));
        let session = earlier.map_or_else(|| run.clone(), |session| session.id);
        let (began, pushed) = (lease.record().spend, Mutex::new(checkout.pushed().cloned()));
        Ok(Job {
            lease,
            issue,
            base,
            rules,
            agent_name,
            agent,
            checkout,
            comments,
            run,
            session,
            ends,
            allowance,
            began,
            pushed,
        })
    }

    /// Another process of Hob may use the same mirror just now: waits for it, as long as a transfer may take.
    async fn when_free<T>(&self, step: impl AsyncFn() -> Result<T, WorkspaceError>) -> Result<T, WorkspaceError> {
        let ends = Instant::now() + self.settings.workspace.transfer_time;
        loop {
            match step().await {
                Err(WorkspaceError::Busy { .. }) if Instant::now() < ends => tokio::time::sleep(BUSY_PAUSE).await,
                result => return result,
            }
        }
    }

    /// The agent that works: the flag's, else the label's, else the repository's, else the process's.
    fn choose_agent(
        &self,
        issue: &Issue,
        rules: &RepositorySettings,
    ) -> Result<(String, Arc<dyn AgentBackend>), WorkError> {
        let label = self.settings.labels.agent(&issue.labels).map(str::to_owned);
        let chosen = self.agent.clone().or(label).or_else(|| rules.agent.clone());
        let name = chosen.unwrap_or_else(|| self.settings.agent.default.clone());
        let mut parts = self.agents.clone();
        // What whoever runs Hob calls by a name stays what it is, whatever a repository calls so.
        for (name, settings) in &rules.agents {
            parts.agents.entry(name.clone()).or_insert_with(|| settings.clone());
        }
        for (name, recipe) in &rules.recipes {
            parts.recipes.entry(name.clone()).or_insert_with(|| recipe.clone());
        }
        let agent = Registry::new(parts)?.get(&name)?;
        Ok((name, agent))
    }

    /// The issue's branch. One that is there already and that the ledger does not know is somebody else's: then
    /// another name is taken.
    async fn choose_branch(&self, lease: &HeldLease, issue: &Issue) -> Result<BranchName, WorkError> {
        if let Some(known) = lease.record().branch {
            return Ok(known.parse()?);
        }
        let remote = self.remote().await?;
        let wanted = branch_for(&self.settings.workspace.branch_prefix, issue.number, &issue.title);
        let mut name = wanted.clone();
        for n in 2..100 {
            let branch: BranchName = name.parse()?;
            // All branches below the prefix were fetched just now, and the push expects that this one is not there.
            if self.workspace.fetched_tip(&remote, &branch).await?.is_none() {
                return Ok(branch);
            }
            name = format!("{wanted}-{n}");
        }
        Err(WorkError::Forge(ForgeError::Refused {
            what: format!("make a branch `{wanted}`"),
            status: 422,
            message: "99 branches of that name are there already: delete some".to_owned(),
        }))
    }

    /// Comments of people whose word counts; nobody else's reach the agent.
    async fn trusted_comments(&self, issue: &Issue) -> Result<Vec<(Login, String)>, WorkError> {
        let mut trusted = Vec::new();
        if issue.comments == 0 {
            return Ok(trusted);
        }
        for comment in self.forge.comments(issue.number, None).await? {
            let Some(author) = comment.author else { continue };
            // The status comment is all that Hob writes; whoever else sets its mark is left out too.
            if !comment.body.starts_with(STATUS_MARK) && self.judge(&author).await?.is_ok() {
                trusted.push((author.login, comment.body));
            }
        }
        Ok(trusted)
    }
}
