//! The account that a connection signs in as, and the repositories that an App's account reaches.

use std::time::Duration;

use hob_domain::{Login, RepoName};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::{
    Authentication, Connection, ForgeError, TokenPermission::MetadataRead, pages::pages, purpose::Purpose,
    repository::encoded,
};

/// How long a login is cached; accounts and Apps can be renamed while a worker runs.
const LOGIN_AGE_MAX: Duration = Duration::from_secs(5 * 60);

#[derive(Serialize, Deserialize)]
struct UserWire {
    id: u64,
    login: Login,
    #[serde(default)]
    name: Option<String>,
    #[serde(default, rename = "type")]
    kind: Option<String>,
}

/// An account, as its page shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Its id, which stays if it is renamed.
    pub id: u64,
    /// The name that it shows. `None` if it shows none.
    pub name: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct RepositoriesWire {
    repositories: Vec<RepositoryWire>,
}

#[derive(Serialize, Deserialize)]
struct RepositoryWire {
    full_name: RepoName,
    #[serde(default)]
    archived: bool,
    #[serde(default)]
    disabled: bool,
}

impl Connection {
    /// The account that the token belongs to. `None` if the forge does not say, as for an Actions token. It is read
    /// again after five minutes; if that fails, the last answer is used.
    ///
    /// # Errors
    /// [`ForgeError`] of the first read.
    pub async fn login(&self) -> Result<Option<Login>, ForgeError> {
        let mut own = self.own_login.lock().await;
        if let Some((told_at, login)) = &*own
            && told_at.elapsed() < LOGIN_AGE_MAX
        {
            return Ok(login.clone());
        }
        let login = match (self.ask_login().await, own.take()) {
            (Ok(login), _) => login,
            (Err(error), Some((_, login))) => {
                tracing::debug!(%error, "cannot ask for the login again, keeping the last one: {error}");
                login
            }
            (Err(error), None) => return Err(error),
        };
        *own = Some((Instant::now(), login.clone()));
        Ok(login)
    }

    /// The account, if it was read before.
    pub fn known_login(&self) -> Option<Login> {
        self.own_login.try_lock().ok()?.as_ref()?.1.clone()
    }

    async fn ask_login(&self) -> Result<Option<Login>, ForgeError> {
        // An App knows its own login; a setting meant for another token would keep it from recognizing its own
        // comments.
        if let Some(login) = self.authentication.app_login(&self.transport).await? {
            return Ok(Some(login));
        }
        if !self.settings().login.is_empty() {
            return Ok(Some(Login(self.settings().login.clone())));
        }
        Ok(self.user().await?.map(|user| user.login))
    }

    /// The account of a token. `None` for an App's or a job's, which may not ask.
    async fn user(&self) -> Result<Option<UserWire>, ForgeError> {
        match self.get("/user", Purpose::without_permission("ask whose token this is")).await {
            Ok(user) => Ok(Some(user)),
            Err(ForgeError::Forbidden { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether the token is a person's; Apps and jobs may not ask who they are.
    ///
    /// # Errors
    /// [`ForgeError`] of the read.
    pub(super) async fn is_of_a_person(&self) -> Result<bool, ForgeError> {
        if matches!(self.authentication, Authentication::App(_)) {
            return Ok(false);
        }
        Ok(self.user().await?.is_some_and(|user| user.kind.is_none_or(|kind| kind == "User")))
    }

    /// The id and the name of an account. `None` if the forge does not tell.
    ///
    /// # Errors
    /// [`ForgeError`] of the read.
    pub async fn account(&self, login: &Login) -> Result<Option<Account>, ForgeError> {
        // A bot's login ends with `[bot]`, which a URL cannot contain unescaped.
        let path = format!("/users/{}", encoded(login.as_str()));
        match self.get::<UserWire>(&path, Purpose::without_permission("ask for the id of an account")).await {
            Ok(user) => Ok(Some(Account { id: user.id, name: user.name.filter(|name| !name.trim().is_empty()) })),
            Err(ForgeError::Forbidden { .. } | ForgeError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The repositories of the App's installation that can be written to.
    ///
    /// # Errors
    /// [`ForgeError`] of a call.
    pub async fn installation_repositories(&self) -> Result<Vec<RepoName>, ForgeError> {
        let path = "/installation/repositories?per_page=100";
        let purpose = MetadataRead.to("list the installation's repositories");
        let advice = "name the repositories with `--repo`, or give the installation fewer";
        let pages: Vec<RepositoriesWire> = pages(self, path, purpose, advice).await?;
        let all = pages.into_iter().flat_map(|page| page.repositories);
        Ok(all.filter(|found| !found.archived && !found.disabled).map(|found| found.full_name).collect())
    }
}
