//! Authorization of labels, comments and commands. The permission of an account is looked up at the moment it matters.

use std::{collections::HashMap, time::Duration};

use hob_domain::{Actor, ChosenAgent, LabelEvent, LabelEventKind, Refusal, Timestamp, Trigger, Unauthorized};
use hob_forge::Issue;
use parking_lot::Mutex;

use crate::{WorkError, Worker};

/// Whether an account is authorized.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Authorization {
    /// It is.
    Granted,
    /// It is not, for this reason.
    Denied(Unauthorized),
}

impl Authorization {
    pub(super) fn is_granted(&self) -> bool {
        *self == Self::Granted
    }
}

/// Decides whose words and labels count. It remembers each account, so it is made anew for each reconcile, and for each
/// stage of an attempt: what an account may do can change.
#[derive(Default)]
pub(super) struct Authorizer {
    judged: Mutex<HashMap<Actor, Authorization>>,
}

impl Authorizer {
    /// Whether the account is authorized. A failed look-up authorizes no account.
    pub(super) async fn judge(&self, worker: &Worker, actor: &Actor) -> Result<Authorization, WorkError> {
        if let Some(known) = self.judged.lock().get(actor) {
            return Ok(known.clone());
        }
        let rules = worker.settings.trust_rules();
        let permission = if rules.lists(actor) { None } else { worker.forge.repository().permission(actor).await? };
        let judged = match rules.judge(actor, permission) {
            Ok(()) => Authorization::Granted,
            Err(why) => Authorization::Denied(why),
        };
        self.judged.lock().insert(actor.clone(), judged.clone());
        Ok(judged)
    }
}

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

/// How long an issue's events may lag behind its labels. No recording shows how long they do (`docs/design/github.md`,
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
pub(super) async fn vet(worker: &Worker, authorizer: &Authorizer, issue: &Issue) -> Result<Vetted, WorkError> {
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
    Ok(match authorizer.judge(worker, actor).await? {
        Authorization::Granted => {
            let approved = approved_hash(issue);
            let (actor, at) = (actor.login.clone(), Some(event.at));
            let labels = worker.settings.labels.of_people(&issue.labels);
            Vetted::Authorized(Trigger { event: event.id, actor, approved, at, labels }, event.at)
        }
        Authorization::Denied(why) => refused(why.to_string()),
    })
}

/// The hash of the issue as an authorized account approved it at `since`, that is, as it is now; empty if an
/// unauthorized account changed it in that second or later.
pub(super) async fn approved_since(
    worker: &Worker,
    authorizer: &Authorizer,
    issue: &Issue,
    since: Timestamp,
) -> Result<String, WorkError> {
    let editors = worker.forge.issues().editors_since(issue.number, since).await?;
    approved_by(worker, authorizer, issue, since, editors).await
}

/// The same, if these accounts edited the issue since then.
pub(super) async fn approved_by(
    worker: &Worker,
    authorizer: &Authorizer,
    issue: &Issue,
    since: Timestamp,
    editors: Vec<Option<Actor>>,
) -> Result<String, WorkError> {
    let authorized = authorized_editors(worker, authorizer, issue, since, editors).await?;
    Ok(authorized.map_or_else(String::new, |_| approved_hash(issue)))
}

/// Those of the accounts that edited the issue since then, if all are authorized that did more than tick boxes and move
/// blanks; `None` otherwise.
pub(super) async fn authorized_editors(
    worker: &Worker,
    authorizer: &Authorizer,
    issue: &Issue,
    since: Timestamp,
    editors: Vec<Option<Actor>>,
) -> Result<Option<Vec<Actor>>, WorkError> {
    if let Some(all) = all_authorized(worker, authorizer, editors).await? {
        return Ok(Some(all));
    }
    let rewriters = worker.forge.issues().rewriters_since(issue.number, since).await?;
    all_authorized(worker, authorizer, rewriters).await
}

async fn all_authorized(
    worker: &Worker,
    authorizer: &Authorizer,
    editors: Vec<Option<Actor>>,
) -> Result<Option<Vec<Actor>>, WorkError> {
    let mut authorized = Vec::new();
    for editor in editors {
        let Some(editor) = editor else { return Ok(None) };
        if !authorizer.judge(worker, &editor).await?.is_granted() {
            return Ok(None);
        }
        authorized.push(editor);
    }
    Ok(Some(authorized))
}

/// Why a label does not count.
#[derive(Debug, thiserror::Error)]
pub(super) enum IgnoredLabel {
    #[error("nobody can be found who put the label `{0}` on")]
    ByNobody(String),
    #[error("the label `{label}` does not count: {why}")]
    Unauthorized { label: String, why: Unauthorized },
}

/// Whether a label counts.
pub(super) enum LabelVerdict {
    /// An authorized account added it.
    Counts,
    /// It does not.
    Ignored(IgnoredLabel),
}

/// The agent that people chose for an issue.
pub(super) enum AgentChoice {
    /// No agent was chosen.
    None,
    /// An authorized account chose this one.
    Agent(String),
    /// A label names an agent, and does not count.
    Ignored(IgnoredLabel),
}

/// The agent that an authorized account chose for the issue, by a label or a command, whichever is newer.
pub(super) async fn chosen_agent(
    worker: &Worker,
    issue: &Issue,
    by_command: Option<&ChosenAgent>,
) -> Result<AgentChoice, WorkError> {
    let chosen = || by_command.map(|agent| AgentChoice::Agent(agent.name.clone()));
    let Some((label, agent)) = worker.settings.labels.agent(&issue.labels) else {
        return Ok(chosen().unwrap_or(AgentChoice::None));
    };
    let latest = label_event(worker, issue, LabelEventKind::Labeled, label).await?.seen();
    let Some((actor, at)) = latest.and_then(|event| Some((event.actor?, event.at))) else {
        let ignored = IgnoredLabel::ByNobody(label.to_owned());
        return Ok(chosen().unwrap_or(AgentChoice::Ignored(ignored)));
    };
    if let Some(chosen) = chosen().filter(|_| by_command.is_some_and(|chosen| chosen.at >= at)) {
        return Ok(chosen);
    }
    Ok(match Authorizer::default().judge(worker, &actor).await? {
        Authorization::Granted => AgentChoice::Agent(agent.to_owned()),
        Authorization::Denied(why) => {
            let ignored = IgnoredLabel::Unauthorized { label: label.to_owned(), why };
            chosen().unwrap_or(AgentChoice::Ignored(ignored))
        }
    })
}

/// Whether an authorized account added the label.
pub(super) async fn label_counts(worker: &Worker, issue: &Issue, label: &str) -> Result<LabelVerdict, WorkError> {
    let latest = label_event(worker, issue, LabelEventKind::Labeled, label).await?.seen();
    let Some(actor) = latest.and_then(|event| event.actor) else {
        return Ok(LabelVerdict::Ignored(IgnoredLabel::ByNobody(label.to_owned())));
    };
    Ok(match Authorizer::default().judge(worker, &actor).await? {
        Authorization::Granted => LabelVerdict::Counts,
        Authorization::Denied(why) => {
            LabelVerdict::Ignored(IgnoredLabel::Unauthorized { label: label.to_owned(), why })
        }
    })
}

/// The hash of what is approved with the issue in its current form.
pub(super) fn approved_hash(issue: &Issue) -> String {
    hob_domain::approved_hash(&issue.title, &issue.body)
}

/// Whether the issue is as it was approved last.
pub(super) fn is_approved(trigger: &Trigger, issue: &Issue) -> bool {
    hob_domain::is_approved(&trigger.approved, &issue.title, &issue.body)
}
