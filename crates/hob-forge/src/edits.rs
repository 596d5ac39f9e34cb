//! Who changed the text of an issue, by the forge's own history: the body's from GraphQL, the only source, and the
//! title's from the issue's events.

use hob_domain::{AccountKind, Actor, IssueNumber, Login, Timestamp, approved_hash};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{ForgeError, Issues, TokenPermission::IssuesRead};

/// The newest edits of the body; to hide an edit, an account would have to make as many others after it.
pub(super) const QUERY: &str = "query($owner: String!, $name: String!, $number: Int!) { repository(owner: $owner, name: $name) { \
    issue(number: $number) { lastEditedAt userContentEdits(first: 100) { nodes { editedAt editor { login __typename } } } } } }";

/// The newest edits of the body with the text after each.
pub(super) const TEXTS: &str = "query($owner: String!, $name: String!, $number: Int!) { repository(owner: $owner, name: $name) { \
    issue(number: $number) { lastEditedAt userContentEdits(first: 20) { nodes { editedAt diff editor { login __typename } } } } } }";
/// How many of them are read.
const TEXTS_MAX: usize = 20;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EditedWire {
    last_edited_at: Option<Timestamp>,
    user_content_edits: Option<EditsWire>,
}

#[derive(Deserialize)]
struct EditsWire {
    nodes: Option<Vec<Option<EditWire>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EditWire {
    edited_at: Timestamp,
    editor: Option<EditorWire>,
    #[serde(default)]
    diff: Option<String>,
}

/// An edit of a body.
#[derive(Debug, Clone)]
pub struct BodyEdit {
    /// When.
    pub at: Timestamp,
    /// The editor. `None` if the account is gone.
    pub editor: Option<Actor>,
    /// The whole text after it, if the forge shows it.
    pub text: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct EditorWire {
    login: String,
    #[serde(rename = "__typename")]
    kind: String,
}

impl EditorWire {
    /// Whether it is a person's account.
    pub(super) fn is_person(&self) -> bool {
        self.kind == "User"
    }

    pub(super) fn login(&self) -> Login {
        self.login.as_str().into()
    }
}

impl From<EditorWire> for Actor {
    fn from(wire: EditorWire) -> Self {
        match wire.kind.as_str() {
            "User" => Self { login: wire.login.into(), kind: AccountKind::User },
            // GraphQL omits the ending that the REST API gives such a name.
            _program => Self { login: Login(format!("{}[bot]", wire.login)), kind: AccountKind::Bot },
        }
    }
}

impl Issues<'_> {
    /// The accounts that edited the title or the body in the second `since` or later; `None` for an account that is
    /// gone.
    ///
    /// # Errors
    /// [`ForgeError`] of the reads; the caller must not assume that there were no edits.
    pub async fn editors_since(self, number: IssueNumber, since: Timestamp) -> Result<Vec<Option<Actor>>, ForgeError> {
        let mut editors = self.edits(QUERY, number).await?.editors_since(since);
        editors.extend(self.renamers_since(number, since).await?);
        Ok(editors)
    }

    /// Those of the accounts of [`editors_since`](Self::editors_since) that changed more of the body than
    /// [`approved_hash`] counts, or the title. Its query is larger, and few issues need it.
    ///
    /// # Errors
    /// [`ForgeError`] of the reads; the caller must not assume that there were no edits.
    pub async fn rewriters_since(
        self,
        number: IssueNumber,
        since: Timestamp,
    ) -> Result<Vec<Option<Actor>>, ForgeError> {
        let Edits(mut edits) = self.edits(TEXTS, number).await?;
        if edits.len() >= TEXTS_MAX && edits.iter().all(|edit| edit.edited_at >= since) {
            return self.editors_since(number, since).await;
        }
        edits.sort_by_key(|edit| std::cmp::Reverse(edit.edited_at));
        // The oldest is the text as it was written, if it is among these; otherwise nothing says what it changed.
        let before = edits.iter().skip(1).map(|edit| edit.diff.as_deref()).chain([None]);
        let is_same = |(before, edit): (Option<&str>, &EditWire)| {
            let both = before.zip(edit.diff.as_deref());
            both.is_some_and(|(before, after)| approved_hash("", before) == approved_hash("", after))
        };
        let same: Vec<bool> = before.zip(&edits).map(is_same).collect();
        let kept = edits.into_iter().zip(same).filter(|(_, same)| !same).map(|(edit, _)| edit);
        let mut editors = Edits(kept.collect()).editors_since(since);
        editors.extend(self.renamers_since(number, since).await?);
        Ok(editors)
    }

    /// The edits of the body in the second `since` or later, newest first. `None` if there are more than are read.
    ///
    /// # Errors
    /// [`ForgeError`] of the read.
    pub async fn body_edits_since(
        self,
        number: IssueNumber,
        since: Timestamp,
    ) -> Result<Option<Vec<BodyEdit>>, ForgeError> {
        let Edits(edits) = self.edits(TEXTS, number).await?;
        let is_all = edits.len() < TEXTS_MAX || edits.iter().any(|edit| edit.edited_at < since);
        let mut edits: Vec<BodyEdit> = edits
            .into_iter()
            .filter(|edit| edit.edited_at >= since)
            .map(|edit| BodyEdit { at: edit.edited_at, editor: edit.editor.map(Actor::from), text: edit.diff })
            .collect();
        edits.sort_by_key(|edit| std::cmp::Reverse(edit.at));
        Ok(is_all.then_some(edits))
    }

    async fn edits(self, query: &str, number: IssueNumber) -> Result<Edits, ForgeError> {
        let repo = self.forge.repo();
        let variables = json!({ "owner": repo.owner(), "name": repo.name(), "number": number.0 });
        let purpose = IssuesRead.to("read who edited the issue");
        let data = self.forge.connection().query(query, variables, purpose).await?.data;
        body_edits(&data["repository"]["issue"], purpose.what)
    }
}

/// Edits of a body, newest first.
pub(super) struct Edits(Vec<EditWire>);

impl Edits {
    /// The accounts that made those in the second `since` or later.
    pub(super) fn editors_since(self, since: Timestamp) -> Vec<Option<Actor>> {
        let new = self.0.into_iter().filter(|edit| edit.edited_at >= since);
        new.map(|edit| edit.editor.map(Actor::from)).collect()
    }
}

/// The edits that an answer shows of an issue, read to do `what`.
///
/// # Errors
/// [`ForgeError::Unreadable`] if some of them are hidden.
pub(super) fn body_edits(issue: &Value, what: &str) -> Result<Edits, ForgeError> {
    let unreadable =
        |source: Box<dyn std::error::Error + Send + Sync>| ForgeError::Unreadable { what: what.to_owned(), source };
    let issue = EditedWire::deserialize(issue).map_err(|error| unreadable(error.into()))?;
    // By the schema, the list, its nodes and each node may be null.
    let edits = match (issue.user_content_edits.and_then(|edits| edits.nodes), issue.last_edited_at) {
        (Some(edits), _) => {
            edits.into_iter().collect::<Option<_>>().ok_or_else(|| unreadable("an edit is hidden".into()))?
        }
        (None, None) => Vec::new(),
        (None, Some(_)) => return Err(unreadable("it was edited, and its edits are hidden".into())),
    };
    Ok(Edits(edits))
}
