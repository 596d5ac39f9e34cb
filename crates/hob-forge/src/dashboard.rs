//! The dashboard: the one issue whose text Hob writes, and which worker writes it.
//!
//! # Guarantees
//! An edit takes a [`DrawTurn`], and of any number of workers only one gets it within [`DRAW_INTERVAL`]: the turn is a
//! compare-and-set on the repository's own ledger.

use hob_domain::{
    DASHBOARD_MARK, DASHBOARD_TITLE, DRAW_INTERVAL, Drawn, IssueNumber, Login, RepositoryRecord, Sha, Timestamp,
};
use http::Method;
use serde::Deserialize;
use serde_json::json;

use crate::{
    Forge, ForgeError, Issue,
    TokenPermission::{IssuesRead, IssuesWrite},
    call::Call,
    issues::IssueWire,
    repository::encoded,
};

/// The right to write the dashboard's text once. Only [`Dashboard::turn`] makes one.
#[derive(Debug)]
pub struct DrawTurn {
    ends: Timestamp,
}

/// Another worker had the turn within the interval.
struct NotYet;

#[derive(Deserialize)]
struct MadeWire {
    number: IssueNumber,
}

/// A repository's dashboard.
#[derive(Debug, Clone, Copy)]
pub struct Dashboard<'a> {
    pub(super) forge: &'a Forge,
}

impl Dashboard<'_> {
    /// Takes the turn to draw. `None` if another worker had it within the last minute. `drawn` is what the ledger then
    /// records, as of now.
    ///
    /// # Errors
    /// [`ForgeError`] of a call.
    pub async fn turn(self, tree: &Sha, drawn: &Drawn) -> Result<Option<DrawTurn>, ForgeError> {
        let taken = self.forge.repository_ledger().change_unless(tree, |before, nonce, now| {
            let last = before.and_then(|record| record.dashboard.as_ref());
            if last.is_some_and(|last| now < last.at + DRAW_INTERVAL) {
                return Err(NotYet);
            }
            let dashboard = Some(Drawn { at: now, ..drawn.clone() });
            let record = RepositoryRecord { dashboard, ..RepositoryRecord::next(before, nonce, now) };
            Ok((record, "draws the dashboard".to_owned(), now))
        });
        Ok(taken.await?.written().map(|at| DrawTurn { ends: at + DRAW_INTERVAL }))
    }

    /// Records in the ledger which issue is the dashboard.
    ///
    /// # Errors
    /// [`ForgeError`] of a call.
    pub async fn note(self, tree: &Sha, issue: IssueNumber) -> Result<(), ForgeError> {
        let noted = self.forge.repository_ledger().change_unless(tree, |before, nonce, now| {
            let next = RepositoryRecord::next(before, nonce, now);
            let Some(drawn) = next.dashboard.clone().filter(|drawn| drawn.issue != Some(issue)) else {
                return Err(NotYet);
            };
            let dashboard = Some(Drawn { issue: Some(issue), ..drawn });
            Ok((RepositoryRecord { dashboard, ..next }, format!("issue {issue} is the dashboard"), ()))
        });
        noted.await.map(drop)
    }

    /// Opens the issue.
    ///
    /// # Errors
    /// [`ForgeError`] of the write; if its outcome is unknown, look before you write again.
    pub async fn open(self, turn: &DrawTurn, body: &str) -> Result<IssueNumber, ForgeError> {
        let (body, path) = (json!({ "title": DASHBOARD_TITLE, "body": body }), self.forge.path("/issues"));
        Ok(self.write::<MadeWire>(turn, Method::POST, &path, &body, "open the dashboard").await?.number)
    }

    /// Replaces the issue's text.
    ///
    /// # Errors
    /// [`ForgeError`] of the write.
    pub async fn edit(self, turn: &DrawTurn, issue: IssueNumber, body: &str) -> Result<(), ForgeError> {
        let path = self.forge.path(&format!("/issues/{issue}"));
        let body = json!({ "body": body });
        self.write::<serde_json::Value>(turn, Method::PATCH, &path, &body, "edit the dashboard").await.map(drop)
    }

    /// The issue that Hob's account opened as the dashboard, if there is one.
    ///
    /// # Errors
    /// [`ForgeError`] of the read.
    pub async fn find(self, own: &Login) -> Result<Option<Issue>, ForgeError> {
        let path = self.forge.path(&format!("/issues?state=all&creator={}&per_page=100", encoded(own.as_str())));
        let advice = "give the dashboard's number in `dashboard.issue`";
        let found: Vec<IssueWire> = self.forge.get_all(&path, IssuesRead.to("look for the dashboard"), advice).await?;
        Ok(found.into_iter().filter_map(IssueWire::into_issue).find(|issue| issue.body.starts_with(DASHBOARD_MARK)))
    }

    async fn write<T: serde::de::DeserializeOwned>(
        self,
        turn: &DrawTurn,
        method: Method,
        path: &str,
        body: &serde_json::Value,
        what: &str,
    ) -> Result<T, ForgeError> {
        let written = self.forge.write_turn(IssuesWrite.to(what)).await?;
        let deadline = self.forge.settings().timeout.min(DRAW_INTERVAL / 2);
        if self.forge.now() + deadline > turn.ends {
            return Err(ForgeError::LeaseTooShort { what: what.to_owned() });
        }
        self.forge.write_in(&written, Call::write(&method, path, body, IssuesWrite.to(what))).await
    }
}
