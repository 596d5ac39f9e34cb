//! The dashboard: one issue shows all work, and its boxes act.
//!
//! # Flow
//! Each poll renders the page and reads the issue, which costs nothing while neither has changed. Boxes that are ticked are
//! carried out at once. Where the text differs from the page, a worker takes the turn in the repository's ledger, and then
//! edits the issue.
//!
//! # Guarantees
//! - One edit a minute at most, over all workers. Two that render differently, because their settings do, do not take turns for
//!   ever: a worker whose own page has not changed leaves what another drew.
//! - A tick counts if each account that edited the text since Hob drew it is authorized, by the forge's own history. Else the
//!   box is unticked, and the page says so.
//! - Each box names what it was drawn for, so a tick that is read again, by another worker or after a crash, does nothing more.
//!
//! # Caveats
//! A tick that is set between Hob's last look and its edit, well within a second, is lost: the box shows it. What fails here is
//! logged, and stops no poll.

use std::{sync::Arc, time::Duration};

use hob_domain::{
    ActBox, DRAW_INTERVAL, Drawn, IssueNumber, IssueStatus, Login, Planned, RefusedTick, Timestamp, body_digest,
    normalized, ticked,
};
use hob_forge::{BaseBranch, BodyEdit, DrawTurn};
use hob_words::{Board, dashboard_text};

use crate::{
    WorkError, Worker,
    authorize::{Authorization, Authorizer},
    observe::Discovered,
    reconcile::carry_out_tick,
};

/// Brings the dashboard up to date, and does what its boxes ask for; how long until it is to be looked at again, where that
/// is known.
pub(super) async fn keep_dashboard(worker: &Worker, board: &Board<'_>) -> Option<Duration> {
    if worker.settings.dashboard.issue.is_empty() {
        return None;
    }
    match Box::pin(keep(worker, board)).await {
        Ok(due) => due,
        Err(error) => {
            tracing::warn!(%error, "the dashboard is not up to date: {error}");
            None
        }
    }
}

async fn keep(worker: &Worker, board: &Board<'_>) -> Result<Option<Duration>, WorkError> {
    let now = board.now;
    let drawn = board.repository.and_then(|record| record.dashboard.as_ref());
    let wait = drawn.and_then(|drawn| (drawn.at + DRAW_INTERVAL - now).to_std().ok()).filter(|wait| !wait.is_zero());
    let number = worker.settings.dashboard.number().or(drawn.and_then(|drawn| drawn.issue));
    let Some(number) = number else {
        return if wait.is_some() { Ok(wait) } else { open(worker, board).await };
    };
    let issue = worker.forge.issues().get(number).await?;
    let Some(issue) = issue.filter(|issue| issue.status == IssueStatus::Open) else { return Ok(None) };
    let body = normalized(&issue.body);
    let ticks = ticked(&body);
    let mut refused = drawn.and_then(|drawn| drawn.refused.clone());
    if !ticks.is_empty() {
        let drawn = drawn.filter(|drawn| drawn.issue == Some(number));
        match ticked_by(worker, number, drawn).await? {
            TickedBy::Authorized(by) => {
                if carry_out_all(worker, &ticks, &by).await? {
                    // The next look finds what came of it.
                    return Ok(Some(Duration::ZERO));
                }
                refused = None;
            }
            TickedBy::Refused(why) => refused = Some(RefusedTick { at: now, why }),
        }
    }
    let page = Page::new(board, refused, number);
    let is_of_another =
        drawn.is_some_and(|drawn| drawn.digest == body_digest(&body)) && worker.memory.last_page.is(&page.digest);
    if body == normalized(&page.text) || is_of_another {
        worker.memory.last_page.set(page.digest);
        return Ok(None);
    }
    if wait.is_some() {
        return Ok(wait);
    }
    draw(worker, page, &ticks).await
}

/// The page as it is drawn.
struct Page {
    number: IssueNumber,
    text: String,
    digest: String,
    refused: Option<RefusedTick>,
}

impl Page {
    fn new(board: &Board<'_>, refused: Option<RefusedTick>, number: IssueNumber) -> Self {
        let text = dashboard_text(&Board { refused: refused.as_ref(), ..board.clone() });
        Self { number, digest: body_digest(&text), text, refused }
    }
}

/// What a poll found, as people are shown it.
pub(super) fn board<'a>(
    worker: &'a Worker,
    found: &'a Discovered,
    planned: &'a [Planned<'a>],
    now: Timestamp,
) -> Board<'a> {
    let unreadable = found.unreadable.iter().map(|(number, one)| (*number, one.title.as_str(), one.why.as_str()));
    Board {
        planned,
        unreadable: unreadable.collect(),
        trouble: worker.memory.trouble.all(),
        repository: found.snapshot.repository.as_ref(),
        refused: None,
        permission: worker.settings.trust.permission,
        now,
    }
}

