//! The accounts that the server is started with, and their roles.

use std::str::FromStr;

use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use crate::names::Login;

/// The access of an account to a repository: GitHub's five roles and none at all; each includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// No access of its own: public repositories can be read, private ones do not exist.
    None,
    /// May read, open issues and comment.
    Read,
    /// May also label, assign and close.
    Triage,
    /// May also push, change refs and open pull requests.
    Write,
    /// May also manage the repository's settings.
    Maintain,
    /// May also manage collaborators.
    Admin,
}

impl Role {
    /// GitHub's name of the role, as in `role_name`.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Read => "read",
            Self::Triage => "triage",
            Self::Write => "write",
            Self::Maintain => "maintain",
            Self::Admin => "admin",
        }
    }

    /// GitHub's older name of it, as in `permission`, which knows only four levels.
    pub fn permission(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Read | Self::Triage => "read",
            Self::Write | Self::Maintain => "write",
            Self::Admin => "admin",
        }
    }
}

impl FromStr for Role {
    type Err = InvalidUser;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "none" => Ok(Self::None),
            "read" | "pull" => Ok(Self::Read),
            "triage" => Ok(Self::Triage),
            "write" | "push" => Ok(Self::Write),
            "maintain" => Ok(Self::Maintain),
            "admin" => Ok(Self::Admin),
            other => Err(InvalidUser::Role(other.to_owned())),
        }
    }
}

/// The kind of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum AccountKind {
    /// A person's account.
    User,
    /// An account of type Bot, as an App's.
    Bot,
}

impl AccountKind {
    /// GitHub's name of it, as in `type`.
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "User",
            Self::Bot => "Bot",
        }
    }
}

/// The kind of token that an account signs in with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TokenKind {
    /// A token with all rights of its account.
    #[default]
    Classic,
    /// A person's fine-grained token. There is no permission for checks that it could have.
    /// <https://docs.github.com/rest/authentication/permissions-required-for-fine-grained-personal-access-tokens>
    FineGrained,
    /// The `GITHUB_TOKEN` of a job of GitHub Actions: no user's, and with 1,000 requests an hour in each repository.
    /// <https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api>
    Job,
}

/// An account and the token it signs in with.
#[derive(Debug, Clone)]
pub struct User {
    /// The account's name.
    pub login: Login,
    /// Its token.
    pub token: SecretString,
    /// Its role in every repository, unless a collaborator entry says otherwise.
    pub role: Role,
    /// Person or bot.
    pub kind: AccountKind,
    /// The kind of its token.
    pub token_kind: TokenKind,
}

/// A text that describes no user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidUser {
    /// No name, or no token.
    #[error("write a user as LOGIN:TOKEN[:ROLE[:KIND]]")]
    Form,
    /// A login with characters no account has.
    #[error("`{0}` is not a login: letters, digits, `-`, `_` and a trailing `[bot]`")]
    Login(String),
    /// A role GitHub does not have.
    #[error("`{0}` is not a role: none, read, triage, write, maintain or admin")]
    Role(String),
    /// Something other than a kind at the end.
    #[error("`{0}` is not a kind of account or token: bot, fine-grained or job")]
    Kind(String),
}

impl FromStr for User {
    type Err = InvalidUser;

    /// Reads `LOGIN:TOKEN[:ROLE[:KIND]]`; without a role it is `write`. Kinds are `bot`, an account of type Bot;
    /// `fine-grained`, a person with such a token; `job`, a job of Actions, whose account is of type Bot.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = text.splitn(4, ':');
        let (Some(login), Some(token)) = (parts.next(), parts.next()) else { return Err(InvalidUser::Form) };
        if token.is_empty() {
            return Err(InvalidUser::Form);
        }
        let plain = login.strip_suffix("[bot]").unwrap_or(login);
        if plain.is_empty() || !plain.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')) {
            return Err(InvalidUser::Login(login.to_owned()));
        }
        let role = parts.next().map_or(Ok(Role::Write), str::parse)?;
        let (kind, token_kind) = match parts.next() {
            None => (AccountKind::User, TokenKind::Classic),
            Some("bot") => (AccountKind::Bot, TokenKind::Classic),
            Some("fine-grained") => (AccountKind::User, TokenKind::FineGrained),
            Some("job") => (AccountKind::Bot, TokenKind::Job),
            Some(other) => return Err(InvalidUser::Kind(other.to_owned())),
        };
        Ok(Self { login: login.into(), token: token.to_owned().into(), role, kind, token_kind })
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    #[test]
    fn a_user_is_a_login_a_token_a_role_and_a_kind() {
        let user: User = "hob[bot]:t0k:triage:bot".parse().unwrap();
        assert_eq!((user.login.as_str(), user.role, user.kind), ("hob[bot]", Role::Triage, AccountKind::Bot));
        assert_eq!(user.token.expose_secret(), "t0k");
        assert_eq!("ada:t".parse::<User>().unwrap().role, Role::Write);
        let kinds = |text: &str| text.parse::<User>().map(|user| (user.kind, user.token_kind)).unwrap();
        assert_eq!(kinds("ada:t:read"), (AccountKind::User, TokenKind::Classic));
        assert_eq!(kinds("ada:t:read:fine-grained"), (AccountKind::User, TokenKind::FineGrained));
        assert_eq!(kinds("github-actions[bot]:t:write:job"), (AccountKind::Bot, TokenKind::Job));
        for bad in ["", "ada", "ada:", ":t", "a/b:t", "ada:t:king", "ada:t:read:robot"] {
            assert!(bad.parse::<User>().is_err(), "{bad:?}");
        }
    }
}
