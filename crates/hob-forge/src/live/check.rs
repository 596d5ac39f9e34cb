//! The live check from its first call to its report.

use tokio_util::sync::CancellationToken;

use super::{clean::clean, graphql, issues, pulls, reads, refs, report::LiveReport, run::Run, seen::Seen};
use crate::{Forge, ForgeError};

/// The target of the live check, and its observer.
#[derive(Clone, Copy)]
pub struct Live<'a> {
    /// A client whose connection was made for [`Access::LiveCheck`](crate::Access::LiveCheck).
    pub forge: &'a Forge,
    /// The API's address.
    pub api_url: &'a str,
    /// Ends the check early; what was created is still closed and deleted.
    pub cancel: &'a CancellationToken,
    /// Called with each step that begins.
    pub told: &'a (dyn Fn(&str) + Send + Sync),
}

/// Creates, edits and reads its objects, closes and deletes them, and reports what it saw.
///
/// # Errors
/// [`ForgeError`] of the first read, before anything was created; [`ForgeError::NotPermitted`] on another connection.
pub async fn live_check(live: Live<'_>) -> Result<LiveReport, ForgeError> {
    let what = "run the live check";
    let Some(list) = live.forge.connection().transport.live_list() else {
        return Err(ForgeError::NotPermitted { what: what.to_owned() });
    };
    let details = live.forge.repository().details().await?;
    if details.archived {
        return Err(ForgeError::Archived(live.forge.repo().clone()));
    }
    if !details.has_issues {
        return Err(ForgeError::NoIssues { what: what.to_owned() });
    }
    let mut run = Run::new(live.forge, live.cancel, list.name());
    (live.told)(&format!("everything that is made is named `{}…`", run.name));
    let token = reads::token(&mut run).await;
    steps(&mut run, token, live.told).await;
    graphql::judge_answers(&mut run);
    (live.told)("closing and deleting what was made");
    let interrupted = run.is_stopped();
    if interrupted {
        live.forge.connection().skip_spacing();
    }
    let left = clean(&mut run).await;
    let host = url::Url::parse(live.api_url).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
    run.names.add(&host, "HOST");
    let otherwise = if interrupted { "interrupted" } else { "what it needs could not be made" };
    let Run { names, found, server, .. } = run;
    let lines = found.lines(otherwise, |says| names.hide(says));
    Ok(LiveReport { lines, token: token.name(), server: kind_of_server(&host, server.as_deref()), left, interrupted })
}

/// All steps, until one that others need fails, or until the run is asked to stop.
async fn steps(run: &mut Run<'_>, token: reads::Token, told: &(dyn Fn(&str) + Send + Sync)) {
    told("reading the repository");
    let Some(seen) = run.get("").await.ok().filter(Seen::is_success) else { return };
    let Some(branch) = reads::repository(run, &seen, token).await else { return };
    run.names.add(&branch, "BASE");
    graphql::unknown_field(run).await;
    let base = reads::base(run, &branch).await;
    if let Some(base) = &base {
        reads::checks(run, base, token).await;
    }
    if run.is_stopped() {
        return;
    }
    told("trying an issue, a label and a comment");
    let issue = issues::issue(run).await;
    let Some(base) = base.filter(|_| !run.is_stopped()) else { return };
    told("trying a commit and a ref");
    let Some(commit) = refs::commit(run, &base, token).await else { return };
    refs::ledger(run, &base, &commit).await;
    if run.is_stopped() {
        return;
    }
    told("trying a branch and a pull request");
    let pull = pulls::pull(run, &base, &commit).await;
    if let Some((issue, login)) = issue {
        let opened: Vec<u64> = [Some(issue), pull].into_iter().flatten().collect();
        pulls::by_creator(run, &opened, &login, token).await;
    }
}

/// The kind of server, by the API's host and its answers.
fn kind_of_server(host: &str, server: Option<&str>) -> String {
    match server {
        _ if host == "api.github.com" => "github.com".to_owned(),
        _ if host.ends_with(".ghe.com") => "ghe.com".to_owned(),
        Some(version) if version.starts_with("GHES ") => version.to_owned(),
        Some("github-emulator") => "the embedded forge".to_owned(),
        Some(_) | None => "unknown".to_owned(),
    }
}
