//! Authorization: whose label, comment and command counts. The permission of an account is looked up at the moment it
//! matters.

use hob_domain::{Actor, Command, LabelEventKind, Login, OWN_MARK, Refusal, Timestamp, Trigger, command_in};
use hob_forge::Issue;

use crate::{WorkError, Worker};

/// What the trigger label's last event means.
pub(super) enum Vetted {
    /// Its actor is authorized, and put it on then. What the issue said at that time is not looked at yet.
    Authorized(Trigger, Timestamp),
    /// Its actor is not.
    Refused(Refusal),
}

/// A command of an authorized account.
pub(super) struct GivenCommand {
    pub(super) command: Command,
    pub(super) by: Login,
}

/// Checks who put the trigger label on last.
pub(super) async fn vet(worker: &Worker, issue: &Issue) -> Result<Vetted, WorkError> {
    let label = &worker.settings.labels.trigger;
    let latest = worker.forge.issues().latest_label_event(issue.number, LabelEventKind::Labeled, label).await?;
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
            Vetted::Authorized(Trigger { event: event.id, actor: actor.login.clone(), approved }, event.at)
        }
        Err(reason) => refused(reason),
    })
}

/// Whether an account is authorized; the reason where it is not. A look-up that fails authorizes nobody.
pub(super) async fn authorize(worker: &Worker, actor: &Actor) -> Result<Result<(), String>, WorkError> {
    let rules = worker.settings.trust_rules();
    let permission = if rules.lists(actor) { None } else { worker.forge.repository().permission(actor).await? };
    Ok(rules.judge(actor, permission))
}

/// The first command since a moment by an authorized account.
pub(super) async fn command_since(
    worker: &Worker,
    issue: &Issue,
    since: Timestamp,
) -> Result<Option<GivenCommand>, WorkError> {
    if issue.comments == 0 {
        return Ok(None);
    }
    for comment in worker.forge.comments().since(issue.number, since).await? {
        let old = comment.created_at < since || comment.body.starts_with(OWN_MARK);
        let (Some(command), Some(author), false) = (command_in(&comment.body), &comment.author, old) else {
            continue;
        };
        if authorize(worker, author).await?.is_ok() {
            return Ok(Some(GivenCommand { command, by: author.login.clone() }));
        }
    }
    Ok(None)
}

/// Comments of authorized people; nobody else's reach the agent.
pub(super) async fn authorized_comments(worker: &Worker, issue: &Issue) -> Result<Vec<(Login, String)>, WorkError> {
    let mut authorized = Vec::new();
    if issue.comments == 0 {
        return Ok(authorized);
    }
    for comment in worker.forge.comments().of(issue.number).await? {
        let Some(author) = comment.author else { continue };
        // The status comment is all that Hob writes; whoever else sets its mark is left out too.
        if !comment.body.starts_with(OWN_MARK) && authorize(worker, &author).await?.is_ok() {
            authorized.push((author.login, comment.body));
        }
    }
    Ok(authorized)
}

/// What an authorized account approved by its word at `since`: the issue as it stands, and nothing where somebody who is not
/// authorized changed it in that second or later.
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

/// The agent that a label chooses, and that an authorized account put on. Why another label is passed over, else.
pub(super) async fn chosen_by_label<'a>(
    worker: &Worker,
    issue: &'a Issue,
) -> Result<Option<Result<&'a str, String>>, WorkError> {
    let Some((label, agent)) = worker.settings.labels.agent(&issue.labels) else { return Ok(None) };
    Ok(Some(label_counts(worker, issue, label).await?.map(|()| agent)))
}

/// Whether an authorized account put the label on; why it does not count, else.
pub(super) async fn label_counts(worker: &Worker, issue: &Issue, label: &str) -> Result<Result<(), String>, WorkError> {
    let latest = worker.forge.issues().latest_label_event(issue.number, LabelEventKind::Labeled, label).await?;
    let Some(actor) = latest.and_then(|event| event.actor) else {
        return Ok(Err(format!("nobody can be found who put the label `{label}` on")));
    };
    Ok(authorize(worker, &actor).await?.map_err(|why| format!("the label `{label}` does not count: {why}")))
}

/// What is approved with the issue as it stands.
pub(super) fn approved_hash(issue: &Issue) -> String {
    hob_domain::approved_hash(&issue.title, &issue.body)
}
