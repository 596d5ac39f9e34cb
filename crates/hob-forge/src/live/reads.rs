//! What can be read of the repository before anything is created.

use secrecy::ExposeSecret;

use super::{graphql, report::Outcome, run::Run, seen::Seen};
use crate::{Authentication, call::Call, purpose::Purpose, repository::encoded};

/// The kinds of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    /// An installation token of the App that Hob signs in as.
    App,
    /// A job's token, or an installation token from outside.
    Job,
    /// A person's fine-grained token.
    FineGrained,
    /// A person's classic token.
    Classic,
    /// Another token of a person.
    User,
    /// A token of an account of type Bot.
    Bot,
}

impl Token {
    /// Its name in the report.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::App => "App (its installation's)",
            Self::Job => "job, or an installation's that was made elsewhere",
            Self::FineGrained => "user (fine-grained)",
            Self::Classic => "user (classic)",
            Self::User => "user (fine-grained or classic: unknown)",
            Self::Bot => "an account of type Bot",
        }
    }

    /// Whether a repository's `permissions` are about it.
    fn is_of_a_person(self) -> bool {
        match self {
            Self::FineGrained | Self::Classic | Self::User => true,
            Self::App | Self::Job | Self::Bot => false,
        }
    }

    /// Whether the REST API reports an App as the author of what it created.
    pub(super) fn is_an_apps(self) -> bool {
        match self {
            Self::App | Self::Job => true,
            Self::FineGrained | Self::Classic | Self::User | Self::Bot => false,
        }
    }
}

/// The base branch's tip.
#[derive(Debug)]
pub(super) struct Base {
    pub(super) branch: String,
    pub(super) commit: String,
    pub(super) tree: String,
}

/// `user.own`: the token's owner.
pub(super) async fn token(run: &mut Run<'_>) -> Token {
    let asked = run.read(Call::get("/user", Purpose::without_permission("ask whose token this is"))).await;
    let is_app = matches!(run.forge().connection().authentication, Authentication::App(_));
    let (mut status, mut kind) = (0, String::new());
    run.judge("user.own", asked, |seen| {
        (status, kind) = (seen.status, seen.text("/type").to_owned());
        match (seen.status, is_app) {
            (200, false) | (403, true) => Outcome::Ok(None),
            // For the given token, this means that it is not a person's.
            (403, false) => Outcome::ok(seen.says()),
            _ => Outcome::Differs(seen.says()),
        }
    });
    match (is_app, status, kind.as_str()) {
        (true, ..) => Token::App,
        (false, 200, "Bot") => Token::Bot,
        (false, 200, _) => of_a_person(&run.forge().connection().authentication),
        (false, ..) => Token::Job,
    }
}

/// The kind of a person's token, by its prefix.
/// <https://docs.github.com/authentication/keeping-your-account-and-data-secure/about-authentication-to-github#githubs-token-formats>
fn of_a_person(authentication: &Authentication) -> Token {
    let begins_with = |prefix| match authentication {
        Authentication::Token(token) => token.expose_secret().starts_with(prefix),
        Authentication::App(_) => false,
    };
    match (begins_with("github_pat_"), begins_with("ghp_")) {
        (true, _) => Token::FineGrained,
        (false, true) => Token::Classic,
        (false, false) => Token::User,
    }
}

/// `repo.details`, `repo.permissions` and `repo.etag`; returns the default branch.
pub(super) async fn repository(run: &mut Run<'_>, seen: &Seen, token: Token) -> Option<String> {
    let has_all = seen.body["archived"].is_boolean() && seen.body["has_issues"].is_boolean();
    let branch = seen.body["default_branch"].as_str().map(str::to_owned);
    run.note(
        "repo.details",
        match branch.is_some() && has_all {
            true => Outcome::Ok(None),
            false => Outcome::Differs("a field is missing".to_owned()),
        },
    );
    let push = &seen.body["permissions"]["push"];
    run.note(
        "repo.permissions",
        match (token.is_of_a_person(), push.as_bool()) {
            (true, Some(true)) => Outcome::Ok(None),
            (true, _) => Outcome::Differs(format!("`push` is {push}")),
            (false, _) => Outcome::ok(format!("`push` is {push}, which is unexpected for such a token")),
        },
    );
    let asked = run.get_if("", seen.etag.as_deref()).await;
    run.judge("repo.etag", asked, |seen| match seen.status {
        304 => Outcome::Ok(None),
        _ => Outcome::Differs(format!("a second read is answered {}", seen.says())),
    });
    branch
}

/// `branch.tip`.
pub(super) async fn base(run: &mut Run<'_>, branch: &str) -> Option<Base> {
    let asked = run.get(&format!("/branches/{}", encoded(branch))).await;
    let tip = run.judge("branch.tip", asked, Seen::succeeds)?;
    let (commit, tree) = (tip.text("/commit/sha").to_owned(), tip.text("/commit/commit/tree/sha").to_owned());
    Some(Base { branch: branch.to_owned(), commit, tree })
}

/// `check.list`, `check.forbidden`, `check.same` and `status.list` for the tip of the base branch.
pub(super) async fn checks(run: &mut Run<'_>, base: &Base, token: Token) {
    let runs = run.get(&format!("/commits/{}/check-runs?per_page=100", base.commit)).await;
    let forbidden = match &runs {
        Ok(seen) if seen.status == 403 => Outcome::ok(seen.says()),
        Ok(_) if token == Token::FineGrained => Outcome::Differs("a fine-grained token may see check runs".to_owned()),
        _ => Outcome::NotTried("the token may see check runs".to_owned()),
    };
    run.note("check.forbidden", forbidden);
    let shown = run.judge("check.list", runs, |seen| match (seen.status, seen.number("/total_count")) {
        (200, Some(count)) => Outcome::ok(format!("{count} at the tip of the base branch")),
        (403, _) => Outcome::NotTried("the token may not see check runs".to_owned()),
        _ => Outcome::Differs(seen.says()),
    });
    let statuses = run.get(&format!("/commits/{}/statuses?per_page=100", base.commit)).await;
    run.judge("status.list", statuses, Seen::succeeds);
    graphql::rollup(run, &base.commit, shown.and_then(|shown| shown.number("/total_count"))).await;
}
