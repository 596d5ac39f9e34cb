//! Pull requests: one for each issue, opened once and updated afterwards.

use std::{collections::BTreeMap, time::Duration};

use hob_domain::{Login, MergeState, PullNumber, PullStatus, Sha, Timestamp};
use http::Method;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    Forge, ForgeError, HeldLease,
    TokenPermission::{PullRequestsRead, PullRequestsWrite},
    issues::PullFate,
    pages::oldest,
    permitted::MARK_READY,
    repository::encoded,
};

/// Tries to open a pull request while the forge does not see its head yet: 15 s in all (`docs/design/github.md`, `pull.lag`).
const YOUNG_MAX: u32 = 5;
/// The first pause between them; it doubles.
const YOUNG_PAUSE: Duration = Duration::from_millis(500);

/// A pull request.
#[derive(Debug, Clone)]
pub struct Pull {
    /// Its number.
    pub number: PullNumber,
    /// Open, merged or closed.
    pub status: PullStatus,
    /// The tip of its branch.
    pub head: Sha,
    /// The tip of its base branch when the forge last compared the two.
    pub base: Sha,
    /// The base branch's name.
    pub base_name: String,
    /// Whether it can be merged.
    pub merge: MergeState,
    /// Its page's address.
    pub html_url: String,
}

/// The contents of a pull request to open or update.
#[derive(Debug, Clone)]
pub struct PullDraft {
    /// The branch with the work.
    pub head: String,
    /// The branch it goes to.
    pub base: String,
    /// Whether an open pull request is moved to this base, too.
    pub moves_base: bool,
    /// Its title.
    pub title: String,
    /// Its body.
    pub body: String,
    /// Whether it opens as a draft.
    pub draft: bool,
}

impl PullDraft {
    /// The body of the request that opens it.
    fn whole(&self) -> serde_json::Value {
        json!({
            "head": self.head, "base": self.base, "title": self.title, "body": self.body, "draft": self.draft,
            "maintainer_can_modify": true,
        })
    }

