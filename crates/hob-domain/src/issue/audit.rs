//! What an auditor asks about an issue: who authorized which text, what it cost, what left. It is derived from two records
//! that follow each other, so that the ledger and what was told outside of it can be compared.

use serde::{Deserialize, Serialize};

use crate::{
    Control, IssueNumber, Login, ProfileName, PullNumber, Record, RepoName, RunId, Sha, Spend, State, Timestamp,
    change::sha256::Sha256Hex,
};

/// A deed with its place and time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Audited {
    /// The same wherever the deed is told.
    pub id: String,
    /// When, by the forge's clock.
    pub at: Timestamp,
    /// The repository.
    pub repo: RepoName,
    /// The issue.
    pub issue: IssueNumber,
    /// What was done.
    #[serde(flatten)]
    pub deed: Deed,
}

/// One thing that was done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "deed", rename_all = "snake_case")]
pub enum Deed {
    /// A person authorized the issue's text.
    Authorized {
        /// Who.
        by: Login,
        /// SHA-256 of title and body.
        text: String,
    },
    /// A person answered.
    Answered {
        /// Who.
        by: Login,
        /// SHA-256 of the words.
        text: String,
    },
    /// A person approved an action of an agent.
    Approved {
        /// The hash of exactly what was shown.
        action: String,
    },
    /// A person asked to pause, resume or end the work.
    Controlled {
        /// Who.
        by: Login,
        /// What.
        what: Control,
    },
    /// The issue has a new state.
    Moved {
        /// The state.
        state: State,
        /// Why, one sentence.
        why: String,
    },
    /// Agents cost something.
    Spent {
        /// The last run's session.
        session: Option<RunId>,
        /// The profile that works; `None` for an agent without one.
        profile: Option<ProfileName>,
        /// US dollars since the last time.
        usd: f64,
        /// Tokens that models read since then.
        input_tokens: u64,
        /// Tokens that they wrote.
        output_tokens: u64,
    },
    /// A run's programs reached a host through Hob's proxy. Told outside of the ledger alone.
    Reached {
        /// The agent.
        agent: String,
        /// The session of the run.
        session: RunId,
        /// `host:port`, or `route NAME` for a model's service.
        host: String,
        /// Bytes to it.
        sent_bytes: u64,
        /// Bytes from it.
        received_bytes: u64,
        /// Connections that the rules refused.
        refused: u64,
    },
    /// Files left for the forge. Told outside of the ledger alone.
    Pushed {
        /// The branch.
        branch: String,
        /// Its new tip.
        head: Sha,
        /// The files that changed since the tip before, or since the base.
        files: Vec<String>,
    },
    /// A commit became a pull request's head, with a statement.
    Published {
        /// The pull request.
        pull: PullNumber,
        /// The commit.
        head: Sha,
        /// The agent.
        agent: String,
        /// Its model, if Hob chose it.
        model: Option<String>,
        /// Its session.
        session: RunId,
        /// SHA-256 of the statement.
        statement: String,
    },
}

impl Deed {
    /// Whether a ledger tells it, too.
    pub fn is_of_ledger(&self) -> bool {
        !matches!(self, Self::Reached { .. } | Self::Pushed { .. })
    }
}

/// What the step from one record to the next did in `repo`; `before` is `None` for the first one.
pub fn audited(repo: &RepoName, before: Option<&Record>, after: &Record, why: &str) -> Vec<Audited> {
    let with_id = |(number, deed)| Audited {
        id: format!("{}.{number}", after.nonce),
        at: after.renewed_at,
        repo: repo.clone(),
        issue: after.issue,
        deed,
    };
    deeds(before, after, why).into_iter().enumerate().map(with_id).collect()
}

fn deeds(before: Option<&Record>, after: &Record, why: &str) -> Vec<Deed> {
    let mut deeds = Vec::new();
    let was = |same: fn(&Record, &Record) -> bool| before.is_some_and(|before| same(before, after));
    if let Some(trigger) = after.trigger.as_ref().filter(|_| !was(|a, b| a.trigger == b.trigger)) {
        deeds.push(Deed::Authorized { by: trigger.actor.clone(), text: trigger.approved.clone() });
    }
    if let Some(answer) = after.answer.as_ref().filter(|_| !was(|a, b| a.answer == b.answer)) {
        deeds.push(Deed::Answered { by: answer.actor.clone(), text: Sha256Hex::of(&answer.text).sha256 });
    }
    let given = before.map(|before| before.approval.given.as_slice()).unwrap_or_default();
    let new = after.approval.given.iter().filter(|action| !given.contains(action));
    deeds.extend(new.map(|action| Deed::Approved { action: action.to_string() }));
    let asked = |record: &Record| record.control.as_ref().map(|control| (control.what, control.by.clone()));
    if let Some(control) = after.control.as_ref().filter(|_| before.and_then(asked) != asked(after)) {
        deeds.push(Deed::Controlled { by: control.by.clone(), what: control.what });
    }
    let spent = after.spend.since(before.map(|before| before.spend).unwrap_or_default());
    if spent != Spend::default() {
        deeds.push(Deed::Spent {
            session: after.session.clone(),
            profile: after.route.as_ref().and_then(|route| route.profile.clone()),
            usd: spent.usd(),
            input_tokens: spent.input_tokens,
            output_tokens: spent.output_tokens,
        });
    }
    if let Some(proof) = after.work.proof.as_ref().filter(|_| !was(|a, b| a.work.proof == b.work.proof)) {
        let statement = proof.statement();
        deeds.push(Deed::Published {
            pull: statement.predicate.pull_request,
            head: statement.head.clone(),
            agent: statement.predicate.agent.clone(),
            model: statement.predicate.model.clone(),
            session: statement.predicate.session.clone(),
            statement: statement.canonical().map(|text| Sha256Hex::of(text).sha256).unwrap_or_default(),
        });
    }
    if !was(|a, b| a.state == b.state) {
        deeds.push(Deed::Moved { state: after.state, why: why.to_owned() });
    }
    deeds
}
