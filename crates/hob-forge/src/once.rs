//! Texts that are written only once, and the account by which Hob recognizes its own.
//!
//! # Guarantees
//! Hob looks for the text before it writes, and again after a write whose outcome is unknown. Only Hob's own text
//! counts: anybody can write a mark, and another account's text with it must not stop Hob's.

use futures_util::future::BoxFuture;
use hob_domain::{CommentId, IssueNumber, Login};

use crate::{Comment, Comments, Forge, ForgeError, HeldLease};

/// When the forge is asked whether the text already exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Before the first write: another worker may have made it.
    First,
    /// After a write whose outcome is unknown.
    AfterFailure,
}

/// Writes what may exist only once; returns what `find` finds, or else what `write` made.
///
/// # Errors
/// [`ForgeError`] of the last try.
pub async fn once<'a, T>(
    forge: &Forge,
    lease: &HeldLease,
    mut look: Look,
    find: impl Fn() -> BoxFuture<'a, Result<Option<T>, ForgeError>> + Send,
    write: impl Fn() -> BoxFuture<'a, Result<T, ForgeError>> + Send,
) -> Result<T, ForgeError> {
    let mut tried = 0;
    loop {
        if look == Look::First
            && let Some(found) = find().await?
        {
            return Ok(found);
        }
        let error = match write().await {
            Err(error) if error.outcome_is_unknown() => error,
            written => return written,
        };
        let Some(pause) = forge.pause_within(lease, &error, tried) else { return Err(error) };
        forge.wait(&error, pause).await;
        (look, tried) = (Look::First, tried + 1);
    }
}

impl Comments<'_> {
    /// Writes a comment on the issue, or on the pull request of that number, unless one of Hob's own begins with
    /// `mark`.
    ///
    /// # Errors
    /// [`ForgeError`] of the last try.
    pub async fn write_once(
        self,
        lease: &HeldLease,
        on: IssueNumber,
        mark: &str,
        body: &str,
        look: Look,
    ) -> Result<CommentId, ForgeError> {
        let find =
            || -> BoxFuture<'_, _> { Box::pin(async { Ok(self.own(lease, on, mark).await?.map(|own| own.id)) }) };
        let write = || -> BoxFuture<'_, _> { Box::pin(self.create_on(lease, on, body)) };
        once(self.forge, lease, look, find, write).await
    }

    /// Hob's own comment on the issue, or on the pull request of that number, that begins with `mark`.
    ///
    /// # Errors
    /// [`ForgeError`] of a read.
    pub async fn own(self, lease: &HeldLease, on: IssueNumber, mark: &str) -> Result<Option<Comment>, ForgeError> {
        let comments = match self.of(on).await {
            // A replica that lags answers so, too. Only an issue that is not found twice is gone: what had to be written there
            // is given up.
            Err(error) if error.is_not_found() => self.of(on).await?,
            found => found?,
        };
        let marked: Vec<Comment> = comments.into_iter().filter(|comment| comment.body.starts_with(mark)).collect();
        if marked.is_empty() {
            return Ok(None);
        }
        let Some(own) = self.own_account(lease).await? else { return Ok(None) };
        Ok(marked.into_iter().find(|comment| comment.author.as_ref().is_some_and(|author| author.login.is(&own))))
    }

    /// The token's own account. The forge does not tell a job its account; then it is the author of this connection's
    /// earlier comments, or else of the status comment that the ledger names.
    ///
    /// # Errors
    /// [`ForgeError`] of a read.
    pub async fn own_account(self, lease: &HeldLease) -> Result<Option<Login>, ForgeError> {
        let connection = self.forge.connection();
        if let Some(own) = connection.login().await? {
            return Ok(Some(own));
        }
        if let Some(own) = connection.writer.get() {
            return Ok(Some(own.clone()));
        }
        let Some(status) = lease.record().comments.status else { return Ok(None) };
        Ok(self.read(status).await?.and_then(|comment| comment.author).map(|author| author.login))
    }
}