async fn draw(worker: &Worker, page: Page, seen: &[ActBox]) -> Result<Option<Duration>, WorkError> {
    let base = worker.forge.repository().base_branch().await?;
    let Page { number, text, digest, refused } = page;
    let Some(turn) = turn(worker, &base, Some(number), &digest, refused).await? else {
        return Ok(Some(DRAW_INTERVAL));
    };
    // Who ticked a box while the turn was taken is heard before the page is drawn over it.
    let latest = worker.forge.issues().get(number).await?;
    if latest.is_some_and(|latest| ticked(&latest.body) != seen) {
        return Ok(Some(Duration::ZERO));
    }
    worker.forge.dashboard().edit(&turn, number, &text).await?;
    worker.memory.last_page.set(digest);
    Ok(None)
}

/// Opens the dashboard, unless an account of Hob's did: a worker that died may have left it out of the ledger.
async fn open(worker: &Worker, board: &Board<'_>) -> Result<Option<Duration>, WorkError> {
    let base = worker.forge.repository().base_branch().await?;
    let Page { text, digest, .. } = Page::new(board, None, IssueNumber(0));
    let Some(turn) = turn(worker, &base, None, &digest, None).await? else { return Ok(Some(DRAW_INTERVAL)) };
    let known = match worker.own_login().await? {
        Some(own) => worker.forge.dashboard().find(&own).await?.map(|issue| issue.number),
        None => None,
    };
    let number = match known {
        Some(number) => number,
        None => worker.forge.dashboard().open(&turn, &text).await?,
    };
    worker.forge.dashboard().note(&base.tree, number).await?;
    Ok(known.map(|_| DRAW_INTERVAL))
}

async fn turn(
    worker: &Worker,
    base: &BaseBranch,
    issue: Option<IssueNumber>,
    digest: &str,
    refused: Option<RefusedTick>,
) -> Result<Option<DrawTurn>, WorkError> {
    let drawn = Drawn { at: worker.forge.now(), digest: digest.to_owned(), issue, refused };
    Ok(worker.forge.dashboard().turn(&base.tree, &drawn).await?)
}

/// Carries out the boxes; whether any changed something. One that fails does not stop the others.
async fn carry_out_all(worker: &Worker, ticks: &[ActBox], by: &Login) -> Result<bool, WorkError> {
    let base = Arc::new(worker.forge.repository().base_branch().await?);
    let mut any = false;
    for tick in ticks {
        match carry_out_tick(worker, tick, by, &base).await {
            Ok(done) => any |= done,
            Err(error) => {
                let (issue, word) = (tick.issue, tick.act.word());
                tracing::warn!(issue = issue.0, %error, "the box `{word}` of issue {issue} was not carried out: {error}");
            }
        }
    }
    Ok(any)
}

/// Who ticked the boxes.
enum TickedBy {
    Authorized(Login),
    /// Why the ticks do not count.
    Refused(String),
}

/// Who ticked: the newest of those who edited the text since Hob drew it, if all of them are authorized.
async fn ticked_by(worker: &Worker, number: IssueNumber, drawn: Option<&Drawn>) -> Result<TickedBy, WorkError> {
    let since = drawn.map_or(Timestamp::UNIX_EPOCH, |drawn| drawn.at);
    let Some(edits) = worker.forge.issues().body_edits_since(number, since).await? else {
        return Ok(TickedBy::Refused("the text was edited too often".to_owned()));
    };
    let (mut newest, authorizer) = (None, Authorizer::default());
    for edit in edits.into_iter().filter(|edit| !is_hobs(edit, drawn)) {
        let Some(editor) = edit.editor else {
            return Ok(TickedBy::Refused("an account that is gone edited the text".to_owned()));
        };
        if let Authorization::Denied(why) = authorizer.judge(worker, &editor).await? {
            return Ok(TickedBy::Refused(why.to_string()));
        }
        newest = newest.or(Some(editor.login));
    }
    let unknown = || TickedBy::Refused("it is not known who edited the text".to_owned());
    Ok(newest.map_or_else(unknown, TickedBy::Authorized))
}

/// Whether it left the page as Hob drew it. Nobody is asked for: the forge may call Hob's account by another name than the
/// settings do (`helper`, `helper[bot]`), and what is drawn has no box ticked.
fn is_hobs(edit: &BodyEdit, drawn: Option<&Drawn>) -> bool {
    drawn.zip(edit.text.as_deref()).is_some_and(|(drawn, text)| body_digest(text) == drawn.digest)
}
