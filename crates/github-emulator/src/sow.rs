//! Makes the initial contents of a forge: the accounts that it was started with, and its seed.
//!
//! # Flow
//! Git data is made first; everything else is a request to the API's own endpoint, by the named account or by the
//! repository's owner. So each rule of the API holds for a seed, too, and unsupported fields are refused by name.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use bytes::Bytes;
use secrecy::ExposeSecret;
use serde_json::{Map, Value, json};

use super::{
    branch_rules::BranchRules,
    call::{Call, Reply},
    forge::Forge,
    git,
    job_making::make,
    media::Media,
    refusal::Refusal,
    route::Route,
    rulesets::Ruleset,
    seed::{SeedError, SeedIssue, SeedRepository},
    state::{Account, Repository},
    users::{AccountKind, Role, TokenKind, User},
};
use crate::names::{Login, RepoName};

/// Adds the accounts that the forge was started with, and makes the seed's repositories, except those that exist.
pub(super) fn begin(forge: &Arc<Forge>, routes: &[&Route]) -> Result<(), SeedError> {
    for app in &forge.apps {
        add_account(forge, app.login(), app.role, AccountKind::Bot);
    }
    for user in forge.users.iter().cloned().chain(forge.seed.users()) {
        add_user(forge, &user);
    }
    forge.save()?;
    for repo in &forge.seed.repositories {
        let exists = forge.state().repositories.get(repo.name.owner(), repo.name.name()).is_some();
        if !exists {
            Sower { forge, routes, name: &repo.name }.sow(repo, &forge.seed.folder)?;
        }
    }
    Ok(())
}

/// Adds an account, or gives a known one this token and role.
pub(super) fn add_user(forge: &Forge, user: &User) {
    let login = add_account(forge, user.login.clone(), user.role, user.kind);
    forge.admit(user.token.expose_secret(), login, user.token_kind);
}

/// Adds an account; returns its name, which ends with `[bot]` for a bot, even if it was given without that.
fn add_account(forge: &Forge, login: Login, role: Role, kind: AccountKind) -> Login {
    let (id, created_at) = (forge.next_id(), forge.now());
    let login = match kind {
        AccountKind::Bot => Login::of_bot(login.slug()),
        AccountKind::User => login,
    };
    let account = Account { id, login: login.clone(), role, kind, created_at, signing_keys: Vec::new() };
    forge.state().accounts.put(account);
    login
}

/// Makes a public repository whose default branch `fill` fills, and its owner if there is no such account.
pub(super) fn make_repository<T>(
    forge: &Forge,
    name: &RepoName,
    branch: &str,
    fill: impl FnOnce(&git2::Repository, &str) -> Result<T, git2::Error>,
) -> Result<T, SeedError> {
    if forge.state().repositories.get(name.owner(), name.name()).is_some() {
        return Err(SeedError::Exists(name.clone()));
    }
    let mut repo = Repository::new(forge.next_id(), name.clone(), forge.now());
    branch.clone_into(&mut repo.default_branch);
    let filled = fill(&forge.git.init(repo.id, branch)?, branch)?;
    let mut state = forge.state();
    if state.accounts.get(name.owner()).is_none() {
        let (id, created_at, login) = (forge.next_id(), forge.now(), name.owner().into());
        state.accounts.put(Account {
            id,
            login,
            role: Role::Read,
            kind: AccountKind::User,
            created_at,
            signing_keys: Vec::new(),
        });
    }
    state.repositories.put(repo);
    drop(state);
    forge.save()?;
    Ok(filled)
}

/// One repository on its way.
struct Sower<'a> {
    forge: &'a Arc<Forge>,
    routes: &'a [&'a Route],
    name: &'a RepoName,
}

