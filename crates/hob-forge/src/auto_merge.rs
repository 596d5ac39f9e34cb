//! Auto-merge of a pull request: the forge merges it once its requirements are met. Hob itself never merges.

use hob_domain::{Login, PullNumber, Sha};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    Forge, ForgeError, HeldLease, Pulls,
    TokenPermission::{MetadataRead, PullRequestsRead, PullRequestsWrite},
    mutations::{SWITCH_OFF, SWITCH_ON},
};

/// The part of a pull request that says who switched it on.
#[derive(Serialize, Deserialize)]
struct AutoMergeWire {
    node_id: String,
    #[serde(default)]
    auto_merge: Option<AutoMergeBy>,
}

#[derive(Serialize, Deserialize)]
struct AutoMergeBy {
    enabled_by: Option<AccountWire>,
}

#[derive(Serialize, Deserialize)]
struct AccountWire {
    login: Login,
}

/// The ways to merge that the repository allows; a token that may not push does not see them.
#[derive(Serialize, Deserialize)]
struct MethodsWire {
    #[serde(default = "allowed")]
    allow_merge_commit: bool,
    #[serde(default)]
    allow_squash_merge: bool,
}

fn allowed() -> bool {
    true
}

impl Pulls<'_> {
    /// Lets the forge merge exactly this head as soon as nothing that is required is missing, unless it was told so already.
    ///
    /// # Errors
    /// [`ForgeError`] of a call: the forge refuses it if the repository does not allow it, or nothing is missing now.
    pub async fn merge_when_ready(self, lease: &HeldLease, number: PullNumber, head: &Sha) -> Result<(), ForgeError> {
        let pull = self.auto_merge(number).await?;
        if pull.auto_merge.is_some() {
            return Ok(());
        }
        let forge: &Forge = self.forge;
        let allows: MethodsWire = forge.get(&forge.path(""), MetadataRead.to("read how the repository merges")).await?;
        let method = match (allows.allow_merge_commit, allows.allow_squash_merge) {
            (true, _) => "MERGE",
            (false, true) => "SQUASH",
            (false, false) => "REBASE",
        };
        let purpose = PullRequestsWrite.to("switch auto-merge on");
        let variables = json!({ "pull": pull.node_id, "head": head, "method": method });
        forge.mutate(lease, SWITCH_ON, variables, purpose).await
    }

    /// Switches off what [`Self::merge_when_ready`] switched on as the account `own`; what people switched on stays.
    ///
    /// # Errors
    /// [`ForgeError`] of a call.
    pub async fn merge_no_more(self, lease: &HeldLease, number: PullNumber, own: &Login) -> Result<(), ForgeError> {
        let pull = self.auto_merge(number).await?;
        let by = pull.auto_merge.and_then(|on| on.enabled_by);
        if !by.is_some_and(|by| by.login.is(own)) {
            return Ok(());
        }
        let purpose = PullRequestsWrite.to("switch auto-merge off");
        self.forge.mutate(lease, SWITCH_OFF, json!({ "pull": pull.node_id }), purpose).await
    }

    async fn auto_merge(self, number: PullNumber) -> Result<AutoMergeWire, ForgeError> {
        let path = self.forge.path(&format!("/pulls/{number}"));
        self.forge.get(&path, PullRequestsRead.to("read the pull request")).await
    }
}
