//! The repository itself: its base branch, its settings file, who may do what, and whose token this is.

use hob_domain::{Actor, Login, Permission, Sha};
use serde::Deserialize;

use crate::{
    Forge, ForgeError,
    TokenPermission::{ContentsRead, MetadataRead},
    purpose::Purpose,
};

/// What Hob reads of a repository.
#[derive(Debug, Clone)]
pub struct Repository {
    /// The branch that work starts from and goes to.
    pub default_branch: String,
    /// Whether the token may push; none where the forge does not say.
    pub may_push: Option<bool>,
    /// Whether it is archived: read-only for everybody.
    pub archived: bool,
}

/// The base branch's tip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseBranch {
    /// Its name.
    pub name: String,
    /// Its commit.
    pub sha: Sha,
    /// The commit's tree.
    pub tree: Sha,
}

#[derive(Deserialize)]
struct RepositoryWire {
    default_branch: String,
    #[serde(default)]
    archived: bool,
    permissions: Option<PermissionsWire>,
}

#[derive(Deserialize)]
struct PermissionsWire {
    #[serde(default)]
    push: bool,
}

#[derive(Deserialize)]
struct BranchWire {
    commit: BranchCommitWire,
}

#[derive(Deserialize)]
struct BranchCommitWire {
    sha: Sha,
    commit: InnerCommitWire,
}

#[derive(Deserialize)]
struct InnerCommitWire {
    tree: ShaWire,
}

#[derive(Deserialize)]
struct ShaWire {
    sha: Sha,
}

#[derive(Deserialize)]
struct PermissionWire {
    permission: String,
    #[serde(default)]
    role_name: String,
}

#[derive(Deserialize)]
struct UserWire {
    login: Login,
}

#[derive(Deserialize)]
struct ContentWire {
    content: String,
    encoding: String,
}

impl Forge {
    /// The repository's own data.
    ///
    /// # Errors
    /// [`ForgeError::NoRepository`] when it is not there.
    pub async fn repository(&self) -> Result<Repository, ForgeError> {
        match self.get::<RepositoryWire>(&self.path(""), MetadataRead.to("read the repository")).await {
            Ok(wire) => Ok(Repository {
                default_branch: wire.default_branch,
                may_push: wire.permissions.map(|permissions| permissions.push),
                archived: wire.archived,
            }),
            Err(error) if error.is_not_found() => Err(ForgeError::NoRepository(self.repo.clone())),
            Err(error) => Err(error),
        }
    }

    /// The tip of the branch that work starts from.
    ///
    /// # Errors
    /// [`ForgeError::EmptyRepository`] when the branch has no commit yet.
    pub async fn base_branch(&self) -> Result<BaseBranch, ForgeError> {
        let name = self.repository().await?.default_branch;
        match self
            .get::<BranchWire>(
                &self.path(&format!("/branches/{}", encoded(&name))),
                ContentsRead.to("read the base branch"),
            )
            .await
        {
            Ok(wire) => Ok(BaseBranch { name, sha: wire.commit.sha, tree: wire.commit.commit.tree.sha }),
            Err(error) if error.is_not_found() => Err(ForgeError::EmptyRepository(self.repo.clone())),
            Err(error) => Err(error),
        }
    }

    /// A file at a commit; none where it is not there.
    ///
    /// # Errors
    /// [`ForgeError::Unreadable`] when it is no text.
    pub async fn file(&self, path: &str, at: &Sha) -> Result<Option<String>, ForgeError> {
        use base64::Engine;
        let what = format!("read `{path}`");
        let wire = match self
            .get::<ContentWire>(&self.path(&format!("/contents/{path}?ref={at}")), ContentsRead.to(&what))
            .await
        {
            Ok(wire) => wire,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(error),
        };
        let unreadable = |reason: &str| ForgeError::Unreadable { what: what.clone(), reason: reason.to_owned() };
        if wire.encoding != "base64" {
            return Err(unreadable("the file is too large"));
        }
        let joined: String = wire.content.split_whitespace().collect();
        let bytes =
            base64::engine::general_purpose::STANDARD.decode(joined).map_err(|_| unreadable("it is no base64"))?;
        String::from_utf8(bytes).map(Some).map_err(|_| unreadable("the file is not UTF-8"))
    }

    /// What an account may do here; none where the forge does not know the account.
    ///
    /// # Errors
    /// [`ForgeError`] of the read: then nobody is trusted.
    pub async fn permission(&self, actor: &Actor) -> Result<Option<Permission>, ForgeError> {
        let path = self.path(&format!("/collaborators/{}/permission", encoded(actor.login.as_str())));
        let wire = match self.get::<PermissionWire>(&path, MetadataRead.to("read an account's permission")).await {
            Ok(wire) => wire,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(error),
        };
        // `permission` folds triage into read and maintain into write; `role_name` tells them apart, but may be a
        // role of the organisation's own, which then counts as what it folds into.
        let role = |name: &str| serde_json::from_value(serde_json::Value::from(name)).ok();
        Ok(role(&wire.role_name).or_else(|| role(&wire.permission)))
    }

    /// The account the token belongs to; none where the forge does not say, as for an Actions token.
    ///
    /// # Errors
    /// [`ForgeError`] of the read.
    pub async fn login(&self) -> Result<Option<Login>, ForgeError> {
        if !self.settings().login.is_empty() {
            return Ok(Some(Login(self.settings().login.clone())));
        }
        if let Some(login) = self.connection().app_login().await? {
            return Ok(Some(login));
        }
        match self.get::<UserWire>("/user", Purpose::without_permission("ask whose token this is")).await {
            Ok(user) => Ok(Some(user.login)),
            Err(ForgeError::Forbidden { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// A name as a part of a path.
pub(super) fn encoded(name: &str) -> String {
    url::form_urlencoded::byte_serialize(name.as_bytes()).collect::<String>().replace('+', "%20")
}
