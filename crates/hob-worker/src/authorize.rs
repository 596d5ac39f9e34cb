//! Authorization of labels, comments and commands. The permission of an account is looked up at the moment it matters.

use std::time::Duration;

use hob_domain::{Actor, ChosenAgent, LabelEvent, LabelEventKind, Login, OWN_MARK, Refusal, Timestamp, Trigger};
use hob_forge::{Comment, Issue};

use crate::{WorkError, Worker};

/// The meaning of the trigger label's last event.
pub(super) enum Vetted {
    /// Its actor is authorized, and added it then. The issue's text at that time is not checked yet.
    Authorized(Trigger, Timestamp),
    /// Its actor is not.
    Refused(Refusal),
    /// The forge does not show the event yet.
    NotYet,
}

/// The event that caused a label's present state.
pub(super) enum LabelHistory {
    /// This.
    Seen(LabelEvent),
    /// The issue changed lately, and the forge does not show the event yet.
    NotYet,
    /// There is none.
    Missing,
}

impl LabelHistory {
    /// The event, if the forge shows it.
    pub(super) fn seen(self) -> Option<LabelEvent> {
        match self {
            Self::Seen(event) => Some(event),
            Self::NotYet | Self::Missing => None,
        }
    }
}

/// How long an issue's events may lag behind its labels. No recording shows how long they do (`docs/github.md`,
/// `event.lag`), so it is far more than other lags.
const EVENTS_LAG: Duration = Duration::from_secs(300);
/// The pauses before each new look for events that lag.
const EVENTS_PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(2)];

/// The event that added or removed a label of the issue; waited for if the issue has changed lately.
pub(super) async fn label_event(
    worker: &Worker,
    issue: &Issue,
    kind: LabelEventKind,
    label: &str,
) -> Result<LabelHistory, WorkError> {
    let mut pauses = EVENTS_PAUSES.into_iter();
    loop {
        if let Some(event) = worker.forge.issues().latest_label_event(issue.number, kind, label).await? {
            return Ok(LabelHistory::Seen(event));
        }
        if issue.updated_at + EVENTS_LAG < worker.forge.now() {
            return Ok(LabelHistory::Missing);
        }
        let Some(pause) = pauses.next() else { return Ok(LabelHistory::NotYet) };
        tokio::time::sleep(pause).await;
    }
}

/// Checks the account that added the trigger label last.
pub(super) async fn vet(worker: &Worker, issue: &Issue) -> Result<Vetted, WorkError> {
    let label = &worker.settings.labels.trigger;
    let latest = match label_event(worker, issue, LabelEventKind::Labeled, label).await? {
        LabelHistory::Seen(event) => Some(event),
        LabelHistory::NotYet => return Ok(Vetted::NotYet),
        LabelHistory::Missing => None,
    };
    let event = latest.as_ref();
    let refused = |reason: String| {
        Vetted::Refused(Refusal {
            event: event.map(|event| event.id),
            actor: event.and_then(|event| event.actor.as_ref()).map(|actor| actor.login.clone()),
            reason,
            at: worker.forge.now(),
        })
    };
    let Some(event) = event else {
        return Ok(refused(format!("no event says who put the label `{label}` on")));
    };
    let Some(actor) = &event.actor else {
        return Ok(refused(format!("the account that put the label `{label}` on is gone")));
    };
    Ok(match authorize(worker, actor).await? {
        Ok(()) => {
            let approved = approved_hash(issue);
            let (actor, at) = (actor.login.clone(), Some(event.at));
            Vetted::Authorized(Trigger { event: event.id, actor, approved, at }, event.at)
        }
        Err(reason) => refused(reason),
    })
}

/// Checks that an account is authorized; the inner error says why not. A failed look-up authorizes no account.
pub(super) async fn authorize(worker: &Worker, actor: &Actor) -> Result<Result<(), String>, WorkError> {
    let rules = worker.settings.trust_rules();
    let permission = if rules.lists(actor) { None } else { worker.forge.repository().permission(actor).await? };
    Ok(rules.judge(actor, permission).map_err(|why| why.to_string()))
}

/// A comment of an authorized account.
pub(super) struct AuthorizedComment {
    pub(super) author: Login,
    pub(super) comment: Comment,
}

/// The comments of authorized accounts; no others reach the agent.
pub(super) async fn authorized_comments(worker: &Worker, issue: &Issue) -> Result<Vec<AuthorizedComment>, WorkError> {
    let mut authorized = Vec::new();
    if issue.comments == 0 {
        return Ok(authorized);
    }
    for comment in worker.forge.comments().of(issue.number).await? {
        let Some(author) = &comment.author else { continue };
        // Hob itself writes only the status comment; a comment of anyone else with its mark is left out too.
        if !comment.body.starts_with(OWN_MARK) && authorize(worker, author).await?.is_ok() {
            authorized.push(AuthorizedComment { author: author.login.clone(), comment });
        }
    }
    Ok(authorized)
}

/// The hash of the issue as an authorized account approved it at `since`, that is, as it is now; empty if an
/// unauthorized account changed it in that second or later.
pub(super) async fn approved_since(worker: &Worker, issue: &Issue, since: Timestamp) -> Result<String, WorkError> {
    for editor in worker.forge.issues().editors_since(issue.number, since).await? {
        let is_authorized = match &editor {
            Some(editor) => authorize(worker, editor).await?.is_ok(),
            None => false,
        };
        if !is_authorized {
            return Ok(String::new());
        }
    }
    Ok(approved_hash(issue))
}

/// The agent that an authorized account chose for the issue, by a label or a command, whichever is newer; otherwise why
/// a label is ignored.
pub(super) async fn chosen_agent(
    worker: &Worker,
    issue: &Issue,
    by_command: Option<&ChosenAgent>,
) -> Result<Option<Result<String, String>>, WorkError> {
    let chosen = || by_command.map(|agent| Ok(agent.name.clone()));
    let Some((label, agent)) = worker.settings.labels.agent(&issue.labels) else { return Ok(chosen()) };
    let latest = label_event(worker, issue, LabelEventKind::Labeled, label).await?.seen();
    let Some((actor, at)) = latest.and_then(|event| Some((event.actor?, event.at))) else {
        let why = format!("nobody can be found who put the label `{label}` on");
        return Ok(chosen().or(Some(Err(why))));
    };
    if by_command.is_some_and(|chosen| chosen.at >= at) {
        return Ok(chosen());
    }
    Ok(match authorize(worker, &actor).await? {
        Ok(()) => Some(Ok(agent.to_owned())),
        Err(why) => chosen().or(Some(Err(format!("the label `{label}` does not count: {why}")))),
    })
}

/// Checks that an authorized account added the label; the inner error says why it does not count.
pub(super) async fn label_counts(worker: &Worker, issue: &Issue, label: &str) -> Result<Result<(), String>, WorkError> {
    let latest = label_event(worker, issue, LabelEventKind::Labeled, label).await?.seen();
    let Some(actor) = latest.and_then(|event| event.actor) else {
        return Ok(Err(format!("nobody can be found who put the label `{label}` on")));
    };
    Ok(authorize(worker, &actor).await?.map_err(|why| format!("the label `{label}` does not count: {why}")))
}

/// The hash of what is approved with the issue in its current form.
pub(super) fn approved_hash(issue: &Issue) -> String {
    hob_domain::approved_hash(&issue.title, &issue.body)
}