impl Sower<'_> {
    fn sow(&self, seed: &SeedRepository, folder: &Path) -> Result<(), SeedError> {
        make_repository(self.forge, self.name, &seed.default_branch, |git, branch| {
            let tip = match &seed.from {
                Some(from) => Some(git::copy_head(git, &folder.join(from), branch)?),
                None if seed.files.is_empty() => None,
                None => Some(git::plant(git, branch, &bytes(&seed.files))?),
            };
            for (branch, files) in &seed.branches {
                git::grow(git, branch, tip, &bytes(files))?;
            }
            Ok(())
        })?;
        if let Some(repo) = self.forge.state().repositories.get_mut(self.name.owner(), self.name.name()) {
            repo.protected.clone_from(&seed.protected);
            repo.rules.clone_from(&seed.protection);
            let ruleset = |(branch, rules): (&String, &BranchRules)| {
                Ruleset::of_branch(self.forge.next_id(), branch, rules.clone(), self.forge.now())
            };
            repo.rulesets = seed.rulesets.iter().map(ruleset).collect();
        }
        for (login, role) in &seed.collaborators {
            let body = json!({"permission": role});
            self.ask("PUT /repos/{owner}/{repo}/collaborators/{login}", &[("login", login)], None, body)?;
        }
        for label in &seed.labels {
            self.ask("POST /repos/{owner}/{repo}/labels", &[], None, Value::Object(label.clone()))?;
        }
        let (issues, pulls) = ("POST /repos/{owner}/{repo}/issues", "POST /repos/{owner}/{repo}/pulls");
        let all = seed.issues.iter().map(|issue| (issues, issue)).chain(seed.pulls.iter().map(|pull| (pulls, pull)));
        for (endpoint, issue) in all {
            self.open(endpoint, issue)?;
        }
        for job in &seed.jobs {
            make(self.forge, self.name, job)
                .map_err(|refusal| self.refused(format!("the job {}", job.name), &refusal))?;
        }
        if !seed.settings.is_empty() {
            self.ask("PATCH /repos/{owner}/{repo}", &[], None, Value::Object(seed.settings.clone()))?;
        }
        self.forge.save()?;
        Ok(())
    }

    /// Opens an issue or pull request, as its author; labels, assignees and its state are the owner's matter.
    fn open(&self, endpoint: &str, issue: &SeedIssue) -> Result<(), SeedError> {
        let made = self.ask(endpoint, &[], issue.author.as_ref(), Value::Object(issue.fields.clone()))?;
        let number = made["number"].to_string();
        let at = [("number", number.as_str())];
        for comment in &issue.comments {
            let body = json!({"body": comment.body});
            let endpoint = "POST /repos/{owner}/{repo}/issues/{number}/comments";
            self.ask(endpoint, &at, comment.author.as_ref(), body)?;
        }
        let mut changes = Map::new();
        let mut set = |name: &str, value: Option<Value>| value.map(|value| changes.insert(name.to_owned(), value));
        set("labels", issue.labels.as_ref().map(|labels| json!(labels)));
        set("assignees", issue.assignees.as_ref().map(|logins| json!(logins)));
        set("state", issue.state.as_ref().map(|state| json!(state)));
        if !changes.is_empty() {
            self.ask("PATCH /repos/{owner}/{repo}/issues/{number}", &at, None, Value::Object(changes))?;
        }
        Ok(())
    }

    /// Asks an endpoint as this account, or as the repository's owner.
    fn ask(
        &self,
        endpoint: &str,
        parts: &[(&str, &str)],
        caller: Option<&Login>,
        body: Value,
    ) -> Result<Value, SeedError> {
        let caller = caller.cloned().unwrap_or_else(|| self.name.owner().into());
        let refused = |refusal: &Refusal| self.refused(format!("{endpoint} {body}"), refusal);
        if self.forge.state().accounts.get(caller.as_str()).is_none() {
            return Err(refused(&Refusal::unprocessable(format!("there is no account `{caller}`"))));
        }
        let mut path = BTreeMap::from([("owner", self.name.owner()), ("repo", self.name.name())]);
        path.extend(parts.iter().copied());
        let call = Call {
            forge: Arc::clone(self.forge),
            caller: Some(caller),
            grant: None,
            token: TokenKind::Classic,
            app: None,
            path: path.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            query: BTreeMap::new(),
            raw_query: String::new(),
            location: String::new(),
            media: Media::Json,
            body: Bytes::from(body.to_string()),
            now: self.forge.now(),
        };
        let route = self.routes.iter().find(|route| route.name() == endpoint);
        let answer = route.ok_or_else(|| Refusal::not_here(endpoint)).and_then(|route| route.serve(&call));
        answer.map(Reply::shown).map_err(|refusal| refused(&refusal))
    }

    fn refused(&self, what: String, refusal: &Refusal) -> SeedError {
        SeedError::Refused { what, repository: self.name.clone(), refusal: refusal.to_string() }
    }
}

fn bytes(files: &BTreeMap<String, String>) -> Vec<(&str, &[u8], bool)> {
    files.iter().map(|(path, text)| (path.as_str(), text.as_bytes(), text.starts_with("#!"))).collect()
}