    /// The body of the request that updates it.
    fn text(&self) -> serde_json::Value {
        match self.moves_base {
            true => json!({ "title": self.title, "body": self.body, "base": self.base }),
            false => json!({ "title": self.title, "body": self.body }),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct PullWire {
    number: PullNumber,
    state: String,
    merged_at: Option<String>,
    head: HeadWire,
    base: BaseWire,
    #[serde(default)]
    mergeable: Option<bool>,
    #[serde(default)]
    mergeable_state: Option<String>,
    html_url: String,
    #[serde(default)]
    node_id: String,
    #[serde(default)]
    draft: bool,
}

/// An entry of the list of issues, which contains pull requests, too.
#[derive(Serialize, Deserialize)]
struct OpenWire {
    number: PullNumber,
    updated_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pull_request: Option<PartWire>,
}

#[derive(Serialize, Deserialize)]
struct PartWire {}

#[derive(Serialize, Deserialize)]
struct BaseWire {
    #[serde(rename = "ref", default)]
    name: String,
    sha: Sha,
}

#[derive(Serialize, Deserialize)]
struct HeadWire {
    sha: Sha,
}

impl From<PullWire> for Pull {
    fn from(wire: PullWire) -> Self {
        let status = match (wire.merged_at, wire.state.as_str()) {
            (Some(_), _) => PullStatus::Merged,
            (None, "open") => PullStatus::Open,
            (None, _) => PullStatus::Closed,
        };
        let merge = match (wire.mergeable, wire.mergeable_state.as_deref()) {
            (Some(false), _) | (_, Some("dirty")) => MergeState::Conflicts,
            (_, Some("behind")) => MergeState::Behind,
            (Some(true), _) => MergeState::Fits,
            (None, _) => MergeState::Unknown,
        };
        Self {
            number: wire.number,
            status,
            head: wire.head.sha,
            base: wire.base.sha,
            base_name: wire.base.name,
            merge,
            html_url: wire.html_url,
        }
    }
}

/// A repository's pull requests.
#[derive(Debug, Clone, Copy)]
pub struct Pulls<'a> {
    pub(super) forge: &'a Forge,
}

impl Pulls<'_> {
    /// A pull request's status, and when it last changed. `None` if it is gone.
    ///
    /// # Errors
    /// [`ForgeError`] of the read.
    pub async fn status(self, number: PullNumber) -> Result<Option<(PullStatus, Timestamp)>, ForgeError> {
        match self.forge.issues().pull_fate(number).await? {
            PullFate::Known(status, at) => Ok(Some((status, at))),
            PullFate::ClosedOrMerged(at) => Ok(self.get(number).await?.map(|pull| (pull.status, at))),
            PullFate::Gone => Ok(None),
        }
    }

    /// An account's open pull requests, and when each last changed. They share one list, which costs nothing (304)
    /// while none changes.
    ///
    /// # Errors
    /// [`ForgeError`] of the read.
    pub async fn open_by(self, author: &Login) -> Result<BTreeMap<PullNumber, Timestamp>, ForgeError> {
        let query =
            format!("/issues?state=open&creator={}&sort=created&direction=asc&per_page=100", encoded(author.as_str()));
        let purpose = PullRequestsRead.to("list the open pull requests");
        // Those beyond the part of the list that is read are requested by number, like those of other accounts.
        let listed = oldest::<OpenWire>(self.forge.connection(), &self.forge.path(&query), purpose).await?;
        let pulls = listed.entries.into_iter().filter(|entry| entry.pull_request.is_some());
        Ok(pulls.map(|entry| (entry.number, entry.updated_at)).collect())
    }

    /// A pull request. `None` if it is gone.
    ///
    /// # Errors
    /// [`ForgeError`] of the read.
    pub async fn get(self, number: PullNumber) -> Result<Option<Pull>, ForgeError> {
        match self
            .forge
            .get::<PullWire>(
                &self.forge.path(&format!("/pulls/{number}")),
                PullRequestsRead.to("read the pull request"),
            )
            .await
        {
            Ok(wire) => Ok(Some(wire.into())),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The open pull request of a branch, to this base if one is given.
    ///
    /// # Errors
    /// [`ForgeError`] of the read.
    pub async fn open_of(self, branch: &str, base: Option<&str>) -> Result<Option<Pull>, ForgeError> {
        let head = encoded(&format!("{}:{branch}", self.forge.repo.owner()));
        let base = base.map_or_else(String::new, |base| format!("&base={}", encoded(base)));
        let path = self.forge.path(&format!("/pulls?state=open&head={head}{base}"));
        let found: Vec<PullWire> = self.forge.get(&path, PullRequestsRead.to("look for the pull request")).await?;
        Ok(found.into_iter().next().map(Pull::from))
    }

    /// The newest pull request of a branch, open or not.
    ///
    /// # Errors
    /// [`ForgeError`] of the read.
    pub async fn any_of(self, branch: &str) -> Result<Option<Pull>, ForgeError> {
        let head = encoded(&format!("{}:{branch}", self.forge.repo.owner()));
        let path = self.forge.path(&format!("/pulls?state=all&head={head}"));
        let found: Vec<PullWire> = self.forge.get(&path, PullRequestsRead.to("look for the pull request")).await?;
        Ok(found.into_iter().next().map(Pull::from))
    }

    /// Opens the branch's one pull request, or brings the one that is open up to date.
    ///
    /// # Errors
    /// [`ForgeError`] of a call.
    pub async fn publish(
        self,
        lease: &HeldLease,
        known: Option<PullNumber>,
        draft: &PullDraft,
    ) -> Result<Pull, ForgeError> {
        if let Some(number) = known
            && matches!(self.status(number).await?, Some((PullStatus::Open, _)))
        {
            return self.update(lease, number, draft).await;
        }
        let (mut tried, mut young) = (0, 0);
        loop {
            let error = match self.open(lease, draft).await {
                Err(error) if error.outcome_is_unknown() || error.is_refusal(422, "already exists") => error,
                // The head was just pushed and may not be visible everywhere yet.
                Err(error) if is_young(&error) && young < YOUNG_MAX => {
                    self.forge.wait(&error, YOUNG_PAUSE.saturating_mul(1 << young)).await;
                    young += 1;
                    continue;
                }
                result => return result,
            };
            if let Some(pull) = self.open_of(&draft.head, Some(&draft.base)).await? {
                return self.update(lease, pull.number, draft).await;
            }
            let Some(pause) = self.forge.pause_within(lease, &error, tried) else { return Err(error) };
            self.forge.wait(&error, pause).await;
            tried += 1;
        }
    }

    /// Opens the pull request of a branch that belongs to no issue, or brings the one that is open up to date. There is no lease
    /// that could fence it: an operator asks for it once, or the worker that has the turn in the repository's ledger.
    ///
    /// # Errors
    /// [`ForgeError`] of a call.
    pub async fn offer(self, draft: &PullDraft) -> Result<Pull, ForgeError> {
        if let Some(pull) = self.open_of(&draft.head, Some(&draft.base)).await? {
            let (path, body) = (self.path_of(pull.number), draft.text());
            let purpose = PullRequestsWrite.to("update the pull request");
            return Ok(self.forge.write::<PullWire>(Method::PATCH, &path, &body, purpose).await?.into());
        }
        let (path, purpose) = (self.forge.path("/pulls"), PullRequestsWrite.to("open the pull request"));
        let mut young = 0;
        loop {
            match self.forge.write::<PullWire>(Method::POST, &path, &draft.whole(), purpose).await {
                Err(error) if is_young(&error) && young < YOUNG_MAX => {
                    self.forge.wait(&error, YOUNG_PAUSE.saturating_mul(1 << young)).await;
                    young += 1;
                }
                Err(error) if error.outcome_is_unknown() => {
                    return self.open_of(&draft.head, Some(&draft.base)).await?.ok_or(error);
                }
                result => return Ok(result?.into()),
            }
        }
    }

    /// Marks a pull request as ready for review, if it is a draft.
    ///
    /// # Errors
    /// [`ForgeError`] of a call.
    pub async fn mark_ready(self, lease: &HeldLease, number: PullNumber) -> Result<(), ForgeError> {
        let (path, purpose) = (self.path_of(number), PullRequestsRead.to("read the pull request"));
        let found: PullWire = self.forge.get(&path, purpose).await?;
        if !found.draft {
            return Ok(());
        }
        let purpose = PullRequestsWrite.to("mark the pull request as ready");
        self.forge.mutate(lease, MARK_READY, json!({ "pull": found.node_id }), purpose).await
    }

    /// Closes a pull request without a merge; closing a closed one changes nothing.
    ///
    /// # Errors
    /// [`ForgeError`] of the call.
    pub async fn close(self, lease: &HeldLease, number: PullNumber) -> Result<(), ForgeError> {
        let (path, purpose) = (self.path_of(number), PullRequestsWrite.to("close the pull request"));
        self.forge.write_held::<PullWire>(lease, Method::PATCH, &path, &json!({ "state": "closed" }), purpose).await?;
        Ok(())
    }

    fn path_of(self, number: PullNumber) -> String {
        self.forge.path(&format!("/pulls/{number}"))
    }

    async fn open(self, lease: &HeldLease, draft: &PullDraft) -> Result<Pull, ForgeError> {
        match self.create(lease, draft).await {
            // Private repositories on some plans have no drafts; the body still says what to look at.
            Err(error) if draft.draft && error.is_refusal(422, "Draft pull requests are not supported") => {
                self.create(lease, &PullDraft { draft: false, ..draft.clone() }).await
            }
            result => result,
        }
    }

    async fn create(self, lease: &HeldLease, draft: &PullDraft) -> Result<Pull, ForgeError> {
        let body = draft.whole();
        let wire: PullWire = self
            .forge
            .create_held(
                lease,
                Method::POST,
                &self.forge.path("/pulls"),
                &body,
                PullRequestsWrite.to("open the pull request"),
            )
            .await?;
        Ok(wire.into())
    }

    async fn update(self, lease: &HeldLease, number: PullNumber, draft: &PullDraft) -> Result<Pull, ForgeError> {
        let (path, body) = (self.path_of(number), draft.text());
        let wire: PullWire = self
            .forge
            .write_held(lease, Method::PATCH, &path, &body, PullRequestsWrite.to("update the pull request"))
            .await?;
        Ok(wire.into())
    }
}

/// Whether the forge does not yet see the head or its commits.
fn is_young(error: &ForgeError) -> bool {
    error.is_refusal(422, "No commits between") || error.is_refusal(422, "head invalid")
}
