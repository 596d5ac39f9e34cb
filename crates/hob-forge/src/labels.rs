//! Labels: created if the repository lacks them, and added and removed one by one.

use std::sync::PoisonError;

use hob_domain::{LabelChange, LabelSpec, PullNumber, has_label};
use http::Method;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    Forge, ForgeError, HeldLease,
    TokenPermission::{IssuesRead, IssuesWrite},
    repository::encoded,
};

#[derive(Serialize, Deserialize)]
struct LabelWire {
    name: String,
    #[serde(default)]
    node_id: String,
}

/// A repository's labels.
#[derive(Debug, Clone, Copy)]
pub struct Labels<'a> {
    pub(super) forge: &'a Forge,
}

impl Labels<'_> {
    /// The labels that the repository lacks.
    ///
    /// # Errors
    /// [`ForgeError`] of the read.
    pub async fn missing(self, specs: &[LabelSpec]) -> Result<Vec<LabelSpec>, ForgeError> {
        let path = self.forge.path("/labels?per_page=100");
        let purpose = IssuesRead.to("list the labels");
        let there: Vec<LabelWire> = self.forge.get_all(&path, purpose, "delete labels that nobody uses").await?;
        there.iter().for_each(|label| self.know(label));
        let names: Vec<String> = there.into_iter().map(|label| label.name).collect();
        Ok(specs.iter().filter(|spec| !has_label(&names, &spec.name)).cloned().collect())
    }

    /// Creates labels. Another worker may create them at the same time.
    ///
    /// # Errors
    /// [`ForgeError`] of a call.
    pub async fn create(self, specs: &[LabelSpec]) -> Result<(), ForgeError> {
        for spec in specs {
            let body = json!({ "name": spec.name, "color": spec.color, "description": spec.description });
            let what = format!("make the label `{}`", spec.name);
            match self
                .forge
                .write::<LabelWire>(Method::POST, &self.forge.path("/labels"), &body, IssuesWrite.to(&what))
                .await
            {
                Ok(made) => self.know(&made),
                Err(error) if error.is_refusal(422, "already_exists") => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Remembers a label's id in GraphQL.
    fn know(self, label: &LabelWire) {
        let mut known = self.forge.repository.lock().unwrap_or_else(PoisonError::into_inner);
        known.label_nodes.insert(label.name.to_lowercase(), label.node_id.clone());
    }

    /// Adds labels to a pull request.
    ///
    /// # Errors
    /// [`ForgeError`] of the write.
    pub async fn put_on(self, lease: &HeldLease, pull: PullNumber, names: &[String]) -> Result<(), ForgeError> {
        let path = self.forge.path(&format!("/issues/{pull}/labels"));
        let purpose = IssuesWrite.to("put labels on the pull request");
        let body = json!({ "labels": names });
        self.forge.write_held::<serde_json::Value>(lease, Method::POST, &path, &body, purpose).await?;
        Ok(())
    }

    /// Makes one change of one label. Removing a missing label is not an error.
    ///
    /// # Errors
    /// [`ForgeError`] of the write.
    pub async fn change(self, lease: &HeldLease, change: &LabelChange) -> Result<(), ForgeError> {
        let issue = lease.issue();
        match change {
            LabelChange::Add(name) => {
                let path = self.forge.path(&format!("/issues/{issue}/labels"));
                let what = format!("put the label `{name}` on issue {issue}");
                self.forge
                    .write_held::<serde_json::Value>(
                        lease,
                        Method::POST,
                        &path,
                        &json!({ "labels": [name] }),
                        IssuesWrite.to(&what),
                    )
                    .await?;
            }
            LabelChange::Remove(name) => {
                let path = self.forge.path(&format!("/issues/{issue}/labels/{}", encoded(name)));
                let what = format!("take the label `{name}` off issue {issue}");
                let body = serde_json::Value::Null;
                match self
                    .forge
                    .write_held::<serde_json::Value>(lease, Method::DELETE, &path, &body, IssuesWrite.to(&what))
                    .await
                {
                    Err(error) if error.is_not_found() => {}
                    result => drop(result?),
                }
            }
        }
        Ok(())
    }
}
